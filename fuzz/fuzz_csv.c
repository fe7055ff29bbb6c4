/* fuzz_csv.c — any bytes as a table: chunks of any size give the same documents, each can be fetched again, and a
 * slow parser, which looks at one byte after the other, finds the same texts. The first byte selects the chunk size
 * and whether there is a limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    uint64_t hash, texts, lines;
    const twin_input *input;
    twin_read_buffers fetching;
};

static uint64_t hash_of(uint64_t seed, twin_text text)
{
    return twin_hash_bytes(twin_hash_member(TWIN_HASH_XXH3, seed), text.length ? text.bytes : "", text.length);
}

static bool on_document(void *context, const twin_document *document)
{
    struct sum *sum = context;
    twin_document again;
    twin_position position = document->position;
    position.line += sum->lines;
    uint64_t text = hash_of(1, document->text);
    demand(twin__input_fetch(&again, sum->input, &sum->fetching, position, NULL) == TWIN_OK);
    demand(hash_of(1, again.text) == text && hash_of(2, again.record) == hash_of(2, document->record));
    demand(!document->id.bytes || hash_of(3, again.id) == hash_of(3, document->id));
    sum->hash = twin_hash_mix(sum->hash ^ text ^ hash_of(3, document->id) ^ position.line ^ position.offset << 20);
    sum->texts = twin_hash_mix(sum->texts ^ text);
    return true;
}

static bool on_problem(void *context, const twin_problem *problem)
{
    struct sum *sum = context;
    uint64_t line = problem->position.line + sum->lines;
    sum->hash = twin_hash_mix(sum->hash ^ line ^ problem->position.offset << 20 ^ problem->column << 40);
    return true;
}

static struct sum sum_of(const char *path, size_t chunk_bytes, uint32_t max_bytes, bool *opened)
{
    twin_input *input;
    twin_error error;
    struct sum sum = { 0 };
    twin_read_buffers reading = { 0 };
    twin_input_options options = { .as = TWIN_INPUT_AS_CSV,
                                   .text_field = "a",
                                   .id_field = "b",
                                   .chunk_bytes = chunk_bytes,
                                   .max_bytes = max_bytes };
    *opened = twin_input_open(&input, &path, 1, options, &error) == TWIN_OK;
    demand(*opened || error.message[0]);
    if (!*opened)
        return sum;
    sum.input = input;
    for (size_t i = 0; i < twin_input_chunks(input); i++) {
        uint64_t lines;
        twin_visitor visitor = { on_document, on_problem, &sum };
        demand(twin__input_read(&lines, input, &reading, i, visitor, &error) == TWIN_OK);
        sum.lines += lines;
    }
    twin__read_buffers_clear(&reading);
    twin__read_buffers_clear(&sum.fetching);
    twin_input_free(input);
    return sum;
}

/* ---- the slow parser: tables whose header is "a,b" and a line end ---- */

struct slow {
    enum { START, PLAIN, QUOTED, CLOSED } state;
    size_t columns, bytes; /* of the record */
    bool good;
    char first[3];
    size_t length[2]; /* of the texts of its first columns */
    char *text[2];
    uint64_t texts;
};

static void slow_add(struct slow *slow, char c)
{
    if (slow->columns < 2)
        slow->text[slow->columns][slow->length[slow->columns]++] = c;
}

/* Whether the record is a header: a and b, in any order, perhaps behind a byte order mark. */
static bool slow_is_header(const struct slow *slow)
{
    const char *text = slow->text[0];
    size_t length = slow->length[0];
    if (length > 3 && memcmp(slow->first, "\xEF\xBB\xBF", 3) == 0) {
        bool quoted = length == 6 && text[3] == '"' && text[5] == '"';
        text += quoted ? 4 : 3;
        length -= quoted ? 5 : 3;
    }
    char a = text[0], b = slow->text[1][0];
    return length == 1 && slow->length[1] == 1 && ((a == 'a' && b == 'b') || (a == 'b' && b == 'a'));
}

static void slow_end_record(struct slow *slow)
{
    if (slow->good && slow->columns + 1 == 2 && slow->bytes && !slow_is_header(slow))
        slow->texts = twin_hash_mix(slow->texts ^ hash_of(1, (twin_text){ slow->text[0], slow->length[0] }));
    *slow = (struct slow){ .good = true, .text = { slow->text[0], slow->text[1] }, .texts = slow->texts };
}

static void slow_take(struct slow *slow, char c)
{
    bool quote = c == '"', outside = slow->state != QUOTED;
    if (outside && c == '\n') {
        slow_end_record(slow);
        return;
    }
    if (slow->bytes < sizeof slow->first)
        slow->first[slow->bytes] = c;
    slow->bytes++;
    if (outside && c == ',') {
        slow->columns++;
        slow->state = START;
    } else if (quote && (slow->state == START || slow->state == CLOSED)) {
        if (slow->state == CLOSED)
            slow_add(slow, '"');
        slow->state = QUOTED;
    } else if (quote && slow->state == QUOTED) {
        slow->state = CLOSED;
    } else {
        slow->good = slow->good && slow->state != CLOSED;
        slow->state = outside ? PLAIN : QUOTED;
        slow_add(slow, c);
    }
}

/* Behind the last line with an odd number of quotes in a row. */
static size_t slow_resumed(const uint8_t *bytes, size_t size)
{
    size_t quotes = 0, resumed = size;
    bool odd = false;
    for (size_t i = 0; i < size; i++) {
        odd |= bytes[i] != '"' && quotes % 2;
        quotes = bytes[i] == '"' ? quotes + 1 : 0;
        if (bytes[i] == '\n' && odd)
            resumed = i + 1;
        odd &= bytes[i] != '\n';
    }
    return odd || quotes % 2 ? size : resumed;
}

static void slow_take_all(struct slow *slow, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bool line_end_next = i + 1 == size || bytes[i + 1] == '\n';
        if (bytes[i] != '\r' || !line_end_next || slow->state == QUOTED)
            slow_take(slow, (char)bytes[i]);
    }
}

static uint64_t slow_texts(const uint8_t *bytes, size_t size)
{
    struct slow slow = { .good = true, .text = { calloc(size + 1, 1), calloc(size + 1, 1) } };
    demand(slow.text[0] && slow.text[1]);
    slow_take_all(&slow, bytes, size);
    if (slow.state == QUOTED) {
        size_t resumed = slow_resumed(bytes, size);
        slow.good = false;
        slow_end_record(&slow);
        slow_take_all(&slow, bytes + resumed, size - resumed);
        demand(slow.state != QUOTED);
    }
    if (size)
        slow_take(&slow, '\n');
    free(slow.text[0]);
    free(slow.text[1]);
    return slow.texts;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    demand(fd >= 0 && write(fd, bytes + 1, size - 1) == (ssize_t)(size - 1));
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    bool opened, opened_again;
    uint32_t max_bytes = bytes[0] & 32 ? 10 : 0;
    struct sum whole = sum_of(path, 0, max_bytes, &opened);
    struct sum parts = sum_of(path, 1 + bytes[0] % 32, max_bytes, &opened_again);
    demand(opened == opened_again && whole.hash == parts.hash && whole.lines == parts.lines);
    if (opened && !max_bytes && size > 4 && memcmp(bytes + 1, "a,b\n", 4) == 0)
        demand(whole.texts == slow_texts(bytes + 5, size - 5));
    close(fd);
    return 0;
}
