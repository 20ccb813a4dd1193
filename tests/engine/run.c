#include "run.h"

#include "base/file.h"

#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

void run_must(bool ok, const struct err *e)
{
    if (!ok)
        fail_msg("%s", e->text);
}

void run_init(struct run *r)
{
    struct err e;
    const char *base = getenv("TMPDIR");
    *r = (struct run){.folder = mem_printf("%s/tilewalk-run-XXXXXX", base ? base : "/tmp")};
    assert_non_null(mkdtemp(r->folder));
    r->path = path_join(r->folder, "x.db");
    r->store = store_open(r->path, STORE_WRITE, &e);
    run_must(r->store, &e);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void run_finish(struct run *r)
{
    store_close(r->store);
    assert_int_equal(nftw(r->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    free(r->folder);
    free(r->path);
}

static const char *space_path(void)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/tests/flow/small.lua", getenv("TILEWALK_DATA"));
    return path;
}

struct session_options run_options(int64_t trials)
{
    return (struct session_options){
        .space = space_path(),
        .strategy = "learner",
        .source = "synthetic:rugged:seed=1:invalid=0.1",
        .device = "none",
        .trials = trials,
        .has_seed = true,
        .seed = 5,
        .workers = 1,
    };
}

static void on_event(void *context, const struct event *event)
{
    struct run *r = context;
    r->messages += event->kind == EVENT_MESSAGE && strstr(event->text, "fitted to") != NULL;
    if (event->kind == EVENT_END)
        r->last = *event->session;
}

struct engine *run_engine(struct run *r)
{
    struct engine *g = engine_create(r->store, on_event, r);
    assert_non_null(g);
    return g;
}

int64_t run_tune(struct run *r, const struct session_options *o)
{
    struct err e;
    int64_t id;
    struct engine *g = run_engine(r);
    run_must(engine_start(g, o, &id, &e) && engine_run(g, &e), &e);
    engine_destroy(g);
    return id;
}

void run_resume(struct run *r, int64_t id, int64_t trials)
{
    struct err e;
    struct session_options more = {.trials = trials};
    struct engine *g = run_engine(r);
    run_must(engine_resume(g, id, &more, &e) && engine_run(g, &e), &e);
    engine_destroy(g);
}

static void die(const char *path, const char *point, int64_t resumed,
                const struct session_options *o)
{
    struct err e;
    int64_t id;
    struct run r = {.store = store_open(path, STORE_WRITE, &e)};
    struct engine *g = engine_create(r.store, on_event, &r);
    setenv("TILEWALK_KILL", point, 1);
    if (resumed ? engine_resume(g, resumed, NULL, &e) : engine_start(g, o, &id, &e))
        engine_run(g, &e);
    _exit(0); // it was not killed
}

void run_killed(struct run *r, const char *point, int64_t resumed, const struct session_options *o)
{
    struct err e;
    int status = 0;
    store_close(r->store); // no store crosses a fork
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        die(r->path, point, resumed, o);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("it was not killed at %s", point);
    r->store = store_open(r->path, STORE_WRITE, &e);
    run_must(r->store, &e);
}

static bool add_trial(void *context, const struct trial_record *t)
{
    str_printf(context, "%" PRId64 " %" PRId64 " %s %s %.9g\n", t->ask, t->told, t->key,
               t->outcome == OUTCOME_OPEN ? "open" : outcome_name(t->outcome), t->seconds);
    return true;
}

char *run_sequence(struct run *r, int64_t id)
{
    struct err e;
    struct str text = {0};
    run_must(store_each_trial(r->store, id, 1, add_trial, &text, &e), &e);
    return str_take(&text);
}

static bool add_refit(void *context, const struct refit_record *t)
{
    str_printf(context, "%" PRId64 "/%" PRId64 " ", t->told, t->rows);
    return true;
}

char *run_refits(struct run *r, int64_t id)
{
    struct err e;
    struct str text = {0};
    run_must(store_each_refit(r->store, id, add_refit, &text, &e), &e);
    return str_take(&text);
}

struct session_record run_record(struct run *r, int64_t id, struct arena *a)
{
    struct err e;
    struct session_record record;
    run_must(store_get_session(r->store, id, a, &record, &e), &e);
    return record;
}
