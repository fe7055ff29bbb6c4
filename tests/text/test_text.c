/* test_text.c — normalisation against a slow implementation. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utf8proc.h>

#include <twinsift/exec.h>
#include <twinsift/text.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "scale.h"

enum { RANDOM_TEXTS = QUICK ? 40000 : 400000, LAST_POINT = 0x10FFFF };

static bool is_surrogate(int32_t point)
{
    return point >= 0xD800 && point <= 0xDFFF;
}

/* ---- the slow version ---- */

/* Table 3-7 of the Unicode standard, row by row. */
static const struct row {
    size_t length;
    unsigned char range[4][2];
} rows[] = {
    { 1, { { 0x00, 0x7F } } },
    { 2, { { 0xC2, 0xDF }, { 0x80, 0xBF } } },
    { 3, { { 0xE0, 0xE0 }, { 0xA0, 0xBF }, { 0x80, 0xBF } } },
    { 3, { { 0xE1, 0xEC }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
    { 3, { { 0xED, 0xED }, { 0x80, 0x9F }, { 0x80, 0xBF } } },
    { 3, { { 0xEE, 0xEF }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
    { 4, { { 0xF0, 0xF0 }, { 0x90, 0xBF }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
    { 4, { { 0xF1, 0xF3 }, { 0x80, 0xBF }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
    { 4, { { 0xF4, 0xF4 }, { 0x80, 0x8F }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
};

/* The longest beginning of p that begins some row, at least one byte; whether it is the whole row. */
static size_t subpart(bool *whole, const unsigned char *p, size_t n)
{
    size_t longest = 0;
    *whole = false;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        size_t i = 0;
        while (i < rows[r].length && i < n && p[i] >= rows[r].range[i][0] && p[i] <= rows[r].range[i][1])
            i++;
        if (i > longest) {
            longest = i;
            *whole = i == rows[r].length;
        }
    }
    return longest ? longest : 1;
}

static void append(twin_buffer *out, const void *bytes, size_t length)
{
    assert_int_equal(twin_buffer_append(out, bytes, length), TWIN_OK);
}

static uint64_t slow_check(twin_buffer *out, const char *bytes, size_t length)
{
    uint64_t bad = 0;
    out->length = 0;
    for (size_t i = 0; i < length;) {
        bool whole;
        size_t part = subpart(&whole, (const unsigned char *)bytes + i, length - i);
        append(out, whole ? bytes + i : "\xEF\xBF\xBD", whole ? part : 3);
        bad += !whole;
        i += part;
    }
    return bad;
}

static bool is_white_space(int32_t point)
{
    static const int32_t white_space[] = {
        0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x20,   0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
        0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
    };
    for (size_t i = 0; i < sizeof white_space / sizeof white_space[0]; i++)
        if (point == white_space[i])
            return true;
    return false;
}

static uint64_t slow_fold(twin_buffer *out, const char *bytes, size_t length)
{
    twin_buffer checked = { 0 };
    uint64_t bad = slow_check(&checked, bytes, length);
    unsigned char *mapped = NULL;
    utf8proc_ssize_t size = utf8proc_map((unsigned char *)checked.bytes, (utf8proc_ssize_t)checked.length, &mapped,
                                         UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
    assert_true(size >= 0);
    bool owed = false;
    out->length = 0;
    for (utf8proc_ssize_t i = 0, part; i < size; i += part) {
        int32_t point;
        part = utf8proc_iterate(mapped + i, size - i, &point);
        assert_true(part > 0);
        if (is_white_space(point)) {
            owed = out->length > 0;
            continue;
        }
        if (owed)
            append(out, " ", 1);
        append(out, mapped + i, (size_t)part);
        owed = false;
    }
    free(mapped);
    twin_buffer_clear(&checked);
    return bad;
}

/* ---- comparing ---- */

static void assert_same(const twin_buffer *got, const twin_buffer *expected)
{
    assert_int_equal(got->length, expected->length);
    if (expected->length)
        assert_memory_equal(got->bytes, expected->bytes, expected->length);
}

/* What folding `bytes` gives is what the slow version gives, and folding it again changes nothing. */
static void assert_folds(const char *bytes, size_t length)
{
    static twin_buffer got, again, expected; /* kept from call to call, for speed */
    uint64_t bad = slow_fold(&expected, bytes, length), replaced = 5;
    char *exact = malloc(length + 1); /* so that a sanitizer sees a read past the end */
    assert_non_null(exact);
    memcpy(exact + 1, bytes, length);
    assert_int_equal(twin_text_normalise(&got, &replaced, (twin_text){ exact + 1, length }, TWIN_NORMAL_FOLD),
                     TWIN_OK);
    free(exact);
    assert_same(&got, &expected);
    assert_int_equal(replaced, 5 + bad);
    assert_int_equal(twin_text_normalise(&again, NULL, (twin_text){ got.bytes, got.length }, TWIN_NORMAL_FOLD),
                     TWIN_OK);
    assert_same(&again, &got);
}

static size_t put_point(char *out, int32_t point)
{
    return (size_t)utf8proc_encode_char(point, (unsigned char *)out);
}

/* ---- every code point ---- */

static void every_code_point_alone_folds_as_the_slow_way(void **unused)
{
    (void)unused;
    STARTS_NO_THREADS();
    char text[8];
    for (int32_t point = 0; point <= LAST_POINT; point += QUICK && point > 0x30000 ? 101 : 1)
        if (!is_surrogate(point))
            assert_folds(text, put_point(text, point));
}

static void every_code_point_between_letters_folds_as_the_slow_way(void **unused)
{
    (void)unused;
    STARTS_NO_THREADS();
    char text[16];
    for (int32_t point = 0; point <= LAST_POINT; point += QUICK && point > 0x20000 ? 101 : 1) {
        if (is_surrogate(point))
            continue;
        text[0] = 'e';
        size_t length = 1 + put_point(text + 1, point);
        assert_folds(text, length);
        text[length++] = 'Z';
        assert_folds(text, length);
    }
}

/* A base, then the code point, then a mark: what folds alone to one character may still join its neighbours. */
static void every_code_point_among_marks_folds_as_the_slow_way(void **unused)
{
    (void)unused;
    static const int32_t bases[] = { 0xE9, 0x3B1, 0x1100, 0xAC00, 0x9C7, 0x4E00 };
    static const int32_t marks[] = { 0x301, 0x323, 0x345, 0x11A8, 0x1161, 0x9BE, 0x3099 };
    char text[16];
    for (int32_t point = 0x80; point < 0x30000; point += QUICK ? 13 : 1) {
        if (is_surrogate(point))
            continue;
        size_t length = put_point(text, bases[point % 6]);
        length += put_point(text + length, point);
        length += put_point(text + length, marks[point % 7]);
        assert_folds(text, length);
    }
}

/* Both characters of every composition, and the expansion of every compatibility character. */
static void every_decomposition_folds_as_the_slow_way(void **unused)
{
    (void)unused;
    STARTS_NO_THREADS();
    static const utf8proc_option_t forms[] = { UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
                                               UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT };
    char text[8];
    for (int32_t point = 0; point < 0x30000; point += QUICK && point >= 0xAC00 && point < 0xD7A0 ? 7 : 1)
        for (int form = 0; form < 2 && !is_surrogate(point); form++) {
            unsigned char *parts = NULL;
            utf8proc_ssize_t length =
                utf8proc_map((unsigned char *)text, (utf8proc_ssize_t)put_point(text, point), &parts, forms[form]);
            assert_true(length >= 0);
            assert_folds((char *)parts, (size_t)length);
            free(parts);
        }
}

/* ---- random texts ---- */

/* Characters that fold, combine, decompose or are reordered. */
static const int32_t nasty[] = {
    'a',     'E',      'i',     'I',     'o',     'S',     ' ',     ' ',     '\n',    '\t',    0,       0x7F,
    0x80,    0x85,     0xA0,    0xA8,    0xAD,    0xB5,    0xBD,    0xC5,    0xDF,    0xE9,    0x130,   0x131,
    0x149,   0x17F,    0x1C4,   0x1F0,   0x23A,   0x2B0,   0x300,   0x301,   0x307,   0x308,   0x313,   0x316,
    0x323,   0x327,    0x338,   0x340,   0x344,   0x345,   0x34F,   0x360,   0x37A,   0x390,   0x391,   0x399,
    0x3A3,   0x3B1,    0x3B9,   0x3C2,   0x3C3,   0x419,   0x439,   0x451,   0x487,   0x587,   0x5B0,   0x5D0,
    0x5E9,   0x5C1,    0x622,   0x627,   0x64B,   0x653,   0x675,   0x6C1,   0x915,   0x928,   0x93C,   0x93E,
    0x94D,   0x958,    0x9C7,   0x9BE,   0x9D7,   0xB47,   0xB3E,   0xB56,   0xB57,   0xBC6,   0xBC7,   0xBBE,
    0xBD7,   0xC46,    0xC56,   0xCC6,   0xCC2,   0xCD5,   0xD46,   0xD3E,   0xDD9,   0xDCA,   0xDCF,   0xDDC,
    0xE33,   0xE38,    0xE48,   0xEB3,   0xF71,   0xF72,   0xF73,   0xF74,   0xF80,   0xF81,   0x1025,  0x102E,
    0x1026,  0x10A0,   0x1100,  0x1112,  0x115F,  0x1160,  0x1161,  0x1175,  0x1176,  0x11A7,  0x11A8,  0x11C2,
    0x11C3,  0x13A0,   0x13F8,  0x1680,  0x1B05,  0x1B35,  0x1B06,  0x1E9B,  0x1E9E,  0x1F00,  0x1F80,  0x1F88,
    0x1FB3,  0x1FB4,   0x1FBE,  0x1FC1,  0x1FFC,  0x2002,  0x2007,  0x200B,  0x200C,  0x200D,  0x2028,  0x2029,
    0x202F,  0x205F,   0x20D0,  0x2126,  0x212B,  0x2160,  0x2460,  0x2ADC,  0x3000,  0x3042,  0x304B,  0x304C,
    0x3099,  0x309A,   0x309B,  0x30FF,  0x3131,  0x32FF,  0x4E00,  0xA64A,  0xA960,  0xAB70,  0xAC00,  0xAC01,
    0xD7A3,  0xD7B0,   0xD7CB,  0xE000,  0xF900,  0xFA2A,  0xFB01,  0xFB06,  0xFB13,  0xFB1D,  0xFB1E,  0xFB2C,
    0xFDFA,  0xFE0F,   0xFE4D,  0xFEFF,  0xFF21,  0xFF9E,  0xFFA1,  0xFFC2,  0xFFFD,  0xFFFE,  0xFFFF,  0x10000,
    0x10400, 0x11099,  0x110BA, 0x11131, 0x11127, 0x11347, 0x1133E, 0x114B9, 0x114BA, 0x11935, 0x11930, 0x1D15E,
    0x1D165, 0x1D16E,  0x1D400, 0x1E900, 0x1F200, 0x1F3FB, 0x1F600, 0x20000, 0x2F800, 0x2F9F4, 0x30000, 0xE0100,
    0xF0000, 0x10FFFF,
};
enum { NASTY = sizeof nasty / sizeof nasty[0] };

static size_t put_bad(char *out, uint64_t *state)
{
    static const char *const bad[] = {
        "\x80",     "\xBF",         "\xC0\x80",     "\xC1\xBF",     "\xC3",         "\xE0\x80\x80",
        "\xE2\x82", "\xED\xA0\x80", "\xF0\x9F\x98", "\xF4\x90\x80", "\xF0\x80\x80", "\xF5",
        "\xFF",     "\xE1\x80",     "\xF1",         "\xEF\xBF",
    };
    const char *pick = bad[twin__random_below(state, sizeof bad / sizeof bad[0])];
    size_t length = 0;
    for (; pick[length]; length++)
        out[length] = pick[length];
    return length;
}

/* One part of a random text: mostly a difficult character; from a narrow range, so that neighbours belong to one
 * script; any code point; ASCII that is long enough for the kernel; bytes that are no text. */
static size_t put_piece(char *out, uint64_t *state, uint64_t script)
{
    uint64_t kind = twin__random_below(state, 16);
    int32_t point = nasty[twin__random_below(state, NASTY)];
    if (kind == 0)
        return put_bad(out, state);
    if (kind == 1) {
        size_t length = twin__random_below(state, 40);
        for (size_t i = 0; i < length; i++)
            out[i] = (char)twin__random_below(state, 0x80);
        return length;
    }
    if (kind < 7)
        point = (int32_t)(script + twin__random_below(state, 0x80));
    else if (kind == 7)
        point = (int32_t)twin__random_below(state, LAST_POINT + 1);
    return put_point(out, is_surrogate(point) ? 'A' : point);
}

static void random_texts_fold_as_the_slow_way(void **unused)
{
    (void)unused;
    STARTS_NO_THREADS();
    char text[24 * 40];
    uint64_t state = 2024;
    for (int round = 0; round < RANDOM_TEXTS; round++) {
        uint64_t script = twin__random_below(&state, 4) ? twin__random_below(&state, 0x3400) : 0x300;
        size_t pieces = twin__random_below(&state, 24), length = 0;
        for (size_t i = 0; i < pieces; i++)
            length += put_piece(text + length, &state, script);
        assert_folds(text, length);
    }
}

static void every_level_folds_to_the_same_bytes(void **unused)
{
    (void)unused;
    char text[24 * 40];
    uint64_t state = 7;
    twin_buffer expected = { 0 }, got = { 0 };
    for (int round = 0; round < RANDOM_TEXTS / 8; round++) {
        size_t length = 0;
        for (size_t i = 0; i < 24; i++)
            length += put_piece(text + length, &state, 0x400);
        for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
            twin_cpu_use(level);
            assert_int_equal(
                twin_text_normalise(level ? &got : &expected, NULL, (twin_text){ text, length }, TWIN_NORMAL_FOLD),
                TWIN_OK);
            if (level)
                assert_same(&got, &expected);
        }
    }
    twin_buffer_clear(&expected);
    twin_buffer_clear(&got);
}

/* Any bytes at all, and then bytes that look like UTF-8 gone wrong. */
static void bytes_that_are_no_text_are_replaced_and_counted(void **unused)
{
    (void)unused;
    STARTS_NO_THREADS();
    static const unsigned char edges[] = { 0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2,
                                           0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5 };
    char text[32];
    uint64_t state = 3;
    twin_buffer expected = { 0 }, got = { 0 };
    for (int round = 0; round < RANDOM_TEXTS; round++) {
        size_t length = twin__random_below(&state, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)(round % 2 ? edges[twin__random_below(&state, sizeof edges)] : twin__random_next(&state));
        assert_folds(text, length);
        uint64_t replaced = 0, bad = slow_check(&expected, text, length);
        assert_int_equal(twin_text_normalise(&got, &replaced, (twin_text){ text, length }, TWIN_NORMAL_CHECK),
                         TWIN_OK);
        assert_same(&got, &expected);
        assert_int_equal(replaced, bad);
    }
    twin_buffer_clear(&expected);
    twin_buffer_clear(&got);
}

static void every_single_byte_folds_as_the_slow_way(void **unused)
{
    (void)unused;
    for (int byte = 0; byte < 256; byte++)
        assert_folds(&(char){ (char)byte }, 1);
}

/* ---- texts ---- */

static const char *const prose[] = {
    "The harbour lay quiet in the early light,\nand the boats that had gone out\r\nin the NIGHT were  still a long "
    "way "
    "off.\n\n\tHe had counted the ropes twice.\n",
    "Гавань лежала тихо в раннем свете, и лодки, ушедшие ночью, были ещё далеко.\nНА НАБЕРЕЖНОЙ стоял Человек, "
    "который не спал, и считал верёвки. «Сорок одна», — сказал он.\n",
    "Το λιμάνι ήταν ήσυχο στο πρωινό φως, και οι βάρκες που είχαν φύγει τη νύχτα ήταν ακόμα μακριά. ΟΔΥΣΣΕΥΣ, ὁ "
    "ἄνθρωπος ᾧ ᾠδὴν ἔδωκε· ᾼδης.\n",
    "清晨的港口静静地躺在微光里，夜里出海的船还在很远的地方。码头上站着一个没有睡觉的人，他在数绳子。ＡＢＣ　１２３。"
    "\n",
    "Le port était tranquille dans la lumière du matin, et les bateaux étaient encore très loin. « Quarante et une "
    "», "
    "dit-il ; L’ŒUVRE DE NOËL À L’ÉTÉ, cafe\xCC\x81 de\xCC\x81ja\xCC\x80 vu.\n",
    "이른 아침 햇살 속에 항구는 조용했고, 밤에 나간 배들은 아직 멀리 있었다.\n",
    "सुबह की रोशनी में बंदरगाह शांत था, और रात को गई नावें अभी बहुत दूर थीं। घाट पर एक आदमी खड़ा था।\n",
    "ท่าเรือเงียบสงบในแสงแรกของวัน และเรือที่ออกไปในตอนกลางคืนยังอยู่ไกลมาก น้ำ\n",
    "İstanbul'da ILIK bir sabah; Straße, STRAẞE, ﬁsh ﬂour, ½ Å, ŉ. 👨‍👩‍👧 ❤️ 👍🏽 "
    "🇫🇷\n",
};
enum { PROSE = sizeof prose / sizeof prose[0] };

/* Repeated past the length of one run, and with every cut of the first hundred bytes. */
static void prose_of_many_scripts_folds_as_the_slow_way(void **unused)
{
    (void)unused;
    STARTS_NO_THREADS();
    twin_buffer text = { 0 };
    for (size_t i = 0; i < PROSE; i++) {
        text.length = 0;
        for (int copies = 0; copies < 40; copies++)
            append(&text, prose[i], strlen(prose[i]));
        assert_folds(text.bytes, text.length);
        for (size_t cut = 0; cut < 100; cut++)
            assert_folds(text.bytes + cut, text.length / 16 - cut);
    }
    text.length = 0;
    for (int copies = 0; copies < 400; copies++)
        append(&text, prose[copies * 7 % PROSE], strlen(prose[copies * 7 % PROSE]));
    assert_folds(text.bytes, text.length);
    twin_buffer_clear(&text);
}

static void *fold_prose(void *arg)
{
    twin_buffer *out = arg;
    twin_status status = twin_text_normalise(out, NULL, (twin_text){ prose[1], strlen(prose[1]) }, TWIN_NORMAL_FOLD);
    return status == TWIN_OK ? arg : NULL;
}

/* Runs before any other text has been folded, so that all threads want what is made once. */
static void threads_may_fold_at_the_same_time(void **unused)
{
    (void)unused;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    void *results[THREADS];
    twin_buffer out[THREADS] = { 0 }, expected = { 0 };
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fold_prose, &out[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], &results[i]), 0);
    slow_fold(&expected, prose[1], strlen(prose[1]));
    for (int i = 0; i < THREADS; i++) {
        assert_ptr_equal(results[i], &out[i]);
        assert_same(&out[i], &expected);
        twin_buffer_clear(&out[i]);
    }
    twin_buffer_clear(&expected);
}

static void assert_becomes(const char *bytes, const char *expected)
{
    twin_buffer got = { 0 };
    assert_int_equal(twin_text_normalise(&got, NULL, (twin_text){ bytes, strlen(bytes) }, TWIN_NORMAL_FOLD), TWIN_OK);
    assert_int_equal(got.length, strlen(expected));
    if (got.length)
        assert_memory_equal(got.bytes, expected, got.length);
    twin_buffer_clear(&got);
}

static void two_writings_of_one_text_become_the_same_bytes(void **unused)
{
    (void)unused;
    assert_becomes("Caf\xC3\xA9", "caf\xC3\xA9");
    assert_becomes("CAFE\xCC\x81", "caf\xC3\xA9");
    assert_becomes("\xEF\xBC\xA3\xEF\xBD\x81\xEF\xBD\x86\xC3\x89", "caf\xC3\xA9"); /* full width */
    assert_becomes("STRASSE", "strasse");
    assert_becomes("Stra\xC3\x9F"
                   "e",
                   "strasse");
    assert_becomes("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "\xED\x95\x9C"); /* Jamo become a syllable */
    assert_becomes("e\xCC\x81 \xCC\x81", "\xC3\xA9 \xCC\x81");              /* nothing joins a blank */
}

static void white_space_becomes_one_blank_and_none_at_the_ends(void **unused)
{
    (void)unused;
    assert_becomes("", "");
    assert_becomes(" \t\r\n\v\f", "");
    assert_becomes("\xC2\x85\xC2\xA0\xE1\x9A\x80\xE2\x80\x83\xE2\x80\xA8\xE2\x80\xA9\xE3\x80\x80", "");
    assert_becomes("\xE2\x80\x83 a \xC2\x85\n b\xC2\xA0", "a b");
    assert_becomes("a\xE2\x80\x8B"
                   "b",
                   "a\xE2\x80\x8B"
                   "b"); /* a zero-width space is no white space */
}

static void bytes_stay_as_they_are_when_asked(void **unused)
{
    (void)unused;
    const char bytes[] = " A\xFF\x00\n\xC3\xA9 ";
    uint64_t replaced = 3;
    twin_buffer got = { 0 };
    append(&got, "old", 3);
    assert_int_equal(twin_text_normalise(&got, &replaced, (twin_text){ bytes, sizeof bytes }, TWIN_NORMAL_BYTES),
                     TWIN_OK);
    assert_int_equal(got.length, sizeof bytes);
    assert_memory_equal(got.bytes, bytes, sizeof bytes);
    assert_int_equal(replaced, 3);
    assert_int_equal(twin_text_normalise(&got, &replaced, (twin_text){ NULL, 0 }, TWIN_NORMAL_FOLD), TWIN_OK);
    assert_int_equal(got.length, 0);
    twin_buffer_clear(&got);
}

static void a_long_text_may_grow_elevenfold(void **unused)
{
    (void)unused;
    twin_buffer text = { 0 };
    for (int i = 0; i < 5000; i++)
        append(&text, "\xEF\xB7\xBA", 3); /* U+FDFA: 3 bytes become 33 */
    for (int i = 0; i < 5000; i++)
        append(&text, "\xFF", 1); /* 1 becomes 3 */
    for (int i = 0; i < 5000; i++)
        append(&text, "\xC8\xBA", 2); /* U+023A: 2 become 3 */
    assert_folds(text.bytes, text.length);
    twin_buffer_clear(&text);
}

/* Half a million marks, two classes in turn: ordering them by neighbours would take 6e10 steps. */
static void half_a_million_marks_take_no_quadratic_time(void **unused)
{
    (void)unused;
    STARTS_NO_THREADS();
    enum { PAIRS = 250000 };
    twin_buffer text = { 0 }, expected = { 0 }, got = { 0 };
    append(&text, "x", 1);
    append(&expected, "x", 1);
    for (int i = 0; i < PAIRS; i++)
        append(&text, i % 2 ? "\xCC\x8D\xCC\x96" : "\xCC\x8E\xCC\x97", 4); /* U+030D U+0316, U+030E U+0317 */
    for (int i = 0; i < PAIRS; i++)
        append(&expected, i % 2 ? "\xCC\x96" : "\xCC\x97", 2);
    for (int i = 0; i < PAIRS; i++)
        append(&expected, i % 2 ? "\xCC\x8D" : "\xCC\x8E", 2);
    assert_int_equal(twin_text_normalise(&got, NULL, (twin_text){ text.bytes, text.length }, TWIN_NORMAL_FOLD),
                     TWIN_OK);
    assert_same(&got, &expected);
    twin_buffer_clear(&text);
    twin_buffer_clear(&expected);
    twin_buffer_clear(&got);
}

/* Long enough for the counting sort, short enough for the slow version. */
static void long_runs_of_marks_fold_as_the_slow_way(void **unused)
{
    (void)unused;
    char text[2 * 120 + 8];
    uint64_t state = 11;
    for (int round = 0; round < RANDOM_TEXTS / 100; round++) {
        size_t length = put_point(text, 'a' + (int32_t)twin__random_below(&state, 26)),
               marks = twin__random_below(&state, 120);
        for (size_t i = 0; i < marks; i++)
            length += put_point(text + length, (int32_t)(0x300 + twin__random_below(&state, 0x70)));
        assert_folds(text, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_fold_at_the_same_time),
        cmocka_unit_test(two_writings_of_one_text_become_the_same_bytes),
        cmocka_unit_test(white_space_becomes_one_blank_and_none_at_the_ends),
        cmocka_unit_test(bytes_stay_as_they_are_when_asked),
        cmocka_unit_test(every_single_byte_folds_as_the_slow_way),
        cmocka_unit_test(every_code_point_alone_folds_as_the_slow_way),
        cmocka_unit_test(every_code_point_between_letters_folds_as_the_slow_way),
        cmocka_unit_test(every_code_point_among_marks_folds_as_the_slow_way),
        cmocka_unit_test(every_decomposition_folds_as_the_slow_way),
        cmocka_unit_test(prose_of_many_scripts_folds_as_the_slow_way),
        cmocka_unit_test(random_texts_fold_as_the_slow_way),
        cmocka_unit_test(every_level_folds_to_the_same_bytes),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced_and_counted),
        cmocka_unit_test(a_long_text_may_grow_elevenfold),
        cmocka_unit_test(half_a_million_marks_take_no_quadratic_time),
        cmocka_unit_test(long_runs_of_marks_fold_as_the_slow_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
