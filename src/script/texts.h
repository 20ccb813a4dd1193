// The texts of a script: every file that it read, in order of first use.
//
//     texts_open(&t, path, NULL, 0, e)      reads the space file: item[0]
//     texts_read(&t, &request, e)           index of another one; a file is read once
//     texts_finish(&t)
//
// A name is relative and stays below the folders that are looked in: the space file's own, where a
// text is called by the bare name ("gemm.lua"), then one of the shipped folders, where it is called
// "lua/gemm.lua". A file that is being run is passed over: presets/gemm.lua can include
// lua/gemm.lua as "gemm.lua". With pinned texts (resuming a session) the same names are looked for
// among them, and no file is read at all. A folder that the user names has a name of its own: below
// it names are looked for in that folder, not in the space file's.
//
// The space file is what the user says it is, a pipe too. What it names is a regular file that lies
// below these folders, wherever links lead: a folder of strangers cannot show what is elsewhere.
#ifndef TILEWALK_SCRIPT_TEXTS_H
#define TILEWALK_SCRIPT_TEXTS_H

#include "base/err.h"
#include "script/text.h"

#include <stddef.h>

#define TEXTS_MAX_BYTES (1 << 20) // of one file
#define TEXTS_MOST      64        // files of one space

#define TEXTS_MAX_NAMED 4

struct texts {
    struct script_text *item; // the strings are ours
    int count, capacity;
    char *folder; // of the space file
    struct texts_named {
        const char *name, *path; // NAME/x is the file x in there, wherever the space file lies
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

// `pinned` (NULL: files are read): exactly these, the first being the space file.
bool texts_open(struct texts *t, const char *path, const struct script_text *pinned, int count,
                struct err *e);
// The index of a text; negative when there is none, then `e` has no place. SPIR-V becomes text that
// begins with JOB_SPIRV.
#define TEXTS_UNREADABLE (-2) // it is there, and cannot be read or taken
int texts_read(struct texts *t, const struct texts_request *r, struct err *e);
// What the bytes of a file are as a text, which is the caller's; takes them over. NULL and `e`:
// nothing that can be one.
char *texts_from_bytes(const char *path, char *bytes, size_t length, struct err *e);
void texts_finish(struct texts *t);
bool texts_is_contained(const char *name); // relative, and no step leads up

#endif
