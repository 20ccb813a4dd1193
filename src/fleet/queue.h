// A connection to the server of a pool: NATS with JetStream, whose terms (subject, stream) are used
// here. Whatever arrives becomes a letter in one list. Threads of the client library fill the list;
// all functions below belong to the thread that opened the queue.
//
//     struct queue *q = queue_open(&options, e);
//     loop: poll() on queue_fd; while ((l = queue_next(q))) { ...; letter_free(l); }
//     queue_close(q);
//
// The subjects, of which the server gives a worker and a run different ones (docs/fleet.md):
//
//     tw.job.CLASS.RUN.NUMBER    stream TWJOBS: trials to be measured, once each. CLASS says which
//                                workers can: queue_class
//     tw.result.RUN.NUMBER       stream TWRESULTS: what came of them
//     tw.run.RUN                 stream TWRUNS: what a run computes; the last one of each counts
//     tw.here.MACHINE            a worker says that it is there
//     tw.who                     those that are there are asked to say so
//     tw.leave.MACHINE           a worker is asked to leave; why
//     tw.over.RUN                a run has ended
//
// The server delivers AT LEAST once. What is put has an id: the same one within ten minutes is kept
// once. What is taken is leased: it comes again, to anyone, unless it is done or its lease is
// extended within `patience_s`.
#ifndef TILEWALK_FLEET_QUEUE_H
#define TILEWALK_FLEET_QUEUE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define QUEUE_ID 80 // bytes of an id or a subject's name, with the NUL

struct queue;

struct queue_options {
    const char *url;         // "nats://HOST[:PORT]" or "tls://HOST[:PORT]"
    const char *credentials; // a file of the user's, as nsc writes it; NULL: none
    const char *ca;          // a file of certificates to trust; NULL: the system's
    const char *name;        // ours, for who looks at the server
    double patience_s;
};

enum letter_kind {
    LETTER_SAID,    // to all who are there now
    LETTER_KEPT,    // of a stream: leased
    LETTER_REFUSED, // `text`: why what was put at `subject` is not kept
    LETTER_UP,      // connected again, perhaps to a server that has lost something
    LETTER_CLOSED   // `text`: why, for good
};

struct letter {
    enum letter_kind kind;
    char *subject, *text; // heap; what is no text is ""
    char id[QUEUE_ID];    // KEPT: of who put it
    int deliveries;       // KEPT: this one included
    char *lease;          // KEPT: heap, the subject by which the server hears of it
    struct queue *queue;  // KEPT: inside
    struct letter *next;  // inside
};

// Whether this program can use pools at all; else queue_open says so.
bool queue_is_built(void);

// NULL: it cannot be reached, or refuses us.
struct queue *queue_open(const struct queue_options *o, struct err *e);
void queue_close(struct queue *q); // fine with NULL
int queue_fd(const struct queue *q);
struct letter *queue_next(struct queue *q);     // the caller's; NULL: none is there
size_t queue_most_bytes(const struct queue *q); // of a message

// Subscribes: what is said on this subject from now on comes as LETTER_SAID.
bool queue_hear(struct queue *q, const char *subject, struct err *e);
// Publishes to all who are there now; nobody keeps it.
void queue_say(struct queue *q, const char *subject, const char *text);
// Puts a message into the stream of its subject, and waits until the server has kept it.
bool queue_put(struct queue *q, const char *subject, const char *id, const char *text,
               struct err *e);
// The same without waiting: where the server does not keep it, a LETTER_REFUSED says so.
void queue_put_soon(struct queue *q, const char *subject, const char *id, const char *text);
// What stream TWRUNS has of a run, on the heap; `*text` NULL: the run has ended. False: the server
// did not answer.
bool queue_get(struct queue *q, const char *run, char **text);

// For runs. queue_make makes the streams and the consumers of a class, where they are not there
// yet; queue_take_results lets the run's results arrive as LETTER_KEPT, also those of earlier.
bool queue_make(struct queue *q, const char *class, struct err *e);
bool queue_take_results(struct queue *q, const char *run, struct err *e);
// Purges what the server has of a run, except its jobs, which workers drop one by one: version
// 2.9.10 of the server skips jobs of other runs when those of one run are purged.
void queue_forget(struct queue *q, const char *run);

// For workers: a puller lets jobs of a class arrive as LETTER_KEPT, one for each place that it was
// given, as soon as a run has made the stream. After puller_stop only those come that were on the
// way.
struct puller;
struct puller *queue_pull(struct queue *q, const char *class, int places);
void puller_give_place(struct puller *p);
void puller_stop(struct puller *p); // waits for its end; fine with NULL
void puller_free(struct puller *p);

// Of a letter that is leased: it is dealt with, and the server forgets it; the lease begins anew;
// somebody else may have it, after a moment. letter_free frees it and leaves the lease as it is;
// it is fine with NULL.
void letter_done(struct letter *l);
void letter_extend(struct letter *l);
void letter_return(struct letter *l);
void letter_free(struct letter *l);

// The class of jobs that workers of this version can do that have the device of this identity
// (gpu_identity; "": made-up trials) and whose kernels `compiler` makes.
void queue_class(const char *device_id, const char *compiler, char out[QUEUE_ID]);

#endif
