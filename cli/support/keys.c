/* keys.c — secret keys, and random bits. */
#include "keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "messages.h"

/* Sixteen bytes, or 32 hexadecimal digits with or without a line end. */
static bool parse_key(uint64_t key[2], const char *text, size_t length)
{
    unsigned char bytes[16];
    if (length == 33 && text[32] == '\n')
        length--;
    if (length != 16 && length != 32)
        return false;
    for (size_t i = 0; i < 16; i++) {
        char digits[3] = { length == 16 ? '0' : text[2 * i], length == 16 ? '0' : text[2 * i + 1], 0 }, *end;
        bytes[i] = length == 16 ? (unsigned char)text[i] : (unsigned char)strtoul(digits, &end, 16);
        if (length == 32 && strspn(digits, "0123456789abcdefABCDEF") != 2)
            return false;
    }
    key[0] = key[1] = 0;
    for (size_t i = 0; i < 16; i++)
        key[i / 8] |= (uint64_t)bytes[i] << (8 * (i % 8));
    return true;
}

bool read_key(uint64_t key[2], const char *path)
{
    char text[64];
    FILE *file = fopen(path, "rb");
    if (!file)
        return refuse("%s: could not be opened: %s", path, strerror(errno));
    size_t length = fread(text, 1, sizeof text, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    bool good = !failed && parse_key(key, text, length);
    if (failed)
        fail("%s: could not be read", path);
    else if (!good)
        fail("%s: is not a key: 16 bytes, or 32 hexadecimal digits", path);
    return good;
}

bool draw_random(void *out, size_t bytes)
{
    if (getrandom(out, bytes, 0) == (ssize_t)bytes)
        return true;
    return refuse("random bits could not be drawn: %s", strerror(errno));
}
