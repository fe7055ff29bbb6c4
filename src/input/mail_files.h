/* mail_files.h — which files of a folder are mail. */
#ifndef TWIN_INPUT_MAIL_FILES_H
#define TWIN_INPUT_MAIL_FILES_H

#include "input/folder_list.h"

/* Removes from the list what is not mail: of a Maildir everything but the messages in cur/ and new/, of these drafts
 * and those marked for deletion (flags D and T), and files whose names begin with a dot. */
twin_status twin__mail_files(struct folder *files);

#endif
