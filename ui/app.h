// The workbench as a state machine: keys and time go in, frames come out. There is no terminal in
// it: term.c feeds it from one, tests feed it from scripts.
//
//     app_init(&app, &options);
//     app_key(&app, key); app_poll(&app, now, unix_now);
//     if (app.dirty) { app_draw(&app); term_show(&app.screen); }
//     app_finish(&app);
//
// A frame is: head (two rows: where we are, the result so far), the body of the shown view, the
// last message, the footer with the keys that work here. Over it may lie one dialog or the help;
// the last row may be a prompt (filter, command). On tiny screens rows go in the order footer,
// message, second head row; one row is left for one line of text that still takes every key.
//
// One thread.
#ifndef TILEWALK_UI_APP_H
#define TILEWALK_UI_APP_H

#include "config.h"
#include "job.h"
#include "list.h"
#include "model.h"
#include "prompt.h"
#include "space_file.h"
#include "view.h"

struct dialog; // dialog.h

// PROMPT_CHANGED: after each edit. PROMPT_DONE: Enter. PROMPT_CANCELLED: Esc.
enum prompt_event { PROMPT_CHANGED, PROMPT_DONE, PROMPT_CANCELLED };

// A line that is being typed in the last row.
struct prompt {
    bool open;
    char lead[24]; // "/", ":"
    struct line line;
    void *context;
    // False after Enter: the text is wrong and stays for correction.
    bool (*typed)(struct app *app, void *context, enum prompt_event event, const char *text);
    // Tab: returns the n-th word that could stand here, NULL past the last; may be NULL.
    const char *(*candidate)(struct app *app, int n);
};

#define APP_LOG_LINES 256

// A line that no session stored: it comes from drivers and libraries in this process, from runs
// started here or from commands.
struct log_line {
    double at;       // unix time
    char text[1024]; // a command line with all options of a strategy, too
};

struct app_options {
    const char *database;
    const struct ui_config *config; // outlives the app; keys, charset
    const char *program;            // path of tilewalk, for command lines
    enum view_id view;              // shown first
    int64_t session;                // opened first; 0: none yet
};

struct app {
    struct app_options options;
    const struct ui_config *config;
    struct model model;
    struct screen screen;
    struct keymap keymap;
    enum view_id view, before; // shown; shown before that
    void *state[VIEW_COUNT];
    int64_t selected; // ask of the trial that all views mean by "this one"; 0: none
    bool follow;      // the selection stays on the newest trial
    struct jobs jobs;
    struct dialog *dialog;
    struct prompt prompt;
    bool pasting; // keys are a paste: text, and nothing else
    bool help;
    struct list help_text;
    struct space_file file; // of the open session, on disk
    int64_t file_session;   // the session of `file`
    bool frozen;            // the display does not change; tuning continues
    char notice[1024];      // over the last message row, and over rows of the body if it is long
    enum style notice_style;
    double notice_until; // `now` when it goes
    double now;          // monotonic seconds
    double unix_now;
    bool dirty;                        // a frame is due
    bool mouse;                        // wanted
    bool quit;                         // leave
    bool leave_runs;                   // and let runs of this process continue without it
    bool suspend, redraw, save_screen; // ui.c does it and clears it
    char *edit_path;                   // an editor is wanted on this file (heap)
    int edit_line;
    char *copy;                         // text for the clipboard (heap)
    struct log_line log[APP_LOG_LINES]; // a ring: line n is log[n % APP_LOG_LINES]
    int64_t log_count;                  // lines ever
    struct {
        int col, end;
        enum action action;
    } footer[24]; // what a click means there
    int footer_count;
    char key_text[16];    // of app_key_of
    int64_t budget_asked; // the budget that was asked for last, until the run has read it
    int64_t budget_session;
};

void app_init(struct app *app, const struct app_options *o);
void app_finish(struct app *app);
void app_resize(struct app *app, int rows, int cols);
void app_key(struct app *app, int32_t key);
void app_act(struct app *app, enum action a);
void app_click(struct app *app, int row, int col); // on the screen
// Polls the database, the jobs and the shown view's work. Returns true while more work waits.
bool app_poll(struct app *app, double now, double unix_now);
void app_draw(struct app *app);

// For views and dialogs.
void app_show(struct app *app, enum view_id view);
// Shows the view that the options ask for; for a network, which has no trials of its own, its
// screen.
void app_show_first(struct app *app);
void app_open_session(struct app *app, int64_t id); // and shows it on the main screen
void app_say(struct app *app, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void app_select(struct app *app, int64_t ask); // 0: none; ends following
void app_prompt(struct app *app, const struct prompt *p);
// The session that keys mean: the one under the cursor on the sessions screen, else the open one.
const struct session_row *app_session(struct app *app);
// Runs `tilewalk WORDS...` (NULL-terminated, without the program) in the background and shows how
// it ended. `--db` is added, before a `--`. The command line is kept in the log. `tune` and
// `resume` become runs that belong to this process; their session is opened when it exists.
void app_command(struct app *app, const char *const *words);
// Runs `tilewalk WORDS...` for its output, which `on_end` gets once; `--db` is added. The app may
// show another screen by then. No notice and no log line is made.
bool app_ask(struct app *app, const char *const *words,
             void (*on_end)(void *app, const struct job_record *job), struct err *e);
// The same words as one would type them into a shell of the workbench's environment: `--db` only
// when that would mean another database. Heap.
char *app_command_line(const struct app *app, const char *const *words);
void app_edit(struct app *app, const char *path, int line); // opens the user's editor soon
// Reports what the editor did to `path`, which had the stamp `before` (file_stamp).
void app_edited(struct app *app, const char *path, uint64_t before);
// The space file of the open session: what it is compared with; a read of it now. Changes are
// reported.
struct space_file_basis app_file_basis(const struct app *app);
void app_file_read(struct app *app);
void app_copy(struct app *app, const char *text); // to the clipboard, as far as there is one
void app_log(struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The keys of an action for texts ("p F9" gives "p"); valid until the next call.
const char *app_key_of(struct app *app, enum action a);

#endif
