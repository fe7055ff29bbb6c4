/* fuzz_mail_model.c — a small real mail model with some bytes changed: it gives the right verdicts or is refused.
 * (Several changes together may make another model that is whole; then it must only be usable.)
 *
 * The input is a list of changes, four bytes each: three that choose a place in the file, one that is XORed into it.
 * The places are those whose bytes are not zero, which is where there is something to damage. Loading the weights takes
 * most of the time, so a model is either only read or also learns, as the first byte says. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <twinsift/mail.h>
#include <unistd.h>

enum { MESSAGES = 12, TEXT_BYTES = 1024 };

static char folder[32], path[64], lock_path[80];
static twin_message_reader *reader;
static unsigned char *original, *damaged;
static size_t size, used, *places;
static double right[MESSAGES];

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void clean_up(void)
{
    unlink(path);
    unlink(lock_path);
    rmdir(folder);
    twin_message_reader_free(reader);
    free(original);
    free(damaged);
    free(places);
}

static const twin_message *message_of(size_t number)
{
    static char text[TEXT_BYTES];
    const twin_message *message;
    size_t length =
        (size_t)snprintf(text, sizeof text, "From: a%zu@example.org\nSubject: number %zu\n\n", number % 3, number);
    for (size_t word = 0; word < 20; word++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%zu ", number % 2 ? "good" : "bad",
                                   word * (number / 4 + 1));
    require(twin_message_read(&message, reader, (twin_text){ text, length }) == TWIN_OK);
    return message;
}

/* The log odds of all messages; learning one, if the file can be written. */
static twin_status use_model(double out[MESSAGES], bool learn)
{
    twin_mail *mail;
    twin_status status = twin_mail_open(&mail, path, learn ? TWIN_MAIL_WRITE : TWIN_MAIL_READ, NULL);
    for (size_t i = 0; i < MESSAGES && status == TWIN_OK; i++) {
        twin_mail_verdict verdict;
        status = twin_mail_check(&verdict, mail, message_of(i), (twin_mail_check_options){ 0 }, NULL);
        out[i] = status == TWIN_OK ? verdict.log_odds : 0;
    }
    if (status == TWIN_OK && learn) {
        status = twin_mail_learn(NULL, mail, message_of(MESSAGES), "spam", 7, NULL);
        if (status == TWIN_OK)
            status = twin_mail_commit(mail, NULL);
    }
    twin_mail_close(mail);
    return status;
}

static void write_file(const unsigned char *bytes)
{
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void read_original(void)
{
    struct stat found;
    require(stat(path, &found) == 0);
    size = (size_t)found.st_size;
    original = malloc(size);
    damaged = malloc(size);
    places = malloc(size * sizeof *places);
    FILE *file = fopen(path, "rb");
    require(original && damaged && places && file && fread(original, 1, size, file) == size && fclose(file) == 0);
    for (size_t i = 0; i < size; i++)
        if (original[i])
            places[used++] = i;
}

static void make_once(void)
{
    const uint64_t key[2] = { 1, 2 };
    twin_mail *mail;
    if (original)
        return;
    bool has_memory = access("/dev/shm", W_OK) == 0; /* no disk to wait for */
    snprintf(folder, sizeof folder, "%s/fuzz_mail.XXXXXX", has_memory ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL && twin_message_reader_create(&reader, (twin_message_options){ 0 }) == TWIN_OK);
    snprintf(path, sizeof path, "%s/m.twin", folder);
    snprintf(lock_path, sizeof lock_path, "%s-lock", path);
    require(twin_mail_create(path, (twin_mail_options){ .key = key }, false, NULL) == TWIN_OK);
    require(twin_mail_open(&mail, path, TWIN_MAIL_WRITE, NULL) == TWIN_OK);
    for (size_t i = 0; i < MESSAGES; i++) {
        require(twin_mail_learn(NULL, mail, message_of(i), i % 2 ? "ham" : "spam", 5, NULL) == TWIN_OK);
        if (i >= MESSAGES - 3) /* so that there are records of changes */
            require(twin_mail_commit(mail, NULL) == TWIN_OK);
    }
    twin_mail_close(mail);
    require(twin_mail_compact(path, (twin_progress){ 0 }, NULL) == TWIN_OK);
    require(use_model(right, false) == TWIN_OK);
    read_original();
    atexit(clean_up);
}

static bool are_equal(const double *a, const double *b)
{
    bool equal = true;
    for (size_t i = 0; i < MESSAGES; i++)
        equal = equal && a[i] >= b[i] && a[i] <= b[i];
    return equal;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    double found[MESSAGES];
    size_t changes = length / 4;
    bool learn = length > 0 && bytes[0] & 1;
    make_once();
    memcpy(damaged, original, size);
    for (; length >= 4; bytes += 4, length -= 4)
        damaged[places[(bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16) % used]] ^= bytes[3];
    write_file(damaged);
    twin_status status = use_model(found, learn);
    require(status == TWIN_OK || status == TWIN_EFORMAT || status == TWIN_EUNSUPPORTED);
    require(status != TWIN_OK || changes > 1 || are_equal(found, right));
    return 0;
}
