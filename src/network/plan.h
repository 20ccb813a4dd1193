// The plan of a network's run: its values, their places in memory, and the kernels with their
// values in the order of the run. The engine makes it of a network file, workers run it, the
// database keeps it.
//
//     plan_add_value, plan_add_step      in the order in which they run
//     plan_place(&plan)                  places of the values that layers make
//     plan_add_json(&plan, &w) ... plan_read_json(json, &plan, e)
//     plan_finish(&plan)
//
// Inputs and weights have memory of their own, since a run leaves them as they are. The values that
// layers make share one memory: a value keeps its place from the step that writes it to the last
// one that reads it (an output of the network: to the end); then another value may take the place.
// Tasks are numbered as a network's (script/network.h).
#ifndef TILEWALK_NETWORK_PLAN_H
#define TILEWALK_NETWORK_PLAN_H

#include "base/err.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/mem.h"
#include "space/operation.h"
#include "weights/weights.h"

#define PLAN_PLACE_BYTES 256 // offsets are multiples of this, which suits any device known

enum plan_role {
    PLAN_INPUT,  // of the network
    PLAN_WEIGHT, // a constant: no layer and no input gives it
    PLAN_MADE,   // by a layer
    PLAN_OUTPUT, // made by a layer, and the network's
};

const char *plan_role_name(enum plan_role r); // "input", "weight", "made", "output"

struct plan_value {
    const char *name; // of the input, the layer, or both of a weight: "conv1.bias"
    enum plan_role role;
    enum element element;
    int64_t count;   // elements, without the gaps between them
    uint64_t bytes;  // of its buffer, a multiple of 4
    uint64_t offset; // in the shared memory; 0 for memory of its own
    // The file of an input or a weight; NULL: it follows from the seed. For an output, the file of
    // its expected value; NULL: unknown.
    const struct weights *from;
    double relative, absolute; // tolerance of such an output: absolute + relative |expected|
};

struct plan_step {
    const char *name;                 // of the layer
    int task;                         // whose kernel runs
    int value[OPERATION_MAX_TENSORS]; // bound in this order, which is the operation's; the last is
    int value_count;                  // written
};

struct plan {
    struct plan_value *value;
    struct plan_step *step;
    int value_count, step_count;
    uint64_t shared; // bytes that plan_place needs
    // internal
    int value_capacity, step_capacity;
    struct arena arena;
};

void plan_init(struct plan *p);
void plan_finish(struct plan *p); // also for a plan that is zero
// These return the index and copy the name.
int plan_add_value(struct plan *p, const char *name, enum plan_role role, const struct tensor *t);
int plan_add_step(struct plan *p, const char *name, int task, const int *value, int count);

// Gives each value that layers make its offset: the largest first, each in the smallest gap between
// those that live at the same time (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural
// Net Inference", 2020, section 5.3).
void plan_place(struct plan *p);

bool plan_shares(const struct plan_value *v); // returns whether it is in the shared memory

// Checks that no value is read before it is written, none is written twice, and none lies where
// another one lies that is still needed. False and `e` otherwise.
bool plan_check(const struct plan *p, struct err *e);

// Reads the values that files hold, one after the other without gaps, into a new memfd, which is
// the caller's; -1: there are none. False and `e`: a file has changed, or cannot be read.
bool plan_read_files(const struct plan *p, int *fd, struct err *e);
// The offset of a value in that memfd; for `value` = value_count, the size of all.
uint64_t plan_file_offset(const struct plan *p, int value);

// Checks that each step belongs to one of the tasks and has as many values as the task's operation
// has tensors, each of the tensor's size. False, and `e` names the layer, otherwise.
struct plan_tasks {
    int count;
    const struct operation *(*operation)(const void *context, int task);
    const void *context;
};
bool plan_fits(const struct plan *p, const struct plan_tasks *tasks, struct err *e);

struct plan_bytes {
    uint64_t kept;   // inputs and weights
    uint64_t made;   // values that layers make, without sharing
    uint64_t shared; // as placed
    uint64_t least;  // that any placement needs: the most that is used at the same time
};
struct plan_bytes plan_bytes(const struct plan *p);

// Returns for each value the step that writes it (for inputs and weights, the first that reads it)
// and the last that reads it; an output counts as read after the last step. The caller frees it.
struct plan_life {
    int first, last;
};
struct plan_life *plan_lives(const struct plan *p);

// Members of an object that is open: "values", "steps", "shared_bytes".
void plan_add_json(const struct plan *p, struct json_writer *w);
// The same for others to read: files have their names, without the folders where they lie here.
void plan_add_public_json(const struct plan *p, struct json_writer *w);
// False and `e`: it is no plan, or plan_check refuses it. `out` is finished in any case.
bool plan_read_json(struct json object, struct plan *out, struct err *e);

#endif
