/* shingle_marks.h — which of the documents seen so far may have a shingle.
 *
 * Documents have one of 64 colours. A table has a word per shingle with the colours of the documents that have it,
 * and for shingles of many documents about how many. Shingles share words by chance, so there may be too many marks,
 * never too few: a shingle without the mark of a colour is in no document of that colour. */
#ifndef TWIN_JOIN_SHINGLE_MARKS_H
#define TWIN_JOIN_SHINGLE_MARKS_H

#include <twinsift/set.h>

enum { TWIN__COLOURS = 64 };

struct twin__shingle_marks {
    uint64_t *marks; /* a bit per colour */
    uint16_t *more;  /* how often a frequent shingle came again */
    unsigned mark_shift, more_shift;
};

/* 16 to 32 marks per shingle of all documents, `items` in number, but 64 MB at most, or 256 bytes per document where
 * that is more; and a sixteenth of that for counts. */
twin_status twin__shingle_marks_init(struct twin__shingle_marks *out, size_t documents, size_t items);
void twin__shingle_marks_clear(struct twin__shingle_marks *marks);

/* The leading bits of a shingle are its part of the table: different parts may be used at once. */
enum { TWIN__MARK_PART_BITS = 5, TWIN__MARK_PARTS = 1 << TWIN__MARK_PART_BITS };

/* Marks items, all of one part, with `colour`, one bit. before[i] becomes the colours that item i had. */
void twin__shingle_marks_add(uint64_t *before, struct twin__shingle_marks *marks, twin_set part, uint64_t colour);

/* About how many documents have a shingle that had the colours `before`, of which there is one. */
static inline unsigned twin__shingle_marks_count(const struct twin__shingle_marks *marks, uint64_t item,
                                                 uint64_t before)
{
    enum { COUNTED = TWIN__COLOURS / 2 }; /* documents of so many colours are about 44; counters are shared */
    unsigned colours = (unsigned)__builtin_popcountll(before);
    return colours < COUNTED ? colours : colours + marks->more[item >> marks->more_shift];
}

/* counts[c] becomes the number of words with bit c. */
void twin__count_colours(uint32_t counts[TWIN__COLOURS], const uint64_t *words, size_t count);

#endif
