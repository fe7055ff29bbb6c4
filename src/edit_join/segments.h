/* segments.h — how texts are cut into segments, and where a segment of a near text may be (Pass-Join: Li, Deng, Wang,
 * Feng 2011).
 *
 * A text is cut into one segment more than the edits allowed. Each edit changes one segment at most, so a near text
 * contains one of them unchanged, shifted by no more characters than the edits allowed. */
#ifndef TWIN_EDIT_JOIN_SEGMENTS_H
#define TWIN_EDIT_JOIN_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* Where segment `i` of a text of `length` characters begins; the one past the last begins at its end. */
static inline size_t twin__segment_begin(size_t edits, size_t length, size_t i)
{
    return i * length / (edits + 1);
}

/* Where segment `i` of texts of `length` characters may be in a near text: it begins at one of first .. last. */
struct twin__segment_window {
    size_t first, last, size;
};

/* False: it cannot be in a text of `count` characters.
 *
 * Should it be the first segment that is left whole, each of the i before it took an edit at least; the others are left
 * to those behind it. So it has moved by i characters at most, seen from the beginning, and by as many as there are
 * segments behind it, seen from the end. Of the segments of a near text one keeps within both. */
static inline bool twin__segment_window(struct twin__segment_window *out, size_t edits, size_t count, size_t length,
                                        size_t i)
{
    const long begin = (long)twin__segment_begin(edits, length, i), before = (long)i, behind = (long)(edits - i);
    const long longer = (long)count - (long)length;
    const long size = (long)twin__segment_begin(edits, length, i + 1) - begin;
    long first = begin - before > begin + longer - behind ? begin - before : begin + longer - behind;
    long last = begin + before < begin + longer + behind ? begin + before : begin + longer + behind;
    first = first > 0 ? first : 0;
    last = last < (long)count - size ? last : (long)count - size;
    *out = (struct twin__segment_window){ (size_t)first, (size_t)last, (size_t)size };
    return first <= last;
}

#endif
