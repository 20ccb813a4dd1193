#include "space/custom_operation.h"

#include "base/str.h"
#include "space/element.h"
#include "space/operation_kinds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Runs of weights that share a scale.
enum { MOST_RUNS = 16, K_WEIGHTS = 256, Q4_K_RUN = 32, Q6_K_RUN = 16, Q6_ZERO = 32 };

static const struct {
    const char *name;
    struct block_format format;
} named[] = {
    {"q4_0", {BLOCK_PLAIN, 32, ELEMENT_F16, .bits = 4, .zero = 8}},
    {"q8_0", {BLOCK_PLAIN, 32, ELEMENT_F16, .bits = 8, .is_signed = true}},
    {"q4_K", {BLOCK_Q4_K, K_WEIGHTS, ELEMENT_F16, .has_min = true, .bits = 4}},
    {"q6_K", {BLOCK_Q6_K, K_WEIGHTS, ELEMENT_F16, .bits = 6}},
};

const struct block_format *block_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (str_equal(named[i].name, name))
            return &named[i].format;
    return NULL;
}

bool block_format_valid(const struct block_format *f)
{
    if (f->kind != BLOCK_PLAIN)
        return f->kind < BLOCK_KINDS && f->weights == K_WEIGHTS;
    return f->weights >= 1 && f->weights <= BLOCK_MAX_WEIGHTS &&
           (f->scale == ELEMENT_F16 || f->scale == ELEMENT_F32) &&
           (f->bits == 8 || (f->bits == 4 && f->weights % 2 == 0)) && f->zero >= 0 &&
           f->zero < 1 << f->bits;
}

static int header_bytes(const struct block_format *f)
{
    return (1 + f->has_min) * (int)element_bytes(f->scale);
}

int block_bytes(const struct block_format *f)
{
    switch (f->kind) {
    case BLOCK_Q4_K: return 4 + 12 + K_WEIGHTS / 2;
    case BLOCK_Q6_K: return K_WEIGHTS / 2 + K_WEIGHTS / 4 + K_WEIGHTS / Q6_K_RUN + 2;
    default: return header_bytes(f) + f->weights * f->bits / 8;
    }
}

static double get_scale(const unsigned char *at, enum element e, int index)
{
    uint32_t aligned = 0; // blocks begin anywhere
    memcpy(&aligned, at + index * element_bytes(e), (size_t)element_bytes(e));
    return element_get(&aligned, e, 0);
}

// Returns what it has become.
static double put_scale(unsigned char *at, enum element e, int index, double value)
{
    uint32_t aligned = 0;
    element_put(&aligned, e, 0, value);
    memcpy(at + index * element_bytes(e), &aligned, (size_t)element_bytes(e));
    return element_get(&aligned, e, 0);
}

// --- plain ones ---

static int least(const struct block_format *f)
{
    return f->is_signed ? -(1 << (f->bits - 1)) : 0;
}

static int most(const struct block_format *f)
{
    return least(f) + (1 << f->bits) - 1;
}

// Where integer i lies: its byte, and by how much it is shifted there.
static int place_of(const struct block_format *f, int i, int *shift)
{
    int half = f->weights / 2;
    *shift = 0;
    if (f->bits == 8)
        return header_bytes(f) + i;
    *shift = 4 * (f->pairs ? i % 2 : i / half);
    return header_bytes(f) + (f->pairs ? i / 2 : i % half);
}

static int get_integer(const struct block_format *f, const unsigned char *block, int i)
{
    int shift, mask = (1 << f->bits) - 1;
    int at = place_of(f, i, &shift);
    int q = block[at] >> shift & mask;
    return q > most(f) ? q - (1 << f->bits) : q;
}

static void put_integer(const struct block_format *f, unsigned char *block, int i, int q)
{
    int shift, mask = (1 << f->bits) - 1;
    int at = place_of(f, i, &shift);
    block[at] = (unsigned char)((block[at] & ~(mask << shift)) | (q & mask) << shift);
}

static int clamp(double q, int low, int high)
{
    return (int)fmin(fmax(nearbyint(q), low), high);
}

static void get_plain(const struct block_format *f, const unsigned char *block, double *w)
{
    double d = get_scale(block, f->scale, 0), m = f->has_min ? get_scale(block, f->scale, 1) : 0;
    for (int i = 0; i < f->weights; i++)
        w[i] = d * (get_integer(f, block, i) - f->zero) + m;
}

static void quantize_plain(const struct block_format *f, const double *w, unsigned char *block)
{
    int low = least(f) - f->zero, high = most(f) - f->zero;
    double smallest = INFINITY, largest = -INFINITY, d = 0, m = 0;
    for (int i = 0; i < f->weights; i++) {
        smallest = fmin(smallest, w[i]);
        largest = fmax(largest, w[i]);
    }
    if (f->has_min)
        d = (largest - smallest) / (high - low);
    else
        d = fmax(low < 0 ? smallest / low : 0, high > 0 ? largest / high : 0);
    d = put_scale(block, f->scale, 0, d);
    if (f->has_min)
        m = put_scale(block, f->scale, 1, smallest - d * low);
    for (int i = 0; i < f->weights; i++)
        put_integer(f, block, i, clamp(d > 0 ? (w[i] - m) / d : 0, low, high) + f->zero);
}

// --- those with scales of scales ---

static void put_sixes(unsigned char *s, const int *scale, const int *minimum)
{
    for (int i = 0; i < 4; i++) {
        s[i] = (unsigned char)(scale[i] | scale[i + 4] >> 4 << 6);
        s[i + 4] = (unsigned char)(minimum[i] | minimum[i + 4] >> 4 << 6);
        s[i + 8] = (unsigned char)((scale[i + 4] & 15) | (minimum[i + 4] & 15) << 4);
    }
}

// The nibble of weight i: runs of 32 in turns have the lower and the upper one of 32 bytes.
static const unsigned char *q4_byte(const unsigned char *block, int i, int *shift)
{
    *shift = 4 * (i / 32 % 2);
    return block + 16 + i / 64 * 32 + i % 32;
}

static void get_q4_k(const unsigned char *block, double *w)
{
    int scale[8], minimum[8], shift;
    double d = get_scale(block, ELEMENT_F16, 0), m = get_scale(block, ELEMENT_F16, 1);
    // Of q4_K: 8 scales and 8 minima of 6 bits in 12 bytes. The first four of each have a byte,
    // whose upper two bits are those of the last four; these have their lower four bits in the last
    // bytes.
    const unsigned char *s = block + 4;
    for (int i = 0; i < 4; i++) {
        scale[i] = s[i] & 63;
        minimum[i] = s[i + 4] & 63;
        scale[i + 4] = (s[i + 8] & 15) | s[i] >> 6 << 4;
        minimum[i + 4] = s[i + 8] >> 4 | s[i + 4] >> 6 << 4;
    }
    for (int i = 0; i < K_WEIGHTS; i++) {
        const unsigned char *byte = q4_byte(block, i, &shift);
        w[i] = d * scale[i / Q4_K_RUN] * (*byte >> shift & 15) - m * minimum[i / Q4_K_RUN];
    }
}

static void put_q4_k(unsigned char *block, const int *q)
{
    int shift;
    memset(block + 16, 0, K_WEIGHTS / 2);
    for (int i = 0; i < K_WEIGHTS; i++) {
        size_t at = (size_t)(q4_byte(block, i, &shift) - block);
        block[at] = (unsigned char)(block[at] | q[i] << shift);
    }
}

static void quantize_q4_k(const double *w, unsigned char *block)
{
    double step[8], below[8], d = 0, m = 0;
    int scale[8], minimum[8], q[K_WEIGHTS];
    for (int run = 0; run < 8; run++) {
        double smallest = 0, largest = 0;
        for (int i = 0; i < Q4_K_RUN; i++) {
            smallest = fmin(smallest, w[run * Q4_K_RUN + i]);
            largest = fmax(largest, w[run * Q4_K_RUN + i]);
        }
        step[run] = (largest - smallest) / 15;
        below[run] = -smallest;
        d = fmax(d, step[run] / 63);
        m = fmax(m, below[run] / 63);
    }
    d = put_scale(block, ELEMENT_F16, 0, d);
    m = put_scale(block, ELEMENT_F16, 1, m);
    for (int run = 0; run < 8; run++) {
        scale[run] = clamp(d > 0 ? step[run] / d : 0, 0, 63);
        minimum[run] = clamp(m > 0 ? below[run] / m : 0, 0, 63);
    }
    for (int i = 0; i < K_WEIGHTS; i++) {
        double by = d * scale[i / Q4_K_RUN];
        q[i] = clamp(by > 0 ? (w[i] + m * minimum[i / Q4_K_RUN]) / by : 0, 0, 15);
    }
    put_sixes(block + 4, scale, minimum);
    put_q4_k(block, q);
}

// Weight i of q6_K: its lower four bits and its upper two. Each half of the block, 128 weights, has
// 64 bytes of the ones and 32 of the others.
struct six_places {
    int low, low_shift, high, high_shift;
};

static struct six_places q6_places(int i)
{
    int half = i / 128, quarter = i % 128 / 32, at = i % 32;
    return (struct six_places){64 * half + 32 * (quarter % 2) + at, 4 * (quarter / 2),
                               128 + 32 * half + at, 2 * quarter};
}

enum { Q6_SCALES = 192, Q6_D = 208 };

static void get_q6_k(const unsigned char *block, double *w)
{
    double d = get_scale(block + Q6_D, ELEMENT_F16, 0);
    for (int i = 0; i < K_WEIGHTS; i++) {
        struct six_places p = q6_places(i);
        int q = (block[p.low] >> p.low_shift & 15) | (block[p.high] >> p.high_shift & 3) << 4;
        w[i] = d * (signed char)block[Q6_SCALES + i / Q6_K_RUN] * (q - Q6_ZERO);
    }
}

static void put_q6_k(unsigned char *block, const int *q)
{
    memset(block, 0, Q6_SCALES);
    for (int i = 0; i < K_WEIGHTS; i++) {
        struct six_places p = q6_places(i);
        block[p.low] = (unsigned char)(block[p.low] | (q[i] & 15) << p.low_shift);
        block[p.high] = (unsigned char)(block[p.high] | q[i] >> 4 << p.high_shift);
    }
}

static void quantize_q6_k(const double *w, unsigned char *block)
{
    double step[MOST_RUNS] = {0}, d = 0;
    int q[K_WEIGHTS], scale[MOST_RUNS];
    for (int i = 0; i < K_WEIGHTS; i++)
        step[i / Q6_K_RUN] = fmax(step[i / Q6_K_RUN], fabs(w[i]) / 31);
    for (int run = 0; run < MOST_RUNS; run++)
        d = fmax(d, step[run] / 127);
    d = put_scale(block + Q6_D, ELEMENT_F16, 0, d);
    for (int run = 0; run < MOST_RUNS; run++)
        scale[run] = clamp(d > 0 ? step[run] / d : 0, 0, 127);
    for (int i = 0; i < K_WEIGHTS; i++) {
        double by = d * scale[i / Q6_K_RUN];
        q[i] = clamp(by > 0 ? w[i] / by : 0, -32, 31) + Q6_ZERO;
    }
    put_q6_k(block, q);
    for (int run = 0; run < MOST_RUNS; run++)
        block[Q6_SCALES + run] = (unsigned char)scale[run];
}

// --- all ---

void block_get(const struct block_format *f, const void *block, double *weights)
{
    switch (f->kind) {
    case BLOCK_Q4_K: get_q4_k(block, weights); break;
    case BLOCK_Q6_K: get_q6_k(block, weights); break;
    default: get_plain(f, block, weights);
    }
}

void block_quantize(const struct block_format *f, const double *weights, void *block)
{
    switch (f->kind) {
    case BLOCK_Q4_K: quantize_q4_k(weights, block); break;
    case BLOCK_Q6_K: quantize_q6_k(weights, block); break;
    default: quantize_plain(f, weights, block);
    }
}

// 1, 1/2 or 1/4.
static double draw_scale(struct rng *r)
{
    return ldexp(1, -(int)rng_below(r, 3));
}

static void draw_plain(const struct block_format *f, struct rng *r, unsigned char *block)
{
    enum { NEAR = 8 }; // of 8 bits, only small ones
    double d = put_scale(block, f->scale, 0, draw_scale(r));
    if (f->has_min)
        put_scale(block, f->scale, 1, -d * (double)rng_below(r, NEAR));
    int low = f->zero - NEAR > least(f) ? f->zero - NEAR : least(f);
    int high = f->zero + NEAR < most(f) ? f->zero + NEAR - 1 : most(f);
    for (int i = 0; i < f->weights; i++)
        put_integer(f, block, i, low + (int)rng_below(r, (uint64_t)(high - low + 1)));
}

static void draw_q4_k(struct rng *r, unsigned char *block)
{
    int scale[8], minimum[8], q[K_WEIGHTS];
    double d = put_scale(block, ELEMENT_F16, 0, draw_scale(r) / 4);
    put_scale(block, ELEMENT_F16, 1, d);
    for (int run = 0; run < 8; run++) {
        scale[run] = 1 << rng_below(r, 3);
        minimum[run] = (int)rng_below(r, 64);
    }
    for (int i = 0; i < K_WEIGHTS; i++)
        q[i] = (int)rng_below(r, 16);
    put_sixes(block + 4, scale, minimum);
    put_q4_k(block, q);
}

static void draw_q6_k(struct rng *r, unsigned char *block)
{
    int q[K_WEIGHTS];
    for (int i = 0; i < K_WEIGHTS; i++)
        q[i] = (int)rng_below(r, 64);
    put_q6_k(block, q);
    put_scale(block + Q6_D, ELEMENT_F16, 0, draw_scale(r) / 8);
    for (int run = 0; run < MOST_RUNS; run++) {
        int scale = 1 << rng_below(r, 2);
        block[Q6_SCALES + run] = (unsigned char)(rng_below(r, 2) ? scale : -scale);
    }
}

void block_draw(const struct block_format *f, struct rng *r, void *block)
{
    switch (f->kind) {
    case BLOCK_Q4_K: draw_q4_k(r, block); break;
    case BLOCK_Q6_K: draw_q6_k(r, block); break;
    default: draw_plain(f, r, block);
    }
}

static double flop(const struct operation *o)
{
    return custom_of(o)->flop;
}

static int tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    const struct custom_operation *c = custom_of(o);
    memcpy(out, c->buffer, (size_t)c->tensor_count * sizeof *out);
    return c->tensor_count;
}

static struct workload work(const struct operation *o)
{
    return custom_of(o)->work;
}

struct custom_operation *custom_create(const char *name, double flops, const struct workload *rated)
{
    static const struct operation_size no_sizes[] = {{.name = NULL}};
    struct custom_operation *c = mem_zero(1, sizeof *c);
    arena_init(&c->arena);
    c->kind = (struct operation_kind){.name = arena_strdup(&c->arena, name),
                                      .help = "defined by its space file",
                                      .sizes = no_sizes,
                                      .flop = flop,
                                      .work = work,
                                      .tensors = tensors};
    c->flop = flops;
    c->work = rated ? *rated : (struct workload){flops, WORK_FLOP};
    c->work.unit = arena_strdup(&c->arena, c->work.unit);
    return c;
}

void custom_destroy(struct custom_operation *c)
{
    if (!c)
        return;
    arena_finish(&c->arena);
    free(c);
}

const struct custom_operation *custom_of(const struct operation *o)
{
    return o->kind && o->kind->tensors == tensors ? (const void *)o->kind : NULL;
}

static int find_buffer(const struct custom_operation *c, const char *name)
{
    for (int i = 0; i < c->buffer_count; i++)
        if (strcmp(c->buffer[i].name, name) == 0)
            return i;
    return -1;
}

static void add_buffer(struct custom_operation *c, const struct tensor *t, const char *name)
{
    c->buffer[c->buffer_count++] =
        tensor_packed(arena_strdup(&c->arena, name), t->element, t->rank, t->size);
}

// Of a row of weights the bytes of its blocks.
static bool make_blocks(struct tensor *t, const struct block_format *f, struct err *e)
{
    int64_t *row = &t->size[t->rank - 1];
    if (*row % f->weights)
        return err_set(e,
                       "rows of %" PRId64 " weights are no whole blocks of %d (make the last "
                       "size a multiple of it)",
                       *row, f->weights);
    *row = *row / f->weights * block_bytes(f);
    t->element = ELEMENT_I8;
    return true;
}

struct tensor custom_tensor(const struct custom_operation *c, int index)
{
    struct tensor t = c->buffer[index];
    const struct block_format *f = &c->filling[index].block;
    if (!f->weights)
        return t;
    t.size[t.rank - 1] = t.size[t.rank - 1] / block_bytes(f) * f->weights;
    return tensor_packed(t.name, ELEMENT_F32, t.rank, t.size);
}

bool custom_add_tensor(struct custom_operation *c, const struct tensor *t,
                       const struct custom_filling *f, struct err *e)
{
    int i = c->tensor_count;
    struct tensor stored = *t;
    if (i == OPERATION_MAX_TENSORS)
        return err_set(e, "%s: more than %d buffers", c->kind.name, OPERATION_MAX_TENSORS);
    if (find_buffer(c, t->name) >= 0)
        return err_set(e, "%s: buffer %s is declared twice", c->kind.name, t->name);
    if (!(f->low <= f->high))
        return err_set(e, "%s: buffer %s: fill = { low, high } goes up", c->kind.name, t->name);
    if (f->block.weights && !make_blocks(&stored, &f->block, e))
        return err_prefix(e, "%s: buffer %s", c->kind.name, t->name);
    add_buffer(c, &stored, t->name);
    c->tensor_count++;
    c->filling[i] = *f;
    return true;
}

// --- steps ---

// Inputs are filled, and what lies in between was made by the step that wrote it.
static bool is_written(const struct custom_operation *c, int buffer)
{
    bool is_written = buffer != c->tensor_count - 1;
    for (int i = 0; i < c->step_count && !is_written; i++)
        is_written = c->step[i].buffer[c->step[i].count - 1] == buffer;
    return is_written;
}

static bool same_content(const struct tensor *wanted, const struct tensor *given, struct err *e)
{
    if (wanted->element != given->element || tensor_count(wanted) != tensor_count(given))
        return err_set(e, "%s is %" PRId64 " %s, %s is %" PRId64 " %s", wanted->name,
                       tensor_count(wanted), element_name(wanted->element), given->name,
                       tensor_count(given), element_name(given->element));
    return tensor_bytes(wanted) == tensor_bytes(given) ||
           err_set(e, "%s has gaps between its rows, %s has none", wanted->name, given->name);
}

static bool read_buffer(const struct custom_operation *c, const struct tensor *t, const char *name,
                        int *out, struct err *e)
{
    *out = find_buffer(c, name);
    if (*out < 0 || !is_written(c, *out))
        return err_set(e, "it reads %s, which nothing has written", name);
    return same_content(t, &c->buffer[*out], e);
}

static bool write_buffer(struct custom_operation *c, const struct tensor *t, const char *name,
                         int *out, struct err *e)
{
    *out = find_buffer(c, name);
    if (*out >= 0 && is_written(c, *out))
        return err_set(e, "it writes %s, which %s", name,
                       *out < c->tensor_count - 1 ? "is an input" : "is written already");
    if (*out >= 0)
        return same_content(t, &c->buffer[*out], e);
    *out = c->buffer_count;
    add_buffer(c, t, name);
    return true;
}

static bool connect(struct custom_operation *c, struct custom_step *s, const char *const *names,
                    int count, struct err *e)
{
    struct tensor t[OPERATION_MAX_TENSORS];
    int wanted = operation_tensors(&s->operation, t);
    if (count != wanted)
        return err_set(e, "it has %d buffers, %d are named", wanted, count);
    s->count = count;
    for (int i = 0; i < count - 1; i++)
        if (!read_buffer(c, &t[i], names[i], &s->buffer[i], e))
            return false;
    return write_buffer(c, &t[count - 1], names[count - 1], &s->buffer[count - 1], e);
}

bool custom_add_step(struct custom_operation *c, const struct operation *o,
                     const char *const *names, int count, struct err *e)
{
    if (c->step_count == CUSTOM_MAX_STEPS)
        return err_set(e, "%s: more than %d steps", c->kind.name, CUSTOM_MAX_STEPS);
    struct custom_step step = {.operation = *o};
    if (!connect(c, &step, names, count, e))
        return err_prefix(e, "%s: step %d (%s)", c->kind.name, c->step_count + 1, o->kind->name);
    c->step[c->step_count++] = step;
    return true;
}

static bool dequantize(struct custom_operation *c, const char *from, const char *to,
                       struct custom_step *step, struct err *e)
{
    int buffer = find_buffer(c, from);
    bool is_input = buffer >= 0 && buffer < c->tensor_count;
    if (!is_input ||
        (!c->filling[buffer].block.weights && c->buffer[buffer].element != ELEMENT_F16))
        return err_set(e, "%s is no input of blocks, nor of f16", from);
    struct tensor numbers = custom_tensor(c, buffer);
    numbers.element = ELEMENT_F32;
    *step = (struct custom_step){.count = 2, .buffer = {buffer}};
    return write_buffer(c, &numbers, to, &step->buffer[1], e);
}

bool custom_add_dequantize(struct custom_operation *c, const char *from, const char *to,
                           struct err *e)
{
    struct custom_step step;
    if (c->step_count == CUSTOM_MAX_STEPS)
        return err_set(e, "%s: more than %d steps", c->kind.name, CUSTOM_MAX_STEPS);
    if (!dequantize(c, from, to, &step, e))
        return err_prefix(e, "%s: step %d (dequantize)", c->kind.name, c->step_count + 1);
    c->step[c->step_count++] = step;
    return true;
}

bool custom_is_computed(const struct custom_operation *c, struct err *e)
{
    int output = c->tensor_count - 1;
    return is_written(c, output) ||
           err_set(e, "%s: no step writes %s", c->kind.name, c->buffer[output].name);
}
