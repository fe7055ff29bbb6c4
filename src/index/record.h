/* record.h — what the values of an index look like; record.c and kept.c draw them byte by byte. */
#ifndef TWIN_INDEX_RECORD_H
#define TWIN_INDEX_RECORD_H

#include <twinsift/index.h>

#include "base/bytes.h"
#include "base/scratch.h"

/* The check that stands in the first four bytes of a record; whether it fits, in a record of at least `least` bytes. */
uint32_t twin__index_check_of(const void *record, size_t length);
bool twin__index_check_fits(struct twin__bytes record, size_t least);

/* ---- what the file fixes */

/* Since version 2 a list has a checksum for each TWIN__INDEX_LIST_BLOCK entries instead of one for all, and the
 * checksums of lists and blocks are seeded with their keys, so that two of them that changed places are noticed.
 * Digests of texts are by the hash of the index instead of a public one. A file keeps its version. */
enum {
    TWIN__INDEX_VERSION = 2,
    TWIN__INDEX_VERSION_SEEDED = 2,
    TWIN__INDEX_FORMAT_BYTES = 128,
    TWIN__INDEX_LIST_BLOCK = 512,
};

/* The version that is in the format record; of one that was decoded. */
unsigned twin__index_format_version(struct twin__bytes record);

/* Replaces `out`. */
twin_status twin__index_format_encode(twin_buffer *out, const twin_index_options *options);

/* Fills `out`, whose stop words, if any, are one block to be freed. On failure `reason` is part of a sentence. */
twin_status twin__index_format_decode(twin_index_options *out, const char **reason, struct twin__bytes record);

/* The numbers of a signature as it is stored, and the lists of sets in a run, without that of digests: of an index by
 * edit distance those of segments come first (edits.h). */
enum { TWIN__INDEX_LEVELS = 4 }; /* of a tree: its rows */

static inline size_t twin__index_segments(const twin_index_options *options)
{
    return options->by_edits ? options->edits + 1 : 0;
}

static inline size_t twin__index_slots(const twin_index_options *options)
{
    return twin__index_segments(options) + options->scheme.minhash.slots;
}

static inline size_t twin__index_bands(const twin_index_options *options)
{
    return twin__index_segments(options) + options->scheme.plan.bands;
}

/* ---- how much there is */

struct twin__index_counts {
    uint64_t transaction;   /* the one that wrote this */
    uint64_t next_document; /* numbers not yet given */
    uint64_t next_set;
    uint64_t documents, sets, too_short;
    uint64_t dead;      /* removed sets that bands still hold */
    uint64_t empty_set; /* the number of the set without items, plus one; 0: there is none */
};
enum { TWIN__INDEX_COUNTS_BYTES = 72 };
void twin__index_counts_encode(unsigned char out[TWIN__INDEX_COUNTS_BYTES], const struct twin__index_counts *counts);
bool twin__index_counts_decode(struct twin__index_counts *out, struct twin__bytes record);

/* ---- documents */

struct twin__index_document_record {
    uint64_t set, time;
    uint32_t label;
    bool id_is_number;
    twin_text id;
};
twin_status twin__index_document_encode(twin_buffer *out, const struct twin__index_document_record *document);
bool twin__index_document_decode(struct twin__index_document_record *out, struct twin__bytes record);

/* ---- members */

/* A member of a set as it is kept: label, then number, high bytes first, so that they sort. */
enum { TWIN__INDEX_MEMBER_BYTES = 12 };
void twin__index_member_encode(unsigned char out[TWIN__INDEX_MEMBER_BYTES], uint32_t label, uint64_t document);
bool twin__index_member_decode(uint32_t *label, uint64_t *document, struct twin__bytes value);

/* ---- sets */

struct twin__index_set_record {
    uint64_t size, members, first; /* first: the smallest number of a document that has it */
    twin_digest digest;
};
twin_status twin__index_set_encode(twin_buffer *out, const struct twin__index_set_record *set,
                                   const uint32_t *signature, size_t slots);

/* `signature`, unless NULL, has room for `slots` numbers. */
bool twin__index_set_decode(struct twin__index_set_record *out, uint32_t *signature, size_t slots,
                            struct twin__bytes record);

/* ---- kept.c: what is kept of a set */

/* Each appends to `out`. Of items the leading `bits` are kept, the others are zero; two that differ in those only stand
 * there twice. A packer, NULL at first, is made when it is needed, kept for the next text, and freed. */
twin_status twin__index_items_encode(twin_buffer *out, twin_digest *digest, twin_set set, unsigned bits);

/* The same for a set of `count` items that comes in parts, in increasing order. */
struct twin__index_encoding {
    size_t start; /* of the record in the buffer */
    uint64_t count, next;
    unsigned bits;
};
twin_status twin__index_items_begin(struct twin__index_encoding *out, twin_buffer *buffer, uint64_t count,
                                    unsigned bits);
void twin__index_items_put(struct twin__index_encoding *encoding, const twin_buffer *buffer, twin_set part);
twin_digest twin__index_items_end(const struct twin__index_encoding *encoding, const twin_buffer *buffer);

twin_status twin__index_text_encode(twin_buffer *out, void **packer, twin_text text);
void twin__index_packer_free(void *packer);

/* The same for a text of `length` bytes that comes in pieces, the last of which may be empty. */
twin_status twin__index_text_begin(size_t *start, twin_buffer *out, void **packer, size_t length);
twin_status twin__index_text_put(twin_buffer *out, void *packer, twin_text piece, bool is_last);
void twin__index_text_end(size_t start, const twin_buffer *out);

/* The digest of items, made of their record. */
twin_digest twin__index_kept_digest(struct twin__bytes record);

/* Each replaces `out`. TWIN_EFORMAT when the record is not one of a set of `count` items; not of a text, or of one
 * of more than `most` bytes. */
twin_status twin__index_items_decode(twin_items *out, uint64_t count, unsigned bits, struct twin__bytes record);
twin_status twin__index_text_decode(twin_buffer *out, void **unpacker, size_t most, struct twin__bytes record);
void twin__index_unpacker_free(void *unpacker);

/* What is kept of sets lies in blocks. */
struct twin__index_kept {
    uint64_t set;
    struct twin__bytes bytes;
};
struct twin__index_block {
    uint64_t first; /* its own number: that of the first set it was made for */
    size_t count;
    struct twin__bytes record;
};

/* The bytes of a block; the block itself, of sets in order. */
size_t twin__index_block_bytes(const struct twin__index_kept *kept, size_t count);
void twin__index_block_encode(void *out, uint64_t first, const struct twin__index_kept *kept, size_t count,
                              unsigned version);

bool twin__index_block_decode(struct twin__index_block *out, uint64_t first, struct twin__bytes record,
                              unsigned version);

/* The place of a set in a block, its count when it is not there; and what lies in a place, false when that is
 * damaged. */
size_t twin__index_block_find(const struct twin__index_block *block, uint64_t set);
bool twin__index_block_get(struct twin__index_kept *out, const struct twin__index_block *block, size_t place);

/* ---- runs */

struct twin__index_run {
    uint64_t first, end; /* the numbers of its sets lie in first .. end-1 */
    uint64_t entries;    /* in each band */
    uint64_t dead;       /* entries of removed sets */
};
enum { TWIN__INDEX_RUN_BYTES = 32 };
void twin__index_run_encode(unsigned char out[TWIN__INDEX_RUN_BYTES], const struct twin__index_run *run);
bool twin__index_run_decode(struct twin__index_run *out, uint64_t first, struct twin__bytes record);

#endif
