// A Vulkan device: what there is, buffers, pipelines, runs, and device time.
//
//     gpu_prepare_environment();
//     gpu_list(&list, &count, e); gpu_choose(list, count, "best", &index, e);
//     struct gpu *g = gpu_open(index, false, e);
//     gpu_buffer_create, gpu_pipeline_create, gpu_write, gpu_run, gpu_read, gpu_time ...
//     gpu_close(g);
//
// Compute only, one queue, one thread. Every call that can lose the device says so through enum
// gpu_status; after GPU_LOST nothing but closing (better: ending the process) makes sense. Programs
// that only look at spaces never call anything here, and need no driver.
#ifndef TILEWALK_GPU_GPU_H
#define TILEWALK_GPU_GPU_H

#include "base/err.h"
#include "space/limits.h"
#include "space/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpu_status { GPU_OK, GPU_FAILED, GPU_TIMEOUT, GPU_LOST, GPU_OUT_OF_MEMORY };

struct gpu_info {
    int index;            // as listed; the order users see and name
    char name[256];       // "llvmpipe (LLVM 15.0.6, 256 bits)"
    char type[16];        // "cpu", "integrated", "discrete", "virtual", "other"
    char driver[256];     // driverName + driverInfo: "llvmpipe, Mesa 22.3.6 (LLVM 15.0.6)"
    char driver_hash[33]; // of the driver's library where it can be found, else ""
    uint32_t vendor_id, device_id, driver_version, api_version;
    char device_uuid[33], driver_uuid[33]; // hex
    char pci[16];                          // where it is, "0000:01:00.0"; "": not known
    int threads; // CPU devices: threads it runs on (LP_NUM_THREADS), else 0
    bool is_cpu;
    bool is_lavapipe;      // vendor 0x10005: silent loop cap, compiles at first dispatch
    uint64_t memory_bytes; // of its own, in its largest heap
    bool timestamps;       // device time can be measured on its compute queue
    bool runs;             // kernels; false: they are only compiled (a driver without its hardware)
    struct limits limits;  // its matrix units are for devices.h to choose
    struct matrix_units matrix_khr, matrix_nv; // what the driver offers, in both ways
};

// Sets what drivers read from the environment when they load (LP_NUM_THREADS=1, disk caches off)
// and what the loader reads (no implicit layers), where the user has not set it. Called before
// anything else here, once, in every process that opens a device.
void gpu_prepare_environment(void);

// The manifests of the drivers that the Vulkan loader would load here, where and in which order it
// looks for them; nothing is loaded. The array and its strings are the caller's (heap).
char **gpu_driver_files(int *count);

// From now on, in this process and those that it starts, only the drivers that are named:
// manifests, joined by colons.
void gpu_use_drivers(const char *files);

// All devices, real GPUs (discrete, integrated, virtual) before CPU devices. Owned by the caller
// (free). Having none is not an error: *count is 0. No loader or a broken instance is. A driver may
// abort or hang meanwhile: devices.h has what does not.
bool gpu_list(struct gpu_info **list, int *count, struct err *e);

// Picks one by index ("0"; numbers below 100 are always indices), by a part of its name
// (case-insensitive, must be unambiguous, a whole name wins over a part), or the best that runs
// kernels (NULL or "best"). The error lists the devices.
bool gpu_choose(const struct gpu_info *list, int count, const char *wanted, int *index,
                struct err *e);

// False and one line for a device on which kernels are only compiled.
bool gpu_can_run(const struct gpu_info *i, struct err *e);

// Whether `wanted` means several devices: "all" that run kernels, or indices ("0,2"). Then they are
// chosen in the order of the list, each once; `index` has room for `count`, and *chosen is at least
// 1.
bool gpu_is_several(const char *wanted);
bool gpu_choose_several(const struct gpu_info *list, int count, const char *wanted, int *index,
                        int *chosen, struct err *e);

// Cards of one identity: to a session they are one device, of which several can be used at once.
#define GPU_MOST_CARDS 16
struct gpu_cards {
    int index[GPU_MOST_CARDS];
    int count; // at least 1
};
// "0+2", a name that several cards of one identity have, or one device, as gpu_choose.
bool gpu_choose_cards(const struct gpu_info *list, int count, const char *wanted,
                      struct gpu_cards *out, struct err *e);
// Whether the times that the calibration kernel took on each of the cards are near enough; else the
// place of the slowest, and by which share it is slower than the fastest.
bool gpu_cards_agree(const double *seconds, int count, int *slowest, double *share);

// The identity of a device, under which results may be compared: a hash of name, driver, versions,
// library hash and threads, in 32 hex digits. Cards of one kind with one driver have the same
// identity, whichever machine they are in.
void gpu_identity(const struct gpu_info *i, char out[33]);
// Whether the device has that identity, or had it by the older rule, which told cards of one kind
// apart.
bool gpu_is(const struct gpu_info *i, const char *identity);

struct gpu;
// `validate` turns the Khronos validation layer on; its messages are counted and logged.
struct gpu *gpu_open(int index, bool validate, struct err *e);
// The same for pipelines alone: nothing but gpu_pipeline_create and gpu_close works on it, also
// where no kernel runs.
struct gpu *gpu_open_to_compile(int index, bool validate, struct err *e);
void gpu_close(struct gpu *g);
const struct gpu_info *gpu_get_info(const struct gpu *g);
int gpu_validation_messages(const struct gpu *g);

// A storage buffer. Host access through gpu_write and gpu_read (mapped memory where it is
// device-local and cached by the host, staging otherwise). Sizes in bytes, multiples of 4.
struct gpu_buffer;
enum gpu_status gpu_buffer_create(struct gpu *g, uint64_t bytes, struct gpu_buffer **out,
                                  struct err *e);
// The same with a guard of `guard` bytes (fewer, perhaps 0, when the device has no room) at each
// end: gpu_fill fills the guards too, kernels may reach them, gpu_write and gpu_read do not. The
// guard at the end is part of what is bound, since drivers drop what is written behind that.
enum gpu_status gpu_buffer_create_guarded(struct gpu *g, uint64_t bytes, uint64_t guard,
                                          struct gpu_buffer **out, struct err *e);
uint64_t gpu_guard_bytes(const struct gpu_buffer *b); // of each of the two guards
// Reads both guards, the one before the buffer first: 2 * gpu_guard_bytes.
enum gpu_status gpu_read_guards(struct gpu *g, struct gpu_buffer *b, void *data, struct err *e);
void gpu_buffer_destroy(struct gpu *g, struct gpu_buffer *b);
enum gpu_status gpu_write(struct gpu *g, struct gpu_buffer *b, uint64_t offset, const void *data,
                          uint64_t bytes, struct err *e);
enum gpu_status gpu_read(struct gpu *g, struct gpu_buffer *b, uint64_t offset, void *data,
                         uint64_t bytes, struct err *e);
enum gpu_status gpu_fill(struct gpu *g, struct gpu_buffer *b, uint32_t word, struct err *e);
// Copies all of `from`, without its guards, into the beginning of each of `count` others, which are
// at least as large.
enum gpu_status gpu_copy(struct gpu *g, const struct gpu_buffer *from, struct gpu_buffer *const *to,
                         int count, struct err *e);

// Memory in which buffers are placed, one beside the other, or several in the same place where they
// are not used at the same time. Offsets and `bytes` are multiples of GPU_PLACE_BYTES, which is as
// far apart as any device known wants them; on one that wants more gpu_buffer_place fails. Memory
// outlives its buffers.
#define GPU_PLACE_BYTES 256
struct gpu_memory;
enum gpu_status gpu_memory_create(struct gpu *g, uint64_t bytes, struct gpu_memory **out,
                                  struct err *e);
void gpu_memory_destroy(struct gpu *g, struct gpu_memory *m); // fine with NULL
enum gpu_status gpu_buffer_place(struct gpu *g, const struct gpu_memory *m, uint64_t offset,
                                 uint64_t bytes, struct gpu_buffer **out, struct err *e);

struct gpu_shader {
    const uint32_t *word; // SPIR-V with the entry point `main`
    size_t word_count;
    int bindings; // storage buffers in set 0, from 0 on
    // Invocations that its subgroups must have (ignored where the device lets nobody choose; 0: any
    // number), and how many its workgroups have along x: where these are whole subgroups, the
    // driver is asked to keep all of them full.
    uint32_t subgroup, local_x;
    uint32_t push_bytes; // of its push constants, a multiple of 4
};

// A compute pipeline; the shader need not outlive the call.
struct gpu_pipeline;
enum gpu_status gpu_pipeline_create(struct gpu *g, const struct gpu_shader *s,
                                    struct gpu_pipeline **out, struct err *e);
void gpu_pipeline_destroy(struct gpu *g, struct gpu_pipeline *p);
// What the driver's compiler says of it; empty where it says nothing. Lives as long as `p`.
const struct statistics *gpu_pipeline_statistics(const struct gpu_pipeline *p);

// What a driver's compiler made of pipelines, for the same driver in another process.
struct gpu_kept {
    void *bytes; // heap
    size_t size; // 0: nothing
};
// The pipelines that are created from here on are kept, and those that `known` has are not compiled
// again. Where the driver keeps nothing, or these bytes are not its own, all is as without.
void gpu_keep(struct gpu *g, const struct gpu_kept *known);
void gpu_end_keeping(struct gpu *g, struct gpu_kept *out); // all that was kept; NULL: not wanted
void gpu_kept_finish(struct gpu_kept *k);

struct gpu_pass {
    struct gpu_pipeline *pipeline;
    uint32_t groups[3];
    uint32_t base[3];    // the first workgroup's gl_WorkGroupID
    const uint8_t *push; // as many bytes as its pipeline has push constants
};

// What is run: the passes in order, a full compute barrier between and after them, all on the same
// buffers, bound at 0 .. buffer_count-1; then what follows, on buffers of its own. It owns nothing.
//
// Where there are `copies` of the buffers (0 or 1: none), those of copy c begin at buffer[c *
// stride], and each run takes the next copy: it does not find in a cache what the run before read.
struct gpu_sequence {
    const struct gpu_pass *pass;
    int pass_count;
    struct gpu_buffer *const *buffer;
    int buffer_count;
    const struct gpu_sequence *next; // NULL: nothing follows
    int copies, stride;
};

// Runs the sequence `repeats` times in one submission and waits at most `timeout_s`. `seconds` (may
// be NULL) gets the device time of the whole submission: timestamps masked by their valid bits
// where the device has them, else the host's clock around the submission. After GPU_TIMEOUT the
// submission goes on: later calls first wait for it, for as long as they may take, and what it uses
// is kept when it is destroyed.
enum gpu_status gpu_run(struct gpu *g, const struct gpu_sequence *s, int repeats, double timeout_s,
                        double *seconds, struct err *e);

// How a kernel that nobody knows may be run.
struct gpu_pace {
    double group_s;   // what one of its workgroups takes, as far as is known
    double submit_s;  // no submission is meant to last longer than this
    double timeout_s; // for all of them
};

// Runs the sequence once, for the first time, each pass in as many submissions as it takes for none
// to be much longer than `submit_s`: the first part of a pass has as many workgroups as would take
// that long one after the other when each takes `group_s`, later ones grow by what was measured.
// Only for kernels that do not look at gl_NumWorkGroups. What follows the sequence is not run.
struct gpu_parts {
    int count;      // submissions
    double seconds; // device time of all of them
    bool is_split;  // at least one pass was
};
enum gpu_status gpu_run_in_parts(struct gpu *g, const struct gpu_sequence *s,
                                 const struct gpu_pace *pace, struct gpu_parts *out, struct err *e);

// How often and how long to measure. gpu_timing_default fits the device.
struct gpu_timing {
    double warmup_s; // untimed, at least one run: this long, and then until two batches agree
                     // within 2 %, at most four times as long
    double batch_s;  // repeats per batch grow until a batch lasts this long
    int batches;     // samples
    double submit_s; // no submission is meant to last longer than this
    double budget_s; // for all batches together; fewer are taken (never less than two) when it is
                     // spent
    double hopeless; // stop when all so far are slower than this factor times the incumbent; 0:
                     // never
    double apart_s;  // but not before one that began this long after the first
};

struct gpu_samples {
    double seconds[32]; // per run: each batch's time divided by its repeats
    int count, repeats;
    double wall_s; // per run, by the host's clock around the batches, overheads included
    bool early_stopped;
};

struct gpu_timing gpu_timing_default(const struct gpu_info *i);

// Whether a kernel may be given up after these samples, the last of which began `apart_s` after the
// first: at least two that are apart, the fastest of them hopeless against the incumbent (0: there
// is none). One alone says more of what else runs on the machine than of the kernel.
bool gpu_is_hopeless(const struct gpu_timing *t, const double *seconds, int count, double apart_s,
                     double incumbent_s);
enum gpu_status gpu_time(struct gpu *g, const struct gpu_sequence *s, const struct gpu_timing *t,
                         double incumbent_s, struct gpu_samples *out, struct err *e);

// The one number of a set of samples: the median on GPUs, the minimum on CPU devices (where a
// neighbour only ever adds).
double gpu_robust_seconds(const struct gpu_info *i, const double *seconds, int count);

#endif
