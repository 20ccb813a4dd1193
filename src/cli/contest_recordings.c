#include "cli/contest.h"

#include "base/shown.h"
#include "engine/stored.h"
#include "simulate/curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// --- what it is, in words ---

static void add_optimum(const struct recording *r, struct str *out)
{
    char text[32];
    double best = r->entry[r->best].seconds;
    if (str_equal(r->unit, "s"))
        str_add(out, text_time(best, text));
    else if (!recorded_is_relative(r))
        str_add(out, text_speed(recorded_flop(r), best, text));
    else
        str_printf(out, "%.4g %s", best, r->unit);
}

static const char *heading_of(const struct simulate_plan *p, struct arena *arena)
{
    struct str out = {0};
    const struct recording *first = p->recording[0];
    if (p->recordings == 1) {
        str_printf(&out, "%s: %" PRId64 " configurations, %d valid, optimum ", first->name,
                   simulated_size(first), first->outcomes[OUTCOME_OK]);
        add_optimum(first, &out);
    } else {
        for (int i = 0; i < p->recordings; i++)
            str_printf(&out, "%s%s", i ? ", " : "", p->recording[i]->name);
    }
    str_printf(&out, "; %" PRId64 " trials, seed %" PRIu64, p->list[0].trials, p->list[0].seed);
    const char *kept = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return kept;
}

static void add_recording(const struct recording *r, struct json_writer *w)
{
    json_begin_object(w, NULL);
    json_add_text(w, "name", r->name);
    json_add_text(w, "file", r->path);
    json_add_text(w, "kernel", r->kernel);
    json_add_text(w, "device", r->device);
    json_add_int(w, "size", simulated_size(r));
    json_add_int(w, "valid", r->outcomes[OUTCOME_OK]);
    json_add_text(w, "unit", r->unit);
    json_add_real(w, "optimum", r->entry[r->best].seconds);
    json_end(w);
}

static const char *members_of(const struct simulate_plan *p, struct arena *arena)
{
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_begin_list(&w, "recordings");
    for (int i = 0; i < p->recordings; i++)
        add_recording(p->recording[i], &w);
    json_end(&w);
    json_add_int(&w, "trials", p->list[0].trials);
    json_add_int(&w, "repeats", p->list[0].repeats);
    json_add_count(&w, "seed", p->list[0].seed);
    const char *kept = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return kept;
}

static enum comparison_unit unit_of(const struct recording *r)
{
    if (str_equal(r->unit, "s"))
        return COMPARISON_RATE;
    return recorded_is_relative(r) ? COMPARISON_PLAIN : COMPARISON_FLOPS;
}

// --- the runs ---

static bool show_progress(void *context, int64_t done, int64_t runs)
{
    if (!*(const bool *)context)
        return true;
    shown_clear_line();
    if (done < runs)
        fprintf(stderr, "%3d %%", (int)(100 * done / runs));
    return true;
}

static bool run_all(struct simulate_plan *p, struct err *e)
{
    bool on_terminal = isatty(STDERR_FILENO) && !str_equal(getenv("TERM"), "dumb");
    struct simulate_options o = {.tick = show_progress, .context = &on_terminal};
    return simulate(p->list, p->count, &o, e);
}

static void set_up(const struct simulate_plan *p, enum comparison_axis axis, struct contest *c)
{
    simulated_comparison_make(p->list, p->recordings, p->strategies, axis, &c->simulated);
    char text[STRATEGY_TEXT];
    const char **name = arena_zero(&c->arena, (size_t)p->strategies, sizeof *name);
    const char **title = arena_zero(&c->arena, (size_t)p->strategies, sizeof *title);
    for (int i = 0; i < p->strategies; i++) {
        name[i] = arena_strdup(&c->arena, p->strategy[i]);
        title[i] = arena_strdup(&c->arena, strategy_text(p->strategy[i], false, text));
    }
    c->setup = c->simulated.setup;
    c->setup.group_name = name; // outlive the plan
    c->setup.group_title = title;
}

static const char *title_of(const struct simulate_plan *p, struct arena *arena)
{
    struct str out = {0};
    const char **name = arena_zero(arena, (size_t)p->recordings, sizeof *name);
    for (int i = 0; i < p->recordings; i++)
        name[i] = p->recording[i]->name;
    chart_add_names(name, p->recordings, &out);
    const char *kept = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return kept;
}

static void describe(const struct simulate_plan *p, struct contest *c)
{
    c->unit = unit_of(p->recording[0]);
    c->heading = heading_of(p, &c->arena);
    c->members = members_of(p, &c->arena);
    c->title = title_of(p, &c->arena);
}

bool contest_of_recordings(const struct arguments *a, struct contest *c, struct err *e)
{
    struct simulate_plan plan;
    enum comparison_axis axis;
    if (!session_curves_parse_axis(a, &axis, e))
        return false;
    struct simulate_words words = common_simulation(a);
    words.costs_for = axis == COMPARISON_SECONDS ? "--against time" : NULL;
    bool ok = simulate_plan_make(&words, &plan, e) && run_all(&plan, e);
    if (ok) {
        set_up(&plan, axis, c);
        describe(&plan, c);
    }
    simulate_plan_finish(&plan);
    return ok;
}
