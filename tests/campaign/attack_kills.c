// The engine is killed, ended or stopped, at random and at points of its cycle, and resumed, until
// it is done: it has asked what an undisturbed run asks, and nothing that it said is gone.
#include "campaign.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS     "60"
#define MOST_BLOWS 12

static const char *const strategies[] = {
    "opevo", "walk:starts=6:ahead=2", "random", "ga", "local", "autotvm:plan=16:chains=8:steps=20"};
static const char *const points[] = {"ask",  "submit", "collect", "begin", "put",   "commit",
                                     "told", "state",  "create",  "refit", "resume"};

struct run {
    const char *strategy, *workers, *seed;
};

static struct running *start_run(struct attempt *a, const struct run *r, bool again)
{
    const char *const tune[] = {"tune",       flow_path(a->box, "small.lua"),
                                "--source",   "synthetic:rugged:seed=3:invalid=0.2:delay_us=500",
                                "--strategy", r->strategy,
                                "--workers",  r->workers,
                                "--trials",   TRIALS,
                                "--seed",     r->seed,
                                "--json",     NULL};
    static const char *const resume[] = {"resume", "1", "--json", NULL};
    note_command(again ? resume : tune);
    return start_list(a->box, again ? resume : tune);
}

// Whatever it does to itself or we do to it. Returns the signal that may have ended it.
static void strike_run(struct attempt *a, const struct running *r)
{
    static const int ends[] = {SIGKILL, SIGKILL, SIGTERM, SIGINT, SIGHUP};
    rest_ms(below(a, 60));
    if (below(a, 3) == 0) {
        kill(r->pid, SIGSTOP);
        rest_ms(below(a, 30));
        if (below(a, 2))
            kill(r->pid, SIGCONT);
    }
    kill(r->pid, PICK(a, ends));
    kill(r->pid, SIGCONT);
}

static int64_t attempt_trials(struct attempt *a)
{
    const cJSON *session = listed_session(a->box, 1);
    return session ? (int64_t)number_of(session, "trials") : 0;
}

static bool was_struck(int code)
{
    return code == 0 || code == 129 || code == 130 || code == 128 + SIGKILL || code == 143;
}

// One that comes to its end is left alone. False: this one did.
static bool blow(struct attempt *a, const struct run *run)
{
    int64_t before = attempt_trials(a);
    bool at_point = below(a, 3) == 0;
    if (at_point) {
        const char *point = PICK(a, points);
        box_set(a->box, "TILEWALK_KILL",
                arena_printf(&a->box->arena, "%s:%d", point, (int)(1 + below(a, 30))));
    }
    struct running *r = start_run(a, run, listed_session(a->box, 1) != NULL);
    box_set(a->box, "TILEWALK_KILL", NULL);
    if (!at_point)
        strike_run(a, r);
    struct result result = finish(a->box, r);
    if (!was_struck(result.code))
        fail_msg("exit code %d: %.300s", result.code, result.err);
    int64_t after = attempt_trials(a), said = count_trials(result.out);
    if (after < before + said)
        fail_msg("lost trials: %" PRId64 " of %" PRId64 " + %" PRId64, after, before, said);
    return result.code != 0;
}

static void must_be_same(const char *wanted, const char *found)
{
    size_t at = 0;
    while (wanted[at] && wanted[at] == found[at])
        at++;
    if (wanted[at] || found[at])
        fail_msg("another sequence, from '%.80s' on, where '%.80s' was", found + at, wanted + at);
}

static void attempt(struct attempt *a)
{
    static const char *const workers[] = {"1", "2", "5"};
    const char *seed = arena_printf(&a->box->arena, "%d", (int)below(a, 1000));
    size_t count = sizeof strategies / sizeof *strategies - !XGBOOST; // the last one needs it
    struct run run = {strategies[below(a, count)], "1", seed};
    box_set(a->box, "TILEWALK_DB", box_path(a->box, "undisturbed.db"));
    must_end_well(&(struct result){.code = finish(a->box, start_run(a, &run, false)).code});
    const char *wanted = sequence(a->box, 1);
    box_set(a->box, "TILEWALK_DB", box_path(a->box, "tilewalk.db"));
    run.workers = PICK(a, workers);
    int blows = 0;
    while (blows < MOST_BLOWS && blow(a, &run))
        blows++;
    bool is_there = listed_session(a->box, 1) != NULL; // every blow may have come before
    struct result last = {.code = 0};
    if (blows == MOST_BLOWS)
        last = finish(a->box, start_run(a, &run, is_there));
    if (last.code != 0)
        fail_msg("it cannot be completed: exit code %d: %.300s", last.code, last.err);
    must_be_same(wanted, sequence(a->box, 1));
    if (strcmp(state_of(a->box, 1), "done") != 0)
        fail_msg("it is %s, not done", state_of(a->box, 1));
}

const struct attack attack_kills = {
    .name = "kills",
    .what = "the engine killed, ended, stopped; resumed; the same sequence (synthetic times)",
    .share = 3,
    .attempt = attempt,
};
