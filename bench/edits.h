/* edits.h — changes to a text of english.h, word by word: edits, a new beginning, moved blocks, numbers in a form. */
#ifndef BENCH_EDITS_H
#define BENCH_EDITS_H

#include "english.h"

/* Working memory for one document. */
struct draft {
    struct tokens body, edited;
    size_t footer; /* its number, or SIZE_MAX */
    char *line;
    size_t room;
};

static inline void take_edited(struct draft *draft)
{
    struct tokens body = draft->body;
    draft->body = draft->edited;
    draft->edited = body;
}

/* With probability `rate` replaces a word, inserts another after it, or deletes it. */
static inline void edit_words(struct draft *draft, const struct english *english, uint64_t *state, double rate)
{
    uint64_t limit = rate < 1 ? (uint64_t)(rate * 0x1p64) : UINT64_MAX;
    draft->edited.count = 0;
    for (size_t i = 0; i < draft->body.count; i++) {
        if (twin__random_next(state) >= limit) {
            push(&draft->edited, draft->body.items[i]);
            continue;
        }
        uint64_t random = twin__random_next(state);
        token other = draw_word(english, random);
        switch ((random >> 32) % 3) {
        case 0: push(&draft->edited, other); break;
        case 1:
            push(&draft->edited, draft->body.items[i]);
            push(&draft->edited, other);
            break;
        default: break;
        }
    }
    take_edited(draft);
}

static inline void append(struct tokens *out, const struct tokens *tokens, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        push(out, tokens->items[i]);
}

/* Inserts new text of about `bytes` bytes before the body. */
static inline void add_prefix(struct draft *draft, const struct english *english, uint64_t *state, size_t bytes)
{
    draft->edited.count = 0;
    write_body(&draft->edited, english, state, bytes, false);
    append(&draft->edited, &draft->body, 0, draft->body.count);
    take_edited(draft);
}

/* Moves the first `rate` of the words to the end. */
static inline void move_block(struct draft *draft, double rate)
{
    size_t first = (size_t)(rate * (double)draft->body.count);
    draft->edited.count = 0;
    append(&draft->edited, &draft->body, first, draft->body.count);
    append(&draft->edited, &draft->body, 0, first);
    take_edited(draft);
}

/* Writes a number of three to five digits in the place of each of `count` words, drawn from `places`; the same places
 * with other numbers are another copy of the same form. */
static inline void fill_form(struct draft *draft, uint64_t places, uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count && draft->body.count; i++) {
        token *one = &draft->body.items[twin__random_below(&places, draft->body.count)];
        *one = (*one & ~(token)(WORD | CAPITAL | FOREIGN)) | NUMBER |
               (token)(100 + twin__random_below(numbers, WORD - 100));
    }
}

#endif
