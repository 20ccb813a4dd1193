#include "trial/rig.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/os.h"
#include "kernel/kernel.h"
#include "trial/device_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON_BYTE = 0xff };

// A compiler that runs wild must end this worker and not the machine. The limit is on address
// space, of which a real GPU's driver and the sanitizers take terabytes; where nothing but
// compilers runs, on what they write to.
static void limit_memory(const struct gpu *g, bool only_compiles)
{
#ifndef __SANITIZE_ADDRESS__
    const uint64_t compiler_bytes = (uint64_t)8 << 30;
    if (gpu_get_info(g)->is_lavapipe)
        os_limit_memory(compiler_bytes);
    if (only_compiles)
        os_limit_data(compiler_bytes);
#else
    (void)g, (void)only_compiles;
#endif
}

static bool create_buffers(struct rig *r, struct err *e)
{
    for (int i = 0; i < r->layout.count; i++)
        if (gpu_buffer_create_guarded(r->gpu, r->layout.buffer[i].bytes, RIG_GUARD_BYTES,
                                      &r->buffer[i], e) != GPU_OK)
            return err_prefix(e, "buffer %s", r->layout.buffer[i].name);
    if (gpu_buffer_create(r->gpu, sizeof(uint32_t), &r->report, e) != GPU_OK)
        return err_prefix(e, "the buffer of a report");
    if (r->hello.cold && copies_create(&r->copies, r->gpu, &r->layout, e) != GPU_OK)
        return false;
    r->fetched = mem_alloc(r->layout.buffer[r->layout.count - 1].bytes);
    r->guards = mem_alloc((size_t)(r->layout.count + 1) * 2 * RIG_GUARD_BYTES);
    return true;
}

// Whether the device works at all: after it was lost this is the first thing that is asked of it.
static bool probe(struct rig *r, struct err *e)
{
    uint32_t word = 0;
    struct gpu_buffer *first = r->buffer[0];
    if (gpu_fill(r->gpu, first, 0x600df00d, e) != GPU_OK ||
        gpu_read(r->gpu, first, 0, &word, sizeof word, e) != GPU_OK)
        return err_prefix(e, "the device does not answer");
    return word == 0x600df00d || err_set(e, "the device forgets what is written to it");
}

// Numbers of devices change when a driver comes or goes.
static bool check_identity(const struct gpu *g, const struct hello *h, struct err *e)
{
    struct gpu_info info = *gpu_get_info(g);
    if (!kernel_add_compiler(info.driver, sizeof info.driver, e))
        return false;
    return !h->device_id[0] || gpu_is(&info, h->device_id) ||
           err_set(e,
                   "device %d is '%s' now, not the one this session was opened on (its driver or "
                   "the list of devices has changed)",
                   h->device, info.name);
}

struct gpu *rig_open_device(const struct hello *h, struct err *e)
{
    gpu_prepare_environment();
    kernel_setup();
    struct gpu *g = h->only_compiles ? gpu_open_to_compile(h->device, h->validate, e)
                                     : gpu_open(h->device, h->validate, e);
    if (!g)
        return NULL;
    limit_memory(g, h->only_compiles);
    if (check_identity(g, h, e))
        return g;
    gpu_close(g);
    return NULL;
}

static void open_sensors(struct rig *r)
{
    const struct gpu_info *i = gpu_get_info(r->gpu);
    char why[320];
    r->sensors = sensors_open(i, why, sizeof why);
    if (!r->sensors && !i->is_cpu)
        log_warning("clocks: they are not known: %s", why);
}

bool rig_open(struct rig *r, const struct hello *h, struct err *e)
{
    *r = (struct rig){.hello = *h, .layout = operator_layout(&h->operation)};
    r->gpu = rig_open_device(h, e);
    bool measures = !h->only_compiles && !h->warms;
    if (r->gpu && measures)
        open_sensors(r);
    return r->gpu && (!measures || (create_buffers(r, e) && probe(r, e)));
}

// Below half of its highest clock a device was idle: one that power holds back still runs faster.
// Where somebody locked it lower, one wait in vain is enough.
enum gpu_status rig_wake(struct rig *r, struct err *e)
{
    const double asleep = 0.5, rise = 1.01, patience_s = 0.3; // clocks rise by and by
    double now = r->never_wakes ? NAN : sensors_awake(r->sensors), most = now;
    int64_t risen_ns = os_now_ns();
    if (!(now < asleep))
        return GPU_OK;
    while ((double)(os_now_ns() - risen_ns) * 1e-9 < patience_s) {
        if (!anchor_burn(&r->anchor, r->gpu, e))
            return GPU_LOST;
        now = sensors_awake(r->sensors);
        if (now > most * rise) {
            most = now;
            risen_ns = os_now_ns();
        }
    }
    r->never_wakes = most < asleep;
    return GPU_OK;
}

void rig_sense(struct rig *r, struct statistics *clocks)
{
    struct statistics now;
    sensors_read(r->sensors, &now);
    statistics_merge(clocks, &now);
}

bool rig_prepare(struct rig *r, int fd, struct err *e)
{
    if (!shared_map(&r->shared, &r->hello.operation, fd, true, e))
        return false;
    shared_prepare(&r->shared, &r->hello.operation, r->hello.seed);
    bool ok = device_reference_compute(r, &r->hello.reference, e);
    shared_unmap(&r->shared);
    return ok;
}

bool rig_attach(struct rig *r, int fd, struct err *e)
{
    return r->shared.bytes || shared_map(&r->shared, &r->hello.operation, fd, false, e);
}

enum gpu_status rig_scratch(struct rig *r, uint64_t bytes, struct err *e)
{
    struct gpu_buffer **scratch = &r->buffer[r->layout.count];
    if (bytes == r->scratch_bytes)
        return GPU_OK;
    if (*scratch)
        gpu_buffer_destroy(r->gpu, *scratch);
    *scratch = NULL;
    r->scratch_bytes = 0;
    if (bytes == 0)
        return GPU_OK;
    enum gpu_status status = gpu_buffer_create_guarded(r->gpu, bytes, RIG_GUARD_BYTES, scratch, e);
    if (status == GPU_OK)
        r->scratch_bytes = bytes;
    return status;
}

enum gpu_status rig_pack(struct rig *r, const struct candidate *c, double timeout_s, struct err *e)
{
    const struct packing what = {r->gpu, c, r->buffer, (int)r->loaded};
    enum gpu_status status = rig_scratch(r, c->scratch_bytes, e);
    return status == GPU_OK ? packed_run(&r->packed, &what, timeout_s, e) : status;
}

int rig_bindings(const struct rig *r, const struct job *j)
{
    return r->layout.count + (j->scratch_bytes > 0);
}

void rig_sizes(const struct rig *r, uint64_t bytes[OPERATOR_MAX_BUFFERS + 1])
{
    for (int i = 0; i < r->layout.count; i++)
        bytes[i] = r->layout.buffer[i].bytes;
    bytes[r->layout.count] = r->scratch_bytes;
}

const char *rig_buffer_name(const struct rig *r, int buffer)
{
    return buffer < r->layout.count ? r->layout.buffer[buffer].name : "scratch";
}

static int buffers(const struct rig *r)
{
    return r->layout.count + (r->scratch_bytes > 0);
}

// Whatever is read from where nothing was written, the guards behind the inputs too, is not a
// number and makes the result wrong.
enum gpu_status rig_load(struct rig *r, enum input_set set, struct err *e)
{
    int output = r->layout.count - 1;
    enum gpu_status status = GPU_OK;
    r->loaded = set;
    for (int i = 0; status == GPU_OK && i < buffers(r); i++) {
        status = gpu_fill(r->gpu, r->buffer[i], RIG_POISON_WORD, e);
        if (status == GPU_OK && i < output)
            status = gpu_write(r->gpu, r->buffer[i], 0, shared_buffer(&r->shared, set, i),
                               r->layout.buffer[i].bytes, e);
    }
    return status;
}

enum gpu_status rig_load_to_time(struct rig *r, bool are_random, struct err *e)
{
    bool stay = are_random || gpu_get_info(r->gpu)->is_cpu;
    enum gpu_status status = stay ? GPU_OK : rig_load(r, INPUT_RANDOM, e);
    return status == GPU_OK ? copies_load(&r->copies, r->gpu, r->buffer, e) : status;
}

static const struct operator_buffer *output_of(const struct rig *r)
{
    return &r->layout.buffer[r->layout.count - 1];
}

// As gpu_read_guards leaves them.
static unsigned char *guards_of(const struct rig *r, int buffer)
{
    return r->guards + (uint64_t)buffer * 2 * RIG_GUARD_BYTES;
}

enum gpu_status rig_fetch(struct rig *r, struct err *e)
{
    enum gpu_status status =
        gpu_read(r->gpu, r->buffer[r->layout.count - 1], 0, r->fetched, output_of(r)->bytes, e);
    for (int i = 0; status == GPU_OK && i < buffers(r); i++)
        status = gpu_read_guards(r->gpu, r->buffer[i], guards_of(r, i), e);
    return status;
}

void rig_corrupt(struct rig *r, enum corruption c)
{
    int output = r->layout.count - 1;
    uint64_t guard = gpu_guard_bytes(r->buffer[output]);
    if (c == CORRUPT_FIRST)
        r->fetched[1] ^= 0x40;
    if (c == CORRUPT_LAST)
        r->fetched[output_of(r)->bytes - 1] ^= 0x40;
    if (c == CORRUPT_GUARD && guard)
        guards_of(r, output)[guard] ^= 0x40;
}

// All bytes are like the first one when they are like those after them: as fast as memory is.
static bool is_poison(const unsigned char *p, uint64_t bytes)
{
    return bytes == 0 || (p[0] == POISON_BYTE && memcmp(p, p + 1, bytes - 1) == 0);
}

static bool is_intact(const struct rig *r, int buffer, char *reason, size_t size)
{
    const char *name = rig_buffer_name(r, buffer);
    uint64_t bytes = gpu_guard_bytes(r->buffer[buffer]), at = 0;
    const unsigned char *before = guards_of(r, buffer), *behind = before + bytes;
    if (is_poison(before, 2 * bytes))
        return true;
    while (at < bytes && behind[at] == POISON_BYTE)
        at++;
    if (at < bytes) {
        snprintf(reason, size, "it wrote past the end of %s, at byte +%" PRIu64, name, at);
        return false;
    }
    for (at = 1; before[bytes - at] == POISON_BYTE;)
        at++;
    snprintf(reason, size, "it wrote before the beginning of %s, at byte -%" PRIu64, name, at);
    return false;
}

bool rig_verify(const struct rig *r, enum input_set set, char *reason, size_t size)
{
    for (int i = 0; i < buffers(r); i++)
        if (!is_intact(r, i, reason, size))
            return false;
    return operator_compare(&r->hello.operation, set, r->fetched, shared_reference(&r->shared, set),
                            reason, size)
        .right;
}
