/* results.c — where results go: standard output, or the file of --output. */
#include "results.h"

#include "messages.h"
#include "output_file.h"
#include "overwrite.h"

#include <errno.h>
#include <string.h>

static struct output_file output; /* no file: standard output */
static int output_error;

bool results_open(const struct shared_options *shared)
{
    const char *path = shared->output;
    return !overwrites_input(path ? path : "-", shared->base.arguments, shared->base.count) &&
           (!path || output_file_open(&output, path));
}

FILE *results(void)
{
    return output.file ? output.file : stdout;
}

bool output_is_good(void)
{
    if (!ferror(results()))
        return true;
    if (!output_error)
        output_error = errno ? errno : EIO;
    return false;
}

static int close_file(int status)
{
    if (!output_is_good())
        status = fail("%s: could not be written: %s", output.given, strerror(output_error));
    if (status != EXIT_ERROR)
        return output_file_finish(&output) ? status : EXIT_ERROR;
    output_file_abandon(&output);
    return status;
}

/* Output counts only once it has arrived: a full disk shows up here at the latest. */
int close_output(int status)
{
    if (output.file)
        status = close_file(status);
    if (output_is_good()) {
        errno = 0;
        if (fflush(stdout) == 0 && fclose(stdout) == 0)
            return status;
        output_error = errno ? errno : EIO;
    }
    int error = fail("standard output could not be written: %s", strerror(output_error));
    return status > error ? status : error; /* a command whose errors have a greater status keeps it */
}
