/* filter_headers.c — headers that other filters write.
 *
 * A message that passed another filter carries its verdict. A model that learns from it learns that filter, and a sender
 * can forge it. So these headers are left out, by patterns: words that may stand anywhere in a name that begins with
 * "X-", and products that such a name may begin with. */
#include <string.h>

#include "mail/fields.h"
#include "mail/message_private.h"

enum { MAX_NAME = 80 };

static const char *const words[] = { "spam",   "virus",    "bogo",     "barracuda",  "scan",   "dspam", "crm114",
                                     "milter", "ironport", "sophos",   "mimedefang", "canit",  "razor", "pyzor",
                                     "junk",   "twinsift", "greylist", "phish",      "malware" };
static const char *const products[] = { "x-rc-",    "x-asg-",     "x-pmx-",    "x-dcc-",
                                        "x-rspamd", "x-bogosity", "x-pm-spam", "x-sa-" };

bool twin__message_is_filter_header(twin_text name)
{
    char lower[MAX_NAME + 1];
    if (!name.bytes || name.length < 3 || (name.bytes[0] != 'X' && name.bytes[0] != 'x') || name.bytes[1] != '-')
        return false;
    size_t length = name.length < MAX_NAME ? name.length : MAX_NAME;
    for (size_t i = 0; i < length; i++)
        lower[i] = twin__lower(name.bytes[i]);
    lower[length] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(lower, words[i]))
            return true;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        if (strncmp(lower, products[i], strlen(products[i])) == 0)
            return true;
    return false;
}
