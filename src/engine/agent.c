#include "engine/agent.h"

#include "base/os.h"
#include "engine/devices.h"
#include "trial/frame.h"
#include "trial/source.h"
#include "trial/work.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SILENT_NS                                                                                  \
    ((int64_t)600 * 1000000000) // then the other side is gone, although it has not closed
enum { LOOK_MS = 60000, MOST_WAITING = 4096, MOST_POLLED = 256, MOST_HELD_BACK = 64 << 20 };

struct agent {
    struct link link;
    struct gpu_info *list;
    int devices;
    struct message begun_with; // the pool uses the contents of a hello
    struct source *source;     // NULL: nothing is to be measured yet
    struct work_list waiting;  // for a place in the pool
    int64_t trials;            // that could be calibrated with
    int64_t heard_ns;
};

static void send(struct agent *a, char *text)
{
    link_queue(&a->link, text); // no answer is too long
    free(text);
}

static void on_worker_log(void *context, int worker, const char *line)
{
    struct message m = {.type = MESSAGE_SAID, .worker = worker};
    snprintf(m.said, sizeof m.said, "%s", line);
    send(context, message_text(&m));
}

// --- requests ---

// Makes the pool of workers. The limits are those of the device here; only the one on spills is the
// other side's, which may be stricter.
static struct source *make_pool(struct agent *a, struct hello *h, struct err *e)
{
    if (h->device >= a->devices) {
        err_set(e, "there is no device %d", h->device);
        return NULL;
    }
    // Where that card belongs to others, one of its kind that does not is measured on.
    char id[33];
    gpu_identity(&a->list[h->device], id);
    for (int i = 0; a->list[h->device].is_set_aside && i < a->devices; i++)
        if (!a->list[i].is_set_aside && gpu_is(&a->list[i], id))
            h->device = i;
    const struct gpu_info *info = &a->list[h->device];
    uint32_t spills = h->limits.spills;
    h->limits = info->limits;
    h->limits.spills = spills;
    struct pool_options o = {
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
        .log = on_worker_log,
        .log_context = a,
    };
    memcpy(o.deadline_s, h->deadline_s, sizeof o.deadline_s);
    return pool_create(&o, e);
}

// Handles a message; false if it may not come now. The source's ticket is twice the number of the
// request, plus 1 if it only compiles.
static bool take_message(struct agent *a, struct message *m)
{
    const bool hello = a->source && a->begun_with.type == MESSAGE_HELLO;
    const bool play = a->source && a->begun_with.type == MESSAGE_PLAY;
    const bool needs_devices = m->type == MESSAGE_LIST || (m->type == MESSAGE_HELLO && !a->source);
    struct err e = {0};
    bool has_devices = needs_devices && (a->list || devices_find(&a->list, &a->devices, &e));
    if (m->type == MESSAGE_ALIVE) {
        send(a, message_plain(MESSAGE_ALIVE));
    } else if (m->type == MESSAGE_GREET) {
        send(a, message_text(&(struct message){MESSAGE_GREET, .greeting = greeting_of_this()}));
    } else if (m->type == MESSAGE_LIST) { // a failure is an answer, and not the end
        struct message list = {
            .type = MESSAGE_DEVICES, .device_list = a->list, .device_count = a->devices};
        send(a, has_devices ? message_text(&list) : message_failed(&e));
    } else if ((m->type == MESSAGE_HELLO || m->type == MESSAGE_PLAY) && !a->source) {
        struct message *b = &a->begun_with; // keeps the message
        *b = *m;
        *m = (struct message){.type = MESSAGE_ALIVE};
        if (b->type == MESSAGE_PLAY)
            a->source = delayed_create(b->workers);
        else if (has_devices)
            a->source = make_pool(a, &b->hello, &e);
        send(a, a->source ? message_plain(MESSAGE_READY) : message_failed(&e));
    } else if (m->type == MESSAGE_TRIAL && hello && m->request.count >= 1 &&
               a->waiting.count < MOST_WAITING) {
        struct trial_request *r = &m->request;
        int each = a->begun_with.hello.calibrates; // the first trial is, and every so often
        r->ticket = 2 * m->number + r->only_compiles;
        if (each > 0 && r->count == 1 && !r->only_compiles)
            r->anchor |= a->trials++ % each == 0;
        work_list_append(&a->waiting, work_create(r, m->number));
    } else if (m->type == MESSAGE_RESULT && play && m->result.count >= 1 &&
               source_room(a->source) >= 1) {
        struct trial_result r = m->result;
        r.ticket = 2 * m->number + m->only_compiled;
        delayed_add(a->source, &r, (double)m->at_ns * 1e-9);
    } else {
        return false;
    }
    return true;
}

// Handles all messages that have come. Sets `over` if the other side has closed.
static bool receive(struct agent *a, bool *over, struct err *e)
{
    char *text;
    enum link_status status;
    link_fill(&a->link);
    while ((status = link_next(&a->link, &text)) == LINK_FRAME) {
        struct message m;
        a->heard_ns = os_now_ns();
        bool ok = message_parse(text, &m, e);
        free(text);
        if (!ok)
            return false;
        ok = take_message(a, &m) ||
             err_set(e, "no message \"%s\" may come now", message_type_name(m.type));
        message_finish(&m);
        if (!ok)
            return false;
    }
    *over = status == LINK_CLOSED;
    return status != LINK_GARBAGE || err_set(e, "what came is no message");
}

// --- work ---

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
        send(a, message_failed(e));
        return false;
    }
    while (source_collect(a->source, &r)) {
        static const struct gpu_kept none;
        bool settled[TRIAL_MAX_RACERS];
        for (int i = 0; i < r.count; i++)
            settled[i] = true;
        bool only_compiled = r.ticket % 2;
        r.ticket /= 2;
        send(a, message_result(&r, only_compiled, settled, &none, os_now_ns()));
    }
    return true;
}

bool agent_run(int in, int out, struct err *e)
{
    struct agent a = {.heard_ns = os_now_ns()};
    bool over = false, ok = true;
    signal(SIGPIPE, SIG_IGN);
    link_init(&a.link, in, FRAME_MAX_BYTES);
    a.link.out_fd = out;
    for (int i = 0; i < 2; i++) {
        int fd = i ? out : in;
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    while (!over && ok) {
        struct pollfd fds[MOST_POLLED] = {{.fd = a.link.fd, .events = POLLIN},
                                          {.fd = a.link.out_fd}};
        int count = 2, ms = a.source ? source_wait_ms(a.source) : -1;
        if (link_has_output(&a.link))
            fds[1].events = POLLOUT;
        if (a.source)
            count += source_fds(a.source, fds + count, MOST_POLLED - count);
        if (ms < 0 || ms > LOOK_MS)
            ms = LOOK_MS; // to see that the other side is silent
        poll(fds, (nfds_t)count, ms);
        ok = receive(&a, &over, e);
        if (ok) {
            ok = work_on(&a, e);
            over |= !link_flush(&a.link) || os_now_ns() > a.heard_ns + SILENT_NS ||
                    a.link.out.length > MOST_HELD_BACK;
        }
    }
    source_destroy(a.source);
    work_list_finish(&a.waiting);
    message_finish(&a.begun_with);
    link_finish(&a.link);
    free(a.list);
    return ok;
}
