// bench fleet: how much faster several machines are, and what they cost the run that they measure
// for. Agents on this machine (--on local:), trials that are made up and take `--ms` each in the
// mean; `--trials` of them for each machine.
//
// Speed-up: how many trials a second, against one machine; of the ideal, which is the number of
// machines. Share of a core: CPU time of the run itself (search, database, messages), not of its
// agents.
#include "bench.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MACHINES = 16, FIXED_WORDS = 8 };

struct figures {
    double rate, cores; // trials a second; of the run itself
};

static struct figures run(int machines, int trials, int ms)
{
    const char *words[FIXED_WORDS + MOST_MACHINES + 1] = {"tune", "gemm", "--strategy", "random",
                                                          "--json"};
    char *source = mem_printf("--source=synthetic:rugged:delay_us=%d", ms * 1000);
    char *budget = mem_printf("--trials=%d", trials * machines);
    int n = 5;
    words[n++] = source;
    words[n++] = budget;
    words[n++] = "--seed=1";
    for (int i = 0; i < machines; i++)
        words[n++] = "--on=local:";
    struct bench_child c;
    static char line[1 << 16];
    double ran_s = 0, told = 0;
    bench_start(&c, words);
    while (fgets(line, sizeof line, c.out)) {
        cJSON *event = cJSON_Parse(line);
        if (strcmp(bench_text(event, "event"), "end") == 0) {
            ran_s = bench_number(event, "ran_seconds");
            told = bench_number(event, "trials");
        }
        cJSON_Delete(event);
    }
    double cpu_s = bench_end(&c);
    free(source);
    free(budget);
    if (told != trials * machines || !(ran_s > 0))
        bench_fail("not all trials came back", NULL);
    return (struct figures){told / ran_s, cpu_s / ran_s};
}

// With what lies beside it.
static void remove_database(const char *folder, char *database)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *path = mem_printf("%s%s", database, suffixes[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    free(database);
}

int main(int argc, char **argv)
{
    int trials = 40, most = 16, ms = 300;
    bench_options(argc, argv,
                  (const struct bench_option[]){{"trials", &trials, 10000},
                                                {"machines", &most, MOST_MACHINES},
                                                {"ms", &ms, 60000}},
                  3);
    struct figures one = {0};
    char folder[] = "/tmp/tilewalk-bench-XXXXXX";
    if (!mkdtemp(folder))
        bench_fail("no folder for a database", NULL);
    char *database = path_join(folder, "tilewalk.db");
    setenv("TILEWALK_DB", database, 1);
    printf("%8s  %10s  %8s  %8s  %10s\n", "machines", "trials/s", "speed-up", "of ideal",
           "of a core");
    for (int machines = 1; machines <= most; machines *= 2) {
        struct figures f = run(machines, trials, ms);
        if (machines == 1)
            one = f;
        printf("%8d  %10.2f  %8.2f  %7.1f%%  %9.2f%%\n", machines, f.rate, f.rate / one.rate,
               100 * f.rate / one.rate / machines, 100 * f.cores);
        if (machines * 2 > most && machines > 1) {
            bench_figure("speed-up, of the ideal", f.rate / one.rate / machines, "", AT_LEAST, 0.9);
            bench_figure("the run itself, at most machines", 100 * f.cores, "% of a core", UNDER,
                         3);
        }
    }
    remove_database(folder, database);
    return EXIT_SUCCESS;
}
