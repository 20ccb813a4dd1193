#include "app.h"

#include "base/file.h"
#include "base/number.h"
#include "dialog.h"
#include "engine/speed.h"
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AS_ENTRY(id, name, keys, help) [VIEW_##id] = &view_##name,
const struct view *const views[VIEW_COUNT] = {VIEWS(AS_ENTRY)};

const struct session_row *app_session(struct app *app)
{
    const struct opened *o = &app->model.open;
    int64_t id = app->view == VIEW_SESSIONS  ? view_sessions_at_cursor(app)
                 : app->view == VIEW_NETWORK ? o->network_record.id // also of a task that is open
                                             : 0;
    return model_row(&app->model, id ? id : o->record.id);
}

// --- command lines ---

// Shows the files of an export, or the last line of any other command.
static void on_command_end(void *context, const struct job_record *job)
{
    struct app *app = context;
    struct str files = {0};
    const char *output = str_text(&job->output), *last = output;
    for (const char *c = output; *c; c++)
        if (c[0] == '\n' && c[1])
            last = c + 1;
    if (!job->exit_code && str_starts(job->words, "tilewalk export ")) {
        // Shortens the lines of an export to "wrote out/a.comp .spv .json .h, out/a-2.comp ...":
        // only those that name files of kernels, of which each kernel's begin with its GLSL.
        static const char glsl[] = ".comp";
        const size_t ending = sizeof glsl - 1;
        const char *stem = NULL;
        size_t stem_length = 0;
        for (const char *line = output; *line; line += *line == '\n') {
            size_t bytes = strcspn(line, "\n");
            if (stem && bytes > stem_length && line[stem_length] == '.' &&
                !memcmp(line, stem, stem_length)) {
                str_printf(&files, " %.*s", (int)(bytes - stem_length), line + stem_length);
            } else if (bytes > ending && !memcmp(line + bytes - ending, glsl, ending)) {
                str_printf(&files, "%s%.*s", files.length ? ", " : "wrote ", (int)bytes, line);
                stem = line;
                stem_length = bytes - ending;
            }
            line += bytes;
        }
        last = files.length ? str_text(&files) : last;
    }
    int length = (int)strcspn(last, "\n");
    if (!job->exit_code)
        app_forget_error(app, ERROR_OF_COMMAND);
    app_log(app, "%s: %.*s", job->words, length, length ? last : "done");
    app_say(app, job->exit_code ? STYLE_BAD : STYLE_TEXT, "%.*s", length ? length : 200,
            length ? last : job->words);
    str_finish(&files);
}

#define WORDS_WITH_DATABASE (DIALOG_MOST_WORDS + 3)

static void add_database(const struct app *app, const char *const *words,
                         const char *all[WORDS_WITH_DATABASE])
{
    int n = 0;
    while (words[n] && !str_equal(words[n], "--") && n < DIALOG_MOST_WORDS) {
        all[n] = words[n];
        n++;
    }
    const char *const *operand = words + n; // behind `--` an option would be one too
    if (!str_equal(words[0], "ops")) {      // which has none
        all[n++] = "--db";
        all[n++] = app->options.database;
    }
    while (*operand && n < DIALOG_MOST_WORDS + 2)
        all[n++] = *operand++;
    all[n] = NULL;
}

char *app_command_line(const struct app *app, const char *const *words)
{
    const char *all[WORDS_WITH_DATABASE];
    add_database(app, words, all);
    return command_line(store_is_default(app->options.database) ? words : all);
}

bool app_command(struct app *app, const char *const *words)
{
    const char *all[WORDS_WITH_DATABASE];
    struct err e;
    add_database(app, words, all);
    bool is_run = str_equal(words[0], "tune") || str_equal(words[0], "resume");
    struct job_record job = {.is_run = is_run, .on_end = on_command_end, .context = app};
    bool ok = jobs_start(&app->jobs, &job, app->options.program, all, &e);
    app_say(app, ok ? STYLE_TEXT : STYLE_BAD, "%s%s",
            !ok      ? e.text
            : is_run ? "starting"
                     : words[0],
            ok ? "..." : "");
    return ok;
}

bool app_ask(struct app *app, const char *const *words,
             void (*on_end)(void *app, const struct job_record *job), struct err *e)
{
    const char *all[WORDS_WITH_DATABASE];
    add_database(app, words, all);
    const struct job_record job = {.on_end = on_end, .context = app, .whole = true};
    return jobs_start(&app->jobs, &job, app->options.program, all, e);
}

static void command_for(struct app *app, const char *verb, int64_t id, const char *argument)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, id);
    app_command(app, (const char *const[]){verb, number, argument, NULL});
}

// --- actions on a session ---

#define BUDGET_MARGIN_S 10

// Adds to the budget. Presses in a row add up, although the run reads its budget only four times a
// second.
static void add_budget(struct app *app, int64_t more)
{
    const struct session_row *row = app_session(app);
    const struct opened *o = &app->model.open;
    int64_t id = row->record.id, from = row->record.budget_trials;
    int64_t spent = id == o->record.id ? o->record.trials : row->record.trials;
    if (app->budget_session == id && app->budget_asked)
        from = app->budget_asked;
    int64_t soon = (int64_t)(o->rate * BUDGET_MARGIN_S) + 1; // it goes on while keys are pressed
    if (more < 0 && from + more <= spent + soon) {           // a slip of the finger would end it
        app_say(app, STYLE_WARN,
                "%" PRId64 " trials are spent: fewer would end the session (:stop ends it)", spent);
        return;
    }
    char trials[32];
    app->budget_session = id;
    app->budget_asked = from + more;
    snprintf(trials, sizeof trials, "trials=%" PRId64, app->budget_asked);
    command_for(app, "set", id, trials);
}

const char *app_disabled(struct app *app, enum action a)
{
    const struct session_row *row = app_session(app);
    bool needs_session = actions[a].group == GROUP_SESSION && a != ACT_NEW && a != ACT_UNDO;
    if (needs_session && !row)
        return "no session is open";
    enum session_state state = row ? row->state : STATE_RUNNING;
    const struct view *view = views[app->view];
    const char *why = view->disabled ? view->disabled(app, app->state[app->view], a) : NULL;
    if (why)
        return why;
    switch (a) {
    case ACT_EXPORT: // a network has no best trial of its own
        return row->record.best_ask || (row->record.scheduler && row->record.ok)
                   ? NULL
                   : "nothing valid to export yet";
    case ACT_BEST: return app->model.open.record.best_ask ? NULL : "nothing valid was measured yet";
    case ACT_STOP:
        return state == STATE_DONE || state == STATE_STOPPED || state == STATE_FAILED
                   ? "the session has ended already"
                   : NULL;
    case ACT_EDIT:
        return str_starts(row->record.source, "replay:") ? "its space is a recording, no space file"
                                                         : NULL;
    case ACT_USE_NEW:
        return !app->model.open.record.id  ? "no session is open"
               : app->model.open.recording ? "the space is that of a recording"
                                           : space_file_no_new(&app->file);
    case ACT_RESUME: return row->runner ? "it is running already" : NULL;
    case ACT_DELETE: return row->runner ? "it is running (pause it first)" : NULL;
    default: return NULL;
    }
}

const struct trial *shown_trial(struct app *app)
{
    if (app->follow && app->model.open.last_number > 0)
        return model_trial_numbered(&app->model, app->model.open.last_number);
    return app->selected > 0 ? model_trial(&app->model, app->selected) : NULL;
}

// --- the `:` prompt ---

static const char *const command_names[] = {"tune",   "resume", "pause", "stop",    "set",
                                            "budget", "note",   "rm",    "restore", "export",
                                            "pin",    "weigh",  NULL};

static bool is_command(const char *word)
{
    for (int i = 0; command_names[i]; i++)
        if (str_equal(word, command_names[i]))
            return true;
    return false;
}

// Candidates are commands, then the actions that are not commands.
static const char *command_candidate(struct app *app, int n)
{
    int commands = (int)(sizeof command_names / sizeof *command_names) - 1;
    (void)app;
    if (n < commands)
        return command_names[n];
    n -= commands;
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
        if (!is_command(actions[a].name) && n-- == 0)
            return actions[a].name;
    return NULL;
}

static bool run_typed(struct app *app, void *context, enum prompt_event event, const char *typed)
{
    char text[LINE_SIZE];
    const char *words[DIALOG_MOST_WORDS];
    (void)context;
    if (event != PROMPT_DONE)
        return true;
    snprintf(text, sizeof text, "%s", typed);
    // Splits at blanks, in place; quotes keep blanks. Returns the count of words.
    int count = 0;
    char *to = text;
    for (char *from = text; *from && count < DIALOG_MOST_WORDS - 1;) {
        char quote = '\0';
        while (*from == ' ')
            from++;
        if (!*from)
            break;
        words[count++] = to;
        for (; *from && (quote || *from != ' '); from++) {
            if (*from == quote)
                quote = '\0';
            else if (!quote && (*from == '\'' || *from == '"'))
                quote = *from;
            else
                *to++ = *from;
        }
        from += *from != '\0';
        *to++ = '\0';
    }
    words[count] = NULL;
    if (!count)
        return true;
    if (is_command(words[0]) && words[1]) {
        // Asks before a command that cannot be undone, as when it is chosen by a key.
        bool purges = false;
        for (int i = 1; i < count && str_equal(words[0], "rm"); i++)
            purges |= str_equal(words[i], "--purge");
        if (purges || str_equal(words[0], "stop"))
            ask_command(app, words);
        else
            app_command(app, words);
        return true;
    }
    enum action a = action_find(words[0]);
    if (a != ACT_NONE && actions[a].views & 1u << app->view) {
        app_act(app, a);
        return true;
    }
    if (a == ACT_NONE)
        app_say(app, STYLE_BAD,
                "'%s' is no action and no command that changes something (Tab completes)",
                words[0]);
    else
        app_say(app, STYLE_BAD, "'%s' does nothing on this screen", words[0]);
    return false;
}

// --- actions ---

void app_act(struct app *app, enum action a)
{
    const char *why = app_disabled(app, a);
    app->dirty = true;
    if (why) {
        app_say(app, STYLE_WARN, "%s: %s", actions[a].name, why);
        return;
    }
    if (a == ACT_BACK && app->error[0]) {
        app->error[0] = '\0';
        return;
    }
    if (views[app->view]->act(app, app->state[app->view], a))
        return;
    if (a >= ACT_VIEW && a <= ACT_VIEW_LAST)
        app_show(app, (enum view_id)(a - ACT_VIEW));
    switch (a) {
    case ACT_PAUSE: {
        const struct session_row *row = app_session(app);
        const struct opened *o = &app->model.open; // read more often than the list of sessions
        if ((row->record.id == o->record.id ? o->state : row->state) == STATE_RUNNING)
            command_for(app, "pause", row->record.id, NULL);
        else if (row->runner)
            command_for(app, "pause", row->record.id, "--off");
        else
            open_session_dialog(app, ACT_RESUME);
    } break;
    case ACT_DELETE: command_for(app, "rm", app_session(app)->record.id, NULL); break;
    case ACT_UNDO: app_command(app, (const char *const[]){"restore", NULL}); break;
    case ACT_STOP:
    case ACT_BUDGET:
    case ACT_RESUME:
    case ACT_NOTE:
    case ACT_EXPORT:
    case ACT_DUPLICATE: open_session_dialog(app, a); break;
    case ACT_MORE_BUDGET: add_budget(app, 100); break;
    case ACT_LESS_BUDGET: add_budget(app, -100); break;

    case ACT_NEW: open_new_session(app, false); break;
    case ACT_USE_NEW: open_new_session(app, true); break;

    case ACT_EDIT: {
        const struct session_row *row = app_session(app);
        bool open = row->record.id == app->model.open.record.id && app->file_path;
        app_edit(app, open ? app->file_path : row->record.path, 1);
    } break;

    case ACT_BACK: app_show(app, app->before); break;
    case ACT_BEST: app_select(app, app->model.open.record.best_ask); break;
    case ACT_COPY: {
        struct str text = {0};
        const struct trial *t = shown_trial(app);
        if (t && app->model.open.space) {
            config_add_json(app->model.open.space, &t->config, &text);
            app_copy(app, str_text(&text));
        } else {
            app_say(app, STYLE_WARN, "there is no trial to copy");
        }
        str_finish(&text);
    } break;
    case ACT_HELP: app->help = true, app->help_text.top = 0; break;
    case ACT_COMMAND:
        app_prompt(
            app, &(struct prompt){.lead = ":", .typed = run_typed, .candidate = command_candidate},
            "");
        break;
    case ACT_FREEZE:
        app->frozen = !app->frozen;
        app_say(app, STYLE_TEXT, "display %s",
                app->frozen ? "frozen; tuning continues" : "live again");
        break;
    case ACT_MOUSE:
        app->mouse = !app->mouse;
        app_say(app, STYLE_TEXT, app->mouse ? "mouse on" : "mouse off: text can be selected");
        break;
    case ACT_SAVE_SCREEN: app->save_screen = true; break;
    case ACT_REDRAW: app->redraw = true; break;
    case ACT_SUSPEND: app->suspend = true; break;
    case ACT_LEAVE:
    case ACT_QUIT:
        app->quit = true;
        app->leave_runs = a == ACT_LEAVE;
        break;
    default: break;
    }
}

#define NOTICE_SECONDS 8

// --- notices and log lines ---

void app_log(struct app *app, const char *format, ...)
{
    struct log_line *line = &app->log[app->log_count++ % APP_LOG_LINES];
    va_list args;
    va_start(args, format);
    vsnprintf(line->text, sizeof line->text, format, args);
    va_end(args);
    line->at = app->unix_now;
    app->dirty |= app->view == VIEW_LOG;
}

void app_say(struct app *app, enum style style, const char *format, ...)
{
    va_list args;
    bool is_error = style == STYLE_BAD;
    va_start(args, format);
    vsnprintf(is_error ? app->error : app->notice, sizeof app->notice, format, args);
    va_end(args);
    app->dirty = true;
    if (is_error) {
        app->error_kind = ERROR_OF_COMMAND;
        app->notice[0] = '\0';
        return;
    }
    app->notice_style = style;
    app->notice_until = app->now + NOTICE_SECONDS;
}

void app_forget_error(struct app *app, enum error_kind kind)
{
    if (app->error_kind == kind)
        app->error[0] = '\0';
}

static void on_run_line(void *context, const struct job_record *run, const char *line)
{
    struct app *app = context;
    if (run->session)
        app_log(app, "session %lld: %s", (long long)run->session, line);
    else
        app_log(app, "%s", line);
}

static void on_run_session(void *context, const struct job_record *run)
{
    struct app *app = context;
    app_log(app, "%s: session %lld", run->words, (long long)run->session);
    app->notice_until = app->now; // it is not starting any more
    app_forget_error(app, ERROR_OF_COMMAND);
    if (app->dialog && dialog_waits(app->dialog)) {
        dialog_destroy(app->dialog);
        app->dialog = NULL;
    }
    app_open_session(app, run->session);
}

static void on_run_end(void *context, const struct job_record *run)
{
    struct app *app = context;
    const char *why = str_text(&run->output);
    int length = (int)strcspn(why, "\n");
    if (!run->session) {
        char text[1024];
        snprintf(text, sizeof text, "%.*s", length ? length : 200,
                 length ? why : "the run could not start");
        app_log(app, "%s", run->words);
        if (app->dialog && dialog_waits(app->dialog))
            dialog_fail(app->dialog, text);
        else
            app_say(app, STYLE_BAD, "%s", text);
    }
    app->dirty = true;
}

// --- the life of an app ---

static void begin_views(struct app *app)
{
    for (int i = 0; i < VIEW_COUNT; i++) {
        app->state[i] = mem_zero(1, views[i]->size);
        if (views[i]->init)
            views[i]->init(app->state[i]);
    }
}

static void end_views(struct app *app)
{
    for (int i = 0; i < VIEW_COUNT; i++) {
        if (views[i]->finish)
            views[i]->finish(app, app->state[i]);
        free(app->state[i]);
    }
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
    begin_views(app);
    if (o->session)
        app_open_session(app, o->session);
    if (o->is_demo)
        app_say(app, STYLE_WARN,
                "A demonstration: the device is synthetic and every time is made up. The database "
                "is removed when you leave.");
    // A network has no trials of its own to show on the main screen.
    bool network = app->model.open.record.scheduler && o->view == VIEW_MAIN;
    app_show(app, network ? VIEW_NETWORK : o->view);
}

void app_finish(struct app *app)
{
    dialog_destroy(app->dialog);
    end_views(app);
    space_file_finish(&app->file);
    model_finish(&app->model);
    screen_finish(&app->screen);
    free(app->edit_path);
    free(app->copy_path);
    free(app->file_path);
    free(app->copy);
    free(app->announcement);
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

void app_copy(struct app *app, const char *text)
{
    free(app->copy);
    app->copy = mem_strdup(text);
    app_say(app, STYLE_TEXT, "copied: %s", text);
}

void app_copy_config(struct app *app, const struct trial *t)
{
    struct str text = {0};
    if (!t || !t->has_config)
        return;
    config_add_difference(app->model.open.space, &t->config, NULL, NULL, &text);
    app_copy(app, str_text(&text));
    str_finish(&text);
}

const char *app_key_of(struct app *app, enum action a)
{
    return key_label(app->keymap.key[a][0], app->key_text);
}

// --- keys ---

void app_prompt(struct app *app, const struct prompt *p, const char *text)
{
    app->prompt = *p;
    app->prompt.open = true;
    line_set(&app->prompt.line, text);
    snprintf(app->prompt.before, sizeof app->prompt.before, "%s", text);
    app->dirty = true;
}

static void prompt_key(struct app *app, int32_t key)
{
    struct prompt *p = &app->prompt;
    if (key == KEY_IS_ESC || key == KEY_IS_ENTER) {
        struct prompt was = *p; // it may open another one
        p->open = false;
        app_forget_error(app, ERROR_OF_PROMPT);
        if (key == KEY_IS_ESC) {
            was.typed(app, was.context, PROMPT_CANCELLED, was.before);
        } else if (!was.typed(app, was.context, PROMPT_DONE, was.line.text)) {
            *p = was;
            app->error_kind = ERROR_OF_PROMPT;
        }
    } else if (key == KEY_IS_TAB) {
        // Replaces the last word by the next candidate that begins with it.
        const char *word, *blank = strrchr(p->line.text, ' ');
        const char *typed = blank ? blank + 1 : p->line.text;
        for (int n = 0; p->candidate && (word = p->candidate(app, n)); n++)
            if (str_starts(word, typed) && !str_equal(word, typed)) {
                char text[LINE_SIZE];
                snprintf(text, sizeof text, "%.*s%s", (int)(typed - p->line.text), p->line.text,
                         word);
                line_set(&p->line, text);
                break;
            }
    } else if (line_key(&p->line, key)) {
        p->typed(app, p->context, PROMPT_CHANGED, p->line.text);
    }
}

static void pass_to_dialog(struct app *app, int32_t key)
{
    struct dialog *d = app->dialog;
    if (dialog_key(app, d, key))
        return;
    if (app->dialog == d) // it may have opened another one
        app->dialog = NULL;
    dialog_destroy(d);
}

void app_key(struct app *app, int32_t key)
{
    enum action a = keymap_find(&app->keymap, key, app->view);
    app->dirty = true;
    if (key == KEY_IS_PASTE)
        app->pasting = true;
    else if (app->pasting) {
        // A paste is taken where text is typed, up to its first line's end, and acts on nothing.
        bool is_text = key >= ' ' && key < KEY_IS_UP && key != KEY_IS_BACKSPACE;
        if (key == KEY_IS_PASTE_END)
            app->pasting = false;
        else if (is_text && app->prompt.open)
            prompt_key(app, key);
        else if (is_text && app->dialog && dialog_takes_text(app->dialog))
            pass_to_dialog(app, key);
        else if (is_text)
            app_say(app, STYLE_WARN, "pasted text is taken only where text is typed");
    } else if (app->prompt.open)
        prompt_key(app, key);
    else if (app->dialog)
        pass_to_dialog(app, key);
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
        for (int i = 0; i < app->footer_count; i++)
            if (col >= app->footer[i].col && col < app->footer[i].end) {
                app_act(app, app->footer[i].action);
                return;
            }
    } else if (row >= rows.head && row < rows.head + rows.body && views[app->view]->click) {
        views[app->view]->click(app, app->state[app->view], row - rows.head, col);
    }
}

// --- time ---

// Announces the end of the open session, and a new best where that is asked for.
static void announce(struct app *app)
{
    const struct opened *o = &app->model.open;
    bool same = app->announced.session == o->record.id && o->record.id;
    bool over = o->state == STATE_DONE || o->state == STATE_FAILED;
    bool ends = same && over && app->announced.state != o->state;
    bool best = same && o->curve.count > app->announced.steps;
    char speed[32] = "no result";
    if (o->record.best_seconds > 0 && o->record.scheduler)
        text_time(o->record.best_seconds, speed);
    else if (o->record.best_seconds > 0)
        speed_text(&o->record, o->record.best_seconds, speed);
    int notify = app->config->notify;
    if (notify != NOTIFY_OFF && (ends || (best && notify == NOTIFY_BEST))) {
        free(app->announcement);
        app->announcement = mem_printf("tilewalk: %s %s: %s", o->record.title,
                                       ends ? state_name(o->state) : "new best", speed);
    }
    app->announced.session = o->record.id;
    app->announced.state = o->state;
    app->announced.steps = o->curve.count;
}

bool app_poll(struct app *app, double now, double unix_now)
{
    bool running = app->model.open.record.id && app->model.open.state == STATE_RUNNING;
    app->dirty |= (running && (int64_t)unix_now != (int64_t)app->unix_now) && !app->frozen;
    if (app->now <= 0) // there was no clock yet when the notice was made
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
    if (app->model.losses != losses) {
        // The state of views, dialogs and the prompt belongs to the database that was there before.
        dialog_destroy(app->dialog);
        app->dialog = NULL;
        app->prompt.open = false;
        app->selected = 0;
        app->follow = true;
        app->budget_session = 0;
        space_file_finish(&app->file);
        end_views(app);
        begin_views(app);
    }
    announce(app);
    if (app->file_session != app->model.open.record.id) {
        space_file_finish(&app->file);
        app_forget_error(app, ERROR_OF_FILE);
        app_file_find(app);
    }
    app->file_session = app->model.open.record.id;
    struct space_file_basis basis = app_file_basis(app);
    bool first = app->file.state == SPACE_FILE_UNREAD;
    if (app_file_watched(app) && space_file_poll(&app->file, &basis, now)) {
        bool differs = app->file.state == SPACE_FILE_NEW || app->file.state == SPACE_FILE_BROKEN;
        if (!first || differs)
            app_file_report(app);
        return app->dirty = true;
    }
    const struct view *view = views[app->view];
    bool more = view->tick && view->tick(app, app->state[app->view]);
    app->dirty |= more;
    return more;
}
