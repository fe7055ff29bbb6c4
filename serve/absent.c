/* absent.c — in the place of the server in a build without libmicrohttpd. */
#include "serve.h"
#include "support/messages.h"

int serve_run(const struct serve_options *options)
{
    (void)options;
    return fail("the server is not in this build of twinsift: it needs libmicrohttpd");
}
