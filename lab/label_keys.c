/* label_keys.c — texts that agree in the first K labels of a tree. */
#include "label_keys.h"

#include <stdlib.h>

const size_t depths[DEPTHS] = { 1, 2, 5, 10, 25, 50, 100, 150, 200 };

void fold_labels(struct keys *out, const uint32_t *labels, uint64_t start)
{
    for (size_t t = 0; t < TREES; t++) {
        uint64_t key = start;
        for (size_t k = 0, d = 0; k < DEEPEST; k++) {
            key = twin_hash_mix(key * 3 + labels[t * DEEPEST + k] + 1);
            if (k + 1 == depths[d])
                out->at[t][d++] = key;
        }
    }
}

int compare_entries(const void *one, const void *other)
{
    const struct entry *x = one, *y = other;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

size_t end_of_run(const struct entry *entries, size_t begin, size_t count)
{
    size_t end = begin + 1;
    while (end < count && entries[end].key == entries[begin].key)
        end++;
    return end;
}

struct marks need_marks(size_t count)
{
    return (struct marks){ need(count, 1), need(count, 1) };
}

void free_marks(struct marks marks)
{
    free(marks.shared);
    free(marks.copy);
}

size_t mark_runs(struct marks out, struct entry *entries, size_t count)
{
    size_t pairs = 0;
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0, end; i < count; i = end) {
        end = end_of_run(entries, i, count);
        pairs += (end - i) * (end - i - 1) / 2;
        for (size_t j = i; j < end && end - i > 1; j++) {
            out.shared[entries[j].text] = true;
            out.copy[entries[j].text] = j > i;
        }
    }
    return pairs;
}

size_t count_marks(const bool *marks, size_t count)
{
    size_t marked = 0;
    for (size_t i = 0; i < count; i++)
        marked += marks[i];
    return marked;
}

struct identical count_identical(const twin_text *texts, size_t count, size_t n)
{
    const twin_hash hash = { .family = TWIN_HASH_XXH3, .seed = 21578 };
    struct entry *entries = need(count, sizeof *entries);
    struct marks marks = need_marks(count);
    for (size_t i = 0; i < count; i++) {
        twin_text cut = text_cut(texts[i], n);
        entries[i] = (struct entry){ twin_hash_bytes(hash, cut.bytes, cut.length), (uint32_t)i };
    }
    struct identical out = { .pairs = mark_runs(marks, entries, count) };
    out.texts = count_marks(marks.shared, count);
    out.copies = count_marks(marks.copy, count);
    free(entries);
    free_marks(marks);
    return out;
}
