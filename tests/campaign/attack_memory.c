// Too little memory for what libraries want: a run ends within a minute, with a line or its work.
#include "campaign.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LEAST_MB = 150, STEP_MB = 50, STEPS = 22 };

static rlim_t most; // bytes of address space of the next program

static void set_limit(const struct box *b)
{
    (void)b;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
}

static int64_t count(const struct attempt *a)
{
    (void)a;
    return STEPS;
}

static void attempt(struct attempt *a)
{
    struct box *b = a->box;
    int64_t megabytes = LEAST_MB + STEP_MB * a->number;
    most = (rlim_t)megabytes * 1000000;
    note_context(arena_printf(&b->arena, "%d MB of address space", (int)megabytes));
    b->prepare = set_limit;
    struct result r = STRIKE(a, "tune", "gemm", "--set", "N=64", "--set", "M=64", "--set", "K=64",
                             "--trials", "4", "--strategy", "random", "--plain");
    if (r.code != 0 && !*r.err)
        fail_msg("exit code %d, no message", r.code);
}

const struct attack attack_memory = {
    .name = "memory",
    .what = "address space from 150 to 1200 MB",
    .share = 1,
    .needs_device = true,
    .count = count,
    .attempt = attempt,
};
