/* page_nodes.c — whether a page is filled as LMDB fills it; see page.h for the drawing. */
#include <string.h>

#include "store/page.h"

enum { MOST_PAGE_BYTES = 65536 };

struct twin__page_tree twin__page_tree_at(const unsigned char *at)
{
    return (struct twin__page_tree){ .pad = twin__get4(at),
                                     .flags = twin__get2(at + 4),
                                     .depth = twin__get2(at + 6),
                                     .branches = twin__get8(at + 8),
                                     .leaves = twin__get8(at + 16),
                                     .overflow = twin__get8(at + 24),
                                     .entries = twin__get8(at + 32),
                                     .root = twin__get8(at + 40) };
}

static size_t offset_of(const unsigned char *page, size_t i)
{
    return twin__get2(page + TWIN__PAGE_HEAD + 2 * i);
}

/* The bytes that the node takes in its page. */
static uint64_t bytes_of_node(const unsigned char *node, bool branch)
{
    uint64_t data = twin__get2(node) | (uint64_t)twin__get2(node + 2) << 16;
    if (branch)
        data = 0;
    else if (twin__get2(node + 4) & TWIN__NODE_BIG)
        data = sizeof(uint64_t);
    uint64_t bytes = TWIN__NODE_HEAD + (uint64_t)twin__get2(node + 6) + data;
    return bytes + bytes % 2;
}

/* A bit for each even place of a page. */
enum { PLACES_PER_WORD = 64, BYTES_PER_WORD = 2 * PLACES_PER_WORD };
struct places {
    uint64_t words[MOST_PAGE_BYTES / BYTES_PER_WORD];
};

static void note(struct places *places, size_t at)
{
    places->words[at / BYTES_PER_WORD] |= (uint64_t)1 << (at / 2 % PLACES_PER_WORD);
}

/* Nodes lie in any order. Where each begins and ends is noted. They fill upper .. end if they begin at different
 * places, one of them ends with the page, and the others end where one begins, `upper` excepted: then the node at
 * `upper` ends where the next begins, for nothing else can, and so on. */
static bool nodes_fill(const unsigned char *page, size_t page_bytes, size_t count, size_t upper)
{
    struct places begins, ends;
    size_t first = upper / BYTES_PER_WORD, words = (page_bytes + BYTES_PER_WORD - 1) / BYTES_PER_WORD;
    bool branch = twin__page_flags(page) & TWIN__PAGE_BRANCH;
    if (upper >= page_bytes || page_bytes > MOST_PAGE_BYTES)
        return false;
    memset(begins.words + first, 0, (words - first) * sizeof *begins.words);
    memset(ends.words + first, 0, (words - first) * sizeof *ends.words);
    size_t last = 0, different = 0;
    for (size_t i = 0; i < count; i++) {
        size_t offset = offset_of(page, i);
        if (offset % 2 || offset < upper || offset + TWIN__NODE_HEAD > page_bytes)
            return false;
        uint64_t bytes = bytes_of_node(page + offset, branch);
        if (bytes > page_bytes - offset)
            return false;
        note(&begins, offset);
        if (offset + bytes < page_bytes)
            note(&ends, offset + bytes);
        else
            last++;
    }
    note(&ends, upper); /* none ends there, because none is empty */
    for (size_t word = first; word < words; word++) {
        if (begins.words[word] != ends.words[word])
            return false;
        different += (size_t)__builtin_popcountll(begins.words[word]);
    }
    return last == 1 && different == count;
}

bool twin__page_is_sound(const unsigned char *page, size_t page_bytes)
{
    size_t lower = twin__get2(page + 12), upper = twin__get2(page + 14);
    if (lower <= TWIN__PAGE_HEAD || lower % 2 || upper % 2 || lower > upper || upper > page_bytes)
        return false;
    return nodes_fill(page, page_bytes, twin__page_count(page), upper);
}

/* LMDB takes two bytes of each value from `lower` and the others from `upper`, as if there were pointers. */
bool twin__page_values_are_sound(const unsigned char *page, size_t bytes)
{
    size_t length = twin__get2(page + 8), lower = twin__get2(page + 12), upper = twin__get2(page + 14);
    if (length < 2 || lower <= TWIN__PAGE_HEAD || lower % 2 || lower > upper || upper > bytes)
        return false;
    return upper + twin__page_count(page) * (length - 2) == bytes;
}

int twin__page_compare(struct twin__bytes a, struct twin__bytes b, bool numbers)
{
    if (numbers) {
        uint64_t x = twin__get8(a.at), y = twin__get8(b.at);
        return (x > y) - (x < y);
    }
    size_t common = a.length < b.length ? a.length : b.length;
    int order = memcmp(a.at, b.at, common);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}
