// What a script is made of; shared by the files of this folder only. They are listed from the top:
// each calls only files that stand below it.
//
//     network.c         another language in the same guard: network files
//     network_task.c    their tasks
//     script.c          makes and ends it, and says what a space file sees
//     declare_nest.c    nest, and nest_symbol.c: formulas as Lua sees them
//     declare_compute.c tensor, compute, output
//     declare_operator_define.c  operator.define
//     declare_operator.c  operator, and the operator as Lua sees it: `op`
//     declare.c         derived, constraint, resources, kernel, scratch
//     shader.c          kernels that others wrote
//     declare_param.c   param and the five kinds
//     include.c         include, use
//     setting.c         size, number, choice, and what --set and use() make of them
//     form.c            export, and configurations in these forms
//     baseline.c        baseline
//     render.c          templates
//     given.c           what kernels are given beside their text
//     rule.c            constraints and resources as callbacks of the space
//     view.c            the configuration as Lua sees it: `c`
//     state.c           what all of them need of a script
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
// What is looked through for every new one:
#define SCRIPT_MAX_SETTINGS    256
#define SCRIPT_MAX_GIVEN       4096 // values that use() gives to settings, all calls together
#define SCRIPT_MAX_CONSTRAINTS 1000

struct override { // of a size or choice
    const char *name, *text;
    bool from_user;        // --set, not use()
    const char *complaint; // NULL: it fits, as far as it was looked at
};

struct rule { // a function of c
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
    int when, values, groups, subgroup, define, spec, push;
    bool once;                             // it packs inputs, and is not timed
    const char *binding[JOB_MAX_BINDINGS]; // names of buffers
    int binding_count;                     // 0: the operator's in their order
    // Of a shader that others wrote, instead of a template:
    bool is_shader;
    const char *folder[STAGE_MAX_FOLDERS]; // that it may include from
    int folder_count;
    size_t head_bytes; // of its text, up to the end of #version
    int head_lines;
    const char *preamble; // behind the macros; NULL: nothing
    struct str source;    // what follows, with what it includes; empty: it is SPIR-V
};

struct view {
    int front, storage;
    struct {
        int list;   // storage of a list value, else LUA_NOREF
        int values; // the Lua values of items or indices, else LUA_NOREF
    } param[SPACE_MAX_PARAMS];
    struct config config; // what it shows
    bool is_current;
    lua_Integer changes; // of what it shows
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
    bool space_only; // as asked for
    int nesting;
    int open_text[SCRIPT_MAX_NESTING]; // files being run, outermost first
    int modules;                       // table: index of text + 1 -> what the file returned

    struct operation operation;      // kind NULL: not declared
    int operation_table;             // what operator.KIND returned, `op` in templates
    struct custom_operation *custom; // what it is of, when it was defined; NULL: built in
    struct stage reference; // the kernel that computes what is right; function LUA_NOREF: none
    uint32_t reference_groups[3];
    struct job reference_job;
    struct script_setting *setting;
    int setting_count, setting_capacity;
    struct override *override;
    int override_count, override_capacity;
    const struct limits *limits;
    const char *device_type;

    struct defining *defining; // tensors and what is computed, while they are declared
    struct program *program;   // the kernels that follow from them; NULL: there are templates

    struct network_reading *network; // of a network file, else NULL

    struct rule resources, scratch, nest;
    struct nest *loop_nest; // NULL: none is declared
    bool is_declaring_nest;
    struct stage stage[JOB_MAX_PASSES];
    int stage_count;
    struct rule form[SCRIPT_MAX_FORMS]; // export()
    int form_count;
    int baseline_params; // there were when the last baseline was declared

    struct view view;
    int scope;             // what every template sees
    struct render *render; // the rendering in progress
};

// The beginning of script_create, for other languages than that of space files: an empty script,
// then its settings and texts, and `visit` (its argument: the script), which runs them.
struct script *script_begin(const struct script_options *o);
bool script_load(struct script *s, const struct script_options *o, lua_CFunction visit,
                 struct err *e);

struct script *script_of(lua_State *L);
// Raises an error when the space file has been loaded.
struct script *script_loading(lua_State *L, const char *what);
bool script_hint(lua_State *L, const char *key);              // for readonly_words
int script_keep(lua_State *L);                                // pops a value into the registry
const char *script_keep_text(lua_State *L, const char *text); // a copy that lives as the script
void script_copy_fields(lua_State *L, int from, int to);      // of one table into another

// Functions of the language: each adds its names to the table on the top of the stack.
void setting_open(lua_State *L);
void declare_operator_open(lua_State *L);
void declare_operator_define_open(lua_State *L); // adds to `operator`: after the one above
void declare_open(lua_State *L);
void declare_param_open(lua_State *L);
void declare_nest_open(lua_State *L);
void include_open(lua_State *L);
void form_open(lua_State *L);
void baseline_open(lua_State *L);
// After the file: raises an error when parameters were declared behind baselines.
void baseline_check(lua_State *L, const struct script *s);

// Of an operator: that it is the first; its fields, which are at `fields`; that it is declared,
// which pushes it.
struct script *declare_operator_begin(lua_State *L);
void declare_operator_read(lua_State *L, int fields, const struct operation_kind *kind,
                           struct operation *out);
int declare_operator_end(lua_State *L, struct script *s, const struct operation *o);
// The settings that were declared become sizes, numbers and choices of what is defined, and are
// set.
void declare_operator_take_settings(lua_State *L, struct script *s);
void declare_operator_set_settings(lua_State *L, const struct script *s, struct operation *o);

void declare_compute_open(lua_State *L);
void declare_compute_finish(struct defining *f); // NULL is fine

// Keeps the function at 1; an error when it is the second one.
int declare_rule(lua_State *L, struct script *s, struct rule *r, const char *what);
// After the file: makes the nest, if one is declared.
void declare_nest_run(lua_State *L, struct script *s);

void setting_add_override(struct script *s, const char *name, const char *text, bool from_user);
void setting_push(lua_State *L, const struct script_setting *setting);
// After loading: refuses a --set that no size or choice takes. False also where it is not loaded,
// `e` then being as it was.
bool setting_check(const struct script *s, bool is_loaded, struct err *e);

#define LOOK_STEPS 5000 // of asking the system for a file

// The index of another text; `what` asks for it.
int include_find(lua_State *L, const char *what, const char *name, const char *shipped_folder);
// Runs a text once and pushes what it returns.
void include_run(lua_State *L, int text);
void include_run_first(lua_State *L); // the script's own file, once; pushes nothing

bool network_begins(const char *text); // with the word that network files begin with

extern const struct readonly_words view_words; // of `c`
// Builds the view of a complete space; pushes the view showing `c`.
void view_build(lua_State *L, struct script *s);
void view_push(lua_State *L, struct script *s, const struct config *c);

void rule_add_constraint(struct rule *r); // `r` lives as long as the script
void rule_set_resources(struct script *s);
// The size of subgroups that a kernel asks for; 0: it asks for none.
uint32_t stage_subgroup(lua_State *L, struct script *s, const struct stage *stage,
                        const struct config *c);
void rule_get_resources(lua_State *L, struct script *s, const struct config *c,
                        struct resources *out);

// Of the table at 1: the shader, or SPIR-V, and what it includes; its bindings.
void shader_declare(lua_State *L, struct script *s, struct stage *stage, bool is_spirv);
void given_read_bindings(lua_State *L, struct stage *stage);
// For a configuration: appends the macros; fills in constants and bindings.
void given_define(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                  struct str *out);
void given_fill(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                struct pass *p);

void render_compile(lua_State *L, struct stage *stage); // parses and compiles its text
void render_finish(struct stage *stage);                // forgets both
bool render_reference(struct script *s, struct err *e); // for the operation, when there is one

#endif
