/* arena.h — memory that is taken in small pieces and given back all at once. */
#ifndef TWIN_MAIL_ARENA_H
#define TWIN_MAIL_ARENA_H

#include <twinsift/buffer.h>

struct twin__arena_block;

/* Begin with {0}, end with twin__arena_clear(). */
struct twin__arena {
    struct twin__arena_block *first, *current;
};

/* Bytes that live until the arena is reset; NULL when out of memory. They are not aligned. */
char *twin__arena_take(struct twin__arena *arena, size_t length);

/* A copy, ended by a zero that `length` does not count. */
twin_status twin__arena_copy(twin_text *out, struct twin__arena *arena, twin_text text);

/* Gives back all pieces and keeps the memory, except blocks that were made for a single large piece. */
void twin__arena_reset(struct twin__arena *arena);
size_t twin__arena_memory(const struct twin__arena *arena); /* the bytes it holds */
void twin__arena_clear(struct twin__arena *arena);

#endif
