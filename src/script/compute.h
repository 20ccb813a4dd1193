// Expressions of tensors, compute and output (declare_compute.c): symbols that the functions of a
// space file work with, and the stages that become of them. Shared by the compute files only.
//
//     compute_expression.c   arithmetic, comparisons, functions
//     compute_constant.c     constant
//     compute_stage.c        the ways through a function, reductions, stages
//     declare_compute.c      tensor, compute, output
//
// All of them raise Lua errors.
#ifndef TILEWALK_SCRIPT_COMPUTE_H
#define TILEWALK_SCRIPT_COMPUTE_H

#include "define/definition.h"
#include "script/guard.h"

// Names of metatables: no user value can have them.
#define COMPUTE_EXPRESSION "an expression"
#define COMPUTE_TENSOR     "a tensor"
#define COMPUTE_CONSTANT   "a constant"

enum { COMPUTE_MOST_CONDITIONS = 32, COMPUTE_MOST_NAME = 40 };

// A function that is being run, perhaps not for the first time: which comparisons it made, and how
// each was answered.
struct ways {
    struct ways *outer;
    int condition[COMPUTE_MOST_CONDITIONS];
    bool answer[COMPUTE_MOST_CONDITIONS];
    int count, fixed; // that many answers are given; those behind them are true
    int runs;
};

struct defining {
    struct definition d;
    struct place *place; // of each node that reads: the user's line; NULL: none did
    int axes; // that are open: those of the tensor that is computed, then those of reductions
    int64_t extent[DEFINE_MAX_AXES];
    const char *axis[DEFINE_MAX_AXES];
    struct ways *ways;
    const char *name; // of what is computed; NULL: nothing is
    int serial;       // of it
    int reductions;   // of it, so far
    int first_stage;  // of it
    bool read[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];
};

struct defining *compute_state(lua_State *L);
// The same, where something is being computed; `what` stands within compute(...) only.
struct defining *compute_running(lua_State *L, const char *what);

int compute_push(lua_State *L, int node); // returns 1; -1 is an error: there are too many
// The node of the expression or number at `index`; `what` names it in errors.
int compute_node(lua_State *L, int index, const char *what);
enum element compute_element(lua_State *L, int index, const char *what);
// Pushes the expression `op` of the two values at 1 and 2.
int compute_two(lua_State *L, enum node_op op);
// Whether the stack holds `count` values, all numbers and none an expression.
bool compute_are_numbers(lua_State *L, int count);
// Adds the metatable, and exp, sqrt, tanh, cast, equal, select to the table on the top.
void compute_expression_open(lua_State *L);

// What the function at `function` gives of `count` axes from `first` on.
int compute_expression(lua_State *L, struct defining *f, int function, int first, int count);
// Adds a stage and returns its tensor. It runs over the open axes that `keep` names, in their
// order, and reduces over the last `what->reduce` of the open axes. `what` says the reduction and
// the body; in the body an axis is the number of its place among the open ones.
int compute_add_stage(lua_State *L, struct defining *f, const char *name, const bool *keep,
                      const struct define_stage *what);
// Adds sum, product, max, min to the table on the top.
void compute_stage_open(lua_State *L);
// Adds constant.
void compute_constant_open(lua_State *L);

#endif
