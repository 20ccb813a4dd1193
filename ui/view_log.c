// The log: what the open session said, its new bests, and what was said on this side of the
// database (output of commands and of drivers), in order of time. The newest line is under the
// cursor until the user moves away; the end brings that back.

#include "view_log.h"

#include "app_draw.h"
#include "engine/speed.h"
#include "list.h"
#include "screen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

const char *const entry_levels[LEVEL_COUNT] = {"debug", "info", "warning", "error"};

// --- one line ---

static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return length == 0;
}

static struct entry of_message(const struct message *m)
{
    struct entry e = {m->id, m->at, LEVEL_INFO, "info", m->text};
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (str_equal(m->level, entry_levels[i])) {
            e.level = (enum level)i;
            e.word = entry_levels[i];
        }
    if (e.level == LEVEL_DEBUG && str_starts(m->text, "worker "))
        e.word = "worker";
    return e;
}

static struct entry of_noise(const struct app *app, int64_t line)
{
    const struct noise *n = &app->noise[line % APP_NOISE];
    return (struct entry){-line - 1, n->at, LEVEL_INFO, "here", n->text};
}

// "best  trial 45: 43.69 TFLOPS (+40.0 %)"
static struct entry of_best(const struct opened *o, int i, char text[ENTRY_BEST_SIZE])
{
    const struct best_step *step = &o->curve.step[i];
    char speed[32];
    int n = snprintf(text, ENTRY_BEST_SIZE, "best  trial %" PRId64 ": %s", step->number,
                     speed_text(&o->record, step->seconds, speed));
    if (i > 0 && step->seconds > 0)
        snprintf(text + n, ENTRY_BEST_SIZE - (size_t)n, " (+%.1f %%)",
                 100 * (step[-1].seconds / step->seconds - 1));
    return (struct entry){INT64_MIN + step->number, step->finished, LEVEL_INFO, "info", text};
}

// --- all of them, in order ---

enum source { MESSAGES, BESTS, NOISE, SOURCES };

struct merge { // each source is in order already: where it is, and where it ends
    int64_t at[SOURCES], end[SOURCES];
};

static struct merge begin_merge(const struct app *app)
{
    const struct opened *o = &app->model.open;
    struct merge m = {{0}};
    m.end[MESSAGES] = o->record.id ? o->message_count : 0;
    m.end[BESTS] = o->record.id ? o->curve.count : 0;
    m.end[NOISE] = app->noise_count;
    m.at[NOISE] = app->noise_count > APP_NOISE ? app->noise_count - APP_NOISE : 0;
    return m;
}

static double time_of(const struct app *app, enum source s, int64_t i)
{
    const struct opened *o = &app->model.open;
    return s == MESSAGES ? o->message[i].at
           : s == BESTS  ? o->curve.step[i].finished
                         : app->noise[i % APP_NOISE].at;
}

// The source whose next line is the earliest; SOURCES: all have ended.
static enum source earliest(const struct app *app, const struct merge *m)
{
    enum source first = SOURCES;
    double at = 0;
    for (int s = 0; s < SOURCES; s++) {
        double next = m->at[s] < m->end[s] ? time_of(app, (enum source)s, m->at[s]) : 0;
        if (m->at[s] < m->end[s] && (first == SOURCES || next < at)) {
            first = (enum source)s;
            at = next;
        }
    }
    return first;
}

void entries_collect(struct entries *l, const struct app *app, enum level least, const char *filter)
{
    const struct opened *o = &app->model.open;
    struct merge m = begin_merge(app);
    l->count = 0;
    l->best = mem_resize(l->best, (size_t)m.end[BESTS], sizeof *l->best);
    for (enum source s; (s = earliest(app, &m)) != SOURCES; m.at[s]++) {
        int64_t i = m.at[s];
        struct entry e = s == MESSAGES ? of_message(&o->message[i])
                         : s == BESTS  ? of_best(o, (int)i, l->best[i])
                                       : of_noise(app, i);
        if (e.level < least || !contains(e.text, filter))
            continue;
        MEM_GROW(l->entry, l->count, l->capacity);
        l->entry[l->count++] = e;
    }
}

int entries_find(const struct entries *l, int64_t id)
{
    for (int i = l->count - 1; i >= 0; i--)
        if (l->entry[i].id == id)
            return i;
    return -1;
}

void entries_finish(struct entries *l)
{
    free(l->entry);
    free(l->best);
    *l = (struct entries){.count = 0};
}

#define DATED_COLS 15 // "01-31 23:59:59 "
#define CLOCK_COLS 10
#define WORD_COLS  9

struct log_view {
    struct entries lines; // those that are shown, made anew for each frame and key
    enum level least;
    char filter[LINE_SIZE], before[LINE_SIZE]; // what a text must contain; before it was typed
    bool follow;
    int64_t cursor, top; // ids
    struct list list;    // of entries; its rows are those that were drawn, some on several lines
    int first_row;
    int row_of[256]; // entry on each line that was drawn, for clicks
};

static void *create(struct app *app)
{
    struct log_view *v = mem_zero(1, sizeof *v);
    (void)app;
    v->follow = true;
    return v;
}

static void destroy(void *state)
{
    struct log_view *v = state;
    entries_finish(&v->lines);
    free(v);
}

static void collect(struct app *app, struct log_view *v)
{
    entries_collect(&v->lines, app, v->least, v->filter);
}

// The cursor's entry, the newest one when its own is not shown; -1: there is none.
static int cursor_of(const struct log_view *v)
{
    int found = v->follow ? -1 : entries_find(&v->lines, v->cursor);
    return found >= 0 ? found : v->lines.count - 1;
}

// --- drawing ---

struct paper {
    struct pane pane;
    int clock_cols, word_cols, text_cols;
    double now;
    bool dated; // days are told apart
};

static bool same_day(double a, double b)
{
    time_t first = (time_t)a, second = (time_t)b;
    struct tm x, y;
    localtime_r(&first, &x);
    localtime_r(&second, &y);
    return x.tm_yday == y.tm_yday && x.tm_year == y.tm_year;
}

static enum style level_style(enum level level)
{
    static const enum style styles[] = {STYLE_DIM, STYLE_TEXT, STYLE_WARN, STYLE_BAD};
    return styles[level];
}

// A message without a text has a row of its own, too.
static int rows_of(const struct entry *e, int cols)
{
    int rows = wrap_rows(e->text, cols);
    return rows > 0 ? rows : 1;
}

// Draws an entry from a row on; returns the row after it.
static int draw_entry(const struct paper *paper, int row, const struct entry *e)
{
    char clock[24];
    int col = 1;
    double at = e->at;
    time_t seconds = (time_t)at;
    struct tm tm;
    localtime_r(&seconds, &tm);
    strftime(clock, 24, paper->dated ? "%m-%d %H:%M:%S" : "%H:%M:%S", &tm);
    if (paper->clock_cols)
        pane_text(&paper->pane, row, col, STYLE_DIM, clock);
    col += paper->clock_cols;
    if (paper->word_cols)
        pane_text(&paper->pane, row, col, level_style(e->level), e->word);
    col += paper->word_cols;
    pane_wrapped(&paper->pane, row, col, paper->text_cols, level_style(e->level), e->text);
    return row + rows_of(e, paper->text_cols);
}

// The first entry shown: the window stands still unless the cursor leaves it or the end is far
// from its last row.
static int place_window(const struct log_view *v, const struct paper *paper, int cursor)
{
    int top = v->follow ? cursor : entries_find(&v->lines, v->top), used = 0;
    if (top < 0 || top > cursor)
        top = cursor;
    for (int i = top; i <= cursor; i++)
        used += rows_of(&v->lines.entry[i], paper->text_cols);
    while (top < cursor && used > paper->pane.rows)
        used -= rows_of(&v->lines.entry[top++], paper->text_cols);
    for (int i = cursor + 1; i < v->lines.count && used < paper->pane.rows; i++)
        used += rows_of(&v->lines.entry[i], paper->text_cols);
    while (top > 0) {
        used += rows_of(&v->lines.entry[top - 1], paper->text_cols);
        if (used > paper->pane.rows)
            break;
        top--;
    }
    return top;
}

static void draw_entries(struct app *app, struct log_view *v, const struct pane *p)
{
    // What does not fit beside the text is left out: the clock, then the word.
    struct paper paper = {.pane = *p};
    paper.dated = v->lines.count > 0 && !same_day(v->lines.entry[0].at, app->unix_now);
    if (p->cols >= 60)
        paper.clock_cols = paper.dated ? DATED_COLS : CLOCK_COLS;
    if (p->cols >= 36)
        paper.word_cols = WORD_COLS;
    paper.text_cols = p->cols - paper.clock_cols - paper.word_cols - 2;
    paper.text_cols = paper.text_cols > 0 ? paper.text_cols : 1;
    int cursor = cursor_of(v), row = 0;
    memset(v->row_of, -1, sizeof v->row_of);
    v->list.rows = 0;
    if (cursor < 0) {
        pane_text_cut(p, 0, 1, p->cols - 1, STYLE_DIM,
                      v->filter[0] || v->least ? "No message matches." : "No messages yet.");
        return;
    }
    v->cursor = v->lines.entry[cursor].id;
    int top = place_window(v, &paper, cursor);
    v->top = v->lines.entry[top].id;
    for (int i = top; i < v->lines.count && row < p->rows; i++) {
        int next = draw_entry(&paper, row, &v->lines.entry[i]);
        for (int k = row; k < next && k < 256; k++)
            v->row_of[k] = i;
        if (i == cursor) {
            pane_select(p, row, true);
            for (int k = row + 1; k < next; k++)
                pane_mark(p, k, 0, p->cols);
        }
        row = next;
        v->list.rows++;
    }
}

static void draw(struct app *app, void *state, const struct pane *body)
{
    struct log_view *v = state;
    bool framed = body->rows >= 8 && body->cols >= 30;
    struct pane inside = framed ? pane_box(body, "Log", NULL, true) : *body;
    bool status = inside.rows >= 2;
    struct pane entries = pane_part(&inside, 0, 0, inside.rows - status, inside.cols);
    struct pane last = pane_part(&inside, inside.rows - 1, 0, status, inside.cols);
    collect(app, v);
    v->first_row = framed;
    draw_entries(app, v, &entries);
    struct pieces row = {0};
    pieces_add(&row, 0, STYLE_STRONG, "%d message%s", v->lines.count,
               v->lines.count == 1 ? "" : "s");
    pieces_add(&row, 1, STYLE_TEXT, "level: %s%s", entry_levels[v->least],
               v->least == LEVEL_ERROR ? "" : " and up");
    pieces_add(&row, 2, STYLE_TEXT, "filter: %s", v->filter[0] ? v->filter : "none");
    pieces_add(&row, 3, v->follow ? STYLE_GOOD : STYLE_DIM, "%s",
               v->follow ? "following" : "not following");
    pieces_draw(&row, &last, 0, 3);
}

// --- keys ---

static void go(struct app *app, struct log_view *v, int64_t to)
{
    v->cursor = v->lines.entry[to].id;
    v->follow = to == v->lines.count - 1;
    app->dirty = true;
}

static void filter_typed(struct app *app, void *context, const char *text)
{
    struct log_view *v = context;
    snprintf(v->filter, sizeof v->filter, "%s", text);
    app->dirty = true;
}

static bool filter_entered(struct app *app, void *context, const char *text)
{
    filter_typed(app, context, text);
    return true;
}

static void filter_cancelled(struct app *app, void *context)
{
    struct log_view *v = context;
    filter_typed(app, v, v->before);
}

static bool act_on_lines(struct app *app, struct log_view *v, enum action a)
{
    v->list.cursor = cursor_of(v);
    v->list.count = v->lines.count;
    if (list_act(&v->list, a)) {
        if (v->list.count > 0)
            go(app, v, v->list.cursor);
        return true;
    }
    if (a != ACT_COPY || v->list.count == 0)
        return false;
    app_copy(app, v->lines.entry[v->list.cursor].text);
    return true;
}

static bool act(struct app *app, void *state, enum action a)
{
    struct log_view *v = state;
    collect(app, v);
    if (act_on_lines(app, v, a))
        return true;
    switch (a) {
    case ACT_FILTER: {
        struct prompt p = {.lead = "/",
                           .context = v,
                           .done = filter_entered,
                           .changed = filter_typed,
                           .cancelled = filter_cancelled};
        line_set(&p.line, v->filter);
        snprintf(v->before, sizeof v->before, "%s", v->filter);
        app_prompt(app, &p);
    }
        return true;
    case ACT_LEVEL:
        v->least = (enum level)((v->least + 1) % LEVEL_COUNT);
        app->dirty = true;
        return true;
    case ACT_BACK:
        if (!v->filter[0])
            return false;
        filter_typed(app, v, "");
        return true;
    default: return false;
    }
}

static const char *disabled(struct app *app, void *state, enum action a)
{
    struct log_view *v = state;
    (void)app;
    bool match = a == ACT_NEXT_MATCH || a == ACT_PREVIOUS_MATCH;
    return match && !v->filter[0] ? "there is no filter" : NULL;
}

static void opened(struct app *app, void *state)
{
    struct log_view *v = state;
    (void)app;
    v->follow = true;
}

static void click(struct app *app, void *state, int row, int col)
{
    struct log_view *v = state;
    int at = row - v->first_row;
    (void)col;
    int i = at >= 0 && at < 256 ? v->row_of[at] : -1;
    collect(app, v);
    if (i >= 0 && i < v->lines.count)
        go(app, v, i);
}

const struct view view_log = {
    .name = "log",
    .title = "Log",
    .tab = "Log",
    .create = create,
    .destroy = destroy,
    .draw = draw,
    .act = act,
    .disabled = disabled,
    .opened = opened,
    .click = click,
};
