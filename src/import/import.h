// Models and logs of other programs, as network files.
//
//     if (!import_detect(path, &format, e)) ...       NULL: none of ours (a recording, perhaps)
//     struct imported m;
//     bool ok = import_run(format, &request, &m, e);
//     m.text                                         the network file (script/network.h)
//     imported_finish(&m);                              in any case
//
// Readers check every size in a file against the file's own. Errors name the file and the part of
// it that is wrong.
#ifndef TILEWALK_IMPORT_IMPORT_H
#define TILEWALK_IMPORT_IMPORT_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "script/script.h"

struct import_request {
    const char *path;
    const char
        *out; // where the network file will be, what belongs to it goes beside; NULL: nowhere
    const struct setting *set; // what --set says, to be understood in full
    int set_count;
    const char *data; // a folder with input_0.pb, output_0.pb, ... as ONNX keeps them; NULL: none
    bool replaces;    // files that are there
};

struct imported {
    struct str text;   // the network file
    const char *about; // what was read, one line
    const char **note; // what is left out of it and why, a line each
    int note_count, note_capacity;
    struct arena arena; // of about and notes
    // ours
    const char *beside, *former; // a file that was written beside it, and what it was before
};

struct import_format {
    const char *name; // "GGUF"
    // Whether a file that begins with these bytes, which end with a NUL, is of this format.
    bool (*detects)(const char *begin, size_t length);
    bool (*imports)(const struct import_request *r, struct imported *out, struct err *e);
};

bool import_detect(const char *path, const struct import_format **out, struct err *e);
bool import_run(const struct import_format *f, const struct import_request *r, struct imported *out,
                struct err *e);
void imported_finish(struct imported *m);
// Undoes what was written beside the network file: the former file is there again, or none. To be
// called before imported_finish.
void imported_undo(struct imported *m);

// For formats.
extern const struct import_format import_gguf, import_onnx, import_perf_log;
// A format calls this before it writes a file beside the network file, so that it can be undone.
bool import_beside(struct imported *m, const char *path, struct err *e);
void import_note(struct imported *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
