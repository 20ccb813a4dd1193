// Expressions of compute(...): symbols that the functions of a space file work with, and the stages
// that they become. compute.c has constants, arithmetic, comparisons and reductions;
// declare_compute.c has tensor, compute and output. All functions raise Lua errors.
#ifndef TILEWALK_SCRIPT_COMPUTE_H
#define TILEWALK_SCRIPT_COMPUTE_H

#include "define/definition.h"
#include "script/guard.h"

// Names of metatables: no user value can have them.
#define COMPUTE_EXPRESSION "an expression"
#define COMPUTE_TENSOR     "a tensor"
#define COMPUTE_CONSTANT   "a constant"

enum { COMPUTE_MOST_CONDITIONS = 32, COMPUTE_MOST_NAME = 40 };

// The comparisons that a run of a function made, and their answers.
struct ways {
    struct ways *outer;
    int condition[COMPUTE_MOST_CONDITIONS];
    bool answer[COMPUTE_MOST_CONDITIONS];
    int count, fixed; // the first `fixed` answers are given; later ones are true
    int runs;
};

struct defining {
    struct definition d;
    struct place *place; // the user's line of each read; NULL: there are none
    int axes; // open axes: those of the tensor that is computed, then those of reductions
    int64_t extent[DEFINE_MAX_AXES];
    const char *axis[DEFINE_MAX_AXES];
    struct ways *ways;
    const char *name;                    // the tensor that is computed; NULL: none
    int serial, reductions, first_stage; // of that tensor
    bool read[DEFINE_MAX_TENSORS];
};

struct defining *compute_state(lua_State *L);
// The same within compute(...); elsewhere an error that `what` stands there only.
struct defining *compute_running(lua_State *L, const char *what);

int compute_push(lua_State *L, int node); // returns 1; -1 is an error: there are too many nodes
// Returns the node of the expression or number at `index`; `what` names it in errors.
int compute_node(lua_State *L, int index, const char *what);
// Returns the expression of the function at `function` for `count` axes from `first` on.
int compute_expression(lua_State *L, struct defining *f, int function, int first, int count);
// Adds a stage and returns its tensor. It runs over the open axes in `keep`, in their order, and
// reduces over the last `what->reduce` open axes. `what` has the reduction and the body; axes of
// the body are numbers of open axes.
int compute_add_stage(lua_State *L, struct defining *f, const char *name, const bool *keep,
                      const struct define_stage *what);
// Adds the metatables and the functions to the table on the top.
void compute_open(lua_State *L);

#endif
