// The network screen: operators with their latency and share, the latency of the whole over time,
// and the use of the last minutes.

#include "view_network.h"

#include "app.h"
#include "base/number.h"
#include "curve_pane.h"
#include "engine/speed.h"
#include "report/text.h"
#include "text.h"
#include "widget.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- operators ---

static int list_tasks(const struct model *m, double unix_now, struct network_row out[NETWORK_MOST])
{
    const struct network_summary *n = &m->open.network;
    int count = n->task_count < NETWORK_MOST ? n->task_count : NETWORK_MOST;
    double last = n->round_count ? n->round[n->round_count - 1].elapsed_s : 0;
    double ran = m->open.record.scheduler ? model_ran_seconds(m, unix_now)
                                          : fmax(last, m->open.network_record.ran_seconds);
    bool runs = m->open.network_record.state == STATE_RUNNING;
    for (int i = 0; i < count; i++) {
        const struct task_summary *t = &n->task[i];
        struct network_row *row = &out[i];
        *row = (struct network_row){.session = t->task->session,
                                    .known = t->task->known_s > 0,
                                    .pinned = runs && n->pinned == t->task->position,
                                    .weight = t->weight,
                                    .uses = (int)t->task->uses,
                                    .start_s = t->start_s,
                                    .best_s = t->best_s,
                                    .trials = t->session.trials,
                                    .gain_age = t->gained_s < 0 ? -1 : fmax(0, ran - t->gained_s),
                                    .next = runs && n->now == t->task->position ? 1 : -1};
        snprintf(row->operation, sizeof row->operation, "%s", t->task->name);
        snprintf(row->shape, sizeof row->shape, "%s", t->task->title);
    }
    network_share(out, count);
    return count;
}

int network_list(const struct model *m, double unix_now, struct network_row out[NETWORK_MOST])
{
    const struct opened *o = &m->open;
    const struct curve *curve = &o->curve;
    if (!o->record.id)
        return 0;
    if (o->network_record.id)
        return list_tasks(m, unix_now, out);
    struct network_row *row = &out[0];
    *row = (struct network_row){
        .session = o->record.id, .weight = 1, .uses = 1, .gain_age = -1, .next = -1};
    const char *title = o->record.title ? o->record.title : "", *blank = strchr(title, ' ');
    snprintf(row->operation, sizeof row->operation, "%.*s", (int)strcspn(title, " "), title);
    snprintf(row->shape, sizeof row->shape, "%s", blank ? blank + 1 : "");
    row->trials = o->record.trials;
    row->best_s = o->record.best_ask ? o->record.best_seconds : 0;
    if (curve->count) {
        double age = model_ran_seconds(m, unix_now) - curve->step[curve->count - 1].elapsed_s;
        row->start_s = curve->step[0].seconds;
        row->gain_age = age > 0 ? age : 0;
    }
    if (o->state == STATE_RUNNING)
        row->next = 1;
    network_share(out, 1);
    return 1;
}

double network_latency(const struct network_row *row, int count, bool at_start)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double seconds = at_start ? row[i].start_s : row[i].best_s;
        if (!(seconds > 0))
            return 0;
        sum += row[i].uses * seconds;
    }
    return sum;
}

void network_share(struct network_row *row, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += row[i].uses * row[i].best_s;
    for (int i = 0; i < count; i++)
        row[i].share = sum > 0 ? row[i].uses * row[i].best_s / sum : 1.0 / count;
}

// Returns NAN where the row has no value.
static double value_of(const struct network_row *r, enum network_column by)
{
    switch (by) {
    case NETWORK_USES: return r->uses;
    case NETWORK_START: return r->start_s > 0 ? r->start_s : NAN;
    case NETWORK_BEST: return r->best_s > 0 ? r->best_s : NAN;
    case NETWORK_SHARE: return r->share;
    case NETWORK_TRIALS: return (double)r->trials;
    case NETWORK_GAIN: return r->gain_age >= 0 ? r->gain_age : NAN;
    case NETWORK_WEIGHT: return r->weight;
    case NETWORK_NEXT: return r->next >= 0 ? r->next : NAN;
    default: return NAN;
    }
}

static bool comes_before(const struct network_row *a, const struct network_row *b,
                         enum network_column by, bool descending)
{
    if (by == NETWORK_OPERATION || by == NETWORK_SHAPE) {
        int order =
            by == NETWORK_SHAPE ? strcmp(a->shape, b->shape) : strcmp(a->operation, b->operation);
        return descending ? order > 0 : order < 0;
    }
    double x = value_of(a, by), y = value_of(b, by);
    if (isnan(x) || isnan(y))
        return !isnan(x);
    return descending ? x > y : x < y;
}

// Sorts by insertion: it is stable, and rows are few.
void network_sort(struct network_row *row, int count, enum network_column by, bool descending)
{
    for (int i = 1; i < count; i++) {
        struct network_row moving = row[i];
        int at = i;
        for (; at > 0 && comes_before(&moving, &row[at - 1], by, descending) &&
               !comes_before(&row[at - 1], &moving, by, descending);
             at--)
            row[at] = row[at - 1];
        row[at] = moving;
    }
}

// --- time ---

void spending_add(struct spending *s, const struct trial *t)
{
    s->entry[s->count++ % SPENDING_MOST] = (struct spending_entry){
        .elapsed_s = t->elapsed_s,
        .compile_s = t->compile_s,
        .pipeline_s = t->pipeline_s,
        .device_s = t->device_s,
        .outcome = t->outcome,
    };
}

struct spent spending_sum(const struct spending *s, double ran, int workers)
{
    int64_t kept = s->count < SPENDING_MOST ? s->count : SPENDING_MOST;
    double from = ran > SPENDING_SECONDS ? ran - SPENDING_SECONDS : 0;
    if (kept == SPENDING_MOST) // earlier trials are not kept
        from = fmax(from, s->entry[s->count % SPENDING_MOST].elapsed_s);
    struct spent sum = {.window = ran > from ? ran - from : 0};
    for (int64_t i = s->count - kept; i < s->count; i++) {
        const struct spending_entry *e = &s->entry[i % SPENDING_MOST];
        if (e->elapsed_s <= from)
            continue;
        sum.trials++;
        sum.compile += e->compile_s;
        sum.pipeline += e->pipeline_s;
        sum.device += e->device_s;
        sum.timeouts += e->outcome == OUTCOME_TIMEOUT;
        sum.crashes += e->outcome == OUTCOME_CRASH || e->outcome == OUTCOME_LOST;
    }
    double known = sum.compile + sum.pipeline + sum.device;
    sum.all = fmax(sum.window * (workers > 0 ? workers : 1), known); // the first began before
    sum.other = sum.all - known;
    sum.device_busy = sum.window > 0 ? fmin(1, sum.device / sum.window) : 0;
    return sum;
}

#define SLICE      200 // trials read at once
#define ALL_ROWS   14  // bodies from here on show all panes
#define ALL_COLS   80
#define BARE_ROWS  4 // smaller ones have no frame
#define BARE_COLS  30
#define MOST_SHAPE 24
#define MOST_NAME  24
#define LEAST_BAR  6
#define MOST_BAR   30

enum network_pane { PANE_OPERATORS, PANE_LATENCY, PANE_TIME, NETWORK_PANES };

struct network {
    int64_t session;
    struct spending spending;
    int64_t next_number; // of the trial to read next
    enum network_column sort;
    bool ascending;
    struct list list;
    enum network_pane pane;
};

// --- life and work ---

static void network_view_init(void *state)
{
    struct network *n = state;
    n->sort = NETWORK_SHARE;
}

static void sync(struct app *app, struct network *n)
{
    const struct opened *o = &app->model.open;
    if (n->session == o->record.id)
        return;
    n->session = o->record.id;
    n->spending.count = 0;
    n->next_number = o->last_number > SPENDING_MOST ? o->last_number - SPENDING_MOST + 1 : 1;
    n->list = (struct list){.count = 0};
}

static bool network_view_tick(struct app *app, void *state)
{
    struct network *n = state;
    sync(app, n);
    int64_t last = app->model.open.last_number;
    for (int i = 0; i < SLICE && n->session && n->next_number <= last; i++) {
        const struct trial *t = model_trial_numbered(&app->model, n->next_number++);
        if (t)
            spending_add(&n->spending, t);
        app->dirty = true;
    }
    return n->session && n->next_number <= last;
}

// --- operators ---

static const struct table_column columns[NETWORK_COLUMNS] = {
    [NETWORK_OPERATION] = {"operator", 12, 0, 0, false},
    [NETWORK_SHAPE] = {"shape", 14, 0, 9, false},
    [NETWORK_USES] = {"uses", 4, 0, 6, true},
    [NETWORK_START] = {"start", 9, 0, 7, true},
    [NETWORK_BEST] = {"best", 9, 0, 1, true},
    [NETWORK_SHARE] = {"share", 7, 0, 2, true},
    [NETWORK_TRIALS] = {"trials", 9, 0, 3, true},
    [NETWORK_GAIN] = {"last gain", 9, 0, 4, true},
    [NETWORK_NEXT] = {"round", 5, 0, 8, true},
    [NETWORK_WEIGHT] = {"weight", 6, 0, 5, true},
};

struct network_table {
    struct app *app;
    struct table_column column[NETWORK_COLUMNS];
    struct table table;
    int bar; // columns of the bar beside the share
};

// Chooses the columns. Names of operators are whole; what all leave goes to a short bar, the shape,
// then to the bar.
static void fit_table(struct network_table *t, const struct pane *pane,
                      const struct network_row *row, int count)
{
    int left = pane->cols - 2, names = 0;
    bool is_weighed = false;
    memcpy(t->column, columns, sizeof columns);
    for (int i = 0; i < count; i++) {
        is_weighed |= row[i].weight != 1;
        names = int_max(names, text_columns(row[i].operation));
    }
    t->column[NETWORK_OPERATION].least = int_clamp(names, 8, MOST_NAME);
    if (!is_weighed)
        t->column[NETWORK_WEIGHT].least = INT_MAX;
    table_fit(&t->table, pane, t->column, NETWORK_COLUMNS, 1);
    for (int i = 0; i < NETWORK_COLUMNS; i++)
        left -= t->table.slot[i].width ? t->table.slot[i].width + TABLE_GAP : 0;
    if (t->table.slot[NETWORK_SHAPE].width) {
        int more = int_clamp(left - LEAST_BAR - 1, 0, MOST_SHAPE - columns[NETWORK_SHAPE].least);
        t->column[NETWORK_SHAPE].least += more;
        left -= more;
    }
    if (t->table.slot[NETWORK_SHARE].width && left >= LEAST_BAR + 1) {
        t->bar = int_clamp(left - 1, 0, MOST_BAR);
        t->column[NETWORK_SHARE].least += t->bar + 1;
    }
    table_fit(&t->table, pane, t->column, NETWORK_COLUMNS, 1);
}

// Each time has its own unit: tasks of a network take from microseconds to seconds.
static void put_seconds(const struct network_table *t, int row, enum network_column c,
                        enum style style, double seconds)
{
    char text[32] = "";
    if (seconds > 0)
        speed_time(&t->app->model.open.record, seconds, text);
    table_put(&t->table, row, c, style, *text ? text : "-");
}

static void put_row(const struct network_table *t, int row, const struct network_row *r)
{
    char text[32];
    table_put(&t->table, row, NETWORK_OPERATION, STYLE_TEXT, r->operation);
    table_put(&t->table, row, NETWORK_SHAPE, STYLE_TEXT, r->shape);
    table_printf(&t->table, row, NETWORK_USES, STYLE_TEXT, "%d", r->uses);
    put_seconds(t, row, NETWORK_START, STYLE_TEXT, r->start_s);
    put_seconds(t, row, NETWORK_BEST, STYLE_BEST, r->best_s);
    table_printf(&t->table, row, NETWORK_SHARE, STYLE_TEXT, "%.1f %%", 100 * r->share);
    if (t->bar)
        pane_bar(&t->table.pane, row, t->table.slot[NETWORK_SHARE].at, t->bar, STYLE_SERIES,
                 r->share);
    table_printf(&t->table, row, NETWORK_TRIALS, STYLE_TEXT, "%" PRId64, r->trials);
    table_put(&t->table, row, NETWORK_GAIN, STYLE_TEXT,
              r->gain_age < 0 ? "-" : text_duration(r->gain_age, text));
    table_put(&t->table, row, NETWORK_NEXT, r->next > 0 ? STYLE_GOOD : STYLE_DIM,
              r->pinned     ? "pin"
              : r->next > 0 ? "now"
              : r->known    ? "known"
                            : "-");
    table_printf(&t->table, row, NETWORK_WEIGHT, r->weight == 1 ? STYLE_DIM : STYLE_TEXT, "%g",
                 r->weight);
}

static void put_total(const struct network_table *t, int row, const struct network_row *r,
                      int count)
{
    struct network_row sum = {.start_s = network_latency(r, count, true),
                              .best_s = network_latency(r, count, false)};
    for (int i = 0; i < count; i++) {
        sum.uses += r[i].uses;
        sum.trials += r[i].trials;
    }
    table_put(&t->table, row, NETWORK_OPERATION, STYLE_STRONG, "total");
    table_printf(&t->table, row, NETWORK_SHAPE, STYLE_DIM, "of %d operator%s, by uses", count,
                 count == 1 ? "" : "s");
    table_printf(&t->table, row, NETWORK_USES, STYLE_STRONG, "%d", sum.uses);
    put_seconds(t, row, NETWORK_START, STYLE_STRONG, sum.start_s);
    put_seconds(t, row, NETWORK_BEST, STYLE_STRONG, sum.best_s);
    table_printf(&t->table, row, NETWORK_TRIALS, STYLE_STRONG, "%" PRId64, sum.trials);
}

static void draw_operators(struct app *app, struct network *n, const struct pane *box)
{
    struct network_row row[NETWORK_MOST];
    int count = network_list(&app->model, app->unix_now, row);
    bool bare = box->rows < BARE_ROWS || box->cols < BARE_COLS;
    char title[96], note[128], rows[64];
    network_sort(row, count, n->sort, !n->ascending);
    if (app->model.open.network_record.id)
        snprintf(title, sizeof title, "Tasks of %s: sum of uses x latency, by %.*s",
                 app->model.open.network_record.name,
                 (int)strcspn(app->model.open.network_record.scheduler, ":"),
                 app->model.open.network_record.scheduler);
    else
        snprintf(title, sizeof title, "Operators: this session has one");
    struct network_table t = {.app = app};
    struct pane pane = *box;
    if (!bare) // the frame is drawn when its note is known
        pane = pane_part(box, 1, 1, box->rows - 2, box->cols - 2);
    fit_table(&t, &pane, row, count);
    int head = pane.rows > 1, total = pane.rows - head - count >= 2;
    list_fit(&n->list, count, pane.rows - head - 2 * total);
    list_note(&n->list, "rows", rows);
    snprintf(note, sizeof note, "%s%ssort: %s %s", rows, rows[0] ? "  " : "", columns[n->sort].head,
             n->ascending ? "^" : "v");
    if (!bare)
        pane_box(box, title, note, n->pane == PANE_OPERATORS);
    if (head)
        table_put_heads(&t.table, &pane, 0);
    for (int i = 0; list_shows(&n->list, n->list.top + i); i++) {
        put_row(&t, head + i, &row[n->list.top + i]);
        if (n->list.top + i != n->list.cursor)
            continue;
        pane_mark(&pane, head + i, 0, pane.cols);
        pane_cursor(&pane, head + i, 0);
    }
    if (total)
        put_total(&t, head + count + 1, row, count);
}

// --- latency ---

struct latency {
    double per; // of the unit that times are shown in
    struct plot_point *parts, *whole;
    int part_count, whole_count;
    double highest;
};

static void add_point(struct latency *l, struct plot_point *to, int *count, double x,
                      double seconds)
{
    to[(*count)++] = (struct plot_point){x, seconds * l->per};
    l->highest = fmax(l->highest, seconds * l->per);
}

static void draw_latency(struct app *app, const struct network *n, const struct pane *box)
{
    const struct model *m = &app->model;
    double per, ran = model_ran_seconds(m, app->unix_now);
    char title[64], note[80] = "";
    snprintf(title, sizeof title, "Latency in %s by running time", model_time_unit(m, &per));
    const struct opened *o = &m->open;
    const struct network_summary *sum = &o->network;
    struct latency l = {.per = per};
    l.parts = mem_zero((size_t)o->curve.count + 1, sizeof *l.parts);
    l.whole = mem_zero((size_t)sum->whole_count + 1, sizeof *l.whole);
    for (int i = 0; i < o->curve.count; i++)
        add_point(&l, l.parts, &l.part_count, o->curve.step[i].elapsed_s, o->curve.step[i].seconds);
    for (int i = 0; o->record.scheduler && i < sum->whole_count; i++)
        if (whole_seconds(&sum->whole[i]) > 0)
            add_point(&l, l.whole, &l.whole_count, sum->whole[i].elapsed_s,
                      whole_seconds(&sum->whole[i]));
    if (l.whole_count && l.part_count)
        snprintf(note, sizeof note, "A sum of parts %.3g, B as a whole %.3g",
                 l.parts[l.part_count - 1].y, l.whole[l.whole_count - 1].y);
    else if (l.whole_count)
        snprintf(note, sizeof note, "B as a whole %.3g", l.whole[l.whole_count - 1].y);
    struct pane p = pane_box(box, title, note, n->pane == PANE_LATENCY);
    if (l.part_count || l.whole_count) {
        static const enum style styles[PLOT_MOST_SERIES] = {STYLE_SERIES, STYLE_BEST};
        struct plot plot;
        struct plot_axis x = {.low = 0, .high = ran, .scale = PLOT_SECONDS, .room = 1};
        struct plot_axis y = {.low = 0, .high = l.highest, .scale = PLOT_REAL};
        plot_init(&plot, p.screen->charset, p.rows, p.cols);
        plot_axes(&plot, &x, &y);
        if (l.part_count)
            plot_steps(&plot, 0, 'A', l.parts, l.part_count, ran);
        if (l.whole_count)
            plot_steps(&plot, 1, 'B', l.whole, l.whole_count, ran);
        plot_letters(&plot);
        curve_draw_plot(&plot, &p, styles);
        plot_finish(&plot);
    } else
        pane_line(&p, 0, 1, STYLE_DIM, "nothing valid yet");
    free(l.parts);
    free(l.whole);
}

// --- time ---

static void draw_spent(const struct pane *p, int row, const char *name, double seconds, double all,
                       enum style style)
{
    char text[24];
    int bar = p->cols - 10 - 9;
    pane_text_cut(p, row, 1, 8, STYLE_TEXT, name);
    snprintf(text, sizeof text, "%.0f %%", all > 0 ? 100 * seconds / all : 0);
    if (bar > 2)
        pane_bar(p, row, 10, bar, style, all > 0 ? seconds / all : 0);
    pane_text_right(p, row, p->cols - 1, STYLE_TEXT, text);
}

static void draw_time(struct app *app, const struct network *n, const struct pane *box)
{
    const struct session_record *r = &app->model.open.record;
    struct spent s =
        spending_sum(&n->spending, model_ran_seconds(&app->model, app->unix_now), r->workers);
    char title[64], note[40], window[32], text[160];
    snprintf(title, sizeof title, "Where the last %s went", text_duration(s.window, window));
    snprintf(note, sizeof note, "device busy %.0f %%", 100 * s.device_busy);
    struct pane p = pane_box(box, title, note, n->pane == PANE_TIME);
    draw_spent(&p, 0, "compile", s.compile, s.all, STYLE_SERIES);
    draw_spent(&p, 1, "pipeline", s.pipeline, s.all, (enum style)(STYLE_SERIES + 1));
    draw_spent(&p, 2, "device", s.device, s.all, STYLE_GOOD);
    draw_spent(&p, 3, "other", s.other, s.all, STYLE_DIM);
    snprintf(text, sizeof text, "of %d worker%s; other: waiting, starting, judging", r->workers,
             r->workers == 1 ? "'s time" : "s' time");
    pane_text_cut(&p, 5, 1, p.cols - 2, STYLE_DIM, text);
    snprintf(text, sizeof text,
             "%" PRId64 " trials finished, %" PRId64 " timed out, %" PRId64 " worker crashes",
             s.trials, s.timeouts, s.crashes);
    pane_text_cut(&p, 6, 1, p.cols - 2, STYLE_DIM, text);
}

// --- keys ---

// Returns the task under the cursor, in the order that is shown.
static struct network_row row_at_cursor(struct app *app, const struct network *n)
{
    struct network_row row[NETWORK_MOST];
    int count = network_list(&app->model, app->unix_now, row);
    network_sort(row, count, n->sort, !n->ascending);
    return row[int_clamp((int)n->list.cursor, 0, count - 1)];
}

static bool network_view_act(struct app *app, void *state, enum action a)
{
    struct network *n = state;
    switch (a) {
    case ACT_SORT_NEXT: n->sort = (n->sort + 1) % NETWORK_COLUMNS; break;
    case ACT_SORT_PREVIOUS: n->sort = (n->sort + NETWORK_COLUMNS - 1) % NETWORK_COLUMNS; break;
    case ACT_SORT_INVERT: n->ascending = !n->ascending; break;
    case ACT_NEXT_PANE: n->pane = (n->pane + 1) % NETWORK_PANES; break;
    case ACT_PREVIOUS_PANE: n->pane = (n->pane + NETWORK_PANES - 1) % NETWORK_PANES; break;
    case ACT_OPEN:
        if (n->session) {
            struct network_row row = row_at_cursor(app, n);
            if (!row.session)
                app_say(app, STYLE_WARN, "%s has had no round yet", row.operation);
            else if (row.session == n->session)
                app_show(app, VIEW_MAIN);
            else
                app_open_session(app, row.session);
        }
        break;
    case ACT_BACK: // from one of its tasks
        if (!app->model.open.record.network)
            return false;
        app_open_session(app, app->model.open.record.network);
        break;
    case ACT_PIN:
    case ACT_WEIGH_MORE:
    case ACT_WEIGH_LESS: {
        struct network_row row = row_at_cursor(app, n);
        char id[24], text[160];
        snprintf(id, sizeof id, "%" PRId64, app->model.open.network_record.id);
        if (a == ACT_PIN)
            snprintf(text, sizeof text, "pin=%s", row.pinned ? "" : row.operation);
        else
            snprintf(text, sizeof text, "weight=%s:%g", row.operation,
                     row.weight * (a == ACT_WEIGH_MORE ? 2 : 0.5));
        app_command(app, (const char *const[]){"set", id, text, NULL});
    } break;
    default: return list_act(&n->list, a);
    }
    return true;
}

static const char *network_view_disabled(struct app *app, void *state, enum action a)
{
    (void)state;
    if (!app->model.open.record.id &&
        (a == ACT_SORT_NEXT || a == ACT_SORT_PREVIOUS || a == ACT_SORT_INVERT))
        return "no session is open";
    if (a == ACT_PIN && app->model.open.network_record.state != STATE_RUNNING)
        return "no network runs";
    if ((a == ACT_WEIGH_MORE || a == ACT_WEIGH_LESS) && !app->model.open.network_record.id)
        return "no network is open";
    return a == ACT_FILTER ? "operators are sorted, not filtered" : NULL;
}

// --- the screen ---

static void network_view_draw(struct app *app, void *state, const struct pane *body)
{
    static void (*const panes[NETWORK_PANES])(struct app * app, const struct network *n,
                                              const struct pane *box) = {
        [PANE_LATENCY] = draw_latency, [PANE_TIME] = draw_time};
    struct network *n = state;
    sync(app, n);
    if (!n->session) {
        pane_line(body, 0, 1, STYLE_TEXT, "No session is open.");
        return;
    }
    if (body->rows < ALL_ROWS || body->cols < ALL_COLS) {
        if (n->pane == PANE_OPERATORS)
            draw_operators(app, n, body);
        else
            panes[n->pane](app, n, body);
        return;
    }
    // The time of workers belongs to a session, not to a network.
    bool whole = app->model.open.record.scheduler != NULL;
    int wanted = app->model.open.network_record.id ? app->model.open.network.task_count + 5 : 7;
    int most = wanted > 7 ? body->rows * 3 / 5 : body->rows / 2;
    int top = int_min(wanted, most), wide = whole ? body->cols : body->cols / 2;
    struct pane above = pane_part(body, 0, 0, top, body->cols);
    struct pane left = pane_part(body, top, 0, body->rows - top, wide);
    struct pane right = pane_part(body, top, wide, body->rows - top, body->cols - wide);
    draw_operators(app, n, &above);
    draw_latency(app, n, &left);
    if (!whole)
        draw_time(app, n, &right);
}

const struct view view_network = {
    .name = "network",
    .title = "Network",
    .tab = "Net",
    .size = sizeof(struct network),
    .init = network_view_init,
    .draw = network_view_draw,
    .act = network_view_act,
    .disabled = network_view_disabled,
    .tick = network_view_tick,
};
