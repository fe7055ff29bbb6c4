/* index_frame.h — what the tests of the index share: a folder, an index in it, and calls that must succeed or fail. */
#ifndef INDEX_FRAME_H
#define INDEX_FRAME_H

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
// cmocka wants the headers above
#include <cmocka.h>

#include "base/random.h"
#include "index/view.h"
#include "scale.h"
#include "store/map.h"
#include "store_folder.h"

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 }, two_threads = { TWIN_EXEC_PTHREADS, 2 };

static inline void good_at(twin_status status, const twin_error *error, int line)
{
    if (status != TWIN_OK)
        fail_msg("line %d: %s: %s", line, twin_status_text(status), error->message);
}
#define GOOD(call)                                                                                                   \
    do {                                                                                                             \
        twin_error error = { 0 };                                                                                    \
        good_at(call, &error, __LINE__);                                                                             \
    } while (0)

/* A call that must fail with this status and these words. */
static inline void bad_at(twin_status status, twin_status wanted, const twin_error *error, const char *words,
                          int line)
{
    if (status != wanted || !strstr(error->message, words))
        fail_msg("line %d: %d \"%s\", not %d \"%s\"", line, status, error->message, wanted, words);
}
#define BAD(wanted, words, call)                                                                                     \
    do {                                                                                                             \
        twin_error error = { 0 };                                                                                    \
        bad_at(call, wanted, &error, words, __LINE__);                                                               \
    } while (0)

static inline twin_index_options options_for(twin_keep keep)
{
    return (twin_index_options){ .scheme.shingle = { .kind = TWIN_SHINGLE_WORD, .width = 1, .hash = { .seed = 7 } },
                                 .scheme.minhash = { .slots = 128, .seed = 7 },
                                 .scheme.threshold = 0.5,
                                 .keep = keep };
}

static inline twin_index *open_index(twin_index_access access)
{
    twin_index *index;
    GOOD(twin_index_open(&index, path, access, &error));
    return index;
}

static inline void check_index(twin_index *index)
{
    twin_index_view *view;
    GOOD(twin_index_view_create(&view, index, &error));
    GOOD(twin_index_check(view, (twin_progress){ 0 }, &error));
    twin_index_view_free(view);
}

static inline void add_words(twin_index *index, size_t from, size_t count)
{
    char(*ids)[16] = calloc(count, sizeof *ids), (*texts)[4000] = calloc(count, sizeof *texts);
    twin_index_document *documents = calloc(count, sizeof *documents);
    uint64_t state = from;
    assert_true(ids && texts && documents);
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;
        for (int word = 0; word < 150; word++)
            length += (size_t)sprintf(texts[i] + length, "%llx ", (unsigned long long)twin__random_next(&state));
        sprintf(ids[i], "%zu", from + i);
        documents[i] = (twin_index_document){ .id = { ids[i], strlen(ids[i]) }, .text = { texts[i], length } };
    }
    GOOD(twin_index_add(NULL, index, documents, count, (twin_index_add_options){ .exec = serial }, &error));
    free(ids);
    free(texts);
    free(documents);
}

static inline uint64_t documents_in(twin_index *index)
{
    twin_index_view *view;
    GOOD(twin_index_view_create(&view, index, &error));
    uint64_t documents = view->counts.documents;
    twin_index_view_free(view);
    return documents;
}

static inline void shrink_map(twin_index *index)
{
    assert_true(twin__store_set_map(index->store, 1 << 18));
}

static inline char *read_whole(size_t *size, const char *name)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static inline void write_whole(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif
