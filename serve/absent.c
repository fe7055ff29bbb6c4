/* absent.c — in the place of the server in a build without libmicrohttpd, and in programs that do not serve. */
#include "serve.h"
#include "support/messages.h"

bool serve_available(void)
{
    return false;
}

int serve_run(const struct serve_options *options)
{
    (void)options;
    return fail("the server is not in this build of twinsift: it needs libmicrohttpd");
}
