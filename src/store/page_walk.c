/* page_walk.c — a walk through all trees of a file, page by page.
 *
 * Each page is checked when it is reached (page_check.c), and what was counted on the way must be what the tree's
 * record says: so nothing is missing either. Pages are read by calls, not through a map: one call per page, for
 * leaves are scattered, and a map is not faster (docs/decisions/0062). */
#include "store/page.h"

#include <stdlib.h>

#include "base/file.h"

/* Of a table, and of a list in it. */
enum { LEVELS = 2 * TWIN__PAGE_DEEPEST };

struct walk {
    struct twin__page_file *file;
    unsigned char *levels; /* the page at each depth of the walk */
};

static const unsigned char *read_page(struct walk *walk, uint64_t number, size_t level)
{
    const struct twin__page_file *file = walk->file;
    unsigned char *page = walk->levels + level * file->page_bytes;
    if (number < file->there &&
        twin__read_at(file->fd, page, file->page_bytes, number * file->page_bytes) == (ssize_t)file->page_bytes)
        return page;
    twin__page_wrong(walk->file, "was cut short");
    return NULL;
}

static bool visit_tree(struct walk *walk, struct twin__page_checked *tree, size_t level);

/* The lists of a leaf that are trees of their own. */
static bool visit_lists(struct walk *walk, const unsigned char *page, size_t level)
{
    for (size_t i = 0; i < twin__page_count(page); i++) {
        struct twin__page_node node = twin__page_node_at(page, i);
        struct twin__page_checked values = { .kind = TWIN__PAGES_OF_VALUES };
        if (!(node.flags & TWIN__NODE_TREE))
            continue;
        values.record = twin__page_tree_at(node.at);
        if (!visit_tree(walk, &values, level + 1))
            return false;
    }
    return true;
}

/* `depth`: of the page in its tree, from 1. `level`: in the walk. */
static bool visit_page(struct walk *walk, struct twin__page_checked *tree, uint64_t number, unsigned depth,
                       size_t level, struct twin__page_bounds bounds)
{
    const unsigned char *page = read_page(walk, number, level);
    if (!page || !twin__page_check(walk->file, tree, page, number, depth, bounds))
        return false;
    if (depth == tree->record.depth)
        return tree->kind != TWIN__PAGES_OF_LISTS || visit_lists(walk, page, level);
    size_t count = twin__page_count(page);
    for (size_t i = 0; i < count; i++) {
        struct twin__page_node node = twin__page_node_at(page, i);
        struct twin__page_bounds inside = { i ? node.key : bounds.least,
                                            i + 1 < count ? twin__page_node_at(page, i + 1).key : bounds.end };
        if (!visit_page(walk, tree, node.child, depth + 1, level + 1, inside))
            return false;
    }
    return true;
}

/* A tree whose root has been claimed. */
static bool visit_tree(struct walk *walk, struct twin__page_checked *tree, size_t level)
{
    const struct twin__page_tree *record = &tree->record;
    if (record->depth && !visit_page(walk, tree, record->root, 1, level, (struct twin__page_bounds){ 0 }))
        return false;
    bool all_read = walk->file->to_write || tree->kind == TWIN__PAGES_FREE || tree->kind == TWIN__PAGES_MAIN;
    if (tree->branches != record->branches || tree->leaves != record->leaves || tree->entries != record->entries ||
        (all_read ? tree->overflow != record->overflow : tree->overflow > record->overflow))
        return twin__page_wrong(walk->file, "is damaged: a tree has other pages or entries than it says");
    return true;
}

static bool visit_main(struct walk *walk)
{
    struct twin__page_checked tree = { .kind = TWIN__PAGES_MAIN, .record = walk->file->main };
    return twin__page_check_main(walk->file) && visit_tree(walk, &tree, 0);
}

/* That each table has the name and the kind of the schema is found when it is opened. */
static bool visit_tables(struct walk *walk)
{
    for (unsigned i = 0; i < walk->file->schema->count; i++) {
        struct twin__page_checked tree = { .record = walk->file->tables[i] };
        if (!twin__page_kind_of(&tree.kind, &tree.record) || !visit_tree(walk, &tree, 0))
            return false;
    }
    return true;
}

/* The last pages of a transaction may have been given up before it was written, so that the file ends before them; then
 * they are all in the list of free pages. Any other page that is missing was cut off. */
static bool visit_free(struct walk *walk)
{
    struct twin__page_file *file = walk->file;
    struct twin__page_checked tree = { .kind = TWIN__PAGES_FREE, .record = file->free };
    if (!twin__page_check_record(file, &tree.record) || !visit_tree(walk, &tree, 0))
        return false;
    return file->there > file->last_page || file->free_behind_end == file->last_page + 1 - file->there ||
           twin__page_wrong(file, "was cut short");
}

twin_status twin__page_walk(struct twin__page_file *file)
{
    struct walk walk = { .file = file };
    file->seen = calloc(file->last_page / 8 + 1, 1);
    walk.levels = malloc(LEVELS * file->page_bytes);
    file->no_memory = !file->seen || !walk.levels;
    if (!file->no_memory && visit_main(&walk) && visit_tables(&walk))
        visit_free(&walk);
    free(file->seen);
    file->seen = NULL;
    free(walk.levels);
    return file->no_memory ? TWIN_ENOMEM : TWIN_OK;
}
