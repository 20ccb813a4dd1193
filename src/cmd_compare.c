#include "common.h"
#include "report/compare_table.h"
#include "session_curves.h"

#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Sessions of one strategy with the same options are its repeats.
struct contest {
    struct session_curves curves;
    const char **strategy;
    struct comparison_run *run; // [i]: of curves.curve[i]
    struct comparison_problem problem;
    struct comparison_setup setup;
    struct comparison_result result;
};

// --- what is compared ---

// What forbids comparing two sessions, with each one's; false: nothing.
static bool differ(const struct session_record *a, const struct session_record *b,
                   const char **what, const char *of[2])
{
    const char *const pairs[][3] = {
        {"problems", a->title, b->title},
        {"devices", a->device, b->device},
        {"drivers", a->device_id, b->device_id},
        {"sources", a->source, b->source},
        {"spaces", a->name, b->name},
        {"settings", a->settings, b->settings},
        {"versions of the space's files", a->text_hash, b->text_hash},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (str_equal(pairs[i][1], pairs[i][2]))
            continue;
        *what = pairs[i][0];
        of[0] = pairs[i][1] ? pairs[i][1] : "none";
        of[1] = pairs[i][2] ? pairs[i][2] : "none";
        return true;
    }
    return false;
}

static bool check_same(const struct session_curves *c, struct err *e)
{
    const struct session_record *first = &c->curve[0].record;
    for (int i = 1; i < c->count; i++) {
        const struct session_record *r = &c->curve[i].record;
        const char *what, *of[2];
        if (differ(first, r, &what, of))
            return err_set(e,
                           "sessions %" PRId64 " and %" PRId64
                           " cannot be compared: they have different %s (%s and %s)",
                           first->id, r->id, what, of[0], of[1]);
    }
    return true;
}

static int group_of(struct contest *c, const char *strategy)
{
    for (int i = 0; i < c->setup.group_count; i++)
        if (str_equal(c->strategy[i], strategy))
            return i;
    c->strategy[c->setup.group_count] = strategy;
    return c->setup.group_count++;
}

static void set_up(struct contest *c)
{
    struct session_curves *curves = &c->curves;
    c->strategy = arena_zero(&curves->arena, (size_t)curves->count, sizeof *c->strategy);
    c->run = arena_zero(&curves->arena, (size_t)curves->count, sizeof *c->run);
    for (int i = 0; i < curves->count; i++) {
        const struct session_curve *s = &curves->curve[i];
        c->run[i] = (struct comparison_run){
            .group = group_of(c, s->record.strategy),
            .pair = s->record.seed,
            .curve = s->steps,
            .end = s->end,
        };
    }
    c->problem = (struct comparison_problem){.work = curves->curve[0].record.flop};
    c->setup.group_name = c->strategy;
    c->setup.problem = &c->problem;
    c->setup.problem_count = 1;
    c->setup.run = c->run;
    c->setup.run_count = curves->count;
    c->setup.seconds = curves->seconds;
}

// "50,100,200"
static bool parse_at(const char *list, struct comparison_setup *s, struct err *e)
{
    char text[256], *rest;
    if (!list)
        return true;
    if (strlen(list) >= sizeof text)
        return err_usage(e, "--at takes at most %d numbers", COMPARISON_MOST_AT);
    strcpy(text, list);
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        double at, before = s->at_count ? s->at[s->at_count - 1] : 0;
        if (s->at_count == COMPARISON_MOST_AT)
            return err_usage(e, "--at takes at most %d numbers", COMPARISON_MOST_AT);
        if (!str_to_real(word, &at) || !(at > before))
            return err_usage(e, "--at wants ascending numbers above 0, not '%s'", list);
        s->at[s->at_count++] = at;
    }
    return s->at_count || err_usage(e, "--at wants numbers above 0, not '%s'", list);
}

// --- output ---

static const struct session_record *record_of(const struct contest *c, int place)
{
    return &c->curves.curve[c->result.run[place] - c->run].record;
}

static void add_sessions(const struct contest *c, int group, const char *between, struct str *out)
{
    const struct comparison_group *g = &c->result.group[group];
    for (int i = 0; i < g->runs; i++)
        str_printf(out, "%s%" PRId64, i ? between : "", record_of(c, g->first + i)->id);
}

static void add_text(const struct contest *c, const struct comparison_looks *looks, struct str *out)
{
    char speed[32] = "nothing valid yet";
    const struct session_record *r = &c->curves.curve[0].record;
    if (c->result.best[0] > 0)
        text_speed(c->result.best[0], 1, speed);
    str_printf(out, "%s (%s) on %s, best known: %s\n\n", r->title, r->name, session_curves_place(r),
               speed);
    comparison_add_text(&c->result, looks, out);
    str_add(out, "sessions:");
    for (int g = 0; g < c->result.group_count; g++) {
        str_printf(out, "%s %c ", g ? ";" : "", c->result.group[g].letter);
        add_sessions(c, g, " ", out);
    }
    str_add(out, "\n");
}

static void add_json(const struct contest *c, struct str *out)
{
    const struct comparison_result *r = &c->result;
    const struct session_record *first = &c->curves.curve[0].record;
    str_add(out, "{\"title\":");
    str_add_json(out, first->title);
    str_add(out, ",\"space\":");
    str_add_json(out, first->name);
    str_add(out, ",\"device\":");
    str_add_json(out, first->device);
    str_add(out, ",\"source\":");
    str_add_json(out, first->source);
    str_printf(out, ",\"against\":\"%s\",\"horizon\":", c->curves.seconds ? "time" : "trials");
    json_real(out, r->horizon);
    str_add(out, ",\"shortest\":");
    json_real(out, r->shortest);
    str_add(out, ",\"best_tflops\":");
    json_real(out, r->best[0] > 0 ? r->best[0] / 1e12 : NAN);
    str_printf(out, ",\"pairs\":%d,\"at\":[", r->pairs);
    for (int i = 0; i < r->at_count; i++) {
        str_add(out, i ? "," : "");
        json_real(out, r->at[i]);
    }
    str_add(out, "],\"strategies\":[");
    for (int g = 0; g < r->group_count; g++) {
        str_add(out, g ? ",{" : "{");
        comparison_add_group_json(r, g, COMPARISON_FLOPS, out);
        str_add(out, ",\"sessions\":[");
        add_sessions(c, g, ",", out);
        str_add(out, "]}");
    }
    str_add(out, "]}\n");
}

static void print(const struct arguments *a, const struct contest *c)
{
    struct str out = {0};
    const struct comparison_looks looks = {
        .unit = COMPARISON_FLOPS,
        .ascii = !str_equal(nl_langinfo(CODESET), "UTF-8"), // main called setlocale
    };
    if (arguments_flag(a, "json"))
        add_json(c, &out);
    else if (arguments_flag(a, "csv"))
        comparison_add_csv(&c->result, &out);
    else if (arguments_flag(a, "markdown"))
        comparison_add_markdown(&c->result, &looks, &out);
    else
        add_text(c, &looks, &out);
    fputs(str_text(&out), stdout);
    str_finish(&out);
}

// --- the picture ---

static struct chart_line line_of(struct contest *c, int group, const struct curve_grid *grid,
                                 double unit)
{
    const struct comparison_group *g = &c->result.group[group];
    struct arena *arena = &c->curves.arena;
    struct spread *at = arena_zero(arena, (size_t)grid->count + 1, sizeof *at);
    comparison_spread(&c->result, group, grid->step, grid->step, at, grid->count);
    for (int i = 0; i < grid->count; i++) {
        at[i].mean *= c->result.best[0] / unit;
        at[i].deviation *= c->result.best[0] / unit;
    }
    return (struct chart_line){
        .letter = g->letter,
        .label = g->runs > 1 ? arena_printf(arena, "%s  (%d runs)", g->name, g->runs) : g->name,
        .at = at,
        .count = grid->count,
        .from = grid->from,
        .step = grid->step,
        .end = grid->from + c->result.horizon,
        .band = g->runs > 1,
    };
}

static bool draw(struct contest *c, const char *path, struct err *e)
{
    struct arena *arena = &c->curves.arena;
    const struct session_record *r = &c->curves.curve[0].record;
    struct curve_grid grid = session_curves_grid(c->result.horizon, c->curves.seconds);
    struct chart chart = {
        .title = arena_printf(arena, "%s on %s", r->title, session_curves_place(r)),
        .x = session_curves_axis(c->result.horizon, c->curves.seconds),
        .line_count = c->result.group_count,
    };
    double unit = session_curves_unit(c->result.best[0], &chart.y_name);
    struct chart_line *line = arena_zero(arena, (size_t)chart.line_count, sizeof *line);
    for (int g = 0; g < chart.line_count; g++)
        line[g] = line_of(c, g, &grid, unit);
    chart.line = line;
    return chart_write(&chart, path, e);
}

// --- the command ---

static bool check_words(const struct arguments *a, struct comparison_setup *s, struct err *e)
{
    const char *plot = arguments_text(a, "plot");
    int formats =
        arguments_flag(a, "json") + arguments_flag(a, "csv") + arguments_flag(a, "markdown");
    if (formats > 1)
        return err_usage(e, "--json, --csv and --markdown are ways to print the same (choose one)");
    return parse_at(arguments_text(a, "at"), s, e) && (!plot || chart_check_name(plot, e));
}

static int run_compare(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct contest c = {.strategy = NULL};
    const char *plot = arguments_text(a, "plot");
    (void)self;
    if (!check_words(a, &c.setup, &e))
        return fail_with(&e, EXIT_USAGE);
    if (!session_curves_read(a, &c.curves, &e))
        return fail_with(&e, EXIT_FAILED);
    bool ok = check_same(&c.curves, &e);
    if (ok) {
        set_up(&c);
        comparison_make(&c.setup, &c.result);
        ok = !plot || draw(&c, plot, &e);
        if (ok)
            print(a, &c);
        comparison_finish(&c.result);
    }
    session_curves_finish(&c.curves);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    OPTION_AGAINST,
    {"at", OPTION_TEXT, "N,N,...",
     "trials or seconds after which the best so far is compared (default: four of 1, 2, 5, 10, "
     "...)"},
    {"markdown", OPTION_FLAG, NULL, "print a Markdown table only"},
    {"csv", OPTION_FLAG, NULL, "print CSV only"},
    OPTION_JSON,
    {"plot", OPTION_TEXT, "FILE.svg|FILE.png",
     "draw the curves too: mean and standard deviation of each strategy"},
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_compare = {
    .name = "compare",
    .operands = "ID...",
    .help = "compare the strategies of sessions with the same problem",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_compare,
};
