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

#ifdef NDEBUG
#define QUICK 1
#else
#define QUICK SANITIZED
#endif

#endif
