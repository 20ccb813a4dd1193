#include "fleet/bay.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "fleet/job.h"
#include "trial/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// What a run asked of it is asked of somebody else.
static void lose_agent(struct bay *b, struct bay_agent *a)
{
    for (int i = b->count - 1; i >= 0; i--)
        if (is_of(b->job[i], a->run) && !b->job[i]->answer)
            hand_back(b, i);
    end_agent(a);
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

static void begin_failed(struct bay *b, struct bay_agent *a, const char *text)
{
    for (int i = b->count - 1; i >= 0; i--)
        if (is_of(b->job[i], a->run) && !b->job[i]->answer)
            answer(b, i, mem_strdup(text));
    end_agent(a);
    b->rest_ns = os_now_ns() + REST_NS;
}

static bool take_result(struct bay *b, struct bay_agent *a, struct message *m)
{
    for (int i = 0; i < b->count; i++) {
        struct taken *j = b->job[i];
        if (!j->sent || j->answer || j->number != m->number || !is_of(j, a->run))
            continue;
        snprintf(m->result.machine, sizeof m->result.machine, "%s", b->machine);
        m->result.ticket = m->number;
        answer(b, i, message_result(&m->result, m->only_compiled, m->settled, &m->kept, m->at_ns));
        return true;
    }
    return false;
}

static bool take_message(struct bay *b, struct bay_agent *a, struct message *m, const char *text)
{
    char subject[QUEUE_ID + 16];
    switch (m->type) {
    case MESSAGE_READY: a->ready = true; return true;
    case MESSAGE_RESULT: return take_result(b, a, m);
    case MESSAGE_SAID:
        snprintf(subject, sizeof subject, "tw.result.%s.0", a->run);
        queue_say(b->queue, subject, text);
        return true;
    case MESSAGE_FAILED:
        fprintf(stderr, "an agent: %s\n", m->failure.text);
        if (a->ready)
            return false;
        begin_failed(b, a, text);
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
        if (!ok)
            lose_agent(b, a);
        if (status != LINK_FRAME || !ok)
            return;
    }
}

// --- jobs ---

bool bay_takes(const struct bay *b, const char *subject)
{
    return str_starts(subject, b->subject);
}

static bool has(const struct bay *b, const char *run, int64_t number)
{
    for (int i = 0; i < b->count; i++)
        if (b->job[i]->number == number && is_of(b->job[i], run))
            return true;
    return false;
}

static void append(struct bay *b, struct letter *l, const char *run, int64_t number)
{
    struct taken *j = mem_zero(1, sizeof *j);
    j->letter = l;
    j->number = number;
    snprintf(j->run, sizeof j->run, "%s", run);
    MEM_GROW(b->job, b->count, b->capacity);
    b->job[b->count++] = j;
}

static void drop(struct bay *b, struct letter *l, const char *why)
{
    fprintf(stderr, "%s is dropped: %s\n", l->subject, why);
    letter_done(l);
    letter_free(l);
    b->owed++;
}

static void take_job(struct bay *b, struct letter *l, const struct message *m)
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
    append(b, l, run, number);
    if (l->deliveries > REMOTE_MOST_LOSSES)
        answer(b, b->count - 1,
               job_settled(number, job_candidates(m), job_only_compiles(m), OUTCOME_LOST,
                           PHASE_NONE, "each machine that had it was lost"));
}

void bay_add(struct bay *b, struct letter *l, bool leaving)
{
    struct message m;
    struct err e;
    if (leaving) {
        letter_return(l);
        letter_free(l);
    } else if (!message_parse(l->text, &m, &e)) {
        drop(b, l, e.text);
    } else {
        take_job(b, l, &m);
        message_finish(&m);
    }
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

static void extend_leases(struct bay *b, int64_t now_ns)
{
    if (now_ns < b->extended_ns + (int64_t)(b->patience_s * 1e9 / 3))
        return;
    b->extended_ns = now_ns;
    for (int i = 0; i < b->count; i++)
        letter_extend(b->job[i]->letter);
}

void bay_step(struct bay *b, int64_t now_ns)
{
    for (int i = 0; i < BAY_MOST_AGENTS; i++)
        if (b->agent[i].slot.state != SLOT_EMPTY)
            hear_agent(b, &b->agent[i]);
    while (send_next(b, now_ns))
        continue;
    extend_leases(b, now_ns);
    give_late(b, now_ns);
    for (int i = 0; i < BAY_MOST_AGENTS; i++)
        if (b->agent[i].slot.state != SLOT_EMPTY)
            link_flush(&b->agent[i].slot.link); // when it is gone, reading will tell
    for (; b->owed > 0 && now_ns >= b->rest_ns; b->owed--)
        puller_give_place(b->puller);
}

void bay_forget(struct bay *b, const char *run)
{
    struct bay_agent *a = agent_of(b, run);
    for (int i = b->count - 1; i >= 0; i--)
        if (is_of(b->job[i], run)) {
            letter_done(b->job[i]->letter);
            remove_job(b, i);
        }
    if (a)
        end_agent(a);
}

int bay_fds(const struct bay *b, struct pollfd out[BAY_MOST_FDS])
{
    int n = 0;
    for (int i = 0; i < BAY_MOST_AGENTS; i++)
        n += slot_fds(&b->agent[i].slot, out + n);
    return n;
}

// --- its beginning and end ---

void bay_begin(struct bay *b, const struct worker_options *o, struct queue *q, const char *machine,
               const char *compiler)
{
    char class[QUEUE_ID], id[33] = "";
    b->queue = q;
    b->machine = machine;
    b->patience_s = o->queue.patience_s;
    if (b->device)
        gpu_identity(b->device, id);
    b->places = o->workers ? o->workers : remote_usual_workers(b->device != NULL, os_cores());
    for (int i = 0; i < BAY_MOST_AGENTS; i++)
        slot_init(&b->agent[i].slot, i);
    queue_class(id, compiler, class);
    snprintf(b->subject, sizeof b->subject, "tw.job.%s.", class);
    b->puller = queue_pull(q, class, b->places);
}

void bay_leave(struct bay *b)
{
    puller_stop(b->puller);
    for (int i = b->count - 1; i >= 0; i--)
        if (!b->job[i]->sent && !b->job[i]->answer)
            hand_back(b, i);
}

void bay_finish(struct bay *b)
{
    puller_free(b->puller);
    while (b->count > 0)
        hand_back(b, b->count - 1);
    for (int i = 0; i < BAY_MOST_AGENTS; i++)
        end_agent(&b->agent[i]);
    free(b->job);
}
