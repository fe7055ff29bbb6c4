/* record.h — what the values of an index look like; index_record.c draws them byte by byte. */
#ifndef TWIN_INDEX_RECORD_H
#define TWIN_INDEX_RECORD_H

#include <twinsift/index.h>

#include "base/bytes.h"

/* The check that stands in the first four bytes of a record; whether it fits, in a record of at least `least` bytes. */
uint32_t twin__check_of(const void *record, size_t length);
bool twin__check_fits(struct twin__bytes record, size_t least);

/* ---- what the file fixes */

enum { TWIN__INDEX_VERSION = 1, TWIN__FORMAT_BYTES = 128 };

/* Replaces `out`. */
twin_status twin__format_encode(twin_buffer *out, const twin_index_options *options);

/* Fills `out`, whose stop words, if any, are one block to be freed. On failure `reason` is part of a sentence. */
twin_status twin__format_decode(twin_index_options *out, const char **reason, struct twin__bytes record);

/* ---- how much there is */

struct twin__counts {
    uint64_t transaction;   /* the one that wrote this */
    uint64_t next_document; /* numbers not yet given */
    uint64_t next_set;
    uint64_t documents, sets, too_short;
    uint64_t dead;      /* removed sets that bands still hold */
    uint64_t empty_set; /* the number of the set without items, plus one; 0: there is none */
};
enum { TWIN__COUNTS_BYTES = 72 };
void twin__counts_encode(unsigned char out[TWIN__COUNTS_BYTES], const struct twin__counts *counts);
bool twin__counts_decode(struct twin__counts *out, struct twin__bytes record);

/* ---- documents */

struct twin__document {
    uint64_t set, time;
    uint32_t label;
    bool id_is_number;
    twin_text id;
};
twin_status twin__document_encode(twin_buffer *out, const struct twin__document *document);
bool twin__document_decode(struct twin__document *out, struct twin__bytes record);

/* ---- sets */

struct twin__set {
    uint64_t size, members, first; /* first: the smallest number of a document that has it */
    twin_digest digest;
};
twin_status twin__set_encode(twin_buffer *out, const struct twin__set *set, const uint32_t *signature, size_t slots);

/* `signature`, unless NULL, has room for `slots` numbers. */
bool twin__set_decode(struct twin__set *out, uint32_t *signature, size_t slots, struct twin__bytes record);

/* ---- index_kept.c: what is kept of a set */

/* Each appends to `out`. Of items the leading `bits` are kept, the others are zero; two that differ in those only stand
 * there twice. A packer, NULL at first, is made when it is needed, kept for the next text, and freed. */
twin_status twin__items_encode(twin_buffer *out, twin_digest *digest, twin_set set, unsigned bits);
twin_status twin__text_encode(twin_buffer *out, void **packer, twin_text text);
void twin__packer_free(void *packer);

/* The digest of items, made of their record. */
twin_digest twin__kept_digest(struct twin__bytes record);

/* Each replaces `out`. TWIN_EFORMAT when the record is not one of a set of `count` items; not of a text, or of one
 * of more than `most` bytes. */
twin_status twin__items_decode(twin_items *out, uint64_t count, unsigned bits, struct twin__bytes record);
twin_status twin__text_decode(twin_buffer *out, size_t most, struct twin__bytes record);

/* What is kept of sets lies in blocks. */
struct twin__kept {
    uint64_t set;
    struct twin__bytes bytes;
};
struct twin__block {
    uint64_t first; /* its own number: that of the first set it was made for */
    size_t count;
    struct twin__bytes record;
};

/* The bytes of a block; the block itself, of sets in order. */
size_t twin__block_bytes(const struct twin__kept *kept, size_t count);
void twin__block_encode(void *out, uint64_t first, const struct twin__kept *kept, size_t count);

bool twin__block_decode(struct twin__block *out, uint64_t first, struct twin__bytes record);

/* The place of a set in a block, its count when it is not there; and what lies in a place, false when that is damaged. */
size_t twin__block_find(const struct twin__block *block, uint64_t set);
bool twin__block_get(struct twin__kept *out, const struct twin__block *block, size_t place);

/* ---- runs */

struct twin__run {
    uint64_t first, end; /* the numbers of its sets lie in first .. end-1 */
    uint64_t entries;    /* in each band */
    uint64_t dead;       /* entries of removed sets */
};
enum { TWIN__RUN_BYTES = 32 };
void twin__run_encode(unsigned char out[TWIN__RUN_BYTES], const struct twin__run *run);
bool twin__run_decode(struct twin__run *out, uint64_t first, struct twin__bytes record);

#endif
