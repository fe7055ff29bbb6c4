/* shingle.h — texts become sets of shingles.
 *
 * A shingle (n-gram) is a window of consecutive characters, bytes or words; a text is represented by the hashes of its
 * shingles. A text that has no such window, because it is shorter or has no stop word, is one shingle as a whole, so
 * that it is similar to its copies and to nothing else; only a text without characters or words has none. A shingler is
 * immutable once created, so threads may share it. */
#ifndef TWINSIFT_SHINGLE_H
#define TWINSIFT_SHINGLE_H

#include <twinsift/hash.h>
#include <twinsift/set.h>
#include <twinsift/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_SHINGLE_MAX_WIDTH = 1024, TWIN_SHINGLE_MAX_KMER = 32 };

typedef enum twin_shingle_kind {
    TWIN_SHINGLE_AUTO, /* the default: every window of characters that count for `width`: Han and kana for three,
                          Hangul syllables, Thai, Lao, Khmer and Burmese for one and a half, all others for one. The
                          same as CHAR for text without such characters */
    TWIN_SHINGLE_CHAR, /* every window of `width` Unicode characters */
    TWIN_SHINGLE_BYTE, /* every window of `width` bytes */
    TWIN_SHINGLE_WORD, /* every window of `width` words; words are separated by white space */
    TWIN_SHINGLE_STOP, /* each stop word with the width-1 words that follow it */
    TWIN_SHINGLE_KMER, /* of DNA, every window of `width` letters A, C, G and T, up to TWIN_SHINGLE_MAX_KMER, or its reverse
                          complement, which is the same shingle. Other letters, such as N, are in none */
} twin_shingle_kind;

typedef struct twin_shingle_options {
    twin_shingle_kind kind;
    size_t
        width; /* 1 .. TWIN_SHINGLE_MAX_WIDTH; 0: 9 for CHAR and AUTO, 4 for BYTE, 3 for WORD and STOP, 21 for KMER */
    twin_hash hash;
    const twin_text *stop_words; /* NULL: the hundred commonest English words; only for kind STOP. None is empty */
    size_t stop_word_count;
    uint64_t reserved[TWIN_RESERVED];
} twin_shingle_options;

typedef struct twin_shingler twin_shingler;

/* "auto", "char", "byte", "word", "stop", "kmer"; and the width that 0 stands for. */
TWIN_API const char *twin_shingle_kind_name(twin_shingle_kind kind);
TWIN_API size_t twin_shingle_default_width(twin_shingle_kind kind);

/* Reads "auto", "auto:9", "char:9", "byte:4", "word:3" or "stop:3" into kind and width, and leaves the rest of `out`
 * alone. */
TWIN_API twin_status twin_shingle_parse(twin_shingle_options *out, const char *rule);

/* Creates a shingler, which copies its stop words; release it with twin_shingler_free(). */
TWIN_API twin_status twin_shingler_create(twin_shingler **out, twin_shingle_options options);
TWIN_API void twin_shingler_free(twin_shingler *shingler);

/* Replaces `out` by the hashes of the text's shingles, in the order of the text, including repeats. The text must
 * be well-formed UTF-8 unless the kind is BYTE; words are separated by ASCII white space. */
TWIN_API twin_status twin_shingle(twin_items *out, const twin_shingler *shingler, twin_text text);

/* The same, but a text without a window has no shingles at all. */
TWIN_API twin_status twin_shingle_windows(twin_items *out, const twin_shingler *shingler, twin_text text);

/* Whether most characters of a text are of scripts that do not separate words by blanks, such as Han, kana and Thai:
 * then shingles of words are long passages, and shingles of characters should be used. */
TWIN_API bool twin_shingle_is_unspaced(twin_text text);

#ifdef __cplusplus
}
#endif
#endif
