// The state of a script; for the files of this folder only. They are listed from the top: each
// calls only files below it.
//
//     network.c         network files, another language under the same guard
//     network_task.c    their tasks, weights and plans
//     script.c          makes and destroys a script, and sets the globals of a space file
//     find.c            presets and networks by name
//     declare_nest.c    the function of nest
//     declare_compute.c tensor, compute, output, with compute.c: expressions and stages
//     declare_operator.c  operator, and the operator as Lua sees it: `op`
//     declare.c         baseline, begin, export, derived, constraint, resources, scratch, nest
//     declare_kernel.c  kernel
//     shader.c          kernels that others wrote
//     declare_param.c   param and the five kinds
//     include.c         include, use
//     setting.c         size, number, choice, folder, and their overrides
//     render.c          constraints and resources as callbacks of the space; templates
//     given.c           macros, constants, push constants and bindings of kernels
//     view.c            the configuration as Lua sees it: `c`
//     state.c           what all files need of a script
//
// Functions of Lua are kept by reference in its registry (`int function`, LUA_NOREF: none).
#ifndef TILEWALK_SCRIPT_STATE_H
#define TILEWALK_SCRIPT_STATE_H

#include "kernel/job.h"
#include "script/guard.h"
#include "script/readonly.h"
#include "script/template.h"
#include "space/custom_operation.h"
#include "space/nest.h"
#include "space/operation.h"
#include "space/space.h"

#define SCRIPT_MAX_NESTING 16 // files that include files
#define SCRIPT_MAX_FORMS   16
#define SCRIPT_MAX_HOSTS   8 // places where the file of a host may lie
// Every new one is compared with all others:
#define SCRIPT_MAX_SETTINGS    256
#define SCRIPT_MAX_GIVEN       4096 // values that use() gives to settings, all calls together
#define SCRIPT_MAX_CONSTRAINTS 1000

struct override { // a new value of a setting
    const char *name, *text;
    bool from_user;    // from --set, not from use()
    const char *error; // NULL: it fits, or was not checked yet
};

struct rule { // a function of `c`
    struct script *script;
    const char *name; // of a constraint or a form
    struct place place;
    int function;
};

#define STAGE_MAX_FOLDERS 16

struct stage { // a kernel { }
    struct place place;
    int text;
    struct glsl_template template;
    struct str lua; // while it is compiled
    int function;   // the template's chunk
    int when, values, groups, subgroup, define, spec, push, local_size, image;
    bool once; // it packs inputs and is not timed
    struct {
        uint16_t set, binding, element; // of an array of buffers
        const char *name;               // of a buffer; NULL: it is a uniform block
        int function;                   // with its content
    } resource[JOB_MAX_BINDINGS];
    int resource_count; // 0: all buffers of the operator
    const char *address[JOB_MAX_BUFFERS];
    int address_count;
    struct {
        enum job_begin how;
        const char *name, *from;
    } begin[JOB_MAX_BUFFERS]; // how buffers begin
    int begin_count;
    const char *entry; // NULL: the only one
    // For a shader that others wrote, instead of a template:
    bool is_shader;
    const char *folder[STAGE_MAX_FOLDERS]; // folders of its includes
    int folder_count;
    size_t head_bytes; // its text up to the end of #version
    int head_lines;
    const char *preamble; // follows the macros; NULL: none
    struct str source;    // the rest with its includes; empty: it is SPIR-V
};

struct view {
    int front, storage;
    struct {
        int list;   // storage of a list value, else LUA_NOREF
        int values; // the Lua values of items or indices, else LUA_NOREF
    } param[SPACE_MAX_PARAMS];
    struct config config; // the configuration that it shows
    bool is_current;
    int watch;                  // the function that reads for `front` while it is watched
    struct rule_reads *reading; // records what is read of it; NULL: nothing does
    lua_Integer changes;        // of that configuration
};

struct defining;
struct program;
struct render;
struct script_options;
struct script_setting;

struct script {
    struct texts texts;
    struct guard guard;
    struct arena arena;
    struct space *space;

    bool is_loading;
    bool space_only;
    int nesting;
    int open_text[SCRIPT_MAX_NESTING]; // files being run, outermost first
    int modules;                       // table: index of text + 1 -> what the file returned

    struct operation operation;      // kind NULL: not declared
    int operation_table;             // the result of operator.KIND, `op` in templates
    struct custom_operation *custom; // of operator.define; NULL: the operator is built in
    struct stage reference;          // the reference kernel; function LUA_NOREF: none
    uint32_t reference_groups[3];
    struct job reference_job;
    struct script_setting *setting;
    int setting_count, setting_capacity;
    struct override *override;
    int override_count, override_capacity;
    const struct limits *limits;
    const char *device_type;
    uint32_t spirv_minor; // of the device, for jobs
    uint64_t formats;     // that it has

    struct defining *defining; // tensors and stages, while they are declared
    struct program *program;   // the kernels derived from them; NULL: there are templates

    struct network_reading *network; // of a network file, else NULL

    struct rule resources, scratch, nest;
    struct nest *loop_nest; // NULL: none is declared
    bool is_declaring_nest;
    struct stage stage[JOB_MAX_PASSES];
    int stage_count;
    struct rule form[SCRIPT_MAX_FORMS]; // export()
    struct rule_host {
        int edit; // a function; LUA_NOREF: there is no host
        const char *file[SCRIPT_MAX_HOSTS + 1];
        const char *test;
    } host[SCRIPT_MAX_FORMS]; // of each form
    int form_count;
    int baseline_params;   // parameters when the last baseline was declared
    int begin_params;      // parameters when the last points to begin with were declared
    const char *objective; // of minimize and maximize (space/objective.h); NULL: there are kernels

    struct view view;
    int scope;             // the names that every template sees
    struct render *render; // the rendering in progress
};

// The parts of script_create, also for network files: an empty script; its settings and texts, and
// `visit`, which gets the script and runs them.
struct script *script_begin(const struct script_options *o);
bool script_load(struct script *s, const struct script_options *o, lua_CFunction visit,
                 struct err *e);

struct script *script_of(lua_State *L);
// Raises an error after the space file was loaded.
struct script *script_loading(lua_State *L, const char *what);
bool script_hint(lua_State *L, const char *key);              // for readonly_words
const char *script_keep_text(lua_State *L, const char *text); // a copy in the script's arena
void script_copy_fields(lua_State *L, int from, int to);      // of one table into another
// Set a field of the table on the top.
void script_set_integer(lua_State *L, const char *name, int64_t value);
void script_set_text(lua_State *L, const char *name, const char *text);

// Functions that share one C function: each closure has its number as upvalue 1, its name as 2.
struct script_closure {
    const char *name;
    lua_CFunction function;
    int number;
};
// Adds them to the table on the top of the stack, up to one without a name.
void script_set_closures(lua_State *L, const struct script_closure *c);

// Functions of the language: each adds its names to the table on the top of the stack.
void setting_open(lua_State *L);
void declare_operator_open(lua_State *L);
void declare_open(lua_State *L);
void declare_param_open(lua_State *L);
void include_open(lua_State *L);

// Declaring an operator: checks that it is the first; reads its fields, which are at `fields`;
// keeps it and pushes it.
struct script *declare_operator_begin(lua_State *L);
void declare_operator_read(lua_State *L, int fields, const struct operation_kind *kind,
                           struct operation *out);
int declare_operator_end(lua_State *L, struct script *s, const struct operation *o);
// Makes the declared settings sizes, numbers and choices of the custom operation; sets them.
void declare_operator_take_settings(lua_State *L, struct script *s);
void declare_operator_set_settings(lua_State *L, const struct script *s, struct operation *o);

void declare_compute_open(lua_State *L);

// After the file: makes the declared nest.
void declare_nest_run(lua_State *L, struct script *s);

void setting_add_override(struct script *s, const char *name, const char *text, bool from_user);
void setting_push(lua_State *L, const struct script_setting *setting);
// After loading: false for a --set that no setting takes, and where the script was not loaded,
// which leaves `e` as it was.
bool setting_check(const struct script *s, bool is_loaded, struct err *e);

#define LOOK_STEPS 5000 // for a look into the file system

// Returns the index of another text; `what` is the function that names it.
int include_find(lua_State *L, const char *what, const char *name, const char *shipped_folder);
// Runs a text once and pushes its result.
void include_run(lua_State *L, int text);
void include_run_first(lua_State *L); // the script's own file, once; pushes nothing

bool network_begins(const char *text); // with `network`, like network files

extern const struct readonly_words view_words; // messages of `c`
// Builds the view of a complete space; pushes the view, updated to `c`.
void view_build(lua_State *L, struct script *s);
void view_push(lua_State *L, struct script *s, const struct config *c);
// The same; what is read of it until the next push is recorded in `r`.
void view_push_watched(lua_State *L, struct script *s, const struct config *c,
                       struct rule_reads *r);

// Callbacks of the space; `context` is the rule.
int rule_holds(void *context, const struct config *c, struct err *e);
int rule_holds_reading(void *context, const struct config *c, struct rule_reads *r, struct err *e);
bool rule_find_resources(void *context, const struct config *c, struct resources *out,
                         struct err *e);
bool rule_find_resources_reading(void *context, const struct config *c, struct resources *out,
                                 struct rule_reads *r, struct err *e);
// Calls a function of the configuration, which returns one value.
void rule_call(lua_State *L, struct script *s, int function, const struct config *c);

int declare_kernel(lua_State *L);

// Reads the shader or SPIR-V of the table at 1 with its includes.
void shader_declare(lua_State *L, struct script *s, struct stage *stage, bool is_spirv);
// Appends the shader behind its #version: without its own definitions of `macros`, names with a
// newline before and behind each, and with another workgroup size (NULL: its own).
void shader_add(lua_State *L, const struct stage *stage, const char *macros, const uint64_t *size,
                struct str *out);
// For a configuration: appends the macros, and their names to `names`, each in a line; fills in
// constants, push constants, uniform blocks and bindings; says how the job's buffers begin.
void given_define(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                  struct str *out, struct str *names);
void given_fill(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                struct pass *p);
void given_begin(lua_State *L, struct script *s, const struct stage *stage, struct job *job);
// Raises an error where scratch has no room for an image that a pass sees it as.
void given_check_scratch(lua_State *L, const struct script *s, const struct job *j);
// Reads a workgroup's size, where the kernel gives one.
bool given_size(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                uint64_t out[3]);

void render_compile(lua_State *L, struct stage *stage); // parses and compiles the template
void render_finish(struct stage *stage);
bool render_reference(struct script *s, struct err *e); // the reference kernel, if there is one

#endif
