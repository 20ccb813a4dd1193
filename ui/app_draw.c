#include "app_draw.h"

#include "base/number.h"
#include "engine/speed.h"
#include "report/text.h"
#include "screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORTH_SHOWING 0.10 // noise and drift of the times, as shares

struct frame_rows frame_rows_of(int rows)
{
    struct frame_rows f = {.head = rows >= 10 ? 2 : 1, .message = rows >= 10, .footer = rows >= 5};
    f.body = rows - f.head - f.message - f.footer;
    return f;
}

// --- rows of pieces ---

void pieces_add(struct pieces *p, int importance, enum style style, const char *format, ...)
{
    if (p->count == (int)(sizeof p->piece / sizeof *p->piece))
        return;
    struct piece *piece = &p->piece[p->count++];
    va_list args;
    va_start(args, format);
    vsnprintf(piece->text, sizeof piece->text, format, args);
    va_end(args);
    piece->style = style;
    piece->importance = importance;
    p->count -= !piece->text[0];
}

static int piece_width(const struct piece *p)
{
    int width = text_columns(p->text);
    return p->most && p->most < width ? p->most : width;
}

enum { LEAST_WIDTH = 16 }; // columns of a piece that shrinks

void pieces_draw(struct pieces *p, const struct pane *pane, int row, int gap)
{
    for (;;) {
        int width = 1, least = 0; // the least important piece, the last one of equals
        for (int i = 0; i < p->count; i++) {
            width += piece_width(&p->piece[i]) + (i ? gap : 0);
            if (p->piece[i].importance >= p->piece[least].importance)
                least = i;
        }
        if (width <= pane->cols || p->count <= 1)
            break;
        struct piece *shrinks = p->shrinks ? &p->piece[p->shrinks - 1] : NULL;
        int now = shrinks ? piece_width(shrinks) : 0;
        if (now > LEAST_WIDTH && p->piece[least].importance <= shrinks->importance) {
            shrinks->most = int_max(now - (width - pane->cols), LEAST_WIDTH);
            continue;
        }
        p->count--;
        memmove(&p->piece[least], &p->piece[least + 1],
                (size_t)(p->count - least) * sizeof *p->piece);
        if (p->shrinks > least)
            p->shrinks = p->shrinks == least + 1 ? 0 : p->shrinks - 1;
    }
    int col = pane->cols > 30;
    for (int i = 0; i < p->count; i++) {
        int room = pane->cols - col, width = piece_width(&p->piece[i]);
        col = gap + pane_text_cut(pane, row, col, int_min(width, room), p->piece[i].style,
                                  p->piece[i].text);
    }
}

// --- head ---

enum style state_style(enum session_state state, enum style other)
{
    return state == STATE_RUNNING   ? STYLE_GOOD
           : state == STATE_FAILED  ? STYLE_BAD
           : state == STATE_DAMAGED ? STYLE_BAD
           : state == STATE_PAUSED  ? STYLE_WARN
                                    : other;
}

const char *state_word(enum session_state state, const struct session_record *r)
{
    // A task of a network has only spent its rounds so far.
    bool spent = !r->network && r->budget_trials > 0 && r->trials >= r->budget_trials;
    return spent && state == STATE_RUNNING ? "racing" : state_name(state);
}

enum { BAR_COLS = 10 };

static bool file_differs(const struct app *app)
{
    return app->file.state == SPACE_FILE_NEW || app->file.state == SPACE_FILE_BROKEN;
}

// Draws the first row: the problem, its device, the progress, then the way of tuning.
static void draw_where(struct app *app, const struct pane *p)
{
    const struct opened *o = &app->model.open;
    const struct session_record *r = &o->record;
    struct pieces row = {0};
    char strategy[STRATEGY_TEXT], ran[32], device[32];
    pieces_add(&row, 1, STYLE_STRONG, "%s", r->title);
    row.shrinks = row.count;
    // Drivers put details in brackets or after a comma: "llvmpipe", "NVIDIA H200".
    int length = (int)strcspn(r->device, "(,");
    while (length > 1 && r->device[length - 1] == ' ')
        length--;
    snprintf(device, 32, "%.*s", length < 26 ? length : 26, r->device);
    pieces_add(&row, 3, STYLE_TEXT, "%s", device);
    pieces_add(&row, 0, state_style(o->state, STYLE_STRONG), "%s", state_word(o->state, r));
    pieces_add(&row, 0, STYLE_TEXT, "%" PRId64 "/%" PRId64, r->trials, r->budget_trials);
    char bar[4 * BAR_COLS + 1] = "";
    int full = r->budget_trials > 0 ? (int)(BAR_COLS * r->trials / r->budget_trials) : 0;
    for (int i = 0; i < BAR_COLS; i++)
        strcat(bar, i < full ? "█" : "░");
    pieces_add(&row, 4, STYLE_TEXT, "%s", bar);
    // Rounded, because the estimate is rough.
    double left = model_left_seconds(&app->model, app->unix_now);
    double step = left < 60 ? 5 : left < 600 ? 30 : left < 36000 ? 60 : 3600;
    char text[32];
    if (left > 0)
        pieces_add(&row, 2, STYLE_TEXT, "ETA %s", text_duration(ceil(left / step) * step, text));
    pieces_add(&row, 4, STYLE_TEXT, "%s",
               text_duration(model_ran_seconds(&app->model, app->unix_now), ran));
    if (o->rate > 0)
        pieces_add(&row, 6, STYLE_TEXT, "%.3g/s", o->rate);
    if (app->frozen)
        pieces_add(&row, 0, STYLE_WARN, "FROZEN");
    if (p->rows < 2 && file_differs(app))
        pieces_add(&row, 1, STYLE_WARN, "file changed");
    pieces_add(&row, 5, STYLE_TEXT, "%s", r->name);
    pieces_add(&row, 5, STYLE_DIM, "#%" PRId64, r->id);
    pieces_add(&row, 6, STYLE_TEXT, "%s", strategy_text(r->strategy, false, strategy));
    pieces_add(&row, 8, STYLE_DIM, "seed %" PRIu64, r->seed);
    pieces_add(&row, 9, STYLE_TITLE, "tilewalk");
    pieces_draw(&row, p, 0, 2);
}

// Adds the best trial; for a network the sum of its parts.
static void add_best(struct app *app, struct pieces *row)
{
    const struct opened *o = &app->model.open;
    const struct network_summary *n = &o->network;
    char speed[32], ago[32];
    if (o->record.scheduler && n->latency_s <= 0) {
        pieces_add(row, 0, STYLE_TEXT, "not every task has a kernel yet");
        return;
    }
    if (o->record.scheduler) {
        const struct whole_record *last = n->whole_count ? &n->whole[n->whole_count - 1] : NULL;
        pieces_add(row, 0, STYLE_BEST, "sum of parts %s", text_time(n->latency_s, speed));
        if (last && whole_seconds(last) > 0)
            pieces_add(row, 2, STYLE_TEXT, "as a whole %s", text_time(whole_seconds(last), speed));
        else if (last)
            pieces_add(row, 2, STYLE_WARN, "not run as a whole");
        pieces_add(row, 3, STYLE_TEXT, "%s at start", text_time(n->start_s, speed));
        return;
    }
    const struct trial *best = model_best(&app->model);
    if (!best) {
        pieces_add(row, 0, STYLE_TEXT, o->record.trials ? "nothing valid yet" : "no trial yet");
        return;
    }
    speed_text(&o->record, o->record.best_seconds, speed);
    pieces_add(row, 0, STYLE_BEST, "best %s%s", speed, o->record.best_raced ? " raced" : "");
    const struct baseline_record *b = baselines_fastest(&o->baselines);
    struct paired p = speed_verdict(&o->record, &o->baselines);
    enum paired_verdict verdict = paired_verdict(&p);
    if (verdict == PAIRED_LEVEL && p.low > 0)
        pieces_add(row, 2, STYLE_WARN, "level with %s (%.3g-%.3gx)", b->name, p.low, p.high);
    else if (verdict == PAIRED_LEVEL)
        pieces_add(row, 2, STYLE_TEXT, "%.3gx %s by single times", p.ratio, b->name);
    else if (verdict != PAIRED_NONE && p.low < p.high)
        pieces_add(row, 2, verdict == PAIRED_SLOWER ? STYLE_WARN : STYLE_TEXT,
                   "%.3gx %s (%.3g-%.3g)", p.ratio, b->name, p.low, p.high);
    else if (verdict != PAIRED_NONE)
        pieces_add(row, 2, verdict == PAIRED_SLOWER ? STYLE_WARN : STYLE_TEXT, "%.3gx %s", p.ratio,
                   b->name);
    else if (o->baselines.count)
        pieces_add(row, 3, STYLE_WARN, "no baseline runs here");
    pieces_add(row, 3, STYLE_TEXT, "#%" PRId64, best->number);
    if (o->record.roof_s > 0)
        pieces_add(row, 4, STYLE_TEXT, "%s of the roof",
                   text_share(speed_of_peak(&o->record, o->record.best_seconds), ago));
    double since = app->unix_now - best->finished;
    if (since >= 0)
        pieces_add(row, 5, STYLE_DIM, "%s ago", text_duration(since, ago));
}

void draw_head(struct app *app, const struct pane *head)
{
    const struct model *m = &app->model;
    const struct opened *o = &m->open;
    struct pieces row = {0}, second = {0};
    if (!o->record.id) {
        pieces_add(&row, 1, STYLE_TITLE, "tilewalk");
        pieces_add(&row, 0, STYLE_TEXT, "no session is open");
        pieces_draw(&row, head, 0, 2);
        if (m->trouble.text[0])
            pieces_add(&second, 0, STYLE_BAD, "%s", m->trouble.text);
        else
            pieces_add(&second, 0, STYLE_DIM, "%d session%s in %s", m->session_count,
                       m->session_count == 1 ? "" : "s", m->path);
        pieces_draw(&second, head, 1, 2);
        return;
    }
    if (head->cols < 50) {
        char speed[32];
        pieces_add(&row, 3, STYLE_DIM, "#%" PRId64, o->record.id);
        pieces_add(&row, 2, state_style(o->state, STYLE_STRONG), "%s",
                   state_word(o->state, &o->record));
        if (file_differs(app))
            pieces_add(&row, 2, STYLE_WARN, "file changed");
        if (o->record.best_ask)
            pieces_add(&row, 0, STYLE_BEST, "%s",
                       speed_text(&o->record, o->record.best_seconds, speed));
        pieces_add(&row, 1, STYLE_TEXT, "%" PRId64 "/%" PRId64, o->record.trials,
                   o->record.budget_trials);
        pieces_draw(&row, head, 0, 1);
    } else {
        draw_where(app, head);
    }
    add_best(app, &second);
    if (file_differs(app))
        pieces_add(&second, 1, STYLE_WARN, "space file changed");
    if (fabs(o->record.drift) >= WORTH_SHOWING)
        pieces_add(&second, 1, STYLE_WARN, "drift %+.0f %%", 100 * o->record.drift);
    if (o->record.noise >= WORTH_SHOWING)
        pieces_add(&second, 1, STYLE_WARN, "noise %.0f %%", 100 * o->record.noise);
    int64_t failed = 0;
    struct str words = {0};
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i == OUTCOME_OK || i == OUTCOME_REJECTED || !o->tally[i])
            continue;
        str_printf(&words, "%s%s %" PRId64, failed ? " " : "",
                   i == OUTCOME_LOST ? "device lost" : outcome_name((enum outcome)i), o->tally[i]);
        failed += o->tally[i];
    }
    pieces_add(&second, 2, STYLE_GOOD, "ok %" PRId64, o->tally[OUTCOME_OK]);
    if (o->early)
        pieces_add(&second, 8, STYLE_DIM, "early %" PRId64, o->early);
    pieces_add(&second, 4, STYLE_TEXT, "rejected %" PRId64, o->tally[OUTCOME_REJECTED]);
    pieces_add(&second, 2, failed ? STYLE_BAD : STYLE_DIM, "failed %" PRId64, failed);
    pieces_add(&second, 7, STYLE_BAD, "%s", str_text(&words));
    second.shrinks = failed ? second.count : 0;
    pieces_draw(&second, head, 1, 2);
    str_finish(&words);
}

// --- the message row ---

#define NEWS_SECONDS 120

void draw_message(struct app *app, const struct pane *p)
{
    if (app->notice[0]) {
        pane_fill(p, STYLE_TEXT, ' ');
        pane_wrapped(p, 0, 1, p->cols - 1, app->notice_style, app->notice);
    } else if (app->model.open.trouble.text[0]) {
        pane_text_cut(p, 0, 1, p->cols - 1, STYLE_BAD, app->model.open.trouble.text);
    } else if (app->model.open.record.id) {
        // Shows the newer of the last message and the last new best while it is new, else how the
        // session ended.
        const struct opened *o = &app->model.open;
        const struct message *m = NULL;
        for (int i = o->message_count - 1; i >= 0 && !m; i--)
            if (!str_equal(o->message[i].level, "debug"))
                m = &o->message[i];
        const struct best_step *best = o->curve.count ? &o->curve.step[o->curve.count - 1] : NULL;
        if (m && app->unix_now - m->at > NEWS_SECONDS)
            m = NULL;
        if (best && app->unix_now - best->finished > NEWS_SECONDS)
            best = NULL;
        char at[16], speed[32], text[400];
        if (best && (!m || best->finished > m->at)) {
            double before = o->curve.count > 1 ? best[-1].seconds : 0;
            text_clock(best->finished, at);
            int n = snprintf(text, sizeof text, "%s  best  trial %" PRId64 ": %s", at, best->number,
                             speed_text(&o->record, best->seconds, speed));
            if (before > 0)
                snprintf(text + n, sizeof text - (size_t)n, " (+%.1f %%)",
                         100 * (before / best->seconds - 1));
            pane_text_cut(p, 0, 1, p->cols - 1, STYLE_TEXT, text);
        } else if (m) {
            text_clock(m->at, at);
            snprintf(text, sizeof text, "%s  %s  %s", at, m->level, m->text);
            bool bad = str_equal(m->level, "warning") || str_equal(m->level, "error");
            pane_text_cut(p, 0, 1, p->cols - 1, bad ? STYLE_WARN : STYLE_TEXT, text);
        } else if (o->record.message) {
            snprintf(text, sizeof text, "%s: %s", state_name(o->state), o->record.message);
            pane_text_cut(p, 0, 1, p->cols - 1, STYLE_TEXT, text);
        }
    }
}

// --- footer ---

struct footer {
    struct app *app;
    const struct pane *pane;
    int col;
};

static void footer_item(struct footer *f, enum action a, const char *key, const char *label,
                        bool current)
{
    struct app *app = f->app;
    bool off = app_disabled(app, a) != NULL;
    int col = f->col;
    enum style style = off ? STYLE_DISABLED : current ? STYLE_FOCUS : STYLE_LABEL;
    f->col = pane_text(f->pane, 0, f->col, off ? STYLE_DISABLED : STYLE_KEY, key);
    f->col = pane_text(f->pane, 0, f->col, style, label);
    if (current)
        pane_mark(f->pane, 0, col, f->col - col);
    if (app->footer_count < (int)(sizeof app->footer / sizeof *app->footer)) {
        app->footer[app->footer_count].col = col;
        app->footer[app->footer_count].end = f->col;
        app->footer[app->footer_count++].action = a;
    }
    f->col++;
}

enum tabs { TABS_TITLES, TABS_SHORT, TABS_KEYS }; // TABS_KEYS: only the shown screen has a name

static const char *tab_label(const struct app *app, int view, enum tabs tabs)
{
    if (tabs == TABS_TITLES)
        return views[view]->title;
    return tabs == TABS_SHORT || view == (int)app->view ? views[view]->tab : "";
}

static int tabs_width(struct app *app, enum tabs tabs)
{
    char key[16];
    int width = 0;
    for (int i = 0; i < VIEW_COUNT; i++)
        width += (int)strlen(key_label(app->keymap.key[ACT_VIEW + i][0], key)) +
                 text_columns(tab_label(app, i, tabs)) + 1;
    return width;
}

static const char *label_of(struct app *app, enum action a)
{
    const struct session_row *row = app_session(app);
    if (a != ACT_PAUSE || !row || row->state == STATE_RUNNING)
        return actions[a].label;
    bool spent = row->record.trials >= row->record.budget_trials;
    return spent && !row->runner ? "More" : "Resume"; // trials: the dialog asks how many
}

static int item_width(struct app *app, enum action a)
{
    char key[16];
    return (int)strlen(key_label(app->keymap.key[a][0], key)) + text_columns(label_of(app, a)) + 2;
}

static void draw_action(struct footer *f, enum action a)
{
    char key[20];
    key_label(f->app->keymap.key[a][0], key);
    strcat(key, " ");
    footer_item(f, a, key, label_of(f->app, a), false);
    f->col++;
}

void draw_footer(struct app *app, const struct pane *p)
{
    struct footer f = {.app = app, .pane = p, .col = p->cols > 30};
    enum action list[ACT_COUNT];
    // The labelled actions of this view: pause, its own, the rest; without a session only those
    // that need none. Help and quit have their own places.
    const unsigned everywhere = (1u << VIEW_COUNT) - 1;
    int count = 0;
    bool none = !app_session(app);
    if (!none)
        list[count++] = ACT_PAUSE;
    for (int own = 1; own >= 0; own--)
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
            if (actions[a].label && actions[a].views & 1u << app->view &&
                (actions[a].views == everywhere) != own && a != ACT_PAUSE && a != ACT_HELP &&
                a != ACT_QUIT && !(none && app_disabled(app, (enum action)a)))
                list[count++] = (enum action)a;
    int reserve = item_width(app, ACT_HELP) + item_width(app, ACT_QUIT) + 4;
    app->footer_count = 0;
    // Names of screens are left out before the keys of this one.
    int cols = p->cols - f.col - 2 - reserve;
    enum tabs tabs = TABS_TITLES;
    for (int i = 0; i < count; i++)
        cols -= i == 0 || actions[list[i]].views != everywhere ? item_width(app, list[i]) + 1 : 0;
    while (tabs < TABS_KEYS && tabs_width(app, tabs) > cols)
        tabs++;
    for (int i = 0; i < VIEW_COUNT; i++) {
        char key[16];
        key_label(f.app->keymap.key[ACT_VIEW + i][0], key);
        footer_item(&f, (enum action)(ACT_VIEW + i), key, tab_label(f.app, i, tabs),
                    i == (int)f.app->view);
    }
    f.col = pane_text(p, 0, f.col, STYLE_FRAME, "│") + 1;
    for (int i = 0; i < count; i++)
        if (f.col + item_width(app, list[i]) + reserve <= p->cols)
            draw_action(&f, list[i]);
    if (f.col + item_width(app, ACT_HELP) <= p->cols)
        draw_action(&f, ACT_HELP);
    if (f.col + item_width(app, ACT_QUIT) - 1 <= p->cols)
        draw_action(&f, ACT_QUIT);
}
