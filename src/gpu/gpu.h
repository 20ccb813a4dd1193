// A Vulkan device: the list of devices, buffers, pipelines, runs, and device time.
//
//     gpu_prepare_environment();
//     gpu_list(&list, &count, e); gpu_choose(list, count, "best", &index, e);
//     struct gpu *g = gpu_open(index, false, e);
//     gpu_buffer_create, gpu_pipeline_create, gpu_write, gpu_run, gpu_read, gpu_time ...
//     gpu_close(g);
//
// Compute only, one queue, one thread. Every call that can lose the device returns enum gpu_status;
// after GPU_LOST the device can only be closed (better: the process ends). Programs that only read
// spaces call nothing here, and need no driver.
#ifndef TILEWALK_GPU_GPU_H
#define TILEWALK_GPU_GPU_H

#include "base/err.h"
#include "base/str.h"
#include "space/image.h"
#include "space/limits.h"
#include "space/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpu_status { GPU_OK, GPU_FAILED, GPU_TIMEOUT, GPU_LOST, GPU_OUT_OF_MEMORY };

struct gpu_info {
    int index;            // in the list; users see and name it
    char name[256];       // "llvmpipe (LLVM 15.0.6, 256 bits)"
    char type[16];        // "cpu", "integrated", "discrete", "virtual", "other"
    char driver[256];     // driverName + driverInfo: "llvmpipe, Mesa 22.3.6 (LLVM 15.0.6)"
    char driver_hash[33]; // of the driver's library where it can be found, else ""
    uint32_t vendor_id, device_id, driver_version, api_version;
    char device_uuid[33], driver_uuid[33]; // hex
    char pci[16];                          // its PCI address, "0000:01:00.0"; "": not known
    int threads;                           // of a CPU device (LP_NUM_THREADS), else 0
    bool is_cpu;
    bool is_lavapipe;      // vendor 0x10005: silent loop cap, compiles at first dispatch
    uint64_t memory_bytes; // in its largest device-local heap
    bool timestamps;       // device time can be measured on its compute queue
    bool runs;             // kernels; false: it only compiles them (a driver without its hardware)
    bool is_set_aside;     // the environment leaves it to others (gpu_follow_environment)
    struct limits limits;  // devices.h chooses its matrix units
    struct matrix_units matrix_khr, matrix_nv; // as the driver offers them by each extension
};

// Sets environment variables for drivers (LP_NUM_THREADS=1, disk caches off) and for the loader (no
// implicit layers), where the user has not set them. Call it first, once, in every process that
// opens a device.
void gpu_prepare_environment(void);

// Returns the manifests of the drivers that the Vulkan loader would load here, in its order; loads
// nothing. The array and its strings are the caller's (heap).
char **gpu_driver_files(int *count);

// Restricts this process, and those that it starts, to the named drivers: manifests, joined by
// colons.
void gpu_use_drivers(const char *files);

// Lists all devices, real GPUs (discrete, integrated, virtual) before CPU devices. The caller frees
// the list. Having none is not an error: *count is 0. No loader or a broken instance is an error. A
// driver may abort or hang during the call: devices.h lists them without that risk.
bool gpu_list(struct gpu_info **list, int *count, struct err *e);

// Sets aside the devices that are not this process' own: where CUDA_VISIBLE_DEVICES is set (by a
// user, Slurm or a container) the GPUs of NVIDIA that it does not name, else where SLURM_JOB_GPUS
// is set the GPUs that it does not number. Numbers count the GPUs by their PCI addresses. Where the
// numbers of Slurm fit no GPU, as in a job that sees only its own ones, none is set aside.
void gpu_follow_environment(struct gpu_info *list, int count);

// Chooses one by index ("0"; numbers below 100 are always indices), by its PCI address ("03:00.0",
// "0000:03:00.0") or UUID (32 digits, also with hyphens, and behind "GPU-"), by a part of its name
// (case-insensitive, must be unambiguous, a whole name wins over a part), or the best that runs
// kernels and is not set aside (NULL or "best"). The error lists the devices.
bool gpu_choose(const struct gpu_info *list, int count, const char *wanted, int *index,
                struct err *e);

// Fails for a device that only compiles kernels.
bool gpu_can_run(const struct gpu_info *i, struct err *e);

// gpu_is_several returns whether `wanted` means several devices: "all" that run kernels, or indices
// ("0,2"). gpu_choose_several gives them in the order of the list, each once; `index` has room for
// `count`, and *chosen is at least 1.
bool gpu_is_several(const char *wanted);
bool gpu_choose_several(const struct gpu_info *list, int count, const char *wanted, int *index,
                        int *chosen, struct err *e);

// Cards of one identity: a session uses several of them at once as one device.
#define GPU_MOST_CARDS 16
struct gpu_cards {
    int index[GPU_MOST_CARDS];
    int count; // at least 1
};
// Chooses "0+2", a name that several cards of one identity have, or one device, as gpu_choose does.
bool gpu_choose_cards(const struct gpu_info *list, int count, const char *wanted,
                      struct gpu_cards *out, struct err *e);
// Returns whether the times of the calibration kernel on the cards agree. Gives the index of the
// slowest, and by which share it is slower than the fastest.
bool gpu_cards_agree(const double *seconds, int count, int *slowest, double *share);

// Gives the identity of a device, which results must share to be compared: a hash of name, driver,
// versions, library hash and threads, in 32 hex digits. Cards of one kind with one driver have the
// same identity in every machine.
void gpu_identity(const struct gpu_info *i, char out[33]);
// Returns whether the device has that identity, or had it by the older rule, which distinguished
// cards of one kind.
bool gpu_is(const struct gpu_info *i, const char *identity);

struct gpu;
// `validate` enables the Khronos validation layer; its messages are counted and logged.
struct gpu *gpu_open(int index, bool validate, struct err *e);
// Opens a device for pipelines alone, also where no kernel runs: only gpu_pipeline_create and
// gpu_close work on it.
struct gpu *gpu_open_to_compile(int index, bool validate, struct err *e);
void gpu_close(struct gpu *g);
bool gpu_is_open_to_run(const struct gpu *g); // false after gpu_open_to_compile
const struct gpu_info *gpu_get_info(const struct gpu *g);

// A storage buffer. The host uses gpu_write and gpu_read (mapped memory where it is device-local
// and cached by the host, staging otherwise). Sizes are in bytes, multiples of 4.
struct gpu_buffer;
enum gpu_status gpu_buffer_create(struct gpu *g, uint64_t bytes, struct gpu_buffer **out,
                                  struct err *e);
// Creates a buffer with a guard of `guard` bytes (fewer, perhaps 0, when the device has no room) at
// each end: gpu_fill fills the guards too, kernels may reach them, gpu_write and gpu_read do not.
// The guard at the end is part of the bound range, since drivers drop writes behind it.
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
// The same without its guards.
enum gpu_status gpu_fill_content(struct gpu *g, struct gpu_buffer *b, uint32_t word, struct err *e);
// Copies all of `from`, without its guards, into the beginning of each of `count` others, which are
// at least as large.
enum gpu_status gpu_copy(struct gpu *g, const struct gpu_buffer *from, struct gpu_buffer *const *to,
                         int count, struct err *e);

// Memory in which buffers are placed, one beside the other, or several at the same offset if they
// are not used at the same time. Offsets and `bytes` are multiples of GPU_PLACE_BYTES, the largest
// alignment of any known device; on one that needs more gpu_buffer_place fails. Memory outlives its
// buffers.
#define GPU_PLACE_BYTES 256
struct gpu_memory;
enum gpu_status gpu_memory_create(struct gpu *g, uint64_t bytes, struct gpu_memory **out,
                                  struct err *e);
void gpu_memory_destroy(struct gpu *g, struct gpu_memory *m); // fine with NULL
enum gpu_status gpu_buffer_place(struct gpu *g, const struct gpu_memory *m, uint64_t offset,
                                 uint64_t bytes, struct gpu_buffer **out, struct err *e);

// An image, which stands for a buffer of a sequence: before the runs it gets the buffer's content,
// texel by texel, and behind them the buffer gets the image's. Kernels may store to it, sample it,
// or both.
struct gpu_image;
enum gpu_status gpu_image_create(struct gpu *g, const struct image_form *form, bool is_stored,
                                 bool is_sampled, struct gpu_image **out, struct err *e);
void gpu_image_destroy(struct gpu *g, struct gpu_image *i);

// A descriptor of set 2, or an array of them: of which buffers of the sequence, and the formats in
// which texel buffers see them.
#define GPU_MAX_ELEMENTS 32
struct gpu_descriptor {
    uint32_t at; // its binding
    enum descriptor kind;
    uint32_t count;
    uint8_t buffer[GPU_MAX_ELEMENTS], format[GPU_MAX_ELEMENTS];
};

struct gpu_shader {
    const uint32_t *word; // SPIR-V
    size_t word_count;
    int bindings;                            // storage buffers in set 0, from 0 on
    int uniforms;                            // uniform blocks in set 1, from 0 on
    const struct gpu_descriptor *descriptor; // set 2: images, texel buffers, samplers, arrays
    int descriptors;
    // The required subgroup size (ignored where the device has no choice; 0: any), and the size of
    // its workgroups along x: where that is a multiple, full subgroups are required.
    uint32_t subgroup, local_x;
    uint32_t push_bytes; // size of its push constants, a multiple of 4
    const char *entry;   // the name of its entry point; NULL: main
};

// A compute pipeline; the shader need not outlive the call.
struct gpu_pipeline;
enum gpu_status gpu_pipeline_create(struct gpu *g, const struct gpu_shader *s,
                                    struct gpu_pipeline **out, struct err *e);
void gpu_pipeline_destroy(struct gpu *g, struct gpu_pipeline *p);
// Returns the driver's compiler statistics; empty where it has none. They live as long as `p`.
const struct statistics *gpu_pipeline_statistics(const struct gpu_pipeline *p);

// Compiled pipelines, for the same driver in another process.
struct gpu_kept {
    void *bytes; // heap
    size_t size; // 0: nothing
};
// Keeps the pipelines that are created from here on, and does not compile those in `known` again.
// Does nothing where the driver has no cache, or the bytes are not its own.
void gpu_keep(struct gpu *g, const struct gpu_kept *known);
void gpu_end_keeping(struct gpu *g, struct gpu_kept *out); // `out` gets all; NULL: not wanted
void gpu_kept_finish(struct gpu_kept *k);

struct gpu_pass {
    struct gpu_pipeline *pipeline;
    uint32_t groups[3];
    uint32_t base[3];    // the first workgroup's gl_WorkGroupID
    const uint8_t *push; // as many bytes as its pipeline has push constants
    // Buffers of the sequence whose addresses the push constants begin with, 8 bytes each, in the
    // place of what `push` has there.
    const uint8_t *address;
    int addresses;
    struct gpu_buffer *const *uniform;       // of its pipeline's uniform blocks
    const struct gpu_descriptor *descriptor; // those of its pipeline
    int descriptors;
};

// A buffer of a sequence that gets its content before each run: that of another one, as long, or
// zeros (from -1).
struct gpu_begin {
    int to, from;
};

// A sequence of passes, with a full compute barrier between and after them, all on the same
// buffers, bound at 0 .. buffer_count-1; then the sequence that follows, on its own buffers. It
// owns nothing.
//
// Where there are `copies` of the buffers (0 or 1: none), those of copy c begin at buffer[c *
// stride], and each run uses the next copy, so that caches do not hold what the previous run read.
//
// The device time of a run is without that of `begin`; of a sequence that follows it is with it.
//
// image[k], where it is one, stands for buffer k in all passes. A sequence with images has no
// copies and no next one.
struct gpu_sequence {
    const struct gpu_pass *pass;
    int pass_count;
    struct gpu_buffer *const *buffer;
    int buffer_count;
    const struct gpu_sequence *next; // NULL: nothing follows
    int copies, stride;
    const struct gpu_begin *begin;
    int begins;
    struct gpu_image *const *image; // [buffer_count]; NULL: there are none
};
#define GPU_MOST_BEGUN 64 // runs of one submission where there is a `begin`

// Runs the sequence `repeats` times in one submission (several, where the device has no timestamps
// and something is between runs) and waits at most `timeout_s`. `seconds` (may
// be NULL) gets the device time of the whole submission: timestamps masked by their valid bits
// where the device has them, else the host's clock around the submission. After GPU_TIMEOUT the
// submission goes on: later calls first wait for it, up to their own timeout, and objects that it
// uses are not destroyed.
enum gpu_status gpu_run(struct gpu *g, const struct gpu_sequence *s, int repeats, double timeout_s,
                        double *seconds, struct err *e);

// The limits for the first run of an unknown kernel.
struct gpu_pace {
    double group_s;   // estimated time of one workgroup
    double submit_s;  // no submission is meant to last longer than this
    double timeout_s; // for all submissions
};

// Runs the sequence once, for the first time, each pass in enough submissions that none is much
// longer than `submit_s`: the first part of a pass has as many workgroups as would take that long
// one after the other at `group_s` each, later parts grow as measured. Only for kernels that do not
// read gl_NumWorkGroups. The sequence that follows is not run.
struct gpu_parts {
    int count;      // submissions
    double seconds; // device time of all of them
    bool is_split;  // at least one pass had several submissions
};
enum gpu_status gpu_run_in_parts(struct gpu *g, const struct gpu_sequence *s,
                                 const struct gpu_pace *pace, struct gpu_parts *out, struct err *e);

// The number and length of measurements. gpu_timing_default fits the device.
struct gpu_timing {
    double warmup_s; // untimed, at least one run: this long, and then until two batches agree
                     // within 2 %, at most four times as long
    double batch_s;  // repeats per batch grow until a batch lasts this long
    int batches;     // samples
    double submit_s; // no submission is meant to last longer than this
    double budget_s; // for all batches together; when it is spent, sampling ends after two or more
    double hopeless; // stop when all samples are slower than this factor times the incumbent; 0:
                     // never
    double apart_s;  // but only after a sample that began this long after the first
};

struct gpu_samples {
    double seconds[32]; // per run: each batch's time divided by its repeats
    int count, repeats;
    double wall_s; // per run, by the host's clock around the batches, overheads included
    bool early_stopped;
};

struct gpu_timing gpu_timing_default(const struct gpu_info *i);

// Returns whether a kernel cannot beat the incumbent (0: there is none) after these samples, the
// last of which began `apart_s` after the first: there are at least two, apart in time, and the
// fastest is hopeless. One sample alone may be slow because of other work on the machine.
bool gpu_is_hopeless(const struct gpu_timing *t, const double *seconds, int count, double apart_s,
                     double incumbent_s);
enum gpu_status gpu_time(struct gpu *g, const struct gpu_sequence *s, const struct gpu_timing *t,
                         double incumbent_s, struct gpu_samples *out, struct err *e);

// Returns one number for a set of samples: the median on GPUs, the minimum on CPU devices (where
// other processes only add time).
double gpu_robust_seconds(const struct gpu_info *i, const double *seconds, int count);

// --- sensors ---
//
// Sensors of a device: clocks, temperature, power, and the reasons for throttling.
//
//     struct sensors *s = sensors_open(&info, why, sizeof why);   NULL: not available, and why
//     sensors_read(s, &now);       before work: throttling from here on counts
//     sensors_read(s, &now);       right after it
//     sensors_close(s);
//
// NVIDIA's driver has a library, NVML, which is loaded when it is installed; AMD's and Intel's have
// files in sysfs, in the device's folder of the PCI bus. Both are foreign code: only processes that
// load drivers call anything here. Of processors (CPU devices) the energy alone is read, of all
// packages together, with what other programs use (RAPL, in sysfs). A number that no device can
// have is left out, with one warning in the log.
//
// The numbers have the names "core_mhz", "memory_mhz", "celsius", "watts"; "throttle_power",
// "throttle_current", "throttle_temperature", "throttle_other" are 1 where the clocks were
// throttled for that reason, and else missing.

#define SENSORS_THROTTLE "throttle_" // begins the names of reasons for throttling

struct sensors;
struct sensors *sensors_open(const struct gpu_info *i, char *why, size_t size);
void sensors_read(struct sensors *s, struct statistics *out); // NULL: it gives nothing
// Returns the energy that the device has used, in joules since some time. NAN: it has no counter,
// or `s` is NULL. "watts" is then what the device tells, or nothing.
double sensors_joules(struct sensors *s);
// Returns the present clock of the cores as a fraction of the highest one. NAN: not available, as
// without NVML, or `s` is NULL.
double sensors_awake(struct sensors *s);
// Names the processes that use the device, as card_users_name does, but for this one, its parent,
// and what that has started. False: there are none, or they are not known (NVML knows them).
bool sensors_users(struct sensors *s, char *out, size_t size);
void sensors_close(struct sensors *s);

// --- who else uses a card ---
//
//     char *list = card_users_read();                    before a sandbox hides other processes
//     if (card_users_name(list, info->pci, text, sizeof text)) ...
//     free(list);
//
// Reads /proc/PID/fdinfo of the processes that this user may look at. The drivers of DRM (AMD's,
// Intel's) tell the card of each open file there. A process that only shows a screen counts too.

// Returns a line "PCI NAME (PID)" for each card and process but this one. The caller's to free.
char *card_users_read(void);
// Adds such a line, unless it is there already or the process cannot be found.
void card_users_add(const char *pci, int64_t pid, struct str *list);
// Returns whether a process is this one, its parent, or another child of that one.
bool card_users_are_ours(int64_t pid);
// Writes "python3 (4242), Xorg (991)" for one card. False: nobody else uses it.
bool card_users_name(const char *list, const char *pci, char *out, size_t size);

#endif
