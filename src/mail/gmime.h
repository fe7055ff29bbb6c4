/* gmime.h — GMime and GLib, which are loaded when a message needs them. */
#ifndef TWIN_MAIL_GMIME_H
#define TWIN_MAIL_GMIME_H

#include <gmime/gmime.h>
#include <twinsift/status.h>

/* What is called of them. */
#define TWIN__GMIME_CALLS(X)                                                                                         \
    X(g_mime_init)                                                                                                   \
    X(g_mime_parser_options_new)                                                                                     \
    X(g_mime_parser_options_free)                                                                                    \
    X(g_mime_parser_options_set_fallback_charsets)                                                                   \
    X(g_mime_iconv_open)                                                                                             \
    X(g_mime_utils_header_decode_text)                                                                               \
    X(g_mime_utils_header_decode_date)                                                                               \
    X(g_mime_content_type_parse)                                                                                     \
    X(g_mime_content_type_get_mime_type)                                                                             \
    X(g_mime_content_type_get_parameter)                                                                             \
    X(g_mime_content_disposition_parse)                                                                              \
    X(g_mime_content_disposition_get_parameter)                                                                      \
    X(g_date_time_to_unix)                                                                                           \
    X(g_date_time_unref)                                                                                             \
    X(g_hostname_to_ascii)                                                                                           \
    X(g_object_unref)

/* By their own names, so that the compiler holds each against its declaration. */
struct twin__gmime {
#define TWIN__DECLARE(name) __typeof__(name) *name; /* NOLINT(bugprone-macro-parentheses): a member */
    TWIN__GMIME_CALLS(TWIN__DECLARE)
#undef TWIN__DECLARE
};

/* The same for all threads, for as long as the process lives. NULL: they cannot be loaded. */
const struct twin__gmime *twin__gmime(void);

/* Says so. */
twin_status twin__gmime_fail(void);

#endif
