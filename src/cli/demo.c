// demo: a session on a synthetic device, with a database of its own that is removed at the end.
#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "cli/common.h"
#include "cli/workbench.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WHAT                                                                                       \
    "demonstration: a synthetic device, no kernel runs and every time is made up; its database "   \
    "is removed at the end"

// Half a minute to watch; lines come as fast as they can be read.
#define SOURCE       "synthetic:machine:invalid=0.1:delay_us=250000"
#define SOURCE_PLAIN "synthetic:machine:invalid=0.1:delay_us=40000"
#define MOST_WAIT_S  20 // for runs that the workbench left behind

extern const struct command cmd_tune;

// Runs the demonstration in this process. Returns its exit code.
static int demo_show(const struct arguments *a, const char *database)
{
    bool plain = arguments_flag(a, "plain");
    const char *const words[] = {"tune",
                                 "gemm",
                                 "--source",
                                 plain ? SOURCE_PLAIN : SOURCE,
                                 "--trials",
                                 plain ? "200" : "300",
                                 "--strategy",
                                 "opevo",
                                 "--seed",
                                 "1",
                                 "--workers",
                                 "2",
                                 "--db",
                                 database,
                                 plain ? "--plain" : NULL,
                                 NULL};
    char *word[sizeof words / sizeof *words] = {NULL};
    struct arena arena;
    struct arguments tune;
    struct err e;
    int count = 0, code;
    arena_init(&arena);
    for (; words[count]; count++)
        word[count] = arena_strdup(&arena, words[count]);
    if (!arguments_parse(&cmd_tune, count - 1, word + 1, &tune, &e))
        code = fail_with(&e, EXIT_FAILED);
    else
        code = plain ? cmd_tune.run(&cmd_tune, &tune) : workbench_demo(&tune, words);
    arguments_finish(&tune);
    arena_finish(&arena);
    return code;
}

// Ends the runs that were let go, and waits until they have saved.
static void end_runs(const char *database)
{
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    struct err ignored;
    struct arena arena;
    struct session_record *list;
    int count = 0;
    double end = (double)os_now_ns() / 1e9 + MOST_WAIT_S;
    struct store *s = file_exists(database) ? store_open(database, STORE_READ, &ignored) : NULL;
    arena_init(&arena);
    if (s && store_list_sessions(s, &arena, &list, &count, &ignored))
        for (int i = 0; i < count; i++)
            for (pid_t runner;
                 (runner = store_runner(s, list[i].id)) > 0 && (double)os_now_ns() / 1e9 < end;) {
                kill(runner, SIGTERM);
                nanosleep(&pause, NULL);
            }
    arena_finish(&arena);
    store_close(s);
}

static void remove_folder(const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        char *path = path_join(folder, entry->d_name);
        if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
            unlink(path);
        free(path);
    }
    if (d)
        closedir(d);
    rmdir(folder);
}

static volatile sig_atomic_t demo_child;  // to which signals are passed on
static volatile sig_atomic_t demo_signal; // one that came before there was a child

static void pass_on(int number)
{
    if (demo_child > 0)
        kill((pid_t)demo_child, number);
    else
        demo_signal = number;
}

// The demonstration is a child, because it enters a sandbox from which its folder cannot be
// removed.
static int run_demo(const struct command *self, const struct arguments *a)
{
    struct err e;
    const char *temporary = getenv("TMPDIR");
    char *folder = path_join(temporary && *temporary ? temporary : "/tmp", "tilewalk-demo-XXXXXX");
    int status = 0;
    (void)self;
    common_on_signals(pass_on, SA_RESTART);
    if (!mkdtemp(folder)) {
        err_set(&e, "cannot make the folder %s: %s", folder, strerror(errno));
        free(folder);
        return fail_with(&e, EXIT_FAILED);
    }
    char *database = path_join(folder, "demo.db");
    printf("%s\n", WHAT);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        common_on_signals(SIG_DFL, 0);
        int code = demo_show(a, database);
        fflush(NULL);
        _exit(code);
    }
    demo_child = child;
    if (demo_signal && child > 0)
        kill(child, demo_signal);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    end_runs(database);
    remove_folder(folder);
    printf("the demonstration is over, and its database is removed\n");
    free(database);
    free(folder);
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static const struct option options[] = {
    {"plain", OPTION_FLAG, NULL, "print lines of text, also on a terminal; ends within seconds"},
    OPTION_LOOKS(false),
    OPTION_SANDBOX,
    OPTION_END,
};

const struct command cmd_demo = {
    .name = "demo",
    .help = "try the workbench on a synthetic device, with a database of its own that is removed",
    .options = options,
    .draws = true,
    .run = run_demo,
};
