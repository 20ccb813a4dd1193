#include "space/custom_operation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static double custom_flop(const struct operation *o)
{
    return custom_of(o)->flop;
}

static int custom_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    const struct custom_operation *c = custom_of(o);
    memcpy(out, c->buffer, (size_t)c->tensor_count * sizeof *out);
    return c->tensor_count;
}

static struct workload custom_work(const struct operation *o)
{
    return custom_of(o)->work;
}

struct custom_operation *custom_create(const char *name, double flop, const struct workload *work)
{
    static const struct operation_size no_sizes[] = {{.name = NULL}};
    struct custom_operation *c = mem_zero(1, sizeof *c);
    arena_init(&c->arena);
    c->kind = (struct operation_kind){.name = arena_strdup(&c->arena, name),
                                      .help = "defined by its space file",
                                      .sizes = no_sizes,
                                      .flop = custom_flop,
                                      .work = custom_work,
                                      .tensors = custom_tensors};
    c->flop = flop;
    c->work = work ? *work : (struct workload){flop, WORK_FLOP};
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
    return o->kind && o->kind->tensors == custom_tensors ? (const void *)o->kind : NULL;
}

static int find_buffer(const struct custom_operation *c, const char *name)
{
    for (int i = 0; i < c->buffer_count; i++)
        if (strcmp(c->buffer[i].name, name) == 0)
            return i;
    return -1;
}

enum element custom_element(const struct custom_operation *c, const char *name)
{
    int buffer = find_buffer(c, name);
    return buffer >= 0 ? c->buffer[buffer].element : ELEMENT_COUNT;
}

static void add_buffer(struct custom_operation *c, const struct tensor *t, const char *name)
{
    c->buffer[c->buffer_count++] =
        tensor_packed(arena_strdup(&c->arena, name), t->element, t->rank, t->size);
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
    if (f->block.weights) { // rows of weights become rows of the bytes of their blocks
        int64_t *row = &stored.size[stored.rank - 1];
        if (*row % f->block.weights)
            return err_set(e,
                           "%s: buffer %s: rows of %" PRId64 " weights are no whole blocks of %d "
                           "(make the last size a multiple of it)",
                           c->kind.name, t->name, *row, f->block.weights);
        *row = *row / f->block.weights * block_bytes(&f->block);
        stored.element = ELEMENT_I8;
    }
    if (f->low < element_least(stored.element) || f->high > element_most(stored.element))
        return err_set(e, "%s: buffer %s: fill = { low, high } is not within %s", c->kind.name,
                       t->name, element_name(stored.element));
    add_buffer(c, &stored, t->name);
    c->tensor_count++;
    c->filling[i] = *f;
    c->filling[i].whole |= !element_is_real(stored.element);
    return true;
}

// --- steps ---

int custom_inputs(const struct custom_operation *c)
{
    return c->tensor_count - (c->kind.outputs ? c->kind.outputs : 1);
}

// Inputs are filled, and a step has written each intermediate result.
static bool is_written(const struct custom_operation *c, int buffer)
{
    bool is_written = buffer < custom_inputs(c) || buffer >= c->tensor_count;
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

static bool write_buffer(struct custom_operation *c, const struct tensor *t, const char *name,
                         int *out, struct err *e)
{
    *out = find_buffer(c, name);
    if (*out >= 0 && is_written(c, *out))
        return err_set(e, "it writes %s, which %s", name,
                       *out < custom_inputs(c) ? "is an input" : "is written already");
    if (*out >= 0)
        return same_content(t, &c->buffer[*out], e);
    *out = c->buffer_count;
    add_buffer(c, t, name);
    return true;
}

bool custom_add_step(struct custom_operation *c, const struct operation *o,
                     const char *const *names, int count, struct err *e)
{
    if (c->step_count == CUSTOM_MAX_STEPS)
        return err_set(e, "%s: more than %d steps", c->kind.name, CUSTOM_MAX_STEPS);
    struct custom_step step = {.operation = *o, .count = count};
    struct tensor t[OPERATION_MAX_TENSORS];
    int wanted = operation_tensors(o, t);
    bool ok = count == wanted || err_set(e, "it has %d buffers, %d are named", wanted, count);
    for (int i = 0; ok && i < count - 1; i++) {
        int buffer = step.buffer[i] = find_buffer(c, names[i]);
        ok = buffer >= 0 && is_written(c, buffer)
                 ? same_content(&t[i], &c->buffer[buffer], e)
                 : err_set(e, "it reads %s, which nothing has written", names[i]);
    }
    ok = ok && write_buffer(c, &t[count - 1], names[count - 1], &step.buffer[count - 1], e);
    if (!ok)
        return err_prefix(e, "%s: step %d (%s)", c->kind.name, c->step_count + 1, o->kind->name);
    c->step[c->step_count++] = step;
    return true;
}

bool custom_add_dequantize(struct custom_operation *c, const char *from, const char *to,
                           struct err *e)
{
    if (c->step_count == CUSTOM_MAX_STEPS)
        return err_set(e, "%s: more than %d steps", c->kind.name, CUSTOM_MAX_STEPS);
    int buffer = find_buffer(c, from);
    struct custom_step step = {.count = 2, .buffer = {buffer}};
    bool ok = buffer >= 0 && buffer < c->tensor_count &&
              (c->filling[buffer].block.weights || c->buffer[buffer].element != ELEMENT_F32);
    if (ok) {
        struct tensor numbers = custom_tensor(c, buffer);
        numbers.element = ELEMENT_F32;
        ok = write_buffer(c, &numbers, to, &step.buffer[1], e);
    } else {
        err_set(e, "%s is no input of blocks, nor of another type than f32", from);
    }
    if (!ok)
        return err_prefix(e, "%s: step %d (dequantize)", c->kind.name, c->step_count + 1);
    c->step[c->step_count++] = step;
    return true;
}

bool custom_is_computed(const struct custom_operation *c, struct err *e)
{
    for (int i = custom_inputs(c); i < c->tensor_count; i++)
        if (!is_written(c, i))
            return err_set(e, "%s: no step writes %s", c->kind.name, c->buffer[i].name);
    return true;
}
