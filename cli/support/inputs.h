/* inputs.h — inputs of documents, as the arguments of a command name them, and what cannot be read of them. */
#ifndef TWIN_SUPPORT_INPUTS_H
#define TWIN_SUPPORT_INPUTS_H

#include "shared_options.h"

/* Opens the arguments from number `first` on, according to --sets, --id-field and --text-field, unpacking into
 * --temp or $TMPDIR; release with twin_input_free(). NULL: the error has been reported. */
twin_input *open_inputs(const struct shared_options *shared, size_t first, twin_progress progress);

/* The same for inputs by their names. */
twin_input *open_named_inputs(const struct shared_options *shared, const char *const *names, size_t count,
                              twin_progress progress);

/* That of --temp, or $TMPDIR; NULL: the default. */
const char *temp_folder(const struct shared_options *shared);

/* Pairs that are held in memory, 16 MB; more are printed from a file in that folder. */
enum { MATCHES_IN_MEMORY = 1 << 20 };

/* Documents that could not be read, and documents with ill-formed UTF-8. The first are reported: a file of another kind
 * must not fill the screen. Begin with the input, and whether remarks are wanted. */
struct problems {
    const twin_input *input;
    bool quiet;
    uint64_t count, ill_formed;
    uint64_t files; /* of these, files that could not be opened or are no text */
};
void problems_add(struct problems *problems, const twin_problem *problem);

/* Reports how many more there were, of `all` that the library counted. */
void problems_end(uint64_t all);
void ill_formed_end(const struct problems *problems, uint64_t all);

/* The exit status of a run that would end with `status`, after so many documents were skipped: EXIT_SKIPPED with
 * --fail-on-skipped, unless there was none, or an error. */
int skipped_status(const struct shared_options *shared, uint64_t skipped, int status);

/* Reports that the input had documents and none could be read, and returns EXIT_ERROR. */
int fail_unreadable(const struct problems *problems);

/* Says that there is nothing in the input, unless something could not be read. */
void remark_empty(const struct problems *problems, uint64_t documents);

#endif
