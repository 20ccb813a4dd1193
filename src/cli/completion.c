// completion, man: prints the completion scripts and the manual page.
#include "cli/common.h"

#include <inttypes.h>
#include <stdio.h>

// Prints the numbers of the sessions, which the scripts ask for.
static bool print_sessions(const struct arguments *a, struct err *e)
{
    struct arena arena;
    struct session_record *list;
    int count = 0;
    bool nothing = common_nothing_yet(a);
    struct store *s = nothing ? NULL : common_open(a, STORE_READ, e);
    arena_init(&arena);
    bool ok = nothing || (s && store_list_sessions(s, &arena, &list, &count, e));
    for (int i = 0; i < count; i++)
        printf("%" PRId64 "\n", list[i].id);
    arena_finish(&arena);
    store_close(s);
    return ok;
}

static int run_completion(const struct command *self, const struct arguments *a)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    struct err e;
    const char *shell = a->operand[0];
    if (str_equal(shell, "sessions"))
        return common_exit(print_sessions(a, &e), &e);
    for (int i = 0; i < 3; i++)
        if (str_equal(shell, shells[i]))
            return generate(shell) ? EXIT_OK : EXIT_FAILED;
    err_usage(&e, "%s: unknown shell '%s' (there are %s)", self->name, shell, self->operands);
    return fail_with(&e, EXIT_USAGE);
}

static int run_man(const struct command *self, const struct arguments *a)
{
    (void)self;
    (void)a;
    return generate("man") ? EXIT_OK : EXIT_FAILED;
}

static const struct option options[] = {{NULL}};

const struct command cmd_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .help = "print a shell's completion script: source <(tilewalk completion bash)",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_completion,
};

const struct command cmd_man = {
    .name = "man",
    .help = "print the manual page: tilewalk man | man -l -",
    .options = options,
    .run = run_man,
};
