// A connection to the server of a pool: NATS with JetStream, whose terms (subject, stream,
// consumer) are used here. Everything that arrives is a message in one list. Threads of the client
// library fill the list; all functions below belong to the thread that opened the queue.
//
//     struct queue *q = queue_open(&options, e);
//     loop: poll() on queue_fd; while ((m = queue_next(q))) { ...; queue_message_free(m); }
//     queue_close(q);
//
// The server gives a worker and a run rights to different subjects (docs/guide/fleet.md):
//
//     tw.job.CLASS.RUN.NUMBER    stream TWJOBS: trials to be measured, once each. CLASS names the
//                                workers that can do them: queue_class
//     tw.result.RUN.NUMBER       stream TWRESULTS: the results of these trials
//     tw.run.RUN                 stream TWRUNS: what a run computes; the last one of each counts
//     tw.here.MACHINE            a worker announces itself
//     tw.who                     all workers are asked to announce themselves
//     tw.leave.MACHINE           a worker is asked to leave; the text is the reason
//     tw.over.RUN                a run has ended
//
// The id of a trial begins with a secret, which nobody learns but the worker that takes the trial:
// it comes to that worker's own inbox, and users may listen to no other inbox than their own. The
// worker puts the result under the same id, so that a run believes no one else's.
//
// The server delivers AT LEAST once. A message that is put has an id: the same id within ten
// minutes is stored once. A message of a stream is leased: it is delivered again, to anyone, unless
// it is acknowledged or its lease is extended within `patience_s`.
#ifndef TILEWALK_FLEET_QUEUE_H
#define TILEWALK_FLEET_QUEUE_H

#include "base/err.h"
#include "trial/message.h"

#include <stdbool.h>
#include <stddef.h>

#define QUEUE_ID     80 // bytes of a subject's name, with the NUL
#define QUEUE_SECRET 32 // characters that the id of a trial begins with

struct queue;

struct queue_options {
    const char *url;         // "nats://HOST[:PORT]" or "tls://HOST[:PORT]"
    const char *credentials; // a file of the user's, as nsc writes it; NULL: none
    const char *ca;          // a file of certificates to trust; NULL: the system's
    const char *name;        // our name in the server's list of connections
    double patience_s;
};

enum queue_message_kind {
    QUEUE_BROADCAST,   // published to all who are connected now
    QUEUE_LEASED,      // from a stream
    QUEUE_REFUSED,     // `text`: why the server does not store what was put at `subject`
    QUEUE_RECONNECTED, // perhaps to a server that has lost something
    QUEUE_CLOSED       // `text`: why the connection has ended for good
};

struct queue_message {
    enum queue_message_kind kind;
    char *subject, *text;       // heap; binary data becomes ""
    char id[2 * QUEUE_ID];      // LEASED: as its sender chose it; "": it has none
    int deliveries;             // LEASED: this one included
    char *lease;                // LEASED: heap, the subject by which the lease is answered
    struct queue *queue;        // LEASED: inside
    struct queue_message *next; // inside
};

// NULL: the server cannot be reached, or refuses us.
struct queue *queue_open(const struct queue_options *o, struct err *e);
void queue_close(struct queue *q); // fine with NULL
int queue_fd(const struct queue *q);
struct queue_message *queue_next(struct queue *q); // the caller's; NULL: none is there
size_t queue_most_bytes(const struct queue *q);    // of a message

// Messages on this subject arrive from now on as QUEUE_BROADCAST.
bool queue_subscribe(struct queue *q, const char *subject, struct err *e);
// Publishes to all who are connected now; nothing is stored.
void queue_publish(struct queue *q, const char *subject, const char *text);
// Puts a message into the stream of its subject, and waits until the server has stored it.
bool queue_put(struct queue *q, const char *subject, const char *id, const char *text,
               struct err *e);
// The same without waiting: where the server does not store it, a QUEUE_REFUSED arrives.
void queue_put_async(struct queue *q, const char *subject, const char *id, const char *text);
// Gives the entry of a run in stream TWRUNS, on the heap; `*text` NULL: the run has ended. False:
// the server did not answer.
bool queue_get_run(struct queue *q, const char *run, char **text);

// For runs. queue_create_streams creates the streams and the consumer of a class where they do not
// exist yet. queue_subscribe_results lets the run's results arrive as QUEUE_LEASED, also earlier
// ones.
bool queue_create_streams(struct queue *q, const char *class, struct err *e);
bool queue_subscribe_results(struct queue *q, const char *run, struct err *e);
// Purges everything that the server has of a run except its jobs, which workers drop one by one:
// version 2.9.10 of the server skips jobs of other runs when those of one run are purged.
void queue_purge_run(struct queue *q, const char *run);

// For workers: a puller lets jobs of a class arrive as QUEUE_LEASED, one for each free place, as
// soon as a run has created the stream. After puller_stop only those arrive that were on the way.
struct puller;
struct puller *puller_start(struct queue *q, const char *class, int places);
void puller_add_place(struct puller *p);
void puller_stop(struct puller *p); // waits for its end; fine with NULL
void puller_free(struct puller *p);

// Answers the lease of a message: QUEUE_DONE, the server forgets it; QUEUE_EXTEND, the lease begins
// anew; QUEUE_RETURN, after a moment somebody else gets it.
enum queue_answer { QUEUE_DONE, QUEUE_EXTEND, QUEUE_RETURN };
void queue_message_answer(struct queue_message *m, enum queue_answer answer);
void queue_message_free(struct queue_message *m); // the lease stays as it is; fine with NULL

// The class of jobs for workers of this protocol with the device of this identity (gpu_identity;
// "": trials of a synthetic device) whose kernels `compiler` compiles.
void queue_class(const char *device_id, const char *compiler, char out[QUEUE_ID]);

// --- the messages and subjects of trials, for both ends of a pool (job.c) ---

// The number of candidates in a TRIAL, or in a RESULT that a synthetic device is to play.
int job_candidates(const struct message *m);

// Creates a RESULT in which all candidates of a trial have the same outcome. Heap.
char *job_settled(int64_t number, int candidates, bool only_compiles, enum outcome o,
                  enum trial_phase phase, const char *reason);

// Reads the last two words of a subject ("tw.job.CLASS.RUN.NUMBER"). `run` has room for QUEUE_ID
// bytes. False: they are not there, or the run is not a hexadecimal number.
bool job_subject(const char *subject, char *run, int64_t *number);

#endif
