#include "engine/engine.h"

#include "base/os.h"
#include "engine/network_run.h"
#include "engine/session_setup.h"
#include "engine/session_step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS_EVERY_MS 250
#define MOST_FDS          256

struct engine {
    struct session_host host;
    struct session *session;     // NULL until it was started or resumed, and with a network
    struct network_run *network; // NULL: one session alone
    int wake[2];                 // a byte here interrupts
    bool gave_up;                // interrupted while the database was locked by another program
};

// The session that is at work; NULL: none is.
static struct session *session_now(const struct engine *g)
{
    return g->network ? network_task_now(g->network) : g->session;
}

// What was started: a session's record, or a network's.
static struct session_record *record_of(const struct engine *g)
{
    return g->network ? &g->network->record : &g->session->record;
}

static bool ended(const struct engine *g)
{
    return g->network ? network_ended(g->network) : session_ended(g->session);
}

// --- a database that another program keeps locked ---

static bool wait_for_store(void *context, double waited_s)
{
    struct engine *g = context;
    struct pollfd wake = {.fd = g->wake[0], .events = POLLIN};
    struct session *s = session_now(g);
    if (waited_s >= STORE_BUSY_S && !s) // there is nothing yet to be paused
        return false;
    if (waited_s >= STORE_BUSY_S)
        session_hold(s, waited_s);
    g->gave_up = poll(&wake, 1, waited_s < 0.1 ? 1 : waited_s < 1 ? 10 : 100) > 0;
    return !g->gave_up;
}

static void store_is_free(void *context)
{
    struct engine *g = context;
    struct session *s = session_now(g);
    if (s)
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
    session_destroy(g->session);
    network_destroy(g->network);
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

static void emit_end(struct engine *g)
{
    if (g->network)
        network_emit(g->network, (struct event){.kind = EVENT_END});
    else {
        struct arena a;
        struct trial_record best = {0};
        struct retime_record race = {0};
        struct store *store = g->session->host.store;
        int64_t best_ask = g->session->record.best_ask;
        struct err
            ignored; // the session ended as its state says; what can't be read is not reported
        arena_init(&a);
        bool has_best =
            best_ask &&
            store_get_trial(store, g->session->record.id, best_ask, &a, &best, &ignored) &&
            best.ask;
        bool has_race =
            has_best &&
            store_get_race(store, g->session->record.id, best_ask, &a, &race, &ignored) && race.ask;
        session_emit(g->session, EVENT_END, has_best ? &best : NULL, has_race ? &race : NULL);
        arena_finish(&a);
    }
}

static double ran_seconds(const struct engine *g)
{
    return g->network ? network_ran_seconds(g->network) : session_ran_seconds(g->session);
}

static bool *store_failed(struct engine *g)
{
    return g->network ? &g->network->store_failed : &g->session->hold.failed;
}

// After a failure. False: it ended as failed; true: whoever interrupts a run that waits for the
// database knows why it ends.
static bool stop(struct engine *g, struct err *e)
{
    *store_failed(g) |= g->gave_up;
    if (g->gave_up)
        err_set(e, "interrupted while the database was locked by another program");
    else if (!store_in_place(g->host.store, NULL)) {
        // The database is not where others look for it: what this process still has of it becomes
        // another one. Says so in `e`.
        const struct err lost = *e;
        struct err why;
        struct store *store = g->host.store;
        store_set_state(store, record_of(g)->id, STATE_PAUSED, lost.text, ran_seconds(g), &why);
        const char *path = store_save(store, &why);
        if (path)
            err_set(
                e,
                "%s: all that was stored is saved as '%s' (move it back, then `tilewalk resume`)",
                lost.text, path);
        else
            err_set(e, "%s, and could not be saved: %s", lost.text, why.text);
    }
    // A session that failed keeps everything it stored, and says why.
    char text[1400];
    struct err ignored;
    struct session_record *r = record_of(g);
    struct arena *arena = g->network ? &g->network->arena : &g->session->arena;
    enum session_phase *phase = g->network ? &g->network->phase : &g->session->phase;
    r->state = *store_failed(g) ? STATE_PAUSED : STATE_FAILED;
    r->message = arena_strdup(arena, err_format(e, text, sizeof text));
    *phase = SESSION_ENDED;
    store_set_state(g->host.store, r->id, r->state, text, ran_seconds(g), &ignored);
    store_unlock_session(g->host.store, r->id);
    return g->gave_up;
}

// --- what is run ---

bool engine_start(struct engine *g, const struct session_options *o, int64_t *id, struct err *e)
{
    g->session = session_start(&g->host, o, e);
    if (g->session)
        *id = g->session->record.id;
    return g->session != NULL;
}

bool engine_start_network(struct engine *g, const struct network_options *o, int64_t *id,
                          struct err *e)
{
    g->network = network_start(&g->host, o, e);
    if (g->network)
        *id = g->network->record.id;
    return g->network != NULL;
}

// One that has nothing left to do ends at once.
bool engine_resume(struct engine *g, int64_t id, const struct session_options *more, struct err *e)
{
    bool network;
    // Whether a stored session is a network; a task is resumed by its network alone.
    struct arena a;
    struct session_record r;
    arena_init(&a);
    bool ok = store_get_session(g->host.store, id, &a, &r, e);
    network = ok && r.scheduler;
    if (ok && r.network)
        ok = err_set(e,
                     "session %" PRId64 " is task %s of network %" PRId64
                     " (`tilewalk resume %" PRId64 "%s` goes on with all of it)",
                     id, r.task ? r.task : "?", r.network, r.network, store_option(g->host.store));
    arena_finish(&a);
    if (!ok)
        return false;
    if (network)
        g->network = network_resume(&g->host, id, more, e);
    else
        g->session = session_resume(&g->host, id, more, e);
    if (!g->network && !g->session)
        return false;
    if (ended(g))
        emit_end(g);
    return true;
}

// --- the loop ---

static bool step(struct engine *g, struct err *e)
{
    return g->network ? network_step(g->network, e) : session_step(g->session, e);
}

static bool command(struct engine *g, const char *verb, const char *argument, struct err *e)
{
    return g->network ? network_command(g->network, verb, argument, e)
                      : session_command(g->session, verb, argument, e);
}

static bool interrupt(struct engine *g, struct err *e)
{
    return g->network ? network_interrupt(g->network, e) : session_interrupt(g->session, e);
}

static bool stored(struct engine *g, bool ok, struct err *e)
{
    return g->network ? network_stored(g->network, ok, e) : session_stored(g->session, ok, e);
}

static bool take_commands(struct engine *g, struct err *e)
{
    char verb[16], argument[64];
    for (bool any = true; any && !ended(g);) {
        bool taken = store_take_command(g->host.store, record_of(g)->id, verb, argument, &any, e);
        if (!stored(g, taken, e) || (any && !command(g, verb, argument, e)))
            return false;
    }
    return true;
}

// Does something with the session, unless it has ended. One that fails in it ends.
static bool with(struct engine *g, bool (*act)(struct engine *g, struct err *e), struct err *e)
{
    if (ended(g))
        return true;
    bool ok = act(g, e) || stop(g, e);
    if (ended(g)) {
        emit_end(g);
        if (g->session)
            session_release(g->session);
    }
    return ok;
}

// Sleeps until something can be done. Returns true when the engine was interrupted.
static bool sleep_until_needed(struct engine *g)
{
    const struct session *s = session_now(g);
    struct pollfd fds[MOST_FDS] = {{.fd = g->wake[0], .events = POLLIN}};
    int count = 1, model = s ? session_wait_fd(s) : -1;
    // A network without a task at work begins a round, unless it is paused or runs as a whole.
    bool waits = g->network && !s && g->network->phase == SESSION_PAUSED;
    int ms = s && !s->busy ? source_wait_ms(s->source) : waits ? -1 : 0;
    if (g->network && !s && !waits)
        ms = network_whole_wait_ms(g->network);
    if (model >= 0)
        fds[count++] = (struct pollfd){.fd = model, .events = POLLIN};
    if (g->network)
        count += network_whole_fds(g->network, fds + count, MOST_FDS - count);
    if (s)
        count += source_fds(s->source, fds + count, MOST_FDS - count);
    poll(fds, (nfds_t)count, ms >= 0 && ms < COMMANDS_EVERY_MS ? ms : COMMANDS_EVERY_MS);
    return fds[0].revents & POLLIN;
}

bool engine_run(struct engine *g, struct err *e)
{
    int64_t looked_ns = 0;
    struct err why = {0};
    bool ok = true;
    while (!ended(g)) {
        ok = with(g, step, &why);
        if (os_now_ns() - looked_ns > COMMANDS_EVERY_MS * 1000000ll) {
            ok = ok && with(g, take_commands, &why);
            looked_ns = os_now_ns();
        }
        if (!ended(g) && sleep_until_needed(g))
            ok = ok && with(g, interrupt, &why);
    }
    if (!ok && e)
        *e = why;
    return ok;
}
