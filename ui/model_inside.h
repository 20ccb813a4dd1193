// What the files of the model share, for them and scan.c alone.
//
//   model.c        the connection, the list of sessions, marks, polling
//   model_open.c   the session that is open: what is new in it
//   model_trial.c  a row of the database as a `struct trial`, and what can be said of one
//   model_cache.c  trials by ask, number, rank and configuration
#ifndef TILEWALK_UI_MODEL_INSIDE_H
#define TILEWALK_UI_MODEL_INSIDE_H

#include "model.h"

// Reads all of a session for the first time. `o` is all zero before, and again after a failure.
bool opened_load(struct opened *o, struct store *s, int64_t id, double unix_now, struct err *e);
// Reads what is new. False when the session is gone or cannot be read.
bool opened_refresh(struct opened *o, struct store *s, double unix_now, struct err *e);
// Looks who runs the session: a run that was killed says nothing in the database. True when that
// has changed.
bool opened_look(struct opened *o, struct store *s, double unix_now);
// Lets lists see the newest trials when it is time. True when they see more.
bool opened_follow(struct opened *o, double unix_now);
void opened_finish(struct opened *o);
double opened_rate(const struct opened *o, double ran_seconds);

// Takes the steps after the last one that is there.
bool curve_extend(struct curve *c, struct store *s, int64_t session, struct err *e);

// Makes a trial of its row. What a race said of it is in another table, see trial_read_race.
void trial_decode(const struct opened *o, const struct trial_record *r, struct trial *out);
bool trial_read_race(struct store *s, int64_t session, struct trial *t);

struct trial_cache *cache_create(void);
void cache_destroy(struct trial_cache *c);
void cache_clear(struct trial_cache *c);
void cache_drop_open(struct trial_cache *c); // trials in flight may have been told
// For those who look at many trials: adds what a race said of a trial that was just decoded, from a
// list of all results that is read again when there was a new race. cache_races gives a number
// that changes with each race.
void cache_add_race(struct model *m, struct trial *t);
int64_t cache_races(struct model *m);

#endif
