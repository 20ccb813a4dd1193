// Several files as one .tar.xz.
//
//     struct str tar = {0};
//     pack_add(&tar, "report/report.md", text, length);
//     pack_write(&tar, "report.tar.xz", e); str_finish(&tar);
//
// A tar archive (POSIX.1-1988, "ustar") is a header of 512 bytes for each file, the file, zeros up
// to the next 512 bytes; two blocks of zeros end it. Who owns the files, and when they were
// written, it does not say: the same files make the same archive.
#ifndef TILEWALK_RECORD_PACK_H
#define TILEWALK_RECORD_PACK_H

#include "base/err.h"
#include "base/str.h"

// `name` has less than 100 bytes.
void pack_add(struct str *tar, const char *name, const void *bytes, size_t length);
// Ends the archive and writes it, as file_write does.
bool pack_write(struct str *tar, const char *path, struct err *e);

#endif
