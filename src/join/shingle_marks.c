/* shingle_marks.c — which of the documents seen so far may have a shingle. */
#include "join/shingle_marks.h"

#include <stdlib.h>
#include <string.h>

#include "join/join_private.h"

twin_status twin__shingle_marks_init(struct twin__shingle_marks *out, size_t documents, size_t items)
{
    enum { FEWEST_BITS = 10, LARGE_BITS = 23, WORDS_PER_DOCUMENT = 32, MOST_BITS = 36, FEWER_BITS = 2, SHARING = 4 };
    unsigned most = twin__bits_for(WORDS_PER_DOCUMENT * documents, LARGE_BITS, MOST_BITS);
    unsigned bits = twin__bits_for(items / SHARING, FEWEST_BITS, most);
    out->mark_shift = 64 - bits;
    out->more_shift = out->mark_shift + FEWER_BITS;
    out->marks = calloc((size_t)1 << bits, sizeof *out->marks);
    out->more = calloc((size_t)1 << bits >> FEWER_BITS, sizeof *out->more);
    if (out->marks && out->more)
        return TWIN_OK;
    twin__shingle_marks_clear(out);
    return TWIN_ENOMEM;
}

void twin__shingle_marks_clear(struct twin__shingle_marks *marks)
{
    free(marks->marks);
    free(marks->more);
    *marks = (struct twin__shingle_marks){ 0 };
}

/* A colour that comes again is counted: for a rare shingle, which seldom has one twice, hardly ever. */
void twin__shingle_marks_add(uint64_t *before, struct twin__shingle_marks *marks, twin_set part, uint64_t colour)
{
    for (size_t i = 0; i < part.count; i++) {
        uint64_t *own = &marks->marks[part.items[i] >> marks->mark_shift];
        before[i] = *own;
        *own |= colour;
        if (before[i] & colour) {
            uint16_t *more = &marks->more[part.items[i] >> marks->more_shift];
            *more = (uint16_t)(*more + (*more < UINT16_MAX));
        }
    }
}

/* ---- counting colours ----
 *
 * Words are added as 64 numbers of one bit each, in a tree of full adders (Harley and Seal): bit c of the words ones,
 * twos, fours and eights is the sum of bits c, and what exceeds 15 is counted in bytes. */

struct sums {
    uint64_t digits[4]; /* ones, twos, fours, eights */
    uint64_t bytes[8];  /* of sixteens: byte k of word s is for colour 8·k + s */
};

/* Adds two words to a digit, and returns what is carried to the next. */
static inline uint64_t add_two(uint64_t *digit, uint64_t a, uint64_t b)
{
    uint64_t sum = a ^ b, carried = (a & b) | (sum & *digit);
    *digit ^= sum;
    return carried;
}

/* Sixteen words. */
static void add_sixteen(struct sums *sums, const uint64_t *words)
{
    uint64_t *digits = sums->digits, eights[2];
    for (unsigned half = 0; half < 2; half++, words += 8) {
        uint64_t fours[2];
        for (unsigned quarter = 0; quarter < 2; quarter++) {
            const uint64_t *four = words + (size_t)4 * quarter;
            uint64_t two = add_two(&digits[0], four[0], four[1]), twos = add_two(&digits[0], four[2], four[3]);
            fours[quarter] = add_two(&digits[1], two, twos);
        }
        eights[half] = add_two(&digits[2], fours[0], fours[1]);
    }
    uint64_t sixteens = add_two(&digits[3], eights[0], eights[1]);
    for (unsigned s = 0; s < 8; s++)
        sums->bytes[s] += sixteens >> s & 0x0101010101010101;
}

static void move_sums(uint32_t counts[TWIN__COLOURS], struct sums *sums)
{
    for (unsigned c = 0; c < TWIN__COLOURS; c++) {
        counts[c] += 16 * (uint32_t)(sums->bytes[c % 8] >> c / 8 * 8 & UINT8_MAX);
        for (unsigned d = 0; d < 4; d++)
            counts[c] += (uint32_t)(sums->digits[d] >> c & 1) << d;
    }
    *sums = (struct sums){ 0 };
}

void twin__count_colours(uint32_t counts[TWIN__COLOURS], const uint64_t *words, size_t count)
{
    enum { STEP = 16, STEPS_IN_BYTES = UINT8_MAX };
    struct sums sums = { 0 };
    size_t steps = 0;
    memset(counts, 0, TWIN__COLOURS * sizeof *counts);
    for (; count >= STEP; words += STEP, count -= STEP) {
        add_sixteen(&sums, words);
        if (++steps % STEPS_IN_BYTES == 0)
            move_sums(counts, &sums);
    }
    uint64_t last[STEP] = { 0 };
    if (count) {
        memcpy(last, words, count * sizeof *words);
        if (steps % STEPS_IN_BYTES == STEPS_IN_BYTES - 1)
            move_sums(counts, &sums);
        add_sixteen(&sums, last);
    }
    move_sums(counts, &sums);
}
