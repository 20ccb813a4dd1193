// Little memory, few descriptors, small files, no home: a message, and nothing that was stored
// before is gone.
#include "campaign.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct {
    int resource;
    rlim_t value;
} limit; // of the program that is started next

static void set_limit(const struct box *b)
{
    (void)b;
    if (limit.value)
        setrlimit(limit.resource, &(struct rlimit){limit.value, limit.value});
}

static void choose_limit(struct attempt *a)
{
    static const struct {
        int resource;
        const char *name;
        uint64_t least, most;
    } choices[] = {
        {RLIMIT_AS, "bytes of memory", 30 << 20, 1000 << 20},
        {RLIMIT_FSIZE, "bytes of a file", 1, 300000},
        {RLIMIT_NOFILE, "descriptors", 4, 30},
        {RLIMIT_STACK, "bytes of stack", 64 << 10, 1 << 20},
    };
    uint64_t i = below(a, sizeof choices / sizeof *choices);
    limit.resource = choices[i].resource;
    limit.value = choices[i].least + below(a, choices[i].most - choices[i].least);
    note_context(
        arena_printf(&a->box->arena, "%llu %s", (unsigned long long)limit.value, choices[i].name));
}

static void set_home(struct attempt *a)
{
    box_set(a->box, "HOME", box_write(a->box, "a_file", "not a folder"));
    box_set(a->box, "TILEWALK_DB", NULL);
    note_context("HOME is a file");
}

static void attempt(struct attempt *a)
{
    struct box *b = a->box;
    const char *file = flow_path(b, "small.lua");
    struct result first = RUN(b, "tune", file, "--source", "synthetic:rugged", "--trials", "5");
    assert_ok(&first);
    limit.value = 0;
    if (below(a, 8) == 0)
        set_home(a);
    else
        choose_limit(a);
    b->prepare = set_limit;
    STRIKE(a, "ls");
    STRIKE(a, "show", "1", "--trials");
    STRIKE(a, "check", file, "--device", "none");
    STRIKE(a, "tune", file, "--source", "synthetic:rugged", "--trials", "20");
    STRIKE(a, "resume", "1", "--trials", "20");
    STRIKE(a, "devices");
    if (a->device && below(a, 2))
        STRIKE(a, "tune", file, "--trials", "2", "--seconds", "5");
    b->prepare = NULL;
    box_set(b, "TILEWALK_DB", box_path(b, "tilewalk.db"));
    if (trials_of(b, 1) < 5)
        fail_msg("trials are lost");
}

const struct attack attack_limits = {
    .name = "limits",
    .what = "little memory, few descriptors, small files, no home",
    .share = 1,
    .attempt = attempt,
};
