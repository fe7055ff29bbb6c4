/* query_probes.c — the items of a query by which most of its candidates are ruled out. */
#include "join/query_probes.h"

#include <stdlib.h>

/* Sixteen slots per item and more, which the cache next to the processor holds for texts of 2 KB. */
static size_t slots_for(size_t items)
{
    size_t slots = 1 << 10;
    while (slots < 16 * items && slots < 1 << 16)
        slots *= 2;
    return slots;
}

void twin__query_probes_init(struct twin__query_probes *out, twin_set query, unsigned shift)
{
    *out = (struct twin__query_probes){
        .query = query, .shift = shift, .slots = slots_for(query.count), .counts = calloc(query.count + 1, 1)
    };
}

void twin__query_probes_clear(struct twin__query_probes *probes)
{
    free(probes->counts);
    for (size_t i = 0; i < TWIN__PROBE_CLASSES; i++)
        free(probes->tables[i]);
    *probes = (struct twin__query_probes){ 0 };
}

void twin__query_probes_sample(struct twin__query_probes *probes, twin_set set)
{
    twin_set query = probes->query;
    for (size_t i = 0, j = 0; i < query.count && j < set.count && probes->counts;) {
        uint64_t x = query.items[i], y = set.items[j];
        if (x == y)
            probes->counts[i]++;
        i += x <= y;
        j += y <= x;
    }
}

/* Chooses `wanted` items: all that fewer sets of the sample have than some number, and the first of those that as many
 * have. */
static uint8_t *make_table(const struct twin__query_probes *probes, size_t wanted)
{
    size_t with[TWIN__PROBE_SAMPLES + 1] = { 0 }, most = 0;
    uint8_t *table = calloc(probes->slots, 1);
    if (!table)
        return NULL;
    for (size_t i = 0; i < probes->query.count; i++)
        with[probes->counts[i]]++;
    while (wanted > with[most])
        wanted -= with[most++];
    for (size_t i = 0; i < probes->query.count; i++) {
        bool is_last = probes->counts[i] == most;
        if (probes->counts[i] > most || (is_last && wanted == 0))
            continue;
        wanted -= is_last;
        table[probes->query.items[i] >> probes->shift & (probes->slots - 1)] = 1;
    }
    return table;
}

/* With as many probes as may be lacking and one more, a single one that is found would be enough to pass. So there
 * are some more, and as many again as slots are found by chance. */
struct twin__probe_table twin__query_probes_get(struct twin__query_probes *probes, size_t spare, uint64_t size)
{
    size_t count = probes->query.count, least = spare + 1 + spare / 16;
    double by_chance = (double)size / (double)probes->slots;
    double wanted = (double)least / (1 - by_chance) * TWIN__PROBE_CLASSES / (double)count;
    if (by_chance > 0.5 || 2 * wanted > TWIN__PROBE_CLASSES || !probes->counts)
        return (struct twin__probe_table){ 0 };
    size_t class = (size_t)wanted, chosen = count * (class + 1) / TWIN__PROBE_CLASSES;
    if (!probes->tables[class])
        probes->tables[class] = make_table(probes, chosen);
    return (struct twin__probe_table){ probes->tables[class], probes->slots - 1, probes->shift, chosen };
}
