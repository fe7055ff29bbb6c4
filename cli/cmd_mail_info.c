/* cmd_mail_info.c — twinsift mail info: what a model knows, and how well it did lately. */
#include "commands.h"
#include "mail_model.h"
#include "support/record.h"
#include "support/size.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

struct request {
    struct mail_request mail;
};

static void print_json(const char *path, const twin_mail_info *info)
{
    struct record record = record_begin(stdout, true);
    record_string(&record, "file", path);
    record_count(&record, "messages", info->messages);
    record_count(&record, "learnt", info->learnt);
    record_count(&record, "imported", info->imported);
    record_flag(&record, "keeps_texts", info->keeps_texts);
    record_count(&record, "keep_messages", info->keep_messages);
    record_count(&record, "keep_days", info->keep_days);
    record_list(&record, "labels");
    for (size_t i = 0; i < info->count; i++) {
        const twin_mail_label_info *label = &info->labels[i];
        record_object(&record, NULL);
        record_string(&record, "label", label->name);
        record_count(&record, "messages", label->messages);
        record_count(&record, "oldest", (uint64_t)label->oldest);
        record_count(&record, "newest", (uint64_t)label->newest);
        record_fixed(&record, "threshold", label->threshold, 4); /* null: it has none */
        record_object_end(&record);
    }
    record_list_end(&record);
    record_object(&record, "last");
    record_count(&record, "judged", info->judged);
    record_count(&record, "right", info->right);
    record_count(&record, "wrong", info->wrong);
    record_count(&record, "unsure", info->unsure);
    record_object_end(&record);
    record_object(&record, "bytes");
    record_count(&record, "file", info->bytes);
    record_count(&record, "messages", info->message_bytes);
    record_count(&record, "lookalikes", info->signature_bytes);
    record_count(&record, "texts", info->text_bytes);
    record_count(&record, "learners", info->weight_bytes);
    record_object_end(&record);
    record_end(&record);
}

static void print_text(const char *path, const twin_mail_info *info)
{
    char size[5][SIZE_ROOM], oldest[MAIL_DAY_ROOM], newest[MAIL_DAY_ROOM];
    printf("%s\n", path);
    printf("  messages    %" PRIu64 " remembered, %" PRIu64 " learnt since the model was created\n", info->messages,
           info->learnt);
    if (info->imported)
        printf("  imported    %" PRIu64 " of them\n", info->imported);
    for (size_t i = 0; i < info->count; i++) {
        const twin_mail_label_info *label = &info->labels[i];
        printf("  %-10s  %" PRIu64, label->name, label->messages);
        if (label->messages)
            printf(", learnt %s to %s", mail_day(oldest, label->oldest), mail_day(newest, label->newest));
        if (!isnan(label->threshold))
            printf("; given above a score of %.3f", 1 / (1 + exp(-label->threshold)));
        printf("\n");
    }
    printf("  kept        at most %" PRIu64 " messages", info->keep_messages);
    if (info->keep_days)
        printf(", for %" PRIu64 " days", info->keep_days);
    printf(info->keeps_texts ? ", with the beginnings of their texts\n" : ", without text\n");
    if (info->judged)
        printf("  accuracy    of the last %" PRIu64 " learnt: %" PRIu64 " judged right before, %" PRIu64
               " unsure, %" PRIu64 " wrong\n",
               info->judged, info->right, info->unsure, info->wrong);
    printf("  file        %s: messages %s, learners %s, lookalikes %s, their texts %s\n",
           write_size(size[0], info->bytes), write_size(size[1], info->message_bytes),
           write_size(size[2], info->weight_bytes), write_size(size[3], info->signature_bytes),
           write_size(size[4], info->text_bytes));
}

static int run(void *context)
{
    struct request *request = context;
    twin_mail_info info;
    twin_error error = { 0 };
    twin_mail *mail = mail_open(&request->mail, TWIN_MAIL_READ, NULL);
    if (!mail)
        return EXIT_ERROR;
    const char *path = mail_path(&request->mail);
    twin_status status = twin_mail_describe(&info, mail, &error);
    if (status != TWIN_OK)
        fail_status(path, status, &error);
    else if (request->mail.shared.json)
        print_json(path, &info);
    else
        print_text(path, &info);
    twin_mail_close(mail);
    return status == TWIN_OK ? EXIT_DONE : EXIT_ERROR;
}

static const struct option_row options[] = { MAIL_MODEL_ROW(struct request), { 0 } };
static const struct request defaults = { .mail = MAIL_DEFAULTS };

const struct command command_mail_info = {
    .name = "twinsift mail info",
    .summary = "print the contents of a model and its recent accuracy",
    .usage = "[OPTION]...",
    .shared = "json quiet",
    .options = options,
    .status = "0  done\n2  error",
    .examples = "twinsift mail info\ntwinsift mail info -m team.twin --json",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};
