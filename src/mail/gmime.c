/* gmime.c — loads GMime.
 *
 * With it come some twenty libraries, GIO and GPGME among them, which take longer to load than one message takes to judge.
 * Few messages need it: what nearly all headers have is read without. So nothing is linked with it; a static program,
 * which loads nothing, is. */
#include "mail/gmime.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/error.h"

static struct twin__gmime calls;
static bool is_loaded;

static void load(void)
{
#ifdef TWIN_GMIME_LINKED
#define TAKE(name) calls.name = name;
    TWIN__GMIME_CALLS(TAKE)
    is_loaded = true;
#else
    void *library = dlopen(TWIN_GMIME_FILE, RTLD_LAZY | RTLD_LOCAL);
    is_loaded = library != NULL;
#define TAKE(name) is_loaded = is_loaded && (*(void **)&calls.name = dlsym(library, #name));
    TWIN__GMIME_CALLS(TAKE)
#endif
    if (is_loaded)
        calls.g_mime_init();
}

const struct twin__gmime *twin__gmime(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? &calls : NULL;
}

twin_status twin__gmime_fail(void)
{
    return twin__fail(NULL, TWIN_EUNSUPPORTED,
                      "it has a header that GMime is to read, which cannot be loaded; install its library");
}
