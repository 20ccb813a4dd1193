// Files as they are: plain, gzip (also several members), xz (also several streams).
//
// The first bytes decide the type of a file, not its name. A compressed file that ends early or is
// damaged is refused with the byte where that shows; one that grows too much is refused, too:
// recordings shrink by a factor of 5 to 100.
#ifndef TILEWALK_RECORD_UNPACK_H
#define TILEWALK_RECORD_UNPACK_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct unpack_bound {
    size_t most;  // bytes, unpacked
    size_t free;  // up to here any ratio is fine
    size_t ratio; // unpacked to packed
};
extern const struct unpack_bound unpack_standard; // 1 GiB; 64 MiB; 400

// `*text` is the caller's, ends with a NUL and has room for three bytes past `*length`.
bool unpack_file(const char *path, const struct unpack_bound *bound, char **text, size_t *length,
                 struct err *e);

// Several files as one .tar.xz.
//
//     struct str tar = {0};
//     pack_add(&tar, "report/report.md", text, length);
//     pack_write(&tar, "report.tar.xz", e); str_finish(&tar);
//
// A tar archive (POSIX.1-1988, "ustar") is a header of 512 bytes for each file, the file, zeros up
// to the next 512 bytes; two blocks of zeros end it. It has no owners and times: the same files
// make the same archive.

// `name` has less than 100 bytes.
void pack_add(struct str *tar, const char *name, const void *bytes, size_t length);
// Ends the archive and writes it, as file_write does.
bool pack_write(struct str *tar, const char *path, struct err *e);

#endif
