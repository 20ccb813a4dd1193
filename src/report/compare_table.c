#include "report/compare_table.h"

#include "base/mem.h"
#include "base/number.h"
#include "report/text.h"
#include "space/operation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { LETTER, RUNS, BEST, MEAN, AT, AREA, GOAL, SCORE, RANK, P, STRATEGY };

struct column {
    enum kind kind;
    int index; // index of an AT or a GOAL
};

#define MOST_COLUMNS (9 + COMPARISON_MOST_AT + COMPARISON_GOALS)

struct columns {
    struct column list[MOST_COLUMNS];
    int count;
};

static const struct {
    const char *unit, *mark; // the mark stands behind numbers
} axis_words[] = {
    [COMPARISON_TRIALS] = {"trials", ""},
    [COMPARISON_SECONDS] = {"seconds", "s"},
    [COMPARISON_SPACE] = {"% of the space", "%"},
};

// --- columns ---

static struct columns columns_of(const struct comparison_result *r)
{
    bool is_one = r->setup->problem_count == 1, several = r->group_count > 1, scored = false;
    for (int g = 0; g < r->group_count; g++)
        scored |= !isnan(r->group[g].score);
    const int times[] = {[LETTER] = 1,
                         [RUNS] = 1,
                         [BEST] = is_one,
                         [MEAN] = is_one && r->setup->run_count > r->group_count,
                         [AT] = r->at_count,
                         [AREA] = 1,
                         [GOAL] = COMPARISON_GOALS,
                         [SCORE] = scored,
                         [RANK] = several,
                         [P] = several,
                         [STRATEGY] = 1};
    struct columns c = {.count = 0};
    for (int kind = LETTER; kind <= STRATEGY; kind++)
        for (int i = 0; i < times[kind]; i++)
            c.list[c.count++] = (struct column){(enum kind)kind, i};
    return c;
}

// --- cells of text and Markdown ---

static void add_share(const struct comparison_value *v, int runs,
                      const struct comparison_looks *looks, struct str *out)
{
    str_printf(out, "%.1f", 100 * v->mean);
    if (runs > 1)
        str_printf(out, " %s %.1f", looks->ascii ? "+-" : "±", 100 * v->deviation);
}

// `best`: the best level of all, whose unit speeds have.
static void add_level(double level, double best, const struct comparison_looks *looks,
                      struct str *out)
{
    char text[32];
    bool is_rated = looks->unit == COMPARISON_FLOPS && looks->rate_unit;
    if (!(level > 0))
        str_add(out, "-");
    else if (looks->cost_unit)
        str_add(out, text_cost(looks->rate_flop / level, looks->cost_unit, text));
    else if (is_rated)
        str_add(out, text_rate_beside(level / looks->rate_flop, best / looks->rate_flop,
                                      looks->rate_unit, text));
    else if (looks->unit == COMPARISON_FLOPS)
        str_add(out, text_rate_beside(level, best, WORK_FLOP, text));
    else if (looks->unit == COMPARISON_SHARE)
        str_add(out, text_share(level / 1e12, text));
    else if (looks->unit == COMPARISON_PLAIN)
        str_printf(out, "%.4g", level);
    else
        str_add(out, text_time(1 / level, text));
}

static void add_number(struct str *out, const char *format, double value)
{
    char text[32] = "-";
    if (isfinite(value))
        snprintf(text, sizeof text, format, value);
    str_add(out, text);
}

// Returns how many columns of a screen a UTF-8 text takes.
static int columns_wide(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80; // not inside a code point
    return n;
}

struct sheet {
    const struct comparison_result *r;
    const struct comparison_looks *looks;
    struct columns columns;
};

// Writes a cell; row -1 is the head.
static void sheet_cell(const void *context, int row, int column, struct str *out)
{
    const struct sheet *s = context;
    const struct column *of = &s->columns.list[column];
    if (row < 0) {
        static const char *const words[] = {
            [LETTER] = "",   [RUNS] = "runs",   [BEST] = "best",        [MEAN] = "mean best",
            [AREA] = "area", [SCORE] = "score", [RANK] = "rank",        [P] = "p",
            [AT] = "at ",    [GOAL] = "to ",    [STRATEGY] = "strategy"};
        str_add(out, words[of->kind]);
        if (of->kind == AT)
            str_printf(out, "%.4g%s", s->r->at[of->index], axis_words[s->r->setup->axis].mark);
        else if (of->kind == GOAL)
            str_printf(out, "%.0f%%", 100 * comparison_goals[of->index]);
    } else {
        const struct comparison_group *g = &s->r->group[row];
        switch (of->kind) {
        case LETTER: str_add_char(out, g->letter); break;
        case RUNS: str_printf(out, "%d", g->runs); break;
        case BEST: add_level(g->best, s->r->best[0], s->looks, out); break;
        case MEAN:
            add_level(g->level.mean, s->r->best[0], s->looks, out);
            if (g->runs > 1 && g->level.mean > 0)
                str_printf(out, " %s %.1f %%", s->looks->ascii ? "+-" : "±",
                           100 * g->level.deviation / g->level.mean);
            break;
        case AT: add_share(&g->at[of->index], g->runs, s->looks, out); break;
        case AREA: add_share(&g->area, g->runs, s->looks, out); break;
        case GOAL:
            add_number(out, "%.4g", g->goal[of->index].median);
            if (isfinite(g->goal[of->index].median))
                str_add(out, axis_words[s->r->setup->axis].mark);
            break;
        case SCORE: add_number(out, "%.3f", g->score); break;
        case RANK: add_number(out, "%.2f", g->rank); break;
        case P: // against the first
            if (s->r->p[row] < 0.001)
                str_add(out, "<0.001");
            else
                add_number(out, "%.3f", s->r->p[row]);
            break;
        case STRATEGY: str_add(out, g->title); break;
        }
    }
}

// --- text ---

void table_add_text(const struct table *t, struct str *out)
{
    struct str cell = {0};
    int *width = mem_zero((size_t)t->columns, sizeof *width);
    for (int pass = 0; pass < 2; pass++) // the first one measures
        for (int row = -1; row < t->rows; row++)
            for (int c = 0; c < t->columns; c++) {
                bool last = c == t->columns - 1;
                cell.length = 0;
                t->add_cell(t->context, row, c, &cell);
                int columns = columns_wide(str_text(&cell));
                if (pass == 0)
                    width[c] = int_max(int_max(width[c], columns), 1);
                else
                    str_printf(out, "%*s%s%s", last ? 0 : width[c] - columns, "", str_text(&cell),
                               last ? "\n" : "  ");
            }
    free(width);
    str_finish(&cell);
}

void comparison_add_text(const struct comparison_result *r, const struct comparison_looks *looks,
                         struct str *out)
{
    struct sheet s = {r, looks, columns_of(r)};
    table_add_text(&(struct table){r->group_count, s.columns.count, sheet_cell, &s}, out);
    const char *unit = axis_words[r->setup->axis].unit;
    str_printf(out,
               "\nat, area: %% of the best known, mean and standard deviation over runs; area: the "
               "mean over %.4g %s\nto: %s until the median run reaches that share\n",
               r->horizon, unit, unit);
    if (r->group_count > 1)
        str_printf(out,
                   "rank, p: by area; p: against A, Wilcoxon signed-rank (paired %s: %d), "
                   "Holm-corrected for all pairs of strategies\n",
                   r->setup->problem_count > 1 ? "problems" : "runs", r->pairs);
    if (r->shortest < r->horizon && r->setup->axis == COMPARISON_TRIALS)
        str_printf(out, "runs have %.0f to %.0f trials: the curves of short ones go on flat\n",
                   r->shortest, r->horizon);
}

// --- Markdown ---

void table_add_markdown(const struct table *t, struct str *out)
{
    struct str cell = {0};
    for (int row = -1; row < t->rows; row++) {
        str_add(out, "|");
        for (int c = 0; c < t->columns; c++) {
            cell.length = 0;
            t->add_cell(t->context, row, c, &cell);
            str_add_char(out, ' ');
            str_add_markdown(out, str_text(&cell));
            str_add(out, " |");
        }
        str_add(out, row < 0 ? "\n|" : "\n");
        for (int c = 0; row < 0 && c < t->columns; c++)
            str_add(out, c > 0 && c < t->columns - 1 ? "---:|" : "---|");
        str_add(out, row < 0 ? "\n" : "");
    }
    str_finish(&cell);
}

void comparison_add_markdown(const struct comparison_result *r,
                             const struct comparison_looks *looks, struct str *out)
{
    struct sheet s = {r, looks, columns_of(r)};
    table_add_markdown(&(struct table){r->group_count, s.columns.count, sheet_cell, &s}, out);
}

// --- CSV ---

static void csv_number(struct str *out, double value)
{
    str_add(out, ",");
    if (isfinite(value))
        str_add_real(out, value);
}

void comparison_add_csv(const struct comparison_result *r, struct str *out)
{
    const char *unit = axis_words[r->setup->axis].mark;
    str_add(out, "letter,strategy,runs,best,mean,mean_std");
    for (int i = 0; i < r->at_count; i++)
        str_printf(out, ",at_%.4g%s,at_%.4g%s_std", r->at[i], unit, r->at[i], unit);
    str_add(out, ",area,area_std");
    for (int i = 0; i < COMPARISON_GOALS; i++)
        str_printf(out, ",to_%.0f", 100 * comparison_goals[i]);
    str_add(out, ",score,rank,p\r\n");
    for (int i = 0; i < r->group_count; i++) {
        const struct comparison_group *g = &r->group[i];
        bool known = g->best > 0 && r->setup->problem_count == 1;
        str_add_char(out, g->letter);
        str_add_char(out, ',');
        str_add_csv(out, g->name);
        str_printf(out, ",%d", g->runs);
        csv_number(out, known ? g->best : NAN);
        csv_number(out, known ? g->level.mean : NAN);
        csv_number(out, known ? g->level.deviation : NAN);
        for (int k = 0; k < r->at_count; k++) {
            csv_number(out, g->at[k].mean);
            csv_number(out, g->at[k].deviation);
        }
        csv_number(out, g->area.mean);
        csv_number(out, g->area.deviation);
        for (int k = 0; k < COMPARISON_GOALS; k++)
            csv_number(out, g->goal[k].median);
        csv_number(out, g->score);
        csv_number(out, g->rank);
        csv_number(out, r->p[i]);
        str_add(out, "\r\n");
    }
}

// --- JSON ---

void comparison_add_group_json(const struct comparison_result *r, int group,
                               enum comparison_unit unit, struct json_writer *w)
{
    const struct comparison_group *g = &r->group[group];
    bool flops = unit == COMPARISON_FLOPS || unit == COMPARISON_SHARE;
    bool known = g->best > 0 && r->setup->problem_count == 1;
    json_add_text(w, "letter", (char[]){g->letter, '\0'});
    json_add_text(w, "strategy", g->name);
    json_add_int(w, "runs", g->runs);
    if (unit != COMPARISON_PLAIN)
        json_add_real(w, flops ? "best_tflops" : "best_ms",
                      !known  ? NAN
                      : flops ? g->best / 1e12
                              : 1e3 / g->best);
    if (flops) {
        json_add_real(w, "mean_tflops", known ? g->level.mean / 1e12 : NAN);
        json_add_real(w, "mean_tflops_std", known ? g->level.deviation / 1e12 : NAN);
    }
    json_begin_list(w, "best_fraction");
    for (int i = 0; i < r->at_count; i++)
        json_add_real(w, NULL, g->at[i].mean);
    json_end(w);
    json_begin_list(w, "std");
    for (int i = 0; i < r->at_count; i++)
        json_add_real(w, NULL, g->at[i].deviation);
    json_end(w);
    json_add_real(w, "area", g->area.mean);
    json_add_real(w, "area_std", g->area.deviation);
    json_begin_list(w, "to");
    for (int i = 0; i < COMPARISON_GOALS; i++) {
        json_begin_object(w, NULL);
        json_add_real(w, "share", comparison_goals[i]);
        json_add_real(w, "median", g->goal[i].median);
        json_add_int(w, "reached", g->goal[i].reached);
        json_end(w);
    }
    json_end(w);
    json_add_real(w, "score", g->score);
    json_add_real(w, "rank", g->rank);
    json_add_reals(w, "p", r->group_count, r->p + group * r->group_count);
}
