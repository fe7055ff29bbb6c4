/* mail_bulk.c — messages are gathered, read and judged by several threads, and handed on in their order.
 *
 * One thread reads files into a batch. When it is full the workers take its messages, each with a reader and a handle
 * of the model of its own, and every message has a place for its verdict. So the results are the same for any number
 * of workers. */
#include "mail_model.h"

#include "support/messages.h"

#include <stdlib.h>

/* Of a batch, and how many messages a worker takes at a time. A batch of a megabyte is still in the cache when it is
 * judged; larger ones take more time, for the memory that is touched first. */
enum { MESSAGES = 1024, BYTES = 1 << 20, PIECE = 4 };

struct entry {
    size_t raw, raw_length, path, path_length; /* where they are in the bytes of the batch */
    twin_mail_verdict verdict;
    twin_status status;
};

struct worker {
    twin_message_reader *reader;
    twin_mail *mail;
};

struct bulk {
    twin_mail_check_options options;
    twin_exec exec;
    mail_bulk_visit *visit;
    void *context;
    struct worker *workers;
    twin_buffer bytes;
    struct entry *entries;
    size_t count;
};

static void judge(void *context, size_t begin, size_t end, int number)
{
    struct bulk *bulk = context;
    const struct worker *worker = &bulk->workers[number];
    for (size_t i = begin; i < end; i++) {
        struct entry *entry = &bulk->entries[i];
        const twin_message *message;
        twin_text raw = { bulk->bytes.bytes + entry->raw, entry->raw_length };
        entry->status = twin_message_read(&message, worker->reader, raw);
        if (entry->status == TWIN_OK)
            entry->status = twin_mail_check(&entry->verdict, worker->mail, message, bulk->options, NULL);
    }
}

static bool finish_batch(struct bulk *bulk)
{
    twin_exec_for(bulk->exec, bulk->count, PIECE, judge, bulk);
    bool good = true;
    for (size_t i = 0; i < bulk->count && good; i++) {
        const struct entry *entry = &bulk->entries[i];
        twin_text path = { bulk->bytes.bytes + entry->path, entry->path_length };
        if (entry->status != TWIN_OK)
            good = refuse_status("a message", entry->status, NULL);
        else
            good = bulk->visit(bulk->context, bulk->workers[0].mail, &entry->verdict, path);
    }
    bulk->count = 0;
    bulk->bytes.length = 0;
    return good;
}

static bool gather(void *context, twin_text raw, twin_text path)
{
    struct bulk *bulk = context;
    struct entry *entry = &bulk->entries[bulk->count++];
    entry->raw = bulk->bytes.length;
    entry->raw_length = raw.length;
    entry->path = entry->raw + raw.length;
    entry->path_length = path.length;
    if (twin_buffer_append(&bulk->bytes, raw.bytes, raw.length) != TWIN_OK ||
        twin_buffer_append(&bulk->bytes, path.bytes, path.length) != TWIN_OK)
        return refuse_status("mail", TWIN_ENOMEM, NULL);
    return (bulk->count < MESSAGES && bulk->bytes.length < BYTES) || finish_batch(bulk);
}

static bool hire(struct bulk *bulk, twin_mail *mail, size_t count)
{
    twin_error error = { 0 };
    bulk->entries = malloc(MESSAGES * sizeof *bulk->entries);
    bulk->workers = calloc(count, sizeof *bulk->workers);
    twin_status status = bulk->entries && bulk->workers ? TWIN_OK : TWIN_ENOMEM;
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        status = twin_message_reader_create(&bulk->workers[i].reader, (twin_message_options){ 0 });
        if (status == TWIN_OK)
            status = twin_mail_borrow(&bulk->workers[i].mail, mail, &error);
    }
    return status == TWIN_OK || refuse_status("mail", status, &error);
}

static void dismiss(struct bulk *bulk, size_t count)
{
    for (size_t i = 0; i < count && bulk->workers; i++) {
        twin_message_reader_free(bulk->workers[i].reader);
        twin_mail_close(bulk->workers[i].mail);
    }
    free(bulk->workers);
    free(bulk->entries);
    twin_buffer_clear(&bulk->bytes);
}

bool mail_check_bulk(struct mail_request *request, twin_mail *mail, twin_mail_check_options options, twin_exec exec,
                     mail_bulk_visit *visit, void *context)
{
    struct bulk bulk = { .options = options, .exec = exec, .visit = visit, .context = context };
    size_t workers = exec.workers > 0 ? (size_t)exec.workers : 1;
    bool good = hire(&bulk, mail, workers) && mail_each_raw(request, 0, gather, &bulk) >= 0 && finish_batch(&bulk);
    dismiss(&bulk, workers);
    return good;
}
