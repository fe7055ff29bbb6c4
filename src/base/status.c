/* status.c — a description of each status. */
#include <twinsift/status.h>

const char *twin_status_text(twin_status status)
{
    switch (status) {
    case TWIN_OK: return "no error";
    case TWIN_EINVAL: return "invalid option or argument";
    case TWIN_ENOMEM: return "out of memory";
    case TWIN_EIO: return "opening, reading or writing failed";
    case TWIN_EFORMAT: return "the data are damaged or of another format";
    case TWIN_EUNSUPPORTED: return "not supported by this build or machine";
    case TWIN_ELIMIT: return "more than the format or the type can hold";
    case TWIN_ESTOPPED: return "stopped by the caller";
    case TWIN_EBUSY: return "in use by another process or handle";
    }
    return "unknown status";
}
