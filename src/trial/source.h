// Where measurements come from: the one interface over the worker pool, recorded spaces and
// analytic landscapes.
//
//     struct source *s = pool_create(...) | synthetic_create(...);
//     loop: while (source_room(s) > 0) source_submit(s, &request);
//           poll() on source_fds, at most source_wait_ms; source_step(s, e);
//           while (source_collect(s, &result)) ...
//     source_destroy(s);
//
// Nothing here blocks: a source is driven by the engine's poll loop, in the engine's thread. Every
// submitted ticket comes back exactly once, in any order, whatever happens to the worker that had
// it. The one exception: once source_step has returned false, requests that are still open are
// neither measured nor given back, and the source can only be destroyed.
#ifndef TILEWALK_TRIAL_SOURCE_H
#define TILEWALK_TRIAL_SOURCE_H

#include "gpu/gpu.h"
#include "space/operation.h"
#include "trial/trial.h"

#include <poll.h>

struct source {
    const struct source_kind *kind;
};

struct source_kind {
    const char *name;
    bool needs_jobs; // requests must carry rendered jobs (kernel/job.h)
    // The same configuration always gives the same samples: races and canaries are pointless.
    bool deterministic;
    int (*room)(const struct source *s);
    void (*submit)(struct source *s, struct trial_request *r); // moves the jobs out of `r`
    int (*fds)(const struct source *s, struct pollfd *out, int most);
    // After how long it is to be stepped although no descriptor is ready; -1: never.
    int (*wait_ms)(const struct source *s);
    // False: it cannot go on (no worker can be started).
    bool (*step)(struct source *s, struct err *e);
    bool (*collect)(struct source *s, struct trial_result *out);
    // Where the result of a request is known without measuring it: it, and how long it takes. NULL:
    // it is not.
    void (*answer)(const struct source *s, const struct trial_request *r, struct trial_result *out,
                   double *seconds);
    double (*busy_seconds)(const struct source *s); // NULL: not known
    void (*destroy)(struct source *s);
};

int source_room(const struct source *s);
void source_submit(struct source *s, struct trial_request *r);
int source_fds(const struct source *s, struct pollfd *out, int most);
int source_wait_ms(const struct source *s);
bool source_step(struct source *s, struct err *e);
bool source_collect(struct source *s, struct trial_result *out);
// Blocks until a result is there, for whoever has nothing else to do. False: as source_step.
bool source_wait(struct source *s, struct trial_result *out, struct err *e);
double source_busy_seconds(const struct source *s); // with work in progress; NAN: not known
void source_destroy(struct source *s);

// Analytic landscapes, for tests and demonstrations: no device, no clock in the values. `spec` is
// NAME[:key=value]...:
//   bowl    one optimum at a hidden point: quality = 1 / (1 + d/4), d the graph distance to it
//   rugged  the bowl times many local optima (a hash of each parameter's value and its neighbours
//   in the point)
//   machine what the loop nest says on a GPU that is made up (trial/machine.h)
//   trap    three ends at 0.83, and an optimum that hardly any climb reaches (trial/trap.h)
// options: seed (hidden point and noise-free roughness; default 0), invalid (share of points that
// fail with some outcome other than ok, in [0,1), default 0), delay_us (mean time a measurement
// takes, default 0), statistics (1: of machine, results have registers, spills and so on, as a
// driver tells them; default 0). Results are speeds of `quality` TFLOPS: seconds = flop /
// (quality * 1e12). `workers` trials may be in flight at once.
struct source *synthetic_create(const char *spec, const struct space *space, double flop,
                                int workers, struct err *e);
// Whether that landscape tells of what is compiled, as drivers do.
bool synthetic_tells(const char *spec);
// The quality itself in (0, 1], and the outcome, of a point: what a test compares with.
double synthetic_quality(const struct source *s, const struct config *c, enum outcome *o);

struct pool_options {
    const char *program;   // path of this program, for `program measure`
    int device;            // index in gpu_list
    const char *device_id; // its gpu_identity: workers refuse any other device; NULL: not checked
    const struct gpu_cards *cards; // on which workers measure, in turn; NULL: on `device` alone
    bool validate;                 // Vulkan validation layer in the workers
    bool cold;                     // kernels are timed on copies of the buffers, in turns
    bool keeps_busy;    // a process a card runs a fixed kernel there while no worker has the device
                        // and trials are on their way, so that its clocks do not fall in between
    int workers;        // >= 1
    int compilers;      // beside them: they hold no buffers, and start once there is something
                        // that is only to be compiled
    bool only_compiles; // what is submitted is, and nothing needs the device to run anything
    // Copied; but where the user defined it (custom_of), that definition must outlive the pool.
    const struct operation *operation;
    // The kernel that computes the right result, where the user defined the operation by one; it
    // must outlive the pool. NULL: the operation computes it.
    const struct job *reference;
    const struct limits *limits; // static limits that the SPIR-V is judged by; copied
    bool trips_undeclared;       // the space declares no loop_trips: the reason of a wrong result
                                 // then mentions it
    uint64_t seed;               // of the inputs
    bool is_cpu; // device runs on our cores: nothing compiles while something is timed
    double deadline_s[PHASE_COUNT]; // 0: the default of each phase (pool_default_deadline)
    double compile_least_s; // of the limit on compiling (trial/compile_limit.h); 0: the default
    // Tests: "KIND@PHASE:N" makes the N-th trial (counted from 1 over the session; "*": every one)
    // fail in that phase. Kinds: sleep abort segv exit garbage half wrong lost memory. Several are
    // joined by commas. NULL: none. For the phases start and prepare, N counts the starts of
    // workers (see fault.h).
    const char *fault;
    // A line that a worker or its driver wrote to stderr; may be NULL.
    void (*log)(void *context, int worker, const char *line);
    void *log_context;
};

// A pool of worker processes on one device. Workers are started in the first steps; inputs and
// reference are computed once, by the first one, into shared memory that respawned workers get too.
struct source *pool_create(const struct pool_options *o, struct err *e);
double pool_default_deadline(enum trial_phase p, bool is_cpu);
// Wall clock during which at least one worker was at work.
double pool_busy_seconds(const struct source *s);
int pool_respawns(const struct source *s);

// How a process of this program becomes a worker: its only argument.
#define WORKER_COMMAND "measure"
// The worker's main function: talks over descriptor 3, shares descriptor 4. Returns the exit code.
int worker_main(void);

// What sources without a device share: the result is known when it is asked for, and arrives when
// it is due. For the sources of this folder.
//
//     struct mine { struct flying flying; ... };     first: a source is a struct mine
//     flying_init(&s->flying, &my_kind, workers);
//     flying_finish(source);                         in destroy
//
// The functions that take a struct source are what a source_kind wants; what is submitted becomes
// what its `answer` says.
//
// flying_create makes one that knows nothing itself: whoever has it adds the results.

struct flight;

struct flying {
    struct source base;
    int workers, count;
    struct flight *flight; // [workers], in the order submitted
};

void flying_init(struct flying *f, const struct source_kind *kind, int workers);
void flying_finish(struct source *s);
struct source *flying_create(int workers);
// There must be room. `worker` of the result is set. 0 seconds: it is due at once.
void flying_add(struct source *s, const struct trial_result *result, double seconds);

void flying_submit(struct source *s, struct trial_request *r);
int flying_room(const struct source *s);
int flying_fds(const struct source *s, struct pollfd *out, int most);
int flying_wait_ms(const struct source *s);
bool flying_step(struct source *s, struct err *e);
bool flying_collect(struct source *s, struct trial_result *out); // the first that is due

// Where a trial with that outcome fails; PHASE_NONE where it does not.
enum trial_phase flying_phase(enum outcome o);

#endif
