#include "engine/engine.h"

#include "base/os.h"
#include "engine/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS_EVERY_MS 250
#define MOST_FDS          256

struct engine {
    struct session_host host;
    struct session *sessions;
    int wake[2];  // a byte here interrupts
    bool gave_up; // interrupted while the database was locked by another program
    bool failed;  // a session did, with `failure`
    struct err failure;
};

// --- a database that another program keeps locked ---

static bool wait_for_store(void *context, double waited_s)
{
    struct engine *g = context;
    struct pollfd wake = {.fd = g->wake[0], .events = POLLIN};
    if (waited_s >= STORE_BUSY_S && !g->sessions) // there is nothing yet to be paused
        return false;
    for (struct session *s = g->sessions; s && waited_s >= STORE_BUSY_S; s = s->next)
        session_hold(s, waited_s);
    g->gave_up = poll(&wake, 1, waited_s < 0.1 ? 1 : waited_s < 1 ? 10 : 100) > 0;
    return !g->gave_up;
}

static void store_is_free(void *context)
{
    struct engine *g = context;
    for (struct session *s = g->sessions; s; s = s->next)
        session_let_go(s);
}

struct engine *engine_create(struct store *store,
                             void (*on_event)(void *context, const struct event *event),
                             void *context)
{
    struct engine *g = mem_zero(1, sizeof *g);
    g->host = (struct session_host){store, on_event, context};
    if (pipe(g->wake) != 0) {
        free(g);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(g->wake[i], F_SETFL, O_NONBLOCK);
        fcntl(g->wake[i], F_SETFD, FD_CLOEXEC);
    }
    store_set_patience(store, &(struct store_patience){wait_for_store, store_is_free, g});
    return g;
}

void engine_destroy(struct engine *g)
{
    if (!g)
        return;
    while (g->sessions) {
        struct session *s = g->sessions;
        g->sessions = s->next;
        session_destroy(s);
    }
    store_set_patience(g->host.store, NULL);
    close(g->wake[0]);
    close(g->wake[1]);
    free(g);
}

void engine_interrupt(struct engine *g)
{
    int saved = errno;
    ssize_t ignored = write(g->wake[1], "i", 1);
    (void)ignored; // a full pipe has already woken the engine
    errno = saved;
}

static bool adopt(struct engine *g, struct session *s)
{
    if (!s)
        return false;
    s->next = g->sessions;
    g->sessions = s;
    return true;
}

bool engine_start(struct engine *g, const struct session_options *o, int64_t *id, struct err *e)
{
    if (!adopt(g, session_start(&g->host, o, e)))
        return false;
    *id = g->sessions->record.id;
    return true;
}

// --- the end of a session ---

static void emit_end(struct session *s)
{
    struct arena a;
    struct trial_record best = {0};
    struct retime_record race = {0};
    int64_t best_ask = session_shown(s).best_ask;
    struct err ignored; // the session ended as its state says; what can't be read is not reported
    arena_init(&a);
    bool has_best = best_ask &&
                    store_get_trial(s->store, s->record.id, best_ask, &a, &best, &ignored) &&
                    best.ask;
    bool has_race = has_best &&
                    store_get_race(s->store, s->record.id, best_ask, &a, &race, &ignored) &&
                    race.ask;
    session_emit(s, EVENT_END, has_best ? &best : NULL, has_race ? &race : NULL);
    arena_finish(&a);
}

// The database is not where others look for it: what this process still has of it becomes another
// one. Says so in `e`.
static void save(struct session *s, struct err *e)
{
    const struct err lost = *e;
    struct err why;
    store_set_state(s->store, s->record.id, "paused", lost.text, session_ran_seconds(s), &why);
    const char *path = store_save(s->store, &why);
    if (path)
        err_set(e,
                "%s: all that was stored is saved as '%s' (move it back, then `tilewalk resume`)",
                lost.text, path);
    else
        err_set(e, "%s, and could not be saved: %s", lost.text, why.text);
}

// One that has nothing left to do ends at once.
bool engine_resume(struct engine *g, int64_t id, const struct session_options *more, struct err *e)
{
    struct session *s = session_resume(&g->host, id, more, e);
    if (s && session_ended(s))
        emit_end(s);
    return adopt(g, s);
}

// A session that failed keeps everything it stored, and says why.
static void fail(struct session *s, const struct err *why)
{
    char text[1400];
    struct err ignored;
    s->record.state = s->store_failed ? "paused" : "failed";
    s->record.message = arena_strdup(&s->arena, err_format(why, text, sizeof text));
    s->phase = SESSION_ENDED;
    store_set_state(s->store, s->record.id, s->record.state, text, session_ran_seconds(s),
                    &ignored);
    store_unlock_session(s->store, s->record.id);
}

// --- the loop ---

static bool take_commands(struct session *s, struct err *e)
{
    char verb[16], argument[64];
    for (bool any = true; any && !session_ended(s);) {
        bool taken = store_take_command(s->store, s->record.id, verb, argument, &any, e);
        if (!session_stored(s, taken, e) || (any && !session_command(s, verb, argument, e)))
            return false;
    }
    return true;
}

// After a failure: the first one is kept. Who interrupts a run that waits for the database knows
// why it ends.
static void stop(struct engine *g, struct session *s, struct err *e)
{
    s->store_failed |= g->gave_up;
    if (g->gave_up)
        err_set(e, "interrupted while the database was locked by another program");
    else if (!store_in_place(s->store, NULL))
        save(s, e);
    fail(s, e);
    if (g->gave_up)
        return;
    if (!g->failed)
        g->failure = *e;
    g->failed = true;
}

// Does something with every session that has not ended. One that fails in it ends; the first
// failure is kept.
static void with_all(struct engine *g, bool (*act)(struct session *s, struct err *e))
{
    for (struct session *s = g->sessions; s; s = s->next) {
        struct err e = {0};
        if (session_ended(s))
            continue;
        if (!act(s, &e))
            stop(g, s, &e);
        if (session_ended(s)) {
            emit_end(s);
            session_release(s);
        }
    }
}

static int wait_ms(const struct session *first)
{
    int wait = COMMANDS_EVERY_MS;
    for (const struct session *s = first; s; s = s->next) {
        int ms = session_ended(s) ? -1 : s->busy ? 0 : source_wait_ms(s->source);
        wait = ms >= 0 && ms < wait ? ms : wait;
    }
    return wait;
}

// Whatever may give a session something to do.
static int session_fds(const struct session *s, struct pollfd *out, int most)
{
    int model = session_wait_fd(s), count = 0;
    if (model >= 0 && most > 0)
        out[count++] = (struct pollfd){.fd = model, .events = POLLIN};
    return count + source_fds(s->source, out + count, most - count);
}

// Sleeps until something can be done. Returns true when the engine was interrupted.
static bool sleep_until_needed(struct engine *g)
{
    struct pollfd fds[MOST_FDS] = {{.fd = g->wake[0], .events = POLLIN}};
    int count = 1;
    for (struct session *s = g->sessions; s; s = s->next)
        if (!session_ended(s))
            count += session_fds(s, fds + count, MOST_FDS - count);
    poll(fds, (nfds_t)count, wait_ms(g->sessions));
    return fds[0].revents & POLLIN;
}

static bool any_left(const struct engine *g)
{
    for (const struct session *s = g->sessions; s; s = s->next)
        if (!session_ended(s))
            return true;
    return false;
}

bool engine_run(struct engine *g, struct err *e)
{
    int64_t looked_ns = 0;
    g->failed = false;
    while (any_left(g)) {
        with_all(g, session_step);
        if (os_now_ns() - looked_ns > COMMANDS_EVERY_MS * 1000000ll) {
            with_all(g, take_commands);
            looked_ns = os_now_ns();
        }
        if (any_left(g) && sleep_until_needed(g))
            with_all(g, session_interrupt);
    }
    if (g->failed && e)
        *e = g->failure;
    return !g->failed;
}
