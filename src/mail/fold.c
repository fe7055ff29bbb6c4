/* fold.c — text for comparison: without invisible characters, normalised, look-alike letters replaced.
 *
 * Three steps, each one pass. Characters that nobody sees are dropped. The rest is normalised (text/text.c), which also
 * turns full-width, mathematical and other styled letters into plain ones. Then words are looked at: marks that could
 * not be composed with their letter are dropped, small capitals become letters, and in a word of Latin letters mixed
 * with letters of other scripts those are replaced by the Latin ones they look like. A word that has a letter with no
 * Latin look-alike is left alone: it is a word of that script, or of two.
 *
 * ASCII has none of this and is only normalised. */
#include <stdlib.h>
#include <string.h>
#include <twinsift/text.h>

#include "mail/message_private.h"

/* ---- characters */

/* Decodes a character of valid UTF-8; returns its length. */
static size_t decode(uint32_t *out, const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    if (b[0] < 0x80) {
        *out = b[0];
        return 1;
    }
    if (b[0] < 0xe0) {
        *out = (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu);
        return 2;
    }
    if (b[0] < 0xf0) {
        *out = (b[0] & 0x0fu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
        return 3;
    }
    *out = (b[0] & 0x07u) << 18 | (b[1] & 0x3fu) << 12 | (b[2] & 0x3fu) << 6 | (b[3] & 0x3fu);
    return 4;
}

struct range {
    uint32_t first, last;
};

static bool is_in(uint32_t c, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count && ranges[i].first <= c; i++)
        if (c <= ranges[i].last)
            return true;
    return false;
}

/* Unicode's Default_Ignorable_Code_Point, and two that are not in it but blank: U+2800 and U+FFF9 to U+FFFB. */
static bool is_invisible(uint32_t c)
{
    static const struct range ranges[] = {
        { 0xad, 0xad },       { 0x34f, 0x34f },     { 0x61c, 0x61c },     { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 },
        { 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x202a, 0x202e },   { 0x2060, 0x206f }, { 0x2800, 0x2800 },
        { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb },
        { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
    };
    return is_in(c, ranges, sizeof ranges / sizeof ranges[0]);
}

/* Marks that stand on, below or across a letter. */
static bool is_mark(uint32_t c)
{
    static const struct range ranges[] = {
        { 0x300, 0x36f }, { 0x483, 0x489 }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x20d0, 0x20f0 },
    };
    return is_in(c, ranges, sizeof ranges / sizeof ranges[0]);
}

static bool is_latin(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0x24f && c != 0xd7 && c != 0xf7);
}

struct lookalike {
    uint32_t letter;
    char latin;
};

/* Small letters, as text is folded: some are here for what their capitals look like. In order. */
static const struct lookalike lookalikes[] = {
    { 0x131, 'i' },  { 0x251, 'a' },  { 0x261, 'g' },  { 0x262, 'g' },  { 0x269, 'i' },  { 0x26a, 'i' },
    { 0x274, 'n' },  { 0x280, 'r' },  { 0x28f, 'y' },  { 0x299, 'b' },  { 0x29c, 'h' },  { 0x29f, 'l' },
    { 0x3b1, 'a' },  { 0x3b2, 'b' },  { 0x3b3, 'y' },  { 0x3b5, 'e' },  { 0x3b6, 'z' },  { 0x3b7, 'n' },
    { 0x3b9, 'i' },  { 0x3ba, 'k' },  { 0x3bc, 'u' },  { 0x3bd, 'v' },  { 0x3bf, 'o' },  { 0x3c1, 'p' },
    { 0x3c3, 'o' },  { 0x3c4, 't' },  { 0x3c5, 'u' },  { 0x3c7, 'x' },  { 0x3c9, 'w' },  { 0x3f2, 'c' },
    { 0x3f3, 'j' },  { 0x430, 'a' },  { 0x432, 'b' },  { 0x433, 'r' },  { 0x435, 'e' },  { 0x437, '3' },
    { 0x438, 'u' },  { 0x43a, 'k' },  { 0x43c, 'm' },  { 0x43d, 'h' },  { 0x43e, 'o' },  { 0x43f, 'n' },
    { 0x440, 'p' },  { 0x441, 'c' },  { 0x442, 't' },  { 0x443, 'y' },  { 0x445, 'x' },  { 0x44c, 'b' },
    { 0x455, 's' },  { 0x456, 'i' },  { 0x457, 'i' },  { 0x458, 'j' },  { 0x475, 'v' },  { 0x491, 'r' },
    { 0x493, 'f' },  { 0x49b, 'k' },  { 0x4af, 'y' },  { 0x4bb, 'h' },  { 0x4cf, 'l' },  { 0x501, 'd' },
    { 0x51b, 'q' },  { 0x51d, 'w' },  { 0x561, 'w' },  { 0x563, 'q' },  { 0x565, 't' },  { 0x570, 'h' },
    { 0x578, 'n' },  { 0x57d, 'u' },  { 0x581, 'g' },  { 0x584, 'p' },  { 0x585, 'o' },  { 0x1d00, 'a' },
    { 0x1d04, 'c' }, { 0x1d05, 'd' }, { 0x1d07, 'e' }, { 0x1d0a, 'j' }, { 0x1d0b, 'k' }, { 0x1d0d, 'm' },
    { 0x1d0f, 'o' }, { 0x1d18, 'p' }, { 0x1d1b, 't' }, { 0x1d1c, 'u' }, { 0x1d20, 'v' }, { 0x1d21, 'w' },
    { 0x1d22, 'z' }, { 0xa730, 'f' }, { 0xa731, 's' },
};

static int by_letter(const void *key, const void *entry)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct lookalike *)entry)->letter;
    return (a > b) - (a < b);
}

/* The Latin letter that looks like it; 0: none. */
static char latin_for(uint32_t letter)
{
    const struct lookalike *found =
        bsearch(&letter, lookalikes, sizeof lookalikes / sizeof lookalikes[0], sizeof lookalikes[0], by_letter);
    return found ? found->latin : '\0';
}

/* ---- invisible characters */

/* Bytes that begin a character that may be invisible. */
static bool may_be_invisible(unsigned char byte)
{
    return byte == 0xc2 || byte == 0xcd || byte == 0xd8 || byte == 0xe1 || byte == 0xe2 || byte == 0xe3 ||
           byte == 0xef || byte == 0xf0 || byte == 0xf3;
}

/* Latin words are not written with joiners; a soft hyphen is a place to divide them at. */
static bool divides_word(uint32_t before, uint32_t invisible, uint32_t after)
{
    return invisible != 0xad && is_latin(before) && is_latin(after);
}

/* Mathematical letters: bold, italic, script and so on. */
static bool is_styled(uint32_t c)
{
    return c >= 0x1d400 && c <= 0x1d7ff;
}

static void reverse_bytes(char *begin, char *end)
{
    while (begin < end) {
        char byte = *begin;
        *begin++ = *--end;
        *end = byte;
    }
}

/* Turns characters of UTF-8 around. */
static void reverse_characters(char *begin, char *end)
{
    reverse_bytes(begin, end);
    while (begin < end) { /* their bytes are the wrong way round now: the first one is last */
        char *last = begin;
        while (last + 1 < end && ((unsigned char)*last & 0xc0) == 0x80)
            last++;
        reverse_bytes(begin, last + 1);
        begin = last + 1;
    }
}

enum { RIGHT_TO_LEFT = 0x202e };

/* What an override makes be shown from right to left, from `begin` on: Latin letters are then meant to be read so. */
static void end_override(char *begin, char *end, bool *disguised)
{
    uint32_t c;
    if (begin && begin < end && decode(&c, begin) && is_latin(c)) {
        reverse_characters(begin, end);
        *disguised = true;
    }
}

/* Copies the text without invisible characters, and what is shown from right to left as it is read. */
static twin_status drop_invisible(twin_buffer *out, bool *disguised, twin_text text)
{
    out->length = 0;
    if (twin_buffer_reserve(out, text.length + 1) != TWIN_OK)
        return TWIN_ENOMEM;
    char *to = out->bytes;
    char *overridden = NULL; /* where what is overridden begins */
    uint32_t before = 0, dropped = 0;
    for (const char *at = text.bytes, *end = at + text.length; at < end;) {
        uint32_t c;
        if ((unsigned char)*at < 0x80 && !dropped) {
            before = (unsigned char)(*to++ = *at++);
            continue;
        }
        size_t length = decode(&c, at);
        if (length > 1 && may_be_invisible((unsigned char)*at) && is_invisible(c)) {
            dropped = c;
            if (c >= 0x202a && c <= RIGHT_TO_LEFT) {
                end_override(overridden, to, disguised);
                overridden = c == RIGHT_TO_LEFT ? to : NULL;
            }
        } else {
            *disguised |= (dropped && divides_word(before, dropped, c)) || is_styled(c);
            dropped = 0;
            before = c;
            memcpy(to, at, length);
            to += length;
        }
        at += length;
    }
    end_override(overridden, to, disguised);
    out->length = (size_t)(to - out->bytes);
    return TWIN_OK;
}

/* ---- look-alike letters */

/* What belongs to no word: ASCII that is no letter or digit, and punctuation of other blocks. */
static bool is_between_words(uint32_t c)
{
    if (c < 0x80)
        return !is_latin(c) && !(c >= '0' && c <= '9');
    return c <= 0xbf || c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) || (c >= 0x3000 && c <= 0x303f);
}

struct word {
    const char *end;
    bool has_latin, has_lookalike, has_other, has_mark;
};

static struct word read_word(const char *at, const char *end)
{
    struct word word = { .end = at };
    while (word.end < end) {
        uint32_t c;
        size_t length = decode(&c, word.end);
        if (is_between_words(c))
            break;
        char latin = c < 0x80 ? '\0' : latin_for(c);
        word.has_latin |= is_latin(c);
        word.has_lookalike |= latin != '\0';
        word.has_mark |= is_mark(c);
        word.has_other |= c >= 0x80 && !latin && !is_latin(c) && !is_mark(c);
        word.end += length;
    }
    return word;
}

static bool is_small_capital(uint32_t c)
{
    return c < 0x3b1 || c > 0x5ff;
}

/* Rewrites the word that begins at `at`; it does not become longer. */
static char *write_word(char *to, bool *disguised, const char *at, const struct word *word)
{
    bool is_mixed = word->has_latin && word->has_lookalike && !word->has_other;
    while (at < word->end) {
        uint32_t c;
        size_t length = decode(&c, at);
        char latin = c < 0x80 ? '\0' : latin_for(c);
        if (latin && (is_mixed || is_small_capital(c))) {
            *to++ = latin;
            *disguised = true;
        } else if (is_mark(c)) {
            *disguised |= word->has_latin;
        } else {
            memmove(to, at, length);
            to += length;
        }
        at += length;
    }
    return to;
}

/* The start of the first word that is not ASCII; `end` if there is none. */
static const char *skip_ascii(const char *at, const char *end)
{
    const char *other = at;
    while (other < end && (unsigned char)*other < 0x80)
        other++;
    if (other < end)
        while (other > at && !is_between_words((unsigned char)other[-1]))
            other--;
    return other;
}

static void replace_lookalikes(twin_buffer *text, bool *disguised)
{
    char *to = text->bytes;
    const char *at = text->bytes, *end = at + text->length;
    while (at < end) {
        const char *next = skip_ascii(at, end);
        if (next == at) {
            struct word word = read_word(at, end);
            next = word.end;
            if (word.has_lookalike || word.has_mark) {
                to = write_word(to, disguised, at, &word);
                at = next;
                continue;
            }
            uint32_t c;
            if (next == at) /* between words */
                next += decode(&c, at);
        }
        memmove(to, at, (size_t)(next - at));
        to += next - at;
        at = next;
    }
    text->length = (size_t)(to - text->bytes);
}

twin_status twin__message_fold(twin_buffer *out, bool *disguised, twin_buffer *scratch, twin_text text)
{
    *disguised = false;
    unsigned char bits = 0;
    for (size_t i = 0; i < text.length; i++)
        bits |= (unsigned char)text.bytes[i];
    if (bits < 0x80)
        return twin_text_normalise(out, NULL, text, TWIN_NORMAL_FOLD);
    twin_status status = drop_invisible(scratch, disguised, text);
    if (status == TWIN_OK)
        status = twin_text_normalise(out, NULL, (twin_text){ scratch->bytes, scratch->length }, TWIN_NORMAL_FOLD);
    if (status == TWIN_OK && out->length > 0)
        replace_lookalikes(out, disguised);
    return status;
}
