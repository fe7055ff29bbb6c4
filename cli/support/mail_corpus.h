/* mail_corpus.h — messages with known labels, in order: by the index of a TREC corpus, or in folders.
 *
 * An index has a line per message, "JUDGEMENT PATH", with the path relative to the index. The case of the judgement
 * says what is done: spam and ham are judged and learnt, Spam and Ham only judged, SPAM and HAM only learnt; unknown
 * is judged and its judgement not counted.
 *
 * In folders a message is a file, and the folder it is in has its label in its name: "spam", "easy-ham-1". Folders that
 * are together in one are a part of the corpus. */
#ifndef TWIN_SUPPORT_MAIL_CORPUS_H
#define TWIN_SUPPORT_MAIL_CORPUS_H

#include <twinsift/twinsift.h>

struct mail_line {
    char *path, *name;          /* name: the path as the index has it */
    bool judged, learnt, known; /* known: spam or ham */
    bool is_spam;               /* as it is learnt */
    bool counts_as_spam;        /* as it is judged: the same, unless corrected */
    const char *label;          /* of folders with a label of their own, which the caller owns; NULL: spam or ham */
    unsigned part;              /* of folders: those in one folder are a part */
    int64_t date;               /* of folders in order: seconds since 1970; INT64_MIN: none */
};

/* Begin with {0}. */
struct mail_corpus {
    struct mail_line *lines;
    size_t count, capacity;
    char *labels[TWIN_MAIL_MAX_LABELS]; /* of folders that are named for their label */
    size_t label_count;
    unsigned parts;    /* of folders; 0: an index */
    char *last_part;   /* the folder of the last one */
    size_t unlabelled; /* files in folders without a label */
};
void mail_corpus_clear(struct mail_corpus *corpus);

/* Reads an index, at most `most` lines. On false the error has been reported; clear it also then. */
bool mail_corpus_read_index(struct mail_corpus *out, const char *path, size_t most);

/* Adds the files below a folder, by name. Sorts all messages by the time they were received; those without one come
 * first, and of equal times they are sorted by the name of the file. */
bool mail_corpus_add_folder(struct mail_corpus *out, const char *folder);

/* The same of a folder that is named for the label of all files below it: "work", "family". */
bool mail_corpus_add_named(struct mail_corpus *out, const char *folder);

/* The same with one label for all of them, whatever their folders are called. */
bool mail_corpus_add_labelled(struct mail_corpus *out, const char *folder, const char *label);
bool mail_corpus_sort(struct mail_corpus *corpus);

/* Takes the labels of a file in the form of an index, with names as the corpus has them, for judging; what is learnt
 * stays as it is. */
bool mail_corpus_correct(struct mail_corpus *corpus, const char *path);

/* Replaces `out` by the contents of a file. */
bool mail_file_read(twin_buffer *out, const char *path);

#endif
