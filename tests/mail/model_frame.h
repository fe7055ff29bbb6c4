/* model_frame.h — what the tests of models share: a folder with a model in it, and a reader of messages. */
#ifndef MODEL_FRAME_H
#define MODEL_FRAME_H

#include <twinsift/mail.h>

#include "message_frame.h"
#include "store_folder.h"

static const uint64_t key[2] = { 1, 2 };

static inline int begin(void **unused)
{
    return make_folder(unused) != 0 || create_reader(unused) != 0;
}

static inline int end(void **unused)
{
    free_reader(unused);
    return drop_folder(unused);
}

static inline void create_file(twin_mail_options options)
{
    options.key = key;
    assert_int_equal(twin_mail_create(path, options, true, NULL), TWIN_OK);
}

static inline twin_mail *open_file(twin_mail_access access)
{
    twin_mail *mail;
    twin_error error = { 0 };
    if (twin_mail_open(&mail, path, access, &error) != TWIN_OK)
        fail_msg("%s", error.message);
    return mail;
}

static inline void commit(twin_mail *mail)
{
    twin_error error = { 0 };
    if (twin_mail_commit(mail, &error) != TWIN_OK)
        fail_msg("%s", error.message);
}

#endif
