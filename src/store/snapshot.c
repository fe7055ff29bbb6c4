/* snapshot.c — one state of a file, and which of its pages have been checked.
 *
 * To check all pages of a file before the first is used takes longer than most queries. So a reader goes from page to
 * page itself (tree.c), and each page is checked when it is first reached: against its parent, which was checked
 * before it. What has been checked is remembered for all transactions that read the same state: its pages cannot
 * change as long as one does. Pages that are never reached are never read; whether any are missing as a whole, only a
 * walk finds (page_walk.c). */
#include "store/snapshot.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "store/pages.h"

static twin_status fail_snapshot(twin_error *error, const struct twin__snapshot *snapshot)
{
    return twin__fail(error, TWIN_EFORMAT, "%s: %s", snapshot->path, snapshot->file.wrong);
}

/* The main tree has its tables in the order of their names. */
static bool find_table(struct twin__snapshot *snapshot, const unsigned char *main, unsigned which)
{
    static const enum twin__page_kind kinds[] = {
        [TWIN__STORE_NUMBERS] = TWIN__PAGES_OF_NUMBERS,
        [TWIN__STORE_LISTS] = TWIN__PAGES_OF_LISTS,
        [TWIN__STORE_NAMES] = TWIN__PAGES_OF_NAMES,
    };
    struct twin__page_file *file = &snapshot->file;
    struct twin__page_checked *table = &snapshot->tables[which];
    struct twin__bytes name = { file->schema->tables[which].name, strlen(file->schema->tables[which].name) };
    for (unsigned i = 0; i < file->schema->count; i++) {
        if (twin__page_compare(twin__page_node_at(main, i).key, name, false) != 0)
            continue;
        table->record = file->tables[i];
        return twin__page_kind_of(&table->kind, &table->record) &&
               table->kind == kinds[file->schema->tables[which].kind];
    }
    return false;
}

static bool check_main(struct twin__snapshot *snapshot, unsigned char *page)
{
    struct twin__page_file *file = &snapshot->file;
    struct twin__page_checked tree = { .kind = TWIN__PAGES_MAIN, .record = file->main };
    uint64_t root = file->main.root;
    if (!twin__page_check_main(file))
        return false;
    if (root >= file->there ||
        twin__read_at(file->fd, page, file->page_bytes, root * file->page_bytes) != (ssize_t)file->page_bytes)
        return twin__page_wrong(file, "was cut short");
    if (!twin__page_check(file, &tree, page, root, 1, (struct twin__page_bounds){ 0 }))
        return false;
    for (unsigned i = 0; i < file->schema->count; i++)
        if (!find_table(snapshot, page, i))
            return twin__page_wrong(file, "is not %s of twinsift", file->schema->what);
    return true;
}

static twin_status read_main(struct twin__snapshot *snapshot, twin_error *error)
{
    struct twin__page_file *file = &snapshot->file;
    unsigned char *page = malloc(file->page_bytes);
    file->seen = calloc(file->last_page / 8 + 1, 1);
    twin_status status = TWIN_OK;
    if (!page || !file->seen)
        status = twin__fail_memory(error);
    else if (!check_main(snapshot, page))
        status = fail_snapshot(error, snapshot);
    free(page);
    return status;
}

twin_status twin__snapshot_create(struct twin__snapshot **out, int fd, const char *path,
                                  const struct twin__store_schema *schema, uint64_t number, twin_error *error)
{
    struct twin__page_file file;
    *out = NULL;
    twin_status status = twin__store_read_meta(&file, fd, path, schema, number, error);
    if (status != TWIN_OK)
        return status;
    struct twin__snapshot *snapshot = calloc(1, sizeof *snapshot + file.last_page / 8 + 1);
    if (!snapshot)
        return twin__fail_memory(error);
    snapshot->path = path;
    snapshot->file = file;
    pthread_mutex_init(&snapshot->lock, NULL);
    status = read_main(snapshot, error);
    if (status == TWIN_OK)
        *out = snapshot;
    else
        twin__snapshot_free(snapshot);
    return status;
}

void twin__snapshot_free(struct twin__snapshot *snapshot)
{
    if (!snapshot)
        return;
    pthread_mutex_destroy(&snapshot->lock);
    free(snapshot->file.seen);
    free(snapshot);
}

static bool check_page(struct twin__snapshot *snapshot, struct twin__snapshot_page page)
{
    struct twin__page_file *file = &snapshot->file;
    if (file->wrong[0])
        return false; /* pages may have been claimed by one that is damaged */
    if (page.number >= file->there)
        return twin__page_wrong(file, "was cut short");
    return twin__page_check(file, page.tree, page.at, page.number, page.depth, page.bounds);
}

twin_status twin__snapshot_check(struct twin__snapshot *snapshot, struct twin__snapshot_page page, twin_error *error)
{
    twin_status status = TWIN_OK;
    pthread_mutex_lock(&snapshot->lock);
    if (twin__snapshot_has_checked(snapshot, page.number))
        ;
    else if (check_page(snapshot, page))
        atomic_fetch_or_explicit(&snapshot->checked[page.number / 8], (unsigned char)(1u << page.number % 8),
                                 memory_order_release);
    else
        status = fail_snapshot(error, snapshot);
    pthread_mutex_unlock(&snapshot->lock);
    return status;
}
