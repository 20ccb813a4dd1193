// What actions do that are the same on every screen, and the command lines behind them.
#include "app_draw.h"

#include "dialog.h"
#include "trial_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AS_ENTRY(id, name, keys, help) [VIEW_##id] = &view_##name,
const struct view *const views[VIEW_COUNT] = {VIEWS(AS_ENTRY)};

const struct session_row *app_session(struct app *app)
{
    int64_t id = app->view == VIEW_SESSIONS ? view_sessions_at_cursor(app) : 0;
    return model_row(&app->model, id ? id : app->model.open.record.id);
}

// --- command lines ---

// "wrote out/a.comp .spv .json .h, out/a-2.comp ...": of the lines of an export those that name
// files of kernels; each kernel's begin with its GLSL.
static void add_files(const char *lines, struct str *out)
{
    static const char glsl[] = ".comp";
    const size_t ending = sizeof glsl - 1;
    const char *stem = NULL;
    size_t stem_length = 0;
    for (const char *line = lines; *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        if (stem && length > stem_length && line[stem_length] == '.' &&
            !memcmp(line, stem, stem_length)) {
            str_printf(out, " %.*s", (int)(length - stem_length), line + stem_length);
        } else if (length > ending && !memcmp(line + length - ending, glsl, ending)) {
            str_printf(out, "%s%.*s", out->length ? ", " : "wrote ", (int)length, line);
            stem = line;
            stem_length = length - ending;
        }
        line += length;
    }
}

// Of an export all files, of others the last line.
static void on_command_end(void *context, const struct job_record *job)
{
    struct app *app = context;
    struct str files = {0};
    const char *output = str_text(&job->output), *last = output;
    for (const char *c = output; *c; c++)
        if (c[0] == '\n' && c[1])
            last = c + 1;
    if (!job->exit_code && str_starts(job->words, "tilewalk export ")) {
        add_files(output, &files);
        last = files.length ? str_text(&files) : last;
    }
    int length = (int)strcspn(last, "\n");
    app_noise(app, "%s: %.*s", job->words, length, length ? last : "done");
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
    all[n++] = "--db";
    all[n++] = app->options.database;
    while (*operand && n < DIALOG_MOST_WORDS + 2)
        all[n++] = *operand++;
    all[n] = NULL;
}

char *app_command_line(const struct app *app, const char *const *words)
{
    const char *all[WORDS_WITH_DATABASE];
    struct str text = {0};
    add_database(app, words, all);
    str_add(&text, "tilewalk ");
    words_add_text(&text, store_is_default(app->options.database) ? words : all);
    return str_take(&text);
}

void app_command(struct app *app, const char *const *words)
{
    const char *all[WORDS_WITH_DATABASE];
    struct err e;
    add_database(app, words, all);
    bool is_run = str_equal(words[0], "tune") || str_equal(words[0], "resume");
    bool ok = is_run ? jobs_run(&app->jobs, app->options.program, all, &e)
                     : jobs_start(&app->jobs, app->options.program, all, on_command_end, app, &e);
    if (!ok)
        app_say(app, STYLE_BAD, "%s", e.text);
    else
        app_say(app, STYLE_TEXT, "%s...", is_run ? "starting" : words[0]);
}

bool app_ask(struct app *app, const char *const *words,
             void (*on_end)(void *app, const struct job_record *job), struct err *e)
{
    const char *all[WORDS_WITH_DATABASE];
    add_database(app, words, all);
    return jobs_ask(&app->jobs, app->options.program, all, on_end, app, e);
}

static void command_for(struct app *app, const char *verb, int64_t id, const char *argument)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, id);
    app_command(app, (const char *const[]){verb, number, argument, NULL});
}

// --- a session is steered ---

// The list of sessions is read less often than the open one.
static enum session_state state_of(const struct app *app, const struct session_row *row)
{
    const struct opened *o = &app->model.open;
    return row->record.id == o->record.id ? o->state : row->state;
}

static bool is_over(const struct session_row *row)
{
    return row->state == STATE_DONE || row->state == STATE_STOPPED || row->state == STATE_FAILED;
}

static void pause_or_go_on(struct app *app)
{
    const struct session_row *row = app_session(app);
    if (state_of(app, row) == STATE_RUNNING)
        command_for(app, "pause", row->record.id, NULL);
    else if (row->runner)
        command_for(app, "pause", row->record.id, "--off");
    else
        open_resume(app);
}

#define BUDGET_MARGIN_S 10

// Presses in a row add up, although the run takes a new budget only four times a second.
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
                "%" PRId64 " trials are spent: so few would end it (:stop ends it)", spent);
        return;
    }
    char trials[24];
    app->budget_session = id;
    app->budget_asked = from + more;
    snprintf(trials, sizeof trials, "%" PRId64, app->budget_asked);
    command_for(app, "budget", id, trials);
}

static const char *no_export(struct app *app)
{
    const struct session_row *row = app_session(app);
    return row->record.best_ask ? NULL : "nothing valid to export yet";
}

const char *app_disabled(struct app *app, enum action a)
{
    const struct session_row *row = app_session(app);
    bool needs_session = actions[a].group == GROUP_SESSION && a != ACT_NEW;
    if (needs_session && !row)
        return "no session is open";
    const struct view *view = views[app->view];
    const char *why = view->disabled ? view->disabled(app, app->state[app->view], a) : NULL;
    if (why)
        return why;
    switch (a) {
    case ACT_EXPORT: return no_export(app);
    case ACT_BEST: return app->model.open.record.best_ask ? NULL : "nothing valid was measured yet";
    case ACT_STOP: return is_over(row) ? "the session has ended already" : NULL;
    case ACT_EDIT:
        return str_starts(row->record.source, "replay:") ? "its space is a recording, no space file"
                                                         : NULL;
    case ACT_USE_NEW:
        return !app->model.open.record.id  ? "no session is open"
               : app->model.open.recording ? "the space is that of a recording"
                                           : space_file_no_new(&app->file);
    case ACT_RESUME: return row->runner ? "somebody runs it already" : NULL;
    case ACT_DELETE: return row->runner ? "it is running (pause it first)" : NULL;
    default: return NULL;
    }
}

// --- the `:` prompt ---

static const char *const command_names[] = {"tune", "resume", "pause", "stop",  "budget", "note",
                                            "rm",   "export", "pin",   "weigh", NULL};

static bool is_command(const char *word)
{
    for (int i = 0; command_names[i]; i++)
        if (str_equal(word, command_names[i]))
            return true;
    return false;
}

// Commands, then the actions that are none.
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

// Splits at blanks, in place; quotes keep blanks. Returns the count of words.
static int split_words(char *text, const char *words[DIALOG_MOST_WORDS])
{
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
    return count;
}

// Those that cannot be taken back are asked first, as when they are chosen by a key.
static void run_words(struct app *app, const char *const *words)
{
    if (str_equal(words[0], "rm") || str_equal(words[0], "stop"))
        ask_command(app, words);
    else
        app_command(app, words);
}

static bool run_typed(struct app *app, void *context, const char *typed)
{
    char text[LINE_SIZE];
    const char *words[DIALOG_MOST_WORDS];
    (void)context;
    snprintf(text, sizeof text, "%s", typed);
    if (!split_words(text, words))
        return true;
    if (is_command(words[0]) && words[1]) {
        run_words(app, words);
        return true;
    }
    enum action a = action_find(words[0]);
    if (a != ACT_NONE && actions[a].views & 1u << app->view) {
        app_act(app, a);
        return true;
    }
    if (a == ACT_NONE)
        app_say(app, STYLE_BAD,
                "'%s' is no action, and no command that changes something (Tab completes)",
                words[0]);
    else
        app_say(app, STYLE_BAD, "'%s' means nothing on this screen", words[0]);
    return false;
}

// --- acting ---

static void copy_trial(struct app *app)
{
    struct str text = {0};
    const struct trial *t = shown_trial(app);
    if (!t || !app->model.open.space) {
        app_say(app, STYLE_WARN, "there is no trial to copy");
        return;
    }
    config_add_json(app->model.open.space, &t->config, &text);
    app_copy(app, str_text(&text));
    str_finish(&text);
}

static void act_on_session(struct app *app, enum action a)
{
    switch (a) {
    case ACT_PAUSE: pause_or_go_on(app); break;
    case ACT_STOP: ask_stop(app); break;
    case ACT_BUDGET: open_budget(app); break;
    case ACT_MORE_BUDGET: add_budget(app, 100); break;
    case ACT_LESS_BUDGET: add_budget(app, -100); break;
    case ACT_EXPORT: open_export(app); break;
    case ACT_NEW: open_new_session(app, false); break;
    case ACT_USE_NEW: open_new_session(app, true); break;
    case ACT_DUPLICATE: open_duplicate(app); break;
    case ACT_RESUME: open_resume(app); break;
    case ACT_EDIT: app_edit(app, app_session(app)->record.path, 1); break;
    case ACT_NOTE: open_note(app); break;
    case ACT_DELETE: ask_delete(app); break;
    default: break;
    }
}

static void quit(struct app *app, bool leave_runs)
{
    app->quit = true;
    app->leave_runs = leave_runs;
}

static void act_on_program(struct app *app, enum action a)
{
    switch (a) {
    case ACT_BACK: app_show(app, app->before); break;
    case ACT_BEST: app_select(app, app->model.open.record.best_ask); break;
    case ACT_COPY: copy_trial(app); break;
    case ACT_HELP: app->help = true, app->help_text.top = 0; break;
    case ACT_COMMAND:
        app_prompt(
            app, &(struct prompt){.lead = ":", .done = run_typed, .candidate = command_candidate});
        break;
    case ACT_FREEZE:
        app->frozen = !app->frozen;
        app_say(app, STYLE_TEXT,
                app->frozen ? "the picture stands still; work goes on" : "the picture moves again");
        break;
    case ACT_MOUSE:
        app->mouse = !app->mouse;
        app_say(app, STYLE_TEXT, app->mouse ? "mouse on" : "mouse off: text can be selected");
        break;
    case ACT_SAVE_SCREEN: app->save_screen = true; break;
    case ACT_REDRAW: app->redraw = true; break;
    case ACT_SUSPEND: app->suspend = true; break;
    case ACT_LEAVE: quit(app, true); break;
    case ACT_QUIT: quit(app, false); break;
    default: break;
    }
}

void app_act(struct app *app, enum action a)
{
    const char *why = app_disabled(app, a);
    app->dirty = true;
    if (why) {
        app_say(app, STYLE_WARN, "%s: %s", actions[a].name, why);
        return;
    }
    if (views[app->view]->act(app, app->state[app->view], a))
        return;
    if (a >= ACT_VIEW && a <= ACT_VIEW_LAST)
        app_show(app, (enum view_id)(a - ACT_VIEW));
    else if (actions[a].group == GROUP_SESSION)
        act_on_session(app, a);
    else
        act_on_program(app, a);
}
