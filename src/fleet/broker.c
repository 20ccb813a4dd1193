#include "fleet/broker.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "fleet/job.h"
#include "trial/frame.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define S_NS ((int64_t)1000000000)
// How often a trial is put again: where the server refuses it, where workers cannot begin with it,
// and where what they give is no result of it.
enum {
    MOST_REFUSALS = 10,
    MOST_FAILURES = 3,
    MOST_GARBAGE = 10,
    OVERDUE_TIMES = 10,
    LOOK_MS = 250
};

struct flight {
    int64_t number;
    char *text; // the message
    int candidates;
    bool only_compiles;
    int64_t attempt; // of which each has its own id
    int64_t due_ns;  // then it is put again
    int refusals, failures, garbage;
};

struct broker {
    struct link link;
    struct queue *queue;
    double patience_s;
    char run[QUEUE_ID], class[QUEUE_ID];
    char *begun_with; // the hello or play; NULL: not yet
    struct flight *flight;
    int count, capacity;
    int64_t attempts; // of all trials: one that was set aside is asked for again by its number
    bool over;        // there is nobody to work for, or nothing to do it by
};

static void say(struct broker *b, char *text)
{
    link_queue(&b->link, text);
    free(text);
}

static void give_up(struct broker *b, const struct err *why)
{
    say(b, message_failed(why));
    b->over = true;
}

// --- trials on their way ---

static void put(struct broker *b, struct flight *f)
{
    char subject[2 * QUEUE_ID + 40], id[QUEUE_ID + 40];
    snprintf(subject, sizeof subject, "tw.job.%s.%s.%" PRId64, b->class, b->run, f->number);
    snprintf(id, sizeof id, "%.40s-%" PRId64 "-%" PRId64, b->run, f->number, f->attempt);
    f->due_ns = os_now_ns() + (int64_t)(b->patience_s * OVERDUE_TIMES * 1e9);
    queue_put_soon(b->queue, subject, id, f->text);
}

static void put_anew(struct broker *b, struct flight *f)
{
    f->attempt = b->attempts++;
    put(b, f);
}

static struct flight *find(struct broker *b, int64_t number)
{
    for (int i = 0; i < b->count; i++)
        if (b->flight[i].number == number)
            return &b->flight[i];
    return NULL;
}

static void land(struct broker *b, struct flight *f, char *result)
{
    say(b, result);
    free(f->text);
    *f = b->flight[--b->count];
}

static void settle(struct broker *b, struct flight *f, enum outcome o, enum trial_phase phase,
                   const char *reason)
{
    land(b, f, job_settled(f->number, f->candidates, f->only_compiles, o, phase, reason));
}

// --- what the run says ---

static bool publish_run(struct broker *b, struct err *e)
{
    char subject[QUEUE_ID + 16];
    snprintf(subject, sizeof subject, "tw.run.%s", b->run);
    if (strlen(b->begun_with) > queue_most_bytes(b->queue))
        return err_set(e,
                       "what the run computes is longer than the pool's server takes (%zu bytes)",
                       queue_most_bytes(b->queue));
    return queue_make(b->queue, b->class, e) && queue_take_results(b->queue, b->run, e) &&
           queue_put(b->queue, subject, NULL, b->begun_with, e);
}

static bool take_trial(struct broker *b, const struct message *m, const char *text)
{
    if (!b->begun_with || job_candidates(m) < 1 || find(b, m->number))
        return false;
    MEM_GROW(b->flight, b->count, b->capacity);
    struct flight *f = &b->flight[b->count++];
    *f = (struct flight){.number = m->number,
                         .text = mem_strdup(text),
                         .attempt = b->attempts++,
                         .candidates = job_candidates(m),
                         .only_compiles = job_only_compiles(m)};
    char reason[120];
    snprintf(reason, sizeof reason, "its text is longer than the pool's server takes (%zu bytes)",
             queue_most_bytes(b->queue));
    if (strlen(text) > queue_most_bytes(b->queue))
        settle(b, f, OUTCOME_COMPILE, PHASE_COMPILE, reason);
    else
        put(b, f);
    return true;
}

static bool take_message(struct broker *b, const struct message *m, const char *text)
{
    switch (m->type) {
    case MESSAGE_ALIVE: say(b, message_plain(MESSAGE_ALIVE)); return true;
    case MESSAGE_GREET: {
        struct greeting g = greeting_of_this();
        g.is_pool = true;
        say(b, message_greet(&g));
        queue_say(b->queue, "tw.who", "");
    }
        return true;
    case MESSAGE_HELLO:
    case MESSAGE_PLAY: {
        struct err e;
        if (b->begun_with)
            return false;
        struct greeting g = greeting_of_this();
        queue_class(m->type == MESSAGE_HELLO ? m->hello.device_id : "", g.compiler, b->class);
        b->begun_with = mem_strdup(text);
        if (publish_run(b, &e)) {
            say(b, message_plain(MESSAGE_READY));
            queue_say(b->queue, "tw.who", ""); // and look for work
        } else {
            give_up(b, &e);
        }
        return true;
    }
    case MESSAGE_TRIAL:
    case MESSAGE_RESULT: return take_trial(b, m, text);
    case MESSAGE_LEAVE: {
        char subject[QUEUE_ID + 16];
        snprintf(subject, sizeof subject, "tw.leave.%s", m->greeting.machine);
        queue_say(b->queue, subject, m->member.why);
        return true;
    }
    default: return false;
    }
}

static bool take_text(struct broker *b, const char *text, struct err *e)
{
    struct message m;
    if (!message_parse(text, &m, e))
        return false;
    bool ok = take_message(b, &m, text) ||
              err_set(e, "no message \"%s\" may come now", message_type_name(m.type));
    message_finish(&m);
    return ok;
}

// --- what the pool says ---

static bool is_result_of(const struct flight *f, const struct message *m)
{
    bool ok = m->type == MESSAGE_RESULT && m->number == f->number &&
              m->result.count == f->candidates && m->only_compiled == f->only_compiles;
    for (int i = 0; ok && i < f->candidates; i++)
        ok = m->settled[i];
    return ok;
}

static void take_member(struct broker *b, const struct letter *l)
{
    struct message m;
    if (!message_parse(l->text, &m, NULL))
        return;
    if (m.type == MESSAGE_MEMBER)
        say(b, mem_strdup(l->text));
    message_finish(&m);
}

static void take_refusal(struct broker *b, const struct letter *l)
{
    char run[QUEUE_ID];
    int64_t number;
    struct err why;
    struct flight *f = job_subject(l->subject, run, &number) ? find(b, number) : NULL;
    if (!f)
        return;
    fprintf(stderr, "trial %" PRId64 " is not taken: %s\n", number, l->text);
    f->due_ns = os_now_ns() + S_NS;
    if (++f->refusals <= MOST_REFUSALS)
        return;
    err_set(&why, "the pool's server takes no trials: %s", l->text);
    give_up(b, &why);
}

// The server may have lost what it had not written yet, or all.
static void begin_again(struct broker *b)
{
    struct err e;
    queue_say(b->queue, "tw.who", "");
    if (!b->begun_with)
        return;
    if (!publish_run(b, &e))
        fprintf(stderr, "%s\n", e.text);
    for (int i = 0; i < b->count; i++)
        put(b, &b->flight[i]);
}

static void take_letter(struct broker *b, const struct letter *l)
{
    struct err why;
    switch (l->kind) {
    case LETTER_SAID: take_member(b, l); break;
    case LETTER_KEPT: {
        char run[QUEUE_ID];
        int64_t number;
        struct message m;
        bool ours = job_subject(l->subject, run, &number) && str_equal(run, b->run);
        struct flight *f = ours ? find(b, number) : NULL;
        bool parsed = message_parse(l->text, &m, NULL);
        if (parsed && ours && m.type == MESSAGE_SAID)
            say(b, mem_strdup(l->text));
        else if (!f)
            ; // it came before, by another worker
        else if (parsed && is_result_of(f, &m))
            land(b, f, mem_strdup(l->text));
        else if (parsed && m.type == MESSAGE_FAILED) {
            if (++f->failures < MOST_FAILURES)
                put_anew(b, f);
            else
                give_up(b, &m.failure);
        } else {
            fprintf(stderr, "what came of trial %" PRId64 " is no result of it\n", f->number);
            if (++f->garbage < MOST_GARBAGE)
                put_anew(b, f);
            else
                settle(b, f, OUTCOME_LOST, PHASE_NONE,
                       "what came of it was no result, again and again");
        }
        if (parsed)
            message_finish(&m);
    } break;
    case LETTER_REFUSED: take_refusal(b, l); break;
    case LETTER_UP: begin_again(b); break;
    case LETTER_CLOSED:
        err_set(&why, "the pool's server: %s", l->text);
        give_up(b, &why);
        break;
    }
}

// --- the whole ---

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
        bool ok = take_text(b, text, e);
        free(text);
        if (!ok)
            return false;
    }
    b->over |= status == LINK_CLOSED;
    if (status == LINK_GARBAGE && !err_set(e, "what came is no message"))
        return false;
    struct letter *l;
    while (!b->over && (l = queue_next(b->queue))) {
        take_letter(b, l);
        if (l->kind == LETTER_KEPT && link_flush(&b->link))
            letter_done(l);
        letter_free(l);
    }
    for (int i = 0; i < b->count; i++)
        if (os_now_ns() > b->flight[i].due_ns)
            put_anew(b, &b->flight[i]);
    b->over |= !link_flush(&b->link);
    return true;
}

static void set_non_blocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool broker_run(int in, int out, const struct queue_options *o, struct err *e)
{
    struct broker b = {.patience_s = o->patience_s};
    signal(SIGPIPE, SIG_IGN);
    snprintf(b.run, sizeof b.run, "%016" PRIx64, os_seed());
    link_init(&b.link, in, FRAME_MAX_BYTES);
    b.link.out_fd = out;
    set_non_blocking(in);
    set_non_blocking(out);
    bool ok = (b.queue = queue_open(o, e)) != NULL && queue_hear(b.queue, "tw.here.>", e);
    if (!ok)
        give_up(&b, e);
    while (ok && !b.over)
        ok = step(&b, e);
    link_flush(&b.link);
    if (b.begun_with)
        queue_forget(b.queue, b.run);
    queue_close(b.queue);
    for (int i = 0; i < b.count; i++)
        free(b.flight[i].text);
    free(b.flight);
    free(b.begun_with);
    link_finish(&b.link);
    return ok;
}
