/* page_check.c — whether a page is what the page that refers to it says.
 *
 * A page must be the one that was referred to, of the right kind at its depth, filled with nodes without gaps, with
 * its keys in order and between the keys of its parent. What it refers to is claimed: each page of the file once,
 * also those of values too long for a leaf. So a page that was swapped, zeroed, or lost a pointer is noticed, and
 * a reader of pages can neither leave the file nor loop. page_walk.c checks all pages of a file,
 * snapshot.c each when it is first used.
 *
 * The contents of long values are not read: they should have checksums of their own. Nor, when the file is only going
 * to be read, are the heads of their pages, which nobody needs for that: they are far apart, and most of the cost. */
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "store/page.h"

static bool wrong_page(struct twin__page_file *file, uint64_t number, const char *what)
{
    return twin__page_wrong(file, "is damaged: page %llu %s", (unsigned long long)number, what);
}

bool twin__page_claim(struct twin__page_file *file, uint64_t first, uint64_t count)
{
    uint64_t last = file->last_page;
    if (first < 2 || first > last || count > last - first + 1)
        return twin__page_wrong(file, "is damaged: page %llu, outside the file, is referred to",
                                (unsigned long long)first);
    for (uint64_t i = first; i < first + count; i++) {
        if (file->seen[i / 8] >> i % 8 & 1)
            return wrong_page(file, i, "is referred to twice");
        file->seen[i / 8] = (unsigned char)(file->seen[i / 8] | 1u << i % 8);
    }
    return true;
}

bool twin__page_check_record(struct twin__page_file *file, const struct twin__page_tree *record)
{
    if (record->depth > TWIN__PAGE_DEEPEST || (record->root == TWIN__NO_PAGE) != (record->depth == 0))
        return twin__page_wrong(file, "is damaged: a tree has no root");
    return record->depth == 0 || twin__page_claim(file, record->root, 1);
}

bool twin__page_check_main(struct twin__page_file *file)
{
    if (file->main.depth != 1 || file->main.entries != file->schema->count)
        return twin__page_wrong(file, "is not %s of twinsift", file->schema->what);
    return twin__page_check_record(file, &file->main);
}

bool twin__page_kind_of(enum twin__page_kind *out, const struct twin__page_tree *record)
{
    if (record->pad != 0)
        return false;
    switch (record->flags) {
    case 0: *out = TWIN__PAGES_OF_NAMES; return true;
    case MDB_INTEGERKEY: *out = TWIN__PAGES_OF_NUMBERS; return true;
    case MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED: *out = TWIN__PAGES_OF_LISTS; return true;
    default: return false;
    }
}

static bool read_bytes(struct twin__page_file *file, void *out, size_t length, uint64_t page, size_t offset)
{
    uint64_t at = page * file->page_bytes + offset;
    return (page < file->there && twin__read_at(file->fd, out, length, at) == (ssize_t)length) ||
           twin__page_wrong(file, "was cut short");
}

/* ---- long values ---- */

static bool list_is_free(struct twin__page_file *file, const unsigned char *list, uint64_t length)
{
    uint64_t count = length >= 8 && length % 8 == 0 ? twin__get8(list) : UINT64_MAX;
    if (count > length / 8 - 1)
        return twin__page_wrong(file, "is damaged: its list of free pages is longer than there is room");
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t page = twin__get8(list + 8 * i);
        if (i > 1 && page >= twin__get8(list + 8 * (i - 1)))
            return twin__page_wrong(file, "is damaged: its list of free pages is out of order");
        if (!twin__page_claim(file, page, 1))
            return false;
        file->free_behind_end += page >= file->there;
    }
    return true;
}

static bool read_free_list(struct twin__page_file *file, uint64_t first, uint64_t length)
{
    unsigned char *list = malloc(length + 1);
    file->no_memory |= !list;
    bool good = list && read_bytes(file, list, length, first, TWIN__PAGE_HEAD) && list_is_free(file, list, length);
    free(list);
    return good;
}

/* The pages of a long value, of which it needs `needed`: there may be more. */
static bool count_pages(uint64_t *out, struct twin__page_file *file, uint64_t first, uint64_t needed)
{
    unsigned char head[TWIN__PAGE_HEAD];
    if (!read_bytes(file, head, sizeof head, first, 0))
        return false;
    if (twin__get8(head) != first)
        return wrong_page(file, first, "is another page");
    *out = twin__get4(head + 12);
    return (twin__page_flags(head) == TWIN__PAGE_OVERFLOW && *out >= needed) ||
           wrong_page(file, first, "is not the first of a long value");
}

/* A value in pages of its own. Their head is read only by who gives them up. */
static bool check_long_value(struct twin__page_file *file, struct twin__page_checked *tree,
                             struct twin__page_node node)
{
    uint64_t first = twin__get8(node.at);
    uint64_t pages = (node.length + TWIN__PAGE_HEAD - 1) / file->page_bytes + 1;
    if (!twin__page_claim(file, first, 1) ||
        ((file->to_write || tree->kind == TWIN__PAGES_FREE) && !count_pages(&pages, file, first, pages)) ||
        (pages > 1 && !twin__page_claim(file, first + 1, pages - 1)))
        return false;
    if (first + pages > file->there)
        return twin__page_wrong(file, "was cut short");
    tree->overflow += pages;
    return tree->kind != TWIN__PAGES_FREE || read_free_list(file, first, node.length);
}

/* ---- lists ---- */

static bool in_bounds(struct twin__bytes key, struct twin__page_bounds bounds, bool numbers)
{
    return (!bounds.least.at || twin__page_compare(key, bounds.least, numbers) >= 0) &&
           (!bounds.end.at || twin__page_compare(key, bounds.end, numbers) < 0);
}

/* The values of a leaf2 page or sub-page: in order, each once. */
static bool values_are_in_order(const unsigned char *page, struct twin__page_bounds bounds)
{
    size_t count = twin__page_count(page);
    for (size_t i = 0; i < count; i++) {
        struct twin__bytes value = twin__page_value_at(page, i);
        if ((i && memcmp(twin__page_value_at(page, i - 1).at, value.at, value.length) >= 0) ||
            !in_bounds(value, bounds, false))
            return false;
    }
    return true;
}

/* All values of a table of lists have one length. */
static bool has_length(struct twin__page_checked *tree, uint64_t length)
{
    if (tree->value_bytes == 0)
        tree->value_bytes = length;
    return length == tree->value_bytes;
}

static bool is_sub_page(struct twin__page_checked *tree, struct twin__page_node node)
{
    unsigned flags = TWIN__PAGE_LEAF | TWIN__PAGE_DIRTY | TWIN__PAGE_LEAF2 | TWIN__PAGE_SUB;
    return node.length >= TWIN__PAGE_HEAD && (twin__page_flags(node.at) | TWIN__PAGE_DIRTY) == flags &&
           twin__page_values_are_sound(node.at, node.length) && has_length(tree, twin__get2(node.at + 8)) &&
           values_are_in_order(node.at, (struct twin__page_bounds){ 0 });
}

static bool is_tree_of_values(struct twin__page_checked *tree, struct twin__page_node node)
{
    if (node.flags != (TWIN__NODE_LIST | TWIN__NODE_TREE) || node.length != TWIN__TREE_BYTES)
        return false;
    struct twin__page_tree record = twin__page_tree_at(node.at);
    return record.flags == MDB_DUPFIXED && record.depth > 0 && has_length(tree, record.pad);
}

/* A list is one value, a sub-page of values, or a tree of them. */
static bool check_list(struct twin__page_file *file, struct twin__page_checked *tree, struct twin__page_node node,
                       uint64_t number)
{
    if (node.flags == 0 && node.length > 0 && has_length(tree, node.length)) {
        tree->entries++;
        return true;
    }
    if (node.flags == TWIN__NODE_LIST && is_sub_page(tree, node)) {
        tree->entries += twin__page_count(node.at);
        return true;
    }
    if (!is_tree_of_values(tree, node))
        return wrong_page(file, number, "has a list that is not one");
    struct twin__page_tree record = twin__page_tree_at(node.at);
    tree->entries += record.entries;
    return twin__page_check_record(file, &record);
}

/* ---- pages ---- */

static bool check_table(struct twin__page_file *file, size_t i, struct twin__page_node node)
{
    enum twin__page_kind kind;
    if (i >= file->schema->count || node.flags != TWIN__NODE_TREE || node.length != TWIN__TREE_BYTES)
        return twin__page_wrong(file, "is not %s of twinsift", file->schema->what);
    file->tables[i] = twin__page_tree_at(node.at);
    if (!twin__page_kind_of(&kind, &file->tables[i]))
        return twin__page_wrong(file, "is not %s of twinsift", file->schema->what);
    return twin__page_check_record(file, &file->tables[i]);
}

/* What a key of a leaf leads to. */
static bool check_node(struct twin__page_file *file, struct twin__page_checked *tree, struct twin__page_node node,
                       uint64_t number)
{
    if (tree->kind == TWIN__PAGES_OF_LISTS)
        return check_list(file, tree, node, number);
    size_t i = tree->entries++;
    if (tree->kind == TWIN__PAGES_MAIN)
        return check_table(file, i, node);
    if (node.flags & ~TWIN__NODE_BIG)
        return wrong_page(file, number, "has a node of no known kind");
    if (tree->kind == TWIN__PAGES_FREE && twin__get8(node.key.at) > file->transaction)
        return wrong_page(file, number, "names a transaction that was never made");
    if (node.flags & TWIN__NODE_BIG)
        return check_long_value(file, tree, node);
    return tree->kind != TWIN__PAGES_FREE || list_is_free(file, node.at, node.length);
}

/* Whether the keys from `first` on have the right size, are in order, and between the bounds. */
static bool keys_are_in_order(const struct twin__page_checked *tree, const unsigned char *page, size_t first,
                              struct twin__page_bounds bounds)
{
    bool numbers = twin__pages_by_number(tree->kind);
    size_t count = twin__page_count(page);
    struct twin__bytes before = { 0 };
    for (size_t i = first; i < count; i++) {
        struct twin__bytes key = twin__page_node_at(page, i).key;
        if (numbers ? key.length != sizeof(uint64_t) : key.length == 0)
            return false;
        if (tree->kind == TWIN__PAGES_OF_VALUES && key.length != tree->record.pad)
            return false;
        if (!in_bounds(key, bounds, numbers) || (before.at && twin__page_compare(before, key, numbers) >= 0))
            return false;
        before = key;
    }
    return true;
}

static bool check_values(struct twin__page_file *file, struct twin__page_checked *tree, const unsigned char *page,
                         struct twin__page_bounds bounds)
{
    if (twin__page_flags(page) != (TWIN__PAGE_LEAF | TWIN__PAGE_LEAF2) ||
        !twin__page_values_are_sound(page, file->page_bytes) || twin__get2(page + 8) != tree->record.pad ||
        !values_are_in_order(page, bounds))
        return wrong_page(file, twin__get8(page), "is not a leaf of a list");
    tree->leaves++;
    tree->entries += twin__page_count(page);
    return true;
}

static bool check_leaf(struct twin__page_file *file, struct twin__page_checked *tree, const unsigned char *page,
                       struct twin__page_bounds bounds)
{
    uint64_t number = twin__get8(page);
    if (tree->kind == TWIN__PAGES_OF_VALUES)
        return check_values(file, tree, page, bounds);
    if (twin__page_flags(page) != TWIN__PAGE_LEAF || !twin__page_is_sound(page, file->page_bytes))
        return wrong_page(file, number, "is not a leaf");
    if (!keys_are_in_order(tree, page, 0, bounds))
        return wrong_page(file, number, "has keys out of order");
    if (tree->record.depth == 1 && tree->kind != TWIN__PAGES_OF_LISTS &&
        twin__page_count(page) != tree->record.entries)
        return wrong_page(file, number, "has other entries than its tree");
    tree->leaves++;
    for (size_t i = 0; i < twin__page_count(page); i++)
        if (!check_node(file, tree, twin__page_node_at(page, i), number))
            return false;
    return true;
}

static bool check_branch(struct twin__page_file *file, struct twin__page_checked *tree, const unsigned char *page,
                         struct twin__page_bounds bounds)
{
    uint64_t number = twin__get8(page);
    if (twin__page_flags(page) != TWIN__PAGE_BRANCH || !twin__page_is_sound(page, file->page_bytes))
        return wrong_page(file, number, "is not a branch");
    size_t count = twin__page_count(page);
    if (count < 2 && tree->kind != TWIN__PAGES_FREE)
        return wrong_page(file, number, "is a branch to one page");
    if (!keys_are_in_order(tree, page, 1, bounds)) /* the first key of a branch is never looked at */
        return wrong_page(file, number, "has keys out of order");
    tree->branches++;
    for (size_t i = 0; i < count; i++)
        if (!twin__page_claim(file, twin__page_node_at(page, i).child, 1))
            return false;
    return true;
}

bool twin__page_check(struct twin__page_file *file, struct twin__page_checked *tree, const unsigned char *page,
                      uint64_t number, unsigned depth, struct twin__page_bounds bounds)
{
    if (twin__get8(page) != number)
        return wrong_page(file, number, "is another page");
    return depth == tree->record.depth ? check_leaf(file, tree, page, bounds)
                                       : check_branch(file, tree, page, bounds);
}
