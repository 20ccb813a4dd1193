#include "trial/rig.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "kernel/kernel.h"
#include "trial/candidate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 2, SHARE_OF_MEMORY = 8 };

static uint64_t placed_bytes(const struct operator_buffer *b)
{
    return (b->bytes + GPU_PLACE_BYTES - 1) / GPU_PLACE_BYTES * GPU_PLACE_BYTES;
}

static uint64_t bytes_of_one(const struct operator_layout *l)
{
    uint64_t bytes = 0;
    for (int i = 0; i < l->count; i++)
        bytes += placed_bytes(&l->buffer[i]);
    return bytes;
}

int copies_wanted(uint64_t bytes, uint64_t memory_bytes)
{
    uint64_t all = COPIES_BYTES;
    if (memory_bytes && memory_bytes / SHARE_OF_MEMORY < all)
        all = memory_bytes / SHARE_OF_MEMORY;
    uint64_t count = (all + bytes - 1) / bytes;
    return count < FEWEST ? FEWEST : count > COPIES_MOST ? COPIES_MOST : (int)count;
}

static enum gpu_status place_all(struct copies *c, struct gpu *g, const struct operator_layout *l,
                                 struct err *e)
{
    uint64_t at = 0;
    enum gpu_status status = GPU_OK;
    for (int k = 0; k < c->count && status == GPU_OK; k++)
        for (int i = 0; i < l->count && status == GPU_OK; i++) {
            struct gpu_buffer **b = &c->buffer[k * (c->buffers + 1) + i];
            status = gpu_buffer_place(g, c->memory, at, l->buffer[i].bytes, b, e);
            at += placed_bytes(&l->buffer[i]);
        }
    return status;
}

enum gpu_status copies_create(struct copies *c, struct gpu *g, const struct operator_layout *l,
                              struct err *e)
{
    uint64_t each = bytes_of_one(l), memory_bytes = gpu_get_info(g)->memory_bytes;
    int count = copies_wanted(each, memory_bytes);
    *c = (struct copies){.count = count, .buffers = l->count};
    c->buffer = mem_zero((size_t)count * (size_t)(l->count + 1), sizeof(struct gpu_buffer *));
    if (count == COPIES_MOST)
        log_warning("--cold: %d copies of %.3g KiB may fit a cache of the device", count,
                    (double)each / 1024);
    enum gpu_status status = gpu_memory_create(g, each * (uint64_t)count, &c->memory, e);
    if (status == GPU_OK)
        status = place_all(c, g, l, e);
    if (status != GPU_OK)
        err_prefix(e, "%d copies of the buffers (--cold)", count);
    return status;
}

// One submission for each of the operator's buffers.
static enum gpu_status load_one(const struct copies *c, struct gpu *g,
                                const struct gpu_buffer *from, int i, struct err *e)
{
    struct gpu_buffer **to = mem_zero((size_t)c->count, sizeof(struct gpu_buffer *));
    for (int k = 0; k < c->count; k++)
        to[k] = c->buffer[k * (c->buffers + 1) + i];
    enum gpu_status status = gpu_copy(g, from, to, c->count, e);
    free(to);
    return status;
}

enum gpu_status copies_load(const struct copies *c, struct gpu *g, struct gpu_buffer *const *from,
                            struct err *e)
{
    enum gpu_status status = GPU_OK;
    for (int i = 0; i < c->buffers && status == GPU_OK; i++)
        status = load_one(c, g, from[i], i, e);
    return status;
}

void copies_use(const struct copies *c, struct gpu_sequence *s)
{
    if (!c->count)
        return;
    for (int k = 0; k < c->count; k++)
        c->buffer[k * (c->buffers + 1) + c->buffers] = s->buffer[c->buffers];
    s->buffer = c->buffer;
    s->copies = c->count;
    s->stride = c->buffers + 1;
}

enum { PACKED_SHARE_OF_MEMORY = 8 };

// All that the image of scratch follows from.
static void add_key(const struct packing *what, struct str *key)
{
    const struct candidate *c = what->candidate;
    str_add_bytes(key, (const char *)&c->scratch_bytes, sizeof c->scratch_bytes);
    str_add_bytes(key, (const char *)&what->inputs, sizeof what->inputs);
    for (int i = 0; i < c->packing; i++) {
        const struct gpu_pass *p = &c->pass[i];
        const struct spirv *s = &c->spirv[i];
        str_add_bytes(key, (const char *)&s->count, sizeof s->count);
        str_add_bytes(key, (const char *)s->word, s->count * sizeof *s->word);
        str_add_bytes(key, (const char *)p->groups, sizeof p->groups);
        str_add_bytes(key, (const char *)&c->subgroup[i], sizeof c->subgroup[i]);
        str_add_bytes(key, (const char *)p->push, c->push_bytes[i]);
    }
}

static struct packed_image *find(struct packed *p, const struct str *key)
{
    for (int i = 0; i < p->count; i++)
        if (p->image[i].key.length == key->length &&
            memcmp(p->image[i].key.text, key->text, key->length) == 0)
            return &p->image[i];
    return NULL;
}

static void drop(struct packed *p, struct gpu *g, struct packed_image *image)
{
    p->bytes -= image->bytes;
    gpu_buffer_destroy(g, image->buffer);
    str_finish(&image->key);
    *image = p->image[--p->count];
}

// Takes the key. That there is no memory for an image is no failure.
static enum gpu_status keep(struct packed *p, const struct packing *what, struct str *key,
                            struct err *e)
{
    uint64_t memory = gpu_get_info(what->gpu)->memory_bytes;
    uint64_t most =
        memory ? uint64_min(PACKED_BYTES, memory / PACKED_SHARE_OF_MEMORY) : PACKED_BYTES;
    struct packed_image image = {.bytes = what->candidate->scratch_bytes, .used = ++p->uses};
    struct gpu_buffer *scratch = what->buffer[what->candidate->bindings - 1];
    if (image.bytes > most)
        return GPU_OK;
    uint64_t bytes = image.bytes;
    while (p->count && (p->count == PACKED_MOST || p->bytes + bytes > most)) {
        struct packed_image *oldest = p->image;
        for (int i = 1; i < p->count; i++)
            oldest = p->image[i].used < oldest->used ? &p->image[i] : oldest;
        drop(p, what->gpu, oldest);
    }
    enum gpu_status status = gpu_buffer_create(what->gpu, image.bytes, &image.buffer, e);
    if (status != GPU_OK)
        return status == GPU_LOST ? status : GPU_OK;
    status = gpu_copy(what->gpu, scratch, &image.buffer, 1, e);
    if (status != GPU_OK) {
        gpu_buffer_destroy(what->gpu, image.buffer);
        return status;
    }
    image.key = *key;
    *key = (struct str){0};
    p->image[p->count++] = image;
    p->bytes += image.bytes;
    return GPU_OK;
}

static enum gpu_status run(struct packed *p, const struct packing *what, struct str *key,
                           double timeout_s, struct err *e)
{
    struct gpu_buffer *scratch = what->buffer[what->candidate->bindings - 1];
    struct packed_image *image = find(p, key);
    if (image) {
        image->used = ++p->uses;
        return gpu_copy(what->gpu, image->buffer, &scratch, 1, e);
    }
    enum gpu_status status = candidate_pack(what->candidate, what->gpu, what->buffer, timeout_s, e);
    p->runs++;
    return status == GPU_OK ? keep(p, what, key, e) : status;
}

enum gpu_status packed_run(struct packed *p, const struct packing *what, double timeout_s,
                           struct err *e)
{
    struct str key = {0};
    if (!what->candidate->packing || !what->candidate->scratch_bytes)
        return candidate_pack(what->candidate, what->gpu, what->buffer, timeout_s, e);
    add_key(what, &key);
    enum gpu_status status = run(p, what, &key, timeout_s, e);
    str_finish(&key);
    return status;
}

void packed_forget(struct packed *p, struct gpu *g)
{
    while (p->count)
        drop(p, g, p->image);
}

// The right result of an operation that the space file defines by a kernel, run on the worker's
// device.

#define OTHER_WORD 0x5a5a5a5au

static bool device_reference_run(struct rig *r, const struct candidate *c, enum input_set set,
                                 uint32_t before, void *result, struct err *e)
{
    int output = r->layout.count - 1;
    const struct gpu_sequence all = candidate_sequence(c, r->buffer);
    return rig_load(r, set, e) == GPU_OK &&
           gpu_fill(r->gpu, r->buffer[output], before, e) == GPU_OK &&
           gpu_run(r->gpu, &all, 1, r->hello.deadline_s[PHASE_PREPARE], NULL, e) == GPU_OK &&
           gpu_read(r->gpu, r->buffer[output], 0, result, r->layout.buffer[output].bytes, e) ==
               GPU_OK;
}

// Nobody else would notice what is left unwritten: every candidate would be found wrong. An integer
// may be what lay there before; only what keeps another word too was not written.
static bool compute(struct rig *r, const struct candidate *c, enum input_set set, struct err *e)
{
    const struct operator_buffer *b = &r->layout.buffer[r->layout.count - 1];
    uint64_t words = b->bytes / sizeof(uint32_t), at = 0;
    uint32_t *result = shared_buffer(&r->shared, set, r->layout.count - 1);
    uint32_t *again = (void *)r->fetched;
    if (!device_reference_run(r, c, set, RIG_POISON_WORD, result, e))
        return false;
    while (at < words && result[at] != RIG_POISON_WORD)
        at++;
    if (at == words)
        return true;
    if (!device_reference_run(r, c, set, OTHER_WORD, again, e))
        return false;
    for (; at < words; at++)
        if (result[at] == RIG_POISON_WORD && again[at] == OTHER_WORD)
            return err_set(e, "it leaves %s unwritten at byte %llu", b->name,
                           (unsigned long long)(at * sizeof *result));
    return true;
}

// Fills in the results of the rig's shared memory, which is writable, from the inputs there; a job
// without passes leaves them as they are. False: the kernel does not compile, exceeds the device,
// or leaves a part of the output unwritten.
static bool device_reference_compute(struct rig *r, const struct job *reference, struct err *e)
{
    struct candidate c = {0};
    struct failure why = {0};
    if (reference->pass_count == 0)
        return true;
    bool ok = candidate_compile(&c, reference, &r->hello.limits, r->layout.count, &why) ||
              err_set(e, "%s", why.reason);
    ok = ok && candidate_link(&c, r->gpu, e) == GPU_OK;
    ok = ok && compute(r, &c, INPUT_EXACT, e) && compute(r, &c, INPUT_RANDOM, e);
    candidate_finish(&c, r->gpu);
    return ok || err_prefix(e, "the reference");
}

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

bool rig_open(struct rig *r, const struct hello *h, struct err *e)
{
    *r = (struct rig){.hello = *h, .layout = operator_layout(&h->operation)};
    r->gpu = rig_open_device(h, e);
    bool measures = !h->only_compiles && !h->warms;
    if (r->gpu && measures) {
        const struct gpu_info *i = gpu_get_info(r->gpu);
        char why[320];
        r->sensors = sensors_open(i, why, sizeof why);
        if (!r->sensors && !i->is_cpu)
            log_warning("clocks: they are not known: %s", why);
    }
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
