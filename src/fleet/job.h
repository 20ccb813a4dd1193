// A trial on its way through a pool, as both of its ends see it.
#ifndef TILEWALK_FLEET_JOB_H
#define TILEWALK_FLEET_JOB_H

#include "trial/message.h"

// How many candidates a TRIAL has, or a RESULT that a made-up device is to act out.
int job_candidates(const struct message *m);
bool job_only_compiles(const struct message *m);

// A RESULT in which all candidates of a trial have come to the same end. Heap.
char *job_settled(int64_t number, int candidates, bool only_compiles, enum outcome o,
                  enum trial_phase phase, const char *reason);

// Reads the last two words of a subject ("tw.job.CLASS.RUN.NUMBER"). `run` has room for QUEUE_ID
// bytes. False: they are not there, or the run has other characters than letters and digits.
bool job_subject(const char *subject, char *run, int64_t *number);

#endif
