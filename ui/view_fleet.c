// The fleet: the machines that measure, or measured, for the sessions of the database, those at
// work first; below, the details of the one under the cursor.
#include "app.h"
#include "base/number.h"
#include "screen.h"
#include "store/machine.h"
#include "text.h"
#include "widget.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define READ_SECONDS 1.0 // between two looks at the database
#define BELOW_FROM   14  // rows of bodies that also show one machine in detail
#define BELOW_ROWS   8
#define LABEL_COLS   13

enum fleet_column {
    FLEET_MACHINE,
    FLEET_SESSION,
    FLEET_DEVICE,
    FLEET_STATE,
    FLEET_TRIALS,
    FLEET_LOST,
    FLEET_RATE,
    FLEET_CALIBRATION,
    FLEET_ERROR,
    FLEET_COLUMNS
};

static const struct table_column columns[FLEET_COLUMNS] = {
    [FLEET_MACHINE] = {"machine", 14, 20, 0, false},
    [FLEET_SESSION] = {"session", 0, 0, 8, true},
    [FLEET_DEVICE] = {"device", 10, 18, 4, false},
    [FLEET_STATE] = {"state", 7, 0, 1, false},
    [FLEET_TRIALS] = {"trials", 0, 0, 2, true},
    [FLEET_LOST] = {"lost", 0, 0, 7, true},
    [FLEET_RATE] = {"rate/s", 0, 0, 3, true},
    [FLEET_CALIBRATION] = {"calibration", 0, 0, 5, true},
    [FLEET_ERROR] = {"last error", 12, 200, 6, false},
};

struct machine {
    struct machine_record record;
    const char *state; // as users see it
    bool works;
};

struct fleet {
    struct arena arena; // of the machines
    struct machine *machine;
    int count, at_work;
    double rate;      // of all
    double read_at;   // unix time; 0: not yet
    char cursor[128]; // the name of the machine that the user moved to, of any session
    struct list list;
};

static void fleet_view_finish(struct app *app, void *state)
{
    struct fleet *f = state;
    (void)app;
    arena_finish(&f->arena);
}

// --- what is read ---

static bool fleet_view_tick(struct app *app, void *state)
{
    struct fleet *f = state;
    struct store *s = app->model.store;
    struct machines list = {0};
    double age = app->unix_now - f->read_at;
    if (age >= 0 && age < READ_SECONDS)
        return false;
    arena_finish(&f->arena);
    if (s && !store_list_machines(s, 0, app->unix_now, &f->arena, &list, NULL))
        list.count = 0; // the model shows the error of the database
    // Machines at work first, otherwise in the order in which they come.
    int count = list.count;
    struct machine *all = arena_zero(&f->arena, (size_t)count + 1, sizeof *all);
    f->machine = arena_zero(&f->arena, (size_t)count + 1, sizeof *f->machine);
    f->count = 0;
    f->rate = 0;
    for (int i = 0; i < count; i++) {
        const char *word = store_machine_state(s, &list.of[i]);
        bool works = str_equal(word, "up") || str_equal(word, "stuck");
        all[i] = (struct machine){list.of[i], word, works};
    }
    for (int working = 1; working >= 0; working--) {
        for (int i = 0; i < count; i++)
            if (all[i].works == working)
                f->machine[f->count++] = all[i];
        f->at_work = working ? f->count : f->at_work;
    }
    for (int i = 0; i < f->at_work; i++)
        f->rate += f->machine[i].record.rate;
    int at = 0;
    while (at < f->count && !str_equal(f->machine[at].record.name, f->cursor))
        at++;
    if (at == f->count) // it was forgotten
        at = f->list.cursor < f->count ? (int)f->list.cursor : f->count - 1;
    f->list.count = f->count;
    f->list.cursor = at < 0 ? 0 : at;
    f->read_at = app->unix_now;
    app->dirty = true;
    return false;
}

// --- drawing ---

// Writes the time of a fixed kernel there compared with the others, or alone when there are none.
static const char *calibration(const struct machine_record *r, bool whole, char out[64])
{
    char drift[24] = "", ms[24] = "-";
    if (r->fixed_s > 0)
        snprintf(ms, sizeof ms, "%.3g ms", r->fixed_s * 1e3);
    if (r->fixed_s > 0 && isfinite(r->drift))
        snprintf(drift, sizeof drift, "%+.1f %%", 100 * r->drift);
    if (whole && drift[0])
        snprintf(out, 64, "%s, %s of the others", ms, drift);
    else
        snprintf(out, 64, "%s", drift[0] ? drift : ms);
    return out;
}

static void draw_list(struct fleet *f, const struct pane *p)
{
    struct table_panes panes = table_panes(p);
    struct table t;
    char note[64];
    table_fit(&t, &panes.rows, columns, FLEET_COLUMNS, 2);
    f->list.first_row = panes.first_row;
    list_fit(&f->list, f->count, panes.rows.rows);
    for (int i = 0; list_shows(&f->list, f->list.top + i); i++) {
        const struct machine *m = &f->machine[f->list.top + i];
        const struct machine_record *r = &m->record;
        char text[64];
        enum style style = m->works ? STYLE_TEXT : STYLE_DIM;
        table_put(&t, i, FLEET_MACHINE, style, r->name);
        table_printf(&t, i, FLEET_SESSION, style, "%" PRId64, r->session);
        table_put(&t, i, FLEET_DEVICE, style, r->device);
        table_put(&t, i, FLEET_STATE,
                  str_equal(m->state, "up")     ? STYLE_GOOD
                  : str_equal(m->state, "left") ? STYLE_DIM
                                                : STYLE_BAD,
                  m->state);
        table_printf(&t, i, FLEET_TRIALS, style, "%" PRId64, r->trials);
        table_printf(&t, i, FLEET_LOST, r->lost ? STYLE_WARN : style, "%" PRId64, r->lost);
        table_printf(&t, i, FLEET_RATE, style, m->works ? "%.3g" : "-", r->rate);
        table_put(&t, i, FLEET_CALIBRATION, style, calibration(r, false, text));
        table_put(&t, i, FLEET_ERROR, m->works ? STYLE_WARN : STYLE_DIM, r->why ? r->why : "");
        if (f->list.top + i == f->list.cursor)
            pane_select(&panes.rows, i, true);
    }
    table_put_heads(&t, &panes.heads, 0);
    struct pieces row = {0};
    pieces_add(&row, 0, STYLE_STRONG, "%d machine%s", f->count, f->count == 1 ? "" : "s");
    pieces_add(&row, 1, f->at_work ? STYLE_GOOD : STYLE_DIM, "%d at work", f->at_work);
    if (f->at_work)
        pieces_add(&row, 2, STYLE_TEXT, "%.3g trials/s in the last minute", f->rate);
    pieces_draw(&row, &panes.status, 0, 3);
    list_note(&f->list, "rows", note);
    if (panes.framed)
        pane_box(p, "Fleet", note, true);
}

static int put_fact(const struct pane *p, int row, const char *label, const char *text)
{
    pane_text(p, row, 1, STYLE_DIM, label);
    return pane_wrapped(p, row, LABEL_COLS, p->cols - LABEL_COLS - 1, STYLE_TEXT, text);
}

static void fleet_view_draw(struct app *app, void *state, const struct pane *body)
{
    struct fleet *f = state;
    bool below = body->rows >= BELOW_FROM;
    int rows = body->rows - (below ? BELOW_ROWS : 0);
    struct pane above = pane_part(body, 0, 0, rows, body->cols);
    struct pane rest = pane_part(body, rows, 0, body->rows - rows, body->cols);
    if (f->count == 0 && f->read_at > 0) {
        bool framed = body->rows >= 8 && body->cols >= 30;
        struct pane inside = framed ? pane_box(body, "Fleet", NULL, true) : *body;
        pane_line(&inside, 0, 1, STYLE_DIM,
                  "No machines yet; add remote workers with tune --on ssh:HOST.");
    }
    if (f->count == 0)
        return;
    draw_list(f, &above);
    if (below) {
        const struct machine_record *r = &f->machine[f->list.cursor].record;
        struct pane p = pane_box(&rest, r->name, NULL, false);
        char text[400], ago[24], whole[64];
        int row = 0;
        snprintf(text, sizeof text, "%s, for session %" PRId64, r->place, r->session);
        row = put_fact(&p, row, "place", text);
        snprintf(text, sizeof text, "%s, %s", r->device, r->driver);
        row = put_fact(&p, row, "device", text);
        snprintf(text, sizeof text, "%s for %s", f->machine[f->list.cursor].state,
                 text_ago(app->unix_now - r->at, ago));
        row = put_fact(&p, row, "state", text);
        row = put_fact(&p, row, "calibration", calibration(r, true, whole));
        put_fact(&p, row, "last error", r->why ? r->why : "none");
    }
}

// --- keys ---

static void moved(struct app *app, struct fleet *f)
{
    snprintf(f->cursor, sizeof f->cursor, "%s", f->machine[f->list.cursor].record.name);
    app->dirty = true;
}

static bool fleet_view_act(struct app *app, void *state, enum action a)
{
    struct fleet *f = state;
    if (list_act(&f->list, a)) {
        if (f->count)
            moved(app, f);
        return true;
    }
    if (f->count == 0)
        return false;
    const struct machine_record *r = &f->machine[f->list.cursor].record;
    if (a == ACT_OPEN)
        app_open_session(app, r->session);
    else if (a == ACT_COPY)
        app_copy(app, r->name);
    return a == ACT_OPEN || a == ACT_COPY;
}

static void fleet_view_click(struct app *app, void *state, int row, int col)
{
    struct fleet *f = state;
    (void)col;
    if (list_click(&f->list, row))
        moved(app, f);
}

const struct view view_fleet = {
    .name = "fleet",
    .title = "Fleet",
    .tab = "Flt",
    .size = sizeof(struct fleet),
    .finish = fleet_view_finish,
    .draw = fleet_view_draw,
    .act = fleet_view_act,
    .tick = fleet_view_tick,
    .click = fleet_view_click,
};
