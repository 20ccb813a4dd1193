#include "fleet/worker.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "fleet/job.h"
#include "trial/message.h"
#include "trial/remote.h"
#include "trial/slot.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A bay is the part of a pool's worker that takes the trials ("jobs") of one class. The process,
// worker.c, has one bay for its device and one for made-up trials. A bay starts an agent for each
// run whose jobs it takes; the agent measures.
//
//     job:    waits -> is with an agent -> has an answer, which the server is to keep -> is done
//     agent:  begins (hello or play) -> is ready; ends when its place is needed, or its run is over
//
// All functions belong to the one thread of the worker.

#define BAY_MOST_AGENTS 4 // ready at the same time, for as many runs

#define BAY_MOST_FDS (BAY_MOST_AGENTS * SLOT_FDS)

struct taken {
    struct letter *letter;
    char run[QUEUE_ID];
    int64_t number;
    bool sent;
    char *answer; // heap; NULL: not yet
};

struct bay_agent {
    struct slot slot;
    char run[QUEUE_ID];
    bool ready;
    int64_t used_ns;
};

struct bay {
    struct queue *queue;
    struct puller *puller;
    const char *machine; // our name
    const struct gpu_info *device;
    char subject[QUEUE_ID + 16]; // how those of its jobs begin
    int places;
    double patience_s;
    struct bay_agent agent[BAY_MOST_AGENTS];
    struct taken **job; // in the order in which they came
    int count, capacity;
    int owed;                      // places that are free, and not given back yet
    int64_t rest_ns;               // before that none is
    int64_t extended_ns, given_ns; // leases; answers that were not kept
    int64_t answered;
    char trouble[200]; // why results are not kept now; ""
};

#define S_NS    ((int64_t)1000000000)
#define REST_NS (5 * S_NS) // after an agent could not begin: others should have the next trial

static bool is_of(const struct taken *j, const char *run)
{
    return str_equal(j->run, run);
}

// --- the end of a job ---

static void remove_job(struct bay *b, int i)
{
    struct taken *j = b->job[i];
    letter_free(j->letter);
    free(j->answer);
    free(j);
    b->count--;
    memmove(b->job + i, b->job + i + 1, (size_t)(b->count - i) * sizeof *b->job);
    b->owed++;
}

static void hand_back(struct bay *b, int i)
{
    letter_return(b->job[i]->letter);
    remove_job(b, i);
}

// Where the server does not keep it now, it is given again.
static bool give(struct bay *b, int i)
{
    struct taken *j = b->job[i];
    struct err e;
    char subject[QUEUE_ID + 40];
    snprintf(subject, sizeof subject, "tw.result.%s.%" PRId64, j->run, j->number);
    if (!queue_put(b->queue, subject, j->letter->id, j->answer, &e)) {
        snprintf(b->trouble, sizeof b->trouble, "its results are not kept: %s", e.text);
        return false;
    }
    b->trouble[0] = '\0';
    letter_done(j->letter);
    b->answered++;
    remove_job(b, i);
    return true;
}

static void answer(struct bay *b, int i, char *text)
{
    b->job[i]->answer = text;
    give(b, i);
}

static void give_late(struct bay *b, int64_t now_ns)
{
    if (now_ns < b->given_ns + S_NS)
        return;
    b->given_ns = now_ns;
    for (int i = 0; i < b->count; i++)
        if (b->job[i]->answer && !give(b, i))
            return;
}

// --- agents ---

static struct bay_agent *agent_of(struct bay *b, const char *run)
{
    for (int i = 0; i < BAY_MOST_AGENTS; i++)
        if (b->agent[i].slot.state != SLOT_EMPTY && str_equal(b->agent[i].run, run))
            return &b->agent[i];
    return NULL;
}

static void end_agent(struct bay_agent *a)
{
    slot_clear(&a->slot);
    a->ready = false;
}

static struct bay_agent *free_agent(struct bay *b)
{
    struct bay_agent *oldest = NULL;
    for (int i = 0; i < BAY_MOST_AGENTS; i++) {
        struct bay_agent *a = &b->agent[i];
        if (a->slot.state == SLOT_EMPTY)
            return a;
        if (!oldest || a->used_ns < oldest->used_ns)
            oldest = a;
    }
    end_agent(oldest);
    return oldest;
}

// What the run computes, as this machine does it. NULL: it is nothing for us.
static char *first_message(const struct bay *b, const char *run_text)
{
    struct message m;
    char *text = NULL;
    if (!message_parse(run_text, &m, NULL))
        return NULL;
    if (m.type == MESSAGE_HELLO && b->device) {
        remote_fit(&m.hello, b->device->index, b->places, os_cores());
        text = message_hello(&m.hello);
    } else if (m.type == MESSAGE_PLAY && !b->device) {
        text = message_play(b->places);
    }
    message_finish(&m);
    return text;
}

static bool spawn(struct bay_agent *a)
{
    struct err e;
    struct child child = {0};
    char *program = path_program();
    const char *const argv[] = {program, "agent", NULL};
    bool ok = os_spawn_talker(&child, argv, &e);
    if (ok)
        slot_take(&a->slot, &child);
    else
        fprintf(stderr, "no agent: %s\n", e.text);
    free(program);
    return ok;
}

// NULL: not now, or, with `over`, never again.
static struct bay_agent *start_agent(struct bay *b, const char *run, bool *over)
{
    char *run_text = NULL;
    bool known = queue_get(b->queue, run, &run_text);
    char *text = run_text ? first_message(b, run_text) : NULL;
    struct bay_agent *a = text ? free_agent(b) : NULL;
    *over = known && !text;
    free(run_text);
    if (!a || !spawn(a)) {
        free(text);
        return NULL;
    }
    snprintf(a->run, sizeof a->run, "%s", run);
    a->ready = false;
    slot_send(&a->slot, text);
    return a;
}

static bool take_message(struct bay *b, struct bay_agent *a, struct message *m, const char *text)
{
    char subject[QUEUE_ID + 16];
    switch (m->type) {
    case MESSAGE_READY: a->ready = true; return true;
    case MESSAGE_RESULT: {
        for (int i = 0; i < b->count; i++) {
            struct taken *j = b->job[i];
            if (!j->sent || j->answer || j->number != m->number || !is_of(j, a->run))
                continue;
            snprintf(m->result.machine, sizeof m->result.machine, "%s", b->machine);
            m->result.ticket = m->number;
            answer(b, i,
                   message_result(&m->result, m->only_compiled, m->settled, &m->kept, m->at_ns));
            return true;
        }
        return false;
    }
    case MESSAGE_SAID:
        snprintf(subject, sizeof subject, "tw.result.%s.0", a->run);
        queue_say(b->queue, subject, text);
        return true;
    case MESSAGE_FAILED:
        fprintf(stderr, "an agent: %s\n", m->failure.text);
        if (a->ready)
            return false;
        {
            for (int i = b->count - 1; i >= 0; i--)
                if (is_of(b->job[i], a->run) && !b->job[i]->answer)
                    answer(b, i, mem_strdup(text));
            end_agent(a);
            b->rest_ns = os_now_ns() + REST_NS;
        }
        return true;
    default: return false;
    }
}

static bool take_text(struct bay *b, struct bay_agent *a, const char *text)
{
    struct message m;
    if (!message_parse(text, &m, NULL))
        return false;
    bool ok = take_message(b, a, &m, text);
    message_finish(&m);
    return ok;
}

static void log_line(void *context, int index, const char *line)
{
    (void)context, (void)index;
    fprintf(stderr, "%s\n", line);
}

static void hear_agent(struct bay *b, struct bay_agent *a)
{
    slot_read_log(&a->slot, log_line, NULL);
    link_fill(&a->slot.link);
    while (a->slot.state != SLOT_EMPTY) {
        char *text = NULL;
        enum link_status status = link_next(&a->slot.link, &text);
        bool ok = status == LINK_NONE || (status == LINK_FRAME && take_text(b, a, text));
        free(text);
        if (!ok) {
            // What a run asked of it is asked of somebody else.
            for (int i = b->count - 1; i >= 0; i--)
                if (is_of(b->job[i], a->run) && !b->job[i]->answer)
                    hand_back(b, i);
            end_agent(a);
        }
        if (status != LINK_FRAME || !ok)
            return;
    }
}

// --- jobs ---

static bool has(const struct bay *b, const char *run, int64_t number)
{
    for (int i = 0; i < b->count; i++)
        if (b->job[i]->number == number && is_of(b->job[i], run))
            return true;
    return false;
}

static void drop(struct bay *b, struct letter *l, const char *why)
{
    fprintf(stderr, "%s is dropped: %s\n", l->subject, why);
    letter_done(l);
    letter_free(l);
    b->owed++;
}

static void bay_take_job(struct bay *b, struct letter *l, const struct message *m)
{
    char run[QUEUE_ID];
    int64_t number;
    enum message_type wanted = b->device ? MESSAGE_TRIAL : MESSAGE_RESULT;
    if (m->type != wanted || job_candidates(m) < 1 || !job_subject(l->subject, run, &number) ||
        number != m->number) {
        drop(b, l, "it is no trial for this worker");
        return;
    }
    if (has(b, run, number)) {
        drop(b, l, "it is here already");
        return;
    }
    struct taken *j = mem_zero(1, sizeof *j);
    j->letter = l;
    j->number = number;
    snprintf(j->run, sizeof j->run, "%s", run);
    MEM_GROW(b->job, b->count, b->capacity);
    b->job[b->count++] = j;
    if (l->deliveries > REMOTE_MOST_LOSSES)
        answer(b, b->count - 1,
               job_settled(number, job_candidates(m), job_only_compiles(m), OUTCOME_LOST,
                           PHASE_NONE, "each machine that had it was lost"));
}

static const char *run_at_work(const struct bay *b)
{
    for (int i = 0; i < b->count; i++)
        if (b->job[i]->sent && !b->job[i]->answer)
            return b->job[i]->run;
    return NULL;
}

// The jobs of one run at a time, in order. False: there is nothing more to do now.
static bool send_next(struct bay *b, int64_t now_ns)
{
    const char *run = run_at_work(b);
    int i = 0;
    while (i < b->count && (b->job[i]->sent || b->job[i]->answer))
        i++;
    if (i == b->count || (run && !is_of(b->job[i], run)))
        return false;
    struct taken *j = b->job[i];
    struct bay_agent *a = agent_of(b, j->run);
    bool over = false;
    if (!a && !(a = start_agent(b, j->run, &over))) {
        if (over)
            letter_done(j->letter);
        else
            letter_return(j->letter);
        remove_job(b, i);
        return true;
    }
    if (!a->ready)
        return false;
    a->used_ns = now_ns;
    j->sent = true;
    slot_send(&a->slot, mem_strdup(j->letter->text));
    return true;
}

// What to poll for; returns how many there are.
static int bay_fds(const struct bay *b, struct pollfd out[BAY_MOST_FDS])
{
    int n = 0;
    for (int i = 0; i < BAY_MOST_AGENTS; i++)
        n += slot_fds(&b->agent[i].slot, out + n);
    return n;
}

// --- its beginning and end ---

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
    for (int i = 0; i < w->bays; i++) {
        // Takes no more jobs, and hands back those that no agent has begun.
        puller_stop(w->bay[i].puller);
        for (int j = w->bay[i].count - 1; j >= 0; j--)
            if (!w->bay[i].job[j]->sent && !w->bay[i].job[j]->answer)
                hand_back(&w->bay[i], j);
    }
}

static void take_job(struct worker *w, struct letter *l)
{
    for (int i = 0; i < w->bays; i++)
        if (str_starts(l->subject, w->bay[i].subject)) {
            // A job has come: the bay owns its letter from now on. A worker that is leaving hands
            // it back.
            bool leaving = w->leaves;
            struct message m;
            struct err e;
            if (leaving) {
                letter_return(l);
                letter_free(l);
            } else if (!message_parse(l->text, &m, &e)) {
                drop(&w->bay[i], l, e.text);
            } else {
                bay_take_job(&w->bay[i], l, &m);
                message_finish(&m);
            }
            return;
        }
    letter_free(l);
}

static void take_letter(struct worker *w, struct letter *l)
{
    switch (l->kind) {
    case LETTER_KEPT: take_job(w, l); return;
    case LETTER_SAID: {
        if (str_equal(l->subject, "tw.who"))
            say_here(w);
        else if (str_starts(l->subject, "tw.leave."))
            leave(w, l->text);
        else if (str_starts(l->subject, "tw.over."))
            for (int i = 0; i < w->bays; i++) {
                // A run has ended: its jobs are dropped, and its agent ends.
                const char *run = l->subject + strlen("tw.over.");
                struct bay_agent *a = agent_of(&w->bay[i], run);
                for (int j = w->bay[i].count - 1; j >= 0; j--)
                    if (is_of(w->bay[i].job[j], run)) {
                        letter_done(w->bay[i].job[j]->letter);
                        remove_job(&w->bay[i], j);
                    }
                if (a)
                    end_agent(a);
            }
    } break;
    case LETTER_UP: say_here(w); break;
    case LETTER_CLOSED:
        err_set(&w->closed, "the pool's server: %s", l->text);
        w->is_closed = true;
        break;
    case LETTER_REFUSED: break;
    }
    letter_free(l);
}

static bool has_jobs(const struct worker *w)
{
    for (int i = 0; i < w->bays; i++)
        if (w->bay[i].count)
            return true;
    return false;
}

static void step(struct worker *w)
{
    struct letter *l;
    struct pollfd fds[MOST_BAYS * BAY_MOST_FDS + 1] = {
        {.fd = queue_fd(w->queue), .events = POLLIN}};
    int n = 1;
    for (int i = 0; i < w->bays; i++)
        n += bay_fds(&w->bay[i], fds + n);
    poll(fds, (nfds_t)n, LOOK_MS);
    if (is_to_end)
        leave(w, "");
    while ((l = queue_next(w->queue)))
        take_letter(w, l);
    for (int i = 0; i < w->bays; i++) {
        // Does what can be done without waiting: hears agents, gives them jobs, answers, extends
        // leases.
        int64_t now_ns = os_now_ns();
        for (int j = 0; j < BAY_MOST_AGENTS; j++)
            if (w->bay[i].agent[j].slot.state != SLOT_EMPTY)
                hear_agent(&w->bay[i], &w->bay[i].agent[j]);
        while (send_next(&w->bay[i], now_ns))
            continue;
        if (!(now_ns < w->bay[i].extended_ns + (int64_t)(w->bay[i].patience_s * 1e9 / 3))) {
            w->bay[i].extended_ns = now_ns;
            for (int j = 0; j < w->bay[i].count; j++)
                letter_extend(w->bay[i].job[j]->letter);
        }
        give_late(&w->bay[i], now_ns);
        for (int j = 0; j < BAY_MOST_AGENTS; j++)
            if (w->bay[i].agent[j].slot.state != SLOT_EMPTY)
                link_flush(&w->bay[i].agent[j].slot.link); // when it is gone, reading will tell
        for (; w->bay[i].owed > 0 && now_ns >= w->bay[i].rest_ns; w->bay[i].owed--)
            puller_give_place(w->bay[i].puller);
    }
    // Whoever waits for results should know why none come.
    const char *now = "";
    for (int i = 0; i < w->bays; i++)
        if (w->bay[i].trouble[0])
            now = w->bay[i].trouble;
    if (!str_equal(now, w->trouble)) {
        snprintf(w->trouble, sizeof w->trouble, "%s", now);
        fprintf(stderr, "%s\n", *now ? now : "results are kept again");
        say_here(w);
    }
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
    for (int i = 0; i < w->bays; i++) {
        struct queue *q = w->queue;
        const char *machine = w->greeting.machine;
        char class[QUEUE_ID], id[33] = "";
        w->bay[i].queue = q;
        w->bay[i].machine = machine;
        w->bay[i].patience_s = w->options->queue.patience_s;
        if (w->bay[i].device)
            gpu_identity(w->bay[i].device, id);
        w->bay[i].places = w->options->workers
                               ? w->options->workers
                               : remote_usual_workers(w->bay[i].device != NULL, os_cores());
        for (int j = 0; j < BAY_MOST_AGENTS; j++)
            slot_init(&w->bay[i].agent[j].slot, j);
        queue_class(id, w->greeting.compiler, class);
        snprintf(w->bay[i].subject, sizeof w->bay[i].subject, "tw.job.%s.", class);
        w->bay[i].puller = queue_pull(q, class, w->bay[i].places);
    }
    say_here(w);
    printf("%s measures%s%s, until it is ended\n", w->greeting.machine,
           w->options->device ? " on " : " made-up trials only: there is no device",
           w->options->device ? w->options->device->name : "");
    fflush(stdout);
}

bool worker_run(const struct worker_options *o, struct err *e)
{
    struct worker w = {.options = o, .greeting = greeting_of_this()};
    // The second one ends it at once.
    struct sigaction a = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGINT, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
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
        puller_free(w.bay[i].puller);
        while (w.bay[i].count > 0)
            hand_back(&w.bay[i], w.bay[i].count - 1);
        for (int j = 0; j < BAY_MOST_AGENTS; j++)
            end_agent(&w.bay[i].agent[j]);
        free(w.bay[i].job);
    }
    queue_close(w.queue);
    if (!w.is_closed)
        printf("%s has left the pool after %lld trials%s%s\n", w.greeting.machine,
               (long long)answered, w.why[0] ? ": " : "", w.why);
    return w.is_closed ? (*e = w.closed, false) : !w.why[0] || err_set(e, "%s", w.why);
}
