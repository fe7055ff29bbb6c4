/* bench_message.c — messages read per second of CPU time, on one thread, from raw bytes in memory to a twin_message.
 *
 *     build/release/bench_message [FOLDER]
 *
 * Without a folder, the messages of trec07p in $TWINSIFT_DATA, or else the samples. The bound is that of trec07p. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/twinsift.h>

#include "cpu_seconds.h"

#include "input/documents.h"

enum { RUNS = 3, LEAST = 8000 };

struct box {
    twin_text *messages;
    size_t count, capacity, bytes;
};

static void check(twin_status status, const char *words)
{
    if (status == TWIN_OK)
        return;
    fprintf(stderr, "bench_message: %s\n", words && *words ? words : twin_error_last(status));
    exit(2);
}

static bool keep(void *context, const twin_document *document)
{
    struct box *box = context;
    if (box->count == box->capacity) {
        box->capacity = 2 * box->capacity + 1024;
        box->messages = realloc(box->messages, box->capacity * sizeof box->messages[0]);
    }
    twin_buffer copy = { 0 };
    check(box->messages ? TWIN_OK : TWIN_ENOMEM, NULL);
    check(twin_buffer_append(&copy, document->text.bytes, document->text.length), NULL);
    box->messages[box->count++] = (twin_text){ copy.bytes, copy.length };
    box->bytes += document->text.length;
    return true;
}

static bool skip(void *context, const twin_problem *problem)
{
    (void)context;
    (void)problem;
    return true;
}

static void load(struct box *box, const char *folder)
{
    twin_input *input;
    twin_error error = { 0 };
    twin_read_buffers buffers = { 0 };
    check(twin_input_open(&input, &folder, 1, (twin_input_options){ .format = TWIN_INPUT_MAIL }, &error),
          error.message);
    for (size_t i = 0; i < twin_input_chunks(input); i++)
        check(twin__input_read(NULL, input, &buffers, i, (twin_visitor){ keep, skip, box }, &error), error.message);
    twin__read_buffers_clear(&buffers);
    twin_input_free(input);
}

static double read_all(const struct box *box, twin_message_reader *reader)
{
    const twin_message *message;
    double start = cpu_seconds();
    for (size_t i = 0; i < box->count; i++)
        check(twin_message_read(&message, reader, box->messages[i]), NULL);
    return cpu_seconds() - start;
}

int main(int argc, char **argv)
{
    char path[4096] = "samples/mail";
    const char *data = getenv("TWINSIFT_DATA");
    if (argc > 1)
        snprintf(path, sizeof path, "%s", argv[1]);
    else if (data)
        snprintf(path, sizeof path, "%s/trec07p-25k/data", data);
    struct box box = { 0 };
    twin_message_reader *reader;
    check(twin_message_reader_create(&reader, (twin_message_options){ 0 }), NULL);
    load(&box, path);
    double best = read_all(&box, reader);
    for (int i = 1; i < RUNS; i++) {
        double seconds = read_all(&box, reader);
        best = seconds < best ? seconds : best;
    }
    double rate = (double)box.count / best;
    printf("%zu messages of %.1f KB on average: %.0f messages/s, %.0f MB/s; bound %d messages/s: %s\n", box.count,
           (double)box.bytes / 1e3 / (double)box.count, rate, (double)box.bytes / 1e6 / best, LEAST,
           rate >= LEAST ? "reached" : "MISSED");
    for (size_t i = 0; i < box.count; i++)
        free((char *)box.messages[i].bytes);
    free(box.messages);
    twin_message_reader_free(reader);
    return 0;
}
