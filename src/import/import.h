// Models and logs of other programs, as network files.
//
//     if (!import_detect(path, &format, e)) ...       NULL: no known format, perhaps a recording
//     struct imported m;
//     bool ok = import_run(format, &request, &m, e);
//     m.text                                         the network file (script/network.h)
//     imported_read(&m, "net.lua", &network, e)      what is in it
//     imported_finish(&m);                              in any case
//
// Readers compare every size in a file with the size of the file. What constants grow to is
// computed before any is written. Errors name the file and the part
// of it that is wrong.
#ifndef TILEWALK_IMPORT_IMPORT_H
#define TILEWALK_IMPORT_IMPORT_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "script/network.h"

struct import_request {
    const char *path;
    const char *out; // the network file; other files go beside it; NULL: it is not written
    const struct setting *set; // the settings of --set, which must all be known
    int set_count;
    const char *data;  // a folder with input_0.pb, output_0.pb, ... in the way of ONNX; NULL: none
    bool replaces;     // files that are there
    double most_bytes; // that constants may take where they are written; 0: any
};

struct imported {
    struct str text;   // the network file
    const char *about; // a description of the model, one line
    const char **note; // parts that are left out and the reasons, a line each
    int note_count, note_capacity;
    double constants_bytes; // that constants take where they are written
    struct arena arena;     // of about and notes
    // internal
    const char *beside, *former; // a file that was written beside it, and the former one
};

struct import_format {
    const char *name; // "GGUF"
    // Returns whether a file that begins with these bytes, which end with a NUL, is of this format.
    bool (*detects)(const char *begin, size_t length);
    bool (*imports)(const struct import_request *r, struct imported *out, struct err *e);
    // Returns whether both files are parts of one model: importing one imports the other; NULL: no.
    bool (*is_part)(const char *path, const char *other);
};

bool import_detect(const char *path, const struct import_format **out, struct err *e);
bool import_run(const struct import_format *f, const struct import_request *r, struct imported *out,
                struct err *e);
// Reads the network file as `check` would read it from `file`, which it becomes. The caller
// finishes `out` in any case.
bool imported_read(const struct imported *m, const char *file, struct network *out, struct err *e);
void imported_finish(struct imported *m);
// Removes the file that was written beside the network file and restores the former one. Call it
// before imported_finish.
void imported_undo(struct imported *m);

// For formats.
extern const struct import_format import_gguf, import_onnx, import_perf_log;
// A format calls this before it writes a file beside the network file, so that it can be undone.
bool import_beside(struct imported *m, const char *path, struct err *e);
// A format calls this before it writes constants, with what all of them take. False: too much.
bool import_may_write(struct imported *m, const struct import_request *r, double bytes,
                      struct err *e);
void import_note(struct imported *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Names of other programs as words that network files can hold.
char words_plain(char c); // `c` if it is a letter, a digit, '.' or '-'; else '_'
// Appends a text that can stand in quotes; blanks are kept, and a long text is cut.
void words_add_plain(struct str *s, const char *text);
// Returns the element as which weights of this type are tuned: f16 for types that presets do not
// take.
const char *words_element(const char *type);

#endif
