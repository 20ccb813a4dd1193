// Space files and templates: guarded Lua that becomes a `struct space`, an operation, and GLSL
// text.
//
//     struct script *s = script_create(&options, e);   runs the space file; file:line: what (hint)
//     script_space(s), script_operation(s)             its declarations, owned by the script
//     script_render(s, &config, &job, e)               one candidate: values -> templates -> GLSL
//     script_destroy(s);
//
// The guard: a space file and a template see only what the script passes to them. They have no
// files, processes, network, bytecode, pattern matching, randomness or clock; `pairs` is sorted;
// memory and instructions are limited. So the same text, sizes and device give the same space
// everywhere.
//
// A script keeps every text it read (script_texts): a session stores them and is resumed from them,
// even when the files have changed. One thread uses a script, but any thread may evaluate the rules
// of its space, also while it renders: the calls run one after the other.
#ifndef TILEWALK_SCRIPT_SCRIPT_H
#define TILEWALK_SCRIPT_SCRIPT_H

#include "kernel/job.h"
#include "script/texts.h"
#include "space/nest.h"
#include "space/operation.h"
#include "space/space.h"

struct setting { // --set name=value
    const char *name, *value;
};

struct script_options {
    const char *path;          // the space file
    const struct setting *set; // overrides of settings; an unknown name is an error with a
                               // suggestion
    int set_count;
    const char *device_type;     // `device.type`: "cpu", "discrete", ..., or "none"
    const struct limits *limits; // the values of `device.*`; NULL: limits_vulkan_minimum
    // The texts of a stored session, the space file first. NULL: included files and templates come
    // from the folder of the space file, then from the shipped folders lua/, shaders/ and presets/.
    const struct script_text *texts;
    int text_count;
    // Only the space is needed: the file may lack an operator or a kernel, and nothing is rendered.
    bool space_only;
};

// A size(), number(), choice() or folder() with its value, written like a --set value.
struct script_setting {
    const char *name;
    const char *value, *standard; // "1024", "0.5", "f16"
    const char *const *values;    // of a choice, NULL-terminated; else NULL
    bool is_whole;                // of a size
    bool is_folder;               // its value is a path; "": none was given
};

// The work of a run where nothing is known of it: fitness is the value of a maximised objective.
#define OBJECTIVE_WORK 1e12

struct script;

struct script *script_create(const struct script_options *o, struct err *e);
void script_destroy(struct script *s);

const struct space *script_space(const struct script *s);
struct program;
// The program of a definition (define/program.h); NULL: the kernels are templates.
const struct program *script_program(const struct script *s);
// The objective of a space without a kernel (space/objective.h); NULL: it has kernels.
const char *script_objective(const struct script *s);
// Complete. Its kind is NULL where only the space was needed and no operator is declared. That of a
// space without a kernel has no tensors; its FLOP are OBJECTIVE_WORK, which counts nothing.
const struct operation *script_operation(const struct script *s);
// The reference kernel of an operation that is defined by one; else it has no passes.
const struct job *script_reference(const struct script *s);
const struct script_setting *script_settings(const struct script *s, int *count);
// NULL: there is none of that name.
const struct script_setting *script_find_setting(const struct script *s, const char *name);
const struct script_text *script_texts(const struct script *s, int *count); // in order of first use

// Renders all passes of a candidate that satisfies the constraints. `job` is filled for the caller
// (job_finish). Errors name the template's line.
bool script_render(struct script *s, const struct config *c, struct job *job, struct err *e);

// The results of a session for a configuration that is exported.
struct script_found {
    const char *told;            // how it was measured, in Markdown
    const char *device, *driver; // names
    int shapes;
    const struct script_shape {
        const struct setting *set; // the settings of this shape, beside those of the script
        int count;
    } * shape;
};

struct form_use {
    const char *form; // a name
    const struct config *config;
    const struct script_found *found; // NULL: nil
};

// Writes a configuration for another program by the function of export(name, ...) in the space
// file. FORM_MADE: `out` is the text. FORM_NONE: the
// configuration has no such form, `out` is the reason. FORM_FAILED: there is no export of that
// name, or its function failed.
enum script_form { FORM_FAILED, FORM_NONE, FORM_MADE };
enum script_form script_export(struct script *s, const struct form_use *use, struct str *out,
                               struct err *e);

// The other program's own source file, in which the form can be put in place.
struct script_host {
    const char *const *file; // where it may lie in a checkout, ended by NULL; NULL: there is none
    const char *test;        // how that program tests the change; may be NULL
};
struct script_host script_host(const struct script *s, const char *form);
// Edits the text of that file by the function of the form, which gets its lines: `out` is the new
// text (FORM_MADE), or why it cannot be edited (FORM_NONE).
struct host_text {
    const char *text, *original; // with the edits of other sessions, and without
};
enum script_form script_edit(struct script *s, const struct form_use *use,
                             const struct host_text *h, struct str *out, struct err *e);

// Returns the path of a name, for the caller to free: a file that exists, else the user's own
// presets/NAME.lua in the data folder, else the shipped one. NULL: there is none, and `e` suggests
// a preset.
char *script_find(const char *name, struct err *e);
char *script_find_shipped(const char *name, struct err *e); // only shipped presets
char *script_find_own(const char *name); // only the user's, also a network; NULL: there is none
char **script_own_presets(int *count);   // their names, without networks, as script_presets
// Returns true for a file that ships with the program, which nobody is to edit. `*copy` is the path
// of the user's copy of a preset, network or template, which need not exist; NULL: it has none.
// Heap.
bool script_is_shipped(const char *path, char **copy);
char **script_presets(int *count); // sorted names of all shipped presets; heap, each and the array
// The same for presets of foreign shaders, which are not shipped: presets/foreign.
char **script_foreign_presets(int *count);

#endif
