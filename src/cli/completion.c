// completion, man: prints the completion scripts and the manual pages.
#include "cli/common.h"
#include "cli/manual.h"

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
    struct err e;
    const char *shell = a->operand[0];
    if (str_equal(shell, "sessions"))
        return common_exit(print_sessions(a, &e), &e);
    if (generate(shell))
        return EXIT_OK;
    err_usage(&e, "%s: unknown shell '%s' (there are %s)", self->name, shell, self->operands);
    return fail_with(&e, EXIT_USAGE);
}

static int run_man(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct str page = {0};
    const char *folder = arguments_text(a, "out"), *command = a->operand_count ? a->operand[0] : "";
    if (folder && *command)
        err_usage(&e, "%s: --out writes the pages of all commands, not one of '%s'", self->name,
                  command);
    else if (folder)
        return common_exit(manual_write_pages(folder, &e), &e);
    else if (!manual_add_page(command, &page))
        err_usage(&e, "%s: no command '%s' (tilewalk --help lists them)", self->name, command);
    else {
        common_print(&page);
        return EXIT_OK;
    }
    return fail_with(&e, EXIT_USAGE);
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

static const struct option man_options[] = {
    {"out", OPTION_TEXT, "DIR", "write all pages to this folder"},
    {"help", OPTION_FLAG, NULL, "show this text"},
    {NULL},
};

const struct command cmd_man = {
    .name = "man",
    .operands = "[COMMAND]",
    .help = "print the manual page of a command, or the overview: tilewalk man tune | man -l -",
    .most = 1,
    .options = man_options,
    .run = run_man,
};
