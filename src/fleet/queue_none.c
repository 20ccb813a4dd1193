// Pools without the client library of NATS: queue_open fails, and with it everything that uses one.
#include "fleet/broker.h"
#include "fleet/queue.h"
#include "fleet/worker.h"
#include "trial/frame.h"

#include <stdlib.h>

bool queue_is_built(void)
{
    return false;
}

struct queue *queue_open(const struct queue_options *o, struct err *e)
{
    (void)o;
    err_set(e, "this tilewalk was built without pools (libnats-dev was not there)");
    return NULL;
}

bool broker_run(int in, int out, const struct queue_options *o, struct err *e)
{
    struct link link;
    queue_open(o, e);
    link_init(&link, in, FRAME_MAX_BYTES);
    link.out_fd = out;
    char *text = message_failed(e);
    if (link_queue(&link, text))
        link_flush(&link);
    free(text);
    link_finish(&link);
    return false;
}

bool worker_run(const struct worker_options *o, struct err *e)
{
    return queue_open(&o->queue, e) != NULL;
}

// --- what only an open queue is asked ---

void queue_close(struct queue *q)
{
    (void)q;
}

int queue_fd(const struct queue *q)
{
    (void)q;
    return -1;
}

struct queue_message *queue_next(struct queue *q)
{
    (void)q;
    return NULL;
}

bool queue_subscribe(struct queue *q, const char *subject, struct err *e)
{
    (void)q, (void)subject, (void)e;
    return false;
}

void queue_publish(struct queue *q, const char *subject, const char *text)
{
    (void)q, (void)subject, (void)text;
}

void queue_message_free(struct queue_message *m)
{
    (void)m;
}

void queue_class(const char *device_id, const char *compiler, char out[QUEUE_ID])
{
    (void)device_id, (void)compiler;
    out[0] = '\0';
}
