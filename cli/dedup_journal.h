/* dedup_journal.h — INDEX-update-RUN.jsonl: the documents that a run of dedup --update adds to its index, and the outputs
 * that it has written before. dedup_update.h says when it appears and goes.
 *
 * It consists of JSON lines, so that 'twinsift index add' can read it too:
 *
 *     {"twinsift":"update","version":1,"run":"59610d52ed424531","read":300}
 *     {"output":"/data/day.out","bytes":557940,"checksum":"0f3c4a5d2e6b7980"}    for each output of kept documents
 *     {"groups":"/data/day.groups","bytes":7316,"checksum":"8c7d19e02b5a4f63"}   if there are groups
 *     {"number":0,"id":"a1","text":"…"}                                          for each document that is kept
 *     {"documents":266,"outputs":2,"checksum":"5b1e0d3f9a7c2846"}
 *
 * "run" is the number in the name. "read" is how many documents the inputs had, and "number" which of them it is. Names of
 * outputs are absolute; a byte that is not printable ASCII, and % " \, is written as %XX. Checksums are those of
 * fingerprint_contents(); the last is that of all lines before its own. */
#ifndef TWIN_DEDUP_JOURNAL_H
#define TWIN_DEDUP_JOURNAL_H

#include "dedup_output.h"

struct journal_output {
    char *name;
    bool is_groups;
    uint64_t bytes, checksum;
};

struct journal {
    uint64_t run, read, documents;
    struct journal_output *outputs;
    size_t output_count;
};

/* What is wrong, as a part of a sentence that begins with the name of the file. */
enum { JOURNAL_FAULT_ROOM = 4500 };

/* Writes the journal of outputs that are staged; it is closed and has no name yet. On false the error has been
 * reported. */
bool journal_write(struct output_file *out, const char *path, uint64_t run, const struct dedup_result *result,
                   const struct dedup_outputs *outputs);

/* Reads a journal without its documents, once all of its bytes have been checked. On false `fault` says what is wrong.
 * End with journal_clear() in any case. */
bool journal_read(struct journal *out, const char *path, char fault[JOURNAL_FAULT_ROOM]);
void journal_clear(struct journal *journal);

/* Whether the outputs, groups only if they are wanted, are what the run has written. On false `fault` names the first that
 * is not, which becomes `wrong`. */
bool journal_outputs_are_whole(const struct journal *journal, bool with_groups, const struct journal_output **wrong,
                               char fault[JOURNAL_FAULT_ROOM]);

/* Whether outputs that are staged, of kept documents, are those that the run had written. */
bool journal_has(const struct journal *journal, const struct dedup_outputs *outputs);

/* The numbers of the documents; the caller frees them. NULL: the error has been reported. */
uint32_t *journal_numbers(const struct journal *journal, const char *path);

/* Adds the documents to an index, again if need be; if somebody else changes it, after so many seconds at most. On false
 * the error has been reported. */
bool journal_add(twin_index_change *change, const struct journal *journal, const char *path, const char *index,
                 twin_index_add_options options, double patience);

#endif
