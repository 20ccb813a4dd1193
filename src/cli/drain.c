#include "cli/drain.h"

#include "base/mem.h"
#include "base/os.h"
#include "cli/common.h"
#include "cli/on.h"
#include "trial/message.h"
#include "trial/remote.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A worker that puts its results into the pool may wait five seconds for the server with each: half
// of the time after which it would be given up is enough, 15 s.
static double answer_s(void)
{
    return remote_patience_s() / 2;
}

// Names are words of subjects.
static bool is_name(const char *text)
{
    return *text && strlen(text) < QUEUE_ID && !strpbrk(text, ".*> \t\r\n");
}

static bool says_that_it_leaves(const struct letter *l)
{
    struct message m;
    if (l->kind != LETTER_SAID || !message_parse(l->text, &m, NULL))
        return false;
    bool leaves = m.type == MESSAGE_MEMBER && m.member.leaves;
    message_finish(&m);
    return leaves;
}

static bool wait_for_answer(struct queue *q, const char *machine, struct err *e)
{
    int64_t end_ns = os_now_ns() + (int64_t)(answer_s() * 1e9);
    while (os_now_ns() < end_ns) {
        struct pollfd fd = {.fd = queue_fd(q), .events = POLLIN};
        struct letter *l;
        poll(&fd, 1, 100);
        while ((l = queue_next(q))) {
            bool leaves = says_that_it_leaves(l), closed = l->kind == LETTER_CLOSED;
            if (closed)
                err_set(e, "the pool's server: %s", l->text);
            letter_free(l);
            if (leaves || closed)
                return leaves;
        }
    }
    return err_set(e,
                   "no worker '%s' has answered in %.4g s (tilewalk doctor --pool says which are "
                   "there)",
                   machine, answer_s());
}

int drain_machine(const struct arguments *a, const char *machine)
{
    struct err e;
    struct queue_options o;
    char here[QUEUE_ID + 16], leave[QUEUE_ID + 16];
    if (!on_pool_options(a, &o, &e) ||
        !(is_name(machine) || err_usage(&e, "'%s' is no machine's name", machine)))
        return fail_with(&e, EXIT_USAGE);
    snprintf(here, sizeof here, "tw.here.%s", machine);
    snprintf(leave, sizeof leave, "tw.leave.%s", machine);
    struct queue *q = queue_open(&o, &e);
    bool ok = q && queue_hear(q, here, &e);
    if (ok)
        queue_say(q, leave, "");
    ok = ok && wait_for_answer(q, machine, &e);
    queue_close(q);
    if (ok)
        printf("%s finishes what it measures, and leaves the pool\n", machine);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}
