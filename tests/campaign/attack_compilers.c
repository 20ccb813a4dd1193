// A compiler of the user's (--glslang) that does everything but compile: it sleeps, leaves children
// behind, floods, dies, writes nonsense, forges screens.
#include "campaign.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// `--version` always works. Whoever leaves its process group on purpose is not hunted for.
static const char *const programs[] = {
    "sleep 1000",
    "sleep 1000 & sleep 1000 & exit 0",
    "(trap '' TERM HUP INT; sleep 1000) & sleep 1000",
    "yes",
    "yes 'ERROR: 0:1: too much' | head -c 100000000; exit 1",
    "kill -SEGV $$",
    "kill -KILL $PPID",
    "printf '\\033[2J\\033]0;owned\\007\\302\\233'; exit 1",
    "printf '\\033[2J\\033]0;owned\\007\\302\\233' >&2; exit 1",
    "for i in \"$@\"; do last=$i; done; exit 0",
    "while [ \"$1\" ]; do [ \"$1\" = -o ] && head -c 1000 /dev/urandom >\"$2\"; shift; done; exit "
    "0",
    "while [ \"$1\" ]; do [ \"$1\" = -o ] && head -c 200000000 /dev/zero >\"$2\"; shift; done; "
    "exit 0",
    "while [ \"$1\" ]; do [ \"$1\" = -o ] && { rm -f \"$2\"; mkfifo \"$2\"; }; shift; done; exit 0",
    "while [ \"$1\" ]; do [ \"$1\" = -o ] && { rm -f \"$2\"; ln -s /dev/zero \"$2\"; }; shift; "
    "done; exit 0",
    "exec 3>&1 4>&1 5>&1; exit 0",
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static int64_t count(const struct attempt *a)
{
    return a->device ? 2 * PROGRAMS : 0;
}

static void attempt(struct attempt *a)
{
    struct box *b = a->box;
    const char *words = programs[a->number / 2];
    const char *program = box_write(
        b, "compiler",
        arena_printf(&b->arena,
                     "#!/bin/sh\ncase \" $* \" in *' --version '*) echo 'Glslang Version: "
                     "11:1.0.0'; exit 0;; esac\n%s\n",
                     words));
    note_context(words);
    assert_int_equal(chmod(program, 0755), 0);
    struct result r = a->number % 2
                          ? STRIKE(a, "check", flow_path(b, "small.lua"), "--glslang", program)
                          : STRIKE(a, "tune", flow_path(b, "small.lua"), "--glslang", program,
                                   "--trials", "2", "--seconds", "5", "--plain");
    if (r.code == 1 && !*r.err)
        fail_msg("exit code 1, and it does not say why");
}

const struct attack attack_compilers = {
    .name = "compilers",
    .what = "a --glslang that sleeps, forks, floods, dies, lies",
    .share = 2,
    .needs_device = true,
    .count = count,
    .attempt = attempt,
};
