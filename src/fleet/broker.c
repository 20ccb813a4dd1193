#include "fleet/pool.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "trial/frame.h"
#include "trial/remote.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define S_NS ((int64_t)1000000000)
// The number of times that a trial is put again: after the server refused it, after workers could
// not begin, and after something came that is no result of it.
enum {
    MOST_REFUSALS = 10,
    MOST_FAILURES = 3,
    MOST_GARBAGE = 10,
    OVERDUE_TIMES = 10,
    LOOK_MS = 250
};

// A trial in flight.
struct flight {
    int64_t number;
    char *text; // the message
    char secret[QUEUE_SECRET + 1];
    int candidates;
    bool only_compiles;
    int64_t attempt; // each has its own id
    int64_t due_ns;  // then it is put again
    int refusals, failures, garbage;
};

struct broker {
    struct link link;
    struct queue *queue;
    double patience_s;
    char run[QUEUE_ID], class[QUEUE_ID];
    char *first_message; // the hello or play; NULL: it has not come yet
    struct flight *flight;
    int count, capacity;
    int64_t attempts; // of all trials: a trial that was rejected comes again with the same number
    int64_t dropped;  // results without the secret of their trial
    bool over;        // the run has gone, or the pool cannot be used
};

// Sends a message to the run, and frees its text.
static void send_to_run(struct broker *b, char *text)
{
    link_queue(&b->link, text);
    free(text);
}

static void give_up(struct broker *b, const struct err *why)
{
    send_to_run(b, message_failed(why));
    b->over = true;
}

// --- trials in flight ---

// Puts a trial into its stream; `again`: as a new attempt.
static void put(struct broker *b, struct flight *f, bool again)
{
    char subject[2 * QUEUE_ID + 40], id[2 * QUEUE_ID];
    if (again)
        f->attempt = b->attempts++;
    snprintf(subject, sizeof subject, "tw.job.%s.%s.%" PRId64, b->class, b->run, f->number);
    snprintf(id, sizeof id, "%s-%.40s-%" PRId64 "-%" PRId64, f->secret, b->run, f->number,
             f->attempt);
    f->due_ns = os_now_ns() + (int64_t)(b->patience_s * OVERDUE_TIMES * 1e9);
    queue_put_async(b->queue, subject, id, f->text);
}

static struct flight *find_flight(struct broker *b, int64_t number)
{
    for (int i = 0; i < b->count; i++)
        if (b->flight[i].number == number)
            return &b->flight[i];
    return NULL;
}

// Sends a result to the run: the trial is in flight no more.
static void finish_flight(struct broker *b, struct flight *f, char *result)
{
    send_to_run(b, result);
    free(f->text);
    *f = b->flight[--b->count];
}

// --- messages of the run ---

static bool publish_run(struct broker *b, struct err *e)
{
    char subject[QUEUE_ID + 16];
    size_t most = queue_most_bytes(b->queue);
    snprintf(subject, sizeof subject, "tw.run.%s", b->run);
    if (strlen(b->first_message) > most)
        return err_set(
            e, "what the run computes is longer than the pool's server takes (%zu bytes)", most);
    return queue_create_streams(b->queue, b->class, e) &&
           queue_subscribe_results(b->queue, b->run, e) &&
           queue_put(b->queue, subject, NULL, b->first_message, e);
}

static bool take_trial(struct broker *b, const struct message *m, const char *text)
{
    char reason[120];
    size_t most = queue_most_bytes(b->queue);
    if (!b->first_message || job_candidates(m) < 1 || find_flight(b, m->number))
        return false;
    MEM_GROW(b->flight, b->count, b->capacity);
    struct flight *f = &b->flight[b->count++];
    *f = (struct flight){.number = m->number,
                         .text = mem_strdup(text),
                         .attempt = b->attempts++,
                         .candidates = job_candidates(m),
                         .only_compiles = m->type == MESSAGE_TRIAL ? m->request.only_compiles
                                                                   : m->only_compiled};
    snprintf(f->secret, sizeof f->secret, "%016" PRIx64 "%016" PRIx64, os_seed(), os_seed());
    snprintf(reason, sizeof reason, "its text is longer than the pool's server takes (%zu bytes)",
             most);
    if (strlen(text) > most)
        finish_flight(b, f,
                      job_settled(f->number, f->candidates, f->only_compiles, OUTCOME_COMPILE,
                                  PHASE_COMPILE, reason));
    else
        put(b, f, false);
    return true;
}

// False: this message may not come now.
static bool take_message(struct broker *b, const struct message *m, const char *text)
{
    switch (m->type) {
    case MESSAGE_ALIVE: send_to_run(b, message_plain(MESSAGE_ALIVE)); return true;
    case MESSAGE_GREET: {
        struct greeting g = greeting_of_this();
        g.is_pool = true;
        send_to_run(b, message_text(&(struct message){MESSAGE_GREET, .greeting = g}));
        queue_publish(b->queue, "tw.who", "");
        return true;
    }
    case MESSAGE_HELLO:
    case MESSAGE_PLAY: {
        struct err e;
        if (b->first_message)
            return false;
        struct greeting g = greeting_of_this();
        queue_class(m->type == MESSAGE_HELLO ? m->hello.device_id : "", g.compiler, b->class);
        b->first_message = mem_strdup(text);
        if (!publish_run(b, &e)) {
            give_up(b, &e);
            return true;
        }
        send_to_run(b, message_plain(MESSAGE_READY));
        queue_publish(b->queue, "tw.who", ""); // and look for work
        return true;
    }
    case MESSAGE_TRIAL:
    case MESSAGE_RESULT: return take_trial(b, m, text);
    case MESSAGE_LEAVE: {
        char subject[QUEUE_ID + 16];
        snprintf(subject, sizeof subject, "tw.leave.%s", m->greeting.machine);
        queue_publish(b->queue, subject, m->member.why);
        return true;
    }
    default: return false;
    }
}

// --- messages of the pool ---

// Drops what somebody put who does not know the trial's secret: it uses up none of its tries. Tells
// of the first one, and each time that they have doubled.
static void drop_result(struct broker *b)
{
    struct message m = {MESSAGE_SAID, .worker = 0};
    b->dropped++;
    if (b->dropped & (b->dropped - 1))
        return;
    snprintf(m.said, sizeof m.said,
             REMOTE_POOL_WARNING "%" PRId64 " %s dropped: whoever put %s had not taken the trial",
             b->dropped, b->dropped > 1 ? "results were" : "result was",
             b->dropped > 1 ? "them" : "it");
    send_to_run(b, message_text(&m));
}

// Takes a message of the run's results: a result, a worker's log line, or why a worker cannot
// begin.
static void take_result(struct broker *b, const struct queue_message *from)
{
    char run[QUEUE_ID];
    int64_t number;
    struct message m;
    bool ours = job_subject(from->subject, run, &number) && str_equal(run, b->run);
    struct flight *f = ours ? find_flight(b, number) : NULL;
    if (!message_parse(from->text, &m, NULL))
        m.type = MESSAGE_TYPE_COUNT;
    bool is_result = f && m.type == MESSAGE_RESULT && m.number == f->number &&
                     m.result.count == f->candidates && m.only_compiled == f->only_compiles;
    for (int i = 0; is_result && i < f->candidates; i++)
        is_result = m.settled[i];
    if (ours && m.type == MESSAGE_SAID) {
        if (!str_starts(m.said, REMOTE_POOL_WARNING))
            send_to_run(b, mem_strdup(from->text));
    } else if (f && strncmp(from->id, f->secret, QUEUE_SECRET) != 0) {
        drop_result(b);
    } else if (is_result) {
        finish_flight(b, f, mem_strdup(from->text));
    } else if (f && m.type == MESSAGE_FAILED) {
        if (++f->failures < MOST_FAILURES)
            put(b, f, true);
        else
            give_up(b, &m.failure);
    } else if (f) {
        fprintf(stderr, "what came of trial %" PRId64 " is no result of it\n", f->number);
        if (++f->garbage < MOST_GARBAGE)
            put(b, f, true);
        else
            finish_flight(b, f,
                          job_settled(f->number, f->candidates, f->only_compiles, OUTCOME_LOST,
                                      PHASE_NONE,
                                      "what came of it was no result, again and again"));
    } // else it came before, by another worker
    if (m.type != MESSAGE_TYPE_COUNT)
        message_finish(&m);
}

static void take_queue_message(struct broker *b, const struct queue_message *from)
{
    struct err e;
    struct message m;
    switch (from->kind) {
    case QUEUE_BROADCAST:
        if (!message_parse(from->text, &m, NULL))
            return;
        if (m.type == MESSAGE_MEMBER)
            send_to_run(b, mem_strdup(from->text));
        message_finish(&m);
        return;
    case QUEUE_LEASED: take_result(b, from); return;
    case QUEUE_REFUSED: {
        char run[QUEUE_ID];
        int64_t number;
        bool is_known = job_subject(from->subject, run, &number);
        struct flight *f = is_known ? find_flight(b, number) : NULL;
        if (!f)
            return;
        fprintf(stderr, "trial %" PRId64 " is not taken: %s\n", number, from->text);
        f->due_ns = os_now_ns() + S_NS;
        if (++f->refusals <= MOST_REFUSALS)
            return;
        err_set(&e, "the pool's server takes no trials: %s", from->text);
        give_up(b, &e);
        return;
    }
    case QUEUE_RECONNECTED: // the server may have lost what it had not written yet, or all
        queue_publish(b->queue, "tw.who", "");
        if (!b->first_message)
            return;
        if (!publish_run(b, &e))
            fprintf(stderr, "%s\n", e.text);
        for (int i = 0; i < b->count; i++)
            put(b, &b->flight[i], false);
        return;
    case QUEUE_CLOSED:
        err_set(&e, "the pool's server: %s", from->text);
        give_up(b, &e);
        return;
    }
}

// --- the loop ---

static bool step(struct broker *b, struct err *e)
{
    struct pollfd fds[] = {
        {.fd = b->link.fd, .events = POLLIN},
        {.fd = b->link.out_fd, .events = link_has_output(&b->link) ? POLLOUT : 0},
        {.fd = queue_fd(b->queue), .events = POLLIN}};
    poll(fds, 3, LOOK_MS);
    char *text;
    enum link_status status;
    link_fill(&b->link);
    while ((status = link_next(&b->link, &text)) == LINK_FRAME) {
        struct message m;
        bool ok = message_parse(text, &m, e);
        if (ok) {
            ok = take_message(b, &m, text) ||
                 err_set(e, "no message \"%s\" may come now", message_type_name(m.type));
            message_finish(&m);
        }
        free(text);
        if (!ok)
            return false;
    }
    if (status == LINK_GARBAGE)
        return err_set(e, "what came is no message");
    b->over |= status == LINK_CLOSED;
    struct queue_message *m;
    while (!b->over && (m = queue_next(b->queue))) {
        take_queue_message(b, m);
        if (m->kind == QUEUE_LEASED && link_flush(&b->link))
            queue_message_answer(m, QUEUE_DONE);
        queue_message_free(m);
    }
    for (int i = 0; i < b->count; i++)
        if (os_now_ns() > b->flight[i].due_ns)
            put(b, &b->flight[i], true);
    b->over |= !link_flush(&b->link);
    return true;
}

bool broker_run(int in, int out, const struct queue_options *o, struct err *e)
{
    struct broker b = {.patience_s = o->patience_s};
    signal(SIGPIPE, SIG_IGN);
    snprintf(b.run, sizeof b.run, "%016" PRIx64, os_seed());
    link_init(&b.link, in, FRAME_MAX_BYTES);
    b.link.out_fd = out;
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
    bool ok = (b.queue = queue_open(o, e)) != NULL && queue_subscribe(b.queue, "tw.here.>", e);
    if (!ok)
        give_up(&b, e);
    while (ok && !b.over)
        ok = step(&b, e);
    link_flush(&b.link);
    if (b.first_message)
        queue_purge_run(b.queue, b.run);
    queue_close(b.queue);
    for (int i = 0; i < b.count; i++)
        free(b.flight[i].text);
    free(b.flight);
    free(b.first_message);
    link_finish(&b.link);
    return ok;
}
