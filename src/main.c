// tilewalk: finds the fastest configuration of a compute kernel on a Vulkan device.
#include "base/build.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/workbench.h"
#include "trial/source.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEAST_STACK (256 << 10) // bytes

extern const struct command cmd_tune, cmd_resume, cmd_watch, cmd_pause, cmd_stop, cmd_set,
    cmd_check, cmd_ls, cmd_show, cmd_compare, cmd_plot, cmd_card, cmd_rm, cmd_restore, cmd_export,
    cmd_lookup, cmd_devices, cmd_doctor, cmd_ops, cmd_strategies, cmd_import, cmd_adopt, cmd_prove,
    cmd_agent, cmd_worker, cmd_demo, cmd_fleet, cmd_portfolio, cmd_completion, cmd_man, cmd_browse,
    cmd_judge, cmd_serve, cmd_census;
extern const struct command cmd_budget, cmd_note, cmd_pin, cmd_weigh, cmd_replay; // old spellings

const struct command *const commands[] = {
    &cmd_tune,      &cmd_resume,     &cmd_watch,  &cmd_pause,   &cmd_stop,    &cmd_set,
    &cmd_check,     &cmd_ls,         &cmd_show,   &cmd_compare, &cmd_plot,    &cmd_card,
    &cmd_rm,        &cmd_restore,    &cmd_export, &cmd_lookup,  &cmd_devices, &cmd_doctor,
    &cmd_ops,       &cmd_strategies, &cmd_import, &cmd_adopt,   &cmd_prove,   &cmd_census,
    &cmd_judge,     &cmd_serve,      &cmd_agent,  &cmd_worker,  &cmd_demo,    &cmd_fleet,
    &cmd_portfolio, &cmd_completion, &cmd_man,    &cmd_budget,  &cmd_note,    &cmd_pin,
    &cmd_weigh,     &cmd_replay,     NULL,
};

static const struct command *command_find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (str_equal(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static const char *command_name_at(const void *context, size_t i)
{
    (void)context;
    return commands[i]->hidden ? "help" : commands[i]->name; // no old spelling is suggested
}

static int unknown_command(const char *name)
{
    struct err e;
    size_t n = 0;
    while (commands[n])
        n++;
    const char *near = str_suggest(name, n, command_name_at, NULL);
    if (name[0] == '-')
        err_set(&e, "unknown option '%s' (tilewalk --help lists the commands)", name);
    else if (near)
        err_set(&e, "unknown command '%s' (did you mean '%s'?)", name, near);
    else
        err_set(&e, "unknown command '%s' (tilewalk --help lists them)", name);
    return fail_with(&e, EXIT_USAGE);
}

// Exports --glslang and --no-sandbox to this process and to all processes that it starts. The path
// is absolute, as some of them run in other folders.
static bool export_options(const struct arguments *a, struct err *e)
{
    const char *program = arguments_text(a, "glslang");
    char *path = program ? realpath(program, NULL) : NULL;
    bool ok = !program || (path && access(path, X_OK) == 0);
    if (!ok)
        err_usage(e, "--glslang '%s': %s", program, strerror(errno));
    else if (path)
        setenv("TILEWALK_GLSLANG", path, 1);
    free(path);
    return ok && (!arguments_flag(a, "no-sandbox") || setenv("TILEWALK_SANDBOX", "0", 1) == 0 ||
                  err_set(e, "--no-sandbox: %s", strerror(errno)));
}

// `argv` begins with the command's name.
static int run_command(const struct command *c, int argc, char **argv)
{
    struct arguments a;
    struct err e;
    int code;
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (str_equal(argv[i], "--help")) {
            command_print_help(c);
            return EXIT_OK;
        }
    char *program = path_program(); // presets, templates and workers are found from there
    if (!arguments_parse(c, argc - 1, argv + 1, &a, &e) || !export_options(&a, &e))
        code = fail_with(&e, EXIT_USAGE);
    else if (!*program) {
        err_set(&e, "cannot find its own files: /proc/self/exe cannot be read (is /proc mounted?)");
        code = fail_with(&e, EXIT_FAILED);
    } else if (c->in_workbench && workbench_wanted(&a))
        code = workbench_run(&a, (const char *const *)argv);
    else {
        static const char *const for_programs[] = {"json", "csv", "glsl", "spirv", "curves", "mcp"};
        bool escapes = true; // programs get their output as it is, unless a terminal gets it
        for (size_t i = 0; i < sizeof for_programs / sizeof *for_programs; i++)
            if (arguments_flag(&a, for_programs[i]))
                escapes = isatty(STDOUT_FILENO);
        if (!c->draws || arguments_flag(&a, "plain"))
            shown_streams(escapes);
        code = c->run(c, &a);
    }
    free(program);
    arguments_finish(&a);
    return code;
}

static int run_words(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    int code;
    mem_fail_as(argc > 1 ? name : cmd_browse.name);
    if (argc == 1 && workbench_browse(&code))
        return code;
    if (str_equal(name, "--version") || str_equal(name, "version")) {
        printf("tilewalk %s\n", build_name());
        return EXIT_OK;
    }
    if (str_equal(name, "--help") || str_equal(name, "-h") || str_equal(name, "help")) {
        const struct command *c = argc > 2 ? command_find(argv[2]) : NULL;
        if (argc > 2 && !c)
            return unknown_command(argv[2]);
        if (c)
            command_print_help(c);
        else
            command_print_overview();
        return EXIT_OK;
    }
    const struct command *c = command_find(name);
    if (!c && str_starts(name, "--")) // no command: the workbench, with its options
        return run_command(&cmd_browse, argc, argv);
    return c ? run_command(c, argc - 1, argv + 1) : unknown_command(name);
}

int main(int argc, char **argv)
{
    struct err e;
    // OpenBLAS starts its threads before main. Where memory is limited they may wait for it for
    // ever, and the end of the program would wait for them: start once more, with one thread.
    struct rlimit memory;
    if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY &&
        !getenv("OPENBLAS_NUM_THREADS")) {
        char *program = path_program();
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        execv(program, argv);
        free(program);
    }
    // A stack that is too small would end the program without a message.
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < LEAST_STACK) {
        err_set(&e, "the stack is limited to %llu KiB (ulimit -s): %d are needed",
                (unsigned long long)stack.rlim_cur >> 10, LEAST_STACK >> 10);
        return fail_with(&e, EXIT_FAILED);
    }
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error of writing it
    setlocale(LC_CTYPE, "");
    if (argc > 1 && str_equal(argv[1], WORKER_COMMAND))
        return worker_main();
    int code = run_words(argc, argv);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (written || (code != EXIT_OK && code != EXIT_NOTHING_VALID))
        return code;
    err_set(&e, "standard output cannot be written (is its disk full, or its reader gone?)");
    return fail_with(&e, EXIT_FAILED);
}
