// The texts of a script: every file that it read, in order of first use.
//
//     texts_open(&t, path, NULL, 0, e)      reads the space file: item[0]
//     texts_read(&t, &request, e)           the index of another one; a file is read once
//     texts_finish(&t)
//
// A name is relative. It is looked for below the space file's folder, where the text has the bare
// name ("gemm.lua"), then below one of the shipped folders, where it has the name "lua/gemm.lua". A
// file that is being run is skipped: presets/gemm.lua can include lua/gemm.lua as "gemm.lua". With
// pinned texts (resuming a session) the names are looked for among them, and no file is read. A
// folder that the user names has a name of its own; names below it are looked for in that folder.
//
// The space file may be any file, a pipe too. The files that it names are regular files below these
// folders, links resolved: a folder of strangers cannot show other files of the user.
#ifndef TILEWALK_SCRIPT_TEXTS_H
#define TILEWALK_SCRIPT_TEXTS_H

#include "base/err.h"

#include <stddef.h>

#define TEXTS_MAX_BYTES (1 << 20) // of one file
#define TEXTS_MOST      64        // files of one space

#define TEXTS_MAX_NAMED 4

// A file as it was read. Sessions store it and make the script from it again.
struct script_text {
    const char *name; // unique: "gemm.lua" in the space file's folder, "lua/gemm.lua" if shipped
    const char *path; // where it was found, for messages
    const char *text;
};

struct texts {
    struct script_text *item; // owns its strings
    int count, capacity;
    char *folder; // of the space file
    struct texts_named {
        const char *name, *path; // NAME/x is the file x in the folder `path`
    } named[TEXTS_MAX_NAMED];
    int named_count;
    const struct script_text *pinned; // NULL: read files
    int pinned_count;
};

struct texts_request {
    const char *name;
    const char *shipped_folder; // "lua", "presets" or "shaders"; NULL: only the space file's
    const int *open;            // texts being run
    int open_count;
};

// `pinned` (NULL: files are read) are all texts; the first is the space file.
bool texts_open(struct texts *t, const char *path, const struct script_text *pinned, int count,
                struct err *e);
// Returns the index of a text; negative when there is none, and `e` has no place then. SPIR-V
// becomes text that begins with JOB_SPIRV.
#define TEXTS_UNREADABLE (-2) // it exists and cannot be read or used
int texts_read(struct texts *t, const struct texts_request *r, struct err *e);
// Returns the bytes of a file as a text, which the caller owns; takes over the bytes. NULL: they
// are no text.
char *texts_from_bytes(const char *path, char *bytes, size_t length, struct err *e);
void texts_finish(struct texts *t);
bool texts_is_contained(const char *name); // relative and without ".."

#endif
