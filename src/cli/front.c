#include "cli/front.h"

#include "base/os.h"
#include "base/shown.h"
#include "engine/speed.h"
#include "trial/benchmark.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARENT_SOCKET = 3 };

// Writes a line to the parent. A parent that has gone is no reason to end.
static void write_parent(const char *line)
{
    ssize_t ignored = write(PARENT_SOCKET, line, strlen(line));
    (void)ignored;
}

static void on_detach(int number)
{
    int error = errno;
    (void)number;
    os_signal_at_parent_death(0);
    write_parent("detached\n");
    errno = error;
}

bool attached_check(struct err *e)
{
    struct stat st;
    if (fstat(PARENT_SOCKET, &st) != 0 || !S_ISSOCK(st.st_mode))
        return err_usage(e, "--attached is for the workbench: descriptor %d is no socket",
                         PARENT_SOCKET);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

void front_init(struct front *f, const struct arguments *a, struct store *store)
{
    *f = (struct front){
        .store = store,
        .json = arguments_flag(a, "json"),
        .show_rejected = arguments_flag(a, "show-rejected"),
        .verbose = arguments_flag(a, "verbose"),
        .attached = arguments_flag(a, "attached"),
        .curve_step = 1,
    };
    f->on_terminal = !f->json && !f->attached && !arguments_flag(a, "plain") &&
                     isatty(STDERR_FILENO) && !str_equal(getenv("TERM"), "dumb");
}

// --- JSON Lines (docs/reference/json.md) ---

// Reads the state of a network at its end. Returns false where the database does not have it.
static bool read_summary(struct store *store, const struct session_record *r, struct arena *a,
                         struct network_summary *out)
{
    struct err ignored;
    return r->scheduler && network_summary_read(store, r, a, out, &ignored);
}

// Reads baselines and shapes; there are none where the database does not have them. `a` has to be
// finished.
static void read_baselines(struct store *store, const struct event *event, struct arena *a,
                           struct baselines *b, struct shape_table *shapes)
{
    static const struct trial_record no_trial;
    static const struct retime_record no_race;
    const struct shape_findings found = {event->trial ? event->trial : &no_trial,
                                         event->retime ? event->retime : &no_race, b};
    struct err ignored;
    arena_init(a);
    if (!store_get_baselines(store, event->session->id, a, b, &ignored))
        *b = (struct baselines){.count = 0};
    shape_table_read(event->session, &found, a, shapes);
}

static void add_end(const struct front *f, const struct event *event, struct json_writer *w)
{
    const struct session_record *r = event->session;
    json_add_text(w, "state", state_name(r->state));
    json_add_int(w, "trials", r->trials);
    json_add_int(w, "rejected", r->rejected);
    json_add_text(w, "message", r->message ? r->message : "");
    json_add_text(w, "ended_by", r->ended_by);
    json_best(w, r, event->trial, event->retime);
    struct arena a;
    struct baselines b;
    struct shape_table shapes;
    struct network_summary n;
    read_baselines(f->store, event, &a, &b, &shapes);
    if (read_summary(f->store, r, &a, &n))
        network_add_json(w, &n);
    struct paired verdict = speed_verdict(r, &b);
    speed_add_ratio_json(&verdict, w);
    if (b.count)
        speed_add_baselines(r, &b, r->best_seconds, "baselines", w);
    if (r->shapes)
        shape_table_add_json(&shapes, "shapes", w);
    arena_finish(&a);
    json_add_real(w, "ran_seconds", r->ran_seconds);
    json_add_real(w, "busy_seconds", event->busy_seconds);
}

static void add_body(const struct front *f, const struct event *event, struct json_writer *w)
{
    const struct session_record *r = event->session;
    switch (event->kind) {
    case EVENT_SESSION: json_add_int(w, "version", 1); // fallthrough
    case EVENT_STATE: json_session(w, r, r->state); return;
    case EVENT_TRIAL: json_trial(w, r, event->trial, NULL); return;
    default: json_add_int(w, "session", r->id);
    }
    switch (event->kind) {
    case EVENT_BEST:
        json_add_int(w, "trial", event->trial->number);
        json_add_real(w, "tflops", speed_tflops(r, event->trial->seconds));
        json_add_real(w, "rate", speed_rate(r, event->trial->seconds));
        break;
    case EVENT_RETIME: {
        const struct retime_record *t = event->retime;
        json_add_int(w, "ask", t->ask);
        json_add_text(w, "kind", t->kind);
        json_add_flag(w, "verified", t->verified);
        json_add_real(w, "ms", speed_ms(r, t->seconds));
        json_add_raw(w, "samples", t->samples);
    } break;
    case EVENT_ROUND: network_add_round(w, event); break;
    case EVENT_WHOLE: network_add_whole(w, event->whole); break;
    case EVENT_MESSAGE:
        json_add_text(w, "level", event->level);
        json_add_text(w, "text", event->text);
        break;
    default: add_end(f, event, w); break;
    }
}

static void print_event(const struct front *f, const struct event *event)
{
    static const char *const names[] = {"session", "trial", "best",  "retime", "state",
                                        "message", "end",   "round", "whole"};
    struct str line = {0};
    if (event->kind == EVENT_MESSAGE && str_equal(event->level, "debug") && !f->verbose)
        return;
    if (event->kind == EVENT_TRIAL && event->trial->outcome == OUTCOME_REJECTED &&
        !f->show_rejected)
        return;
    struct json_writer w = json_begin(&line);
    json_add_text(&w, "event", names[event->kind]);
    add_body(f, event, &w);
    json_print(&w);
    fflush(stdout);
}

// --- lines for people ---

static void clear_progress(const struct front *f)
{
    if (f->on_terminal)
        shown_clear_line();
}

static void count_trial(struct front *f, const struct trial_record *t)
{
    enum outcome o = t->outcome;
    if (o == OUTCOME_OPEN)
        return;
    if (!f->outcomes[o]++ && t->reason) {
        struct str reason = {0};
        shown_add(&reason, t->reason);
        snprintf(f->reason[o], sizeof f->reason[o], "%s", str_text(&reason));
        str_finish(&reason);
    }
    if (o == OUTCOME_OK && (f->best_seconds <= 0 || t->seconds < f->best_seconds))
        f->best_seconds = t->seconds;
    if (!t->number || ++f->curve_skip < f->curve_step)
        return;
    // The best-so-far curve has room for 64 points: when it is full, every second one is dropped
    // and the step doubles.
    const int most = (int)(sizeof f->curve / sizeof *f->curve);
    f->curve_skip = 0;
    if (f->curve_count == most) {
        for (int i = 0; i < most / 2; i++)
            f->curve[i] = f->curve[2 * i + 1];
        f->curve_count = most / 2;
        f->curve_step *= 2;
    }
    f->curve[f->curve_count++] = f->best_seconds > 0 ? 1 / f->best_seconds : 0;
}

static bool count_stored(void *context, const struct trial_record *t)
{
    struct front *f = context;
    count_trial(f, t);
    f->started_trials += t->outcome != OUTCOME_OPEN && t->number;
    return true;
}

static void print_session(const struct event *event)
{
    struct session_record r = *event->session;
    char *scheduler = r.scheduler ? mem_printf("scheduler %s", r.scheduler) : NULL;
    char strategy[STRATEGY_TEXT];
    struct arena arena;
    arena_init(&arena);
    common_show_record(&arena, &r);
    printf("session %" PRId64 "  %s  %s", r.id, r.name, r.title);
    if (r.reduced)
        printf("  (%s)", r.reduced);
    if (r.cards > 1)
        printf("  on %d cards, each a %s\n", r.cards, r.device);
    else
        printf("  on %s\n", r.device);
    printf("        %s%s  strategy %s  seed %" PRIu64 "  %" PRId64 " trial%s  workers %d",
           scheduler ? scheduler : r.size, scheduler ? "" : " points",
           strategy_text(r.strategy, false, strategy), r.seed, r.budget_trials,
           r.budget_trials == 1 ? "" : "s", r.workers);
    if (r.patience)
        printf("  patience %" PRId64, r.patience);
    puts("");
    free(scheduler);
    arena_finish(&arena);
}

static void print_baselines(const struct front *f, const struct event *event)
{
    struct arena a;
    struct baselines b;
    struct shape_table shapes;
    struct str text = {0};
    const struct session_record *r = event->session;
    read_baselines(f->store, event, &a, &b, &shapes);
    speed_add_baseline_lines(r, &b, r->best_seconds, &text);
    shape_table_add_text(r, &shapes, &text);
    common_print(&text);
    arena_finish(&a);
}

static void print_end(const struct front *f, const struct event *event)
{
    char speed[SPEED_TEXT_SIZE];
    struct str config = {0};
    const struct session_record *r = event->session;
    struct str message = {0};
    shown_add(&message, r->message ? r->message : "");
    printf("\nsession %" PRId64 " %s: %s\n", r->id, state_name(r->state), str_text(&message));
    str_finish(&message);
    printf("trials  %" PRId64, r->trials);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (f->outcomes[i] && (i != OUTCOME_REJECTED || r->count_rejected))
            printf("  %s %" PRId64, outcome_name((enum outcome)i), f->outcomes[i]);
    printf("  (rejected without a trial: %" PRId64 ")\n", r->count_rejected ? 0 : r->rejected);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (i != OUTCOME_OK && i != OUTCOME_REJECTED && f->reason[i][0])
            printf("        first %s: %s\n", outcome_name((enum outcome)i), f->reason[i]);
    if (r->scheduler) {
        struct arena a;
        struct network_summary n;
        arena_init(&a);
        if (read_summary(f->store, r, &a, &n))
            network_print_table(&n);
        arena_finish(&a);
    } else if (event->trial) {
        double seconds = event->retime ? event->retime->seconds : event->trial->seconds;
        static const char *const bars[][9] = {{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
                                              {" ", "_", ".", ":", "-", "=", "+", "*", "#"}};
        const char *const *bar = bars[common_ascii()];
        double top = f->curve_count ? f->curve[f->curve_count - 1] : 0;
        if (top > 0) {
            fputs("curve   ", stdout);
            for (int i = 0; i < f->curve_count; i++)
                fputs(bar[(int)(8 * f->curve[i] / top)], stdout);
            fputs("\n", stdout);
        }
        print_baselines(f, event);
        printf("best    %s  trial %" PRId64 "%s\n", speed_and_time(r, seconds, speed),
               event->trial->number,
               !event->retime ? "  (measured once)"
               : benchmark_is(r->source)
                   ? "  (measured again beside the runners-up)"
                   : "  (timed again against the runners-up, verified twice)");
        speed_add_peak(r, seconds, &config);
        if (config.length)
            printf("        %s\n", str_text(&config));
        printf("        %s\n", text_config(event->trial->config, &config));
        str_finish(&config);
    } else {
        print_baselines(f, event);
        printf("best    none: no configuration was valid\n");
    }
    if (r->state == STATE_PAUSED)
        printf("resume  tilewalk resume %" PRId64 "%s\n", r->id, store_option(f->store));
}

static void plain_trial(struct front *f, const struct event *event)
{
    const struct trial_record *t = event->trial;
    count_trial(f, t);
    if (f->verbose || (f->show_rejected && t->outcome == OUTCOME_REJECTED)) {
        struct str config = {0}, reason = {0};
        shown_add(&reason, t->reason ? t->reason : "");
        clear_progress(f);
        char speed[32] = "-";
        if (t->seconds > 0)
            speed_text(event->session, t->seconds, speed);
        printf("%5" PRId64 "  %-8s  %12s  %s%s%s\n", t->number, outcome_name(t->outcome), speed,
               text_config(t->config, &config), reason.length ? "  " : "", str_text(&reason));
        str_finish(&config);
        str_finish(&reason);
    }
    const struct session_record *r = event->network ? event->network : event->session;
    char speed[32], eta[32] = "?";
    double now = (double)os_now_ns() / 1e9;
    if (!f->on_terminal || now - f->drawn_at < 0.1)
        return;
    double elapsed = r->ran_seconds - f->started_elapsed;
    double rate = elapsed > 0 ? (double)(r->trials - f->started_trials) / elapsed : 0;
    if (rate > 0)
        text_duration((double)(r->budget_trials - r->trials) / rate, eta);
    shown_clear_line();
    fprintf(stderr,
            "%" PRId64 "/%" PRId64 " trials  %.1f/s  best %s  rejected %" PRId64 "  %s left",
            r->trials, r->budget_trials, rate,
            r->best_ask    ? speed_text(r, r->best_seconds, speed)
            : f->latency_s ? text_time(f->latency_s, speed)
                           : "-",
            r->rejected, eta);
    f->drawn_at = now;
}

static void plain_message(const struct front *f, const struct event *event)
{
    if (str_equal(event->level, "debug") && !f->verbose)
        return;
    struct str text = {0};
    shown_add(&text, event->text);
    clear_progress(f);
    fprintf(stderr, "tilewalk: %s\n", str_text(&text));
    str_finish(&text);
}

static void print_best(const struct event *event)
{
    char speed[32], time[32], at[32];
    struct str config = {0};
    const struct trial_record *t = event->trial;
    printf("%5" PRId64 "  %-6s  %12s  %9s  %s\n", t->number, text_duration(t->elapsed_s, at),
           speed_text(event->session, t->seconds, speed),
           speed_time(event->session, t->seconds, time), text_config(t->config, &config));
    str_finish(&config);
}

static void plain_event(struct front *f, const struct event *event)
{
    if (f->nothing_left)
        return;
    switch (event->kind) {
    case EVENT_SESSION: print_session(event); break;
    case EVENT_TRIAL: plain_trial(f, event); break;
    case EVENT_BEST:
        if (event->network && !f->verbose) // its rounds have lines
            break;
        clear_progress(f);
        print_best(event);
        break;
    case EVENT_ROUND:
        f->latency_s = event->round->latency;
        clear_progress(f);
        network_print_round(event);
        break;
    case EVENT_WHOLE: // has a message
    case EVENT_RETIME: break;
    case EVENT_STATE:
        clear_progress(f);
        printf("session %" PRId64 " is %s\n", event->session->id,
               state_name(event->session->state));
        break;
    case EVENT_MESSAGE: plain_message(f, event); break;
    case EVENT_END:
        clear_progress(f);
        print_end(f, event);
        break;
    }
    fflush(stdout);
}

void front_on_event(void *context, const struct event *event)
{
    struct front *f = context;
    if (event->kind == EVENT_SESSION) {
        f->nothing_left = event->session->state != STATE_RUNNING;
        if (f->nothing_left && !f->json) {
            struct str message = {0};
            shown_add(&message, event->session->message && *event->session->message
                                    ? event->session->message
                                    : state_name(event->session->state));
            fprintf(f->attached ? stderr : stdout, // stdout of a child of the workbench is empty
                    "session %" PRId64 ": nothing is left to do, %s (tilewalk resume %" PRId64
                    "%s --trials N continues)\n",
                    event->session->id, str_text(&message), event->session->id,
                    store_option(f->store));
            str_finish(&message);
        } else if (!f->attached) {
            struct err ignored; // trials that cannot be read are not counted
            f->started_elapsed = event->session->ran_seconds;
            f->started_trials = event->session->scheduler ? event->session->trials : 0;
            store_each_trial(f->store, event->session->id, 1, count_stored, f, &ignored);
        }
    }
    if (event->kind == EVENT_END) {
        f->finished = event->session->state == STATE_DONE || event->session->state == STATE_STOPPED;
        const struct session_record *r = event->session;
        bool tried = r->trials + r->rejected > 0; // false for a network of known tasks
        f->nothing_valid = r->scheduler ? tried && !r->ok : !event->trial;
    }
    if (f->attached) { // the workbench reads the database
        if (event->kind == EVENT_MESSAGE && !event->kept)
            plain_message(f, event);
        return;
    }
    if (f->json)
        print_event(f, event);
    else
        plain_event(f, event);
    if (f->engine && ferror(stdout)) // nobody would see the rest
        engine_interrupt(f->engine);
}

// --- running ---

static struct engine *signalled_engine;
static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    if (signal_seen && number == SIGINT)
        _exit(EXIT_INT);
    signal_seen = number;
    engine_interrupt(signalled_engine);
}

int front_code(const struct front *f)
{
    return f->finished && f->nothing_valid ? EXIT_NOTHING_VALID : EXIT_OK;
}

int front_run(struct front *f, int64_t session)
{
    struct err e;
    signalled_engine = f->engine;
    common_on_signals(on_signal, 0);
    signal(SIGPIPE, SIG_IGN); // seen as an error of stdout
    if (f->attached) {
        // TERM replaces KILL, and USR1 is caught, before the session is announced.
        char line[64];
        struct sigaction action = {.sa_handler = on_detach};
        sigemptyset(&action.sa_mask);
        bool parent_lives = os_signal_at_parent_death(SIGTERM);
        sigaction(SIGUSR1, &action, NULL);
        snprintf(line, sizeof line, "session %" PRId64 "\n", session);
        write_parent(line);
        if (!parent_lives)
            raise(SIGTERM);
    }
    bool ok = engine_run(f->engine, &e);
    common_on_signals(SIG_DFL, 0); // all is stored: the rest may be ended at any moment
    signalled_engine = NULL;
    if (!ok)
        return fail_with(&e, EXIT_FAILED);
    if (signal_seen)
        return 128 + signal_seen;
    return front_code(f);
}
