// In the place of queue.c and queue_pull.c where the client library of NATS is not there.
#include "fleet/queue.h"

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

// No queue is ever open: nothing below is reached.
void queue_close(struct queue *q)
{
    (void)q;
}

int queue_fd(const struct queue *q)
{
    (void)q;
    return -1;
}

struct letter *queue_next(struct queue *q)
{
    (void)q;
    return NULL;
}

size_t queue_most_bytes(const struct queue *q)
{
    (void)q;
    return 0;
}

bool queue_hear(struct queue *q, const char *subject, struct err *e)
{
    (void)q, (void)subject, (void)e;
    return false;
}

void queue_say(struct queue *q, const char *subject, const char *text)
{
    (void)q, (void)subject, (void)text;
}

bool queue_put(struct queue *q, const char *subject, const char *id, const char *text,
               struct err *e)
{
    (void)q, (void)subject, (void)id, (void)text, (void)e;
    return false;
}

void queue_put_soon(struct queue *q, const char *subject, const char *id, const char *text)
{
    (void)q, (void)subject, (void)id, (void)text;
}

bool queue_get(struct queue *q, const char *run, char **text)
{
    (void)q, (void)run, (void)text;
    return false;
}

bool queue_make(struct queue *q, const char *class, struct err *e)
{
    (void)q, (void)class, (void)e;
    return false;
}

bool queue_take_results(struct queue *q, const char *run, struct err *e)
{
    (void)q, (void)run, (void)e;
    return false;
}

void queue_forget(struct queue *q, const char *run)
{
    (void)q, (void)run;
}

struct puller *queue_pull(struct queue *q, const char *class, int places)
{
    (void)q, (void)class, (void)places;
    return NULL;
}

void puller_give_place(struct puller *p)
{
    (void)p;
}

void puller_stop(struct puller *p)
{
    (void)p;
}

void puller_free(struct puller *p)
{
    (void)p;
}

void letter_done(struct letter *l)
{
    (void)l;
}

void letter_extend(struct letter *l)
{
    (void)l;
}

void letter_return(struct letter *l)
{
    (void)l;
}

void letter_free(struct letter *l)
{
    (void)l;
}

void queue_class(const char *device_id, const char *compiler, char out[QUEUE_ID])
{
    (void)device_id, (void)compiler;
    out[0] = '\0';
}
