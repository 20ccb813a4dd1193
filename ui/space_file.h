// The space file of a session on disk, compared with the texts that the session runs on.
//
//     struct space_file f = {0};
//     if (space_file_poll(&f, &basis, now)) redraw;       looks once a second
//     space_file_read(&f, &basis);                        reads in any case
//     space_file_finish(&f);
//
// A session never changes its space: it keeps the texts that it was started with. A new version of
// the file is for new sessions only. This finds out that there is one, what it changes, or where
// its error is. The space file and all that it includes are watched (time of change, size and inode
// of each, so that replacing by rename is seen as well); when one of them changes, all of it is
// loaded into a fresh guarded Lua state, with the session's device and sizes, and compared with the
// session's texts. A new version has to work as well: its rules are evaluated on points that reach
// them, and one candidate is compiled (attempt.h).
//
// No view, no clock: `now` is the caller's, in seconds. Loading takes milliseconds, compiling some
// tens. One thread. A zeroed `struct space_file` is new; finish it when another session is opened.
#ifndef TILEWALK_UI_SPACE_FILE_H
#define TILEWALK_UI_SPACE_FILE_H

#include "engine/engine.h"

enum space_file_state {
    SPACE_FILE_UNREAD,
    SPACE_FILE_SAME,   // as the session has it
    SPACE_FILE_NEW,    // another one, which loads: `size`, `difference`
    SPACE_FILE_BROKEN, // another one, which does not load or compile: `error`, `around`
    SPACE_FILE_GONE,
    SPACE_FILE_CLOSED // it is there, but not for this process
};

// The session's side of the comparison: all of it is the caller's, for the time of a call.
struct space_file_basis {
    const char *path;
    const char *device_type;
    const struct limits *limits; // NULL: none are known
    const struct script *script; // of the session; NULL: its texts do not load
};

#define SPACE_FILE_AROUND 2 // lines before and after the one with the error

struct space_file {
    enum space_file_state state;
    double looked;        // `now` of the last look
    double changed;       // unix time at which the file was written, as far as there is one
    struct script *fresh; // SPACE_FILE_NEW: what it is now
    char size[64];        // of the space as it is now, decimal
    char legal[64];       // its legal points, decimal; "" where they are not counted
    char difference[240]; // from the session's, a line
    char text[256];       // SPACE_FILE_NEW: the path of the first text that differs
    struct err error;
    char around[2 * SPACE_FILE_AROUND + 1][160]; // the middle one is the one with the error
    char **watched;                              // paths
    int watched_count, watched_capacity;
    uint64_t stamp; // of all that is watched, as it was last read
};

// Looks at the files once a second. True when they were read again: every member may have another
// value then.
bool space_file_poll(struct space_file *f, const struct space_file_basis *b, double now);
void space_file_read(struct space_file *f, const struct space_file_basis *b);
void space_file_finish(struct space_file *f);

// Returns why there is no new version that a session could use, as part of a sentence; NULL if
// there is one.
const char *space_file_no_new(const struct space_file *f);
// Returns the path of the file that changed, or where its error is; else that of the space file.
const char *space_file_changed(const struct space_file *f, const struct space_file_basis *b);
// Returns the line for an editor: that of the error, else the one where the present file declares
// the parameter (may be NULL). `*path` is `b`'s or f's.
int space_file_place(const struct space_file *f, const struct space_file_basis *b,
                     const struct param *p, const char **path);

#endif
