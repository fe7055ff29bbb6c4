/* dedup_examples.c — the examples in the report of twinsift dedup: documents side by side, their differences marked.
 *
 * The largest groups show what was dropped for what, the least similar pairs whether the threshold is right. Texts come
 * from strangers and are escaped. */
#include "dedup_output.h"

#include "support/escape.h"

#include <string.h>

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
    *out = (struct half){ twin_collection_id(NULL, collection, number), document.text };
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
    write_id(out, twin_collection_id(NULL, result->collection, dropped));
    fputs(" is like ", out);
    write_id(out, known_id(result->known, match));
    fputs(" in ", out);
    escape_html(out, match->file, strlen(match->file));
    fputs("</p>", out);
    write_known_pair(out, result, dropped);
}

/* Those that are the least similar to what is known, as above. */
static void write_known(FILE *out, const struct dedup_result *result)
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

void write_dedup_examples(FILE *out, const struct dedup_result *result)
{
    if (twin_dedup_groups(NULL, result->dedup)) {
        write_examples(out, result);
        write_least_similar(out, result);
    }
    write_known(out, result);
}
