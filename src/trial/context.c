#include "trial/context.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "kernel/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_COPIES = 2, SHARE_OF_MEMORY = 8, POISON_BYTE = 0xff };
// Right results of more operations are not computed anew for a soak: that takes seconds.
#define FRESH_MOST_FLOP 2.2e9

#define OTHER_WORD 0x5a5a5a5au // instead of poison, to tell it from a result
// As a float of any width this is near 1: a sum with it differs from one with poison.
#define PLAIN_WORD 0x3f803f80u

// --- copies ---

static uint64_t placed_bytes(const struct operator_buffer *b)
{
    return (b->bytes + GPU_PLACE_BYTES - 1) / GPU_PLACE_BYTES * GPU_PLACE_BYTES;
}

int copies_wanted(uint64_t bytes, uint64_t memory_bytes)
{
    uint64_t all = COPIES_BYTES;
    if (memory_bytes)
        all = uint64_min(all, memory_bytes / SHARE_OF_MEMORY);
    uint64_t count = (all + bytes - 1) / bytes;
    return count < FEWEST_COPIES ? FEWEST_COPIES : (int)uint64_min(count, COPIES_MOST);
}

static enum gpu_status copies_create(struct copies *c, struct gpu *g,
                                     const struct operator_layout *l, struct err *e)
{
    uint64_t each = 0, at = 0;
    for (int i = 0; i < l->count; i++)
        each += placed_bytes(&l->buffer[i]);
    int count = copies_wanted(each, gpu_get_info(g)->memory_bytes);
    *c = (struct copies){.count = count, .buffers = l->count};
    c->buffer = mem_zero((size_t)count * (size_t)(l->count + 1), sizeof(struct gpu_buffer *));
    if (count == COPIES_MOST)
        log_warning("--cold: %d copies of %.3g KiB may fit a cache of the device", count,
                    (double)each / 1024);
    enum gpu_status status = gpu_memory_create(g, each * (uint64_t)count, &c->memory, e);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < l->count && status == GPU_OK; i++) {
            struct gpu_buffer **b = &c->buffer[k * (c->buffers + 1) + i];
            status = gpu_buffer_place(g, c->memory, at, l->buffer[i].bytes, b, e);
            at += placed_bytes(&l->buffer[i]);
        }
    if (status != GPU_OK)
        err_prefix(e, "%d copies of the buffers (--cold)", count);
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

// --- packed inputs ---

static void drop_image(struct packed *p, struct gpu *g, struct packed_image *image)
{
    p->bytes -= image->bytes;
    gpu_buffer_destroy(g, image->buffer);
    str_finish(&image->key);
    *image = p->image[--p->count];
}

// Keeps an image of scratch, and takes the key. Nothing is kept where memory for it is lacking.
static enum gpu_status keep_image(struct packed *p, const struct packing *what, struct str *key,
                                  struct err *e)
{
    uint64_t memory = gpu_get_info(what->gpu)->memory_bytes;
    uint64_t most = memory ? uint64_min(PACKED_BYTES, memory / SHARE_OF_MEMORY) : PACKED_BYTES;
    struct packed_image image = {.bytes = what->candidate->scratch_bytes, .used = ++p->uses};
    struct gpu_buffer *scratch = what->buffer[what->candidate->bindings - 1];
    if (image.bytes > most)
        return GPU_OK;
    while (p->count && (p->count == PACKED_MOST || p->bytes + image.bytes > most)) {
        struct packed_image *oldest = p->image;
        for (int i = 1; i < p->count; i++)
            oldest = p->image[i].used < oldest->used ? &p->image[i] : oldest;
        drop_image(p, what->gpu, oldest);
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

enum gpu_status packed_run(struct packed *p, const struct packing *what, double timeout_s,
                           struct err *e)
{
    const struct candidate *c = what->candidate;
    struct gpu_buffer *scratch = what->buffer[c->bindings - 1];
    struct str key = {0};
    if (!c->packing || !c->scratch_bytes)
        return candidate_pack(c, what->gpu, what->buffer, timeout_s, e);
    str_add_bytes(&key, (const char *)&c->scratch_bytes, sizeof c->scratch_bytes);
    str_add_bytes(&key, (const char *)&what->inputs, sizeof what->inputs);
    for (int i = 0; i < c->packing; i++) {
        const struct gpu_pass *pass = &c->pass[i];
        const struct spirv *s = &c->spirv[i];
        str_add_bytes(&key, (const char *)&s->count, sizeof s->count);
        str_add_bytes(&key, (const char *)s->word, s->count * sizeof *s->word);
        str_add_bytes(&key, (const char *)pass->groups, sizeof pass->groups);
        str_add_bytes(&key, (const char *)&c->subgroup[i], sizeof c->subgroup[i]);
        str_add_bytes(&key, (const char *)pass->push, c->push_bytes[i]);
        str_add_bytes(&key, (const char *)pass->address, (size_t)pass->addresses);
        pass_add_given(&c->job->pass[i], &key); // uniform blocks, images and their buffers
    }
    int i = 0;
    while (i < p->count && (p->image[i].key.length != key.length ||
                            memcmp(p->image[i].key.text, key.text, key.length) != 0))
        i++;
    enum gpu_status status;
    if (i < p->count) {
        p->image[i].used = ++p->uses;
        status = gpu_copy(what->gpu, p->image[i].buffer, &scratch, 1, e);
    } else {
        status = candidate_pack(c, what->gpu, what->buffer, timeout_s, e);
        p->runs++;
        if (status == GPU_OK)
            status = keep_image(p, what, &key, e);
    }
    str_finish(&key);
    return status;
}

void packed_forget(struct packed *p, struct gpu *g)
{
    while (p->count)
        drop_image(p, g, p->image);
}

// --- scratch ---

enum gpu_status context_set_scratch(struct context *x, uint64_t bytes, struct err *e)
{
    struct gpu_buffer **scratch = &x->buffer[x->layout.count];
    if (bytes == x->scratch_bytes)
        return GPU_OK;
    if (*scratch)
        gpu_buffer_destroy(x->gpu, *scratch);
    *scratch = NULL;
    x->scratch_bytes = 0;
    if (bytes == 0)
        return GPU_OK;
    enum gpu_status status =
        gpu_buffer_create_guarded(x->gpu, bytes, CONTEXT_GUARD_BYTES, scratch, e);
    if (status == GPU_OK)
        x->scratch_bytes = bytes;
    return status;
}

enum gpu_status context_pack(struct context *x, const struct candidate *c, double timeout_s,
                             struct err *e)
{
    const struct packing what = {x->gpu, c, x->buffer, (int)x->loaded};
    enum gpu_status status = context_set_scratch(x, c->scratch_bytes, e);
    return status == GPU_OK ? packed_run(&x->packed, &what, timeout_s, e) : status;
}

// --- runs ---

const char *context_buffer_name(const struct context *x, int buffer)
{
    return buffer < x->layout.count ? x->layout.buffer[buffer].name : "scratch";
}

// All buffers and their guards are poisoned first: a kernel that reads where nothing was written
// gets a NaN, and its result is wrong.
enum gpu_status context_load(struct context *x, enum input_set set, struct err *e)
{
    enum gpu_status status = GPU_OK;
    for (int i = 0; status == GPU_OK && i < x->layout.count + (x->scratch_bytes > 0); i++)
        status = gpu_fill(x->gpu, x->buffer[i], CONTEXT_POISON_WORD, e);
    return status == GPU_OK ? context_load_inputs(x, set, e) : status;
}

enum gpu_status context_load_inputs(struct context *x, enum input_set set, struct err *e)
{
    enum gpu_status status = GPU_OK;
    x->loaded = set;
    x->has_inputs = true;
    for (int i = 0; status == GPU_OK && i < x->layout.inputs; i++)
        status = gpu_write(x->gpu, x->buffer[i], 0, shared_buffer(&x->shared, set, i),
                           x->layout.buffer[i].bytes, e);
    return status;
}

enum gpu_status context_load_other(struct context *x, int buffer, struct err *e)
{
    enum gpu_status status = context_load(x, x->loaded, e);
    int last = x->layout.count - (x->scratch_bytes == 0);
    for (int i = x->layout.inputs; status == GPU_OK && i <= last; i++)
        if (buffer < 0 || i == buffer)
            status = gpu_fill_content(x->gpu, x->buffer[i], PLAIN_WORD, e);
    return status;
}

bool context_depends(const struct context *x, const unsigned char *before)
{
    size_t bytes = operator_output_offset(&x->layout, x->layout.count);
    for (size_t i = 0; i < bytes; i++)
        if (before[i] != x->fetched[i] &&
            !(before[i] == POISON_BYTE && x->fetched[i] == (PLAIN_WORD >> 8 * (i % 4) & 0xff)))
            return true;
    return false;
}

enum gpu_status context_load_to_time(struct context *x, bool are_random, struct err *e)
{
    bool stay = are_random || gpu_get_info(x->gpu)->is_cpu;
    enum gpu_status status = stay ? GPU_OK : context_load(x, INPUT_RANDOM, e);
    const struct copies *c = &x->copies;
    struct gpu_buffer **to = mem_zero((size_t)c->count + 1, sizeof(struct gpu_buffer *));
    for (int i = 0; i < c->buffers && status == GPU_OK; i++) { // a submission copies one buffer
        for (int k = 0; k < c->count; k++)
            to[k] = c->buffer[k * (c->buffers + 1) + i];
        status = gpu_copy(x->gpu, x->buffer[i], to, c->count, e);
    }
    free(to);
    return status;
}

// The guards of a buffer as gpu_read_guards leaves them.
static unsigned char *guards_of(const struct context *x, int buffer)
{
    return x->guards + (uint64_t)buffer * 2 * CONTEXT_GUARD_BYTES;
}

enum gpu_status context_fetch(struct context *x, struct err *e)
{
    enum gpu_status status = GPU_OK;
    for (int i = x->layout.inputs; status == GPU_OK && i < x->layout.count; i++)
        status =
            gpu_read(x->gpu, x->buffer[i], 0, x->fetched + operator_output_offset(&x->layout, i),
                     x->layout.buffer[i].bytes, e);
    for (int i = 0; status == GPU_OK && i < x->layout.count + (x->scratch_bytes > 0); i++)
        status = gpu_read_guards(x->gpu, x->buffer[i], guards_of(x, i), e);
    return status;
}

void context_corrupt(struct context *x, enum corruption c)
{
    int output = x->layout.count - 1;
    uint64_t guard = gpu_guard_bytes(x->buffer[output]);
    if (c == CORRUPT_FIRST)
        x->fetched[1] ^= 0x40;
    if (c == CORRUPT_LAST)
        x->fetched[operator_output_offset(&x->layout, x->layout.count) - 1] ^= 0x40;
    if (c == CORRUPT_GUARD && guard)
        guards_of(x, output)[guard] ^= 0x40;
}

bool context_guards_hold(const struct context *x, char *reason, size_t size)
{
    for (int i = 0; i < x->layout.count + (x->scratch_bytes > 0); i++) {
        const char *name = context_buffer_name(x, i);
        uint64_t bytes = gpu_guard_bytes(x->buffer[i]), at = 0;
        const unsigned char *before = guards_of(x, i), *behind = before + bytes;
        // Each byte is compared with the next one, which is as fast as memory allows: all are
        // poison when the first one is.
        if (bytes == 0 ||
            (before[0] == POISON_BYTE && memcmp(before, before + 1, 2 * bytes - 1) == 0))
            continue;
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
    return true;
}

bool context_verify(const struct context *x, enum input_set set, char *reason, size_t size)
{
    if (!context_guards_hold(x, reason, size))
        return false;
    const void *reference = shared_buffer(&x->shared, set, x->layout.inputs);
    return operator_compare(&x->hello.operation, set, x->fetched, reference, reason, size).right;
}

// --- the reference kernel of a space file, where it defines the operation by one ---

// Runs it with a word in the outputs, which context_fetch then has.
static bool run_reference(struct context *x, const struct candidate *c, enum input_set set,
                          uint32_t before, struct err *e)
{
    const struct gpu_sequence all = candidate_sequence(c, 0, x->buffer);
    bool ok = context_load(x, set, e) == GPU_OK;
    for (int i = x->layout.inputs; ok && i < x->layout.count; i++)
        ok = gpu_fill(x->gpu, x->buffer[i], before, e) == GPU_OK;
    return ok && gpu_run(x->gpu, &all, 1, x->hello.deadline_s[PHASE_PREPARE], NULL, e) == GPU_OK &&
           context_fetch(x, e) == GPU_OK;
}

// Computes the results of an input set. Fails where the reference kernel leaves words of an output
// unwritten, as then every candidate would be wrong. A word that has the value of the poison may be
// an integer result: the kernel runs again on another poison, and a word that keeps both was not
// written.
static bool compute_reference(struct context *x, const struct candidate *c, enum input_set set,
                              struct err *e)
{
    size_t bytes = operator_output_offset(&x->layout, x->layout.count);
    unsigned char *result = shared_buffer(&x->shared, set, x->layout.inputs);
    bool has_poison = false;
    if (!run_reference(x, c, set, CONTEXT_POISON_WORD, e))
        return false;
    memcpy(result, x->fetched, bytes);
    for (size_t at = 0; !has_poison && at + sizeof(uint32_t) <= bytes; at += sizeof(uint32_t))
        has_poison = *(const uint32_t *)(const void *)(result + at) == CONTEXT_POISON_WORD;
    if (!has_poison)
        return true;
    if (!run_reference(x, c, set, OTHER_WORD, e))
        return false;
    for (int i = x->layout.inputs; i < x->layout.count; i++) {
        size_t offset = operator_output_offset(&x->layout, i);
        const uint32_t *one = (const void *)(result + offset),
                       *again = (const void *)(x->fetched + offset);
        for (size_t at = 0; at < x->layout.buffer[i].bytes / sizeof *one; at++)
            if (one[at] == CONTEXT_POISON_WORD && again[at] == OTHER_WORD)
                return err_set(e, "it leaves %s unwritten at byte %llu", x->layout.buffer[i].name,
                               (unsigned long long)(at * sizeof *one));
    }
    return true;
}

bool context_prepare(struct context *x, int fd, struct err *e)
{
    const struct job *reference = &x->hello.reference;
    if (!shared_map(&x->shared, &x->hello.operation, fd, true, e))
        return false;
    size_t bytes = operator_reference_bytes(&x->hello.operation) + x->shared.size;
    if (!os_has_memory(bytes)) {
        shared_unmap(&x->shared);
        return err_set(e,
                       "too little memory to compute right results: %zu MiB more are needed "
                       "(ulimit -v)",
                       (bytes >> 20) + 1);
    }
    shared_prepare(&x->shared, &x->hello.operation, x->hello.seed);
    bool ok = true;
    if (reference->pass_count > 0) {
        struct candidate c = {0};
        struct failure why = {0};
        struct job_roles roles = operator_roles(&x->layout);
        ok = candidate_compile(&c, reference, &x->hello.limits, &roles, &why) ||
             err_set(e, "%s", why.reason);
        ok = ok && candidate_link(&c, x->gpu, e) == GPU_OK &&
             compute_reference(x, &c, INPUT_EXACT, e) && compute_reference(x, &c, INPUT_RANDOM, e);
        candidate_finish(&c, x->gpu);
        ok = ok || err_prefix(e, "the reference");
    }
    shared_unmap(&x->shared);
    return ok;
}

bool context_refresh(struct context *x, uint64_t seed)
{
    const struct operation *o = &x->hello.operation;
    if (x->hello.reference.pass_count > 0 || operation_flop(o) > FRESH_MOST_FLOP)
        return false;
    if (!x->fresh)
        x->fresh = mem_alloc(x->shared.size);
    // The memory that all workers share stays as it is; nothing unmaps it before the process ends.
    x->shared.bytes = x->fresh;
    shared_prepare(&x->shared, o, seed);
    packed_forget(&x->packed, x->gpu);
    return true;
}

// --- opening ---

// Memory is limited, so that a compiler that needs too much ends this worker and not the machine.
// The limit is on address space for lavapipe alone, as drivers of GPUs and the sanitizers reserve
// terabytes; where only compilers run, it is on the memory that they write to.
//
// The device's identity is checked, because indices of devices change when a driver is added or
// removed.
struct gpu *context_open_device(const struct hello *h, struct err *e)
{
    gpu_prepare_environment();
    kernel_setup();
    struct gpu *g = h->only_compiles ? gpu_open_to_compile(h->device, h->validate, e)
                                     : gpu_open(h->device, h->validate, e);
    if (!g)
        return NULL;
#ifndef __SANITIZE_ADDRESS__
    const uint64_t compiler_bytes = (uint64_t)8 << 30;
    if (gpu_get_info(g)->is_lavapipe)
        os_limit_memory(compiler_bytes);
    if (h->only_compiles)
        os_limit_data(compiler_bytes);
#endif
    struct gpu_info info = *gpu_get_info(g);
    if (kernel_add_compiler(info.driver, sizeof info.driver, e) &&
        (!h->device_id[0] || gpu_is(&info, h->device_id) ||
         err_set(e,
                 "device %d is '%s' now, not the one this session was opened on (its driver or "
                 "the list of devices has changed)",
                 h->device, info.name)))
        return g;
    gpu_close(g);
    return NULL;
}

bool context_open(struct context *x, const struct hello *h, struct err *e)
{
    *x = (struct context){.hello = *h, .layout = operator_layout(&h->operation)};
    x->gpu = context_open_device(h, e);
    if (!x->gpu || h->only_compiles || h->warms)
        return x->gpu != NULL;
    const struct gpu_info *info = gpu_get_info(x->gpu);
    char why[320];
    x->sensors = sensors_open(info, why, sizeof why);
    if (!x->sensors && !info->is_cpu)
        log_warning("clocks: they are not known: %s", why);
    if (sensors_users(x->sensors, why, sizeof why))
        log_warning("noise: the card is also used by %s", why);
    for (int i = 0; i < x->layout.count; i++)
        if (gpu_buffer_create_guarded(x->gpu, x->layout.buffer[i].bytes, CONTEXT_GUARD_BYTES,
                                      &x->buffer[i], e) != GPU_OK)
            return err_prefix(e, "buffer %s", x->layout.buffer[i].name);
    if (gpu_buffer_create(x->gpu, sizeof(uint32_t), &x->report, e) != GPU_OK)
        return err_prefix(e, "the buffer of a report");
    if (x->hello.cold && copies_create(&x->copies, x->gpu, &x->layout, e) != GPU_OK)
        return false;
    x->fetched = mem_zero(operator_output_offset(&x->layout, x->layout.count), 1);
    x->guards = mem_alloc((size_t)(x->layout.count + 1) * 2 * CONTEXT_GUARD_BYTES);
    uint32_t word =
        0; // tests if the device works at all: after a loss these are its first commands
    if (gpu_fill(x->gpu, x->buffer[0], 0x600df00d, e) != GPU_OK ||
        gpu_read(x->gpu, x->buffer[0], 0, &word, sizeof word, e) != GPU_OK)
        return err_prefix(e, "the device does not answer");
    return word == 0x600df00d || err_set(e, "the device forgets what is written to it");
}

// --- clocks ---

// A device below half of its highest clock was idle: one that is limited by power still runs faster
// than that. A device that is locked to lower clocks is waited for once.
enum gpu_status context_raise_clocks(struct context *x, struct err *e)
{
    const double idle = 0.5, rise = 1.01, patience_s = 0.3; // clocks rise slowly
    double now = x->clocks_stay_low ? NAN : sensors_awake(x->sensors), most = now;
    int64_t risen_ns = os_now_ns();
    if (isnan(now) || now >= idle)
        return GPU_OK;
    while ((double)(os_now_ns() - risen_ns) * 1e-9 < patience_s) {
        if (!anchor_run(&x->anchor, x->gpu, e))
            return GPU_LOST;
        now = sensors_awake(x->sensors);
        if (now > most * rise) {
            most = now;
            risen_ns = os_now_ns();
        }
    }
    x->clocks_stay_low = most < idle;
    return GPU_OK;
}

void context_read_clocks(struct context *x, struct statistics *clocks)
{
    struct statistics now;
    sensors_read(x->sensors, &now);
    statistics_merge(clocks, &now);
}
