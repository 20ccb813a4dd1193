// The messages between the engine and its workers, and between the engine and agents that have
// workers elsewhere: one JSON object per frame.
//
//     pool                                  worker
//     hello  name, computation           -> opens the device                  phase start
//                                        <- ready; or failed, with the reason
//     prepare (only the first ready one) -> computes inputs and references    phase prepare
//                                        <- prepared
//     trial  the jobs                    -> phase compile, pipeline, wait
//     go     gives it the device         -> phase run, verify, time
//                                        <- result
//
// A warmer keeps the device busy while no worker has it, so that its clocks do not fall between
// timings:
//
//     hello                              -> opens the device
//                                        <- ready; or failed, with the reason
//     go     gives it the device         -> runs a fixed kernel, again and again
//     rest   takes the device back       <- ready, once the device is free
//
// A helper job (helper_job.h) is one request to a worker of its own, and one answer:
//
//     compile  a job's texts             -> phase compile of each pass
//                                        <- compiled: the modules; or failed
//     preprocess  a job's texts          -> phase compile of each pass
//                                        <- preprocessed: the texts; or failed
//     list     the drivers               <- devices; or failed
//     open     a device                  <- opened: its clocks; or failed
//     peaks    a device                  <- roofline; or failed
//     whole    a network, its kernels    -> phase compile, pipeline of each task; prepare, run,
//                                           verify of each layer; run, verify, time of the whole
//                                        <- whole_result; or failed
//
// An agent (engine/agent.h) has a pool of its own. It gets the messages of a worker, but several
// numbered trials at once:
//
//     remote source                         agent
//     greet    versions                  -> its name and versions                      greet
//     list     (where there is a device) -> devices; or failed
//     hello    the computation           -> ready; or failed
//     trial    the jobs                  -> result with that number, as soon as there is one
//
// Where no device is needed, the results of trials are known, and the agent plays them:
//
//     play     the number of workers     -> ready
//     result   with its time             -> the same result, after that time
//
// An agent answers the message alive with the same message. An agent that cannot go on sends
// failed. It passes lines that its workers write to stderr on, as said.
//
// The broker of a pool of machines (fleet/pool.h) greets as a pool, and needs no list:
//
//     greet    versions                  -> greet; member, for each worker of the pool, as often as
//                                           the worker announces itself, and when it leaves
//     hello    the computation           -> ready; or failed
//     trial    the jobs                  -> result, with the name of the machine that measured it
//     leave    a member, the reason      -> member, once it has left
//
// A worker announces a phase before it enters it, with the time and the index of the candidate, so
// that a death, a hang or an overlap is attributed. A result names the candidates that it settles:
// a device that is lost ends a race early.
#ifndef TILEWALK_TRIAL_MESSAGE_H
#define TILEWALK_TRIAL_MESSAGE_H

#include "base/build.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "network/plan.h"
#include "space/custom_operation.h"
#include "space/limits.h"
#include "space/roofline.h"
#include "trial/trial.h"

// The number of the protocol. Programs that run together (a run, its agents, the members of a pool)
// compare it, and not their versions. It is raised by one with every change after which a program
// of the old number would misread a message of the new one or refuse it: a member that readers want
// is added, removed or renamed, or means something else; and with every change after which two
// builds would measure or verify the same trial in different ways. Programs from before version
// 0.2.0 had no number, which is read as 0. tests/trial/messages.txt has the members of the
// number's messages, so that a change of them is noticed.
#define PROTOCOL 7

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

// The introduction of a process. Where its protocol is another one, only `protocol` and `build` are
// read.
struct greeting {
    int protocol;
    char build[BUILD_SIZE]; // its build_name(); "version" in the message, as programs from before
                            // the protocol had a number compare that
    char machine[64];  // the process, unlike any other: "rack1-5fd0c2a9"; letters, digits, - and .
    char compiler[64]; // the glslang that is built in
    int cores;
    bool is_pool; // its members measure; it announces them
};

struct greeting greeting_of_this(void); // for this process, with a name that no other has
// Writes "it speaks protocol 0 (tilewalk 0.1.0), this program 1 (tilewalk 0.2.0 (1a2b3c4))" and
// returns false where this process cannot work with the other one; `who` is the subject.
bool greeting_fits(const struct greeting *g, const char *who, char *why, size_t size);

// A worker of a pool. Its device, where it has one, is the only one of the message's list.
struct member {
    bool leaves;   // it takes no more work
    char why[256]; // why it leaves, or has trouble; "": no reason
    int players;   // trials that it plays at once
    int measurers; // trials that it measures at once
};

struct hello {
    int device;
    char device_id[33]; // as in pool_options; "": not checked
    bool validate;
    bool cold;          // kernels are timed on copies of the buffers, in turns (copies.h)
    bool warms;         // it keeps the device busy, and measures nothing: no buffers
    bool only_compiles; // it holds no buffers, and only compiles
    struct operation operation;
    struct custom_operation *custom; // the definition, once it is read; NULL: built in
    struct job reference;            // computes the right result; without passes: the operator does
    struct limits limits;
    bool trips_undeclared;
    uint64_t seed;
    double deadline_s[PHASE_COUNT];
    int objective;          // as in pool_options
    int64_t start;          // number of this start of a worker, from 1 over the session
    char fault[512];        // as in pool_options
    int workers, compilers; // of an agent; a worker is one itself
    int calibrates; // an agent times the fixed kernel with each N-th trial; 0: where a trial asks
};

// A network that is run as a whole, with one set of kernels or two in turns.
#define WHOLE_SETS 2
struct whole_task { // a task of the plan
    struct operation operation;
    struct custom_operation *custom; // the definition; NULL: built in
    struct job job[WHOLE_SETS];      // the second without passes: as the first
};
struct whole {
    struct hello place; // device, limits, deadlines, seed and fault are used
    struct plan plan;
    struct whole_task *task;
    int task_count;
    bool races; // both sets run; else only the first
};
void whole_finish(struct whole *w); // frees what it holds

struct whole_result {
    bool verified; // the outputs of all layers with the first set, and of the whole
    char reason[TRIAL_REASON_SIZE]; // why not, with the layer's name; ""
    struct samples samples[WHOLE_SETS];
    double seconds[WHOLE_SETS]; // robust time of a run; 0: not timed
};

// A device's clocks now, where sensors know them, and the time of the fixed kernel.
struct clocks {
    struct statistics now;
    char why[320];    // why the clocks are not known; ""
    bool tells_power; // or the energy that it uses
    double anchor_s;  // 0: it cannot be timed
};

// The binary that a driver's compiler made of a kernel that was only compiled. It is sent along
// when the kernel is measured, so that no kernel is compiled twice.
struct kept {
    char job[33]; // hash of the kernel's texts
    struct gpu_kept made;
    double seconds; // of the compiler
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
        at_ns; // PHASE, RESULT: os_now_ns() of the worker; RESULT to an agent: the time it takes
    struct trial_result result;     // RESULT
    bool only_compiled;             // RESULT: as its request asked
    bool settled[TRIAL_MAX_RACERS]; // RESULT: candidates whose outcome is final
    struct gpu_kept kept; // TRIAL: the binary of its only candidate, from an earlier worker;
                          // RESULT: the binary, where the request keeps it
    double kept_s;        // TRIAL: the compiler's time for it
    struct err failure;   // FAILED
    struct clocks clocks; // OPENED
    int module_count;
    struct spirv module[JOB_MAX_PASSES]; // COMPILED
    int text_count;
    char *text[JOB_MAX_PASSES]; // PREPROCESSED
    char drivers[4096];         // LIST: in the form of VK_DRIVER_FILES; "": all there are
    int device_count;
    struct gpu_info *device_list;      // DEVICES, MEMBER
    int device;                        // OPEN, PEAKS
    struct roofline roofline;          // ROOF
    bool validate;                     // OPEN
    struct whole *whole;               // WHOLE
    struct whole_result *whole_result; // WHOLE_RESULT
};

const char *message_type_name(enum message_type type);

// Returns the JSON text of a message, which is the caller's. It has the members that belong to the
// type (see `struct message`). `m` keeps its values; it is not const because the functions that
// write a message are those that read one.
char *message_text(struct message *m);

// The same for messages of one structure.
char *message_plain(enum message_type type); // PREPARE, GO, READY, PREPARED, ALIVE
char *message_failed(const struct err *why);
char *message_hello(const struct hello *h);
// The candidates of a trial are those of `pick` (`count` indices into the request); `kept` belongs
// to the only one, or is NULL.
char *message_trial(const struct trial_request *r, const int *pick, int count, int64_t number,
                    int attempt, const struct kept *kept);
// The number of the message is the result's ticket.
char *message_result(const struct trial_result *r, bool only_compiled, const bool *settled,
                     const struct gpu_kept *kept, int64_t at_ns);

// False for anything but a complete and plausible message. After true: message_finish.
bool message_parse(const char *text, struct message *out, struct err *e);
void message_finish(struct message *m);

#endif
