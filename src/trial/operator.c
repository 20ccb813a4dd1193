#include "trial/operator.h"

#include "base/str.h"
#include "space/custom_operation.h"
#include "space/tensor.h"
#include "trial/operator_kind.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
    POISON_BYTE = 0xff,
    FACTORS = 2, // inputs of a product
    ALIGNMENT = 64
};
#define MOST_RELATIVE 0.01

#define AS_ENTRY(name) &operator_##name,
static const struct operator_kind *const kinds[] = {OPERATIONS(AS_ENTRY) NULL};

struct tolerance tolerance_of_store(enum element e)
{
    const struct element_traits *t = &element_traits[e];
    if (!element_is_real(e))
        return (struct tolerance){0, 0};
    double least = ldexp(1, 2 - (1 << (t->exponent - 1)) - t->fraction); // the smallest subnormal
    return (struct tolerance){least, ldexp(1.5, -t->fraction)};
}

struct tolerance no_tolerance(const struct operation *o, enum input_set set)
{
    (void)o, (void)set;
    return (struct tolerance){0, 0};
}

struct filling usual_filling(const struct operation *o, enum input_set set, int index)
{
    (void)o, (void)index;
    return set == INPUT_EXACT ? (struct filling){.largest = USUAL_LARGEST, .density = 1}
                              : (struct filling){.low = -1, .high = 1};
}

static const struct operator_kind *find_kind(const struct operation *o)
{
    if (custom_of(o))
        return &operator_custom;
    for (int i = 0; kinds[i]; i++)
        if (str_equal(kinds[i]->name, o->kind->name))
            return kinds[i];
    assert(!"an operation that can be declared can be computed");
    return NULL;
}

struct operator_layout operator_layout(const struct operation *o)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    struct operator_layout l = {.count = operation_tensors(o, tensor)};
    l.inputs = l.count - operation_outputs(o);
    for (int i = 0; i < l.count; i++)
        l.buffer[i] = (struct operator_buffer){
            .name = tensor[i].name, .bytes = tensor_bytes(&tensor[i]), .is_output = i >= l.inputs};
    return l;
}

struct job_roles operator_roles(const struct operator_layout *l)
{
    return (struct job_roles){l->inputs, l->count - l->inputs};
}

static size_t padded(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t operator_output_offset(const struct operator_layout *l, int buffer)
{
    size_t offset = 0;
    for (int i = l->inputs; i < buffer && i < l->count; i++)
        offset += i + 1 < l->count ? padded(l->buffer[i].bytes) : l->buffer[i].bytes;
    return offset;
}

bool operator_fits(const struct operation *o, const struct limits *l, struct err *e)
{
    const struct operator_layout layout = operator_layout(o);
    const struct custom_operation *c = custom_of(o);
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    for (int i = 0; i < layout.count; i++) {
        // Kernels decode blocks in their own way.
        bool has_blocks = c ? c->filling[i].block.weights : i == 0 && operation_blocks(o);
        if (!has_blocks && !limits_has_type(l, tensor[i].element))
            return err_set(e, "%s: buffer %s: the device has no %s (choose another type)",
                           o->kind->name, tensor[i].name, element_name(tensor[i].element));
    }
    if (l->buffers && (uint32_t)layout.count > l->buffers)
        return err_set(e, "%s: a kernel binds %d buffers, the device allows %" PRIu32,
                       o->kind->name, layout.count, l->buffers);
    for (int i = 0; i < layout.count; i++) {
        const struct operator_buffer *b = &layout.buffer[i];
        if (b->bytes > l->buffer_bytes)
            return err_set(e,
                           "%s: buffer %s needs %" PRIu64 " bytes, the device allows %" PRIu64
                           " (choose smaller sizes)",
                           o->kind->name, b->name, b->bytes, l->buffer_bytes);
    }
    return true;
}

// --- inputs ---

void fill_blocks(const struct block_format *f, int64_t count, const struct filling *by,
                 struct rng *r, void *out)
{
    double weight[BLOCK_MAX_WEIGHTS];
    int bytes = block_bytes(f);
    for (int64_t b = 0; b < count; b++) {
        unsigned char *block = (unsigned char *)out + b * bytes;
        memset(block, 0, (size_t)bytes);
        for (int i = 0; i < f->weights; i++)
            weight[i] = by ? by->low + (by->high - by->low) * rng_real(r) : 0;
        if (by)
            block_quantize(f, weight, block);
        else
            block_draw(f, r, block);
    }
}

void operator_fill(const struct operation *o, enum input_set set, uint64_t seed, int index,
                   void *out)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    const struct tensor *t = &tensor[index];
    const struct operator_kind *kind = find_kind(o);
    struct filling f = kind->filling(o, set, index);
    struct rng r;
    f.whole |= f.largest == 0 && !element_is_real(t->element);
    rng_seed(&r, seed + 2 * (uint64_t)index + (uint64_t)set);
    double least = element_least(t->element);
    memset(out, POISON_BYTE, tensor_bytes(t));
    if (kind->fill && kind->fill(o, set, &r, index, out))
        return;
    int64_t lines = tensor_lines(t), size = t->size[t->rank - 1], step = t->stride[t->rank - 1];
    for (int64_t line = 0; line < lines; line++)
        for (int64_t i = 0, at = tensor_line(t, line); i < size; i++, at += step) {
            double value = 0;
            if (f.whole)
                value = ceil(f.low) + floor(rng_real(&r) * (floor(f.high) - ceil(f.low) + 1));
            else if (f.largest == 0)
                value = f.low + (f.high - f.low) * rng_real(&r);
            else if (f.density >= 1 || rng_real(&r) < f.density)
                value = (double)((int64_t)rng_below(&r, (uint64_t)(2 * f.largest + 1)) - f.largest);
            element_put(out, t->element, at, value < least ? -value : value);
        }
}

void operator_fill_weight(const struct operation *o, uint64_t seed, int index, void *out)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    const struct tensor *t = &tensor[index];
    double summed = operation_flop(o) / (2 * (double)tensor_count(&tensor[count - 1]));
    operator_fill(o, INPUT_RANDOM, seed, index, out);
    if (summed <= 3 || !element_is_real(t->element))
        return;
    double factor = sqrt(3 / summed); // a number uniform in [-1, 1) has variance 1/3
    int64_t lines = tensor_lines(t), size = t->size[t->rank - 1], step = t->stride[t->rank - 1];
    for (int64_t line = 0; line < lines; line++)
        for (int64_t i = 0, at = tensor_line(t, line); i < size; i++, at += step)
            element_put(out, t->element, at, factor * element_get(out, t->element, at));
}

double operator_magnitude(const struct operation *o, const void *const *inputs)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor) - 1;
    double product = 1, added = 1;
    for (int k = 0; k < count; k++) {
        const struct tensor *t = &tensor[k];
        double largest = 0;
        int64_t lines = tensor_lines(t), size = t->size[t->rank - 1], step = t->stride[t->rank - 1];
        for (int64_t line = 0; line < lines; line++)
            for (int64_t i = 0, at = tensor_line(t, line); i < size; i++, at += step) {
                double value = element_get(inputs[k], t->element, at);
                largest = fmax(largest, isnan(value) ? INFINITY : fabs(value)); // fmax drops a NaN
            }
        if (k < FACTORS)
            product *= fmax(1, largest);
        else
            added = fmax(added, largest);
    }
    return fmax(product, added);
}

// --- references ---

void operator_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct operator_layout l = operator_layout(o);
    memset(output, POISON_BYTE, operator_output_offset(&l, l.count));
    find_kind(o)->reference(o, inputs, output);
}

size_t operator_reference_bytes(const struct operation *o)
{
    // OpenBLAS waits for ever where it gets no buffer, which has up to this many bytes.
    const size_t blas_bytes = (size_t)136 << 20;
    const struct custom_operation *c = custom_of(o);
    bool multiplies = find_kind(o)->by != NULL;
    for (int i = 0; c && i < c->step_count; i++)
        multiplies |= c->step[i].operation.kind && find_kind(&c->step[i].operation)->by;
    return multiplies ? blas_bytes : 0;
}

double operator_reference_seconds(const struct operation *o)
{
    const double least_s = 30, most_s = 600, bytes_per_s = 1e8;
    double flop_per_s = find_kind(o)->by ? 1e9 : 1e7;
    size_t bytes = 0;
    struct operator_layout l = operator_layout(o);
    for (int i = 0; i < l.count; i++)
        bytes += l.buffer[i].bytes;
    double seconds = INPUT_SETS * (operation_flop(o) / flop_per_s + (double)bytes / bytes_per_s);
    return fmin(least_s + seconds, most_s);
}

const char *operator_reference_name(const struct operation *o)
{
    const struct custom_operation *c = custom_of(o);
    const char *by = find_kind(o)->by;
    if (c)
        return c->step_count ? "the steps of the space file"
                             : "the reference kernel of the space file";
    return by ? by : "loops of tilewalk's own, in double";
}

// --- comparison ---

struct comparison {
    struct tensor output;
    struct tolerance tolerance;
    const void *got, *expected;
    int64_t wrong, first_line, first; // the first wrong element's line and place in it
    double worst;                     // error relative to the tolerance
    double error_square, square;      // sums
    double farthest;                  // the largest error
    int64_t far_line, far_at;         // its line and place
};

// Says if an element is as it was before the run, which is a NaN too (one of f8e4m3's two).
static bool is_poison(const void *buffer, enum element e, int64_t index)
{
    const unsigned char *byte = (const unsigned char *)buffer + index * element_bytes(e);
    return byte[0] == POISON_BYTE && memcmp(byte, byte + 1, (size_t)element_bytes(e) - 1) == 0;
}

// Compares a line of elements. A NaN counts as an infinite error, unless it is expected, as of
// sqrt(-1), and was written.
static void compare_line(struct comparison *c, int64_t line)
{
    const struct tensor *t = &c->output;
    const struct tolerance *allowed = &c->tolerance;
    int64_t at = tensor_line(t, line), size = t->size[t->rank - 1], step = t->stride[t->rank - 1];
    for (int64_t i = 0; i < size; i++, at += step) {
        double got = element_get(c->got, t->element, at);
        double expected = element_get(c->expected, t->element, at);
        bool has_none = isnan(got) && isnan(expected) && !is_poison(c->got, t->element, at);
        double error = has_none ? 0 : element_distance(c->got, c->expected, t->element, at);
        double ratio = 0;
        if (!has_none && (got != expected || error > 0))
            ratio = error / (allowed->absolute + allowed->relative * fabs(expected));
        if (isnan(ratio))
            ratio = INFINITY;
        if (ratio > 1 && c->wrong++ == 0) {
            c->first_line = line;
            c->first = i;
        }
        c->worst = ratio > c->worst ? ratio : c->worst;
        if (allowed->nmse <= 0)
            continue;
        c->error_square += error * error;
        c->square += expected * expected;
        if (error > c->farthest) {
            c->farthest = error;
            c->far_line = line;
            c->far_at = i;
        }
    }
}

static void describe_difference(const struct comparison *c, double nmse, char *reason, size_t size)
{
    const struct tensor *t = &c->output;
    int64_t line = c->first_line, index[TENSOR_MAX_RANK];
    for (int d = t->rank - 2; d >= 0; d--) {
        index[d] = line % t->size[d];
        line /= t->size[d];
    }
    index[t->rank - 1] = c->first;
    int64_t at = tensor_line(t, c->first_line) + c->first * t->stride[t->rank - 1];
    double got = element_get(c->got, t->element, at);
    struct str s = {0};
    str_printf(&s, "%s[", t->name);
    for (int d = 0; d < t->rank; d++)
        str_printf(&s, "%s%" PRId64, d ? "," : "", index[d]);
    int digits = element_bytes(t->element) == 8 ? 17 : 9;
    double expected = element_get(c->expected, t->element, at);
    if (isnan(got) && isnan(expected))
        str_add(&s, "] is not written, expected nan");
    else
        str_printf(&s, "] = %.*g, expected %.*g", digits,
                   isnan(got) ? fabs(got) : got, // not "-nan"
                   digits, isnan(expected) ? fabs(expected) : expected);
    if (c->wrong)
        str_printf(&s, " (%" PRId64 " of %" PRId64 " wrong)", c->wrong, tensor_count(t));
    else
        str_printf(&s, " (normalised mean squared error %.3g > %.3g)", nmse, c->tolerance.nmse);
    snprintf(reason, size, "%s", str_text(&s));
    str_finish(&s);
}

static struct operator_verdict compare_tensor(const struct tensor *output, struct tolerance t,
                                              const void *got, const void *expected, char *reason,
                                              size_t size)
{
    struct comparison c = {.output = *output, .tolerance = t, .got = got, .expected = expected};
    int64_t lines = tensor_lines(&c.output);
    for (int64_t line = 0; line < lines; line++)
        compare_line(&c, line);
    double nmse = c.error_square > 0 ? c.error_square / c.square : 0;
    bool is_off = false; // each element is within its tolerance, and all together are not
    if (!c.wrong && t.nmse > 0) {
        is_off = nmse > t.nmse;
        c.worst = fmax(c.worst, nmse / t.nmse);
        c.first_line = c.far_line;
        c.first = c.far_at;
    }
    if (c.wrong || is_off)
        describe_difference(&c, nmse, reason, size);
    // Nothing may be written between the elements.
    bool right = c.wrong == 0 && !is_off;
    int64_t extent = tensor_extent(&c.output), bytes = element_bytes(c.output.element);
    if (extent == tensor_count(&c.output))
        extent = 0;
    for (int64_t i = 0; right && i < extent * bytes; i++)
        if (((const unsigned char *)got)[i] != POISON_BYTE && !tensor_has(&c.output, i / bytes)) {
            snprintf(reason, size, "it wrote between the rows of %s, at element %" PRId64,
                     c.output.name, i / bytes);
            right = false;
        }
    return (struct operator_verdict){right, c.worst};
}

struct operator_verdict operator_compare_within(const struct operation *o, struct tolerance t,
                                                const void *output, const void *expected,
                                                char *reason, size_t size)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    struct operator_verdict all = {true, 0};
    struct operator_layout l = operator_layout(o);
    operation_tensors(o, tensor);
    if (size)
        reason[0] = '\0';
    for (int i = l.inputs; all.right && i < l.count; i++) {
        bool is_whole = !element_is_real(tensor[i].element);
        bool is_exact = l.count - l.inputs > 1 && is_whole;
        size_t at = operator_output_offset(&l, i);
        struct operator_verdict one =
            compare_tensor(&tensor[i], is_exact ? (struct tolerance){0, 0, 0} : t,
                           (const char *)output + at, (const char *)expected + at, reason, size);
        all.right = one.right;
        all.worst = fmax(all.worst, one.worst);
    }
    return all;
}

struct operator_verdict operator_compare(const struct operation *o, enum input_set set,
                                         const void *output, const void *reference, char *reason,
                                         size_t size)
{
    return operator_compare_within(o, find_kind(o)->tolerance(o, set), output, reference, reason,
                                   size);
}

struct operator_verdict operator_compare_flow(const struct operation *o, double magnitude,
                                              const void *output, const void *reference,
                                              char *reason, size_t size)
{
    struct tolerance t = find_kind(o)->tolerance(o, INPUT_RANDOM);
    t.absolute *= magnitude;
    t.relative = fmax(t.relative, fmin(t.relative * magnitude, MOST_RELATIVE));
    return operator_compare_within(o, t, output, reference, reason, size);
}

// --- shared memory ---

// Returns the offset of buffer `index` of `set`; for (INPUT_SETS, 0) the size of all buffers.
static size_t offset_of(const struct operator_layout *l, int set, int index)
{
    size_t offset = 0;
    for (int i = 0; i < set * l->count + index; i++)
        offset += padded(l->buffer[i % l->count].bytes);
    return offset;
}

bool shared_size(const struct operation *o, size_t *size, struct err *e)
{
    struct operator_layout l = operator_layout(o);
    double bytes = 0; // cannot wrap
    for (int i = 0; i < l.count; i++)
        bytes += (double)INPUT_SETS * ((double)l.buffer[i].bytes + ALIGNMENT);
    if (bytes >= 0x1p62)
        return err_set(e, "%s: inputs and results of %.3g bytes are too large", o->kind->name,
                       bytes);
    *size = offset_of(&l, INPUT_SETS, 0);
    return true;
}

bool shared_map(struct shared *s, const struct operation *o, int fd, bool writable, struct err *e)
{
    *s = (struct shared){.layout = operator_layout(o)};
    if (!shared_size(o, &s->size, e))
        return false;
    void *bytes =
        mmap(NULL, s->size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return err_set(e, "cannot map %zu bytes of shared memory: %s", s->size, strerror(errno));
    s->bytes = bytes;
    return true;
}

void shared_unmap(struct shared *s)
{
    if (s->bytes)
        munmap(s->bytes, s->size);
    s->bytes = NULL;
}

void *shared_buffer(const struct shared *s, enum input_set set, int index)
{
    return s->bytes + offset_of(&s->layout, (int)set, index);
}

void shared_prepare(struct shared *s, const struct operation *o, uint64_t seed)
{
    static const enum input_set sets[INPUT_SETS] = {INPUT_EXACT, INPUT_RANDOM};
    for (int k = 0; k < INPUT_SETS; k++) {
        const void *inputs[OPERATOR_MAX_BUFFERS];
        int output = s->layout.inputs;
        for (int i = 0; i < output; i++) {
            operator_fill(o, sets[k], seed, i, shared_buffer(s, sets[k], i));
            inputs[i] = shared_buffer(s, sets[k], i);
        }
        operator_reference(o, inputs, shared_buffer(s, sets[k], output));
    }
}
