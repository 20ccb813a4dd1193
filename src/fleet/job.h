// A trial on its way through a pool, as both of its ends see it.
#ifndef TILEWALK_FLEET_JOB_H
#define TILEWALK_FLEET_JOB_H

#include "trial/message.h"

// How many candidates a TRIAL has, or what a RESULT that is to be acted out says.
int job_candidates(const struct message *m);
bool job_only_compiles(const struct message *m);

// A RESULT in which all candidates of a trial have come to the same end. Heap.
char *job_settled(int64_t number, int candidates, bool only_compiles, enum outcome o,
                  enum trial_phase phase, const char *reason);

// The last two words of a subject ("tw.job.CLASS.RUN.NUMBER"). False: it has not such ones. `run`
// is of letters and digits, and has room for QUEUE_ID.
bool job_subject(const char *subject, char *run, int64_t *number);

#endif
