// compare: strategies side by side, in sessions or on recordings, as tables and as a picture.
//
// Sessions of one strategy with the same options are its repeats. On recordings every strategy is
// simulated; with several recordings each is a problem of its own. --curves prints each search on
// each recording as a line of JSON.
#include "base/file.h"
#include "base/shown.h"
#include "cli/confine.h"
#include "cli/portability.h"
#include "cli/session_curves.h"
#include "engine/stored.h"
#include "report/compare_table.h"
#include "simulate/curve.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct contest {
    const struct arguments *a;
    bool prints_curves; // of searches on recordings, instead of the comparison
    struct comparison_setup setup;
    struct comparison_result result;
    enum comparison_unit unit;
    struct objective objective; // of one recording; time where it has another unit
    const char *heading;        // first line of the text, without its end
    const char *title;          // of the picture
    const char *members;        // JSON members that describe what is compared
    const int64_t *session;     // [setup.run_count]: ids; NULL: recordings
    struct session_curves curves;
    struct simulated_comparison simulated;
    struct arena arena;
};

// --- the command line ---

// All operands are session numbers, or all are files.
static bool check_operands(const struct arguments *a, bool *recordings, struct err *e)
{
    const char *number = NULL, *file = NULL;
    for (int i = 0; i < a->operand_count; i++) {
        int64_t id;
        bool is_number = str_to_int(a->operand[i], 1, INT64_MAX, &id);
        if (!is_number && !file_exists(a->operand[i]))
            return err_usage(e,
                             "'%s' is neither a session number (tilewalk ls lists them) nor a "
                             "file",
                             a->operand[i]);
        *(is_number ? &number : &file) = a->operand[i];
    }
    if (number && file)
        return err_usage(e,
                         "%s is a session and '%s' a recording: they cannot be compared (a file "
                         "with the name %s is ./%s)",
                         number, file, number, number);
    *recordings = file != NULL;
    // A recording that counts twice would make differences look surer than they are.
    for (int i = 0; file && i < a->operand_count; i++)
        for (int k = 0; k < i; k++)
            if (str_equal(a->operand[i], a->operand[k]))
                return err_usage(e, "recording '%s' is named twice", a->operand[i]);
    return true;
}

static const char *first_given(const struct arguments *a, const char *const *names)
{
    while (*names && !arguments_flag(a, *names))
        names++;
    return *names;
}

static bool check_options(const struct arguments *a, bool recordings, struct err *e)
{
    static const char *const for_recordings[] = {"strategy", "trials", "repeats", "seed",
                                                 "noise",    "curves", NULL};
    static const char *const for_curves[] = {"plot", "at", "against", NULL};
    const char *wrong = first_given(a, for_recordings);
    if (!recordings && wrong)
        return err_usage(e, "--%s is for recordings; sessions are compared as they are", wrong);
    if (recordings && arguments_text(a, "db"))
        return err_usage(e, "--db names the database of sessions; recordings are files");
    if (!arguments_flag(a, "portability"))
        return true;
    if (recordings)
        return err_usage(e, "--portability measures sessions; recordings have no kernels");
    wrong = first_given(a, for_curves);
    return !wrong || err_usage(e, "--%s is for curves; --portability has none", wrong);
}

// Parses "50,100,200".
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

static bool check_words(const struct arguments *a, bool *recordings, struct comparison_setup *at,
                        struct err *e)
{
    const char *plot = arguments_text(a, "plot");
    int formats =
        arguments_flag(a, "json") + arguments_flag(a, "csv") + arguments_flag(a, "markdown");
    if (formats > 1)
        return err_usage(e, "--json, --csv and --markdown print the same in other forms (choose "
                            "one)");
    if (arguments_flag(a, "curves") && (plot || formats > arguments_flag(a, "json")))
        return err_usage(e, "--curves prints JSON alone (without --csv, --markdown and --plot)");
    if ((arguments_flag(a, "cost") || arguments_flag(a, "boxes")) && !plot)
        return err_usage(e, "--cost and --boxes change the picture: --plot says where it goes");
    return check_operands(a, recordings, e) && check_options(a, *recordings, e) &&
           parse_at(arguments_text(a, "at"), at, e) && (!plot || chart_check_name(plot, e));
}

// --- recordings ---

static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
}

struct progress {
    struct simulate_plan plan;
    bool on_terminal, by_time, broken_output;
};

static bool on_tick(void *context, int64_t done, int64_t runs)
{
    const struct progress *p = context;
    if (p->on_terminal)
        shown_clear_line();
    if (p->on_terminal && done < runs)
        fprintf(stderr, "%3d %%", (int)(100 * done / runs));
    return !signal_seen && !p->broken_output;
}

static void add_numbers(struct json_writer *w, const char *name, const double *value, int64_t count)
{
    json_begin_list(w, name);
    for (int64_t i = 0; i < count; i++) {
        json_add_name(w, NULL);
        str_printf(w->out, "%.8g", value[i]);
    }
    json_end(w);
}

// Prints the curve of one strategy on one recording (--curves).
static void on_finished(void *context, int index)
{
    struct progress *p = context;
    struct simulation *s = &p->plan.list[index];
    struct simulated_curve c;
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    const struct recording *r = s->recording;
    char *canonical = strategy_canonical(s->strategy, NULL);
    simulated_curve_make(s, &c);
    json_add_text(&w, "recording", r->name);
    json_add_text(&w, "file", r->path);
    json_add_text(&w, "strategy", s->strategy);
    json_add_text(&w, "spec", canonical);
    json_add_int(&w, "trials", s->trials);
    json_add_int(&w, "repeats", s->repeats);
    json_add_count(&w, "seed", s->seed);
    json_add_flag(&w, "noise", s->noise);
    json_add_int(&w, "size", simulated_size(r));
    json_add_int(&w, "valid", r->outcomes[OUTCOME_OK]);
    json_add_real(&w, "optimum", r->entry[r->best].seconds);
    free(canonical);
    json_add_real(&w, "trials_done", c.trials_done);
    add_numbers(&w, "best_fraction", c.fraction, c.trials);
    add_numbers(&w, "std", c.deviation, c.trials);
    json_add_real(&w, "score", c.score);
    json_add_real(&w, "shortfall", c.shortfall);
    json_add_real(&w, "seconds_per_trial", c.seconds_per_trial);
    if (p->by_time) {
        json_begin_object(&w, "by_time");
        add_numbers(&w, "seconds", c.at_s, SIMULATED_TIMES);
        add_numbers(&w, "best_fraction", c.by_time, SIMULATED_TIMES);
        add_numbers(&w, "std", c.by_time_deviation, SIMULATED_TIMES);
        json_end(&w);
    }
    if (p->on_terminal)
        shown_clear_line();
    json_print(&w);
    p->broken_output |= fflush(stdout) != 0;
    simulated_curve_finish(&c);
    simulation_finish(s);
}

static void add_recordings_json(const struct simulate_plan *p, struct str *out)
{
    struct json_writer w = {.out = out};
    json_begin_list(&w, "recordings");
    for (int i = 0; i < p->recordings; i++) {
        const struct recording *r = p->recording[i];
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", r->name);
        json_add_text(&w, "file", r->path);
        json_add_text(&w, "kernel", r->kernel);
        json_add_text(&w, "device", r->device);
        json_add_int(&w, "size", simulated_size(r));
        json_add_int(&w, "valid", r->outcomes[OUTCOME_OK]);
        json_add_text(&w, "unit", r->unit);
        json_add_real(&w, "optimum", r->entry[r->best].seconds);
        json_end(&w);
    }
    json_end(&w);
    json_add_int(&w, "trials", p->list[0].trials);
    json_add_int(&w, "repeats", p->list[0].repeats);
    json_add_count(&w, "seed", p->list[0].seed);
}

static void describe_recordings(const struct simulate_plan *p, struct contest *c)
{
    struct str out = {0};
    const struct recording *first = p->recording[0];
    const char **name = arena_zero(&c->arena, (size_t)p->recordings, sizeof *name);
    bool in_seconds = str_equal(first->unit, "s");
    c->unit = in_seconds                    ? COMPARISON_RATE
              : recorded_is_relative(first) ? COMPARISON_PLAIN
                                            : COMPARISON_FLOPS;
    for (int i = 0; i < p->recordings; i++) {
        name[i] = p->recording[i]->name;
        str_printf(&out, "%s%s", i ? ", " : "", name[i]);
    }
    if (p->recordings == 1) {
        char text[32];
        double best = first->entry[first->best].seconds;
        str_printf(&out, ": %" PRId64 " configurations, %d valid, optimum ", simulated_size(first),
                   first->outcomes[OUTCOME_OK]);
        if (objective_parse(first->unit, &c->objective))
            str_printf(&out, "%.4g %s", objective_value(&c->objective, best), c->objective.name);
        else if (c->unit == COMPARISON_PLAIN)
            str_printf(&out, "%.4g %s", best, first->unit);
        else
            str_add(&out, in_seconds ? text_time(best, text)
                                     : text_speed(recorded_flop(first), best, text));
    }
    str_printf(&out, "; %" PRId64 " trials, seed %" PRIu64, p->list[0].trials, p->list[0].seed);
    c->heading = common_keep(&c->arena, &out);
    add_recordings_json(p, &out);
    c->members = common_keep(&c->arena, &out);
    chart_add_names(name, p->recordings, &out);
    c->title = common_keep(&c->arena, &out);
}

static bool read_recordings(struct contest *c, struct err *e)
{
    enum comparison_axis axis = session_curves_axis_of(c->a);
    const char *strategies = arguments_text(c->a, "strategy");
    const struct simulate_words words = {
        .path = c->a->operand,
        .paths = c->a->operand_count,
        .strategies = strategies ? strategies : ENGINE_DEFAULT_STRATEGY,
        .trials = arguments_integer(c->a, "trials", 500),
        .repeats = (int)arguments_integer(c->a, "repeats", 50),
        .seed = (uint64_t)arguments_integer(c->a, "seed", 1),
        .noise = arguments_flag(c->a, "noise"),
        .costs_for = axis == COMPARISON_SECONDS ? "--against time" : NULL,
    };
    struct progress p = {.by_time = axis == COMPARISON_SECONDS,
                         .on_terminal =
                             isatty(STDERR_FILENO) && !str_equal(getenv("TERM"), "dumb")};
    const struct simulate_plan *plan = &p.plan;
    struct simulate_options o = {
        .tick = on_tick, .finished = c->prints_curves ? on_finished : NULL, .context = &p};
    common_on_signals(on_signal, SA_RESTART);
    bool ok = simulate_plan_make(&words, &p.plan, e) && simulate(p.plan.list, p.plan.count, &o, e);
    if (ok && !signal_seen && !c->prints_curves) {
        simulated_comparison_make(plan->list, plan->recordings, plan->strategies, axis,
                                  &c->simulated);
        char text[STRATEGY_TEXT];
        const char **name = arena_zero(&c->arena, (size_t)plan->strategies, sizeof *name);
        const char **title = arena_zero(&c->arena, (size_t)plan->strategies, sizeof *title);
        for (int i = 0; i < plan->strategies; i++) {
            name[i] = arena_strdup(&c->arena, plan->strategy[i]);
            title[i] = arena_strdup(&c->arena, strategy_text(plan->strategy[i], false, text));
        }
        c->setup = c->simulated.setup;
        c->setup.group_name = name; // outlive the plan
        c->setup.group_title = title;
        describe_recordings(plan, c);
    }
    simulate_plan_finish(&p.plan);
    return ok;
}

// --- sessions ---

// Sessions of one strategy that began alike are a group. Names and titles have room for another.
static int group_of(struct contest *c, const char **name, const char **title,
                    const struct session_record *r)
{
    char text[STRATEGY_TEXT], scheduler[STRATEGY_TEXT] = "";
    const char *spec = shown_text(&c->arena, r->strategy), *beginning = stored_beginning(r);
    if (r->scheduler) // of a network
        beginning = arena_printf(
            &c->arena, ", %s%s",
            strategy_text(shown_text(&c->arena, r->scheduler), false, scheduler), beginning);
    int i = 0, count = c->setup.group_count;
    name[count] = arena_printf(&c->arena, "%s%s", spec, beginning);
    while (!str_equal(name[i], name[count]))
        i++;
    if (i == count) {
        title[i] = arena_printf(&c->arena, "%s%s", strategy_text(spec, false, text), beginning);
        c->setup.group_count++;
    }
    return i;
}

static bool read_sessions(struct contest *c, struct err *e)
{
    const struct session_curves *curves = &c->curves;
    if (!session_curves_read(c->a, false, &c->curves, e))
        return false;
    const struct session_record *first = &curves->curve[0].record;
    for (int i = 1; i < curves->count; i++)
        if (!common_alike(first, &curves->curve[i].record, FACTS_ALL, "cannot be compared", e))
            return false;
    size_t count = (size_t)curves->count;
    const char **name = arena_zero(&c->arena, count + 1, sizeof *name);
    const char **title = arena_zero(&c->arena, count, sizeof *title);
    struct comparison_run *run = arena_zero(&c->arena, count, sizeof *run);
    struct comparison_problem *problem = arena_zero(&c->arena, 1, sizeof *problem);
    int64_t *session = arena_zero(&c->arena, count, sizeof *session);
    for (int i = 0; i < curves->count; i++) {
        const struct session_curve *s = &curves->curve[i];
        session[i] = s->record.id;
        run[i] = (struct comparison_run){
            .group = group_of(c, name, title, &s->record),
            .pair = s->record.seed,
            .curve = s->steps,
            .end = s->end,
        };
    }
    problem->work = first->flop;
    c->setup.group_name = name;
    c->setup.group_title = title;
    c->setup.problem = problem;
    c->setup.problem_count = 1;
    c->setup.run = run;
    c->setup.run_count = curves->count;
    c->setup.axis = curves->axis;
    c->session = session;
    const struct session_record *stored = &c->curves.curve[0].record;
    struct session_record r = *stored;
    struct str out = {0};
    struct json_writer w = {.out = &out};
    common_show_record(&c->arena, &r);
    const char *place = session_curves_place(&r);
    c->unit = speed_is_relative(&r) ? COMPARISON_SHARE : COMPARISON_FLOPS;
    c->title = arena_printf(&c->arena, "%s on %s", r.title, place);
    c->heading = arena_printf(&c->arena, "%s (%s%s%s) on %s", r.title, r.name,
                              r.reduced ? ", " : "", r.reduced ? r.reduced : "", place);
    json_add_text(&w, "title", stored->title);
    json_add_text(&w, "space", stored->name);
    json_add_text(&w, "device", stored->device);
    json_add_text(&w, "source", stored->source);
    if (stored->declared)
        json_add_raw(&w, "declared", stored->declared);
    c->members = common_keep(&c->arena, &out);
    return true;
}

// --- the table ---

// Returns the session of a group's run.
static int64_t session_of(const struct contest *c, int group, int run)
{
    const struct comparison_result *r = &c->result;
    return c->session[r->run[r->group[group].first + run] - c->setup.run];
}

// Returns false where levels are those of another objective than time.
static bool has_speeds(const struct contest *c)
{
    return !c->session || speed_objective(&c->curves.curve[0].record).kind == OBJECTIVE_TIME;
}

static void compare_add_json(const struct contest *c, struct str *out)
{
    struct json_writer w = json_begin(out);
    const struct comparison_result *r = &c->result;
    json_add_raw(&w, NULL, c->members);
    json_add_text(&w, "against", session_curves_axis_word(c->setup.axis));
    json_add_real(&w, "horizon", r->horizon);
    json_add_real(&w, "shortest", r->shortest);
    if (c->session) {
        const struct session_record *first = &c->curves.curve[0].record;
        double best_s = r->best[0] > 0 ? first->flop / r->best[0] : 0;
        json_add_real(&w, "best_tflops", speed_tflops(first, best_s));
        json_add_text(&w, "speed_unit", speed_unit_word(first));
        json_add_real(&w, "best_rate", speed_rate(first, best_s));
        json_add_text(&w, "rate_unit", speed_rate_word(first));
    }
    json_add_int(&w, "pairs", r->pairs);
    json_add_reals(&w, "at", r->at_count, r->at);
    json_begin_list(&w, "strategies");
    for (int g = 0; g < c->result.group_count; g++) {
        json_begin_object(&w, NULL);
        comparison_add_group_json(&c->result, g, has_speeds(c) ? c->unit : COMPARISON_PLAIN, &w);
        if (c->session) {
            json_begin_list(&w, "sessions");
            for (int i = 0; i < r->group[g].runs; i++)
                json_add_int(&w, NULL, session_of(c, g, i));
            json_end(&w);
        }
        json_end(&w);
    }
    json_end_all(&w);
    str_add_char(out, '\n');
}

static void compare_print(const struct contest *c)
{
    struct str out = {0};
    struct comparison_looks looks = {.unit = c->unit, .ascii = common_ascii()};
    if (c->session) {
        const struct session_record *r = &c->curves.curve[0].record;
        looks.rate_unit = speed_work(r).unit;
        looks.rate_flop = r->flop / speed_work(r).amount;
        looks.cost_unit = speed_is_inverse(r) ? speed_objective(r).unit : NULL;
    }
    if (!c->session && c->objective.kind != OBJECTIVE_TIME) {
        looks.unit = COMPARISON_FLOPS;
        looks.rate_unit = c->objective.name;
        looks.rate_flop = 1;
        looks.cost_unit = c->objective.maximizes ? NULL : c->objective.unit;
    }
    if (arguments_flag(c->a, "json"))
        compare_add_json(c, &out);
    else if (arguments_flag(c->a, "csv"))
        comparison_add_csv(&c->result, &out);
    else if (arguments_flag(c->a, "markdown"))
        comparison_add_markdown(&c->result, &looks, &out);
    else {
        char speed[32] = "nothing valid yet";
        const struct session_record *r = c->session ? &c->curves.curve[0].record : NULL;
        str_add(&out, c->heading);
        if (r && c->result.best[0] > 0)
            speed_text(r, r->flop / c->result.best[0], speed);
        if (r)
            str_printf(&out, ", best known as measured: %s", speed);
        str_add(&out, "\n\n");
        comparison_add_text(&c->result, &looks, &out);
        for (int g = 0; r && g < c->result.group_count; g++) {
            str_printf(&out, "%s%c", g ? "; " : "sessions: ", c->result.group[g].letter);
            for (int i = 0; i < c->result.group[g].runs; i++)
                str_printf(&out, " %" PRId64, session_of(c, g, i));
        }
        str_add(&out, r ? "\n" : "");
    }
    common_print(&out);
}

// --- the picture: mean and deviation of each strategy, or boxes ---

struct drawing {
    struct contest *contest;
    bool cost; // how long a run takes (lower is better); else its speed
    struct curve_grid grid;
    double scale; // what a share of the best known is drawn as; with `cost` what its inverse is
    const char *y_name;
};

// Returns the height at which a share is drawn. Costs are multiples of the least.
static double height_of(const struct drawing *d, double share)
{
    if (!d->cost)
        return d->scale * share;
    return share > 0 ? d->scale / share : 0;
}

// Chooses the unit of the y axis: for sessions one that suits the best known, for recordings
// shares.
static void choose_unit(struct drawing *d)
{
    struct contest *c = d->contest;
    double best = c->result.best[0];
    const struct session_record *r = c->session ? &c->curves.curve[0].record : NULL;
    d->scale = 1;
    d->y_name = d->cost ? "best so far / optimum" : "optimum / best so far";
    if (r && speed_is_inverse(r)) {
        double unit = speed_unit(r, best, &d->y_name);
        d->cost = true;
        d->scale = best > 0 ? unit / best : 1;
    } else if (r && d->cost && has_speeds(c)) {
        bool ms = best > 0 && r->flop / best >= 1e-3;
        d->scale = best > 0 ? r->flop / best * (ms ? 1e3 : 1e6) : 1;
        d->y_name = ms ? "ms" : "us";
    } else if (r) {
        d->scale = best / speed_unit(r, best, &d->y_name);
    }
}

static void draw_curve(const struct drawing *d, int group, struct chart_line *line)
{
    const struct comparison_result *r = &d->contest->result;
    const struct comparison_group *g = &r->group[group];
    const struct curve_grid *grid = &d->grid;
    struct arena *arena = &d->contest->arena;
    struct spread *at = arena_zero(arena, (size_t)grid->count + 1, sizeof *at);
    struct steps *steps = arena_zero(arena, (size_t)g->runs + 1, sizeof *steps);
    for (int i = 0; i < g->runs; i++) {
        const struct steps *share = &r->share[g->first + i];
        struct plot_point *point = arena_zero(arena, (size_t)share->count + 1, sizeof *point);
        for (int k = 0; k < share->count; k++)
            point[k] = (struct plot_point){share->point[k].x, height_of(d, share->point[k].y)};
        steps[i] = (struct steps){point, share->count};
    }
    steps_spread(steps, g->runs, grid->step, grid->step, at, grid->count);
    int unknown = 0; // a curve of costs begins where all runs have one
    while (d->cost && unknown < grid->count && !(at[unknown].least > 0))
        unknown++;
    line->at = at + unknown;
    line->count = grid->count - unknown;
    line->from = grid->from + unknown * grid->step;
    line->step = grid->step;
    line->end = grid->from + r->horizon;
    line->band = g->runs > 1;
    line->most = d->cost ? INFINITY : d->scale;
}

static void draw_box(const struct drawing *d, int group, struct chart_line *line)
{
    const struct comparison_result *r = &d->contest->result;
    const struct comparison_group *g = &r->group[group];
    double *x = arena_zero(&d->contest->arena, (size_t)g->runs + 1, sizeof *x);
    struct chart_box *box = arena_zero(&d->contest->arena, 1, sizeof *box);
    for (int i = 0; i < g->runs; i++)
        x[i] = height_of(d, steps_at(&r->share[g->first + i], r->at[r->at_count - 1]));
    *box = chart_box_of(x, g->runs);
    line->box = box;
    line->from = group + 1;
    line->step = 1;
}

static bool compare_draw(struct contest *c, const char *path, struct err *e)
{
    static const char *const units[] = {
        [COMPARISON_TRIALS] = " trials",
        [COMPARISON_SECONDS] = " s",
        [COMPARISON_SPACE] = " % of the space",
    };
    const struct comparison_result *r = &c->result;
    struct drawing d = {.contest = c,
                        .cost = arguments_flag(c->a, "cost"),
                        .grid = session_curves_grid(r->horizon, c->setup.axis)};
    struct chart_line *line = arena_zero(&c->arena, (size_t)r->group_count, sizeof *line);
    bool boxes = arguments_flag(c->a, "boxes") && r->at_count > 0;
    choose_unit(&d);
    for (int i = 0; i < r->group_count; i++) {
        const struct comparison_group *g = &r->group[i];
        line[i].letter = g->letter;
        line[i].label =
            g->runs > 1 ? arena_printf(&c->arena, "%s  (%d runs)", g->title, g->runs) : g->title;
        (boxes ? draw_box : draw_curve)(&d, i, &line[i]);
    }
    struct chart chart = {
        .title = c->title,
        .x = session_curves_axis(r->horizon, c->setup.axis),
        .y_name = d.y_name,
        .line = line,
        .line_count = r->group_count,
    };
    if (boxes)
        chart.x = (struct plot_axis){
            0.5, r->group_count + 0.5, PLOT_WHOLE,
            arena_printf(&c->arena, "after %.4g%s", r->at[r->at_count - 1], units[c->setup.axis]),
            0};
    else if (d.cost) {
        // The axis ends above the means after its first twentieth: slow runs at its beginning
        // would press all others down.
        double early = d.grid.from + d.grid.count * d.grid.step / 20, top = 0;
        for (int i = 0; i < chart.line_count; i++) {
            const struct chart_line *l = &chart.line[i];
            int k = (int)fmax(0, ceil((early - l->from) / l->step));
            if (k < l->count)
                top = fmax(top, l->at[k].mean);
        }
        chart.top = 1.05 * top;
    }
    return chart_write(&chart, path, e);
}

// --- the command ---

static int run_compare(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct contest c = {.a = a};
    struct comparison_setup given = {.at_count = 0};
    bool recordings = false;
    const char *plot = arguments_text(a, "plot");
    if (!check_words(a, &recordings, &given, &e))
        return fail_with(&e, EXIT_USAGE);
    c.prints_curves = arguments_flag(a, "curves") || (self->hidden && arguments_flag(a, "json"));
    if (arguments_flag(a, "portability")) {
        confine_stored(a);
        return common_exit(portability_print(a, &e), &e);
    }
    bool ok = recordings ? read_recordings(&c, &e) : read_sessions(&c, &e);
    if (ok && !signal_seen && !c.prints_curves) {
        c.setup.at_count = given.at_count;
        memcpy(c.setup.at, given.at, sizeof given.at);
        comparison_make(&c.setup, &c.result);
        ok = !plot || compare_draw(&c, plot, &e);
        if (ok)
            compare_print(&c);
        comparison_finish(&c.result);
    }
    session_curves_finish(&c.curves);
    simulated_comparison_finish(&c.simulated);
    arena_finish(&c.arena);
    return signal_seen ? 128 + signal_seen : common_exit(ok, &e);
}

static const struct option options[] = {
    {"strategy", OPTION_TEXT, "STRATEGY[:KEY=VALUE]...[,...]",
     "searches to run on recordings (default: walk; see tilewalk strategies)"},
    {"trials", OPTION_INTEGER, "N",
     "on recordings: budget of each search, in configurations (default: 500)", 1,
     SIMULATE_MOST_TRIALS},
    {"repeats", OPTION_INTEGER, "R", "on recordings: searches of each strategy (default: 50)", 1,
     SIMULATE_MOST_REPEATS},
    {"seed", OPTION_INTEGER, "S", "on recordings: seed of all searches (default: 1)", 0,
     9007199254740992.0},
    {"noise", OPTION_FLAG, NULL,
     "on recordings: measure one of the recorded runs, not their mean; re-time the best at the "
     "end"},
    {"curves", OPTION_FLAG, NULL, "print each curve on each recording as JSON"},
    OPTION_AGAINST,
    {"at", OPTION_TEXT, "N,N,...",
     "trials or seconds after which the best so far is compared (default: four round ones)"},
    {"portability", OPTION_FLAG, NULL,
     "measure the best configuration of each session on the device of each session"},
    {"markdown", OPTION_FLAG, NULL, "print a Markdown table only"},
    {"csv", OPTION_FLAG, NULL, "print CSV only"},
    OPTION_JSON,
    {"plot", OPTION_TEXT, "FILE.svg|FILE.png",
     "draw the curves too: mean and standard deviation of each strategy"},
    {"cost", OPTION_FLAG, NULL, "draw the time of a run instead of its speed"},
    {"boxes", OPTION_FLAG, NULL, "draw boxes of the best after the last of --at, not curves"},
    {"time", OPTION_FLAG, .hidden = true, .now = "against=time"},
    {"threads", OPTION_INTEGER, .help = "there is one a core", .hidden = true, .now = ""},
    {"scheduler", OPTION_TEXT, .help = "compare sessions of networks", .hidden = true, .now = ""},
    OPTION_DB,
    OPTION_END,
};

const struct command cmd_compare = {
    .name = "compare",
    .operands = "ID...|RECORDING...",
    .help = "compare strategies, with a significance test: sessions with the same problem, or "
            "searches of recorded spaces",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_compare,
};

// An old spelling: `replay --json` is `compare --curves`.
const struct command cmd_replay = {
    .name = "replay",
    .operands = "RECORDING...",
    .help = "tilewalk compare does this",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_compare,
    .hidden = true,
};
