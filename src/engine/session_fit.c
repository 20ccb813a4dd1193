// A new session's script, with a batch that the device can bear.
//
// The papers' operators were made for large GPUs. Where a device cannot hold one, or would need
// more than about a second for a run, a size called `batch` is reduced to its largest divisor that
// is bearable: factorizations of a divisor are of the same kind. A batch that the user gives is
// left alone. The record tells of it, so that the reduced size is what the session is resumed with.
#include "engine/session_setup.h"
#include "engine/stored.h"
#include "trial/operator.h"

#include <inttypes.h>
#include <stdio.h>

#define BATCH         "batch"
#define MOST_DIVISORS 1536 // of a size, which is below 2^31

// What poor configurations do in about a second: a trial runs a kernel several times, and few
// kernels of a search are good ones.
static double flop_of_a_second(const char *device_type)
{
    if (str_equal(device_type, "cpu"))
        return 1e9;
    return str_equal(device_type, "integrated") ? 1e11 : 1e12;
}

static bool gives_batch(const struct session_options *o)
{
    for (int i = o->listed; i < o->set_count; i++)
        if (str_equal(o->set[i].name, BATCH))
            return true;
    return false;
}

// `batch`: NULL for what was asked for. It is kept in the session's arena.
static struct script *read_script(struct session *s, const struct session_options *o,
                                  const char *batch, struct err *e)
{
    struct setting *set = arena_zero(&s->arena, (size_t)o->set_count + 1, sizeof *set);
    int count = 0;
    for (; count < o->set_count; count++)
        set[count] = o->set[count];
    if (batch)
        set[count++] = (struct setting){BATCH, arena_strdup(&s->arena, batch)};
    if (o->like) {
        struct session_record from = s->record; // on our device
        from.id = o->like;
        return stored_script_set(s->host.store, &from, set, count, &s->arena, e);
    }
    struct script_options script = {
        .path = s->record.path,
        .set = set,
        .set_count = count,
        .device_type = s->record.device_type,
        .limits = session_limits(s),
    };
    return script_create(&script, e);
}

static uint64_t largest_buffer(const struct operation *o)
{
    struct operator_layout layout = operator_layout(o);
    uint64_t most = 0;
    for (int i = 0; i < layout.count; i++)
        if (layout.buffer[i].bytes > most)
            most = layout.buffer[i].bytes;
    return most;
}

// `why` gets all that is too much.
static bool is_bearable(const struct session *s, const struct script *script, struct str *why)
{
    const struct operation *operation = script_operation(script);
    double flop = operation_flop(operation), most = flop_of_a_second(s->record.device_type);
    uint64_t bytes = largest_buffer(operation), limit = s->device.limits.buffer_bytes;
    str_finish(why);
    if (bytes > limit)
        str_printf(why, "a buffer of %.4g MB, this device takes %.4g", (double)bytes / 1e6,
                   (double)limit / 1e6);
    if (flop > most)
        str_printf(why, "%s%.4g GFLOP a run, about a second's worth here is %.4g",
                   why->length ? "; " : "", flop / 1e9, most / 1e9);
    return why->length == 0;
}

// All divisors of n but n, largest first.
static int list_divisors(int64_t n, int64_t out[MOST_DIVISORS])
{
    int count = 0;
    int64_t low = 2;
    for (; low * low <= n; low++)
        if (n % low == 0)
            out[count++] = n / low;
    while (--low >= 1)
        if (n % low == 0 && n / low != low && low != n)
            out[count++] = low;
    return count;
}

// The first that is bearable, else the one with a batch of 1.
static struct script *read_reduced(struct session *s, const struct session_options *o,
                                   int64_t declared, char text[24], struct err *e)
{
    int64_t divisor[MOST_DIVISORS];
    struct str ignored = {0};
    struct script *script = NULL;
    int count = list_divisors(declared, divisor);
    for (int i = 0; i < count; i++) {
        script_destroy(script);
        snprintf(text, 24, "%" PRId64, divisor[i]);
        script = read_script(s, o, text, e);
        if (!script || is_bearable(s, script, &ignored))
            break;
    }
    str_finish(&ignored);
    return script;
}

// Takes over `declared`.
static struct script *reduce(struct session *s, const struct session_options *o,
                             struct script *declared, int64_t batch, struct err *e)
{
    char text[24];
    struct str why = {0}, json = {0};
    if (batch == 1 || is_bearable(s, declared, &why))
        return declared;
    struct script *reduced = read_reduced(s, o, batch, text, e);
    operation_add_json(script_operation(declared), &json);
    s->record.declared = arena_strdup(&s->arena, str_text(&json));
    s->record.reduced = arena_printf(&s->arena, BATCH " %" PRId64 " reduced to %s: %s", batch, text,
                                     str_text(&why));
    str_finish(&json);
    str_finish(&why);
    script_destroy(declared);
    return reduced;
}

// Of the session that this one is like; 0: it was not reduced there.
static int64_t declared_before(const struct session *s)
{
    int64_t batch;
    const char *told = s->record.reduced;
    return told && sscanf(told, BATCH " %" SCNd64, &batch) == 1 ? batch : 0;
}

struct script *session_read_script(struct session *s, const struct session_options *o,
                                   struct err *e)
{
    bool is_given = gives_batch(o);
    int64_t batch = is_given ? 0 : declared_before(s);
    s->record.reduced = NULL;
    struct script *script =
        read_script(s, o, batch ? arena_printf(&s->arena, "%" PRId64, batch) : NULL, e);
    const struct script_setting *setting = script ? script_find_setting(script, BATCH) : NULL;
    if (!setting || !setting->is_whole || !s->device.is_known || is_given)
        return script;
    bool was_given = o->like && !batch && !str_equal(setting->value, setting->standard);
    if (was_given || !str_to_int(setting->value, 1, INT32_MAX, &batch))
        return script;
    return reduce(s, o, script, batch, e);
}
