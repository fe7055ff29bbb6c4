/* show_method.c — twinsift show --method and --permutations: how the method sees two documents, and why it works.
 *
 * --method follows two documents through the steps: shingles, of which the common ones are marked; slots of the
 * signatures, which agree as often as the sets are alike; bands, of which one that agrees makes a candidate.
 * --permutations does by hand what signatures do with hashes, on the matrix of the textbook (Leskovec, Rajaraman, Ullman:
 * Mining of Massive Datasets, chapter 3). */
#include "show.h"

#include "support/escape.h"
#include "support/messages.h"
#include "support/record.h"

#include <stdlib.h>
#include <string.h>

/* ---- two documents ---- */

struct side {
    twin_scratch *scratches[2]; /* of the set; of the shingles */
    twin_text text;             /* normalised */
    const uint64_t *shingles;   /* hashes, in the order of the text */
    size_t count;
    twin_set set;
    uint32_t *signature;
};

struct method {
    twin_signer *signer;
    const twin_scheme *scheme;
    struct side sides[2];
    size_t common, equal, bands_equal;
};

static twin_status read_side(struct side *side, const struct method *method, twin_text text)
{
    side->signature = malloc(method->scheme->minhash.slots * sizeof *side->signature);
    twin_status status = side->signature ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin_signer_text(side->signature, &side->set, method->signer, &side->scratches[0], text);
    if (status == TWIN_OK)
        status = twin_signer_shingles(&side->text, &side->shingles, &side->count, method->signer, &side->scratches[1],
                                      text);
    return status;
}

/* The item of a shingle: of a multiset, that of its occurrence. Few are shown. */
static uint64_t item_at(const struct method *method, const struct side *side, size_t at)
{
    size_t number = 0;
    for (size_t i = 0; i < at && method->scheme->multiset; i++)
        number += side->shingles[i] == side->shingles[at];
    return twin_item_occurrence(side->shingles[at], number);
}

static void compare_slots(struct method *method)
{
    const twin_plan plan = method->scheme->plan;
    const uint32_t *a = method->sides[0].signature, *b = method->sides[1].signature;
    method->common = twin_set_common(method->sides[0].set, method->sides[1].set);
    method->equal = twin_minhash_agreement(a, b, method->scheme->minhash.slots);
    for (size_t band = 0; band < plan.bands; band++)
        method->bands_equal += memcmp(a + band * plan.rows, b + band * plan.rows, plan.rows * sizeof *a) == 0;
}

static void method_clear(struct method *method)
{
    for (int which = 0; which < 2; which++) {
        twin_scratch_free(method->sides[which].scratches[0]);
        twin_scratch_free(method->sides[which].scratches[1]);
        free(method->sides[which].signature);
    }
    twin_signer_free(method->signer);
}

/* ---- shingles ---- */

static bool is_in(twin_set set, uint64_t item)
{
    size_t low = 0, high = set.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set.items[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set.count && set.items[low] == item;
}

/* The units that shingles are made of: where the one after `at` begins. */
static size_t next_unit(twin_text text, size_t at, bool words)
{
    if (!words)
        do
            at++;
        while (at < text.length && ((unsigned char)text.bytes[at] & 0xC0) == 0x80);
    else {
        while (at < text.length && !strchr(" \t\r\n\f\v", text.bytes[at]))
            at++;
        while (at < text.length && strchr(" \t\r\n\f\v", text.bytes[at]))
            at++;
    }
    return at;
}

/* The text of the shingle that begins at `at`: so many units, without the blanks behind the last word. */
static twin_text shingle_at(twin_text text, size_t at, const twin_shingle_options *shingle)
{
    bool words = shingle->kind == TWIN_SHINGLE_WORD;
    size_t end = at;
    for (size_t i = 0; i < shingle->width && end < text.length; i++)
        end = next_unit(text, end, words);
    while (words && end > at && strchr(" \t\r\n\f\v", text.bytes[end - 1]))
        end--;
    return (twin_text){ text.bytes + at, end - at };
}

static size_t count_units(twin_text text, bool words)
{
    size_t count = 0;
    for (size_t at = 0; at < text.length; at = next_unit(text, at, words))
        count++;
    return count;
}

/* Whether shingles are windows of the text, one per unit: not those of stop words, and not where scripts have widths of
 * their own. */
static bool are_windows(const struct method *method, const struct side *side, twin_text text)
{
    const twin_shingle_options *shingle = &method->scheme->shingle;
    if (shingle->kind == TWIN_SHINGLE_STOP || shingle->kind == TWIN_SHINGLE_BYTE)
        return false;
    size_t units = count_units(text, shingle->kind == TWIN_SHINGLE_WORD);
    return units >= shingle->width && units - shingle->width + 1 == side->count;
}

enum { MOST_SHINGLES = 40, SLOTS_IN_FIGURES = 12 };

static void print_shingles(FILE *out, const struct method *method, int which, bool color)
{
    const struct side *side = &method->sides[which];
    const twin_text text = side->text;
    bool windows = are_windows(method, side, text), words = method->scheme->shingle.kind == TWIN_SHINGLE_WORD;
    fprintf(out, "shingles of %c: %zu, %zu different, %zu of these in %c too (=)\n", 'a' + which, side->count,
            side->set.count, method->common, 'b' - which);
    size_t at = 0;
    for (size_t i = 0; i < side->count && i < MOST_SHINGLES; i++) {
        uint64_t item = item_at(method, side, i);
        bool both = is_in(method->sides[!which].set, item);
        twin_text shingle = windows ? shingle_at(text, at, &method->scheme->shingle) : (twin_text){ "", 0 };
        fprintf(out, "  %s%c %016llx  ", color && both ? "\033[32m" : "", both ? '=' : ' ', (unsigned long long)item);
        escape_message(out, shingle.bytes, shingle.length);
        fputs(color && both ? "\033[0m\n" : "\n", out);
        at = windows ? next_unit(text, at, words) : at;
    }
    if (side->count > MOST_SHINGLES)
        fprintf(out, "    and %zu more\n", side->count - MOST_SHINGLES);
    fputc('\n', out);
}

/* ---- slots and bands ---- */

static void print_slots(FILE *out, const struct method *method, bool color)
{
    const uint32_t *a = method->sides[0].signature, *b = method->sides[1].signature;
    size_t slots = method->scheme->minhash.slots;
    fprintf(out, "signatures: %zu slots, each the least of %s\n", slots,
            method->scheme->minhash.sketch == TWIN_SKETCH_CLASSIC ? "one hash over all shingles"
                                                                  : "the hashes that fall into it");
    for (size_t i = 0; i < slots && i < SLOTS_IN_FIGURES; i++) {
        bool same = a[i] == b[i];
        fprintf(out, "  %s%c slot %-3zu %10u %10u%s\n", color && same ? "\033[32m" : "", same ? '=' : ' ', i + 1,
                a[i], b[i], color && same ? "\033[0m" : "");
    }
    if (slots > SLOTS_IN_FIGURES)
        fprintf(out, "    and %zu more\n", slots - SLOTS_IN_FIGURES);
    fprintf(out, "  %zu of %zu agree: the estimate is %.4f\n\n", method->equal, slots,
            (double)method->equal / (double)slots);
}

static void print_bands(FILE *out, const struct method *method, bool color)
{
    const twin_plan plan = method->scheme->plan;
    const uint32_t *a = method->sides[0].signature, *b = method->sides[1].signature;
    fprintf(out, "bands: %zu of %zu rows; a band that agrees in all rows makes a candidate\n", plan.bands, plan.rows);
    for (size_t band = 0; band < plan.bands; band++) {
        size_t equal = 0;
        char rows[65] = "";
        for (size_t row = 0; row < plan.rows; row++) {
            bool same = a[band * plan.rows + row] == b[band * plan.rows + row];
            equal += same;
            if (row < sizeof rows - 1)
                rows[row] = same ? '=' : '.';
        }
        bool all = equal == plan.rows;
        fprintf(out, "  %s%c band %-3zu %s%s\n", color && all ? "\033[32m" : "", all ? '=' : ' ', band + 1, rows,
                color && all ? "\033[0m" : "");
    }
    double similarity = twin_set_similarity(method->sides[0].set, method->sides[1].set, TWIN_JACCARD);
    fprintf(out, "  %zu of %zu agree: %s; pairs of this similarity become one with probability %.4f\n\n",
            method->bands_equal, plan.bands, method->bands_equal ? "a candidate" : "no candidate",
            twin_plan_probability(plan, similarity));
    fprintf(out, "exact: %zu in common of %zu in all, %.4f\n", method->common,
            method->sides[0].set.count + method->sides[1].set.count - method->common, similarity);
}

static void print_method_json(FILE *out, const struct method *method)
{
    struct record record = record_begin(out, true);
    size_t slots = method->scheme->minhash.slots;
    record_count(&record, "size_a", method->sides[0].set.count);
    record_count(&record, "size_b", method->sides[1].set.count);
    record_count(&record, "common", method->common);
    record_count(&record, "slots", slots);
    record_count(&record, "slots_equal", method->equal);
    record_fixed(&record, "estimate", (double)method->equal / (double)slots, 4);
    record_count(&record, "bands", method->scheme->plan.bands);
    record_count(&record, "rows", method->scheme->plan.rows);
    record_count(&record, "bands_equal", method->bands_equal);
    record_flag(&record, "candidate", method->bands_equal > 0);
    record_fixed(&record, "similarity", twin_set_similarity(method->sides[0].set, method->sides[1].set, TWIN_JACCARD),
                 4);
    record_end(&record);
}

bool print_method(FILE *out, const twin_scheme *scheme, const twin_text texts[2], bool json, bool color)
{
    struct method method = { 0 };
    twin_error error = { 0 };
    twin_status status = twin_signer_create(&method.signer, scheme, &error);
    if (status == TWIN_OK)
        method.scheme = twin_signer_scheme(method.signer);
    for (int which = 0; which < 2 && status == TWIN_OK; which++)
        status = read_side(&method.sides[which], &method, texts[which]);
    if (status == TWIN_OK) {
        compare_slots(&method);
        if (json)
            print_method_json(out, &method);
        else {
            print_shingles(out, &method, 0, color);
            print_shingles(out, &method, 1, color);
            print_slots(out, &method, color);
            print_bands(out, &method, color);
        }
    }
    method_clear(&method);
    return status == TWIN_OK || refuse_status("the comparison", status, &error);
}

/* ---- permutations ---- */

enum { ROWS = 7, SETS = 4, PERMUTATIONS = 3 };

/* Row by row, which of four documents have a shingle; and the place that each permutation gives to a row. */
static const char matrix[ROWS][SETS + 1] = { "1010", "1001", "0101", "0101", "0101", "1010", "1010" };
static const int places[PERMUTATIONS][ROWS] = { { 2, 3, 7, 6, 1, 5, 4 },
                                                { 4, 2, 1, 3, 6, 7, 5 },
                                                { 3, 4, 7, 2, 6, 1, 5 } };
static const char *const colors[PERMUTATIONS] = { "\033[36m", "\033[33m", "\033[35m" };

static int row_at(int permutation, int place)
{
    int row = 0;
    while (places[permutation][row] != place)
        row++;
    return row;
}

/* Takes the rows in the order of the permutation: a document's value is the place of the first row that it has. */
static void permute(FILE *out, int signature[SETS], int permutation, bool color)
{
    const char *on = color ? colors[permutation] : "", *off = color ? "\033[0m" : "";
    int left = SETS;
    memset(signature, 0, SETS * sizeof *signature);
    fprintf(out, "%spermutation %d%s\n", on, permutation + 1, off);
    for (int place = 1; place <= ROWS && left > 0; place++) {
        int row = row_at(permutation, place);
        fprintf(out, "  place %d is row %d:  ", place, row + 1);
        for (int set = 0; set < SETS; set++) {
            bool first = matrix[row][set] == '1' && signature[set] == 0;
            signature[set] = first ? place : signature[set];
            left -= first;
            fprintf(out, first ? "%s[%c]%s" : "%s %c %s", first ? on : "", matrix[row][set], first ? off : "");
        }
        fputc('\n', out);
    }
    fputs("  signature:          ", out);
    for (int set = 0; set < SETS; set++)
        fprintf(out, "%s %d %s", on, signature[set], off);
    fputs("\n\n", out);
}

static void compare_sets(FILE *out, int signatures[PERMUTATIONS][SETS], int a, int b)
{
    int common = 0, all = 0, equal = 0;
    for (int row = 0; row < ROWS; row++) {
        common += matrix[row][a] == '1' && matrix[row][b] == '1';
        all += matrix[row][a] == '1' || matrix[row][b] == '1';
    }
    for (int i = 0; i < PERMUTATIONS; i++)
        equal += signatures[i][a] == signatures[i][b];
    fprintf(out, "  %d and %d   %d of %d, %.2f   %d of %d, %.2f\n", a + 1, b + 1, common, all, (double)common / all,
            equal, PERMUTATIONS, (double)equal / PERMUTATIONS);
}

void print_permutations(FILE *out, bool color)
{
    int signatures[PERMUTATIONS][SETS];
    fputs("Seven shingles, four documents; 1: the document has the shingle. Three permutations say in which\n"
          "place each row is taken.\n\n  places     documents\n",
          out);
    for (int row = 0; row < ROWS; row++) {
        fputs("  ", out);
        for (int i = 0; i < PERMUTATIONS; i++)
            fprintf(out, "%s%d%s ", color ? colors[i] : "", places[i][row], color ? "\033[0m" : "");
        fprintf(out, "     %c  %c  %c  %c\n", matrix[row][0], matrix[row][1], matrix[row][2], matrix[row][3]);
    }
    fputc('\n', out);
    for (int i = 0; i < PERMUTATIONS; i++)
        permute(out, signatures[i], i, color);
    fputs("documents  similarity     equal slots\n", out);
    for (int a = 0; a < SETS; a++)
        for (int b = a + 1; b < SETS; b++)
            compare_sets(out, signatures, a, b);
}
