/* model_frame.h — what the tests of models share: a folder with a model in it, and a reader of messages. */
#ifndef MODEL_FRAME_H
#define MODEL_FRAME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the headers above
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/mail.h>
#include <unistd.h>

static const uint64_t key[2] = { 1, 2 };
static char folder[] = "/tmp/twinsift-mail-XXXXXX";
static char path[64]; /* of the model, which there need not be */
static twin_message_reader *reader;

static inline int begin(void **unused)
{
    (void)unused;
    if (!mkdtemp(folder) || twin_message_reader_create(&reader, (twin_message_options){ 0 }) != TWIN_OK)
        return -1;
    snprintf(path, sizeof path, "%s/model", folder);
    return 0;
}

static inline int end(void **unused)
{
    (void)unused;
    char lock[96];
    snprintf(lock, sizeof lock, "%s-lock", path);
    twin_message_reader_free(reader);
    unlink(path);
    unlink(lock);
    return rmdir(folder); /* which fails when anything else was left behind */
}

#endif
