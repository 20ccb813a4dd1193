#include "engine/agent.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "engine/devices.h"
#include "trial/frame.h"
#include "trial/remote.h"
#include "trial/source.h"
#include "trial/work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SILENT_NS ((int64_t)600 * 1000000000) // then whoever asks is gone, although nobody said so
enum { LOOK_MS = 60000, MOST_WAITING = 4096, MOST_POLLED = 256, MOST_HELD_BACK = 64 << 20 };

struct agent {
    struct link link;
    struct gpu_info *list;
    int devices;
    struct message begun_with; // the pool uses what a hello holds
    struct source *source;     // NULL: nothing is to be measured yet
    struct work_list waiting;  // for a place in the pool
    int64_t trials;            // that could be calibrated with
    int64_t heard_ns;
};

static void say(struct agent *a, char *text)
{
    link_queue(&a->link, text); // no answer is too long
    free(text);
}

static void hear_worker(void *context, int worker, const char *line)
{
    say(context, message_said(worker, line));
}

// --- what it is asked ---

static bool find_devices(struct agent *a, struct err *e)
{
    return a->list || devices_find(&a->list, &a->devices, e);
}

// What the source is given as its ticket: what comes back says both.
static int64_t ticket_of(int64_t number, bool only_compiles)
{
    return 2 * number + only_compiles;
}

// What cannot be is said, and not the end.
static bool list(struct agent *a)
{
    struct err e = {0};
    say(a, find_devices(a, &e) ? message_devices(a->list, a->devices) : message_failed(&e));
    return true;
}

// Its limits are those of the device here, whatever the other side says, but that it may be
// stricter with spills.
static struct source *make_pool(struct agent *a, struct hello *h, struct err *e)
{
    if (h->device >= a->devices) {
        err_set(e, "there is no device %d", h->device);
        return NULL;
    }
    const struct gpu_info *info = &a->list[h->device];
    uint32_t spills = h->limits.spills;
    h->limits = info->limits;
    h->limits.spills = spills;
    char *program = path_program();
    struct pool_options o = {
        .program = program,
        .device = h->device,
        .device_id = h->device_id,
        .validate = h->validate,
        .cold = h->cold,
        .workers = h->workers > 0 ? h->workers : 1,
        .compilers = h->compilers,
        .operation = &h->operation,
        .reference = h->reference.pass_count ? &h->reference : NULL,
        .limits = &h->limits,
        .trips_undeclared = h->trips_undeclared,
        .seed = h->seed,
        .is_cpu = info->is_cpu,
        .keeps_busy = !info->is_cpu,
        .fault = h->fault,
        .log = hear_worker,
        .log_context = a,
    };
    memcpy(o.deadline_s, h->deadline_s, sizeof o.deadline_s);
    struct source *s = pool_create(&o, e);
    free(program);
    return s;
}

// The first one, and every so often.
static bool calibrates(struct agent *a, const struct trial_request *r)
{
    int each = a->begun_with.hello.calibrates;
    return each > 0 && r->count == 1 && !r->only_compiles && a->trials++ % each == 0;
}

static bool act_out(struct agent *a, const struct message *m)
{
    if (!a->source || a->begun_with.type != MESSAGE_PLAY || m->result.count < 1 ||
        source_room(a->source) < 1)
        return false;
    struct trial_result r = m->result;
    r.ticket = ticket_of(m->number, m->only_compiled);
    flying_add(a->source, &r, (double)m->at_ns * 1e-9);
    return true;
}

static bool take_message(struct agent *a, struct message *m)
{
    switch (m->type) {
    case MESSAGE_ALIVE: {
        say(a, message_plain(MESSAGE_ALIVE));
        return true;
    }
    case MESSAGE_GREET: {
        struct greeting g = greeting_of_this();
        say(a, message_greet(&g));
        return true;
    }
    case MESSAGE_LIST: return list(a);
    case MESSAGE_HELLO:
    case MESSAGE_PLAY: {
        // Keeps the message.
        struct err e = {0};
        if (a->source)
            return false;
        a->begun_with = *m;
        *m = (struct message){.type = MESSAGE_ALIVE};
        struct message *b = &a->begun_with;
        if (b->type == MESSAGE_PLAY)
            a->source = flying_create(b->workers);
        else if (find_devices(a, &e))
            a->source = make_pool(a, &b->hello, &e);
        say(a, a->source ? message_plain(MESSAGE_READY) : message_failed(&e));
        return true;
    }
    case MESSAGE_TRIAL: {
        if (!a->source || a->begun_with.type != MESSAGE_HELLO || m->request.count < 1 ||
            a->waiting.count >= MOST_WAITING)
            return false;
        m->request.ticket = ticket_of(m->number, m->request.only_compiles);
        m->request.anchor |= calibrates(a, &m->request);
        work_list_append(&a->waiting, work_create(&m->request, m->number));
        return true;
    }
    case MESSAGE_RESULT: return act_out(a, m);
    default: return false;
    }
}

static bool take_text(struct agent *a, const char *text, struct err *e)
{
    struct message m;
    if (!message_parse(text, &m, e))
        return false;
    bool ok = take_message(a, &m) ||
              err_set(e, "no message \"%s\" may come now", message_type_name(m.type));
    message_finish(&m);
    return ok;
}

// `over`: the other side has closed.
static bool hear(struct agent *a, bool *over, struct err *e)
{
    char *text;
    enum link_status status;
    link_fill(&a->link);
    while ((status = link_next(&a->link, &text)) == LINK_FRAME) {
        a->heard_ns = os_now_ns();
        bool ok = take_text(a, text, e);
        free(text);
        if (!ok)
            return false;
    }
    *over = status == LINK_CLOSED;
    return status != LINK_GARBAGE || err_set(e, "what came is no message");
}

// --- what it does ---

static bool work_on(struct agent *a, struct err *e)
{
    struct trial_result r;
    if (!a->source)
        return true;
    for (int i = 0; i < a->waiting.count;) {
        struct work *w = a->waiting.item[i];
        if (!w->request.only_compiles && source_room(a->source) < 1) {
            i++;
            continue;
        }
        a->source->kind->submit(a->source, &w->request);
        work_destroy(work_list_take(&a->waiting, i));
    }
    if (!source_step(a->source, e)) {
        say(a, message_failed(e));
        return false;
    }
    while (source_collect(a->source, &r)) {
        static const struct gpu_kept none;
        bool settled[TRIAL_MAX_RACERS];
        for (int i = 0; i < r.count; i++)
            settled[i] = true;
        bool only_compiled = r.ticket % 2;
        r.ticket /= 2;
        say(a, message_result(&r, only_compiled, settled, &none, os_now_ns()));
    }
    return true;
}

// False with `over`: there is nobody left to work for.
static bool step(struct agent *a, bool *over, struct err *e)
{
    if (!hear(a, over, e))
        return false;
    bool ok = work_on(a, e);
    *over |= !link_flush(&a->link) || os_now_ns() > a->heard_ns + SILENT_NS ||
             a->link.out.length > MOST_HELD_BACK;
    return ok;
}

static void set_non_blocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool agent_run(int in, int out, struct err *e)
{
    struct agent a = {.heard_ns = os_now_ns()};
    bool over = false, ok = true;
    signal(SIGPIPE, SIG_IGN);
    link_init(&a.link, in, FRAME_MAX_BYTES);
    a.link.out_fd = out;
    set_non_blocking(in);
    set_non_blocking(out);
    while (!over && ok) {
        struct pollfd fds[MOST_POLLED] = {{.fd = a.link.fd, .events = POLLIN},
                                          {.fd = a.link.out_fd}};
        int count = 2, ms = a.source ? source_wait_ms(a.source) : -1;
        if (link_has_output(&a.link))
            fds[1].events = POLLOUT;
        if (a.source)
            count += source_fds(a.source, fds + count, MOST_POLLED - count);
        if (ms < 0 || ms > LOOK_MS)
            ms = LOOK_MS; // whether it has become silent
        poll(fds, (nfds_t)count, ms);
        ok = step(&a, &over, e);
    }
    source_destroy(a.source);
    work_list_finish(&a.waiting);
    message_finish(&a.begun_with);
    link_finish(&a.link);
    free(a.list);
    return ok;
}
