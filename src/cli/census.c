// census: the configurations that ship, measured as they are. For each preset of a family, each
// type and each number of columns, a session measures what the preset declares as baselines and
// ends. A page has a line for each of them, beside the device's peak, for issue trackers.
#include "base/build.h"
#include "base/os.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/prove.h"
#include "engine/devices.h"
#include "engine/speed.h"
#include "report/text.h"
#include "script/script.h"
#include "space/roofline.h"
#include "space/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 64 };

// A preset of a family: a session for each of `types` and `columns`, with the settings `with`.
struct item {
    const char *preset, *types, *with, *columns;
    enum roofline_kind arithmetic; // what its kernels multiply
};

static const struct item ggml[] = {
    {"ggml-mul-mat-vec", "q4_0 q8_0 q4_K q6_K f16 f32", "products=float", "1 2 3 4 5 6 7 8",
     ROOFLINE_F32},
    {"ggml-mul-mat-vec", "q4_0 q8_0 q4_K q6_K", "products=dot", "1 2 3 4 5 6 7 8", ROOFLINE_I8},
    {"ggml-mul-mm", "q4_0 q8_0 q4_K f16 f32", "units=none float=f16", "16 64 512", ROOFLINE_F16},
    {"ggml-mul-mm", "q4_0 q8_0 q4_K f16 f32", "units=khr", "16 64 512", ROOFLINE_F16_MATRIX},
    {"ggml-mul-mmq", "q4_0 q8_0 q4_K q6_K", "float=f16", "16 64 512", ROOFLINE_I8},
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
    struct roofline peak; // of the device
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

// A configuration and how fast it is; `baseline` and `session` NULL: there was no session.
struct row {
    const struct item *item;
    const struct session_record *session;
    const struct baseline_record *baseline;
    const char *title, *reason; // the latter is "" where it ran
};

static bool has_run(const struct row *r)
{
    return r->baseline && r->baseline->outcome == OUTCOME_OK;
}

// Returns the share of the peak of what bounds it: memory, or the arithmetic of its kernels.
// 0: not known.
static double share_of_peak(const struct census *c, const struct row *r, const char **by)
{
    const struct session_record *s = r->session;
    const enum roofline_kind kind = r->item->arithmetic;
    double least_s = c->peak.rate[kind] > 0 ? s->flop / c->peak.rate[kind] : 0;
    *by = roofline_name(kind);
    if (s->roof_by && str_equal(s->roof_by, roofline_name(ROOFLINE_BYTES)) && s->roof_s > least_s) {
        *by = s->roof_by;
        least_s = s->roof_s;
    }
    return has_run(r) ? least_s / r->baseline->seconds : 0;
}

static void add_line(struct census *c, const struct row *r)
{
    struct str *out = &c->prove.page;
    const struct baseline_record *b = r->baseline;
    char speed[32] = "-", time[32] = "-";
    struct statistics told = {0};
    const char *by;
    double spills, share = has_run(r) ? share_of_peak(c, r, &by) : 0;
    if (has_run(r)) {
        speed_text(r->session, b->seconds, speed);
        text_time(b->seconds, time);
    }
    str_printf(out, "| %s | ", r->item->preset);
    str_add_markdown(out, r->title);
    str_printf(out, " | %s | %s | %s | ", b ? b->name : "-", speed, time);
    if (share > 0)
        str_printf(out, "%.1f %% (%s)", 100 * share, by);
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
    str_add_markdown(out, r->reason);
    str_add(out, " |\n");
}

static void add_json(struct census *c, const struct row *r)
{
    struct json_writer *w = &c->prove.json;
    const struct baseline_record *b = r->baseline;
    json_begin_object(w, NULL);
    json_add_text(w, "preset", r->item->preset);
    json_add_text(w, "title", r->title);
    json_add_text_if_any(w, "reason", r->reason);
    if (b) {
        json_add_text(w, "name", b->name);
        json_add_text(w, "outcome", outcome_name(b->outcome));
        json_add_raw(w, "config", b->config && *b->config ? b->config : NULL);
        json_add_raw(w, "statistics", b->statistics);
    }
    if (has_run(r)) {
        const char *by;
        double share = share_of_peak(c, r, &by);
        json_add_real(w, "ms", 1e3 * b->seconds);
        json_add_real(w, "rate", speed_rate(r->session, b->seconds));
        json_add_text(w, "rate_unit", speed_rate_word(r->session));
        json_add_real(w, "of_roof", share > 0 ? share : NAN);
        json_add_text(w, "roof_by", share > 0 ? by : NULL);
    }
    json_end(w);
}

static void add_row(struct census *c, const struct row *r)
{
    add_line(c, r);
    add_json(c, r);
    c->measured += has_run(r);
    c->wrong += r->baseline && r->baseline->outcome == OUTCOME_WRONG;
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

static bool add_session(struct census *c, const struct item *item, int64_t id, struct err *e)
{
    struct arena a;
    struct session_record r;
    struct baselines all;
    arena_init(&a);
    bool ok = store_get_session(c->prove.store, id, &a, &r, e) &&
              store_get_baselines(c->prove.store, id, &a, &all, e);
    for (int i = 0; ok && i < all.count; i++) {
        const struct baseline_record *b = &all.of[i];
        const char *what = outcome_name(b->outcome), *why = b->reason ? b->reason : "";
        const char *reason = b->outcome == OUTCOME_OK ? "" : arena_printf(&a, "%s: %s", what, why);
        add_row(c, &(struct row){item, &r, b, r.title, reason});
    }
    arena_finish(&a);
    return ok;
}

// Runs a session that ends with its baselines: it has no time for a trial.
static void run_session(struct census *c, const struct item *item, const char *type,
                        const char *columns)
{
    struct setting set[MOST_SETTINGS];
    struct err e = {0};
    char index[12], *with = mem_strdup(item->with), *rest, *equals;
    int count = 0;
    set[count++] = (struct setting){"type", type};
    set[count++] = (struct setting){"N", columns};
    for (int i = 0; i < c->given_count && count < MOST_SETTINGS / 2; i++)
        if (!str_equal(c->given[i].name, "type") && !str_equal(c->given[i].name, "N"))
            set[count++] = c->given[i];
    for (char *one = strtok_r(with, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        equals = strchr(one, '=');
        *equals = '\0';
        if (!find_given(c, one))
            set[count++] = (struct setting){one, equals + 1};
    }
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
    if (id)
        ok = add_session(c, item, id, ok ? &e : NULL) && ok;
    if (!ok && !prove_signal()) { // without the place, which names folders of the user
        char *title = mem_printf("%s, %s, %s columns", type, item->with, columns);
        add_row(c, &(struct row){.item = item, .title = title, .reason = e.text});
        free(title);
    }
    free(path);
    free(with);
}

// Calls run_session for each type and number of columns: the item's, or those that the user gives.
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
    if (!prove_begin_store(&c->prove, &s, e))
        return false;
    struct err why;
    if (!peak_measure(c->prove.store, &c->prove.device, &c->peak, &why))
        log_warning("%s", why.text);
    return true;
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
