/* features.c — messages become hashed features.
 *
 * A word is hashed together with its kind: the hash of the kind's name is put in front of the word's bytes. The places
 * of a block are first marked in a bitmap, which leaves out repeats, and then listed by walking over it, which sorts
 * them: no hash table, no sort, and the weights are then visited in their order in memory. A second bitmap says which
 * words of the first are not zero.
 *
 * What is a word and where words come from was measured (1-ROCA% on trec07p, the SpamAssassin corpus and Enron-Spam);
 * docs/mail.md has the figures. Limits keep the work for one message bounded. */
#include "mail/features.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/kernels.h"
#include "mail/fields.h"

enum {
    MOST_HEADER_WORDS = 60,
    MOST_BODY_WORDS = 3000,
    MOST_HEADERS = 200,
    MOST_LINKS = 200,
    MOST_PARTS = 50,
    MOST_HOPS = 8,
    WORD_BYTES = 56, /* what is longer is cut: a word of 32 KB is no word */
    WINDOW_BYTES = 4,
    WINDOWED_BYTES = 3000,
    BITMAP_WORDS = TWIN__FEATURE_PLACES / 64,
    SUMMARY_WORDS = BITMAP_WORDS / 64,
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

/* A word to be hashed is a few numbers of eight bytes: the hash of its kind, its bytes in lower case, and what is left over
 * with its length. As soon as there are eight words of as many numbers they are hashed together. */
enum { MOST_NUMBERS = 2 + WORD_BYTES / 8 };

struct waiting {
    uint64_t numbers[MOST_NUMBERS * SIP_TEXTS]; /* as twin__sip_texts_fn takes them */
    size_t count;
};

/* A kind of word: its name, and the hash of that. */
struct kind {
    twin_text name;
    uint64_t hash;
};

struct twin__feature_maker {
    twin_hash hash;
    struct kind fixed[FIXED_KINDS];
    unsigned char classes[256]; /* of bytes: class_of() */
    uint64_t *bitmap;           /* of the block that is being made: all zero between blocks */
    uint64_t summary[SUMMARY_WORDS];
    uint32_t *places[TWIN__FEATURE_BLOCKS];
    uint64_t *windows;                        /* hashes */
    struct waiting waiting[MOST_NUMBERS + 1]; /* words of so many numbers */
    bool has_signatures;                      /* among the headers of the message */
    twin__feature_visit *visit;               /* NULL: mark in the bitmap */
    void *context;
};

/* ---- marking */

static void mark(twin__feature_maker *maker, uint64_t hash)
{
    uint32_t place = (uint32_t)hash & (TWIN__FEATURE_PLACES - 1), word = place / 64;
    maker->bitmap[word] |= (uint64_t)1 << place % 64;
    maker->summary[word / 64] |= (uint64_t)1 << word % 64;
}

/* Lists the places marked in one word. Most have one or two, which are written without asking: nothing to predict. */
static uint32_t list_word(uint32_t *out, uint64_t bits, uint32_t first)
{
    uint64_t more = bits & (bits - 1), rest = more & (more - 1);
    out[0] = first + (uint32_t)__builtin_ctzll(bits);
    out[1] = first + (more ? (uint32_t)__builtin_ctzll(more) : 0);
    uint32_t count = 1 + (more != 0);
    for (; rest; rest &= rest - 1)
        out[count++] = first + (uint32_t)__builtin_ctzll(rest);
    return count;
}

/* Lists the marked places, and clears the marks. `out` has room for one more. */
static uint32_t list_marked(twin__feature_maker *maker, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SUMMARY_WORDS; i++) {
        for (uint64_t words = maker->summary[i]; words; words &= words - 1) {
            uint32_t word = i * 64 + (uint32_t)__builtin_ctzll(words);
            count += list_word(out + count, maker->bitmap[word], word * 64);
            maker->bitmap[word] = 0;
        }
        maker->summary[i] = 0;
    }
    return count;
}

static twin_text text_of(const char *string)
{
    return (twin_text){ string, strlen(string) };
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 'a' - 'A') : c;
}

static struct kind kind_of(const twin__feature_maker *maker, twin_text name)
{
    unsigned char folded[WORD_BYTES];
    size_t length = name.length < sizeof folded ? name.length : sizeof folded;
    for (size_t i = 0; i < length; i++)
        folded[i] = lower((unsigned char)name.bytes[i]);
    return (struct kind){ name, twin_hash_bytes(maker->hash, folded, length) };
}

/* Eight bytes with the letters of ASCII in lower case. */
static uint64_t lower_eight(uint64_t x)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t low = x & 0x7f * ones, from_a = low + (0x80 - 'A') * ones, past_z = low + (0x7f - 'Z') * ones;
    return x | ((from_a ^ past_z) & ~x & 0x80 * ones) >> 2;
}

/* Eight bytes of a word as a number; fewer than eight, with zeros behind them. */
static uint64_t eight_bytes(const char *bytes)
{
    uint64_t eight;
    memcpy(&eight, bytes, sizeof eight);
    return lower_eight(eight);
}

static uint64_t few_bytes(const char *bytes, size_t count)
{
    uint64_t few = 0;
    if (count >= 4) { /* two reads that overlap */
        uint32_t first, last;
        memcpy(&first, bytes, sizeof first);
        memcpy(&last, bytes + count - sizeof last, sizeof last);
        few = first | (uint64_t)last << 8 * (count - 4);
    } else {
        for (size_t i = 0; i < count; i++)
            few |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    }
    return lower_eight(few);
}

/* Hashes what waits, and marks it. */
static void mark_waiting(twin__feature_maker *maker, size_t numbers)
{
    struct waiting *waiting = &maker->waiting[numbers];
    uint64_t hashes[SIP_TEXTS];
    twin__kernels()->sip_texts(hashes, waiting->numbers, numbers, maker->hash.key);
    for (size_t i = 0; i < waiting->count; i++)
        mark(maker, hashes[i]);
    waiting->count = 0;
}

static void mark_all_waiting(twin__feature_maker *maker)
{
    for (size_t numbers = 0; numbers <= MOST_NUMBERS; numbers++)
        if (maker->waiting[numbers].count)
            mark_waiting(maker, numbers);
}

/* The one that waits is not marked, but visited. */
static void name_waiting(twin__feature_maker *maker, size_t numbers, const struct kind *kind, twin_text word)
{
    struct waiting *waiting = &maker->waiting[numbers];
    uint64_t hashes[SIP_TEXTS];
    twin__kernels()->sip_texts(hashes, waiting->numbers, numbers, maker->hash.key);
    maker->visit(maker->context, (uint32_t)hashes[0] & (TWIN__FEATURE_PLACES - 1), kind->name, word);
    waiting->count = 0;
}

static void add_word(twin__feature_maker *maker, const struct kind *kind, twin_text word)
{
    size_t length = word.length < WORD_BYTES ? word.length : WORD_BYTES, whole = length / 8, numbers = whole + 2;
    struct waiting *waiting = &maker->waiting[numbers];
    uint64_t *at = waiting->numbers + waiting->count++;
    *at = kind->hash;
    for (size_t i = 0; i < whole; i++)
        *(at += SIP_TEXTS) = eight_bytes(word.bytes + 8 * i);
    at[SIP_TEXTS] = few_bytes(word.bytes + 8 * whole, length % 8) | (uint64_t)(8 + length) << 56;
    if (maker->visit)
        name_waiting(maker, numbers, kind, word);
    else if (waiting->count == SIP_TEXTS)
        mark_waiting(maker, numbers);
}

/* The same for something that may be absent. */
static void add(twin__feature_maker *maker, unsigned kind, twin_text word)
{
    if (word.length)
        add_word(maker, &maker->fixed[kind], word);
}

/* ---- words */

enum { IN_HEADER = 1, IN_BODY = 2 };

/* Which bytes are part of a word of a header, and of the text. */
static unsigned char class_of(unsigned char c)
{
    if (c >= 0x80 || (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_')
        return IN_HEADER | IN_BODY;
    if (c == '.' || c == '@' || c == '=')
        return IN_HEADER;
    return c == '\'' || c == '$' ? IN_BODY : 0;
}

static void add_words(twin__feature_maker *maker, const struct kind *kind, twin_text text, unsigned char class,
                      size_t most)
{
    size_t i = 0;
    for (size_t words = 0; words < most; words++) {
        while (i < text.length && !(maker->classes[(unsigned char)text.bytes[i]] & class))
            i++;
        size_t start = i;
        while (i < text.length && maker->classes[(unsigned char)text.bytes[i]] & class)
            i++;
        if (i == start)
            return;
        add_word(maker, kind, (twin_text){ text.bytes + start, i - start });
    }
}

/* ---- headers */

static bool is_named(twin_text name, const char *wanted)
{
    return name.length == strlen(wanted) && strncasecmp(name.bytes, wanted, name.length) == 0;
}

/* Values that are new in every message: times and ids. Their names still count. */
static bool is_unique(twin_text name)
{
    static const char *const names[] = { "Date",          "Message-ID",           "References",  "In-Reply-To",
                                         "Delivery-Date", "Thread-Index",         "Resent-Date", "Resent-Message-ID",
                                         "X-UIDL",        "X-OriginalArrivalTime" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_named(name, names[i]))
            return true;
    return false;
}

/* Signatures and tokens of hosts: long, new in every message, and before what tells messages apart. */
static bool is_signature(twin_text name)
{
    static const char *const names[] = { "DKIM-Signature",     "ARC-Message-Signature", "ARC-Seal",
                                         "X-Gm-Message-State", "X-Google-Smtp-Source",  "X-Google-DKIM-Signature",
                                         "X-Received",         "DomainKey-Signature",   "X-SG-EID",
                                         "X-ME-Sender",        "X-ME-Received" };
    char first = name.length >= 8 ? (char)lower((unsigned char)name.bytes[0]) : 0;
    for (size_t i = 0; (first == 'd' || first == 'a' || first == 'x') && i < sizeof names / sizeof names[0]; i++)
        if (is_named(name, names[i]))
            return true;
    return false;
}

static void add_headers(twin__feature_maker *maker, const twin_message *message)
{
    const struct kind *name_kind = &maker->fixed[HEADER], *order_kind = &maker->fixed[HEADER_ORDER];
    uint64_t order = 0; /* a hash of the names so far */
    for (size_t i = 0; i < message->header_count && i < MOST_HEADERS; i++) {
        const twin_message_header *header = &message->headers[i];
        struct kind kind = kind_of(maker, header->name);
        uint64_t pair[2] = { order, kind.hash };
        add_word(maker, name_kind, header->name);
        order = twin_hash_bytes(maker->hash, pair, sizeof pair);
        if (!maker->visit)
            mark(maker, order ^ order_kind->hash);
        bool is_signed = is_signature(header->name);
        maker->has_signatures |= is_signed;
        if (!is_signed && !is_unique(header->name))
            add_words(maker, &kind, header->value, IN_HEADER, MOST_HEADER_WORDS);
    }
}

static void add_addresses(twin__feature_maker *maker, const twin_message *message)
{
    for (size_t i = 0; i < message->address_count && i < MOST_HOPS; i++) {
        const twin_message_address *address = &message->addresses[i];
        unsigned kind = ADDRESS + 4 * (unsigned)address->role;
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

/* The power of two at or above a size, and nothing for an empty part. */
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

static void add_all_words(twin__feature_maker *maker, const twin_message *message)
{
    add_headers(maker, message);
    add_addresses(maker, message);
    add_route(maker, message);
    add_parts(maker, message);
    add_words(maker, &maker->fixed[BODY], message->folded, IN_BODY, MOST_BODY_WORDS);
    mark_all_waiting(maker);
}

/* ---- windows */

static void add_windows(twin__feature_maker *maker, const char *bytes, size_t length)
{
    if (length < WINDOW_BYTES)
        return;
    size_t count = length - WINDOW_BYTES + 1;
    twin_hash_windows(maker->windows, maker->hash, bytes, WINDOW_BYTES, count);
    for (size_t i = 0; i < count; i++)
        mark(maker, maker->windows[i]);
}

/* Whether the bytes of the body are not what is seen: a sender has hidden it from those who look at bytes. */
static bool is_veiled(const twin_message *message)
{
    bool is_veiled = message->flags & (TWIN_MESSAGE_HIDDEN | TWIN_MESSAGE_DISGUISED);
    for (size_t i = 0; i < message->part_count && i < MOST_PARTS; i++)
        is_veiled |= message->parts[i].text.length && is_named(message->parts[i].encoding, "base64");
    return is_veiled;
}

/* Windows of several texts, as many bytes of each as are left. */
static void add_some(twin__feature_maker *maker, twin_text text, size_t *left)
{
    size_t length = text.length < *left ? text.length : *left;
    add_windows(maker, text.bytes, length);
    *left -= length;
}

/* The headers without signatures, one stretch of lines after the other. */
static void add_unsigned(twin__feature_maker *maker, twin_text headers, size_t *left)
{
    struct twin__fields fields = twin__fields_of(headers);
    struct twin__field field;
    const char *begin = headers.bytes, *end = begin;
    while (end < begin + *left && twin__fields_next(&field, &fields)) {
        if (is_signature(field.name)) {
            add_some(maker, (twin_text){ begin, (size_t)(end - begin) }, left);
            begin = fields.at;
        }
        end = fields.at;
    }
    add_some(maker, (twin_text){ begin, (size_t)(end - begin) }, left);
}

static void add_raw(twin__feature_maker *maker, const twin_message *message)
{
    size_t left = WINDOWED_BYTES;
    twin_text raw = message->raw, headers = { raw.bytes, message->header_length };
    bool veiled = is_veiled(message);
    if (!maker->has_signatures && !veiled) {
        add_some(maker, raw, &left);
        return;
    }
    if (maker->has_signatures)
        add_unsigned(maker, headers, &left);
    else
        add_some(maker, headers, &left);
    twin_text body = { raw.bytes + headers.length, raw.length - headers.length };
    add_some(maker, veiled ? message->folded : body, &left);
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
    maker->hash = (twin_hash){ .family = TWIN_HASH_SIP, .key = { key[0], key[1] } };
    for (unsigned i = 0; i < FIXED_KINDS; i++)
        maker->fixed[i] = kind_of(maker, text_of(fixed_names[i]));
    for (unsigned i = 0; i < sizeof maker->classes; i++)
        maker->classes[i] = class_of((unsigned char)i);
    maker->bitmap = calloc(BITMAP_WORDS, sizeof *maker->bitmap);
    maker->places[0] = malloc((MOST_WORDS + 1) * sizeof *maker->places[0]);
    maker->places[1] = malloc((WINDOWED_BYTES + 1) * sizeof *maker->places[1]);
    maker->windows = malloc(WINDOWED_BYTES * sizeof *maker->windows);
    if (!maker->bitmap || !maker->places[0] || !maker->places[1] || !maker->windows) {
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
    free(maker->bitmap);
    free(maker->places[0]);
    free(maker->places[1]);
    free(maker->windows);
    free(maker);
}

twin_status twin__features_make(struct twin__features *out, twin__feature_maker *maker, const twin_message *message)
{
    maker->has_signatures = false;
    add_all_words(maker, message);
    out->counts[0] = list_marked(maker, maker->places[0]);
    add_raw(maker, message);
    out->counts[1] = list_marked(maker, maker->places[1]);
    for (int i = 0; i < TWIN__FEATURE_BLOCKS; i++)
        out->places[i] = maker->places[i];
    return TWIN_OK;
}

twin_status twin__features_name(twin__feature_maker *maker, const twin_message *message, twin__feature_visit *visit,
                                void *context)
{
    maker->visit = visit;
    maker->context = context;
    add_all_words(maker, message);
    maker->visit = NULL;
    return TWIN_OK;
}
