// The scaffold of a space file for a shader that others wrote. The shader is only read as text: it
// cannot be compiled before somebody has defined its macros. So the scaffold is a guess where
// macros build declarations, and people review it.
//
//     struct scaffold o;
//     scaffold_read(&o, "mul_mm.comp", folders, count, e);
//     scaffold_check(&o, "mul_mm.comp", e);
//     scaffold_add_space(&o, &use, &lua);                            the space file
//     scaffold_finish(&o);
//
// Code behind #if counts as present when the condition holds with the macros that the files define
// themselves.
#ifndef TILEWALK_SCRIPT_SCAFFOLD_H
#define TILEWALK_SCRIPT_SCAFFOLD_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct scaffold_name {
    const char *text, *note;
};

struct scaffold_names {
    struct scaffold_name *item;
    int count, capacity;
};

struct scaffold_constant { // a specialization constant
    const char *name, *type, *standard;
    int64_t id;        // -1: unknown
    const char *where; // the condition that does not hold, or NULL
};

struct scaffold_buffer {
    const char *name, *type; // the name of its block, the type of the first member
    int64_t set, binding;    // -1: unknown; of a buffer that is reached by its address
    bool is_read_only, is_write_only;
    bool is_read, is_written;   // by the code, as far as its words tell
    const char *word;           // that the code has for it: its instance, else its first member
    const char *image, *format; // the type of an image or texel buffer, and its format; NULL: none
    int64_t count;              // of an array; else 1
    bool by_address;
    const char *where;
};

struct scaffold_block { // a uniform block
    const char *name;
    int64_t set, binding; // -1: unknown
    const char *where;
};

struct scaffold_field { // a push constant, or a member of a uniform block
    const char *name, *type;
    int block;      // -1: it is a push constant
    int64_t offset; // -1: behind the one before
    const char *where;
};

struct scaffold {
    struct arena arena;
    struct scaffold_constant *constant;
    struct scaffold_buffer *buffer;
    struct scaffold_field *field;
    struct scaffold_block *block;
    int constant_count, constant_capacity, buffer_count, buffer_capacity, field_count,
        field_capacity, block_count, block_capacity;
    struct scaffold_names files;   // files that were read
    struct scaffold_names missing; // included files that were not found
    struct scaffold_names asked;   // macros that conditions ask for; note: a default, or NULL
    struct scaffold_names defined; // macros of the files; note: their values
    struct scaffold_names host;    // types, functions, numbers and formats that are defined nowhere
    struct scaffold_names elsewhere; // macros that files define behind a condition that fails
    struct scaffold_names other;     // resources that cannot be bound here; note: their types
    const char *size[3];             // of a workgroup, as written; NULL: not given
    int64_t size_id[3];              // their constants; -1: none
    bool is_cut;                     // there is more code than is read
};

bool scaffold_read(struct scaffold *o, const char *path, const char *const *folder, int folders,
                   struct err *e);
// The same for a text that was read from that path.
void scaffold_read_text(struct scaffold *o, const char *path, const char *text,
                        const char *const *folder, int folders);
#define SCAFFOLD_MAX_BUFFERS 16
#define SCAFFOLD_ANY_NUMBER  "number"  // the note of a number that a host's macro says
#define SCAFFOLD_ANY_FORMAT  "rgba32f" // the note of a format that a host's macro says

// The space file.
struct scaffold_use {
    const char *shader, *const *folder; // as the space file names them
    int folders;
    bool by_setting;           // they lie in the folder that --set shaders= names
    const char *operator_text; // its sizes and operator, of a preset; NULL: a person says them
    const char *buffer[SCAFFOLD_MAX_BUFFERS]; // of that operator: its inputs, then its outputs
    int inputs, outputs;
};
void scaffold_add_space(const struct scaffold *o, const struct scaffold_use *use, struct str *out);
// Fails for a resource that the shader has and that cannot be bound, at its line.
bool scaffold_check(const struct scaffold *o, const char *path, struct err *e);
void scaffold_finish(struct scaffold *o);

#endif
