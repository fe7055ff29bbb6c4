/* tree.c — the tables of a snapshot, read page by page without LMDB.
 *
 * LMDB trusts its pages, so they would all have to be checked before it may read one. Here each is checked when it is
 * first reached (snapshot.c), and one bit says so afterwards. LMDB still keeps the state in place: its reader table
 * knows of the transaction, and its map is what is read. See page.h for what a page looks like.
 *
 * A path holds a page of each depth, from the root to a leaf, and a place in each. The values of a list are in the leaf
 * itself, in a sub-page of it, or in a tree of their own, which has a path of its own. */
#include "store/tree.h"

#include <stdlib.h>

/* ---- pages ---- */

static struct twin__bytes key_at(const unsigned char *page, size_t i)
{
    return twin__page_flags(page) & TWIN__PAGE_LEAF2 ? twin__page_value_at(page, i) : twin__page_node_at(page, i).key;
}

/* The keys of a page at `depth`, from 1, lie between those of its parents that stand to both sides of the path. */
static struct twin__page_bounds bounds_of(const struct twin__tree_path *path, unsigned depth)
{
    struct twin__page_bounds bounds = { 0 };
    for (unsigned i = depth - 1; i-- > 0;) {
        const struct twin__tree_level *level = &path->levels[i];
        if (!bounds.least.at && level->place > 0)
            bounds.least = key_at(level->page, level->place);
        if (!bounds.end.at && level->place + 1 < level->count)
            bounds.end = key_at(level->page, level->place + 1);
    }
    return bounds;
}

/* Enters page `number` into the path at `depth`. */
static twin_status enter_tree(struct twin__tree_path *path, struct twin__tree_map map,
                              struct twin__page_checked *tree, uint64_t number, unsigned depth, twin_error *error)
{
    struct twin__snapshot *snapshot = map.snapshot;
    const unsigned char *page = map.pages + number * snapshot->file.page_bytes;
    if (!twin__snapshot_has_checked(snapshot, number)) {
        struct twin__snapshot_page unchecked = { tree, number, page, depth, bounds_of(path, depth) };
        twin_status status = twin__snapshot_check(snapshot, unchecked, error);
        if (status != TWIN_OK)
            return status;
    }
    path->levels[depth - 1] = (struct twin__tree_level){ .page = page, .count = twin__page_count(page) };
    return TWIN_OK;
}

/* The first of the places `low` .. `high`-1 of a page whose key is not less. */
static size_t lower_bound(const unsigned char *page, size_t low, size_t high, struct twin__bytes key, bool numbers)
{
    uint64_t number = numbers ? twin__get8(key.at) : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool less = numbers ? twin__get8(twin__page_node(page, middle) + TWIN__NODE_HEAD) < number
                            : twin__page_compare(key_at(page, middle), key, false) < 0;
        if (less)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- paths ---- */

/* Where to go from a page: to its first place, to its last, or to the first whose key is not less. */
struct target {
    enum { TO_FIRST, TO_LAST, TO_KEY } where;
    struct twin__bytes key;
};

/* The first key of a branch stands for all that are less than the second. */
static size_t place_in(const struct twin__tree_level *level, struct target target, bool leaf, bool numbers)
{
    if (target.where != TO_KEY)
        return target.where == TO_FIRST ? 0 : level->count - 1;
    size_t first = leaf ? 0 : 1;
    size_t place = lower_bound(level->page, first, level->count, target.key, numbers);
    if (leaf || (place < level->count &&
                 twin__page_compare(twin__page_node_at(level->page, place).key, target.key, numbers) == 0))
        return place;
    return place - 1;
}

/* Completes a path downwards from page `number` at `depth`. With TO_KEY the place in the leaf may be behind its
 * last. */
static twin_status descend(struct twin__tree_path *path, struct twin__tree_map map, struct twin__page_checked *tree,
                           uint64_t number, unsigned depth, struct target target, twin_error *error)
{
    bool numbers = twin__pages_by_number(tree->kind);
    for (;; depth++) {
        twin_status status = enter_tree(path, map, tree, number, depth, error);
        if (status != TWIN_OK)
            return status;
        struct twin__tree_level *level = &path->levels[depth - 1];
        bool leaf = depth == tree->record.depth;
        level->place = place_in(level, target, leaf, numbers);
        if (leaf)
            return TWIN_OK;
        number = twin__page_node_at(level->page, level->place).child;
    }
}

static twin_status descend_from_root(struct twin__tree_path *path, struct twin__tree_map map,
                                     struct twin__page_checked *tree, struct target target, twin_error *error)
{
    path->depth = tree->record.depth;
    return path->depth ? descend(path, map, tree, tree->record.root, 1, target, error) : TWIN_OK;
}

static struct twin__tree_level *leaf_of(struct twin__tree_path *path)
{
    return &path->levels[path->depth - 1];
}

/* Goes to the next place of the tree, or to the one before; `*moved` false: there is none. */
static twin_status step(bool *moved, struct twin__tree_path *path, struct twin__tree_map map,
                        struct twin__page_checked *tree, bool back, twin_error *error)
{
    for (unsigned depth = path->depth; depth-- > 0;) {
        struct twin__tree_level *level = &path->levels[depth];
        if (back ? level->place == 0 : level->place + 1 >= level->count)
            continue;
        level->place = back ? level->place - 1 : level->place + 1;
        *moved = true;
        if (depth + 1 == path->depth)
            return TWIN_OK;
        struct target target = { .where = back ? TO_LAST : TO_FIRST };
        return descend(path, map, tree, twin__page_node_at(level->page, level->place).child, depth + 2, target,
                       error);
    }
    *moved = false;
    return TWIN_OK;
}

/* Goes to the first place whose key is not less; `*found` false: there is none. */
static twin_status find(bool *found, struct twin__tree_path *path, struct twin__tree_map map,
                        struct twin__page_checked *tree, struct twin__bytes key, twin_error *error)
{
    struct target target = { TO_KEY, key };
    *found = false;
    twin_status status = descend_from_root(path, map, tree, target, error);
    if (status != TWIN_OK || path->depth == 0)
        return status;
    *found = leaf_of(path)->place < leaf_of(path)->count;
    return *found ? TWIN_OK : step(found, path, map, tree, false, error);
}

static struct twin__bytes value_of(struct twin__tree_map map, struct twin__page_node node)
{
    if (node.flags & TWIN__NODE_BIG)
        return (struct twin__bytes){
            map.pages + twin__get8(node.at) * map.snapshot->file.page_bytes + TWIN__PAGE_HEAD, node.length
        };
    return (struct twin__bytes){ node.at, node.length };
}

static bool is_key(struct twin__tree_path *path, struct twin__bytes key)
{
    struct twin__bytes found = key_at(leaf_of(path)->page, leaf_of(path)->place);
    return found.length == key.length && memcmp(found.at, key.at, key.length) == 0;
}

twin_status twin__tree_get(struct twin__bytes *out, struct twin__tree_map map, unsigned table, struct twin__bytes key,
                           twin_error *error)
{
    struct twin__tree_path path;
    bool found;
    *out = (struct twin__bytes){ 0 };
    twin_status status = find(&found, &path, map, &map.snapshot->tables[table], key, error);
    if (status == TWIN_OK && found && is_key(&path, key))
        *out = value_of(map, twin__page_node_at(leaf_of(&path)->page, leaf_of(&path)->place));
    return status;
}

/* ---- cursors ---- */

void twin__tree_cursor_init(struct twin__tree_cursor *out, struct twin__tree_map map, unsigned table)
{
    out->map = map;
    out->table = &map.snapshot->tables[table];
    out->state = TWIN__TREE_NOWHERE;
    out->keys.depth = out->values.depth = 0;
}

static struct twin__page_node node_of(struct twin__tree_cursor *cursor)
{
    const struct twin__tree_level *leaf = leaf_of(&cursor->keys);
    return twin__page_node_at(leaf->page, leaf->place);
}

static struct twin__store_record record_at(struct twin__tree_cursor *cursor)
{
    struct twin__page_node node = node_of(cursor);
    struct twin__store_record record = { .key = twin__get8(node.key.at) };
    const struct twin__tree_level *leaf = cursor->values.depth ? leaf_of(&cursor->values) : NULL;
    record.value = leaf ? twin__page_value_at(leaf->page, leaf->place) : value_of(cursor->map, node);
    return record;
}

/* Goes to the first value of the key, or to the first that is not less than `least`; `*found` false: there is none. */
static twin_status enter_list(bool *found, struct twin__tree_cursor *cursor, const struct twin__bytes *least,
                              twin_error *error)
{
    struct twin__page_node node = node_of(cursor);
    struct twin__tree_path *values = &cursor->values;
    *found = true;
    values->depth = 0;
    if (node.flags & TWIN__NODE_TREE) {
        cursor->list =
            (struct twin__page_checked){ .kind = TWIN__PAGES_OF_VALUES, .record = twin__page_tree_at(node.at) };
        struct target first = { .where = TO_FIRST };
        return least ? find(found, values, cursor->map, &cursor->list, *least, error)
                     : descend_from_root(values, cursor->map, &cursor->list, first, error);
    }
    if (node.flags & TWIN__NODE_LIST) {
        values->depth = 1;
        values->levels[0] = (struct twin__tree_level){ node.at, 0, twin__page_count(node.at) };
        if (least)
            values->levels[0].place = lower_bound(node.at, 0, values->levels[0].count, *least, false);
        *found = values->levels[0].place < values->levels[0].count;
    } else if (least)
        *found = twin__page_compare(value_of(cursor->map, node), *least, false) >= 0;
    return TWIN_OK;
}

/* Makes a record of where the cursor went: the first value of the key, or the first not less than `least`. */
static twin_status arrive(struct twin__store_record *out, struct twin__tree_cursor *cursor, bool found,
                          const struct twin__bytes *least, twin_error *error)
{
    twin_status status = TWIN_OK;
    *out = (struct twin__store_record){ 0 };
    cursor->state = TWIN__TREE_AT_END;
    cursor->values.depth = 0;
    if (found && cursor->table->kind == TWIN__PAGES_OF_LISTS)
        status = enter_list(&found, cursor, least, error);
    if (status != TWIN_OK || !found)
        return status;
    cursor->state = TWIN__TREE_PLACED;
    *out = record_at(cursor);
    return TWIN_OK;
}

static twin_status move_to_first(struct twin__store_record *out, struct twin__tree_cursor *cursor, twin_error *error)
{
    struct target first = { .where = TO_FIRST };
    cursor->state = TWIN__TREE_AT_END;
    twin_status status = descend_from_root(&cursor->keys, cursor->map, cursor->table, first, error);
    return status == TWIN_OK ? arrive(out, cursor, cursor->keys.depth > 0, NULL, error) : status;
}

twin_status twin__tree_move(struct twin__store_record *out, struct twin__tree_cursor *cursor,
                            enum twin__store_move move, twin_error *error)
{
    bool moved = false;
    twin_status status = TWIN_OK;
    *out = (struct twin__store_record){ 0 };
    if (move == TWIN__STORE_FIRST || (move == TWIN__STORE_NEXT && cursor->state == TWIN__TREE_NOWHERE))
        return move_to_first(out, cursor, error);
    if (cursor->state != TWIN__TREE_PLACED)
        return TWIN_OK;
    if (cursor->values.depth)
        status = step(&moved, &cursor->values, cursor->map, &cursor->list, false, error);
    if (status == TWIN_OK && moved)
        *out = record_at(cursor);
    if (status != TWIN_OK || moved || move == TWIN__STORE_NEXT_IN_LIST)
        return status;
    status = step(&moved, &cursor->keys, cursor->map, cursor->table, false, error);
    return status == TWIN_OK ? arrive(out, cursor, moved, NULL, error) : status;
}

/* From the first place whose key is not less, or behind the last, to the last whose key is not greater. */
static twin_status step_back(bool *found, struct twin__tree_cursor *cursor, struct twin__bytes key, twin_error *error)
{
    if (cursor->keys.depth == 0 || (*found && is_key(&cursor->keys, key)))
        return TWIN_OK;
    if (!*found) { /* behind the last */
        leaf_of(&cursor->keys)->place = leaf_of(&cursor->keys)->count - 1;
        *found = true;
        return TWIN_OK;
    }
    return step(found, &cursor->keys, cursor->map, cursor->table, true, error);
}

twin_status twin__tree_seek(struct twin__store_record *out, struct twin__tree_cursor *cursor, uint64_t number,
                            enum twin__store_seek where, twin_error *error)
{
    struct twin__bytes key = { &number, sizeof number };
    bool found;
    *out = (struct twin__store_record){ 0 };
    cursor->state = TWIN__TREE_AT_END;
    twin_status status = find(&found, &cursor->keys, cursor->map, cursor->table, key, error);
    if (status == TWIN_OK && where == TWIN__STORE_AT_OR_BEFORE)
        status = step_back(&found, cursor, key, error);
    if (status != TWIN_OK)
        return status;
    if (where == TWIN__STORE_AT)
        found = found && is_key(&cursor->keys, key);
    return arrive(out, cursor, found, NULL, error);
}

twin_status twin__tree_seek_value(struct twin__store_record *out, struct twin__tree_cursor *cursor, uint64_t number,
                                  struct twin__bytes least, twin_error *error)
{
    struct twin__bytes key = { &number, sizeof number };
    bool found;
    *out = (struct twin__store_record){ 0 };
    cursor->state = TWIN__TREE_AT_END;
    twin_status status = find(&found, &cursor->keys, cursor->map, cursor->table, key, error);
    if (status != TWIN_OK)
        return status;
    return arrive(out, cursor, found && is_key(&cursor->keys, key), &least, error);
}

uint64_t twin__tree_list_length(const struct twin__tree_cursor *cursor)
{
    if (cursor->state != TWIN__TREE_PLACED)
        return 0;
    const struct twin__tree_level *leaf = &cursor->keys.levels[cursor->keys.depth - 1];
    struct twin__page_node node = twin__page_node_at(leaf->page, leaf->place);
    if (node.flags & TWIN__NODE_TREE)
        return twin__page_tree_at(node.at).entries;
    return node.flags & TWIN__NODE_LIST ? twin__page_count(node.at) : 1;
}
