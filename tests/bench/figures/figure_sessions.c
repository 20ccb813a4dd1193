#include "figure_sessions.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "bench.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 24 + 2 * FIGURE_MOST_SETTINGS, HISTORY_TRIALS = 256 };

// --- names ---

char *figure_path(const char *file)
{
    return path_join(TILEWALK_BENCH_FIGURES, file);
}

char *figure_name(const struct figure_family *f, const struct figure_problem *p)
{
    return mem_printf("%s-%s", f->name, p->name);
}

bool figure_is_wanted(const struct figure_family *f, const struct figure_problem *p,
                      const struct figure_size *size)
{
    char *name = figure_name(f, p);
    bool wanted = !size->only || str_starts(name, size->only);
    free(name);
    return wanted && !(size->full && p->landscape); // there are others that are not small
}

int figure_seeds(const struct figure_family *f, const struct figure_size *size)
{
    return size->seeds ? size->seeds : f->seeds;
}

char *figure_line_text(const struct figure_line *l)
{
    return mem_printf("%s%s%s%s", l->strategy, l->scheduler ? ", " : "",
                      l->scheduler ? l->scheduler : "", l->transfer ? ", transfer" : "");
}

static int trials_of(const struct figure_run *r, const struct figure_size *size)
{
    int trials = !r->line->strategy   ? HISTORY_TRIALS
                 : r->problem->trials ? r->problem->trials
                                      : r->family->trials;
    return size->trials && size->trials < trials ? size->trials : trials;
}

// --- the list ---

static void add_run(struct figure_runs *r, const struct figure_run *run, const char *what)
{
    MEM_GROW(r->run, r->count, r->capacity);
    r->run[r->count] = *run;
    char *name = figure_name(run->family, run->problem);
    r->run[r->count].points = mem_strdup("");
    r->run[r->count].note =
        mem_printf("figure %s: %s, %d trials, %d s%s", name, what, trials_of(run, &r->size),
                   r->size.seconds, r->size.full ? ", device" : "");
    free(name);
    r->count++;
}

// All of a seed one after the other, so that a slow hour falls on all strategies.
static void list_figure(struct figure_runs *r, const struct figure_family *f,
                        const struct figure_problem *p)
{
    for (int seed = 1; seed <= figure_seeds(f, &r->size); seed++)
        for (const struct figure_line *l = f->line; l->strategy; l++) {
            char *line = figure_line_text(l), *what = mem_printf("%s, seed %d", line, seed);
            add_run(r, &(struct figure_run){.family = f, .problem = p, .line = l, .seed = seed},
                    what);
            free(what);
            free(line);
        }
}

static void take_stored(struct figure_run *r, const cJSON *session)
{
    const char *points = bench_text(session, "size");
    r->session = (int64_t)bench_number(session, "id");
    r->done = str_equal(bench_text(session, "state"), "done");
    r->best = cJSON_IsTrue(cJSON_GetObjectItem(session, "best_raced"))
                  ? NAN
                  : bench_number(session, "best_tflops");
    free(r->points);
    r->points = mem_strdup(str_equal(points, "0") ? "" : points);
}

static void find_stored(struct figure_runs *r)
{
    const cJSON *session;
    if (!file_exists(r->db))
        return;
    cJSON *all = bench_json((const char *const[]){"ls", "--json", "--db", r->db, NULL});
    cJSON_ArrayForEach(session, cJSON_GetObjectItem(all, "sessions"))
    {
        for (int i = 0; i < r->count; i++)
            if (str_equal(r->run[i].note, bench_text(session, "note")))
                take_stored(&r->run[i], session);
    }
    cJSON_Delete(all);
}

void figure_runs_list(struct figure_runs *r, const char *db, const struct figure_size *size)
{
    *r = (struct figure_runs){.db = db, .size = *size};
    for (int k = 0; k < figure_family_count; k++) {
        const struct figure_family *f = &figure_families[k];
        for (int i = 0; i < f->problems; i++)
            if (figure_is_wanted(f, &f->problem[i], size))
                list_figure(r, f, &f->problem[i]);
    }
    find_stored(r);
}

void figure_runs_print(const struct figure_runs *r)
{
    for (int i = 0, next; i < r->count; i = next) {
        const struct figure_run *first = &r->run[i];
        int done = 0;
        for (next = i; next < r->count && r->run[next].family == first->family &&
                       r->run[next].problem == first->problem;
             next++)
            done += r->run[next].done;
        char *name = figure_name(first->family, first->problem);
        printf("%-26s %3d sessions of %d trials, %d done\n", name, next - i,
               trials_of(first, &r->size), done);
        free(name);
    }
    fflush(stdout);
}

void figure_runs_forget(struct figure_runs *r)
{
    for (int i = 0; i < r->count; i++) {
        free(r->run[i].points);
        free(r->run[i].note);
    }
    free(r->run);
    *r = (struct figure_runs){.run = NULL};
}

// --- one session ---

struct words {
    const char *word[MOST_WORDS + 1];
    int count;
    struct arena arena;
};

static void add_word(struct words *w, const char *word)
{
    w->word[w->count++] = word;
}

static void add_option(struct words *w, const char *name, const char *value)
{
    add_word(w, name);
    add_word(w, value);
}

static const char *own_path(struct words *w, const char *file)
{
    char *path = figure_path(file);
    const char *kept = arena_strdup(&w->arena, path);
    free(path);
    return kept;
}

static void add_source(struct words *w, const struct figure_run *r, bool full)
{
    const struct figure_problem *p = r->problem;
    const char *space = r->line->strategy ? p->space : p->before;
    if (!p->landscape || full)
        add_word(w, strstr(space, ".lua") ? own_path(w, space) : space);
    if (full)
        return;
    add_option(w, "--device", "none");
    if (p->landscape)
        add_option(w, "--source",
                   arena_printf(&w->arena, "replay:%s",
                                own_path(w, arena_printf(&w->arena, "%s.json.xz", p->landscape))));
    else
        add_option(w, "--source", "synthetic:machine");
}

static void add_begin(struct words *w, const struct figure_runs *all, const struct figure_run *r,
                      const char *history)
{
    const struct figure_size *size = &all->size;
    add_word(w, "tune");
    add_source(w, r, size->full);
    for (int i = 0; r->line->strategy && i < FIGURE_MOST_SETTINGS && r->problem->set[i]; i++)
        add_option(w, "--set", r->problem->set[i]);
    add_option(w, "--strategy", r->line->strategy ? r->line->strategy : "random");
    add_option(w, "--seed", arena_printf(&w->arena, "%d", r->seed));
    add_option(w, "--transfer", history);
    if (r->line->scheduler) {
        add_option(w, "--scheduler", r->line->scheduler);
        add_word(w, "--again");
    }
    if (size->full)
        add_word(w, "--count-rejected"); // as the papers do
}

// Runs it to its end, whether it finds anything valid or not: the database says what is done. Its
// note is there before its first trial, so that it is found again.
static int64_t follow(struct words *w, const char *db, const char *note)
{
    struct bench_child child;
    int64_t session = 0;
    char *line = NULL;
    size_t capacity = 0;
    add_option(w, "--db", db);
    add_word(w, "--json");
    bench_start(&child, w->word);
    while (getline(&line, &capacity, child.out) > 0) {
        if (session)
            continue;
        cJSON *event = cJSON_Parse(line);
        session = (int64_t)bench_number(event, "id");
        cJSON_Delete(event);
        char *id = mem_printf("%d", (int)session);
        struct bench_child naming;
        bench_start(&naming, (const char *const[]){"note", id, note, "--db", db, NULL});
        while (getline(&line, &capacity, naming.out) > 0)
            continue;
        bench_end(&naming);
        free(id);
    }
    bench_wait(&child);
    free(line);
    return session;
}

static int64_t begin(const struct figure_runs *all, const struct figure_run *r, const char *history)
{
    struct words w = {.count = 0};
    arena_init(&w.arena);
    add_begin(&w, all, r, history);
    add_option(&w, "--trials", arena_printf(&w.arena, "%d", trials_of(r, &all->size)));
    if (all->size.seconds)
        add_option(&w, "--seconds", arena_printf(&w.arena, "%d", all->size.seconds));
    int64_t session = follow(&w, all->db, r->note);
    arena_finish(&w.arena);
    return session;
}

static void make_run(const struct figure_runs *all, const struct figure_run *r)
{
    char *history = NULL;
    if (r->session) {
        char *id = mem_printf("%d", (int)r->session);
        struct words w = {.word = {"resume", id}, .count = 2};
        follow(&w, all->db, r->note);
        free(id);
        return;
    }
    if (r->line->transfer) {
        struct figure_run before = *r;
        struct figure_line line = {.strategy = NULL};
        before.line = &line;
        before.note = mem_printf("%s: what it learns from", r->note);
        history = mem_printf("%d", (int)begin(all, &before, "none"));
        free(before.note);
    }
    begin(all, r, history ? history : "none");
    free(history);
}

// --- all ---

// Whoever is done with one takes the next: the pipe holds the numbers of those that are missing.
static void take_all(const struct figure_runs *r, int queue)
{
    for (int i; read(queue, &i, sizeof i) == sizeof i;) {
        make_run(r, &r->run[i]);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r%d of %d sessions\033[K", i + 1, r->count);
    }
}

static void start_job(const struct figure_runs *r, const int queue[2])
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        bench_fail("cannot start a process", NULL);
    if (pid == 0) {
        close(queue[1]);
        take_all(r, queue[0]);
        exit(EXIT_SUCCESS);
    }
}

void figure_runs_make(struct figure_runs *r, int jobs)
{
    bool failed = false;
    int queue[2];
    if (pipe(queue) != 0)
        bench_fail("cannot make a pipe", NULL);
    for (int job = 0; job < jobs; job++)
        start_job(r, queue);
    close(queue[0]);
    signal(SIGPIPE, SIG_IGN); // all jobs may fail at once
    for (int i = 0; i < r->count; i++)
        if (!r->run[i].done && write(queue[1], &i, sizeof i) != sizeof i)
            break;
    close(queue[1]);
    for (int status; wait(&status) > 0;)
        failed = failed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    find_stored(r);
    for (int i = 0; i < r->count; i++)
        failed = failed || !r->run[i].done;
    if (failed)
        bench_fail("not all sessions came to their end; the next run goes on with them", NULL);
}
