/* tree.h — the tables of a snapshot, read page by page without LMDB. */
#ifndef TWIN_STORE_TREE_H
#define TWIN_STORE_TREE_H

#include "store/snapshot.h"

/* A snapshot and where its file is mapped. */
struct twin__tree_map {
    struct twin__snapshot *snapshot;
    const unsigned char *pages;
};

/* The value of a key; out->at is NULL when there is none. Not of a table of lists. */
twin_status twin__tree_get(struct twin__bytes *out, struct twin__tree_map map, unsigned table, struct twin__bytes key,
                           twin_error *error);

/* The page at each depth of a tree, from the root, and the place in it. */
struct twin__tree_path {
    struct twin__tree_level {
        const unsigned char *page;
        size_t place, count;
    } levels[TWIN__PAGE_DEEPEST];
    unsigned depth; /* 0: there is none */
};

struct twin__tree_cursor {
    struct twin__tree_map map;
    struct twin__page_checked *table;
    enum { TWIN__TREE_NOWHERE, TWIN__TREE_PLACED, TWIN__TREE_AT_END } state;
    struct twin__tree_path keys;
    struct twin__page_checked list; /* the values of the key, where they are a tree */
    struct twin__tree_path values;  /* in it, or in a sub-page; depth 0: the key has one value */
};

void twin__tree_cursor_init(struct twin__tree_cursor *out, struct twin__tree_map map, unsigned table);

/* As the cursors of store.h. */
twin_status twin__tree_move(struct twin__store_record *out, struct twin__tree_cursor *cursor,
                            enum twin__store_move move, twin_error *error);
twin_status twin__tree_seek(struct twin__store_record *out, struct twin__tree_cursor *cursor, uint64_t number,
                            enum twin__store_seek where, twin_error *error);
twin_status twin__tree_seek_value(struct twin__store_record *out, struct twin__tree_cursor *cursor, uint64_t number,
                                  struct twin__bytes least, twin_error *error);
uint64_t twin__tree_list_length(const struct twin__tree_cursor *cursor);

#endif
