/* escape.h — ids, names and texts from strangers, made safe to print.
 *
 * Control characters are those below U+0020, U+007F to U+009F, and the bidirectional controls U+202A to U+202E and
 * U+2066 to U+2069, which let a name be displayed as another. */
#ifndef TWIN_SUPPORT_ESCAPE_H
#define TWIN_SUPPORT_ESCAPE_H

#include <stdio.h>
#include <twinsift/twinsift.h>

/* A JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, one per maximal ill-formed sequence. */
void escape_json(FILE *out, const char *bytes, size_t length);

/* A field of a tab-separated line: each byte of a control character and each backslash becomes \xHH, so that replacing
 * every \xHH by its byte restores the field. Other bytes are unchanged. */
void escape_tsv(FILE *out, const char *bytes, size_t length);

/* The reverse of escape_tsv(), in place: each \\xHH becomes a byte. Returns the length. */
size_t unescape_tsv(char *bytes, size_t length);

/* Text of an HTML page: markup is escaped; control characters but line ends and tabs, and bytes that are not UTF-8,
 * become U+FFFD. */
void escape_html(FILE *out, const char *bytes, size_t length);

/* A message: each byte of a control character, and each byte that is not UTF-8, becomes \xHH. */
void escape_message(FILE *out, const char *bytes, size_t length);

#endif
