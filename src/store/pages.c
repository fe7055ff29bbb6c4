/* pages.c — checks the pages of a file before LMDB maps it.
 *
 * LMDB maps the file and trusts it: a file cut short makes it die by a signal, and a damaged meta page sends it to pages
 * that do not exist. So before it may, the two meta pages are checked, the path from the root of each tree to its first
 * leaf is walked, and the file must be as long as they say. (Other pages are trusted; the records in them should have
 * checksums of their own.)
 *
 * A page:   0 8 number   8 2 pad   10 2 flags   12 2 lower   14 2 upper   16 pointers, 2 bytes each, up to lower
 * A meta:  16 4 magic   20 4 version   24 8 address   32 8 map size   40 48 free tree   88 48 main tree
 *         136 8 last page   144 8 transaction
 * A tree:   0 4 pad (free tree: the page size)   4 2 flags   6 2 depth   8 8 branches   16 8 leaves   24 8 overflow pages
 *          32 8 entries   40 8 root
 * A node:   0 2 low   2 2 high   4 2 flags   6 2 key size   8 the key, the data. In a leaf low and high are the size of the data,
 *           in a branch with flags on top the number of the child. */
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "store/pages.h"

enum {
    META_BYTES = 152,
    PAGE_HEAD = 16,
    NODE_HEAD = 8,
    TREE_BYTES = 48,
    BRANCH = 1,
    LEAF = 2,
    OVERFLOW_PAGE = 4,
    META = 8,
    LEAF2 = 0x20,
    BIG_DATA = 1,
    TREE_DATA = 2,
    DEEPEST = 32,
};
static const uint64_t NO_PAGE = UINT64_MAX;

struct tree {
    uint64_t root;
    uint16_t depth;
};

struct file {
    int fd;
    const struct twin__store_schema *schema;
    uint64_t size;
    size_t page_bytes;
    uint64_t last_page, transaction;
    struct tree free, main;
    unsigned char *page;
    uint64_t free_behind_end; /* pages that the free tree names and the file does not reach */
    const char *wrong;        /* the first thing that is; a format with a place for what the file should be */
};

static bool wrong(struct file *file, const char *what)
{
    if (!file->wrong)
        file->wrong = what;
    return false;
}

static bool read_page(struct file *file, unsigned char *out, uint64_t number)
{
    if (number < 2 || number > file->last_page)
        return wrong(file, "is damaged: a page outside the file is referred to");
    if (twin__read_at(file->fd, out, file->page_bytes, number * file->page_bytes) != (ssize_t)file->page_bytes)
        return wrong(file, "was cut short");
    if (twin__get8(out) != number)
        return wrong(file, "is damaged: a page is not the one that is referred to");
    unsigned lower = twin__get2(out + 12);
    bool overflow = twin__get2(out + 10) & OVERFLOW_PAGE;
    if (!overflow && (lower < PAGE_HEAD || lower > twin__get2(out + 14) || twin__get2(out + 14) > file->page_bytes))
        return wrong(file, "is damaged: a page has no room for what it says it holds");
    return true;
}

/* Node i of a page, or NULL when it does not lie in it. */
static const unsigned char *node_at(const struct file *file, const unsigned char *page, size_t i)
{
    if (PAGE_HEAD + 2 * (i + 1) > twin__get2(page + 12))
        return NULL;
    size_t at = twin__get2(page + PAGE_HEAD + 2 * i);
    if (at < twin__get2(page + 14) || at + NODE_HEAD > file->page_bytes)
        return NULL;
    return at + NODE_HEAD + twin__get2(page + at + 6) <= file->page_bytes ? page + at : NULL;
}

static uint64_t child_of(const unsigned char *node)
{
    return twin__get2(node) | (uint64_t)twin__get2(node + 2) << 16 | (uint64_t)twin__get2(node + 4) << 32;
}

/* Walks from the root to the first leaf, which is left in file->page. */
static bool walk_down(struct file *file, struct tree tree)
{
    uint64_t number = tree.root;
    for (unsigned depth = 1; depth <= tree.depth; depth++) {
        if (!read_page(file, file->page, number))
            return false;
        unsigned kind = twin__get2(file->page + 10) & (BRANCH | LEAF | OVERFLOW_PAGE | META);
        if (kind != (depth < tree.depth ? BRANCH : LEAF))
            return wrong(file, "is damaged: a tree is not as deep as it says");
        const unsigned char *node = depth < tree.depth ? node_at(file, file->page, 0) : NULL;
        if (depth < tree.depth && !node)
            return wrong(file, "is damaged: a page of a tree is empty");
        number = node ? child_of(node) : number;
    }
    return true;
}

static bool check_tree(struct file *file, struct tree tree)
{
    if (tree.depth > DEEPEST || (tree.root == NO_PAGE) != (tree.depth == 0))
        return wrong(file, "is damaged: a tree has no root");
    return tree.root == NO_PAGE || walk_down(file, tree);
}

static struct tree tree_at(const unsigned char *at)
{
    return (struct tree){ twin__get8(at + 40), twin__get2(at + 6) };
}

/* ---- meta pages ---- */

struct meta {
    size_t page_bytes;
    uint64_t last_page, transaction;
    struct tree free, main;
};

static bool read_meta(struct meta *out, struct file *file, uint64_t offset)
{
    unsigned char page[META_BYTES];
    if (twin__read_at(file->fd, page, sizeof page, offset) != (ssize_t)sizeof page)
        return wrong(file, file->size ? "is too short to be %s" : "is empty, not %s");
    if (!(twin__get2(page + 10) & META) || twin__get4(page + 16) != 0xBEEFC0DE)
        return wrong(file, offset ? "is damaged: its second page is not what it should be"
                                  : "is not %s: it does not begin as one");
    if (twin__get4(page + 20) != 1)
        return wrong(file, "is a file of another version of LMDB");
    *out = (struct meta){ .page_bytes = twin__get4(page + 40),
                          .last_page = twin__get8(page + 136),
                          .transaction = twin__get8(page + 144),
                          .free = tree_at(page + 40),
                          .main = tree_at(page + 88) };
    size_t bytes = out->page_bytes;
    if (bytes < 256 || bytes > 65536 || bytes & (bytes - 1) || twin__get8(page + 24) != 0 ||
        (twin__get2(page + 44) & ~MDB_NOSUBDIR) != MDB_INTEGERKEY || twin__get2(page + 92) != 0 ||
        out->last_page < 1 || out->last_page > UINT64_MAX / bytes - 1)
        return wrong(file, "is damaged: its first pages say what cannot be");
    return true;
}

/* Transactions write the two meta pages in turn, the even ones the first; so their numbers differ by one, except in
 * a file that was only just made or copied. */
static bool choose_meta(struct file *file)
{
    struct meta metas[2];
    if (!read_meta(&metas[0], file, 0) || !read_meta(&metas[1], file, metas[0].page_bytes))
        return false;
    if (metas[0].page_bytes != metas[1].page_bytes)
        return wrong(file, "is damaged: its first pages disagree");
    uint64_t even = metas[0].transaction, odd = metas[1].transaction;
    bool fresh = even == odd && even <= 1, copied = even == 0 && odd == 1;
    bool in_turn = even % 2 == 0 && odd % 2 == 1 && (even == odd + 1 || odd == even + 1);
    if (!fresh && !copied && !in_turn)
        return wrong(file, "is damaged: its first pages disagree about the last transaction");
    struct meta *newer = &metas[odd > even];
    file->page_bytes = newer->page_bytes;
    file->last_page = newer->last_page;
    file->transaction = newer->transaction;
    file->free = newer->free;
    file->main = newer->main;
    return true;
}

/* The main tree holds the tables by their names: one leaf. */
static bool check_tables(struct file *file)
{
    if (file->main.depth != 1 || !check_tree(file, file->main))
        return wrong(file, "is not %s of twinsift");
    struct tree trees[TWIN__STORE_MOST_TABLES];
    size_t count = 0;
    const unsigned char *node;
    for (; (node = node_at(file, file->page, count)) != NULL; count++) {
        size_t at = (size_t)(node - file->page) + NODE_HEAD + twin__get2(node + 6);
        if (count == file->schema->count || !(twin__get2(node + 4) & TREE_DATA) || twin__get2(node) != TREE_BYTES ||
            twin__get2(node + 2) != 0 || at + TREE_BYTES > file->page_bytes)
            return wrong(file, "is not %s of twinsift");
        trees[count] = tree_at(file->page + at);
    }
    if (count != file->schema->count)
        return wrong(file, "is not %s of twinsift");
    for (size_t i = 0; i < count; i++)
        if (!check_tree(file, trees[i]))
            return false;
    return true;
}

/* ---- a file shorter than its last page ---- */

static bool count_list(struct file *file, const unsigned char *list, uint64_t room)
{
    uint64_t count = room >= 8 ? twin__get8(list) : UINT64_MAX;
    if (count > room / 8 - 1)
        return wrong(file, "is damaged: its list of free pages is longer than there is room");
    for (uint64_t i = 1; i <= count; i++)
        file->free_behind_end += twin__get8(list + 8 * i) >= file->size / file->page_bytes;
    return true;
}

/* A list too long for its leaf lies in pages of its own. */
static bool count_far_list(struct file *file, uint64_t first, uint64_t length)
{
    uint64_t pages = (length + PAGE_HEAD + file->page_bytes - 1) / file->page_bytes;
    if (first < 2 || first > file->last_page || pages > file->last_page - first + 1 ||
        (first + pages) * file->page_bytes > file->size)
        return wrong(file, "was cut short");
    unsigned char *list = malloc(length + 1);
    bool good =
        list && twin__read_at(file->fd, list, length, first * file->page_bytes + PAGE_HEAD) == (ssize_t)length;
    good = good ? count_list(file, list, length) : wrong(file, "could not be read");
    free(list);
    return good;
}

static bool count_leaf(struct file *file, const unsigned char *page)
{
    const unsigned char *node;
    for (size_t i = 0; (node = node_at(file, page, i)) != NULL; i++) {
        uint64_t length = twin__get2(node) | (uint64_t)twin__get2(node + 2) << 16;
        size_t at = (size_t)(node - page) + NODE_HEAD + twin__get2(node + 6);
        bool far = twin__get2(node + 4) & BIG_DATA;
        if (at + (far ? 8 : length) > file->page_bytes)
            return wrong(file, "is damaged: a page has no room for what it says it holds");
        if (!(far ? count_far_list(file, twin__get8(page + at), length) : count_list(file, page + at, length)))
            return false;
    }
    return true;
}

static bool count_free(struct file *file, uint64_t number, unsigned depth)
{
    unsigned char *page = depth ? malloc(file->page_bytes) : NULL;
    if (!page)
        return wrong(file, depth ? "could not be read: out of memory" : "is damaged: a tree is deeper than it says");
    const unsigned char *node;
    bool good = read_page(file, page, number);
    if (good && twin__get2(page + 10) & LEAF)
        good = count_leaf(file, page);
    else if (good && twin__get2(page + 10) & BRANCH)
        for (size_t i = 0; good && (node = node_at(file, page, i)) != NULL; i++)
            good = count_free(file, child_of(node), depth - 1);
    free(page);
    return good;
}

/* The last pages of a transaction may have been given up before it was written, so that the file ends before them;
 * then they are all in the list of free pages. Any other page that is missing was cut off. */
static bool check_length(struct file *file)
{
    uint64_t there = file->size / file->page_bytes;
    if (there > file->last_page)
        return true;
    if (file->free.root != NO_PAGE && !count_free(file, file->free.root, file->free.depth))
        return false;
    return file->free_behind_end == file->last_page + 1 - there || wrong(file, "was cut short");
}

static twin_status fail_wrong(twin_error *error, const char *path, const struct file *file)
{
    char what[160];
    const char *mark = strstr(file->wrong, "%s");
    if (!mark)
        return twin__fail(error, TWIN_EFORMAT, "%s: %s", path, file->wrong);
    snprintf(what, sizeof what, "%.*s%s%s", (int)(mark - file->wrong), file->wrong, file->schema->what, mark + 2);
    return twin__fail(error, TWIN_EFORMAT, "%s: %s", path, what);
}

twin_status twin__store_check_pages(int fd, const char *path, const struct twin__store_schema *schema,
                                    twin_error *error)
{
    struct stat found;
    if (fstat(fd, &found) != 0)
        return twin__fail(error, TWIN_EIO, "%s: could not be read: %m", path);
    struct file file = { .fd = fd, .schema = schema, .size = (uint64_t)found.st_size };
    bool good = choose_meta(&file);
    file.page = good ? malloc(file.page_bytes) : NULL;
    if (good && !file.page)
        return twin__fail_memory(error);
    good = good && check_length(&file) && check_tables(&file) && check_tree(&file, file.free);
    free(file.page);
    return good ? TWIN_OK : fail_wrong(error, path, &file);
}
