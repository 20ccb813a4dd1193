// What an export says on stdout: the files that were written, or would be.
#ifndef TILEWALK_EXPORT_TELL_H
#define TILEWALK_EXPORT_TELL_H

#include "export/export.h"
#include "export/reverify.h"
#include "report/kernel_files.h"

struct export_told {
    const struct export_request *request;
    const char *folder;
    const struct session_record *session;
    const struct kernel_files *files;
    const struct reverified *kernel; // in the order of the files
    int kernels;
};

void export_tell(const struct export_told *t);

// Whether `file` is one of kernel NAME's.
bool export_is_file_of(const char *file, const char *name);

#endif
