/* twinsift.h — finds lookalikes: near-duplicate documents, overlapping sets, messages seen before.
 *
 *     documents ──► sets ──► signatures ──► candidates ──► similar
 *             shingle  minhash     bands          similar
 *
 * This header includes the others. */
#ifndef TWINSIFT_H
#define TWINSIFT_H

#define TWINSIFT_VERSION_MAJOR 0
#define TWINSIFT_VERSION_MINOR 1
#define TWINSIFT_VERSION_PATCH 0

#include <twinsift/audit.h>
#include <twinsift/bands.h>
#include <twinsift/bloom.h>
#include <twinsift/cluster.h>
#include <twinsift/collection.h>
#include <twinsift/cpu.h>
#include <twinsift/document.h>
#include <twinsift/edit.h>
#include <twinsift/embed.h>
#include <twinsift/exec.h>
#include <twinsift/forest.h>
#include <twinsift/hash.h>
#include <twinsift/index.h>
#include <twinsift/minhash.h>
#include <twinsift/near.h>
#include <twinsift/plan.h>
#include <twinsift/set.h>
#include <twinsift/shingle.h>
#include <twinsift/similar.h>
#include <twinsift/status.h>
#include <twinsift/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is running, "0.1.0". */
TWIN_API const char *twin_version(void);

#ifdef __cplusplus
}
#endif
#endif
