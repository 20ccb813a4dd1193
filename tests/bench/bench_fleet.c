// bench fleet: how much faster several machines are, and what they cost the run that they measure
// for. Agents on this machine (--on local:, pipes), then workers of a pool here (--pool, NATS);
// trials that are made up and take `--ms` each in the mean; `--trials` of them for each machine.
//
// Speed-up: how many trials a second, against one machine; of the ideal, which is the number of
// machines. Share of a core: CPU time of the run itself (search, database, messages) and of the
// process by which it uses a pool, not of what measures, nor of the pool's server.
//
// Last, `--stubs` workers of the pool that measure nothing, and a run of ten trials for each of
// them: how many messages they sent and got a second, and the most memory that the run and the
// server had. Trials that do not come back end the benchmark.
#include "bench.h"
#include "bench_pool.h"
#include "bench_stubs.h"

#include "base/file.h"
#include "base/mem.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MACHINES = 16, FIXED_WORDS = 9 };

struct figures {
    double rate, cores; // trials a second; of the run itself
};

struct plan {
    int trials, most, ms;
    bool pooled;
};

static void fail_unless(bool ok)
{
    if (!ok)
        bench_fail("not all trials came back", NULL);
}

static struct figures run(const struct plan *p, int machines)
{
    const char *words[FIXED_WORDS + MOST_MACHINES + 1] = {"tune", "gemm", "--strategy", "random",
                                                          "--json"};
    char *source = mem_printf("--source=synthetic:rugged:delay_us=%d", p->ms * 1000);
    char *budget = mem_printf("--trials=%d", p->trials * machines);
    char *pool = mem_printf("--pool=%s", pool_url());
    int n = 5;
    words[n++] = source;
    words[n++] = budget;
    words[n++] = "--seed=1";
    if (p->pooled)
        words[n++] = pool;
    for (int i = 0; i < machines && !p->pooled; i++)
        words[n++] = "--on=local:";
    struct bench_child c;
    static char line[1 << 16];
    double ran_s = 0, told = 0, broker_s = 0;
    bench_start(&c, words);
    while (fgets(line, sizeof line, c.out)) {
        cJSON *event = cJSON_Parse(line);
        bool is_trial = strcmp(bench_text(event, "event"), "trial") == 0;
        double id = bench_number(event, "id");
        if (is_trial && p->pooled && (fmod(id, 10) == 0 || id == p->trials * machines))
            broker_s = fmax(broker_s, pool_broker_cpu_s()); // it ends with the run
        if (strcmp(bench_text(event, "event"), "end") == 0) {
            ran_s = bench_number(event, "ran_seconds");
            told = bench_number(event, "trials");
        }
        cJSON_Delete(event);
    }
    double cpu_s = bench_end(&c) + broker_s;
    free(source);
    free(budget);
    free(pool);
    fail_unless(told == p->trials * machines && ran_s > 0);
    return (struct figures){told / ran_s, cpu_s / ran_s};
}

static void print_rows(const struct plan *p)
{
    struct figures one = {0};
    int workers = 0;
    printf("%s\n%8s  %10s  %8s  %8s  %10s\n", p->pooled ? "by a pool" : "by pipes", "machines",
           "trials/s", "speed-up", "of ideal", "of a core");
    for (int machines = 1; machines <= p->most; machines *= 2) {
        if (p->pooled)
            pool_add_workers(machines - workers);
        workers = machines;
        struct figures f = run(p, machines);
        if (machines == 1)
            one = f;
        printf("%8d  %10.2f  %8.2f  %7.1f%%  %9.2f%%\n", machines, f.rate, f.rate / one.rate,
               100 * f.rate / one.rate / machines, 100 * f.cores);
        if (machines * 2 > p->most && machines > 1) {
            bench_figure("speed-up, of the ideal", f.rate / one.rate / machines, "", AT_LEAST, 0.9);
            bench_figure("the run itself, at most machines", 100 * f.cores, "% of a core", UNDER,
                         3);
        }
    }
}

// The most memory that a process had so far, in MiB; 0: it is not known.
static double most_memory(pid_t pid)
{
    char path[64], line[200];
    double kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtod(line + 6, NULL);
    if (file)
        fclose(file);
    return kib / 1024;
}

static void run_with_stubs(int count)
{
    static char line[1 << 16];
    struct bench_child c;
    double told = 0, ran_s = 0, run_mib = 0;
    char *budget = mem_printf("--trials=%d", 10 * count);
    char *pool = mem_printf("--pool=%s", pool_url());
    stubs_begin(atoi(strrchr(pool, ':') + 1), count);
    bench_start(&c,
                (const char *const[]){"tune", "gemm", "--strategy", "random", "--json",
                                      "--source=synthetic:rugged", "--seed=1", budget, pool, NULL});
    while (fgets(line, sizeof line, c.out)) {
        cJSON *event = cJSON_Parse(line);
        if (strcmp(bench_text(event, "event"), "trial") == 0)
            run_mib =
                fmax(run_mib, fmod(bench_number(event, "id"), 100) == 0 ? most_memory(c.pid) : 0);
        if (strcmp(bench_text(event, "event"), "end") == 0) {
            ran_s = bench_number(event, "ran_seconds");
            told = bench_number(event, "trials");
        }
        cJSON_Delete(event);
    }
    double server_mib = most_memory(pool_server_pid());
    bench_end(&c);
    double messages = (double)stubs_end();
    free(budget);
    free(pool);
    fail_unless(told == 10 * count && ran_s > 0);
    printf("%d workers that measure nothing: %.0f trials in %.1f s, %.0f a second, none lost; "
           "%.0f messages a second; at most %.0f MiB of the run, %.0f MiB of the server\n",
           count, told, ran_s, told / ran_s, messages / ran_s, run_mib, server_mib);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    struct plan p = {.trials = 40, .most = MOST_MACHINES, .ms = 300};
    int stubs = 500;
    bench_options(argc, argv,
                  (const struct bench_option[]){{"trials", &p.trials, 10000},
                                                {"machines", &p.most, MOST_MACHINES},
                                                {"ms", &p.ms, 60000},
                                                {"stubs", &stubs, 10000}},
                  4);
    char folder[] = "/tmp/tilewalk-bench-XXXXXX";
    if (!mkdtemp(folder))
        bench_fail("no folder for a database", NULL);
    char *database = path_join(folder, "tilewalk.db");
    setenv("TILEWALK_DB", database, 1);
    print_rows(&p);
    p.pooled = pool_begin(folder);
    if (p.pooled)
        print_rows(&p);
    else
        printf("by a pool: not measured, as there is no nats-server\n");
    pool_end();
    if (p.pooled && pool_begin(folder)) {
        run_with_stubs(stubs);
        pool_end();
    }
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(database);
    return 0;
}
