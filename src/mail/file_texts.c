/* file_texts.c — the beginnings of messages in the file.
 *
 * Sixteen lie in a value of the table of messages, under the key 2^62 + number / 16: check, bytes of the whole (4), and a
 * zstd frame in which each of the sixteen has its length (4; 0: none) and its bytes. Together they compress better, and
 * the value is so long that it is not read when the file is opened. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "mail/file_private.h"

enum {
    TOGETHER = 16,
    HEAD = TWIN__MAIL_CHECK_BYTES + 4,
    MOST = TOGETHER * (4 + TWIN__MAIL_TEXT_BYTES),
    LEVEL = 3, /* of zstd: its default */
};

static uint64_t key_of(uint64_t number)
{
    return (uint64_t)1 << 62 | number / TOGETHER;
}

/* The texts of a block; `room` is where they lie. Empty ones are not there. */
struct block {
    unsigned char *room;
    twin_text texts[TOGETHER];
};

/* What saving many blocks needs. */
struct saving {
    struct block block;
    unsigned char *plain, *value; /* before and after compression */
    ZSTD_CCtx *compressor;
};

static size_t value_room(void)
{
    return HEAD + ZSTD_compressBound(MOST);
}

static bool begin_saving(struct saving *saving)
{
    *saving = (struct saving){ .block.room = malloc(MOST),
                               .plain = malloc(MOST),
                               .value = malloc(value_room()),
                               .compressor = ZSTD_createCCtx() };
    return saving->block.room && saving->plain && saving->value && saving->compressor;
}

static void end_saving(struct saving *saving)
{
    free(saving->block.room);
    free(saving->plain);
    free(saving->value);
    ZSTD_freeCCtx(saving->compressor);
}

/* False when it is damaged; it is then empty. */
static bool unpack(struct block *out, struct twin__bytes value, uint64_t key)
{
    const unsigned char *at = value.at;
    bool fits = value.length >= HEAD && twin__mail_check_fits(value, key);
    size_t whole = fits ? twin__get4(at + 8) : MOST + 1, used = 0;
    bool good = whole <= MOST && ZSTD_decompress(out->room, MOST, at + HEAD, value.length - HEAD) == whole;
    for (int i = 0; i < TOGETHER && good; i++) {
        size_t length = whole - used >= 4 ? twin__get4(out->room + used) : SIZE_MAX;
        good = length <= TWIN__MAIL_TEXT_BYTES && length <= whole - used - 4;
        if (good)
            out->texts[i] = (twin_text){ (const char *)out->room + used + 4, length };
        used += 4 + length;
    }
    if (!good)
        memset(out->texts, 0, sizeof out->texts);
    return good;
}

/* An empty block where there is none. */
static twin_status load(struct block *out, bool *damaged, uint64_t key, twin__store_txn *txn, twin_error *error)
{
    struct twin__bytes value = { 0 };
    memset(out->texts, 0, sizeof out->texts);
    twin_status status = twin__store_get(&value, txn, TWIN__MAIL_MESSAGES, key, error);
    *damaged = status == TWIN_OK && value.at && !unpack(out, value, key);
    return status;
}

static bool is_empty(const struct block *block)
{
    for (int i = 0; i < TOGETHER; i++)
        if (block->texts[i].length)
            return false;
    return true;
}

static twin_status delete_block(twin__store_txn *txn, uint64_t key, twin_error *error)
{
    struct twin__bytes value = { 0 };
    twin_status status = twin__store_get(&value, txn, TWIN__MAIL_MESSAGES, key, error);
    return status == TWIN_OK && value.at ? twin__store_delete(txn, TWIN__MAIL_MESSAGES, key, NULL, error) : status;
}

static twin_status store_block(twin__store_txn *txn, struct saving *saving, uint64_t key, twin_error *error)
{
    const struct block *block = &saving->block;
    unsigned char *plain = saving->plain, *value = saving->value;
    size_t whole = 0;
    if (is_empty(block))
        return delete_block(txn, key, error);
    for (int i = 0; i < TOGETHER; i++) {
        twin__put4(plain + whole, (uint32_t)block->texts[i].length);
        if (block->texts[i].length)
            memcpy(plain + whole + 4, block->texts[i].bytes, block->texts[i].length);
        whole += 4 + block->texts[i].length;
    }
    size_t length = ZSTD_compressCCtx(saving->compressor, value + HEAD, value_room() - HEAD, plain, whole, LEVEL);
    if (ZSTD_isError(length))
        return twin__fail_memory(error);
    twin__put4(value + 8, (uint32_t)whole);
    twin__mail_put_check(value, HEAD + length, key);
    return twin__store_put(txn, TWIN__MAIL_MESSAGES, key, (struct twin__bytes){ value, HEAD + length },
                           TWIN__STORE_SET, error);
}

/* ---- saving */

/* Writes the block of a message as it is now. */
static twin_status save_block(struct saving *saving, twin__store_txn *txn, const struct twin__model *model,
                              uint64_t number, twin_error *error)
{
    uint64_t key = key_of(number), begin = number - number % TOGETHER;
    bool damaged; /* then it is written anew: what is shown is not worth a failure */
    struct block *block = &saving->block;
    twin_status status = load(block, &damaged, key, txn, error);
    for (uint64_t i = 0; i < TOGETHER && status == TWIN_OK; i++) {
        const struct twin__mail_text *text = twin__mail_texts_find(&model->texts, begin + i);
        if (!twin__remembered_has(&model->remembered, begin + i))
            block->texts[i].length = 0;
        else if (text)
            block->texts[i] = (twin_text){ text->bytes, text->length };
    }
    return status == TWIN_OK ? store_block(txn, saving, key, error) : status;
}

twin_status twin__mail_save_texts(twin__store_txn *txn, const struct twin__model *model,
                                  const struct twin__mail_saved *saved, twin_error *error)
{
    const struct twin__remembered *r = &model->remembered;
    if (model->options.without_texts)
        return TWIN_OK;
    struct saving saving;
    twin_status status = begin_saving(&saving) ? TWIN_OK : twin__fail_memory(error);
    /* All of it has expired, or a part. */
    uint64_t expired = r->first < saved->next ? r->first : saved->next;
    for (uint64_t n = saved->first - saved->first % TOGETHER; n + TOGETHER <= expired && status == TWIN_OK;
         n += TOGETHER)
        status = delete_block(txn, key_of(n), error);
    if (status == TWIN_OK && saved->first < expired && expired % TOGETHER)
        status = save_block(&saving, txn, model, expired, error);
    for (size_t i = 0; i < r->touched_count && status == TWIN_OK; i++)
        if (r->touched[i] >= r->first && r->touched[i] < saved->next)
            status = save_block(&saving, txn, model, r->touched[i], error);
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < model->texts.count && status == TWIN_OK; i++) {
        uint64_t number = model->texts.list[i].number;
        if (number / TOGETHER == last || number < r->first)
            continue;
        status = save_block(&saving, txn, model, number, error);
        last = number / TOGETHER;
    }
    end_saving(&saving);
    return status;
}

/* ---- reading */

twin_status twin__mail_load_text(twin_buffer *out, uint64_t number, twin__store_txn *txn, const twin__store *store,
                                 twin_error *error)
{
    struct block block = { .room = malloc(MOST) };
    bool damaged = false;
    twin_status status = block.room ? load(&block, &damaged, key_of(number), txn, error) : twin__fail_memory(error);
    if (damaged)
        status = twin__store_fail_damaged(error, store, "a block of texts");
    if (status == TWIN_OK) {
        twin_text text = block.texts[number % TOGETHER];
        status = twin_buffer_append(out, text.bytes, text.length);
    }
    free(block.room);
    return status;
}
