/* interrupt.h — what happens when someone wants the program to end. */
#ifndef TWIN_SUPPORT_INTERRUPT_H
#define TWIN_SUPPORT_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP end the work in order: what the library does is stopped by its progress, what is
 * unfinished is removed, nothing more is said, and the program ends with the status of the signal, 130 for Ctrl-C. A second
 * signal, or a second in which the work did not end, ends it at once. Signals that are ignored stay ignored. */
void interrupt_watch(void);

/* Whether a signal has arrived. Any thread may ask. */
bool interrupted(void);

/* Called before the program is ended at once, by a signal handler. */
void interrupt_at_once(void (*clean)(void));

/* Ends the program as the signal that arrived would have done; otherwise returns `status`. */
int interrupt_end(int status);

#endif
