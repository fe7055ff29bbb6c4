/* text.c — normalisation of text.
 *
 * ASCII goes through a kernel. Other characters are looked up in a table, which has the result for every character of
 * the first plane that folds to a single one. utf8proc is called only for the rest: a character that decomposes into
 * several, or one followed by characters that may combine with it. */
#include <twinsift/text.h>

#include <pthread.h>
#include <string.h>
#include <utf8proc.h>

#include "base/error.h"
#include "kernels/kernels.h"
#include "text/pieces.h"
#include "text/utf8.h"

/* ---- the table of simple characters ---- */

static const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD;

/* What a character of the first plane becomes when nothing combines with it, or one of three code points that are not
 * characters:
 *   JOINS  it may combine or change places with its predecessor;
 *   MARK   it never combines, but marks are ordered by their combining class;
 *   PARTS  it becomes several characters.
 * A text may be cut before every character that is neither JOINS nor MARK, and the parts normalised one by one, since
 * the decomposition of such a character begins with one of combining class 0 that is not the second of any
 * composition. */
enum { PLANE = 0x10000, JOINS = 0xFDD0, MARK, PARTS, LONGEST = 32 };
static uint16_t table[PLANE];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static inline bool is_simple(uint32_t folded)
{
    return folded < JOINS || folded > PARTS;
}

static inline bool is_attached(uint32_t folded)
{
    return folded == JOINS || folded == MARK;
}

/* White_Space of the Unicode character database; the set has not changed since Unicode 6.3. */
static bool is_blank(int32_t value)
{
    return value == ' ' || (value >= 0x09 && value <= 0x0D) || value == 0x85 || value == 0xA0 || value == 0x1680 ||
           (value >= 0x2000 && value <= 0x200A) || value == 0x2028 || value == 0x2029 || value == 0x202F ||
           value == 0x205F || value == 0x3000;
}

static int combining_class(int32_t value)
{
    return utf8proc_get_property(value)->combining_class;
}

static size_t decompose(int32_t *out, size_t room, int32_t value, utf8proc_option_t how)
{
    int boundclass = 0; /* utf8proc needs the argument, but only grapheme breaks use it */
    utf8proc_ssize_t count = utf8proc_decompose_char(value, out, (utf8proc_ssize_t)room, how, &boundclass);
    return count < 0 ? 0 : (size_t)count;
}

/* Whether a character stays as it is when it is taken apart and put together again; without CASEFOLD its case may still
 * change. Most do, Hangul syllables among them, and utf8proc need not be called for them. */
static bool stays(int32_t value, utf8proc_option_t how)
{
    const utf8proc_property_t *property = utf8proc_get_property(value);
    return property->decomp_seqindex == UINT16_MAX &&
           (!(how & UTF8PROC_CASEFOLD) || property->casefold_seqindex == UINT16_MAX);
}

/* Ideographs, Hangul syllables, surrogates and private use, two thirds of the plane: blocks that are full, of characters that
 * have no case and are the parts of nothing. It halves the time of the table not to ask utf8proc for each. */
static bool is_whole(int32_t value)
{
    return (value >= 0x3400 && value < 0x4DC0) || (value >= 0x4E00 && value < 0xA000) ||
           (value >= 0xAC00 && value < 0xF900);
}

static void mark_joining(int32_t first, int32_t last)
{
    for (int32_t value = first; value <= last; value++)
        table[value] = JOINS;
}

/* The seconds of all compositions are the last parts of canonical decompositions, and the vowels and final consonants
 * of Hangul. */
static void find_seconds(void)
{
    for (int32_t value = 0; value < 2 * PLANE; value++) {
        int32_t parts[LONGEST];
        if (is_whole(value) || stays(value, UTF8PROC_DECOMPOSE))
            continue;
        size_t count = decompose(parts, LONGEST, value, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
        if (count > 1 && count <= LONGEST && parts[count - 1] < PLANE)
            table[parts[count - 1]] = JOINS;
    }
    mark_joining(0x1161, 0x1175);
    mark_joining(0x11A8, 0x11C2);
    /* A vowel, one before the first final consonant: utf8proc 2.8 combines it with a syllable, which then loses it. */
    table[0x11A7] = JOINS;
}

static uint16_t fold_alone(int32_t value)
{
    int32_t parts[LONGEST];
    if (is_whole(value) && is_simple((uint32_t)value))
        return (uint16_t)value;
    if (stays(value, options) && combining_class(value) == 0 && table[value] != JOINS && is_simple((uint32_t)value))
        return is_blank(value) ? ' ' : (uint16_t)value;
    size_t count = decompose(parts, LONGEST, value, options);
    if (count == 0 || count > LONGEST)
        return JOINS;
    if (parts[0] >= PLANE || table[parts[0]] == JOINS)
        return JOINS;
    if (combining_class(parts[0]) != 0)
        return count == 1 && parts[0] == value ? MARK : JOINS;
    if (utf8proc_normalize_utf32(parts, (utf8proc_ssize_t)count, options) != 1 || parts[0] >= PLANE ||
        !is_simple((uint32_t)parts[0]))
        return PARTS;
    return is_blank(parts[0]) ? ' ' : (uint16_t)parts[0];
}

/* Takes a third of a millisecond, once, and only when a text is not all ASCII. */
static void fill_table(void)
{
    find_seconds();
    for (int32_t value = 0; value < PLANE; value++)
        table[value] = fold_alone(value);
}

/* Past the first plane, symbols (emoji) and ideographs stay unchanged. Of the rest, which is rare, nothing is
 * assumed: Unicode 16 has letters there that are seconds of compositions. */
static uint32_t fold_high(uint32_t value)
{
    int32_t part;
    utf8proc_category_t category = utf8proc_category((int32_t)value);
    bool symbol = category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO;
    bool ideograph = value >= 0x20000 && value < 0x40000 && category == UTF8PROC_CATEGORY_LO;
    if ((symbol || ideograph) && decompose(&part, 1, (int32_t)value, options) == 1 && part == (int32_t)value)
        return value;
    return JOINS;
}

static inline uint32_t fold_point(uint32_t value)
{
    return value < PLANE ? table[value] : fold_high(value);
}

/* ---- folding ---- */

struct folding {
    twin_buffer *out;
    const unsigned char *p, *end; /* the unread rest */
    const unsigned char *last;    /* where the last character begins, if a mark may combine with it; else NULL */
    size_t last_length;           /* of `out` before it */
    int last_class;               /* of the last mark after it, 0 when there is none */
    uint64_t bad;
    bool after_blank;
    twin_buffer points; /* scratch: code points passed to utf8proc, as int32_t */
};

/* Reserves what every step may need: the remaining bytes if they were ASCII, what the kernel may overwrite, and RUN
 * bytes that grow threefold, as ill-formed ones do. */
enum { RUN = 1024, SLACK = 64 };

static twin_status make_room_for_fold(const struct folding *f)
{
    size_t left = (size_t)(f->end - f->p);
    return twin_buffer_reserve(f->out, left + 3 * (left < RUN ? left : RUN) + SLACK);
}

/* Reads ASCII up to another character or the end. */
static void fold_ascii(struct folding *f, const struct kernels *kernels)
{
    size_t written;
    size_t read = kernels->fold_ascii(f->out->bytes + f->out->length, &written, &f->after_blank, (const char *)f->p,
                                      (size_t)(f->end - f->p));
    if (read == 0)
        return;
    f->p += read;
    f->out->length += written;
    f->last = f->after_blank ? NULL : f->p - 1;
    f->last_length = f->out->length - (f->out->length > 0); /* blanks at the start write nothing */
    f->last_class = 0;
}

/* Whether a character can be written unchanged because it is a mark in canonical order. The marks before it need not be
 * examined again: a mark that never combines does not block one of a higher class, and follows those of a lower. */
static bool is_in_place(struct folding *f, uint32_t value, uint32_t folded)
{
    if (folded != MARK || !f->last || combining_class((int32_t)value) < f->last_class)
        return false;
    f->last_class = combining_class((int32_t)value);
    return true;
}

/* Reads simple characters, RUN bytes at most, and stops where enough ASCII begins for the kernel.
 * True if it stopped before a character for utf8proc. */
static bool fold_simple(struct folding *f)
{
    const unsigned char *p = f->p, *end = f->end, *stop = end - p < RUN ? end : p + RUN;
    char *o = f->out->bytes + f->out->length;
    bool stuck = false;
    while (p < stop && !(*p < 0x80 && end - p >= 8 && twin__eight_ascii(p))) {
        const unsigned char *begin = p;
        uint64_t bad = 0;
        uint32_t value = twin__take_character(&p, end, &bad), folded = fold_point(value);
        if (folded == ' ') {
            *o = ' ';
            o += !f->after_blank;
            f->after_blank = true;
            f->last = NULL;
        } else if (is_simple(folded)) {
            f->bad += bad;
            f->last = begin;
            f->last_length = (size_t)(o - f->out->bytes);
            f->last_class = 0;
            f->after_blank = false;
            o = twin__put_character(o, folded);
        } else if (is_in_place(f, value, folded)) {
            o = twin__put_character(o, value);
        } else {
            p = begin;
            stuck = true;
            break;
        }
    }
    f->p = p;
    f->out->length = (size_t)(o - f->out->bytes);
    return stuck;
}

/* Sorts marks by their combining class, stably. A counting sort, since hostile input may have a million of them.
 * `spare` has room for as many. */
static void sort_marks(int32_t *marks, int32_t *spare, size_t count)
{
    size_t place[256] = { 0 }, sum = 0;
    for (size_t i = 0; i < count; i++)
        place[combining_class(marks[i]) & 0xFF]++;
    for (size_t i = 0; i < 256; i++) {
        size_t here = place[i];
        place[i] = sum;
        sum += here;
    }
    memcpy(spare, marks, count * sizeof *marks);
    for (size_t i = 0; i < count; i++)
        marks[place[combining_class(spare[i]) & 0xFF]++] = spare[i];
}

static void sort_few_marks(int32_t *marks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int32_t mark = marks[i];
        size_t j = i;
        for (; j > 0 && combining_class(marks[j - 1]) > combining_class(mark); j--)
            marks[j] = marks[j - 1];
        marks[j] = mark;
    }
}

/* Canonical order; utf8proc implements it too, but in quadratic time. */
static void put_in_order(int32_t *points, int32_t *spare, size_t count)
{
    enum { FEW = 16 };
    for (size_t i = 0; i < count; i++) {
        size_t begin = i;
        while (i < count && combining_class(points[i]) != 0)
            i++;
        if (i - begin > FEW)
            sort_marks(points + begin, spare, i - begin);
        else if (i - begin > 1)
            sort_few_marks(points + begin, i - begin);
    }
}

/* Appends the decomposition of one character to the scratch. */
static twin_status add_parts(twin_buffer *points, int32_t value)
{
    size_t room, count = LONGEST;
    do {
        room = count;
        twin_status status = twin_buffer_reserve(points, room * sizeof value);
        if (status != TWIN_OK)
            return status;
        count = decompose((int32_t *)(void *)(points->bytes + points->length), room, value, options);
    } while (count > room);
    points->length += count * sizeof value;
    return TWIN_OK;
}

static twin_status write_points(struct folding *f, const int32_t *points, size_t count)
{
    twin_status status = twin_buffer_reserve(f->out, 4 * count);
    if (status != TWIN_OK)
        return status;
    char *o = f->out->bytes + f->out->length;
    for (size_t i = 0; i < count; i++) {
        bool blank = is_blank(points[i]);
        if (!blank)
            o = twin__put_character(o, (uint32_t)points[i]);
        else if (!f->after_blank)
            *o++ = ' ';
        f->after_blank = blank;
    }
    f->out->length = (size_t)(o - f->out->bytes);
    return TWIN_OK;
}

/* What the next character becomes, without reading it. */
static uint32_t peek(const struct folding *f)
{
    const unsigned char *p = f->p;
    uint64_t unused = 0;
    return fold_point(twin__take_character(&p, f->end, &unused));
}

/* Unreads the last character and its marks. */
static void give_back(struct folding *f)
{
    uint64_t counted = 0;
    f->p = f->last;
    f->out->length = f->last_length;
    twin__take_character(&f->last, f->end, &counted);
    f->bad -= counted;
}

/* Reads one character and all that may combine with it, and folds them with utf8proc. */
static twin_status fold_piece(struct folding *f)
{
    twin_status status;
    if (f->last && is_attached(peek(f)))
        give_back(f);
    f->last = NULL;
    f->points.length = 0;
    do {
        status = add_parts(&f->points, (int32_t)twin__take_character(&f->p, f->end, &f->bad));
        if (status != TWIN_OK)
            return status;
    } while (f->p < f->end && is_attached(peek(f)));

    size_t count = f->points.length / sizeof(int32_t);
    status = twin_buffer_reserve(&f->points, f->points.length);
    if (status != TWIN_OK)
        return status;
    int32_t *points = (int32_t *)(void *)f->points.bytes;
    put_in_order(points, points + count, count);
    utf8proc_ssize_t left = utf8proc_normalize_utf32(points, (utf8proc_ssize_t)count, options);
    return write_points(f, points, (size_t)left);
}

/* Appends the folded text. `after_blank` is whether white space at its start is dropped, and becomes whether a blank
 * was written last, or would have been. */
static twin_status fold_on(twin_buffer *out, uint64_t *bad, bool *after_blank, twin_text text)
{
    const unsigned char *bytes = (const unsigned char *)text.bytes;
    struct folding f = { .out = out, .p = bytes, .end = bytes + text.length, .after_blank = *after_blank };
    const struct kernels *kernels = twin__kernels();
    twin_status status = TWIN_OK;
    while (f.p < f.end && status == TWIN_OK) {
        status = make_room_for_fold(&f);
        if (status != TWIN_OK)
            break;
        fold_ascii(&f, kernels);
        if (f.p == f.end)
            break;
        pthread_once(&table_once, fill_table);
        if (fold_simple(&f))
            status = fold_piece(&f);
    }
    *after_blank = f.after_blank;
    *bad += f.bad;
    twin_buffer_clear(&f.points);
    return status;
}

static twin_status fold(twin_buffer *out, uint64_t *bad, twin_text text)
{
    bool after_blank = true;
    twin_status status = fold_on(out, bad, &after_blank, text);
    if (out->length > 0 && after_blank)
        out->length--;
    return status;
}

/* ---- checking ---- */

/* Advances to the end or past the first ill-formed sequence, and returns where the well-formed text ends. */
static const unsigned char *skip_good(const unsigned char **at, const unsigned char *end, uint64_t *bad)
{
    const unsigned char *p = *at, *good = p;
    uint64_t before = *bad;
    while (p < end && *bad == before) {
        while (end - p >= 8 && twin__eight_ascii(p))
            p += 8;
        good = p;
        if (p < end)
            twin__take_character(&p, end, bad);
    }
    *at = p;
    return *bad == before ? end : good;
}

static twin_status check_utf8(twin_buffer *out, uint64_t *bad, twin_text text)
{
    const unsigned char *p = (const unsigned char *)text.bytes, *end = p + text.length;
    twin_status status = twin_buffer_reserve(out, text.length);
    while (p < end && status == TWIN_OK) {
        const unsigned char *begin = p;
        uint64_t before = *bad;
        const unsigned char *good = skip_good(&p, end, bad);
        status = twin_buffer_append(out, begin, (size_t)(good - begin));
        if (status == TWIN_OK && *bad > before)
            status = twin_buffer_append(out, "\xEF\xBF\xBD", 3); /* U+FFFD */
    }
    return status;
}

twin_status twin_text_normalise(twin_buffer *out, uint64_t *replaced, twin_text text, twin_normal normal)
{
    uint64_t bad = 0;
    twin_status status = TWIN_OK;
    if (!out || (!text.bytes && text.length))
        return twin__fail_null(NULL, out ? "text.bytes" : "out");
    out->length = 0;
    if (text.length == 0)
        return TWIN_OK;
    switch (normal) {
    case TWIN_NORMAL_FOLD: status = fold(out, &bad, text); break;
    case TWIN_NORMAL_CHECK: status = check_utf8(out, &bad, text); break;
    case TWIN_NORMAL_BYTES: status = twin_buffer_append(out, text.bytes, text.length); break;
    default: return twin__fail(NULL, TWIN_EINVAL, "unknown normalisation %d", (int)normal);
    }
    if (replaced)
        *replaced += bad;
    return status;
}

/* ---- pieces ---- */

/* Past the end of a character: its first byte is no tail, and a fourth tail in a row is ill-formed by itself. */
static bool is_boundary(const unsigned char *begin, const unsigned char *p)
{
    return !twin__is_tail(*p) ||
           (p - begin >= 3 && twin__is_tail(p[-1]) && twin__is_tail(p[-2]) && twin__is_tail(p[-3]));
}

/* Where a text can be cut so that its parts are normalised as the whole is, at or after `p`. */
static const unsigned char *find_cut(const unsigned char *begin, const unsigned char *p, const unsigned char *end,
                                     twin_normal normal)
{
    while (p < end && (normal == TWIN_NORMAL_BYTES ? twin__is_tail(*p) : !is_boundary(begin, p)))
        p++;
    if (normal != TWIN_NORMAL_FOLD)
        return p;
    pthread_once(&table_once, fill_table);
    while (p < end) {
        const unsigned char *next = p;
        uint64_t unused = 0;
        if (!is_attached(fold_point(twin__take_character(&next, end, &unused))))
            break;
        p = next;
    }
    return p;
}

/* White space at the end of a piece is written when something follows it. */
static twin_status fold_next(twin_buffer *out, struct twin__normaliser *state, twin_text piece)
{
    size_t base = out->length;
    bool after_blank = !state->begun || state->blank;
    twin_status status = state->blank ? twin_buffer_append(out, " ", 1) : TWIN_OK;
    if (status == TWIN_OK)
        status = fold_on(out, &state->replaced, &after_blank, piece);
    state->blank = after_blank && out->length > base;
    out->length -= state->blank;
    state->begun |= out->length > base;
    return status;
}

twin_status twin__normalise_piece(twin_buffer *out, struct twin__normaliser *state)
{
    if (state->rest.length == 0)
        return TWIN_OK; /* its bytes may be NULL */
    const unsigned char *begin = (const unsigned char *)state->rest.bytes, *end = begin + state->rest.length;
    const unsigned char *cut = end;
    if (state->rest.length > TWIN__PIECE)
        cut = find_cut(begin, begin + TWIN__PIECE, end, state->normal);
    twin_text piece = { state->rest.bytes, (size_t)(cut - begin) };
    state->rest = (twin_text){ (const char *)cut, (size_t)(end - cut) };
    switch (state->normal) {
    case TWIN_NORMAL_FOLD: return fold_next(out, state, piece);
    case TWIN_NORMAL_CHECK: return check_utf8(out, &state->replaced, piece);
    case TWIN_NORMAL_BYTES: return twin_buffer_append(out, piece.bytes, piece.length);
    }
    return TWIN_EINVAL;
}
