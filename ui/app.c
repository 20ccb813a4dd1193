#include "app_draw.h"

#include "base/minmax.h"
#include "dialog.h"
#include "wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTICE_SECONDS 8

// --- what runs and what is said ---

void app_noise(struct app *app, const char *format, ...)
{
    struct noise *n = &app->noise[app->noise_count++ % APP_NOISE];
    va_list args;
    va_start(args, format);
    vsnprintf(n->text, sizeof n->text, format, args);
    va_end(args);
    n->at = app->unix_now;
    app->dirty |= app->view == VIEW_LOG;
}

void app_say(struct app *app, enum style style, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(app->notice, sizeof app->notice, format, args);
    va_end(args);
    app->notice_style = style;
    app->notice_until = app->now + NOTICE_SECONDS;
    app->dirty = true;
}

static void on_run_line(void *context, const struct job_record *run, const char *line)
{
    struct app *app = context;
    if (run->session)
        app_noise(app, "session %lld: %s", (long long)run->session, line);
    else
        app_noise(app, "%s", line);
}

static void on_run_session(void *context, const struct job_record *run)
{
    struct app *app = context;
    app_noise(app, "%s: session %lld", run->words, (long long)run->session);
    app->notice_until = app->now; // it is not starting any more
    app_open_session(app, run->session);
}

static void on_run_end(void *context, const struct job_record *run)
{
    struct app *app = context;
    const char *why = str_text(&run->output);
    int length = (int)strcspn(why, "\n");
    if (!run->session) {
        app_noise(app, "%s", run->words);
        app_say(app, STYLE_BAD, "%.*s", length ? length : 200,
                length ? why : "the run could not start");
    }
    app->dirty = true;
}

// --- life ---

void app_show_first(struct app *app)
{
    bool network = app->model.open.record.scheduler && app->options.view == VIEW_MAIN;
    app_show(app, network ? VIEW_NETWORK : app->options.view);
}

void app_init(struct app *app, const struct app_options *o)
{
    *app = (struct app){.options = *o, .config = o->config, .dirty = true};
    app->keymap = o->config->keymap;
    app->mouse = o->config->mouse;
    app->screen.charset = o->config->charset;
    app->view = app->before = o->view;
    app->follow = true;
    app->jobs.context = app;
    app->jobs.on_line = on_run_line;
    app->jobs.on_session = on_run_session;
    app->jobs.on_run_end = on_run_end;
    screen_resize(&app->screen, 24, 80);
    model_init(&app->model, o->database);
    for (int i = 0; i < VIEW_COUNT; i++)
        app->state[i] = views[i]->create(app);
    if (o->session)
        app_open_session(app, o->session);
    app_show_first(app);
}

void app_finish(struct app *app)
{
    dialog_destroy(app->dialog);
    for (int i = 0; i < VIEW_COUNT; i++)
        views[i]->destroy(app->state[i]);
    space_file_finish(&app->file);
    model_finish(&app->model);
    screen_finish(&app->screen);
    free(app->edit_path);
    free(app->copy);
}

void app_resize(struct app *app, int rows, int cols)
{
    screen_resize(&app->screen, rows, cols);
    app->dirty = true;
}

void app_show(struct app *app, enum view_id view)
{
    if (view != app->view)
        app->before = app->view;
    app->view = view;
    app->dirty = true;
}

void app_open_session(struct app *app, int64_t id)
{
    struct err e;
    if (!model_open(&app->model, id, &e)) {
        app_say(app, STYLE_BAD, "%s", e.text);
        return;
    }
    app->selected = 0;
    app->follow = true;
    for (int i = 0; i < VIEW_COUNT; i++)
        if (views[i]->opened)
            views[i]->opened(app, app->state[i]);
    app_show(app, app->model.open.record.scheduler ? VIEW_NETWORK : VIEW_MAIN);
}

void app_select(struct app *app, int64_t ask)
{
    app->selected = ask;
    app->follow = false;
    app->dirty = true;
}

void app_edit(struct app *app, const char *path, int line)
{
    free(app->edit_path);
    app->edit_path = mem_strdup(path);
    app->edit_line = line;
    app->notice[0] = '\0'; // an earlier one may have failed
}

void app_copy(struct app *app, const char *text)
{
    free(app->copy);
    app->copy = mem_strdup(text);
    app_say(app, STYLE_TEXT, "copied: %s", text);
}

const char *app_key_of(struct app *app, enum action a)
{
    return key_label(app->keymap.key[a][0], app->key_text);
}

// --- keys ---

void app_prompt(struct app *app, const struct prompt *p)
{
    app->prompt = *p;
    app->prompt.open = true;
    app->dirty = true;
}

// Puts the next word that begins as the last one typed does in its place.
static void complete(struct app *app)
{
    struct line *l = &app->prompt.line;
    const char *word, *blank = strrchr(l->text, ' ');
    size_t start = blank ? (size_t)(blank - l->text) + 1 : 0;
    for (int n = 0; app->prompt.candidate && (word = app->prompt.candidate(app, n)); n++)
        if (str_starts(word, l->text + start) && !str_equal(word, l->text + start)) {
            char text[LINE_SIZE];
            snprintf(text, sizeof text, "%.*s%s", (int)start, l->text, word);
            line_set(l, text);
            return;
        }
}

static void prompt_key(struct app *app, int32_t key)
{
    struct prompt *p = &app->prompt;
    if (key == KEY_IS_ESC || key == KEY_IS_ENTER) {
        struct prompt was = *p; // it may open another one
        p->open = false;
        if (key == KEY_IS_ESC && was.cancelled)
            was.cancelled(app, was.context);
        else if (key == KEY_IS_ENTER && !was.done(app, was.context, was.line.text))
            *p = was;
    } else if (key == KEY_IS_TAB) {
        complete(app);
    } else if (line_key(&p->line, key) && p->changed) {
        p->changed(app, p->context, p->line.text);
    }
}

static void dialog_gets(struct app *app, int32_t key)
{
    struct dialog *d = app->dialog;
    if (dialog_key(app, d, key))
        return;
    if (app->dialog == d) // it may have opened another one
        app->dialog = NULL;
    dialog_destroy(d);
}

// A paste is taken where text is typed, up to its first line's end, and acts on nothing.
static void paste_key(struct app *app, int32_t key)
{
    bool is_text = key >= ' ' && key < KEY_IS_UP && key != KEY_IS_BACKSPACE;
    if (key == KEY_IS_PASTE_END)
        app->pasting = false;
    else if (is_text && app->prompt.open)
        prompt_key(app, key);
    else if (is_text && app->dialog && dialog_takes_text(app->dialog))
        dialog_gets(app, key);
    else if (is_text)
        app_say(app, STYLE_WARN, "pasted text is taken only where text is typed");
}

void app_key(struct app *app, int32_t key)
{
    enum action a = keymap_find(&app->keymap, key, app->view);
    app->dirty = true;
    if (key == KEY_IS_PASTE)
        app->pasting = true;
    else if (app->pasting)
        paste_key(app, key);
    else if (app->prompt.open)
        prompt_key(app, key);
    else if (app->dialog)
        dialog_gets(app, key);
    else if (app->help)
        app->help = list_scroll(&app->help_text, a);
    else if (a != ACT_NONE)
        app_act(app, a);
}

void app_click(struct app *app, int row, int col)
{
    struct frame_rows rows = frame_rows_of(app->screen.rows);
    app->dirty = true;
    if (app->prompt.open || app->dialog || app->help)
        return;
    if (rows.footer && row == app->screen.rows - 1) {
        enum action a = footer_action_at(app, col);
        if (a != ACT_NONE)
            app_act(app, a);
    } else if (row >= rows.head && row < rows.head + rows.body && views[app->view]->click) {
        views[app->view]->click(app, app->state[app->view], row - rows.head, col);
    }
}

// --- time ---

static bool clock_moved(const struct app *app, double unix_now)
{
    bool running = app->model.open.record.id && app->model.open.state == STATE_RUNNING;
    return running && (int64_t)unix_now != (int64_t)app->unix_now;
}

// What views keep of sessions, what is asked and what is typed mean those of the database that was
// there before.
static void forget_database(struct app *app)
{
    dialog_destroy(app->dialog);
    app->dialog = NULL;
    app->prompt.open = false;
    app->selected = 0;
    app->follow = true;
    app->budget_session = 0;
    space_file_finish(&app->file);
    for (int i = 0; i < VIEW_COUNT; i++) {
        views[i]->destroy(app->state[i]);
        app->state[i] = views[i]->create(app);
    }
}

bool app_poll(struct app *app, double now, double unix_now)
{
    app->dirty |= clock_moved(app, unix_now) && !app->frozen;
    if (app->now <= 0) // there was no clock yet when it was said
        app->notice_until += now;
    app->now = now;
    app->unix_now = unix_now;
    bool waiting = app->jobs.count > jobs_runs(&app->jobs); // for a command to end
    if (app->notice[0] && now >= app->notice_until && !waiting) {
        app->notice[0] = '\0';
        app->dirty = true;
    }
    app->dirty |= jobs_step(&app->jobs);
    if (app->frozen)
        return false;
    int64_t losses = app->model.losses;
    app->dirty |= model_poll(&app->model, unix_now);
    if (app->model.losses != losses)
        forget_database(app);
    if (app_file_poll(app))
        return true;
    const struct view *view = views[app->view];
    bool more = view->tick && view->tick(app, app->state[app->view]);
    app->dirty |= more;
    return more;
}

// --- drawing ---

// What Tab could put in the place of the last word.
static void draw_candidates(struct app *app, const struct pane *p)
{
    const char *word, *blank = strrchr(app->prompt.line.text, ' ');
    const char *typed = blank ? blank + 1 : app->prompt.line.text;
    int col = 1;
    pane_fill(p, STYLE_TEXT, ' ');
    for (int n = 0; col < p->cols && (word = app->prompt.candidate(app, n)); n++)
        if (str_starts(word, typed))
            col = pane_text(p, 0, col, STYLE_DIM, word) + 2;
}

static void draw_prompt(struct app *app, const struct pane *p)
{
    const struct prompt *prompt = &app->prompt;
    pane_fill(p, STYLE_TEXT, ' ');
    int col = pane_text(p, 0, 0, STYLE_KEY, prompt->lead);
    const struct pane rest = pane_part(p, 0, col, 1, p->cols - col);
    line_draw(&prompt->line, &rest, true);
}

// A notice has as many rows as it needs, up to half of the body, which it lies over.
static int message_rows(const struct app *app, const struct frame_rows *rows, int cols)
{
    return int_clamp(wrap_rows(app->notice, cols - 1), rows->message,
                     rows->message ? rows->message + rows->body / 2 : 0);
}

void app_draw(struct app *app)
{
    screen_clear(&app->screen);
    struct pane all = screen_whole(&app->screen);
    struct frame_rows rows = frame_rows_of(all.rows);
    struct pane head = pane_part(&all, 0, 0, rows.head, all.cols);
    struct pane body = pane_part(&all, rows.head, 0, rows.body, all.cols);
    int high = message_rows(app, &rows, all.cols), below = rows.head + rows.body + rows.message;
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
    if (app->prompt.open && app->prompt.candidate && !app->notice[0])
        draw_candidates(app, &message);
    if (app->prompt.open)
        draw_prompt(app, &last);
    app->dirty = false;
}
