/* page.h — the pages of an LMDB file, as LMDB 0.9 writes them on a little-endian machine of 64 bits.
 *
 * A page:   0 8 number   8 2 pad   10 2 flags   12 2 lower   14 2 upper   16 pointers, 2 bytes each, up to lower;
 *           the nodes fill upper .. end without a gap. A leaf2 page has values of `pad` bytes from 16 on instead.
 * A run of overflow pages: the same up to flags, 12 4 pages, 16 the value.
 * A meta:  16 4 magic   20 4 version   24 8 address   32 8 map size   40 48 free tree   88 48 main tree
 *         136 8 last page   144 8 transaction
 * A tree:   0 4 pad (free tree: the page size)   4 2 flags   6 2 depth   8 8 branches   16 8 leaves   24 8 overflow pages
 *          32 8 entries   40 8 root
 * A node:   0 2 low   2 2 high   4 2 flags   6 2 key size   8 the key, the data. In a leaf low and high are the size of the data,
 *           in a branch with flags on top the number of the child. Nodes have an even length. */
#ifndef TWIN_STORE_PAGE_H
#define TWIN_STORE_PAGE_H

#include "store/store.h"

enum {
    TWIN__PAGE_HEAD = 16,
    TWIN__NODE_HEAD = 8,
    TWIN__TREE_BYTES = 48,
    TWIN__PAGE_DEEPEST = 32, /* LMDB's own limit */
    /* flags of pages */
    TWIN__PAGE_BRANCH = 1,
    TWIN__PAGE_LEAF = 2,
    TWIN__PAGE_OVERFLOW = 4,
    TWIN__PAGE_META = 8,
    TWIN__PAGE_DIRTY = 0x10, /* sub-pages keep it */
    TWIN__PAGE_LEAF2 = 0x20,
    TWIN__PAGE_SUB = 0x40,
    /* flags of nodes */
    TWIN__NODE_BIG = 1,
    TWIN__NODE_TREE = 2,
    TWIN__NODE_LIST = 4,
};
#define TWIN__NO_PAGE UINT64_MAX

struct twin__page_tree {
    uint64_t root, branches, leaves, overflow, entries;
    uint32_t pad;
    uint16_t flags, depth;
};
struct twin__page_tree twin__page_tree_at(const unsigned char *at);

/* A file as one of its meta pages describes it, and what a check of it has found so far. */
struct twin__page_file {
    int fd;
    const struct twin__store_schema *schema;
    uint64_t size;
    bool to_write; /* check also what only a writer needs */
    size_t page_bytes;
    uint64_t there; /* whole pages of the file */
    uint64_t last_page, transaction;
    struct twin__page_tree free, main;
    struct twin__page_tree tables[TWIN__STORE_MOST_TABLES];
    unsigned char *seen;      /* a bit per page: it has been referred to */
    uint64_t free_behind_end; /* pages that the free tree names and the file does not reach */
    bool no_memory;
    char wrong[160]; /* the first thing that is; "": nothing */
};

/* Notes what is wrong, unless something is already; false. */
bool twin__page_wrong(struct twin__page_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- page_nodes.c: how a page is filled */

static inline uint16_t twin__get2(const void *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline unsigned twin__page_flags(const unsigned char *page)
{
    return twin__get2(page + 10);
}

static inline size_t twin__page_count(const unsigned char *page)
{
    return (twin__get2(page + 12) - (size_t)TWIN__PAGE_HEAD) / 2;
}

struct twin__page_node {
    struct twin__bytes key;
    unsigned flags;
    uint64_t length;         /* of the data of a leaf */
    uint64_t child;          /* of a branch */
    const unsigned char *at; /* the data of a leaf; of a big one, the number of its first page */
};

static inline const unsigned char *twin__page_node(const unsigned char *page, size_t i)
{
    return page + twin__get2(page + TWIN__PAGE_HEAD + 2 * i);
}

/* Node i of a page that is sound. */
static inline struct twin__page_node twin__page_node_at(const unsigned char *page, size_t i)
{
    const unsigned char *node = twin__page_node(page, i);
    size_t key = twin__get2(node + 6);
    uint64_t low = twin__get2(node) | (uint64_t)twin__get2(node + 2) << 16;
    unsigned flags = twin__get2(node + 4);
    return (struct twin__page_node){ .key = { node + TWIN__NODE_HEAD, key },
                                     .flags = flags,
                                     .length = low,
                                     .child = low | (uint64_t)flags << 32,
                                     .at = node + TWIN__NODE_HEAD + key };
}

/* Value i of a leaf2 page, or sub-page of that kind. */
static inline struct twin__bytes twin__page_value_at(const unsigned char *page, size_t i)
{
    size_t length = twin__get2(page + 8);
    return (struct twin__bytes){ page + TWIN__PAGE_HEAD + i * length, length };
}

/* Whether the nodes of a branch or leaf of `page_bytes` fill it as LMDB would have it. */
bool twin__page_is_sound(const unsigned char *page, size_t page_bytes);

/* Whether a leaf2 page, or a sub-page of that kind, of `bytes` holds at least one value. */
bool twin__page_values_are_sound(const unsigned char *page, size_t bytes);

/* LMDB's order: of numbers, or of bytes. */
int twin__page_compare(struct twin__bytes a, struct twin__bytes b, bool numbers);

/* ---- page_check.c: a page, and what it refers to */

enum twin__page_kind {
    TWIN__PAGES_OF_NUMBERS, /* as the tables of the schema */
    TWIN__PAGES_OF_LISTS,
    TWIN__PAGES_OF_NAMES,
    TWIN__PAGES_FREE,      /* transaction: pages that it freed */
    TWIN__PAGES_MAIN,      /* name: table */
    TWIN__PAGES_OF_VALUES, /* the values of one list, in leaf2 pages */
};

static inline bool twin__pages_by_number(enum twin__page_kind kind)
{
    return kind == TWIN__PAGES_OF_NUMBERS || kind == TWIN__PAGES_OF_LISTS || kind == TWIN__PAGES_FREE;
}

/* A tree that is being checked. */
struct twin__page_checked {
    enum twin__page_kind kind;
    struct twin__page_tree record;
    uint64_t branches, leaves, overflow, entries; /* found */
    size_t value_bytes;                           /* of a table of lists: that of the first; 0: none yet */
};

/* Keys of a page are at least `least` and less than `end`; at NULL: no bound. */
struct twin__page_bounds {
    struct twin__bytes least, end;
};

/* Marks pages as referred to. False when they are not pages of the file, or were referred to before. */
bool twin__page_claim(struct twin__page_file *file, uint64_t first, uint64_t count);

/* The record of a tree says what can be; claims its root. */
bool twin__page_check_record(struct twin__page_file *file, const struct twin__page_tree *record);

/* The same of the main tree, which holds the tables by their names, in one leaf. */
bool twin__page_check_main(struct twin__page_file *file);

/* The kind of a table by its record; false: of none. */
bool twin__page_kind_of(enum twin__page_kind *out, const struct twin__page_tree *record);

/* Whether `page`, at `depth` of its tree from 1, is page `number`, of the right kind, filled with nodes without gaps,
 * with its keys in order and between the bounds. Claims the pages that it refers to and counts what it holds. The
 * leaf of the main tree fills file->tables. */
bool twin__page_check(struct twin__page_file *file, struct twin__page_checked *tree, const unsigned char *page,
                      uint64_t number, unsigned depth, struct twin__page_bounds bounds);

/* ---- page_walk.c: a walk through all trees of a file */

/* TWIN_OK with what is wrong, if anything, in file->wrong; TWIN_ENOMEM. */
twin_status twin__page_walk(struct twin__page_file *file);

#endif
