/* dedup_html.c — the report of twinsift dedup as one self-contained HTML page: what was run, counts, plots, and examples:
 * documents side by side, their differences marked.
 *
 * Plots are bars drawn as SVG in the page, so neither gnuplot nor a network is needed to see them. The largest groups show
 * what was dropped for what, the least similar pairs whether the threshold is right. Texts come from strangers and are
 * escaped. */
#include "dedup.h"

#include "support/command.h"
#include "support/escape.h"
#include "support/messages.h"
#include "support/output_file.h"
#include "support/size.h"
#include "support/usage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char style[] =
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #767676; --line: #ccc; --bar: #3d6fa5;\n"
    "  --mark: #ffe9a8 }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #181818; --soft: #999; --line: #444;\n"
    "  --bar: #7aa7d9; --mark: #5c4a12 } }\n"
    "body { font: 16px/1.5 Georgia, serif; color: var(--ink); background: var(--paper); max-width: 64em;\n"
    "  margin: 2em auto; padding: 0 1em }\n"
    "h2 { border-top: 1px solid var(--line); padding-top: 1em; margin-top: 2em }\n"
    "table { border-collapse: collapse } td, th { padding: .15em 1em .15em 0; text-align: left; vertical-align: top "
    "}\n"
    "table.run { margin-bottom: 1em } .run th { font-weight: normal; color: var(--soft) }\n"
    ".run code, td.path { overflow-wrap: anywhere }\n"
    "td.number { text-align: right; font-variant-numeric: tabular-nums } td.number, td.name { white-space: nowrap }\n"
    ".soft { color: var(--soft) }\n"
    "mark { background: var(--mark); color: inherit }\n"
    "figure { margin: 1em 0; overflow-x: auto }\n"
    "svg { width: 100%; min-width: 38rem; max-width: 44rem; height: auto; font: 12px sans-serif }\n"
    "svg rect { fill: var(--bar) }\n"
    "svg text { fill: var(--ink) } svg line { stroke: var(--line) }\n"
    ".pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(18em, 1fr)); gap: 1em; margin: 1em 0 2em "
    "}\n"
    ".pair div { border: 1px solid var(--line); padding: .5em .8em; overflow-wrap: anywhere; font-size: 14px }\n"
    ".pair b { display: block; font-family: ui-monospace, monospace; font-weight: normal; color: var(--soft) }\n"
    "</style></head><body>\n";

void write_page_head(FILE *out, const char *title, const char *heading)
{
    fprintf(out,
            "<!DOCTYPE html>\n"
            "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n%s<h1>%s</h1>\n",
            title, style, heading);
}

/* ---- what was run ---- */

/* A word as a shell takes it. */
static void write_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    size_t length = strlen(word);
    bool is_plain = length > 0 && strspn(word, plain) == length;
    fputs(is_plain ? " " : " '", out);
    for (size_t part; *word; word += part) {
        part = strcspn(word, "'");
        escape_html(out, word, part);
        if (word[part]) {
            fputs("'\\''", out);
            part++;
        }
    }
    fputs(is_plain ? "" : "'", out);
}

/* Now, or the time that SOURCE_DATE_EPOCH gives, so that a page can be made again. */
static time_t page_time(void)
{
    const char *given = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL;
    long long number = given ? strtoll(given, &end, 10) : 0;
    return given && end > given && *end == '\0' ? (time_t)number : time(NULL);
}

static void write_inputs(FILE *out, const twin_input *input)
{
    enum { MOST_NAMED = 10 };
    size_t count = twin_input_sources(input);
    for (uint32_t i = 0; i < count && i < MOST_NAMED; i++) {
        const char *name = twin_input_name(input, i);
        fputs(i ? "<br>" : "", out);
        escape_html(out, name, strlen(name));
    }
    if (count > MOST_NAMED)
        fprintf(out, "<br>and %zu more", count - MOST_NAMED);
}

static void write_scheme(FILE *out, const struct dedup_run *run, twin_input_format format)
{
    const twin_scheme *scheme = run->scheme;
    bool has_bands = scheme->measure == TWIN_JACCARD;
    if (run->by_edits) {
        fputs("<tr><th>measure</th><td>edit distance</td></tr>\n", out);
        return;
    }
    fprintf(out, "<tr><th>threshold</th><td>%g, %s</td></tr>\n", scheme->threshold,
            has_bands ? "Jaccard similarity" : "containment");
    if (format == TWIN_INPUT_DOCUMENTS)
        fprintf(out, "<tr><th>shingles</th><td>%s:%zu</td></tr>\n",
                twin_name_of(TWIN_NAMES_SHINGLE_KIND, scheme->shingle.kind), scheme->shingle.width);
    if (has_bands)
        fprintf(out, "<tr><th>signatures</th><td>%zu hashes, %zu bands of %zu rows</td></tr>\n",
                scheme->minhash.slots, scheme->plan.bands, scheme->plan.rows);
}

void write_page_command(FILE *out, const struct request_base *base)
{
    fprintf(out, "<table class=\"run\">\n<tr><th>command</th><td><code>%s", base->command->name);
    for (size_t i = 0; i < base->word_count; i++)
        write_word(out, base->words[i]);
    fputs("</code></td></tr>\n", out);
}

void write_page_version(FILE *out)
{
    char date[64] = "";
    struct tm parts;
    time_t now = page_time();
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &parts);
    fprintf(out, "<tr><th>version</th><td>twinsift %s</td></tr>\n<tr><th>date</th><td>%s</td></tr>\n</table>\n",
            twin_version(), date);
}

/* What somebody needs who finds the page a year later. */
static void write_command(FILE *out, const struct dedup_result *result)
{
    write_page_command(out, result->run->base);
    fputs("<tr><th>inputs</th><td>", out);
    write_inputs(out, result->input);
    fputs("</td></tr>\n", out);
    write_scheme(out, result->run, twin_input_format_of(result->input));
    write_page_version(out);
}

/* ---- counts ---- */

static void write_row(FILE *out, const char *name, uint64_t count, const char *what)
{
    char digits[32], grouped[48];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            grouped[used++] = ',';
        grouped[used++] = digits[i];
    }
    fprintf(out, "<tr><td class=\"name\">%s</td><td class=\"number\">%.*s</td><td class=\"soft\">%s</td></tr>\n",
            name, used, grouped, what);
}

/* How long the stages took, and the audit. */
static void write_run(FILE *out, const struct dedup_run *run)
{
    char size[SIZE_ROOM], rate[RATE_ROOM];
    for (size_t i = 0; i < run->stage_count; i++)
        fprintf(out,
                "<tr><td class=\"name\">%s</td><td class=\"number\">%.2f s</td><td class=\"soft\">%s</td></tr>\n",
                run->stages[i].name, run->stages[i].seconds, write_stage_rate(rate, &run->stages[i]));
    fprintf(out, "<tr><td class=\"name\">peak memory</td><td class=\"number\">%s</td></tr>\n",
            write_decimal_size(size, (double)peak_bytes()));
    const twin_dedup_audit *audit = run->audit;
    if (audit)
        fprintf(out,
                "<tr><td class=\"name\">recall</td><td class=\"number\">%.4f</td><td class=\"soft\">95 %% interval "
                "%.4f to %.4f: of "
                "%" PRIu64 " kept documents, compared with all others, %" PRIu64
                " should have been dropped</td></tr>\n",
                audit->recall, audit->low, audit->high, audit->documents, audit->missed);
}

static void write_counts(FILE *out, const struct dedup_result *result)
{
    twin_dedup_counts counts = twin_dedup_count(result->dedup);
    twin_collection_counts read = twin_collection_count(result->collection);
    char size[SIZE_ROOM], what[96];
    snprintf(what, sizeof what, "%s of text", write_decimal_size(size, (double)read.bytes));
    fputs("<table>\n", out);
    write_row(out, "documents", counts.documents, what);
    write_row(out, "exact copies", counts.exact_copies, "dropped: same set as the one kept");
    write_row(out, "near copies", counts.near_copies, "dropped: verified similar to the one kept");
    if (result->known->count)
        write_row(out, "known", counts.excluded, "dropped: similar to a document of --against or --update");
    write_row(out, "kept", counts.kept, write_kept_share(what, sizeof what, &counts));
    write_row(out, "groups", counts.groups, "kept documents for which others were dropped");
    write_row(out, "too short", read.too_short, "shorter than one shingle, similar only to equal ones");
    if (counts.without_field)
        write_row(out, "without field", counts.without_field, "do not have the field of --keep: preferred last");
    write_row(out, "skipped", read.problems, "could not be read: left out");
    write_row(out, "pairs compared", counts.search.verified, "");
    fputs("</table>\n", out);
    if (!result->run)
        return;
    fputs("<h2>The run</h2>\n<table>\n", out);
    write_run(out, result->run);
    fputs("</table>\n", out);
}

/* ---- plots ---- */

enum { MOST_BARS = 40, LABEL_ROOM = 48 };

struct bars {
    size_t count;
    uint64_t heights[MOST_BARS];
    char labels[MOST_BARS][LABEL_ROOM];
};

/* Bars of linear height, with their numbers above and their labels below. */
static void write_bars(FILE *out, const struct bars *bars, const char *caption)
{
    enum { WIDTH = 700, HEIGHT = 220, TOP = 20, BOTTOM = 20 };
    uint64_t most = 1;
    for (size_t i = 0; i < bars->count; i++)
        most = bars->heights[i] > most ? bars->heights[i] : most;
    double step = (double)WIDTH / (double)(bars->count > 6 ? bars->count : 6);
    fprintf(out, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT, caption);
    for (size_t i = 0; i < bars->count; i++) {
        double height = (HEIGHT - TOP - BOTTOM) * (double)bars->heights[i] / (double)most;
        double middle = step * ((double)i + .5);
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", step * (double)i + 2,
                HEIGHT - BOTTOM - height, step - 4, height);
        if (bars->heights[i])
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%" PRIu64 "</text>", middle,
                    HEIGHT - BOTTOM - height - 4, bars->heights[i]);
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", middle, HEIGHT - 5,
                bars->labels[i]);
    }
    fprintf(out, "<line x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/></svg><figcaption>%s</figcaption></figure>\n", WIDTH,
            HEIGHT - BOTTOM, HEIGHT - BOTTOM, caption);
}

static bool is_dropped(const uint32_t *keepers, size_t document)
{
    return keepers[document] != document && keepers[document] != TWIN_DEDUP_NONE;
}

/* Twelve bars from the lowest similarity of a dropped document to 1. Exact copies, often most of all, are only
 * counted. */
static void write_similarities(FILE *out, const struct dedup_result *result)
{
    enum { BARS = 12 };
    const uint32_t *keepers = twin_dedup_keepers(result->dedup);
    const double *similarities = twin_dedup_similarities(result->dedup);
    size_t documents = twin_collection_count(result->collection).documents;
    uint64_t exact = 0;
    char caption[160];
    struct bars bars = { .count = BARS };
    double lowest = 1;
    for (size_t i = 0; i < documents; i++)
        lowest = is_dropped(keepers, i) && similarities[i] < lowest ? similarities[i] : lowest;
    double width = (1 - lowest) / BARS;
    for (size_t i = 0; i < documents; i++) {
        if (!is_dropped(keepers, i))
            continue;
        size_t bar = similarities[i] < 1 ? (size_t)((similarities[i] - lowest) / width) : BARS;
        exact += similarities[i] >= 1;
        if (similarities[i] < 1)
            bars.heights[bar < BARS ? bar : BARS - 1]++;
    }
    for (size_t i = 0; i < BARS; i++) /* as many digits as make them differ */
        snprintf(bars.labels[i], LABEL_ROOM, "%.*f", width < .001 ? 5 : 3, lowest + width * (double)i);
    snprintf(caption, sizeof caption,
             "Dropped documents by their similarity to the one kept; labels are lower ends. %" PRIu64
             " at exactly 1 are not shown.",
             exact);
    if (lowest < 1)
        write_bars(out, &bars, caption);
}

/* Bars for 2, 3, 4, 5–8, 9–16, … documents. */
static void write_sizes(FILE *out, const struct dedup_result *result)
{
    const twin_dedup_group *groups;
    size_t count = twin_dedup_groups(&groups, result->dedup);
    struct bars bars = { 0 };
    for (size_t i = 0; i < count; i++) {
        size_t size = groups[i].count + 1, bar = size <= 4 ? size - 2 : 3;
        for (size_t end = 8; size > end; end *= 2)
            bar++;
        bars.count = bar + 1 > bars.count ? bar + 1 : bars.count;
        bars.heights[bar]++;
    }
    for (size_t i = 0; i < bars.count; i++)
        if (i < 3)
            snprintf(bars.labels[i], LABEL_ROOM, "%zu", i + 2);
        else
            snprintf(bars.labels[i], LABEL_ROOM, "%zu–%zu", ((size_t)1 << (i - 1)) + 1, (size_t)1 << i);
    write_bars(out, &bars, "Groups by the number of their documents, the one kept included.");
}

/* ---- examples */

/* So many bytes of each text are compared, and so many shown; of what is equal, a little around the differences. */
enum { COMPARED_BYTES = 1 << 16, SHOWN_BYTES = 1500, AROUND_BYTES = 120 };

/* Moves `at` backwards to where a character begins. */
static size_t character_start(twin_text text, size_t at)
{
    while (at > 0 && at < text.length && ((unsigned char)text.bytes[at] & 0xC0) == 0x80)
        at--;
    return at;
}

/* A stretch that is equal: if it is long, its beginning, unless it is the first, and its end, unless it is the last.
 * If it is both, all is equal. */
static size_t write_equal(FILE *out, twin_text text, bool first, bool last)
{
    size_t before = first ? 0 : AROUND_BYTES, after = last ? 0 : AROUND_BYTES;
    if (first && last)
        before = SHOWN_BYTES; /* nothing differs */
    if (text.length <= before + after + AROUND_BYTES) {
        escape_html(out, text.bytes, text.length);
        return text.length;
    }
    before = character_start(text, before);
    size_t from = character_start(text, text.length - after);
    escape_html(out, text.bytes, before);
    fputs(" <span class=\"soft\">…</span> ", out);
    escape_html(out, text.bytes + from, text.length - from);
    return before + text.length - from;
}

/* Whether a span replaces the one before it. */
static bool is_replacement(const twin_edit_spans *spans, size_t span)
{
    return span > 0 && spans->spans[span].kind != TWIN_EDIT_EQUAL && spans->spans[span - 1].kind != TWIN_EDIT_EQUAL;
}

/* One side of a pair: its spans, with those that only it has marked. Both sides stop at the same span, but not between
 * what was replaced and what replaces it. */
static void write_side(FILE *out, twin_text text, const twin_edit_spans *spans, bool second)
{
    size_t shown = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const twin_edit_span *span = &spans->spans[i];
        bool marked = span->kind == (second ? TWIN_EDIT_INSERTED : TWIN_EDIT_DELETED);
        twin_text part = { text.bytes + (second ? span->b_begin : span->a_begin),
                           second ? span->b_length : span->a_length };
        if (shown >= SHOWN_BYTES && !is_replacement(spans, i)) {
            fputs(" <span class=\"soft\">…</span>", out);
            return;
        }
        if (span->kind == TWIN_EDIT_EQUAL)
            shown += write_equal(out, part, i == 0, i + 1 == spans->count);
        else
            shown += (span->kind == TWIN_EDIT_INSERTED ? span->b_length : span->a_length);
        if (!marked)
            continue;
        fputs("<mark>", out);
        escape_html(out, part.bytes, excerpt_length(part, SHOWN_BYTES));
        fputs("</mark>", out);
    }
}

/* A document as the left or right half of a pair. */
struct half {
    twin_text id, text;
};

static void write_id(FILE *out, twin_text id)
{
    enum { MOST_OF_ID = 400 }; /* bytes; there may be megabytes */
    size_t shown = excerpt_length(id, MOST_OF_ID);
    escape_html(out, id.bytes, shown);
    fputs(shown < id.length ? "…" : "", out);
}

static void write_half(FILE *out, struct half half, const twin_edit_spans *spans, bool second)
{
    fputs("<div dir=\"auto\"><b dir=\"auto\">", out); /* Arabic and Hebrew from the right */
    write_id(out, half.id);
    fputs("</b>", out);
    write_side(out, half.text, spans, second);
    fputs("</div>", out);
}

/* Where the texts were cut, the last change may be one of the cut; but if nothing is equal, it is all there is. */
static void drop_last_change(twin_edit_spans *spans)
{
    size_t count = spans->count;
    while (count > 0 && spans->spans[count - 1].kind != TWIN_EDIT_EQUAL)
        count--;
    if (count > 0)
        spans->count = count;
}

/* Both texts, with what they do not share marked. */
static void write_halves(FILE *out, struct half a, struct half b)
{
    twin_edit_spans spans = { 0 };
    bool cut = a.text.length > COMPARED_BYTES || b.text.length > COMPARED_BYTES;
    a.text.length = excerpt_length(a.text, COMPARED_BYTES);
    b.text.length = excerpt_length(b.text, COMPARED_BYTES);
    if (twin_diff(&spans, a.text, b.text, (twin_diff_options){ 0 }) == TWIN_OK) {
        if (cut)
            drop_last_change(&spans);
        fputs("<div class=\"pair\">", out);
        write_half(out, a, &spans, false);
        write_half(out, b, &spans, true);
        fputs("</div>\n", out);
    }
    twin_edit_spans_clear(&spans);
}

/* Fetches a document of a collection; the text lives until the scratch is used again. Sets have no texts. */
static bool fetch(struct half *out, const twin_collection *collection, twin_scratch **scratch, uint32_t number)
{
    twin_document document;
    if (twin_collection_document(&document, collection, scratch, number, NULL) != TWIN_OK)
        return false;
    *out = (struct half){ twin_collection_entry_of(collection, number).id, document.text };
    return true;
}

static void write_pair(FILE *out, const struct dedup_result *result, uint32_t kept, uint32_t dropped)
{
    twin_scratch *scratches[2] = { NULL, NULL };
    struct half a, b;
    if (fetch(&a, result->collection, &scratches[0], kept) && fetch(&b, result->collection, &scratches[1], dropped))
        write_halves(out, a, b);
    twin_scratch_free(scratches[0]);
    twin_scratch_free(scratches[1]);
}

/* ---- groups ---- */

/* The dropped document that is the least similar to the one kept: what the threshold means for this collection. */
static uint32_t least_similar(const struct dedup_result *result, const twin_dedup_group *group)
{
    const double *similarities = twin_dedup_similarities(result->dedup);
    uint32_t least = group->dropped[0];
    for (size_t i = 1; i < group->count; i++)
        if (similarities[group->dropped[i]] < similarities[least])
            least = group->dropped[i];
    return least;
}

static void write_examples(FILE *out, const struct dedup_result *result)
{
    const twin_dedup_group *largest[LARGEST_GROUPS];
    size_t count = largest_groups(largest, result->dedup);
    fputs("<h2>The largest groups</h2>\n<p>On the left the document that is kept, on the right the one of those "
          "dropped for it that is the least similar; what they do not share is marked.</p>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        uint32_t other = least_similar(result, largest[i]);
        fprintf(out, "<p>%zu dropped; similarity %.4f</p>", largest[i]->count,
                twin_dedup_similarities(result->dedup)[other]);
        write_pair(out, result, largest[i]->keeper, other);
    }
}

/* ---- the least similar ---- */

/* A few pairs, the least similar first, of equal ones the earlier. */
enum { EXAMPLES = 5 };
struct examples {
    size_t count;
    struct example {
        double similarity;
        uint32_t kept, dropped;
    } items[EXAMPLES + 1];
};

static void note_example(struct examples *examples, struct example example)
{
    size_t place = examples->count;
    for (; place > 0 && examples->items[place - 1].similarity > example.similarity; place--)
        examples->items[place] = examples->items[place - 1];
    examples->items[place] = example;
    examples->count += examples->count < EXAMPLES;
}

/* The dropped documents that are the least similar to the ones kept, of different groups: they show whether the
 * threshold is right. */
static void write_least_similar(FILE *out, const struct dedup_result *result)
{
    const twin_dedup_group *groups;
    size_t count = twin_dedup_groups(&groups, result->dedup);
    struct examples examples = { 0 };
    for (size_t i = 0; i < count; i++) {
        uint32_t dropped = least_similar(result, &groups[i]);
        note_example(&examples,
                     (struct example){ twin_dedup_similarities(result->dedup)[dropped], groups[i].keeper, dropped });
    }
    fputs("<h2>The least similar</h2>\n<p>Of all dropped documents those that are the least similar to the one "
          "kept, one of a group: if these should stay, the threshold is too low.</p>\n",
          out);
    for (size_t i = 0; i < examples.count; i++) {
        fprintf(out, "<p>similarity %.4f</p>", examples.items[i].similarity);
        write_pair(out, result, examples.items[i].kept, examples.items[i].dropped);
    }
}

/* ---- what is known elsewhere ---- */

/* The text that an index keeps, if it does; it lives as long as the view is not used again. */
static bool fetch_indexed(twin_text *out, twin_index **index, twin_index_view **view, const char *path, twin_text id)
{
    twin_index_entry entry;
    bool found = false;
    return twin_index_open(index, path, TWIN_INDEX_READ, NULL) == TWIN_OK &&
           twin_index_view_create(view, *index, NULL) == TWIN_OK &&
           twin_index_find(&entry, &found, *view, id, NULL) == TWIN_OK && found &&
           twin_index_text(out, *view, entry, NULL) == TWIN_OK;
}

/* Shows a text as an index keeps it. */
static bool normalise(struct half *half, twin_buffer *room, const twin_index *index)
{
    bool good = twin_text_normalise(room, NULL, half->text, twin_index_options_of(index).scheme.normal) == TWIN_OK;
    half->text = (twin_text){ room->bytes, room->length };
    return good;
}

/* A document beside the one that is known elsewhere. An index that keeps no texts has none to show. */
static void write_known_pair(FILE *out, const struct dedup_result *result, uint32_t dropped)
{
    const struct known *known = result->known;
    const struct known_match *match = &known->matches[dropped];
    bool is_indexed = match->number == KNOWN_IN_INDEX;
    twin_scratch *scratches[2] = { NULL, NULL };
    twin_buffer room = { 0 };
    twin_index *index = NULL;
    twin_index_view *view = NULL;
    struct half a = { .id = known_id(known, match) }, b;
    bool good = is_indexed ? fetch_indexed(&a.text, &index, &view, match->file, a.id)
                           : fetch(&a, known->other, &scratches[0], match->number);
    if (good && fetch(&b, result->collection, &scratches[1], dropped) && (!is_indexed || normalise(&b, &room, index)))
        write_halves(out, a, b);
    twin_index_view_free(view);
    twin_index_close(index);
    twin_buffer_clear(&room);
    twin_scratch_free(scratches[0]);
    twin_scratch_free(scratches[1]);
}

static void write_known_example(FILE *out, const struct dedup_result *result, uint32_t dropped)
{
    const struct known_match *match = &result->known->matches[dropped];
    fprintf(out, "<p>similarity %.4f: ", match->similarity);
    write_id(out, twin_collection_entry_of(result->collection, dropped).id);
    fputs(" is like ", out);
    write_id(out, known_id(result->known, match));
    fputs(" in ", out);
    escape_html(out, match->file, strlen(match->file));
    fputs("</p>", out);
    write_known_pair(out, result, dropped);
}

/* Those that are the least similar to what is known, as above. */
static void write_known_examples(FILE *out, const struct dedup_result *result)
{
    const struct known *known = result->known;
    struct examples examples = { 0 };
    for (size_t i = 0; i < known->count; i++)
        if (known->matches[i].file)
            note_example(&examples,
                         (struct example){ .similarity = known->matches[i].similarity, .dropped = (uint32_t)i });
    if (examples.count == 0)
        return;
    fputs("<h2>Known elsewhere</h2>\n<p>Of the documents dropped for one of <code>--against</code> or "
          "<code>--update</code>, those that are the least similar to it. On the left the one that is there, if its "
          "text is kept.</p>\n",
          out);
    for (size_t i = 0; i < examples.count; i++)
        write_known_example(out, result, examples.items[i].dropped);
}

/* Writes the largest groups, and the least similar pairs, within the collection and with what is known elsewhere. */
static void write_all_examples(FILE *out, const struct dedup_result *result)
{
    if (twin_dedup_groups(NULL, result->dedup)) {
        write_examples(out, result);
        write_least_similar(out, result);
    }
    write_known_examples(out, result);
}

/* ---- the page */

bool write_report(const struct dedup_result *result, const char *path)
{
    struct output_file output;
    if (!output_file_open(&output, path))
        return false;
    write_page_head(output.file, "twinsift dedup", "Near-duplicates");
    write_command(output.file, result);
    write_counts(output.file, result);
    if (twin_dedup_groups(NULL, result->dedup)) {
        fputs("<h2>Similarities and groups</h2>\n", output.file);
        write_similarities(output.file, result);
        write_sizes(output.file, result);
    }
    write_all_examples(output.file, result);
    fputs("</body></html>\n", output.file);
    return output_file_finish(&output);
}
