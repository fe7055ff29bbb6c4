/* foreign.c — files of kinds that are not read. */
#include "input/foreign.h"

#include <string.h>

#include "input/source.h"

/* ---- by name ---- */

/* In the order in which they are tried; the names of inputs do not come here. */
static const struct {
    const char *ending, *advice;
} names[] = {
    { ".xz", "decompress it with xz -dc and give the result as standard input (-)" },
    { ".bz2", "decompress it with bzip2 -dc and give the result as standard input (-)" },
    { ".zstd", "rename it to .jsonl.zst, or give it as standard input (-)" },
    { ".parquet", "export it as JSON lines" },
};

const char *twin__foreign_name(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (twin__name_ends_in(name, names[i].ending))
            return names[i].advice;
    return NULL;
}

/* ---- by the first bytes ---- */

#define BYTES(text) text, sizeof(text) - 1

/* No JSON line begins like this. A row of a set might begin like those that are text. */
static const struct {
    const char *bytes;
    size_t length;
    bool is_text;
    const char *advice;
} beginnings[] = {
    { BYTES("\xFF\xFE"), false, "is UTF-16; convert it to UTF-8: iconv -f UTF-16 -t UTF-8" },
    { BYTES("\xFE\xFF"), false, "is UTF-16; convert it to UTF-8: iconv -f UTF-16 -t UTF-8" },
    { BYTES("{\0"), true, "is UTF-16; convert it to UTF-8: iconv -f UTF-16LE -t UTF-8" },
    { BYTES("\0{"), true, "is UTF-16; convert it to UTF-8: iconv -f UTF-16BE -t UTF-8" },
    { BYTES("\0\0"), false, "is not text: it begins with NUL bytes" },
    { BYTES("\xFD"
            "7zXZ\0"),
      false, "is compressed with xz; decompress it first: xz -dc" },
    { BYTES("BZh"), true, "is compressed with bzip2; decompress it first: bzip2 -dc" },
    { BYTES("PAR1"), true, "is a Parquet file; export it as JSON lines" },
    { BYTES("%PDF-"), true, "is a PDF file; extract its text and give the folder it is in" },
};

char twin__first_visible(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!bytes[i] || !strchr(" \t\r\n", bytes[i]))
            return bytes[i];
    return '\0';
}

const char *twin__foreign_bytes(const char *bytes, size_t length, twin_input_format format)
{
    bool may_be_text = format == TWIN_INPUT_SETS;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (!(beginnings[i].is_text && may_be_text) && length >= beginnings[i].length &&
            memcmp(bytes, beginnings[i].bytes, beginnings[i].length) == 0)
            return beginnings[i].advice;
    return NULL;
}

/* ---- files that are not text ---- */

/* The signatures that such files begin with, from their own specifications. */
static const struct {
    size_t offset;
    const char *bytes;
    size_t length;
    const char *what;
} signatures[] = {
    { 0, BYTES("%PDF-"), "a PDF file" },
    { 0, BYTES("\x89PNG\r\n\x1A\n"), "a PNG image" },
    { 0, BYTES("\xFF\xD8\xFF"), "a JPEG image" },
    { 0, BYTES("GIF87a"), "a GIF image" },
    { 0, BYTES("GIF89a"), "a GIF image" },
    { 8, BYTES("WEBPVP8"), "a WebP image" },
    { 0, BYTES("II*\0"), "a TIFF image" },
    { 0, BYTES("MM\0*"), "a TIFF image" },
    { 0, BYTES("PK\3\4"), "a ZIP archive, or an office document made of one" },
    { 0, BYTES("PK\5\6"), "an empty ZIP archive" },
    { 0, BYTES("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), "an office document" },
    { 0, BYTES("7z\xBC\xAF\x27\x1C"), "a 7z archive" },
    { 0, BYTES("Rar!\x1A\7"), "a RAR archive" },
    { 257, BYTES("ustar"), "a tar archive" },
    { 0,
      BYTES("\xFD"
            "7zXZ\0"),
      "compressed with xz" },
    { 0, BYTES("BZh91AY&SY"), "compressed with bzip2" },
    { 0, BYTES("PAR1"), "a Parquet file" },
    { 0,
      BYTES("\x7F"
            "ELF"),
      "a program" },
    { 0, BYTES("SQLite format 3"), "an SQLite database" },
    { 0, BYTES("ID3"), "an MP3 recording" },
    { 0, BYTES("OggS"), "an Ogg recording" },
    { 4, BYTES("ftyp"), "a video" },
    { 0, BYTES("\xFF\xFE\0\0"), "UTF-32 text, which is not read" },
    { 0, BYTES("\0\0\xFE\xFF"), "UTF-32 text, which is not read" },
};

/* How far to look for a NUL byte, which texts do not have: grep and git look as far. */
enum { TEXT_BYTES = 8000 };

const char *twin__foreign_file(const char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++)
        if (length >= signatures[i].offset + signatures[i].length &&
            memcmp(bytes + signatures[i].offset, signatures[i].bytes, signatures[i].length) == 0)
            return signatures[i].what;
    return length && memchr(bytes, '\0', length < TEXT_BYTES ? length : TEXT_BYTES) ? "not text: it has a NUL byte"
                                                                                    : NULL;
}
