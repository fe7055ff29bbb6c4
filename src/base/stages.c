/* stages.c — the stages of long calls and what each of them counts. */
#include "base/stages.h"

const twin_stage twin__stage_adding = { "adding", "B" };
const twin_stage twin__stage_auditing = { "auditing", "documents" };
const twin_stage twin__stage_banding = { "pairing", "bands" };
const twin_stage twin__stage_checking = { "checking", "records" };
const twin_stage twin__stage_deciding = { "deciding", "documents" };
const twin_stage twin__stage_joining = { "joining", "documents" };
const twin_stage twin__stage_ordering = { "ordering", "documents" };
const twin_stage twin__stage_pairing = { "pairing", NULL };
const twin_stage twin__stage_querying = { "querying", "B" };
const twin_stage twin__stage_reading = { "reading", "B" };
const twin_stage twin__stage_unpacking = { "unpacking", "B" };
const twin_stage twin__stage_verifying = { "verifying", "pairs" };
