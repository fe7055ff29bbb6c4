/* mbox.h — messages in an mbox file.
 *
 * A message begins with a line "From ADDRESS DATE" and ends before the next one. Dialects differ in what happens to
 * lines of a message that begin so themselves: mboxo and mboxrd put '>' before them (mboxrd also before lines of '>'
 * and "From "), mboxcl does as mboxo and writes the length of the body to a header Content-Length, mboxcl2 writes the
 * length and leaves the lines alone. */
#ifndef TWIN_INPUT_MBOX_H
#define TWIN_INPUT_MBOX_H

#include <twinsift/input.h>

/* Where a message is, with its "From " line and the empty line after it. */
struct twin__mbox_message {
    uint64_t offset, length;
};

/* Begin with {0}, end with twin__mbox_clear(). */
struct twin__mbox {
    struct twin__mbox_message *messages;
    size_t count, capacity;
};

/* Appends the messages of the file from `begin` to `end`. A file that does not begin with a "From " line is one
 * message. */
twin_status twin__mbox_scan(struct twin__mbox *out, int fd, uint64_t begin, uint64_t end, twin_mbox mbox,
                            twin_error *error);
void twin__mbox_clear(struct twin__mbox *mbox);

/* What was sent: without the "From " line and the empty line at the end, and with quoted lines as they were. The result
 * points into `stored` or into `scratch`. */
twin_status twin__mbox_unquote(twin_text *out, twin_buffer *scratch, twin_text stored, twin_mbox mbox);

#endif
