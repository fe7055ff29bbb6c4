/* arena.c — memory that is taken in small pieces and given back all at once. */
#include "mail/arena.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 << 10 };

struct twin__arena_block {
    struct twin__arena_block *next;
    size_t used, size;
    char bytes[];
};

static struct twin__arena_block *add_block(struct twin__arena *arena, size_t length)
{
    size_t size = length > BLOCK_BYTES ? length : BLOCK_BYTES;
    struct twin__arena_block *block = malloc(sizeof *block + size);
    if (!block)
        return NULL;
    *block = (struct twin__arena_block){ .size = size };
    if (arena->current) {
        block->next = arena->current->next;
        arena->current->next = block;
    } else {
        arena->first = block;
    }
    return arena->current = block;
}

char *twin__arena_take(struct twin__arena *arena, size_t length)
{
    struct twin__arena_block *block = arena->current;
    if (block && block->size - block->used < length && block->next && block->next->size >= length)
        block = arena->current = block->next;
    if (!block || block->size - block->used < length)
        block = add_block(arena, length);
    if (!block)
        return NULL;
    char *piece = block->bytes + block->used;
    block->used += length;
    return piece;
}

twin_status twin__arena_copy(twin_text *out, struct twin__arena *arena, twin_text text)
{
    char *bytes = twin__arena_take(arena, text.length + 1);
    if (!bytes)
        return TWIN_ENOMEM;
    if (text.length > 0)
        memcpy(bytes, text.bytes, text.length);
    bytes[text.length] = '\0';
    *out = (twin_text){ bytes, text.length };
    return TWIN_OK;
}

void twin__arena_reset(struct twin__arena *arena)
{
    struct twin__arena_block **at = &arena->first;
    while (*at) {
        struct twin__arena_block *block = *at;
        block->used = 0;
        if (block->size > BLOCK_BYTES) {
            *at = block->next;
            free(block);
        } else {
            at = &block->next;
        }
    }
    arena->current = arena->first;
}

size_t twin__arena_memory(const struct twin__arena *arena)
{
    size_t total = 0;
    for (const struct twin__arena_block *block = arena->first; block; block = block->next)
        total += sizeof *block + block->size;
    return total;
}

void twin__arena_clear(struct twin__arena *arena)
{
    while (arena->first) {
        struct twin__arena_block *next = arena->first->next;
        free(arena->first);
        arena->first = next;
    }
    arena->current = NULL;
}
