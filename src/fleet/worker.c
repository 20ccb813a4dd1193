#include "fleet/worker.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "fleet/bay.h"
#include "trial/message.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 250, MOST_BAYS = 2 };

struct worker {
    const struct worker_options *options;
    struct queue *queue;
    struct greeting greeting;
    struct bay bay[MOST_BAYS]; // made-up trials; those of the device
    int bays;
    int64_t said_ns;   // that it is here
    char trouble[200]; // of a bay, as it was said last
    bool leaves, is_closed;
    char why[256]; // it was asked to leave; ""
    struct err closed;
};

static volatile sig_atomic_t is_to_end;

static void note_signal(int number)
{
    (void)number;
    is_to_end = 1;
}

// The second one ends it at once.
static void mind_signals(void)
{
    struct sigaction a = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGINT, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void say_here(struct worker *w)
{
    char subject[QUEUE_ID + 16];
    struct member m = {.leaves = w->leaves, .players = w->bay[0].places};
    if (w->bays > 1)
        m.measurers = w->bay[1].places;
    snprintf(m.why, sizeof m.why, "%s", w->leaves ? w->why : w->trouble);
    snprintf(subject, sizeof subject, "tw.here.%s", w->greeting.machine);
    char *text = message_member(&w->greeting, &m, w->options->device);
    queue_say(w->queue, subject, text);
    free(text);
    w->said_ns = os_now_ns();
}

static void leave(struct worker *w, const char *why)
{
    if (w->leaves)
        return;
    snprintf(w->why, sizeof w->why, "%s", why);
    w->leaves = true;
    say_here(w);
    for (int i = 0; i < w->bays; i++)
        bay_leave(&w->bay[i]);
}

static void take_job(struct worker *w, struct letter *l)
{
    for (int i = 0; i < w->bays; i++)
        if (bay_takes(&w->bay[i], l->subject)) {
            bay_add(&w->bay[i], l, w->leaves);
            return;
        }
    letter_free(l);
}

static void take_said(struct worker *w, const struct letter *l)
{
    if (str_equal(l->subject, "tw.who"))
        say_here(w);
    else if (str_starts(l->subject, "tw.leave."))
        leave(w, l->text);
    else if (str_starts(l->subject, "tw.over."))
        for (int i = 0; i < w->bays; i++)
            bay_forget(&w->bay[i], l->subject + strlen("tw.over."));
}

static void take_letter(struct worker *w, struct letter *l)
{
    switch (l->kind) {
    case LETTER_KEPT: take_job(w, l); return;
    case LETTER_SAID: take_said(w, l); break;
    case LETTER_UP: say_here(w); break;
    case LETTER_CLOSED:
        err_set(&w->closed, "the pool's server: %s", l->text);
        w->is_closed = true;
        break;
    case LETTER_REFUSED: break;
    }
    letter_free(l);
}

static void sleep_until_needed(const struct worker *w)
{
    struct pollfd fds[MOST_BAYS * BAY_MOST_FDS + 1] = {
        {.fd = queue_fd(w->queue), .events = POLLIN}};
    int n = 1;
    for (int i = 0; i < w->bays; i++)
        n += bay_fds(&w->bay[i], fds + n);
    poll(fds, (nfds_t)n, LOOK_MS);
}

static bool has_jobs(const struct worker *w)
{
    for (int i = 0; i < w->bays; i++)
        if (w->bay[i].count)
            return true;
    return false;
}

// Whoever waits for results should know why none come.
static void look_for_trouble(struct worker *w)
{
    const char *now = "";
    for (int i = 0; i < w->bays; i++)
        if (w->bay[i].trouble[0])
            now = w->bay[i].trouble;
    if (str_equal(now, w->trouble))
        return;
    snprintf(w->trouble, sizeof w->trouble, "%s", now);
    fprintf(stderr, "%s\n", *now ? now : "results are kept again");
    say_here(w);
}

static void step(struct worker *w)
{
    struct letter *l;
    sleep_until_needed(w);
    if (is_to_end)
        leave(w, "");
    while ((l = queue_next(w->queue)))
        take_letter(w, l);
    for (int i = 0; i < w->bays; i++)
        bay_step(&w->bay[i], os_now_ns());
    look_for_trouble(w);
    if (os_now_ns() > w->said_ns + (int64_t)(w->options->queue.patience_s * 1e9 / 3))
        say_here(w);
}

static bool listen_to_runs(struct worker *w, struct err *e)
{
    char leaves[QUEUE_ID + 16];
    snprintf(leaves, sizeof leaves, "tw.leave.%s", w->greeting.machine);
    return queue_hear(w->queue, "tw.who", e) && queue_hear(w->queue, "tw.over.*", e) &&
           queue_hear(w->queue, leaves, e);
}

static void begin(struct worker *w)
{
    w->bays = w->options->device ? 2 : 1;
    w->bay[1].device = w->options->device;
    for (int i = 0; i < w->bays; i++)
        bay_begin(&w->bay[i], w->options, w->queue, w->greeting.machine, w->greeting.compiler);
    say_here(w);
    printf("%s measures%s%s, until it is ended\n", w->greeting.machine,
           w->options->device ? " on " : " made-up trials only: there is no device",
           w->options->device ? w->options->device->name : "");
    fflush(stdout);
}

bool worker_run(const struct worker_options *o, struct err *e)
{
    struct worker w = {.options = o, .greeting = greeting_of_this()};
    mind_signals();
    w.queue = queue_open(&o->queue, e);
    if (!w.queue || !listen_to_runs(&w, e)) {
        queue_close(w.queue);
        return false;
    }
    begin(&w);
    while (!w.is_closed && !(w.leaves && !has_jobs(&w)))
        step(&w);
    int64_t answered = 0;
    for (int i = 0; i < w.bays; i++) {
        answered += w.bay[i].answered;
        bay_finish(&w.bay[i]);
    }
    queue_close(w.queue);
    if (!w.is_closed)
        printf("%s has left the pool after %lld trials%s%s\n", w.greeting.machine,
               (long long)answered, w.why[0] ? ": " : "", w.why);
    return w.is_closed ? (*e = w.closed, false) : !w.why[0] || err_set(e, "%s", w.why);
}
