/* shingle.c — hashes of the shingles of a text.
 *
 * Windows of bytes, and of characters in ASCII text, have a fixed length and go through one kernel call. Windows of
 * characters in other texts are found by two pointers, `width` characters apart, or as far apart as the weights of
 * their scripts say. Words are found and hashed by a kernel, or by the marks of a kernel for white space where the
 * hash is not XXH3. A window of words is a polynomial in the hashes of its words, for which there is a kernel too. */
#include <twinsift/scheme.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "kernels/kernels.h"
#include "sketch/hash.h"
#include "sketch/script.h"
#include "sketch/set.h"
#include "sketch/shingle.h"

/* The hundred commonest English words, commonest first. */
static const char *const english[] = {
    "the",    "be",    "to",    "of",    "and",  "a",    "in",    "that", "have",  "i",       "it",   "for",
    "not",    "on",    "with",  "he",    "as",   "you",  "do",    "at",   "this",  "but",     "his",  "by",
    "from",   "they",  "we",    "say",   "her",  "she",  "or",    "an",   "will",  "my",      "one",  "all",
    "would",  "there", "their", "what",  "so",   "up",   "out",   "if",   "about", "who",     "get",  "which",
    "go",     "me",    "when",  "make",  "can",  "like", "time",  "no",   "just",  "him",     "know", "take",
    "people", "into",  "year",  "your",  "good", "some", "could", "them", "see",   "other",   "than", "then",
    "now",    "look",  "only",  "come",  "its",  "over", "think", "also", "back",  "after",   "use",  "two",
    "how",    "our",   "work",  "first", "well", "way",  "even",  "new",  "want",  "because", "any",  "these",
    "give",   "day",   "most",  "us",
};
enum { ENGLISH = sizeof english / sizeof english[0] };

/* Of the polynomials. */
static const uint64_t BASE = 0xD1342543DE82EF95u; /* odd: multiplication is a bijection */

struct twin_shingler {
    twin_shingle_kind kind;
    size_t width;
    twin_hash hash;
    size_t stop_slots; /* a power of two, at least twice the words */
    uint64_t stops[];  /* open addressing by the word's hash; 0 is an empty slot */
};

static const size_t default_widths[] = {
    [TWIN_SHINGLE_AUTO] = 9, [TWIN_SHINGLE_CHAR] = 9, [TWIN_SHINGLE_BYTE] = 4,
    [TWIN_SHINGLE_WORD] = 3, [TWIN_SHINGLE_STOP] = 3, [TWIN_SHINGLE_KMER] = 21,
};
enum { KINDS = sizeof default_widths / sizeof default_widths[0] };

static twin_status fail_rule(const char *rule)
{
    return twin__fail(NULL, TWIN_EINVAL,
                      "\"%s\" is not auto, char:N, byte:N, word:N, stop:N or kmer:N with N from 1 to %d", rule,
                      (int)TWIN_SHINGLE_MAX_WIDTH);
}

size_t twin__shingle_default_width(twin_shingle_kind kind)
{
    return (unsigned)kind < KINDS ? default_widths[kind] : 0;
}

twin_status twin_shingle_parse(twin_shingle_options *out, const char *rule)
{
    if (!out || !rule)
        return twin__fail_null(NULL, out ? "rule" : "out");
    if (strcmp(rule, "auto") == 0)
        rule = "auto:9";
    for (size_t i = 0; i < KINDS; i++) {
        const char *name = twin_name_of(TWIN_NAMES_SHINGLE_KIND, (int)i);
        size_t length = strlen(name), width = 0;
        if (strncmp(rule, name, length) != 0 || rule[length] != ':')
            continue;
        const char *digit = rule + length + 1;
        for (; *digit >= '0' && *digit <= '9' && width <= TWIN_SHINGLE_MAX_WIDTH; digit++)
            width = 10 * width + (size_t)(*digit - '0');
        if (*digit || width == 0 || width > TWIN_SHINGLE_MAX_WIDTH)
            return fail_rule(rule);
        out->kind = (twin_shingle_kind)i;
        out->width = width;
        return TWIN_OK;
    }
    return fail_rule(rule);
}

/* Never 0, which marks an empty slot among the stop words. */
static uint64_t word_hash(const twin_shingler *shingler, const char *word, size_t length)
{
    uint64_t hash = twin_hash_bytes(shingler->hash, word, length);
    return hash ? hash : 1;
}

static bool is_stop(const twin_shingler *shingler, uint64_t hash)
{
    size_t mask = shingler->stop_slots - 1;
    for (size_t i = hash & mask; shingler->stops[i]; i = (i + 1) & mask)
        if (shingler->stops[i] == hash)
            return true;
    return false;
}

static void add_stop(twin_shingler *shingler, const char *word, size_t length)
{
    uint64_t hash = word_hash(shingler, word, length);
    if (is_stop(shingler, hash))
        return;
    size_t mask = shingler->stop_slots - 1, i = hash & mask;
    while (shingler->stops[i])
        i = (i + 1) & mask;
    shingler->stops[i] = hash;
}

static void add_stops(twin_shingler *shingler, twin_shingle_options options)
{
    if (!options.stop_words)
        for (size_t i = 0; i < ENGLISH; i++)
            add_stop(shingler, english[i], strlen(english[i]));
    else
        for (size_t i = 0; i < options.stop_word_count; i++)
            add_stop(shingler, options.stop_words[i].bytes, options.stop_words[i].length);
}

twin_status twin__shingle_check(const twin_shingle_options *options, twin_error *error)
{
    if ((unsigned)options->kind >= KINDS)
        return twin__fail(error, TWIN_EINVAL, "unknown kind of shingle %d", (int)options->kind);
    if (options->width > TWIN_SHINGLE_MAX_WIDTH)
        return twin__fail(error, TWIN_EINVAL, "the width of a shingle must be 1 to %d, not %zu",
                          (int)TWIN_SHINGLE_MAX_WIDTH, options->width);
    if (options->kind == TWIN_SHINGLE_KMER && options->width > TWIN_SHINGLE_MAX_KMER)
        return twin__fail(error, TWIN_EINVAL, "the width of a k-mer must be 1 to %d, not %zu",
                          (int)TWIN_SHINGLE_MAX_KMER, options->width);
    bool has_words = options->kind == TWIN_SHINGLE_STOP && options->stop_words;
    for (size_t i = 0; has_words && i < options->stop_word_count; i++)
        if (!options->stop_words[i].bytes || !options->stop_words[i].length)
            return twin__fail(error, TWIN_EINVAL, "stop_words[%zu] is empty", i);
    return twin__check_reserved(error, options->reserved, "shingles");
}

twin_status twin__shingler_create(twin_shingler **out, twin_shingle_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    twin_status status = twin__shingle_check(&options, NULL);
    if (status == TWIN_OK)
        status = twin_hash_available(options.hash.family);
    if (status != TWIN_OK)
        return status;
    if (options.width == 0)
        options.width = twin__shingle_default_width(options.kind);
    bool stops = options.kind == TWIN_SHINGLE_STOP;
    size_t words = !stops ? 0 : options.stop_words ? options.stop_word_count : ENGLISH;
    if (words > SIZE_MAX / 64)
        return TWIN_ENOMEM;
    size_t slots = 1;
    while (slots < 2 * words + 1)
        slots *= 2;

    twin_shingler *shingler = calloc(1, sizeof *shingler + slots * sizeof shingler->stops[0]);
    if (!shingler)
        return TWIN_ENOMEM;
    shingler->kind = options.kind;
    shingler->width = options.width;
    shingler->hash = options.hash;
    shingler->stop_slots = slots;
    if (stops)
        add_stops(shingler, options);
    *out = shingler;
    return TWIN_OK;
}

void twin__shingler_free(twin_shingler *shingler)
{
    free(shingler);
}

/* ---- characters and bytes ---- */

/* The first byte of a character is any that is not 10xxxxxx. */
static const char *next_character(const char *p, const char *end)
{
    for (p++; p < end && ((unsigned char)*p & 0xC0) == 0x80; p++)
        ;
    return p;
}

/* Returns where the window that would follow the last one begins. */
static const char *byte_windows(twin_items *out, const twin_shingler *shingler, twin_text text)
{
    if (text.length < shingler->width)
        return text.bytes;
    out->count = text.length - shingler->width + 1;
    twin__hash_windows(out->items, shingler->hash, text.bytes, shingler->width, out->count);
    return text.bytes + out->count;
}

/* How many of the next bytes are ASCII, in steps of eight. */
static size_t ascii_run(const char *p, const char *end)
{
    const char *begin = p;
    for (uint64_t eight; end - p >= 8; p += 8) {
        memcpy(&eight, p, 8);
        if (eight & 0x8080808080808080u)
            break;
    }
    return (size_t)(p - begin);
}

/* Most text that is not ASCII is so in a few places. If the window is ASCII, of `width` bytes, it and those after it
 * are added in one call as long as only ASCII follows. Returns by how many bytes to move on to a window not yet
 * added. */
static size_t add_ascii_windows(twin_items *out, const twin_shingler *shingler, const char *first, const char *last,
                                const char *end)
{
    size_t run = (size_t)(last - first) == shingler->width ? ascii_run(last, end) : 0;
    if (run > 0 && last + run < end && ((unsigned char)last[run] & 0xC0) == 0x80)
        run--; /* in ill-formed text a byte that continues nothing belongs to the character before it */
    if (run == 0 || !twin__kernels()->is_ascii(first, shingler->width))
        return 0;
    twin__hash_windows(out->items + out->count, shingler->hash, first, shingler->width, run);
    out->count += run;
    return run;
}

/* The same. Two pointers, `width` characters apart, move through the text. */
static const char *character_windows(twin_items *out, const twin_shingler *shingler, twin_text text)
{
    const char *first = text.bytes, *end = text.bytes + text.length, *last = first;
    for (size_t i = 0; i < shingler->width; i++) {
        if (last == end)
            return first;
        last = next_character(last, end);
    }
    for (;; last = next_character(last, end)) {
        size_t run = add_ascii_windows(out, shingler, first, last, end);
        first += run;
        last += run;
        out->items[out->count++] = twin_hash_bytes(shingler->hash, first, (size_t)(last - first));
        first = next_character(first, end);
        if (last == end)
            return first;
    }
}

/* The same. A window ends with the character that makes it heavy enough. */
static const char *weighted_windows(twin_items *out, const twin_shingler *shingler, twin_text text)
{
    const char *first = text.bytes, *end = text.bytes + text.length, *last = first;
    size_t weight = 0, needed = TWIN__LETTER * shingler->width;
    for (;;) {
        while (weight < needed) {
            if (last == end)
                return first;
            weight += twin__weight(last, end);
            last = next_character(last, end);
        }
        size_t run = add_ascii_windows(out, shingler, first, last, end);
        first += run;
        last += run;
        out->items[out->count++] = twin_hash_bytes(shingler->hash, first, (size_t)(last - first));
        weight -= twin__weight(first, end);
        first = next_character(first, end);
    }
}

/* ---- k-mers ---- */

/* The number of a base; 4: no base. Complements add up to 3. */
static unsigned base_of(char letter)
{
    switch (letter) {
    case 'a':
    case 'A': return 0;
    case 'c':
    case 'C': return 1;
    case 'g':
    case 'G': return 2;
    case 't':
    case 'T': return 3;
    default: return 4;
    }
}

/* A window and its reverse complement are numbers with two bits per base; the lesser one is hashed. */
static const char *kmer_windows(twin_items *out, const twin_shingler *shingler, twin_text text)
{
    const size_t width = shingler->width;
    assert(width > 0 && width <= 32);
    const unsigned top = 2 * (unsigned)(width - 1);
    const uint64_t mask = UINT64_MAX >> (64 - 2 * width);
    uint64_t forward = 0, backward = 0;
    size_t known = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned base = base_of(text.bytes[i]);
        known = base < 4 ? known + 1 : 0;
        forward = (forward << 2 | (base & 3)) & mask;
        backward = backward >> 2 | (uint64_t)(3 - (base & 3)) << top;
        uint64_t least = forward < backward ? forward : backward;
        if (known >= width)
            out->items[out->count++] = twin_hash_bytes(shingler->hash, (const char *)&least, sizeof least);
    }
    return text.length < width ? text.bytes : text.bytes + (text.length - width + 1);
}

static const char *shingle_characters(twin_items *out, const twin_shingler *shingler, twin_text text)
{
    if (shingler->kind == TWIN_SHINGLE_KMER)
        return kmer_windows(out, shingler, text);
    if (shingler->kind == TWIN_SHINGLE_BYTE || twin__kernels()->is_ascii(text.bytes, text.length))
        return byte_windows(out, shingler, text);
    if (shingler->kind == TWIN_SHINGLE_AUTO && twin__may_be_heavy(text))
        return weighted_windows(out, shingler, text);
    return character_windows(out, shingler, text);
}

/* ---- words ---- */

enum { CHUNK = 4096 }; /* bytes whose white space is marked at once */

/* Appends the hashes of the words. */
static void hash_words(twin_items *out, const twin_shingler *shingler, twin_text text)
{
    if (shingler->hash.family == TWIN_HASH_XXH3) {
        out->count +=
            twin__kernels()->xxh3_words(out->items + out->count, text.bytes, text.length, shingler->hash.seed);
        return;
    }
    const char *word = text.bytes, *end = text.bytes + text.length;
    for (const char *chunk = text.bytes; chunk < end; chunk += CHUNK) {
        uint64_t blanks[CHUNK / 64];
        size_t length = (size_t)(end - chunk) < CHUNK ? (size_t)(end - chunk) : CHUNK;
        twin__kernels()->blanks(blanks, chunk, length);
        for (size_t i = 0; i < (length + 63) / 64; i++)
            for (; blanks[i]; blanks[i] &= blanks[i] - 1) {
                const char *blank = chunk + 64 * i + (size_t)__builtin_ctzll(blanks[i]);
                if (blank > word)
                    out->items[out->count++] = word_hash(shingler, word, (size_t)(blank - word));
                word = blank + 1;
            }
    }
    if (end > word)
        out->items[out->count++] = word_hash(shingler, word, (size_t)(end - word));
}

/* Keeps those of the `count` windows that begin with a stop word; they replace the hashes of the words, in place. If
 * there is none, the words are left as they are. */
static size_t keep_stops(uint64_t *items, size_t count, const twin_shingler *shingler)
{
    enum { BLOCK = 256 };
    bool begins_with_stop[BLOCK];
    size_t kept = 0;
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        size_t windows = count - begin < BLOCK ? count - begin : BLOCK, stops = 0;
        for (size_t i = 0; i < windows; i++)
            stops += begins_with_stop[i] = is_stop(shingler, items[begin + i]);
        if (stops == 0)
            continue;
        twin__kernels()->word_windows(items + begin, windows + shingler->width - 1, shingler->width, BASE);
        for (size_t i = 0; i < windows; i++)
            if (begins_with_stop[i])
                items[kept++] = items[begin + i];
    }
    return kept;
}

/* Replaces the hashes of the words, in place, by those of their windows; window i begins with word i. */
static void make_windows(twin_items *words, const twin_shingler *shingler)
{
    size_t width = shingler->width, windows = words->count < width ? 0 : words->count - width + 1;
    if (shingler->kind == TWIN_SHINGLE_STOP)
        windows = keep_stops(words->items, windows, shingler);
    else if (windows)
        twin__kernels()->word_windows(words->items, words->count, width, BASE);
    words->count = windows;
}

/* Where the last word of the text begins, which may go on after it. The first `known` bytes are all of one word. */
static const char *last_word(twin_text text, size_t known)
{
    const char *p = text.bytes + text.length, *first = text.bytes + known;
    while (p > first && !(p[-1] == ' ' || (p[-1] >= '\t' && p[-1] <= '\r')))
        p--;
    return p > first ? p : text.bytes;
}

/* Begins with the hashes of the words that a window over the border still needs. Returns where the text goes on. */
static const char *shingle_words(twin_items *out, struct twin__shingling *state, const twin_shingler *shingler,
                                 twin_text text, bool is_last)
{
    const char *end = is_last ? text.bytes + text.length : last_word(text, state->known);
    size_t old = state->word_count;
    memcpy(out->items, state->words, old * sizeof *out->items);
    out->count = old;
    hash_words(out, shingler, (twin_text){ text.bytes, (size_t)(end - text.bytes) });
    size_t count = out->count;
    state->known = (size_t)(text.bytes + text.length - end);
    state->word_count = count < shingler->width ? count : shingler->width - 1;
    if (!is_last)
        memcpy(state->words, out->items + count - state->word_count, state->word_count * sizeof *out->items);
    make_windows(out, shingler);
    if (out->count == 0 && !state->any_items) /* so that the hashes of the words are still there */
        for (size_t i = old; i < count; i++, state->any_words = true)
            state->whole = state->whole * BASE + out->items[i];
    return end;
}

/* ---- texts ---- */

void twin__shingle_begin(struct twin__shingling *state)
{
    state->any_items = state->any_words = state->is_short = false;
    state->word_count = state->known = 0;
    state->whole = 0;
}

twin_status twin__shingle_piece(twin_items *out, size_t *used, struct twin__shingling *state,
                                const twin_shingler *shingler, twin_text text, bool is_last)
{
    bool words = shingler->kind == TWIN_SHINGLE_WORD || shingler->kind == TWIN_SHINGLE_STOP;
    out->count = *used = 0;
    /* A word every other byte, or a window at each; those words that are kept; and room for the kernel of words. */
    twin_status status = twin__items_reserve(out, text.length + 16 + state->word_count);
    if (status != TWIN_OK)
        return status;
    if (text.length || (is_last && words)) {
        const char *bytes = text.length ? text.bytes : ""; /* an empty text may be NULL */
        const char *end = words ? shingle_words(out, state, shingler, (twin_text){ bytes, text.length }, is_last)
                                : shingle_characters(out, shingler, text);
        *used = (size_t)(end - bytes);
    }
    state->any_items |= out->count > 0;
    if (!is_last || state->any_items)
        return TWIN_OK;
    state->is_short = true;
    if (words && state->any_words)
        out->items[out->count++] = twin__mix(state->whole);
    else if (!words && text.length)
        out->items[out->count++] = twin_hash_bytes(shingler->hash, text.bytes, text.length);
    return TWIN_OK;
}

twin_status twin__shingle(twin_items *out, bool *is_short, const twin_shingler *shingler, twin_text text)
{
    struct twin__shingling state;
    size_t used;
    twin__shingle_begin(&state);
    twin_status status = twin__shingle_piece(out, &used, &state, shingler, text, true);
    *is_short = state.is_short;
    return status;
}

twin_status twin__shingle_text(twin_items *out, const twin_shingler *shingler, twin_text text)
{
    bool is_short;
    if (!out || !shingler || (!text.bytes && text.length))
        return twin__fail_null(NULL, !out ? "out" : !shingler ? "shingler" : "text.bytes");
    return twin__shingle(out, &is_short, shingler, text);
}

twin_status twin__shingle_windows(twin_items *out, const twin_shingler *shingler, twin_text text)
{
    bool is_short;
    if (!out || !shingler || (!text.bytes && text.length))
        return twin__fail_null(NULL, !out ? "out" : !shingler ? "shingler" : "text.bytes");
    twin_status status = twin__shingle(out, &is_short, shingler, text);
    if (is_short)
        out->count = 0;
    return status;
}
