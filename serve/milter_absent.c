/* milter_absent.c — in the place of the milter in a build without libmilter. */
#include "milter.h"
#include "support/messages.h"

int milter_run(const struct milter_options *wanted)
{
    (void)wanted;
    return fail("the milter is not in this build of twinsift: it needs libmilter");
}
