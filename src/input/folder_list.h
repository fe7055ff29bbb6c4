/* folder_list.h — the regular files below a folder, by their paths in byte order.
 *
 * Symbolic links below the folder are not followed, so there are no loops; sockets, pipes and devices are skipped,
 * and hidden files and folders unless they are asked for; all are counted. Others are those that the caller has chosen
 * by globs. Paths may be longer than PATH_MAX. */
#ifndef TWIN_INPUT_FOLDER_LIST_H
#define TWIN_INPUT_FOLDER_LIST_H

#include <twinsift/input.h>

/* `path` is relative to the folder; `error` is 0, or why a folder below could not be listed. */
struct folder_entry {
    const char *path;
    int error;
    bool is_source; /* set by the caller: it holds many documents, and is read elsewhere */
    char *refusal;  /* by the caller: why it could not be opened; freed with the list */
};

/* Begin with {0}, end with twin__folder_clear(). */
struct folder {
    struct folder_entry *entries;
    size_t count, capacity;
    uint64_t links, special, hidden; /* what was skipped */
    twin_buffer paths;
};

/* Lists the folder behind the descriptor, as the options say. `name` is for the error. */
twin_status twin__folder_list(struct folder *out, int fd, const char *name, const twin_input_options *options,
                              twin_error *error);
void twin__folder_clear(struct folder *folder);

/* Whether one of the globs, NULL or ended by NULL, describes the path, or if there is no slash in it the last name. */
bool twin__path_fits(const char *path, const char *const *globs);

/* Opens what stands at `path` below the folder, with O_CLOEXEC and O_NOFOLLOW. -1 and errno when
 * it cannot. */
int twin__folder_open(int fd, const char *path, int flags);

/* ---- mail_files.c: which files of a folder are mail */

/* Removes from the list what is not mail: of a Maildir everything but the messages in cur/ and new/, of these drafts
 * and those marked for deletion (flags D and T), and files whose names begin with a dot. */
twin_status twin__mail_files(struct folder *files);

#endif
