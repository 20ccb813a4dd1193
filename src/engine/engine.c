#include "engine/engine.h"

#include "base/number.h"
#include "base/os.h"
#include "engine/network_run.h"
#include "engine/session.h"
#include "store/machine.h"
#include "trial/helper_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define COMMANDS_EVERY_MS  250
#define MOST_FDS           256
#define MOST_SHOWN_WORKERS 64

struct engine {
    struct session_host host;
    struct session *session;     // NULL until it was started or resumed, and with a network
    struct network_run *network; // NULL: one session alone
    int wake[2];                 // a byte here interrupts
    struct worker_now shown[MOST_SHOWN_WORKERS]; // as the database has them
    int shown_count;
    bool was_interrupted; // interrupted while the database was locked by another program
};

// Returns the running session; NULL: there is none.
static struct session *session_now(const struct engine *g)
{
    return g->network ? network_task_now(g->network) : g->session;
}

// Returns the store of what was started: a session or a network. Its record and its log are those
// of the run, too.
static struct session_store *store_of(const struct engine *g)
{
    return g->network ? &g->network->store : &g->session->store;
}

static bool ended(const struct engine *g)
{
    return (g->network ? g->network->phase : g->session->phase) == SESSION_ENDED;
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
        session_lock_begins(s, waited_s);
    g->was_interrupted = poll(&wake, 1, waited_s < 0.1 ? 1 : waited_s < 1 ? 10 : 100) > 0;
    return !g->was_interrupted;
}

static void store_is_free(void *context)
{
    struct session *s = session_now(context);
    if (s)
        session_lock_ends(s);
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

// --- the end of a run ---

static void emit_end(struct engine *g)
{
    struct arena a;
    struct trial_record best = {0};
    struct retime_record race = {0};
    struct err ignored; // the session ended as its state says; what can't be read is not reported
    if (g->network) {
        session_event(&g->network->log, (struct event){.kind = EVENT_END});
        return;
    }
    const struct session_record *r = &g->session->record;
    struct store *db = g->host.store;
    arena_init(&a);
    bool has_best =
        r->best_ask && store_get_trial(db, r->id, r->best_ask, &a, &best, &ignored) && best.ask;
    bool has_race =
        has_best && store_get_race(db, r->id, r->best_ask, &a, &race, &ignored) && race.ask;
    session_emit(g->session, EVENT_END, has_best ? &best : NULL, has_race ? &race : NULL);
    arena_finish(&a);
}

// Ends a run that failed, and stores the reason. Returns true if it was interrupted while it waited
// for the database, which is no failure of the run.
static bool stop(struct engine *g, struct err *e)
{
    struct session_store *s = store_of(g);
    struct session_record *r = s->record;
    struct err why;
    double seconds = session_clock_seconds(g->network ? &g->network->clock : &g->session->clock);
    s->failed |= g->was_interrupted;
    if (g->was_interrupted)
        err_set(e, "interrupted while the database was locked by another program");
    else if (!store_in_place(s->db, NULL)) {
        // The database is not at its path any more: the contents that this process still has
        // become another one.
        const struct err lost = *e;
        store_set_state(s->db, r->id, STATE_PAUSED, lost.text, seconds, &why);
        const char *path = store_save(s->db, &why);
        if (path)
            err_set(
                e,
                "%s: all that was stored is saved as '%s' (move it back, then `tilewalk resume`)",
                lost.text, path);
        else
            err_set(e, "%s, and could not be saved: %s", lost.text, why.text);
    }
    // A session that failed keeps everything it stored, and the reason.
    char text[1400];
    r->state = s->failed ? STATE_PAUSED : STATE_FAILED;
    r->message = arena_strdup(g->network ? &g->network->arena : &g->session->arena,
                              err_format(e, text, sizeof text));
    *(g->network ? &g->network->phase : &g->session->phase) = SESSION_ENDED;
    store_set_state(s->db, r->id, r->state, text, seconds, &why);
    store_unlock_session(s->db, r->id);
    return g->was_interrupted;
}

// --- starting ---

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

// Ends at once where nothing is left to do.
bool engine_resume(struct engine *g, int64_t id, const struct session_options *more, struct err *e)
{
    struct arena a;
    struct session_record r;
    arena_init(&a);
    bool ok = store_get_session(g->host.store, id, &a, &r, e);
    if (ok && r.network)
        ok = err_set(e,
                     "session %" PRId64 " is task %s of network %" PRId64
                     " (`tilewalk resume %" PRId64 "%s` goes on with all of it)",
                     id, r.task ? r.task : "?", r.network, r.network, store_option(g->host.store));
    if (ok && r.scheduler)
        g->network = network_resume(&g->host, id, more, e);
    else if (ok)
        g->session = session_resume(&g->host, id, more, e);
    arena_finish(&a);
    if (!g->network && !g->session)
        return false;
    if (ended(g))
        emit_end(g);
    return true;
}

// --- the loop ---

static bool take_commands(struct engine *g, struct err *e)
{
    struct session_store *s = store_of(g);
    char verb[16], argument[64];
    for (bool any = true; any && !ended(g);) {
        bool taken = store_take_command(s->db, s->record->id, verb, argument, &any, e);
        if (!session_stored(s, taken, e) ||
            (any && !(g->network ? network_command(g->network, verb, argument, e)
                                 : session_command(g->session, verb, argument, e))))
            return false;
    }
    return true;
}

// Stores what the workers do now, for who watches, where it has changed. Nothing depends on it, so
// that it may fail.
static void show_workers(struct engine *g)
{
    struct session *s = session_now(g);
    struct worker_now now[MOST_SHOWN_WORKERS];
    struct worker_record record[MOST_SHOWN_WORKERS];
    if (!s)
        return;
    bool over = s->phase == SESSION_ENDED || s->phase == SESSION_PAUSED;
    int count = over ? 0 : source_workers(s->backend.source, now, MOST_SHOWN_WORKERS);
    bool same = count == g->shown_count;
    for (int i = 0; same && i < count; i++)
        same = now[i].worker == g->shown[i].worker && now[i].phase == g->shown[i].phase &&
               now[i].ticket == g->shown[i].ticket && now[i].since_ns == g->shown[i].since_ns;
    if (same)
        return;
    double unix_now = os_unix_time();
    int64_t now_ns = os_now_ns();
    for (int i = 0; i < count; i++) {
        g->shown[i] = now[i];
        record[i] = (struct worker_record){
            .worker = now[i].worker,
            .phase = trial_phase_name(now[i].phase),
            .ask = int64_max(now[i].ticket, 0),
            .since = unix_now - (double)(now_ns - now[i].since_ns) / 1e9,
        };
    }
    g->shown_count = count;
    store_put_workers(g->host.store, s->record.id, record, count, NULL);
}

// Handles the outcome of a step or a command: a run that failed is ended. Returns false if the
// failure is one of the run itself.
static bool done(struct engine *g, bool ok, struct err *e)
{
    ok = ok || stop(g, e);
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
    struct helper_job *whole = g->network ? g->network->whole.run : NULL;
    int count = 1, model = s ? session_wait_fd(s) : -1, ms = 0;
    if (s && !s->busy)
        ms = source_wait_ms(s->backend.source);
    else if (!s && g->network && g->network->phase == SESSION_PAUSED)
        ms = -1;
    else if (!s && whole) // else a network without a task at work begins a round
        ms = helper_job_wait_ms(whole);
    if (model >= 0)
        fds[count++] = (struct pollfd){.fd = model, .events = POLLIN};
    if (whole)
        count += helper_job_fds(whole, fds + count, MOST_FDS - count);
    if (s)
        count += source_fds(s->backend.source, fds + count, MOST_FDS - count);
    poll(fds, (nfds_t)count, ms >= 0 && ms < COMMANDS_EVERY_MS ? ms : COMMANDS_EVERY_MS);
    return fds[0].revents & POLLIN;
}

bool engine_run(struct engine *g, struct err *e)
{
    struct network_run *n = g->network;
    struct session *s = g->session;
    int64_t looked_ns = 0;
    struct err why = {0};
    bool ok = true;
    while (!ended(g)) {
        ok = done(g, n ? network_step(n, &why) : session_step(s, &why), &why);
        bool looks = os_now_ns() - looked_ns > COMMANDS_EVERY_MS * 1000000ll;
        if (looks && !ended(g))
            ok = done(g, take_commands(g, &why), &why) && ok;
        if (looks && ok)
            show_workers(g);
        if (looks)
            looked_ns = os_now_ns();
        if (!ended(g) && sleep_until_needed(g))
            ok = done(g,
                      n ? network_interrupt(n, &why)
                        : session_end(s, STATE_PAUSED, "interrupted", &why),
                      &why) &&
                 ok;
    }
    if (!ok && e)
        *e = why;
    return ok;
}
