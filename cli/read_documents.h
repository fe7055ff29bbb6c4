/* read_documents.h — from an input to a collection, with everything that must be said about it. */
#ifndef TWIN_READ_DOCUMENTS_H
#define TWIN_READ_DOCUMENTS_H

#include <twinsift/twinsift.h>

/* Reads a collection, reports what could not be read and, unless `quiet`, what may not be as it was meant. NULL: the
 * error has been reported. Release it with twin_collection_free(). */
twin_collection *read_documents(const twin_input *input, twin_collection_options options, bool quiet);

/* A remark if there are none. */
void remark_no_documents(twin_collection_counts counts);

/* A remark if there is only one document, to be compared with no others than those of the collection: if it is a plain
 * file, whoever has lines of text has to say so. */
void remark_one_document(const twin_input *input, const twin_collection *collection);

/* A remark if documents, as many as this, were not compared with all that may be similar. */
void remark_incomplete(uint64_t documents);

/* Whether the input is a plain file of several lines, read as one document. */
bool is_file_of_lines(const twin_input *input);

/* A remark if it is, where lines are as likely to be meant. */
void remark_lines(const twin_input *input);

#endif
