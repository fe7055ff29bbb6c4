/* similar.h — candidates are checked, and the similar stay. (Being written.) */
#ifndef TWINSIFT_SIMILAR_H
#define TWINSIFT_SIMILAR_H

#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Two documents by their numbers, a < b, and how similar they are. */
typedef struct twin_match {
    uint32_t a, b;
    double similarity;
} twin_match;

#ifdef __cplusplus
}
#endif
#endif
