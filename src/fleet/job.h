// The messages and subjects of a trial in a pool, for both of its ends.
#ifndef TILEWALK_FLEET_JOB_H
#define TILEWALK_FLEET_JOB_H

#include "trial/message.h"

// The number of candidates in a TRIAL, or in a RESULT that a synthetic device is to play.
int job_candidates(const struct message *m);

// Creates a RESULT in which all candidates of a trial have the same outcome. Heap.
char *job_settled(int64_t number, int candidates, bool only_compiles, enum outcome o,
                  enum trial_phase phase, const char *reason);

// Reads the last two words of a subject ("tw.job.CLASS.RUN.NUMBER"). `run` has room for QUEUE_ID
// bytes. False: they are not there, or the run is not a hexadecimal number.
bool job_subject(const char *subject, char *run, int64_t *number);

#endif
