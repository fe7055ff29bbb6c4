/* corpus.h — small inputs for tests: files in a temporary folder, and collections read from them. */
#ifndef CORPUS_H
#define CORPUS_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/collection.h>

/* A temporary folder, and room for the path of a file in it. */
struct corpus {
    char folder[32], path[128];
};

static inline void corpus_begin(struct corpus *corpus)
{
    strcpy(corpus->folder, "/tmp/twinsift-test-XXXXXX");
    assert_non_null(mkdtemp(corpus->folder));
}

static inline int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void corpus_end(struct corpus *corpus)
{
    assert_int_equal(nftw(corpus->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* The path of a file in the folder; it lives until the next call. */
static inline const char *corpus_path(struct corpus *corpus, const char *name)
{
    snprintf(corpus->path, sizeof corpus->path, "%s/%s", corpus->folder, name);
    return corpus->path;
}

/* Writes a file, over the one of that name if there is one: the same file for whoever has it open. */
static inline const char *corpus_write(struct corpus *corpus, const char *name, const char *bytes)
{
    FILE *file = fopen(corpus_path(corpus, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, strlen(bytes), file), strlen(bytes));
    assert_int_equal(fclose(file), 0);
    return corpus->path;
}

/* A call that must succeed; its message is printed if it does not. */
static inline void assert_good(twin_status status, const twin_error *error)
{
    if (status != TWIN_OK)
        print_message("%s\n", error->message);
    assert_int_equal(status, TWIN_OK);
}

static inline twin_input *open_input(const char *path, twin_input_options options)
{
    twin_input *input;
    twin_error error;
    assert_good(twin_input_open(&input, &path, 1, options, &error), &error);
    return input;
}

/* Words as shingles, 128 slots, one worker. */
static inline twin_collection_options plain_options(const char *rule)
{
    twin_collection_options options = { .exec = { TWIN_EXEC_SERIAL, 1 } };
    options.scheme.shingle.hash = twin_hash_member(TWIN_HASH_XXH3, 0);
    options.scheme.minhash = (twin_minhash_options){ .sketch = TWIN_SKETCH_FAST, .slots = 128, .seed = 1 };
    assert_int_equal(twin_shingle_parse(&options.scheme.shingle, rule), TWIN_OK);
    return options;
}

static inline twin_collection *read_collection(const twin_input *input, twin_collection_options options)
{
    twin_collection *collection;
    twin_error error;
    assert_good(twin_collection_read(&collection, input, options, &error), &error);
    return collection;
}

/* Every executor of this build, with 1, 2 and 7 workers. */
enum { EXECS = 7 };

static inline bool exec_number(twin_exec *out, int number)
{
    static const int workers[] = { 1, 2, 7 };
    if (number == 0)
        return twin_exec_make(out, TWIN_EXEC_SERIAL, 1) == TWIN_OK;
    return twin_exec_make(out, number < 4 ? TWIN_EXEC_PTHREADS : TWIN_EXEC_OPENMP, workers[(number - 1) % 3]) ==
           TWIN_OK;
}

static inline void assert_text(twin_text text, const char *expected)
{
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.bytes, expected, text.length);
}

#endif
