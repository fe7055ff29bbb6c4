/* fuzz_mail_sketches.c — sketches of another site: any bytes are imported or refused, and the model stays usable.
 *
 * Whoever has the key can write what the key protects, so the input gets the right check values: the head's, and the
 * last one. What is imported is exported again and must be accepted by an empty model. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/hash.h>
#include <twinsift/mail.h>

static const uint64_t key[2] = { 1, 2 };

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void put_number(unsigned char *out, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(number >> 8 * i);
}

static twin_mail *make(void)
{
    twin_mail *mail;
    require(twin_mail_create_in_memory(&mail, (twin_mail_options){ .keep_messages = 1000, .key = key }) == TWIN_OK);
    return mail;
}

/* The model after an import of anything: it can be asked, and sketched. */
static void use(twin_mail *mail)
{
    twin_message_reader *reader;
    const twin_message *message;
    twin_mail_verdict verdict;
    twin_buffer again = { 0 };
    twin_text text = { "Subject: x\n\nsome words", 22 };
    require(twin_message_reader_create(&reader, (twin_message_options){ 0 }) == TWIN_OK);
    require(twin_message_read(&message, reader, text) == TWIN_OK);
    require(twin_mail_check(&verdict, mail, message, (twin_mail_check_options){ 0 }, NULL) == TWIN_OK);
    require(twin_mail_learn(NULL, mail, message, "spam", 5, NULL) != TWIN_EFORMAT);
    require(twin_mail_export(&again, mail, (twin_mail_export_options){ .weights = true }, NULL) == TWIN_OK);
    twin_mail *other = make();
    require(twin_mail_import(NULL, other, (twin_text){ again.bytes, again.length }, NULL) == TWIN_OK);
    twin_mail_close(other);
    twin_buffer_clear(&again);
    twin_message_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const char question[] = "twinsift sketches: is this the same key?";
    const twin_hash hash = { .family = TWIN_HASH_SIP, .key = { key[0], key[1] } };
    unsigned char *copy = malloc(length + 8);
    require(copy != NULL);
    memcpy(copy, bytes, length);
    if (length >= 40)
        put_number(copy + 16, twin_hash_bytes(hash, question, sizeof question - 1));
    put_number(copy + length, twin_hash_bytes(hash, copy, length));
    twin_mail *mail = make();
    twin_status status = twin_mail_import(NULL, mail, (twin_text){ (char *)copy, length + 8 }, NULL);
    require(status == TWIN_OK || status == TWIN_EFORMAT || status == TWIN_EUNSUPPORTED);
    if (status == TWIN_OK)
        use(mail);
    twin_mail_close(mail);
    free(copy);
    return 0;
}
