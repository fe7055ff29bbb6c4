/* script.c — texts whose words are not separated by blanks. */
#include "sketch/script.h"

#include "sketch/shingle.h"

#include <twinsift/scheme.h>

/* Hangul has blanks; the other syllables and the ideographs have none. */
static bool is_unspaced_character(const char *p, const char *end)
{
    unsigned lead = (unsigned char)p[0], weight = twin__weight(p, end);
    return weight == TWIN__IDEOGRAPH || (weight == TWIN__SYLLABLE && lead <= 0xE1);
}

bool twin__shingle_is_unspaced(twin_text text)
{
    size_t unspaced = 0, letters = 0;
    if (!text.bytes || !twin__may_be_heavy(text))
        return false;
    for (const char *p = text.bytes, *end = p + text.length; p < end; p++) {
        if (((unsigned char)*p & 0xC0) == 0x80)
            continue;
        bool is = is_unspaced_character(p, end);
        unspaced += is;
        letters += !is && *p != ' ';
    }
    return unspaced > letters;
}
