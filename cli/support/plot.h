/* plot.h — plots, drawn by gnuplot if it is installed. */
#ifndef TWIN_SUPPORT_PLOT_H
#define TWIN_SUPPORT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

enum plot_result { PLOT_DRAWN, PLOT_NO_GNUPLOT, PLOT_FAILED };

enum { PLOT_REASON_ROOM = 256 };

/* Lets gnuplot execute `script` in `folder` (NULL: the current one) and write to `picture`. Says why on failure;
 * `reason` is a sentence. Both files stay open. */
enum plot_result plot_run(char reason[PLOT_REASON_ROOM], FILE *picture, FILE *script, const char *folder);

/* The same for the option --plot of a command: `write` writes the script, the picture appears at `path` when it is
 * complete, and a failure is reported. */
bool plot_draw(const char *path, void (*write)(FILE *script, const void *context), const void *context);

#endif
