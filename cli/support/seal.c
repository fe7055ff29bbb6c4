/* seal.c — headers with a keyed digest. */
#include "seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ID_BYTES = 998, DIGEST_DIGITS = 32 }; /* a line of a message has no more */

/* The digest of "HEADER\nMESSAGE-ID": a header has no line end, so that no two pairs give the same bytes. */
static twin_digest digest_of(const uint64_t *key, const char *header, size_t length, twin_text message_id)
{
    char bytes[SEAL_ROOM + 1 + ID_BYTES];
    size_t id = message_id.length < ID_BYTES ? message_id.length : ID_BYTES;
    if (length > SEAL_ROOM)
        length = SEAL_ROOM;
    memcpy(bytes, header, length);
    bytes[length] = '\n';
    if (id > 0)
        memcpy(bytes + length + 1, message_id.bytes, id);
    twin_hash hash = { .family = TWIN_HASH_SIP, .key = { key[0], key[1] } };
    return twin_hash_digest(hash, bytes, length + 1 + id);
}

void seal_write(char *out, size_t room, const struct seal *seal, const char *about, twin_text message_id)
{
    int written = snprintf(out, room, "%s; by=%s", about, seal->host);
    size_t length = (size_t)written;
    if (!seal->is_keyed || written < 0 || length + sizeof "; id=" + DIGEST_DIGITS > room)
        return;
    twin_digest digest = digest_of(seal->key, out, length, message_id);
    snprintf(out + length, room - length, "; id=%016" PRIx64 "%016" PRIx64, digest.high, digest.low);
}

/* The value of the next header named X-Twinsift among the headers, of which `rest` is what follows; false: none. */
static bool next_of_ours(twin_text *out, twin_text *rest)
{
    static const char name[] = "x-twinsift:";
    while (rest->length > 0 && *rest->bytes != '\n' && *rest->bytes != '\r') {
        const char *newline = memchr(rest->bytes, '\n', rest->length);
        size_t length = newline ? (size_t)(newline - rest->bytes) : rest->length;
        twin_text line = { rest->bytes, length };
        rest->bytes += length + (newline != NULL);
        rest->length -= length + (newline != NULL);
        if (line.length < sizeof name - 1 || strncasecmp(line.bytes, name, sizeof name - 1) != 0)
            continue;
        line.bytes += sizeof name - 1;
        line.length -= sizeof name - 1;
        while (line.length > 0 && *line.bytes == ' ')
            line.bytes++, line.length--;
        while (line.length > 0 && line.bytes[line.length - 1] == '\r')
            line.length--;
        *out = line;
        return true;
    }
    return false;
}

/* Compares without leaving at the first difference, whose place the time would tell. */
static bool is_equal(const char *a, const char *b, size_t length)
{
    unsigned char difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

bool seal_holds(twin_text raw, const struct seal *seal, twin_text message_id)
{
    static const char id[] = "; id=";
    char about[SEAL_ROOM], by[SEAL_ROOM], wanted[SEAL_ROOM];
    twin_text value, second;
    size_t tail = sizeof id - 1 + DIGEST_DIGITS;
    if (!seal->is_keyed || !next_of_ours(&value, &raw) || next_of_ours(&second, &raw) || value.length <= tail ||
        value.length >= SEAL_ROOM)
        return false;
    size_t length = value.length - tail;
    int host = snprintf(by, sizeof by, "; by=%s", seal->host);
    if (host < 0 || (size_t)host > length || memcmp(value.bytes + length - (size_t)host, by, (size_t)host) != 0)
        return false;
    memcpy(about, value.bytes, length - (size_t)host);
    about[length - (size_t)host] = '\0';
    seal_write(wanted, sizeof wanted, seal, about, message_id);
    return strlen(wanted) == value.length && is_equal(wanted, value.bytes, value.length);
}
