/* scratch.c — memory that calls of one thread reuse. */
#include "base/scratch.h"

#include <stdlib.h>

#include "base/error.h"

void twin__items_clear(twin_items *items)
{
    if (!items)
        return;
    free(items->items);
    *items = (twin_items){ 0 };
}

void twin__read_buffers_clear(twin_read_buffers *buffers)
{
    if (!buffers)
        return;
    twin_buffer_clear(&buffers->block);
    twin_buffer_clear(&buffers->id);
    twin_buffer_clear(&buffers->text);
    twin_buffer_clear(&buffers->key);
}

void twin__sign_scratch_clear(twin_sign_scratch *scratch)
{
    if (!scratch)
        return;
    twin_buffer_clear(&scratch->text);
    twin__items_clear(&scratch->items);
    twin__items_clear(&scratch->spare);
}

void twin__edit_scratch_clear(twin_edit_scratch *scratch)
{
    if (!scratch)
        return;
    for (size_t i = 0; i < sizeof scratch->room / sizeof scratch->room[0]; i++)
        free(scratch->room[i]);
    *scratch = (twin_edit_scratch){ 0 };
}

void twin__scratch_clear(twin_scratch *scratch)
{
    if (!scratch)
        return;
    twin__read_buffers_clear(&scratch->reading);
    twin__sign_scratch_clear(&scratch->sign);
    twin__edit_scratch_clear(&scratch->edit);
}

twin_status twin__scratch_make(twin_scratch **scratch)
{
    if (!scratch)
        return twin__fail_null(NULL, "scratch");
    if (!*scratch)
        *scratch = calloc(1, sizeof **scratch);
    return *scratch ? TWIN_OK : TWIN_ENOMEM;
}

void twin_scratch_free(twin_scratch *scratch)
{
    twin__scratch_clear(scratch);
    free(scratch);
}
