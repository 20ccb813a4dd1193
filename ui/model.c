#include "model.h"

#include "base/file.h"
#include "base/number.h"
#include "engine/speed.h"
#include "engine/stored.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_AGAIN_SECONDS 1.0
#define LIST_SECONDS       0.5  // at least between two lists
#define LIST_ROW_SECONDS   2e-3 // more for each session: long lists take long
#define FOLLOW_SECONDS     1.0
#define MOST_TRIES         5
#define RATE_SECONDS       20.0
#define MOST_SHOWN_BEST    24

// --- reading a session ---

static bool add_step(void *context, const struct best_step *step)
{
    struct curve *c = context;
    MEM_GROW(c->step, c->count, c->capacity);
    c->step[c->count++] = *step;
    return true;
}

// Takes the steps after the last one that is there.
static bool curve_extend(struct curve *c, struct store *s, int64_t session, struct err *e)
{
    int64_t after = c->count ? c->step[c->count - 1].number : 0;
    return store_each_best(s, session, after, add_step, c, e);
}

static bool add_recent(void *context, const struct trial_record *t)
{
    struct opened *o = context;
    o->recent[o->recent_count++ % MODEL_MOST_RECENT] = t->elapsed_s;
    o->newest_finished = t->finished;
    o->newest_number = t->number;
    return true;
}

static bool add_best(void *context, const struct trial_record *t)
{
    struct opened *o = context;
    o->population[o->population_count++] = t->ask;
    return o->population_count < MOST_SHOWN_BEST;
}

static bool add_message(void *context, const struct message_record *r)
{
    struct opened *o = context;
    if (o->message_count == MODEL_MOST_MESSAGES) {
        // The oldest quarter goes at once, so that a flood costs each message little.
        int gone = MODEL_MOST_MESSAGES / 4;
        for (int i = 0; i < gone; i++)
            free(o->message[i].text);
        o->message_count -= gone;
        memmove(o->message, o->message + gone, (size_t)o->message_count * sizeof *o->message);
    }
    MEM_GROW(o->message, o->message_count, o->message_capacity);
    struct message *m = &o->message[o->message_count++];
    *m = (struct message){.id = r->id, .at = r->at, .text = mem_strdup(r->text ? r->text : "")};
    snprintf(m->level, sizeof m->level, "%s", r->level ? r->level : "");
    return true;
}

// Reads the session, and the network that it is or belongs to.
static bool read_session(struct opened *o, struct store *s, struct err *e)
{
    struct arena fresh;
    struct session_record record;
    arena_init(&fresh);
    if (!store_get_session(s, o->record.id, &fresh, &record, e)) {
        arena_finish(&fresh);
        return false;
    }
    arena_finish(&o->arena);
    o->arena = fresh;
    o->record = record;
    if (!store_get_baselines(s, record.id, &o->arena, &o->baselines, e) ||
        !store_get_calibration(s, record.id, &o->calibration, e) ||
        !store_list_workers(s, record.id, &o->arena, &o->workers, e))
        return false;
    int64_t network = record.scheduler ? record.id : record.network;
    arena_finish(&o->network_arena);
    arena_init(&o->network_arena);
    o->network_record = (struct session_record){.id = 0};
    o->network = (struct network_summary){.task = NULL};
    if (network &&
        (!store_get_session(s, network, &o->network_arena, &o->network_record, e) ||
         !network_summary_read(s, &o->network_record, &o->network_arena, &o->network, e)))
        return false;
    if (record.scheduler)
        o->record.best_seconds = o->network.latency_s; // units suit it
    return true;
}

// Reads the curve, the outcomes and the newest trials. A network has the outcomes of its tasks.
static bool read_results(struct opened *o, struct store *s, struct err *e)
{
    const struct session_record *r = &o->record;
    int64_t first = int64_max(o->newest_number, r->trials - MODEL_MOST_RECENT) + 1;
    if (!r->scheduler)
        return curve_extend(&o->curve, s, r->id, e) &&
               store_get_tally(s, r->id, o->tally, &o->early, e) &&
               store_each_numbered(s, r->id, first, add_recent, o, e);
    o->curve.count = 0;
    memset(o->tally, 0, sizeof o->tally);
    if (!session_each_best(s, r, add_step, &o->curve, e))
        return false;
    for (int i = 0; i < o->network.task_count; i++) {
        int64_t tally[OUTCOME_COUNT], id = o->network.task[i].session.id;
        if (id && !store_get_tally(s, id, tally, NULL, e))
            return false;
        for (int k = 0; id && k < OUTCOME_COUNT; k++)
            o->tally[k] += tally[k];
    }
    return store_each_numbered(s, r->id, first, add_recent, o, e);
}

static bool is_running(const struct opened *o)
{
    return o->runner && o->state == STATE_RUNNING;
}

// Looks which process runs the session: a run that was killed leaves no trace in the database.
// Returns true when that has changed.
static bool opened_look(struct opened *o, struct store *s, double unix_now)
{
    enum session_state state_before = o->state;
    pid_t runner_before = o->runner;
    bool ran = is_running(o);
    o->state = store_state(s, &o->record, &o->runner);
    if (is_running(o) && (!ran || o->seen_running <= 0))
        o->seen_running = unix_now;
    return o->state != state_before || o->runner != runner_before;
}

// Reads what is new. Returns false when the session is gone or cannot be read.
static bool opened_refresh(struct opened *o, struct store *s, double unix_now, struct err *e)
{
    double ran_before = o->record.ran_seconds;
    int64_t after = o->message_count ? o->message[o->message_count - 1].id : 0;
    if (!read_session(o, s, e) || !read_results(o, s, e) ||
        !store_each_message(s, o->record.id, after, add_message, o, e) ||
        !store_newest_retime(s, &o->retime, e))
        return false;
    const char *text = o->record.population;
    o->population_count = 0;
    o->is_population = text && *text;
    if (!o->is_population && !store_each_ranked(s, o->record.id, 0, add_best, o, e))
        return false;
    while (o->is_population && *text && o->population_count < MODEL_MOST_POPULATION) {
        o->population[o->population_count++] = strtoll(text, NULL, 10);
        text += strcspn(text, ",");
        text += *text == ',';
    }
    if (o->record.ran_seconds > ran_before)
        o->seen_running = unix_now; // it was paused and resumed between two looks
    opened_look(o, s, unix_now);
    o->version++;
    return true;
}

static void opened_finish(struct opened *o)
{
    for (int i = 0; i < o->message_count; i++)
        free(o->message[i].text);
    free(o->message);
    free(o->curve.step);
    script_destroy(o->script);
    recording_destroy(o->recording);
    arena_finish(&o->arena);
    arena_finish(&o->texts);
    arena_finish(&o->network_arena);
    *o = (struct opened){0};
}

// --- the connection ---

static void forget_sessions(struct model *m)
{
    arena_finish(&m->arena);
    m->session = NULL;
    m->session_count = 0;
    m->trials_in_all = 0;
}

static void disconnect(struct model *m, const struct err *why)
{
    m->trouble = *why;
    m->looked_at = m->polled_at;
    store_close(m->store);
    m->store = NULL;
    forget_sessions(m);
}

static bool connect_now(struct model *m)
{
    struct err e = {.text = ""};
    uint64_t file = file_identity(m->path); // a later change will be noticed
    m->looked_at = m->polled_at;
    if (file)
        m->store = store_open(m->path, STORE_READ, &e);
    if (m->store)
        m->file = file;
    m->trouble = e;
    m->sessions_due = true;
    return m->store != NULL;
}

// --- the list ---

static char mark_of(const struct model *m, int64_t id)
{
    for (int i = 0; i < m->mark_count; i++)
        if (m->mark[i].id == id)
            return m->mark[i].letter;
    return 0;
}

static bool list_sessions(struct model *m, struct err *e)
{
    struct session_record *record;
    int count;
    forget_sessions(m);
    if (!store_list_sessions(m->store, &m->arena, &record, &count, e))
        return false;
    m->session = arena_zero(&m->arena, (size_t)count, sizeof *m->session);
    m->session_count = count;
    for (int i = 0; i < count; i++) {
        struct session_row *row = &m->session[i];
        row->record = record[i];
        row->state = store_state(m->store, &row->record, &row->runner);
        row->mark = mark_of(m, row->record.id);
        m->trials_in_all +=
            row->record.scheduler ? 0 : row->record.trials; // its tasks' are counted
    }
    m->sessions_due = false;
    m->listed_at = m->polled_at;
    return true;
}

const struct session_row *model_row(const struct model *m, int64_t id)
{
    for (int i = 0; i < m->session_count; i++)
        if (m->session[i].record.id == id)
            return &m->session[i];
    return NULL;
}

// --- marks ---

static void remove_mark(struct model *m, int i)
{
    free(m->mark[i].curve.step);
    arena_finish(&m->mark[i].arena);
    m->mark_count--;
    for (; i < m->mark_count; i++)
        m->mark[i] = m->mark[i + 1];
}

static bool refresh_mark(struct mark *k, struct store *s, struct err *e)
{
    arena_finish(&k->arena);
    return store_get_session(s, k->id, &k->arena, &k->record, e) &&
           curve_extend(&k->curve, s, k->id, e);
}

bool model_toggle_mark(struct model *m, int64_t id)
{
    int i = 0;
    bool ok = true, taken[26] = {m->open.record.id && m->open.record.id != id}; // 'A': the open one
    for (int k = 0; k < m->mark_count; k++)
        taken[m->mark[k].letter - 'A'] = true;
    while (i < m->mark_count && m->mark[i].id != id)
        i++;
    if (i < m->mark_count) {
        remove_mark(m, i);
    } else {
        struct mark k = {.id = id, .letter = 'A'};
        while (taken[k.letter - 'A'])
            k.letter++;
        ok = m->mark_count < MODEL_MOST_MARKS && m->store;
        if (ok) {
            ok = refresh_mark(&k, m->store, NULL);
            m->mark[m->mark_count++] = k;
        }
        if (!ok && m->mark_count > i)
            remove_mark(m, i);
    }
    for (int k = 0; k < m->session_count; k++)
        m->session[k].mark = mark_of(m, m->session[k].record.id);
    return ok;
}

// --- the session that is open ---

void model_close(struct model *m)
{
    opened_finish(&m->open);
    model_forget_trials(m);
}

// Reads a session anew. A database that nobody had open is read as one that does not change: where
// somebody changes it just then and reading fails, it is read again.
static bool read_fresh(struct model *m, int64_t id, struct opened *out, struct err *e)
{
    uint64_t stamp = 0;
    for (int tries = 0; tries < MOST_TRIES && file_stamp(m->path, 0) != stamp; tries++) {
        stamp = file_stamp(m->path, 0);
        *out = (struct opened){
            .version = m->open.version, .record.id = id, .seen_running = m->polled_at};
        arena_init(&out->arena);
        arena_init(&out->texts);
        arena_init(&out->network_arena);
        if (opened_refresh(out, m->store, m->polled_at, e))
            return true;
        opened_finish(out);
    }
    return false;
}

bool model_open(struct model *m, int64_t id, struct err *e)
{
    struct opened fresh;
    if (!m->store && !connect_now(m))
        return m->trouble.text[0]
                   ? err_set(e, "%s", m->trouble.text)
                   : err_set(e, "there is no session %lld (nor any other yet)", (long long)id);
    if (!read_fresh(m, id, &fresh, e))
        return false;
    fresh.last_number = fresh.newest_number;
    fresh.has_limits = limits_parse(fresh.record.limits, &fresh.limits);
    if (!fresh.record.scheduler) {
        fresh.space = stored_space(m->store, &fresh.record, &fresh.texts, &fresh.script,
                                   &fresh.recording, &fresh.trouble);
        if (!fresh.space)
            err_prefix(&fresh.trouble, "the space of session %lld cannot be read", (long long)id);
    }
    model_close(m);
    m->open = fresh;
    return true;
}

// Closes the session that is open, because it is gone.
static void lose(struct model *m, const struct err *why)
{
    int64_t version = m->open.version;
    model_close(m);
    m->open.trouble = *why;
    m->open.version = version + 1;
}

static bool refresh_open(struct model *m, struct err *e)
{
    struct opened *o = &m->open;
    int64_t results = o->record.trials + o->record.rejected, retime = o->retime;
    if (!o->record.id)
        return true;
    // One transaction, so that all of it is of the same moment.
    if (!store_begin(m->store, e) || !opened_refresh(o, m->store, m->polled_at, e) ||
        !store_commit(m->store, e)) {
        struct err other, why = {0};
        if (!list_sessions(m, &other)) // the database fails, not the session
            return false;
        bool is_there = model_row(m, o->record.id) != NULL;
        if (is_there && model_open(m, o->record.id, e))
            return true;
        if (is_there)
            why = *e;
        else
            err_set(&why, "session %lld was deleted", (long long)o->record.id);
        lose(m, &why);
    } else if (o->record.trials + o->record.rejected < results) { // it is being deleted
        return model_open(m, o->record.id, e);
    } else if (o->retime != retime) {
        model_forget_trials(m);
    } else {
        model_forget_open_trials(m);
    }
    return true;
}

// --- time ---

double model_ran_seconds(const struct model *m, double unix_now)
{
    const struct opened *o = &m->open;
    // The round that ended last; NULL: there is none, or the session is no network.
    int i = o->record.scheduler ? o->network.round_count - 1 : -1;
    while (i >= 0 && !o->network.round[i].told)
        i--;
    const struct round_record *round = i < 0 ? NULL : &o->network.round[i];
    double elapsed = round             ? round->elapsed_s
                     : o->recent_count ? o->recent[(o->recent_count - 1) % MODEL_MOST_RECENT]
                                       : 0;
    double ran = fmax(o->record.ran_seconds, elapsed);
    // Stored running times end with the last change of state, or with the newest trial after it.
    double until = o->record.ran_seconds > 0 ? o->seen_running : o->record.created;
    if (elapsed > o->record.ran_seconds)
        until = round ? round->at : o->newest_finished;
    return is_running(o) ? ran + fmax(0, unix_now - until) : ran;
}

double model_left_seconds(const struct model *m, double unix_now)
{
    const struct opened *o = &m->open;
    int64_t trials = o->record.budget_trials - o->record.trials;
    double left = o->rate > 0 && trials > 0 ? (double)trials / o->rate : 0;
    double budget = o->record.budget_seconds;
    if (budget > 0 && is_running(o)) {
        double until = fmax(0, budget - model_ran_seconds(m, unix_now));
        left = left > 0 ? fmin(left, until) : until;
    }
    return left;
}

static double opened_rate(const struct opened *o, double ran)
{
    int64_t known = int64_min(o->recent_count, MODEL_MOST_RECENT);
    double window = fmin(ran, RATE_SECONDS);
    int64_t lately = 0;
    if (!is_running(o))
        return 0;
    if (o->record.scheduler)
        return ran > 0 ? (double)o->record.trials / ran : 0;
    while (lately < known &&
           o->recent[(o->recent_count - 1 - lately) % MODEL_MOST_RECENT] > ran - window)
        lately++;
    if (lately == MODEL_MOST_RECENT) // there may be more: take the time of these
        return (double)lately / fmax(ran - o->recent[o->recent_count % MODEL_MOST_RECENT], 1e-3);
    return (double)lately / fmax(window, 1);
}

// --- polling ---

// Returns true when `seconds` have passed, or the clock was put back.
static bool is_over(double since, double unix_now, double seconds)
{
    return unix_now - since >= seconds || unix_now < since;
}

static bool poll_store(struct model *m, bool *news, struct err *e)
{
    if (store_changed(m->store)) {
        *news = m->sessions_due = true;
        if (!refresh_open(m, e))
            return false;
        // Marks of sessions that are gone go too.
        for (int i = m->mark_count; i-- > 0;)
            if (!refresh_mark(&m->mark[i], m->store, NULL))
                remove_mark(m, i);
    } else if (m->open.record.id && opened_look(&m->open, m->store, m->polled_at)) {
        *news = true;
        m->open.version++;
    }
    // Lists see the newest trials when it is time.
    struct opened *o = &m->open;
    bool more = o->record.id && o->last_number != o->newest_number;
    if (more && is_over(o->followed_at, m->polled_at, FOLLOW_SECONDS)) {
        o->last_number = o->newest_number;
        o->followed_at = m->polled_at;
        o->version++;
        *news = true;
    }
    if (!is_over(m->listed_at, m->polled_at, LIST_SECONDS + LIST_ROW_SECONDS * m->session_count))
        return true;
    if (m->sessions_due) {
        *news = true;
        return list_sessions(m, e);
    }
    m->listed_at = m->polled_at;
    for (int i = 0; i < m->session_count; i++) { // a process that dies changes no row
        struct session_row *row = &m->session[i];
        pid_t before = row->runner;
        row->state = store_state(m->store, &row->record, &row->runner);
        *news |= row->runner != before;
    }
    return true;
}

bool model_poll(struct model *m, double unix_now)
{
    bool look = is_over(m->looked_at, unix_now, LOOK_AGAIN_SECONDS);
    struct err e, none = {.text = ""};
    uint64_t file = look ? file_identity(m->path) : m->file;
    bool news = m->file && m->file != file;
    m->polled_at = unix_now;
    if (look)
        m->looked_at = unix_now;
    if (news) { // command lines mean the file that is at the path now: forget the other one
        err_set(&e, "the database was %s", file ? "replaced" : "removed");
        lose(m, &e);
        while (m->mark_count)
            remove_mark(m, m->mark_count - 1);
        disconnect(m, &none);
        m->file = 0;
        m->losses++;
    }
    if (!m->store) {
        if (!look)
            return false;
        news |= connect_now(m);
        if (!m->store)
            return news || m->trouble.text[0] != '\0';
        m->listed_at = 0; // at once
    }
    if (!poll_store(m, &news, &e)) {
        disconnect(m, &e);
        return true;
    }
    if (m->open.record.id)
        m->open.rate = opened_rate(&m->open, model_ran_seconds(m, unix_now));
    return news;
}

void model_init(struct model *m, const char *path)
{
    *m = (struct model){.path = mem_strdup(path), .looked_at = -1e9};
    arena_init(&m->arena);
}

void model_finish(struct model *m)
{
    model_close(m);
    while (m->mark_count)
        remove_mark(m, m->mark_count - 1);
    forget_sessions(m);
    store_close(m->store);
    free(m->path);
    *m = (struct model){0};
}
