/* generate.c — writes a corpus of English-like documents with planted near-duplicates, as JSON lines.
 *
 * Every document is a function of the seed and its number: a copy generates its source again instead of storing it,
 * so memory does not grow with the corpus, and a seed gives the same bytes on every machine. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>

#include "edits.h"
#include "random_unit.h"

static const char help[] =
    "twinsift-generate writes documents as JSON lines, some of them near-duplicates, the same for the same seed.\n"
    "\n"
    "usage: twinsift-generate --docs N [OPTION]... > corpus.jsonl\n"
    "\n"
    "  --docs N              the number of documents\n"
    "  --bytes B             the mean length in bytes; lengths are 0.5 B to 1.5 B (2000)\n"
    "  --seed S              the seed (1)\n"
    "  --copies FRACTION     how many are copies: edited, with a new beginning, truncated, reordered or exact (0.2)\n"
    "  --edits               copies are changed by any amount, so that similarities cover 0 to 1\n"
    "  --footers N:FRACTION  how many carry one of N footers of 200 to 400 bytes; a copy has its source's (20:0.1)\n"
    "  --same N              N documents, spread over the corpus, have the same text\n"
    "  --families F:SIZE     F groups of SIZE documents, spread over the corpus, similar within each group\n"
    "  --forms F:SIZE        F forms, each SIZE times with other numbers in 1 to 64 places: similarities on both "
    "sides of 0.8\n"
    "  --short N             N documents of 0 to 12 words\n"
    "  --long N:BYTES        N documents of BYTES bytes\n"
    "  --truth FILE          write the planted pairs: copy, source, kind, fraction changed\n";

enum { MAX_FOOTERS = 1000, FIRST_COPY = 50 };

/* The streams apart from those of the documents, which are numbered from 0. */
enum { SAME = 1, FAMILIES, FOOTERS, VOCABULARY_STREAM, DOCUMENTS, FORMS, SHORT, LONG };

/* Documents that were made from one text, several times. */
struct groups {
    uint64_t count, size, *first; /* the first document of each group, once it has been made */
};

struct corpus {
    uint64_t documents, bytes, seed, footers;
    uint64_t same, few_words, long_ones, long_bytes; /* how many, and how long */
    struct groups families, forms;
    double copies, footer_share;
    bool edits;
    const char *truth_path;
    struct english *english;
    struct tokens footer[MAX_FOOTERS];
    uint64_t first_same; /* the first document with the same text */
};

/* How a document was made. */
struct origin {
    const char *kind; /* NULL: not a copy */
    uint64_t source;  /* the document it was made from */
    double rate;      /* the fraction of its words that was changed */
};

static uint64_t stream(const struct corpus *corpus, uint64_t kind, uint64_t number)
{
    return twin__mix(twin__mix(corpus->seed * DOCUMENTS + kind) + number);
}

/* Spreads `part` numbers evenly over `whole`: whether `number` is one of them, and which. */
static bool is_spread(uint64_t *which, uint64_t number, uint64_t part, uint64_t whole)
{
    *which = (uint64_t)((unsigned __int128)number * part / whole);
    return (uint64_t)((unsigned __int128)(number + 1) * part / whole) > *which;
}

enum role { ONE_OF_SAME, ONE_OF_FAMILY, ONE_OF_FORM, SHORT_ONE, LONG_ONE, ROLES, ORDINARY = ROLES };

/* What the document is for; `which` counts among those of that role. */
static enum role role_of(uint64_t *which, const struct corpus *corpus, uint64_t number)
{
    const uint64_t parts[ROLES] = { corpus->same, corpus->families.count * corpus->families.size,
                                    corpus->forms.count * corpus->forms.size, corpus->few_words, corpus->long_ones };
    uint64_t left = 0, place;
    for (int role = 0; role < ROLES; role++)
        left += parts[role];
    if (left == 0 || !is_spread(&place, number, left, corpus->documents))
        return ORDINARY;
    for (int role = 0; role < ROLES; role++) {
        if (is_spread(which, place, parts[role], left))
            return (enum role)role;
        place -= *which;
        left -= parts[role];
    }
    return ORDINARY; /* not reached: the last part is all that is left */
}

static bool wants_source(const struct corpus *corpus, uint64_t number)
{
    uint64_t state = stream(corpus, DOCUMENTS, number);
    return number >= FIRST_COPY && random_unit(&state) < corpus->copies;
}

/* An earlier ordinary document that is not a copy; false when a few tries find none. */
static bool find_source(uint64_t *out, const struct corpus *corpus, uint64_t number, uint64_t *state)
{
    for (int tries = 0; tries < 100; tries++) {
        uint64_t which;
        *out = twin__random_below(state, number);
        if (role_of(&which, corpus, *out) == ORDINARY && !wants_source(corpus, *out))
            return true;
    }
    return false;
}

/* ---- texts */

/* Writes about `bytes` bytes of text to `draft`, without a footer. */
static void write_text(struct draft *draft, const struct corpus *corpus, uint64_t *state, size_t bytes, bool foreign)
{
    draft->footer = SIZE_MAX;
    draft->body.count = 0;
    write_body(&draft->body, corpus->english, state, bytes, foreign);
}

/* Writes the text of random stream `state` to `draft`, and draws its footer. */
static void draw_text(struct draft *draft, const struct corpus *corpus, uint64_t state)
{
    size_t bytes = corpus->bytes / 2 + twin__random_below(&state, corpus->bytes + 1);
    bool foreign = twin__random_below(&state, 8) == 0;
    size_t footer = SIZE_MAX;
    if (corpus->footers && random_unit(&state) < corpus->footer_share)
        footer = twin__random_below(&state, corpus->footers);
    write_text(draft, corpus, &state, bytes, foreign);
    draft->footer = footer;
}

/* How often words are edited. Near-duplicates as they are met; or, with --edits, so that the similarity J is
 * anywhere: when a share q of the shingles survives on either side, J = q / (2 - q), and a shingle of char:9, which
 * touches some two words, survives with (1 - rate)². */
static double draw_edit_rate(const struct corpus *corpus, uint64_t *state)
{
    static const double usual[] = { 0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2 };
    if (!corpus->edits)
        return usual[twin__random_below(state, sizeof usual / sizeof usual[0])];
    double similarity = random_unit(state);
    return 1 - sqrt(2 * similarity / (1 + similarity)); /* sqrt is rounded the same everywhere; pow is not */
}

static double draw_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * random_unit(state);
}

/* Changes the source's text in `draft` and records how in `origin`. */
static void change_text(struct draft *draft, struct origin *origin, const struct corpus *corpus, uint64_t *state)
{
    switch (twin__random_below(state, 8)) {
    case 0:
        origin->kind = "prefix";
        origin->rate = corpus->edits ? random_unit(state) : draw_between(state, 0.03, 0.13);
        add_prefix(draft, corpus->english, state, (size_t)(origin->rate * (double)corpus->bytes));
        break;
    case 1:
        origin->kind = "cut";
        origin->rate = corpus->edits ? random_unit(state) : draw_between(state, 0.05, 0.3);
        draft->body.count -= (size_t)(origin->rate * (double)draft->body.count);
        break;
    case 2:
        origin->kind = "move";
        origin->rate = draw_between(state, 0.3, 0.7);
        move_block(draft, origin->rate);
        break;
    case 3:
        origin->kind = "copy";
        origin->rate = 0;
        break;
    default:
        origin->kind = "edit";
        origin->rate = draw_edit_rate(corpus, state);
        edit_words(draft, corpus->english, state, origin->rate);
        break;
    }
}

static struct origin make_ordinary(struct draft *draft, const struct corpus *corpus, uint64_t number)
{
    struct origin origin = { 0 };
    uint64_t state = stream(corpus, DOCUMENTS, number);
    twin__random_next(&state); /* what wants_source() saw */
    if (!wants_source(corpus, number) || !find_source(&origin.source, corpus, number, &state)) {
        draw_text(draft, corpus, state);
        return origin;
    }
    uint64_t source = stream(corpus, DOCUMENTS, origin.source);
    twin__random_next(&source);
    draw_text(draft, corpus, source);
    change_text(draft, &origin, corpus, &state);
    return origin;
}

static struct origin make_same(struct draft *draft, struct corpus *corpus, uint64_t number, uint64_t which)
{
    draw_text(draft, corpus, stream(corpus, SAME, 0));
    if (which == 0) {
        corpus->first_same = number;
        return (struct origin){ 0 };
    }
    return (struct origin){ .kind = "same", .source = corpus->first_same };
}

/* The origin of a document of a group: the group's first, unless it is that itself. */
static struct origin from_group(struct groups *groups, uint64_t number, uint64_t which, const char *kind)
{
    uint64_t group = which % groups->count;
    if (which >= groups->count)
        return (struct origin){ .kind = kind, .source = groups->first[group] };
    groups->first[group] = number;
    return (struct origin){ 0 };
}

/* The members of a family differ from its text, which none of them has, in one word of a hundred at most. */
static struct origin make_member(struct draft *draft, struct corpus *corpus, uint64_t number, uint64_t which)
{
    uint64_t families = corpus->families.count, state = stream(corpus, FAMILIES, families + which);
    struct origin origin = from_group(&corpus->families, number, which, "family");
    origin.rate = draw_between(&state, 0, 0.01);
    draw_text(draft, corpus, stream(corpus, FAMILIES, which % families));
    edit_words(draft, corpus->english, &state, origin.rate);
    return origin;
}

static struct origin make_form(struct draft *draft, struct corpus *corpus, uint64_t number, uint64_t which)
{
    uint64_t forms = corpus->forms.count, form = stream(corpus, FORMS, which % forms);
    uint64_t places = form, numbers = stream(corpus, FORMS, forms + which);
    struct origin origin = from_group(&corpus->forms, number, which, "form");
    draw_text(draft, corpus, form);
    size_t count = 1 + twin__random_below(&places, 64);
    fill_form(draft, places, &numbers, count);
    origin.rate = (double)count / (double)(draft->body.count + 1);
    return origin;
}

static struct origin make_short(struct draft *draft, const struct corpus *corpus, uint64_t which)
{
    uint64_t state = stream(corpus, SHORT, which);
    size_t words = twin__random_below(&state, 13);
    write_text(draft, corpus, &state, 12 * LONGEST_WORD, false);
    if (draft->body.count > words)
        draft->body.count = words;
    return (struct origin){ 0 };
}

static struct origin make_long(struct draft *draft, const struct corpus *corpus, uint64_t which)
{
    uint64_t state = stream(corpus, LONG, which);
    write_text(draft, corpus, &state, corpus->long_bytes, true);
    return (struct origin){ 0 };
}

/* Makes the next document: numbers come in increasing order, because the first of each group is recorded on the way. */
static struct origin make_document(struct draft *draft, struct corpus *corpus, uint64_t number)
{
    uint64_t which;
    switch (role_of(&which, corpus, number)) {
    case ONE_OF_SAME: return make_same(draft, corpus, number, which);
    case ONE_OF_FAMILY: return make_member(draft, corpus, number, which);
    case ONE_OF_FORM: return make_form(draft, corpus, number, which);
    case SHORT_ONE: return make_short(draft, corpus, which);
    case LONG_ONE: return make_long(draft, corpus, which);
    default: return make_ordinary(draft, corpus, number);
    }
}

/* ---- lines */

/* More than any token takes: six bytes for each character of the longest, and the punctuation around it. */
enum { TOKEN_ROOM = 64, LINE_ROOM = 64 };

static char *put(char *p, const char *text)
{
    while (*text)
        *p++ = *text++;
    return p;
}

static char *put_word(char *p, const struct english *english, token one, bool escaped)
{
    if (one & NUMBER)
        return p + sprintf(p, "%u", one & WORD);
    if (one & FOREIGN)
        return put(p, escaped ? foreign_words[one & WORD].escaped : foreign_words[one & WORD].plain);
    memcpy(p, english->words[one & WORD].bytes, LONGEST_WORD);
    if (one & CAPITAL)
        *p = (char)(*p - 'a' + 'A');
    return p + english->words[one & WORD].length;
}

static char *put_tokens(char *p, const struct english *english, const struct tokens *tokens, bool escaped)
{
    for (size_t i = 0; i < tokens->count; i++) {
        token one = tokens->items[i];
        if (one & QUOTED)
            p = put(p, "\\\"");
        p = put_word(p, english, one, escaped);
        if (one & QUOTED)
            p = put(p, "\\\"");
        if (one & (COMMA | FULL_STOP))
            *p++ = one & COMMA ? ',' : '.';
        if (one & PARAGRAPH)
            p = put(p, "\\n\\n");
        else
            *p++ = ' ';
    }
    return p;
}

static bool write_line(struct draft *draft, const struct corpus *corpus, uint64_t number)
{
    const struct tokens none = { 0 }, *footer = &none;
    if (draft->footer != SIZE_MAX)
        footer = &corpus->footer[draft->footer];
    size_t room = LINE_ROOM + TOKEN_ROOM * (draft->body.count + footer->count);
    if (room > draft->room) {
        draft->line = allocated(realloc(draft->line, 2 * room));
        draft->room = 2 * room;
    }
    /* Half of the documents contain non-ASCII characters as UTF-8, half escape them. */
    bool escaped = stream(corpus, DOCUMENTS, number) & 1;
    char *p = draft->line + sprintf(draft->line, "{\"id\": \"d%07" PRIu64 "\", \"text\": \"", number);
    p = put_tokens(p, corpus->english, &draft->body, escaped);
    p = put(p, footer->count ? "\\n" : "");
    p = put_tokens(p, corpus->english, footer, escaped);
    p = put(p, "\"}\n");
    size_t length = (size_t)(p - draft->line);
    return fwrite(draft->line, 1, length, stdout) == length;
}

/* Writes all lines and the truth; false when writing fails. */
static bool write_corpus(struct corpus *corpus, FILE *truth)
{
    struct draft draft = { 0 };
    bool good = true;
    for (uint64_t number = 0; good && number < corpus->documents; number++) {
        struct origin origin = make_document(&draft, corpus, number);
        good = write_line(&draft, corpus, number);
        if (good && truth && origin.kind)
            good = fprintf(truth, "d%07" PRIu64 "\td%07" PRIu64 "\t%s\t%.4f\n", number, origin.source, origin.kind,
                           origin.rate) > 0;
    }
    free(draft.body.items);
    free(draft.edited.items);
    free(draft.line);
    return good && fflush(stdout) == 0;
}

/* ---- options */

static bool read_number(uint64_t *out, const char *text, char stop, const char **end)
{
    char *stopped;
    errno = 0;
    *out = strtoull(text, &stopped, 10);
    *end = stopped + 1;
    return *text >= '0' && *text <= '9' && errno == 0 && *stopped == stop;
}

static bool read_share(double *out, const char *text)
{
    char *stopped;
    *out = strtod(text, &stopped);
    return stopped != text && *stopped == '\0' && *out >= 0 && *out <= 1;
}

static bool read_groups(struct groups *out, const char *text)
{
    const char *end;
    return read_number(&out->count, text, ':', &end) && read_number(&out->size, end, '\0', &end);
}

static bool read_option(struct corpus *corpus, int option, const char *value)
{
    const char *end;
    switch (option) {
    case 'd': return read_number(&corpus->documents, value, '\0', &end);
    case 'b': return read_number(&corpus->bytes, value, '\0', &end);
    case 's': return read_number(&corpus->seed, value, '\0', &end);
    case 'c': return read_share(&corpus->copies, value);
    case 'e': corpus->edits = true; return true;
    case 'n': return read_number(&corpus->same, value, '\0', &end);
    case 'f': return read_number(&corpus->footers, value, ':', &end) && read_share(&corpus->footer_share, end);
    case 'm': return read_groups(&corpus->families, value);
    case 'o': return read_groups(&corpus->forms, value);
    case 'h': return read_number(&corpus->few_words, value, '\0', &end);
    case 'l':
        return read_number(&corpus->long_ones, value, ':', &end) && read_number(&corpus->long_bytes, end, '\0', &end);
    case 't': corpus->truth_path = value; return true;
    default: return false;
    }
}

/* Whether the numbers fit each other. */
static bool makes_sense(const struct corpus *corpus)
{
    const uint64_t most = 1ull << 32; /* as a collection has */
    const struct groups *families = &corpus->families, *forms = &corpus->forms;
    if (corpus->documents == 0 || corpus->documents >= most || corpus->bytes == 0 || corpus->bytes >= most ||
        corpus->long_bytes >= most || corpus->footers > MAX_FOOTERS)
        return false;

    uint64_t left = corpus->documents;
    const uint64_t parts[][2] = { { corpus->same, 1 },
                                  { families->count, families->size },
                                  { forms->count, forms->size },
                                  { corpus->few_words, 1 },
                                  { corpus->long_ones, 1 } };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i][0] >= most || parts[i][1] >= most || parts[i][0] * parts[i][1] > left)
            return false;
        left -= parts[i][0] * parts[i][1];
    }
    return true;
}

static bool read_options(struct corpus *corpus, int argc, char **argv)
{
    static const struct option table[] = {
        { "docs", required_argument, NULL, 'd' },
        { "bytes", required_argument, NULL, 'b' },
        { "seed", required_argument, NULL, 's' },
        { "copies", required_argument, NULL, 'c' },
        { "edits", no_argument, NULL, 'e' },
        { "same", required_argument, NULL, 'n' },
        { "footers", required_argument, NULL, 'f' },
        { "families", required_argument, NULL, 'm' },
        { "truth", required_argument, NULL, 't' },
        { "forms", required_argument, NULL, 'o' },
        { "short", required_argument, NULL, 'h' },
        { "long", required_argument, NULL, 'l' },
        { 0 },
    };
    for (int option; (option = getopt_long(argc, argv, "", table, NULL)) != -1;)
        if (!read_option(corpus, option, optarg))
            return false;
    return optind == argc && makes_sense(corpus);
}

static void prepare(struct corpus *corpus)
{
    corpus->english = english_create(stream(corpus, VOCABULARY_STREAM, 0));
    corpus->families.first = allocated(calloc(corpus->families.count + 1, sizeof *corpus->families.first));
    corpus->forms.first = allocated(calloc(corpus->forms.count + 1, sizeof *corpus->forms.first));
    for (uint64_t i = 0; i < corpus->footers; i++) {
        uint64_t state = stream(corpus, FOOTERS, i);
        write_body(&corpus->footer[i], corpus->english, &state, 200 + twin__random_below(&state, 200), false);
    }
}

static void clear(struct corpus *corpus)
{
    free(corpus->english);
    free(corpus->families.first);
    free(corpus->forms.first);
    for (uint64_t i = 0; i < corpus->footers; i++)
        free(corpus->footer[i].items);
}

int main(int argc, char **argv)
{
    static struct corpus corpus = { .bytes = 2000, .seed = 1, .copies = 0.2, .footers = 20, .footer_share = 0.1 };
    if (!read_options(&corpus, argc, argv)) {
        fputs(help, stderr);
        return 2;
    }
    FILE *truth = NULL;
    if (corpus.truth_path && !(truth = fopen(corpus.truth_path, "w"))) {
        perror(corpus.truth_path);
        return 2;
    }
    prepare(&corpus);
    bool good = write_corpus(&corpus, truth);
    if (truth)
        good = fclose(truth) == 0 && good;
    if (!good)
        perror("twinsift-generate");
    clear(&corpus);
    return good ? 0 : 2;
}
