/* mailbox.c — messages: a file of one message, an mbox, a Maildir, a folder of such files, standard input.
 *
 * All files are looked at when the source is opened: one that begins with a "From " line is an mbox, whose messages are
 * found at once (mbox.c), so that they can be read in any order afterwards. A message is known by its number. Files are
 * opened whenever they are read, so that any number can be given; what cannot be opened twice, because it is
 * compressed or a pipe, is copied to a temporary file first. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "input/failure.h"
#include "input/folder_list.h"
#include "input/mbox.h"
#include "input/numbered.h"
#include "input/unpack.h"

enum { LONGEST = 16 << 20 }; /* bytes of a message that are read, unless the options say less */

/* A file, and which of the messages are its. */
struct box {
    size_t first, count; /* `count` is 0 for a file that could not be read: it has a place among the messages, too */
    int error;
};

struct mail {
    struct twin__numbered base;
    int fd;     /* of the folder, or of a temporary file; -1: `path` is the file */
    char *path; /* NULL: `fd` */
    bool is_folder;
    uint64_t begin, end; /* of the temporary file */
    struct folder files;
    struct box *boxes;      /* one per file of the folder, or one */
    uint32_t *box_of;       /* for each message */
    struct twin__mbox mbox; /* the messages of all boxes */
    size_t box_count, box_of_capacity;
};

static const struct mail *mail_of(const struct twin__source *source)
{
    return (const struct mail *)source;
}

static int open_box(const struct mail *mail, size_t box)
{
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    if (mail->is_folder)
        return twin__folder_open(mail->fd, mail->files.entries[box].path, flags);
    return mail->path ? open(mail->path, flags | O_CLOEXEC) : fcntl(mail->fd, F_DUPFD_CLOEXEC, 3);
}

/* ---- names ---- */

/* The path of the file, and the number of the message if it holds several. */
static twin_status append_name(twin_buffer *out, const struct mail *mail, uint64_t message)
{
    size_t number = mail->box_of[message];
    const struct box *box = &mail->boxes[number];
    const char *name = mail->base.source.name;
    twin_status status = mail->is_folder ? twin__append_path(out, name, mail->files.entries[number].path)
                                         : twin_buffer_append(out, name, strlen(name));
    if (status == TWIN_OK && box->count > 1) {
        char text[24];
        int length = snprintf(text, sizeof text, ":%" PRIu64, message - box->first + 1);
        status = twin_buffer_append(out, text, (size_t)length);
    }
    return status;
}

/* ---- reading ---- */

static twin_status read_open_box(struct twin__record *out, const struct mail *mail, twin_read_buffers *buffers,
                                 int fd, size_t number)
{
    const twin_input_options *options = &mail->base.source.settings->options;
    const struct twin__mbox_message *where = &mail->mbox.messages[number];
    uint64_t most = options->max_bytes < LONGEST ? options->max_bytes : LONGEST;
    size_t length = where->length < most ? (size_t)where->length : (size_t)most;
    buffers->block.length = 0;
    if (twin_buffer_reserve(&buffers->block, length + 1) != TWIN_OK)
        return TWIN_ENOMEM;
    ssize_t got = twin__read_at(fd, buffers->block.bytes, length, where->offset);
    if (got < 0) {
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "cannot be read: %m");
        return TWIN_OK;
    }
    twin_text stored = { buffers->block.bytes, (size_t)got }, text;
    twin_status status = twin__mbox_unquote(&text, &buffers->text, stored, options->mbox);
    out->what = TWIN__RECORD_DOCUMENT;
    out->document = (twin_document){ .text = text, .record = text };
    return status;
}

static twin_status look_at(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                           uint64_t number, twin_error *error)
{
    const struct mail *mail = mail_of(source);
    size_t box = mail->box_of[number];
    errno = mail->boxes[box].error;
    int fd = errno ? -1 : open_box(mail, box);
    if (fd < 0)
        return twin__numbered_refuse(out, source, error);
    twin_status status = read_open_box(out, mail, buffers, fd, number);
    close(fd);
    buffers->id.length = 0;
    if (status == TWIN_OK)
        status = append_name(&buffers->id, mail, number);
    if (status != TWIN_OK)
        return twin__fail_memory(error);
    out->document.id = (twin_text){ buffers->id.bytes, buffers->id.length };
    out->document.position = (twin_position){ .offset = number, .source = mail->base.source.number };
    return TWIN_OK;
}

/* ---- opening ---- */

static bool accepts(const struct twin__opening *opening)
{
    return opening->settings->options.format == TWIN_INPUT_MAIL;
}

/* Finds the messages behind an open file. What is wrong with the file is left for when it is read. */
static twin_status scan_file(struct mail *mail, struct box *box, int fd, twin_mbox mbox, twin_error *error)
{
    struct stat about;
    uint64_t begin = 0, end = mail->end;
    box->error = fstat(fd, &about) != 0 ? errno : S_ISREG(about.st_mode) ? 0 : EINVAL; /* it has become another */
    if (box->error)
        return TWIN_OK;
    if (mail->is_folder || mail->path)
        end = (uint64_t)about.st_size;
    else
        begin = mail->begin;
    errno = 0;
    twin_status status = twin__mbox_scan(&mail->mbox, fd, begin, end, mbox, error);
    if (status == TWIN_EIO) {
        box->error = errno ? errno : EIO;
        mail->mbox.count = box->first;
        return TWIN_OK;
    }
    return status;
}

static twin_status add_box(struct mail *mail, size_t number, const struct twin__opening *opening, twin_error *error)
{
    struct box *box = &mail->boxes[number];
    *box = (struct box){ .first = mail->mbox.count };
    box->error = mail->is_folder ? mail->files.entries[number].error : 0;
    bool is_open = mail->path != NULL; /* as a file given by its name is */
    int fd = box->error ? -1 : is_open ? opening->fd : open_box(mail, number);
    if (fd < 0 && !box->error)
        box->error = errno;
    if (fd < 0 && twin__is_our_failure(box->error))
        return twin__fail(error, TWIN_EIO, "%s cannot be opened: %m", opening->name);
    twin_mbox mbox = opening->settings->options.mbox;
    twin_status status = fd < 0 ? TWIN_OK : scan_file(mail, box, fd, mbox, error);
    if (fd >= 0 && !is_open)
        close(fd);
    box->count = mail->mbox.count - box->first;
    size_t places = box->count ? box->count : 1;
    if (status == TWIN_OK && !box->count) { /* where the problem is reported */
        if (!TWIN__ARRAY_GROW(&mail->mbox.messages, &mail->mbox.capacity, mail->mbox.count, 1))
            return twin__fail_memory(error);
        mail->mbox.messages[mail->mbox.count++] = (struct twin__mbox_message){ 0 };
    }
    if (status == TWIN_OK && !TWIN__ARRAY_GROW(&mail->box_of, &mail->box_of_capacity, box->first, places))
        return twin__fail_memory(error);
    for (size_t i = 0; status == TWIN_OK && i < places; i++)
        mail->box_of[box->first + i] = (uint32_t)number;
    return status;
}

/* A file that is packed or has no name is copied. */
static twin_status hold_file(struct mail *mail, struct twin__opening *opening, twin_error *error)
{
    const twin_input_options *options = &opening->settings->options;
    unsigned char bytes[TWIN__PACKING_BYTES];
    bool is_regular = S_ISREG(opening->about.st_mode);
    off_t at = is_regular ? lseek(opening->fd, 0, SEEK_CUR) : 0; /* standard input may have been read from before */
    mail->begin = at > 0 ? (uint64_t)at : 0;
    mail->end = (uint64_t)opening->about.st_size;
    if (is_regular && mail->begin > mail->end)
        mail->begin = mail->end;
    ssize_t got = is_regular ? twin__read_at(opening->fd, bytes, sizeof bytes, mail->begin) : 0;
    if (got < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", opening->name);
    if (!is_regular || twin__packing_of(bytes, (size_t)got) != PACKED_NOT) {
        struct unpack_options how = { .name = opening->name,
                                      .temp_folder = options->temp_folder,
                                      .progress = options->progress,
                                      .most = options->max_unpacked_bytes,
                                      .memory = options->memory_bytes };
        mail->begin = 0;
        return twin__unpack(&mail->fd, &mail->end, opening->fd, how, error);
    }
    bool has_name = twin__opening_can_repeat(opening);
    mail->path = has_name ? strdup(opening->path) : NULL;
    if (has_name)
        return mail->path ? TWIN_OK : twin__fail_memory(error);
    mail->fd = opening->fd;
    opening->fd = -1;
    return TWIN_OK;
}

static twin_status list_folder(struct mail *mail, struct twin__opening *opening, twin_error *error)
{
    if (strcmp(opening->path, "-") == 0)
        return twin__fail(error, TWIN_EINVAL, "standard input is a folder; give the folder by its name");
    mail->is_folder = true;
    mail->fd = opening->fd;
    opening->fd = -1;
    /* Folders within a Maildir begin with a dot: who learns an inbox does not want .Junk and .Trash unasked. */
    twin_status status = twin__folder_list(&mail->files, mail->fd, opening->name, &opening->settings->options, error);
    if (status == TWIN_OK && twin__mail_files(&mail->files) != TWIN_OK)
        status = twin__fail_memory(error);
    return status;
}

static twin_status open_mail(struct twin__source **out, struct twin__opening *opening, twin_error *error)
{
    const twin_input_options *options = &opening->settings->options;
    struct mail *mail = calloc(1, sizeof *mail);
    if (!mail)
        return twin__fail_memory(error);
    *out = &mail->base.source;
    mail->fd = -1;
    twin_status status =
        S_ISDIR(opening->about.st_mode) ? list_folder(mail, opening, error) : hold_file(mail, opening, error);
    if (status != TWIN_OK)
        return status;
    mail->box_count = mail->is_folder ? mail->files.count : 1;
    mail->boxes = calloc(mail->box_count + 1, sizeof mail->boxes[0]);
    if (!mail->boxes)
        return twin__fail_memory(error);
    for (size_t i = 0; i < mail->box_count && status == TWIN_OK; i++)
        status = add_box(mail, i, opening, error);
    mail->base.look_at = look_at;
    twin__numbered_divide(&mail->base, mail->mbox.count, options->chunk_bytes / TWIN__BYTES_PER_FILE);
    return status;
}

static void close_mail(struct twin__source *source)
{
    struct mail *mail = (struct mail *)source;
    if (mail->fd >= 0)
        close(mail->fd);
    twin__folder_clear(&mail->files);
    twin__mbox_clear(&mail->mbox);
    free(mail->path);
    free(mail->boxes);
    free(mail->box_of);
    free(mail);
}

/* ---- positions ---- */

static twin_status describe(twin_buffer *out, const struct twin__source *source, twin_position position)
{
    return append_name(out, mail_of(source), position.offset);
}

static twin_folder_info folder_info(const struct twin__source *source)
{
    const struct folder *files = &mail_of(source)->files;
    return (twin_folder_info){ .links = files->links, .special = files->special, .hidden = files->hidden };
}

const struct twin__source_kind twin__mailbox = {
    .accepts = accepts,
    .open = open_mail,
    .chunk_size = twin__numbered_chunk_size,
    .read = twin__numbered_read,
    .contains = twin__numbered_contains,
    .fetch = twin__numbered_fetch,
    .describe = describe,
    .folder_info = folder_info,
    .close = close_mail,
};
