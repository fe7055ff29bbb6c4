/* remembered.c — records of learnt messages.
 *
 * Arrays with a gap at the front, where the oldest were; it is closed when it is as large as what is left. An open hash
 * table leads from the id of a message to its number. Ids are keyed hashes, so their bits can be used as they are. */
#include "mail/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void twin__remembered_clear(struct twin__remembered *remembered)
{
    free(remembered->records);
    free(remembered->heads);
    free(remembered->tails);
    free(remembered->shapes);
    free(remembered->map);
    free(remembered->touched);
    *remembered = (struct twin__remembered){ 0 };
}

bool twin__remembered_has(const struct twin__remembered *remembered, uint64_t number)
{
    return number >= remembered->first && number - remembered->first < remembered->count &&
           !(twin__remembered_at(remembered, number)->flags & TWIN__MAIL_REMOVED);
}

const void *twin__remembered_entry(const struct twin__remembered *r, enum twin__mail_column column, uint64_t number)
{
    static const size_t bytes[] = { [TWIN__MAIL_RECORDS] = sizeof(struct twin__mail_record),
                                    [TWIN__MAIL_HEADS] = TWIN__MAIL_HEAD,
                                    [TWIN__MAIL_TAILS] = TWIN__MAIL_TAIL,
                                    [TWIN__MAIL_SHAPES] = TWIN__MAIL_SHAPE };
    const void *const own[] = { r->records, r->heads, r->tails, r->shapes };
    if (!r->lender)
        return (const char *)own[column] + twin__remembered_place(r, number) * bytes[column];
    const char *block = r->lender->get(r->lender, column, number / TWIN__MAIL_BLOCK);
    return block + number % TWIN__MAIL_BLOCK * bytes[column];
}

struct twin__mail_signature twin__remembered_signature(const struct twin__remembered *remembered, uint64_t number)
{
    struct twin__mail_signature out;
    uint8_t *tail = out.slots + TWIN__MAIL_HEAD, *shape = tail + TWIN__MAIL_TAIL;
    memcpy(out.slots, twin__remembered_entry(remembered, TWIN__MAIL_HEADS, number), TWIN__MAIL_HEAD);
    memcpy(tail, twin__remembered_entry(remembered, TWIN__MAIL_TAILS, number), TWIN__MAIL_TAIL);
    memcpy(shape, twin__remembered_entry(remembered, TWIN__MAIL_SHAPES, number), TWIN__MAIL_SHAPE);
    return out;
}

/* ---- the table of ids: a number is stored by its low half, of which no two that are remembered agree */

/* The number that an entry stands for. */
static uint64_t number_of(const struct twin__remembered *r, uint32_t entry)
{
    return r->first + (uint32_t)(entry - 1 - (uint32_t)r->first);
}

static void map_put(struct twin__remembered *r, uint64_t id, uint64_t number)
{
    size_t i = id & (r->map_size - 1);
    while (r->map[i])
        i = (i + 1) & (r->map_size - 1);
    r->map[i] = (uint32_t)number + 1;
    r->map_used++;
}

/* Fills the table anew with what is not removed, at most a quarter full, and large enough for what there is room for. */
static twin_status map_rebuild(struct twin__remembered *r)
{
    size_t size = 1024, room = r->count > r->capacity / 2 ? r->count : r->capacity / 2;
    while (size < 4 * (room + 1))
        size *= 2;
    uint32_t *map = calloc(size, sizeof *map);
    if (!map)
        return TWIN_ENOMEM;
    free(r->map);
    r->map = map;
    r->map_size = size;
    r->map_used = 0;
    for (uint64_t n = r->first; n < r->first + r->count; n++)
        if (!(twin__remembered_at(r, n)->flags & TWIN__MAIL_REMOVED))
            map_put(r, twin__remembered_at(r, n)->id, n);
    return TWIN_OK;
}

static uint64_t find_slowly(const struct twin__remembered *r, uint64_t id)
{
    size_t count;
    for (uint64_t n = r->first; n < r->first + r->count; n += count) {
        const struct twin__mail_record *records = twin__remembered_run(&count, r, n);
        for (size_t i = 0; i < count; i++)
            if (records[i].id == id && !(records[i].flags & TWIN__MAIL_REMOVED))
                return n + i;
    }
    return UINT64_MAX;
}

uint64_t twin__remembered_find(const struct twin__remembered *remembered, uint64_t id)
{
    if (remembered->lender)
        return find_slowly(remembered, id);
    if (!remembered->map_size)
        return UINT64_MAX;
    for (size_t i = id & (remembered->map_size - 1); remembered->map[i]; i = (i + 1) & (remembered->map_size - 1)) {
        uint64_t number = number_of(remembered, remembered->map[i]);
        if (number >= remembered->first + remembered->count)
            continue; /* of a message that has expired: the table is rebuilt when it fills up */
        const struct twin__mail_record *record = twin__remembered_at(remembered, number);
        if (record->id == id && !(record->flags & TWIN__MAIL_REMOVED))
            return number;
    }
    return UINT64_MAX;
}

/* ---- adding, removing */

/* Each array is its own, so that one that has grown is kept when the next cannot. */
static bool grow(struct twin__remembered *r, size_t capacity)
{
    struct twin__mail_record *records = realloc(r->records, capacity * sizeof *records);
    if (!records)
        return false;
    r->records = records;
    void *heads = realloc(r->heads, capacity * sizeof *r->heads);
    if (!heads)
        return false;
    r->heads = heads;
    void *tails = realloc(r->tails, capacity * sizeof *r->tails);
    if (!tails)
        return false;
    r->tails = tails;
    void *shapes = realloc(r->shapes, capacity * sizeof *r->shapes);
    if (!shapes)
        return false;
    r->shapes = shapes;
    r->capacity = capacity;
    return true;
}

twin_status twin__remembered_reserve(struct twin__remembered *remembered, size_t count)
{
    return count == 0 || grow(remembered, count) ? TWIN_OK : TWIN_ENOMEM;
}

static twin_status make_room(struct twin__remembered *r)
{
    if (r->start + r->count < r->capacity)
        return TWIN_OK;
    if (r->start >= r->count && r->start) {
        memmove(r->records, r->records + r->start, r->count * sizeof *r->records);
        memmove(r->heads, r->heads + r->start, r->count * sizeof *r->heads);
        memmove(r->tails, r->tails + r->start, r->count * sizeof *r->tails);
        memmove(r->shapes, r->shapes + r->start, r->count * sizeof *r->shapes);
        r->start = 0;
        return TWIN_OK;
    }
    size_t wanted = r->capacity < 512 ? 1024 : 2 * r->capacity;
    return grow(r, wanted) ? TWIN_OK : TWIN_ENOMEM;
}

twin_status twin__remembered_add(struct twin__remembered *remembered, const struct twin__mail_record *record,
                                 const struct twin__mail_signature *signature)
{
    struct twin__remembered *r = remembered;
    if (make_room(r) != TWIN_OK)
        return TWIN_ENOMEM;
    if (2 * (r->map_used + 1) > r->map_size && map_rebuild(r) != TWIN_OK)
        return TWIN_ENOMEM;
    size_t i = r->start + r->count;
    bool removed = record->flags & TWIN__MAIL_REMOVED;
    r->records[i] = *record;
    r->live += !removed;
    r->count++;
    memcpy(r->heads[i], signature->slots, TWIN__MAIL_HEAD);
    memcpy(r->tails[i], signature->slots + TWIN__MAIL_HEAD, TWIN__MAIL_TAIL);
    memcpy(r->shapes[i], signature->slots + TWIN__MAIL_HEAD + TWIN__MAIL_TAIL, TWIN__MAIL_SHAPE);
    if (!removed)
        map_put(r, record->id, r->first + r->count - 1);
    return TWIN_OK;
}

twin_status twin__remembered_remove(struct twin__remembered *remembered, uint64_t number)
{
    if (!TWIN__ARRAY_GROW(&remembered->touched, &remembered->touched_capacity, remembered->touched_count, 1))
        return TWIN_ENOMEM;
    remembered->touched[remembered->touched_count++] = number;
    struct twin__mail_record *record = &remembered->records[twin__remembered_place(remembered, number)];
    remembered->live -= !(record->flags & TWIN__MAIL_REMOVED);
    record->flags |= TWIN__MAIL_REMOVED;
    return TWIN_OK;
}

void twin__remembered_drop_first(struct twin__remembered *remembered)
{
    remembered->live -= !(remembered->records[remembered->start].flags & TWIN__MAIL_REMOVED);
    remembered->start++;
    remembered->first++;
    remembered->count--;
}
