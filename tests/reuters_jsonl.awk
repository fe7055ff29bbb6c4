# reuters_jsonl.awk — the articles of Reuters-21578 (reut2-*.sgm) that have a BODY, as JSON lines: NEWID and BODY.
#
#     LC_ALL=C tr -d '\200-\377' < reut2-000.sgm | LC_ALL=C awk -f reuters_jsonl.awk
#
# The few bytes that are not ASCII are left out by tr. Entities become the characters they are; of the numbered ones
# only the control characters &#1; .. &#31; and &#127; occur.

# The JSON string of a piece of text, without its quotation marks.
function escaped(text,    out, at, number)
{
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    gsub(/\t/, "\\t", text)
    while ((at = match(text, /&#[0-9]+;/)) > 0) {
        number = substr(text, at + 2, RLENGTH - 3)
        out = out substr(text, 1, at - 1) sprintf("\\u%04x", number)
        text = substr(text, at + RLENGTH)
    }
    text = out text
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/&amp;/, "\\&", text)
    return text
}

/^<REUTERS/ {
    match($0, /NEWID="[0-9]+"/)
    id = substr($0, RSTART + 7, RLENGTH - 8)
}
{
    at = index($0, "<BODY>")
    if (at > 0) {
        printf "{\"id\": \"%s\", \"text\": \"", id
        inside = 1
        $0 = substr($0, at + 6)
    }
}
inside {
    at = index($0, "</BODY>")
    printf "%s", escaped((at > 0 ? substr($0, 1, at - 1) : $0))
    printf "%s", (at > 0 ? "\"}\n" : "\\n")
    inside = at == 0
}
