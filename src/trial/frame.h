// Messages over a stream socket, or a pair of pipes (whose writer ignores SIGPIPE): four bytes of
// length (big-endian), then that many bytes of JSON.
//
// The pool's end never blocks (its descriptor is non-blocking): link_queue, link_flush when the
// socket takes bytes, link_fill when it has some, link_next until it gives LINK_NONE. The worker's
// end blocks: wire_send, wire_receive.
//
// The other side is not trusted: a length of 0 or above the cap, or an end in the middle of a
// frame, is LINK_GARBAGE, and after that (or LINK_CLOSED) a link cannot be used any more.
#ifndef TILEWALK_TRIAL_FRAME_H
#define TILEWALK_TRIAL_FRAME_H

#include "base/str.h"
#include "trial/fault.h"
#include "trial/message.h"

#define FRAME_MAX_BYTES (32u << 20)

enum link_status {
    LINK_FRAME,   // a whole frame is there
    LINK_NONE,    // nothing more for now
    LINK_CLOSED,  // the other side has closed, between two frames
    LINK_GARBAGE, // the bytes are no frame
};

struct link {
    int fd;         // not owned
    int out_fd;     // the same, except for a pair (stdin and stdout)
    size_t cap;     // longest frame that is accepted
    bool closed;    // nothing more will come
    struct str in;  // bytes received, not yet taken
    struct str out; // bytes to send
    size_t sent;    // of `out`
};

void link_init(struct link *l, int fd, size_t cap);
void link_finish(struct link *l);

bool link_queue(struct link *l, const char *text); // false: longer than FRAME_MAX_BYTES
bool link_flush(struct link *l);                   // false: the other side is gone
bool link_has_output(const struct link *l);
void link_fill(struct link *l); // reads the bytes that are there, at most a few MiB at once
enum link_status link_next(struct link *l, char **text); // the text is the caller's

// A worker's end of the connection to its pool, and the faults that are injected there.

struct wire {
    struct link link;
    struct fault_plan plan;
};

// These functions end the process when the pool has gone.
void wire_receive(struct wire *w, struct message *m); // the message is the caller's to finish
bool wire_has(const struct wire *w);                  // a message has come, or the pool has gone
void wire_expect(struct wire *w, enum message_type type);
void wire_send(struct wire *w, char *text); // frees the text

// Announces a phase and then fails as the plan has it. Returns FAULT_NONE, or a fault that is the
// caller's part.
enum fault_kind wire_enter(struct wire *w, enum trial_phase phase, int candidate, int64_t number);

#endif
