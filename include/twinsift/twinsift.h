/* twinsift.h — finds near-duplicate documents, overlapping sets and mail seen before.
 *
 *     documents ──► sets ──► signatures ──► candidates ──► similar
 *             shingle  minhash     bands          similar
 *
 * This header includes the others. */
#ifndef TWINSIFT_H
#define TWINSIFT_H

#include <twinsift/bloom.h>
#include <twinsift/buffer.h>
#include <twinsift/collection.h>
#include <twinsift/dedup.h>
#include <twinsift/edit.h>
#include <twinsift/edit_join.h>
#include <twinsift/exec.h>
#include <twinsift/hash.h>
#include <twinsift/index.h>
#include <twinsift/input.h>
#include <twinsift/mail.h>
#include <twinsift/message.h>
#include <twinsift/names.h>
#include <twinsift/plan.h>
#include <twinsift/scheme.h>
#include <twinsift/set.h>
#include <twinsift/shards.h>
#include <twinsift/signer.h>
#include <twinsift/similar.h>
#include <twinsift/status.h>
#include <twinsift/text.h>
#include <twinsift/version.h>

#endif
