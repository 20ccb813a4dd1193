#include "figure_tables.h"

#include "base/mem.h"
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOAL     0.9
#define ROUNDING 1e-9 // of a mean that was summed in another order

struct axis {
    enum figure_view view;
    const char *title, *column;
};
static const struct axis axes[FIGURE_AXES] = {
    {FIGURE_TRIALS, "Trials of the median run to 90 % of the best known", "trials_to_90"},
    {FIGURE_TIME, "Seconds of the median run to 90 % of the best known", "seconds_to_90"},
    {FIGURE_SPACE, "Per cent of the space of the median run to 90 % of the best known",
     "percent_of_space_to_90"},
};

static struct figure_cell *cell_of(const struct figure_table *t, int problem, int line)
{
    return &t->cell[problem * t->lines + line];
}

void figure_table_begin(struct figure_table *t, const struct figure_runs *runs,
                        const struct figure_family *family)
{
    *t = (struct figure_table){.runs = runs, .family = family};
    while (family->line[t->lines].strategy)
        t->lines++;
    t->cell = mem_zero((size_t)(family->problems * t->lines), sizeof *t->cell);
}

void figure_table_end(struct figure_table *t)
{
    free(t->cell);
    *t = (struct figure_table){.cell = NULL};
}

// --- what compare says ---

static const struct figure_run *run_of(const struct figure_table *t, int64_t session)
{
    for (int i = 0; i < t->runs->count; i++)
        if (t->runs->run[i].session == session)
            return &t->runs->run[i];
    bench_fail("compare tells of a session that is none of the figures'", NULL);
}

// The fourth cell of the row that begins with the letter; of single runs, of which there is no
// mean, the third, their best.
static void find_mean(const char *markdown, const char *letter, char *out, size_t size)
{
    char start[8];
    snprintf(start, sizeof start, "\n| %s |", letter);
    const char *at = strstr(markdown, start);
    int bars = strstr(markdown, "| mean best |") ? 4 : 3;
    for (int bar = 0; at && bar < bars; bar++)
        at = strchr(at + 1, '|');
    const char *end = at ? strchr(at + 1, '|') : NULL;
    if (!end || end - at < 3)
        bench_fail("compare's table has no such row", NULL);
    snprintf(out, size, "%.*s", (int)(end - at - 3), at + 2);
}

static void check_mean(const struct figure_table *t, const cJSON *sessions, double mean)
{
    double sum = 0;
    const cJSON *id;
    cJSON_ArrayForEach(id, sessions) sum += run_of(t, (int64_t)id->valuedouble)->best;
    double own = sum / cJSON_GetArraySize(sessions);
    if (fabs(own - mean) > ROUNDING * mean) { // not where it is NAN: networks have no one best
        char *text = mem_printf("%s: compare has a mean of %.12g, the sessions %.12g TFLOPS",
                                t->family->name, mean, own);
        bench_fail(text, NULL);
    }
}

static double goal_of(const cJSON *strategy)
{
    const cJSON *to;
    cJSON_ArrayForEach(to, cJSON_GetObjectItem(strategy, "to"))
    {
        if (bench_number(to, "share") == GOAL)
            return bench_number(to, "median");
    }
    return NAN;
}

static void take_strategy(struct figure_table *t, int problem, int axis, const cJSON *strategy,
                          const char *markdown)
{
    const cJSON *sessions = cJSON_GetObjectItem(strategy, "sessions");
    const cJSON *first = cJSON_GetArrayItem(sessions, 0);
    ptrdiff_t line = run_of(t, (int64_t)first->valuedouble)->line - t->family->line;
    struct figure_cell *c = cell_of(t, problem, (int)line);
    c->runs = (int)bench_number(strategy, "runs");
    c->tflops = bench_number(strategy, "mean_tflops");
    c->deviation = bench_number(strategy, "mean_tflops_std");
    c->to[axis] = goal_of(strategy);
    find_mean(markdown, bench_text(strategy, "letter"), c->mean, sizeof c->mean);
    check_mean(t, sessions, c->tflops);
}

void figure_table_take(struct figure_table *t, const struct figure_problem *problem,
                       enum figure_view view, const cJSON *compared, const char *markdown)
{
    const cJSON *strategy;
    int axis = 0;
    while (axes[axis].view != view)
        axis++;
    t->axes |= view;
    cJSON_ArrayForEach(strategy, cJSON_GetObjectItem(compared, "strategies"))
        take_strategy(t, (int)(problem - t->family->problem), axis, strategy, markdown);
}

// --- the tables ---

static const char *points_of(const struct figure_table *t, int problem)
{
    for (int i = 0; i < t->runs->count; i++) {
        const struct figure_run *r = &t->runs->run[i];
        if (r->problem == &t->family->problem[problem] && r->points[0])
            return r->points;
    }
    return "";
}

static bool has_row(const struct figure_table *t, int problem)
{
    for (int line = 0; line < t->lines; line++)
        if (cell_of(t, problem, line)->runs)
            return true;
    return false;
}

static void add_value(const struct figure_cell *c, int axis, struct str *out)
{
    if (axis < 0)
        str_add(out, c->mean);
    else if (c->runs && !isnan(c->to[axis]))
        str_printf(out, "%.4g", c->to[axis]);
    else
        str_add(out, c->runs ? "-" : "");
}

// The means where `axis` is below 0.
static void add_matrix(const struct figure_table *t, int axis, const char *title, struct str *out)
{
    str_printf(out, "\n%s:\n\n| | points |", title);
    for (int line = 0; line < t->lines; line++) {
        char *name = figure_line_text(&t->family->line[line]);
        str_printf(out, " %s |", name);
        free(name);
    }
    str_add(out, "\n|---|---:|");
    for (int line = 0; line < t->lines; line++)
        str_add(out, "---:|");
    for (int problem = 0; problem < t->family->problems; problem++) {
        if (!has_row(t, problem))
            continue;
        str_printf(out, "\n| %s | %s |", t->family->problem[problem].name, points_of(t, problem));
        for (int line = 0; line < t->lines; line++) {
            str_add_char(out, ' ');
            add_value(cell_of(t, problem, line), axis, out);
            str_add(out, " |");
        }
    }
    str_add_char(out, '\n');
}

void figure_table_add_markdown(const struct figure_table *t, struct str *out)
{
    add_matrix(t, -1, "Mean best, and its standard deviation over the runs", out);
    for (int axis = 0; axis < FIGURE_AXES; axis++)
        if (t->axes & (unsigned)axes[axis].view)
            add_matrix(t, axis, axes[axis].title, out);
}

static void add_number(double value, struct str *out)
{
    str_add_char(out, ',');
    if (!isnan(value))
        str_printf(out, "%.17g", value);
}

static void add_csv_row(const struct figure_table *t, int problem, int line, struct str *out)
{
    const struct figure_cell *c = cell_of(t, problem, line);
    char *name = figure_line_text(&t->family->line[line]);
    str_printf(out, "%s,%s,\"%s\",%d", t->family->problem[problem].name, points_of(t, problem),
               name, c->runs);
    add_number(1e12 * c->tflops, out);
    add_number(1e12 * c->deviation, out);
    for (int axis = 0; axis < FIGURE_AXES; axis++)
        if (t->axes & (unsigned)axes[axis].view)
            add_number(c->to[axis], out);
    str_add_char(out, '\n');
    free(name);
}

void figure_table_add_csv(const struct figure_table *t, struct str *out)
{
    str_add(out, "problem,points,strategy,runs,mean,mean_std");
    for (int axis = 0; axis < FIGURE_AXES; axis++)
        if (t->axes & (unsigned)axes[axis].view)
            str_printf(out, ",%s", axes[axis].column);
    str_add_char(out, '\n');
    for (int problem = 0; problem < t->family->problems; problem++)
        for (int line = 0; line < t->lines; line++)
            if (cell_of(t, problem, line)->runs)
                add_csv_row(t, problem, line, out);
}
