#include "base/number.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "view_sessions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_AT_ONCE  16 // sessions of one slice
#define MARKED_COLS   6  // ">[A] "
#define NARROW_COLS   3  // ">A "
#define NARROW_UNDER  20
#define WIDE_FROM     110
#define LEAST_PROBLEM 20
#define MOST_PROBLEM  36
#define LEAST_NOTE    12
#define TIME_COLS     7 // "28.6 ms", of a network

// --- order ---

struct sort_key {
    const struct session_row *row;
    const char *unit; // of `number`; other units stand apart, in the same order either way
    const char *text; // NULL: `number` counts
    double number;
    bool ascending;
};

// Among equals, the newest comes first either way.
static int compare_keys(const void *a, const void *b)
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

static struct sort_key sort_key(const struct sessions_view *v, const struct session_row *row)
{
    const struct session_record *r = &row->record;
    struct sort_key k = {row, "", NULL, (double)r->id, v->ascending};
    switch (v->sort) {
    case SESSIONS_STATE: k.text = state_name(row->state); break;
    case SESSIONS_SPACE: k.text = r->name; break;
    case SESSIONS_PROBLEM: k.text = r->title; break;
    case SESSIONS_DEVICE: k.text = str_equal(r->source, "device") ? r->device : r->source; break;
    case SESSIONS_STRATEGY: k.text = r->strategy; break;
    case SESSIONS_NOTE: k.text = r->note ? r->note : ""; break;
    case SESSIONS_SEED: k.number = (double)r->seed; break;
    case SESSIONS_TRIALS: k.number = (double)r->trials; break;
    case SESSIONS_BEST: {
        // FLOP/s, then other units, then sessions without a valid result.
        const char *unit = speed_rate_word(r);
        bool any = r->best_ask && r->best_seconds > 0;
        k.number = speed_is_relative(r)  ? speed_share(r)
                   : speed_is_inverse(r) ? -speed_rate(r, r->best_seconds)
                                         : speed_rate(r, r->best_seconds);
        k.unit = !any ? "\xff" : str_equal(unit, "TFLOPS") ? "" : unit;
        break;
    }
    case SESSIONS_ACTIVE: {
        const struct session_facts *f = sessions_facts(v, r->id);
        k.number = row->state == STATE_RUNNING ? INFINITY : f ? f->active : r->created;
        break;
    }
    default: break;
    }
    return k;
}

void sessions_sync(struct app *app, struct sessions_view *v)
{
    const struct model *m = &app->model;
    double per_flops;
    v->count = 0;
    sessions_unit(m, &per_flops);
    for (int i = 0; i < m->session_count; i++) {
        const struct session_row *row = &m->session[i];
        if (row->record.network || !session_filter_accepts(v->accepted, row, per_flops))
            continue; // tasks are on their network's screen
        MEM_GROW(v->row, v->count, v->capacity);
        v->row[v->count++] = row;
    }
    if (v->sort != SESSIONS_ID || v->ascending) { // else the model's order is the wanted one
        struct sort_key *key = mem_alloc((size_t)v->count * sizeof *key);
        for (int i = 0; i < v->count; i++)
            key[i] = sort_key(v, v->row[i]);
        qsort(key, (size_t)v->count, sizeof *key, compare_keys);
        for (int i = 0; i < v->count; i++)
            v->row[i] = key[i].row;
        free(key);
    }
    // The cursor stays on its session; when that is gone, on the row where it was.
    int at = -1, was = (int)v->list.cursor;
    int64_t first = was < 0 ? m->open.record.id : 0;
    for (int i = 0; i < v->count && (at < 0 || v->row[at]->record.id != v->cursor); i++)
        if (v->row[i]->record.id == v->cursor || v->row[i]->record.id == first)
            at = i;
    if (at < 0)
        at = int_clamp(was, 0, v->count - 1);
    v->cursor = v->count ? v->row[at]->record.id : 0;
    v->list.count = v->count;
    if (v->count) // the window stands still, unless its top is the top of the list
        list_point(&v->list, v->list.top > 0 ? v->cursor : 0, at);
}

// --- what is read of sessions ---

struct session_facts *sessions_facts(const struct sessions_view *v, int64_t id)
{
    for (int i = 0; i < v->facts_count; i++)
        if (v->facts[i].id == id)
            return &v->facts[i];
    return NULL;
}

struct spark_reader {
    const struct session_record *record;
    struct session_facts *facts;
};

// Sets the columns from this step's trial on, until a better step comes.
static bool sessions_add_step(void *context, const struct best_step *step)
{
    struct spark_reader *s = context;
    double speed = step->seconds > 0 ? 1 / step->seconds : 0;
    for (int i = SPARK_COLS - 1; i >= 0; i--) {
        double until = (double)s->record->trials * (i + 1) / SPARK_COLS;
        if (until < (double)step->number && i < SPARK_COLS - 1)
            break;
        s->facts->spark[i] = speed;
    }
    return true;
}

static bool sessions_add_time(void *context, const struct trial_record *t)
{
    struct session_facts *f = context;
    f->active = t->finished;
    f->ran = t->elapsed_s;
    return false;
}

// Reads a window above and one below what is shown, for keys that page; all sessions when they are
// sorted by what is read.
bool sessions_read(struct app *app, struct sessions_view *v)
{
    int height = v->list.rows > 0 ? v->list.rows : 50, top = (int)v->list.top, read = 0;
    bool all = v->sort == SESSIONS_ACTIVE;
    int from = all ? 0 : int_max(top - height, 0);
    int end = all ? v->count : int_min(top + 2 * height, v->count);
    for (int i = from; app->model.store && i < end && read < READ_AT_ONCE; i++) {
        const struct session_record *r = &v->row[i]->record;
        struct session_facts *f = sessions_facts(v, r->id);
        if (f && f->ended == r->trials + r->rejected)
            continue;
        if (!f) {
            MEM_GROW(v->facts, v->facts_count, v->facts_capacity);
            f = &v->facts[v->facts_count++];
        }
        struct spark_reader reader = {r, f};
        f->id = r->id;
        f->ended = r->trials + r->rejected;
        f->active = r->created + (f->ended ? r->ran_seconds : 0);
        f->ran = 0;
        f->sum = r->scheduler ? network_sum_of_parts(app->model.store, r) : 0;
        for (int k = 0; k < SPARK_COLS; k++)
            f->spark[k] = NAN;
        session_each_best(app->model.store, r, sessions_add_step, &reader, NULL);
        double best = f->spark[SPARK_COLS - 1];
        for (int k = 0; k < SPARK_COLS; k++)
            f->spark[k] /= best;
        if (r->trials)
            store_each_numbered(app->model.store, r->id, r->trials, sessions_add_time, f, NULL);
        app->dirty = true;
        read++;
    }
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
    return f->ran + (row->state == STATE_RUNNING ? fmax(0, app->unix_now - f->active) : 0);
}

// --- drawing: columns ---

static const struct table_column standard[SESSIONS_COLUMNS] = {
    [SESSIONS_ID] = {"id", 2, 0, 0, true},
    [SESSIONS_STATE] = {"state", 7, 0, 2, false},
    [SESSIONS_SPACE] = {"space", 5, 0, 10, false},
    [SESSIONS_PROBLEM] = {"problem", 12, 0, 4, false},
    [SESSIONS_DEVICE] = {"device", 10, 0, 7, false},
    [SESSIONS_STRATEGY] = {"strategy", 8, 16, 6, false},
    [SESSIONS_SEED] = {"seed", 4, 0, 9, true},
    [SESSIONS_TRIALS] = {"trials", 6, 0, 3, true},
    [SESSIONS_BEST] = {"", 6, 0, 1, true},
    [SESSIONS_CURVE] = {"curve", SPARK_COLS, 0, 8, false},
    [SESSIONS_ACTIVE] = {"active", 6, 0, 5, true},
    [SESSIONS_NOTE] = {"note", 4, 0, 11, false},
};

static const char *const alphabetical[2] = {"backwards", "in order"}; // descending, ascending
static const char *const order_words[SESSIONS_COLUMNS][2] = {
    [SESSIONS_ID] = {"newest first", "oldest first"},
    [SESSIONS_SEED] = {"falling", "rising"},
    [SESSIONS_TRIALS] = {"falling", "rising"},
    [SESSIONS_BEST] = {"fastest first", "slowest first"},
    [SESSIONS_ACTIVE] = {"latest first", "longest ago first"},
};

struct sheet {
    struct app *app;
    struct sessions_view *view;
    struct table_column column[SESSIONS_COLUMNS];
    struct table table;
    int columns; // without that of notes when there are none
    double per_flops;
};

// Returns the length without what drivers put in brackets: "llvmpipe", "NVIDIA H200".
static int short_length(const char *device)
{
    const char *bracket = strstr(device, " (");
    return bracket ? (int)(bracket - device) : (int)strlen(device);
}

// Widths are of all sessions, not only of those that are shown, so that columns stand still. Texts
// are measured in bytes.
static void fit_columns(struct sheet *l, const struct pane *p)
{
    memcpy(l->column, standard, sizeof standard);
    snprintf(l->column[SESSIONS_BEST].head, sizeof l->column->head, "%s",
             sessions_unit(&l->app->model, &l->per_flops));
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
        device = uint64_max(device, (uint64_t)short_length(stored_place(r, place)));
        note = uint64_max(note, r->note ? strlen(r->note) : 0);
        int wide = r->scheduler ? TIME_COLS : text_columns(session_best(r, l->per_flops, best));
        c[SESSIONS_BEST].least = int_max(c[SESSIONS_BEST].least, wide);
    }
    c[SESSIONS_ID].least = int_max(2, snprintf(NULL, 0, "%" PRIu64, id));
    c[SESSIONS_SEED].least = snprintf(NULL, 0, "%" PRIu64, seed);
    c[SESSIONS_TRIALS].least = snprintf(NULL, 0, "%" PRIu64 "/%" PRIu64, trials, budget);
    c[SESSIONS_SPACE].most = (int)space;
    c[SESSIONS_PROBLEM].most = (int)problem;
    c[SESSIONS_PROBLEM].least =
        int_min((int)problem, p->cols >= WIDE_FROM ? MOST_PROBLEM : LEAST_PROBLEM);
    c[SESSIONS_DEVICE].most = (int)device;
    c[SESSIONS_NOTE].most = (int)note;
    c[SESSIONS_NOTE].least = int_min((int)note, LEAST_NOTE);
    l->columns = note ? SESSIONS_COLUMNS : SESSIONS_NOTE;
    table_fit(&l->table, p, l->column, l->columns,
              p->cols < NARROW_UNDER ? NARROW_COLS : MARKED_COLS);
}

// --- drawing: rows ---

static void put_row(const struct sheet *l, const struct pane *p, int row,
                    const struct session_row *s)
{
    const struct session_record *r = &s->record;
    const struct session_facts *f = sessions_facts(l->view, r->id);
    const struct table_slot *curve = &l->table.slot[SESSIONS_CURVE];
    char text[256], whole[256], mark = s->mark;
    enum style style = mark ? (enum style)(STYLE_SERIES + (mark - 'A') % MOST_SERIES) : STYLE_DIM;
    if (p->cols < NARROW_UNDER)
        pane_printf(p, row, 1, style, "%c", mark ? mark : ' ');
    else
        pane_printf(p, row, 2, style, "[%c]", mark ? mark : ' ');
    table_printf(&l->table, row, SESSIONS_ID, STYLE_STRONG, "%" PRId64, r->id);
    table_put(&l->table, row, SESSIONS_STATE, state_style(s->state, STYLE_TEXT),
              state_word(s->state, r));
    table_put(&l->table, row, SESSIONS_SPACE, STYLE_TEXT, r->name);
    table_put(&l->table, row, SESSIONS_PROBLEM, STYLE_TEXT, r->title);
    // Names of devices differ at their ends: the beginning is cut. Other sources begin with what
    // they are.
    const char *place = stored_place(r, whole);
    int length = short_length(place), width = l->table.slot[SESSIONS_DEVICE].width;
    bool is_cut = length > width && width > 0 && str_equal(r->source, "device");
    int cut = is_cut ? length - width + 1 : 0;
    table_printf(&l->table, row, SESSIONS_DEVICE, STYLE_TEXT, "%s%.*s", cut ? "…" : "",
                 length - cut, place + cut);
    table_put(&l->table, row, SESSIONS_STRATEGY, STYLE_TEXT,
              strategy_text(r->strategy, false, text));
    table_printf(&l->table, row, SESSIONS_SEED, STYLE_DIM, "%" PRIu64, r->seed);
    table_printf(&l->table, row, SESSIONS_TRIALS, STYLE_TEXT, "%" PRId64 "/%" PRId64, r->trials,
                 r->budget_trials);
    session_best(r, l->per_flops, text);
    if (f && f->sum > 0)
        text_time(f->sum, text);
    table_put(&l->table, row, SESSIONS_BEST, text[0] ? STYLE_BEST : STYLE_DIM,
              text[0] ? text : "-");
    if (f && curve->width)
        pane_spark(p, row, curve->at, STYLE_GOOD, f->spark, SPARK_COLS);
    if (s->state == STATE_RUNNING)
        table_put(&l->table, row, SESSIONS_ACTIVE, STYLE_GOOD, "now");
    else if (f)
        table_put(&l->table, row, SESSIONS_ACTIVE, STYLE_DIM,
                  text_ago(l->app->unix_now - f->active, text));
    if (r->note)
        table_put(&l->table, row, SESSIONS_NOTE, STYLE_DIM, r->note);
}

void sessions_draw_list(struct app *app, struct sessions_view *v, const struct pane *p)
{
    struct table_panes panes = table_panes(p);
    const struct pane *rows = &panes.rows;
    struct sheet l = {.app = app, .view = v};
    char note[64];
    fit_columns(&l, rows);
    v->list.first_row = panes.first_row;
    list_fit(&v->list, v->count, rows->rows);
    for (int i = 0; list_shows(&v->list, v->list.top + i); i++) {
        put_row(&l, rows, i, v->row[v->list.top + i]);
        if (v->list.top + i == v->list.cursor)
            pane_select(rows, i, true);
    }
    if (v->count == 0)
        pane_line(rows, 0, 2, STYLE_DIM, "No session matches.");
    table_put_heads(&l.table, &panes.heads, 0);
    l.table.pane = panes.heads;
    table_put(&l.table, 0, v->sort, STYLE_FOCUS, l.column[v->sort].head);
    struct pieces row = {0};
    const char *many = app->model.session_count == 1 ? "" : "s";
    if (v->filter[0])
        pieces_add(&row, 1, STYLE_STRONG, "%d of %d session%s", v->count, app->model.session_count,
                   many);
    else
        pieces_add(&row, 1, STYLE_STRONG, "%d session%s", app->model.session_count, many);
    if (app->model.mark_count)
        pieces_add(&row, 2, STYLE_TEXT, "%d marked", app->model.mark_count);
    pieces_add(&row, 4, STYLE_DIM, "%" PRId64 " trials", app->model.trials_in_all);
    pieces_add(&row, 5, STYLE_TEXT, "sort: %s %s %s",
               v->sort == SESSIONS_BEST ? "speed" : standard[v->sort].head,
               v->ascending ? "▲" : "▼",
               (order_words[v->sort][0] ? order_words[v->sort] : alphabetical)[v->ascending]);
    if (v->filter_error[0])
        pieces_add(&row, 0, STYLE_BAD, "filter: %s", v->filter_error);
    else if (v->typing && !v->filter[0])
        pieces_add(&row, 3, STYLE_DIM, "such as: gemm state:running best>40 trials<200");
    else
        pieces_add(&row, 3, STYLE_TEXT, "filter: %s", v->filter[0] ? v->filter : "none");
    pieces_draw(&row, &panes.status, 0, 3);
    list_note(&v->list, "rows", note);
    if (panes.framed)
        pane_box(p, "Sessions", note, !v->comparing);
}
