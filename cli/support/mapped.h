/* mapped.h — files that are mapped into memory and become shorter. */
#ifndef TWIN_SUPPORT_MAPPED_H
#define TWIN_SUPPORT_MAPPED_H

/* From now on a mapped file that cannot be read any more, because it was cut short or its disk failed, ends the program
 * with a sentence that names it, and status 2, instead of by a signal. */
void watch_mapped_files(const char *program);

#endif
