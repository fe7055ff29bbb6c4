/* sip_scalar.c — SipHash of every window of a text: the specification. */
#include "kernels/kernels.h"
#include "kernels/sip.h"

uint64_t twin__sip13(const void *bytes, size_t length, const uint64_t key[2])
{
    const unsigned char *p = bytes ? bytes : (const void *)""; /* nothing may be anywhere */
    struct twin__sip s = twin__sip_begin(key);
    size_t whole = length & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8)
        twin__sip_word(&s, twin__sip_bytes(p + i, 8));
    return twin__sip_end(s, length, p + whole);
}

void twin__sip_windows_scalar(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    for (size_t i = 0; i < count; i++)
        out[i] = twin__sip13(bytes + i, width, key);
}
