/* exp_movielens.c — movielens: a user is the set of films rated; which users are similar?
 *
 * Repeats an experiment of Martins and Jesus 2015 and of the Aveiro slides. All pairs are compared exactly for the
 * ground truth; then the pipeline finds candidates at 0.55 and verifies them at 0.6. */
#include "collection/contents.h"
#include "join/similar_private.h"
#include "lab.h"
#include "support/usage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SLOTS = 400 }; /* for an error of 0.05, as Martins and Jesus 2015 */
static const double similar_from = 0.6, candidate_from = 0.55;

/* A pair that the references report; "–" where they give no number. */
struct known {
    const char *a, *b, *exact, *estimate;
};

struct data {
    const char *name, *file;
    const char *separator; /* between the columns of the file */
    const char *other;     /* a file of the same in lines "user<TAB>film", where that one is missing; NULL: none */
    size_t users;
    struct known pairs[3];
};

static const struct data data_sets[] = {
    { "100K",
      "ml-100k/u.data",
      "\t",
      NULL,
      943,
      { { "328", "788", "0.6730", "0.6525" },
        { "408", "898", "0.8387", "0.8125" },
        { "489", "587", "0.6299", "0.6475" } } },
    { "1M",
      "ml-1m/ratings.dat",
      "::",
      "ml-1m/user_movie.tsv",
      6040,
      { { "1122", "2126", "–", "0.6325" }, { "4725", "4808", "–", "0.7225" }, { NULL, NULL, "0.6012", "0.5925" } } },
};
enum { DATA_SETS = sizeof data_sets / sizeof data_sets[0] };

/* ---- the users, and exact comparison of all pairs */

struct users {
    twin_input *input;
    twin_collection *collection;
    uint64_t **items; /* the set of each user */
    twin_set *sets;
    size_t count;
    double read_seconds;
};

/* Copies lines "user::film::…" of `from` as "user<TAB>film" to an unnamed file. */
static FILE *convert(const char *from, const char *separator)
{
    char line[256];
    FILE *in = file_open(from), *out = file_temporary();
    while (fgets(line, sizeof line, in)) {
        const char *end = strstr(line, separator);
        const char *film = end ? end + strlen(separator) : "";
        if (*film == '\0')
            die("%s: expected \"user%sfilm%s...\", found: %s", from, separator, separator, line);
        fprintf(out, "%.*s\t%.*s\n", (int)strcspn(line, separator), line, (int)strcspn(film, ":\r\n"), film);
    }
    if (ferror(in) || fflush(out) != 0)
        die("%s: could not be copied: %s", from, strerror(errno));
    fclose(in);
    return out;
}

static void read_users(struct users *out, const struct lab *lab, const struct data *data, const char *file,
                       twin_sketch sketch)
{
    char other[PATH_ROOM];
    const char *path = file;
    twin_error error = { 0 };
    twin_collection_options options = {
        .scheme.shingle = { .width = 1 }, /* not used, but checked */
        .scheme.minhash = { .sketch = sketch, .slots = SLOTS, .seed = seed_of(lab->seed, 1500) },
        .exec = lab->exec
    };
    FILE *converted = strcmp(data->separator, "\t") == 0 ? NULL : convert(file, data->separator);
    if (converted) {
        file_path(other, converted);
        path = other;
    }
    double start = seconds();
    expect(twin_input_open(&out->input, &path, 1, (twin_input_options){ .format = TWIN_INPUT_SETS }, &error), file,
           &error);
    expect(twin_collection_read(&out->collection, out->input, options, &error), file, &error);
    out->read_seconds = seconds() - start;
    out->count = twin_collection_count(out->collection).documents;
    if (converted)
        fclose(converted);
}

static void copy_sets(struct users *users)
{
    twin_scratch scratch = { 0 };
    twin_error error = { 0 };
    users->items = need(users->count, sizeof *users->items);
    users->sets = need(users->count, sizeof *users->sets);
    for (uint32_t u = 0; u < users->count; u++) {
        twin_set set;
        expect(twin__collection_set(&set, users->collection, &scratch, u, &error), "reading a user again", &error);
        users->items[u] = need(set.count, sizeof(uint64_t));
        if (set.count)
            memcpy(users->items[u], set.items, set.count * sizeof(uint64_t));
        users->sets[u] = (twin_set){ users->items[u], set.count };
    }
    twin__scratch_clear(&scratch);
}

static void clear_users(struct users *users)
{
    for (size_t u = 0; users->items && u < users->count; u++)
        free(users->items[u]);
    free(users->items);
    free(users->sets);
    twin_collection_free(users->collection);
    twin_input_free(users->input);
    *users = (struct users){ 0 };
}

/* All pairs at or above the threshold, by comparing all users. */
struct truth {
    const struct users *users;
    twin_match *matches; /* room for MOST_EACH per user */
    size_t *counts;      /* per user: pairs with later users */
};
enum { MOST_EACH = 16 };

static void compare_some(void *context, size_t begin, size_t end, int worker)
{
    struct truth *truth = context;
    const struct users *users = truth->users;
    (void)worker;
    for (size_t a = begin; a < end; a++)
        for (size_t b = a + 1; b < users->count; b++) {
            double similarity = twin_set_similarity(users->sets[a], users->sets[b], TWIN_JACCARD);
            if (similarity >= similar_from && truth->counts[a] < MOST_EACH)
                truth->matches[a * MOST_EACH + truth->counts[a]++] =
                    (twin_match){ (uint32_t)a, (uint32_t)b, similarity };
        }
}

static size_t compare_all(twin_match **out, const struct lab *lab, const struct users *users)
{
    struct truth truth = { users, need(users->count * MOST_EACH, sizeof(twin_match)),
                           need(users->count, sizeof(size_t)) };
    size_t count = 0;
    twin_exec_for(lab->exec, users->count, 8, compare_some, &truth);
    for (size_t a = 0; a < users->count; a++)
        for (size_t i = 0; i < truth.counts[a]; i++)
            truth.matches[count++] = truth.matches[a * MOST_EACH + i];
    free(truth.counts);
    *out = truth.matches;
    return count;
}

/* ---- the pipeline */

static twin_similar *find_similar(const struct lab *lab, const struct users *users, twin_plan plan)
{
    twin_similar *similar;
    twin_error error = { 0 };
    twin_similar_options options = { .threshold = similar_from, .bands = { .plan = plan }, .exec = lab->exec };
    expect(twin_similar_find(&similar, users->collection, options, &error), "finding similar users", &error);
    return similar;
}

static bool same_id(const struct users *users, uint32_t user, const char *id)
{
    twin_text text = twin_collection_entry_of(users->collection, user).id;
    return id && text.length == strlen(id) && memcmp(text.bytes, id, text.length) == 0;
}

/* The reference's entry for a pair: by its users, else by its similarity to four digits. */
static const struct known *find_known(const struct data *data, const struct users *users, twin_match match)
{
    char exact[16];
    snprintf(exact, sizeof exact, "%.4f", match.similarity);
    for (size_t i = 0; i < 3; i++) {
        const struct known *known = &data->pairs[i];
        bool users_match = (same_id(users, match.a, known->a) && same_id(users, match.b, known->b)) ||
                           (same_id(users, match.a, known->b) && same_id(users, match.b, known->a));
        if ((users_match && (known->exact[0] != '0' || strcmp(known->exact, exact) == 0)) ||
            (!known->a && strcmp(known->exact, exact) == 0))
            return known;
    }
    return NULL;
}

/* Tabulates the true pairs, their estimates and the reference. Returns how many pairs the reference has; `p` receives
 * the p-value of each estimate. */
static size_t tabulate(struct lab *lab, double *p, const struct data *data, const struct users *users,
                       const twin_match *matches, size_t count)
{
    size_t known_count = 0;
    const uint32_t *signatures = twin__collection_signatures(users->collection);
    char name[64];
    struct table table;
    snprintf(name, sizeof name, "movielens-%s", data->name);
    table_begin(&table, name, "users\texact J\treference\testimate: theory ±\treference\tobserved");
    for (size_t i = 0; i < count; i++) {
        twin_match m = matches[i];
        twin_text a = twin_collection_entry_of(users->collection, m.a).id,
                  b = twin_collection_entry_of(users->collection, m.b).id;
        const struct known *known = find_known(data, users, m);
        double error = sqrt(m.similarity * (1 - m.similarity) / SLOTS);
        double estimate = (double)twin_minhash_agreement(signatures + (size_t)m.a * SLOTS,
                                                         signatures + (size_t)m.b * SLOTS, SLOTS) /
                          SLOTS;
        p[i] = p_normal((estimate - m.similarity) / error);
        known_count += known != NULL;
        table_row(&table, "%.*s, %.*s\t%.4f\t%s\t%.4f\t%s\t%.4f", (int)a.length, a.bytes, (int)b.length, b.bytes,
                  m.similarity, known ? known->exact : "none", 1.96 * error, known ? known->estimate : "–", estimate);
    }
    table_end(lab, &table);
    return known_count;
}

/* Counts true pairs that the pipeline missed or found with another similarity, and reported pairs that are not true. */
static size_t count_differences(const twin_match *truth, size_t count, const twin_match *found, size_t found_count)
{
    size_t common = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < found_count; j++)
            common += truth[i].a == found[j].a && truth[i].b == found[j].b &&
                      fabs(truth[i].similarity - found[j].similarity) < 1e-12;
    return count + found_count - 2 * common;
}

static void compare_times(struct lab *lab, const struct data *data, const struct users *users,
                          twin_similar_counts found, double all_pairs)
{
    char name[64];
    double pairs = (double)users->count * (double)(users->count - 1) / 2;
    struct table table;
    snprintf(name, sizeof name, "movielens-%s-time", data->name);
    table_begin(&table, name, "what\tpairs compared exactly\tseconds");
    table_row(&table, "all pairs\t%.0f\t%.4f", pairs, all_pairs);
    table_row(&table, "candidates, verified\t%llu\t%.4f", (unsigned long long)found.verified,
              found.pairing_seconds + found.verifying_seconds);
    table_row(&table, "reading and signing, for both\t–\t%.4f", users->read_seconds);
    table_end(lab, &table);
    claim(lab, (double)found.candidates < pairs / 10, "%llu of %.0f pairs became candidates (%.2f %%)",
          (unsigned long long)found.candidates, pairs, 100 * (double)found.candidates / pairs);
}

static void run_data(struct lab *lab, const struct data *data, const char *file, twin_sketch sketch, bool first)
{
    struct users users = { 0 };
    twin_plan plan;
    twin_match *truth;
    const twin_match *found;
    read_users(&users, lab, data, file, sketch);
    copy_sets(&users);
    double start = seconds();
    size_t count = compare_all(&truth, lab, &users);
    double all_pairs = seconds() - start;
    double *p = need(count, sizeof *p);
    expect(twin_plan_from_slots(&plan, (twin_plan_point){ candidate_from, 0.999 }, SLOTS), "planning", NULL);
    twin_similar *similar = find_similar(lab, &users, plan);
    size_t found_count = twin__similar_matches(&found, similar);

    say(lab,
        "MovieLens %s: %zu users, %s sketch with k = %d, %zu bands of %zu rows: candidates from 0.55, similar from "
        "0.6. Reference: Martins and Jesus 2015.",
        data->name, users.count, twin_name_of(TWIN_NAMES_SKETCH, sketch), (int)SLOTS, plan.bands, plan.rows);
    size_t known = tabulate(lab, p, data, &users, truth, count);
    if (first)
        compare_times(lab, data, &users, twin_similar_count(similar), all_pairs);
    claim(lab, users.count == data->users && count == 3 && known == 3,
          "%zu pairs with J ≥ 0.6 among %zu users; %zu of them are in the reference (3 among %zu)", count,
          users.count, known, data->users);
    size_t differences = count_differences(truth, count, found, found_count);
    claim(lab, differences == 0, "the pipeline and the exact comparison of all pairs agree: %zu differences",
          differences);
    claim_chance(lab, p, count, "estimates are as close as theory says");
    twin_similar_free(similar);
    clear_users(&users);
    free(truth);
    free(p);
}

/* Exact similarities against estimates. */
static void plot_estimates(struct lab *lab, const struct data *data, const char *file)
{
    struct users users = { 0 };
    struct table table;
    uint64_t state = seed_of(lab->seed, 1600);
    read_users(&users, lab, data, file, TWIN_SKETCH_CLASSIC);
    copy_sets(&users);
    const uint32_t *signatures = twin__collection_signatures(users.collection);
    table_begin(&table, "movielens-estimates", "exact\testimate");
    for (size_t a = 0; a < users.count; a++)
        for (size_t b = a + 1; b < users.count; b++) {
            double exact = twin_set_similarity(users.sets[a], users.sets[b], TWIN_JACCARD);
            if (draw_unit(&state) > 0.0015 + pow(exact / 0.55, 8)) /* a small sample of the many dissimilar pairs */
                continue;
            size_t agreed = twin_minhash_agreement(signatures + a * SLOTS, signatures + b * SLOTS, SLOTS);
            table_row(&table, "%.5f\t%.5f", exact, (double)agreed / SLOTS);
        }
    table_write_only(lab, &table);
    clear_users(&users);
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'exact Jaccard similarity of two users'\nset ylabel 'estimate, k = 400'\nset key bottom right\n"
          "set samples 400\ne(x) = 1.96*sqrt(x*(1-x)/400)\n"
          "plot [0:0.9][0:0.9] 'movielens-estimates.tsv' skip 1 using 1:2 with points ls 2 lc rgb '#60c8401e' ps 0.3 "
          "title 'pairs of users (a sample)', x ls 1 title 'theory, with 95 %', x+e(x) ls 1 dt '-' notitle, x-e(x) "
          "ls 1 dt '-' notitle, 0.6 ls 9 title 'similar from 0.6', 0.55 ls 9 dt '.' title 'candidates from 0.55'\n",
          script);
    plot_end(lab, script, "movielens", "Estimated against exact Jaccard similarity of MovieLens users.");
}

/* ---- ratings as weights */

enum { USERS = 943, FILMS = 1682 };

/* The ratings, read by hand: nothing of the library. */
static void read_ratings(unsigned char (*ratings)[FILMS + 1], const char *path)
{
    FILE *in = file_open(path);
    unsigned user, film, rating;
    while (fscanf(in, "%u %u %u %*u", &user, &film, &rating) == 3)
        if (user <= USERS && film <= FILMS)
            ratings[user][film] = (unsigned char)rating;
    fclose(in);
}

static double weighted(const unsigned char *a, const unsigned char *b)
{
    unsigned least = 0, most = 0;
    for (size_t film = 1; film <= FILMS; film++) {
        least += a[film] < b[film] ? a[film] : b[film];
        most += a[film] < b[film] ? b[film] : a[film];
    }
    return (double)least / most;
}

/* Ids are digits, one after the other. */
static unsigned number_of(const struct users *users, uint32_t user)
{
    twin_text id = twin_collection_entry_of(users->collection, user).id;
    unsigned number = 0;
    for (size_t i = 0; i < id.length; i++)
        number = 10 * number + (unsigned)(id.bytes[i] - '0');
    return number;
}

/* Multisets of films, of which each is in a user as often as he has rated it: the sum of the lesser ratings by that of
 * the greater ones, from 0.45 on. */
static void compare_ratings(struct lab *lab, const char *path)
{
    static const double from = 0.45;
    unsigned char(*ratings)[FILMS + 1] = need(USERS + 1, sizeof *ratings);
    struct users users = { 0 };
    twin_error error = { 0 };
    twin_similar *similar;
    const twin_match *found;
    twin_collection_options reading = {
        .scheme = { .shingle = { .width = 1 },
                    .minhash = { .sketch = TWIN_SKETCH_FAST, .slots = SLOTS, .seed = seed_of(lab->seed, 1510) },
                    .threshold = from,
                    .multiset = true },
        .exec = lab->exec
    };
    twin_similar_options finding = { .threshold = from, .exec = lab->exec };
    read_ratings(ratings, path);
    expect(twin_input_open(&users.input, &path, 1, (twin_input_options){ .format = TWIN_INPUT_SETS, .weights = true },
                           &error),
           path, &error);
    expect(twin_collection_read(&users.collection, users.input, reading, &error), path, &error);
    expect(twin_similar_find(&similar, users.collection, finding, &error), path, &error);
    size_t count = twin__similar_matches(&found, similar), all = 0, wrong = 0;
    for (size_t a = 1; a <= USERS; a++)
        for (size_t b = a + 1; b <= USERS; b++)
            all += weighted(ratings[a], ratings[b]) >= from;
    struct table table;
    table_begin(&table, "movielens-ratings", "users\tΣmin/Σmax, naive\tfound\twithout ratings");
    for (size_t i = 0; i < count; i++) {
        unsigned a = number_of(&users, found[i].a), b = number_of(&users, found[i].b);
        double truth = weighted(ratings[a], ratings[b]);
        size_t common = 0, either = 0;
        for (size_t film = 1; film <= FILMS; film++) {
            common += ratings[a][film] && ratings[b][film];
            either += ratings[a][film] || ratings[b][film];
        }
        wrong += fabs(truth - found[i].similarity) > 1e-12;
        if (i < 12)
            table_row(&table, "%u, %u\t%.4f\t%.4f\t%.4f", a, b, truth, found[i].similarity,
                      (double)common / (double)either);
    }
    say(lab, "Ratings as weights, from %.2f:", from);
    table_end(lab, &table);
    claim(lab, count == all && wrong == 0,
          "%zu of %zu pairs of users found, %zu with another similarity than a naive "
          "program",
          count, all, wrong);
    twin_similar_free(similar);
    clear_users(&users);
    free(ratings);
}

/* Whether a file of the data set is there; `out` is told how its columns are separated. */
static bool find_data(char file[PATH_ROOM], struct data *out, struct lab *lab, const struct data *data)
{
    struct stat about;
    *out = *data;
    snprintf(file, PATH_ROOM, "%s/%s", lab->data, data->other ? data->other : data->file);
    if (data->other && stat(file, &about) == 0) {
        out->separator = "\t";
        return true;
    }
    return data_find(file, lab, data->file);
}

void exp_movielens(struct lab *lab)
{
    if (!data_given(lab))
        return;
    for (size_t i = 0; i < DATA_SETS; i++) {
        char file[PATH_ROOM];
        struct data data;
        if (!find_data(file, &data, lab, &data_sets[i]))
            continue;
        run_data(lab, &data, file, TWIN_SKETCH_CLASSIC, true);
        run_data(lab, &data, file, TWIN_SKETCH_FAST, false);
        if (i == 0) {
            plot_estimates(lab, &data, file);
            compare_ratings(lab, file);
        }
        progress(lab, i + 1, DATA_SETS);
    }
}
