/* indexes.c — views for threads that query, and one writer. */
#include "indexes.h"
#include "writable.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MOST_INDEXES = 64, NAME_BYTES = 64, CHECK_MS = 500, REST_MS = 2000 };

struct index_view {
    twin_index_view *view;
    struct index_view *next;
};

/* An index that was opened: replaced by another when its file was, and closed with its last view. */
struct index_file {
    twin_index *index;
    struct index_view *back;
    size_t out;
    bool replaced;
    dev_t device;
    ino_t inode;
};

/* One who wants to write; the one who writes does it for all. */
struct writing {
    struct writing *next;
    const twin_index_document *documents;
    size_t count;
    twin_index_change change;
    twin_status status;
    twin_error error;
    bool is_done;
};

struct named {
    char name[NAME_BYTES + 1];
    char *path;
    struct index_file *file;
    int64_t checked; /* milliseconds */

    twin_index *writer;
    int64_t written;
    bool is_writing;
    struct writing *first, **last;
};

struct indexes {
    void (*log)(const char *sentence);
    pthread_mutex_t lock;
    pthread_cond_t written;
    struct named list[MOST_INDEXES];
    size_t count;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static twin_status fail_with(twin_error *error, twin_status status, const char *sentence)
{
    if (error) {
        *error = (twin_error){ .status = status };
        snprintf(error->message, sizeof error->message, "%s", sentence);
    }
    return status;
}

/* ---- files and views; under the lock */

static void close_file(struct index_file *file)
{
    if (!file)
        return;
    for (struct index_view *view = file->back, *next; view; view = next) {
        next = view->next;
        twin_index_view_free(view->view);
        free(view);
    }
    twin_index_close(file->index);
    free(file);
}

/* A process cannot have a file open and the one that took its name: the old one is closed first, as soon as the queries
 * of this moment are done. */
static void retire_file(struct indexes *indexes, struct named *named)
{
    struct index_file *old = named->file;
    if (!old || old->replaced) { /* another thread waits for it */
        while (named->file == old && old)
            pthread_cond_wait(&indexes->written, &indexes->lock);
        return;
    }
    old->replaced = true;
    while (old->out > 0)
        pthread_cond_wait(&indexes->written, &indexes->lock);
    named->file = NULL;
    close_file(old);
    pthread_cond_broadcast(&indexes->written);
}

static twin_status open_file(struct named *named, twin_error *error)
{
    struct stat s;
    struct index_file *file = calloc(1, sizeof *file);
    if (!file)
        return fail_with(error, TWIN_ENOMEM, twin_status_text(TWIN_ENOMEM));
    twin_status status = twin_index_open(&file->index, named->path, TWIN_INDEX_READ, error);
    if (status != TWIN_OK) {
        free(file);
        return status;
    }
    if (stat(named->path, &s) == 0) {
        file->device = s.st_dev;
        file->inode = s.st_ino;
    }
    named->checked = now_ms();
    named->file = file;
    return TWIN_OK;
}

/* Whether another file took the place of the one that is open. */
static bool is_replaced(struct named *named)
{
    struct stat s;
    int64_t now = now_ms();
    if (!named->file || now - named->checked < CHECK_MS)
        return false;
    named->checked = now;
    return stat(named->path, &s) == 0 && (s.st_dev != named->file->device || s.st_ino != named->file->inode);
}

static twin_status take_view(struct index_use *out, struct index_file *file, twin_error *error)
{
    struct index_view *view = file->back;
    twin_status status = TWIN_OK;
    if (view) {
        file->back = view->next;
        status = twin_index_view_renew(view->view, error);
    } else {
        view = calloc(1, sizeof *view);
        if (!view)
            return fail_with(error, TWIN_ENOMEM, twin_status_text(TWIN_ENOMEM));
        status = twin_index_view_create(&view->view, file->index, error);
    }
    if (status != TWIN_OK) {
        twin_index_view_free(view->view);
        free(view);
        return status;
    }
    file->out++;
    out->view = view->view;
    out->file = file;
    out->handle = view;
    return TWIN_OK;
}

static struct named *find(struct indexes *indexes, const char *name)
{
    for (size_t i = 0; i < indexes->count; i++)
        if (strcmp(indexes->list[i].name, name) == 0)
            return &indexes->list[i];
    return NULL;
}

twin_status indexes_take(struct index_use *out, bool *found, struct indexes *indexes, const char *name,
                         twin_error *error)
{
    twin_status status = TWIN_OK;
    *out = (struct index_use){ 0 };
    pthread_mutex_lock(&indexes->lock);
    struct named *named = find(indexes, name);
    *found = named != NULL;
    if (named) {
        if (is_replaced(named) || (named->file && named->file->replaced))
            retire_file(indexes, named);
        if (!named->file)
            status = open_file(named, error);
        if (status == TWIN_OK)
            status = take_view(out, named->file, error);
        if (status == TWIN_EBUSY) { /* it was compacted and then changed, just now */
            retire_file(indexes, named);
            status = named->file ? TWIN_OK : open_file(named, error);
            if (status == TWIN_OK)
                status = take_view(out, named->file, error);
        }
        if (status == TWIN_OK) {
            out->options = twin_index_options_of(named->file->index);
            out->path = named->path;
        }
    }
    pthread_mutex_unlock(&indexes->lock);
    return status;
}

void indexes_give_back(struct indexes *indexes, struct index_use *use)
{
    struct index_file *file = use->file;
    if (!file)
        return;
    pthread_mutex_lock(&indexes->lock);
    use->handle->next = file->back;
    file->back = use->handle;
    if (--file->out == 0 && file->replaced)
        pthread_cond_broadcast(&indexes->written);
    pthread_mutex_unlock(&indexes->lock);
    *use = (struct index_use){ 0 };
}

/* ---- writing */

static twin_status open_writer(struct named *named, twin_error *error)
{
    if (named->writer)
        return TWIN_OK;
    twin_status status = may_be_written(named->path, error);
    return status == TWIN_OK ? twin_index_open(&named->writer, named->path, TWIN_INDEX_WRITE, error) : status;
}

/* All that wait, in one transaction. Not under the lock; is_writing keeps others away. */
static void write_gathered(struct named *named, struct writing *first)
{
    size_t count = 0, at = 0;
    twin_error error = { 0 };
    twin_index_change change = { 0 };
    for (struct writing *w = first; w; w = w->next)
        count += w->count;
    twin_index_document *all = malloc(count * sizeof *all + 1);
    twin_status status = all ? open_writer(named, &error) : fail_with(&error, TWIN_ENOMEM, "out of memory");
    for (struct writing *w = first; w && all; w = w->next) {
        memcpy(all + at, w->documents, w->count * sizeof *all);
        at += w->count;
    }
    if (status == TWIN_OK)
        status = twin_index_add(&change, named->writer, all, count, (twin_index_add_options){ 0 }, &error);
    if (status != TWIN_OK && named->writer) {
        twin_index_close(named->writer);
        named->writer = NULL;
    }
    named->written = now_ms();
    for (struct writing *w = first; w; w = w->next) {
        w->status = status;
        w->error = error;
        w->change = change; /* of all; alone, its own */
        if (w->count != count)
            w->change = (twin_index_change){ .added = w->count };
    }
    free(all);
}

/* Under the lock: until this one is done, by itself or by another. */
static void take_part(struct indexes *indexes, struct named *named, struct writing *own)
{
    *named->last = own;
    named->last = &own->next;
    while (!own->is_done) {
        if (named->is_writing) {
            pthread_cond_wait(&indexes->written, &indexes->lock);
            continue;
        }
        struct writing *first = named->first;
        named->first = NULL;
        named->last = &named->first;
        named->is_writing = true;
        pthread_mutex_unlock(&indexes->lock);
        write_gathered(named, first);
        pthread_mutex_lock(&indexes->lock);
        named->is_writing = false;
        for (struct writing *w = first, *next; w; w = next) {
            next = w->next;
            w->is_done = true;
        }
        pthread_cond_broadcast(&indexes->written);
    }
}

twin_status indexes_write(twin_index_change *change, struct indexes *indexes, const char *name,
                          const twin_index_document *documents, size_t count, twin_error *error)
{
    struct writing own = { .documents = documents, .count = count };
    pthread_mutex_lock(&indexes->lock);
    struct named *named = find(indexes, name);
    if (named)
        take_part(indexes, named, &own);
    pthread_mutex_unlock(&indexes->lock);
    if (!named)
        return fail_with(error, TWIN_EINVAL, "there is no such index");
    *change = own.change;
    *error = own.error;
    return own.status;
}

/* Waits until nobody writes, and then is the one who does. */
static void begin_writing(struct indexes *indexes, struct named *named)
{
    while (named->is_writing)
        pthread_cond_wait(&indexes->written, &indexes->lock);
    named->is_writing = true;
}

twin_status indexes_remove(bool *was_there, struct indexes *indexes, const char *name, twin_text id,
                           twin_error *error)
{
    twin_index_change change = { 0 };
    pthread_mutex_lock(&indexes->lock);
    struct named *named = find(indexes, name);
    if (!named) {
        pthread_mutex_unlock(&indexes->lock);
        return fail_with(error, TWIN_EINVAL, "there is no such index");
    }
    begin_writing(indexes, named);
    pthread_mutex_unlock(&indexes->lock);
    twin_status status = open_writer(named, error);
    if (status == TWIN_OK)
        status = twin_index_remove(was_there, &change, named->writer, &id, 1, error);
    pthread_mutex_lock(&indexes->lock);
    named->written = now_ms();
    named->is_writing = false;
    pthread_cond_broadcast(&indexes->written);
    pthread_mutex_unlock(&indexes->lock);
    return status;
}

/* ---- the list */

struct indexes *indexes_create(void (*log)(const char *sentence))
{
    struct indexes *indexes = calloc(1, sizeof *indexes);
    if (!indexes)
        return NULL;
    indexes->log = log;
    pthread_mutex_init(&indexes->lock, NULL);
    pthread_cond_init(&indexes->written, NULL);
    return indexes;
}

void indexes_free(struct indexes *indexes)
{
    if (!indexes)
        return;
    for (size_t i = 0; i < indexes->count; i++) {
        close_file(indexes->list[i].file);
        twin_index_close(indexes->list[i].writer);
        free(indexes->list[i].path);
    }
    pthread_cond_destroy(&indexes->written);
    pthread_mutex_destroy(&indexes->lock);
    free(indexes);
}

twin_status indexes_add(struct indexes *indexes, const char *name, const char *path, twin_error *error)
{
    size_t length = strlen(name);
    if (indexes->count == MOST_INDEXES)
        return fail_with(error, TWIN_ELIMIT, "more than 64 indexes");
    if (length == 0 || length > NAME_BYTES ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != length)
        return fail_with(error, TWIN_EINVAL,
                         "an index's name is 1 to 64 letters, digits and -_. ; choose one with NAME=FILE");
    if (find(indexes, name))
        return fail_with(error, TWIN_EINVAL, "two indexes have one name; choose another with NAME=FILE");
    struct named *named = &indexes->list[indexes->count];
    *named = (struct named){ .path = strdup(path) };
    snprintf(named->name, sizeof named->name, "%s", name);
    named->last = &named->first;
    twin_status status = named->path ? open_file(named, error) : TWIN_ENOMEM;
    if (status == TWIN_OK)
        indexes->count++;
    else
        free(named->path);
    return status;
}

size_t indexes_count(const struct indexes *indexes)
{
    return indexes->count;
}

const char *indexes_name(const struct indexes *indexes, size_t number)
{
    return indexes->list[number].name;
}

void indexes_reopen(struct indexes *indexes)
{
    pthread_mutex_lock(&indexes->lock);
    for (size_t i = 0; i < indexes->count; i++) {
        struct named *named = &indexes->list[i];
        twin_error error = { 0 };
        retire_file(indexes, named);
        if (!named->file && open_file(named, &error) != TWIN_OK)
            indexes->log(error.message);
    }
    pthread_mutex_unlock(&indexes->lock);
}

void indexes_rest(struct indexes *indexes)
{
    int64_t now = now_ms();
    pthread_mutex_lock(&indexes->lock);
    for (size_t i = 0; i < indexes->count; i++) {
        struct named *named = &indexes->list[i];
        if (!named->writer || named->is_writing || now - named->written < REST_MS)
            continue;
        twin_index_close(named->writer);
        named->writer = NULL;
    }
    pthread_mutex_unlock(&indexes->lock);
}
