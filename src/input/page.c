/* page.c — the text of an HTML page.
 *
 * A page that is not UTF-8 is in the character set that it names, or else in windows-1252, as browsers have it. Bytes that
 * this does not have are left as they are, for the reader of texts to replace and to count. */
#include "input/page.h"

#include <errno.h>
#include <iconv.h>
#include <twinsift/text.h>

#include "base/utf8.h"
#include "html/html.h"
#include "html/html_tokens.h"
#include "text/ascii.h"

/* Whether all of it is well-formed UTF-8. */
static bool is_utf8(twin_text text)
{
    uint64_t replaced = 0;
    twin_buffer same = { 0 };
    twin_status status = twin_text_normalise(&same, &replaced, text, TWIN_NORMAL_CHECK);
    twin_buffer_clear(&same);
    return status == TWIN_OK && replaced == 0;
}

static twin_status append_windows(twin_buffer *out, twin_text page)
{
    twin_status status = twin_buffer_reserve(out, 3 * page.length + 1);
    for (size_t i = 0; status == TWIN_OK && i < page.length; i++) {
        char *to = out->bytes + out->length;
        to = twin__put_character(to, twin__windows_character((unsigned char)page.bytes[i]));
        out->length = (size_t)(to - out->bytes);
    }
    return status;
}

/* False: the character set is not known, or memory ran out. A byte that it does not have is kept. */
static bool append_converted(twin_buffer *out, const char *charset, twin_text page)
{
    iconv_t converter = iconv_open("UTF-8", charset);
    char *from = (char *)page.bytes;
    size_t left = page.length;
    if (converter == (iconv_t)-1)
        return false;
    bool good = true;
    while (good && left > 0) {
        good = twin_buffer_reserve(out, 4 * left + 16) == TWIN_OK;
        char *to = out->bytes + out->length;
        size_t room = good ? out->capacity - out->length : 0;
        size_t result = good ? iconv(converter, &from, &left, &to, &room) : 0;
        out->length = good ? (size_t)(to - out->bytes) : out->length;
        if (good && result == (size_t)-1 && errno != E2BIG) {
            good = twin_buffer_append(out, from, 1) == TWIN_OK;
            from++;
            left--;
        }
    }
    iconv_close(converter);
    return good;
}

static twin_status append_seen(void *context, twin_buffer *to, twin_text text)
{
    (void)context;
    return twin_buffer_append(to, text.bytes, text.length);
}

twin_status twin__page_text(twin_text *out, twin_read_buffers *buffers, twin_text page)
{
    char charset[TWIN__HTML_CHARSET_BYTES + 1] = "";
    twin_buffer *whole = &buffers->key;
    struct twin__html *html = NULL;
    struct twin__html_sink sink = { .text = &buffers->text, .append = append_seen };
    twin_status status = TWIN_OK;
    whole->length = 0;
    if (is_utf8(page))
        status = twin_buffer_append(whole, page.bytes, page.length);
    else {
        charset[twin__html_charset(charset, page)] = '\0';
        if (!*charset || !append_converted(whole, charset, page)) {
            whole->length = 0;
            status = append_windows(whole, page);
        }
    }
    if (status == TWIN_OK)
        status = twin__html_create(&html);
    buffers->text.length = 0;
    if (status == TWIN_OK)
        status = twin_buffer_reserve(&buffers->text, 1);
    if (status == TWIN_OK)
        status = twin__html_show(html, &sink, whole);
    twin__html_free(html);
    *out = (twin_text){ buffers->text.bytes, buffers->text.length };
    return status;
}
