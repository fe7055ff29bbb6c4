/* script.h — how much of a word a character is, by its script.
 *
 * Nine letters are about a word and a half. A Han or kana character is a third of that, and a Hangul syllable or a
 * character of Thai, Lao, Khmer or Burmese a sixth: with these weights the same share of replaced words leaves the same
 * similarity in every script (docs/decisions/0025-scripts.md). Only the first two or three bytes of a character are
 * looked at. */
#ifndef TWIN_SKETCH_SCRIPT_H
#define TWIN_SKETCH_SCRIPT_H

#include <stdbool.h>
#include <twinsift/text.h>

enum { TWIN__LETTER = 2, TWIN__SYLLABLE = 3, TWIN__IDEOGRAPH = 6 };

/* U+2E80 and above, in three bytes: E2 BA 80 .. EF BF BF. */
static inline unsigned twin__weight_of_east(unsigned lead, unsigned second, unsigned third)
{
    switch (lead) {
    case 0xE2: return TWIN__LETTER;
    case 0xE3: /* U+3000: marks, of which 々 and 〇 are read like characters; U+3040 kana; U+3100 bopomofo; U+3400 Han */
        if (second == 0x80)
            return third == 0x85 || third == 0x87 ? TWIN__IDEOGRAPH : TWIN__LETTER;
        if (second <= 0x83 || second >= 0x90 || (second == 0x84 && third <= 0xAF) ||
            (second == 0x87 && third >= 0xB0))
            return TWIN__IDEOGRAPH;
        return TWIN__LETTER;
    case 0xEA: return second >= 0xB0 ? TWIN__SYLLABLE : TWIN__LETTER; /* U+AC00 Hangul */
    case 0xEB:
    case 0xEC: return TWIN__SYLLABLE;
    case 0xED: return second <= 0x9E ? TWIN__SYLLABLE : TWIN__LETTER;
    case 0xEE: return TWIN__LETTER;
    case 0xEF: /* U+F900 Han, U+FF66 narrow kana; both are gone from folded text */
        return (second >= 0xA4 && second <= 0xAB) || (second == 0xBD && third >= 0xA6) ||
                       (second == 0xBE && third <= 0x9F)
                   ? TWIN__IDEOGRAPH
                   : TWIN__LETTER;
    default: return TWIN__IDEOGRAPH; /* E4 .. E9: U+4000 .. U+9FFF */
    }
}

/* The weight of the character at p, before the end. */
static inline unsigned twin__weight(const char *p, const char *end)
{
    unsigned lead = (unsigned char)p[0];
    if (lead < 0xE0 || end - p < 3)
        return TWIN__LETTER;
    unsigned second = (unsigned char)p[1];
    if (lead == 0xE0) /* U+0E00 Thai and Lao */
        return second >= 0xB8 && second <= 0xBB ? TWIN__SYLLABLE : TWIN__LETTER;
    if (lead == 0xE1) /* U+1000 Burmese, U+1780 Khmer */
        return second <= 0x81 || second == 0x9E || second == 0x9F ? TWIN__SYLLABLE : TWIN__LETTER;
    if (lead < 0xF0)
        return twin__weight_of_east(lead, second, (unsigned char)p[2]);
    return lead == 0xF0 && second >= 0xA0 ? TWIN__IDEOGRAPH : TWIN__LETTER; /* U+20000 Han */
}

/* Whether a character may have another weight than a letter: quick, and true also for some texts that have none. */
static inline bool twin__may_be_heavy(twin_text text)
{
    unsigned char found = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        found |= (unsigned char)((byte >= 0xE0) & (byte != 0xE2)); /* E2: dashes, quotation marks, symbols */
    }
    return found;
}

#endif
