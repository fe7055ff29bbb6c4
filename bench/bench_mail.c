/* bench_mail.c — messages per second of CPU time, on one thread, that the content evidence alone judges and learns:
 * from a message that has been read to features, score and weights.
 *
 *     build/release/bench_mail [INDEX]
 *
 * Without an index, that of trec07p in $TWINSIFT_DATA; without either it prints that it is skipped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/twinsift.h>

#include "cpu_seconds.h"
#include "mail/content.h"

enum { MESSAGES = 10000, LEAST = 15000 };

static void check(twin_status status)
{
    if (status == TWIN_OK)
        return;
    fprintf(stderr, "bench_mail: %s\n", twin_error_last(status));
    exit(2);
}

static bool read_file(twin_buffer *out, const char *path)
{
    FILE *file = fopen(path, "rb");
    out->length = 0;
    if (!file)
        return false;
    size_t got;
    do {
        check(twin_buffer_reserve(out, 65536));
        got = fread(out->bytes + out->length, 1, 65536, file);
        out->length += got;
    } while (got > 0);
    fclose(file);
    return true;
}

struct bench {
    twin_message_reader *reader;
    twin__feature_maker *maker;
    struct twin__content content;
    double seconds;
    double sum; /* of scores, so that they are used */
    size_t count;
};

static void take(struct bench *bench, twin_text raw, bool spam)
{
    const twin_message *message;
    struct twin__features features, opening;
    check(twin_message_read(&message, bench->reader, raw));
    double start = cpu_seconds();
    check(twin__features_make(&features, &opening, bench->maker, message));
    struct twin__content_score score = twin__content_score(&bench->content, &features);
    bench->sum += score.both;
    check(twin__content_learn(&bench->content, bench->count, &features, score, spam, 1));
    bench->content.margin.taught[spam]++;
    bench->seconds += cpu_seconds() - start;
    bench->count++;
}

int main(int argc, char **argv)
{
    char index[4096] = "", path[8192], label[16], name[1024];
    const char *data = getenv("TWINSIFT_DATA");
    if (argc > 1)
        snprintf(index, sizeof index, "%s", argv[1]);
    else if (data)
        snprintf(index, sizeof index, "%s/trec07p-25k/full/index", data);
    FILE *file = fopen(index, "r");
    if (!file) {
        puts("skipped: trec07p is not there");
        return 0;
    }
    const uint64_t key[2] = { 1, 2 };
    struct bench bench = { 0 };
    twin_buffer raw = { 0 };
    check(twin_message_reader_create(&bench.reader, (twin_message_options){ 0 }));
    check(twin__feature_maker_create(&bench.maker, key));
    check(twin__content_init(&bench.content));
    char *slash = strrchr(index, '/');
    int folder = slash ? (int)(slash - index) + 1 : 0;
    while (bench.count < MESSAGES && fscanf(file, "%15s %1023s", label, name) == 2) {
        snprintf(path, sizeof path, "%.*s%s", folder, index, name);
        if (read_file(&raw, path))
            take(&bench, (twin_text){ raw.bytes, raw.length }, label[0] == 's' || label[0] == 'S');
    }
    fclose(file);
    double rate = (double)bench.count / bench.seconds;
    printf("%zu messages judged and learnt by their content: %.0f messages/s; bound %d: %s\n", bench.count, rate,
           LEAST, rate >= LEAST ? "reached" : "MISSED");
    twin__content_clear(&bench.content);
    twin__feature_maker_free(bench.maker);
    twin_message_reader_free(bench.reader);
    twin_buffer_clear(&raw);
    return 0;
}
