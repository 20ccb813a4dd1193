// A connection to the server of a pool: NATS with JetStream, whose words these are. What others say
// comes as letters, one after the other; threads of the client library are behind it, and none of
// ours sees them.
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

bool queue_hear(struct queue *q, const char *subject, struct err *e); // from now on
void queue_say(struct queue *q, const char *subject, const char *text);
bool queue_put(struct queue *q, const char *subject, const char *id, const char *text,
               struct err *e); // waits until it is kept
// The same without waiting: when it is not kept, a letter tells.
void queue_put_soon(struct queue *q, const char *subject, const char *id, const char *text);
// Of TWRUNS, heap; NULL: the run has ended. False: it is not known now.
bool queue_get(struct queue *q, const char *run, char **text);

// For runs. make: the streams and what takes from them, where they are not there yet.
bool queue_make(struct queue *q, const char *class, struct err *e);
bool queue_take_results(struct queue *q, const char *run, struct err *e); // KEPT, all that come
// All of a run but its jobs, which workers drop: 2.9.10 of the server skips jobs of other runs when
// those of one are purged.
void queue_forget(struct queue *q, const char *run);

// For workers: takes jobs of a class (KEPT), one for each place that it was given, as soon as runs
// have made what they are taken from. stop: no more, but what is on the way.
struct puller;
struct puller *queue_pull(struct queue *q, const char *class, int places);
void puller_give_place(struct puller *p);
void puller_stop(struct puller *p); // waits for its end; fine with NULL
void puller_free(struct puller *p);

void letter_done(struct letter *l);
void letter_extend(struct letter *l);
void letter_return(struct letter *l); // somebody else may have it, after a moment
void letter_free(struct letter *l);   // does nothing to the lease; fine with NULL

// Of workers of this version that have that device (gpu_identity; "": made-up trials), compiled for
// by `compiler`.
void queue_class(const char *device_id, const char *compiler, char out[QUEUE_ID]);

#endif
