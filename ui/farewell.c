#include "farewell.h"

#include "engine/engine.h"
#include "engine/speed.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>

static void print_best(const struct session_record *r, const char *option)
{
    char speed[32], time[32];
    if (r->best_ask)
        printf("session %" PRId64 " is %s: best %s%s, %s: tilewalk show %" PRId64 "%s\n", r->id,
               state_name(r->state), speed_text(r, r->best_seconds, speed),
               r->best_raced ? " raced" : "", text_time(r->best_seconds, time), r->id, option);
    else
        printf("session %" PRId64 " is %s: nothing valid was found: tilewalk show %" PRId64 "%s\n",
               r->id, state_name(r->state), r->id, option);
}

static void print_session(struct store *s, const struct past_run *run)
{
    struct err e;
    struct arena arena;
    struct session_record r;
    pid_t runner = 0;
    const char *option = store_option(s);
    arena_init(&arena);
    if (!store_get_session(s, run->session, &arena, &r, &e)) {
        printf("tilewalk: %s\n", e.text);
    } else if (run->detached || (store_state(s, &r, &runner) == STATE_RUNNING && runner)) {
        printf("session %" PRId64 " runs on in the background: tilewalk watch %" PRId64 "%s\n",
               r.id, r.id, option);
    } else {
        r.state = store_state(s, &r, &runner);
        if (r.state == STATE_PAUSED)
            printf("session %" PRId64 " is paused: tilewalk resume %" PRId64 "%s\n", r.id, r.id,
                   option);
        else
            print_best(&r, option);
    }
    arena_finish(&arena);
}

// A session that was paused and resumed has had several runs: the last one counts.
static bool is_last_of_its_session(const struct jobs *j, int n)
{
    for (int i = n + 1; i < j->past_count; i++)
        if (j->past[i % MOST_PAST].session == j->past[n % MOST_PAST].session)
            return false;
    return true;
}

void farewell_print(const struct jobs *j, const char *database)
{
    struct err e;
    struct store *s = j->past_count ? store_open(database, STORE_READ, &e) : NULL;
    if (!s)
        return;
    for (int i = j->past_count > MOST_PAST ? j->past_count - MOST_PAST : 0; i < j->past_count; i++)
        if (is_last_of_its_session(j, i))
            print_session(s, &j->past[i % MOST_PAST]);
    store_close(s);
}
