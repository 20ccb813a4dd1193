#include "trial/operator.h"

#include "base/rng.h"
#include "base/str.h"
#include "space/custom_operation.h"
#include "space/tensor.h"
#include "trial/operator_kind.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct tolerance tolerance_of_store(enum element e)
{
    switch (e) {
    case ELEMENT_F16: return (struct tolerance){0x1p-24, 1.5 * 0x1p-10};
    case ELEMENT_F32: return (struct tolerance){0x1p-149, 1.5 * 0x1p-23};
    default: return (struct tolerance){0, 0};
    }
}

enum { POISON_BYTE = 0xff };

#define AS_ENTRY(name) &operator_##name,
static const struct operator_kind *const kinds[] = {OPERATIONS(AS_ENTRY) NULL};

static const struct operator_kind *find(const struct operation *o)
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
    for (int i = 0; i < l.count; i++)
        l.buffer[i] = (struct operator_buffer){.name = tensor[i].name,
                                               .bytes = tensor_bytes(&tensor[i]),
                                               .is_output = i == l.count - 1};
    return l;
}

static bool type_fits(const struct operation *o, const struct limits *l, struct err *e)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    const struct custom_operation *c = custom_of(o);
    operation_tensors(o, tensor);         // the first is of the operation's type
    if (c && c->filling[0].block.weights) // which kernels read as they like
        return true;
    bool lacks = (tensor[0].element == ELEMENT_F16 && !l->f16) ||
                 (tensor[0].element == ELEMENT_I8 && !l->i8);
    return !lacks || err_set(e, "%s: the device has no %s (choose another type)", o->kind->name,
                             element_name(tensor[0].element));
}

bool operator_fits(const struct operation *o, const struct limits *l, struct err *e)
{
    struct operator_layout layout = operator_layout(o);
    if (!type_fits(o, l, e))
        return false;
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

static double draw(const struct filling *f, struct rng *r)
{
    if (f->whole)
        return ceil(f->low) + floor(rng_real(r) * (floor(f->high) - ceil(f->low) + 1));
    if (f->largest == 0)
        return f->low + (f->high - f->low) * rng_real(r);
    if (f->density < 1 && rng_real(r) >= f->density)
        return 0;
    return (double)((int64_t)rng_below(r, (uint64_t)(2 * f->largest + 1)) - f->largest);
}

void operator_fill(const struct operation *o, enum input_set set, uint64_t seed, int index,
                   void *out)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    const struct tensor *t = &tensor[index];
    struct filling f = find(o)->filling(o, set, index);
    struct rng r;
    rng_seed(&r, seed + 2 * (uint64_t)index + (uint64_t)set);
    memset(out, POISON_BYTE, tensor_bytes(t));
    const struct operator_kind *kind = find(o);
    if (kind->fill && kind->fill(o, set, &r, index, out))
        return;
    int64_t lines = tensor_lines(t), size = t->size[t->rank - 1], step = t->stride[t->rank - 1];
    for (int64_t line = 0; line < lines; line++) {
        int64_t at = tensor_line(t, line);
        for (int64_t i = 0; i < size; i++)
            element_put(out, t->element, at + i * step, draw(&f, &r));
    }
}

void operator_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct operator_layout l = operator_layout(o);
    memset(output, POISON_BYTE, l.buffer[l.count - 1].bytes);
    find(o)->reference(o, inputs, output);
}

const char *operator_reference_name(const struct operation *o)
{
    const struct custom_operation *c = custom_of(o);
    const char *by = find(o)->by;
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
    int64_t wrong, first_line, first; // the first wrong one's line and place in it
    double largest;                   // error relative to the tolerance
    double error_square, square;      // sums
    double far;                       // the largest error
    int64_t far_line, far_at;         // where, in its line
};

// How far an element is off, relative to what it may be; 0 when equal, and NaN never passes as
// small.
static double relative_error(const struct comparison *c, int64_t offset)
{
    double got = element_get(c->got, c->output.element, offset);
    double expected = element_get(c->expected, c->output.element, offset);
    if (got == expected)
        return 0;
    double allowed = c->tolerance.absolute + c->tolerance.relative * fabs(expected);
    double ratio = fabs(got - expected) / allowed;
    return isnan(ratio) ? INFINITY : ratio;
}

// For all of them together.
static void take_error(struct comparison *c, int64_t offset, int64_t line, int64_t i)
{
    double expected = element_get(c->expected, c->output.element, offset);
    double error = fabs(element_get(c->got, c->output.element, offset) - expected);
    c->error_square += error * error;
    c->square += expected * expected;
    if (error <= c->far)
        return;
    c->far = error;
    c->far_line = line;
    c->far_at = i;
}

static void compare_line(struct comparison *c, int64_t line)
{
    const struct tensor *t = &c->output;
    int64_t at = tensor_line(t, line), size = t->size[t->rank - 1], step = t->stride[t->rank - 1];
    for (int64_t i = 0; i < size; i++) {
        double error = relative_error(c, at + i * step);
        if (error > 1 && c->wrong++ == 0) {
            c->first_line = line;
            c->first = i;
        }
        c->largest = error > c->largest ? error : c->largest;
        if (c->tolerance.nmse > 0)
            take_error(c, at + i * step, line, i);
    }
}

static double nmse_of(const struct comparison *c)
{
    return c->error_square > 0 ? c->error_square / c->square : 0;
}

// Each of them may be, and all together are too far off.
static bool is_off_in_all(struct comparison *c)
{
    if (c->wrong || !(c->tolerance.nmse > 0))
        return false;
    c->largest = fmax(c->largest, nmse_of(c) / c->tolerance.nmse);
    c->first_line = c->far_line;
    c->first = c->far_at;
    return nmse_of(c) > c->tolerance.nmse;
}

// Nothing may be written between the elements.
static bool gaps_are_intact(const struct tensor *t, const void *got, char *reason, size_t size)
{
    int64_t extent = tensor_extent(t), bytes = element_bytes(t->element);
    const unsigned char *byte = got;
    if (extent == tensor_count(t))
        return true;
    for (int64_t i = 0; i < extent * bytes; i++)
        if (byte[i] != POISON_BYTE && !tensor_has(t, i / bytes)) {
            snprintf(reason, size, "it wrote between the rows of %s, at element %" PRId64, t->name,
                     i / bytes);
            return false;
        }
    return true;
}

static struct operator_verdict compare(const struct operation *o, struct tolerance tolerance,
                                       const void *output, const void *reference, char *reason,
                                       size_t size)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    struct comparison c = {.tolerance = tolerance, .got = output, .expected = reference};
    c.output = tensor[operation_tensors(o, tensor) - 1];
    int64_t lines = tensor_lines(&c.output);
    for (int64_t line = 0; line < lines; line++)
        compare_line(&c, line);
    if (size)
        reason[0] = '\0';
    bool is_off = is_off_in_all(&c);
    if (c.wrong || is_off) {
        const struct tensor *t = &c.output;
        int64_t line = c.first_line, index[TENSOR_MAX_RANK];
        for (int d = t->rank - 2; d >= 0; d--) {
            index[d] = line % t->size[d];
            line /= t->size[d];
        }
        index[t->rank - 1] = c.first;
        int64_t at = tensor_line(t, c.first_line) + c.first * t->stride[t->rank - 1];
        double got = element_get(c.got, t->element, at);
        struct str s = {0};
        str_printf(&s, "%s[", t->name);
        for (int d = 0; d < t->rank; d++)
            str_printf(&s, "%s%" PRId64, d ? "," : "", index[d]);
        str_printf(&s, "] = %.9g, expected %.9g", isnan(got) ? fabs(got) : got, // not "-nan"
                   element_get(c.expected, t->element, at));
        if (c.wrong)
            str_printf(&s, " (%" PRId64 " of %" PRId64 " wrong)", c.wrong, tensor_count(t));
        else
            str_printf(&s, " (normalised mean squared error %.3g > %.3g)", nmse_of(&c),
                       c.tolerance.nmse);
        snprintf(reason, size, "%s", str_text(&s));
        str_finish(&s);
    }
    bool right = c.wrong == 0 && !is_off && gaps_are_intact(&c.output, output, reason, size);
    return (struct operator_verdict){right, c.largest};
}

struct operator_verdict operator_compare(const struct operation *o, enum input_set set,
                                         const void *output, const void *reference, char *reason,
                                         size_t size)
{
    return compare(o, find(o)->tolerance(o, set), output, reference, reason, size);
}

// --- in a network ---

enum { FACTORS = 2 };
#define MOST_RELATIVE 0.01

struct operator_verdict operator_compare_flow(const struct operation *o, double magnitude,
                                              const void *output, const void *reference,
                                              char *reason, size_t size)
{
    struct tolerance t = find(o)->tolerance(o, INPUT_RANDOM);
    t.absolute *= magnitude;
    t.relative = fmax(t.relative, fmin(t.relative * magnitude, MOST_RELATIVE));
    return compare(o, t, output, reference, reason, size);
}

struct operator_verdict operator_compare_within(const struct operation *o, struct tolerance t,
                                                const void *output, const void *expected,
                                                char *reason, size_t size)
{
    return compare(o, t, output, expected, reason, size);
}

static double size_of(double value)
{
    return isnan(value) ? INFINITY : fabs(value); // fmax would pass over it
}

double operator_magnitude(const struct operation *o, const void *const *inputs)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor) - 1;
    double product = 1, added = 1;
    for (int i = 0; i < count; i++) {
        const void *data = inputs[i];
        double largest = 0;
        int64_t lines = tensor_lines(&tensor[i]), size = tensor[i].size[tensor[i].rank - 1],
                step = tensor[i].stride[tensor[i].rank - 1];
        for (int64_t line = 0; line < lines; line++) {
            int64_t at = tensor_line(&tensor[i], line);
            for (int64_t j = 0; j < size; j++)
                largest =
                    fmax(largest, size_of(element_get(data, tensor[i].element, at + j * step)));
        }
        product *= i < FACTORS ? fmax(1, largest) : 1;
        added = i < FACTORS ? added : fmax(added, largest);
    }
    return fmax(product, added);
}

void operator_fill_weight(const struct operation *o, uint64_t seed, int index, void *out)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    const struct tensor *t = &tensor[index];
    double summed = operation_flop(o) / (2 * (double)tensor_count(&tensor[count - 1]));
    operator_fill(o, INPUT_RANDOM, seed, index, out);
    if (summed <= 3 || t->element == ELEMENT_I8 || t->element == ELEMENT_I32)
        return;
    double factor = sqrt(3 / summed); // a number uniform in [-1, 1) has variance 1/3
    int64_t lines = tensor_lines(t), size = t->size[t->rank - 1], step = t->stride[t->rank - 1];
    for (int64_t line = 0; line < lines; line++)
        for (int64_t i = 0, at = tensor_line(t, line); i < size; i++, at += step)
            element_put(out, t->element, at, factor * element_get(out, t->element, at));
}
