/* damage.c — damages an index in many ways, and demands that no command dies, hangs, or answers wrongly.
 *
 *     damage [--cases N] [--seed N] [--keep sets|text|none] [--folder F] [--table]
 *
 * A small index of several runs with removed documents is written and its answers are noted. Then, for each way of
 * damage, copies of the file are damaged and a child of fork() opens each: check, info, query, pairs and export must
 * either be refused with TWIN_EFORMAT or give the same answer as before, and check must not call good what another
 * got wrong; add, remove and compact must be done or refused. Part of the suite with a few cases; run it long by
 * hand. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <twinsift/index.h>
#include <unistd.h>

#include "base/random.h"

enum { DOCUMENTS = 60, WORDS = 40, TEXT_BYTES = WORDS * 12, PAGE = 4096, SECONDS = 120 };

static char path[256];
static uint64_t seed = 1, cases = 40;
static bool table;
static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

__attribute__((noreturn)) static void die(const char *what, const char *why)
{
    fprintf(stderr, "damage: %s: %s\n", what, why);
    exit(1);
}

static void must(twin_status status, const char *what, const twin_error *error)
{
    if (status != TWIN_OK)
        die(what, error->message[0] ? error->message : twin_status_text(status));
}

/* ---- the index ---- */

static char texts[DOCUMENTS][TEXT_BYTES], ids[DOCUMENTS][16];

/* Every third document is like the one before, every tenth a copy of it. */
static void write_documents(void)
{
    uint64_t random = 7;
    for (size_t i = 0; i < DOCUMENTS; i++) {
        snprintf(ids[i], sizeof ids[i], "doc-%zu", i);
        if (i % 10 == 5) {
            memcpy(texts[i], texts[i - 1], TEXT_BYTES);
            continue;
        }
        size_t length = 0;
        for (size_t word = 0; word < WORDS; word++) {
            uint64_t which = twin__random_below(&random, 100000);
            if (i % 3 == 1 && word > 2)
                which = 1000000 * (i / 3) + word;
            if (i % 3 == 2 && word > 4)
                which = 1000000 * (i / 3) + word;
            length += (size_t)snprintf(texts[i] + length, TEXT_BYTES - length, "w%llu ", (unsigned long long)which);
        }
    }
}

static void add_range(twin_index *index, size_t first, size_t count)
{
    twin_index_document documents[DOCUMENTS];
    twin_error error = { 0 };
    for (size_t i = 0; i < count; i++)
        documents[i] = (twin_index_document){ .id = { ids[first + i], strlen(ids[first + i]) },
                                              .text = { texts[first + i], strlen(texts[first + i]) },
                                              .label = (uint32_t)(first + i) % 2 };
    must(twin_index_add(NULL, index, documents, count, (twin_index_add_options){ .exec = serial }, &error), "add",
         &error);
}

static void make_index(twin_keep keep)
{
    twin_index_options options = { .scheme.shingle = { .kind = TWIN_SHINGLE_WORD, .width = 1 },
                                   .scheme.minhash = { .slots = 128 },
                                   .scheme.threshold = 0.6,
                                   .keep = keep };
    twin_error error = { 0 };
    twin_index *index;
    unlink(path); /* what was damaged last may not be an index any more, and is then not replaced */
    must(twin_index_create(path, options, true, &error), "create", &error);
    must(twin_index_open(&index, path, TWIN_INDEX_WRITE, &error), "open", &error);
    add_range(index, 0, 35);
    add_range(index, 35, 15);
    add_range(index, 50, 10);
    for (size_t i = 3; i < DOCUMENTS; i += 11)
        must(twin_index_remove(NULL, NULL, index, &(twin_text){ ids[i], strlen(ids[i]) }, 1, &error), "remove",
             &error);
    twin_index_close(index);
}

/* ---- answers, as a hash of all that they contain ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    return hash;
}

static uint64_t mix_entry(uint64_t hash, const twin_index_entry *entry)
{
    hash = mix(hash, entry->id.bytes, entry->id.length);
    hash = mix(hash, &entry->label, sizeof entry->label);
    return mix(hash, &entry->similarity, sizeof entry->similarity);
}

struct answering {
    uint64_t hash;
    twin_index *index;
    twin_index_view *view;
    twin_status status;
};

static twin_status check(struct answering *a)
{
    return twin_index_check(a->view, (twin_progress){ 0 }, NULL);
}

static twin_status info(struct answering *a)
{
    twin_index_info info;
    twin_status status = twin_index_describe(&info, a->view, NULL);
    info.bytes = info.free_bytes = 0; /* less, and nothing lost, where only free pages were cut off */
    a->hash = mix(0, &info, sizeof info);
    return status;
}

static twin_status query(struct answering *a)
{
    twin_index_answer answer = { 0 };
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < DOCUMENTS && status == TWIN_OK; i++) {
        status = twin_index_query(&answer, a->view, (twin_index_query_options){ 0 },
                                  (twin_text){ texts[i], strlen(texts[i]) }, NULL);
        for (size_t j = 0; j < answer.count; j++)
            a->hash = mix_entry(a->hash, &answer.entries[j]);
    }
    twin_index_answer_clear(&answer);
    return status;
}

static bool hash_pair(void *context, const twin_index_entry *x, const twin_index_entry *y, double similarity)
{
    struct answering *a = context;
    a->hash = mix(mix_entry(mix_entry(a->hash, x), y), &similarity, sizeof similarity);
    return true;
}

static twin_status pairs(struct answering *a)
{
    return twin_index_pairs(a->index, (twin_index_pairs_options){ .exec = serial }, hash_pair, a, NULL);
}

static bool hash_document(void *context, const twin_index_entry *entry)
{
    struct answering *a = context;
    twin_keep keep = twin_index_options_of(a->index).keep;
    twin_set set;
    twin_text text;
    a->hash = mix_entry(a->hash, entry);
    if (keep == TWIN_KEEP_TEXT && (a->status = twin_index_text(&text, a->view, *entry, NULL)) == TWIN_OK)
        a->hash = mix(a->hash, text.bytes, text.length);
    if (keep == TWIN_KEEP_SETS && (a->status = twin_index_set(&set, a->view, *entry, NULL)) == TWIN_OK)
        a->hash = mix(a->hash, set.items, set.count * sizeof *set.items);
    return a->status == TWIN_OK;
}

static twin_status export(struct answering *a)
{
    twin_status status = twin_index_each(a->view, hash_document, a, NULL);
    return status == TWIN_ESTOPPED ? a->status : status;
}

enum { CHECK, INFO, QUERY, PAIRS, EXPORT, READINGS, CHANGE = READINGS, COMMANDS };
static const struct {
    const char *name;
    twin_status (*run)(struct answering *);
} readings[READINGS] = {
    { "check", check }, { "info", info }, { "query", query }, { "pairs", pairs }, { "export", export },
};

/* ---- what a child finds ---- */

struct result {
    int running; /* the command in which a child died */
    twin_status status[COMMANDS];
    uint64_t hash[READINGS];
};
static struct result *result, reference; /* the first is shared with children */

static void read_all(void)
{
    struct answering a = { 0 };
    twin_status status = twin_index_open(&a.index, path, TWIN_INDEX_READ, NULL);
    if (status == TWIN_OK)
        status = twin_index_view_create(&a.view, a.index, NULL);
    for (int i = 0; i < READINGS; i++) {
        result->running = i;
        a.hash = 0;
        result->status[i] = status == TWIN_OK ? readings[i].run(&a) : status;
        result->hash[i] = a.hash;
    }
    twin_index_view_free(a.view);
    twin_index_close(a.index);
}

static twin_status change_all(void)
{
    static const char text[] = "a new text of some words that will be added to what there is";
    twin_index_document document = { .id = { "new", 3 }, .text = { text, sizeof text - 1 } };
    twin_index *index;
    twin_status status = twin_index_open(&index, path, TWIN_INDEX_WRITE, NULL);
    if (status == TWIN_OK)
        status = twin_index_add(NULL, index, &document, 1, (twin_index_add_options){ .exec = serial }, NULL);
    for (size_t i = 0; i < DOCUMENTS && status == TWIN_OK; i += 7)
        status = twin_index_remove(NULL, NULL, index, &(twin_text){ ids[i], strlen(ids[i]) }, 1, NULL);
    twin_index_close(index);
    return status == TWIN_OK ? twin_index_compact(path, (twin_progress){ 0 }, NULL) : status;
}

static int run_child(void)
{
    int status;
    *result = (struct result){ 0 };
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        read_all();
        result->running = CHANGE;
        result->status[CHANGE] = change_all();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("fork", "failed");
    return status;
}

/* ---- judging ---- */

struct tally {
    uint64_t cases, refused, deaths, hangs, silent[READINGS], unnoticed, strange;
};

static const char *command_name(int command)
{
    return command < READINGS ? readings[command].name : "change";
}

static void report(const char *kind, uint64_t number, const char *what, int command)
{
    fprintf(stderr, "damage: %s %llu: %s in %s\n", kind, (unsigned long long)number, what, command_name(command));
}

static void judge(struct tally *tally, const char *kind, uint64_t number, int status)
{
    bool wrong = false;
    tally->cases++;
    if (WIFSIGNALED(status)) {
        bool hang = WTERMSIG(status) == SIGALRM;
        tally->hangs += hang;
        tally->deaths += !hang;
        report(kind, number, hang ? "a hang" : strsignal(WTERMSIG(status)), result->running);
        return;
    }
    for (int i = 0; i < COMMANDS; i++)
        if (result->status[i] != TWIN_OK && result->status[i] != TWIN_EFORMAT) {
            tally->strange++;
            report(kind, number, twin_status_text(result->status[i]), i);
        }
    for (int i = INFO; i < READINGS; i++)
        if (result->status[i] == TWIN_OK && result->hash[i] != reference.hash[i]) {
            tally->silent[i]++;
            wrong = true;
            report(kind, number, "another answer", i);
        }
    tally->refused += result->status[CHECK] != TWIN_OK;
    tally->unnoticed += wrong && result->status[CHECK] == TWIN_OK;
}

/* ---- damage ---- */

static unsigned char *original, *damaged;
static size_t size;

static size_t page_count(void)
{
    return size / PAGE;
}

static size_t flip_random(uint64_t number)
{
    uint64_t random = seed * 1000003 + number;
    size_t bit = twin__random_below(&random, 8 * size);
    damaged[bit / 8] = (unsigned char)(damaged[bit / 8] ^ 1 << bit % 8);
    return size;
}

/* A random bit among the headers and pointers of a page, where a random bit of the file seldom falls. */
static size_t flip_head(uint64_t number)
{
    uint64_t random = seed * 2000003 + number;
    size_t page = twin__random_below(&random, page_count()), bit = twin__random_below(&random, 8 * 64);
    damaged[page * PAGE + bit / 8] = (unsigned char)(damaged[page * PAGE + bit / 8] ^ 1 << bit % 8);
    return size;
}

/* Each bit of bytes 10 .. 18 of each page in turn. */
static size_t flip_aimed(uint64_t number)
{
    uint64_t byte = 10 + number / 8 % 9, page = number / 72 % page_count();
    damaged[page * PAGE + byte] = (unsigned char)(damaged[page * PAGE + byte] ^ 1 << number % 8);
    return size;
}

static size_t swap_pages(uint64_t number)
{
    uint64_t random = seed * 3000017 + number;
    unsigned char page[PAGE];
    unsigned char *a = damaged + PAGE * twin__random_below(&random, page_count());
    unsigned char *b = damaged + PAGE * twin__random_below(&random, page_count());
    memcpy(page, a, PAGE);
    memmove(a, b, PAGE);
    memcpy(b, page, PAGE);
    if (number % 2) { /* with the right numbers on them */
        uint64_t at_a = (uint64_t)(a - damaged) / PAGE, at_b = (uint64_t)(b - damaged) / PAGE;
        memcpy(a, &at_a, sizeof at_a);
        memcpy(b, &at_b, sizeof at_b);
    }
    return size;
}

static size_t zero_page(uint64_t number)
{
    memset(damaged + number % page_count() * PAGE, 0, PAGE);
    return size;
}

static size_t cut(uint64_t number)
{
    uint64_t random = seed * 5000011 + number;
    return twin__random_below(&random, size);
}

static const struct {
    const char *name;
    size_t (*apply)(uint64_t number);
    unsigned share; /* of the cases that are asked for, in percent */
    bool steps;     /* takes its cases in turn: 72 per page */
} ways[] = {
    { "flip", flip_random, 100, false },     { "head flip", flip_head, 100, false },
    { "aimed flip", flip_aimed, 100, true }, { "swap", swap_pages, 50, false },
    { "zero", zero_page, 50, false },        { "cut", cut, 25, false },
};

static void write_damaged(size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(damaged, 1, length, file) != length || fclose(file) != 0)
        die(path, "could not be written");
}

static uint64_t try_way(size_t way, twin_keep keep)
{
    struct tally tally = { 0 };
    uint64_t count = (cases * ways[way].share + 99) / 100, all = 72 * page_count();
    for (uint64_t i = 0; i < count && !(ways[way].steps && i >= all); i++) {
        /* Steps of a size that has no factor in common with their number meet each once. */
        uint64_t number = ways[way].steps && count < all ? (seed + i * 1000003) % all : i;
        memcpy(damaged, original, size);
        write_damaged(ways[way].apply(number));
        judge(&tally, ways[way].name, number, run_child());
    }
    uint64_t silent = 0;
    for (int i = 0; i < READINGS; i++)
        silent += tally.silent[i];
    if (table)
        printf(
            "%s\t%s\t%llu cases\t%llu deaths\t%llu hangs\t%llu other answers\t%llu refused by check\t%llu wrong and "
            "called good\n",
            twin_name_of(TWIN_NAMES_KEEP, keep), ways[way].name, (unsigned long long)tally.cases,
            (unsigned long long)tally.deaths, (unsigned long long)tally.hangs, (unsigned long long)silent,
            (unsigned long long)tally.refused, (unsigned long long)tally.unnoticed);
    return tally.deaths + tally.hangs + silent + tally.unnoticed + tally.strange;
}

static void read_original(void)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        die(path, "could not be read");
    size = (size_t)ftell(file);
    rewind(file);
    original = malloc(size);
    damaged = malloc(size);
    if (!original || !damaged || fread(original, 1, size, file) != size)
        die(path, "could not be read");
    fclose(file);
}

static uint64_t try_index(twin_keep keep)
{
    uint64_t bad = 0;
    make_index(keep);
    read_original();
    read_all();
    reference = *result;
    for (int i = 0; i < READINGS; i++)
        must(reference.status[i], readings[i].name, &(twin_error){ 0 });
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
        bad += try_way(way, keep);
    free(original);
    free(damaged);
    return bad;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "cases", required_argument, NULL, 'c' }, { "seed", required_argument, NULL, 's' },
        { "keep", required_argument, NULL, 'k' },  { "folder", required_argument, NULL, 'f' },
        { "table", no_argument, NULL, 't' },       { 0 }
    };
    char folder[200] = "/tmp/damage.XXXXXX", lock[300];
    const char *given = NULL, *only = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case 'c': cases = strtoull(optarg, NULL, 10); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        case 'k': only = optarg; break;
        case 'f': given = optarg; break;
        case 't': table = true; break;
        default: return 2;
        }
    if (!given && !mkdtemp(folder))
        die(folder, "could not be made");
    snprintf(path, sizeof path, "%s/i.twin", given ? given : folder);
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED)
        die("memory", "could not be shared");
    write_documents();
    uint64_t bad = 0;
    for (twin_keep keep = TWIN_KEEP_SETS; keep <= TWIN_KEEP_NONE; keep++)
        if (!only || strcmp(only, twin_name_of(TWIN_NAMES_KEEP, keep)) == 0)
            bad += try_index(keep);
    snprintf(lock, sizeof lock, "%s-lock", path);
    unlink(path);
    unlink(lock);
    if (!given)
        rmdir(folder);
    return bad ? 1 : 0;
}
