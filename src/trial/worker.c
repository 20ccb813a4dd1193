// The worker process: see message.h for the conversation, measure.h for a trial.
#include "trial/source.h"

#include "base/mem.h"
#include "trial/measure.h"

#include <stdlib.h>
#include <unistd.h>

enum { SOCKET_FD = 3, SHARED_FD = 4 };

struct worker {
    struct wire wire;
    struct message hello; // the rig uses what it holds
    struct rig rig;
};

static bool refuse(struct worker *w, const struct err *e)
{
    wire_send(&w->wire, message_failed(e->text));
    return false;
}

static bool start(struct worker *w)
{
    const struct hello *hello = &w->hello.hello;
    struct err e = {0};
    wire_receive(&w->wire, &w->hello);
    bool ok = w->hello.type == MESSAGE_HELLO || err_set(&e, "the first message is no hello");
    if (ok && fault_parse(hello->fault, &w->wire.plan, &e)) {
        wire_enter(&w->wire, PHASE_START, 0, hello->start);
        ok = rig_open(&w->rig, hello, &e);
    }
    if (!ok)
        return refuse(w, &e);
    wire_send(&w->wire, message_plain(MESSAGE_READY));
    return true;
}

static bool prepare(struct worker *w)
{
    struct err e = {0};
    wire_enter(&w->wire, PHASE_PREPARE, 0, w->rig.hello.start);
    if (!rig_prepare(&w->rig, SHARED_FD, &e))
        return refuse(w, &e);
    wire_send(&w->wire, message_plain(MESSAGE_PREPARED));
    return true;
}

static bool measure(struct worker *w, const struct message *trial)
{
    struct err e = {0};
    const int64_t matches_only_every = -1;
    wire_enter(&w->wire, PHASE_NONE, 0, trial->attempt == 0 ? trial->number : matches_only_every);
    if (!rig_attach(&w->rig, SHARED_FD, &e))
        return refuse(w, &e);
    return measure_trial(&w->rig, &w->wire, trial);
}

static bool answer(struct worker *w)
{
    struct message m;
    bool go_on = false;
    wire_receive(&w->wire, &m);
    if (m.type == MESSAGE_PREPARE)
        go_on = prepare(w);
    else if (m.type == MESSAGE_TRIAL)
        go_on = measure(w, &m);
    message_finish(&m);
    return go_on;
}

int worker_main(void)
{
    struct worker *w = mem_zero(1, sizeof *w);
    link_init(&w->wire.link, SOCKET_FD, FRAME_MAX_BYTES);
    if (start(w))
        while (answer(w))
            continue;
    _exit(EXIT_SUCCESS); // a driver that was lost or hangs is not asked to clean up
}
