/* senders.c — how often the sender of a message was learnt under each label.
 *
 * Each label has a counting Bloom filter of the addresses and domains of its messages, planned for what is remembered and
 * made anew when that has doubled. A model that is loaded for a few checks has no filters: then all records are visited,
 * when they are lent. */
#include <string.h>

#include "mail/model.h"

enum { CELL_BITS = 8, MOST = (1 << CELL_BITS) - 1 }; /* a filter counts no further */

static void count_sender(struct twin__mail_label *label, uint64_t hash)
{
    if (hash)
        twin_bloom_add(label->senders, &hash, sizeof hash);
}

void twin__senders_add(struct twin__mail_label *label, const struct twin__mail_record *record)
{
    count_sender(label, record->address);
    count_sender(label, record->domain);
}

static void uncount_sender(struct twin__mail_label *label, uint64_t hash)
{
    if (hash && label->senders)
        twin_bloom_remove(label->senders, &hash, sizeof hash);
}

void twin__senders_remove(struct twin__mail_label *label, const struct twin__mail_record *record)
{
    uncount_sender(label, record->address);
    uncount_sender(label, record->domain);
}

twin_status twin__senders_plan(struct twin__model *model, unsigned number)
{
    struct twin__mail_label *label = &model->labels[number];
    uint64_t room = 2 * label->messages + 2;
    if (label->senders && room <= label->sender_room)
        return TWIN_OK;
    room = room < 512 ? 1024 : 2 * room;
    twin_bloom *senders;
    /* Twelve cells per item and eight functions: a false-positive rate of 0.3 %. The items are keyed hashes already. */
    twin_bloom_options options = { .items = room, .cells = 12 * room, .functions = 8, .cell_bits = CELL_BITS };
    twin_status status = twin_bloom_create(&senders, options);
    if (status != TWIN_OK)
        return status;
    twin_bloom_free(label->senders);
    label->senders = senders;
    label->sender_room = room;
    const struct twin__remembered *r = &model->remembered;
    for (uint64_t n = r->first; n < r->first + r->count; n++) {
        const struct twin__mail_record *record = twin__remembered_at(r, n);
        if (record->label == number && !(record->flags & TWIN__MAIL_REMOVED))
            twin__senders_add(label, record);
    }
    return TWIN_OK;
}

void twin__senders_count(struct twin__sender_counts *out, const struct twin__mail_record *records, size_t count,
                         const struct twin__mail_item *item)
{
    for (size_t i = 0; i < count; i++) {
        bool same_address = records[i].address == item->address, same_domain = records[i].domain == item->domain;
        if (!(same_address || same_domain) || (records[i].flags & TWIN__MAIL_REMOVED))
            continue;
        out->address[records[i].label] += same_address && item->address;
        out->domain[records[i].label] += same_domain && item->domain;
    }
}

static uint32_t count_in(const twin_bloom *senders, uint64_t hash)
{
    return hash && senders ? twin_bloom_count(senders, &hash, sizeof hash) : 0;
}

void twin__model_count_sender(struct twin__sender_counts *out, const struct twin__model *model,
                              const struct twin__mail_item *item)
{
    const struct twin__remembered *r = &model->remembered;
    *out = (struct twin__sender_counts){ .address = { 0 } };
    if (r->lender)
        *out = model->lent_senders;
    else if (!model->filtered && r->count)
        twin__senders_count(out, r->records + r->start, r->count, item);
    for (unsigned i = 0; i < model->label_count && model->filtered; i++) {
        out->address[i] = count_in(model->labels[i].senders, item->address);
        out->domain[i] = count_in(model->labels[i].senders, item->domain);
    }
    for (unsigned i = 0; i < model->label_count; i++) { /* however they were counted */
        out->address[i] = out->address[i] < MOST ? out->address[i] : MOST;
        out->domain[i] = out->domain[i] < MOST ? out->domain[i] : MOST;
    }
}

twin_status twin__model_make_filters(struct twin__model *model)
{
    twin_status status = TWIN_OK;
    for (unsigned i = 0; i < model->label_count && status == TWIN_OK && !model->filtered; i++)
        status = twin__senders_plan(model, i);
    model->filtered = status == TWIN_OK;
    return status;
}
