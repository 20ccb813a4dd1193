#include "fleet/pool.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "base/str.h"
#include "trial/message.h"
#include "trial/remote.h"
#include "trial/slot.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A consumer takes the trials ("jobs") of one class. The process has one for its device and one for
// trials of synthetic devices. A consumer starts an agent for each run whose jobs it takes; the
// agent measures.
//
//     job:    waits -> is sent to an agent -> has an answer for the server -> is done
//     agent:  begins (hello or play) -> is ready; ends when its place is needed, or its run is over
//
// All functions belong to the one thread of the worker.

#define S_NS    ((int64_t)1000000000)
#define REST_NS (5 * S_NS) // after an agent could not begin: others should get the next trial

enum {
    MOST_AGENTS = 4, // ready at the same time, for as many runs
    MOST_FDS = MOST_AGENTS * SLOT_FDS,
    MOST_CONSUMERS = 2,
    ASKED_ALIVE = 6, // questions while an agent may be silent
    LOOK_MS = 250
};

struct job_in_flight {
    struct queue_message *message;
    char run[QUEUE_ID];
    int64_t number;
    bool sent;
    char *answer; // heap; NULL: not yet
};

struct agent {
    struct slot slot;
    char run[QUEUE_ID];
    bool ready;
    int64_t used_ns;
    int64_t heard_ns, asked_ns; // its last message; the last question if it is alive
};

struct consumer {
    struct queue *queue;
    struct puller *puller;
    const char *machine; // our name
    const struct gpu_info *device;
    char subject[QUEUE_ID + 16]; // the beginning of its jobs' subjects
    int places;
    double patience_s;
    struct agent agent[MOST_AGENTS];
    struct job_in_flight **job; // in the order in which they came
    int count, capacity;
    int free_places;     // not given to the puller yet
    int64_t rest_ns;     // before that no place is given
    int64_t extended_ns; // when the leases were extended last
    int64_t retried_ns;  // when answers were put again last
    int64_t answered;
    char trouble[200]; // why results are not stored now; ""
};

// --- the end of a job ---

// Answers the lease of a job, and removes it.
static void remove_job(struct consumer *c, int i, enum queue_answer answer)
{
    struct job_in_flight *j = c->job[i];
    queue_message_answer(j->message, answer);
    queue_message_free(j->message);
    free(j->answer);
    free(j);
    c->count--;
    memmove(c->job + i, c->job + i + 1, (size_t)(c->count - i) * sizeof *c->job);
    c->free_places++;
}

// Puts the answer of a job. False: the server does not store it now, and it is put again later.
static bool put_answer(struct consumer *c, int i)
{
    struct job_in_flight *j = c->job[i];
    struct err e;
    char subject[QUEUE_ID + 40];
    snprintf(subject, sizeof subject, "tw.result.%s.%" PRId64, j->run, j->number);
    if (!queue_put(c->queue, subject, j->message->id, j->answer, &e)) {
        snprintf(c->trouble, sizeof c->trouble, "its results are not kept: %s", e.text);
        return false;
    }
    c->trouble[0] = '\0';
    c->answered++;
    remove_job(c, i, QUEUE_DONE);
    return true;
}

// --- agents ---

static struct agent *find_agent(struct consumer *c, const char *run)
{
    for (int i = 0; i < MOST_AGENTS; i++)
        if (c->agent[i].slot.state != SLOT_EMPTY && str_equal(c->agent[i].run, run))
            return &c->agent[i];
    return NULL;
}

static void end_agent(struct agent *a)
{
    slot_clear(&a->slot);
    a->ready = false;
}

// Ends an agent that cannot go on. Its jobs return to the server.
static void lose_agent(struct consumer *c, struct agent *a)
{
    for (int i = c->count - 1; i >= 0; i--)
        if (str_equal(c->job[i]->run, a->run) && !c->job[i]->answer)
            remove_job(c, i, QUEUE_RETURN);
    end_agent(a);
}

// Starts an agent for a run, in the place of the one that was used least recently where all places
// are taken. NULL: not now, or, with `over`, never again.
static struct agent *start_agent(struct consumer *c, const char *run, bool *over)
{
    char *run_text = NULL;
    bool known = queue_get_run(c->queue, run, &run_text);
    char *text = NULL; // the run's first message, adapted to this machine; NULL: not for it
    struct message m;
    struct agent *a = &c->agent[0];
    if (run_text && message_parse(run_text, &m, NULL)) {
        if (m.type == MESSAGE_HELLO && c->device) {
            remote_fit(&m.hello, c->device->index, c->places, os_cores());
            text = message_hello(&m.hello);
        } else if (m.type == MESSAGE_PLAY && !c->device) {
            text = message_text(&(struct message){MESSAGE_PLAY, .workers = c->places});
        }
        message_finish(&m);
    }
    *over = known && !text;
    free(run_text);
    if (!text)
        return NULL;
    for (int i = 0; i < MOST_AGENTS && a->slot.state != SLOT_EMPTY; i++)
        if (c->agent[i].slot.state == SLOT_EMPTY || c->agent[i].used_ns < a->used_ns)
            a = &c->agent[i];
    if (a->slot.state != SLOT_EMPTY)
        end_agent(a);
    struct err e;
    struct child child = {0};
    char *program = path_program();
    const char *const argv[] = {program, "agent", NULL};
    bool ok = os_spawn_talker(&child, argv, &e);
    free(program);
    if (!ok) {
        fprintf(stderr, "no agent: %s\n", e.text);
        free(text);
        return NULL;
    }
    slot_take(&a->slot, &child);
    snprintf(a->run, sizeof a->run, "%s", run);
    a->ready = false;
    a->heard_ns = a->asked_ns = os_now_ns();
    slot_send(&a->slot, text);
    return a;
}

// False: this message may not come now.
static bool take_message(struct consumer *c, struct agent *a, struct message *m, const char *text)
{
    char subject[QUEUE_ID + 16];
    switch (m->type) {
    case MESSAGE_ALIVE: return true;
    case MESSAGE_READY: a->ready = true; return true;
    case MESSAGE_RESULT:
        for (int i = 0; i < c->count; i++) {
            struct job_in_flight *j = c->job[i];
            if (!j->sent || j->answer || j->number != m->number || !str_equal(j->run, a->run))
                continue;
            snprintf(m->result.machine, sizeof m->result.machine, "%s", c->machine);
            m->result.ticket = m->number;
            j->answer =
                message_result(&m->result, m->only_compiled, m->settled, &m->kept, m->at_ns);
            put_answer(c, i);
            return true;
        }
        return false;
    case MESSAGE_SAID:
        snprintf(subject, sizeof subject, "tw.result.%s.0", a->run);
        queue_publish(c->queue, subject, text);
        return true;
    case MESSAGE_FAILED:
        fprintf(stderr, "an agent: %s\n", m->failure.text);
        if (a->ready)
            return false;
        for (int i = c->count - 1; i >= 0; i--)
            if (str_equal(c->job[i]->run, a->run) && !c->job[i]->answer) {
                c->job[i]->answer = mem_strdup(text);
                put_answer(c, i);
            }
        end_agent(a);
        c->rest_ns = os_now_ns() + REST_NS;
        return true;
    default: return false;
    }
}

static void agent_log_line(void *context, int index, const char *line)
{
    (void)context, (void)index;
    fprintf(stderr, "%s\n", line);
}

// Reads an agent's messages. One that has gone, sends garbage or is silent for too long is lost: it
// would hold up the jobs of all other runs.
static void read_agent(struct consumer *c, struct agent *a, int64_t now_ns)
{
    slot_read_log(&a->slot, agent_log_line, NULL);
    link_fill(&a->slot.link);
    while (a->slot.state != SLOT_EMPTY) {
        char *text = NULL;
        struct message m;
        enum link_status status = link_next(&a->slot.link, &text);
        bool ok = status == LINK_NONE;
        if (status == LINK_FRAME)
            a->heard_ns = now_ns;
        if (status == LINK_FRAME && message_parse(text, &m, NULL)) {
            ok = take_message(c, a, &m, text);
            message_finish(&m);
        }
        free(text);
        if (!ok)
            lose_agent(c, a);
        if (status != LINK_FRAME || !ok)
            break;
    }
    // Drivers may take a while to start.
    double silent_s = a->ready ? c->patience_s : fmax(c->patience_s, REMOTE_PATIENCE_S);
    int64_t silent_ns = (int64_t)(silent_s * 1e9);
    if (a->slot.state == SLOT_EMPTY)
        return;
    if (now_ns > a->heard_ns + silent_ns) {
        fprintf(stderr, "an agent was silent for %.3g s\n", silent_s);
        lose_agent(c, a);
    } else if (now_ns >= int64_max(a->heard_ns, a->asked_ns) + silent_ns / ASKED_ALIVE) {
        slot_send(&a->slot, message_plain(MESSAGE_ALIVE));
        a->asked_ns = now_ns;
    }
}

// --- jobs ---

// Takes the ownership of a job's message.
static void take_job(struct consumer *c, struct queue_message *from)
{
    struct message m;
    struct err e;
    char run[QUEUE_ID];
    int64_t number;
    if (!message_parse(from->text, &m, &e)) {
        m.type = MESSAGE_TYPE_COUNT;
    } else if (m.type != (c->device ? MESSAGE_TRIAL : MESSAGE_RESULT) || job_candidates(&m) < 1 ||
               !job_subject(from->subject, run, &number) || number != m.number) {
        err_set(&e, "it is no trial for this worker");
    } else {
        bool is_new = true;
        for (int i = 0; i < c->count; i++)
            is_new &= c->job[i]->number != number || !str_equal(c->job[i]->run, run) ||
                      strncmp(c->job[i]->message->id, from->id, QUEUE_SECRET) != 0;
        if (is_new) {
            struct job_in_flight *j = mem_zero(1, sizeof *j);
            *j = (struct job_in_flight){.message = from, .number = number};
            snprintf(j->run, sizeof j->run, "%s", run);
            MEM_GROW(c->job, c->count, c->capacity);
            c->job[c->count++] = j;
            if (from->deliveries > REMOTE_MOST_LOSSES) {
                j->answer =
                    job_settled(number, job_candidates(&m),
                                m.type == MESSAGE_TRIAL ? m.request.only_compiles : m.only_compiled,
                                OUTCOME_LOST, PHASE_NONE, "each machine that had it was lost");
                put_answer(c, c->count - 1);
            }
            message_finish(&m);
            return;
        }
        err_set(&e, "it is here already");
    }
    if (m.type != MESSAGE_TYPE_COUNT)
        message_finish(&m);
    fprintf(stderr, "%s is dropped: %s\n", from->subject, e.text);
    queue_message_answer(from, QUEUE_DONE);
    queue_message_free(from);
    c->free_places++;
}

// Sends the next job to its agent: jobs of one run at a time, in order. False: there is nothing
// more to do now.
static bool send_next(struct consumer *c, int64_t now_ns)
{
    const char *run = NULL; // whose jobs are measured now
    int i = 0;
    for (int k = 0; k < c->count && !run; k++)
        if (c->job[k]->sent && !c->job[k]->answer)
            run = c->job[k]->run;
    while (i < c->count && (c->job[i]->sent || c->job[i]->answer))
        i++;
    if (i == c->count || (run && !str_equal(c->job[i]->run, run)))
        return false;
    struct job_in_flight *j = c->job[i];
    for (int k = 0; k < c->count; k++) // somebody's copy of the same trial is ahead
        if (c->job[k]->sent && !c->job[k]->answer && c->job[k]->number == j->number)
            return false;
    struct agent *a = find_agent(c, j->run);
    bool over = false;
    if (!a && !(a = start_agent(c, j->run, &over))) {
        remove_job(c, i, over ? QUEUE_DONE : QUEUE_RETURN);
        return true;
    }
    if (!a->ready)
        return false;
    a->used_ns = now_ns;
    j->sent = true;
    slot_send(&a->slot, mem_strdup(j->message->text));
    return true;
}

// Does everything that needs no waiting: reads agents, sends them jobs, puts answers, extends
// leases.
static void step_consumer(struct consumer *c)
{
    int64_t now_ns = os_now_ns();
    for (int i = 0; i < MOST_AGENTS; i++)
        if (c->agent[i].slot.state != SLOT_EMPTY)
            read_agent(c, &c->agent[i], now_ns);
    while (send_next(c, now_ns))
        continue;
    if (now_ns >= c->extended_ns + (int64_t)(c->patience_s * 1e9 / 3)) {
        c->extended_ns = now_ns;
        for (int i = 0; i < c->count; i++)
            queue_message_answer(c->job[i]->message, QUEUE_EXTEND);
    }
    if (now_ns >= c->retried_ns + S_NS) {
        c->retried_ns = now_ns;
        for (int i = 0; i < c->count; i++)
            if (c->job[i]->answer && !put_answer(c, i))
                break;
    }
    for (int i = 0; i < MOST_AGENTS; i++)
        if (c->agent[i].slot.state != SLOT_EMPTY)
            link_flush(&c->agent[i].slot.link); // reading finds out when it has gone
    for (; c->free_places > 0 && now_ns >= c->rest_ns; c->free_places--)
        puller_add_place(c->puller);
}

// --- the worker ---

struct worker {
    const struct worker_options *options;
    struct queue *queue;
    struct greeting greeting;
    struct consumer consumer[MOST_CONSUMERS]; // of synthetic devices; of the device
    int consumers;
    int64_t announced_ns;
    char trouble[200];         // of a consumer, as announced last
    int64_t begun_ns, busy_ns; // `busy_ns`: when it had a job last
    int64_t end_ns;            // when it ends, with what it has then; 0: no matter when
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

static void announce(struct worker *w)
{
    char subject[QUEUE_ID + 16];
    struct gpu_info device = w->options->device ? *w->options->device : (struct gpu_info){0};
    struct message m = {MESSAGE_MEMBER, .greeting = w->greeting,
                        .member = {.leaves = w->leaves, .players = w->consumer[0].places},
                        .device_list = &device, .device_count = w->options->device != NULL};
    if (w->consumers > 1)
        m.member.measurers = w->consumer[1].places;
    snprintf(m.member.why, sizeof m.member.why, "%s", w->leaves ? w->why : w->trouble);
    snprintf(subject, sizeof subject, "tw.here.%s", w->greeting.machine);
    char *text = message_text(&m);
    queue_publish(w->queue, subject, text);
    free(text);
    w->announced_ns = os_now_ns();
}

// Takes no more jobs, and returns those that no agent has begun.
static void leave(struct worker *w, const char *why)
{
    if (w->leaves)
        return;
    snprintf(w->why, sizeof w->why, "%s", why);
    w->leaves = true;
    announce(w);
    for (int i = 0; i < w->consumers; i++) {
        struct consumer *c = &w->consumer[i];
        puller_stop(c->puller);
        for (int k = c->count - 1; k >= 0; k--)
            if (!c->job[k]->sent && !c->job[k]->answer)
                remove_job(c, k, QUEUE_RETURN);
    }
}

// Leaves where a signal came, or where it has been idle or at work for long enough.
static void look_at_time(struct worker *w, int64_t now_ns)
{
    const struct worker_options *o = w->options;
    bool is_over =
        is_to_end || (o->lifetime_s > 0 && (double)(now_ns - w->begun_ns) * 1e-9 > o->lifetime_s);
    for (int i = 0; i < w->consumers; i++)
        if (w->consumer[i].count)
            w->busy_ns = now_ns;
    if (is_over || (o->idle_s > 0 && (double)(now_ns - w->busy_ns) * 1e-9 > o->idle_s))
        leave(w, "");
    if (is_over && !w->end_ns)
        w->end_ns = now_ns + WORKER_DRAIN_S * S_NS;
}

static void take_queue_message(struct worker *w, struct queue_message *m)
{
    int i = 0;
    switch (m->kind) {
    case QUEUE_LEASED:
        while (i < w->consumers && !str_starts(m->subject, w->consumer[i].subject))
            i++;
        if (i < w->consumers && !w->leaves) {
            take_job(&w->consumer[i], m);
            return;
        }
        if (i < w->consumers)
            queue_message_answer(m, QUEUE_RETURN);
        break;
    case QUEUE_BROADCAST:
        if (str_equal(m->subject, "tw.who"))
            announce(w);
        else if (str_starts(m->subject, "tw.leave."))
            leave(w, m->text);
        else if (str_starts(m->subject, "tw.over."))
            for (; i < w->consumers; i++) {
                const char *run = m->subject + strlen("tw.over.");
                struct consumer *c = &w->consumer[i];
                struct agent *a = find_agent(c, run);
                for (int k = c->count - 1; k >= 0; k--)
                    if (str_equal(c->job[k]->run, run))
                        remove_job(c, k, QUEUE_DONE);
                if (a)
                    end_agent(a);
            }
        break;
    case QUEUE_RECONNECTED: announce(w); break;
    case QUEUE_CLOSED:
        err_set(&w->closed, "the pool's server: %s", m->text);
        w->is_closed = true;
        break;
    case QUEUE_REFUSED: break;
    }
    queue_message_free(m);
}

static void step(struct worker *w)
{
    struct queue_message *m;
    const char *trouble = "";
    struct pollfd fds[MOST_CONSUMERS * MOST_FDS + 1] = {
        {.fd = queue_fd(w->queue), .events = POLLIN}};
    int n = 1;
    for (int i = 0; i < w->consumers; i++)
        for (int k = 0; k < MOST_AGENTS; k++)
            n += slot_fds(&w->consumer[i].agent[k].slot, fds + n);
    poll(fds, (nfds_t)n, LOOK_MS);
    look_at_time(w, os_now_ns());
    while ((m = queue_next(w->queue)))
        take_queue_message(w, m);
    for (int i = 0; i < w->consumers; i++) {
        step_consumer(&w->consumer[i]);
        if (w->consumer[i].trouble[0])
            trouble = w->consumer[i].trouble;
    }
    if (!str_equal(trouble, w->trouble)) { // runs should know why no results come
        snprintf(w->trouble, sizeof w->trouble, "%s", trouble);
        fprintf(stderr, "%s\n", *trouble ? trouble : "results are kept again");
        announce(w);
    }
    if (os_now_ns() > w->announced_ns + (int64_t)(w->options->queue.patience_s * 1e9 / 3))
        announce(w);
}

bool worker_run(const struct worker_options *o, struct err *e)
{
    struct worker w = {.options = o, .greeting = greeting_of_this()};
    char leaves[QUEUE_ID + 16];
    // The second signal ends the process at once.
    struct sigaction a = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGINT, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
    snprintf(leaves, sizeof leaves, "tw.leave.%s", w.greeting.machine);
    w.queue = queue_open(&o->queue, e);
    if (!w.queue || !queue_subscribe(w.queue, "tw.who", e) ||
        !queue_subscribe(w.queue, "tw.over.*", e) || !queue_subscribe(w.queue, leaves, e)) {
        queue_close(w.queue);
        return false;
    }
    w.consumers = o->device ? MOST_CONSUMERS : 1;
    for (int i = 0; i < w.consumers; i++) {
        struct consumer *c = &w.consumer[i];
        char class[QUEUE_ID], id[33] = "";
        c->queue = w.queue;
        c->machine = w.greeting.machine;
        c->device = i > 0 ? o->device : NULL;
        c->patience_s = o->queue.patience_s;
        if (c->device)
            gpu_identity(c->device, id);
        c->places = o->workers ? o->workers : remote_usual_workers(c->device != NULL, os_cores());
        for (int k = 0; k < MOST_AGENTS; k++)
            slot_init(&c->agent[k].slot, k);
        queue_class(id, w.greeting.compiler, class);
        snprintf(c->subject, sizeof c->subject, "tw.job.%s.", class);
        c->puller = puller_start(w.queue, class, c->places);
    }
    w.begun_ns = w.busy_ns = os_now_ns();
    announce(&w);
    printf("%s measures%s%s, until it is ended\n", w.greeting.machine,
           o->device ? " on " : " made-up trials only: there is no device",
           o->device ? o->device->name : "");
    fflush(stdout);
    while (!w.is_closed && !(w.leaves && !w.consumer[0].count && !w.consumer[1].count) &&
           !(w.end_ns && os_now_ns() > w.end_ns))
        step(&w);
    int64_t answered = 0;
    for (int i = 0; i < w.consumers; i++) {
        struct consumer *c = &w.consumer[i];
        answered += c->answered;
        puller_free(c->puller);
        while (c->count > 0)
            remove_job(c, c->count - 1, QUEUE_RETURN);
        for (int k = 0; k < MOST_AGENTS; k++)
            end_agent(&c->agent[k]);
        free(c->job);
    }
    queue_close(w.queue);
    if (!w.is_closed)
        printf("%s has left the pool after %lld trials%s%s\n", w.greeting.machine,
               (long long)answered, w.why[0] ? ": " : "", w.why);
    return w.is_closed ? (*e = w.closed, false) : !w.why[0] || err_set(e, "%s", w.why);
}

// --- asking a worker to leave ---

bool worker_drain(const struct queue_options *o, const char *machine, struct err *e)
{
    // Half of the time after which it would be given up. A worker that puts its results into the
    // pool may wait five seconds for the server with each.
    const double answer_s = o->patience_s / 2;
    char here[QUEUE_ID + 16], leaving[QUEUE_ID + 16];
    bool leaves = false, closed = false;
    // Names are words of subjects.
    if (!*machine || strlen(machine) >= QUEUE_ID || strpbrk(machine, ".*> \t\r\n"))
        return err_usage(e, "'%s' is no machine's name", machine);
    snprintf(here, sizeof here, "tw.here.%s", machine);
    snprintf(leaving, sizeof leaving, "tw.leave.%s", machine);
    struct queue *q = queue_open(o, e);
    bool asked = q && queue_subscribe(q, here, e);
    if (asked)
        queue_publish(q, leaving, "");
    int64_t end_ns = os_now_ns() + (int64_t)(answer_s * 1e9);
    while (asked && !leaves && !closed && os_now_ns() < end_ns) {
        struct queue_message *l = queue_next(q);
        struct message m;
        if (!l) {
            poll(&(struct pollfd){.fd = queue_fd(q), .events = POLLIN}, 1, 100);
            continue;
        }
        if (l->kind == QUEUE_BROADCAST && message_parse(l->text, &m, NULL)) {
            leaves = m.type == MESSAGE_MEMBER && m.member.leaves;
            message_finish(&m);
        }
        closed = l->kind == QUEUE_CLOSED;
        if (closed)
            err_set(e, "the pool's server: %s", l->text);
        queue_message_free(l);
    }
    queue_close(q);
    if (asked && !leaves && !closed)
        err_set(e,
                "no worker '%s' has answered in %.4g s (tilewalk doctor --pool lists those that "
                "are there)",
                machine, answer_s);
    return leaves;
}
