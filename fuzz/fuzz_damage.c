/* fuzz_damage.c — a small real index with some bytes changed: opened, checked and queried, it gives the right answer
 * or is refused. (Several changes together may make another index that is whole; then it must only be readable.)
 *
 * The input is a list of changes, four bytes each: three that choose a place in the file, one that is XORed into it.
 * The file is made once, so the same input always gives the same damage. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <twinsift/index.h>
#include <unistd.h>

enum { DOCUMENTS = 24, TEXT_BYTES = 256 };

static char folder[] = "/tmp/fuzz_damage.XXXXXX", path[64], lock_path[80];
static char texts[DOCUMENTS][TEXT_BYTES], ids[DOCUMENTS][8];
static unsigned char *original, *damaged;
static size_t size, right_count;

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void clean_up(void)
{
    unlink(path);
    unlink(lock_path);
    rmdir(folder);
}

/* Each document is like the one before it. */
static void fill(twin_index *index)
{
    twin_index_document documents[DOCUMENTS];
    for (size_t i = 0; i < DOCUMENTS; i++) {
        size_t length = 0;
        snprintf(ids[i], sizeof ids[i], "%zu", i);
        for (size_t word = i % 2; word < 20; word++)
            length += (size_t)snprintf(texts[i] + length, TEXT_BYTES - length, "w%zu ", 100 * (i / 2) + word);
        documents[i] = (twin_index_document){ .id = { ids[i], strlen(ids[i]) }, .text = { texts[i], length } };
    }
    require(twin_index_add(NULL, index, documents, DOCUMENTS, (twin_index_add_options){ 0 }, NULL) == TWIN_OK);
    require(twin_index_remove(NULL, NULL, index, &documents[5].id, 1, NULL) == TWIN_OK);
}

/* The number of answers to all texts; with `check`, after a check, whatever it says. */
static twin_status query_all(size_t *count, bool check)
{
    twin_index *index;
    twin_index_view *view = NULL;
    twin_index_answer answer = { 0 };
    twin_status status = twin_index_open(&index, path, TWIN_INDEX_READ, NULL);
    if (status == TWIN_OK)
        status = twin_index_view_create(&view, index, NULL);
    if (status == TWIN_OK && check)
        (void)!twin_index_check(view, (twin_progress){ 0 }, NULL);
    *count = 0;
    for (size_t i = 0; i < DOCUMENTS && status == TWIN_OK; i++) {
        status = twin_index_query(&answer, view, (twin_index_query_options){ 0 },
                                  (twin_text){ texts[i], strlen(texts[i]) }, NULL);
        *count += answer.count;
    }
    twin_index_answer_clear(&answer);
    twin_index_view_free(view);
    twin_index_close(index);
    return status;
}

static void write_file(const unsigned char *bytes)
{
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void make_once(void)
{
    struct stat found;
    twin_index *index;
    if (original)
        return;
    require(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/i.twin", folder);
    snprintf(lock_path, sizeof lock_path, "%s-lock", path);
    atexit(clean_up);
    twin_index_options options = { .scheme.shingle = { .kind = TWIN_SHINGLE_WORD, .width = 1 } };
    require(twin_index_create(path, options, false, NULL) == TWIN_OK);
    require(twin_index_open(&index, path, TWIN_INDEX_WRITE, NULL) == TWIN_OK);
    fill(index);
    twin_index_close(index);
    require(query_all(&right_count, true) == TWIN_OK && right_count >= DOCUMENTS);
    require(stat(path, &found) == 0);
    size = (size_t)found.st_size;
    original = malloc(size);
    damaged = malloc(size);
    FILE *file = fopen(path, "rb");
    require(original && damaged && file && fread(original, 1, size, file) == size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    size_t count, changes = length / 4;
    make_once();
    memcpy(damaged, original, size);
    for (; length >= 4; bytes += 4, length -= 4) {
        size_t at = (bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16) % size;
        damaged[at] ^= bytes[3];
    }
    write_file(damaged);
    twin_status status = query_all(&count, true);
    require(status == TWIN_OK || status == TWIN_EFORMAT || status == TWIN_EUNSUPPORTED);
    require(status != TWIN_OK || changes > 1 || count == right_count);
    return 0;
}
