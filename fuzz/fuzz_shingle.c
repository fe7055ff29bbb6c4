/* fuzz_shingle.c — any bytes under any rule: the first byte selects the kind and the second the width. There are as
 * many hashes as windows, or one for a text without any, and the hashes for stop words are among those of all words. */
#include <stdlib.h>
#include <twinsift/scheme.h>

#include "sketch/set.h"
#include "sketch/shingle.h"

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void shingle(twin_items *out, twin_shingle_kind kind, size_t width, twin_text text)
{
    twin_shingle_options options = { .kind = kind, .width = width };
    twin_shingler *shingler;
    require(twin__shingler_create(&shingler, options) == TWIN_OK);
    require(twin__shingle_text(out, shingler, text) == TWIN_OK);
    twin__shingler_free(shingler);
}

static size_t count_characters(twin_text text)
{
    size_t count = text.length > 0;
    for (size_t i = 1; i < text.length; i++)
        count += ((unsigned char)text.bytes[i] & 0xC0) != 0x80;
    return count;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t count_words(twin_text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += !is_blank(text.bytes[i]) && (i == 0 || is_blank(text.bytes[i - 1]));
    return count;
}

/* A text of pieces without a window is one shingle. */
static size_t windows(size_t pieces, size_t width)
{
    return pieces < width ? pieces > 0 : pieces - width + 1;
}

/* The stop words' windows are some of all, in the same order. */
static void check_stops(twin_items some, size_t width, twin_text text)
{
    twin_items all = { 0 };
    size_t next = 0;
    shingle(&all, TWIN_SHINGLE_WORD, width, text);
    require((some.count > 0) == (all.count > 0));
    for (size_t i = 0; i < some.count; i++, next++) {
        while (next < all.count && all.items[next] != some.items[i])
            next++;
        require(next < all.count || some.count == 1); /* the words of a text without stop words */
    }
    twin__items_clear(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 2)
        return 0;
    twin_shingle_kind kind = (twin_shingle_kind)(bytes[0] % 6);
    size_t width = 1 + bytes[1] % (kind == TWIN_SHINGLE_KMER ? TWIN_SHINGLE_MAX_KMER : 40);
    twin_text text = { (const char *)bytes + 2, length - 2 };
    twin_items items = { 0 };
    shingle(&items, kind, width, text);
    switch (kind) {
    case TWIN_SHINGLE_BYTE: require(items.count == windows(text.length, width)); break;
    case TWIN_SHINGLE_CHAR: require(items.count == windows(count_characters(text), width)); break;
    case TWIN_SHINGLE_WORD: require(items.count == windows(count_words(text), width)); break;
    case TWIN_SHINGLE_AUTO: /* heavy characters make windows shorter, so that more fit */
        require(items.count >= windows(count_characters(text), width) && items.count <= count_characters(text));
        break;
    case TWIN_SHINGLE_STOP: check_stops(items, width, text); break;
    case TWIN_SHINGLE_KMER: require(items.count <= windows(text.length, width)); break;
    }
    twin__items_clear(&items);
    return 0;
}
