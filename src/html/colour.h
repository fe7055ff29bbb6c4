/* colour.h — colours as CSS and HTML write them. */
#ifndef TWIN_HTML_COLOUR_H
#define TWIN_HTML_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

/* A colour is 0xRRGGBB, or one of these: not understood; of a text that is transparent; none is given. */
enum { TWIN__COLOUR_WHITE = 0xffffff, TWIN__COLOUR_UNKNOWN = 1 << 24, TWIN__COLOUR_CLEAR, TWIN__COLOUR_NONE };

/* The colour of a text. Values are as twin__css_squeeze() leaves them. */
uint32_t twin__colour_of_text(const char *value);

/* The colour behind a text where this is drawn over `behind`: what is transparent shows what was there before. */
uint32_t twin__colour_over(uint32_t behind, const char *value);

/* Whether two colours cannot be distinguished. */
bool twin__colour_is_near(uint32_t a, uint32_t b);

#endif
