// What a shader that others wrote asks for, read from its text alone: nothing is compiled, as
// nothing can be before somebody has said what its macros are. So it is a guess where macros build
// declarations, and people look over what is made of it.
//
//     struct outline o;
//     outline_read(&o, "mul_mm.comp", folders, count, e);
//     outline_add_space(&o, "mul_mm.comp", folders, count, &lua);   a space file to begin with
//     outline_finish(&o);
//
// What stands behind #if counts as there when the condition holds with the macros that the files
// define themselves, and no others.
#ifndef TILEWALK_SCRIPT_OUTLINE_H
#define TILEWALK_SCRIPT_OUTLINE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct outline_name {
    const char *text, *note;
};

struct outline_names {
    struct outline_name *item;
    int count, capacity;
};

struct outline_constant { // of specialization
    const char *name, *type, *standard;
    int64_t id;        // -1: not known
    const char *where; // the condition that does not hold, or NULL
};

struct outline_buffer {
    const char *name, *type; // of its block, of its first member
    int64_t binding;         // -1: not known
    bool is_read_only;
    const char *where;
};

struct outline_field { // of the push constants
    const char *name, *type;
    const char *where;
};

struct outline {
    struct arena arena;
    struct outline_constant *constant;
    struct outline_buffer *buffer;
    struct outline_field *field;
    int constant_count, constant_capacity, buffer_count, buffer_capacity, field_count,
        field_capacity;
    struct outline_names files;   // that were read
    struct outline_names missing; // files that are included and not found
    struct outline_names asked;   // macros that #if, #ifdef ask for; note: a standard, or NULL
    struct outline_names defined; // by the files; note: what they are
    struct outline_names host;    // used as types or functions, and defined nowhere
    struct outline_names other;   // what cannot be bound here
    const char *size[3];          // of a workgroup, as written; NULL: not said
    int64_t size_id[3];           // -1: no constant
};

bool outline_read(struct outline *o, const char *path, const char *const *folder, int folders,
                  struct err *e);
// The same of a text that was read from there.
void outline_read_text(struct outline *o, const char *path, const char *text,
                       const char *const *folder, int folders);
// `shader` and `folder` as the space file names them.
void outline_add_space(const struct outline *o, const char *shader, const char *const *folder,
                       int folders, struct str *out);
void outline_finish(struct outline *o);

#endif
