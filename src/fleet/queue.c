#include "fleet/queue.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "trial/message.h"

#include <nats/nats.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define S_NS ((int64_t)1000000000)
enum {
    WAIT_MS = 5000,
    RECONNECT_MS = 250,
    FETCH_MS = 1000, // one fetch of a puller
    AGAIN_MS = 300,  // between two tries of a puller without a consumer
    MOST_WAITING = 4096,
    MOST_SUBSCRIPTIONS = 8,
    HEADER_BYTES = 1024,
    CLASS_DIGITS = 16
};

struct queue {
    natsConnection *connection;
    jsCtx *js;
    natsSubscription *subscription[MOST_SUBSCRIPTIONS], *results;
    int subscriptions;
    double patience_s;
    char forbidden[200];   // what the server does not permit; under the mutex
    pthread_mutex_t mutex; // of the messages, which threads of the library post
    struct queue_message *first, *last;
    int wake[2]; // a pipe: something was posted
};

void queue_class(const char *device_id, const char *compiler, char out[QUEUE_ID])
{
    char text[200];
    snprintf(text, sizeof text, "%d %s %s", PROTOCOL, device_id, *device_id ? compiler : "");
    snprintf(out, CLASS_DIGITS + 1, "%016" PRIx64, hash_bytes(text, strlen(text)));
}

// Fills `e` with the library's own text where it has one; returns false.
static bool fail(struct queue *q, struct err *e, const char *what, natsStatus s)
{
    natsStatus last;
    const char *text = nats_GetLastError(&last), *end = text ? strstr(text, "): ") : NULL;
    if (end && text[0] == '(') // the place in the library's source
        text = end + strlen("): ");
    pthread_mutex_lock(&q->mutex);
    bool forbidden = q->forbidden[0];
    if (forbidden)
        err_set(e, "%s: %s", what, q->forbidden);
    pthread_mutex_unlock(&q->mutex);
    text = text && *text ? text : natsStatus_GetText(s);
    return !forbidden && err_set(e, "%s: %.*s", what, (int)strcspn(text, "\n"), text);
}

// --- messages ---

static struct queue_message *create_message(enum queue_message_kind kind, const char *subject,
                                            const char *text, size_t length)
{
    struct queue_message *m = mem_zero(1, sizeof *m);
    m->kind = kind;
    m->subject = mem_strdup(subject);
    m->text = mem_alloc(length + 1);
    memcpy(m->text, length ? text : "", length);
    m->text[length] = '\0';
    if (strlen(m->text) != length)
        m->text[0] = '\0';
    return m;
}

// Puts a message at the end of the list, from any thread.
static void post(struct queue *q, struct queue_message *m)
{
    pthread_mutex_lock(&q->mutex);
    if (q->last)
        q->last->next = m;
    else
        q->first = m;
    q->last = m;
    pthread_mutex_unlock(&q->mutex);
    while (write(q->wake[1], "", 1) < 0 && errno == EINTR)
        continue; // a full pipe wakes as well
}

static void post_text(struct queue *q, enum queue_message_kind kind, const char *subject,
                      const char *text)
{
    post(q, create_message(kind, subject, text, strlen(text)));
}

// Posts a message of a stream, with its lease, and destroys the library's.
static void post_leased(struct queue *q, natsMsg *from)
{
    struct queue_message *m =
        create_message(QUEUE_LEASED, natsMsg_GetSubject(from), natsMsg_GetData(from),
                       (size_t)natsMsg_GetDataLength(from));
    const char *id = NULL;
    jsMsgMetaData *meta = NULL;
    if (natsMsgHeader_Get(from, "Nats-Msg-Id", &id) == NATS_OK)
        snprintf(m->id, sizeof m->id, "%s", id);
    if (natsMsg_GetMetaData(&meta, from) == NATS_OK)
        m->deliveries = meta->NumDelivered < 1000 ? (int)meta->NumDelivered : 1000;
    jsMsgMetaData_Destroy(meta);
    m->lease = mem_strdup(natsMsg_GetReply(from));
    m->queue = q;
    natsMsg_Destroy(from);
    post(q, m);
}

struct queue_message *queue_next(struct queue *q)
{
    char bytes[64];
    pthread_mutex_lock(&q->mutex);
    struct queue_message *m = q->first;
    if (m)
        q->first = m->next;
    if (!q->first)
        q->last = NULL;
    if (!m)
        while (read(q->wake[0], bytes, sizeof bytes) > 0)
            continue;
    pthread_mutex_unlock(&q->mutex);
    return m;
}

int queue_fd(const struct queue *q)
{
    return q->wake[0];
}

void queue_publish(struct queue *q, const char *subject, const char *text)
{
    natsConnection_PublishString(q->connection, subject, text);
}

// Answers a lease by its subject: the library's own functions need the subscription of the message,
// which may be gone by then.
void queue_message_answer(struct queue_message *m, enum queue_answer answer)
{
    static const char *const texts[] = {
        [QUEUE_DONE] = "+ACK",
        [QUEUE_EXTEND] = "+WPI",
        [QUEUE_RETURN] = "-NAK {\"delay\": 200000000}" // nanoseconds
    };
    queue_publish(m->queue, m->lease, texts[answer]);
}

void queue_message_free(struct queue_message *m)
{
    if (!m)
        return;
    free(m->lease);
    free(m->subject);
    free(m->text);
    free(m);
}

// --- callbacks, in the threads of the client library ---

static void queue_on_message(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *context)
{
    (void)nc, (void)sub;
    post(context, create_message(QUEUE_BROADCAST, natsMsg_GetSubject(m), natsMsg_GetData(m),
                                 (size_t)natsMsg_GetDataLength(m)));
    natsMsg_Destroy(m);
}

static void queue_on_result(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *context)
{
    (void)nc, (void)sub;
    post_leased(context, m);
}

static void queue_on_refusal(jsCtx *js, jsPubAckErr *why, void *context)
{
    (void)js;
    const char *text = why->ErrText && *why->ErrText ? why->ErrText : natsStatus_GetText(why->Err);
    post_text(context, QUEUE_REFUSED, natsMsg_GetSubject(why->Msg), text);
}

static void queue_on_reconnect(natsConnection *nc, void *context)
{
    (void)nc;
    post_text(context, QUEUE_RECONNECTED, "", "");
}

static void queue_on_end(natsConnection *nc, void *context)
{
    const char *text = "the connection was closed";
    natsConnection_GetLastError(nc, &text);
    post_text(context, QUEUE_CLOSED, "", text);
}

// Ends the connection where a right is missing, because the server will not grant it later.
static void queue_on_error(natsConnection *nc, natsSubscription *sub, natsStatus s, void *context)
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
    queue_on_end(nc, context);
}

// --- the connection ---

// Names the inbox by the user of the URL, or of the file of credentials ("USER.creds"), so that the
// server can keep others from it. A name that is no word of a subject stays out.
static void set_inbox(natsOptions *n, const struct queue_options *o)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *user = strstr(o->url, "://") + strlen("://");
    if (!strchr(user, '@'))
        user = o->credentials ? path_name(o->credentials) : "";
    int length = (int)strspn(user, word);
    char prefix[QUEUE_ID];
    snprintf(prefix, sizeof prefix, "_INBOX.%.*s", int_min(length, QUEUE_ID / 2), user);
    if (length && strchr(":@.", user[length]))
        natsOptions_SetCustomInboxPrefix(n, prefix);
}

static bool connect_to_server(struct queue *q, const struct queue_options *o, struct err *e)
{
    natsOptions *n = NULL;
    int64_t ping_ms = (int64_t)(o->patience_s * 1000 / 3);
    natsStatus s = natsOptions_Create(&n);
    const char *what = o->url;
    if (s == NATS_OK)
        s = natsOptions_SetURL(n, o->url);
    if (s == NATS_OK) {
        natsOptions_SetName(n, o->name);
        natsOptions_SetTimeout(n, WAIT_MS);
        natsOptions_SetPingInterval(n, ping_ms > 0 ? ping_ms : 1);
        natsOptions_SetMaxReconnect(n, -1);
        natsOptions_SetReconnectWait(n, RECONNECT_MS);
        natsOptions_SetErrorHandler(n, queue_on_error, q);
        natsOptions_SetReconnectedCB(n, queue_on_reconnect, q);
        natsOptions_SetClosedCB(n, queue_on_end, q);
        set_inbox(n, o);
    }
    if (s == NATS_OK && o->credentials &&
        (s = natsOptions_SetUserCredentialsFromFiles(n, o->credentials, NULL)) != NATS_OK)
        what = o->credentials;
    if (s == NATS_OK && str_starts(o->url, "tls://"))
        s = natsOptions_SetSecure(n, true);
    if (s == NATS_OK && o->ca && (s = natsOptions_LoadCATrustedCertificates(n, o->ca)) != NATS_OK)
        what = o->ca;
    if (s == NATS_OK && (s = natsConnection_Connect(&q->connection, n)) != NATS_OK)
        what = "the pool's server cannot be used";
    bool ok = s == NATS_OK || fail(q, e, what, s);
    natsOptions_Destroy(n);
    return ok;
}

struct queue *queue_open(const struct queue_options *o, struct err *e)
{
    const char *const files[] = {o->credentials, o->ca};
    struct queue *q = mem_zero(1, sizeof *q);
    bool ok = true;
    q->patience_s = o->patience_s;
    q->wake[0] = q->wake[1] = -1;
    pthread_mutex_init(&q->mutex, NULL);
    for (int i = 0; ok && i < 2; i++)
        ok = !files[i] || access(files[i], R_OK) == 0 ||
             err_set(e, "%s: %s", files[i], strerror(errno));
    if (ok && pipe(q->wake) != 0)
        ok = err_set(e, "no pipe: %s", strerror(errno));
    for (int i = 0; ok && i < 2; i++) {
        fcntl(q->wake[i], F_SETFL, O_NONBLOCK);
        fcntl(q->wake[i], F_SETFD, FD_CLOEXEC);
    }
    if (ok && connect_to_server(q, o, e)) {
        jsOptions js;
        jsOptions_Init(&js);
        js.Wait = WAIT_MS;
        js.PublishAsync.ErrHandler = queue_on_refusal;
        js.PublishAsync.ErrHandlerClosure = q;
        natsStatus s = natsConnection_JetStream(&q->js, q->connection, &js);
        if (s == NATS_OK || fail(q, e, "the pool's server", s))
            return q;
    }
    queue_close(q);
    return NULL;
}

void queue_close(struct queue *q)
{
    if (!q)
        return;
    natsSubscription_Destroy(q->results);
    for (int i = 0; i < q->subscriptions; i++)
        natsSubscription_Destroy(q->subscription[i]);
    if (q->connection)
        natsConnection_FlushTimeout(q->connection, WAIT_MS);
    jsCtx_Destroy(q->js);
    natsConnection_Destroy(q->connection);
    nats_CloseAndWait(WAIT_MS); // no thread of the library is left to post
    struct queue_message *m;
    while ((m = q->wake[0] >= 0 ? queue_next(q) : NULL))
        queue_message_free(m);
    for (int i = 0; i < 2; i++)
        if (q->wake[i] >= 0)
            close(q->wake[i]);
    pthread_mutex_destroy(&q->mutex);
    free(q);
}

size_t queue_most_bytes(const struct queue *q)
{
    int64_t most = natsConnection_GetMaxPayload(q->connection);
    return most > HEADER_BYTES ? (size_t)most - HEADER_BYTES : 0;
}

bool queue_subscribe(struct queue *q, const char *subject, struct err *e)
{
    natsStatus s = q->subscriptions < MOST_SUBSCRIPTIONS ? NATS_OK : NATS_NO_MEMORY;
    if (s == NATS_OK)
        s = natsConnection_Subscribe(&q->subscription[q->subscriptions], q->connection, subject,
                                     queue_on_message, q);
    q->subscriptions += s == NATS_OK;
    return s == NATS_OK || fail(q, e, subject, s);
}

// --- streams ---

bool queue_put(struct queue *q, const char *subject, const char *id, const char *text,
               struct err *e)
{
    jsPubOptions o;
    jsPubOptions_Init(&o);
    o.MsgId = id;
    natsStatus s = js_Publish(NULL, q->js, subject, text, (int)strlen(text), &o, NULL);
    return s == NATS_OK || fail(q, e, "the pool's server does not keep it", s);
}

// A message that cannot even be sent is put again once the connection is back.
void queue_put_async(struct queue *q, const char *subject, const char *id, const char *text)
{
    jsPubOptions o;
    jsPubOptions_Init(&o);
    o.MsgId = id;
    natsStatus s = js_PublishAsync(q->js, subject, text, (int)strlen(text), &o);
    if (s != NATS_OK && natsConnection_Status(q->connection) == NATS_CONN_STATUS_CONNECTED)
        post_text(q, QUEUE_REFUSED, subject, natsStatus_GetText(s));
}

bool queue_get_run(struct queue *q, const char *run, char **text)
{
    natsMsg *from = NULL;
    char subject[QUEUE_ID + 16];
    snprintf(subject, sizeof subject, "tw.run.%s", run);
    natsStatus s = js_GetLastMsg(&from, q->js, "TWRUNS", subject, NULL, NULL);
    *text = NULL;
    if (s != NATS_OK)
        return s == NATS_NOT_FOUND;
    struct queue_message *m =
        create_message(QUEUE_BROADCAST, natsMsg_GetSubject(from), natsMsg_GetData(from),
                       (size_t)natsMsg_GetDataLength(from));
    *text = m->text;
    m->text = NULL;
    queue_message_free(m);
    natsMsg_Destroy(from);
    return true;
}

bool queue_create_streams(struct queue *q, const char *class, struct err *e)
{
    static const struct {
        const char *name, *subjects;
        jsRetentionPolicy retention;
        int64_t most_age_ns, most_of_subject;
    } streams[] = {
        {"TWJOBS", "tw.job.>", js_WorkQueuePolicy, 3600 * S_NS, -1},
        {"TWRESULTS", "tw.result.>", js_WorkQueuePolicy, 3600 * S_NS, -1},
        {"TWRUNS", "tw.run.>", js_LimitsPolicy, 30 * 86400 * S_NS, 1},
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        jsStreamConfig c;
        jsErrCode code = 0;
        const char *subjects = streams[i].subjects;
        jsStreamConfig_Init(&c);
        c.Name = streams[i].name;
        c.Subjects = &subjects;
        c.SubjectsLen = 1;
        c.Retention = streams[i].retention;
        c.Storage = js_FileStorage;
        c.Discard = streams[i].most_of_subject > 0 ? js_DiscardOld : js_DiscardNew;
        c.MaxAge = streams[i].most_age_ns;
        c.MaxMsgsPerSubject = streams[i].most_of_subject;
        c.Duplicates = 600 * S_NS;
        natsStatus s = js_AddStream(NULL, q->js, &c, NULL, &code);
        if (s != NATS_OK && code != JSStreamNameExistErr)
            return fail(q, e, streams[i].name, s);
    }
    jsConsumerConfig c;
    char filter[QUEUE_ID];
    snprintf(filter, sizeof filter, "tw.job.%s.>", class);
    jsConsumerConfig_Init(&c);
    c.Durable = class;
    c.FilterSubject = filter;
    c.AckPolicy = js_AckExplicit;
    c.AckWait = (int64_t)(q->patience_s * 1e9);
    c.MaxDeliver = -1; // workers count: queue_message.deliveries
    c.MaxAckPending = -1;
    c.MaxWaiting = MOST_WAITING;
    natsStatus s = js_AddConsumer(NULL, q->js, "TWJOBS", &c, NULL, NULL);
    return s == NATS_OK || fail(q, e, "TWJOBS", s);
}

bool queue_subscribe_results(struct queue *q, const char *run, struct err *e)
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
    natsStatus s = js_Subscribe(&q->results, q->js, filter, queue_on_result, q, NULL, &o, NULL);
    return s == NATS_OK || fail(q, e, "TWRESULTS", s);
}

static void purge(struct queue *q, const char *stream, const char *subject)
{
    jsOptions o;
    jsOptions_Init(&o);
    o.Wait = 1000;
    o.Stream.Purge.Subject = subject;
    js_PurgeStream(q->js, stream, &o, NULL);
}

void queue_purge_run(struct queue *q, const char *run)
{
    char subject[QUEUE_ID + 16];
    snprintf(subject, sizeof subject, "tw.run.%s", run);
    purge(q, "TWRUNS", subject);
    snprintf(subject, sizeof subject, "tw.over.%s", run);
    queue_publish(q, subject, "");
    natsSubscription_Destroy(q->results);
    q->results = NULL;
    snprintf(subject, sizeof subject, "tw.result.%s.>", run);
    purge(q, "TWRESULTS", subject);
}

// --- pullers: a thread for each class of jobs, as the library only fetches while somebody waits
// ---

struct puller {
    struct queue *queue;
    char class[QUEUE_ID];
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int places;
    bool stops;
};

// Waits for a place, or where there is one for at least `ms`. False: the thread is to end.
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

static void *puller_run(void *context)
{
    struct puller *p = context;
    natsSubscription *sub = NULL; // NULL: there is no consumer yet
    for (int ms = 0; await_place(p, ms); ms = sub ? 0 : AGAIN_MS) {
        natsMsgList list = {0};
        if (!sub) {
            jsSubOptions o;
            char filter[QUEUE_ID + 16];
            snprintf(filter, sizeof filter, "tw.job.%s.>", p->class);
            jsSubOptions_Init(&o);
            o.Stream = "TWJOBS";
            o.Consumer = p->class;
            if (js_PullSubscribe(&sub, p->queue->js, filter, p->class, NULL, &o, NULL) != NATS_OK)
                continue;
        }
        natsStatus s = natsSubscription_Fetch(&list, sub, 1, FETCH_MS, NULL);
        if (s == NATS_OK && list.Count > 0) {
            pthread_mutex_lock(&p->mutex);
            p->places--;
            pthread_mutex_unlock(&p->mutex);
            post_leased(p->queue, list.Msgs[0]);
            list.Msgs[0] = NULL;
        } else if (s != NATS_TIMEOUT) { // the consumer, or the server, is not there any more
            natsSubscription_Destroy(sub);
            sub = NULL;
        }
        natsMsgList_Destroy(&list);
    }
    natsSubscription_Destroy(sub);
    nats_ReleaseThreadMemory();
    return NULL;
}

struct puller *puller_start(struct queue *q, const char *class, int places)
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
    if (pthread_create(&p->thread, NULL, puller_run, p) != 0)
        p->stops = true;
    return p;
}

void puller_add_place(struct puller *p)
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
