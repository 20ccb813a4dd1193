#include "fixture.h"

#include "base/file.h"
#include "store/machine.h"

#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR      3600.0
#define IN_ONE_GO 10000 // trials of one transaction

static void must(bool ok, const struct err *e)
{
    if (!ok)
        fail_msg("%s", e->text);
}

// --- the runner ---

// The child: it must not return into the test.
static _Noreturn void hold(const char *path, int told, int answer)
{
    int64_t session;
    struct err e;
    struct store *s = NULL;
    bool ok = true;
    while (ok && read(told, &session, sizeof session) > 0) {
        s = s ? s : store_open(path, STORE_WRITE, &e);
        ok = s && store_lock_session(s, session, &e) && write(answer, "", 1) == 1;
    }
    _exit(!ok);
}

// Before a store is open here: none may be across a fork.
static void start_runner(struct fixture *f)
{
    int to[2], from[2];
    fflush(NULL);
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    f->runner = fork();
    assert_true(f->runner >= 0);
    if (f->runner == 0) {
        close(to[1]); // so that it ends with the test, however that ends
        close(from[0]);
        hold(f->path, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    f->tell_runner = to[1];
    f->hear_runner = from[0];
}

static void lock(struct fixture *f, int64_t session)
{
    char byte;
    assert_int_equal(write(f->tell_runner, &session, sizeof session), sizeof session);
    assert_int_equal(read(f->hear_runner, &byte, 1), 1);
}

void fixture_kill_runner(struct fixture *f)
{
    if (f->runner <= 0)
        return;
    kill(f->runner, SIGKILL);
    waitpid(f->runner, NULL, 0);
    close(f->tell_runner);
    close(f->hear_runner);
    f->runner = 0;
}

// --- the file ---

static void make_folder(struct fixture *f)
{
    const char *base = getenv("TMPDIR");
    *f = (struct fixture){.folder = mem_printf("%s/tilewalk-ui-XXXXXX", base ? base : "/tmp")};
    assert_non_null(mkdtemp(f->folder));
    f->path = path_join(f->folder, "tilewalk.db");
    start_runner(f);
}

static void open_store(struct fixture *f)
{
    struct err e;
    f->store = store_open(f->path, STORE_WRITE, &e);
    must(f->store != NULL, &e);
}

void fixture_execute(const struct fixture *f, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

// The store stamps messages with the real time.
static void stamp_messages(const struct fixture *f)
{
    fixture_execute(f, "UPDATE message SET at = 1.5 + 4 * id + (SELECT created FROM session"
                       " WHERE session.id = message.session)");
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void fixture_destroy(struct fixture *f)
{
    fixture_kill_runner(f);
    author_destroy(f->author);
    store_close(f->store);
    assert_int_equal(nftw(f->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    free(f->folder);
    free(f->path);
    *f = (struct fixture){0};
}

// --- the shapes ---

static struct author *begin(struct fixture *f, const struct author_plan *plan)
{
    struct err e;
    must(store_begin(f->store, &e), &e);
    struct author *a = author_create(f->store, plan);
    author_tell(a, plan->trials);
    return a;
}

static void commit(struct fixture *f)
{
    struct err e;
    must(store_commit(f->store, &e), &e);
}

static void finish(struct fixture *f, struct author *a, enum session_state state,
                   const char *message)
{
    author_end(a, state, message);
    commit(f);
    f->session = author_session(a);
    author_destroy(a);
}

// Leaves the session running.
static void leave(struct fixture *f, struct author *a)
{
    commit(f);
    f->session = author_session(a);
    f->author = a;
}

static int64_t best_ask(struct fixture *f, int64_t session, int place)
{
    struct arena a;
    struct ranked_trials best;
    struct err e;
    arena_init(&a);
    must(store_best_trials(f->store, session, place + 1, &a, &best, &e), &e);
    assert_true(place < best.count);
    int64_t ask = best.trial[place].ask;
    arena_finish(&a);
    return ask;
}

static void say_all(struct author *a)
{
    author_say(a, "debug", "worker 0: radv: shader cache is empty");
    author_say(a, "info", "4 workers on AMD Radeon RX 7900 XTX (RADV NAVI31)");
    author_say(a, "warning", "worker 3 was started again: signal 11 (Segmentation fault)");
    author_say(a, "debug",
               "worker 1: amdgpu: The CS has been cancelled because the context is "
               "lost.");
    author_say(a, "error", "the device was lost; it came back after 2 s");
    author_say(a, "warning",
               "the device drifts: the best configuration runs 12 % slower than "
               "before");
}

// Two at work, of which one says what is wrong; three that are not any more. Each but the last has
// measured every fourth trial.
static void add_machines(struct fixture *f)
{
    static const struct machine_record machines[] = {
        {"rack1-5fd0c2a9", .state = "up", .fixed_s = 3.41e-3, .drift = 0.018},
        {"rack2-11b20c77", .state = "stuck", .fixed_s = 3.35e-3, .drift = -0.006,
         .why = "its results are not kept: insufficient resources"},
        {"shelf-9ae1f0d3", .state = "refused", .fixed_s = 4.2e-3, .drift = 0.25,
         .why = "a fixed kernel takes 4.2 ms there, 25 % more than on the others (at most 10 %)"},
        {"rack1-08c1d6ee", .state = "lost", .lost = 3, .fixed_s = 3.4e-3, .drift = NAN,
         .why = "the connection was closed (kex_exchange_identification: read: Connection reset)"},
        {"board-77aa01f2", .state = "left", .why = "it was ended"}};
    struct err e;
    for (int i = 0; i < 5; i++) {
        struct machine_record r = machines[i];
        char sql[200];
        r.place = i == 2 || i == 4 ? "nats://queue" : i == 1 ? "ssh:rack2" : "ssh:rack1";
        r.device = "AMD Radeon RX 7900 XTX (RADV NAVI31)";
        r.driver = "radv 23.3.1";
        r.at = FIXTURE_NOW - 150 + 20 * i;
        must(store_put_machine(f->store, f->session, &r, &e), &e);
        snprintf(sql, sizeof sql,
                 "UPDATE trial SET machine = '%s' WHERE number > 0 AND number %% 4 = %d", r.name,
                 i);
        fixture_execute(f, sql);
    }
}

static void make_small(struct fixture *f)
{
    struct author *a = begin(f, &(struct author_plan){.strategy = "opevo",
                                                      .seed = 3,
                                                      .budget = 200,
                                                      .trials = 64,
                                                      .until = FIXTURE_NOW - 1,
                                                      .seconds_each = 2.25});
    say_all(a);
    author_retime(a, best_ask(f, author_session(a), 0), "canary", 1.02, true);
    leave(f, a);
    add_machines(f);
}

static struct author_plan plan_of(const char *strategy, uint64_t seed, int trials, double hours)
{
    return (struct author_plan){.strategy = strategy,
                                .seed = seed,
                                .budget = 120,
                                .trials = trials,
                                .until = FIXTURE_NOW - hours * HOUR,
                                .seconds_each = 2.25};
}

static void race(struct fixture *f, struct author *a)
{
    int64_t first = best_ask(f, author_session(a), 0), second = best_ask(f, author_session(a), 1);
    int64_t third = best_ask(f, author_session(a), 2);
    author_retime(a, first, "race", 1.05, true);
    author_retime(a, second, "race", 0.99, true);
    author_retime(a, third, "race", 1, false);
}

static void make_several(struct fixture *f)
{
    struct err e;
    struct author_plan plan = plan_of("opevo", 1, 120, 5 * 24);
    struct author *a = begin(f, &plan);
    race(f, a);
    finish(f, a, STATE_DONE, "all 120 trials are done");
    plan = plan_of("opevo", 2, 120, 4 * 24);
    finish(f, begin(f, &plan), STATE_DONE, "all 120 trials are done");
    plan = plan_of("random", 1, 120, 30);
    finish(f, begin(f, &plan), STATE_DONE, "all 120 trials are done");
    must(store_set_note(f->store, f->session, "baseline: before the swizzle was added", &e), &e);
    plan = plan_of("opevo", 4, 71, 26);
    finish(f, begin(f, &plan), STATE_STOPPED, "stopped by the user");
    plan = plan_of("opevo:q=0.3", 5, 12, 3);
    a = begin(f, &plan);
    say_all(a);
    finish(f, a, STATE_FAILED, "the device was lost and did not come back");
    plan = plan_of("opevo", 6, 55, 2);
    finish(f, begin(f, &plan), STATE_PAUSED, "paused by the user");
    plan = plan_of("opevo", 7, 90, 0);
    a = begin(f, &plan);
    say_all(a);
    leave(f, a);
}

static void make_empty(struct fixture *f)
{
    struct author_plan plan = plan_of("opevo", 1, 0, 1);
    finish(f, begin(f, &plan), STATE_PAUSED, "paused by the user");
    plan.never_legal = true;
    struct author *a = begin(f, &plan);
    author_tell_walks(a, 40);
    finish(f, a, STATE_DONE, "no configuration is possible: 'whole subgroups' removes 100 %");
    plan = plan_of("opevo", 3, 12, 0.5);
    plan.never_ok = true;
    finish(f, begin(f, &plan), STATE_STOPPED, "stopped by the user");
}

void fixture_create(struct fixture *f, enum fixture_shape shape)
{
    make_folder(f);
    if (shape == FIXTURE_NOTHING)
        return;
    open_store(f);
    switch (shape) {
    case FIXTURE_SMALL: make_small(f); break;
    case FIXTURE_SEVERAL: make_several(f); break;
    case FIXTURE_EMPTY: make_empty(f); break;
    case FIXTURE_NOTHING: break;
    }
    stamp_messages(f);
    if (f->author)
        lock(f, f->session);
}

void fixture_create_huge(struct fixture *f, int told)
{
    struct err e;
    struct author_plan plan = {.strategy = "opevo",
                               .seed = 1,
                               .budget = 10000000,
                               .until = FIXTURE_NOW - 1,
                               .trials = told * 4 / 5,
                               .seconds_each = 0.1};
    make_folder(f);
    open_store(f);
    f->author = author_create(f->store, &plan);
    f->session = author_session(f->author);
    for (int done = 0; done < told; done += IN_ONE_GO) {
        must(store_begin(f->store, &e), &e);
        author_tell_walks(f->author, told - done < IN_ONE_GO ? told - done : IN_ONE_GO);
        commit(f);
    }
    lock(f, f->session);
}

// --- later ---

void fixture_remove(struct fixture *f)
{
    static const char *const ends[] = {"", "-wal", "-shm", ".lock"};
    fixture_kill_runner(f);
    author_destroy(f->author);
    store_close(f->store);
    f->author = NULL;
    f->store = NULL;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *path = mem_printf("%s%s", f->path, ends[i]);
        unlink(path);
        free(path);
    }
}

void fixture_replace(struct fixture *f)
{
    fixture_remove(f);
    open_store(f);
    make_empty(f);
    stamp_messages(f);
}

void fixture_tell(struct fixture *f, int numbered)
{
    struct err e;
    must(store_begin(f->store, &e), &e);
    author_tell(f->author, numbered);
    commit(f);
}

void fixture_tell_one(struct fixture *f)
{
    struct err e;
    must(store_begin(f->store, &e), &e);
    author_tell_walks(f->author, 1);
    commit(f);
}
