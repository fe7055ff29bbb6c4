/* word_list.h — files of words, one per line. */
#ifndef TWIN_SUPPORT_WORD_LIST_H
#define TWIN_SUPPORT_WORD_LIST_H

#include <twinsift/twinsift.h>

/* The words of a file, blank lines left out. */
struct word_list {
    twin_text *words;
    size_t count;
    char *file; /* holds their bytes */
};

/* Reads a file, or standard input if the name is "-", of any length: a word is a line without its end, LF or CR LF, and
 * blanks are part of it. It may be compressed. A file may be empty. As word_list_read() else. */
bool word_list_read_lines(struct word_list *out, const char *name);

/* Reads a file. On false the error has been reported; clear the list also then. */
bool word_list_read(struct word_list *out, const char *path);
void word_list_clear(struct word_list *list);

#endif
