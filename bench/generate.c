/* generate.c — writes a corpus of English-like documents with planted near-duplicates, as JSON lines.
 *
 * Every document is a function of the seed and its number: a copy generates its source again instead of storing it,
 * so memory does not grow with the corpus, and a seed gives the same bytes on every machine. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>

#include "english.h"

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
    "  --truth FILE          write the planted pairs: copy, source, kind, fraction changed\n";

enum { MAX_FOOTERS = 1000, FIRST_COPY = 50 };

/* The streams apart from those of the documents, which are numbered from 0. */
enum { SAME = 1, FAMILIES, FOOTERS, VOCABULARY_STREAM, DOCUMENTS };

struct corpus {
    uint64_t documents, bytes, seed, same, families, family_size, footers;
    double copies, footer_share;
    bool edits;
    const char *truth_path;
    struct english *english;
    struct tokens footer[MAX_FOOTERS];
    uint64_t first_same, *first_member; /* the first document with the same text, the first of each family */
};

/* How a document was made. */
struct origin {
    const char *kind; /* NULL: not a copy */
    uint64_t source;  /* the document it was made from */
    double rate;      /* the fraction of its words that was changed */
};

/* Working memory for one document. */
struct draft {
    struct tokens body, edited;
    size_t footer; /* its number, or SIZE_MAX */
    char *line;
    size_t room;
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

enum role { ORDINARY, ONE_OF_SAME, ONE_OF_FAMILY };

/* What the document is for; `which` counts among those of that role. */
static enum role role_of(uint64_t *which, const struct corpus *corpus, uint64_t number)
{
    uint64_t special = corpus->same + corpus->families * corpus->family_size, place;
    if (special == 0 || !is_spread(&place, number, special, corpus->documents))
        return ORDINARY;
    if (is_spread(which, place, corpus->same, special))
        return ONE_OF_SAME;
    *which = place - *which;
    return ONE_OF_FAMILY;
}

static bool wants_source(const struct corpus *corpus, uint64_t number)
{
    uint64_t state = stream(corpus, DOCUMENTS, number);
    return number >= FIRST_COPY && twin__random_unit(&state) < corpus->copies;
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

/* Writes the text of random stream `state` to `draft`, and draws its footer. */
static void draw_text(struct draft *draft, const struct corpus *corpus, uint64_t state)
{
    size_t bytes = corpus->bytes / 2 + twin__random_below(&state, corpus->bytes + 1);
    bool foreign = twin__random_below(&state, 8) == 0;
    draft->footer = SIZE_MAX;
    if (corpus->footers && twin__random_unit(&state) < corpus->footer_share)
        draft->footer = twin__random_below(&state, corpus->footers);
    draft->body.count = 0;
    write_body(&draft->body, corpus->english, &state, bytes, foreign);
}

static void take_edited(struct draft *draft)
{
    struct tokens body = draft->body;
    draft->body = draft->edited;
    draft->edited = body;
}

/* With probability `rate` replaces a word, inserts another after it, or deletes it. */
static void edit_words(struct draft *draft, const struct corpus *corpus, uint64_t *state, double rate)
{
    uint64_t limit = rate < 1 ? (uint64_t)(rate * 0x1p64) : UINT64_MAX;
    draft->edited.count = 0;
    for (size_t i = 0; i < draft->body.count; i++) {
        if (twin__random_next(state) >= limit) {
            push(&draft->edited, draft->body.items[i]);
            continue;
        }
        uint64_t random = twin__random_next(state);
        token other = draw_word(corpus->english, random);
        switch ((random >> 32) % 3) {
        case 0: push(&draft->edited, other); break;
        case 1:
            push(&draft->edited, draft->body.items[i]);
            push(&draft->edited, other);
            break;
        default: break;
        }
    }
    take_edited(draft);
}

static void append(struct tokens *out, const struct tokens *tokens, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        push(out, tokens->items[i]);
}

/* Inserts new text of `rate` times its length before the body. */
static void add_prefix(struct draft *draft, const struct corpus *corpus, uint64_t *state, double rate)
{
    draft->edited.count = 0;
    write_body(&draft->edited, corpus->english, state, (size_t)(rate * (double)corpus->bytes), false);
    append(&draft->edited, &draft->body, 0, draft->body.count);
    take_edited(draft);
}

/* Moves the first `rate` of the words to the end. */
static void move_block(struct draft *draft, double rate)
{
    size_t first = (size_t)(rate * (double)draft->body.count);
    draft->edited.count = 0;
    append(&draft->edited, &draft->body, first, draft->body.count);
    append(&draft->edited, &draft->body, 0, first);
    take_edited(draft);
}

/* How often words are edited. Near-duplicates as they are met; or, with --edits, so that the similarity J is
 * anywhere: when a share q of the shingles survives on either side, J = q / (2 - q), and a shingle of char:9, which
 * touches some two words, survives with (1 - rate)². */
static double draw_edit_rate(const struct corpus *corpus, uint64_t *state)
{
    static const double usual[] = { 0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2 };
    if (!corpus->edits)
        return usual[twin__random_below(state, sizeof usual / sizeof usual[0])];
    double similarity = twin__random_unit(state);
    return 1 - sqrt(2 * similarity / (1 + similarity)); /* sqrt is rounded the same everywhere; pow is not */
}

static double draw_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * twin__random_unit(state);
}

/* Changes the source's text in `draft` and records how in `origin`. */
static void change_text(struct draft *draft, struct origin *origin, const struct corpus *corpus, uint64_t *state)
{
    switch (twin__random_below(state, 8)) {
    case 0:
        origin->kind = "prefix";
        origin->rate = corpus->edits ? twin__random_unit(state) : draw_between(state, 0.03, 0.13);
        add_prefix(draft, corpus, state, origin->rate);
        break;
    case 1:
        origin->kind = "cut";
        origin->rate = corpus->edits ? twin__random_unit(state) : draw_between(state, 0.05, 0.3);
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
        edit_words(draft, corpus, state, origin->rate);
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

/* The members of a family differ from its text, which none of them has, in one word of a hundred at most. */
static struct origin make_member(struct draft *draft, struct corpus *corpus, uint64_t number, uint64_t which)
{
    uint64_t family = which % corpus->families, state = stream(corpus, FAMILIES, corpus->families + which);
    struct origin origin = { .rate = draw_between(&state, 0, 0.01) };
    draw_text(draft, corpus, stream(corpus, FAMILIES, family));
    edit_words(draft, corpus, &state, origin.rate);
    if (which < corpus->families) {
        corpus->first_member[family] = number;
        return origin;
    }
    origin.kind = "family";
    origin.source = corpus->first_member[family];
    return origin;
}

/* Makes the next document: numbers come in increasing order, because the first of each group is recorded on the way. */
static struct origin make_document(struct draft *draft, struct corpus *corpus, uint64_t number)
{
    uint64_t which;
    switch (role_of(&which, corpus, number)) {
    case ONE_OF_SAME: return make_same(draft, corpus, number, which);
    case ONE_OF_FAMILY: return make_member(draft, corpus, number, which);
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
    case 'm':
        return read_number(&corpus->families, value, ':', &end) && read_number(&corpus->family_size, end, '\0', &end);
    case 't': corpus->truth_path = value; return true;
    default: return false;
    }
}

/* Whether the numbers fit each other. */
static bool makes_sense(const struct corpus *corpus)
{
    const uint64_t most = 1ull << 32; /* as a collection has */
    return corpus->documents > 0 && corpus->documents < most && corpus->bytes > 0 && corpus->bytes < most &&
           corpus->footers <= MAX_FOOTERS && corpus->families < most && corpus->family_size < most &&
           corpus->same <= corpus->documents &&
           corpus->families * corpus->family_size <= corpus->documents - corpus->same;
}

static bool read_options(struct corpus *corpus, int argc, char **argv)
{
    static const struct option table[] = {
        { "docs", required_argument, NULL, 'd' },    { "bytes", required_argument, NULL, 'b' },
        { "seed", required_argument, NULL, 's' },    { "copies", required_argument, NULL, 'c' },
        { "edits", no_argument, NULL, 'e' },         { "same", required_argument, NULL, 'n' },
        { "footers", required_argument, NULL, 'f' }, { "families", required_argument, NULL, 'm' },
        { "truth", required_argument, NULL, 't' },   { 0 },
    };
    for (int option; (option = getopt_long(argc, argv, "", table, NULL)) != -1;)
        if (!read_option(corpus, option, optarg))
            return false;
    return optind == argc && makes_sense(corpus);
}

static void prepare(struct corpus *corpus)
{
    corpus->english = english_create(stream(corpus, VOCABULARY_STREAM, 0));
    corpus->first_member = allocated(calloc(corpus->families + 1, sizeof *corpus->first_member));
    for (uint64_t i = 0; i < corpus->footers; i++) {
        uint64_t state = stream(corpus, FOOTERS, i);
        write_body(&corpus->footer[i], corpus->english, &state, 200 + twin__random_below(&state, 200), false);
    }
}

static void clear(struct corpus *corpus)
{
    free(corpus->english);
    free(corpus->first_member);
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
