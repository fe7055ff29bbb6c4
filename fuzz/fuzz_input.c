/* fuzz_input.c — any bytes as a file, plain or compressed, and as texts in memory: chunks of any size give the same
 * documents, and each can be fetched again. The first byte selects the format and the chunk size. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <twinsift/hash.h>
#include <twinsift/input.h>
#include <unistd.h>

#include "input/documents.h"

static void demand(bool truth)
{
    if (!truth)
        abort();
}

struct sum {
    uint64_t hash, lines;
    const twin_input *input; /* to fetch from; NULL: nothing is fetched */
    twin_read_buffers reading;
};

static uint64_t hash_of(uint64_t seed, twin_text text)
{
    return twin_hash_bytes(twin_hash_member(TWIN_HASH_XXH3, seed), text.length ? text.bytes : "", text.length);
}

static twin_position absolute(const struct sum *sum, twin_position position)
{
    position.line += sum->lines;
    return position;
}

static bool on_document(void *context, const twin_document *document)
{
    struct sum *sum = context;
    twin_position position = absolute(sum, document->position);
    uint64_t text = hash_of(position.line, document->text), record = hash_of(position.offset, document->record);
    sum->hash = hash_of(sum->hash ^ text ^ twin_hash_mix(record) ^ document->id_is_number, document->id);
    if (sum->input) {
        twin_document again;
        demand(twin__input_fetch(&again, sum->input, &sum->reading, position, NULL) == TWIN_OK);
        demand(hash_of(position.line, again.text) == text && hash_of(position.offset, again.record) == record);
        demand(again.id.bytes && (!document->id.bytes || hash_of(1, again.id) == hash_of(1, document->id)));
    }
    return true;
}

static bool on_problem(void *context, const twin_problem *problem)
{
    struct sum *sum = context;
    twin_position position = absolute(sum, problem->position);
    sum->hash =
        twin_hash_mix(sum->hash ^ position.line ^ position.offset << 20 ^ problem->column << 40 ^ problem->kind);
    return true;
}

/* Decompressed data may be much larger than the input; more than a megabyte finds nothing new. */
static uint64_t sum_of(const twin_input *input, bool fetch)
{
    twin_error error;
    struct sum sum = { .input = fetch ? input : NULL };
    twin_read_buffers reading = { 0 };
    uint64_t size = 0;
    for (size_t i = 0; i < twin_input_chunks(input); i++)
        size += twin_input_chunk_of(input, i).size;
    for (size_t i = 0; size < 1 << 20 && i < twin_input_chunks(input); i++) {
        uint64_t lines;
        twin_visitor visitor = { on_document, on_problem, &sum };
        demand(twin__input_read(&lines, input, &reading, i, visitor, &error) == TWIN_OK);
        sum.lines += lines;
    }
    twin__read_buffers_clear(&reading);
    twin__read_buffers_clear(&sum.reading);
    return sum.hash ^ twin_hash_mix(sum.lines);
}

static uint64_t sum_of_file(const char *path, twin_input_options options, bool fetch, bool *opened)
{
    twin_input *input;
    twin_error error;
    *opened = twin_input_open(&input, &path, 1, options, &error) == TWIN_OK;
    if (!*opened) {
        demand(error.status != TWIN_OK && error.message[0]);
        return 0;
    }
    uint64_t sum = sum_of(input, fetch);
    twin_input_free(input);
    return sum;
}

/* Texts in memory: each is a length in one byte and then as many bytes, of which the first half is the id; none when
 * the length is even. */
struct texts {
    twin_memory_document list[256];
    size_t count;
};

static twin_status get_text(void *context, uint64_t number, twin_memory_document *out)
{
    const struct texts *texts = context;
    demand(number < texts->count);
    *out = texts->list[number];
    return TWIN_OK;
}

static struct texts texts_of(const uint8_t *bytes, size_t size)
{
    struct texts texts = { .count = 0 };
    while (size && texts.count < 256) {
        size_t length = bytes[0] < size ? bytes[0] : size - 1, half = length % 2 ? length / 2 : 0;
        const char *begin = (const char *)bytes + 1;
        twin_memory_document *text = &texts.list[texts.count++];
        *text = (twin_memory_document){ .text = { begin + half, length - half } };
        if (length % 2)
            text->id = (twin_text){ begin, half };
        bytes += 1 + length;
        size -= 1 + length;
    }
    return texts;
}

static void check_memory(const uint8_t *bytes, size_t size, twin_input_options options)
{
    struct texts texts = texts_of(bytes, size);
    twin_input *array, *calls;
    demand(twin_input_from_texts(&array, texts.list, texts.count, options, NULL) == TWIN_OK);
    options.chunk_bytes = 3 * 4096;
    twin_memory_source source = { texts.count, get_text, &texts };
    demand(twin_input_from_callback(&calls, source, options, NULL) == TWIN_OK);
    demand(sum_of(array, true) == sum_of(calls, false));
    twin_input_free(array);
    twin_input_free(calls);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    twin_input_options options = { .format = bytes[0] & 1 ? TWIN_INPUT_SETS : TWIN_INPUT_DOCUMENTS };
    if (bytes[0] & 2)
        options.max_bytes = 40;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    demand(fd >= 0 && write(fd, bytes + 1, size - 1) == (ssize_t)(size - 1));
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);

    check_memory(bytes + 1, size - 1, options);
    bool opened, opened_again;
    uint64_t whole = sum_of_file(path, options, true, &opened);
    options.chunk_bytes = 1 + (bytes[0] >> 2);
    uint64_t parts = sum_of_file(path, options, false, &opened_again);
    demand(opened == opened_again && whole == parts);

    /* Each line as a document, and each sequence. */
    static const twin_input_as others[] = { TWIN_INPUT_AS_LINES, TWIN_INPUT_AS_FASTA };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        options.as = others[i];
        options.chunk_bytes = 1 + (bytes[0] >> 2);
        uint64_t some = sum_of_file(path, options, true, &opened);
        options.chunk_bytes = 0;
        demand(some == sum_of_file(path, options, false, &opened_again) && opened == opened_again);
    }

    /* The same bytes as one document, which is read as it is, unpacked or converted. */
    options.as = TWIN_INPUT_AS_FILES;
    options.format = TWIN_INPUT_DOCUMENTS;
    demand(sum_of_file(path, options, true, &opened) == sum_of_file(path, options, false, &opened_again));
    demand(opened == opened_again);
    close(fd);
    return 0;
}
