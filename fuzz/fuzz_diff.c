/* fuzz_diff.c — differences of any two texts cover both, and what is equal has the same words. */
#include <stdlib.h>
#include <string.h>

#include <twinsift/edit.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

/* Whether two texts are equal but for ASCII white space; where there are other blanks, nothing is said. */
static bool same_words(const char *a, size_t n, const char *b, size_t m)
{
    size_t i = 0, j = 0;
    for (;;) {
        while (i < n && is_blank(a[i]))
            i++;
        while (j < m && is_blank(b[j]))
            j++;
        if (i == n || j == m)
            return i == n && j == m;
        if ((a[i] | b[j]) & 0x80)
            return true;
        if (a[i++] != b[j++])
            return false;
    }
}

static void check(twin_text a, twin_text b, twin_diff_options options)
{
    twin_edit_spans spans = { 0 };
    size_t in_a = 0, in_b = 0;
    require(twin_diff(&spans, a, b, options) == TWIN_OK);
    for (size_t i = 0; i < spans.count; i++) {
        twin_edit_span span = spans.spans[i];
        require(span.a_begin == in_a && span.b_begin == in_b && span.a_length + span.b_length > 0);
        if (span.kind == TWIN_EDIT_EQUAL)
            require(same_words(a.bytes + in_a, span.a_length, b.bytes + in_b, span.b_length));
        in_a += span.a_length;
        in_b += span.b_length;
    }
    require((in_a == a.length || in_a == 0) && (in_b == b.length || in_b == 0));
    twin_edit_spans_clear(&spans);
}

/* The first byte chooses the options; a zero byte ends the first text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *bytes = (const char *)data + 1, *end = memchr(bytes, 0, size - 1);
    size_t first = end ? (size_t)(end - bytes) : size - 1;
    twin_text a = { bytes, first }, b = { bytes + first, size - 1 - first };
    twin_diff_options options = { .effort = data[0] & 15, .join = data[0] >> 6 };
    check(a, b, options);
    check(b, a, options);
    return 0;
}
