/* dedup_paths.h — where twinsift dedup writes, and that this is nothing it reads. */
#ifndef TWIN_DEDUP_PATHS_H
#define TWIN_DEDUP_PATHS_H

#include "support/command.h"

#include <twinsift/twinsift.h>

/* What a run writes, and what it reads besides its inputs. */
struct dedup_paths {
    const char *output, *dropped, *groups, *report; /* NULL: none; "-": standard output */
    const char *update;
    const struct option_texts *against; /* NULL: none */
    const struct request_base *base;    /* the inputs, or the files of steps, as they were given */
};

/* Whether each output has a folder, nothing that is read would be overwritten, and no two outputs are one file; on
 * false the error has been reported. To be called before anything is read: it may take hours to reach the output. */
bool dedup_paths_are_good(const struct dedup_paths *paths, const twin_input *input);

/* Says if one file is given twice, be it under another name or in a folder: nobody means that. */
void remark_same_inputs(const twin_input *input);

/* The output of each input in a folder, which ends in a slash, or in its subfolders if inputs have the same name. Free it
 * with free_names(). NULL: out of memory. */
char **names_in_folder(const char *folder, const twin_input *input);
void free_names(char **names, const twin_input *input);

#endif
