/* top_matches.h — of all matches, the best of each document. */
#ifndef TWIN_JOIN_TOP_MATCHES_H
#define TWIN_JOIN_TOP_MATCHES_H

#include <twinsift/similar.h>

/* Leaves the matches that are among the `top` best of either of their documents; of equal ones, that with the lower
 * number. */
twin_status twin__matches_keep_top(twin_matches *matches, size_t top);

#endif
