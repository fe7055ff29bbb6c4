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
static uint64_t bytes_of(const unsigned char *node, bool branch)
{
    uint64_t data = twin__get2(node) | (uint64_t)twin__get2(node + 2) << 16;
    if (branch)
        data = 0;
    else if (twin__get2(node + 4) & TWIN__NODE_BIG)
        data = sizeof(uint64_t);
    uint64_t bytes = TWIN__NODE_HEAD + (uint64_t)twin__get2(node + 6) + data;
    return bytes + bytes % 2;
}

/* Nodes lie in any order. The length of each is noted at the place where it begins; then they are visited from `upper` on,
 * each beginning where the one before ends, so that none overlap and none is left over. (In two steps, so that the
 * processor need not wait for one node to know where it can read the next.) */
static bool nodes_fill(const unsigned char *page, size_t page_bytes, size_t count, size_t upper)
{
    uint32_t lengths[MOST_PAGE_BYTES / 2];
    bool branch = twin__page_flags(page) & TWIN__PAGE_BRANCH;
    size_t at = upper, met = 0;
    memset(lengths + upper / 2, 0, (page_bytes - upper) / 2 * sizeof *lengths);
    for (size_t i = 0; i < count; i++) {
        size_t offset = offset_of(page, i);
        if (offset % 2 || offset < upper || offset + TWIN__NODE_HEAD > page_bytes)
            return false;
        uint64_t bytes = bytes_of(page + offset, branch);
        lengths[offset / 2] = bytes <= page_bytes - offset ? (uint32_t)bytes : 0;
    }
    for (; at < page_bytes && lengths[at / 2]; met++)
        at += lengths[at / 2];
    return at == page_bytes && met == count;
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
