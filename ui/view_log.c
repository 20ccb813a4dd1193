// The log: messages of the open session, its new bests, and lines of this process (output of
// commands and of drivers), in order of time. The newest line is under the cursor until the user
// moves away; the key for the last row brings that back.

#include "app.h"
#include "base/number.h"
#include "engine/speed.h"
#include "filter.h"
#include "text.h"
#include "widget.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR, LEVEL_COUNT };

struct entry {
    int64_t id; // of the message; negative: of a line of this process, or of a new best
    double at;
    enum level level;
    const char *word, *text; // the model's, the app's, or in `best`
};

// The lines that are shown; they live until the model changes.
struct entries {
    struct entry *entry;
    int count, capacity;
    char (*best)[BEST_STEP_SIZE]; // texts of new bests
};

static const char *const entry_levels[LEVEL_COUNT] = {"debug", "info", "warning", "error"};

// --- all of them, in order ---

struct log_view {
    struct entries lines; // those that are shown, made anew for each frame and key
    enum level least;
    char filter[LINE_SIZE]; // texts must contain it
    bool away;              // the user moved: else the newest line is under the cursor
    int64_t cursor, top;    // ids
    struct list list;       // of entries; its rows are those that were drawn, some on several lines
    int first_row;
    int row_of[256]; // entry on each line that was drawn, for clicks
};

// Collects the lines of the level and above whose text contains the filter, in any case.
static void collect(const struct app *app, struct log_view *v)
{
    struct entries *l = &v->lines;
    const struct opened *o = &app->model.open;
    int messages = o->record.id ? o->message_count : 0, bests = o->record.id ? o->curve.count : 0;
    int message = 0, best = 0;
    int64_t line = int64_max(app->log_count - APP_LOG_LINES, 0);
    l->count = 0;
    l->best = mem_resize(l->best, (size_t)bests, sizeof *l->best);
    while (message < messages || best < bests || line < app->log_count) {
        // Each of the three sources is in order already: the earliest one is next.
        const struct log_line *own = &app->log[line % APP_LOG_LINES];
        double message_at = message < messages ? o->message[message].at : INFINITY;
        double best_at = best < bests ? o->curve.step[best].finished : INFINITY;
        double line_at = line < app->log_count ? own->at : INFINITY;
        struct entry e;
        if (message < messages && message_at <= best_at && message_at <= line_at) {
            const struct message *m = &o->message[message++];
            e = (struct entry){m->id, m->at, LEVEL_INFO, "info", m->text};
            for (int i = 0; i < LEVEL_COUNT; i++)
                if (str_equal(m->level, entry_levels[i])) {
                    e.level = (enum level)i;
                    e.word = entry_levels[i];
                }
            if (e.level == LEVEL_DEBUG && str_starts(m->text, "worker "))
                e.word = "worker";
        } else if (best < bests && best_at <= line_at) {
            const struct best_step *step = &o->curve.step[best];
            char *text = best_step_text(&app->model, best, l->best[best]);
            e = (struct entry){INT64_MIN + step->number, step->finished, LEVEL_INFO, "info", text};
            best++;
        } else {
            e = (struct entry){-line - 1, own->at, LEVEL_INFO, "here", own->text};
            line++;
        }
        if (e.level < v->least || !text_contains(e.text, v->filter))
            continue;
        MEM_GROW(l->entry, l->count, l->capacity);
        l->entry[l->count++] = e;
    }
}

// Returns the index of an entry; -1: it is not among them.
static int entries_find(const struct entries *l, int64_t id)
{
    for (int i = l->count - 1; i >= 0; i--)
        if (l->entry[i].id == id)
            return i;
    return -1;
}

#define DATED_COLS 15 // "01-31 23:59:59 "
#define CLOCK_COLS 10
#define WORD_COLS  9

static void log_view_finish(struct app *app, void *state)
{
    struct log_view *v = state;
    (void)app;
    free(v->lines.entry);
    free(v->lines.best);
}

// Returns the cursor's entry, or the newest one when its own is not shown; -1: there is none.
static int cursor_of(const struct log_view *v)
{
    int found = v->away ? entries_find(&v->lines, v->cursor) : -1;
    return found >= 0 ? found : v->lines.count - 1;
}

// --- drawing ---

// A message without a text has a row of its own, too.
static int rows_of(const struct entry *e, int cols)
{
    int rows = wrap_rows(e->text, cols);
    return rows > 0 ? rows : 1;
}

static void draw_entries(struct app *app, struct log_view *v, const struct pane *p)
{
    // The clock, then the word is left out where it does not fit beside the text.
    int clock_cols = 0, word_cols = 0;
    struct tm first, today;
    time_t now = (time_t)app->unix_now, from = v->lines.count ? (time_t)v->lines.entry[0].at : now;
    localtime_r(&from, &first);
    localtime_r(&now, &today);
    bool dated = first.tm_yday != today.tm_yday || first.tm_year != today.tm_year;
    if (p->cols >= 60)
        clock_cols = dated ? DATED_COLS : CLOCK_COLS;
    if (p->cols >= 36)
        word_cols = WORD_COLS;
    int text_cols = int_max(p->cols - clock_cols - word_cols - 2, 1);
    int cursor = cursor_of(v), row = 0;
    memset(v->row_of, -1, sizeof v->row_of);
    v->list.rows = 0;
    if (cursor < 0) {
        pane_line(p, 0, 1, STYLE_DIM, "%s",
                  v->filter[0] || v->least ? "No message matches." : "No messages yet.");
        return;
    }
    v->cursor = v->lines.entry[cursor].id;
    // The window does not move unless the cursor leaves it or the end is far from its last row.
    int top = v->away ? entries_find(&v->lines, v->top) : cursor, used = 0;
    if (top < 0 || top > cursor)
        top = cursor;
    for (int i = top; i <= cursor; i++)
        used += rows_of(&v->lines.entry[i], text_cols);
    while (top < cursor && used > p->rows)
        used -= rows_of(&v->lines.entry[top++], text_cols);
    for (int i = cursor + 1; i < v->lines.count && used < p->rows; i++)
        used += rows_of(&v->lines.entry[i], text_cols);
    while (top > 0) {
        used += rows_of(&v->lines.entry[top - 1], text_cols);
        if (used > p->rows)
            break;
        top--;
    }
    v->top = v->lines.entry[top].id;
    for (int i = top; i < v->lines.count && row < p->rows; i++) {
        static const enum style styles[] = {STYLE_DIM, STYLE_TEXT, STYLE_WARN, STYLE_BAD};
        const struct entry *e = &v->lines.entry[i];
        char clock[24];
        int col = 1, next = row + rows_of(e, text_cols);
        enum style style = styles[e->level];
        time_t seconds = (time_t)e->at;
        struct tm tm;
        localtime_r(&seconds, &tm);
        strftime(clock, 24, dated ? "%m-%d %H:%M:%S" : "%H:%M:%S", &tm);
        if (clock_cols)
            pane_text(p, row, col, STYLE_DIM, clock);
        col += clock_cols;
        if (word_cols)
            pane_text(p, row, col, style, e->word);
        col += word_cols;
        pane_wrapped(p, row, col, text_cols, style, e->text);
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

static void log_view_draw(struct app *app, void *state, const struct pane *body)
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
    pieces_add(&row, 3, v->away ? STYLE_DIM : STYLE_GOOD, "%s",
               v->away ? "not following" : "following");
    pieces_draw(&row, &last, 0, 3);
}

// --- keys ---

static void go(struct app *app, struct log_view *v, int64_t to)
{
    v->cursor = v->lines.entry[to].id;
    v->away = to != v->lines.count - 1;
    app->dirty = true;
}

static bool log_filter_typed(struct app *app, void *context, enum prompt_event event,
                             const char *text)
{
    struct log_view *v = context;
    (void)event;
    snprintf(v->filter, sizeof v->filter, "%s", text);
    app->dirty = true;
    return true;
}

static bool log_view_act(struct app *app, void *state, enum action a)
{
    struct log_view *v = state;
    collect(app, v);
    v->list.cursor = cursor_of(v);
    v->list.count = v->lines.count;
    if (list_act(&v->list, a)) {
        if (v->list.count > 0)
            go(app, v, v->list.cursor);
        return true;
    }
    switch (a) {
    case ACT_COPY:
        if (v->list.count == 0)
            return false;
        app_copy(app, v->lines.entry[v->list.cursor].text);
        return true;
    case ACT_FILTER:
        app_prompt(app, &(struct prompt){.lead = "/", .context = v, .typed = log_filter_typed},
                   v->filter);
        return true;
    case ACT_LEVEL:
        v->least = (enum level)((v->least + 1) % LEVEL_COUNT);
        app->dirty = true;
        return true;
    case ACT_BACK:
        if (!v->filter[0])
            return false;
        v->filter[0] = '\0';
        app->dirty = true;
        return true;
    default: return false;
    }
}

static const char *log_view_disabled(struct app *app, void *state, enum action a)
{
    struct log_view *v = state;
    (void)app;
    bool match = a == ACT_NEXT_MATCH || a == ACT_PREVIOUS_MATCH;
    return match && !v->filter[0] ? "there is no filter" : NULL;
}

static void log_view_opened(struct app *app, void *state)
{
    struct log_view *v = state;
    (void)app;
    v->away = false;
}

static void log_view_click(struct app *app, void *state, int row, int col)
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
    .size = sizeof(struct log_view),
    .finish = log_view_finish,
    .draw = log_view_draw,
    .act = log_view_act,
    .disabled = log_view_disabled,
    .opened = log_view_opened,
    .click = log_view_click,
};
