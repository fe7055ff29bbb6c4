/* progress.h — one line on a terminal for work of more than a second. */
#ifndef TWIN_SUPPORT_PROGRESS_H
#define TWIN_SUPPORT_PROGRESS_H

#include <twinsift/twinsift.h>

/* Starts the clock and returns the callback for the library, which it stops when the program is to end (interrupt.h): a
 * line with stage, percentage, rate and time left, but not when `quiet`, or when standard error is not a terminal. One
 * at a time. */
twin_progress progress_begin(bool quiet);

/* Removes the line; messages do that themselves, and the line comes back. */
void progress_clear(void);
void progress_end(void);

#endif
