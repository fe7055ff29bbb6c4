/* test_index_model.c — the index against a plain model: a map of ids to sets of words, compared word by word. */
#include "index_frame.h"

/* ---- the model ---- */

enum { IDS = 200, VOCABULARY = 400, MOST_WORDS = 60 };

/* A document is the words it has. */
struct model {
    bool there;
    bool words[VOCABULARY];
    uint32_t label;
    uint64_t time;
    unsigned size;
};

static struct model models[IDS];

static double jaccard(const struct model *a, const struct model *b)
{
    unsigned common = 0, all = 0;
    for (size_t i = 0; i < VOCABULARY; i++) {
        common += a->words[i] && b->words[i];
        all += a->words[i] || b->words[i];
    }
    return all ? (double)common / all : 0;
}

static void count_words(struct model *model)
{
    model->size = 0;
    for (size_t i = 0; i < VOCABULARY; i++)
        model->size += model->words[i];
}

/* A new document: an old one with a few words changed, a copy, a fresh one, or none at all. */
static struct model draw(uint64_t *state)
{
    struct model model = { .there = true,
                           .label = (uint32_t)twin__random_below(state, 3),
                           .time = twin__random_below(state, 1000) };
    uint64_t kind = twin__random_below(state, 20);
    if (kind < 14) {
        const struct model *old = &models[twin__random_below(state, IDS)];
        memcpy(model.words, old->words, sizeof model.words);
    }
    if (kind < 10)
        for (uint64_t i = twin__random_below(state, 12); i > 0; i--)
            model.words[twin__random_below(state, VOCABULARY)] ^= 1;
    if (kind >= 14 && kind < 19)
        for (uint64_t i = 0; i < MOST_WORDS; i++)
            model.words[twin__random_below(state, VOCABULARY)] = true;
    count_words(&model);
    return model;
}

static void write_id(char out[700], size_t id)
{
    /* Every ninth id is longer than LMDB's keys can be. */
    size_t length = (size_t)snprintf(out, 700, "document-%zu", id);
    if (id % 9 == 0) {
        memset(out + length, 'x', 600);
        out[length + 600] = '\0';
    }
}

static void write_text(char *out, const struct model *model)
{
    *out = '\0';
    for (size_t i = 0; i < VOCABULARY; i++)
        if (model->words[i])
            out += sprintf(out, "Word%zu ", i);
}

static size_t id_of(twin_text id)
{
    char start[32] = { 0 }, whole[700];
    memcpy(start, id.bytes, id.length < 31 ? id.length : 31);
    size_t number = strtoul(start + strlen("document-"), NULL, 10);
    write_id(whole, number);
    assert_int_equal(strlen(whole), id.length);
    assert_memory_equal(whole, id.bytes, id.length);
    return number;
}

/* ---- what is done to both ---- */

static void add_some(twin_index *index, uint64_t *state)
{
    enum { MOST = 30 };
    static char ids[MOST][700], texts[MOST][VOCABULARY * 8];
    twin_index_document documents[MOST];
    size_t count = 1 + twin__random_below(state, MOST);
    twin_index_change change = { 0 };
    uint64_t added = 0;
    for (size_t i = 0; i < count; i++) {
        size_t id = twin__random_below(state, IDS);
        struct model model = draw(state);
        added += !models[id].there;
        models[id] = model;
        write_id(ids[i], id);
        write_text(texts[i], &model);
        documents[i] = (twin_index_document){ .id = { ids[i], strlen(ids[i]) },
                                              .text = { texts[i], strlen(texts[i]) },
                                              .label = model.label,
                                              .time = model.time };
    }
    GOOD(twin_index_add(&change, index, documents, count,
                        (twin_index_add_options){ .exec = twin__random_below(state, 2) ? two_threads : serial },
                        &error));
    assert_int_equal(change.added, added);
    assert_int_equal(change.added + change.replaced, count);
}

static void remove_some(twin_index *index, uint64_t *state)
{
    enum { MOST = 20 };
    static char ids[MOST][700];
    twin_text list[MOST];
    bool found[MOST], expected[MOST];
    size_t count = 1 + twin__random_below(state, MOST);
    for (size_t i = 0; i < count; i++) {
        size_t id = twin__random_below(state, IDS);
        write_id(ids[i], id);
        list[i] = (twin_text){ ids[i], strlen(ids[i]) };
        expected[i] = models[id].there;
        models[id].there = false;
    }
    GOOD(twin_index_remove(found, NULL, index, list, count, &error));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(found[i], expected[i]);
}

/* What the queries of a run found and missed. */
struct tally {
    uint64_t similar, missed;
};

static void check_entry(const twin_index_entry *entry, const struct model *asked, twin_keep keep)
{
    const struct model *model = &models[id_of(entry->id)];
    assert_true(model->there);
    assert_int_equal(entry->label, model->label);
    assert_int_equal(entry->time, model->time);
    assert_int_equal(entry->set_size, model->size);
    if (keep == TWIN_KEEP_NONE) /* eight standard errors of 128 slots: 8·0.5/√128 = 0.35 */
        assert_true(fabs(entry->similarity - jaccard(asked, model)) < 0.35);
    else
        assert_true(entry->similarity == jaccard(asked, model));
}

static void ask(twin_index_view *view, const struct model *asked, double threshold, twin_keep keep,
                struct tally *tally)
{
    char text[VOCABULARY * 8];
    bool reported[IDS] = { false };
    twin_index_answer answer = { 0 };
    write_text(text, asked);
    GOOD(twin_index_query(&answer, view, (twin_index_query_options){ .threshold = threshold },
                          (twin_text){ text, strlen(text) }, &error));
    assert_int_equal(answer.estimated, keep == TWIN_KEEP_NONE);
    for (size_t i = 0; i < answer.count; i++) {
        const twin_index_entry *entry = &answer.entries[i];
        check_entry(entry, asked, keep);
        assert_true(entry->similarity >= threshold);
        assert_true(i == 0 || entry->similarity <= answer.entries[i - 1].similarity);
        assert_false(reported[id_of(entry->id)]);
        reported[id_of(entry->id)] = true;
    }
    for (size_t id = 0; id < IDS; id++) {
        double similarity = models[id].there ? jaccard(asked, &models[id]) : 0;
        if (similarity == 1)
            assert_true(reported[id]); /* a copy is never missed */
        tally->similar += similarity >= threshold;
        tally->missed += similarity >= threshold && !reported[id];
    }
    twin_index_answer_clear(&answer);
}

/* The best `top`, and the best of each label, are those at the head of the full answer. */
static void ask_best(twin_index_view *view, const struct model *asked, uint64_t *state)
{
    char text[VOCABULARY * 8];
    twin_index_answer all = { 0 }, best = { 0 };
    write_text(text, asked);
    twin_text query = { text, strlen(text) };
    size_t top = 1 + twin__random_below(state, 5);
    GOOD(twin_index_query(&all, view, (twin_index_query_options){ 0 }, query, &error));
    GOOD(twin_index_query(&best, view, (twin_index_query_options){ .top = top }, query, &error));
    assert_int_equal(best.count, all.count < top ? all.count : top);
    for (size_t i = 0; i < best.count; i++)
        assert_int_equal(best.entries[i].document, all.entries[i].document);

    GOOD(twin_index_query(&best, view, (twin_index_query_options){ .top = top, .per_label = true }, query, &error));
    size_t reported[3] = { 0 }, next = 0;
    for (size_t i = 0; i < all.count; i++)
        if (reported[all.entries[i].label]++ < top) {
            assert_true(next < best.count);
            assert_int_equal(best.entries[next++].document, all.entries[i].document);
        }
    assert_int_equal(next, best.count);
    twin_index_answer_clear(&all);
    twin_index_answer_clear(&best);
}

static void ask_some(twin_index *index, uint64_t *state, twin_keep keep, struct tally *tally)
{
    twin_index_view *view;
    GOOD(twin_index_view_create(&view, index, &error));
    for (int i = 0; i < 8; i++) {
        struct model asked = twin__random_below(state, 2) ? models[twin__random_below(state, IDS)] : draw(state);
        ask(view, &asked, twin__random_below(state, 2) ? 0.5 : 0.8, keep, tally);
        if (keep != TWIN_KEEP_NONE)
            ask_best(view, &asked, state);
    }
    twin_index_view_free(view);
}

struct walk {
    uint64_t count, previous;
};

static bool visit_entry(void *context, const twin_index_entry *entry)
{
    struct walk *walk = context;
    const struct model *model = &models[id_of(entry->id)];
    assert_true(model->there && entry->label == model->label && entry->time == model->time);
    assert_true(walk->count == 0 || entry->document > walk->previous);
    walk->previous = entry->document;
    walk->count++;
    return true;
}

/* Everything that is there, by number and by id. */
static void compare_all(twin_index *index)
{
    twin_index_view *view;
    struct walk walk = { 0 };
    twin_index_info info;
    uint64_t there = 0, too_short = 0;
    GOOD(twin_index_view_create(&view, index, &error));
    GOOD(twin_index_each(view, visit_entry, &walk, &error));
    for (size_t id = 0; id < IDS; id++) {
        char name[700];
        bool found;
        twin_index_entry entry;
        write_id(name, id);
        GOOD(twin_index_find(&entry, &found, view, (twin_text){ name, strlen(name) }, &error));
        assert_int_equal(found, models[id].there);
        there += models[id].there;
        too_short += models[id].there && models[id].size == 0;
    }
    assert_int_equal(walk.count, there);
    GOOD(twin_index_describe(&info, view, &error));
    assert_int_equal(info.documents, there);
    assert_int_equal(info.too_short, too_short);
    GOOD(twin_index_check(view, (twin_progress){ 0 }, &error));
    twin_index_view_free(view);
}

static void run_model(twin_keep keep)
{
    enum { STEPS = QUICK ? 120 : 400 };
    uint64_t state = 100 + keep;
    struct tally tally = { 0 };
    memset(models, 0, sizeof models);
    GOOD(twin_index_create(path, options_for(keep), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    for (int step = 0; step < STEPS; step++) {
        uint64_t what = twin__random_below(&state, 20);
        if (what < 8)
            add_some(index, &state);
        else if (what < 11)
            remove_some(index, &state);
        else if (what < 17)
            ask_some(index, &state, keep, &tally);
        else if (what < 18)
            compare_all(index);
        else {
            twin_index_close(index);
            if (what == 19)
                GOOD(twin_index_compact(path, (twin_progress){ 0 }, &error));
            index = open_index(TWIN_INDEX_WRITE);
        }
    }
    compare_all(index);
    twin_index_close(index);
    assert_true(tally.similar > (QUICK ? 100 : 1000));
    /* The plan misses at most 1 in 1,000 at the threshold. Of the same pairs asked again and again 1 in 100 is ten
     * times that. Estimates may fall to the wrong side of the threshold, and are not counted. */
    if (keep != TWIN_KEEP_NONE)
        assert_true(tally.missed * 100 <= tally.similar);
}

static void an_index_of_sets_answers_as_a_plain_map_does(void **state)
{
    (void)state;
    run_model(TWIN_KEEP_SETS);
}

static void an_index_of_texts_answers_as_a_plain_map_does(void **state)
{
    (void)state;
    run_model(TWIN_KEEP_TEXT);
}

static void an_index_of_signatures_answers_nearly_so(void **state)
{
    (void)state;
    run_model(TWIN_KEEP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_of_sets_answers_as_a_plain_map_does),
        cmocka_unit_test(an_index_of_texts_answers_as_a_plain_map_does),
        cmocka_unit_test(an_index_of_signatures_answers_nearly_so),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
