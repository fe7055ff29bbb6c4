/* absent.c — in the place of the reader of messages in a build with TWIN_MAIL=OFF. */
#include <twinsift/message.h>

#include "base/error.h"

#include "mail/message_private.h"

twin_status twin_message_available(void)
{
    return twin__fail(NULL, TWIN_EUNSUPPORTED, "reading mail is not in this build of twinsift");
}

twin_status twin_message_reader_create(twin_message_reader **out, twin_message_options options)
{
    (void)options;
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    return twin_message_available();
}

void twin_message_reader_free(twin_message_reader *reader)
{
    (void)reader; /* always NULL */
}

twin_status twin_message_read(const twin_message **out, twin_message_reader *reader, twin_text raw)
{
    (void)reader;
    (void)raw;
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    return twin_message_available();
}

twin_text twin__message_registered_domain(twin_text host)
{
    (void)host;
    return (twin_text){ 0 };
}

int64_t twin_message_received(const twin_message *message)
{
    (void)message;
    return INT64_MIN;
}
