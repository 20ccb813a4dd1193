#include "app_draw.h"

#include "engine/speed.h"
#include "report/text.h"
#include "screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct frame_rows frame_rows_of(int rows)
{
    struct frame_rows f = {.head = rows >= 10 ? 2 : 1, .message = rows >= 10, .footer = rows >= 5};
    f.body = rows - f.head - f.message - f.footer;
    return f;
}

// --- rows that shrink ---

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

static int pieces_width(const struct pieces *p, int gap)
{
    int width = 1;
    for (int i = 0; i < p->count; i++)
        width += piece_width(&p->piece[i]) + (i ? gap : 0);
    return width;
}

static int least_important(const struct pieces *p)
{
    int least = 0;
    for (int i = 1; i < p->count; i++)
        if (p->piece[i].importance >= p->piece[least].importance)
            least = i;
    return least;
}

enum { LEAST_WIDTH = 16 }; // of what shrinks

// Makes the one that shrinks narrower. False: it is as narrow as it gets, or others go first.
static bool shrink(struct pieces *p, int by)
{
    struct piece *piece = p->shrinks ? &p->piece[p->shrinks - 1] : NULL;
    int width = piece ? piece_width(piece) : 0;
    if (width <= LEAST_WIDTH || p->piece[least_important(p)].importance > piece->importance)
        return false;
    piece->most = width - by > LEAST_WIDTH ? width - by : LEAST_WIDTH;
    return true;
}

void pieces_draw(struct pieces *p, const struct pane *pane, int row, int gap)
{
    int over;
    while ((over = pieces_width(p, gap) - pane->cols) > 0 && p->count > 1)
        if (!shrink(p, over)) {
            int least = least_important(p);
            p->count--;
            memmove(&p->piece[least], &p->piece[least + 1],
                    (size_t)(p->count - least) * sizeof *p->piece);
            if (p->shrinks > least)
                p->shrinks = p->shrinks == least + 1 ? 0 : p->shrinks - 1;
        }
    int col = pane->cols > 30;
    for (int i = 0; i < p->count; i++) {
        int room = pane->cols - col, width = piece_width(&p->piece[i]);
        col = gap + pane_text_cut(pane, row, col, width < room ? width : room, p->piece[i].style,
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
    // A task of a network has had its rounds so far.
    bool spent = !r->network && r->budget_trials > 0 && r->trials >= r->budget_trials;
    return spent && state == STATE_RUNNING ? "racing" : state_name(state);
}

enum { BAR_COLS = 10 };

static bool file_differs(const struct app *app)
{
    return app->file.state == SPACE_FILE_NEW || app->file.state == SPACE_FILE_BROKEN;
}

// What is tuned and where, how far it is; then by what.
static void draw_where(struct app *app, const struct pane *p)
{
    const struct opened *o = &app->model.open;
    const struct session_record *r = &o->record;
    struct pieces row = {0};
    char strategy[STRATEGY_TEXT], ran[32], device[32];
    pieces_add(&row, 1, STYLE_STRONG, "%s", r->title);
    row.shrinks = row.count;
    // Up to what drivers put in brackets or after a comma: "llvmpipe", "NVIDIA H200".
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
    // In steps that suit what it is worth: nobody plans by the second.
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

// Of a network: what a pass takes, as the sum of its parts.
static void add_sum(const struct network_summary *n, struct pieces *row)
{
    char now[32], start[32];
    if (n->latency_s <= 0) {
        pieces_add(row, 0, STYLE_TEXT, "not every task has a kernel yet");
        return;
    }
    pieces_add(row, 0, STYLE_BEST, "sum of parts %s", text_time(n->latency_s, now));
    const struct whole_record *last = n->whole_count ? &n->whole[n->whole_count - 1] : NULL;
    if (last && whole_seconds(last) > 0)
        pieces_add(row, 2, STYLE_TEXT, "as a whole %s", text_time(whole_seconds(last), start));
    else if (last)
        pieces_add(row, 2, STYLE_WARN, "not run as a whole");
    pieces_add(row, 3, STYLE_TEXT, "%s at start", text_time(n->start_s, start));
}

static void add_best(struct app *app, struct pieces *row)
{
    const struct opened *o = &app->model.open;
    char speed[32], ago[32];
    if (o->record.scheduler) {
        add_sum(&o->network, row);
        return;
    }
    const struct trial *best = model_best(&app->model);
    if (!best) {
        pieces_add(row, 0, STYLE_TEXT, o->record.trials ? "nothing valid yet" : "no trial yet");
        return;
    }
    speed_text(&o->record, o->record.best_seconds, speed);
    pieces_add(row, 0, STYLE_BEST, "best %s%s", speed, o->record.best_raced ? " raced" : "");
    // How the best compares with what is in use.
    const struct baseline_record *b = baselines_fastest(&o->baselines);
    double ratio = b ? speed_ratio(b, o->record.best_seconds) : NAN;
    if (ratio > 0)
        pieces_add(row, 2, ratio < 1 ? STYLE_WARN : STYLE_TEXT, "%.2fx %s", ratio, b->name);
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

// All there is to say when one row is all there is.
static void draw_short(struct app *app, const struct pane *p)
{
    const struct opened *o = &app->model.open;
    struct pieces row = {0};
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
    pieces_draw(&row, p, 0, 1);
}

static void draw_no_session(struct app *app, const struct pane *p)
{
    struct pieces row = {0};
    const struct model *m = &app->model;
    pieces_add(&row, 1, STYLE_TITLE, "tilewalk");
    pieces_add(&row, 0, STYLE_TEXT, "no session is open");
    pieces_draw(&row, p, 0, 2);
    struct pieces second = {0};
    if (m->trouble.text[0])
        pieces_add(&second, 0, STYLE_BAD, "%s", m->trouble.text);
    else
        pieces_add(&second, 0, STYLE_DIM, "%d session%s in %s", m->session_count,
                   m->session_count == 1 ? "" : "s", m->path);
    pieces_draw(&second, p, 1, 2);
}

void draw_head(struct app *app, const struct pane *head)
{
    const struct opened *o = &app->model.open;
    if (!o->record.id) {
        draw_no_session(app, head);
        return;
    }
    if (head->cols < 50) {
        draw_short(app, head);
    } else {
        draw_where(app, head);
    }
    struct pieces row = {0};
    add_best(app, &row);
    if (file_differs(app))
        pieces_add(&row, 1, STYLE_WARN, "space file changed");
    int64_t bad = 0;
    char words[160] = "";
    size_t length = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i == OUTCOME_OK || i == OUTCOME_REJECTED || !o->tally[i])
            continue;
        bad += o->tally[i];
        int n = snprintf(words + length, sizeof words - length, " %s %" PRId64,
                         outcome_name((enum outcome)i), o->tally[i]);
        length += (size_t)n < sizeof words - length ? (size_t)n : sizeof words - 1 - length;
    }
    pieces_add(&row, 2, STYLE_GOOD, "ok %" PRId64, o->tally[OUTCOME_OK]);
    if (o->early)
        pieces_add(&row, 8, STYLE_DIM, "early %" PRId64, o->early);
    pieces_add(&row, 4, STYLE_TEXT, "rejected %" PRId64, o->tally[OUTCOME_REJECTED]);
    pieces_add(&row, 2, bad ? STYLE_BAD : STYLE_DIM, "bad %" PRId64, bad);
    pieces_add(&row, 7, STYLE_BAD, "%s", words + (bad > 0));
    pieces_draw(&row, head, 1, 2);
}

// --- the message row ---

static const struct message *newest_message(const struct opened *o)
{
    for (int i = o->message_count - 1; i >= 0; i--)
        if (!str_equal(o->message[i].level, "debug"))
            return &o->message[i];
    return NULL;
}

#define NEWS_SECONDS 120

void draw_message(struct app *app, const struct pane *p)
{
    if (app->notice[0]) {
        pane_fill(p, STYLE_TEXT, ' ');
        pane_wrapped(p, 0, 1, p->cols - 1, app->notice_style, app->notice);
    } else if (app->model.open.trouble.text[0]) {
        pane_text_cut(p, 0, 1, p->cols - 1, STYLE_BAD, app->model.open.trouble.text);
    } else if (app->model.open.record.id) {
        // The newer of the last message and the last new best, while it is news; then how it ended.
        const struct opened *o = &app->model.open;
        const struct message *m = newest_message(o);
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

enum tabs { TABS_TITLES, TABS_SHORT, TABS_KEYS }; // keys: and the name of the screen that is shown

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

static bool is_everywhere(enum action a)
{
    return actions[a].views == (1u << VIEW_COUNT) - 1;
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
    // The labelled actions of this view: pause, its own, the rest; without a session only what
    // needs none. Help and quit have their own places.
    int count = 0;
    bool none = !app_session(app);
    if (!none)
        list[count++] = ACT_PAUSE;
    for (int own = 1; own >= 0; own--)
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
            if (actions[a].label && actions[a].views & 1u << app->view &&
                is_everywhere((enum action)a) != own && a != ACT_PAUSE && a != ACT_HELP &&
                a != ACT_QUIT && !(none && app_disabled(app, (enum action)a)))
                list[count++] = (enum action)a;
    int reserve = item_width(app, ACT_HELP) + item_width(app, ACT_QUIT) + 4;
    app->footer_count = 0;
    // Names of screens give way to the keys of this one.
    int cols = p->cols - f.col - 2 - reserve;
    enum tabs tabs = TABS_TITLES;
    for (int i = 0; i < count; i++)
        cols -= i == 0 || !is_everywhere(list[i]) ? item_width(app, list[i]) + 1 : 0;
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

enum action footer_action_at(const struct app *app, int col)
{
    for (int i = 0; i < app->footer_count; i++)
        if (col >= app->footer[i].col && col < app->footer[i].end)
            return app->footer[i].action;
    return ACT_NONE;
}
