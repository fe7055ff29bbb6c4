/* foreign.c — files of kinds that are not read. */
#include "input/foreign.h"

#include <string.h>
#include <strings.h>

/* ---- by name ---- */

static const char lower_case[] = "rename it to lower case, or give it as standard input (-)";

/* In the order in which they are tried; the names of inputs, which are in lower case, do not come here. */
static const struct {
    const char *ending, *advice;
} names[] = {
    { ".tsv", "if its lines are a set, a tab and an element, use --sets; convert other tables to JSON lines" },
    { ".csv", "if its lines are a set, a comma and an element, use --sets=,; convert other tables to JSON lines" },
    { ".json", "if it is a JSON array, convert it to JSON lines with jq -c '.[]' and name them .jsonl; if it is JSON "
               "lines, rename it to .jsonl" },
    { ".xz", "decompress it with xz -dc and give the result as standard input (-)" },
    { ".bz2", "decompress it with bzip2 -dc and give the result as standard input (-)" },
    { ".zstd", "rename it to .jsonl.zst, or give it as standard input (-)" },
    { ".parquet", "export it as JSON lines" },
    { ".jsonl", lower_case },
    { ".ndjson", lower_case },
    { ".jsonl.gz", lower_case },
    { ".ndjson.gz", lower_case },
    { ".jsonl.zst", lower_case },
    { ".ndjson.zst", lower_case },
};

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = strlen(ending);
    return length >= ending_length && strcasecmp(name + length - ending_length, ending) == 0;
}

const char *twin__foreign_name(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ends_in(name, names[i].ending))
            return names[i].advice;
    return NULL;
}

/* ---- by the first bytes ---- */

#define BYTES(text) text, sizeof(text) - 1

/* No JSON line begins like this. A row of a set might begin like those that are text. */
static const struct {
    const char *bytes;
    size_t length;
    bool is_text;
    const char *advice;
} beginnings[] = {
    { BYTES("\xFF\xFE"), false, "is UTF-16; convert it to UTF-8: iconv -f UTF-16 -t UTF-8" },
    { BYTES("\xFE\xFF"), false, "is UTF-16; convert it to UTF-8: iconv -f UTF-16 -t UTF-8" },
    { BYTES("{\0"), true, "is UTF-16; convert it to UTF-8: iconv -f UTF-16LE -t UTF-8" },
    { BYTES("\0{"), true, "is UTF-16; convert it to UTF-8: iconv -f UTF-16BE -t UTF-8" },
    { BYTES("\xFD"
            "7zXZ\0"),
      false, "is compressed with xz; decompress it first: xz -dc" },
    { BYTES("BZh"), true, "is compressed with bzip2; decompress it first: bzip2 -dc" },
    { BYTES("PAR1"), true, "is a Parquet file; export it as JSON lines" },
    { BYTES("%PDF-"), true, "is a PDF file; extract its text and give the folder it is in" },
    { BYTES("{\n"), true, "is JSON that is not on one line; convert it to JSON lines: jq -c ." },
    { BYTES("{\r\n"), true, "is JSON that is not on one line; convert it to JSON lines: jq -c ." },
};

const char *twin__foreign_bytes(const char *bytes, size_t length, twin_input_format format)
{
    bool may_be_text = format == TWIN_INPUT_SETS;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (!(beginnings[i].is_text && may_be_text) && length >= beginnings[i].length &&
            memcmp(bytes, beginnings[i].bytes, beginnings[i].length) == 0)
            return beginnings[i].advice;
    size_t blank = 0;
    while (blank < length && strchr(" \t\r\n", bytes[blank]) && bytes[blank])
        blank++;
    if (!may_be_text && blank < length && bytes[blank] == '[')
        return "is a JSON array; convert it to JSON lines: jq -c '.[]'";
    return NULL;
}
