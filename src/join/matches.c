/* matches.c — lists of matches: sorted, in memory or as runs on disk, and the best of each document.
 *
 * When a list of matches is full it is sorted and written to a temporary file, as one more run. A cursor merges the
 * runs and what is still in memory: a reader per run has a buffer of its next matches, and a heap of readers gives
 * the one whose match comes first. A pair that is in several runs is returned once. A failure to write is kept until
 * the end, so that a list can be added to without a check after each match. */
#include "join/matches.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/stages.h"
#include "join/join_private.h"

/* ---- lists ---- */

twin_status twin__matches_add(twin_matches *matches, twin_match match)
{
    if (matches->runs && matches->count >= matches->runs->most)
        twin__match_runs_write(matches);
    if (!TWIN__ARRAY_GROW(&matches->items, &matches->capacity, matches->count, 1))
        return TWIN_ENOMEM;
    matches->items[matches->count++] = match;
    return TWIN_OK;
}

bool twin__matches_move(twin_matches *out, twin_matches *from)
{
    if (out->runs && out->count && out->count + from->count > out->runs->most)
        twin__match_runs_write(out);
    if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, from->count))
        return false;
    if (from->count)
        memcpy(out->items + out->count, from->items, from->count * sizeof *out->items);
    out->count += from->count;
    from->count = 0;
    return true;
}

static int by_documents(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static void sort_run(twin_match *items, size_t count)
{
    size_t in_order = 1;
    while (in_order < count && by_documents(&items[in_order - 1], &items[in_order]) <= 0)
        in_order++;
    if (in_order < count)
        qsort(items, count, sizeof *items, by_documents);
}

/* Sorts by a alone, keeping the order otherwise; starts[a] becomes where the next document's matches begin. */
static twin_status distribute(twin_match *out, size_t *starts, const twin_matches *matches, size_t documents)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < matches->count && status == TWIN_OK; i++) {
        starts[matches->items[i].a + 1]++;
        status = twin__poll_at(i);
    }
    for (size_t a = 1; a <= documents; a++)
        starts[a] += starts[a - 1];
    for (size_t i = 0; i < matches->count && status == TWIN_OK; i++) {
        out[starts[matches->items[i].a]++] = matches->items[i];
        status = twin__poll_at(i);
    }
    return status;
}

/* Many matches are distributed to their first documents: those of one are then few, or in order already. */
static bool sort_many(twin_matches *matches, size_t documents)
{
    twin_match *sorted = malloc((matches->count + 1) * sizeof *sorted);
    size_t *starts = calloc(documents + 1, sizeof *starts);
    bool good = sorted && starts;
    twin_status status = good ? distribute(sorted, starts, matches, documents) : TWIN_OK;
    if (good && status == TWIN_OK) {
        twin_match *before = matches->items;
        matches->items = sorted;
        matches->capacity = matches->count + 1;
        sorted = before;
    }
    for (size_t a = 0, begin = 0; a < documents && good && status == TWIN_OK; begin = starts[a++]) {
        sort_run(matches->items + begin, starts[a] - begin);
        status = twin__poll();
    }
    free(sorted);
    free(starts);
    return good;
}

void twin__matches_sort(twin_matches *matches)
{
    enum { FEW = 8 }; /* documents for one match */
    size_t documents = 0;
    for (size_t i = 0; i < matches->count; i++)
        documents = matches->items[i].a >= documents ? (size_t)matches->items[i].a + 1 : documents;
    if (matches->count <= documents / FEW || !sort_many(matches, documents))
        sort_run(matches->items, matches->count);
}

/* ---- runs ---- */

twin_status twin__match_runs_create(twin_matches *matches, size_t most, const char *folder)
{
    struct twin__match_runs *runs = calloc(1, sizeof *runs);
    if (!runs)
        return TWIN_ENOMEM;
    *runs = (struct twin__match_runs){ .most = most > 0 ? most : 1,
                                       .folder = strdup(folder ? folder : "/tmp"),
                                       .fd = -1 };
    matches->runs = runs;
    return runs->folder ? TWIN_OK : TWIN_ENOMEM;
}

static void free_runs(struct twin__match_runs *runs)
{
    if (!runs)
        return;
    if (runs->fd >= 0)
        close(runs->fd);
    free(runs->folder);
    free(runs->starts);
    free(runs);
}

void twin__matches_clear(twin_matches *matches)
{
    if (!matches)
        return;
    free(matches->items);
    free_runs(matches->runs);
    *matches = (twin_matches){ 0 };
}

/* ---- writing ---- */

static twin_status write_matches(struct twin__match_runs *runs, const twin_matches *matches)
{
    if (!*runs->folder)
        return twin__fail(&runs->failure, TWIN_ELIMIT, "more than %zu similar pairs", runs->most);
    if (runs->fd < 0)
        runs->fd = twin__temporary_file(runs->folder);
    if (runs->fd < 0)
        return twin__fail(&runs->failure, TWIN_EIO, "no file can be made in the temporary folder %s: %m",
                          runs->folder);
    if (!TWIN__ARRAY_GROW(&runs->starts, &runs->capacity, runs->count, 2))
        return twin__fail_memory(&runs->failure);
    if (runs->count == 0)
        runs->starts[0] = 0;
    uint64_t start = runs->starts[runs->count];
    if (!twin__write_at(runs->fd, matches->items, matches->count * sizeof *matches->items,
                        start * sizeof *matches->items))
        return twin__fail(&runs->failure, TWIN_EIO, "pairs cannot be kept in the temporary folder %s: %m",
                          runs->folder);
    runs->starts[++runs->count] = start + matches->count;
    return TWIN_OK;
}

void twin__match_runs_write(twin_matches *matches)
{
    struct twin__match_runs *runs = matches->runs;
    if (runs->failure.status == TWIN_OK) {
        twin__matches_sort(matches);
        (void)write_matches(runs, matches);
    }
    matches->count = 0;
}

twin_status twin__match_runs_failure(twin_error *error, const struct twin__match_runs *runs)
{
    if (!runs || runs->failure.status == TWIN_OK)
        return TWIN_OK;
    return twin__fail(error, runs->failure.status, "%s", runs->failure.message);
}

/* ---- reading ---- */

enum { BUFFERED = 1024 }; /* matches */

/* What is next of a run. */
struct twin__run_reader {
    uint64_t next, end;   /* in the file, of what is not in the buffer */
    const twin_match *at; /* the next match */
    size_t left;          /* matches from `at` on */
    twin_match *buffer;   /* NULL: the matches in memory */
};

static bool before(const struct twin__run_reader *x, const struct twin__run_reader *y)
{
    return x->at->a != y->at->a ? x->at->a < y->at->a : x->at->b < y->at->b;
}

static void sift_down(struct twin__run_reader *readers, size_t count, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && before(&readers[child + 1], &readers[child]))
            child++;
        if (!before(&readers[child], &readers[i]))
            return;
        struct twin__run_reader reader = readers[i];
        readers[i] = readers[child];
        readers[child] = reader;
    }
}

/* Reads on when the buffer is empty; with nothing left, the run has ended. */
static twin_status fill(struct twin__run_reader *reader, const struct twin__match_runs *runs)
{
    if (reader->left > 0 || reader->next == reader->end)
        return TWIN_OK;
    size_t count = reader->end - reader->next < BUFFERED ? (size_t)(reader->end - reader->next) : BUFFERED;
    ssize_t bytes = (ssize_t)(count * sizeof *reader->buffer);
    errno = EIO; /* if there are fewer, which nobody but the system can have taken */
    if (twin__read_at(runs->fd, reader->buffer, (size_t)bytes, reader->next * sizeof *reader->buffer) != bytes)
        return twin__fail(NULL, TWIN_EIO, "pairs kept in the temporary folder %s cannot be read: %m", runs->folder);
    reader->at = reader->buffer;
    reader->left = count;
    reader->next += count;
    return TWIN_OK;
}

static twin_status add_reader(struct twin__match_cursor *cursor, struct twin__run_reader reader)
{
    twin_status status = TWIN_OK;
    if (!reader.at) {
        reader.buffer = malloc(BUFFERED * sizeof *reader.buffer);
        status = reader.buffer ? fill(&reader, cursor->matches->runs) : TWIN_ENOMEM;
    }
    if (reader.left > 0)
        cursor->readers[cursor->count++] = reader;
    else
        free(reader.buffer);
    return status;
}

twin_status twin__match_cursor_init(struct twin__match_cursor *out, const twin_matches *matches)
{
    const struct twin__match_runs *runs = matches->runs;
    size_t count = runs ? runs->count : 0;
    *out = (struct twin__match_cursor){ .matches = matches, .readers = malloc((count + 1) * sizeof *out->readers) };
    if (!out->readers)
        return TWIN_ENOMEM;
    twin_status status = TWIN_OK;
    if (matches->items && matches->count)
        status = add_reader(out, (struct twin__run_reader){ .at = matches->items, .left = matches->count });
    for (size_t i = 0; i < count && status == TWIN_OK; i++)
        status = add_reader(out, (struct twin__run_reader){ .next = runs->starts[i], .end = runs->starts[i + 1] });
    for (size_t i = out->count; i-- > 0 && status == TWIN_OK;)
        sift_down(out->readers, out->count, i);
    return status;
}

void twin__match_cursor_clear(struct twin__match_cursor *cursor)
{
    for (size_t i = 0; i < cursor->count; i++)
        free(cursor->readers[i].buffer);
    free(cursor->readers);
    *cursor = (struct twin__match_cursor){ 0 };
}

static twin_status pass(struct twin__match_cursor *cursor)
{
    struct twin__run_reader *first = &cursor->readers[0];
    first->at++;
    first->left--;
    twin_status status = fill(first, cursor->matches->runs);
    if (status == TWIN_OK && first->left == 0) {
        free(first->buffer);
        *first = cursor->readers[--cursor->count];
    }
    if (status == TWIN_OK)
        sift_down(cursor->readers, cursor->count, 0);
    return status;
}

twin_status twin__match_cursor_next(twin_match *out, bool *found, struct twin__match_cursor *cursor)
{
    *found = cursor->count > 0;
    if (!*found)
        return TWIN_OK;
    *out = *cursor->readers[0].at;
    twin_status status;
    do
        status = pass(cursor);
    while (status == TWIN_OK && cursor->count > 0 && cursor->readers[0].at->a == out->a &&
           cursor->readers[0].at->b == out->b);
    return status;
}

twin_status twin__matches_count_sorted(uint64_t *out, const twin_matches *matches)
{
    struct twin__match_cursor cursor;
    twin_status status = twin__match_cursor_init(&cursor, matches);
    *out = 0;
    for (bool found = true; status == TWIN_OK && found; *out += found) {
        twin_match match;
        status = twin__match_cursor_next(&match, &found, &cursor);
    }
    twin__match_cursor_clear(&cursor);
    return status;
}

twin_status twin__matches_visit_sorted(twin_matches *matches, twin_match_visit *visit, void *context)
{
    struct twin__match_cursor cursor = { 0 };
    twin__matches_sort(matches);
    twin_status status = twin__match_runs_failure(NULL, matches->runs);
    if (status == TWIN_OK)
        status = twin__match_cursor_init(&cursor, matches);
    for (bool found = true; status == TWIN_OK && found;) {
        twin_match match;
        status = twin__match_cursor_next(&match, &found, &cursor);
        if (status == TWIN_OK && found && !visit(context, match))
            status = TWIN_ESTOPPED;
    }
    twin__match_cursor_clear(&cursor);
    return status;
}

/* ---- the best of each document ---- */

/* A match as one of its documents sees it. */
struct ranked {
    uint32_t document, other;
    double similarity;
    size_t match;
};

static int by_document_best(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->document != y->document)
        return x->document < y->document ? -1 : 1;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

/* Marks the matches that are among the `top` best of either of their documents. */
static void mark_top(bool *keep, struct ranked *ranked, const twin_matches *matches, size_t top)
{
    for (size_t i = 0; i < matches->count; i++) {
        twin_match match = matches->items[i];
        ranked[2 * i] = (struct ranked){ match.a, match.b, match.similarity, i };
        ranked[2 * i + 1] = (struct ranked){ match.b, match.a, match.similarity, i };
    }
    qsort(ranked, 2 * matches->count, sizeof *ranked, by_document_best);
    for (size_t i = 0, rank = 0; i < 2 * matches->count; i++) {
        rank = i > 0 && ranked[i].document == ranked[i - 1].document ? rank + 1 : 0;
        keep[ranked[i].match] |= rank < top;
    }
}

twin_status twin__matches_keep_top(twin_matches *matches, size_t top)
{
    if (matches->count == 0)
        return TWIN_OK;
    size_t kept = 0;
    struct ranked *ranked = malloc(2 * matches->count * sizeof *ranked);
    bool *keep = calloc(matches->count, sizeof *keep);
    twin_status status = ranked && keep ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK) {
        mark_top(keep, ranked, matches, top);
        for (size_t i = 0; i < matches->count; i++)
            if (keep[i])
                matches->items[kept++] = matches->items[i];
        matches->count = kept;
    }
    free(ranked);
    free(keep);
    return status;
}

/* ---- components ---- */

twin_status twin__components_add(twin_matches *out, uint32_t *components, twin_match match)
{
    if (twin__union_root(components, match.a) == twin__union_root(components, match.b))
        return TWIN_OK;
    twin__union_join(components, match.a, match.b);
    return twin__matches_add(out, match);
}
