// The same on the real device, where workers are processes: they, the engine or both are struck.
// Times differ from run to run, so the search is one whose asks do not depend on them.
#include "campaign.h"

#include "base/str.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS     "8"
#define MOST_BLOWS 4

static struct running *start_run(struct attempt *a, bool again)
{
    const char *const tune[] = {"tune",       flow_path(a->box, "small.lua"),
                                "--strategy", "random",
                                "--workers",  "2",
                                "--trials",   TRIALS,
                                "--seed",     "5",
                                "--json",     NULL};
    static const char *const resume[] = {"resume", "1", "--json", NULL};
    note_command(again ? resume : tune);
    return start_list(a->box, again ? resume : tune);
}

// What was asked, in order, and nothing of what came of it.
static const char *asks(struct attempt *a, int64_t id)
{
    struct result r = RUN(a->box, "show", arena_printf(&a->box->arena, "%d", (int)id), "--trials",
                          "--show-rejected", "--json");
    const cJSON *trial;
    struct str text = {0};
    if (r.code != 0)
        fail_msg("show: %s", r.err);
    cJSON_ArrayForEach(trial, member(json_of(a->box, r.out), "trials"))
    {
        char *config = cJSON_PrintUnformatted(member(trial, "config"));
        str_printf(&text, "%d %s\n", (int)number_of(trial, "ask"), config);
        cJSON_free(config);
    }
    const char *kept = arena_strdup(&a->box->arena, str_text(&text));
    str_finish(&text);
    return kept;
}

static bool has_spoken(struct box *b, void *context)
{
    const struct running *r = context;
    return *printed_so_far(b, r);
}

// At any time, or while trials are made: a busy machine takes longer than any fixed time to start.
static void strike_run(struct attempt *a, struct running *r)
{
    if (below(a, 2))
        wait_until(a->box, "its first event", has_spoken, r);
    rest_ms(below(a, 900));
    pid_t pid;
    switch (below(a, 6)) {
    case 0: kill(r->pid, SIGKILL); break;
    case 1: kill(r->pid, SIGTERM); break;
    case 2: // both
        signal_below(a, r->pid, SIGKILL);
        kill(r->pid, SIGKILL);
        break;
    case 3: // one that stands still for a while
        pid = signal_below(a, r->pid, SIGSTOP);
        rest_ms(below(a, 300));
        if (pid)
            kill(pid, SIGCONT);
        break;
    default: signal_below(a, r->pid, below(a, 2) ? SIGKILL : SIGSEGV);
    }
}

static bool was_struck(int code)
{
    return code <= 1 || code == 128 + SIGKILL || code == 143;
}

// Every blow may have come before it was stored.
static bool is_there(struct attempt *a)
{
    return listed_session(a->box, 1) != NULL;
}

static void attempt(struct attempt *a)
{
    box_set(a->box, "TILEWALK_DB", box_path(a->box, "undisturbed.db"));
    if (finish(a->box, start_run(a, false)).code != 0)
        fail_msg("it does not run undisturbed");
    const char *wanted = asks(a, 1);
    box_set(a->box, "TILEWALK_DB", box_path(a->box, "tilewalk.db"));
    int code = -1;
    for (int i = 0; i < MOST_BLOWS && code != 0; i++) {
        struct running *r = start_run(a, is_there(a));
        strike_run(a, r);
        struct result result = finish(a->box, r);
        code = result.code;
        if (!was_struck(code))
            fail_msg("exit code %d: %.300s", code, result.err);
    }
    struct result last = {.code = code};
    if (code != 0)
        last = finish(a->box, start_run(a, is_there(a)));
    if (last.code != 0)
        fail_msg("it cannot be completed: exit code %d: %.300s", last.code, last.err);
    if (strcmp(wanted, asks(a, 1)) != 0)
        fail_msg("it asked something else: %s and not %s", asks(a, 1), wanted);
}

const struct attack attack_workers = {
    .name = "workers",
    .what = "workers, the engine, both killed or stopped on the device; resumed; the same asks",
    .share = 3,
    .needs_device = true,
    .attempt = attempt,
};
