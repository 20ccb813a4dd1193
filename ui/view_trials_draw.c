#include "view_trials_draw.h"

#include "app_draw.h"
#include "base/number.h"
#include "list.h"
#include "view_trials.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST_PARAM                     24
#define VIEW_TRIALS_COLUMNS_LEAST_REASON 24
#define MOST_WORDS                       4096
#define MOST_LOOKED                      512 // values of a parameter, from either end

static int view_trials_columns_digits(int64_t number)
{
    int n = 1;
    for (; number >= 10; number /= 10)
        n++;
    return n;
}

static int widest_value(const struct param *p)
{
    struct str text = {0};
    int widest = 1;
    for (int32_t i = 0; i < p->count; i++) {
        if (i == MOST_LOOKED && p->count > 2 * MOST_LOOKED)
            i = p->count - MOST_LOOKED;
        text.length = 0;
        value_add_text(p, &i, &text);
        widest = int_max(widest, text_columns(str_text(&text)));
    }
    str_finish(&text);
    return widest;
}

static int widest_order(const struct param *p)
{
    int width = p->width - 1;
    for (int i = 0; i < p->width; i++)
        width += text_columns(p->label[i]);
    return width;
}

static int param_columns(const struct param *p)
{
    // Two factors have at most one digit more than their product, n factors n - 1 more.
    int width = p->kind == PARAM_FACTORIZATION
                    ? view_trials_columns_digits(p->product) + 2 * (p->width - 1)
                : p->kind == PARAM_PERMUTATION ? widest_order(p)
                                               : widest_value(p);
    width = int_max(width, text_columns(p->name));
    return width < WIDEST_PARAM ? width : WIDEST_PARAM;
}

void columns_make(struct columns *c, const struct model *m)
{
    static const struct column first[] = {
        {COLUMN_NUMBER, NULL, 5, true},   {COLUMN_SPEED, NULL, 7, true},
        {COLUMN_OUTCOME, NULL, 9, false}, {COLUMN_SPREAD, NULL, 5, true},
        {COLUMN_TIME, NULL, 7, true},     {COLUMN_GENERATION, NULL, 4, true},
        {COLUMN_ASK, NULL, 5, true},
    };
    const struct space *s = m->open.space;
    c->count = sizeof first / sizeof *first;
    memcpy(c->column, first, sizeof first);
    for (int i = 0; s && i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        c->column[c->count++] =
            (struct column){COLUMN_PARAM, p, param_columns(p), p->number && p->width == 1};
    }
    c->column[c->count++] =
        (struct column){COLUMN_REASON, NULL, VIEW_TRIALS_COLUMNS_LEAST_REASON, false};
}

const char *column_head(const struct column *c, const struct model *m)
{
    double per;
    switch (c->kind) {
    case COLUMN_NUMBER: return "trial";
    case COLUMN_SPEED: return model_unit(m, &per);
    case COLUMN_OUTCOME: return "outcome";
    case COLUMN_SPREAD: return "±%";
    case COLUMN_TIME: return model_time_unit(m, &per);
    case COLUMN_GENERATION: return "gen";
    case COLUMN_ASK: return "ask";
    case COLUMN_REASON: return "reason";
    default: return c->param->name;
    }
}

static void add_reason(const struct trial *t, struct str *out)
{
    if (!t->reason[0])
        return;
    if (t->phase[0] && strcmp(t->phase, "none") != 0)
        str_printf(out, "%s: ", t->phase);
    str_add(out, t->reason);
}

void column_add_text(const struct column *c, const struct model *m, const struct trial *t,
                     struct str *out)
{
    char number[24];
    switch (c->kind) {
    case COLUMN_NUMBER:
        if (t->number > 0)
            str_printf(out, "%" PRId64, t->number);
        break;
    case COLUMN_SPEED: str_add(out, speed_number(m, trial_shown_speed(m, t), number)); break;
    case COLUMN_OUTCOME: str_add(out, trial_word(m, t)); break;
    case COLUMN_SPREAD:
        if (trial_shows_race(t))
            str_add(out, "race");
        else if (t->samples > 1)
            str_printf(out, "%.1f", 50 * t->spread); // half of the range
        break;
    case COLUMN_TIME: str_add(out, time_number(m, trial_shown_seconds(t), number)); break;
    case COLUMN_GENERATION: str_printf(out, "%d", t->generation); break;
    case COLUMN_ASK: str_printf(out, "%" PRId64, t->ask); break;
    case COLUMN_REASON: add_reason(t, out); break;
    case COLUMN_PARAM:
        if (t->has_config &&
            !space_is_live(m->open.space, &t->config, (int)(c->param - m->open.space->param)))
            str_add(out, "-"); // the configuration has no such parameter
        else if (t->has_config)
            value_add_text(c->param, t->config.slot + c->param->offset, out);
        break;
    }
}

// Lists sort by their first part, then by the second, ...
static double param_key(const struct param *p, const int32_t *v)
{
    double key = 0, base = (p->kind == PARAM_FACTORIZATION ? p->product : p->count) + 1.0;
    for (int i = p->width - 1; i >= 0; i--)
        key = key / base + v[i];
    return key;
}

double column_key(const struct column *c, const struct trial *t, struct words *words)
{
    double seconds = trial_shown_seconds(t);
    switch (c->kind) {
    case COLUMN_NUMBER: return t->number > 0 ? (double)t->number : NAN;
    case COLUMN_SPEED: return seconds > 0 ? 1 / seconds : NAN;
    case COLUMN_OUTCOME: return t->told ? t->outcome + (t->early_stopped ? 0.5 : 0) : NAN;
    case COLUMN_SPREAD: return t->samples > 1 && !trial_shows_race(t) ? t->spread : NAN;
    case COLUMN_TIME: return seconds > 0 ? seconds : NAN;
    case COLUMN_GENERATION: return t->generation;
    case COLUMN_ASK: return (double)t->ask;
    case COLUMN_REASON: break;
    case COLUMN_PARAM:
        return t->has_config ? param_key(c->param, t->config.slot + c->param->offset) : NAN;
    }
    struct str reason = {0};
    add_reason(t, &reason);
    double key = reason.length ? words_key(words, str_text(&reason)) : NAN;
    str_finish(&reason);
    return key;
}

// A new word gets the number half-way between its neighbours. When there are too many words, or no
// number is left between two, it shares its neighbour's.
double words_key(struct words *w, const char *text)
{
    bool found;
    // Where a text is or belongs; `*found` says which.
    int low = 0, at = w->count;
    found = false;
    while (low < at && !found) {
        int middle = (low + at) / 2, order = strcmp(text, w->word[middle].text);
        found = order == 0;
        if (order <= 0)
            at = middle;
        else
            low = middle + 1;
    }
    if (found)
        return w->word[at].key;
    double before = at > 0 ? w->word[at - 1].key : at < w->count ? w->word[at].key - 2 : -1;
    double after = at < w->count ? w->word[at].key : before + 2;
    double key = before + (after - before) / 2;
    if (w->count == MOST_WORDS)
        return at > 0 ? before : after;
    MEM_GROW(w->word, w->count, w->capacity);
    memmove(w->word + at + 1, w->word + at, (size_t)(w->count - at) * sizeof *w->word);
    w->word[at] = (struct word){mem_strdup(text), key};
    w->count++;
    return key;
}

void words_finish(struct words *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->word[i].text);
    free(w->word);
    *w = (struct words){0};
}

#define GUTTER       2 // marks of cursor and best
#define GAP          2
#define LEAST_REASON 12
#define GOOD_REASON  60 // columns that scrolling gives it

// --- columns across ---

struct slot { // a column where it stands
    const struct column *column;
    int index, at, width;
};

struct slots {
    struct slot slot[MOST_COLUMNS];
    int count;
    bool left, right; // there are more columns on that side
};

static int64_t told(const struct opened *o)
{
    int64_t all = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        all += o->tally[i];
    return all;
}

static int width_of(struct app *app, const struct trials_view *v, int index)
{
    const struct column *c = &v->columns.column[index];
    int head = text_columns(column_head(c, &app->model)) + (index == v->sort ? 2 : 0);
    int width = c->width;
    if (c->kind == COLUMN_NUMBER || c->kind == COLUMN_ASK) {
        int64_t number = told(&app->model.open);
        char text[24];
        int most = snprintf(text, sizeof text, "%" PRId64, number);
        width = most > width ? most : width;
    }
    return head > width ? head : width;
}

static int fixed_columns(int cols)
{
    return cols >= 60 ? FIXED_COLUMNS : cols >= 30 ? 2 : 1;
}

// Puts columns side by side, leaving out `skip` after the fixed ones. Returns the index of the one
// that found no place.
static int place_columns(struct app *app, const struct trials_view *v, int cols, int skip,
                         struct slots *s)
{
    int at = GUTTER, fixed = fixed_columns(cols);
    *s = (struct slots){.left = skip > 0};
    for (int i = 0; i < v->columns.count; i++) {
        if (i == fixed)
            i += skip;
        const struct column *c = &v->columns.column[i];
        int width = width_of(app, v, i), room = cols - 1 - at;
        if (c->kind == COLUMN_REASON && room >= LEAST_REASON)
            width = room;
        bool needed = s->count == 0 || i == fixed + skip;
        if (width > room && !(needed && room > 0)) {
            s->right = true;
            return i;
        }
        width = width < room ? width : room;
        s->slot[s->count++] = (struct slot){c, i, at, width};
        at += width + GAP;
    }
    return v->columns.count;
}

static bool has_all(struct app *app, const struct trials_view *v, int cols, int skip)
{
    struct slots s;
    return place_columns(app, v, cols, skip, &s) == v->columns.count &&
           s.slot[s.count - 1].width >= GOOD_REASON;
}

static void draw_cell(const struct pane *p, int row, const struct slot *s, enum style style,
                      const char *text)
{
    struct pane cell = pane_part(p, row, s->at, 1, s->width);
    if (s->column->right && text_columns(text) <= s->width)
        pane_text_right(&cell, 0, s->width, style, text);
    else
        pane_text_cut(&cell, 0, 0, s->width, style, text);
}

// --- rows ---

static enum style cell_style(const struct column *c, const struct model *m, const struct trial *t)
{
    enum style style = trial_style(m, t);
    switch (c->kind) {
    case COLUMN_OUTCOME: return style;
    case COLUMN_SPREAD:
    case COLUMN_GENERATION:
    case COLUMN_ASK: return STYLE_DIM;
    default: return style == STYLE_BEST || style == STYLE_DIM ? style : STYLE_TEXT;
    }
}

// --- the window ---

static const char *nothing_to_show(struct app *app, const struct trials_view *v)
{
    if (!app->model.open.record.id)
        return "No session is open.";
    if (v->rows.more)
        return "Reading...";
    if (told(&app->model.open) == 0)
        return "No trial has ended yet.";
    if (v->filter)
        return "No trial matches.";
    return v->rows.kind == ROWS_RANKED ? "No trial has a speed yet." : "No trial yet.";
}

static void draw_rows(struct app *app, struct trials_view *v, const struct slots *s,
                      const struct pane *p)
{
    int64_t place, ask = trials_cursor(app, v, &place);
    // What is followed may be anywhere but where rows are by number: no window goes after it.
    int height = p->rows;
    v->list.is_loose = app->follow && v->rows.kind != ROWS_NUMBERED;
    list_point(&v->list, app->follow ? 0 : ask, place);
    list_fit(&v->list, rows_count(&v->rows, &app->model), height);
    int drawn = 0;
    for (int i = 0; i < p->rows; i++) {
        const struct trial *t = rows_at(&v->rows, &app->model, v->list.top + i);
        if (!t)
            continue;
        struct str text = {0};
        for (int j = 0; j < s->count; j++) {
            text.length = 0;
            str_add(&text, "");
            column_add_text(s->slot[j].column, &app->model, t, &text);
            draw_cell(p, i, &s->slot[j], cell_style(s->slot[j].column, &app->model, t),
                      str_text(&text));
        }
        if (t->ask == app->model.open.record.best_ask)
            pane_text(p, i, 0, STYLE_BEST, "*");
        str_finish(&text);
        if (v->list.top + i == place)
            pane_select(p, i, true);
        drawn++;
    }
    if (drawn == 0)
        pane_text_cut(p, 0, GUTTER, p->cols - GUTTER, STYLE_DIM, nothing_to_show(app, v));
}

// --- the status line ---

static const char *direction(const struct trials_view *v)
{
    switch (v->columns.column[v->sort].kind) {
    case COLUMN_NUMBER:
    case COLUMN_ASK: return v->descending ? "newest first" : "oldest first";
    case COLUMN_SPEED: return v->descending ? "fastest first" : "slowest first";
    case COLUMN_TIME: return v->descending ? "slowest first" : "fastest first";
    case COLUMN_OUTCOME:
    case COLUMN_REASON: return v->descending ? "backwards" : "in order";
    default: return v->descending ? "falling" : "rising";
    }
}

static void draw_status(struct app *app, const struct trials_view *v, const struct pane *p)
{
    struct pieces row = {0};
    if (!app->model.open.record.id)
        return;
    const struct opened *o = &app->model.open;
    int64_t count = rows_count(&v->rows, &app->model);
    int64_t all = v->rows.order.rejected ? told(o) : o->last_number;
    const char *what = v->rows.order.rejected ? "trials and rejected ones" : "trials";
    if (v->filter)
        pieces_add(&row, 0, STYLE_STRONG, "%" PRId64 " of %" PRId64 " %s match", count, all, what);
    else if (v->rows.kind == ROWS_RANKED)
        pieces_add(&row, 0, STYLE_STRONG, "%" PRId64 " of %" PRId64 " trials have a speed", count,
                   all);
    else
        pieces_add(&row, 0, STYLE_STRONG, "%" PRId64 " %s", count, what);
    if (v->rows.more)
        pieces_add(&row, 1, STYLE_WARN, "reading %d %%",
                   (int)(100 * scan_share(&v->rows.scan, &app->model)));
    pieces_add(&row, 3, STYLE_TEXT, "sort: %s %s %s",
               column_head(&v->columns.column[v->sort], &app->model), v->descending ? "▼" : "▲",
               direction(v));
    if (v->complaint[0])
        pieces_add(&row, 1, STYLE_BAD, "filter: %s", v->complaint);
    else if (v->typing && !v->filter)
        pieces_add(&row, 1, STYLE_DIM, "such as: outcome=ok tflops>30 or not reason~\"memory\"");
    else
        pieces_add(&row, 2, STYLE_TEXT, "filter: %s", v->filter ? v->text : "none");
    pieces_draw(&row, p, 0, 3);
}

void trials_draw(struct app *app, struct trials_view *v, const struct pane *body)
{
    struct table_panes panes = table_panes(body);
    char note[64];
    // Scrolls no further than needed to see the last column well, and far enough to see the one
    // wanted.
    int cols = panes.rows.cols;
    struct slots s;
    int fixed = fixed_columns(cols), most = v->columns.count - 1 - fixed, last = 0;
    while (last < most && !has_all(app, v, cols, last))
        last++;
    if (v->reveal >= fixed && v->reveal < fixed + v->skip)
        v->skip = v->reveal - fixed;
    v->skip = v->skip < last ? v->skip : last;
    while (place_columns(app, v, cols, v->skip, &s) <= v->reveal && fixed + v->skip < v->reveal)
        v->skip++;
    v->reveal = -1;
    v->list.first_row = panes.first_row;
    draw_rows(app, v, &s, &panes.rows);
    for (int i = 0; i < s.count; i++) {
        char text[80];
        const struct slot *slot = &s.slot[i];
        bool sorted = slot->index == v->sort;
        snprintf(text, sizeof text, "%s%s", column_head(slot->column, &app->model),
                 !sorted         ? ""
                 : v->descending ? " ▼"
                                 : " ▲");
        draw_cell(&panes.heads, 0, slot, sorted ? STYLE_FOCUS : STYLE_HEAD, text);
        if (s.left && slot->index == fixed_columns(panes.heads.cols) + v->skip)
            pane_text(&panes.heads, 0, slot->at - GAP, STYLE_KEY, "<");
    }
    if (s.right)
        pane_text(&panes.heads, 0, panes.heads.cols - 1, STYLE_KEY, ">");
    draw_status(app, v, &panes.status);
    list_note(&v->list, "rows", note);
    if (panes.framed)
        pane_box(body, "Trials", note, true);
}
