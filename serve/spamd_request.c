/* spamd_request.c — the reader of requests.
 *
 * Each call goes on with the line after the last whole one, so that a client which sends byte by byte costs no more
 * than one that sends all at once. */
#include "spamd_request.h"

#include <string.h>
#include <strings.h>
#include <zlib.h>

static bool is_word(twin_text text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.bytes, word, text.length) == 0;
}

static bool begins_with(twin_text text, const char *word)
{
    return text.length >= strlen(word) && memcmp(text.bytes, word, strlen(word)) == 0;
}

static twin_text trimmed(twin_text text)
{
    while (text.length > 0 && (*text.bytes == ' ' || *text.bytes == '\t'))
        text.bytes++, text.length--;
    while (text.length > 0 && (text.bytes[text.length - 1] == ' ' || text.bytes[text.length - 1] == '\t'))
        text.length--;
    return text;
}

static enum spamd_progress bad(struct spamd_request *request, const char *fault)
{
    request->fault = fault;
    return SPAMD_BAD;
}

/* ---- "CHECK SPAMC/1.5" */

/* One digit, a point, one digit, which is all the versions that there were. */
static bool read_version(int *out, twin_text text)
{
    if (text.length != 3 || text.bytes[1] != '.' || text.bytes[0] < '0' || text.bytes[0] > '9' ||
        text.bytes[2] < '0' || text.bytes[2] > '9')
        return false;
    *out = (text.bytes[0] - '0') * 10 + text.bytes[2] - '0';
    return true;
}

static enum spamd_progress read_command(struct spamd_request *request, twin_text line)
{
    static const char *const names[] = { "CHECK",   "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS",
                                         "HEADERS", "TELL",    "PING",   "SKIP" };
    const char *blank = memchr(line.bytes, ' ', line.length);
    twin_text name = { line.bytes, blank ? (size_t)(blank - line.bytes) : line.length };
    twin_text protocol = { name.bytes + name.length + (blank != NULL), line.length - name.length - (blank != NULL) };
    size_t i = 0;
    while (i < sizeof names / sizeof names[0] && !(name.length == strlen(names[i]) && begins_with(name, names[i])))
        i++;
    if (i == sizeof names / sizeof names[0])
        return bad(request, "(unknown command)");
    request->command = (enum spamd_command)i;
    if (!begins_with(protocol, "SPAMC/") ||
        !read_version(&request->version, (twin_text){ protocol.bytes + 6, protocol.length - 6 }))
        return bad(request, "(not SPAMC/1.x)");
    bool is_alone = request->version < 15 && (request->command == SPAMD_PING || request->command == SPAMD_SKIP);
    return is_alone ? SPAMD_HEAD : SPAMD_MORE;
}

/* ---- headers */

static enum spamd_progress read_length(struct spamd_request *request, twin_text value)
{
    uint64_t length = 0;
    for (size_t i = 0; i < value.length; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9' || i == 18)
            return bad(request, "(Content-length is not a number)");
        length = length * 10 + (uint64_t)(value.bytes[i] - '0');
    }
    if (value.length == 0 || request->has_length)
        return bad(request, "(Content-length is empty, or given twice)");
    request->length = length;
    request->has_length = true;
    return SPAMD_MORE;
}

/* "local", "remote", "local, remote" */
static enum spamd_progress read_places(struct spamd_request *request, unsigned *out, twin_text value)
{
    while (value.length > 0) {
        const char *comma = memchr(value.bytes, ',', value.length);
        size_t length = comma ? (size_t)(comma - value.bytes) : value.length;
        twin_text place = trimmed((twin_text){ value.bytes, length });
        if (is_word(place, "local"))
            *out |= SPAMD_LOCAL;
        else if (is_word(place, "remote"))
            *out |= SPAMD_REMOTE;
        else
            return bad(request, "(Set and Remove take local and remote)");
        value.bytes += length + (comma != NULL);
        value.length -= length + (comma != NULL);
    }
    return SPAMD_MORE;
}

static enum spamd_progress read_user(struct spamd_request *request, twin_text value)
{
    if (value.length > MODELS_USER_BYTES)
        return bad(request, "(the name of the user is too long)");
    for (size_t i = 0; i < value.length; i++)
        if ((unsigned char)value.bytes[i] < ' ' || value.bytes[i] == 0x7f)
            return bad(request, "(the name of the user has control characters)");
    memcpy(request->user, value.bytes, value.length);
    request->user[value.length] = '\0';
    return SPAMD_MORE;
}

static enum spamd_progress read_header(struct spamd_request *request, twin_text line)
{
    const char *colon = memchr(line.bytes, ':', line.length);
    if (!colon)
        return bad(request, "(header not in 'Name: value' format)");
    twin_text name = { line.bytes, (size_t)(colon - line.bytes) };
    twin_text value = trimmed((twin_text){ colon + 1, line.length - name.length - 1 });
    if (is_word(name, "Content-length"))
        return read_length(request, value);
    if (is_word(name, "User"))
        return read_user(request, value);
    if (is_word(name, "Set"))
        return read_places(request, &request->set, value);
    if (is_word(name, "Remove"))
        return read_places(request, &request->remove, value);
    if (is_word(name, "Compress")) {
        request->is_compressed = is_word(value, "zlib");
        return request->is_compressed ? SPAMD_MORE : bad(request, "(Compress takes zlib)");
    }
    if (is_word(name, "Message-class")) {
        request->label = is_word(value, "spam") ? TWIN_MAIL_SPAM : is_word(value, "ham") ? TWIN_MAIL_GOOD : NULL;
        return request->label ? SPAMD_MORE : bad(request, "(Message-class is spam or ham)");
    }
    return SPAMD_MORE;
}

static enum spamd_progress end_head(struct spamd_request *request)
{
    if (request->is_compressed && !request->has_length)
        return bad(request, "(Compress requires Content-length)");
    if (request->command != SPAMD_TELL)
        return SPAMD_HEAD;
    if (request->set & request->remove)
        return bad(request, "(Set and Remove of the same)");
    if (!(request->set | request->remove))
        return bad(request, "(TELL without Set or Remove)");
    if (request->set && !request->label)
        return bad(request, "(Set without Message-class)");
    return SPAMD_HEAD;
}

enum spamd_progress spamd_read(struct spamd_request *request, twin_text bytes)
{
    enum spamd_progress progress = SPAMD_MORE;
    size_t most = bytes.length < SPAMD_HEAD_BYTES ? bytes.length : SPAMD_HEAD_BYTES;
    while (progress == SPAMD_MORE) {
        const char *start = bytes.bytes + request->at;
        const char *newline = most > request->at ? memchr(start, '\n', most - request->at) : NULL;
        if (!newline)
            return bytes.length >= SPAMD_HEAD_BYTES ? bad(request, "(the headers are too long)") : SPAMD_MORE;
        twin_text line = { start, (size_t)(newline - start) };
        if (line.length > 0 && newline[-1] == '\r')
            line.length--;
        if (request->at == 0)
            progress = read_command(request, line);
        else if (line.length > 0)
            progress = read_header(request, line);
        else
            progress = end_head(request);
        request->at = (size_t)(newline + 1 - bytes.bytes);
    }
    request->head = request->at;
    return progress;
}

/* ---- Compress: zlib */

twin_status spamd_unpack(twin_buffer *out, twin_text packed, size_t most)
{
    enum { STEP = 65536 };
    z_stream stream = { 0 };
    size_t begin = out->length;
    if (packed.length > UINT32_MAX || inflateInit(&stream) != Z_OK)
        return packed.length > UINT32_MAX ? TWIN_ELIMIT : TWIN_ENOMEM;
    stream.next_in = (Bytef *)packed.bytes;
    stream.avail_in = (uInt)packed.length;
    twin_status status = TWIN_OK;
    int step = Z_OK;
    while (status == TWIN_OK && step == Z_OK) {
        status = twin_buffer_reserve(out, STEP);
        if (status != TWIN_OK)
            break;
        stream.next_out = (Bytef *)out->bytes + out->length;
        stream.avail_out = STEP;
        step = inflate(&stream, Z_NO_FLUSH);
        out->length += STEP - stream.avail_out;
        if (out->length - begin > most)
            status = TWIN_ELIMIT;
    }
    inflateEnd(&stream);
    if (status == TWIN_OK && (step != Z_STREAM_END || stream.avail_in > 0))
        status = TWIN_EFORMAT;
    return status;
}
