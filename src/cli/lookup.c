// lookup: finds the kernel of a table (export --as table) that is nearest to a problem.
#include "base/file.h"
#include "cli/common.h"
#include "engine/devices.h"
#include "report/kernel_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct lookup {
    const struct arguments *a;
    struct arena arena;
    struct kernel_table table;
    struct operation wanted;
    struct kernel_place place; // all NULL: no device
    bool has_place;
    struct kernel_near near;
};

static bool is_choice(const struct operation_kind *kind, const char *name)
{
    for (const struct operation_choice *c = kind->choices; c && c->name; c++)
        if (str_equal(c->name, name))
            return true;
    return false;
}

static bool is_real(const struct operation_kind *kind, const char *name)
{
    for (const struct operation_real *r = kind->reals; r && r->name; r++)
        if (str_equal(r->name, name))
            return true;
    return false;
}

static bool set_value(struct lookup *l, const struct setting *s, struct err *e)
{
    int64_t size;
    if (is_choice(l->wanted.kind, s->name))
        return operation_set_choice(&l->wanted, s->name, s->value, e);
    if (is_real(l->wanted.kind, s->name)) {
        double value;
        return (str_to_real(s->value, &value) ||
                err_set(e, "--set %s=%s: not a number", s->name, s->value)) &&
               operation_set_real(&l->wanted, s->name, value, e);
    }
    if (!str_to_int(s->value, 0, INT32_MAX, &size))
        return err_set(e, "--set %s=%s: a size is a whole number from 0 to %" PRId32, s->name,
                       s->value, INT32_MAX);
    return operation_set_size(&l->wanted, s->name, size, e);
}

static bool read_problem(struct lookup *l, struct err *e)
{
    int count;
    const struct setting *given = common_settings(l->a, &l->arena, &count);
    const char *name = l->a->operand[1];
    const struct operation_kind *kind = operation_kind_named(name, e);
    bool ok = kind != NULL;
    if (ok)
        operation_init(&l->wanted, kind);
    for (int i = 0; ok && i < count; i++)
        ok = set_value(l, &given[i], e);
    ok = ok && operation_complete(&l->wanted, e);
    e->usage |= kind && !ok;
    return ok;
}

// Returns true where `part` is in `text`, in capitals or not.
static bool contains(const char *text, const char *part)
{
    for (; text && *text; text++) {
        size_t i = 0;
        while (part[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (!part[i])
            return true;
    }
    return false;
}

// Finds the device: one here, else one in the table. A device that is named must be somewhere;
// without a name and a device here any will do.
static bool find_place(struct lookup *l, struct err *e)
{
    struct gpu_info *list = NULL;
    struct err ignored;
    int count = 0, index;
    const char *wanted = arguments_text(l->a, "device");
    if (!str_equal(wanted, "none") && devices_list(&list, &count, &ignored) && count &&
        gpu_choose(list, count, wanted, &index, &ignored)) {
        char id[33];
        gpu_identity(&list[index], id);
        l->has_place = true;
        l->place = (struct kernel_place){
            .device = arena_strdup(&l->arena, list[index].name),
            .device_type = arena_strdup(&l->arena, list[index].type),
            .driver = arena_strdup(&l->arena, list[index].driver),
            .identity = arena_strdup(&l->arena, id),
        };
    }
    free(list);
    if (l->has_place || !wanted || str_equal(wanted, "none"))
        return true;
    for (int i = 0; i < l->table.count && !l->has_place; i++)
        if (contains(l->table.entry[i].place.device, wanted)) {
            l->has_place = true;
            l->place = l->table.entry[i].place;
        }
    return l->has_place ||
           err_usage(e, "--device %s: neither here nor in %s", wanted, l->a->operand[0]);
}

static bool lookup_find(struct lookup *l, struct err *e)
{
    if (!kernel_table_read(&l->table, l->a->operand[0], e) || !read_problem(l, e) ||
        !find_place(l, e))
        return false;
    kernel_table_nearest(&l->table, &l->wanted, l->has_place ? &l->place : NULL, &l->near);
    if (l->near.entry)
        return true;
    struct str wanted = {0};
    operation_add_text(&l->wanted, &wanted);
    err_at(e, l->a->operand[0], 0, "none of its %d kernels is like %s but for the sizes",
           l->table.count, str_text(&wanted));
    str_finish(&wanted);
    return false;
}

// --- the answer ---

static double expected_s(const struct lookup *l)
{
    return operation_flop(&l->wanted) / (l->near.entry->tflops * 1e12);
}

// Adds the command that tunes exactly this shape.
static void add_command(const struct lookup *l, struct str *out)
{
    const char *space = l->near.entry->space;
    char *name = mem_printf("presets/%s.lua", space), *shipped = path_shipped(name);
    int count;
    struct arena arena;
    arena_init(&arena);
    const struct setting *given = common_settings(l->a, &arena, &count);
    str_printf(out, "tilewalk tune %s%s", space, shipped ? "" : ".lua");
    for (int i = 0; i < count; i++)
        if (!is_choice(l->wanted.kind, given[i].name) && !is_real(l->wanted.kind, given[i].name))
            str_printf(out, " --set %s=%s", given[i].name, given[i].value);
    // All but the sizes is as in the entry. The space has what the session of the entry did not
    // set.
    for (struct json_walk w = json_walk(json_member(l->near.entry->root, "settings"));
         json_next(&w);) {
        const char *member = json_text(w.key, &arena), *text = json_text(w.value, &arena);
        if (text && is_choice(l->wanted.kind, member))
            str_printf(out, " --set %s=%s", member, text);
        else if (!text && is_real(l->wanted.kind, member))
            str_printf(out, " --set %s=%.*s", member, (int)json_length(w.value), w.value.at);
    }
    arena_finish(&arena);
    free(shipped);
    free(name);
}

static void lookup_print_json(const struct lookup *l)
{
    static const char *const words[] = {"same", "driver", "vendor", "type", "other"};
    struct str out = {0}, command = {0};
    struct json_writer w = json_begin(&out);
    add_command(l, &command);
    json_add_name(&w, "problem");
    operation_add_json(&l->wanted, &out);
    json_add_text(&w, "device", l->has_place ? l->place.device : NULL);
    json_add_text(&w, "like", l->has_place ? words[l->near.kinship] : NULL);
    json_add_real(&w, "distance", l->near.distance);
    json_add_real(&w, "expected_ms", expected_s(l) * 1e3);
    json_add_real(&w, "expected_tflops", l->near.entry->tflops);
    json_add_text(&w, "tune", str_text(&command));
    json_add_name(&w, "entry");
    str_add_bytes(&out, l->near.entry->root.at, l->near.entry->length);
    json_print(&w);
    str_finish(&command);
}

static int run_lookup(const struct command *self, const struct arguments *a)
{
    struct err e = {0};
    struct lookup l = {.a = a};
    (void)self;
    arena_init(&l.arena);
    kernel_table_init(&l.table);
    bool found = lookup_find(&l, &e);
    if (found && arguments_flag(a, "json"))
        lookup_print_json(&l);
    else if (found) {
        const struct kernel_entry *x = l.near.entry;
        char speed[32], time[32], there[32];
        struct workload work = operation_work(&l.wanted);
        struct str text = {0}, json = {0};
        str_add_bytes(&json, x->configuration.at, json_length(x->configuration));
        operation_add_text(&l.wanted, &text);
        printf("wanted    %s on %s\n", str_text(&text),
               l.has_place ? l.place.device : "any device");
        printf("nearest   %s on %s\n", x->title,
               x->place.device ? x->place.device : "an unknown device");
        printf(
            "          %s; distance %.3g (square root of the sum of log2(size / wanted) squared)\n",
            l.has_place ? kernel_kinship_text(l.near.kinship) : "any device", l.near.distance);
        printf("          %s\n", text_config(str_text(&json), &text));
        printf("expected  %s, %s (measured there: %s)\n",
               text_rate(work.amount / expected_s(&l), work.unit, speed),
               text_time(expected_s(&l), time), text_time(x->ms / 1e3, there));
        str_finish(&text);
        add_command(&l, &text);
        bool exact = l.near.distance == 0 && l.has_place && l.near.kinship == KERNEL_SAME_DEVICE;
        printf("%s  %s\n", exact ? "again   " : "exactly ", str_text(&text));
        str_finish(&text);
        str_finish(&json);
    }
    kernel_table_finish(&l.table);
    arena_finish(&l.arena);
    return common_exit(found, &e);
}

static const struct option options[] = {
    {"set", OPTION_LIST, "NAME=VALUE",
     "a size, choice (type, layout) or number of the problem; may be repeated"},
    {"device", OPTION_TEXT, "DEVICE|none",
     "part of the name of a device here or in the table (default: the best one here)"},
    OPTION_JSON,
    OPTION_END,
};

const struct command cmd_lookup = {
    .name = "lookup",
    .operands = "FILE OPERATOR",
    .help = "find the kernel of a table (export --as table) that is nearest to a problem",
    .least = 2,
    .most = 2,
    .options = options,
    .run = run_lookup,
};
