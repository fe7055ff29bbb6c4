/* overwrite.h — outputs that cannot be written, or would destroy what is read, or each other. */
#ifndef TWIN_SUPPORT_OVERWRITE_H
#define TWIN_SUPPORT_OVERWRITE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether writing `output` would overwrite what is read: one of these files, what belongs to an index among them, or a
 * file in one of these folders; "-": the file that the shell has sent standard output to, which grows while it is read, or
 * to standard input.
 * Then the error has been reported. */
bool overwrites_input(const char *output, const char *const *inputs, size_t count);

/* Whether the name is that of a file that an index, of any name, has or may have next to it: INDEX-lock, and what
 * dedup --update makes, INDEX-updated and INDEX-update-RUN.jsonl. Then the error has been reported. */
bool belongs_to_index(const char *output, const char *index);

/* Whether two names are of one file, which need not exist yet, or both standard output, "-". Devices may have two. */
bool is_same_output(const char *a, const char *b);

/* Whether there is a folder to write the file to, and its name promises no compression but .gz and .zst, so that a
 * long run does not fail in the end; false: the error has been reported. A name that ends in a slash is that of a
 * folder, which may be created. */
bool output_is_possible(const char *output);

/* The name of a file from the root, without links and dots; it need not exist. The caller frees it; NULL: it has no
 * folder, or out of memory. */
char *canonical_path(const char *path);

/* That of the folder which the file is in, without a slash at the end: "" is the root. */
char *canonical_folder(const char *path);

/* A name of this kind as it is seen from a folder, such as "../out/kept.jsonl". The caller frees it; NULL: out of memory. */
char *path_from(const char *path, const char *folder);

#endif
