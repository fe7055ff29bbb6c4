/* feature_words.c — words become places; see feature_words.h. */
#include "mail/feature_words.h"

#include <stdlib.h>
#include <string.h>

#include "mail/fields.h"

/* ---- marking */

/* Lists the places marked in one word. Most have one or two, which are written without asking: nothing to predict. */
static uint32_t list_word(uint32_t *out, uint64_t bits, uint32_t first)
{
    uint64_t more = bits & (bits - 1), rest = more & (more - 1);
    out[0] = first + (uint32_t)__builtin_ctzll(bits);
    out[1] = first + (more ? (uint32_t)__builtin_ctzll(more) : 0);
    uint32_t count = 1 + (more != 0);
    for (; rest; rest &= rest - 1)
        out[count++] = first + (uint32_t)__builtin_ctzll(rest);
    return count;
}

static inline uint32_t list(uint32_t *out, struct twin__marks *marks, bool take)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < TWIN__SUMMARY_WORDS; i++) {
        for (uint64_t words = marks->summary[i]; words; words &= words - 1) {
            uint32_t word = i * 64 + (uint32_t)__builtin_ctzll(words);
            count += list_word(out + count, marks->bitmap[word], word * 64);
            if (take)
                marks->bitmap[word] = 0;
        }
        if (take)
            marks->summary[i] = 0;
    }
    return count;
}

uint32_t twin__list_marked(uint32_t *out, struct twin__marks *marks)
{
    return list(out, marks, false);
}

uint32_t twin__take_marked(uint32_t *out, struct twin__marks *marks)
{
    return list(out, marks, true);
}

struct twin__word_kind twin__word_kind_of(const struct twin__marks *marks, twin_text name)
{
    unsigned char folded[TWIN__WORD_BYTES];
    size_t length = name.length < sizeof folded ? name.length : sizeof folded;
    for (size_t i = 0; i < length; i++)
        folded[i] = (unsigned char)twin__lower(name.bytes[i]);
    return (struct twin__word_kind){ name, twin_hash_bytes(marks->hash, folded, length) };
}

/* Eight bytes with the letters of ASCII in lower case. */
static uint64_t lower_eight(uint64_t x)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t low = x & 0x7f * ones, from_a = low + (0x80 - 'A') * ones, past_z = low + (0x7f - 'Z') * ones;
    return x | ((from_a ^ past_z) & ~x & 0x80 * ones) >> 2;
}

/* Eight bytes of a word as a number; fewer than eight, with zeros behind them. */
static uint64_t eight_bytes(const char *bytes)
{
    uint64_t eight;
    memcpy(&eight, bytes, sizeof eight);
    return lower_eight(eight);
}

static uint64_t few_bytes(const char *bytes, size_t count)
{
    uint64_t few = 0;
    if (count >= 4) { /* two reads that overlap */
        uint32_t first, last;
        memcpy(&first, bytes, sizeof first);
        memcpy(&last, bytes + count - sizeof last, sizeof last);
        few = first | (uint64_t)last << 8 * (count - 4);
    } else {
        for (size_t i = 0; i < count; i++)
            few |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    }
    return lower_eight(few);
}

/* Hashes what waits, and marks it. */
static void mark_waiting(struct twin__marks *marks, size_t numbers)
{
    struct twin__waiting_words *waiting = &marks->waiting[numbers];
    uint64_t hashes[SIP_TEXTS];
    twin__kernels()->sip_texts(hashes, waiting->numbers, numbers, marks->hash.key);
    for (size_t i = 0; i < waiting->count; i++)
        twin__mark(marks, hashes[i]);
    waiting->count = 0;
}

void twin__mark_waiting(struct twin__marks *marks)
{
    for (size_t numbers = 0; numbers <= TWIN__WORD_NUMBERS; numbers++)
        if (marks->waiting[numbers].count)
            mark_waiting(marks, numbers);
}

/* The one that waits is not marked, but visited. */
static void name_waiting(struct twin__marks *marks, size_t numbers, const struct twin__word_kind *kind,
                         twin_text word)
{
    struct twin__waiting_words *waiting = &marks->waiting[numbers];
    uint64_t hashes[SIP_TEXTS];
    twin__kernels()->sip_texts(hashes, waiting->numbers, numbers, marks->hash.key);
    marks->visit(marks->context, twin__place_of(hashes[0]), kind->name, word);
    waiting->count = 0;
}

void twin__mark_word(struct twin__marks *marks, const struct twin__word_kind *kind, twin_text word)
{
    size_t length = word.length < TWIN__WORD_BYTES ? word.length : TWIN__WORD_BYTES, whole = length / 8,
           numbers = whole + 2;
    struct twin__waiting_words *waiting = &marks->waiting[numbers];
    uint64_t *at = waiting->numbers + waiting->count++;
    *at = kind->hash;
    for (size_t i = 0; i < whole; i++)
        *(at += SIP_TEXTS) = eight_bytes(word.bytes + 8 * i);
    at[SIP_TEXTS] = few_bytes(word.bytes + 8 * whole, length % 8) | (uint64_t)(8 + length) << 56;
    if (marks->visit)
        name_waiting(marks, numbers, kind, word);
    else if (waiting->count == SIP_TEXTS)
        mark_waiting(marks, numbers);
}

/* ---- words */

/* Which bytes are part of a word of a header, and of the text. */
static unsigned char class_of(unsigned char c)
{
    if (c >= 0x80 || twin__is_letter_or_digit((char)c) || c == '-' || c == '_')
        return TWIN__WORDS_OF_HEADER | TWIN__WORDS_OF_TEXT;
    if (c == '.' || c == '@' || c == '=')
        return TWIN__WORDS_OF_HEADER;
    return c == '\'' || c == '$' ? TWIN__WORDS_OF_TEXT : 0;
}

twin_text twin__mark_words(struct twin__marks *marks, const struct twin__word_kind *kind, twin_text text,
                           unsigned char class, size_t most)
{
    size_t i = 0;
    for (size_t words = 0; words < most; words++) {
        while (i < text.length && !(marks->classes[(unsigned char)text.bytes[i]] & class))
            i++;
        size_t start = i;
        while (i < text.length && marks->classes[(unsigned char)text.bytes[i]] & class)
            i++;
        if (i == start)
            break;
        twin__mark_word(marks, kind, (twin_text){ text.bytes + start, i - start });
    }
    return (twin_text){ text.bytes + i, text.length - i };
}

/* ---- the whole */

twin_status twin__marks_init(struct twin__marks *marks, const uint64_t key[2])
{
    *marks = (struct twin__marks){ .hash = { .family = TWIN_HASH_SIP, .key = { key[0], key[1] } } };
    for (unsigned i = 0; i < sizeof marks->classes; i++)
        marks->classes[i] = class_of((unsigned char)i);
    marks->bitmap = calloc(TWIN__BITMAP_WORDS, sizeof *marks->bitmap);
    return marks->bitmap ? TWIN_OK : TWIN_ENOMEM;
}

void twin__marks_clear(struct twin__marks *marks)
{
    free(marks->bitmap);
    marks->bitmap = NULL;
}
