#include "view_sessions.h"

#include "compare.h"
#include "engine/speed.h"
#include "list.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RUN_ID, RUN_STRATEGY, RUN_SEED, RUN_BEST, RUN_SHARE, RUN_MEAN, RUN_GOAL };
#define RUN_TRIALS  (RUN_GOAL + COMPARISON_GOALS)
#define RUN_TIME    (RUN_TRIALS + 1)
#define RUN_OK      (RUN_TRIALS + 2)
#define RUN_COLUMNS (RUN_TRIALS + 3)

enum { GROUP_STRATEGY, GROUP_RUNS, GROUP_MEAN, GROUP_DEVIATION, GROUP_BEST, GROUP_COLUMNS };

#define MARK_COLS 3

static const struct table_column run_columns[RUN_COLUMNS] = {
    [RUN_ID] = {"id", 4, 0, 0, true},
    [RUN_STRATEGY] = {"strategy", 11, 30, 6, false},
    [RUN_SEED] = {"seed", 4, 0, 11, true},
    [RUN_BEST] = {"best", 6, 0, 1, true},
    [RUN_SHARE] = {"of best", 7, 0, 3, true},
    [RUN_MEAN] = {"mean", 6, 0, 2, true},
    [RUN_GOAL] = {"to 90 %", 6, 0, 7, true},
    [RUN_GOAL + 1] = {"to 95 %", 6, 0, 4, true},
    [RUN_GOAL + 2] = {"to 99 %", 6, 0, 8, true},
    [RUN_TRIALS] = {"trials", 6, 0, 9, true},
    [RUN_TIME] = {"ran", 6, 0, 5, true},
    [RUN_OK] = {"ok", 7, 0, 10, true},
};

static const struct table_column group_columns[GROUP_COLUMNS] = {
    [GROUP_STRATEGY] = {"by strategy", 11, 60, 0, false},
    [GROUP_RUNS] = {"runs", 4, 0, 2, true},
    [GROUP_MEAN] = {"mean best", 9, 0, 1, true},
    [GROUP_DEVIATION] = {"deviation", 9, 0, 3, true},
    [GROUP_BEST] = {"best", 6, 0, 4, true},
};

struct sheet { // lines of the comparison, of which the pane shows those from `top` on
    struct app *app;
    const struct sessions_view *view;
    struct pane pane;
    struct table runs, groups;
    double per_flops;
    int row; // the next one's
};

static void put_speed(const struct sheet *s, const struct table *t, int column, enum style style,
                      double flops)
{
    char text[24];
    sessions_speed(flops, s->per_flops, text);
    table_put(t, &s->pane, s->row, column, style, text[0] ? text : "-");
}

static void put_share(const struct sheet *s, int column, double share)
{
    char text[24];
    snprintf(text, sizeof text, "%.1f %%", 100 * share);
    table_put(&s->runs, &s->pane, s->row, column, STYLE_TEXT, text);
}

static void put_letter(const struct sheet *s, const struct mark *k)
{
    enum style style = (enum style)(STYLE_SERIES + (k->letter - 'A') % MOST_SERIES);
    pane_printf(&s->pane, s->row, 1, style, "%c", k->letter);
}

static void put_goals(const struct sheet *s, const struct compare_row *r)
{
    for (int i = 0; i < COMPARISON_GOALS; i++) {
        char text[24] = "-";
        if (r->goal[i])
            snprintf(text, sizeof text, "%" PRId64, r->goal[i]);
        table_put(&s->runs, &s->pane, s->row, RUN_GOAL + i, r->goal[i] ? STYLE_TEXT : STYLE_DIM,
                  text);
    }
}

// The strategy, and what it began with.
static const char *search_text(const struct session_record *r, char out[256])
{
    size_t length = strlen(strategy_text(r->strategy, false, out));
    snprintf(out + length, 256 - length, "%s", stored_beginning(r));
    return out;
}

static void put_groups(struct sheet *s, const struct comparison *c)
{
    table_put_heads(&s->groups, &s->pane, s->row++);
    for (int i = 0; i < c->group_count; i++) {
        const struct compare_group *g = &c->group[i];
        const char *apart = compare_apart(&c->row[0].mark->record, g->first);
        char text[256], name[280];
        snprintf(name, sizeof name, "%s%s%s", search_text(g->first, text), apart ? ", other " : "",
                 apart ? apart : "");
        table_put(&s->groups, &s->pane, s->row, GROUP_STRATEGY, STYLE_TEXT, name);
        snprintf(text, sizeof text, "%d", g->runs);
        table_put(&s->groups, &s->pane, s->row, GROUP_RUNS, STYLE_TEXT, text);
        put_speed(s, &s->groups, GROUP_MEAN, STYLE_STRONG, g->mean);
        put_speed(s, &s->groups, GROUP_DEVIATION, g->runs > 1 ? STYLE_TEXT : STYLE_DIM,
                  g->deviation);
        put_speed(s, &s->groups, GROUP_BEST, STYLE_TEXT, g->best);
        s->row++;
    }
}

// What the heads mean, for those who see them for the first time.
static void put_legend(struct sheet *s, const struct comparison *c)
{
    char text[256];
    snprintf(text, sizeof text,
             "mean: best so far over %" PRId64
             " trials; to 90 %%: trials until 90 %% of the best curve",
             c->horizon);
    pane_text_cut(&s->pane, s->row++, 1, s->pane.cols - 2, STYLE_DIM,
                  "best: as ranked, after races; all else: curves as measured");
    pane_text_cut(&s->pane, s->row++, 1, s->pane.cols - 2, STYLE_DIM, text);
}

static void put_sheet(struct sheet *s, const struct comparison *c)
{
    table_put_heads(&s->runs, &s->pane, s->row++);
    for (int i = 0; i < c->comparable; i++) {
        const struct session_record *record = &c->row[i].mark->record;
        char text[256];
        put_letter(s, c->row[i].mark);
        snprintf(text, sizeof text, "%" PRId64, record->id);
        table_put(&s->runs, &s->pane, s->row, RUN_ID, STYLE_STRONG, text);
        table_put(&s->runs, &s->pane, s->row, RUN_STRATEGY, STYLE_TEXT, search_text(record, text));
        snprintf(text, sizeof text, "%" PRIu64, record->seed);
        table_put(&s->runs, &s->pane, s->row, RUN_SEED, STYLE_DIM, text);
        put_speed(s, &s->runs, RUN_BEST, (&c->row[i]) == c->row ? STYLE_BEST : STYLE_TEXT,
                  c->row[i].best);
        put_share(s, RUN_SHARE, c->row[i].share);
        put_speed(s, &s->runs, RUN_MEAN, STYLE_TEXT, c->row[i].mean);
        put_goals(s, &c->row[i]);
        snprintf(text, sizeof text, "%" PRId64, record->trials);
        table_put(&s->runs, &s->pane, s->row, RUN_TRIALS, STYLE_TEXT, text);
        const struct session_row *row = model_row(&s->app->model, record->id);
        double ran = row ? sessions_ran(s->app, s->view, row) : record->ran_seconds;
        table_put(&s->runs, &s->pane, s->row, RUN_TIME, STYLE_TEXT, text_duration(ran, text));
        put_share(s, RUN_OK, c->row[i].ok_share);
        s->row++;
    }
    for (int i = c->comparable; i < c->count; i++) {
        const struct session_record *record = &c->row[i].mark->record;
        const char *what = c->row[i].fit == COMPARE_OTHER_PROBLEM  ? record->title
                           : c->row[i].fit == COMPARE_OTHER_DEVICE ? record->device
                                                                   : record->source;
        char text[256];
        put_letter(s, c->row[i].mark);
        snprintf(text, sizeof text, "%" PRId64 "  not comparable, another %s: %s", record->id,
                 c->row[i].fit == COMPARE_OTHER_PROBLEM  ? "problem"
                 : c->row[i].fit == COMPARE_OTHER_DEVICE ? "device"
                                                         : "source of times",
                 what);
        pane_text_cut(&s->pane, s->row++, MARK_COLS, s->pane.cols - MARK_COLS - 1, STYLE_WARN,
                      text);
    }
    s->row++;
    put_groups(s, c);
    s->row++;
    put_legend(s, c);
}

static int rows_of(const struct comparison *c)
{
    return 1 + c->count + 1 + 1 + c->group_count + 1 + 2;
}

int sessions_compare_rows(struct app *app)
{
    struct comparison c;
    compare_marks(&c, app->model.mark, app->model.mark_count);
    return rows_of(&c) + 2;
}

// Those that are comparable are on one recording, or on none.
static const char *unit_of(const struct model *m, const struct comparison *c, double *per_flops)
{
    const struct session_record *best = c->comparable ? &c->row[0].mark->record : NULL;
    double share = best ? speed_share(best) : 0;
    const char *name;
    if (best && best->unit) {
        *per_flops = 1 / speed_unit(best, best->flop / best->best_seconds, &name);
        return name;
    }
    if (!(share > 0))
        return sessions_unit(m, per_flops);
    *per_flops = 100 * share * best->best_seconds / best->flop;
    return "% of the fastest recorded";
}

void sessions_draw_comparison(struct app *app, struct sessions_view *v, const struct pane *p)
{
    struct comparison c;
    struct sheet s = {.app = app, .view = v};
    char title[64], note[160] = "";
    compare_marks(&c, app->model.mark, app->model.mark_count);
    const char *unit = unit_of(&app->model, &c, &s.per_flops);
    snprintf(title, sizeof title, "Comparison of %d session%s, %s", c.comparable,
             c.comparable == 1 ? "" : "s", unit);
    if (c.comparable)
        snprintf(note, sizeof note, "%.100s   %s closes", c.row[0].mark->record.title,
                 app_key_of(app, ACT_BACK));
    s.pane = pane_box(p, title, note, true);
    if (c.count < 2) {
        pane_text_cut(&s.pane, 0, 1, s.pane.cols - 1, STYLE_DIM,
                      "Mark two sessions or more to compare them.");
        return;
    }
    table_fit(&s.runs, run_columns, RUN_COLUMNS, MARK_COLS, s.pane.cols - 1);
    table_fit(&s.groups, group_columns, GROUP_COLUMNS, 1, s.pane.cols - 1);
    list_fit(&v->comparison, rows_of(&c), s.pane.rows);
    s.row = -(int)v->comparison.top;
    put_sheet(&s, &c);
}
