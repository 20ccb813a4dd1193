#include "trial/frame.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/os.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER_BYTES = 4, READ_BYTES = 64 * 1024, READS_AT_ONCE = 64 };

void link_init(struct link *l, int fd, size_t cap)
{
    *l = (struct link){.fd = fd, .out_fd = fd, .cap = cap};
}

void link_finish(struct link *l)
{
    str_finish(&l->in);
    str_finish(&l->out);
    *l = (struct link){.fd = -1, .out_fd = -1};
}

bool link_queue(struct link *l, const char *text)
{
    size_t length = strlen(text);
    if (length > FRAME_MAX_BYTES)
        return false;
    const char header[HEADER_BYTES] = {(char)(length >> 24), (char)(length >> 16),
                                       (char)(length >> 8), (char)length};
    str_add_bytes(&l->out, header, sizeof header);
    str_add_bytes(&l->out, text, length);
    return true;
}

bool link_has_output(const struct link *l)
{
    return l->sent < l->out.length;
}

bool link_flush(struct link *l)
{
    while (link_has_output(l)) {
        const char *bytes = l->out.text + l->sent;
        size_t count = l->out.length - l->sent;
        ssize_t n = send(l->out_fd, bytes, count, MSG_NOSIGNAL);
        if (n < 0 && errno == ENOTSOCK) // a pipe
            n = write(l->out_fd, bytes, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        l->sent += (size_t)n;
    }
    str_finish(&l->out);
    l->sent = 0;
    return true;
}

// True when bytes came.
static bool read_once(struct link *l)
{
    char bytes[READ_BYTES];
    ssize_t n;
    do
        n = read(l->fd, bytes, sizeof bytes);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        str_add_bytes(&l->in, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
        l->closed = true;
    return n > 0;
}

void link_fill(struct link *l)
{
    for (int i = 0; i < READS_AT_ONCE && !l->closed && read_once(l); i++)
        continue;
}

enum link_status link_next(struct link *l, char **text)
{
    if (l->in.length >= HEADER_BYTES) {
        const unsigned char *p = (const unsigned char *)l->in.text;
        size_t length = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        if (length == 0 || length > l->cap)
            return LINK_GARBAGE;
        if (l->in.length - HEADER_BYTES >= length) {
            *text = mem_alloc(length + 1);
            memcpy(*text, l->in.text + HEADER_BYTES, length);
            (*text)[length] = '\0';
            l->in.length -= HEADER_BYTES + length;
            memmove(l->in.text, l->in.text + HEADER_BYTES + length, l->in.length);
            return LINK_FRAME;
        }
    }
    if (!l->closed)
        return LINK_NONE;
    return l->in.length ? LINK_GARBAGE : LINK_CLOSED;
}

// --- a worker's end ---

// Ends the process without exit(), as the destructors of drivers may hang or crash.
static void end_process(const char *why)
{
    if (why)
        log_error("worker: %s", why);
    _exit(why ? 1 : 0);
}

void wire_receive(struct wire *w, struct message *m)
{
    char *text = NULL;
    struct err e = {0};
    enum link_status status;
    while ((status = link_next(&w->link, &text)) == LINK_NONE)
        read_once(&w->link);
    if (status != LINK_FRAME)
        end_process(status == LINK_GARBAGE ? "garbage from the pool" : NULL);
    if (!message_parse(text, m, &e))
        end_process(e.text);
    free(text);
}

bool wire_has(const struct wire *w)
{
    if (w->link.in.length > 0) // it came together with the last one
        return true;
    struct pollfd socket = {.fd = w->link.fd, .events = POLLIN};
    return poll(&socket, 1, 0) != 0;
}

void wire_expect(struct wire *w, enum message_type type)
{
    struct message m;
    wire_receive(w, &m);
    if (m.type != type)
        end_process("an unexpected message from the pool");
    message_finish(&m);
}

void wire_send(struct wire *w, char *text)
{
    bool ok = link_queue(&w->link, text) && link_flush(&w->link);
    free(text);
    if (!ok)
        end_process(NULL);
}

enum fault_kind wire_enter(struct wire *w, enum trial_phase phase, int candidate, int64_t number)
{
    struct message m = {MESSAGE_PHASE, .phase = phase, .candidate = candidate,
                        .at_ns = os_now_ns()};
    if (phase != PHASE_NONE)
        wire_send(w, message_text(&m));
    enum fault_kind kind = fault_find(&w->plan, phase, number);
    fault_strike(kind, w->link.fd);
    return kind;
}
