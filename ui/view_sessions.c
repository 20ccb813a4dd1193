#include "view_sessions.h"

#include "engine/speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- order ---

bool session_runs(const struct session_row *row)
{
    return row->state == STATE_RUNNING;
}

static const char *text_key(const struct session_row *row, enum sessions_column by)
{
    bool real = str_equal(row->record.source, "device");
    switch (by) {
    case SESSIONS_STATE: return state_name(row->state);
    case SESSIONS_SPACE: return row->record.name;
    case SESSIONS_PROBLEM: return row->record.title;
    case SESSIONS_DEVICE: return real ? row->record.device : row->record.source;
    case SESSIONS_STRATEGY: return row->record.strategy;
    case SESSIONS_NOTE: return row->record.note ? row->record.note : "";
    default: return NULL;
    }
}

struct sort_key {
    const struct session_row *row;
    const char *unit; // of `number`; others stand apart, in the same order either way
    const char *text; // NULL: `number` counts
    double number;
    bool ascending;
};

// Among equals, the newest first either way.
static int by_key(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    int apart = strcmp(x->unit, y->unit);
    if (apart)
        return apart;
    int order =
        x->text ? strcmp(x->text, y->text) : (x->number > y->number) - (x->number < y->number);
    if (order)
        return x->ascending ? order : -order;
    return (x->row->record.id < y->row->record.id) - (x->row->record.id > y->row->record.id);
}

const char *sessions_sort_text(const struct sessions_view *v)
{
    switch (v->sort) {
    case SESSIONS_ID: return v->ascending ? "oldest first" : "newest first";
    case SESSIONS_BEST: return v->ascending ? "slowest first" : "fastest first";
    case SESSIONS_ACTIVE: return v->ascending ? "longest ago first" : "latest first";
    case SESSIONS_SEED:
    case SESSIONS_TRIALS: return v->ascending ? "rising" : "falling";
    default: return v->ascending ? "in order" : "backwards";
    }
}

// --- the list ---

static int find_row(const struct sessions_view *v, int64_t id)
{
    for (int i = 0; i < v->count; i++)
        if (v->row[i]->record.id == id)
            return i;
    return -1;
}

// On its session; when that is gone, on the row where it was.
static void find_cursor(struct app *app, struct sessions_view *v)
{
    int at = find_row(v, v->cursor), was = (int)v->list.cursor;
    if (at < 0 && was < 0)
        at = find_row(v, app->model.open.record.id);
    if (at < 0)
        at = was < 0 ? 0 : was < v->count ? was : v->count - 1;
    v->cursor = v->count ? v->row[at]->record.id : 0;
    v->list.count = v->count;
    if (v->count) // the picture stands still, unless its top is the top of all
        list_point(&v->list, v->list.top > 0 ? v->cursor : 0, at);
}

void sessions_sync(struct app *app, struct sessions_view *v)
{
    const struct model *m = &app->model;
    double per_flops;
    v->count = 0;
    sessions_unit(m, &per_flops);
    for (int i = 0; i < m->session_count; i++) {
        const struct session_row *row = &m->session[i];
        if (row->record.network || !session_filter_accepts(v->wanted, row, per_flops))
            continue; // tasks are on their network's screen
        MEM_GROW(v->row, v->count, v->capacity);
        v->row[v->count++] = row;
    }
    if (v->sort != SESSIONS_ID || v->ascending) {
        // as the model has them
        struct sort_key *key = mem_alloc((size_t)v->count * sizeof *key);
        for (int i = 0; i < v->count; i++) {
            const struct session_row *row = v->row[i];
            const struct session_record *r = &row->record;
            struct sort_key k = {row, "", text_key(row, v->sort), (double)r->id, v->ascending};
            const struct session_facts *f =
                v->sort == SESSIONS_ACTIVE ? sessions_facts(v, r->id) : NULL;
            if (v->sort == SESSIONS_SEED)
                k.number = (double)r->seed;
            else if (v->sort == SESSIONS_TRIALS)
                k.number = (double)r->trials;
            else if (v->sort == SESSIONS_BEST) {
                // FLOP/s, then other units, then what has nothing valid yet.
                const char *unit = speed_rate_word(r);
                bool any = r->best_ask && r->best_seconds > 0;
                k.number = speed_is_relative(r) ? speed_share(r) : speed_rate(r, r->best_seconds);
                k.unit = !any ? "\xff" : str_equal(unit, "TFLOPS") ? "" : unit;
            } else if (v->sort == SESSIONS_ACTIVE)
                k.number = session_runs(row) ? INFINITY : f ? f->active : r->created;
            key[i] = k;
        }
        qsort(key, (size_t)v->count, sizeof *key, by_key);
        for (int i = 0; i < v->count; i++)
            v->row[i] = key[i].row;
        free(key);
    }
    find_cursor(app, v);
}

// --- what is read of sessions ---

#define READ_AT_ONCE 16 // sessions of one slice

static struct session_facts *find_facts(const struct sessions_view *v, int64_t id)
{
    for (int i = 0; i < v->facts_count; i++)
        if (v->facts[i].id == id)
            return &v->facts[i];
    return NULL;
}

const struct session_facts *sessions_facts(const struct sessions_view *v, int64_t id)
{
    return find_facts(v, id);
}

struct steps_read {
    const struct session_record *record;
    struct session_facts *facts;
};

// The columns from this step's trial on, until a better one comes.
static bool add_step(void *context, const struct best_step *step)
{
    struct steps_read *s = context;
    double speed = step->seconds > 0 ? 1 / step->seconds : 0;
    for (int i = SPARK_COLS - 1; i >= 0; i--) {
        double until = (double)s->record->trials * (i + 1) / SPARK_COLS;
        if (until < (double)step->number && i < SPARK_COLS - 1)
            break;
        s->facts->spark[i] = speed;
    }
    return true;
}

static bool keep_time(void *context, const struct trial_record *t)
{
    struct session_facts *f = context;
    f->active = t->finished;
    f->ran = t->elapsed_s;
    return false;
}

// True when there was something to read.
static bool refresh_facts(struct app *app, struct sessions_view *v, const struct session_record *r)
{
    struct session_facts *known = find_facts(v, r->id);
    if (known && known->told == r->trials + r->rejected)
        return false;
    if (!known) {
        MEM_GROW(v->facts, v->facts_count, v->facts_capacity);
        known = &v->facts[v->facts_count++];
    }
    struct steps_read steps = {r, known};
    known->id = r->id;
    known->told = r->trials + r->rejected;
    known->active = r->created + (known->told ? r->ran_seconds : 0);
    known->ran = 0;
    for (int i = 0; i < SPARK_COLS; i++)
        known->spark[i] = NAN;
    store_each_best(app->model.store, r->id, 0, add_step, &steps, NULL);
    double best = known->spark[SPARK_COLS - 1];
    for (int i = 0; i < SPARK_COLS; i++)
        known->spark[i] /= best;
    if (r->trials)
        store_each_numbered(app->model.store, r->id, r->trials, keep_time, known, NULL);
    app->dirty = true;
    return true;
}

// A window above and one below what is shown, for keys that page; all when they are sorted by it.
bool sessions_read(struct app *app, struct sessions_view *v)
{
    int height = v->list.rows > 0 ? v->list.rows : 50, top = (int)v->list.top, read = 0;
    bool all = v->sort == SESSIONS_ACTIVE;
    int from = all || top < height ? 0 : top - height;
    int end = all || top + 2 * height > v->count ? v->count : top + 2 * height;
    for (int i = from; app->model.store && i < end && read < READ_AT_ONCE; i++)
        read += refresh_facts(app, v, &v->row[i]->record);
    return read == READ_AT_ONCE;
}

double sessions_ran(struct app *app, const struct sessions_view *v, const struct session_row *row)
{
    const struct session_record *r = &row->record;
    const struct session_facts *f = sessions_facts(v, r->id);
    if (r->id == app->model.open.record.id)
        return model_ran_seconds(&app->model, app->unix_now);
    if (!f || f->ran <= r->ran_seconds)
        return r->ran_seconds;
    return f->ran + (session_runs(row) ? fmax(0, app->unix_now - f->active) : 0);
}

#define PANEL_ROWS       13 // with its frame
#define LOW_PANEL_ROWS   8
#define LOWEST_LIST_ROWS 7

// --- life ---

static void *create(struct app *app)
{
    struct sessions_view *v = mem_zero(1, sizeof *v);
    (void)app;
    v->sort = SESSIONS_ID;
    v->list.cursor = -1;
    arena_init(&v->panel.arena);
    return v;
}

static void destroy(void *state)
{
    struct sessions_view *v = state;
    sessions_finish_panel(&v->panel);
    session_filter_destroy(v->wanted);
    free(v->facts);
    free(v->row);
    free(v);
}

static void opened(struct app *app, void *state)
{
    struct sessions_view *v = state;
    v->cursor = app->model.open.record.id;
}

static bool tick(struct app *app, void *state)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    app->dirty |= sessions_read_panel(app, v);
    return sessions_read(app, v);
}

// Asked many times a frame: the list was made for that frame already, but for the very first time.
int64_t view_sessions_at_cursor(struct app *app)
{
    struct sessions_view *v = app->state[VIEW_SESSIONS];
    if (v->list.cursor < 0)
        sessions_sync(app, v);
    return v->cursor;
}

// --- moving ---

static bool act_on_rows(struct sessions_view *v, enum action a)
{
    if (v->comparing && v->compared_alone)
        return list_scroll(&v->comparison, a);
    if (!list_act(&v->list, a))
        return false;
    if (v->count)
        v->cursor = v->row[v->list.cursor]->record.id;
    return true;
}

// --- sorting ---

static void sort_by_next(struct app *app, struct sessions_view *v, int step)
{
    int column = v->sort;
    do {
        column = (column + step + SESSIONS_COLUMNS) % SESSIONS_COLUMNS;
    } while (!(column != SESSIONS_CURVE));
    v->sort = (enum sessions_column)column;
    v->ascending = (column >= SESSIONS_STATE && column <= SESSIONS_SEED) || column == SESSIONS_NOTE;
    sessions_sync(app, v);
}

static bool act_on_order(struct app *app, struct sessions_view *v, enum action a)
{
    switch (a) {
    case ACT_SORT_NEXT: sort_by_next(app, v, 1); return true;
    case ACT_SORT_PREVIOUS: sort_by_next(app, v, -1); return true;
    case ACT_SORT_INVERT: v->ascending = !v->ascending; return true;
    default: return false;
    }
}

// --- the filter ---

// False: the text is no filter, `complaint` says why, and the last good one stays.
static bool set_filter(struct app *app, struct sessions_view *v, const char *text)
{
    struct err e;
    app->dirty = true;
    v->complaint[0] = '\0';
    struct session_filter *wanted = session_filter_compile(text, &app->model, &e);
    if (!wanted) {
        snprintf(v->complaint, sizeof v->complaint, "%s", e.text);
        return false;
    }
    session_filter_destroy(v->wanted);
    v->wanted = wanted;
    snprintf(v->filter, sizeof v->filter, "%s", text + strspn(text, " "));
    sessions_sync(app, v);
    return true;
}

static void typed(struct app *app, void *context, const char *text)
{
    set_filter(app, context, text);
}

static bool entered(struct app *app, void *context, const char *text)
{
    struct sessions_view *v = context;
    if (!set_filter(app, v, text))
        return false; // the status line says why
    v->typing = false;
    return true;
}

static void cancelled(struct app *app, void *context)
{
    struct sessions_view *v = context;
    v->typing = false;
    v->cursor = v->cursor_before;
    if (!set_filter(app, v, v->before)) // what it was about is gone
        set_filter(app, v, "");
}

static const char *candidate(struct app *app, int n)
{
    static const char *const words[] = {
        "state:running", "state:paused", "state:done", "state:stopped", "state:failed", "space:",
        "problem:",      "device:",      "source:",    "strategy:",     "note:",        "id=",
        "seed=",         "trials<",      "budget<",    "best>"};
    (void)app;
    return n < (int)(sizeof words / sizeof *words) ? words[n] : NULL;
}

// --- what is done with sessions ---

static void compare(struct sessions_view *v, bool on)
{
    v->comparing = on;
    v->comparison.top = 0;
}

static bool act(struct app *app, void *state, enum action a)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    if (act_on_rows(v, a) || act_on_order(app, v, a))
        return true;
    switch (a) {
    case ACT_OPEN: app_open_session(app, v->cursor); return true;
    case ACT_BACK: {
        bool undone = v->comparing || v->filter[0];
        if (v->comparing)
            compare(v, false);
        else if (undone)
            set_filter(app, v, "");
        return undone;
    }
    case ACT_FILTER: {
        struct prompt p = {.lead = "/",
                           .context = v,
                           .done = entered,
                           .changed = typed,
                           .cancelled = cancelled,
                           .candidate = candidate};
        line_set(&p.line, v->filter);
        snprintf(v->before, sizeof v->before, "%s", v->filter);
        v->cursor_before = v->cursor;
        v->typing = true;
        app_prompt(app, &p);
    }
        return true;
    case ACT_MARK: {
        if (!model_toggle_mark(&app->model, v->cursor))
            app_say(app, STYLE_WARN, "%d sessions are marked already", MODEL_MOST_MARKS);
    }
        return true;
    case ACT_COMPARE: compare(v, !v->comparing); return true;
    case ACT_COPY: app_copy(app, v->panel.best_config); return true;
    default: return false;
    }
}

static const char *disabled(struct app *app, void *state, enum action a)
{
    struct sessions_view *v = state;
    bool on_one = a == ACT_OPEN || a == ACT_COPY ||
                  (actions[a].group == GROUP_SESSION && a != ACT_NEW && a != ACT_COMPARE);
    if (on_one && !view_sessions_at_cursor(app))
        return "no session is under the cursor";
    switch (a) {
    case ACT_COMPARE:
        return app->model.mark_count < 2 && !v->comparing ? "mark two sessions or more first"
                                                          : NULL;
    case ACT_COPY:
        return v->panel.id == v->cursor && v->panel.best_config ? NULL : "it has no best one yet";
    case ACT_FILTER:
    case ACT_SORT_NEXT:
    case ACT_SORT_PREVIOUS:
    case ACT_SORT_INVERT: return app->model.session_count ? NULL : "there are no sessions";
    case ACT_NEXT_PANE:
    case ACT_PREVIOUS_PANE: return "this screen has one list only";
    default: return NULL;
    }
}

static void click(struct app *app, void *state, int row, int col)
{
    struct sessions_view *v = state;
    (void)col;
    sessions_sync(app, v);
    if (list_click(&v->list, row))
        v->cursor = v->row[v->list.cursor]->record.id;
}

// --- the screen ---

static void draw_welcome(struct app *app, const struct pane *body)
{
    const struct model *m = &app->model;
    struct pane p = pane_box(body, "Sessions", NULL, true);
    int width = p.cols - 2, row = p.rows > 8;
    if (m->trouble.text[0]) {
        pane_text_cut(&p, row, 1, width, STYLE_BAD, "The database cannot be read:");
        put_wrapped(&p, row + 1, 1, STYLE_TEXT, m->trouble.text);
        return;
    }
    char text[512], *command = app_command_line(app, (const char *const[]){"tune", "gemm", NULL});
    snprintf(text, sizeof text,
             "Press %s to start one here, or type this in a shell:", app_key_of(app, ACT_NEW));
    pane_text_cut(&p, row, 1, width, STYLE_STRONG, "No sessions yet.");
    pane_text_cut(&p, row + 1, 1, width, STYLE_TEXT, text);
    pane_text_cut(&p, row + 2, 3, width - 2, STYLE_KEY, command);
    free(command);
    row = put_wrapped(&p, row + 4, 1, STYLE_DIM,
                      "A session tunes one problem on one device. All that it measures is kept, "
                      "and it can be taken up again at any time.");
    snprintf(text, sizeof text, "Sessions are kept in %s", m->path);
    put_wrapped(&p, row + 1, 1, STYLE_DIM, text);
}

// Rows of what lies under the list.
static int lower_rows(struct app *app, struct sessions_view *v, int rows)
{
    int compared = v->comparing ? sessions_compare_rows(app) : 0;
    v->compared_alone = compared && rows - compared < LOWEST_LIST_ROWS;
    if (compared)
        return v->compared_alone ? rows : compared;
    return rows >= 24 ? PANEL_ROWS : rows >= 16 ? LOW_PANEL_ROWS : rows >= 9 ? 2 : 0;
}

static void draw(struct app *app, void *state, const struct pane *body)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    v->list.rows = 0; // for clicks where it is not drawn
    if (app->model.session_count == 0) {
        draw_welcome(app, body);
        return;
    }
    int low = lower_rows(app, v, body->rows);
    struct pane above = pane_part(body, 0, 0, body->rows - low, body->cols);
    struct pane below = pane_part(body, body->rows - low, 0, low, body->cols);
    if (above.rows > 0)
        sessions_draw_list(app, v, &above);
    if (v->comparing)
        sessions_draw_comparison(app, v, &below);
    else
        sessions_draw_panel(app, v, &below);
}

const struct view view_sessions = {
    .name = "sessions",
    .title = "Sessions",
    .tab = "Ses",
    .create = create,
    .destroy = destroy,
    .draw = draw,
    .act = act,
    .disabled = disabled,
    .tick = tick,
    .opened = opened,
    .click = click,
};
