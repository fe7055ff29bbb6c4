/* message_private.h — the reader of messages, shared by the files that fill parts of its result. */
#ifndef TWIN_MAIL_MESSAGE_PRIVATE_H
#define TWIN_MAIL_MESSAGE_PRIVATE_H

#include <twinsift/hash.h>
#include <twinsift/message.h>

#include "mail/arena.h"
#include "mail/domain.h"

struct twin__mime;
struct twin__html;

/* A part's stretch of the text, while that may still move. */
struct twin__stretch {
    size_t begin, length;
};

struct twin_message_reader {
    twin_message_options limits; /* without zeros */
    twin_message message;
    struct twin__arena arena;
    struct twin__mime *mime;
    struct twin__html *html;

    twin_message_header *headers;
    twin_text *written; /* the values of the headers, unfolded and not decoded where that matters */
    twin_message_address *addresses;
    twin_message_hop *hops;
    twin_message_link *links;
    twin_message_part *parts;
    struct twin__stretch *stretches; /* of the parts */
    size_t header_capacity, written_capacity, address_capacity, hop_capacity, link_capacity, part_capacity,
        stretch_capacity;
    uint32_t *link_table; /* numbers of links plus one, by the hash of the host */
    size_t link_slots;
    twin_hash link_hash; /* with a key of its own, since hosts can be chosen to collide */

    struct twin__known_hosts known_hosts;

    twin_buffer lines; /* the message, if its lines ended with CR LF */
    twin_buffer raw, text, hidden, folded, elements;
    twin_buffer decoded, converted, value; /* of one part or header */
};

/* The bytes that the reader holds, without those of GMime. */
size_t twin__message_memory(twin_message_reader *reader);

/* A zero-terminated copy in the arena, with the letters of ASCII in lower case. */
twin_status twin__message_lower(twin_text *out, struct twin__arena *arena, twin_text text);

/* addresses.c: whether a header of this name has addresses of senders; adds those of its value, which is unfolded and not
 * decoded: what an encoded word says is no part of an address. */
bool twin__message_names_sender(twin_message_role *role, twin_text name);
twin_status twin__message_add_addresses(twin_message_reader *reader, twin_message_role role, twin_text value);

/* hops.c: adds the hop of a Received header. */
twin_status twin__message_add_hop(twin_message_reader *reader, twin_text value);

/* parts.c: reads the body, whose Content headers are among `header`. */
twin_status twin__message_read_parts(twin_message_reader *reader, twin_text header, twin_text body);

/* uuencode.c: finds the first file in a text; decodes the lines between its first and its last. */
struct twin__uu_file {
    twin_text lines; /* all of it */
    twin_text name, data;
};
bool twin__uu_find(struct twin__uu_file *out, twin_text text);
twin_status twin__uu_decode(twin_buffer *out, twin_text data);

/* links.c: adds a host; finds the hosts of the URLs in a text. */
twin_status twin__message_add_host(twin_message_reader *reader, twin_text host);
twin_status twin__message_add_url(twin_message_reader *reader, twin_text url);
twin_status twin__message_find_links(twin_message_reader *reader, twin_text text);

/* fold.c: replaces `out` by the text for comparison; `disguised` becomes true if it hid something. */
twin_status twin__message_fold(twin_buffer *out, bool *disguised, twin_buffer *scratch, twin_text text);

/* Appends to the text or the hidden text within max_text. */
twin_status twin__message_add_text(twin_message_reader *reader, twin_buffer *to, twin_text text);

/* Whether filters write headers of this name: X-Spam-Status, X-Virus-Scanned, X-Bogosity and the like. */
bool twin__message_is_filter_header(twin_text name);

/* The registered domain of a host, a part of `host`: "example.co.uk" of "www.example.co.uk". Empty if it has none, as
 * numbers and public suffixes. Expects lower case. */
twin_text twin__message_registered_domain(twin_text host);

#endif
