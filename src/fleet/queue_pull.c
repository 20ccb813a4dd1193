// A thread for each class of jobs, as the library only fetches while somebody waits.
#include "fleet/queue_inside.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FETCH_MS = 1000, AGAIN_MS = 300 };

struct puller {
    struct queue *queue;
    char class[QUEUE_ID];
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int places;
    bool stops;
    natsSubscription *sub; // the thread's own; NULL: not there yet
};

// False: it is to end. Waits for a place, or where there is one for at least `ms`.
static bool await_place(struct puller *p, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&p->mutex);
    while (!p->stops && ms && pthread_cond_timedwait(&p->changed, &p->mutex, &until) == 0)
        continue;
    while (!p->stops && p->places == 0)
        pthread_cond_wait(&p->changed, &p->mutex);
    bool goes_on = !p->stops;
    pthread_mutex_unlock(&p->mutex);
    return goes_on;
}

static bool bind_to(struct puller *p)
{
    jsSubOptions o;
    char filter[QUEUE_ID + 16];
    if (p->sub)
        return true;
    snprintf(filter, sizeof filter, "tw.job.%s.>", p->class);
    jsSubOptions_Init(&o);
    o.Stream = "TWJOBS";
    o.Consumer = p->class;
    return js_PullSubscribe(&p->sub, p->queue->js, filter, p->class, NULL, &o, NULL) == NATS_OK;
}

// Returns how long to wait before the next try.
static int fetch(struct puller *p)
{
    natsMsgList list = {0};
    if (!bind_to(p))
        return AGAIN_MS;
    natsStatus s = natsSubscription_Fetch(&list, p->sub, 1, FETCH_MS, NULL);
    if (s == NATS_OK && list.Count > 0) {
        pthread_mutex_lock(&p->mutex);
        p->places--;
        pthread_mutex_unlock(&p->mutex);
        queue_post(p->queue, letter_of_stream(p->queue, list.Msgs[0]));
        list.Msgs[0] = NULL;
    } else if (s != NATS_TIMEOUT) { // the consumer, or the server, is not there any more
        natsSubscription_Destroy(p->sub);
        p->sub = NULL;
    }
    natsMsgList_Destroy(&list);
    return p->sub ? 0 : AGAIN_MS;
}

static void *pull(void *context)
{
    struct puller *p = context;
    int ms = 0;
    while (await_place(p, ms))
        ms = fetch(p);
    natsSubscription_Destroy(p->sub);
    nats_ReleaseThreadMemory();
    return NULL;
}

struct puller *queue_pull(struct queue *q, const char *class, int places)
{
    struct puller *p = mem_zero(1, sizeof *p);
    p->queue = q;
    p->places = places;
    snprintf(p->class, sizeof p->class, "%s", class);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_condattr_t steady; // the time of day may step
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &steady);
    pthread_condattr_destroy(&steady);
    if (pthread_create(&p->thread, NULL, pull, p) != 0)
        p->stops = true;
    return p;
}

void puller_give_place(struct puller *p)
{
    pthread_mutex_lock(&p->mutex);
    p->places++;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

void puller_stop(struct puller *p)
{
    if (!p || p->stops)
        return;
    pthread_mutex_lock(&p->mutex);
    p->stops = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    pthread_join(p->thread, NULL);
}

void puller_free(struct puller *p)
{
    if (!p)
        return;
    puller_stop(p);
    pthread_mutex_destroy(&p->mutex);
    pthread_cond_destroy(&p->changed);
    free(p);
}
