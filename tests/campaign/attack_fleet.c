// A run measured by a pool and by an agent on a bad line, while workers, agents, whatever the run
// has started, the run itself and the server are killed, the clock steps, and results come twice
// and late: it has asked and stored what an undisturbed run asks and stores, each trial once.
//
// Up to FAULTS of them in each of ATTEMPTS attempts; what the line does by itself is not counted.
// On a busy machine the run, whose trials sleep, may be done before the last one.
#include "campaign.h"
#include "pool_server.h"

#include "base/file.h"
#include "base/os.h"
#include "base/str.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIALS 150
enum { FAULTS = 5, ATTEMPTS = 40, WORKERS = 2, MOST_RESUMES = 12, LISTEN_MS = 1000 };

struct field {
    struct attempt *a;
    struct pool_server server;
    struct running *worker[WORKERS], *run;
    const char *strategy, *seed;
    const char *result, *result_subject; // one that was overheard; NULL: none yet
    int64_t said;                        // trials that runs told of
    struct str faults;
};

// --- who takes part ---

static const char *arena_number(struct attempt *a, int64_t n)
{
    return arena_printf(&a->box->arena, "%" PRId64, n);
}

static void start_worker(struct field *f, int i)
{
    f->worker[i] = START(f->a->box, "worker", f->server.url, "--device", "none", "--workers", "2");
}

static void start_run(struct field *f)
{
    struct box *b = f->a->box;
    const char *url = f->server.url;
    const char *const tune[] = {"tune",       flow_path(b, "small.lua"),
                                "--source",   "synthetic:rugged:seed=3:invalid=0.2:delay_us=200000",
                                "--strategy", f->strategy,
                                "--trials",   arena_number(f->a, TRIALS),
                                "--seed",     f->seed,
                                "--json",     "--pool",
                                url,          "--on",
                                "ssh:far",    NULL};
    const char *const resume[] = {"resume", "1", "--json", "--pool", url, "--on", "ssh:far", NULL};
    bool again = listed_session(b, 1) != NULL;
    note_command(again ? resume : tune);
    f->run = start_list(b, again ? resume : tune);
}

static bool has_ended(const struct running *r)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

// Returns its exit code.
static int end_run(struct field *f)
{
    struct result r = finish(f->a->box, f->run);
    if (r.code != 0 && r.code != 1 && r.code != 128 + SIGKILL)
        fail_msg("exit code %d: %.300s", r.code, r.err);
    f->said += count_trials(r.out);
    return r.code;
}

// --- faults ---

static void kill_worker(struct field *f)
{
    int i = (int)below(f->a, WORKERS);
    send_signal(f->worker[i], SIGKILL);
    finish(f->a->box, f->worker[i]);
    start_worker(f, i);
}

static void kill_agent(struct field *f)
{
    signal_below(f->a, f->worker[below(f->a, WORKERS)]->pid, SIGKILL);
}

// The agent on the line, the line, what speaks to the pool, what starts these.
static void kill_below_run(struct field *f)
{
    signal_below(f->a, f->run->pid, SIGKILL);
}

static void kill_run(struct field *f)
{
    send_signal(f->run, SIGKILL);
    end_run(f);
    start_run(f);
}

static void kill_server(struct field *f)
{
    pool_kill(f->a->box, &f->server);
    rest_ms(below(f->a, 500));
    pool_start_again(f->a->box, &f->server);
}

// "HMSG tw.result.RUN.NUMBER 1 ...\r\n...\r\n\r\n{...}\r\n" of those that come now.
static void overhear(struct field *f)
{
    static char bytes[1 << 16];
    size_t length = 0;
    int fd = pool_talk(&f->server);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char *subject = NULL, *text = NULL, *end = NULL;
    while (!end && length < sizeof bytes - 1 && poll(&p, 1, LISTEN_MS) == 1) {
        ssize_t n = read(fd, bytes + length, sizeof bytes - 1 - length);
        if (n <= 0)
            break;
        length += (size_t)n;
        bytes[length] = '\0';
        subject = strstr(bytes, "HMSG tw.result.");
        text = subject ? strstr(subject, "\r\n\r\n{") : NULL;
        end = text ? strstr(text + 4, "\r\n") : NULL;
    }
    close(fd);
    if (!end)
        return;
    subject += strlen("HMSG ");
    f->result_subject =
        arena_printf(&f->a->box->arena, "%.*s", (int)strcspn(subject, " "), subject);
    f->result = arena_printf(&f->a->box->arena, "%.*s", (int)(end - text - 4), text + 4);
}

// What another worker, or the same one, gave before; and one that is kept for later.
static void repeat_result(struct field *f)
{
    if (!f->result)
        overhear(f);
    if (!f->result)
        return;
    int fd = pool_talk(&f->server);
    for (int i = 0; i < 3; i++)
        pool_publish(fd, f->result_subject, f->result);
    close(fd);
    if (below(f->a, 2))
        f->result = NULL;
}

// Of what is started from here on: the run, and one worker.
static void step_clock(struct field *f)
{
    static const int by[] = {-86400, -5, 5, 3600, 40 * 86400};
    double at = (double)os_now_ns() * 1e-9 + 0.1 * (double)below(f->a, 15);
    box_set(f->a->box, "TILEWALK_CLOCK_STEP",
            arena_printf(&f->a->box->arena, "%.3f:%d", at, PICK(f->a, by)));
    kill_worker(f);
    kill_run(f);
    box_set(f->a->box, "TILEWALK_CLOCK_STEP", NULL);
}

static const struct {
    const char *name;
    void (*strike)(struct field *f);
} faults[] = {{"worker", kill_worker}, {"agent", kill_agent},   {"below the run", kill_below_run},
              {"run", kill_run},       {"server", kill_server}, {"result again", repeat_result},
              {"clock", step_clock}};

// False: the run is done, and what comes now would be no fault.
static bool strike(struct field *f)
{
    size_t i = below(f->a, sizeof faults / sizeof *faults);
    rest_ms(below(f->a, 500));
    if (has_ended(f->run)) { // one that was struck may have given up, and goes on as anyone's would
        if (end_run(f) == 0)
            return false;
        start_run(f);
    }
    str_printf(&f->faults, "%s%s", f->faults.length ? ", " : "", faults[i].name);
    note_context(str_text(&f->faults));
    faults[i].strike(f);
    return true;
}

// --- an attempt ---

static const char *undisturbed(struct field *f)
{
    struct box *b = f->a->box;
    box_set(b, "TILEWALK_DB", box_path(b, "undisturbed.db"));
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                          "synthetic:rugged:seed=3:invalid=0.2", "--strategy", f->strategy,
                          "--trials", arena_number(f->a, TRIALS), "--seed", f->seed, "--json");
    assert_ok(&r);
    const char *wanted = sequence(b, 1);
    box_set(b, "TILEWALK_DB", box_path(b, "tilewalk.db"));
    return wanted;
}

// `ssh` is the relay, whose line is cut, stalls or spoils what passes.
static void take_relay(struct field *f)
{
    static const char *const ways[] = {"cut", "stall", "kill", "garble"};
    struct box *b = f->a->box;
    const char *bin = box_path(b, "bin");
    struct err e;
    assert_true(file_make_folders(bin, &e));
    assert_int_equal(symlink(getenv("TILEWALK_TEST_RELAY"), arena_printf(&b->arena, "%s/ssh", bin)),
                     0);
    box_set(b, "PATH", arena_printf(&b->arena, "%s:%s", bin, getenv("PATH")));
    box_set(b, "TILEWALK_PROGRAM", getenv("TILEWALK_PROGRAM"));
    box_set(b, "TILEWALK_LINK_SECONDS", "1");
    box_set(b, "TILEWALK_RELAY",
            arena_printf(&b->arena, "%s=%d count=%s", PICK(f->a, ways), (int)below(f->a, 1000),
                         box_path(b, "connections")));
}

static void must_be_same(struct field *f, const char *wanted)
{
    const char *found = sequence(f->a->box, 1);
    size_t at = 0;
    while (wanted[at] && wanted[at] == found[at])
        at++;
    if (wanted[at] || found[at])
        fail_msg("another sequence, from '%.80s' on, where '%.80s' was", found + at, wanted + at);
    if (trials_of(f->a->box, 1) != TRIALS || f->said > TRIALS)
        fail_msg("%" PRId64 " trials stored, %" PRId64 " told of, of %d", trials_of(f->a->box, 1),
                 f->said, TRIALS);
}

static void attempt(struct attempt *a)
{
    static const char *const strategies[] = {"random", "opevo", "walk:starts=6:ahead=2"};
    struct field f = {.a = a, .strategy = PICK(a, strategies)};
    f.seed = arena_number(a, (int64_t)below(a, 1000));
    const char *wanted = undisturbed(&f);
    take_relay(&f);
    f.server = pool_start(a->box, "");
    for (int i = 0; i < WORKERS; i++)
        start_worker(&f, i);
    start_run(&f);
    int struck = 0;
    while (struck < FAULTS && strike(&f))
        struck++;
    if (!struck)
        fail_msg("it was done before anything happened");
    int code = struck < FAULTS ? 0 : end_run(&f);
    for (int i = 0; code != 0 && i < MOST_RESUMES; i++) {
        start_run(&f);
        code = end_run(&f);
    }
    if (code != 0)
        fail_msg("it cannot be completed: exit code %d", code);
    must_be_same(&f, wanted);
    for (int i = 0; i < WORKERS; i++) {
        send_signal(f.worker[i], SIGKILL);
        finish(a->box, f.worker[i]);
    }
    pool_kill(a->box, &f.server);
    str_finish(&f.faults);
}

static int64_t count(const struct attempt *a)
{
    (void)a;
    bool there = pool_server_program() && getenv("TILEWALK_TEST_RELAY");
    if (!there)
        puts("there are no pools here: what needs one is left out");
    return there ? ATTEMPTS : -1;
}

const struct attack attack_fleet = {
    .name = "fleet",
    .what = "up to 5 faults of 7 kinds each in a run by a pool and a bad line; the same sequence",
    .share = 1,
    .count = count,
    .attempt = attempt,
};
