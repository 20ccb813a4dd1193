#include "ui.h"

#include "app.h"
#include "base/err.h"
#include "base/file.h"
#include "base/shown.h"
#include "base/spawner.h"
#include "engine/engine.h"
#include "engine/speed.h"
#include "job.h"
#include "report/text.h"
#include "term.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// --- the exit summary: the state of the runs that were started here ---

// Prints a line for each session. A session that was paused and resumed has had several runs: the
// last one counts.
static void print_exit_summary(const struct jobs *j, const char *database)
{
    struct err e;
    struct store *s = j->past_count ? store_open(database, STORE_READ, &e) : NULL;
    if (!s)
        return;
    for (int i = j->past_count > MOST_PAST ? j->past_count - MOST_PAST : 0; i < j->past_count;
         i++) {
        const struct past_run *run = &j->past[i % MOST_PAST];
        bool is_last = true;
        for (int k = i + 1; k < j->past_count; k++)
            is_last &= j->past[k % MOST_PAST].session != run->session;
        if (!is_last)
            continue;
        struct arena arena;
        struct session_record r;
        pid_t runner = 0;
        const char *option = store_option(s);
        char speed[SPEED_TEXT_SIZE];
        arena_init(&arena);
        bool found = store_get_session(s, run->session, &arena, &r, &e);
        if (found)
            r.state = store_state(s, &r, &runner);
        if (!found)
            printf("tilewalk: %s\n", e.text);
        else if (run->detached || (r.state == STATE_RUNNING && runner))
            printf("session %" PRId64 " runs on in the background: tilewalk watch %" PRId64 "%s\n",
                   r.id, r.id, option);
        else if (r.state == STATE_PAUSED)
            printf("session %" PRId64 " is paused: tilewalk resume %" PRId64 "%s\n", r.id, r.id,
                   option);
        else if (r.best_ask)
            printf("session %" PRId64 " is %s: best %s%s: tilewalk show %" PRId64 "%s\n", r.id,
                   state_name(r.state), speed_and_time(&r, r.best_seconds, speed),
                   r.best_raced ? " raced" : " measured once", r.id, option);
        else
            printf("session %" PRId64 " is %s: nothing valid was found: tilewalk show %" PRId64
                   "%s\n",
                   r.id, state_name(r.state), r.id, option);
        arena_finish(&arena);
    }
    store_close(s);
}

#define FRAMES_PER_SECOND 15
#define BUSY_POLL_S       0.1 // while something runs
#define IDLE_POLL_S       0.5
#define MOST_WAIT_S       60 // for runs to pause when we leave
#define FIRST_POLL_MS     100

struct ui {
    const struct ui_options *o;
    char *program;
    struct spawner *spawner;
    struct ui_config config;
    struct app app;
    struct jobs first; // the run that the screen waits for
    int64_t session;   // shown first; 0: none
    enum view_id view;
    double drawn_at;
    bool hurry;       // a key was pressed: the next frame does not wait
    bool hung_up;     // the terminal is gone
    bool signalled;   // a signal ends the workbench
    bool interrupted; // by Ctrl-C, which need not be the first signal
    int exit_code;    // 128 + signal, or that of the run
};

static double now_s(void)
{
    return (double)os_now_ns() / 1e9;
}

// --- before the screen is up ---

// Returns 0, or the exit code.
static int configure(struct ui *ui)
{
    const struct ui_options *o = ui->o;
    struct err e;
    char *path = path_user_config("workbench.conf");
    config_init(&ui->config);
    bool read = config_read(&ui->config, path, &e);
    free(path);
    if (!read)
        return fail_with(&e, EXIT_FAILED);
    const char *const options[][2] = {
        {"charset", o->charset}, {"color", o->color}, {"theme", o->theme}};
    for (int i = 0; i < 3; i++)
        if (options[i][1] && !config_set(&ui->config, options[i][0], options[i][1], &e))
            return fail_with(&e, EXIT_USAGE);
    ui->view = o->session || o->runs ? VIEW_MAIN : VIEW_SESSIONS;
    if (!o->view)
        return 0;
    const char *names[VIEW_COUNT];
    for (int i = 0; i < VIEW_COUNT; i++) {
        names[i] = views[i]->name;
        ui->view = (enum view_id)i;
        if (str_equal(names[i], o->view))
            return 0;
    }
    const char *near = str_suggest_list(o->view, VIEW_COUNT, names);
    if (near)
        err_set(&e, "unknown view '%s' (did you mean '%s'?)", o->view, near);
    else
        err_set(&e, "unknown view '%s' (main, map, trials, network, sessions, space, log, kernel)",
                o->view);
    return fail_with(&e, EXIT_USAGE);
}

static void print_line(void *context, const struct job_record *run, const char *line)
{
    (void)context, (void)run;
    fprintf(stderr, "%s\n", line);
}

static void take_session(void *context, const struct job_record *run)
{
    struct ui *ui = context;
    if (!ui->session)
        ui->session = run->session;
}

static void take_exit_code(void *context, const struct job_record *run)
{
    ((struct ui *)context)->exit_code = run->exit_code;
}

// Starts the runs and waits until each has a session or has ended. False: none has one; the reason
// was printed.
static bool start_run(struct ui *ui)
{
    struct err e;
    ui->first = (struct jobs){.spawner = ui->spawner,
                              .context = ui,
                              .on_line = print_line,
                              .on_session = take_session,
                              .on_run_end = take_exit_code};
    for (int i = 0; i < ui->o->runs; i++)
        if (!jobs_start(&ui->first, &(struct job_record){.is_run = true}, ui->program,
                        ui->o->run[i], &e)) {
            ui->exit_code = fail_with(&e, EXIT_FAILED);
            return false;
        }
    for (;;) {
        bool all = true;
        struct pollfd fds[2 * MOST_JOBS];
        for (int i = 0; i < ui->first.count; i++)
            all &= ui->first.job[i].session != 0;
        if (all)
            break;
        poll(fds, (nfds_t)jobs_fds(&ui->first, fds, 2 * MOST_JOBS), FIRST_POLL_MS);
        jobs_step(&ui->first);
    }
    return ui->session != 0;
}

// --- requests of the app ---

static void step_jobs(void *context)
{
    struct ui *ui = context;
    ui->app.dirty |= jobs_step(&ui->app.jobs);
}

static void fit(struct app *app)
{
    int rows, cols;
    term_size(&rows, &cols);
    if (rows != app->screen.rows || cols != app->screen.cols)
        app_resize(app, rows, cols);
    app->dirty = true;
}

static void serve(struct ui *ui)
{
    struct app *app = &ui->app;
    if (app->edit_path) {
        char *path = app->edit_path;
        app->edit_path = NULL;
        uint64_t before = file_stamp(path, 0);
        if (editor_run(ui->spawner, path, app->edit_line, step_jobs, ui))
            app_edited(app, path, before);
        else
            app_say(app, STYLE_BAD, "the editor '%s' failed (set $VISUAL or $EDITOR)",
                    editor_of(&ui->config));
        free(path);
        app->redraw = true;
    }
    if (app->save_screen) {
        struct str text = {0};
        int n, fd = spawner_open_file(ui->spawner, &n);
        FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
        screen_add_text(&app->screen, &text);
        bool written = file && fwrite(str_text(&text), 1, text.length, file) == text.length;
        if (file)
            written &= fclose(file) == 0;
        str_finish(&text);
        app->save_screen = false;
        if (written)
            app_say(app, STYLE_TEXT, "saved as tilewalk-screen-%d.txt", n);
        else
            app_say(app, STYLE_BAD, "tilewalk-screen-%d.txt cannot be written", n);
    }
    if (app->suspend)
        term_suspend();
    if (app->redraw)
        term_redraw();
    if (app->copy)
        term_copy(app->copy);
    if (app->announcement)
        term_announce(app->announcement);
    if (app->suspend || app->redraw)
        fit(app);
    app->suspend = app->redraw = false;
    free(app->copy);
    free(app->announcement);
    app->copy = app->announcement = NULL;
    term_mouse(app->mouse);
}

// --- input ---

static void leave_by_signal(struct ui *ui, int exit_code)
{
    ui->interrupted |= exit_code == EXIT_INT;
    if (ui->signalled)
        return; // the first one counts
    ui->app.quit = ui->signalled = true;
    ui->exit_code = exit_code;
}

static void log_stderr(struct ui *ui)
{
    char line[STDERR_LINE_SIZE];
    while (stderr_line(line))
        app_log(&ui->app, "%s", line);
}

// Waits for any input at most `seconds`, and handles it.
static void wait_for_news(struct ui *ui, double seconds)
{
    struct pollfd fds[3 + 2 * MOST_JOBS];
    int n = term_fds(fds);
    if (ui->hung_up)
        fds[0].fd = -1;
    n += jobs_fds(&ui->app.jobs, fds + n, 2 * MOST_JOBS);
    bool any = poll(fds, (nfds_t)n, (int)(seconds * 1e3)) > 0;
    if (any && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
        ui->hung_up = true; // perhaps without a signal
        leave_by_signal(ui, EXIT_HUP);
    }
    for (enum term_event event; (event = term_take_event()) != TERM_NONE;)
        switch (event) {
        case TERM_INTERRUPT: leave_by_signal(ui, EXIT_INT); break;
        case TERM_HANGUP: leave_by_signal(ui, EXIT_HUP); break;
        case TERM_TERMINATE: leave_by_signal(ui, EXIT_TERM); break;
        case TERM_RESIZED:
        case TERM_CONTINUED:
            fit(&ui->app);
            ui->hurry = true;
            break;
        case TERM_NONE: break;
        }
    // Keys are dropped once the user leaves.
    int row = 0, col = 0;
    for (int32_t key; (key = term_key(&row, &col)) != KEY_IS_NONE;) {
        if (ui->app.quit)
            continue;
        ui->hurry = true;
        if (key == KEY_IS_CLICK)
            app_click(&ui->app, row, col);
        else
            app_key(&ui->app, key);
        serve(ui);
    }
    log_stderr(ui);
}

// --- the loop ---

static void draw_if_due(struct ui *ui)
{
    double now = now_s();
    if (!ui->app.dirty || (!ui->hurry && now < ui->drawn_at + 1.0 / FRAMES_PER_SECOND))
        return;
    app_draw(&ui->app);
    term_show(&ui->app.screen);
    ui->drawn_at = now;
    ui->hurry = false;
}

// --- leaving ---

// Shows the workbench, from the first frame to the last.
static void show(struct ui *ui)
{
    struct err e;
    struct look look;
    if (!term_open(&ui->config, ui->spawner, &look, &e)) {
        ui->exit_code = fail_with(&e, EXIT_FAILED);
        return;
    }
    ui->config.charset = look.charset;
    ui->o->confine(ui->o->context);
    app_init(&ui->app, &(struct app_options){.database = ui->o->database,
                                             .config = &ui->config,
                                             .program = ui->program,
                                             .view = ui->view,
                                             .session = ui->session,
                                             .is_demo = ui->o->is_demo});
    ui->app.jobs.spawner = ui->spawner;
    jobs_move(&ui->app.jobs, &ui->first);
    term_mouse(ui->app.mouse);
    fit(&ui->app);
    bool more = app_poll(&ui->app, now_s(), os_unix_time());
    draw_if_due(ui);
    while (!ui->app.quit) {
        const struct opened *o = &ui->app.model.open;
        bool busy = ui->app.jobs.count || (o->record.id && o->runner);
        double wait = more ? 0 : busy ? BUSY_POLL_S : IDLE_POLL_S;
        double frame = ui->drawn_at + 1.0 / FRAMES_PER_SECOND - now_s();
        if (ui->app.dirty && frame < wait)
            wait = frame > 0 ? frame + 1e-3 : 0;
        wait_for_news(ui, wait);
        more = app_poll(&ui->app, now_s(), os_unix_time());
        serve(ui);
        draw_if_due(ui);
    }
    if (!ui->signalled) {
        // The exit code of the run of the command line if it has ended by itself, else 0.
        const struct jobs *j = &ui->app.jobs;
        int code = 0;
        for (int i = j->past_count > MOST_PAST ? j->past_count - MOST_PAST : 0; i < j->past_count;
             i++)
            if (ui->o->runs && j->past[i % MOST_PAST].session == ui->session)
                code = j->past[i % MOST_PAST].exit_code;
        ui->exit_code = code;
    }
    ui->hurry = true;
    // Waits until runs are saved. An interruption (the second, if the first one is the reason for
    // leaving) ends the waiting.
    struct app *app = &ui->app;
    double end = now_s() + MOST_WAIT_S;
    bool let_go = app->leave_runs && !ui->signalled;
    ui->interrupted = false;
    while (!jobs_are_gone(&app->jobs) && now_s() < end && !ui->interrupted) {
        jobs_leave(&app->jobs, let_go);
        app_say(app, STYLE_WARN, "%s (ctrl-c leaves at once)", let_go ? "letting go" : "saving...");
        draw_if_due(ui);
        wait_for_news(ui, BUSY_POLL_S);
        app_poll(app, now_s(), os_unix_time());
    }
    log_stderr(ui);
    jobs_finish(&ui->app.jobs);
    term_close();
    shown_streams(true);
    print_exit_summary(&ui->app.jobs, ui->o->database);
    app_finish(&ui->app);
}

int ui_run(const struct ui_options *o)
{
    struct ui *ui = mem_zero(1, sizeof *ui);
    struct err e;
    ui->o = o;
    ui->session = o->session;
    ui->program = path_program();
    int code = configure(ui);
    ui->spawner = code ? NULL : jobs_spawner_create(ui->program, &ui->config, &e);
    if (!code && !ui->spawner) {
        code = fail_with(&e, EXIT_FAILED);
    } else if (!code) {
        if (!o->runs || start_run(ui))
            show(ui);
        jobs_finish(&ui->first); // of a screen that did not come up
        spawner_destroy(ui->spawner);
        code = ui->exit_code;
    }
    free(ui->program);
    free(ui);
    return code;
}
