/* message.h — what is in a mail message: headers, addresses, route, text, links, parts.
 *
 * A reader takes the bytes of one message as they were received and makes of them what a filter compares. Transfer
 * encodings and character sets are undone, HTML becomes the text that a person sees, and what other filters wrote into
 * the headers is left out. All texts are valid UTF-8, except where noted.
 *
 * Mail is hostile. A message of any bytes gives a result: what is broken is read as far as it can be, what exceeds a
 * limit is left out, and `flags` says so. Time and memory are bounded by the limits, whatever the message contains.
 *
 * A reader keeps its memory from message to message. One thread uses it at a time; several readers are independent. */
#ifndef TWINSIFT_MESSAGE_H
#define TWINSIFT_MESSAGE_H

#include <twinsift/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twin_message_reader twin_message_reader;

/* What is over a limit is left out, and flagged. */
typedef struct twin_message_options {
    size_t max_bytes;   /* of a message; 0: 4 MiB */
    size_t max_headers; /* 0: 1,000; a single one is cut after 64 KiB */
    size_t max_parts;   /* nested or side by side; 0: 200 */
    size_t max_text;    /* bytes of `text`, of `hidden`, and of a part that is text; 0: 1 MiB */
    size_t max_links;   /* different hosts; 0: 1,000 */
    uint64_t reserved[TWIN_RESERVED];
} twin_message_options;

/* A header as it reads: the value unfolded and decoded, without white space at its ends. */
typedef struct twin_message_header {
    twin_text name; /* as written */
    twin_text value;
} twin_message_header;

typedef enum twin_message_role {
    TWIN_MESSAGE_FROM,
    TWIN_MESSAGE_REPLY_TO,
    TWIN_MESSAGE_RETURN_PATH,
    TWIN_MESSAGE_SENDER,
} twin_message_role;

/* Who sent the message, or claims to have. Letters A to Z of addresses and domains are folded to lower case. */
typedef struct twin_message_address {
    twin_message_role role;
    twin_text address;    /* "user@mail.example.org", ends with `domain`; may lack the '@' */
    twin_text domain;     /* "mail.example.org", in the form that the DNS has; empty: none */
    twin_text registered; /* the registered domain, "example.org"; empty: none */
    twin_text name;       /* the display name; empty: none */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_message_address;

/* A Received header: the host that passed the message on. Empty texts: not given. */
typedef struct twin_message_hop {
    twin_text hello;   /* the name it gave itself, in lower case */
    twin_text name;    /* the name that the receiving host found for it, in lower case */
    twin_text address; /* its IPv4 or IPv6 address, without brackets */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_message_hop;

/* A host that is linked to, in HTML or as an address in the text. */
typedef struct twin_message_link {
    twin_text
        host; /* in lower case; a name, a number, or "data:text/html" of an address that contains what it shows */
    twin_text registered; /* its registered domain; the host itself if it has none */
    uint32_t count;       /* how often */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_message_link;

/* A part that is not a container. */
typedef struct twin_message_part {
    twin_text type;           /* "text/html", in lower case */
    twin_text charset;        /* in lower case; empty: not given */
    twin_text encoding;       /* of the transfer, in lower case: "base64"; empty: not given */
    twin_text name;           /* of the file; empty: none */
    twin_text extension;      /* of the name, in lower case, without the dot; empty: none */
    twin_text text;           /* what it adds to the message's `text`: a stretch of that; empty: nothing */
    uint64_t size;            /* bytes, decoded */
    unsigned char digest[16]; /* of the decoded bytes, SHA-256 cut short; zeros for parts whose text is read */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_message_part;

/* What to know of a message. */
enum {
    TWIN_MESSAGE_LONG = 1 << 0,         /* longer than max_bytes: only the beginning was read */
    TWIN_MESSAGE_MANY_HEADERS = 1 << 1, /* more than max_headers, or a header over 64 KiB */
    TWIN_MESSAGE_MANY_PARTS = 1 << 2,   /* more than max_parts */
    TWIN_MESSAGE_MUCH_TEXT = 1 << 3,    /* more than max_text */
    TWIN_MESSAGE_MANY_LINKS = 1 << 4,   /* more than max_links */
    TWIN_MESSAGE_NO_HEADERS = 1 << 5,   /* it begins with its body */
    TWIN_MESSAGE_MALFORMED = 1 << 6,    /* a line among the headers that is none, a multipart without its boundary */
    TWIN_MESSAGE_BAD_CHARSET = 1 << 7,  /* bytes that are not in the character set they are said to be in */
    TWIN_MESSAGE_HTML = 1 << 8,         /* there was HTML */
    TWIN_MESSAGE_HIDDEN = 1 << 9,       /* there was text that a person does not see */
    TWIN_MESSAGE_DISGUISED = 1 << 10,   /* invisible characters inside words, or letters that look like others */
};

/* A message that was read. Everything lives until the reader reads the next one. */
typedef struct twin_message {
    twin_text raw;        /* any bytes: as received, but lines that end with CR LF end with LF, and without an mbox
                             "From " line and headers that filters wrote */
    size_t header_length; /* bytes of `raw` before the body; the empty line between them counts */

    const twin_message_header *headers; /* in their order; without those that filters wrote */
    size_t header_count;
    twin_text subject, id; /* empty: none; the Message-ID without its angle brackets */
    int64_t date;          /* seconds since 1970, by its Date header; INT64_MIN: none or not understood */

    const twin_message_address *addresses; /* in the order of twin_message_role, then of the headers */
    size_t address_count;
    const twin_message_hop *hops; /* the latest first, as in the message */
    size_t hop_count;

    twin_text text;   /* what a person reads, part by part, without the subject */
    twin_text hidden; /* what HTML hides: by style, in the colour of the background, of size zero */
    twin_text
        folded; /* subject and text for comparison: twin_text_normalise() with TWIN_NORMAL_FOLD, without invisible
                         characters, look-alike letters replaced in words that mix scripts */

    const twin_message_link *links; /* different hosts, in their order */
    size_t link_count;
    const twin_message_part *parts;
    size_t part_count;

    uint32_t flags; /* of the enumeration above */

    const uint64_t *elements; /* of HTML, where they begin: hashes of their names, of the first 4,096 */
    size_t element_count;
} twin_message;

/* TWIN_OK if this build reads messages, otherwise TWIN_EUNSUPPORTED. */
TWIN_API twin_status twin_message_available(void);

/* Creates a reader; release it with twin_message_reader_free(). */
TWIN_API twin_status twin_message_reader_create(twin_message_reader **out, twin_message_options options);
TWIN_API void twin_message_reader_free(twin_message_reader *reader);

/* Reads a message. Any bytes are a message; only TWIN_ENOMEM and TWIN_EINVAL are possible failures. */
TWIN_API twin_status twin_message_read(const twin_message **out, twin_message_reader *reader, twin_text raw);

/* When the message was received, in seconds since 1970, by the topmost Received header, which a sender cannot write.
 * INT64_MIN: there is none, or it cannot be understood. */
TWIN_API int64_t twin_message_received(const twin_message *message);

/* Appends the message to `out`, byte for byte, with `added` as headers at its top (after an mbox "From " line) and
 * without headers of the same names, and without X-Spam-Flag, X-Spam-Score and X-Twinsift, which someone may have
 * forged, wherever they are before the first empty line. Names and values must be printable; values may be folded by
 * the caller. */
TWIN_API twin_status twin_message_pass(twin_buffer *out, twin_text raw, const twin_message_header *added,
                                       size_t count);

#ifdef __cplusplus
}
#endif
#endif
