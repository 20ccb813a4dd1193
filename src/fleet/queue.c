#include "fleet/queue.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "fleet/queue_inside.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A thread for each class of jobs, as the library only fetches while somebody waits.

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

#define MS_NS ((int64_t)1000000)
#define S_NS  (1000 * MS_NS)
enum { WAIT_MS = 5000, RECONNECT_MS = 250, MOST_WAITING = 4096, CLASS_DIGITS = 16 };

static const struct {
    const char *name, *subjects;
    jsRetentionPolicy retention;
    int64_t most_age_ns; // 0: as long as it may be
    int64_t most_of_subject;
} STREAMS[] = {
    {"TWJOBS", "tw.job.>", js_WorkQueuePolicy, 3600 * S_NS, -1},
    {"TWRESULTS", "tw.result.>", js_WorkQueuePolicy, 3600 * S_NS, -1},
    {"TWRUNS", "tw.run.>", js_LimitsPolicy, 30 * 86400 * S_NS, 1},
};
enum { STREAM_COUNT = sizeof STREAMS / sizeof *STREAMS };

bool queue_is_built(void)
{
    return true;
}

bool queue_fail(struct queue *q, struct err *e, const char *what, natsStatus s)
{
    natsStatus last;
    const char *text = nats_GetLastError(&last), *end = text ? strstr(text, "): ") : NULL;
    if (end && text[0] == '(') // where in the library it was
        text = end + strlen("): ");
    pthread_mutex_lock(&q->mutex);
    bool forbidden = q->forbidden[0];
    if (forbidden)
        err_set(e, "%s: %s", what, q->forbidden);
    pthread_mutex_unlock(&q->mutex);
    text = text && *text ? text : natsStatus_GetText(s);
    return !forbidden && err_set(e, "%s: %.*s", what, (int)strcspn(text, "\n"), text);
}

void queue_class(const char *device_id, const char *compiler, char out[QUEUE_ID])
{
    char text[200];
    snprintf(text, sizeof text, "%s %s %s", TILEWALK_VERSION, device_id,
             *device_id ? compiler : "");
    snprintf(out, CLASS_DIGITS + 1, "%016" PRIx64, hash_bytes(text, strlen(text)));
}

// --- letters ---

void queue_post(struct queue *q, struct letter *l)
{
    pthread_mutex_lock(&q->mutex);
    if (q->last)
        q->last->next = l;
    else
        q->first = l;
    q->last = l;
    pthread_mutex_unlock(&q->mutex);
    while (write(q->wake[1], "", 1) < 0 && errno == EINTR)
        continue; // a full pipe wakes as well
}

struct letter *letter_make(enum letter_kind kind, const char *subject, const char *text)
{
    struct letter *l = mem_zero(1, sizeof *l);
    l->kind = kind;
    l->subject = mem_strdup(subject);
    l->text = mem_strdup(text);
    return l;
}

struct letter *letter_of(enum letter_kind kind, const natsMsg *m)
{
    struct letter *l = letter_make(kind, natsMsg_GetSubject(m), "");
    size_t length = (size_t)natsMsg_GetDataLength(m);
    free(l->text);
    l->text = mem_alloc(length + 1);
    memcpy(l->text, length ? natsMsg_GetData(m) : "", length);
    l->text[length] = '\0';
    if (strlen(l->text) != length)
        l->text[0] = '\0';
    return l;
}

struct letter *letter_of_stream(struct queue *q, natsMsg *m)
{
    struct letter *l = letter_of(LETTER_KEPT, m);
    const char *id = NULL;
    jsMsgMetaData *meta = NULL;
    if (natsMsgHeader_Get(m, "Nats-Msg-Id", &id) == NATS_OK)
        snprintf(l->id, sizeof l->id, "%s", id);
    if (natsMsg_GetMetaData(&meta, m) == NATS_OK)
        l->deliveries = meta->NumDelivered < 1000 ? (int)meta->NumDelivered : 1000;
    jsMsgMetaData_Destroy(meta);
    l->lease = mem_strdup(natsMsg_GetReply(m));
    l->queue = q;
    natsMsg_Destroy(m);
    return l;
}

struct letter *queue_next(struct queue *q)
{
    char bytes[64];
    pthread_mutex_lock(&q->mutex);
    struct letter *l = q->first;
    if (l)
        q->first = l->next;
    if (!q->first)
        q->last = NULL;
    if (!l)
        while (read(q->wake[0], bytes, sizeof bytes) > 0)
            continue;
    pthread_mutex_unlock(&q->mutex);
    return l;
}

int queue_fd(const struct queue *q)
{
    return q->wake[0];
}

// The library's own functions want the subscription by which it came, which may be gone by then.
void letter_done(struct letter *l)
{
    queue_say(l->queue, l->lease, "+ACK");
}

void letter_extend(struct letter *l)
{
    queue_say(l->queue, l->lease, "+WPI");
}

void letter_return(struct letter *l)
{
    queue_say(l->queue, l->lease, "-NAK {\"delay\": 200000000}"); // nanoseconds
}

void letter_free(struct letter *l)
{
    if (!l)
        return;
    free(l->lease);
    free(l->subject);
    free(l->text);
    free(l);
}

// --- what the client library tells, in its threads ---

static void hear_message(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *context)
{
    (void)nc, (void)sub;
    queue_post(context, letter_of(LETTER_SAID, m));
    natsMsg_Destroy(m);
}

static void hear_result(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *context)
{
    (void)nc, (void)sub;
    queue_post(context, letter_of_stream(context, m));
}

static void hear_refusal(jsCtx *js, jsPubAckErr *why, void *context)
{
    (void)js;
    const char *text = why->ErrText && *why->ErrText ? why->ErrText : natsStatus_GetText(why->Err);
    queue_post(context, letter_make(LETTER_REFUSED, natsMsg_GetSubject(why->Msg), text));
}

static void hear_reconnect(natsConnection *nc, void *context)
{
    (void)nc;
    queue_post(context, letter_make(LETTER_UP, "", ""));
}

static void hear_end(natsConnection *nc, void *context)
{
    const char *text = "the connection was closed";
    natsConnection_GetLastError(nc, &text);
    queue_post(context, letter_make(LETTER_CLOSED, "", text));
}

// What we may not do will not be allowed later.
static void hear_error(natsConnection *nc, natsSubscription *sub, natsStatus s, void *context)
{
    struct queue *q = context;
    const char *text = "not permitted";
    (void)sub;
    if (s != NATS_NOT_PERMITTED)
        return;
    natsConnection_GetLastError(nc, &text);
    pthread_mutex_lock(&q->mutex);
    snprintf(q->forbidden, sizeof q->forbidden, "%s", text);
    pthread_mutex_unlock(&q->mutex);
    hear_end(nc, context);
}

// --- the connection ---

static bool set_options(natsOptions *n, const struct queue_options *o, struct queue *q,
                        struct err *e)
{
    int64_t ping_ms = (int64_t)(o->patience_s * 1000 / 3);
    natsStatus s = natsOptions_SetURL(n, o->url);
    if (s != NATS_OK)
        return queue_fail(q, e, o->url, s);
    natsOptions_SetName(n, o->name);
    natsOptions_SetTimeout(n, WAIT_MS);
    natsOptions_SetPingInterval(n, ping_ms > 0 ? ping_ms : 1);
    natsOptions_SetMaxReconnect(n, -1);
    natsOptions_SetReconnectWait(n, RECONNECT_MS);
    natsOptions_SetErrorHandler(n, hear_error, q);
    natsOptions_SetReconnectedCB(n, hear_reconnect, q);
    natsOptions_SetClosedCB(n, hear_end, q);
    if (o->credentials &&
        (s = natsOptions_SetUserCredentialsFromFiles(n, o->credentials, NULL)) != NATS_OK)
        return queue_fail(q, e, o->credentials, s);
    if (str_starts(o->url, "tls://") && (s = natsOptions_SetSecure(n, true)) != NATS_OK)
        return queue_fail(q, e, o->url, s);
    if (o->ca && (s = natsOptions_LoadCATrustedCertificates(n, o->ca)) != NATS_OK)
        return queue_fail(q, e, o->ca, s);
    return true;
}

static bool connect_to(struct queue *q, const struct queue_options *o, struct err *e)
{
    natsOptions *n = NULL;
    natsStatus s = natsOptions_Create(&n);
    bool ok = s == NATS_OK ? set_options(n, o, q, e) : queue_fail(q, e, o->url, s);
    if (ok && (s = natsConnection_Connect(&q->connection, n)) != NATS_OK)
        ok = queue_fail(q, e, "the pool's server cannot be used", s);
    natsOptions_Destroy(n);
    return ok;
}

static bool use_streams(struct queue *q, struct err *e)
{
    jsOptions js;
    jsOptions_Init(&js);
    js.Wait = WAIT_MS;
    js.PublishAsync.ErrHandler = hear_refusal;
    js.PublishAsync.ErrHandlerClosure = q;
    natsStatus s = natsConnection_JetStream(&q->js, q->connection, &js);
    return s == NATS_OK || queue_fail(q, e, "the pool's server", s);
}

static bool check_file(const char *path, struct err *e)
{
    return !path || access(path, R_OK) == 0 || err_set(e, "%s: %s", path, strerror(errno));
}

struct queue *queue_open(const struct queue_options *o, struct err *e)
{
    struct queue *q = mem_zero(1, sizeof *q);
    q->patience_s = o->patience_s;
    q->wake[0] = q->wake[1] = -1;
    pthread_mutex_init(&q->mutex, NULL);
    bool ok = check_file(o->credentials, e) && check_file(o->ca, e);
    if (ok && pipe(q->wake) != 0)
        ok = err_set(e, "no pipe: %s", strerror(errno));
    for (int i = 0; ok && i < 2; i++)
        fcntl(q->wake[i], F_SETFL, O_NONBLOCK);
    for (int i = 0; ok && i < 2; i++)
        fcntl(q->wake[i], F_SETFD, FD_CLOEXEC);
    if (ok && connect_to(q, o, e) && use_streams(q, e))
        return q;
    queue_close(q);
    return NULL;
}

void queue_close(struct queue *q)
{
    if (!q)
        return;
    natsSubscription_Destroy(q->results);
    for (int i = 0; i < q->heard_count; i++)
        natsSubscription_Destroy(q->heard[i]);
    if (q->connection)
        natsConnection_FlushTimeout(q->connection, WAIT_MS);
    jsCtx_Destroy(q->js);
    natsConnection_Destroy(q->connection);
    nats_CloseAndWait(WAIT_MS); // no thread of it is left to post
    struct letter *l;
    while ((l = q->wake[0] >= 0 ? queue_next(q) : NULL))
        letter_free(l);
    for (int i = 0; i < 2; i++)
        if (q->wake[i] >= 0)
            close(q->wake[i]);
    pthread_mutex_destroy(&q->mutex);
    free(q);
}

size_t queue_most_bytes(const struct queue *q)
{
    int64_t most = natsConnection_GetMaxPayload(q->connection);
    return most > QUEUE_HEADERS ? (size_t)most - QUEUE_HEADERS : 0;
}

bool queue_hear(struct queue *q, const char *subject, struct err *e)
{
    natsStatus s = q->heard_count < QUEUE_MOST_HEARD ? NATS_OK : NATS_NO_MEMORY;
    if (s == NATS_OK)
        s = natsConnection_Subscribe(&q->heard[q->heard_count], q->connection, subject,
                                     hear_message, q);
    q->heard_count += s == NATS_OK;
    return s == NATS_OK || queue_fail(q, e, subject, s);
}

void queue_say(struct queue *q, const char *subject, const char *text)
{
    natsConnection_PublishString(q->connection, subject, text);
}

// --- streams ---

bool queue_put(struct queue *q, const char *subject, const char *id, const char *text,
               struct err *e)
{
    jsPubOptions o;
    jsPubOptions_Init(&o);
    o.MsgId = id;
    natsStatus s = js_Publish(NULL, q->js, subject, text, (int)strlen(text), &o, NULL);
    return s == NATS_OK || queue_fail(q, e, "the pool's server does not keep it", s);
}

// Where it cannot even be sent, it is put again once the connection is back.
void queue_put_soon(struct queue *q, const char *subject, const char *id, const char *text)
{
    jsPubOptions o;
    jsPubOptions_Init(&o);
    o.MsgId = id;
    natsStatus s = js_PublishAsync(q->js, subject, text, (int)strlen(text), &o);
    if (s != NATS_OK && natsConnection_Status(q->connection) == NATS_CONN_STATUS_CONNECTED)
        queue_post(q, letter_make(LETTER_REFUSED, subject, natsStatus_GetText(s)));
}

bool queue_get(struct queue *q, const char *run, char **text)
{
    natsMsg *m = NULL;
    char subject[QUEUE_ID + 16];
    snprintf(subject, sizeof subject, "tw.run.%s", run);
    natsStatus s = js_GetLastMsg(&m, q->js, "TWRUNS", subject, NULL, NULL);
    *text = NULL;
    if (s != NATS_OK)
        return s == NATS_NOT_FOUND;
    struct letter *l = letter_of(LETTER_SAID, m);
    *text = l->text;
    l->text = NULL;
    letter_free(l);
    natsMsg_Destroy(m);
    return true;
}

static bool make_stream(struct queue *q, int i, struct err *e)
{
    jsStreamConfig c;
    jsErrCode code = 0;
    const char *subjects = STREAMS[i].subjects;
    jsStreamConfig_Init(&c);
    c.Name = STREAMS[i].name;
    c.Subjects = &subjects;
    c.SubjectsLen = 1;
    c.Retention = STREAMS[i].retention;
    c.Storage = js_FileStorage;
    c.Discard = js_DiscardNew;
    c.MaxAge = STREAMS[i].most_age_ns;
    c.MaxMsgsPerSubject = STREAMS[i].most_of_subject;
    if (STREAMS[i].most_of_subject > 0)
        c.Discard = js_DiscardOld;
    c.Duplicates = 600 * S_NS;
    natsStatus s = js_AddStream(NULL, q->js, &c, NULL, &code);
    return s == NATS_OK || code == JSStreamNameExistErr || queue_fail(q, e, STREAMS[i].name, s);
}

bool queue_make(struct queue *q, const char *class, struct err *e)
{
    for (int i = 0; i < STREAM_COUNT; i++)
        if (!make_stream(q, i, e))
            return false;
    jsConsumerConfig c;
    char filter[QUEUE_ID];
    snprintf(filter, sizeof filter, "tw.job.%s.>", class);
    jsConsumerConfig_Init(&c);
    c.Durable = class;
    c.FilterSubject = filter;
    c.AckPolicy = js_AckExplicit;
    c.AckWait = (int64_t)(q->patience_s * 1e9);
    c.MaxDeliver = -1; // workers count: letter.deliveries
    c.MaxAckPending = -1;
    c.MaxWaiting = MOST_WAITING;
    natsStatus s = js_AddConsumer(NULL, q->js, "TWJOBS", &c, NULL, NULL);
    return s == NATS_OK || queue_fail(q, e, "TWJOBS", s);
}

bool queue_take_results(struct queue *q, const char *run, struct err *e)
{
    jsSubOptions o;
    char filter[QUEUE_ID];
    jsConsumerInfo *info = NULL;
    bool has =
        q->results && natsSubscription_GetConsumerInfo(&info, q->results, NULL, NULL) == NATS_OK;
    jsConsumerInfo_Destroy(info);
    if (has)
        return true;
    natsSubscription_Destroy(q->results);
    q->results = NULL;
    snprintf(filter, sizeof filter, "tw.result.%s.>", run);
    jsSubOptions_Init(&o);
    o.Stream = "TWRESULTS";
    o.ManualAck = true;
    o.Config.Durable = run;
    o.Config.AckPolicy = js_AckExplicit;
    o.Config.AckWait = (int64_t)(q->patience_s * 1e9);
    o.Config.MaxAckPending = -1;
    o.Config.InactiveThreshold = 3600 * S_NS;
    natsStatus s = js_Subscribe(&q->results, q->js, filter, hear_result, q, NULL, &o, NULL);
    return s == NATS_OK || queue_fail(q, e, "TWRESULTS", s);
}

static void purge(struct queue *q, const char *stream, const char *subject)
{
    jsOptions o;
    jsOptions_Init(&o);
    o.Wait = 1000;
    o.Stream.Purge.Subject = subject;
    js_PurgeStream(q->js, stream, &o, NULL);
}

void queue_forget(struct queue *q, const char *run)
{
    char subject[QUEUE_ID + 16];
    snprintf(subject, sizeof subject, "tw.run.%s", run);
    purge(q, "TWRUNS", subject);
    snprintf(subject, sizeof subject, "tw.over.%s", run);
    queue_say(q, subject, "");
    natsSubscription_Destroy(q->results);
    q->results = NULL;
    snprintf(subject, sizeof subject, "tw.result.%s.>", run);
    purge(q, "TWRESULTS", subject);
}
