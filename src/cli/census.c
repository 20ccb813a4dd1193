// census: the configurations that ship, measured as they are. For each preset of a family, each type and a list of
// columns, a session measures what the preset declares as baselines and ends; a page has a line for each of them,
// beside the device's peak, for the issue trackers of those who ship them.
#include "base/build.h"
#include "base/os.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/prove.h"
#include "engine/devices.h"
#include "engine/speed.h"
#include "report/text.h"
#include "script/script.h"
#include "space/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 64 };

// What a family has: for each type of `types` and each number of columns a session, with the setting `with`.
struct item {
    const char *preset, *types, *with, *columns;
};

static const struct item ggml[] = {
    {"ggml-mul-mat-vec", "q4_0 q8_0 q4_K q6_K f16 f32", "dot=no", "1 2 3 4 5 6 7 8"},
    {"ggml-mul-mat-vec", "q4_0 q8_0 q4_K q6_K", "dot=yes", "1 2 3 4 5 6 7 8"},
    {"ggml-mul-mm", "q4_0 q8_0 q4_K f16 f32", "units=none", "16 64 512"},
    {"ggml-mul-mm", "q4_0 q8_0 q4_K f16 f32", "units=khr", "16 64 512"},
    {"ggml-mul-mmq", "q4_0 q8_0 q4_K q6_K", NULL, "16 64 512"},
    {NULL},
};

static const struct {
    const char *name;
    const struct item *items;
} families[] = {{"ggml", ggml}};

struct census {
    struct prove prove; // its store and its signals
    const struct setting *given;
    int given_count;
    int64_t measured, wrong;
};

static const char *find_given(const struct census *c, const char *name)
{
    for (int i = 0; i < c->given_count; i++)
        if (str_equal(c->given[i].name, name))
            return c->given[i].value;
    return NULL;
}

// --- the page ---

// Adds a line; `what` is told where there is no time.
static void add_line(struct census *c, const struct session_record *r, const char *preset,
                     const char *title, const struct baseline_record *b, const char *what)
{
    struct str *out = &c->prove.page;
    bool ok = b && b->outcome == OUTCOME_OK;
    char speed[32] = "-", time[32] = "-";
    struct statistics told = {0};
    double spills;
    if (ok) {
        speed_text(r, b->seconds, speed);
        text_time(b->seconds, time);
    }
    str_printf(out, "| %s | ", preset);
    str_add_markdown(out, title);
    str_printf(out, " | %s | %s | %s | ", b ? b->name : "-", speed, time);
    if (ok && r->roof_s > 0)
        str_printf(out, "%.1f %% (%s)", 100 * speed_of_peak(r, b->seconds), r->roof_by);
    else
        str_add(out, "-");
    str_add(out, " | ");
    if (b && b->statistics)
        text_parse_statistics(b->statistics, &told);
    if (statistics_total(&told, STATISTIC_SPILLS, &spills))
        str_printf(out, "%.0f", spills);
    else
        str_add(out, "-");
    str_add(out, " | ");
    str_add_markdown(out, what);
    str_add(out, " |\n");
}

static void add_json(struct json_writer *w, const struct session_record *r, const char *preset,
                     const char *title, const struct baseline_record *b, const char *what)
{
    json_begin_object(w, NULL);
    json_add_text(w, "preset", preset);
    json_add_text(w, "title", title);
    json_add_text_if_any(w, "reason", what);
    if (b) {
        json_add_text(w, "name", b->name);
        json_add_text(w, "outcome", outcome_name(b->outcome));
        json_add_raw(w, "config", b->config && *b->config ? b->config : NULL);
        json_add_raw(w, "statistics", b->statistics);
    }
    if (b && b->outcome == OUTCOME_OK) {
        json_add_real(w, "ms", 1e3 * b->seconds);
        json_add_real(w, "rate", speed_rate(r, b->seconds));
        json_add_text(w, "rate_unit", speed_rate_word(r));
        json_add_real(w, "of_roof", r->roof_s > 0 ? speed_of_peak(r, b->seconds) : NAN);
        json_add_text(w, "roof_by", r->roof_by);
    }
    json_end(w);
}

static void add_head(struct census *c, const char *family)
{
    const struct prove *p = &c->prove;
    struct str *out = &c->prove.page;
    str_printf(out, "# %s on %s\n\n%s, ", family, p->device.name, p->device.driver);
    str_printf(out, "measured by tilewalk %s. ", build_name());
    str_add(out,
            "Each line is a configuration that ships, as it is; its results are compared with a "
            "reference. `of the peak` is a share of what fixed kernels reach here.\n\n"
            "| preset | operation | ships as | speed | time | of the peak | spills | |\n"
            "|---|---|---|---:|---:|---:|---:|---|\n");
}

// --- sessions ---

static bool add_session(struct census *c, const char *preset, int64_t id, struct err *e)
{
    struct arena a;
    struct session_record r;
    struct baselines all;
    arena_init(&a);
    bool ok = store_get_session(c->prove.store, id, &a, &r, e) &&
              store_get_baselines(c->prove.store, id, &a, &all, e);
    for (int i = 0; ok && i < all.count; i++) {
        const struct baseline_record *b = &all.of[i];
        const char *what =
            b->outcome == OUTCOME_OK
                ? ""
                : arena_printf(&a, "%s: %s", outcome_name(b->outcome), b->reason ? b->reason : "");
        add_line(c, &r, preset, r.title, b, what);
        add_json(&c->prove.json, &r, preset, r.title, b, what);
        c->measured += b->outcome == OUTCOME_OK;
        c->wrong += b->outcome == OUTCOME_WRONG;
    }
    arena_finish(&a);
    return ok;
}

static void set_unless_given(const struct census *c, struct setting *set, int *count,
                             const char *name, const char *value)
{
    if (!find_given(c, name))
        set[(*count)++] = (struct setting){name, value};
}

// Runs a session that ends with its baselines: it has no time for a trial.
static void run_session(struct census *c, const struct item *item, const char *type,
                        const char *columns)
{
    struct setting set[MOST_SETTINGS];
    struct err e = {0};
    char index[12], *with = mem_strdup(item->with ? item->with : ""), *equals = strchr(with, '=');
    int count = 0;
    for (; count < c->given_count && count < MOST_SETTINGS - 3; count++)
        set[count] = c->given[count];
    if (equals) {
        *equals = '\0';
        set_unless_given(c, set, &count, with, equals + 1);
    }
    set_unless_given(c, set, &count, "type", type);
    set_unless_given(c, set, &count, "N", columns);
    snprintf(index, sizeof index, "%d", c->prove.device.index);
    struct session_options o = {.set = set,
                                .set_count = count,
                                .device = index,
                                .warm = "none",
                                .seconds = 1e-9,
                                .has_seed = true,
                                .seed = c->prove.seed};
    int64_t id = 0;
    char *path = script_find_shipped(item->preset, &e);
    o.space = path;
    bool ok = path && prove_session(&c->prove, &o, &id, &e);
    if (id && !add_session(c, item->preset, id, ok ? &e : NULL))
        ok = false;
    if (!ok) { // without the place, which names folders of the user
        char *title = mem_printf("%s%s%s, %s columns", type, item->with ? ", " : "",
                                 item->with ? item->with : "", columns);
        add_line(c, NULL, item->preset, title, NULL, e.text);
        add_json(&c->prove.json, NULL, item->preset, title, NULL, e.text);
        free(title);
    }
    free(path);
    free(with);
}

// Calls run_session for each type and number of columns; once where the user gives one.
static void run_item(struct census *c, const struct item *item, bool json)
{
    char *types = mem_strdup(find_given(c, "type") ? find_given(c, "type") : item->types), *rest;
    for (char *type = strtok_r(types, " ", &rest); type; type = strtok_r(NULL, " ", &rest)) {
        const char *wanted = find_given(c, "N") ? find_given(c, "N") : item->columns;
        char *columns = mem_strdup(wanted), *others;
        for (char *n = strtok_r(columns, " ", &others); n && !prove_signal();
             n = strtok_r(NULL, " ", &others)) {
            if (!json)
                fprintf(stderr, "tilewalk: %s %s, %s columns\n", item->preset, type, n);
            run_session(c, item, type, n);
        }
        free(columns);
    }
    free(types);
}

static bool begin(struct census *c, const struct arguments *a, struct err *e)
{
    struct gpu_info *list = NULL;
    int count, index;
    struct sandbox s;
    bool ok = devices_find(&list, &count, e) &&
              gpu_choose(list, count, arguments_text(a, "device"), &index, e) &&
              gpu_can_run(&list[index], e);
    if (ok)
        c->prove.device = list[index];
    free(list);
    if (!ok)
        return false;
    confine_begin(&s);
    confine_read_settings(&s, a);
    return prove_begin_store(&c->prove, &s, e);
}

static int run_census(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena storage;
    struct str text = {0};
    const bool json = arguments_flag(a, "json");
    const struct item *items = NULL;
    (void)self;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (str_equal(a->operand[0], families[i].name))
            items = families[i].items;
    if (!items) {
        err_usage(&e, "no family '%s' (ggml)", a->operand[0]);
        return fail_with(&e, EXIT_USAGE);
    }
    arena_init(&storage);
    struct census c = {.prove = {.begin_ns = os_now_ns(), .seed = 1}};
    c.given = common_settings(a, &storage, &c.given_count);
    bool ok = begin(&c, a, &e);
    if (ok) {
        c.prove.json = json_begin(&text);
        json_add_text(&c.prove.json, "format", "tilewalk-census");
        json_add_int(&c.prove.json, "version", 1);
        json_add_text(&c.prove.json, "tilewalk", build_name());
        json_add_text(&c.prove.json, "device", c.prove.device.name);
        json_add_text(&c.prove.json, "driver", c.prove.device.driver);
        json_begin_list(&c.prove.json, "rows");
        add_head(&c, a->operand[0]);
        for (const struct item *item = items; item->preset; item++)
            run_item(&c, item, json);
        json_end_all(&c.prove.json);
        fputs(json ? str_text(&text) : str_text(&c.prove.page), stdout);
        if (json)
            puts("");
        if (!c.measured || c.wrong)
            ok = err_set(&e, "%" PRId64 " of the configurations were right, %" PRId64 " wrong",
                         c.measured, c.wrong);
    }
    int code = ok && prove_signal() ? 128 + prove_signal() : common_exit(ok, &e);
    prove_finish(&c.prove);
    str_finish(&text);
    arena_finish(&storage);
    return code;
}

static const struct option options[] = {
    OPTION_SET, OPTION_DEVICE, OPTION_GLSLANG, OPTION_SANDBOX, OPTION_JSON, OPTION_END,
};

const struct command cmd_census = {
    .name = "census",
    .operands = "FAMILY",
    .least = 1,
    .most = 1,
    .help = "measure the configurations that others ship, for each type and number of columns, as "
            "one Markdown page: ggml (with --set ggml=DIR)",
    .options = options,
    .run = run_census,
};
