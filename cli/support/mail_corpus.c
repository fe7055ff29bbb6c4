/* mail_corpus.c — messages with known labels, by an index or in folders.
 *
 * A corpus is a list of paths with their labels; the messages themselves are read when they are tried. Only to sort
 * folders by the time of receipt is each message read before. */
#include "mail_corpus.h"

#include "messages.h"
#include "walk.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

void mail_corpus_clear(struct mail_corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->lines[i].path);
        free(corpus->lines[i].name);
    }
    for (size_t i = 0; i < corpus->label_count; i++)
        free(corpus->labels[i]);
    free(corpus->lines);
    free(corpus->last_part);
    *corpus = (struct mail_corpus){ 0 };
}

/* Takes over path and name, also when it fails. */
static bool append(struct mail_corpus *out, struct mail_line line)
{
    if (out->count == out->capacity) {
        size_t wanted = out->capacity ? 2 * out->capacity : 1024;
        struct mail_line *grown = realloc(out->lines, wanted * sizeof *grown);
        if (grown) {
            out->lines = grown;
            out->capacity = wanted;
        }
    }
    line.counts_as_spam = line.is_spam;
    bool good = line.path && line.name && out->count < out->capacity;
    if (good) {
        out->lines[out->count++] = line;
    } else {
        free(line.path);
        free(line.name);
        fail_status("the corpus", TWIN_ENOMEM, NULL);
    }
    return good;
}

/* ---- an index */

static bool read_judgement(struct mail_line *out, const char *word)
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

static bool add_line(struct mail_corpus *out, const char *index, char *text, size_t number)
{
    char *rest = NULL, *word = strtok_r(text, " \t\r\n", &rest), *path = strtok_r(NULL, " \t\r\n", &rest);
    struct mail_line line = { .date = INT64_MIN };
    if (!word)
        return true;
    if (!path || !read_judgement(&line, word))
        return refuse("%s:%zu: expected \"spam PATH\" or \"ham PATH\"", index, number);
    line.path = join_path(index, path);
    line.name = strdup(path);
    return append(out, line);
}

bool mail_corpus_read_index(struct mail_corpus *out, const char *path, size_t most)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0, number = 0;
    bool good = true;
    if (!file)
        return refuse("%s could not be opened: %s", path, strerror(errno));
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

/* ---- corrected labels */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct mail_line *)a)->name, ((const struct mail_line *)b)->name);
}

bool mail_corpus_correct(struct mail_corpus *corpus, const char *path)
{
    struct mail_corpus labels = { 0 };
    bool good = mail_corpus_read_index(&labels, path, SIZE_MAX);
    size_t used = 0;
    if (good && labels.count)
        qsort(labels.lines, labels.count, sizeof *labels.lines, by_name);
    for (size_t i = 0; good && labels.count && i < corpus->count; i++) {
        const struct mail_line *label =
            bsearch(&corpus->lines[i], labels.lines, labels.count, sizeof *labels.lines, by_name);
        if (!label)
            continue;
        corpus->lines[i].counts_as_spam = label->is_spam;
        used++;
    }
    if (good && used < labels.count)
        warn("%s: %zu of %zu labels name no message of the corpus", path, labels.count - used, labels.count);
    mail_corpus_clear(&labels);
    return good;
}

/* ---- folders */

bool mail_file_read(twin_buffer *out, const char *path)
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

/* Whether a name has a word, between characters that are no letters. */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strcasestr(name, word); at; at = strcasestr(at + 1, word))
        if ((at == name || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[length]))
            return true;
    return false;
}

/* Where the name of a file begins in its path. */
static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Cuts a path down to the folder that a file's label is the name of; those of a Maildir's cur and new are one above. */
static void cut_to_label(char *path)
{
    for (int level = 0; level < 2; level++) {
        const char *name = name_in(path);
        if (level == 1 && strcmp(name, "cur") != 0 && strcmp(name, "new") != 0)
            return;
        if (name > path)
            path[name - path - 1] = '\0';
    }
}

static bool read_label(struct mail_line *out, const char *folder)
{
    const char *name = name_in(folder);
    out->is_spam = has_word(name, "spam") || has_word(name, "junk");
    return out->is_spam != has_word(name, "ham");
}

/* The number of the part that a folder belongs to. Files come folder by folder. False: out of memory. */
static bool find_part(unsigned *out, struct mail_corpus *corpus, const char *folder)
{
    const char *slash = strrchr(folder, '/');
    size_t length = slash ? (size_t)(slash - folder) : 0;
    if (!corpus->last_part || strlen(corpus->last_part) != length ||
        strncmp(corpus->last_part, folder, length) != 0) {
        free(corpus->last_part);
        corpus->last_part = strndup(folder, length);
        corpus->parts++;
    }
    *out = corpus->parts - 1;
    return corpus->last_part != NULL;
}

/* Files that are added, and the label of all of them; NULL: the name of the folder has it. */
struct addition {
    struct mail_corpus *corpus;
    const char *label;
};

static bool add_file(const struct addition *addition, const char *file)
{
    struct mail_corpus *out = addition->corpus;
    const char *label = addition->label;
    struct mail_line line = { .judged = true, .learnt = true, .known = true, .label = label, .date = INT64_MIN };
    if (name_in(file)[0] == '.')
        return true;
    char *folder = strdup(file);
    if (!folder)
        return refuse("out of memory");
    cut_to_label(folder);
    bool good = true;
    line.is_spam = label && strcmp(label, TWIN_MAIL_SPAM) == 0;
    if (label || read_label(&line, folder)) {
        line.path = find_part(&line.part, out, folder) ? strdup(file) : NULL;
        line.name = strdup(file);
        good = append(out, line);
    } else {
        out->unlabelled++;
    }
    free(folder);
    return good;
}

static bool add_entry(void *context, const struct walk_entry *entry)
{
    if (entry->reason)
        return refuse("%s could not be read: %s", entry->path, strerror(entry->reason));
    return !S_ISREG(entry->known->st_mode) || add_file(context, entry->path);
}

bool mail_corpus_add_folder(struct mail_corpus *out, const char *folder)
{
    return mail_corpus_add_labelled(out, folder, NULL);
}

bool mail_corpus_add_labelled(struct mail_corpus *out, const char *folder, const char *label)
{
    struct addition addition = { out, label };
    size_t length = strlen(folder);
    struct stat known;
    if (stat(folder, &known) == 0 && !S_ISDIR(known.st_mode))
        return refuse("%s is a file: give folders, or an index with --trec", folder);
    char *path = strndup(folder, length > 1 && folder[length - 1] == '/' ? length - 1 : length);
    bool good = path && walk(path, add_entry, &addition);
    free(path);
    return good;
}

bool mail_corpus_add_named(struct mail_corpus *out, const char *folder)
{
    size_t length = strlen(folder), begin;
    while (length > 1 && folder[length - 1] == '/')
        length--;
    for (begin = length; begin > 0 && folder[begin - 1] != '/'; begin--)
        ;
    if (out->label_count == TWIN_MAIL_MAX_LABELS)
        return refuse("a model has at most %d labels", TWIN_MAIL_MAX_LABELS);
    char *label = strndup(folder + begin, length - begin);
    if (!label)
        return refuse("out of memory");
    for (size_t i = 0; i < out->label_count; i++)
        if (strcmp(out->labels[i], label) == 0) { /* of two folders of one name */
            free(label);
            return mail_corpus_add_labelled(out, folder, out->labels[i]);
        }
    out->labels[out->label_count++] = label;
    return mail_corpus_add_labelled(out, folder, label);
}

static int by_date(const void *a, const void *b)
{
    const struct mail_line *x = a, *y = b;
    if (x->date != y->date)
        return x->date < y->date ? -1 : 1;
    int names = strcmp(name_in(x->path), name_in(y->path));
    return names ? names : strcmp(x->path, y->path);
}

bool mail_corpus_sort(struct mail_corpus *corpus)
{
    twin_message_reader *reader = NULL;
    twin_buffer raw = { 0 };
    twin_status status = twin_message_reader_create(&reader, (twin_message_options){ 0 });
    for (size_t i = 0; i < corpus->count && status == TWIN_OK; i++) {
        const twin_message *message;
        if (!mail_file_read(&raw, corpus->lines[i].path))
            continue; /* reported when it is to be judged */
        status = twin_message_read(&message, reader, (twin_text){ raw.bytes, raw.length });
        if (status == TWIN_OK)
            corpus->lines[i].date = twin_message_received(message);
    }
    if (status == TWIN_OK)
        qsort(corpus->lines, corpus->count, sizeof *corpus->lines, by_date);
    else
        fail_status("the corpus", status, NULL);
    twin_message_reader_free(reader);
    twin_buffer_clear(&raw);
    return status == TWIN_OK;
}
