/* fold.c — text for comparison: normalised, without invisible characters, look-alike letters replaced. */
#include <twinsift/text.h>

#include "mail/message_private.h"

twin_status twin__message_fold(twin_buffer *out, bool *disguised, twin_buffer *scratch, twin_text text)
{
    (void)scratch;
    *disguised = false;
    return twin_text_normalise(out, NULL, text, TWIN_NORMAL_FOLD);
}
