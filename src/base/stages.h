/* stages.h — the stages that the library reports to a twin_progress. */
#ifndef TWIN_BASE_STAGES_H
#define TWIN_BASE_STAGES_H

#include <twinsift/status.h>

extern const twin_stage twin__stage_adding, twin__stage_auditing, twin__stage_banding, twin__stage_checking,
    twin__stage_deciding, twin__stage_joining, twin__stage_ordering, twin__stage_pairing, twin__stage_querying,
    twin__stage_reading, twin__stage_unpacking, twin__stage_verifying;

#endif
