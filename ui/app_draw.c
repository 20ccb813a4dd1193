#include "app.h"
#include "base/file.h"
#include "base/number.h"
#include "dialog.h"
#include "engine/speed.h"
#include "report/text.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORTH_SHOWING 0.10 // noise and drift of the times, as shares

struct frame_rows frame_rows_of(int rows)
{
    struct frame_rows f = {.head = rows >= 10 ? 2 : 1, .message = rows >= 10, .footer = rows >= 5};
    f.body = rows - f.head - f.message - f.footer;
    return f;
}

// --- head ---

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
    if (!str_equal(device, "none"))
        pieces_add(&row, 3, STYLE_TEXT, "%s", device);
    if (str_starts(r->source, "synthetic"))
        pieces_add(&row, 0, STYLE_MADE_UP, "SYNTHETIC");
    else if (o->recording || str_starts(r->source, "replay"))
        pieces_add(&row, 0, STYLE_MADE_UP, "REPLAY");
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
    if (app->options.is_demo)
        pieces_add(&row, 0, STYLE_WARN, "DEMO");
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
    if (!o->record.best_raced)
        pieces_add(row, 8, STYLE_DIM, "measured once");
    const struct baseline_record *b = baselines_fastest(&o->baselines);
    struct paired p = speed_verdict(&o->record, &o->baselines);
    enum paired_verdict verdict = paired_verdict(&p);
    if (verdict == PAIRED_LEVEL && p.low > 0)
        pieces_add(row, 2, STYLE_WARN, "level with %s (%.2f-%.2fx)", b->name, p.low, p.high);
    else if (verdict == PAIRED_LEVEL)
        pieces_add(row, 2, STYLE_TEXT, "%.2fx %s by single times", p.ratio, b->name);
    else if (verdict != PAIRED_NONE && p.low < p.high)
        pieces_add(row, 2, verdict == PAIRED_SLOWER ? STYLE_WARN : STYLE_TEXT,
                   "%.2fx %s (%.2f-%.2f)", p.ratio, b->name, p.low, p.high);
    else if (verdict != PAIRED_NONE)
        pieces_add(row, 2, verdict == PAIRED_SLOWER ? STYLE_WARN : STYLE_TEXT, "%.2fx %s", p.ratio,
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

static void draw_head(struct app *app, const struct pane *head)
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
    if (o->state == STATE_FAILED && o->record.message) {
        pieces_add(&second, 0, STYLE_BAD, "%s", o->record.message);
        second.shrinks = second.count;
    }
    add_best(app, &second);
    if (file_differs(app)) {
        struct space_file_basis basis = app_file_basis(app);
        pieces_add(&second, 1, STYLE_WARN, "%s changed",
                   path_name(space_file_changed(&app->file, &basis)));
    }
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
    pieces_add(&second, 3, STYLE_BAD, "%s", str_text(&words));
    if (failed && !second.shrinks)
        second.shrinks = second.count;
    pieces_draw(&second, head, 1, 2);
    str_finish(&words);
}

// --- the message row ---

#define NEWS_SECONDS 120

// Returns the error that stands, with the key that acknowledges it; "": there is none.
static const char *error_text(struct app *app, char out[sizeof app->error + 32])
{
    out[0] = '\0';
    if (app->error[0])
        snprintf(out, sizeof app->error + 32, "%s  (%s)", app->error, app_key_of(app, ACT_BACK));
    return out;
}

static void draw_message(struct app *app, const struct pane *p)
{
    if (app->notice[0] || app->error[0]) {
        char text[sizeof app->error + 32];
        pane_fill(p, STYLE_TEXT, ' ');
        int row = 0;
        if (*error_text(app, text))
            row = pane_wrapped(p, 0, 1, p->cols - 1, STYLE_BAD, text);
        pane_wrapped(p, row, 1, p->cols - 1, app->notice_style, app->notice);
    } else if (app->model.open.trouble.text[0]) {
        pane_line(p, 0, 1, STYLE_BAD, "%s", app->model.open.trouble.text);
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
        char at[16], text[BEST_STEP_SIZE];
        if (best && (!m || best->finished > m->at)) {
            text_clock(best->finished, at);
            pane_line(p, 0, 1, STYLE_TEXT, "%s  %s", at,
                      best_step_text(&app->model, o->curve.count - 1, text));
        } else if (m) {
            text_clock(m->at, at);
            bool bad = str_equal(m->level, "warning") || str_equal(m->level, "error");
            pane_line(p, 0, 1, bad ? STYLE_WARN : STYLE_TEXT, "%s  %s  %s", at, m->level, m->text);
        } else if (o->record.message) {
            pane_line(p, 0, 1, STYLE_TEXT, "%s: %s", state_name(o->state), o->record.message);
        }
    }
}

// --- footer ---

struct footer {
    struct app *app;
    const struct pane *pane;
    int col;
};

struct footer_item {
    enum action action;
    char key[20];
    const char *label;
    int width, gap; // columns without and of the last blanks
};

// Returns the item of an action. Without trials left, the dialog of `pause` asks for more.
static struct footer_item action_item(struct app *app, enum action a)
{
    struct footer_item item = {.action = a, .label = actions[a].label, .gap = 2};
    const struct session_row *row = app_session(app);
    key_label(app->keymap.key[a][0], item.key);
    strcat(item.key, " ");
    if (a == ACT_PAUSE && row && row->state != STATE_RUNNING) {
        bool spent = row->record.trials >= row->record.budget_trials;
        item.label = spent && !row->runner ? "More" : "Resume";
    }
    item.width = (int)strlen(item.key) + text_columns(item.label) + 1;
    return item;
}

enum tabs { TABS_TITLES, TABS_SHORT, TABS_KEYS }; // TABS_KEYS: only the shown screen has a name

static struct footer_item tab_item(const struct app *app, int view, int tabs)
{
    bool named = tabs == TABS_SHORT || view == (int)app->view;
    struct footer_item item = {.action = (enum action)(ACT_VIEW + view), .gap = 1};
    item.label = tabs == TABS_TITLES ? views[view]->title : named ? views[view]->tab : "";
    key_label(app->keymap.key[item.action][0], item.key);
    item.width = (int)strlen(item.key) + text_columns(item.label) + 1;
    return item;
}

static void put_item(struct footer *f, const struct footer_item *item, bool current)
{
    struct app *app = f->app;
    bool off = app_disabled(app, item->action) != NULL;
    int col = f->col;
    enum style style = off ? STYLE_DISABLED : current ? STYLE_FOCUS : STYLE_LABEL;
    f->col = pane_text(f->pane, 0, f->col, off ? STYLE_DISABLED : STYLE_KEY, item->key);
    f->col = pane_text(f->pane, 0, f->col, style, item->label);
    if (current)
        pane_mark(f->pane, 0, col, f->col - col);
    if (app->footer_count < (int)(sizeof app->footer / sizeof *app->footer)) {
        app->footer[app->footer_count].col = col;
        app->footer[app->footer_count].end = f->col;
        app->footer[app->footer_count++].action = item->action;
    }
    f->col += item->gap;
}

// Draws the two keys that are wanted most, the screens by name, then the keys of this screen and
// the rest, as far as there is room; the way out is always last.
static void draw_footer(struct app *app, const struct pane *p)
{
    static const enum action first[] = {ACT_PAUSE, ACT_HELP};
    enum { FIRST = sizeof first / sizeof *first };
    struct footer f = {.app = app, .pane = p, .col = p->cols > 30};
    struct footer_item list[ACT_COUNT];
    const struct footer_item quit = action_item(app, ACT_QUIT);
    const unsigned everywhere = (1u << VIEW_COUNT) - 1;
    bool none = !app_session(app); // then only what needs none
    int count = 0, cols = p->cols - f.col - 2 - quit.width, tabs = TABS_TITLES;
    const int help_width = action_item(app, ACT_HELP).width + 1;
    int keys = 2; // of all screens, without names but this one's
    app->footer_count = 0;
    for (int i = 0; i < VIEW_COUNT; i++)
        keys += tab_item(app, i, TABS_KEYS).width;
    for (int i = 0; i < FIRST; i++) {
        struct footer_item item = action_item(app, first[i]);
        int room = cols - keys - (first[i] == ACT_HELP ? 0 : help_width);
        if ((none && app_disabled(app, first[i])) || item.width + 1 > room)
            continue;
        put_item(&f, &item, false);
        cols -= item.width + 1;
    }
    for (int own = 1; own >= 0; own--)
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
            bool is_first = a == ACT_QUIT;
            for (int i = 0; i < FIRST; i++)
                is_first |= a == (int)first[i];
            if (actions[a].label && actions[a].views & 1u << app->view &&
                (actions[a].views == everywhere) != own && !is_first &&
                !(none && app_disabled(app, (enum action)a)))
                list[count++] = action_item(app, (enum action)a);
        }
    // Names of screens are whole where all keys of this one have room beside them.
    int own_keys = 0;
    for (int i = 0; i < count; i++)
        own_keys += actions[list[i].action].views != everywhere ? list[i].width + 1 : 0;
    for (; tabs < TABS_KEYS; tabs++) {
        int width = tabs == TABS_TITLES ? own_keys : 0;
        for (int i = 0; i < VIEW_COUNT; i++)
            width += tab_item(app, i, tabs).width;
        if (width <= cols)
            break;
    }
    f.col = pane_text(p, 0, f.col - (f.col > 1), STYLE_FRAME, "│") + 1;
    for (int i = 0; i < VIEW_COUNT; i++) {
        const struct footer_item tab = tab_item(app, i, tabs);
        if (f.col + tab.width + quit.width <= p->cols)
            put_item(&f, &tab, i == (int)app->view);
    }
    f.col = pane_text(p, 0, f.col, STYLE_FRAME, "│") + 1;
    for (int i = 0; i < count; i++)
        if (f.col + list[i].width + quit.width <= p->cols)
            put_item(&f, &list[i], false);
    if (f.col + quit.width - 1 <= p->cols)
        put_item(&f, &quit, false);
}

// --- the help over everything ---

struct help_line {
    char keys[64];
    const char *text; // of a heading when there are no keys
};

static void draw_help(struct app *app, const struct pane *whole)
{
    static const struct help_line outcomes[] = {
        {"", "Outcomes of trials"},
        {"ok", "measured and verified"},
        {"early", "ok, stopped early (cannot beat the best)"},
        {"rejected", "forbidden by a constraint or a limit"},
        {"compile", "the GLSL compiler refused it"},
        {"driver", "the driver's compiler refused it"},
        {"timeout", "it hung and was killed"},
        {"crash", "its process died"},
        {"lost", "the device was lost"},
        {"wrong", "its result differs from the reference"},
    };
    struct help_line line[1 + GROUP_COUNT + ACT_COUNT + sizeof outcomes / sizeof *outcomes];
    const unsigned everywhere = (1u << VIEW_COUNT) - 1;
    char own[40];
    int count = 0;
    snprintf(own, sizeof own, "This screen: %s", views[app->view]->title);
    // The keys of this screen come first, then those of all by their groups.
    for (int group = -1; group < GROUP_COUNT; group++) {
        line[count++] = (struct help_line){"", group < 0 ? own : action_groups[group]};
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
            bool is_own = actions[a].views != everywhere;
            if (!(actions[a].views & 1u << app->view) || is_own != (group < 0) ||
                (group >= 0 && (int)actions[a].group != group))
                continue;
            struct help_line *l = &line[count++];
            l->text = actions[a].help;
            if (!*keymap_names(&app->keymap, (enum action)a, l->keys))
                snprintf(l->keys, sizeof l->keys, "no key");
        }
        count -= !line[count - 1].keys[0]; // all keys of that group are of this screen
    }
    memcpy(&line[count], outcomes, sizeof outcomes);
    count += (int)(sizeof outcomes / sizeof *outcomes);
    int margin_rows = whole->rows >= 20, margin_cols = whole->cols >= 60 ? 2 : 0;
    struct pane p = pane_part(whole, margin_rows, margin_cols, whole->rows - 2 * margin_rows,
                              whole->cols - 2 * margin_cols);
    pane_fill(&p, STYLE_TEXT, ' ');
    struct pane inside = pane_box(&p, "Help", "j k scroll, any other key closes", true);
    struct pane text = pane_part(&inside, 0, 1, inside.rows, inside.cols - 1);
    int columns = text.cols >= 110 ? 2 : 1;
    int room = text.rows * columns;
    list_fit(&app->help_text, count, room);
    int top = (int)app->help_text.top;
    for (int i = 0; list_shows(&app->help_text, top + i); i++) {
        int width = text.cols / columns;
        struct pane column = pane_part(&text, 0, i / text.rows * width, text.rows, width - 1);
        const struct help_line *l = &line[top + i];
        pane_text(&column, i % text.rows, 2, STYLE_KEY, l->keys);
        pane_line(&column, i % text.rows, l->keys[0] ? 15 : 0,
                  l->keys[0] ? STYLE_TEXT : STYLE_STRONG, "%s", l->text);
    }
}

// --- the frame ---

void app_draw(struct app *app)
{
    screen_clear(&app->screen);
    struct pane all = screen_whole(&app->screen);
    struct frame_rows rows = frame_rows_of(all.rows);
    struct pane head = pane_part(&all, 0, 0, rows.head, all.cols);
    struct pane body = pane_part(&all, rows.head, 0, rows.body, all.cols);
    // Messages have as many rows as they need, up to half of the body, which they lie over.
    char error[sizeof app->error + 32];
    int needed =
        wrap_rows(app->notice, all.cols - 1) + wrap_rows(error_text(app, error), all.cols - 1);
    int high = int_clamp(needed, rows.message, rows.message ? rows.message + rows.body / 2 : 0);
    int below = rows.head + rows.body + rows.message;
    struct pane message = pane_part(&all, below - high, 0, high, all.cols);
    struct pane last = pane_part(&all, all.rows - 1, 0, 1, all.cols);
    draw_head(app, &head);
    views[app->view]->draw(app, app->state[app->view], &body);
    draw_message(app, &message);
    if (rows.footer)
        draw_footer(app, &last);
    if (app->help)
        draw_help(app, &all);
    if (app->dialog)
        dialog_draw(app, app->dialog, &all);
    if (app->prompt.open && app->prompt.candidate && !app->notice[0] && !app->error[0]) {
        // The candidates that Tab could put in the place of the last word.
        const char *word, *blank = strrchr(app->prompt.line.text, ' ');
        const char *typed = blank ? blank + 1 : app->prompt.line.text;
        int col = 1;
        pane_fill(&message, STYLE_TEXT, ' ');
        for (int n = 0; col < message.cols && (word = app->prompt.candidate(app, n)); n++)
            if (str_starts(word, typed))
                col = pane_text(&message, 0, col, STYLE_DIM, word) + 2;
    }
    if (app->prompt.open) {
        const struct prompt *prompt = &app->prompt;
        pane_fill(&last, STYLE_TEXT, ' ');
        int col = pane_text(&last, 0, 0, STYLE_KEY, prompt->lead);
        const struct pane rest = pane_part(&last, 0, col, 1, last.cols - col);
        line_draw(&prompt->line, &rest, true);
    }
    app->dirty = false;
}
