/* scale.h — how much a test does.
 *
 * The plain build does all of it. Sanitizers make everything several times slower, and the Release build differs from
 * the plain one only by its asserts, so there a test does less of the same: fewer seeds, shorter texts. */
#ifndef SCALE_H
#define SCALE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#if defined(__has_feature)
#define THREAD_SANITIZED __has_feature(thread_sanitizer)
#else
#define THREAD_SANITIZED 0
#endif

#ifdef NDEBUG
#define QUICK 1
#else
#define QUICK SANITIZED
#endif

/* First in a test that takes long and starts no threads: there is nothing in it for the thread sanitizer to find. */
#define STARTS_NO_THREADS()                                                                                          \
    do {                                                                                                             \
        if (THREAD_SANITIZED) {                                                                                      \
            print_message("%s starts no threads, which are all that the thread sanitizer watches: skipped\n",        \
                          __func__);                                                                                 \
            skip();                                                                                                  \
        }                                                                                                            \
    } while (0)

/* Of a slow and simple version that results are compared with, which takes most of a test's time: optimised, though tests
 * are not, and without sanitizers, which are meant for the library. */
#if defined(__clang__)
#define REFERENCE __attribute__((no_sanitize("address", "thread", "undefined")))
#elif defined(__GNUC__)
#define REFERENCE __attribute__((optimize("O3")))
#else
#define REFERENCE
#endif

#endif
