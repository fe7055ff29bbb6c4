/* page_walk.c — a walk through all trees of a file, page by page.
 *
 * Each page must be the one that was referred to, of the right kind at its depth, filled with nodes without gaps, with its
 * keys in order and between the keys of its parent; each is reached once, also those of values too long for a leaf and
 * those that the free tree lists. What was counted on the way must be what the tree's record says. So a page that was
 * swapped, zeroed, or lost a pointer is noticed, and LMDB's own walks can neither leave the file nor loop.
 *
 * The contents of long values are not read: they should have checksums of their own. Nor, when the file is only going to be
 * read, are the heads of their pages, which LMDB does not need for that: they are far apart, and most of the cost. What
 * remains is the cost of reading branches and leaves. */
#include "store/page_walk.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum kind {
    NUMBERS, /* as the tables of the schema */
    LISTS,
    NAMES,
    FREE,   /* transaction: pages that it freed */
    MAIN,   /* name: table */
    VALUES, /* the values of one list, in leaf2 pages */
};

/* Of a table, and of a list in it; in front, one for the heads of long values. */
enum { HEAD_LEVEL = 0, FIRST_LEVEL = 1, LEVELS = 2 * TWIN__PAGE_DEEPEST + 1 };

struct walk {
    struct twin__page_file *file;
    uint64_t there;        /* whole pages of the file */
    unsigned char *seen;   /* a bit per page */
    unsigned char *levels; /* the page at each depth of the walk */
    bool no_memory;
    uint64_t free_behind_end; /* pages that the free tree names and the file does not reach */
    struct twin__page_tree tables[TWIN__STORE_MOST_TABLES];
};

struct tree {
    enum kind kind;
    struct twin__page_tree record;
    uint64_t branches, leaves, overflow, entries; /* found */
    size_t value_bytes;                           /* of a table of lists: that of the first; 0: none yet */
};

/* Keys of a page are at least `least` and less than `end`; at NULL: no bound. */
struct bounds {
    struct twin__bytes least, end;
};

static bool wrong_page(struct walk *walk, uint64_t number, const char *what)
{
    return twin__page_wrong(walk->file, "is damaged: page %llu %s", (unsigned long long)number, what);
}

static bool by_number(enum kind kind)
{
    return kind == NUMBERS || kind == LISTS || kind == FREE;
}

/* ---- reading ---- */

/* Marks pages as reached; false when they are not pages of the file, or were reached before. */
static bool claim(struct walk *walk, uint64_t first, uint64_t count)
{
    uint64_t last = walk->file->last_page;
    if (first < 2 || first > last || count > last - first + 1)
        return twin__page_wrong(walk->file, "is damaged: page %llu, outside the file, is referred to",
                                (unsigned long long)first);
    for (uint64_t i = first; i < first + count; i++) {
        if (walk->seen[i / 8] >> i % 8 & 1)
            return wrong_page(walk, i, "is referred to twice");
        walk->seen[i / 8] = (unsigned char)(walk->seen[i / 8] | 1u << i % 8);
    }
    return true;
}

static bool read_bytes(struct walk *walk, void *out, size_t length, uint64_t page, size_t offset)
{
    uint64_t at = page * walk->file->page_bytes + offset;
    return (page < walk->there && twin__read_at(walk->file->fd, out, length, at) == (ssize_t)length) ||
           twin__page_wrong(walk->file, "was cut short");
}

/* Reads the first `length` bytes of a page that has been claimed. One call per page: leaves are scattered, and a map of the
 * file is not faster (docs/decisions/0062). */
static const unsigned char *read_page(struct walk *walk, uint64_t number, size_t level, size_t length)
{
    unsigned char *page = walk->levels + level * walk->file->page_bytes;
    if (!read_bytes(walk, page, length, number, 0))
        return NULL;
    if (twin__get8(page) == number)
        return page;
    wrong_page(walk, number, "is another page");
    return NULL;
}

/* ---- long values ---- */

static bool list_is_free(struct walk *walk, const unsigned char *list, uint64_t length)
{
    struct twin__page_file *file = walk->file;
    uint64_t count = length >= 8 && length % 8 == 0 ? twin__get8(list) : UINT64_MAX;
    if (count > length / 8 - 1)
        return twin__page_wrong(file, "is damaged: its list of free pages is longer than there is room");
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t page = twin__get8(list + 8 * i);
        if (i > 1 && page >= twin__get8(list + 8 * (i - 1)))
            return twin__page_wrong(file, "is damaged: its list of free pages is out of order");
        if (!claim(walk, page, 1))
            return false;
        walk->free_behind_end += page >= walk->there;
    }
    return true;
}

static bool read_free_list(struct walk *walk, uint64_t first, uint64_t length)
{
    unsigned char *list = malloc(length + 1);
    walk->no_memory |= !list;
    bool good = list && read_bytes(walk, list, length, first, TWIN__PAGE_HEAD) && list_is_free(walk, list, length);
    free(list);
    return good;
}

/* The pages of a long value, of which it needs `needed`: there may be more. */
static bool count_pages(uint64_t *out, struct walk *walk, uint64_t first, uint64_t needed)
{
    const unsigned char *head = read_page(walk, first, HEAD_LEVEL, TWIN__PAGE_HEAD);
    if (!head)
        return false;
    *out = twin__get4(head + 12);
    return (twin__page_flags(head) == TWIN__PAGE_OVERFLOW && *out >= needed) ||
           wrong_page(walk, first, "is not the first of a long value");
}

/* A value in pages of its own. LMDB reads their head only when it gives them up. */
static bool visit_long_value(struct walk *walk, struct tree *tree, struct twin__page_node node)
{
    uint64_t first = twin__get8(node.at);
    uint64_t pages = (node.length + TWIN__PAGE_HEAD - 1) / walk->file->page_bytes + 1;
    if (!claim(walk, first, 1) ||
        ((walk->file->to_write || tree->kind == FREE) && !count_pages(&pages, walk, first, pages)) ||
        (pages > 1 && !claim(walk, first + 1, pages - 1)))
        return false;
    if (first + pages > walk->there)
        return twin__page_wrong(walk->file, "was cut short");
    tree->overflow += pages;
    return tree->kind != FREE || read_free_list(walk, first, node.length);
}

/* ---- pages ---- */

static bool in_bounds(struct twin__bytes key, struct bounds bounds, bool numbers)
{
    return (!bounds.least.at || twin__page_compare(key, bounds.least, numbers) >= 0) &&
           (!bounds.end.at || twin__page_compare(key, bounds.end, numbers) < 0);
}

/* The values of a leaf2 page or sub-page: in order, each once. */
static bool values_are_in_order(const unsigned char *page, struct bounds bounds)
{
    size_t length = twin__get2(page + 8), count = twin__page_count(page);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *value = page + TWIN__PAGE_HEAD + i * length;
        if ((i && memcmp(value - length, value, length) >= 0) ||
            !in_bounds((struct twin__bytes){ value, length }, bounds, false))
            return false;
    }
    return true;
}

/* All values of a table of lists have one length. */
static bool has_length(struct tree *tree, uint64_t length)
{
    if (tree->value_bytes == 0)
        tree->value_bytes = length;
    return length == tree->value_bytes;
}

static bool visit_tree(struct walk *walk, struct tree *tree, size_t level);

static bool visit_sub_page(struct walk *walk, struct tree *tree, struct twin__page_node node, uint64_t number)
{
    unsigned flags = TWIN__PAGE_LEAF | TWIN__PAGE_DIRTY | TWIN__PAGE_LEAF2 | TWIN__PAGE_SUB;
    if (node.length < TWIN__PAGE_HEAD || (twin__page_flags(node.at) | TWIN__PAGE_DIRTY) != flags ||
        !twin__page_values_are_sound(node.at, node.length) || !has_length(tree, twin__get2(node.at + 8)) ||
        !values_are_in_order(node.at, (struct bounds){ 0 }))
        return wrong_page(walk, number, "has a list that is not one");
    tree->entries += twin__page_count(node.at);
    return true;
}

static bool visit_list(struct walk *walk, struct tree *tree, struct twin__page_node node, uint64_t number,
                       size_t level)
{
    if (node.flags == 0 && node.length > 0 && has_length(tree, node.length)) {
        tree->entries++;
        return true;
    }
    if (node.flags == TWIN__NODE_LIST)
        return visit_sub_page(walk, tree, node, number);
    if (node.flags != (TWIN__NODE_LIST | TWIN__NODE_TREE) || node.length != TWIN__TREE_BYTES)
        return wrong_page(walk, number, "has a list that is not one");
    struct tree values = { .kind = VALUES, .record = twin__page_tree_at(node.at) };
    if (values.record.flags != MDB_DUPFIXED || values.record.depth == 0 || !has_length(tree, values.record.pad))
        return wrong_page(walk, number, "has a list that is not one");
    tree->entries += values.record.entries;
    return visit_tree(walk, &values, level + 1);
}

/* What a key of a leaf leads to. */
static bool visit_node(struct walk *walk, struct tree *tree, struct twin__page_node node, uint64_t number,
                       size_t level)
{
    if (tree->kind == LISTS)
        return visit_list(walk, tree, node, number, level);
    size_t i = tree->entries++;
    if (tree->kind == MAIN) {
        if (i >= walk->file->schema->count || node.flags != TWIN__NODE_TREE || node.length != TWIN__TREE_BYTES)
            return twin__page_wrong(walk->file, "is not %s of twinsift", walk->file->schema->what);
        walk->tables[i] = twin__page_tree_at(node.at);
        return true;
    }
    if (node.flags & ~TWIN__NODE_BIG)
        return wrong_page(walk, number, "has a node of no known kind");
    if (tree->kind == FREE && twin__get8(node.key.at) > walk->file->transaction)
        return wrong_page(walk, number, "names a transaction that was never made");
    if (node.flags & TWIN__NODE_BIG)
        return visit_long_value(walk, tree, node);
    return tree->kind != FREE || list_is_free(walk, node.at, node.length);
}

/* Whether the keys from `first` on have the right size, are in order, and between the bounds. */
static bool keys_are_in_order(const struct tree *tree, const unsigned char *page, size_t first, struct bounds bounds)
{
    bool numbers = by_number(tree->kind);
    size_t count = twin__page_count(page);
    struct twin__bytes before = { 0 };
    for (size_t i = first; i < count; i++) {
        struct twin__bytes key = twin__page_node_at(page, i).key;
        if (numbers ? key.length != sizeof(uint64_t) : key.length == 0)
            return false;
        if (tree->kind == VALUES && key.length != tree->record.pad)
            return false;
        if (!in_bounds(key, bounds, numbers) || (before.at && twin__page_compare(before, key, numbers) >= 0))
            return false;
        before = key;
    }
    return true;
}

static bool visit_values(struct walk *walk, struct tree *tree, const unsigned char *page, uint64_t number,
                         struct bounds bounds)
{
    if (twin__page_flags(page) != (TWIN__PAGE_LEAF | TWIN__PAGE_LEAF2) ||
        !twin__page_values_are_sound(page, walk->file->page_bytes) || twin__get2(page + 8) != tree->record.pad ||
        !values_are_in_order(page, bounds))
        return wrong_page(walk, number, "is not a leaf of a list");
    tree->leaves++;
    tree->entries += twin__page_count(page);
    return true;
}

static bool visit_leaf(struct walk *walk, struct tree *tree, const unsigned char *page, size_t level,
                       struct bounds bounds)
{
    uint64_t number = twin__get8(page);
    if (tree->kind == VALUES)
        return visit_values(walk, tree, page, number, bounds);
    if (twin__page_flags(page) != TWIN__PAGE_LEAF || !twin__page_is_sound(page, walk->file->page_bytes))
        return wrong_page(walk, number, "is not a leaf");
    if (!keys_are_in_order(tree, page, 0, bounds))
        return wrong_page(walk, number, "has keys out of order");
    tree->leaves++;
    for (size_t i = 0; i < twin__page_count(page); i++)
        if (!visit_node(walk, tree, twin__page_node_at(page, i), number, level))
            return false;
    return true;
}

/* `depth`: of the page in its tree, from 1. `level`: in the walk. */
static bool visit_page(struct walk *walk, struct tree *tree, uint64_t number, unsigned depth, size_t level,
                       struct bounds bounds)
{
    const unsigned char *page =
        claim(walk, number, 1) ? read_page(walk, number, level, walk->file->page_bytes) : NULL;
    if (!page)
        return false;
    if (depth == tree->record.depth)
        return visit_leaf(walk, tree, page, level, bounds);
    if (twin__page_flags(page) != TWIN__PAGE_BRANCH || !twin__page_is_sound(page, walk->file->page_bytes))
        return wrong_page(walk, number, "is not a branch");
    size_t count = twin__page_count(page);
    if (count < 2 && tree->kind != FREE)
        return wrong_page(walk, number, "is a branch to one page");
    if (!keys_are_in_order(tree, page, 1, bounds)) /* the first key of a branch is never looked at */
        return wrong_page(walk, number, "has keys out of order");
    tree->branches++;
    for (size_t i = 0; i < count; i++) {
        struct twin__page_node node = twin__page_node_at(page, i);
        struct bounds inside = { i ? node.key : bounds.least,
                                 i + 1 < count ? twin__page_node_at(page, i + 1).key : bounds.end };
        if (!visit_page(walk, tree, node.child, depth + 1, level + 1, inside))
            return false;
    }
    return true;
}

/* ---- trees ---- */

static bool visit_tree(struct walk *walk, struct tree *tree, size_t level)
{
    const struct twin__page_tree *record = &tree->record;
    if (record->depth > TWIN__PAGE_DEEPEST || (record->root == TWIN__NO_PAGE) != (record->depth == 0))
        return twin__page_wrong(walk->file, "is damaged: a tree has no root");
    if (record->depth && !visit_page(walk, tree, record->root, 1, level, (struct bounds){ 0 }))
        return false;
    bool all_read = walk->file->to_write || tree->kind == FREE || tree->kind == MAIN;
    if (tree->branches != record->branches || tree->leaves != record->leaves || tree->entries != record->entries ||
        (all_read ? tree->overflow != record->overflow : tree->overflow > record->overflow))
        return twin__page_wrong(walk->file, "is damaged: a tree has other pages or entries than it says");
    return true;
}

/* The main tree holds the tables by their names: one leaf. */
static bool visit_main(struct walk *walk)
{
    struct tree tree = { .kind = MAIN, .record = walk->file->main };
    unsigned count = walk->file->schema->count;
    if (tree.record.depth != 1 || tree.record.entries != count)
        return twin__page_wrong(walk->file, "is not %s of twinsift", walk->file->schema->what);
    return visit_tree(walk, &tree, FIRST_LEVEL);
}

static bool kind_of(enum kind *out, const struct twin__page_tree *record)
{
    if (record->pad != 0)
        return false;
    switch (record->flags) {
    case 0: *out = NAMES; return true;
    case MDB_INTEGERKEY: *out = NUMBERS; return true;
    case MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED: *out = LISTS; return true;
    default: return false;
    }
}

/* That each table has the name and the kind of the schema is found when it is opened. */
static bool visit_tables(struct walk *walk)
{
    for (unsigned i = 0; i < walk->file->schema->count; i++) {
        struct tree tree = { .record = walk->tables[i] };
        if (!kind_of(&tree.kind, &tree.record))
            return twin__page_wrong(walk->file, "is not %s of twinsift", walk->file->schema->what);
        if (!visit_tree(walk, &tree, FIRST_LEVEL))
            return false;
    }
    return true;
}

/* The last pages of a transaction may have been given up before it was written, so that the file ends before them; then
 * they are all in the list of free pages. Any other page that is missing was cut off. */
static bool visit_free(struct walk *walk)
{
    struct twin__page_file *file = walk->file;
    struct tree tree = { .kind = FREE, .record = file->free };
    if (!visit_tree(walk, &tree, FIRST_LEVEL))
        return false;
    return walk->there > file->last_page || walk->free_behind_end == file->last_page + 1 - walk->there ||
           twin__page_wrong(file, "was cut short");
}

twin_status twin__page_walk(struct twin__page_file *file)
{
    struct walk walk = { .file = file, .there = file->size / file->page_bytes };
    walk.seen = calloc(file->last_page / 8 + 1, 1);
    walk.levels = malloc(LEVELS * file->page_bytes);
    walk.no_memory = !walk.seen || !walk.levels;
    if (!walk.no_memory && visit_main(&walk) && visit_tables(&walk))
        visit_free(&walk);
    free(walk.seen);
    free(walk.levels);
    return walk.no_memory ? TWIN_ENOMEM : TWIN_OK;
}
