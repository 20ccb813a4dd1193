#include "trial/wire.h"

#include "base/log.h"
#include "base/os.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

// Not exit(): a driver's destructors may hang or crash, and nobody is interested.
static void leave(const char *why)
{
    if (why)
        log_error("worker: %s", why);
    _exit(why ? 1 : 0);
}

void wire_receive(struct wire *w, struct message *m)
{
    char *text = NULL;
    struct err e = {0};
    enum link_status status = link_receive(&w->link, &text);
    if (status != LINK_FRAME)
        leave(status == LINK_GARBAGE ? "garbage from the pool" : NULL);
    if (!message_parse(text, m, &e))
        leave(e.text);
    free(text);
}

bool wire_has(const struct wire *w)
{
    if (w->link.in.length > 0) // it came with what was received last
        return true;
    struct pollfd socket = {.fd = w->link.fd, .events = POLLIN};
    return poll(&socket, 1, 0) != 0;
}

void wire_expect(struct wire *w, enum message_type type)
{
    struct message m;
    wire_receive(w, &m);
    if (m.type != type)
        leave("an unexpected message from the pool");
    message_finish(&m);
}

void wire_send(struct wire *w, char *text)
{
    bool ok = link_send(&w->link, text);
    free(text);
    if (!ok)
        leave(NULL);
}

enum fault_kind wire_enter(struct wire *w, enum trial_phase phase, int candidate, int64_t number)
{
    if (phase != PHASE_NONE)
        wire_send(w, message_phase(phase, candidate, os_now_ns()));
    enum fault_kind kind = fault_find(&w->plan, phase, number);
    fault_strike(kind, w->link.fd);
    return kind;
}
