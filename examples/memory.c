/* memory.c — near-duplicates among texts that the program has in memory: no file is read or written. */
#include <stdio.h>
#include <string.h>
#include <twinsift/twinsift.h>

static const char *const headlines[] = {
    "The lighthouse at Ormsey Point will be lit again before June.",
    "A bakery rises where the bank used to be, and keeps the vault.",
    "The Lighthouse at Ormsey Point will be lit again before July!",
    "The ferry to the islands is late for the third time this week.",
};
enum { COUNT = sizeof headlines / sizeof headlines[0] };

/* Documents are numbered from 0 in the order they were given, so a match leads back to the texts. */
static bool print(void *context, twin_match match)
{
    (void)context;
    return printf("%.2f\n  %s\n  %s\n", match.similarity, headlines[match.a], headlines[match.b]) > 0;
}

static twin_status print_pairs(const twin_input *input, twin_error *error)
{
    twin_collection *collection = NULL;
    twin_similar *similar = NULL;
    twin_exec exec;
    twin_plan plan = { .bands = 25, .rows = 5 };
    twin_collection_options reading = {
        .scheme.shingle = { .kind = TWIN_SHINGLE_CHAR, .width = 5, .hash = twin_hash_member(TWIN_HASH_XXH3, 1) },
        .scheme.minhash = { .slots = 128, .seed = 1 },
    };
    twin_status status = twin_exec_make(&exec, TWIN_EXEC_PTHREADS, 0);
    reading.exec = exec;
    if (status == TWIN_OK)
        status = twin_collection_read(&collection, input, reading, error);
    if (status == TWIN_OK)
        status = twin_similar_find(
            &similar, collection, (twin_similar_options){ .threshold = 0.7, .bands = { .plan = plan }, .exec = exec },
            error);
    if (status == TWIN_OK)
        status = twin_similar_each(similar, TWIN_COPIES_FIRST, print, NULL);
    twin_similar_free(similar);
    twin_collection_free(collection);
    return status;
}

int main(void)
{
    twin_memory_document documents[COUNT] = { 0 };
    for (size_t i = 0; i < COUNT; i++)
        documents[i].text = (twin_text){ headlines[i], strlen(headlines[i]) };

    twin_input *input = NULL;
    twin_error error = { 0 };
    twin_status status = twin_input_from_texts(&input, documents, COUNT, (twin_input_options){ 0 }, &error);
    if (status == TWIN_OK)
        status = print_pairs(input, &error);
    twin_input_free(input);
    if (status != TWIN_OK)
        fprintf(stderr, "memory: %s\n", error.message);
    return status == TWIN_OK ? 0 : 1;
}
