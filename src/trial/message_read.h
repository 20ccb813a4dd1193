// Reading the members of a message, for message_read.c and message_job.c. A reader notes the first
// thing that is missing or implausible and gives zeros from then on, so that its callers read
// straight down.
#ifndef TILEWALK_TRIAL_MESSAGE_READ_H
#define TILEWALK_TRIAL_MESSAGE_READ_H

#include "base/json_read.h"
#include "kernel/job.h"
#include "space/operation.h"
#include "trial/trial.h"

struct reader {
    const char *bad;    // NULL so far
    struct arena arena; // of texts, until the message is read
};

void reader_refuse(struct reader *r, const char *name);
struct json reader_member(struct reader *r, struct json o, const char *name, enum json_type type);
struct json_walk reader_list(struct reader *r, struct json o, const char *name);
double reader_number(struct reader *r, struct json o, const char *name, double low, double high);
uint64_t reader_count(struct reader *r, struct json o, const char *name);
int64_t reader_i64(struct reader *r, struct json o, const char *name);
uint32_t reader_u32(struct reader *r, struct json o, const char *name);
bool reader_bool(struct reader *r, struct json o, const char *name);
const char *reader_text(struct reader *r, struct json o, const char *name);
// An array of numbers within `bounds`, ends included. Returns how many there are, at most `most`.
struct bounds {
    double low, high;
};
int reader_array(struct reader *r, struct json o, const char *name, int most, struct bounds bounds,
                 double *out);
// The same for numbers of 8 bits.
int reader_small(struct reader *r, struct json o, const char *name, int most, uint8_t *out);
void reader_three(struct reader *r, struct json o, const char *name, uint32_t out[3]);
enum trial_phase reader_phase(struct reader *r, struct json o);
// An operation among the members of `o`; one of a space file is in `custom` too, the caller's.
struct custom_operation;
void reader_operation(struct reader *r, struct json o, struct operation *out,
                      struct custom_operation **custom);
// What message_add_job wrote; the caller's (job_finish), also where the reader finds it bad.
void reader_job(struct reader *r, struct json o, struct job *out);

#endif
