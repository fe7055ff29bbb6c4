/* check.c — describes an index, and checks that its parts agree.
 *
 * A check has the store look at every page, then reads every record once, in the order of the tables, verifies its
 * checksum and follows its references; then each entry of each posting list must lead to a set or document with that
 * hash, or to a removed one. Counts found on the way must be those that the index keeps. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stages.h"
#include "index/blocks.h"
#include "index/draft.h"
#include "index/edits.h"
#include "index/view.h"
#include "kernels/sort.h"

/* ---- description ---- */

/* All entries of a band, of all runs, by hash; `entries` and `spare` have room for them. */
static size_t sort_band(uint64_t *entries, uint64_t *spare, const twin_index_view *view, size_t band)
{
    size_t count = 0;
    for (size_t run = 0; run < view->bands.run_count; run++) {
        struct twin__index_list from = view->bands.lists[run * view->bands.stride + band];
        memcpy(entries + count, from.entries, from.count * sizeof *entries);
        count += from.count;
    }
    twin__sort_by_high_half(entries, spare, count);
    return count;
}

static twin_status count_buckets(twin_index_info *out, const twin_index_view *view, twin_error *error)
{
    size_t room = 0;
    uint64_t entries_in_all = 0;
    for (size_t run = 0; run < view->bands.run_count; run++)
        room += view->bands.runs[run].entries;
    uint64_t *entries = malloc((room + 1) * sizeof *entries), *spare = malloc((room + 1) * sizeof *spare);
    for (size_t band = 0; entries && spare && band < view->index->options.scheme.plan.bands; band++) {
        size_t count = sort_band(entries, spare, view, band);
        for (size_t first = 0, last; first < count; first = last) {
            for (last = first + 1; last < count && entries[last] >> 32 == entries[first] >> 32; last++)
                ;
            out->buckets++;
            out->largest_bucket = last - first > out->largest_bucket ? last - first : out->largest_bucket;
        }
        entries_in_all += count;
    }
    out->mean_bucket = out->buckets ? (double)entries_in_all / (double)out->buckets : 0;
    twin_status status = entries && spare ? TWIN_OK : twin__fail_memory(error);
    free(entries);
    free(spare);
    return status;
}

twin_status twin_index_describe(twin_index_info *out, twin_index_view *view, twin_error *error)
{
    struct twin__store_sizes sizes;
    twin_status status = twin__index_view_check(out, view, error);
    if (status != TWIN_OK)
        return status;
    const struct twin__index_counts *counts = &view->counts;
    *out = (twin_index_info){ 0 };
    status = twin__store_check(view->index->store, error); /* whose numbers of pages are reported */
    if (status == TWIN_OK)
        status = twin__store_measure(&sizes, view->txn, error);
    if (status != TWIN_OK)
        return status;
    *out = (twin_index_info){ .documents = counts->documents,
                              .sets = counts->sets,
                              .too_short = counts->too_short,
                              .removed_sets = counts->dead,
                              .runs = view->bands.run_count,
                              .bytes = sizes.file_bytes };
    out->document_bytes = sizes.bytes[TWIN__INDEX_DOCUMENTS] + sizes.bytes[TWIN__INDEX_IDS] +
                          sizes.bytes[TWIN__INDEX_ID_RUNS] + sizes.bytes[TWIN__INDEX_MEMBERS];
    out->signature_bytes = sizes.bytes[TWIN__INDEX_SETS];
    out->band_bytes = sizes.bytes[TWIN__INDEX_BANDS] + sizes.bytes[TWIN__INDEX_RUNS];
    out->kept_bytes = sizes.bytes[TWIN__INDEX_KEPT];
    status = twin__index_lists_verify(view->index, &view->bands, error);
    if (status != TWIN_OK)
        return status;
    uint64_t used = out->document_bytes + out->signature_bytes + out->band_bytes + out->kept_bytes;
    out->free_bytes = out->bytes > used ? out->bytes - used : 0;
    return count_buckets(out, view, error);
}

/* ---- checking ---- */

struct checking {
    twin_index_view *view;
    uint32_t *signature, *recomputed;
    uint64_t *entries, *spare; /* of one list of a run */
    uint64_t documents, too_short, sets, members, filled, dead, done, total;
    uint64_t next_kept, kept; /* past the last set in the blocks so far; those that are live */
    uint64_t listed[2];       /* of each kind: live entries of its runs */
    struct twin__store_sizes sizes;
    twin_error *error;
};

static twin_status wrong(const struct checking *checking, const char *what)
{
    return twin__index_fail_damaged(checking->error, checking->view->index, what);
}

static twin_status report_progress(struct checking *checking)
{
    return ++checking->done % 1024 == 0 ? twin__report(&twin__stage_checking, checking->done, checking->total)
                                        : twin__poll();
}

/* Visits every record of a table. */
typedef twin_status record_visit(struct checking *checking, uint64_t key, struct twin__bytes value);

static twin_status each_record(struct checking *checking, enum twin__index_table table, record_visit *visit)
{
    struct twin__store_cursor cursor;
    struct twin__store_record record = { 0 };
    twin_error *error = checking->error;
    twin_status status = twin__store_cursor_open(&cursor, checking->view->txn, table, error);
    if (status == TWIN_OK)
        status = twin__store_move(&record, &cursor, TWIN__STORE_FIRST, error);
    while (status == TWIN_OK && record.value.at) {
        status = visit(checking, record.key, record.value);
        if (status == TWIN_OK)
            status = report_progress(checking);
        if (status == TWIN_OK)
            status = twin__store_move(&record, &cursor, TWIN__STORE_NEXT, error);
    }
    twin__store_cursor_close(&cursor);
    return status;
}

static twin_status find_member(bool *found, const struct checking *checking, uint64_t set, uint32_t label,
                               uint64_t document)
{
    unsigned char member[TWIN__INDEX_MEMBER_BYTES];
    struct twin__store_cursor cursor;
    struct twin__store_record record = { 0 };
    twin__index_member_encode(member, label, document);
    twin_status status = twin__store_cursor_open(&cursor, checking->view->txn, TWIN__INDEX_MEMBERS, checking->error);
    if (status == TWIN_OK)
        status = twin__store_seek_value(&record, &cursor, set, (struct twin__bytes){ member, sizeof member },
                                        checking->error);
    *found = status == TWIN_OK && record.value.at && record.value.length == sizeof member &&
             memcmp(record.value.at, member, sizeof member) == 0;
    twin__store_cursor_close(&cursor);
    return status;
}

static twin_status check_document(struct checking *checking, uint64_t number, struct twin__bytes value)
{
    struct twin__index_document_record document;
    struct twin__index_set_record set;
    bool found;
    if (!twin__index_document_decode(&document, value))
        return wrong(checking, "a document does not fit its checksum");
    if (number >= checking->view->counts.next_document)
        return wrong(checking, "a document has a number that was never given");
    twin_status status = find_member(&found, checking, document.set, document.label, number);
    if (status == TWIN_OK && !found)
        status = wrong(checking, "a document is not among the members of its set");
    if (status == TWIN_OK)
        status = twin__index_view_set(&set, &found, NULL, checking->view, document.set, checking->error);
    if (status != TWIN_OK || !found)
        return status == TWIN_OK ? wrong(checking, "a document has a set that is not there") : status;
    if (set.first > number)
        return wrong(checking, "the first document of a set is not its first");
    checking->documents++;
    checking->too_short += set.size == 0;
    return TWIN_OK;
}

static twin_status check_member(struct checking *checking, uint64_t set, struct twin__bytes value)
{
    struct twin__index_document_record document;
    uint64_t number;
    uint32_t label;
    if (!twin__index_member_decode(&label, &number, value))
        return wrong(checking, "a member of a set is not what it should be");
    twin_status status = twin__index_view_document(&document, NULL, checking->view, number, checking->error);
    if (status == TWIN_OK && (document.set != set || document.label != label))
        return wrong(checking, "a set has a member that belongs to another");
    checking->members++;
    return status;
}

/* The members of a set: how many, and whether its first is one of them. */
static twin_status check_members(struct checking *checking, uint64_t number, const struct twin__index_set_record *set)
{
    struct twin__store_cursor cursor;
    struct twin__store_record record;
    struct twin__index_document_record first;
    twin_status status = twin__store_cursor_open(&cursor, checking->view->txn, TWIN__INDEX_MEMBERS, checking->error);
    if (status == TWIN_OK)
        status = twin__store_seek(&record, &cursor, number, TWIN__STORE_AT, checking->error);
    uint64_t count = status == TWIN_OK && record.value.at ? record.list_length : 0;
    twin__store_cursor_close(&cursor);
    if (status != TWIN_OK)
        return status;
    if (count == 0 || count != set->members)
        return wrong(checking, "a set has another number of documents than it says");
    status = twin__index_view_document(&first, NULL, checking->view, set->first, checking->error);
    return status == TWIN_OK && first.set != number ? wrong(checking, "the first document of a set has another set")
                                                    : status;
}

/* The digest of what is kept of a set that has just been read: of the text, or of the items. */
static twin_status digest_again(twin_digest *out, struct checking *checking, uint64_t number)
{
    twin_index_view *view = checking->view;
    struct twin__bytes kept;
    if (view->index->options.keep == TWIN_KEEP_TEXT) {
        *out = twin__index_text_digest(view->index, (twin_text){ view->text.bytes, view->text.length });
        return TWIN_OK;
    }
    twin_status status = twin__index_kept_get(&kept, view->index, &view->kept, number, checking->error);
    if (status == TWIN_OK)
        *out = twin__index_kept_digest(kept);
    return status;
}

/* The same of a text that is compared by edit distance. */
static twin_status check_text(struct checking *checking, uint64_t number, const struct twin__index_set_record *set)
{
    twin_index_view *view = checking->view;
    struct twin__index_text read = { 0 };
    twin_text text;
    twin_status status = twin__index_view_text(&text, view, number, checking->error);
    if (status != TWIN_OK)
        return status;
    status = twin__index_text_read(&read, text);
    if (status == TWIN_OK)
        status = twin__index_text_sign(checking->recomputed, &read, view->index, &view->again.sign, text);
    twin_digest digest = twin__index_text_digest(view->index, text);
    bool same = read.count == set->size && digest.low == set->digest.low && digest.high == set->digest.high;
    twin__index_text_clear(&read);
    if (status != TWIN_OK)
        return twin__fail_status(checking->error, status);
    if (!same)
        return wrong(checking, "what is kept of a text is not that text");
    return memcmp(checking->recomputed, checking->signature,
                  twin__index_slots(&view->index->options) * sizeof *checking->signature) == 0
               ? TWIN_OK
               : wrong(checking, "a signature is not that of its text");
}

/* What is kept must give the size, the digest and the signature again. */
static twin_status check_kept(struct checking *checking, uint64_t number, const struct twin__index_set_record *set)
{
    const twin_index *index = checking->view->index;
    twin_set items;
    twin_digest digest;
    twin_status status = twin__index_view_items(&items, checking->view, number, set->size, checking->error);
    if (status == TWIN_OK)
        status = digest_again(&digest, checking, number);
    if (status != TWIN_OK)
        return status;
    if (items.count != set->size || digest.low != set->digest.low || digest.high != set->digest.high)
        return wrong(checking, "what is kept of a set is not that set");
    twin_signer_sign(checking->recomputed, index->signer, items.items, items.count);
    if (memcmp(checking->recomputed, checking->signature,
               twin__index_slots(&index->options) * sizeof *checking->signature) != 0)
        return wrong(checking, "a signature is not that of its set");
    return TWIN_OK;
}

static twin_status check_set(struct checking *checking, uint64_t number, struct twin__bytes value)
{
    const twin_index *index = checking->view->index;
    struct twin__index_set_record set;
    if (!twin__index_set_decode(&set, checking->signature, twin__index_slots(&index->options), value))
        return wrong(checking, "a signature does not fit its checksum");
    if (number >= checking->view->counts.next_set)
        return wrong(checking, "a set has a number that was never given");
    if (set.size == 0 && checking->view->counts.empty_set != number + 1)
        return wrong(checking, "the empty set has another number than it should");
    twin_status status = check_members(checking, number, &set);
    if (status == TWIN_OK && index->options.keep != TWIN_KEEP_NONE && set.size > 0)
        status = (index->options.by_edits ? check_text : check_kept)(checking, number, &set);
    checking->sets++;
    checking->filled += set.size > 0;
    return status;
}

/* ---- blocks ---- */

/* Each block begins after the one before, and more than half of it is live. */
static twin_status check_block(struct checking *checking, uint64_t first, struct twin__bytes value)
{
    struct twin__index_block block;
    struct twin__index_kept kept = { 0 };
    size_t live = 0;
    if (!twin__index_block_decode(&block, first, value, checking->view->index->version))
        return wrong(checking, "a block of kept sets does not fit its checksum");
    for (size_t i = 0; i < block.count; i++) {
        struct twin__index_set_record set;
        bool found;
        if (!twin__index_block_get(&kept, &block, i) || kept.set < checking->next_kept)
            return wrong(checking, "a block of kept sets is out of order");
        checking->next_kept = kept.set + 1;
        twin_status status = twin__index_view_set(&set, &found, NULL, checking->view, kept.set, checking->error);
        if (status != TWIN_OK)
            return status;
        live += found;
    }
    if (2 * live <= block.count && live < block.count)
        return wrong(checking, "a block keeps more of removed sets than it should");
    checking->kept += live;
    return TWIN_OK;
}

/* ---- lists ---- */

/* Swaps the halves, so that sorting orders entries by number. */
static uint64_t swapped(uint64_t entry)
{
    return entry << 32 | entry >> 32;
}

/* The hash of a set in a list; `found` false: the set was removed. */
static twin_status hash_of_set(uint32_t *out, bool *found, struct checking *checking, uint64_t number, size_t list)
{
    const twin_index_options *options = &checking->view->index->options;
    struct twin__index_set_record set;
    twin_status status =
        twin__index_view_set(&set, found, checking->signature, checking->view, number, checking->error);
    if (status != TWIN_OK || !*found)
        return status;
    if (set.size == 0)
        return wrong(checking, "an empty set is in a run");
    *out = list < twin__index_bands(options) ? twin__index_band_hash(options, checking->signature, list)
                                             : twin__index_digest_hash(set.digest);
    return TWIN_OK;
}

static twin_status hash_of_id(uint32_t *out, bool *found, struct checking *checking, uint64_t number)
{
    struct twin__index_document_record document;
    twin_status status = twin__index_view_document(&document, found, checking->view, number, checking->error);
    if (status == TWIN_OK && *found)
        *out = twin__index_id_hash(checking->view->index, document.id);
    return status;
}

/* Each live number of the run is in the list once, with its hash; the others were removed. */
static twin_status check_entries(struct checking *checking, enum twin__index_postings kind,
                                 struct twin__index_run run, size_t list, uint64_t *live)
{
    for (size_t i = 0; i < run.entries; i++) {
        uint64_t number = run.first + (checking->entries[i] >> 32);
        uint32_t hash = 0;
        bool found = false;
        if (number >= run.end)
            return wrong(checking, "a list names a number outside its run");
        if (i && checking->entries[i] >> 32 == checking->entries[i - 1] >> 32)
            return wrong(checking, "a number is in a list twice");
        twin_status status = kind == TWIN__INDEX_POSTINGS_OF_SETS ? hash_of_set(&hash, &found, checking, number, list)
                                                                  : hash_of_id(&hash, &found, checking, number);
        if (status != TWIN_OK)
            return status;
        if (found && (uint32_t)checking->entries[i] != hash)
            return wrong(checking, "a number is in a list with another hash");
        *live += found;
        status = report_progress(checking);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

static twin_status check_list(struct checking *checking, enum twin__index_postings kind, struct twin__index_run run,
                              size_t list, uint64_t *live)
{
    const twin_index_view *view = checking->view;
    struct twin__index_list from;
    twin_status status = twin__index_list_get(&from, view->index, view->txn, kind, run, list, checking->error);
    if (status != TWIN_OK)
        return status;
    if (!twin__index_list_is_whole(from))
        return wrong(checking, "a list does not fit its checksum");
    for (size_t i = 0; i < from.count; i++) {
        uint64_t entry = twin__index_list_entry(from, i);
        if (i && entry >> 32 < twin__index_list_entry(from, i - 1) >> 32)
            return wrong(checking, "a list is out of order");
        checking->entries[i] = swapped(entry);
    }
    twin__sort(checking->entries, from.count, checking->spare, from.count);
    return check_entries(checking, kind, run, list, live);
}

static twin_status check_run(struct checking *checking, enum twin__index_postings kind, struct twin__index_run run)
{
    size_t lists = twin__index_list_count(&checking->view->index->options, kind);
    checking->entries = malloc((run.entries + 1) * sizeof *checking->entries);
    checking->spare = malloc((run.entries + 1) * sizeof *checking->spare);
    bool room = checking->entries && checking->spare;
    twin_status status = room ? TWIN_OK : twin__fail_memory(checking->error);
    for (size_t list = 0; room && list < lists && status == TWIN_OK; list++) {
        uint64_t live = 0;
        status = check_list(checking, kind, run, list, &live);
        if (status == TWIN_OK && live + run.dead != run.entries)
            status = wrong(checking, "a run has another number of removed entries than it says");
    }
    free(checking->entries);
    free(checking->spare);
    checking->listed[kind] += run.entries - run.dead;
    if (kind == TWIN__INDEX_POSTINGS_OF_SETS)
        checking->dead += run.dead;
    return status;
}

/* Every live set was found once in each list of its run, and every live document, so if the numbers agree none is
 * missing. */
static twin_status check_counts(const struct checking *checking)
{
    const twin_index_view *view = checking->view;
    const struct twin__index_counts *counts = &view->counts;
    if (checking->filled != checking->listed[TWIN__INDEX_POSTINGS_OF_SETS] || checking->dead != counts->dead)
        return wrong(checking, "its bands hold another number of sets than there are");
    if (checking->documents != checking->listed[TWIN__INDEX_POSTINGS_OF_IDS])
        return wrong(checking, "it has another number of ids than documents");
    if (checking->documents != counts->documents || checking->too_short != counts->too_short ||
        checking->sets != counts->sets || checking->members != counts->documents ||
        checking->sets != checking->filled + (counts->empty_set > 0) ||
        checking->sizes.records[TWIN__INDEX_IDS] != view->ids.run_count ||
        checking->sizes.records[TWIN__INDEX_BANDS] != view->bands.run_count * (view->bands.stride + 1))
        return wrong(checking, "its counts are not what they should be");
    if (checking->kept != (view->index->options.keep == TWIN_KEEP_NONE ? 0 : checking->filled))
        return wrong(checking, "it keeps what belongs to no set");
    return TWIN_OK;
}

static twin_status check_all(struct checking *checking)
{
    static const struct {
        enum twin__index_table table;
        record_visit *visit;
    } parts[] = { { TWIN__INDEX_DOCUMENTS, check_document },
                  { TWIN__INDEX_MEMBERS, check_member },
                  { TWIN__INDEX_SETS, check_set },
                  { TWIN__INDEX_KEPT, check_block } };
    twin_index_view *view = checking->view;
    twin_status status = twin__store_check(view->index->store, checking->error);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == TWIN_OK; i++)
        status = each_record(checking, parts[i].table, parts[i].visit);
    for (size_t i = 0; i < view->bands.run_count && status == TWIN_OK; i++)
        status = check_run(checking, TWIN__INDEX_POSTINGS_OF_SETS, view->bands.runs[i]);
    for (size_t i = 0; i < view->ids.run_count && status == TWIN_OK; i++)
        status = check_run(checking, TWIN__INDEX_POSTINGS_OF_IDS, view->ids.runs[i]);
    return status == TWIN_OK ? check_counts(checking) : status;
}

static twin_status check_index(twin_index_view *view, twin_error *error)
{
    struct checking checking = { .view = view, .error = error };
    twin_status status = twin__index_view_check(&checking, view, error);
    if (status != TWIN_OK)
        return status;
    size_t slots = twin__index_slots(&view->index->options);
    status = twin__store_measure(&checking.sizes, view->txn, error);
    if (status != TWIN_OK)
        return status;
    checking.signature = malloc(slots * sizeof *checking.signature);
    checking.recomputed = malloc(slots * sizeof *checking.recomputed);
    checking.total = 3 * view->counts.documents + (2 + twin__index_bands(&view->index->options)) * view->counts.sets +
                     checking.sizes.records[TWIN__INDEX_KEPT];
    status = checking.signature && checking.recomputed ? check_all(&checking) : twin__fail_memory(error);
    free(checking.signature);
    free(checking.recomputed);
    return status;
}

twin_status twin_index_check(twin_index_view *view, twin_progress progress, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, progress, &twin__stage_checking);
    return twin__watch_end(&watch, check_index(view, error), error);
}
