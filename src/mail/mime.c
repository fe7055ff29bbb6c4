/* mime.c — content types, encoded words, dates, character sets: the simple ones as they are read in simple_fields.c, the
 * others by GMime.
 *
 * Text that is ASCII needs no conversion in any character set but the few whose ASCII bytes mean something else. The rest
 * goes through iconv, under the names that GMime knows for character sets, or their own; opened converters are kept, since a mailbox
 * has few character sets. What a converter refuses becomes U+FFFD, one per byte. */
#include "mail/mime.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/text.h>

#include "base/error.h"
#include "mail/fields.h"
#include "mail/gmime.h"
#include "mail/simple_fields.h"

enum { CONVERTERS = 8, NAME_BYTES = 48 };

struct converter {
    char name[NAME_BYTES];
    iconv_t handle;
};

struct twin__mime {
    GMimeParserOptions *options;             /* NULL: GMime was not needed yet */
    struct converter converters[CONVERTERS]; /* unused ones have no name */
    size_t next;                             /* to be replaced */
    twin_buffer converted, words;
};

twin_status twin__mime_create(struct twin__mime **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? TWIN_OK : TWIN_ENOMEM;
}

void twin__mime_free(struct twin__mime *mime)
{
    if (!mime)
        return;
    for (size_t i = 0; i < CONVERTERS; i++)
        if (mime->converters[i].name[0] && mime->converters[i].handle != (iconv_t)-1)
            iconv_close(mime->converters[i].handle);
    if (mime->options)
        twin__gmime()->g_mime_parser_options_free(mime->options);
    twin_buffer_clear(&mime->converted);
    twin_buffer_clear(&mime->words);
    free(mime);
}

/* With the options ready. NULL: it cannot be loaded. */
static const struct twin__gmime *gmime_for(struct twin__mime *mime)
{
    static const char *charsets[] = { "utf-8", "windows-1252", NULL };
    const struct twin__gmime *gmime = twin__gmime();
    if (gmime && !mime->options) {
        mime->options = gmime->g_mime_parser_options_new();
        gmime->g_mime_parser_options_set_fallback_charsets(mime->options, charsets);
    }
    return gmime;
}

/* ---- character sets */

static bool is_ascii(twin_text text)
{
    unsigned char bits = 0;
    for (size_t i = 0; i < text.length; i++)
        bits |= (unsigned char)text.bytes[i];
    return bits < 0x80;
}

/* Character sets in which bytes below 0x80 are not always ASCII. */
static bool shifts_ascii(twin_text charset)
{
    static const char *const starts[] = {
        "iso-2022", "utf-7", "utf-16", "utf-32", "ucs-", "hz",   "unicode",
        "ibm037",   "cp037", "ebcdic", "csiso2", "cp50", "utf7", "unicode-1-1-utf-7"
    };
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t length = strlen(starts[i]);
        if (charset.length >= length && memcmp(charset.bytes, starts[i], length) == 0)
            return true;
    }
    return false;
}

/* The names that mail has for the parts of ISO 8859 are those that iconv has. */
static iconv_t open_converter(const char *charset)
{
    const struct twin__gmime *gmime = strncmp(charset, "iso-8859-", 9) == 0 ? NULL : twin__gmime();
    return gmime ? gmime->g_mime_iconv_open("utf-8", charset) : iconv_open("utf-8", charset);
}

static iconv_t converter(struct twin__mime *mime, twin_text charset)
{
    if (charset.length == 0 || charset.length >= NAME_BYTES)
        return (iconv_t)-1;
    for (size_t i = 0; i < CONVERTERS; i++) {
        struct converter *known = &mime->converters[i];
        if (strlen(known->name) == charset.length && memcmp(known->name, charset.bytes, charset.length) == 0) {
            if (known->handle != (iconv_t)-1)
                iconv(known->handle, NULL, NULL, NULL, NULL);
            return known->handle;
        }
    }
    struct converter *slot = &mime->converters[mime->next++ % CONVERTERS];
    if (slot->name[0] && slot->handle != (iconv_t)-1)
        iconv_close(slot->handle);
    memcpy(slot->name, charset.bytes, charset.length);
    slot->name[charset.length] = '\0';
    return slot->handle = open_converter(slot->name);
}

static twin_status convert(twin_buffer *out, bool *bad, iconv_t handle, twin_text bytes)
{
    out->length = 0;
    char *in = (char *)bytes.bytes;
    size_t left = bytes.length;
    while (left > 0) {
        if (twin_buffer_reserve(out, left + left / 2 + 64) != TWIN_OK)
            return TWIN_ENOMEM;
        char *to = out->bytes + out->length;
        size_t room = out->capacity - out->length;
        size_t result = iconv(handle, &in, &left, &to, &room);
        out->length = (size_t)(to - out->bytes);
        if (result != (size_t)-1 || errno == E2BIG)
            continue;
        *bad = true;
        in++; /* EILSEQ, or EINVAL at the end */
        left--;
        if (twin_buffer_append(out, "\xEF\xBF\xBD", 3) != TWIN_OK)
            return TWIN_ENOMEM;
    }
    return TWIN_OK;
}

static void replace_zeros(twin_buffer *buffer)
{
    for (char *at = buffer->bytes, *end = at + buffer->length; (at = memchr(at, 0, (size_t)(end - at))); at++)
        *at = ' ';
}

static bool is_named_any(twin_text charset, const char *a, const char *b)
{
    return twin__is_named(charset, a) || twin__is_named(charset, b);
}

/* What iconv does, in a third of the time: most text that is not ASCII is windows-1252. */
static twin_status convert_windows(twin_buffer *out, bool *bad, twin_text bytes)
{
    out->length = 0;
    if (twin_buffer_reserve(out, 3 * bytes.length + 1) != TWIN_OK)
        return TWIN_ENOMEM;
    char *to = out->bytes;
    for (size_t i = 0; i < bytes.length; i++) {
        unsigned char byte = (unsigned char)bytes.bytes[i];
        if (byte < 0x80) {
            *to++ = (char)byte;
            continue;
        }
        uint32_t c = twin__windows_character(byte);
        *bad |= c == 0xfffd;
        if (c >= 0x800)
            *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    out->length = (size_t)(to - out->bytes);
    return TWIN_OK;
}

/* Through iconv, by the name of the character set; as windows-1252, which is what unlabelled mail mostly is, if there is no
 * such set. */
static twin_status convert_named(twin_buffer *out, bool *bad, struct twin__mime *mime, twin_text charset,
                                 twin_text bytes)
{
    if (is_named_any(charset, "windows-1252", "cp1252"))
        return convert_windows(out, bad, bytes);
    iconv_t handle = is_named_any(charset, "us-ascii", "ascii") ? (iconv_t)-1 : converter(mime, charset);
    if (handle == (iconv_t)-1) {
        *bad |= charset.length > 0;
        return convert_windows(out, bad, bytes);
    }
    twin_status status = convert(&mime->converted, bad, handle, bytes);
    twin_text converted = { mime->converted.bytes, mime->converted.length };
    return status == TWIN_OK ? twin_text_normalise(out, NULL, converted, TWIN_NORMAL_CHECK) : status;
}

/* Characters of UTF-8 that are not ASCII. If all of them had to be replaced, the text never was UTF-8. */
static uint64_t count_wide(const twin_buffer *text)
{
    uint64_t count = 0;
    for (size_t i = 0; i < text->length; i++)
        count += (unsigned char)text->bytes[i] >= 0xc0;
    return count;
}

twin_status twin__mime_to_utf8(twin_buffer *out, bool *bad, struct twin__mime *mime, twin_text charset,
                               twin_text bytes)
{
    out->length = 0;
    twin_status status;
    bool shifts = shifts_ascii(charset);
    if (shifts) {
        status = convert_named(out, bad, mime, charset, bytes);
    } else if (is_ascii(bytes)) {
        status = twin_buffer_append(out, bytes.bytes, bytes.length);
    } else {
        /* Mail without a character set, or with the wrong one, is often UTF-8; other text hardly ever looks like it. */
        uint64_t replaced = 0;
        status = twin_text_normalise(out, &replaced, bytes, TWIN_NORMAL_CHECK);
        bool is_utf8 = is_named_any(charset, "utf-8", "utf8");
        *bad |= replaced > 0 && is_utf8;
        if (status == TWIN_OK && replaced > 0 && is_utf8 && replaced == count_wide(out))
            status = convert_named(out, bad, mime, (twin_text){ "windows-1252", 12 }, bytes);
        else if (status == TWIN_OK && replaced > 0 && !is_utf8)
            status = convert_named(out, bad, mime, charset, bytes);
    }
    if (status == TWIN_OK && out->length > 0)
        replace_zeros(out);
    return status;
}

/* ---- headers */

twin_status twin__mime_decode_words(twin_buffer *out, struct twin__mime *mime, const char *value)
{
    mime->words.length = 0;
    twin_status status = twin__words_read(&mime->words, value);
    twin_text text = { mime->words.bytes, mime->words.length };
    char *decoded = NULL;
    if (status == TWIN_EINVAL) {
        const struct twin__gmime *gmime = gmime_for(mime);
        if (!gmime)
            return twin__gmime_fail();
        decoded = gmime->g_mime_utils_header_decode_text(mime->options, value);
        text = (twin_text){ decoded, decoded ? strlen(decoded) : 0 };
        status = TWIN_OK;
    }
    if (status == TWIN_OK)
        status = twin_text_normalise(&mime->converted, NULL, text, TWIN_NORMAL_CHECK);
    if (status == TWIN_OK)
        status = twin_buffer_append(out, mime->converted.bytes, mime->converted.length);
    free(decoded); /* GLib's memory is that of malloc() */
    return status;
}

static void lower(twin_text text)
{
    for (size_t i = 0; i < text.length; i++)
        ((char *)text.bytes)[i] = twin__lower(text.bytes[i]);
}

static twin_status copy_checked(twin_text *out, struct twin__mime *mime, struct twin__arena *arena, const char *text)
{
    if (!text)
        return TWIN_OK;
    twin_status status =
        twin_text_normalise(&mime->converted, NULL, (twin_text){ text, strlen(text) }, TWIN_NORMAL_CHECK);
    if (status == TWIN_OK)
        status = twin__arena_copy(out, arena, (twin_text){ mime->converted.bytes, mime->converted.length });
    return status;
}

static twin_status read_simple_type(struct twin__content *out, struct twin__arena *arena,
                                    const struct twin__content_type *type)
{
    twin_status status = twin__arena_copy(&out->type, arena, type->type);
    if (status == TWIN_OK && type->charset.bytes)
        status = twin__arena_copy(&out->charset, arena, type->charset);
    if (status == TWIN_OK && type->boundary.bytes)
        status = twin__arena_copy(&out->boundary, arena, type->boundary);
    if (status == TWIN_OK && type->name.bytes && out->name.length == 0)
        status = twin__arena_copy(&out->name, arena, type->name);
    out->joins_lines = type->delsp.bytes && twin__is_named(type->delsp, "yes");
    return status;
}

static twin_status read_any_type(struct twin__content *out, struct twin__mime *mime, struct twin__arena *arena,
                                 const char *value)
{
    const struct twin__gmime *gmime = gmime_for(mime);
    if (!gmime)
        return twin__gmime_fail();
    GMimeContentType *type = gmime->g_mime_content_type_parse(mime->options, value);
    char *name = gmime->g_mime_content_type_get_mime_type(type);
    twin_status status = copy_checked(&out->type, mime, arena, name);
    if (status == TWIN_OK)
        status = copy_checked(&out->charset, mime, arena, gmime->g_mime_content_type_get_parameter(type, "charset"));
    const char *joins = gmime->g_mime_content_type_get_parameter(type, "delsp");
    out->joins_lines = joins && twin__is_named((twin_text){ joins, strlen(joins) }, "yes");
    const char *boundary = gmime->g_mime_content_type_get_parameter(type, "boundary");
    if (status == TWIN_OK && boundary)
        status = twin__arena_copy(&out->boundary, arena, (twin_text){ boundary, strlen(boundary) });
    if (status == TWIN_OK && out->name.length == 0)
        status = copy_checked(&out->name, mime, arena, gmime->g_mime_content_type_get_parameter(type, "name"));
    free(name);
    gmime->g_object_unref(type);
    return status;
}

/* GMime makes a dozen objects for a header; nearly all are simple enough to do without. */
twin_status twin__mime_content_type(struct twin__content *out, struct twin__mime *mime, struct twin__arena *arena,
                                    const char *value)
{
    struct twin__content_type simple;
    twin_status status = twin__content_type_read(&simple, value) ? read_simple_type(out, arena, &simple)
                                                                 : read_any_type(out, mime, arena, value);
    if (status == TWIN_OK) {
        lower(out->type);
        lower(out->charset);
    }
    return status;
}

twin_status twin__mime_disposition(struct twin__content *out, struct twin__mime *mime, struct twin__arena *arena,
                                   const char *value)
{
    twin_text name;
    if (twin__disposition_read(&name, value))
        return name.bytes ? twin__arena_copy(&out->name, arena, name) : TWIN_OK;
    const struct twin__gmime *gmime = gmime_for(mime);
    if (!gmime)
        return twin__gmime_fail();
    GMimeContentDisposition *disposition = gmime->g_mime_content_disposition_parse(mime->options, value);
    if (!disposition)
        return TWIN_OK;
    twin_status status = copy_checked(&out->name, mime, arena,
                                      gmime->g_mime_content_disposition_get_parameter(disposition, "filename"));
    gmime->g_object_unref(disposition);
    return status;
}

int64_t twin__mime_date(const char *value)
{
    int64_t seconds = INT64_MIN;
    if (twin__date_read(&seconds, value))
        return seconds;
    const struct twin__gmime *gmime = twin__gmime();
    GDateTime *date = gmime ? gmime->g_mime_utils_header_decode_date(value) : NULL;
    if (date) {
        seconds = gmime->g_date_time_to_unix(date);
        gmime->g_date_time_unref(date);
    }
    return seconds;
}
