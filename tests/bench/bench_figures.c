// bench figures: the papers' figures and tables, from sessions that are kept.
//
// Everything goes into a folder (`--out`, "figures"): figures.db with the sessions, NAME.svg, .png,
// .md and .csv of each figure, and figures.md with all of them beside the papers' own numbers. What
// was interrupted goes on; what is finished is only drawn anew. figures/figures.c lists them.
// runs.md has a line of each run of this command. `--page docs/internals/figures.md` puts the
// tables and the pictures into that page.
//
// By default trials are those of landscapes that were recorded on a CPU device (figures/README.md)
// and of a machine that is made up, `--jobs` sessions at a time; with --full all are of the device,
// at the papers' sizes, one after the other. `--seeds`, `--trials` and `--seconds` (the G-BFS paper
// stops at 750) make them smaller, `--only NAME` makes those whose names begin so.
#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "bench.h"
#include "figures/figure_doc.h"
#include "figures/figure_page.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SEEDS = 20, MOST_TRIALS = 100000, MOST_SECONDS = 86400, MOST_JOBS = 64 };

static char *command_of(int argc, char **argv)
{
    struct str out = {0};
    str_add(&out, "./dev bench figures");
    for (int i = 1; i < argc; i++)
        str_printf(&out, " %s", argv[i]);
    char *command = mem_strdup(str_text(&out));
    str_finish(&out);
    return command;
}

static int count_done(const struct figure_runs *runs)
{
    int done = 0;
    for (int i = 0; i < runs->count; i++)
        done += runs->run[i].done;
    return done;
}

// A line of runs.md: what this run of the command made, and what that cost.
static void tell_run(const char *folder, const char *command, int made, int sessions, double wall_s)
{
    static const char head[] = "| run | sessions it made | of | seconds | CPU seconds, of all "
                               "processes |\n|---|---:|---:|---:|---:|\n";
    struct err e;
    char *path = path_join(folder, "runs.md"), *before = NULL;
    size_t length;
    if (file_exists(path) && !file_read(path, &before, &length, &e))
        bench_fail(path, &e);
    char *text =
        mem_printf("%s| `%s` | %d | %d | %.0f | %.0f |\n", before ? before : head, command, made,
                   sessions, wall_s, bench_cpu_s() + (double)os_process_cpu_ns(getpid()) / 1e9);
    if (!file_write(path, text, strlen(text), &e))
        bench_fail(path, &e);
    free(text);
    free(before);
    free(path);
}

int main(int argc, char **argv)
{
    int full = 0, jobs = 2;
    const char *folder = "figures", *page = NULL;
    int64_t start = os_now_ns();
    struct figure_size size = {.full = false};
    struct figure_runs runs;
    struct err e;
    bench_options(argc, argv,
                  (const struct bench_option[]){{.name = "full", .value = &full},
                                                {"seeds", &size.seeds, MOST_SEEDS},
                                                {"trials", &size.trials, MOST_TRIALS},
                                                {"seconds", &size.seconds, MOST_SECONDS},
                                                {"jobs", &jobs, MOST_JOBS},
                                                {.name = "only", .text = &size.only},
                                                {.name = "page", .text = &page},
                                                {.name = "out", .text = &folder}},
                  8);
    size.full = full;
    if (!file_make_folders(folder, &e))
        bench_fail(folder, &e);
    char *db = path_join(folder, "figures.db"), *command = command_of(argc, argv);
    figure_runs_list(&runs, db, &size);
    if (runs.count == 0)
        bench_fail("no figure has such a name", NULL);
    figure_runs_print(&runs);
    int before = count_done(&runs);
    figure_runs_make(&runs, size.full ? 1 : jobs);
    figure_page_write(&runs, folder, command);
    tell_run(folder, command, count_done(&runs) - before, runs.count,
             (double)(os_now_ns() - start) / 1e9);
    if (page)
        figure_doc_fill(page, folder);
    printf("%d sessions, %s/figures.md\n", runs.count, folder);
    figure_runs_forget(&runs);
    free(command);
    free(db);
    return EXIT_SUCCESS;
}
