/* kernels.h — the few loops written once per instruction set, and their table.
 *
 * Kernels take arrays and counts; they do not allocate, call back or fail. The scalar row is the
 * specification: every other row returns what it returns, bit for bit. */
#ifndef TWIN_KERNELS_H
#define TWIN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct kernels {
    /* Index of the first byte of p[0..n) that is '"', '\\' or below 0x20; n when there is none. */
    size_t (*find_string_end)(const char *p, size_t n);

    /* Folds ASCII: copies p[0..n) to out, letters in lower case and each run of white space (9..13 and 32) as
     * one blank, and stops before the first byte above 127. Returns the bytes read and puts the bytes written
     * into *written. `out` has room for n + 64 bytes, and what lies past *written may be overwritten. A run of
     * white space at the start is dropped when *after_blank is true; *after_blank then says whether the last
     * byte written (or, if nothing was, what came before) is a blank. */
    size_t (*fold_ascii)(char *out, size_t *written, _Bool *after_blank, const char *p, size_t n);
};

/* The row in use. */
const struct kernels *twin__kernels(void);

size_t twin__find_string_end_scalar(const char *p, size_t n);
size_t twin__fold_ascii_scalar(char *out, size_t *written, _Bool *after_blank, const char *p, size_t n);
size_t twin__fold_ascii_avx2(char *out, size_t *written, _Bool *after_blank, const char *p, size_t n);
size_t twin__fold_ascii_avx512(char *out, size_t *written, _Bool *after_blank, const char *p, size_t n);

#endif
