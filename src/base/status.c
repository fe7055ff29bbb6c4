/* status.c — a description of each status. */
#include <twinsift/status.h>

const char *twin_status_text(twin_status status)
{
    switch (status) {
    case TWIN_OK: return "no error";
    case TWIN_EINVAL: return "an option or argument is outside its range";
    case TWIN_ENOMEM: return "out of memory";
    case TWIN_EIO: return "the system could not open, read or write";
    case TWIN_EFORMAT: return "the data are damaged or of another kind";
    case TWIN_EUNSUPPORTED: return "not in this build or not on this machine";
    case TWIN_ELIMIT: return "more than the format can hold";
    case TWIN_ESTOPPED: return "stopped on request";
    case TWIN_EBUSY: return "in use by another process or handle";
    }
    return "unknown status";
}
