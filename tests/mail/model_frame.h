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

#endif
