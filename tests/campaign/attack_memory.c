// Too little memory for what libraries want: a run ends within a minute, with a line or its work.
// And an allocation of ours that fails in the engine: the process ends with a line, and what is
// stored is right. (The other processes: tests/flow/test_memory.c.)
#include "campaign.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LEAST_MB = 150, STEP_MB = 50, STEPS = 22, FAILURES = 2000 };

static rlim_t most; // bytes of address space of the next program

static void set_limit(const struct box *b)
{
    (void)b;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
}

static int64_t count(const struct attempt *a)
{
    return FAILURES + (a->device ? STEPS : 0);
}

static struct result run(struct attempt *a, const char *database, const char *allocation)
{
    static const char *const words[] = {
        "tune",     "small.lua", "--source",   "synthetic:rugged:seed=3",
        "--seed",   "3",         "--strategy", "walk",
        "--trials", "12",        "--plain",    NULL};
    box_set(a->box, "TILEWALK_DB", box_path(a->box, database));
    box_set(a->box, "TILEWALK_FAIL_ALLOCATION", allocation);
    note_command(words);
    struct result r = run_list(a->box, words);
    box_set(a->box, "TILEWALK_FAIL_ALLOCATION", NULL);
    return r;
}

static void try_failing(struct attempt *a)
{
    struct box *b = a->box;
    copy_small(b);
    struct result r = run(a, "whole.db", NULL);
    assert_ok(&r);
    const char *wanted = sequence(b, 1);
    const char *which = arena_printf(&b->arena, "tune:%d", (int)below(a, 4000));
    note_context(arena_printf(&b->arena, "allocation %s fails", which));
    r = run(a, "t.db", which);
    if (r.code != 0 && !strstr(r.err, "out of memory"))
        fail_msg("exit code %d: %.300s", r.code, r.err);
    if (r.code == 0)
        return;
    r = listed_session(b, 1) ? STRIKE(a, "resume", "1", "--plain") : run(a, "t.db", NULL);
    if (r.code != 0 || strcmp(sequence(b, 1), wanted) != 0)
        fail_msg("exit code %d, or another sequence: %.300s", r.code, r.err);
}

static void try_limit(struct attempt *a)
{
    struct box *b = a->box;
    int64_t megabytes = LEAST_MB + STEP_MB * (a->number - FAILURES);
    most = (rlim_t)megabytes * 1000000;
    note_context(arena_printf(&b->arena, "%d MB of address space", (int)megabytes));
    b->prepare = set_limit;
    struct result r = STRIKE(a, "tune", "gemm", "--set", "N=64", "--set", "M=64", "--set", "K=64",
                             "--trials", "4", "--strategy", "random", "--plain");
    if (r.code != 0 && !*r.err)
        fail_msg("exit code %d, no message", r.code);
}

static void attempt(struct attempt *a)
{
    if (a->number < FAILURES)
        try_failing(a);
    else
        try_limit(a);
}

const struct attack attack_memory = {
    .name = "memory",
    .what = "little address space, allocations that fail",
    .share = 1,
    .count = count,
    .attempt = attempt,
};
