#include "cli/follow.h"

#include "cli/front.h"

#include <stdio.h>
#include <time.h>

struct follow {
    struct store *store;
    struct front front;
    struct session_record record; // as it was when it was last read
    struct arena arena;           // of it, emptied before each reading
    enum session_state state;     // that was told last: running or paused
    int64_t told, message;        // numbers of the last trial and of the last message told
    pid_t runner;                 // 0: nobody
};

static void tell(struct follow *f, struct event event)
{
    event.session = &f->record;
    front_on_event(&f->front, &event);
}

static bool read_session(struct follow *f, int64_t id, struct err *e)
{
    arena_finish(&f->arena);
    arena_init(&f->arena);
    f->runner = store_runner(f->store, id); // before the rows: what is read then is all it did
    if (!store_get_session(f->store, id, &f->arena, &f->record, e))
        return false;
    if (!f->runner && f->record.state == STATE_RUNNING)
        f->record.state = STATE_PAUSED;
    return true;
}

// --- how it begins ---

static bool skip_message(void *context, const struct message_record *m)
{
    struct follow *f = context;
    f->message = m->id;
    return true;
}

// The front counts what is there already; the best of that is a line, or nothing might be said for
// long.
static bool begin(struct follow *f, struct err *e)
{
    struct trial_record best;
    struct session_record record = f->record;
    f->state = record.state = STATE_RUNNING; // whatever it is now comes next
    front_on_event(&f->front, &(struct event){.kind = EVENT_SESSION, .session = &record});
    f->told = f->front.started_trials;
    if (!store_each_message(f->store, record.id, 0, skip_message, f, e) ||
        !store_get_trial(f->store, record.id, record.best_ask, &f->arena, &best, e))
        return false;
    if (f->runner && best.ask)
        tell(f, (struct event){.kind = EVENT_BEST, .trial = &best});
    return true;
}

// --- what is new ---

static bool tell_trial(void *context, const struct trial_record *t)
{
    struct follow *f = context;
    double best = f->front.best_seconds;
    f->told = t->number;
    tell(f, (struct event){.kind = EVENT_TRIAL, .trial = t});
    if (f->front.best_seconds != best)
        tell(f, (struct event){.kind = EVENT_BEST, .trial = t});
    return true;
}

// The log has the states too, "done: all 30 trials are done": those are told as what they are.
static bool is_of_state(const char *text)
{
    static const char *const states[] = {
        "running: ", "paused: ", "done: ", "stopped: ", "failed: "};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (str_starts(text, states[i]))
            return true;
    return false;
}

static bool tell_message(void *context, const struct message_record *m)
{
    struct follow *f = context;
    f->message = m->id;
    if (!is_of_state(m->text))
        tell(f, (struct event){.kind = EVENT_MESSAGE, .level = m->level, .text = m->text});
    return true;
}

static bool tell_new(struct follow *f, struct err *e)
{
    int64_t id = f->record.id;
    if (!store_each_numbered(f->store, id, f->told + 1, tell_trial, f, e) ||
        !store_each_message(f->store, id, f->message, tell_message, f, e))
        return false;
    enum session_state now = f->record.state == STATE_PAUSED ? STATE_PAUSED : STATE_RUNNING;
    if (f->runner && now != f->state)
        tell(f, (struct event){.kind = EVENT_STATE});
    f->state = now;
    return true;
}

static bool end(struct follow *f, struct err *e)
{
    struct trial_record best;
    struct retime_record race;
    int64_t id = f->record.id, ask = f->record.best_ask;
    if (!store_get_trial(f->store, id, ask, &f->arena, &best, e) ||
        !store_get_race(f->store, id, ask, &f->arena, &race, e))
        return false;
    tell(f, (struct event){.kind = EVENT_END,
                           .trial = best.ask ? &best : NULL,
                           .retime = race.ask ? &race : NULL});
    return true;
}

// A line that cannot be printed is the end: main says so.
static bool follow(struct follow *f, int64_t id, struct err *e)
{
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    if (!read_session(f, id, e) || !begin(f, e))
        return false;
    while (tell_new(f, e)) {
        if (!f->runner)
            return end(f, e);
        do {
            if (ferror(stdout))
                return true;
            nanosleep(&pause, NULL);
        } while (!store_changed(f->store) && store_runner(f->store, id));
        if (!read_session(f, id, e))
            return false;
    }
    return false;
}

int follow_run(const struct arguments *a, int64_t id)
{
    struct err e;
    struct follow f = {.store = common_open_session(a, id, &e)};
    if (!f.store)
        return fail_with(&e, EXIT_FAILED);
    arena_init(&f.arena);
    front_init(&f.front, a, f.store);
    bool ok = follow(&f, id, &e);
    arena_finish(&f.arena);
    store_close(f.store);
    if (!ok)
        return fail_with(&e, EXIT_FAILED);
    return front_code(&f.front);
}
