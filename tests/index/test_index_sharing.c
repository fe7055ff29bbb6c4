/* test_index_sharing.c — handles, threads and processes that share a file. */
#include "index_frame.h"

/* ---- views and threads ---- */

static void a_view_stays_as_it_was(void **state)
{
    (void)state;
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_TEXT), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    add_words(index, 0, 20);
    twin_index_view *view;
    GOOD(twin_index_view_create(&view, index, &error));
    for (size_t i = 0; i < 20; i++) {
        char id[16];
        sprintf(id, "%zu", i);
        GOOD(twin_index_remove(NULL, NULL, index, &(twin_text){ id, strlen(id) }, 1, &error));
        add_words(index, 100 + 5 * i, 5);
    }
    GOOD(twin_index_check(view, (twin_progress){ 0 }, &error));
    assert_int_equal(view->counts.documents, 20);
    GOOD(twin_index_view_renew(view, &error));
    assert_int_equal(view->counts.documents, 100);
    GOOD(twin_index_check(view, (twin_progress){ 0 }, &error));
    twin_index_view_free(view);
    twin_index_close(index);
}

static bool hear_entry(void *context, const twin_index_entry *entry)
{
    (void)context, (void)entry;
    return true;
}

/* Another process compacts the index and changes it: a view cannot be renewed, and says so whatever it is asked. */
static void a_view_that_could_not_be_renewed_is_empty(void **state)
{
    (void)state;
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_TEXT), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    add_words(index, 0, 20);
    twin_index_close(index);
    index = open_index(TWIN_INDEX_READ);
    twin_index_view *view;
    GOOD(twin_index_view_create(&view, index, &error));
    pid_t child = fork();
    if (child == 0) {
        twin_index *own;
        bool good = twin_index_compact(path, (twin_progress){ 0 }, NULL) == TWIN_OK &&
                    twin_index_open(&own, path, TWIN_INDEX_WRITE, NULL) == TWIN_OK;
        for (size_t i = 20; good && i < 24; i++)
            add_words(own, i, 1);
        _exit(good ? 0 : 1);
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);

    twin_index_answer answer = { 0 };
    twin_index_entry entry;
    twin_index_info info;
    twin_text text;
    twin_set set;
    const uint32_t *signature;
    bool found;
    BAD(TWIN_EBUSY, "was replaced", twin_index_view_renew(view, &error));
    static const char empty[] = "the view is empty";
    BAD(TWIN_EINVAL, empty, twin_index_each(view, hear_entry, NULL, &error));
    BAD(TWIN_EINVAL, empty, twin_index_find(&entry, &found, view, (twin_text){ "1", 1 }, &error));
    BAD(TWIN_EINVAL, empty,
        twin_index_query(&answer, view, (twin_index_query_options){ 0 }, (twin_text){ "1", 1 }, &error));
    BAD(TWIN_EINVAL, empty, twin_index_describe(&info, view, &error));
    BAD(TWIN_EINVAL, empty, twin_index_check(view, (twin_progress){ 0 }, &error));
    BAD(TWIN_EINVAL, empty, twin_index_text(&text, view, (twin_index_entry){ .set_size = 1 }, &error));
    BAD(TWIN_EINVAL, empty, twin_index_set(&set, view, (twin_index_entry){ .set_size = 1 }, &error));
    BAD(TWIN_EINVAL, empty, twin_index_signature(&signature, view, (twin_index_entry){ .set_size = 1 }, &error));
    BAD(TWIN_EBUSY, "was replaced", twin_index_view_renew(view, &error));
    twin_index_view_free(view);
    twin_index_close(index);
}

struct reader {
    twin_index *index;
    int asked;
    bool good;
};

static void *read_along(void *context)
{
    struct reader *reader = context;
    twin_index_answer answer = { 0 };
    reader->good = true;
    for (int i = 0; i < reader->asked && reader->good; i++) {
        twin_index_view *view;
        twin_error error = { 0 };
        reader->good = twin_index_view_create(&view, reader->index, &error) == TWIN_OK;
        if (!reader->good)
            break;
        /* The document "always" is in every transaction. */
        reader->good = twin_index_query(&answer, view, (twin_index_query_options){ 0 },
                                        (twin_text){ "this one is always here", 23 }, &error) == TWIN_OK &&
                       answer.count == 1 && answer.entries[0].similarity == 1;
        twin_index_view_free(view);
    }
    twin_index_answer_clear(&answer);
    return NULL;
}

static void threads_read_while_one_writes(void **state)
{
    (void)state;
    enum { READERS = 3 };
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    twin_index_document always = { .id = { "always", 6 }, .text = { "this one is always here", 23 } };
    GOOD(twin_index_add(NULL, index, &always, 1, (twin_index_add_options){ .exec = serial }, &error));
    pthread_t threads[READERS];
    struct reader readers[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){ .index = index, .asked = QUICK ? 100 : 1000 };
        assert_int_equal(pthread_create(&threads[i], NULL, read_along, &readers[i]), 0);
    }
    for (size_t i = 0; i < 20; i++) {
        add_words(index, 10 * i, 15); /* a third of them replaced by the next */
        GOOD(twin_index_add(NULL, index, &always, 1, (twin_index_add_options){ .exec = serial }, &error));
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(readers[i].good);
    }
    check_index(index);
    twin_index_close(index);
}

/* ---- once ---- */

static const char *const held_words = "store.twin: this process has it open; close it first";

/* What a child answers that inherits all this process has open. */
static bool child_says(bool (*question)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(question() ? 0 : 1);
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Whoever closes it drops the locks that his process has on it. */
static int open_lock_file(void)
{
    char lock_path[128];
    snprintf(lock_path, sizeof lock_path, "%s-lock", path);
    return open(lock_path, O_RDWR | O_CLOEXEC);
}

/* Whether another process, which the caller must be, meets LMDB's locks. */
static bool meets_locks(void)
{
    struct flock met = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = open_lock_file();
    return fd >= 0 && fcntl(fd, F_GETLK, &met) == 0 && met.l_type != F_UNLCK;
}

/* Under one name, a symbolic link and a hard link; what one handle writes the other reads, and closing one leaves the
 * locks of the other. */
static void handles_share_a_file_whatever_it_is_called(void **state)
{
    (void)state;
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    uint64_t documents = 0;
    for (int round = 0; round < 6; round++) {
        twin_index *first, *second;
        int link_kind = round / 2;
        const char *name = link_kind == 0 ? path : other_path;
        if (link_kind > 0)
            assert_int_equal(link_kind == 1 ? symlink(path, other_path) : link(path, other_path), 0);
        GOOD(twin_index_open(&first, path, round % 2 ? TWIN_INDEX_READ : TWIN_INDEX_WRITE, &error));
        GOOD(twin_index_open(&second, name, TWIN_INDEX_WRITE, &error));
        twin_index_view *view;
        GOOD(twin_index_view_create(&view, first, &error));
        add_words(second, documents, 5);
        assert_int_equal(view->counts.documents, documents);
        twin_index_view_free(view);
        documents += 5;
        assert_int_equal(documents_in(first), documents);
        twin_index_document document = { .id = { "x", 1 }, .text = { "y", 1 } };
        if (round % 2)
            BAD(TWIN_EINVAL, "reading only",
                twin_index_add(NULL, first, &document, 1, (twin_index_add_options){ .exec = serial }, &error));
        assert_true(child_says(meets_locks));
        twin_index_close(link_kind % 2 ? first : second);
        assert_true(child_says(meets_locks));
        check_index(link_kind % 2 ? second : first);
        twin_index_close(link_kind % 2 ? second : first);
        assert_false(child_says(meets_locks));
        remove_with_lock_file(other_path);
    }
}

enum { WRITERS = 3, BATCHES = QUICK ? 5 : 20 };

struct writer {
    twin_index *index;
    size_t from;
};

static void *write_batches(void *context)
{
    const struct writer *writer = context;
    for (size_t i = 0; i < BATCHES; i++)
        add_words(writer->index, writer->from + 3 * i, 3);
    return NULL;
}

/* Each writes through a handle of its own, with a small map that has to grow again and again, and reads in between. */
static void handles_write_side_by_side(void **state)
{
    (void)state;
    pthread_t threads[WRITERS];
    struct writer writers[WRITERS];
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ open_index(TWIN_INDEX_WRITE), 1000 * i };
        shrink_map(writers[i].index);
    }
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_batches, &writers[i]), 0);
    for (size_t i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        twin_index_close(writers[i].index); /* others are still writing */
    }
    twin_index *index = open_index(TWIN_INDEX_READ);
    assert_int_equal(documents_in(index), 3 * BATCHES * WRITERS);
    check_index(index);
    twin_index_close(index);
}

static void two_files_are_open_side_by_side(void **state)
{
    (void)state;
    twin_index *other;
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    GOOD(twin_index_create(other_path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    GOOD(twin_index_open(&other, other_path, TWIN_INDEX_WRITE, &error));
    add_words(index, 0, 5);
    add_words(other, 0, 5);
    twin_index_close(index);
    index = open_index(TWIN_INDEX_READ); /* the first of the list, then the last, has gone */
    twin_index_close(other);
    GOOD(twin_index_open(&other, other_path, TWIN_INDEX_READ, &error));
    check_index(index);
    check_index(other);
    twin_index_close(other);
    twin_index_close(index);
    remove_with_lock_file(other_path);
}

static void an_open_file_is_not_replaced(void **state)
{
    (void)state;
    twin_index_options options = options_for(TWIN_KEEP_SETS);
    GOOD(twin_index_create(path, options, true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    for (int attempt = 0; attempt < 2; attempt++) {
        BAD(TWIN_EBUSY, held_words, twin_index_compact(path, (twin_progress){ 0 }, &error));
        BAD(TWIN_EBUSY, held_words, twin_index_create(path, options, true, &error));
        BAD(TWIN_EINVAL, "already exists", twin_index_create(path, options, false, &error));
        assert_true(child_says(meets_locks));
    }
    add_words(index, 0, 5);
    twin_index_close(index);
    GOOD(twin_index_compact(path, (twin_progress){ 0 }, &error));
    index = open_index(TWIN_INDEX_WRITE); /* another file now */
    check_index(index);
    twin_index_close(index);
    GOOD(twin_index_create(path, options, true, &error));
    twin_index_close(open_index(TWIN_INDEX_READ));

    int others = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(others, LOCK_SH), 0);
    BAD(TWIN_EBUSY, "is in use by another process", twin_index_create(path, options, true, &error));
    assert_int_equal(flock(others, LOCK_EX), 0);
    BAD(TWIN_EBUSY, "is being replaced", twin_index_open(&index, path, TWIN_INDEX_READ, &error));
    close(others);
}

/* The lock file goes by the name, so two files behind one name would share it. */
static void a_name_given_to_another_file_waits_for_the_first(void **state)
{
    (void)state;
    twin_index *second;
    remove_with_lock_file(path); /* so that the lock file is made by the first */
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *first = open_index(TWIN_INDEX_WRITE);
    assert_int_equal(unlink(path), 0);
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), false, &error));
    const char *words = "store.twin: this process still has the file open that had this name before";
    BAD(TWIN_EBUSY, words, twin_index_open(&second, path, TWIN_INDEX_WRITE, &error));
    BAD(TWIN_EBUSY, words, twin_index_compact(path, (twin_progress){ 0 }, &error));
    assert_true(child_says(meets_locks));
    twin_index_close(first);
    GOOD(twin_index_compact(path, (twin_progress){ 0 }, &error));
    twin_index_close(open_index(TWIN_INDEX_WRITE));
}

static void what_could_not_be_opened_is_not_held(void **state)
{
    (void)state;
    twin_index *index;
    char page[8192] = { 0 };
    write_whole(path, page, sizeof page);
    struct stat bad, good;
    assert_int_equal(stat(path, &bad), 0);
    for (int attempt = 0; attempt < 3; attempt++) {
        BAD(TWIN_EFORMAT, "is not an index", twin_index_open(&index, path, TWIN_INDEX_WRITE, &error));
        BAD(TWIN_EFORMAT, "is not an index", twin_index_compact(path, (twin_progress){ 0 }, &error));
    }
    /* The same file, made good. */
    size_t size;
    GOOD(twin_index_create(other_path, options_for(TWIN_KEEP_SETS), true, &error));
    char *bytes = read_whole(&size, other_path);
    write_whole(path, bytes, size);
    free(bytes);
    assert_int_equal(stat(path, &good), 0);
    assert_true(bad.st_ino == good.st_ino);
    index = open_index(TWIN_INDEX_WRITE);
    BAD(TWIN_EBUSY, held_words, twin_index_compact(path, (twin_progress){ 0 }, &error));
    twin_index_close(index);
    GOOD(twin_index_compact(path, (twin_progress){ 0 }, &error));
    remove_with_lock_file(other_path);
}

static twin_index *of_parent;

static bool opens_itself(void)
{
    twin_index *index, *second;
    twin_index_view *view;
    bool good = twin_index_open(&index, path, TWIN_INDEX_WRITE, NULL) == TWIN_OK &&
                twin_index_open(&second, path, TWIN_INDEX_READ, NULL) == TWIN_OK;
    if (!good)
        return false;
    good = twin_index_view_create(&view, of_parent, NULL) == TWIN_EINVAL &&
           twin_index_remove(NULL, NULL, of_parent, NULL, 0, NULL) == TWIN_EINVAL;
    twin_index_close(of_parent); /* which leaves the locks of the others */
    twin_index_close(second);
    return good && twin_index_remove(NULL, NULL, index, NULL, 0, NULL) == TWIN_OK;
}

static void a_child_opens_for_itself_what_its_parent_has_open(void **state)
{
    (void)state;
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    of_parent = open_index(TWIN_INDEX_WRITE);
    assert_true(child_says(opens_itself));
    assert_true(child_says(meets_locks));
    add_words(of_parent, 0, 5);
    check_index(of_parent);
    twin_index_close(of_parent);
}

/* Threads that set out for the same thing at once, again and again. */
enum { RIVALS = 4 };

struct race {
    pthread_barrier_t line;
    unsigned rounds;
    int lock_file;
    unsigned won[RIVALS], lost[RIVALS]; /* as they should; anything else is neither */
};

struct rival {
    struct race *race;
    int number;
};

static void run_race(struct race *race, void *(*run)(void *rival))
{
    pthread_t threads[RIVALS];
    struct rival rivals[RIVALS];
    assert_int_equal(pthread_barrier_init(&race->line, NULL, RIVALS), 0);
    for (int i = 0; i < RIVALS; i++) {
        rivals[i] = (struct rival){ race, i };
        assert_int_equal(pthread_create(&threads[i], NULL, run, &rivals[i]), 0);
    }
    for (int i = 0; i < RIVALS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&race->line);
}

static unsigned sum_of(const unsigned counts[RIVALS])
{
    unsigned sum = 0;
    for (int i = 0; i < RIVALS; i++)
        sum += counts[i];
    return sum;
}

/* Whether LMDB's locks are on the lock file, asked by a descriptor that never takes or drops any. */
static bool is_locked(int lock_file)
{
    struct flock met = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    return fcntl(lock_file, F_OFD_GETLK, &met) == 0 && met.l_type != F_UNLCK;
}

static void *open_at_once(void *arg)
{
    const struct rival *rival = arg;
    struct race *race = rival->race;
    twin_text id = { "no such id", 10 };
    for (unsigned round = 0; round < race->rounds; round++) {
        twin_index *index;
        twin_error error = { 0 };
        pthread_barrier_wait(&race->line);
        bool good = twin_index_open(&index, path, TWIN_INDEX_WRITE, &error) == TWIN_OK;
        if (round % 16 == 0)
            good = good && twin_index_remove(NULL, NULL, index, &id, 1, &error) == TWIN_OK;
        if (rival->number != (int)(round % RIVALS)) /* who opens the next time while the last one closes */
            twin_index_close(index);
        pthread_barrier_wait(&race->line);
        if (rival->number == (int)(round % RIVALS)) {
            good = good && is_locked(race->lock_file);
            twin_index_close(index);
        }
        race->won[rival->number] += good;
    }
    return NULL;
}

static void threads_that_open_at_once_share(void **state)
{
    (void)state;
    struct race race = { .rounds = QUICK ? 50 : 300 };
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index_close(open_index(TWIN_INDEX_WRITE)); /* which makes the lock file */
    race.lock_file = open_lock_file();
    run_race(&race, open_at_once);
    assert_int_equal(sum_of(race.won), race.rounds * RIVALS);
    assert_false(is_locked(race.lock_file));
    close(race.lock_file);
}

static void *create_at_once(void *arg)
{
    const struct rival *rival = arg;
    struct race *race = rival->race;
    for (unsigned round = 0; round < race->rounds; round++) {
        twin_error error = { 0 };
        if (rival->number == 0)
            unlink(path);
        pthread_barrier_wait(&race->line);
        twin_status status = twin_index_create(path, options_for(TWIN_KEEP_SETS), false, &error);
        race->lost[rival->number] += status == TWIN_EINVAL && strstr(error.message, "already exists");
        pthread_barrier_wait(&race->line);
        twin_index *index = NULL;
        if (status == TWIN_OK && twin_index_open(&index, path, TWIN_INDEX_WRITE, &error) == TWIN_OK)
            race->won[rival->number]++;
        twin_index_close(index);
        pthread_barrier_wait(&race->line);
    }
    return NULL;
}

static void of_threads_that_create_at_once_one_wins(void **state)
{
    (void)state;
    struct race race = { .rounds = QUICK ? 20 : 100 };
    run_race(&race, create_at_once);
    assert_int_equal(sum_of(race.won), race.rounds);
    assert_int_equal(sum_of(race.lost), race.rounds * (RIVALS - 1));
}

/* Opens what another thread is replacing, as soon as it can. */
static twin_index *open_soon(void)
{
    twin_index *index;
    twin_error error = { 0 };
    while (twin_index_open(&index, path, TWIN_INDEX_WRITE, &error) == TWIN_EBUSY &&
           strstr(error.message, "is being replaced"))
        sched_yield();
    return index;
}

static void *compact_or_open(void *arg)
{
    const struct rival *rival = arg;
    struct race *race = rival->race;
    for (unsigned round = 0; round < race->rounds; round++) {
        twin_index *index = NULL;
        pthread_barrier_wait(&race->line);
        if (rival->number == 0) {
            twin_status status = twin_index_compact(path, (twin_progress){ 0 }, NULL);
            race->lost[0] += status == TWIN_OK || status == TWIN_EBUSY;
        } else
            index = open_soon();
        pthread_barrier_wait(&race->line); /* the one who compacts has closed all that it had */
        race->won[rival->number] += index && is_locked(race->lock_file);
        pthread_barrier_wait(&race->line);
        twin_index_close(index);
    }
    return NULL;
}

static void one_who_opens_a_new_file_keeps_its_locks(void **state)
{
    (void)state;
    struct race race = { .rounds = QUICK ? 50 : 200 };
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index_close(open_index(TWIN_INDEX_WRITE)); /* which makes the lock file */
    race.lock_file = open_lock_file();
    run_race(&race, compact_or_open);
    assert_int_equal(sum_of(race.won), race.rounds * (RIVALS - 1));
    assert_int_equal(race.lost[0], race.rounds);
    close(race.lock_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_stays_as_it_was),
        cmocka_unit_test(a_view_that_could_not_be_renewed_is_empty),
        cmocka_unit_test(threads_read_while_one_writes),
        cmocka_unit_test(handles_share_a_file_whatever_it_is_called),
        cmocka_unit_test(handles_write_side_by_side),
        cmocka_unit_test(two_files_are_open_side_by_side),
        cmocka_unit_test(an_open_file_is_not_replaced),
        cmocka_unit_test(a_name_given_to_another_file_waits_for_the_first),
        cmocka_unit_test(what_could_not_be_opened_is_not_held),
        cmocka_unit_test(a_child_opens_for_itself_what_its_parent_has_open),
        cmocka_unit_test(threads_that_open_at_once_share),
        cmocka_unit_test(of_threads_that_create_at_once_one_wins),
        cmocka_unit_test(one_who_opens_a_new_file_keeps_its_locks),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
