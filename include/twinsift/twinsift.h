/* twinsift.h — finds near-duplicate documents, overlapping sets and mail seen before.
 *
 *     documents ──► sets ──► signatures ──► candidates ──► similar
 *             shingle  minhash     bands          similar
 *
 * This header includes the others. */
#ifndef TWINSIFT_H
#define TWINSIFT_H

#include <twinsift/audit.h>
#include <twinsift/bands.h>
#include <twinsift/bloom.h>
#include <twinsift/buffer.h>
#include <twinsift/candidates.h>
#include <twinsift/cluster.h>
#include <twinsift/collection.h>
#include <twinsift/cpu.h>
#include <twinsift/dedup.h>
#include <twinsift/diff.h>
#include <twinsift/edit.h>
#include <twinsift/edit_join.h>
#include <twinsift/embed.h>
#include <twinsift/exec.h>
#include <twinsift/forest.h>
#include <twinsift/hash.h>
#include <twinsift/index.h>
#include <twinsift/input.h>
#include <twinsift/mail.h>
#include <twinsift/mail_baseline.h>
#include <twinsift/mail_measures.h>
#include <twinsift/message.h>
#include <twinsift/minhash.h>
#include <twinsift/plan.h>
#include <twinsift/scheme.h>
#include <twinsift/set.h>
#include <twinsift/shards.h>
#include <twinsift/shingle.h>
#include <twinsift/signer.h>
#include <twinsift/similar.h>
#include <twinsift/status.h>
#include <twinsift/text.h>
#include <twinsift/version.h>

#endif
