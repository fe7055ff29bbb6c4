/* messages.h — what a program prints on standard error, and how it ends.
 *
 * A message is one line, "twinsift index add: SENTENCE". Ids and file names in it come from strangers, so control
 * characters are escaped: a message cannot change the terminal or forge a second message. */
#ifndef TWIN_SUPPORT_MESSAGES_H
#define TWIN_SUPPORT_MESSAGES_H

#include <twinsift/twinsift.h>

#include "terminal.h"

/* Exit statuses. A command that answers yes or no exits EXIT_YES or EXIT_NO, batch work EXIT_DONE. EXIT_SKIPPED: the
 * work is done, but documents were skipped; only with --fail-on-skipped. */
enum { EXIT_DONE = 0, EXIT_YES = 0, EXIT_NO = 1, EXIT_ERROR = 2, EXIT_SKIPPED = 3 };

/* Sets the name at the beginning of every message from now on. It is borrowed. */
void messages_from(const char *name);

/* Prints an error and returns EXIT_ERROR. A sentence says what is wrong, where and what to do, without a full stop. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a remark: the run goes on. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports a failed call: the sentence of `error` if it has one, else `what` and the status in words. */
int fail_status(const char *what, twin_status status, const twin_error *error);

/* The same for a function that returns whether it succeeded: false. Macros, so that a static analyser sees that. */
#define refuse(...) (fail(__VA_ARGS__), false)
#define refuse_status(what, status, error) (fail_status(what, status, error), false)

/* Whether messages are coloured. */
void messages_color(enum color when);

/* "" for 1, else "s": printf("%zu item%s", n, plural(n)). */
const char *plural(uint64_t count);

#endif
