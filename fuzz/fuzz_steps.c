/* fuzz_steps.c — any bytes as a file of signatures, candidates or pairs, with a checksum that is right: an error or
 * something that can be used without going astray. The first byte selects the kind; the fingerprint, too, is made
 * right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/dedup.h>
#include <twinsift/hash.h>

#include "collection/contents.h"

enum { DOCUMENTS = 80, TEXT = 200, MAGIC = 8, NUMBER = 8 };

static struct {
    char texts[DOCUMENTS][TEXT];
    twin_memory_document documents[DOCUMENTS];
    twin_input *input;
    twin_collection *collection;
    uint64_t fingerprint;
} world;

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static twin_collection_options collection_options(void)
{
    return (twin_collection_options){ .scheme = { .minhash = { .slots = 16 } }, .ids_may_repeat = true };
}

/* Texts of one template, so that there are pairs and a crowd. */
static void make_world(void)
{
    for (int i = 0; i < DOCUMENTS; i++) {
        int length =
            snprintf(world.texts[i], TEXT, "%080d the same words again in every text of this kind %d", i % 9, i);
        world.documents[i].text = (twin_text){ world.texts[i], (size_t)length };
    }
    demand(twin_input_from_texts(&world.input, world.documents, DOCUMENTS, (twin_input_options){ 0 }, NULL) ==
           TWIN_OK);
    demand(twin_collection_read(&world.collection, world.input, collection_options(), NULL) == TWIN_OK);
    demand(twin__collection_fingerprint(&world.fingerprint, world.collection) == TWIN_OK);
}

static void put_number(uint8_t *at, uint64_t number)
{
    for (int i = 0; i < NUMBER; i++)
        at[i] = (uint8_t)(number >> (8 * i));
}

static void use_collection(twin_saved_files saved)
{
    twin_collection *collection;
    twin_error error = { 0 };
    if (twin_collection_load(&collection, world.input, saved, collection_options(), &error) != TWIN_OK) {
        demand(error.message[0]);
        return;
    }
    twin_scratch scratch = { 0 };
    for (uint32_t i = 0; i < twin_collection_count(collection).documents; i++) {
        twin_set set;
        (void)twin_collection_entry_of(collection, i).id;
        (void)twin__collection_set(&set, collection, &scratch, i, &error);
    }
    twin__scratch_clear(&scratch);
    twin_collection_free(collection);
}

static twin_status drop(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return TWIN_OK;
}

/* Candidates that can be read lead to matches. */
static void use_candidates(twin_saved_files saved)
{
    const twin_dedup_options rule = { 0 };
    twin_error error = { 0 };
    size_t failed;
    saved.failed = &failed;
    twin_status status = twin_dedup_write_matches(world.collection, saved, &rule, (twin_part){ 0 },
                                                  (twin_sink){ .write = drop }, &error);
    demand(status == TWIN_OK || (failed != SIZE_MAX && error.message[0]));
}

static void use_matches(twin_saved_files saved)
{
    const twin_dedup_options rule = { 0 };
    twin_dedup *dedup = NULL;
    twin_error error = { 0 };
    (void)twin_dedup_decide(&dedup, world.collection, saved, &rule, &error);
    demand(dedup || error.message[0]);
    twin_dedup_free(dedup);
}

/* Gives what is left of a text. */
static twin_status read_from_memory(void *context, void *out, size_t *length)
{
    twin_text *left = context;
    *length = left->length < *length ? left->length : *length;
    memcpy(out, left->bytes, *length);
    left->bytes += *length;
    left->length -= *length;
    return TWIN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const magics[] = { "TWINSIG1", "TWINCND4", "TWINPRS2" };
    if (!world.collection)
        make_world();
    if (size < 1 + NUMBER)
        return 0;
    int kind = data[0] % 3;
    size_t length = MAGIC + size - 1;
    uint8_t *bytes = malloc(length + NUMBER);
    if (!bytes)
        return 0;
    memcpy(bytes, magics[kind], MAGIC);
    memcpy(bytes + MAGIC, data + 1, size - 1);
    if (kind > 0)
        put_number(bytes + MAGIC, world.fingerprint);
    put_number(bytes + length, twin_hash_bytes((twin_hash){ .family = TWIN_HASH_XXH3 }, bytes, length));
    twin_text left = { (const char *)bytes, length + NUMBER };
    twin_source source = { read_from_memory, &left };
    twin_saved_files saved = { &source, 1, NULL };
    if (kind == 0)
        use_collection(saved);
    else if (kind == 1)
        use_candidates(saved);
    else
        use_matches(saved);
    free(bytes);
    return 0;
}
