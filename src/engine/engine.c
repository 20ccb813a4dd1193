#include "engine/engine.h"

#include "base/os.h"
#include "engine/session_setup.h"
#include "engine/session_step.h"

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
    struct session *session; // NULL until it was started or resumed
    int wake[2];             // a byte here interrupts
    bool gave_up;            // interrupted while the database was locked by another program
};

// --- a database that another program keeps locked ---

static bool wait_for_store(void *context, double waited_s)
{
    struct engine *g = context;
    struct pollfd wake = {.fd = g->wake[0], .events = POLLIN};
    if (waited_s >= STORE_BUSY_S && !g->session) // there is nothing yet to be paused
        return false;
    if (waited_s >= STORE_BUSY_S)
        session_hold(g->session, waited_s);
    g->gave_up = poll(&wake, 1, waited_s < 0.1 ? 1 : waited_s < 1 ? 10 : 100) > 0;
    return !g->gave_up;
}

static void store_is_free(void *context)
{
    struct engine *g = context;
    if (g->session)
        session_let_go(g->session);
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
    session_destroy(g->session);
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

// --- the end of a session ---

static void emit_end(struct session *s)
{
    struct arena a;
    struct trial_record best = {0};
    struct retime_record race = {0};
    struct store *store = s->host.store;
    int64_t best_ask = s->record.best_ask;
    struct err ignored; // the session ended as its state says; what can't be read is not reported
    arena_init(&a);
    bool has_best =
        best_ask && store_get_trial(store, s->record.id, best_ask, &a, &best, &ignored) && best.ask;
    bool has_race =
        has_best && store_get_race(store, s->record.id, best_ask, &a, &race, &ignored) && race.ask;
    session_emit(s, EVENT_END, has_best ? &best : NULL, has_race ? &race : NULL);
    arena_finish(&a);
}

// The database is not where others look for it: what this process still has of it becomes another
// one. Says so in `e`.
static void save(struct session *s, struct err *e)
{
    const struct err lost = *e;
    struct err why;
    store_set_state(s->host.store, s->record.id, "paused", lost.text, session_ran_seconds(s), &why);
    const char *path = store_save(s->host.store, &why);
    if (path)
        err_set(e,
                "%s: all that was stored is saved as '%s' (move it back, then `tilewalk resume`)",
                lost.text, path);
    else
        err_set(e, "%s, and could not be saved: %s", lost.text, why.text);
}

// A session that failed keeps everything it stored, and says why.
static void fail(struct session *s, const struct err *why)
{
    char text[1400];
    struct err ignored;
    s->record.state = s->store_failed ? "paused" : "failed";
    s->record.message = arena_strdup(&s->arena, err_format(why, text, sizeof text));
    s->phase = SESSION_ENDED;
    store_set_state(s->host.store, s->record.id, s->record.state, text, session_ran_seconds(s),
                    &ignored);
    store_unlock_session(s->host.store, s->record.id);
}

// After a failure. False: it ended as failed; true: whoever interrupts a run that waits for the
// database knows why it ends.
static bool stop(struct engine *g, struct err *e)
{
    struct session *s = g->session;
    s->store_failed |= g->gave_up;
    if (g->gave_up)
        err_set(e, "interrupted while the database was locked by another program");
    else if (!store_in_place(s->host.store, NULL))
        save(s, e);
    fail(s, e);
    return g->gave_up;
}

// --- one session ---

bool engine_start(struct engine *g, const struct session_options *o, int64_t *id, struct err *e)
{
    g->session = session_start(&g->host, o, e);
    if (g->session)
        *id = g->session->record.id;
    return g->session != NULL;
}

// One that has nothing left to do ends at once.
bool engine_resume(struct engine *g, int64_t id, const struct session_options *more, struct err *e)
{
    g->session = session_resume(&g->host, id, more, e);
    if (g->session && session_ended(g->session))
        emit_end(g->session);
    return g->session != NULL;
}

// --- the loop ---

static bool take_commands(struct session *s, struct err *e)
{
    char verb[16], argument[64];
    for (bool any = true; any && !session_ended(s);) {
        bool taken = store_take_command(s->host.store, s->record.id, verb, argument, &any, e);
        if (!session_stored(s, taken, e) || (any && !session_command(s, verb, argument, e)))
            return false;
    }
    return true;
}

// Does something with the session, unless it has ended. One that fails in it ends.
static bool with(struct engine *g, bool (*act)(struct session *s, struct err *e), struct err *e)
{
    struct session *s = g->session;
    if (session_ended(s))
        return true;
    bool ok = act(s, e) || stop(g, e);
    if (session_ended(s)) {
        emit_end(s);
        session_release(s);
    }
    return ok;
}

// Sleeps until something can be done. Returns true when the engine was interrupted.
static bool sleep_until_needed(struct engine *g)
{
    const struct session *s = g->session;
    struct pollfd fds[MOST_FDS] = {{.fd = g->wake[0], .events = POLLIN}};
    int count = 1, model = session_wait_fd(s), ms = s->busy ? 0 : source_wait_ms(s->source);
    if (model >= 0)
        fds[count++] = (struct pollfd){.fd = model, .events = POLLIN};
    count += source_fds(s->source, fds + count, MOST_FDS - count);
    poll(fds, (nfds_t)count, ms >= 0 && ms < COMMANDS_EVERY_MS ? ms : COMMANDS_EVERY_MS);
    return fds[0].revents & POLLIN;
}

bool engine_run(struct engine *g, struct err *e)
{
    int64_t looked_ns = 0;
    struct err why = {0};
    bool ok = true;
    while (!session_ended(g->session)) {
        ok = with(g, session_step, &why);
        if (os_now_ns() - looked_ns > COMMANDS_EVERY_MS * 1000000ll) {
            ok = ok && with(g, take_commands, &why);
            looked_ns = os_now_ns();
        }
        if (!session_ended(g->session) && sleep_until_needed(g))
            ok = ok && with(g, session_interrupt, &why);
    }
    if (!ok && e)
        *e = why;
    return ok;
}
