#include "app_draw.h"
#include "base/file.h"
#include "base/number.h"
#include "engine/speed.h"
#include "list.h"
#include "report/text.h"
#include "screen.h"
#include "view_sessions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_EVERY 1.0 // seconds, at the space file
#define LABEL_COLS 10

// --- reading ---

void sessions_finish_panel(struct session_panel *p)
{
    arena_finish(&p->arena);
    free(p->best_config);
    *p = (struct session_panel){.id = 0};
}

static enum text_fate fate_of(const struct text_record *t)
{
    char *now;
    if (!file_read(t->path, &now, NULL, NULL))
        return file_exists(t->path) ? TEXT_CLOSED : TEXT_GONE;
    enum text_fate fate = str_equal(now, t->text) ? TEXT_SAME : TEXT_CHANGED;
    free(now);
    return fate;
}

static bool look_at_texts(struct session_panel *p, double now)
{
    if (!p->text_count || (p->fate != TEXT_UNREAD && now - p->looked < LOOK_EVERY))
        return false;
    uint64_t stamp = 0;
    for (int i = 0; i < p->text_count; i++)
        stamp = file_stamp(p->text[i].path, stamp);
    p->looked = now;
    if (p->stamp == stamp)
        return false;
    p->stamp = stamp;
    // The first text is the space's own.
    p->fate = TEXT_SAME;
    for (int i = 0; i < p->text_count && p->fate == TEXT_SAME; i++) {
        p->fate = fate_of(&p->text[i]);
        p->changed = p->text[i].name;
    }
    return true;
}

bool sessions_read_panel(struct app *app, struct sessions_view *v)
{
    struct session_panel *p = &v->panel;
    const struct session_row *row = v->cursor ? model_row(&app->model, v->cursor) : NULL;
    struct store *store = app->model.store;
    bool news = false;
    if (!row || !store)
        return false;
    if (p->id != row->record.id) {
        sessions_finish_panel(p);
        p->id = row->record.id;
        store_get_texts(store, p->id, &p->arena, &p->text, &p->text_count, NULL);
        news = true;
    }
    if (p->best_ask != row->record.best_ask) {
        struct trial_record t;
        struct arena a;
        arena_init(&a);
        free(p->best_config);
        p->best_config = NULL;
        p->best_ask = row->record.best_ask;
        if (store_get_trial(store, row->record.id, row->record.best_ask, &a, &t, NULL) && t.ask) {
            p->best_config = mem_strdup(t.config);
            p->best_number = t.number;
        }
        arena_finish(&a);
        news = true;
    }
    news |= look_at_texts(p, app->now);
    return news;
}

// --- writing ---

struct writer {
    struct pane pane;
    int row;
};

int put_wrapped(const struct pane *p, int row, int col, enum style style, const char *text)
{
    return pane_wrapped(p, row, col, p->cols - col - 2, style, text);
}

static void write_fact(struct writer *w, const char *label, enum style style, const char *text)
{
    int label_cols = w->pane.cols >= 40 ? LABEL_COLS : 0;
    if (label_cols)
        pane_text(&w->pane, w->row, 1, STYLE_DIM, label);
    w->row = put_wrapped(&w->pane, w->row, 1 + label_cols, style, text);
}

static void write_state(struct writer *w, const struct session_row *s)
{
    struct str text = {0};
    str_add(&text, state_word(s->state, &s->record));
    if (s->record.damage)
        str_printf(&text, ": %s", s->record.damage);
    else if (s->record.message && s->record.message[0] && !s->runner)
        str_printf(&text, ": %s", s->record.message);
    if (s->runner)
        str_printf(&text, ", process %d", (int)s->runner);
    write_fact(w, "state", state_style(s->state, STYLE_TEXT), str_text(&text));
    str_finish(&text);
}

static void write_best(struct writer *w, const struct session_panel *p,
                       const struct session_record *r)
{
    char speed[32], seconds[32];
    if (!r->best_ask) {
        write_fact(w, "best", STYLE_DIM, r->trials ? "nothing valid" : "no trial yet");
        return;
    }
    struct str text = {0};
    str_printf(&text, "%s%s%s, %s", speed_text(r, r->best_seconds, speed),
               speed_is_relative(r) ? " of the fastest recorded" : "",
               r->best_raced ? " raced" : "", text_time(r->best_seconds, seconds));
    if (p->best_config)
        str_printf(&text, ", trial %" PRId64, p->best_number);
    write_fact(w, "best", STYLE_BEST, str_text(&text));
    text.length = 0;
    speed_add_peak(r, r->best_seconds, &text);
    if (text.length)
        write_fact(w, "roof", STYLE_TEXT, str_text(&text));
    str_finish(&text);
}

static void write_space(struct writer *w, const struct session_panel *p,
                        const struct session_record *r)
{
    struct str text = {0};
    bool own = p->text_count > 0 && p->changed == p->text[0].name;
    str_add(&text, r->path);
    if (p->fate == TEXT_SAME)
        str_add(&text, ": unchanged");
    else if (p->fate == TEXT_CHANGED && own)
        str_add(&text, ": stale, the space file changed since (its text is kept)");
    else if (p->fate == TEXT_GONE && own)
        str_add(&text, ": stale, the file is gone (its text is kept)");
    else if (p->fate == TEXT_CLOSED)
        str_printf(&text, ": %s cannot be read here (its text is kept)", p->changed);
    else if (p->fate != TEXT_UNREAD)
        str_printf(&text, ": stale, %s %s (its text is kept)", p->changed,
                   p->fate == TEXT_GONE ? "is gone" : "changed since");
    write_fact(w, "space", p->fate > TEXT_SAME ? STYLE_WARN : STYLE_TEXT, str_text(&text));
    str_finish(&text);
}

static void write_budget(struct writer *w, const struct session_record *r)
{
    char time[32];
    struct str text = {0};
    str_printf(&text, "%" PRId64 " trials", r->budget_trials);
    if (r->budget_seconds > 0)
        str_printf(&text, " or %s", text_duration(r->budget_seconds, time));
    str_printf(&text,
               ", %" PRId64 " done: %" PRId64 " ok, %" PRId64 " failed; %" PRId64 " rejected",
               r->trials, r->ok, r->trials - r->ok, r->rejected);
    write_fact(w, "budget", STYLE_TEXT, str_text(&text));
    str_finish(&text);
}

static void write_times(struct writer *w, struct app *app, const struct sessions_view *v,
                        const struct session_row *s)
{
    const struct session_record *r = &s->record;
    char at[32], ago[24], ran[32];
    time_t created = (time_t)r->created;
    struct tm tm;
    double seconds = sessions_ran(app, v, s);
    localtime_r(&created, &tm);
    strftime(at, sizeof at, "%Y-%m-%d %H:%M", &tm);
    char *text = mem_printf("%s, %s ago; ran %s with %d worker%s", at,
                            text_ago(app->unix_now - r->created, ago), text_duration(seconds, ran),
                            r->workers, r->workers == 1 ? "" : "s");
    write_fact(w, "created", STYLE_TEXT, text);
    free(text);
}

static void write_device(struct writer *w, const struct session_record *r)
{
    bool real = str_equal(r->source, "device");
    char *text =
        mem_printf("%s, driver %s%s%s%s", r->device, r->driver, r->cold ? ", timed cold" : "",
                   real ? "" : "; times from ", real ? "" : r->source);
    write_fact(w, "device", STYLE_TEXT, text);
    free(text);
}

// What matters most comes first: the panel may be low.
static void write_all(struct writer *w, struct app *app, const struct sessions_view *v,
                      const struct session_row *s)
{
    static const struct session_panel unread = {.id = 0};
    const struct session_record *r = &s->record;
    const struct session_panel *p = v->panel.id == r->id ? &v->panel : &unread;
    char strategy[256];
    write_state(w, s);
    if (r->note && r->note[0])
        write_fact(w, "note", STYLE_STRONG, r->note);
    write_best(w, p, r);
    write_space(w, p, r);
    write_budget(w, r);
    write_times(w, app, v, s);
    char *text =
        mem_printf("%s; seed %" PRIu64, strategy_text(r->strategy, true, strategy), r->seed);
    write_fact(w, "strategy", STYLE_TEXT, text);
    free(text);
    write_device(w, r);
    text = mem_printf("%s, %s: %s configurations", r->name, r->title, r->size);
    write_fact(w, "problem", STYLE_TEXT, text);
    free(text);
    struct str config = {0};
    if (p->best_config)
        write_fact(w, "best is", STYLE_TEXT, text_config(p->best_config, &config));
    str_finish(&config);
}

void sessions_draw_panel(struct app *app, struct sessions_view *v, const struct pane *p)
{
    const struct session_row *s = v->cursor ? model_row(&app->model, v->cursor) : NULL;
    char title[64] = "Session";
    if (s)
        snprintf(title, sizeof title, "Session %" PRId64, s->record.id);
    struct writer w = {.pane = p->rows >= 5 ? pane_box(p, title, NULL, false) : *p};
    if (s)
        write_all(&w, app, v, s);
}

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
    // Of all sessions, not only of those that are shown: columns stand still. Of texts, bytes will
    // do.
    bool wide = p->cols >= WIDE_FROM;
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

static void put_rows(struct sheet *l, const struct pane *p)
{
    struct sessions_view *v = l->view;
    list_fit(&v->list, v->count, p->rows);
    for (int i = 0; list_shows(&v->list, v->list.top + i); i++) {
        const struct session_row *s = v->row[v->list.top + i];
        char mark = s->mark;
        enum style style =
            mark ? (enum style)(STYLE_SERIES + (mark - 'A') % MOST_SERIES) : STYLE_DIM;
        if (is_narrow(p))
            pane_printf(p, i, 1, style, "%c", mark ? mark : ' ');
        else
            pane_printf(p, i, 2, style, "[%c]", mark ? mark : ' ');
        const struct session_record *r = &s->record;
        char text[256];
        snprintf(text, sizeof text, "%" PRId64, r->id);
        table_put(&l->table, p, i, SESSIONS_ID, STYLE_STRONG, text);
        table_put(&l->table, p, i, SESSIONS_STATE, state_style(s->state, STYLE_TEXT),
                  state_word(s->state, &s->record));
        table_put(&l->table, p, i, SESSIONS_SPACE, STYLE_TEXT, r->name);
        table_put(&l->table, p, i, SESSIONS_PROBLEM, STYLE_TEXT, r->title);
        put_device(l, p, i, r);
        table_put(&l->table, p, i, SESSIONS_STRATEGY, STYLE_TEXT,
                  strategy_text(r->strategy, false, text));
        snprintf(text, sizeof text, "%" PRIu64, r->seed);
        table_put(&l->table, p, i, SESSIONS_SEED, STYLE_DIM, text);
        snprintf(text, sizeof text, "%" PRId64 "/%" PRId64, r->trials, r->budget_trials);
        table_put(&l->table, p, i, SESSIONS_TRIALS, STYLE_TEXT, text);
        put_results(l, p, i, s);
        if (v->list.top + i == v->list.cursor)
            pane_select(p, i, true);
    }
    if (v->count == 0)
        pane_text_cut(p, 0, 2, p->cols - 2, STYLE_DIM, "No session matches.");
}

void sessions_draw_list(struct app *app, struct sessions_view *v, const struct pane *p)
{
    struct table_panes panes = table_panes(p);
    struct sheet l = {.app = app, .view = v};
    char note[64];
    fit_columns(&l, &panes.rows);
    v->list.first_row = panes.first_row;
    put_rows(&l, &panes.rows);
    enum sessions_column sort = l.view->sort;
    table_put_heads(&l.table, &panes.heads, 0);
    table_put(&l.table, &panes.heads, 0, sort, STYLE_FOCUS, l.column[sort].head);
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
    pieces_draw(&row, &panes.status, 0, 3);
    list_note(&v->list, "rows", note);
    if (panes.framed)
        pane_box(p, "Sessions", note, !v->comparing);
}
