/* fuzz_lists.c — any bytes as the small files that options and standard input take: a key, stop words, a list of ids.
 * Each word is in the file and ends where a line does; ids that are printed are read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/escape.h"
#include "support/keys.h"
#include "support/word_list.h"

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* Words lie in the bytes that were read, one behind the other, without line ends. */
static void check_words(const struct word_list *list)
{
    const char *last = list->file;
    for (size_t i = 0; i < list->count; i++) {
        twin_text word = list->words[i];
        demand(word.length > 0 && word.bytes >= last && !memchr(word.bytes, '\n', word.length));
        last = word.bytes + word.length;
    }
}

/* What escape_tsv() writes, unescape_tsv() restores. */
static void check_escapes(const char *bytes, size_t length)
{
    char *printed = NULL;
    size_t printed_length = 0;
    FILE *out = open_memstream(&printed, &printed_length);
    demand(out);
    escape_tsv(out, bytes, length);
    demand(fclose(out) == 0);
    demand(!memchr(printed, '\n', printed_length) && !memchr(printed, '\t', printed_length));
    demand(unescape_tsv(printed, printed_length) == length && (length == 0 || memcmp(printed, bytes, length) == 0));
    free(printed);
}

static void read_all(const char *path, size_t size)
{
    struct word_list words = { 0 };
    uint64_t key[2];
    if (read_key(key, path))
        demand(size == 16 || size == 32 || size == 33);
    if (word_list_read(&words, path)) {
        demand(words.count > 0);
        check_words(&words);
    }
    word_list_clear(&words);
    if (word_list_read_lines(&words, path))
        check_words(&words);
    word_list_clear(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static FILE *nowhere;
    if (!nowhere) /* a bad file is an error message, of which there would be millions */
        nowhere = fopen("/dev/null", "w");
    demand(nowhere);
    stderr = nowhere; /* a variable in glibc; the fuzzer has kept the other one */
    char path[32];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    demand(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    read_all(path, size);
    check_escapes((const char *)bytes, size);
    close(fd);
    return 0;
}
