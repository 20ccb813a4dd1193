// bench figures: the papers' figures and tables, from sessions that are kept.
//
// Everything goes into a folder (`--out`, "figures"): figures.db with the sessions, NAME.svg, .png,
// .md and .csv of each figure, and figures.md with all of them beside the papers' own numbers. What
// was interrupted goes on; what is finished is only drawn anew. figures/figures.c lists them.
//
// By default trials are those of landscapes that were recorded on a CPU device (figures/README.md)
// and of a machine that is made up, `--jobs` sessions at a time; with --full all are of the device,
// at the papers' sizes, one after the other. `--seeds`, `--trials` and `--seconds` (the G-BFS paper
// stops at 750) make them smaller, `--only NAME` makes those whose names begin so.
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "bench.h"
#include "figures/figure_page.h"

#include <stdlib.h>

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

int main(int argc, char **argv)
{
    int full = 0, jobs = 2;
    const char *folder = "figures";
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
                                                {.name = "out", .text = &folder}},
                  7);
    size.full = full;
    if (!file_make_folders(folder, &e))
        bench_fail(folder, &e);
    char *db = path_join(folder, "figures.db"), *command = command_of(argc, argv);
    figure_runs_list(&runs, db, &size);
    if (runs.count == 0)
        bench_fail("no figure has such a name", NULL);
    figure_runs_make(&runs, size.full ? 1 : jobs);
    figure_page_write(&runs, folder, command);
    printf("%d sessions, %s/figures.md\n", runs.count, folder);
    figure_runs_forget(&runs);
    free(command);
    free(db);
    return EXIT_SUCCESS;
}
