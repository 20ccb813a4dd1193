// Files and folders, and the places where tilewalk stores and finds them.
//
// Reading takes a whole file, writing replaces a whole file: a reader of `path` sees the old or the
// new content, never a part, and a full disk leaves the old one. What a killed process leaves
// beside `path` is removed when `path` is written again. The user's files are in the places of the
// XDG Base Directory Specification; path_shipped finds files that ship with tilewalk. Every `char
// *` that is returned is a heap string of the caller.
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

// Reads a file with an untrusted name: a regular file of at most `most` bytes that lies below
// one of `folders` once all links are resolved (os_open_text). Errors do not name the path.
bool file_read_below(const char *path, const char *const *folders, size_t most, char **text,
                     size_t *length, struct err *e);

// Returns the trouble with a text that begins with a byte-order mark, which nothing here reads;
// NULL: it has none.
const char *file_byte_order_mark(const char *bytes, size_t length);

// Writes to a temporary neighbour, syncs, renames.
bool file_write(const char *path, const void *bytes, size_t length, struct err *e);

// The two halves of file_write, for files that belong together: stage them all, then put them all.
// file_stage returns the path of the temporary neighbour (heap), synced; NULL: nothing is left of
// it. file_put renames it; when that fails, or is not called, the caller unlinks the temporary.
char *file_stage(const char *path, const void *bytes, size_t length, struct err *e);
bool file_put(const char *path, const char *temporary, struct err *e);

bool file_exists(const char *path);
bool file_is_folder(const char *path);                   // through links, too
bool file_is_regular(const char *path);                  // no folder, pipe or device; through links
bool file_make_folders(const char *path, struct err *e); // like mkdir -p

// Like file_write, for content that is too large to be held at once. `produce` writes it to `out`
// and returns false if it fails; the stream's own errors are checked at the end. Until then the
// file has no name, where the file system can do that: nothing is left of it when the process dies.
bool file_write_stream(const char *path, bool (*produce)(void *context, FILE *out), void *context,
                       struct err *e);

// Returns a number that changes when the file at `path` is written, replaced, removed or put back.
// For one number of several files, pass the result for the previous ones as `before`, first 0.
uint64_t file_stamp(const char *path, uint64_t before);

// Returns a number that differs for another file that takes the place of the one at `path`, and
// does not change when the file is written to; 0: there is no file.
uint64_t file_identity(const char *path);

char *path_join(const char *folder, const char *name);
char *path_folder(const char *path);     // "a/b.c" -> "a", "b.c" -> "."
const char *path_name(const char *path); // points into `path`: "a/b.c" -> "b.c"
char *path_stem(const char *path);       // "a/b.c" -> "b"

// Makes a file name of any text: letters, digits, '.', '_' and '-' of ASCII stay, every other
// character becomes '-'. It begins with none of '.' and '-', and is not empty.
char *path_plain_name(const char *text);

char *path_user_data(const char *name);   // $XDG_DATA_HOME or ~/.local/share, then /tilewalk/name
char *path_user_state(const char *name);  // $XDG_STATE_HOME or ~/.local/state, then /tilewalk/name
char *path_user_config(const char *name); // $XDG_CONFIG_HOME or ~/.config, then /tilewalk/name
char *path_user_cache(const char *name);  // $XDG_CACHE_HOME or ~/.cache, then /tilewalk/name

// Sets HOME, if it is not set, to the user's home folder in the list of users. Call it before a
// sandbox is entered, which hides that list from path_user_*.
void path_keep_home(void);

// Finds a file that ships with tilewalk ("presets/mm.lua", "shaders/gemm.comp", "lua/matmul.lua"):
// below $TILEWALK_DATA, then below <program's folder>/.. (running in place from build/), then below
// its share/tilewalk (installed anywhere), then below the configured data folder. NULL when it is
// in none of them.
char *path_shipped(const char *name);

char *path_program(void); // the running program itself

#endif
