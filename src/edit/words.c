/* words.c — the words of a text, and numbers for them. */
#include "edit/words.h"

#include <stdlib.h>
#include <string.h>

#include <twinsift/hash.h>

#include "base/array.h"
#include "edit/edit_core.h"

enum kind { BLANK, PART, ALONE };

struct range {
    uint32_t first, last;
    enum kind kind;
};

/* Characters that are no part of a longer word, from Unicode's blocks; others above U+007F are. */
static const struct range ranges[] = {
    { 0x0085, 0x0085, BLANK },   { 0x00A0, 0x00A0, BLANK }, { 0x00A1, 0x00BF, ALONE },
    { 0x0E00, 0x0EFF, ALONE }, /* Thai, Lao */
    { 0x1000, 0x109F, ALONE }, /* Myanmar */
    { 0x1780, 0x17FF, ALONE }, /* Khmer */
    { 0x2000, 0x200A, BLANK },   { 0x2010, 0x2027, ALONE }, { 0x2028, 0x2029, BLANK },
    { 0x202F, 0x202F, BLANK },   { 0x2030, 0x205E, ALONE }, { 0x205F, 0x205F, BLANK },
    { 0x2190, 0x2BFF, ALONE },                                                         /* arrows, symbols */
    { 0x2E80, 0x2FFF, ALONE },   { 0x3000, 0x3000, BLANK }, { 0x3001, 0x9FFF, ALONE }, /* kana, Han */
    { 0xF900, 0xFAFF, ALONE },   { 0xFE30, 0xFE4F, ALONE }, { 0xFF00, 0xFFEF, ALONE }, /* their forms */
    { 0x1F000, 0x1FAFF, ALONE },                                                       /* pictures */
    { 0x20000, 0x3FFFF, ALONE },                                                       /* Han */
};

static enum kind kind_of(uint32_t c)
{
    if (c < 0x80) {
        bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        return c <= ' ' ? BLANK : word ? PART : ALONE;
    }
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && ranges[i].first <= c; i++)
        if (c <= ranges[i].last)
            return ranges[i].kind;
    return c >= TWIN__EDIT_BAD_BYTE ? ALONE : PART;
}

twin_status twin__words_find(struct twin__words *out, twin_text text)
{
    enum kind last = BLANK;
    out->text = text;
    for (size_t at = 0, length; at < text.length; at += length) {
        enum kind kind = kind_of(twin__edit_character(text, at, &length));
        bool begins = kind == ALONE || (kind == PART && last != PART);
        last = kind;
        if (!begins)
            continue;
        if (!TWIN__ARRAY_GROW(&out->begins, &out->begin_capacity, out->count, 2))
            return TWIN_ENOMEM;
        out->begins[out->count++] = (uint32_t)at;
    }
    if (!TWIN__ARRAY_GROW(&out->begins, &out->begin_capacity, out->count, 1))
        return TWIN_ENOMEM;
    out->begins[out->count] = (uint32_t)text.length;
    out->numbers = malloc((out->count + 1) * sizeof *out->numbers);
    out->changed = calloc(out->count + 1, sizeof *out->changed);
    return out->numbers && out->changed ? TWIN_OK : TWIN_ENOMEM;
}

void twin__words_clear(struct twin__words *words)
{
    free(words->begins);
    free(words->numbers);
    free(words->changed);
}

/* A word without the white space after it. */
static twin_text word_at(const struct twin__words *words, size_t i)
{
    twin_text word = { words->text.bytes + words->begins[i], words->begins[i + 1] - words->begins[i] };
    size_t end = 0;
    for (size_t at = 0, length; at < word.length; at += length) {
        enum kind kind = kind_of(twin__edit_character(word, at, &length));
        if (kind == BLANK)
            break;
        end = at + length;
    }
    word.length = end;
    return word;
}

/* ---- numbers ---- */

struct entry {
    twin_text word; /* NULL: free */
    uint32_t number;
};

struct numbering {
    struct entry *table;
    uint64_t mask;
    uint32_t next;
    twin_hash hash;
};

/* Words whose hashes meet more often than this get numbers of their own, equal or not: no text can make this slow. */
enum { MOST_PROBES = 64 };

static uint32_t number_word(struct numbering *numbering, twin_text word)
{
    uint64_t at = twin_hash_bytes(numbering->hash, word.bytes, word.length);
    for (int probe = 0; probe < MOST_PROBES; probe++, at++) {
        struct entry *entry = &numbering->table[at & numbering->mask];
        if (!entry->word.bytes)
            *entry = (struct entry){ word, numbering->next++ };
        if (entry->word.length == word.length && memcmp(entry->word.bytes, word.bytes, word.length) == 0)
            return entry->number;
    }
    return numbering->next++;
}

twin_status twin__words_number(struct twin__words *a, struct twin__words *b)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)(a->count + b->count))
        size *= 2;
    struct numbering numbering = { .table = calloc(size, sizeof *numbering.table), .mask = size - 1, .next = 1 };
    if (!numbering.table)
        return TWIN_ENOMEM;
    /* The texts choose the hash function, so that none can be made for it. */
    uint64_t seed = twin_hash_bytes(twin_hash_member(TWIN_HASH_XXH3, 1), a->text.bytes, a->text.length);
    seed = twin_hash_bytes(twin_hash_member(TWIN_HASH_XXH3, seed), b->text.bytes, b->text.length);
    numbering.hash = twin_hash_member(TWIN_HASH_XXH3, seed);
    for (size_t i = 0; i < a->count; i++)
        a->numbers[i] = number_word(&numbering, word_at(a, i));
    for (size_t i = 0; i < b->count; i++)
        b->numbers[i] = number_word(&numbering, word_at(b, i));
    free(numbering.table);
    return TWIN_OK;
}
