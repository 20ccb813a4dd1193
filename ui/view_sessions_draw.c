#include "view_sessions.h"

#include "app_draw.h"
#include "base/minmax.h"
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MARKED_COLS   6 // ">[A] "
#define NARROW_COLS   3 // ">A "
#define NARROW_UNDER  20
#define WIDE_FROM     110
#define LEAST_PROBLEM 20
#define MOST_PROBLEM  36
#define LEAST_NOTE    12

// --- columns ---

static const struct table_column standard[SESSIONS_COLUMNS] = {
    [SESSIONS_ID] = {"id", 2, 0, 0, true},
    [SESSIONS_STATE] = {"state", 7, 0, 2, false},
    [SESSIONS_SPACE] = {"space", 5, 0, 10, false},
    [SESSIONS_PROBLEM] = {"problem", 12, 0, 4, false},
    [SESSIONS_DEVICE] = {"device", 10, 0, 8, false},
    [SESSIONS_STRATEGY] = {"strategy", 8, 16, 6, false},
    [SESSIONS_SEED] = {"seed", 4, 0, 9, true},
    [SESSIONS_TRIALS] = {"trials", 6, 0, 3, true},
    [SESSIONS_BEST] = {"", 6, 0, 1, true},
    [SESSIONS_CURVE] = {"curve", SPARK_COLS, 0, 7, false},
    [SESSIONS_ACTIVE] = {"active", 6, 0, 5, true},
    [SESSIONS_NOTE] = {"note", 4, 0, 11, false},
};

struct sheet {
    struct app *app;
    struct sessions_view *view;
    struct table_column column[SESSIONS_COLUMNS];
    struct table table;
    int columns; // without that of notes when there are none
    double per_flops;
};

static int number_cols(uint64_t number)
{
    int cols = 1;
    for (; number > 9; number /= 10)
        cols++;
    return cols;
}

// Up to what drivers put in brackets: "llvmpipe", "NVIDIA H200".
static int short_place(const char *place)
{
    const char *bracket = strstr(place, " (");
    return bracket ? (int)(bracket - place) : (int)strlen(place);
}

// Of all sessions, not only of those that are shown: columns stand still. Of texts, bytes will do.
static void measure(struct sheet *l, bool wide)
{
    const struct model *m = &l->app->model;
    struct table_column *c = l->column;
    uint64_t id = 0, seed = 0, trials = 0, budget = 0, space = 0, problem = 0, device = 0, note = 0;
    for (int i = 0; i < m->session_count; i++) {
        const struct session_record *r = &m->session[i].record;
        char place[256], best[24];
        id = uint64_max(id, (uint64_t)r->id);
        seed = uint64_max(seed, r->seed);
        trials = uint64_max(trials, (uint64_t)r->trials);
        budget = uint64_max(budget, (uint64_t)r->budget_trials);
        space = uint64_max(space, strlen(r->name));
        problem = uint64_max(problem, strlen(r->title));
        device = uint64_max(device, (uint64_t)short_place(session_place(r, place)));
        note = uint64_max(note, r->note ? strlen(r->note) : 0);
        c[SESSIONS_BEST].least =
            int_max(c[SESSIONS_BEST].least, text_columns(session_best(r, l->per_flops, best)));
    }
    uint64_t enough = wide ? MOST_PROBLEM : LEAST_PROBLEM;
    c[SESSIONS_ID].least = (int)uint64_max(2, (uint64_t)number_cols(id));
    c[SESSIONS_SEED].least = number_cols(seed);
    c[SESSIONS_TRIALS].least = number_cols(trials) + 1 + number_cols(budget);
    c[SESSIONS_SPACE].most = (int)space;
    c[SESSIONS_PROBLEM].most = (int)problem;
    c[SESSIONS_PROBLEM].least = (int)(problem < enough ? problem : enough);
    c[SESSIONS_DEVICE].most = (int)device;
    c[SESSIONS_NOTE].most = (int)note;
    c[SESSIONS_NOTE].least = (int)(note < LEAST_NOTE ? note : LEAST_NOTE);
    l->columns = note ? SESSIONS_COLUMNS : SESSIONS_NOTE;
}

static bool is_narrow(const struct pane *p)
{
    return p->cols < NARROW_UNDER;
}

static void fit_columns(struct sheet *l, const struct pane *p)
{
    int first = is_narrow(p) ? NARROW_COLS : MARKED_COLS;
    memcpy(l->column, standard, sizeof standard);
    snprintf(l->column[SESSIONS_BEST].head, sizeof l->column->head, "%s",
             sessions_unit(&l->app->model, &l->per_flops));
    measure(l, p->cols >= WIDE_FROM);
    table_fit(&l->table, l->column, l->columns, first, p->cols - 1);
}

// --- rows ---

// Names of devices differ at their ends: the beginning is cut.
static void put_device(const struct sheet *l, const struct pane *p, int row,
                       const struct session_record *r)
{
    char text[256], whole[256];
    const char *place = session_place(r, whole);
    int length = short_place(place), width = l->table.slot[SESSIONS_DEVICE].width;
    int cut = length > width && width > 0 ? length - width + 1 : 0;
    snprintf(text, sizeof text, "%s%.*s", cut ? "…" : "", length - cut, place + cut);
    table_put(&l->table, p, row, SESSIONS_DEVICE, STYLE_TEXT, text);
}

static void put_text(const struct sheet *l, const struct pane *p, int row,
                     const struct session_row *s)
{
    const struct session_record *r = &s->record;
    char text[256];
    snprintf(text, sizeof text, "%" PRId64, r->id);
    table_put(&l->table, p, row, SESSIONS_ID, STYLE_STRONG, text);
    table_put(&l->table, p, row, SESSIONS_STATE, state_style(s->state, STYLE_TEXT),
              state_word(s->state, &s->record));
    table_put(&l->table, p, row, SESSIONS_SPACE, STYLE_TEXT, r->name);
    table_put(&l->table, p, row, SESSIONS_PROBLEM, STYLE_TEXT, r->title);
    put_device(l, p, row, r);
    table_put(&l->table, p, row, SESSIONS_STRATEGY, STYLE_TEXT,
              strategy_text(r->strategy, false, text));
    snprintf(text, sizeof text, "%" PRIu64, r->seed);
    table_put(&l->table, p, row, SESSIONS_SEED, STYLE_DIM, text);
    snprintf(text, sizeof text, "%" PRId64 "/%" PRId64, r->trials, r->budget_trials);
    table_put(&l->table, p, row, SESSIONS_TRIALS, STYLE_TEXT, text);
}

static void put_results(const struct sheet *l, const struct pane *p, int row,
                        const struct session_row *s)
{
    const struct session_record *r = &s->record;
    const struct session_facts *f = sessions_facts(l->view, r->id);
    const struct table_slot *curve = &l->table.slot[SESSIONS_CURVE];
    char text[24];
    session_best(r, l->per_flops, text);
    table_put(&l->table, p, row, SESSIONS_BEST, text[0] ? STYLE_BEST : STYLE_DIM,
              text[0] ? text : "-");
    if (f && curve->width)
        pane_spark(p, row, curve->at, STYLE_GOOD, f->spark, SPARK_COLS);
    if (session_runs(s))
        table_put(&l->table, p, row, SESSIONS_ACTIVE, STYLE_GOOD, "now");
    else if (f)
        table_put(&l->table, p, row, SESSIONS_ACTIVE, STYLE_DIM,
                  text_ago(l->app->unix_now - f->active, text));
    if (r->note)
        table_put(&l->table, p, row, SESSIONS_NOTE, STYLE_DIM, r->note);
}

static void put_mark(const struct pane *p, int row, char mark)
{
    enum style style = mark ? (enum style)(STYLE_SERIES + (mark - 'A') % MOST_SERIES) : STYLE_DIM;
    if (is_narrow(p))
        pane_printf(p, row, 1, style, "%c", mark ? mark : ' ');
    else
        pane_printf(p, row, 2, style, "[%c]", mark ? mark : ' ');
}

static void put_heads(const struct sheet *l, const struct pane *p)
{
    enum sessions_column sort = l->view->sort;
    table_put_heads(&l->table, p, 0);
    table_put(&l->table, p, 0, sort, STYLE_FOCUS, l->column[sort].head);
}

static void put_rows(struct sheet *l, const struct pane *p)
{
    struct sessions_view *v = l->view;
    list_fit(&v->list, v->count, p->rows);
    for (int i = 0; list_shows(&v->list, v->list.top + i); i++) {
        const struct session_row *s = v->row[v->list.top + i];
        put_mark(p, i, s->mark);
        put_text(l, p, i, s);
        put_results(l, p, i, s);
        if (v->list.top + i == v->list.cursor)
            pane_select(p, i, true);
    }
    if (v->count == 0)
        pane_text_cut(p, 0, 2, p->cols - 2, STYLE_DIM, "No session matches.");
}

static void put_status(struct app *app, const struct sessions_view *v, const struct pane *p)
{
    const struct model *m = &app->model;
    struct pieces row = {0};
    const char *many = m->session_count == 1 ? "" : "s";
    if (v->filter[0])
        pieces_add(&row, 1, STYLE_STRONG, "%d of %d session%s", v->count, m->session_count, many);
    else
        pieces_add(&row, 1, STYLE_STRONG, "%d session%s", m->session_count, many);
    if (m->mark_count)
        pieces_add(&row, 2, STYLE_TEXT, "%d marked", m->mark_count);
    pieces_add(&row, 4, STYLE_DIM, "%" PRId64 " trials", m->trials_in_all);
    pieces_add(&row, 5, STYLE_TEXT, "sort: %s %s %s",
               v->sort == SESSIONS_BEST ? "speed" : standard[v->sort].head,
               v->ascending ? "▲" : "▼", sessions_sort_text(v));
    if (v->complaint[0])
        pieces_add(&row, 0, STYLE_BAD, "filter: %s", v->complaint);
    else if (v->typing && !v->filter[0])
        pieces_add(&row, 3, STYLE_DIM, "such as: gemm state:running best>40 trials<200");
    else
        pieces_add(&row, 3, STYLE_TEXT, "filter: %s", v->filter[0] ? v->filter : "none");
    pieces_draw(&row, p, 0, 3);
}

void sessions_draw_list(struct app *app, struct sessions_view *v, const struct pane *p)
{
    struct table_panes panes = table_panes(p);
    struct sheet l = {.app = app, .view = v};
    char note[64];
    fit_columns(&l, &panes.rows);
    v->list.first_row = panes.first_row;
    put_rows(&l, &panes.rows);
    put_heads(&l, &panes.heads);
    put_status(app, v, &panes.status);
    list_note(&v->list, "rows", note);
    if (panes.framed)
        pane_box(p, "Sessions", note, !v->comparing);
}
