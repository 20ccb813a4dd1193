// The common interface of everything that measures trials: the worker pool, remote agents, recorded
// spaces and synthetic landscapes.
//
//     struct source *s = pool_create(...) | synthetic_create(...);
//     loop: while (source_room(s) > 0) source_submit(s, &request);
//           poll() on source_fds, at most source_wait_ms; source_step(s, e);
//           while (source_collect(s, &result)) ...
//     source_destroy(s);
//
// Nothing here blocks: the engine's poll loop drives a source, in the engine's thread. Every
// submitted ticket comes back exactly once, in any order, whatever happens to the worker that had
// it. The one exception: once source_step has returned false, open requests are neither measured
// nor given back, and the source can only be destroyed.
#ifndef TILEWALK_TRIAL_SOURCE_H
#define TILEWALK_TRIAL_SOURCE_H

#include "gpu/gpu.h"
#include "space/operation.h"
#include "trial/trial.h"

#include <poll.h>

struct source {
    const struct source_kind *kind;
};

// The present work of a worker.
struct worker_now {
    int worker;
    enum trial_phase phase; // PHASE_NONE: nothing
    int64_t ticket;         // of its request; 0: none
    int64_t since_ns;       // by os_now_ns
};

struct source_kind {
    const char *name;
    bool needs_jobs; // requests must carry rendered jobs (kernel/job.h)
    // The same configuration always gives the same samples: re-timing and drift checks are
    // pointless.
    bool deterministic;
    int (*room)(const struct source *s);
    void (*submit)(struct source *s, struct trial_request *r);        // moves the jobs out of `r`
    int (*fds)(const struct source *s, struct pollfd *out, int most); // NULL: there are none
    // The time after which it is to be stepped although no descriptor is ready; -1: never.
    int (*wait_ms)(const struct source *s);
    // False: it cannot go on (no worker can be started). NULL: there is nothing to do.
    bool (*step)(struct source *s, struct err *e);
    bool (*collect)(struct source *s, struct trial_result *out);
    // Computes the result of a request without measuring it, and the time that it takes. NULL: it
    // has to be measured.
    void (*answer)(const struct source *s, const struct trial_request *r, struct trial_result *out,
                   double *seconds);
    double (*busy_seconds)(const struct source *s);                           // NULL: not known
    int (*workers)(const struct source *s, struct worker_now *out, int most); // NULL: not known
    void (*destroy)(struct source *s);
};

int source_room(const struct source *s);
void source_submit(struct source *s, struct trial_request *r);
int source_fds(const struct source *s, struct pollfd *out, int most);
int source_wait_ms(const struct source *s);
bool source_step(struct source *s, struct err *e);
bool source_collect(struct source *s, struct trial_result *out);
// Blocks until a result is there, for callers with nothing else to do. False: as source_step.
bool source_wait(struct source *s, struct trial_result *out, struct err *e);
double source_busy_seconds(const struct source *s); // with work in progress; NAN: not known
// Lists its workers on this machine, at most `most`; returns how many.
int source_workers(const struct source *s, struct worker_now *out, int most);
void source_destroy(struct source *s);

// Synthetic landscapes, for tests and demonstrations: no device, no clock in the values. `spec` is
// NAME[:key=value]...:
//   bowl    one optimum at a hidden point: quality = 1 / (1 + d/4), d the graph distance to it
//   rugged  the bowl times many local optima (a hash of each parameter's value and its neighbours
//           in the point)
//   machine the speed of the loop nest on a synthetic GPU (synthetic.c)
//   trap    three ends at 0.83, and an optimum that hardly any climb reaches
// options: seed (hidden point and noise-free roughness; default 0), invalid (share of points that
// fail with some outcome other than ok, in [0,1), default 0), delay_us (mean time of a measurement,
// default 0), statistics (1: results of machine have registers, spills and so on, as from a driver;
// default 0), power (1: the power is told, made up too; default 0). Results are speeds of `quality`
// TFLOPS: seconds = flop / (quality * 1e12). `workers` trials may be in flight at once.
struct source *synthetic_create(const char *spec, const struct space *space, double flop,
                                int workers, struct err *e);
// The same for help.
#define SYNTHETIC_HELP                                                                             \
    "NAME is bowl, rugged, machine or trap; KEY is seed (of the hidden best point, 0), invalid "   \
    "(share of points that fail, 0), delay_us (mean time of a trial, 0) or, for machine, "         \
    "statistics (1: registers and spills as a driver's, 0), or power (1: it is told, 0)"
bool synthetic_check(const char *spec, struct err *e);
bool synthetic_tells_power(const char *spec); // option power
// Makes its results costs: as pool_options.objective.
void synthetic_set_objective(struct source *source, int objective);
// Says if that landscape gives statistics of what is compiled, as drivers do.
bool synthetic_has_statistics(const char *spec);
// The quality itself in (0, 1], and the outcome, of a point, for tests.
double synthetic_quality(const struct source *s, const struct config *c, enum outcome *o);

// The times of a recorded space: no device, and no clock in the values. A configuration has its
// recorded outcome, its mean time, and its runs as samples (the first TRIAL_MAX_SAMPLES of them).
// Only recorded configurations may be submitted. The results come at once (`speed` 0), or after the
// recorded cost of the trial / speed: so a demonstration has the rhythm of the recorded session.
// `r` outlives the source. `workers` trials may be in flight at once.
struct recording;
struct record_entry;
struct source *replay_source_create(const struct recording *r, double speed, int workers);
// The seconds that a trial took to compile and run. Times that are not recorded count as 0, except
// those of the runs themselves.
double replay_source_cost(const struct record_entry *entry);

struct pool_options {
    const char *program;   // for `program measure`; NULL: this one
    int device;            // index in gpu_list
    const char *device_id; // its gpu_identity: workers refuse any other device; NULL: not checked
    const struct gpu_cards *cards; // on which workers measure, in turn; NULL: on `device` alone
    bool validate;                 // Vulkan validation layer in the workers
    bool cold;                     // kernels are timed on copies of the buffers, in turns
    // A process a card runs a fixed kernel there while no worker has the device and trials are in
    // flight, so that its clocks do not fall in between.
    bool keeps_busy;
    int workers;        // >= 1
    int compilers;      // beside them: they hold no buffers, and start with the first request that
                        // only compiles
    bool only_compiles; // all requests do, and nothing runs on the device
    // Copied; but where the user defined it (custom_of), that definition must outlive the pool.
    const struct operation *operation;
    // The kernel that computes the right result, where the user defined the operation by one; it
    // must outlive the pool. NULL: the operation computes it.
    const struct job *reference;
    const struct limits *limits; // static limits of the SPIR-V; copied
    bool trips_undeclared;       // the space declares no loop_trips: the reason of a wrong result
                                 // then mentions it
    int objective;               // 1 + enum objective_kind: joules are measured too; 0: times alone
    uint64_t seed;               // of the inputs
    bool is_cpu; // the device runs on our cores: nothing compiles while something is timed
    double deadline_s[PHASE_COUNT]; // 0: the default of each phase (pool_default_deadline)
    double compile_least_s;         // the least limit on compiling (trial/pool.h); 0: the default
    // Tests: "KIND@PHASE:N" makes the N-th trial (counted from 1 over the session; "*": every one)
    // fail in that phase. Several are joined by commas. NULL: none. For the phases start and
    // prepare, N counts the starts of workers (see fault.h).
    const char *fault;
    // A line that a worker or its driver wrote to stderr; may be NULL.
    void (*log)(void *context, int worker, const char *line);
    void *log_context;
};

// A pool of worker processes on one device. Workers are started in the first steps. The first one
// computes inputs and reference once, into shared memory that respawned workers get too.
struct source *pool_create(const struct pool_options *o, struct err *e);
double pool_default_deadline(enum trial_phase p, bool is_cpu);

// The only argument that makes a process of this program a worker.
#define WORKER_COMMAND "measure"
// The worker's main function: messages over descriptor 3, shared memory in descriptor 4. Returns
// the exit code.
int worker_main(void);

// The common part of sources without a device: a result is known when it is submitted, and arrives
// after a delay. For the sources of this folder.
//
//     struct mine { struct delayed delayed; ... };     first: a source is a struct mine
//     static const struct source_kind my_kind = {.name = "mine", DELAYED_KIND, ...};
//     delayed_init(&s->delayed, &my_kind, workers);
//     delayed_finish(source);                          in destroy
//
// The kind's `answer` computes the results. delayed_create creates a source without one: its
// results come by delayed_add.

struct delayed_result;

struct delayed {
    struct source base;
    int workers, count;
    struct delayed_result *result; // [workers], in the order submitted
};

void delayed_init(struct delayed *d, const struct source_kind *kind, int workers);
void delayed_finish(struct source *s);
struct source *delayed_create(int workers);
// There must be room. `worker` of the result is set. 0 seconds: it is due at once.
void delayed_add(struct source *s, const struct trial_result *result, double seconds);

void delayed_submit(struct source *s, struct trial_request *r);
int delayed_room(const struct source *s);
int delayed_wait_ms(const struct source *s);
bool delayed_collect(struct source *s, struct trial_result *out); // the first that is due
int delayed_workers(const struct source *s, struct worker_now *out, int most);
#define DELAYED_KIND                                                                               \
    .deterministic = true, .room = delayed_room, .submit = delayed_submit,                         \
    .wait_ms = delayed_wait_ms, .collect = delayed_collect, .workers = delayed_workers

// The phase in which a trial with that outcome fails; PHASE_NONE for those that do not.
enum trial_phase outcome_phase(enum outcome o);

#endif
