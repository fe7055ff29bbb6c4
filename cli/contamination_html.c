/* contamination_html.c — the report of twinsift contamination as one self-contained HTML page. */
#include "contamination.h"
#include "dedup.h"

#include "support/escape.h"
#include "support/messages.h"
#include "support/output_file.h"

#include <inttypes.h>
#include <string.h>

/* Items that are shown with their best match, and the bytes of a text around it. */
enum { MOST_SHOWN = 1000, AROUND = 120, LONGEST = 1200 };

static void write_name(FILE *out, const struct contamination *found, const struct leak_group *group)
{
    const char *name = twin_input_name(found->benchmarks, group->source);
    escape_html(out, name, strlen(name));
    if (group->split && *group->split) {
        fputs(", ", out);
        escape_html(out, group->split, strlen(group->split));
    }
}

static void write_counts(FILE *out, const struct contamination *found)
{
    fputs("<h2>Benchmarks</h2>\n<table><tr><th>benchmark</th><th>items</th><th>judged</th><th>leaked</th>"
          "<th>percent</th></tr>\n",
          out);
    for (size_t i = 0; i < found->group_count; i++) {
        const struct leak_group *group = &found->groups[i];
        double share = group->judged ? 100 * (double)group->leaked / (double)group->judged : 0;
        fputs("<tr><td class=\"path\">", out);
        write_name(out, found, group);
        fprintf(out,
                "</td><td class=\"number\">%" PRIu64 "</td><td class=\"number\">%" PRIu64
                "</td><td class=\"number\">%" PRIu64 "</td><td class=\"number\">%.2f</td></tr>\n",
                group->items, group->judged, group->leaked, share);
    }
    fprintf(out, "</table>\n<p>%" PRIu64 " of %" PRIu64 " training documents contain an item.</p>\n",
            found->leaked_documents, twin_collection_count(found->train).documents);
}

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* What stands around the place, which is marked. */
static void write_place(FILE *out, const struct leak_place *place)
{
    const char *bytes = place->document.bytes;
    size_t from = place->begin > AROUND ? place->begin - AROUND : 0;
    size_t end = place->end - place->begin > LONGEST ? place->begin + LONGEST : place->end;
    size_t to = place->document.length - end > AROUND ? end + AROUND : place->document.length;
    while (from > 0 && is_inside(bytes[from]))
        from--;
    while (end < place->document.length && is_inside(bytes[end]))
        end++;
    while (to < place->document.length && is_inside(bytes[to]))
        to++;
    fputs(from ? "…" : "", out);
    escape_html(out, bytes + from, place->begin - from);
    fputs("<mark>", out);
    escape_html(out, bytes + place->begin, end - place->begin);
    fputs(end < place->end ? "…</mark>" : "</mark>", out);
    escape_html(out, bytes + end, to > end ? to - end : 0);
    fputs(to < place->document.length ? "…" : "", out);
}

static void write_id(FILE *out, const twin_collection *collection, uint32_t document)
{
    twin_text id = twin_collection_entry_of(collection, document).id;
    fputs("<b>", out);
    escape_html(out, id.bytes, id.length);
    fputs("</b>", out);
}

static twin_status write_leak(FILE *out, const struct contamination *found, struct leak_place *place, uint32_t item,
                              twin_error *error)
{
    const struct leak *leak = &found->leaks[item];
    twin_status status = leak_place_find(place, found, item, error);
    if (status != TWIN_OK)
        return status;
    size_t shown = excerpt_length(place->item, LONGEST);
    fputs("<p class=\"soft\">", out);
    write_name(out, found, &found->groups[leak->group]);
    fprintf(out,
            ": %.2f %% of it in %" PRIu32 " document%s, from character %" PRIu64 "</p>\n<div class=\"pair\"><div>",
            100 * leak->share, leak->documents, leak->documents == 1 ? "" : "s, this one first", place->character);
    write_id(out, found->eval, item);
    escape_html(out, place->item.bytes, shown);
    fputs(shown < place->item.length ? "…</div><div>" : "</div><div>", out);
    write_id(out, found->train, leak->best);
    write_place(out, place);
    fputs("</div></div>\n", out);
    return TWIN_OK;
}

static twin_status write_leaks(FILE *out, const struct contamination *found, twin_error *error)
{
    struct leak_place place = { 0 };
    twin_status status = TWIN_OK;
    size_t items = twin_collection_count(found->eval).documents, shown = 0, leaked = 0;
    fputs("<h2>Items in training documents</h2>\n", out);
    for (uint32_t i = 0; i < items && status == TWIN_OK; i++) {
        leaked += found->leaks[i].documents > 0;
        if (found->leaks[i].documents && shown < MOST_SHOWN) {
            status = write_leak(out, found, &place, i, error);
            shown++;
        }
    }
    if (leaked > shown)
        fprintf(out, "<p>and %zu more</p>\n", leaked - shown);
    else if (leaked == 0)
        fputs("<p>There are none.</p>\n", out);
    leak_place_clear(&place);
    return status;
}

bool write_contamination_page(const char *path, const struct contamination *found, const struct request_base *base)
{
    struct output_file output;
    twin_error error = { 0 };
    if (!output_file_open(&output, path))
        return false;
    write_page_head(output.file, "twinsift contamination", "Test questions in training data");
    write_page_command(output.file, base);
    write_page_version(output.file);
    write_counts(output.file, found);
    twin_status status = write_leaks(output.file, found, &error);
    fputs("</body></html>\n", output.file);
    if (status == TWIN_OK)
        return output_file_finish(&output);
    output_file_abandon(&output);
    return refuse_status("an item", status, &error);
}
