// Inside the queue: queue.c is the connection, queue_pull.c takes jobs.
#ifndef TILEWALK_FLEET_QUEUE_INSIDE_H
#define TILEWALK_FLEET_QUEUE_INSIDE_H

#include "fleet/queue.h"

#include <nats/nats.h>

#include <errno.h>
#include <pthread.h>

enum { QUEUE_MOST_HEARD = 8, QUEUE_HEADERS = 1024 };

struct queue {
    natsConnection *connection;
    jsCtx *js;
    natsSubscription *heard[QUEUE_MOST_HEARD], *results;
    int heard_count;
    double patience_s;
    char forbidden[200];   // what the server does not let us do; under the mutex
    pthread_mutex_t mutex; // of the letters, which threads of the library post
    struct letter *first, *last;
    int wake[2]; // a pipe: something was posted
};

bool queue_fail(struct queue *q, struct err *e, const char *what, natsStatus s); // false
void queue_post(struct queue *q, struct letter *l);                              // from any thread
struct letter *letter_make(enum letter_kind kind, const char *subject, const char *text);
struct letter *letter_of(enum letter_kind kind, const natsMsg *m);
struct letter *letter_of_stream(struct queue *q, natsMsg *m); // destroys the message

#endif
