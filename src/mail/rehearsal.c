/* rehearsal.c — messages of a label that are taught again. */
#include "mail/rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

void twin__rehearsal_clear(struct twin__rehearsal *rehearsal)
{
    for (size_t i = 0; rehearsal->slots && i < TWIN__REHEARSED; i++)
        free(rehearsal->slots[i]);
    free(rehearsal->slots);
    *rehearsal = (struct twin__rehearsal){ 0 };
}

/* The number decides, so that a message is found again and the same messages give the same memory. */
static size_t slot_of(uint64_t number)
{
    return twin__mix(number + 1) % TWIN__REHEARSED;
}

/* Makes room for so many places, what is there being lost. Messages are about as long as each other: most fit into the room
 * of the one before. */
static bool make_room(struct twin__rehearsed **slot, size_t places)
{
    enum { STEP = 512, MUCH = 4 };
    if (*slot && places <= (*slot)->room && (*slot)->room <= MUCH * (places + STEP))
        return true;
    size_t room = (places + STEP) / STEP * STEP;
    struct twin__rehearsed *message = malloc(sizeof *message + room * sizeof message->places[0]);
    if (!message)
        return false;
    free(*slot);
    *slot = message;
    message->room = room;
    return true;
}

twin_status twin__rehearsal_add(struct twin__rehearsal *rehearsal, uint64_t number,
                                const struct twin__features *features)
{
    size_t total = twin__features_total(features->counts), slot = slot_of(number);
    if (!rehearsal->slots)
        rehearsal->slots = calloc(TWIN__REHEARSED, sizeof(void *));
    bool is_new = rehearsal->slots && !rehearsal->slots[slot];
    if (!rehearsal->slots || !make_room(&rehearsal->slots[slot], total))
        return TWIN_ENOMEM;
    struct twin__rehearsed *message = rehearsal->slots[slot];
    message->number = number;
    uint32_t *at = message->places;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        message->counts[b] = features->counts[b];
        if (features->counts[b])
            memcpy(at, features->places[b], features->counts[b] * sizeof *at);
        at += features->counts[b];
    }
    rehearsal->count += is_new;
    rehearsal->changed[slot] = true;
    return TWIN_OK;
}

void twin__rehearsal_drop(struct twin__rehearsal *rehearsal, uint64_t number)
{
    size_t slot = slot_of(number);
    if (!rehearsal->slots || !rehearsal->slots[slot] || rehearsal->slots[slot]->number != number)
        return;
    free(rehearsal->slots[slot]);
    rehearsal->slots[slot] = NULL;
    rehearsal->count--;
    rehearsal->changed[slot] = true;
}

const struct twin__rehearsed *twin__rehearsal_draw(const struct twin__rehearsal *rehearsal, uint64_t random)
{
    if (!rehearsal->count)
        return NULL;
    size_t slot = random % TWIN__REHEARSED;
    while (!rehearsal->slots[slot])
        slot = (slot + 1) % TWIN__REHEARSED;
    return rehearsal->slots[slot];
}

struct twin__features twin__rehearsed_features(const struct twin__rehearsed *message)
{
    return twin__features_at(message->places, message->counts);
}
