// lookup: finds the kernel of a table (export --as table) that is nearest to a problem, by the rule
// that programs follow at run time: that of tilewalk_tuned.h.
#include "base/file.h"
#include "cli/common.h"
#include "engine/devices.h"
#include "export/reader/tilewalk_tuned.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct lookup {
    const struct arguments *a;
    struct arena arena;
    char *text; // of the table; heap
    struct tilewalk_tuned table;
    struct operation wanted;
    struct tilewalk_device device;
    bool has_device;
    struct tilewalk_found found;
    struct json entry; // in the text
};

static bool read_table(struct lookup *l, struct err *e)
{
    char why[160];
    size_t length;
    const char *path = l->a->operand[0];
    return file_read(path, &l->text, &length, e) &&
           (tilewalk_tuned_read(&l->table, l->text, length, why, sizeof why) ||
            err_set(e, "%s: %s (export --as table writes tables)", path, why));
}

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

static void describe_device(struct lookup *l, const struct gpu_info *info)
{
    const struct limits *have = &info->limits;
    l->has_device = true;
    l->device = (struct tilewalk_device){
        .name = arena_strdup(&l->arena, info->name),
        .driver = arena_strdup(&l->arena, info->driver),
        .limits = {.invocations = have->invocations,
                   .shared_bytes = have->shared_bytes,
                   .subgroup_least = have->subgroup_least,
                   .subgroup_most = have->subgroup_most,
                   .features = (have->f16 ? TILEWALK_F16 : 0) | (have->i8 ? TILEWALK_I8 : 0) |
                               (have->dot ? TILEWALK_DOT : 0) |
                               (have->matrix.count ? TILEWALK_MATRIX : 0)},
    };
    for (int i = 0; i < 3; i++)
        l->device.limits.group_size[i] = have->group_size[i];
}

// Finds the device: one here, else one in the table. A device that is named must be somewhere;
// without a name and a device here any will do.
static bool find_device(struct lookup *l, struct err *e)
{
    struct gpu_info *list = NULL;
    struct err ignored;
    int count = 0, index;
    const char *wanted = arguments_text(l->a, "device");
    if (!str_equal(wanted, "none") && devices_list(&list, &count, &ignored) && count &&
        gpu_choose(list, count, wanted, &index, &ignored))
        describe_device(l, &list[index]);
    free(list);
    if (l->has_device || !wanted || str_equal(wanted, "none"))
        return true;
    for (uint32_t i = 0; i < l->table.entries && !l->has_device; i++) {
        const struct tilewalk_entry *x = &l->table.entry[i];
        l->has_device = contains(x->device, wanted);
        l->device = (struct tilewalk_device){.name = x->device, .driver = x->driver};
    }
    return l->has_device ||
           err_usage(e, "--device %s: neither here nor in %s", wanted, l->a->operand[0]);
}

// Asks as a program would, by the problem's members.
static void find_entry(struct lookup *l)
{
    struct tilewalk_member member[TILEWALK_MOST_MEMBERS];
    struct str text = {0};
    size_t count = 0;
    operation_add_json(&l->wanted, &text);
    for (struct json_walk w = json_walk((struct json){str_text(&text), 1}); json_next(&w);) {
        struct tilewalk_member *m = &member[count];
        const char *value = arena_printf(&l->arena, "%.*s", (int)json_length(w.value), w.value.at);
        if (json_is(w.key, "kind"))
            continue;
        *m = (struct tilewalk_member){.name = json_text(w.key, &l->arena)};
        if (json_type(w.value) == JSON_TEXT)
            m->word = json_text(w.value, &l->arena);
        else if (!str_to_int(value, 0, INT64_MAX, &m->size))
            m->word = value;
        count++;
    }
    l->found = tilewalk_tuned_find(&l->table, l->wanted.kind->name, member, count,
                                   l->has_device ? &l->device : NULL, NULL);
    str_finish(&text);
}

static bool lookup_find(struct lookup *l, struct err *e)
{
    if (!read_table(l, e) || !read_problem(l, e) || !find_device(l, e))
        return false;
    find_entry(l);
    if (l->found.entry) {
        struct json_source source = {.path = l->a->operand[0],
                                     .text = arena_printf(&l->arena, "%.*s",
                                                          (int)l->found.entry->json_length,
                                                          l->found.entry->json),
                                     .length = l->found.entry->json_length};
        return json_check(&source, &l->entry, e);
    }
    struct str wanted = {0};
    operation_add_text(&l->wanted, &wanted);
    err_at(e, l->a->operand[0], 0,
           "none of its %" PRIu32 " kernels is like %s but for the sizes%s%s", l->table.entries,
           str_text(&wanted), l->has_device ? " and of a device like " : "",
           l->has_device ? l->device.name : "");
    str_finish(&wanted);
    return false;
}

// --- the answer ---

static double expected_s(const struct lookup *l)
{
    return operation_flop(&l->wanted) / (l->found.entry->tflops * 1e12);
}

static double distance(const struct lookup *l)
{
    return sqrt((double)l->found.distance) / 65536;
}

static const char *entry_text(struct lookup *l, const char *name)
{
    const char *text = json_text(json_member(l->entry, name), &l->arena);
    return text ? text : "unknown";
}

// Adds the command that tunes exactly this shape.
static void add_command(struct lookup *l, struct str *out)
{
    const char *space = entry_text(l, "space");
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
    for (struct json_walk w = json_walk(json_member(l->entry, "settings")); json_next(&w);) {
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

static void lookup_print_json(struct lookup *l)
{
    static const char *const words[] = {"same", "driver", "vendor", NULL};
    struct str out = {0}, command = {0};
    struct json_writer w = json_begin(&out);
    add_command(l, &command);
    json_add_name(&w, "problem");
    operation_add_json(&l->wanted, &out);
    json_add_text(&w, "device", l->has_device ? l->device.name : NULL);
    json_add_text(&w, "like", words[l->found.likeness]);
    json_add_real(&w, "distance", distance(l));
    json_add_real(&w, "expected_ms", expected_s(l) * 1e3);
    json_add_real(&w, "expected_tflops", l->found.entry->tflops);
    json_add_text(&w, "tune", str_text(&command));
    json_add_name(&w, "entry");
    str_add_bytes(&out, l->found.entry->json, l->found.entry->json_length);
    json_print(&w);
    str_finish(&command);
}

static void lookup_print(struct lookup *l)
{
    static const char *const likeness[] = {"this device and driver",
                                           "this device with another driver",
                                           "another device of this vendor", "any device"};
    const struct tilewalk_entry *x = l->found.entry;
    char speed[32], time[32], there[32];
    struct workload work = operation_work(&l->wanted);
    struct str text = {0};
    operation_add_text(&l->wanted, &text);
    printf("wanted    %s on %s\n", str_text(&text), l->has_device ? l->device.name : "any device");
    printf("nearest   %s on %s\n", entry_text(l, "title"),
           *x->device ? x->device : "an unknown device");
    printf("          %s; distance %.3g (square root of the sum of log2(size / wanted) squared)\n",
           likeness[l->found.likeness], distance(l));
    printf("          %s\n", text_config(x->configuration, &text));
    printf("expected  %s, %s (measured there: %s)\n",
           text_rate(work.amount / expected_s(l), work.unit, speed), text_time(expected_s(l), time),
           text_time(x->ms / 1e3, there));
    str_cut(&text, 0);
    add_command(l, &text);
    bool exact = l->found.distance == 0 && l->found.likeness == TILEWALK_SAME_DEVICE;
    printf("%s  %s\n", exact ? "again   " : "exactly ", str_text(&text));
    str_finish(&text);
}

static int run_lookup(const struct command *self, const struct arguments *a)
{
    struct err e = {0};
    struct lookup l = {.a = a};
    (void)self;
    arena_init(&l.arena);
    bool found = lookup_find(&l, &e);
    if (found && arguments_flag(a, "json"))
        lookup_print_json(&l);
    else if (found)
        lookup_print(&l);
    tilewalk_tuned_free(&l.table);
    free(l.text);
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
