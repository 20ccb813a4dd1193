#include "case.h"

#include "base/mem.h"
#include "space/tensor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool set_field(struct operation *o, const char *name, const char *value, struct err *e)
{
    int64_t whole;
    double real;
    if (str_to_int(value, 0, INT32_MAX, &whole) && operation_set_size(o, name, whole, e))
        return true;
    if (str_to_real(value, &real) && operation_set_real(o, name, real, e))
        return true;
    return operation_set_choice(o, name, value, e);
}

struct operation case_operation(const char *kind, const char *fields)
{
    struct operation o;
    struct err e;
    char text[400], *rest;
    assert_non_null(operation_kind_find(kind));
    assert_true(strlen(fields) < sizeof text);
    strcpy(text, fields);
    operation_init(&o, operation_kind_find(kind));
    for (char *name = strtok_r(text, "= ", &rest); name; name = strtok_r(NULL, "= ", &rest)) {
        const char *value = strtok_r(NULL, "= ", &rest);
        if (!set_field(&o, name, value, &e))
            fail_msg("%s=%s: %s", name, value, e.text);
    }
    if (!operation_complete(&o, &e))
        fail_msg("%s: %s", fields, e.text);
    return o;
}

struct test_case case_make(const char *kind, const char *fields, enum input_set set, uint64_t seed)
{
    struct test_case c = {.o = case_operation(kind, fields)};
    c.count = operation_tensors(&c.o, c.tensor);
    for (int i = 0; i < c.count; i++) {
        c.buffer[i] = mem_alloc(tensor_bytes(&c.tensor[i]));
        if (i < c.count - 1)
            operator_fill(&c.o, set, seed, i, c.buffer[i]);
    }
    void *output = c.buffer[c.count - 1];
    operator_reference(&c.o, (const void *const *)c.buffer, output);
    uint64_t bytes = tensor_bytes(&c.tensor[c.count - 1]);
    c.result = mem_alloc(bytes);
    memcpy(c.result, output, bytes);
    return c;
}

void case_free(struct test_case *c)
{
    for (int i = 0; i < c->count; i++)
        free(c->buffer[i]);
    free(c->result);
}

int64_t case_size(const struct test_case *c, const char *name)
{
    return operation_size(&c->o, name);
}

bool case_is(const struct test_case *c, const char *choice, const char *value)
{
    return operation_chooses(&c->o, choice, value);
}

double case_get(const struct test_case *c, const char *tensor, int64_t offset)
{
    int i = 0;
    while (strcmp(c->tensor[i].name, tensor) != 0)
        i++;
    return element_get(c->buffer[i], c->tensor[i].element, offset);
}

double case_reference(const struct test_case *c, int64_t offset)
{
    return element_get(c->buffer[c->count - 1], c->tensor[c->count - 1].element, offset);
}

void case_put(struct test_case *c, int64_t offset, double value)
{
    element_put(c->result, c->tensor[c->count - 1].element, offset, value);
}

bool case_right(const struct test_case *c, enum input_set set, double *worst)
{
    char reason[200];
    struct operator_verdict v =
        operator_compare(&c->o, set, c->result, c->buffer[c->count - 1], reason, sizeof reason);
    assert_int_equal(v.right, reason[0] == '\0');
    if (worst)
        *worst = v.worst;
    return v.right;
}

void case_expect(const struct test_case *c, int64_t offset, double expected, double ulps)
{
    enum element e = c->tensor[c->count - 1].element;
    double stored, got = case_reference(c, offset);
    char memory[8];
    element_put(memory, e, 0, expected);
    stored = element_get(memory, e, 0);
    double lost = ulps * (e == ELEMENT_F16 ? 0x1p-10 : 0x1p-23) * fabs(stored);
    if (fabs(got - stored) > lost || isnan(got))
        fail_msg("%s at %lld: %.9g, expected %.9g", c->o.kind->name, (long long)offset, got,
                 stored);
}

void case_notices(struct test_case *c, enum input_set set)
{
    const struct tensor *t = &c->tensor[c->count - 1];
    uint64_t bytes = tensor_bytes(t);
    unsigned char *result = c->result;
    double worst;
    assert_true(case_right(c, set, &worst));
    assert_true(worst == 0);
    for (int64_t at = 0; at < tensor_extent(t); at++) {
        unsigned char *last = result + (at + 1) * element_bytes(t->element) - 1, kept = *last;
        *last = t->element == ELEMENT_I32 || !tensor_has(t, at) ? kept ^ 1 : kept ^ 0x40;
        assert_false(case_right(c, set, NULL));
        *last = kept;
    }
    assert_memory_equal(result, c->buffer[c->count - 1], bytes);
}
