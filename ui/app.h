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
#include "model.h"
#include "space_file.h"
#include "widget.h"

struct app;
struct dialog; // dialog.h

// --- views ---

// A view is one of the screens on keys 1 to 9: one file each, `static` inside, its record last.
//
// A view draws the body of the frame (the rows between head and footer) from the model, whole and
// every time, at any size down to 1 x 1. It never waits, writes only into its pane, and reads no
// clock but app->now and app->unix_now. Work that takes more than a millisecond is done in slices
// by `tick`. A view changes a session by a command line: app_command.
struct view {
    const char *name;                             // "main": of the `:` prompt and --view
    const char *title;                            // "Main": of the footer
    const char *tab;                              // shorter, for narrow footers: "Ses"
    size_t size;                                  // of its state, which begins as zero
    void (*init)(void *state);                    // what is not zero; may be NULL
    void (*finish)(struct app *app, void *state); // frees what the state holds; may be NULL
    void (*draw)(struct app *app, void *state, const struct pane *body);
    // True: the action was the view's.
    bool (*act)(struct app *app, void *state, enum action a);
    // Why an action of the view can do nothing now, a short clause for the message row ("no trial
    // is selected"); NULL: it can. May be NULL.
    const char *(*disabled)(struct app *app, void *state, enum action a);
    // A slice of at most about 5 ms of work; true while there is more. Called for the view that is
    // shown, when the model changed and as long as it says true. May be NULL.
    bool (*tick)(struct app *app, void *state);
    void (*opened)(struct app *app, void *state); // another session is open now; may be NULL
    // A click on the body, relative to it; may be NULL.
    void (*click)(struct app *app, void *state, int row, int col);
};

#define AS_VIEW(id, name, keys, help) extern const struct view view_##name;
VIEWS(AS_VIEW)
extern const struct view *const views[VIEW_COUNT]; // indexed by enum view_id

// Returns the session under the cursor of the sessions screen; 0: none.
int64_t view_sessions_at_cursor(struct app *app);
// Takes the answer of the child that renders and compiles a kernel; for jobs, and for tests.
void view_kernel_answer(struct app *app, const char *output, int exit_code);

// --- the app ---

// PROMPT_CHANGED: after each edit. PROMPT_DONE: Enter. PROMPT_CANCELLED: Esc, and the text is the
// one from before.
enum prompt_event { PROMPT_CHANGED, PROMPT_DONE, PROMPT_CANCELLED };

// A line that is being typed in the last row.
struct prompt {
    bool open;
    char lead[24]; // "/", ":"
    struct line line;
    char before[LINE_SIZE];
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
    enum view_id view;              // shown first; for MAIN of a network, its screen
    int64_t session;                // opened first; 0: none yet
    bool is_demo;
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
    char *file_path;   // its path: the user's copy of one that ships, else the session's (heap)
    bool frozen;       // the display does not change; tuning continues
    char notice[1024]; // over the last message row, and over rows of the body if it is long
    enum style notice_style;
    double notice_until; // `now` when it goes
    // The last failure. It stays above notices until it is acknowledged or mended; "": none.
    char error[1024];
    enum error_kind { ERROR_OF_COMMAND, ERROR_OF_FILE, ERROR_OF_PROMPT } error_kind;
    double now; // monotonic seconds
    double unix_now;
    bool dirty;                        // a frame is due
    bool mouse;                        // wanted
    bool quit;                         // leave
    bool leave_runs;                   // and let runs of this process continue without it
    bool suspend, redraw, save_screen; // ui.c does it and clears it
    char *edit_path;                   // an editor is wanted on this file (heap)
    int edit_line;
    char *copy_path;    // that file will be a copy, which is being made (heap)
    char *copy;         // text for the clipboard (heap)
    char *announcement; // for the terminal: a session ended, a new best (heap)
    struct {            // the open session as it was announced last
        int64_t session;
        enum session_state state;
        int steps; // of its curve
    } announced;
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
void app_open_session(struct app *app, int64_t id); // and shows it on the main screen
// Shows a message for some seconds; one of STYLE_BAD is an error, which stays.
void app_say(struct app *app, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void app_select(struct app *app, int64_t ask); // 0: none; ends following
void app_prompt(struct app *app, const struct prompt *p, const char *text); // begins with `text`
// Returns the selected trial of all views: the newest one while following; NULL: none.
const struct trial *shown_trial(struct app *app);
// Returns the session that keys mean: the one under the cursor on the sessions screen, else the
// open one.
const struct session_row *app_session(struct app *app);
// Runs `tilewalk WORDS...` (NULL-terminated, without the program) in the background and shows how
// it ended. `--db` is added, before a `--`. The command line is kept in the log. `tune` and
// `resume` become runs that belong to this process; their session is opened when it exists.
// False: it could not be started, which was said.
bool app_command(struct app *app, const char *const *words);
// Runs `tilewalk WORDS...` for its output, which `on_end` gets once; `--db` is added. The app may
// show another screen by then. No notice and no log line is made.
bool app_ask(struct app *app, const char *const *words,
             void (*on_end)(void *app, const struct job_record *job), struct err *e);
// Returns the same words as one would type them into a shell: with `--db` only where the database
// is not the standard one. Heap.
char *app_command_line(const struct app *app, const char *const *words);
// Opens the user's editor soon; on the user's copy of a file that ships, which it asks to make.
void app_edit(struct app *app, const char *path, int line);
// Ends the wait for a copy, and opens it.
void app_copied(void *app, const struct job_record *job);
// Reports what the editor did to `path`, which had the stamp `before` (file_stamp).
void app_edited(struct app *app, const char *path, uint64_t before);
// Returns what the space file of the open session is compared with.
struct space_file_basis app_file_basis(const struct app *app);
bool app_file_watched(const struct app *app); // the open session has one
// Returns the user's copy of a session's preset (heap) where it was written after the session
// began: one that began later knows which of the two it takes. NULL: there is none.
char *app_file_copy(const struct session_record *r);
void app_file_find(struct app *app); // decides which file it is (file_path)
void app_file_read(struct app *app); // reads it now, and reports changes
void app_file_report(struct app *app);
// Forgets the error that is shown if it is of that kind (error_kind): it is mended.
void app_forget_error(struct app *app, enum error_kind kind);
void app_copy(struct app *app, const char *text); // to the clipboard, as far as there is one
void app_copy_config(struct app *app, const struct trial *t); // as text; NULL: nothing happens
void app_log(struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Returns the first key of an action, for texts ("p F9" gives "p"); valid until the next call.
const char *app_key_of(struct app *app, enum action a);
// Returns why an action does nothing now; NULL: it does something.
const char *app_disabled(struct app *app, enum action a);

// The rows of a screen for each part of a frame; `body` is the rest, for the view.
struct frame_rows {
    int head, body, message, footer;
};

struct frame_rows frame_rows_of(int rows);

#endif
