// A worker's end of the conversation with its pool, and the faults that it is told to act out.
#ifndef TILEWALK_TRIAL_WIRE_H
#define TILEWALK_TRIAL_WIRE_H

#include "trial/fault.h"
#include "trial/frame.h"
#include "trial/message.h"

struct wire {
    struct link link;
    struct fault_plan plan;
};

// They end the process when the pool has gone: there is nobody left to work for.
void wire_receive(struct wire *w, struct message *m); // the message is the caller's to finish
bool wire_has(const struct wire *w);                  // something has come, or the pool has gone
void wire_expect(struct wire *w, enum message_type type);
void wire_send(struct wire *w, char *text); // frees the text

// Announces a phase and then does what the plan has for it. Returns FAULT_NONE, FAULT_WRONG or
// FAULT_LOST.
enum fault_kind wire_enter(struct wire *w, enum trial_phase phase, int candidate, int64_t number);

#endif
