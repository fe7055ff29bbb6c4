/* edits.h — an index of texts by edit distance: what is stored of a text, so that near ones are found.
 *
 * What stands for the signature is a number for each segment of the text (edit_join/segments.h), and then the slots of
 * its q-grams. A number has 16 bits of the hash of the segment, its number and the length of the text, and below them 16
 * bits of the text's letters: which of 16 classes of characters occur an odd number of times. An edit changes two of
 * these at most, so most texts that share a segment by chance are passed over without being read. The slots are those of
 * the trees of a forest, four in each, of which a tree keeps eight bits.
 *
 * Lists of a run are sorted, so all texts with a segment, and all with the first labels of a path, stand side by side: a
 * run is a forest too, and what holds for bands holds for it (several writers one after the other, many readers, merging,
 * checksums). */
#ifndef TWIN_INDEX_EDITS_H
#define TWIN_INDEX_EDITS_H

#include <twinsift/edit_join.h>

#include "base/scratch.h"
#include "index/view.h"

/* The characters of a text and what is looked up of them. Begin with {0}, end with twin__index_text_clear(). */
struct twin__index_text {
    uint32_t *characters;
    size_t count;
    uint32_t letters;
    twin_buffer padded;
};
void twin__index_text_clear(struct twin__index_text *text);

/* Replaces `out` by the characters of a normalised text. */
twin_status twin__index_text_read(struct twin__index_text *out, twin_text text);

/* Writes what stands for the signature of that text. */
twin_status twin__index_text_sign(uint32_t *signature, struct twin__index_text *text, const twin_index *index,
                                  twin_sign_scratch *scratch, twin_text normalised);

/* The number of the segment of texts of `length` characters that is at `at` of this one. */
uint32_t twin__index_segment(const twin_index *index, const struct twin__index_text *text, size_t at, size_t size,
                             size_t length, size_t segment);

/* ---- edit_scan.c */

/* All texts that are not empty and have at most `longest` characters, by number; to be freed, also after a failure. */
twin_status twin__index_list_texts(struct twin__index_found **out, size_t *count, const twin_index_view *view,
                                   size_t longest, twin_error *error);

/* Adds all texts of up to 64 characters that are near to a query, which has no more, to view->candidates. *scanned becomes
 * false, and nothing is added, if they are too many to be in memory. */
twin_status twin__index_scan(bool *scanned, twin_index_view *view, const struct twin__index_text *query,
                             twin_edit_join_options near, twin_error *error);
void twin__index_short_texts_free(struct twin__index_short_texts *texts);

/* ---- edit_query.c */

/* A query of such an index, as twin__index_query_run(). */
twin_status twin__index_query_edits(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                    const twin_index_document *document, twin_error *error);

/* The same by comparing all texts. */
twin_status twin__index_query_all(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                  const twin_index_document *document, twin_error *error);

#endif
