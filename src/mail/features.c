/* features.c — messages become hashed features: which words and bytes of a message count. How they become places is in
 * feature_words.c.
 *
 * What is a word and where words come from was measured (1-ROCA% on trec07p, the SpamAssassin corpus and Enron-Spam);
 * docs/mail.md has the figures. Limits keep the work for one message bounded. */
#include "mail/features.h"

#include <stdlib.h>
#include <string.h>

#include "mail/feature_words.h"
#include "mail/fields.h"
#include "sketch/hash.h"

enum {
    MOST_HEADER_WORDS = 60,
    MOST_BODY_WORDS = 3000,
    MOST_HEADERS = 200,
    MOST_LINKS = 200,
    MOST_PARTS = 50,
    MOST_HOPS = 8,
    WINDOW_BYTES = 4,
    WINDOWED_BYTES = 3000,
    OPENING_WORDS = 50, /* of the subject and the text; measured: decision 119 */
    OPENING_BYTES = 300,
};

/* Kinds of words that have a fixed name. */
enum fixed_kind {
    HEADER,
    HEADER_ORDER,
    ADDRESS,            /* address, domain, registered domain, name; of each role */
    HOP = ADDRESS + 16, /* address, network, hello, name; of the first, the second and later hops */
    PART_TYPE = HOP + 12,
    PART_CHARSET,
    PART_ENCODING,
    PART_SIZE,
    FILE_NAME,
    FILE_EXTENSION,
    FILE_DIGEST,
    LINK,
    LINK_DOMAIN,
    BODY,
    FIXED_KINDS
};

static const char *const fixed_names[FIXED_KINDS] = {
    [HEADER] = "header",
    [HEADER_ORDER] = "header order",
    [ADDRESS + 4 * TWIN_MESSAGE_FROM] = "from address",
    "from domain",
    "from registered",
    "from name",
    [ADDRESS + 4 * TWIN_MESSAGE_REPLY_TO] = "reply address",
    "reply domain",
    "reply registered",
    "reply name",
    [ADDRESS + 4 * TWIN_MESSAGE_RETURN_PATH] = "return address",
    "return domain",
    "return registered",
    "return name",
    [ADDRESS + 4 * TWIN_MESSAGE_SENDER] = "sender address",
    "sender domain",
    "sender registered",
    "sender name",
    [HOP] = "hop 1",
    "hop 1 net",
    "hop 1 hello",
    "hop 1 name",
    "hop 2",
    "hop 2 net",
    "hop 2 hello",
    "hop 2 name",
    "hop",
    "hop net",
    "hop hello",
    "hop name",
    [PART_TYPE] = "part type",
    [PART_CHARSET] = "part charset",
    [PART_ENCODING] = "part encoding",
    [PART_SIZE] = "part size",
    [FILE_NAME] = "file name",
    [FILE_EXTENSION] = "file extension",
    [FILE_DIGEST] = "file digest",
    [LINK] = "link",
    [LINK_DOMAIN] = "link domain",
    [BODY] = "body",
};

struct twin__feature_maker {
    struct twin__marks marks; /* of the block that is being made */
    struct twin__word_kind fixed[FIXED_KINDS];
    uint32_t *places[TWIN__FEATURE_BLOCKS], *opening[TWIN__FEATURE_BLOCKS]; /* opening: of what is seen */
    uint64_t *windows;                                                      /* hashes */
    bool has_signatures;                                                    /* among the headers of the message */
};

/* Marks a word that may be absent. */
static void add(twin__feature_maker *maker, unsigned kind, twin_text word)
{
    if (word.length)
        twin__mark_word(&maker->marks, &maker->fixed[kind], word);
}

/* ---- headers */

/* Values that are new in every message: times and ids. Their names still count. */
static bool is_unique(twin_text name)
{
    static const char *const names[] = { "date",          "message-id",           "references",  "in-reply-to",
                                         "delivery-date", "thread-index",         "resent-date", "resent-message-id",
                                         "x-uidl",        "x-originalarrivaltime" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (twin__is_named(name, names[i]))
            return true;
    return false;
}

/* Signatures and tokens of hosts: long, new in every message, and before what tells messages apart. */
static bool is_signature(twin_text name)
{
    static const char *const names[] = { "dkim-signature",     "arc-message-signature", "arc-seal",
                                         "x-gm-message-state", "x-google-smtp-source",  "x-google-dkim-signature",
                                         "x-received",         "domainkey-signature",   "x-sg-eid",
                                         "x-me-sender",        "x-me-received" };
    char first = name.length >= 8 ? twin__lower(name.bytes[0]) : 0;
    for (size_t i = 0; (first == 'd' || first == 'a' || first == 'x') && i < sizeof names / sizeof names[0]; i++)
        if (twin__is_named(name, names[i]))
            return true;
    return false;
}

/* What mail programs show of the headers. */
static bool is_shown(twin_text name)
{
    return twin__is_named(name, "subject") || twin__is_named(name, "from");
}

static void add_shown_headers(twin__feature_maker *maker, const twin_message *message)
{
    for (size_t i = 0; i < message->header_count && i < MOST_HEADERS; i++) {
        const twin_message_header *header = &message->headers[i];
        if (!is_shown(header->name))
            continue;
        struct twin__word_kind kind = twin__word_kind_of(&maker->marks, header->name);
        twin__mark_words(&maker->marks, &kind, header->value, TWIN__WORDS_OF_HEADER, MOST_HEADER_WORDS);
    }
}

/* Names, their order, and the values of the other headers. */
static void add_other_headers(twin__feature_maker *maker, const twin_message *message)
{
    const struct twin__word_kind *name_kind = &maker->fixed[HEADER], *order_kind = &maker->fixed[HEADER_ORDER];
    uint64_t order = 0; /* a hash of the names so far */
    maker->has_signatures = false;
    for (size_t i = 0; i < message->header_count && i < MOST_HEADERS; i++) {
        const twin_message_header *header = &message->headers[i];
        struct twin__word_kind kind = twin__word_kind_of(&maker->marks, header->name);
        uint64_t pair[2] = { order, kind.hash };
        twin__mark_word(&maker->marks, name_kind, header->name);
        order = twin_hash_bytes(maker->marks.hash, pair, sizeof pair);
        if (!maker->marks.visit)
            twin__mark(&maker->marks, order ^ order_kind->hash);
        bool is_signed = is_signature(header->name);
        maker->has_signatures |= is_signed;
        if (!is_signed && !is_unique(header->name) && !is_shown(header->name))
            twin__mark_words(&maker->marks, &kind, header->value, TWIN__WORDS_OF_HEADER, MOST_HEADER_WORDS);
    }
}

/* Those of From and Reply-To, or those of hosts and lists. */
static void add_addresses(twin__feature_maker *maker, const twin_message *message, bool shown)
{
    for (size_t i = 0; i < message->address_count && i < MOST_HOPS; i++) {
        const twin_message_address *address = &message->addresses[i];
        unsigned kind = ADDRESS + 4 * (unsigned)address->role;
        if ((address->role == TWIN_MESSAGE_FROM || address->role == TWIN_MESSAGE_REPLY_TO) != shown)
            continue;
        add(maker, kind, address->address);
        add(maker, kind + 1, address->domain);
        add(maker, kind + 2, address->registered);
        add(maker, kind + 3, address->name);
    }
}

/* The first `dots` numbers of an IPv4 address. */
static twin_text network(twin_text address, int dots)
{
    for (size_t i = 0; i < address.length; i++)
        if (address.bytes[i] == '.' && --dots == 0)
            return (twin_text){ address.bytes, i };
    return (twin_text){ address.bytes, 0 };
}

static void add_route(twin__feature_maker *maker, const twin_message *message)
{
    for (size_t i = 0; i < message->hop_count && i < MOST_HOPS; i++) {
        const twin_message_hop *hop = &message->hops[i];
        unsigned kind = HOP + 4 * (i < 2 ? (unsigned)i : 2);
        add(maker, kind, hop->address);
        add(maker, kind + 1, network(hop->address, 3));
        add(maker, kind + 1, network(hop->address, 2));
        add(maker, kind + 2, hop->hello);
        add(maker, kind + 3, hop->name);
    }
}

/* ---- parts */

/* The power of two at or below a size, and nothing for an empty part. */
static void add_size(twin__feature_maker *maker, uint64_t size)
{
    const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-!?";
    if (size)
        add(maker, PART_SIZE, (twin_text){ digits + (63 - __builtin_clzll(size)), 1 });
}

static void add_parts(twin__feature_maker *maker, const twin_message *message)
{
    static const unsigned char none[16] = { 0 };
    for (size_t i = 0; i < message->part_count && i < MOST_PARTS; i++) {
        const twin_message_part *part = &message->parts[i];
        add(maker, PART_TYPE, part->type);
        add(maker, PART_CHARSET, part->charset);
        add(maker, PART_ENCODING, part->encoding);
        add(maker, FILE_NAME, part->name);
        add(maker, FILE_EXTENSION, part->extension);
        if (memcmp(part->digest, none, sizeof none) != 0)
            add(maker, FILE_DIGEST, (twin_text){ (const char *)part->digest, sizeof part->digest });
        add_size(maker, part->size);
    }
    for (size_t i = 0; i < message->link_count && i < MOST_LINKS; i++) {
        add(maker, LINK, message->links[i].host);
        add(maker, LINK_DOMAIN, message->links[i].registered);
    }
}

/* What is seen, but of the text only the first words. Returns the rest of it. */
static twin_text add_opening_words(twin__feature_maker *maker, const twin_message *message)
{
    add_shown_headers(maker, message);
    add_addresses(maker, message, true);
    add_parts(maker, message);
    twin_text rest =
        twin__mark_words(&maker->marks, &maker->fixed[BODY], message->folded, TWIN__WORDS_OF_TEXT, OPENING_WORDS);
    twin__mark_waiting(&maker->marks);
    return rest;
}

static void add_further_words(twin__feature_maker *maker, twin_text rest)
{
    twin__mark_words(&maker->marks, &maker->fixed[BODY], rest, TWIN__WORDS_OF_TEXT, MOST_BODY_WORDS - OPENING_WORDS);
    twin__mark_waiting(&maker->marks);
}

static void add_other_words(twin__feature_maker *maker, const twin_message *message)
{
    add_other_headers(maker, message);
    add_addresses(maker, message, false);
    add_route(maker, message);
    twin__mark_waiting(&maker->marks);
}

/* ---- windows */

static void add_windows(twin__feature_maker *maker, const char *bytes, size_t length)
{
    if (length < WINDOW_BYTES)
        return;
    size_t count = length - WINDOW_BYTES + 1;
    twin__hash_windows(maker->windows, maker->marks.hash, bytes, WINDOW_BYTES, count);
    for (size_t i = 0; i < count; i++)
        twin__mark(&maker->marks, maker->windows[i]);
}

/* Whether the bytes of the body are not what is seen: a sender has hidden it from those who look at bytes. */
static bool is_veiled(const twin_message *message)
{
    bool is_veiled = message->flags & (TWIN_MESSAGE_HIDDEN | TWIN_MESSAGE_DISGUISED);
    for (size_t i = 0; i < message->part_count && i < MOST_PARTS; i++)
        is_veiled |= message->parts[i].text.length && twin__is_named(message->parts[i].encoding, "base64");
    return is_veiled;
}

/* Windows of several texts, as many bytes of each as are left. */
static void add_some(twin__feature_maker *maker, twin_text text, size_t *left)
{
    size_t length = text.length < *left ? text.length : *left;
    add_windows(maker, text.bytes, length);
    *left -= length;
}

/* How many of the first bytes of the headers are left without signatures. */
static size_t unsigned_bytes(const twin__feature_maker *maker, twin_text headers)
{
    struct twin__fields fields = twin__fields_of(headers);
    struct twin__field field;
    const char *begin = headers.bytes;
    size_t count = 0;
    if (!maker->has_signatures)
        return headers.length < WINDOWED_BYTES ? headers.length : WINDOWED_BYTES;
    while (count < WINDOWED_BYTES && twin__fields_next(&field, &fields)) {
        count += is_signature(field.name) ? 0 : (size_t)(fields.at - begin);
        begin = fields.at;
    }
    return count < WINDOWED_BYTES ? count : WINDOWED_BYTES;
}

/* The headers without signatures, one stretch of lines after the other. */
static void add_header_windows(twin__feature_maker *maker, twin_text headers, size_t left)
{
    struct twin__fields fields = twin__fields_of(headers);
    struct twin__field field;
    const char *begin = headers.bytes, *end = begin;
    if (!maker->has_signatures) {
        add_some(maker, headers, &left);
        return;
    }
    while (end < begin + left && twin__fields_next(&field, &fields)) {
        if (is_signature(field.name)) {
            add_some(maker, (twin_text){ begin, (size_t)(end - begin) }, &left);
            begin = fields.at;
        }
        end = fields.at;
    }
    add_some(maker, (twin_text){ begin, (size_t)(end - begin) }, &left);
}

/* The body, or the text that is seen. Windows of its first bytes are those of the opening. */
static void add_body_windows(struct twin__features *opening, twin__feature_maker *maker, twin_text text, size_t left)
{
    size_t first = text.length < OPENING_BYTES ? text.length : OPENING_BYTES, before = left;
    add_some(maker, (twin_text){ text.bytes, first }, &left);
    if (opening->counts[TWIN__SEEN_WORDS])
        opening->counts[TWIN__SEEN_WINDOWS] = twin__list_marked(maker->opening[TWIN__SEEN_WINDOWS], &maker->marks);
    first = before - left;                                              /* what there was room for */
    size_t again = first < WINDOW_BYTES - 1 ? first : WINDOW_BYTES - 1; /* windows across the cut */
    left += again;
    add_some(maker, (twin_text){ text.bytes + first - again, text.length - first + again }, &left);
}

/* ---- the maker */

/* No more features than this: each limit above, and each of the few kinds per thing that is limited. */
enum {
    MOST_WORDS = MOST_HEADERS * (MOST_HEADER_WORDS + 2) + MOST_BODY_WORDS + 8 * MOST_PARTS + 2 * MOST_LINKS + 100
};

twin_status twin__feature_maker_create(twin__feature_maker **out, const uint64_t key[2])
{
    *out = NULL;
    twin__feature_maker *maker = calloc(1, sizeof *maker);
    if (!maker)
        return TWIN_ENOMEM;
    twin_status status = twin__marks_init(&maker->marks, key);
    for (unsigned i = 0; i < FIXED_KINDS; i++)
        maker->fixed[i] = twin__word_kind_of(&maker->marks, (twin_text){ fixed_names[i], strlen(fixed_names[i]) });
    maker->windows = malloc(WINDOWED_BYTES * sizeof *maker->windows);
    bool good = status == TWIN_OK && maker->windows;
    for (int i = 0; i < TWIN__FEATURE_BLOCKS; i++) {
        size_t most = i <= TWIN__OTHER_WORDS ? MOST_WORDS : WINDOWED_BYTES;
        maker->places[i] = malloc((most + 1) * sizeof *maker->places[i]); /* see twin__list_marked() */
        maker->opening[i] = malloc((most + 1) * sizeof *maker->opening[i]);
        good = good && maker->places[i] && maker->opening[i];
    }
    if (!good) {
        twin__feature_maker_free(maker);
        return TWIN_ENOMEM;
    }
    *out = maker;
    return TWIN_OK;
}

void twin__feature_maker_free(twin__feature_maker *maker)
{
    if (!maker)
        return;
    twin__marks_clear(&maker->marks);
    free(maker->windows);
    for (int i = 0; i < TWIN__FEATURE_BLOCKS; i++) {
        free(maker->places[i]);
        free(maker->opening[i]);
    }
    free(maker);
}

/* Takes what is marked, and leaves out what is listed as seen. */
static void take_others(struct twin__features *out, twin__feature_maker *maker, int seen_block)
{
    const uint32_t *seen = out->places[seen_block];
    uint32_t *others = maker->places[seen_block + 1], all = twin__take_marked(others, &maker->marks), count = 0;
    uint32_t s = 0, end = out->counts[seen_block];
    for (uint32_t i = 0; i < all; i++) {
        uint32_t place = others[i];
        bool is_seen = s < end && seen[s] == place;
        others[count] = place;
        count += !is_seen;
        s += is_seen;
    }
    out->counts[seen_block + 1] = count;
}

twin_status twin__features_make(struct twin__features *out, struct twin__features *opening,
                                twin__feature_maker *maker, const twin_message *message)
{
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        out->places[b] = maker->places[b];
        opening->places[b] = b & 1 ? maker->places[b] : maker->opening[b];
        opening->counts[b] = 0;
    }
    twin_text rest = add_opening_words(maker, message);
    if (rest.length)
        opening->counts[TWIN__SEEN_WORDS] = twin__list_marked(maker->opening[TWIN__SEEN_WORDS], &maker->marks);
    add_further_words(maker, rest);
    out->counts[TWIN__SEEN_WORDS] = twin__list_marked(maker->places[TWIN__SEEN_WORDS], &maker->marks);
    add_other_words(maker, message);
    take_others(out, maker, TWIN__SEEN_WORDS);

    twin_text raw = message->raw, headers = { raw.bytes, message->header_length };
    twin_text body = { raw.bytes + headers.length, raw.length - headers.length };
    size_t header_bytes = unsigned_bytes(maker, headers);
    add_body_windows(opening, maker, is_veiled(message) ? message->folded : body, WINDOWED_BYTES - header_bytes);
    out->counts[TWIN__SEEN_WINDOWS] = twin__list_marked(maker->places[TWIN__SEEN_WINDOWS], &maker->marks);
    if (!maker->has_signatures && !is_veiled(message)) { /* windows across the end of the headers, too */
        header_bytes =
            header_bytes + WINDOW_BYTES - 1 < WINDOWED_BYTES ? header_bytes + WINDOW_BYTES - 1 : WINDOWED_BYTES;
        headers.length = header_bytes < raw.length ? header_bytes : raw.length;
    }
    add_header_windows(maker, headers, header_bytes);
    take_others(out, maker, TWIN__SEEN_WINDOWS);
    for (int b = TWIN__OTHER_WORDS; b < TWIN__FEATURE_BLOCKS && rest.length; b += 2)
        opening->counts[b] = out->counts[b];
    return TWIN_OK;
}

twin_status twin__features_name(twin__feature_maker *maker, const twin_message *message, bool seen,
                                twin__feature_visit *visit, void *context)
{
    maker->marks.visit = visit;
    maker->marks.context = context;
    if (seen)
        add_further_words(maker, add_opening_words(maker, message));
    else
        add_other_words(maker, message);
    maker->marks.visit = NULL;
    return TWIN_OK;
}
