/* trec.c — a TREC spam corpus played in order. */
#include "trec.h"

#include "support/messages.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the index */

void trec_clear(struct trec_index *index)
{
    for (size_t i = 0; i < index->count; i++)
        free(index->lines[i].path);
    free(index->lines);
    *index = (struct trec_index){ 0 };
}

static bool read_judgement(struct trec_line *out, const char *word)
{
    out->is_spam = strcasecmp(word, "spam") == 0;
    out->known = out->is_spam || strcasecmp(word, "ham") == 0;
    bool first_upper = isupper((unsigned char)word[0]), all_upper = first_upper && isupper((unsigned char)word[1]);
    out->judged = !all_upper;
    out->learnt = out->known && (all_upper || !first_upper);
    return out->known || strcasecmp(word, "unknown") == 0;
}

/* The path in the folder of the index; the caller frees it. */
static char *join_path(const char *index, const char *path)
{
    const char *slash = strrchr(index, '/');
    size_t folder = path[0] == '/' || !slash ? 0 : (size_t)(slash - index) + 1, length = strlen(path);
    char *out = malloc(folder + length + 1);
    if (out) {
        memcpy(out, index, folder);
        memcpy(out + folder, path, length + 1);
    }
    return out;
}

static bool add_line(struct trec_index *out, const char *index, char *text, size_t number)
{
    char *rest = NULL, *word = strtok_r(text, " \t\r\n", &rest), *path = strtok_r(NULL, " \t\r\n", &rest);
    struct trec_line line = { 0 };
    if (!word)
        return true;
    if (!path || !read_judgement(&line, word)) {
        fail("%s:%zu: expected \"spam PATH\" or \"ham PATH\"", index, number);
        return false;
    }
    if (out->count == out->capacity) {
        size_t wanted = out->capacity ? 2 * out->capacity : 1024;
        struct trec_line *grown = realloc(out->lines, wanted * sizeof *grown);
        if (grown) {
            out->lines = grown;
            out->capacity = wanted;
        }
    }
    line.path = out->count < out->capacity ? join_path(index, path) : NULL;
    if (line.path)
        out->lines[out->count++] = line;
    else
        fail_status(index, TWIN_ENOMEM, NULL);
    return line.path != NULL;
}

bool trec_read(struct trec_index *out, const char *path, size_t most)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0, number = 0;
    bool good = true;
    if (!file) {
        fail("%s could not be opened: %s", path, strerror(errno));
        return false;
    }
    while (good && out->count < most && getline(&text, &room, file) >= 0)
        good = add_line(out, path, text, ++number);
    if (good && ferror(file)) {
        fail("%s could not be read: %s", path, strerror(errno));
        good = false;
    }
    free(text);
    fclose(file);
    return good;
}

/* ---- the play */

struct play {
    struct trec_outcome *out;
    twin_mail *mail;
    const struct trec_options *options;
    twin_message_reader *reader;
    twin_buffer raw;
    uint64_t random, offered; /* messages that could have been learnt */
};

void trec_outcome_clear(struct trec_outcome *outcome)
{
    free(outcome->judgements);
    *outcome = (struct trec_outcome){ 0 };
}

static bool read_file(twin_buffer *out, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t got = file ? 1 : 0;
    out->length = 0;
    while (got > 0 && twin_buffer_reserve(out, 65536) == TWIN_OK) {
        got = fread(out->bytes + out->length, 1, 65536, file);
        out->length += got;
    }
    bool good = file && got == 0 && !ferror(file);
    if (file)
        fclose(file);
    return good;
}

/* NULL: it could not be read, which has been reported. */
static const twin_message *read_message(struct play *play, const char *path)
{
    const twin_message *message = NULL;
    if (!read_file(&play->raw, path)) {
        warn("%s could not be read; the message is skipped", path);
        play->out->skipped++;
        return NULL;
    }
    twin_text raw = { play->raw.bytes, play->raw.length };
    return twin_message_read(&message, play->reader, raw) == TWIN_OK ? message : NULL;
}

static bool judge(struct play *play, const struct trec_line *line, const twin_message *message)
{
    twin_mail_verdict verdict;
    twin_error error = { 0 };
    twin_mail_check_options options = { .method = play->options->method, .trusted = play->options->trusted };
    if (twin_mail_check(&verdict, play->mail, message, options, &error) != TWIN_OK) {
        fail("%s", error.message);
        return false;
    }
    bool spam = verdict.label && strcmp(verdict.label, TWIN_MAIL_SPAM) == 0;
    if (play->options->results)
        fprintf(play->options->results, "file=%s judge=%s class=%s score=%.9g user= genre= runid=none\n", line->path,
                !line->known    ? "unknown"
                : line->is_spam ? "spam"
                                : "ham",
                spam ? "spam" : "ham", verdict.log_odds);
    if (!line->known)
        return true;
    play->out->judgements[play->out->count++] = (twin_mail_judgement){ verdict.log_odds, line->is_spam, spam };
    if (!verdict.label)
        *(line->is_spam ? &play->out->unsure_spam : &play->out->unsure_good) += 1;
    return true;
}

/* A number in [0, 1). */
static double draw(struct play *play)
{
    play->random += 0x9E3779B97F4A7C15u;
    return (double)(twin_hash_mix(play->random) >> 11) * 0x1p-53;
}

static bool learn(struct play *play, const struct trec_line *line, const twin_message *message)
{
    const struct trec_options *options = play->options;
    uint64_t every = options->teach_every ? options->teach_every : 1;
    if (play->offered++ % every)
        return true;
    bool spam = line->is_spam != (options->noise > 0 && draw(play) < options->noise);
    twin_error error = { 0 };
    twin_status status = twin_mail_learn(NULL, play->mail, message, spam ? TWIN_MAIL_SPAM : TWIN_MAIL_GOOD,
                                         (int64_t)play->offered, &error);
    play->out->learnt++;
    if (status == TWIN_OK && play->out->learnt % 1000 == 0)
        status = twin_mail_commit(play->mail, &error);
    if (status != TWIN_OK)
        fail("%s", error.message);
    return status == TWIN_OK;
}

static bool play_line(struct play *play, const struct trec_index *index, size_t i)
{
    const struct trec_line *line = &index->lines[i];
    uint64_t delay = play->options->delay;
    const twin_message *message = read_message(play, line->path);
    if (message && line->judged && !judge(play, line, message))
        return false;
    if (message && line->learnt && !delay)
        return learn(play, line, message);
    if (!delay || i < delay || !index->lines[i - delay].learnt)
        return true;
    message = read_message(play, index->lines[i - delay].path);
    return !message || learn(play, &index->lines[i - delay], message);
}

bool trec_play(struct trec_outcome *out, twin_mail *mail, const struct trec_index *index,
               const struct trec_options *options)
{
    struct play play = { .out = out, .mail = mail, .options = options, .random = options->seed };
    *out = (struct trec_outcome){ .judgements = calloc(index->count + 1, sizeof *out->judgements) };
    bool good = out->judgements && twin_message_reader_create(&play.reader, (twin_message_options){ 0 }) == TWIN_OK;
    if (!good)
        fail("the corpus cannot be played: %s", twin_error_last(out->judgements ? TWIN_EUNSUPPORTED : TWIN_ENOMEM));
    for (size_t i = 0; i < index->count && good; i++)
        good = play_line(&play, index, i);
    twin_message_reader_free(play.reader);
    twin_buffer_clear(&play.raw);
    return good;
}
