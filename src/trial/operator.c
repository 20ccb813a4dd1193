#include "trial/operator.h"

#include "base/str.h"
#include "trial/half.h"
#include "trial/operator_kind.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct operator_kind *const kinds[] = {&operator_matmul, NULL};

static const struct operator_kind *find(const struct operation *o)
{
    for (int i = 0; kinds[i]; i++)
        if (str_equal(kinds[i]->name, o->kind->name))
            return kinds[i];
    assert(!"an operation that can be declared can be computed");
    return NULL;
}

bool operator_is_f16(const struct operation *o)
{
    return str_equal(operation_choice(o, "type"), "f16");
}

struct operator_layout operator_layout(const struct operation *o)
{
    return find(o)->layout(o);
}

bool operator_fits(const struct operation *o, const struct limits *l, struct err *e)
{
    struct operator_layout layout = operator_layout(o);
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

void operator_fill(const struct operation *o, enum input_set set, uint64_t seed, int index,
                   void *out)
{
    find(o)->fill(o, set, seed, index, out);
}

void operator_reference(const struct operation *o, const void *const *inputs, void *output)
{
    find(o)->reference(o, inputs, output);
}

struct comparison {
    bool f16;
    double tolerance, relative; // an element may be off by tolerance + relative * |expected|
};

static double element(const struct comparison *c, const void *buffer, int64_t i)
{
    if (c->f16)
        return (double)half_to_float(((const uint16_t *)buffer)[i]);
    return (double)((const float *)buffer)[i];
}

// How far element i is off, relative to what it may be; 0 when equal, and NaN never passes as
// small.
static double relative_error(const struct comparison *c, const void *output, const void *reference,
                             int64_t i)
{
    double got = element(c, output, i), expected = element(c, reference, i);
    if (got == expected)
        return 0;
    double ratio = fabs(got - expected) / (c->tolerance + c->relative * fabs(expected));
    return isnan(ratio) ? INFINITY : ratio;
}

static void describe(const struct operator_shape *shape, const char *name, int64_t first,
                     double got, double expected, int64_t wrong, char *reason, size_t size)
{
    int64_t count = 1, index[OPERATOR_MAX_RANK];
    for (int d = shape->rank - 1; d >= 0; d--) {
        index[d] = first % shape->size[d];
        first /= shape->size[d];
        count *= shape->size[d];
    }
    struct str s = {0};
    str_printf(&s, "%s[", name);
    for (int d = 0; d < shape->rank; d++)
        str_printf(&s, "%s%" PRId64, d ? "," : "", index[d]);
    str_printf(&s, "] = %.9g, expected %.9g (%" PRId64 " of %" PRId64 " wrong)",
               isnan(got) ? fabs(got) : got, expected, wrong, count); // not "-nan"
    snprintf(reason, size, "%s", str_text(&s));
    str_finish(&s);
}

// The device's store to a half may round either way (Vulkan spec, "Precision and Operation of
// SPIR-V Instructions"), the reference's is to nearest: together 1.5 units in the last place.
static struct comparison rule(const struct operation *o, enum input_set set)
{
    struct comparison c = {.f16 = operator_is_f16(o), .tolerance = find(o)->tolerance(o, set)};
    if (c.f16 && set == INPUT_RANDOM) {
        c.relative = 1.5 * 0x1p-10;
        c.tolerance += 0x1p-24;
    }
    return c;
}

bool operator_compare(const struct operation *o, enum input_set set, const void *output,
                      const void *reference, double *worst, char *reason, size_t size)
{
    struct comparison c = rule(o, set);
    struct operator_shape shape = find(o)->output_shape(o);
    int64_t count = 1, wrong = 0, first = 0;
    for (int d = 0; d < shape.rank; d++)
        count *= shape.size[d];
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        double error = relative_error(&c, output, reference, i);
        if (error > 1 && wrong++ == 0)
            first = i;
        largest = error > largest ? error : largest;
    }
    if (worst)
        *worst = largest;
    if (size)
        reason[0] = '\0';
    if (wrong) {
        struct operator_layout l = operator_layout(o);
        describe(&shape, l.buffer[l.count - 1].name, first, element(&c, output, first),
                 element(&c, reference, first), wrong, reason, size);
    }
    return wrong == 0;
}
