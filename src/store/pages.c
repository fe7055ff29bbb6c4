/* pages.c — the meta pages of a file, and the sentence about a file that is damaged.
 *
 * LMDB maps a file and trusts it: a file cut short, or a page that is not what it should be, makes it die by a signal
 * or miss records. So the meta pages are checked here before the file is mapped. Once a transaction holds a state of
 * the file fast, all others are checked in page_walk.c before LMDB may change them; who only reads does without LMDB
 * and checks each page when it is first used (tree.c, snapshot.c). */
#include <lmdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "store/page.h"
#include "store/pages.h"

enum { META_BYTES = 152, VERSION = 1 };
static const uint32_t MAGIC = 0xBEEFC0DE;

/* A transaction may give up its last pages before they are written, but not more of them than would be plausible: this
 * many times as many as there are, with some for small files. */
enum { MOST_MISSING = 64, MISSING_PAGES = 1 << 14 };

bool twin__page_wrong(struct twin__page_file *file, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (!file->wrong[0])
        vsnprintf(file->wrong, sizeof file->wrong, format, values);
    va_end(values);
    return false;
}

struct meta {
    size_t page_bytes;
    uint64_t there, last_page, transaction;
    struct twin__page_tree free, main;
};

static bool read_meta(struct meta *out, struct twin__page_file *file, uint64_t offset)
{
    unsigned char page[META_BYTES];
    const char *what = file->schema->what;
    if (twin__read_at(file->fd, page, sizeof page, offset) != (ssize_t)sizeof page)
        return twin__page_wrong(file, file->size ? "is too short to be %s" : "is empty, not %s", what);
    if (!(twin__page_flags(page) & TWIN__PAGE_META) || twin__get4(page + 16) != MAGIC)
        return offset ? twin__page_wrong(file, "is damaged: its second page is not what it should be")
                      : twin__page_wrong(file, "is not %s: it does not begin as one", what);
    if (twin__get4(page + 20) != VERSION)
        return twin__page_wrong(file, "is a file of another version of LMDB");
    *out = (struct meta){ .page_bytes = twin__get4(page + 40),
                          .last_page = twin__get8(page + 136),
                          .transaction = twin__get8(page + 144),
                          .free = twin__page_tree_at(page + 40),
                          .main = twin__page_tree_at(page + 88) };
    size_t bytes = out->page_bytes;
    if (bytes < 256 || bytes > 65536 || bytes & (bytes - 1) || twin__get8(page + 24) != 0 ||
        (out->free.flags & ~MDB_NOSUBDIR) != MDB_INTEGERKEY || out->main.flags != 0 || out->last_page < 1 ||
        out->last_page > UINT64_MAX / bytes - 1)
        return twin__page_wrong(file, "is damaged: its first pages say what cannot be");
    /* LMDB maps as much as they say, and the walk has a bit for each page. */
    out->there = file->size / bytes;
    return (out->there > 1 && out->last_page / MOST_MISSING <= out->there + MISSING_PAGES) ||
           twin__page_wrong(file, "was cut short");
}

/* Transactions write the two meta pages in turn, the even ones the first; so their numbers differ by one, except in
 * a file that was only just made or copied. */
static bool read_once(struct meta metas[2], struct twin__page_file *file)
{
    if (!read_meta(&metas[0], file, 0) || !read_meta(&metas[1], file, metas[0].page_bytes))
        return false;
    if (metas[0].page_bytes != metas[1].page_bytes)
        return twin__page_wrong(file, "is damaged: its first pages disagree");
    uint64_t even = metas[0].transaction, odd = metas[1].transaction;
    bool fresh = even == odd && even <= 1, copied = even == 0 && odd == 1;
    bool in_turn = even % 2 == 0 && odd % 2 == 1 && (even == odd + 1 || odd == even + 1);
    return fresh || copied || in_turn ||
           twin__page_wrong(file, "is damaged: its first pages disagree about the last transaction");
}

/* A writer may be at work on one of them, or write each of them between our two readings. What seems damaged then, or
 * is something else the next time, is read again. */
static bool read_metas(struct meta metas[2], struct twin__page_file *file)
{
    enum { MOST_READINGS = 20 };
    struct meta again[2] = { 0 };
    bool good = false, steady = false;
    for (int i = 0; i < MOST_READINGS && !steady; i++) {
        file->wrong[0] = '\0';
        good = read_once(metas, file);
        steady = good && read_once(again, file) && memcmp(again, metas, sizeof again) == 0;
    }
    return good;
}

/* The meta page that LMDB takes for a transaction; NULL: it was overwritten. */
static const struct meta *meta_of(const struct meta metas[2], uint64_t number)
{
    if (number == TWIN__STORE_NEWEST)
        return &metas[metas[1].transaction > metas[0].transaction];
    const struct meta *usual = &metas[number & 1], *other = &metas[~number & 1];
    return usual->transaction == number ? usual : other->transaction == number ? other : NULL;
}

static twin_status open_file(struct twin__page_file *out, int fd, const char *path,
                             const struct twin__store_schema *schema, twin_error *error)
{
    struct stat found;
    *out = (struct twin__page_file){ .fd = fd, .schema = schema };
    if (fstat(fd, &found) != 0)
        return twin__fail(error, TWIN_EIO, "%s: could not be read: %m", path);
    out->size = (uint64_t)found.st_size;
    return TWIN_OK;
}

twin_status twin__store_check_head(int fd, const char *path, const struct twin__store_schema *schema,
                                   twin_error *error)
{
    struct twin__page_file file;
    struct meta metas[2] = { 0 };
    twin_status status = open_file(&file, fd, path, schema, error);
    if (status == TWIN_OK && !read_metas(metas, &file))
        return twin__fail(error, TWIN_EFORMAT, "%s: %s", path, file.wrong);
    return status;
}

twin_status twin__store_read_meta(struct twin__page_file *out, int fd, const char *path,
                                  const struct twin__store_schema *schema, uint64_t number, twin_error *error)
{
    struct meta metas[2] = { 0 };
    twin_status status = open_file(out, fd, path, schema, error);
    if (status != TWIN_OK)
        return status;
    if (!read_metas(metas, out))
        return twin__fail(error, TWIN_EFORMAT, "%s: %s", path, out->wrong);
    const struct meta *meta = meta_of(metas, number);
    if (!meta)
        return TWIN_EBUSY;
    out->page_bytes = meta->page_bytes;
    out->there = meta->there;
    out->last_page = meta->last_page;
    out->transaction = meta->transaction;
    out->free = meta->free;
    out->main = meta->main;
    return TWIN_OK;
}

bool twin__store_is_of(const struct twin__store_schema *schema, int fd, const char *path)
{
    enum { MAGIC_AT = 16 };
    uint32_t magic;
    struct twin__page_file file;
    ssize_t got = pread(fd, &magic, sizeof magic, MAGIC_AT);
    if (got != (ssize_t)sizeof magic || magic != MAGIC)
        return false;
    if (twin__store_read_meta(&file, fd, path, schema, TWIN__STORE_NEWEST, NULL) != TWIN_OK || !file.page_bytes)
        return true;
    unsigned char *page = malloc(file.page_bytes);
    bool read =
        page && file.main.root <= file.last_page &&
        pread(fd, page, file.page_bytes, (off_t)(file.main.root * file.page_bytes)) == (ssize_t)file.page_bytes;
    const char *name = schema->tables[schema->count > 1].name; /* the first is the same in all */
    bool is = !read || memmem(page, file.page_bytes, name, strlen(name));
    free(page);
    return is;
}

twin_status twin__store_check_pages(int fd, const char *path, const struct twin__store_schema *schema,
                                    struct twin__pages_state state, twin_error *error)
{
    struct twin__page_file file;
    twin_status status = twin__store_read_meta(&file, fd, path, schema, state.number, error);
    if (status != TWIN_OK)
        return status;
    file.to_write = state.to_write;
    if (twin__page_walk(&file) == TWIN_ENOMEM)
        return twin__fail_memory(error);
    return file.wrong[0] ? twin__fail(error, TWIN_EFORMAT, "%s: %s", path, file.wrong) : TWIN_OK;
}
