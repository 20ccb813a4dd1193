// Files and folders, and the places where tilewalk keeps and finds things.
//
// Reading takes a whole file, writing replaces a whole file: a reader of `path` sees the old or the
// new content, never a part, and a full disk leaves the old one. What belongs to the user lies
// where the XDG Base Directory Specification says; what ships with tilewalk is found by
// path_shipped. Every `char *` that comes back is a heap string of the caller.
#ifndef TILEWALK_BASE_FILE_H
#define TILEWALK_BASE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Reads a whole file of at most 256 MiB, pipes and /proc too. `*text` is NUL-terminated and owned
// by the caller; `length` may be NULL.
bool file_read(const char *path, char **text, size_t *length, struct err *e);

// Reads a text that strangers have named: a regular file of at most `most` bytes that lies below
// one of `folders`, wherever links lead (os_open_text). Errors do not name the path.
bool file_read_below(const char *path, const char *const *folders, size_t most, char **text,
                     size_t *length, struct err *e);

// Writes to a temporary neighbour, syncs, renames.
bool file_write(const char *path, const void *bytes, size_t length, struct err *e);

// Its two halves, for files that belong together: stage them all, then put them all. file_stage
// returns the path of the temporary neighbour (heap), synced; NULL: nothing is left of it.
// file_put renames it; when it cannot, or is not called, the caller unlinks the temporary.
char *file_stage(const char *path, const void *bytes, size_t length, struct err *e);
bool file_put(const char *path, const char *temporary, struct err *e);

bool file_exists(const char *path);
bool file_is_folder(const char *path);                   // through links, too
bool file_is_regular(const char *path);                  // no folder, pipe or device; through links
bool file_make_folders(const char *path, struct err *e); // like mkdir -p

// As file_write, for content that is too large to be held at once. `produce` writes it to `out` and
// returns whether it could; it need not look at the stream's errors, which are checked at the end.
bool file_write_stream(const char *path, bool (*produce)(void *context, FILE *out), void *context,
                       struct err *e);

// A number that changes when the file at `path` is written, replaced, removed or put back. For one
// number of several files, pass the result for the previous ones as `before`, and 0 for the first.
uint64_t file_stamp(const char *path, uint64_t before);

// A number that tells the file at `path` from another one that takes its place; 0: there is none.
// What is written into it does not change it.
uint64_t file_identity(const char *path);

char *path_join(const char *folder, const char *name);
char *path_folder(const char *path);     // "a/b.c" -> "a", "b.c" -> "."
const char *path_name(const char *path); // points into `path`: "a/b.c" -> "b.c"
char *path_stem(const char *path);       // "a/b.c" -> "b"

char *path_user_data(const char *name);   // $XDG_DATA_HOME or ~/.local/share, then /tilewalk/name
char *path_user_state(const char *name);  // $XDG_STATE_HOME or ~/.local/state, then /tilewalk/name
char *path_user_config(const char *name); // $XDG_CONFIG_HOME or ~/.config, then /tilewalk/name

// Sets HOME, where it is not set, to the user's home folder in the list of users. To be called
// before a sandbox is entered: path_user_* would look there, and the sandbox hides that list.
void path_keep_home(void);

// A file that ships with tilewalk ("presets/mm.lua", "shaders/gemm.comp", "lua/matmul.lua"): looked
// for below $TILEWALK_DATA, then below <program's folder>/.. (running in place from build/), then
// below its share/tilewalk (installed, wherever to), then below the configured data folder. NULL
// when it is nowhere.
char *path_shipped(const char *name);

char *path_program(void); // the running program itself

#endif
