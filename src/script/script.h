// Space files and templates: guarded Lua that becomes a `struct space`, an operation, and GLSL
// text.
//
//     struct script *s = script_create(&options, e);   runs the space file; file:line: what (hint)
//     script_space(s), script_operation(s)             what it declares, owned by the script
//     script_render(s, &config, &job, e)               one candidate: values -> templates -> GLSL
//     script_destroy(s);
//
// The guard: a space file and a template see nothing but what is handed to them. No files,
// processes, network, bytecode, pattern matching, randomness or clock; `pairs` is sorted; memory
// and instructions are limited in loading, in rules and in templates. So the same text, sizes and
// device give the same space everywhere.
//
// A script remembers every text it read (script_texts): a session stores them and is resumed from
// them, whatever has happened to the files since. One thread per script, but that the rules of its
// space may be asked from any, also while it renders: they take turns.
#ifndef TILEWALK_SCRIPT_SCRIPT_H
#define TILEWALK_SCRIPT_SCRIPT_H

#include "kernel/job.h"
#include "script/text.h"
#include "space/nest.h"
#include "space/operation.h"
#include "space/space.h"

struct setting { // --set name=value
    const char *name, *value;
};

struct script_options {
    const char *path;          // the space file
    const struct setting *set; // overrides of size(), number() and choice(); an unknown name is an
                               // error with a suggestion
    int set_count;
    const char *device_type;     // "cpu", "discrete", ..., or "none": what `device.type` says
    const struct limits *limits; // what `device.*` says; NULL: limits_vulkan_minimum
    // Where included files and templates come from. NULL: the folder of the space file, then the
    // shipped lua/, shaders/ and presets/ folders. Else exactly these texts, the first being the
    // space file (resuming a session).
    const struct script_text *texts;
    int text_count;
    // Only its space is wanted: a file without operator or kernel will do, and nothing is rendered.
    bool space_only;
};

// A size(), number(), choice() or folder(), and what it is now: as --set would say it.
struct script_setting {
    const char *name;
    const char *value, *standard; // "1024", "0.5", "f16"
    const char *const *values;    // of a choice, NULL-terminated; NULL: a number
    bool is_whole;                // of a size
    bool is_folder;               // its value is a path; "": none was named
};

struct script;

struct script *script_create(const struct script_options *o, struct err *e);
void script_destroy(struct script *s);

const struct space *script_space(const struct script *s);
// What nest() declared, NULL when nothing; the space's `nest` too.
const struct nest *script_nest(const struct script *s);
struct program;
// How what the file defines is computed (define/program.h); NULL: its kernels are templates.
const struct program *script_program(const struct script *s);
// Complete; its kind is NULL where only the space was wanted and no operator is declared.
const struct operation *script_operation(const struct script *s);
// The kernel that computes what is right for an operation that is defined by one; else no passes.
const struct job *script_reference(const struct script *s);
const struct script_setting *script_settings(const struct script *s, int *count);
// NULL when there is none of that name.
const struct script_setting *script_find_setting(const struct script *s, const char *name);
const struct script_text *script_texts(const struct script *s, int *count); // in order of first use

// Renders all passes of a candidate that satisfies the constraints. `job` is filled for the caller
// (job_finish). Errors name the template's line.
bool script_render(struct script *s, const struct config *c, struct job *job, struct err *e);

// What is known of a configuration that is to be written so.
struct script_found {
    const char *told; // how it was measured, against what: Markdown
    int shapes;       // that it is for
    const struct script_shape {
        const struct setting *set; // what this shape sets, beside what the script was given
        int count;
    } * shape;
};

// A configuration in the words of another program, as export(name, ...) of the space file makes it;
// the function gets what was found as well (NULL: nil).
// FORM_MADE: `out` has the text; FORM_NONE: the configuration has no such form, `out` says why;
// FORM_FAILED: there is no form of that name, or its function failed.
enum script_form { FORM_FAILED, FORM_NONE, FORM_MADE };
enum script_form script_export(struct script *s, const char *name, const struct config *c,
                               const struct script_found *found, struct str *out, struct err *e);

// Resolves a name to a path: a file that exists, else the shipped presets/NAME.lua. Heap, the
// caller's; NULL and `e` (with a suggestion among the presets) when there is none.
char *script_find(const char *name, struct err *e);
char *script_find_shipped(const char *name, struct err *e); // the same, but for files
char **script_presets(int *count); // sorted names of all shipped presets; heap, each and the array
// The same for those of shaders that are not ours, and do not ship: presets/foreign.
char **script_foreign_presets(int *count);

#endif
