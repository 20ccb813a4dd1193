// Shared by the files of the model alone.
//
//   model.c       the connection, the list of sessions, marks, polling; a trial from its row
//   model_open.c  the session that is open, and its trials by ask, number, rank and configuration,
//                 or all of them in a walk
#ifndef TILEWALK_UI_MODEL_INSIDE_H
#define TILEWALK_UI_MODEL_INSIDE_H

#include "model.h"

// Reads all of a session for the first time. `o` is all zero before, and again after a failure.
bool opened_load(struct opened *o, struct store *s, int64_t id, double unix_now, struct err *e);
// Reads what is new. False when the session is gone or cannot be read.
bool opened_refresh(struct opened *o, struct store *s, double unix_now, struct err *e);
// Looks which process runs the session: a run that was killed leaves no trace in the database.
// True when that has changed.
bool opened_look(struct opened *o, struct store *s, double unix_now);
// Lets lists see the newest trials when it is time. True when they see more.
bool opened_follow(struct opened *o, double unix_now);
void opened_finish(struct opened *o);
double opened_rate(const struct opened *o, double ran_seconds);

// Takes the steps after the last one that is there.
bool curve_extend(struct curve *c, struct store *s, int64_t session, struct err *e);

// Makes a trial of its row. The result of a race is in another table, see trial_read_race.
void trial_decode(const struct opened *o, const struct trial_record *r, struct trial *out);
bool trial_read_race(struct store *s, int64_t session, struct trial *t);

struct trial_cache *cache_create(void);
void cache_destroy(struct trial_cache *c);
void cache_clear(struct trial_cache *c);
void cache_drop_open(struct trial_cache *c); // trials in flight may have finished

#endif
