/* show_diff.c — prints what two texts have in common and where they differ.
 *
 * A span is printed piece by piece. A piece is what is between white space; a wide character (Chinese, Japanese,
 * Korean) is a piece of its own, and what does not fit into a line is cut. Lines are broken between pieces. Side by
 * side, a line of the left and one of the right text are filled at the same time: what is equal is added to both, and
 * when either is full both are printed, so that equal words stay next to each other. */
#include "show.h"

#include "support/escape.h"
#include "support/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const colors[] = {
    [TWIN_EDIT_DELETED] = "\033[31;9m",  /* red, struck out */
    [TWIN_EDIT_INSERTED] = "\033[32;1m", /* green, bold */
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- pieces of a span ---- */

/* What is left of a span, piece by piece. */
struct pieces {
    twin_text rest;
    twin_edit_kind kind;
    bool first;
    size_t most;           /* columns of a piece */
    size_t words, context; /* how many there are, and how many of them at either end are printed */
    size_t number;         /* of the next one */
    bool at_begin, at_end; /* of the texts: there nothing precedes, or follows, that would need context */
};

struct piece {
    twin_text text;
    const char *before, *after; /* marks */
    size_t lines;               /* line ends in the white space after it */
    bool blank;                 /* whether there is any */
    bool breaks;                /* a line may end after it although there is none */
};

/* Whether the word is too far from any change to be printed. */
static bool is_hidden(const struct pieces *pieces, size_t number)
{
    if (pieces->kind != TWIN_EDIT_EQUAL || pieces->context == SIZE_MAX)
        return false;
    bool near_begin = !pieces->at_begin && number < pieces->context;
    bool near_end = !pieces->at_end && number + pieces->context >= pieces->words;
    return !near_begin && !near_end;
}

/* The bytes of the character at `at`, as far as they follow. */
static size_t character_bytes(twin_text text, size_t at)
{
    size_t end = at + 1;
    while (end < text.length && ((unsigned char)text.bytes[end] & 0xC0) == 0x80 && end < at + 4)
        end++;
    return end - at;
}

static struct piece cut(struct pieces *pieces)
{
    twin_text rest = pieces->rest;
    size_t end = 0, next, columns = 0;
    bool wide = false;
    while (end < rest.length && !is_blank(rest.bytes[end])) {
        size_t length = character_bytes(rest, end), width = text_columns((twin_text){ rest.bytes + end, length });
        wide = wide || width > 1;
        if (end > 0 && (wide || columns + width > pieces->most))
            break;
        end += length;
        columns += width;
    }
    struct piece piece = { .text = { rest.bytes, end }, .before = "", .after = "" };
    for (next = end; next < rest.length && is_blank(rest.bytes[next]); next++)
        piece.lines += rest.bytes[next] == '\n';
    piece.blank = next > end;
    piece.breaks = wide || (end < rest.length && !piece.blank);
    pieces->rest = (twin_text){ rest.bytes + next, rest.length - next };
    pieces->number++;
    return piece;
}

/* The next piece; false when there is none. Words that are not printed become one piece, "…". */
static bool next_piece(struct piece *out, struct pieces *pieces)
{
    if (pieces->rest.length == 0)
        return false;
    bool first = pieces->first, hidden = is_hidden(pieces, pieces->number);
    *out = cut(pieces);
    if (hidden) {
        while (pieces->rest.length && is_hidden(pieces, pieces->number))
            *out = cut(pieces);
        out->text = (twin_text){ "…", strlen("…") };
        out->lines = 0;
    }
    pieces->first = false;
    if (pieces->kind == TWIN_EDIT_DELETED) {
        out->before = first ? "[-" : "";
        out->after = pieces->rest.length ? "" : "-]";
    } else if (pieces->kind == TWIN_EDIT_INSERTED) {
        out->before = first ? "{+" : "";
        out->after = pieces->rest.length ? "" : "+}";
    }
    return true;
}

static size_t count_words(struct pieces pieces)
{
    while (pieces.rest.length)
        cut(&pieces);
    return pieces.number;
}

/* The pieces of span number i: of what is equal, those of the second text, or of the first. */
static struct pieces pieces_of(const twin_edit_spans *spans, size_t i, twin_text a, twin_text b, bool of_first,
                               struct diff_style style)
{
    twin_edit_span span = spans->spans[i];
    bool left = span.kind == TWIN_EDIT_DELETED || (span.kind == TWIN_EDIT_EQUAL && of_first);
    twin_text text = left ? (twin_text){ a.bytes + span.a_begin, span.a_length }
                          : (twin_text){ b.bytes + span.b_begin, span.b_length };
    while (text.length && is_blank(text.bytes[0])) /* only at the beginning of a text */
        text = (twin_text){ text.bytes + 1, text.length - 1 };
    struct pieces pieces = { .rest = text,
                             .kind = span.kind,
                             .first = true,
                             .most = style.columns ? style.columns : SIZE_MAX,
                             .context = style.context,
                             .at_begin = i == 0,
                             .at_end = i + 1 == spans->count };
    if (span.kind == TWIN_EDIT_EQUAL && style.context != SIZE_MAX)
        pieces.words = count_words(pieces);
    return pieces;
}

static void print_piece(FILE *out, const struct piece *piece, twin_edit_kind kind, bool color)
{
    bool colored = color && kind != TWIN_EDIT_EQUAL;
    fputs(colored ? colors[kind] : piece->before, out);
    escape_message(out, piece->text.bytes, piece->text.length);
    fputs(colored ? "\033[0m" : piece->after, out);
}

static size_t piece_columns(const struct piece *piece, bool color)
{
    return text_columns(piece->text) + (color ? 0 : strlen(piece->before) + strlen(piece->after));
}

/* ---- one text ---- */

void print_unified(FILE *out, twin_text a, twin_text b, const twin_edit_spans *spans, struct diff_style style)
{
    size_t column = 0, lines = 0; /* lines: line ends due before the next piece */
    bool blank = false, breaks = false;
    twin_edit_kind last = TWIN_EDIT_EQUAL;
    for (size_t i = 0; i < spans->count; i++) {
        struct pieces pieces = pieces_of(spans, i, a, b, false, style);
        struct piece piece;
        while (next_piece(&piece, &pieces)) {
            size_t columns = piece_columns(&piece, style.color);
            /* Without marks, what is gone and what is new would be one word. */
            blank |= style.color && pieces.kind == TWIN_EDIT_INSERTED && last == TWIN_EDIT_DELETED;
            last = pieces.kind;
            bool full = style.columns && column + blank + columns > style.columns;
            if (lines == 0 && (blank || breaks) && full && column)
                lines = 1;
            for (size_t l = 0; l < lines && l < 2; l++) {
                fputc('\n', out);
                column = 0;
            }
            if (blank && column) {
                fputc(' ', out);
                column++;
            }
            print_piece(out, &piece, pieces.kind, style.color);
            column += columns;
            blank = piece.blank;
            breaks = piece.breaks;
            lines = piece.lines;
        }
        breaks |= pieces.kind == TWIN_EDIT_DELETED;
        if (pieces.kind == TWIN_EDIT_DELETED && i + 1 < spans->count &&
            spans->spans[i + 1].kind == TWIN_EDIT_INSERTED)
            lines = 0; /* what is new stands next to what is gone */
    }
    if (column)
        fputc('\n', out);
}

/* ---- two texts ---- */

struct column {
    char *bytes; /* what open_memstream() collects */
    size_t length;
    FILE *file;
    size_t columns; /* used */
    bool blank;     /* due before the next piece */
    bool changed;   /* has a piece that the other column has not */
};

struct page {
    FILE *out;
    size_t width; /* of a column */
    bool color;
    struct column sides[2];
};

static void flush_page(struct page *page)
{
    struct column *left = &page->sides[0], *right = &page->sides[1];
    fflush(left->file);
    fflush(right->file);
    if (left->columns || right->columns) {
        fwrite(left->bytes, 1, (size_t)ftell(left->file), page->out);
        if (right->columns || left->changed) {
            for (size_t i = left->columns; i < page->width; i++)
                fputc(' ', page->out);
            fputs(left->changed || right->changed ? " |" : "  ", page->out);
            fputs(right->columns ? " " : "", page->out);
        }
        fwrite(right->bytes, 1, (size_t)ftell(right->file), page->out);
        fputc('\n', page->out);
    }
    for (int side = 0; side < 2; side++) {
        rewind(page->sides[side].file);
        page->sides[side].columns = 0;
        page->sides[side].blank = page->sides[side].changed = false;
    }
}

static bool has_room(const struct column *column, size_t width, size_t columns)
{
    return column->columns == 0 || column->columns + column->blank + columns <= width;
}

static void add_piece(struct page *page, int side, const struct piece *piece, twin_edit_kind kind)
{
    struct column *column = &page->sides[side];
    if (column->blank && column->columns) {
        fputc(' ', column->file);
        column->columns++;
    }
    print_piece(column->file, piece, kind, page->color);
    column->columns += piece_columns(piece, page->color);
    column->blank = piece->blank;
    column->changed |= kind != TWIN_EDIT_EQUAL;
}

/* The pieces of what is equal are the same in both texts, but for the white space between them. */
static void add_span(struct page *page, struct pieces *left, struct pieces *right)
{
    struct piece pieces[2];
    for (;;) {
        bool more[2] = { left && next_piece(&pieces[0], left), right && next_piece(&pieces[1], right) };
        if (!more[0] && !more[1])
            return;
        for (int side = 0; side < 2; side++)
            if (more[side] && !has_room(&page->sides[side], page->width, piece_columns(&pieces[side], page->color)))
                flush_page(page);
        for (int side = 0; side < 2; side++)
            if (more[side])
                add_piece(page, side, &pieces[side], side ? right->kind : left->kind);
        if (more[0] && more[1] && (pieces[0].lines || pieces[1].lines))
            flush_page(page);
        if (more[0] && more[1] && (pieces[0].lines > 1 || pieces[1].lines > 1))
            fputc('\n', page->out); /* between paragraphs */
    }
}

bool print_side_by_side(FILE *out, twin_text a, twin_text b, const twin_edit_spans *spans, struct diff_style style)
{
    style.columns = style.columns > 7 ? (style.columns - 3) / 2 : 2;
    struct page page = { .out = out, .width = style.columns, .color = style.color };
    for (int side = 0; side < 2; side++)
        page.sides[side].file = open_memstream(&page.sides[side].bytes, &page.sides[side].length);
    bool good = page.sides[0].file && page.sides[1].file;
    for (size_t i = 0; i < spans->count && good; i++) {
        struct pieces left = pieces_of(spans, i, a, b, true, style);
        struct pieces right = pieces_of(spans, i, a, b, false, style);
        twin_edit_kind kind = spans->spans[i].kind;
        add_span(&page, kind == TWIN_EDIT_INSERTED ? NULL : &left, kind == TWIN_EDIT_DELETED ? NULL : &right);
        good = !ferror(page.sides[0].file) && !ferror(page.sides[1].file);
    }
    if (good)
        flush_page(&page);
    for (int side = 0; side < 2; side++) {
        if (page.sides[side].file)
            fclose(page.sides[side].file);
        free(page.sides[side].bytes);
    }
    return good;
}
