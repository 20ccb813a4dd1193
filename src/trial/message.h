// What the engine says to its workers, and to agents that have workers elsewhere, and they to it:
// one JSON object per frame.
//
//     pool                                  worker
//     hello  who it is, what is computed -> opens the device                  phase start
//                                        <- ready, or failed and why
//     prepare (to the first that is ready)-> inputs and references             phase prepare
//                                        <- prepared
//     trial  the jobs                    -> phase compile, pipeline, wait
//     go     the device is yours         -> phase run, verify, time
//                                        <- result
//
// A warmer keeps the device busy while no worker has it, so that its clocks stay where they are
// when kernels are timed:
//
//     hello                              -> opens the device
//                                        <- ready, or failed and why
//     go     the device is yours         -> a fixed kernel, again and again
//     rest   somebody needs it           <- ready, once the device is free
//
// An helper_job (helper_job.h) is one request to a worker of its own, and one answer:
//
//     compile  a job's texts             -> phase compile of each pass
//                                        <- compiled: the modules; or failed and why
//     preprocess  the same               -> phase compile of each pass
//                                        <- preprocessed: the texts; or failed and why
//     list     which drivers             <- devices, or failed and why
//     open     a device                  <- opened: its clocks; or failed and why
//     peaks    of a device               <- roofline, or failed and why
//     whole    a network, its kernels    -> phase compile, pipeline of each task; prepare, run,
//                                           verify of each layer; run, verify, time of the whole
//                                        <- whole_result, or failed and why
//
// An agent (engine/agent.h), which has a pool of its own, is spoken to as a worker is, but for
// several trials at once, which have numbers:
//
//     remote source                         agent
//     greet    versions                  -> who it is, and its versions                greet
//     list     (where there is a device) -> devices, or failed and why
//     hello    what is computed          -> ready, or failed and why
//     trial    the jobs                  -> result, of that number, whenever there is one
//
// Where no device is needed, what a trial gives is known, and the agent acts it out:
//
//     play     by how many workers       -> ready
//     result   and how long it takes     -> the same, when it is due
//
// An agent that is asked whether it is alive says so. One that cannot go on says
// failed and why. What its workers write to stderr it passes on as said.
//
// One that measures by the workers of a pool (fleet/broker.h) greets as such, and needs no list:
//
//     greet    versions                  -> greet; member, of each worker of the pool, as often as
//                                           it says that it is there, and when it leaves
//     hello    what is computed          -> ready, or failed and why
//     trial    the jobs                  -> result, with the name of who measured it
//     leave    a member, and why         -> member, once it has left
//
// A worker announces a phase before it enters it, with the time and the candidate it is about, so
// that a death, a hang or an overlap is attributed. A result says which candidates it settles: a
// device that is lost ends a race early.
#ifndef TILEWALK_TRIAL_MESSAGE_H
#define TILEWALK_TRIAL_MESSAGE_H

#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "network/plan.h"
#include "space/custom_operation.h"
#include "space/limits.h"
#include "space/roofline.h"
#include "trial/kept.h"
#include "trial/trial.h"

enum message_type {
    MESSAGE_HELLO,
    MESSAGE_PREPARE,
    MESSAGE_TRIAL,
    MESSAGE_GO,
    MESSAGE_REST,
    MESSAGE_READY,
    MESSAGE_FAILED,
    MESSAGE_PREPARED,
    MESSAGE_PHASE,
    MESSAGE_RESULT,
    MESSAGE_COMPILE,
    MESSAGE_COMPILED,
    MESSAGE_PREPROCESS,
    MESSAGE_PREPROCESSED,
    MESSAGE_LIST,
    MESSAGE_DEVICES,
    MESSAGE_OPEN,
    MESSAGE_OPENED,
    MESSAGE_PEAKS,
    MESSAGE_ROOF,
    MESSAGE_WHOLE,
    MESSAGE_WHOLE_RESULT,
    MESSAGE_GREET,
    MESSAGE_PLAY,
    MESSAGE_ALIVE,
    MESSAGE_SAID,
    MESSAGE_MEMBER,
    MESSAGE_LEAVE,
    MESSAGE_TYPE_COUNT
};

// Of another version no more is known than that.
struct greeting {
    char version[32];  // TILEWALK_VERSION
    char machine[64];  // the process, unlike any other: "rack1-5fd0c2a9"; letters, digits, - and .
    char compiler[64]; // the glslang that is built in
    int cores;
    bool is_pool; // it measures by members, which it tells of
};

struct greeting greeting_of_this(void); // of this process, with a name that no other has

// A worker of a pool. Its device, where it has one, is the only one of the message's list.
struct member {
    bool leaves;   // it takes no more work
    char why[256]; // "": nobody asked it to
    int players;   // how many trials it acts out at once
    int measurers; // and measures; 0: none
};

struct hello {
    int device;
    char device_id[33]; // as in pool_options; "": not checked
    bool validate;
    bool cold;          // kernels are timed on copies of the buffers, in turns (copies.h)
    bool warms;         // it keeps the device busy, and measures nothing: no buffers
    bool only_compiles; // it holds no buffers, and takes no other trials than those
    struct operation operation;
    struct custom_operation *custom; // of which it is, once it is read; NULL: built in
    struct job reference;            // computes what is right; without passes: the operator does
    struct limits limits;
    bool trips_undeclared;
    uint64_t seed;
    double deadline_s[PHASE_COUNT];
    int64_t start;          // number of this start of a worker, from 1 over the session
    char fault[512];        // as in pool_options
    int workers, compilers; // of an agent; a worker is one itself
    int calibrates; // an agent times the fixed kernel with each so many-th trial; 0: as it is asked
};

// A network that is run as a whole: with one set of kernels, or two in turns.
#define WHOLE_SETS 2
struct whole_task { // of the plan
    struct operation operation;
    struct custom_operation *custom; // of which it is; NULL: built in
    struct job job[WHOLE_SETS];      // the second without passes: as the first
};
struct whole {
    struct hello place; // device, limits, deadlines, seed, fault; the rest does not matter
    struct plan plan;
    struct whole_task *task;
    int task_count;
    bool races; // both sets run; else only the first
};
void whole_finish(struct whole *w); // frees what it holds

struct whole_result {
    bool verified; // each layer's output, of the first set, and what the whole gives
    char reason[TRIAL_REASON_SIZE]; // why not, with the layer's name; ""
    struct samples samples[WHOLE_SETS];
    double seconds[WHOLE_SETS]; // of a run, robust; 0: not timed
};

// What a system tells of a device's clocks now; without, why nothing is known.
// And what the fixed kernel takes there; 0: it cannot be timed.
struct clocks {
    struct statistics now;
    char why[320];
    double anchor_s;
};

struct message {
    enum message_type type;
    struct hello hello; // HELLO
    struct trial_request
        request; // TRIAL; configurations are not sent. COMPILE, PREPROCESS: its first job
    struct greeting greeting; // GREET, MEMBER; LEAVE: its machine
    struct member member;     // MEMBER; LEAVE: why
    int workers;              // PLAY
    int worker;               // SAID
    char said[1024];          // SAID
    int64_t number;           // TRIAL, RESULT: counted from 1 over the session
    int attempt;              // TRIAL: 0, or 1 when an earlier worker died at once
    enum trial_phase phase;   // PHASE
    int candidate;            // PHASE: 0 .. count-1; of a WHOLE a task or layer, or one past these
    int64_t
        at_ns; // PHASE, RESULT: os_now_ns() of the worker; RESULT to an agent: how long it takes
    struct trial_result result;     // RESULT
    bool only_compiled;             // RESULT: as its request asked
    bool settled[TRIAL_MAX_RACERS]; // RESULT: candidates whose outcome is final
    struct gpu_kept kept; // TRIAL: of its only candidate, from a worker that compiled it before;
                          // RESULT: where the request keeps
    double kept_s;        // TRIAL: what that took
    struct err failure;   // FAILED
    struct clocks clocks; // OPENED
    int module_count;
    struct spirv module[JOB_MAX_PASSES]; // COMPILED
    int text_count;
    char *text[JOB_MAX_PASSES]; // PREPROCESSED
    char drivers[4096];         // LIST: as VK_DRIVER_FILES says it; "": those there are
    int device_count;
    struct gpu_info *device_list;      // DEVICES, MEMBER
    int device;                        // OPEN, PEAKS
    struct roofline roofline;          // ROOF
    bool validate;                     // OPEN
    struct whole *whole;               // WHOLE
    struct whole_result *whole_result; // WHOLE_RESULT
};

const char *message_type_name(enum message_type type);

// The JSON text, owned by the caller. A trial's candidates are those of `pick` (`count` indices
// into the request); `kept`: of the only one, or NULL.
char *message_plain(enum message_type type); // PREPARE, GO, READY, PREPARED, ALIVE
char *message_greet(const struct greeting *g);
char *message_play(int workers);
char *message_said(int worker, const char *line);
char *message_member(const struct greeting *g, const struct member *m,
                     const struct gpu_info *device); // NULL: it has none
char *message_leave(const char *machine, const char *why);
char *message_hello(const struct hello *h);
char *message_trial(const struct trial_request *r, const int *pick, int count, int64_t number,
                    int attempt, const struct kept *kept);
char *message_failed(const struct err *why);
char *message_phase(enum trial_phase phase, int candidate, int64_t at_ns);
// Its number is the ticket of the result.
char *message_result(const struct trial_result *r, bool only_compiled, const bool *settled,
                     const struct gpu_kept *kept, int64_t at_ns);
char *message_compile(const struct job *job);
char *message_compiled(const struct spirv *module, int count);
char *message_preprocess(const struct job *job);
char *message_preprocessed(const struct str *text, int count);
char *message_list(const char *drivers);
char *message_devices(const struct gpu_info *list, int count);
char *message_open(int device, bool validate);
char *message_opened(const struct clocks *c);
char *message_peaks(int device);
char *message_roof(const struct roofline *r);
char *message_whole(const struct whole *w);
char *message_whole_result(const struct whole_result *r);

// False for anything but a complete and plausible message. After true: message_finish.
bool message_parse(const char *text, struct message *out, struct err *e);
void message_finish(struct message *m);

#endif
