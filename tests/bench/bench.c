#include "bench.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/rng.h"
#include "base/str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_SKIPPED = 77, MOST_ARGUMENTS = 160 };

void bench_fail(const char *what, const struct err *e)
{
    char text[1400];
    fprintf(stderr, "bench: %s%s%s\n", what, e ? ": " : "",
            e ? err_format(e, text, sizeof text) : "");
    exit(EXIT_FAILURE);
}

void bench_skip(const char *why)
{
    fprintf(stderr, "skipped: %s\n", why);
    exit(EXIT_SKIPPED);
}

void bench_options(int argc, char **argv, const struct bench_option *options, int count)
{
    for (int i = 1; i < argc; i++) {
        int which = 0;
        int64_t value;
        while (which < count &&
               (!str_starts(argv[i], "--") || !str_equal(argv[i] + 2, options[which].name)))
            which++;
        if (which == count) {
            fprintf(stderr, "usage: %s", path_name(argv[0]));
            for (int k = 0; k < count; k++)
                fprintf(stderr, " [--%s%s]", options[k].name,
                        options[k].text   ? " TEXT"
                        : options[k].most ? " N"
                                          : "");
            fputc('\n', stderr);
            exit(2);
        }
        const struct bench_option *o = &options[which];
        if (o->text && i + 1 < argc) {
            *o->text = argv[++i];
            continue;
        }
        if (!o->text && o->most == 0) {
            *o->value = 1;
            continue;
        }
        if (++i == argc || !str_to_int(argv[i], 1, o->most, &value)) {
            if (o->text)
                fprintf(stderr, "--%s wants a text\n", o->name);
            else
                fprintf(stderr, "--%s: a number of 1 to %d\n", o->name, o->most);
            exit(2);
        }
        *o->value = (int)value;
    }
}

void bench_cube_init(struct bench_cube *out, int size)
{
    for (int i = 0; i < 3; i++) {
        snprintf(out->text[i], sizeof out->text[i], "%c=%d", "NMK"[i], size);
        out->set[i] = out->text[i];
    }
    out->set[3] = NULL;
}

// --- the program ---

char *bench_program(void)
{
    const char *named = getenv("TILEWALK_PROGRAM");
    char *self = path_program(), *folder = path_folder(self);
    char *path = named ? mem_strdup(named) : path_join(folder, "../../tilewalk");
    free(folder);
    free(self);
    return path;
}

double bench_cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

// getrusage would not do: its maximum includes the time before exec, when the process was a copy of
// its parent.
double bench_peak_mebibytes(void)
{
    char *text;
    unsigned long long kib = 0;
    if (!file_read("/proc/self/status", &text, NULL, NULL))
        return 0;
    const char *line = strstr(text, "VmHWM:");
    if (line)
        sscanf(line, "VmHWM: %llu kB", &kib);
    free(text);
    return (double)kib / 1024;
}

void bench_start(struct bench_child *c, const char *const *arguments)
{
    char *program = bench_program();
    const char *argv[MOST_ARGUMENTS + 2] = {program};
    int ends[2];
    for (int i = 0; arguments[i] && i < MOST_ARGUMENTS; i++)
        argv[i + 1] = arguments[i];
    c->cpu_before = bench_cpu_s();
    fflush(NULL);
    if (pipe(ends) != 0 || (c->pid = fork()) < 0)
        bench_fail("cannot start a process", NULL);
    if (c->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(program, (char *const *)(uintptr_t)argv);
        perror(program);
        _exit(127);
    }
    close(ends[1]);
    c->out = fdopen(ends[0], "r");
    free(program);
}

bool bench_wait(struct bench_child *c)
{
    int status;
    fclose(c->out);
    return waitpid(c->pid, &status, 0) == c->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double bench_end(struct bench_child *c)
{
    if (!bench_wait(c))
        bench_fail("the program failed", NULL);
    return bench_cpu_s() - c->cpu_before;
}

cJSON *bench_json(const char *const *arguments)
{
    struct bench_child c;
    struct str text = {0};
    char bytes[4096];
    bench_start(&c, arguments);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, c.out)) > 0;)
        str_add_bytes(&text, bytes, n);
    bench_end(&c);
    cJSON *value = cJSON_Parse(str_text(&text));
    if (!value)
        bench_fail("the program printed no JSON", NULL);
    str_finish(&text);
    return value;
}

double bench_number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

const char *bench_text(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

double bench_step_ns(void)
{
    enum { STEPS = 20000000 };
    struct rng r;
    rng_seed(&r, 1);
    uint64_t sum = 0;
    int64_t start = os_process_cpu_ns(getpid());
    for (int i = 0; i < STEPS; i++)
        sum += rng_next(&r);
    int64_t ns = os_process_cpu_ns(getpid()) - start;
    return sum ? (double)ns / STEPS : 0;
}

void bench_figure(const char *what, double value, const char *unit, enum bench_goal goal,
                  double target)
{
    bool met = goal == AT_LEAST ? value >= target : value < target;
    printf("%-44s %8.4g %-6s target: %s %g%s\n", what, value, unit,
           goal == AT_LEAST ? "at least" : "under", target, met ? "" : "   MISSED");
}
