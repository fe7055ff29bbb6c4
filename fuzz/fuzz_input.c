/* fuzz_input.c — any bytes as a file, plain or packed: pieces of any size give the same documents, and each can
 * be fetched again. The first byte chooses the format and the size of the pieces. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <twinsift/hash.h>
#include <twinsift/input.h>
#include <unistd.h>

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

static twin_position whole_place(const struct sum *sum, twin_position position)
{
    position.line += sum->lines;
    return position;
}

static bool on_document(void *context, const twin_document *document)
{
    struct sum *sum = context;
    twin_position position = whole_place(sum, document->position);
    uint64_t text = hash_of(position.line, document->text), record = hash_of(position.offset, document->record);
    sum->hash = hash_of(sum->hash ^ text ^ twin_hash_mix(record) ^ document->id_is_number, document->id);
    if (sum->input) {
        twin_document again;
        demand(twin_input_fetch(&again, sum->input, &sum->reading, position, NULL) == TWIN_OK);
        demand(hash_of(position.line, again.text) == text && hash_of(position.offset, again.record) == record);
        demand(again.id.bytes && (!document->id.bytes || hash_of(1, again.id) == hash_of(1, document->id)));
    }
    return true;
}

static bool on_problem(void *context, const twin_problem *problem)
{
    struct sum *sum = context;
    twin_position position = whole_place(sum, problem->position);
    sum->hash =
        twin_hash_mix(sum->hash ^ position.line ^ position.offset << 20 ^ problem->column << 40 ^ problem->kind);
    return true;
}

/* Unpacked bytes may be many more than were given: past a megabyte nothing new is learnt. */
static uint64_t sum_of(const char *path, twin_input_options options, bool fetch, bool *opened)
{
    twin_input *input;
    twin_error error;
    struct sum sum = { 0 };
    twin_read_buffers reading = { 0 };
    *opened = twin_input_open(&input, &path, 1, options, &error) == TWIN_OK;
    if (!*opened) {
        demand(error.status != TWIN_OK && error.message[0]);
        return 0;
    }
    uint64_t size = 0;
    for (size_t i = 0; i < twin_input_chunks(input); i++)
        size += twin_input_chunk_size(input, i);
    sum.input = fetch ? input : NULL;
    for (size_t i = 0; size < 1 << 20 && i < twin_input_chunks(input); i++) {
        uint64_t lines;
        twin_visitor visitor = { on_document, on_problem, &sum };
        demand(twin_input_read(&lines, input, &reading, i, visitor, &error) == TWIN_OK);
        sum.lines += lines;
    }
    twin_read_buffers_clear(&reading);
    twin_read_buffers_clear(&sum.reading);
    twin_input_free(input);
    return sum.hash ^ twin_hash_mix(sum.lines);
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

    bool opened, opened_again;
    uint64_t whole = sum_of(path, options, true, &opened);
    options.chunk_bytes = 1 + (bytes[0] >> 2);
    uint64_t parts = sum_of(path, options, false, &opened_again);
    demand(opened == opened_again && whole == parts);
    close(fd);
    return 0;
}
