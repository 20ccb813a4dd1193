// The texts of trials, configurations and sessions in narrow columns.
//
// Short names have two or three letters, two for factorizations: tile_k is "tk". Names of several
// words give their initials, others their first letters; a name that is not free goes on to other
// letters of the name, then to any. They are unique and depend on nothing but the space.
//
// Numbers of one kind have the same unit and the same decimals all over the screen, chosen for the
// best trial; the unit stands in the head of the column.
//
// Pure functions; the returned texts live in `out` or in the record.
#ifndef TILEWALK_UI_TEXT_H
#define TILEWALK_UI_TEXT_H

#include "landscape.h"
#include "model.h"
#include "screen.h"

// Makes one name for each parameter, of at most three letters, no two alike.
void short_names(const struct space *s, char out[SPACE_MAX_PARAMS][4]);

// Appends "16,4,2", "n,m,k", "0.5", "shared".
void value_add_text(const struct param *p, const int32_t *v, struct str *out);
// Appends the value of a factor: "16", "n,m,k", "-" where the configuration has no such parameter.
void factor_add_value(const struct space *s, struct factor f, const struct config *c,
                      struct str *out);
// Appends two letters of a label: the first, and the first one that those with the same beginning
// do not have there.
void label_add_brief(const struct param *p, int i, struct str *out);
// Appends the value in few columns: labels so, orders a letter an item.
void factor_add_brief(const struct space *s, struct factor f, const struct config *c,
                      struct str *out);
// Returns the colours of the value of a factor: ordered ones for numbers by their place in the
// range, those of categories for all else.
enum style factor_style(const struct space *s, struct factor f, const struct config *c);
bool value_equal(const struct param *p, const struct config *a, const struct config *b);
// Appends the parameters that differ from `from` (NULL: all of them), "unroll=512 split_k=2"; with
// the short names of the space in `brief` (NULL: whole names) "unr=512".
void config_add_difference(const struct space *s, const struct config *c, const struct config *from,
                           char (*brief)[4], struct str *out);

// Returns the time that is shown for a trial, as in its rank: of its latest race when that was
// verified, else its own; 0: none. The speed is in FLOP/s.
double trial_shown_seconds(const struct trial *t);
double trial_shown_speed(const struct model *m, const struct trial *t);
bool trial_shows_race(const struct trial *t);

// Says why a session shows no trial.
const char *no_trial_text(const struct model *m);

// Write the numbers alone: speeds in model_unit, times in model_time_unit. "" when there is none.
const char *speed_number(const struct model *m, double flops, char out[24]);
const char *time_number(const struct model *m, double seconds, char out[24]);
const char *model_time_unit(const struct model *m, double *per_second); // "s", "ms", "us"
// Writes a step of the curve of the open session: "best  trial 45: 43.69 TFLOPS (+40.0 %)"; of a
// network the task whose kernel it was, and the time of the network.
#define BEST_STEP_SIZE 144
char *best_step_text(const struct model *m, int step, char out[BEST_STEP_SIZE]);
const char *trial_word(const struct model *m, const struct trial *t); // "BEST", "early", "wrong"
enum style trial_style(const struct model *m, const struct trial *t);

// --- sessions in lists ---

// Returns the one unit for all speeds of a list, by the fastest session.
const char *sessions_unit(const struct model *m, double *per_flops);
char *sessions_speed(double flops, double per_flops, char out[24]); // "" for none
// Returns where a session ran: the name of the device, or another source, "synthetic:rugged".
const char *session_place(const struct session_record *r, char out[256]);
// Returns the best in FLOP/s; 0: nothing valid, or relative speeds (speed_share), which have no
// unit.
double record_speed(const struct session_record *r);
char *session_best(const struct session_record *r, double per_flops, char out[24]); // "" for none
char *text_ago(double seconds, char out[24]);                                       // "2 h"
enum style state_style(enum session_state state, enum style other); // `other`: needs no colour
// Returns the word that people see: a running session without trials left is "racing" (the final
// race).
const char *state_word(enum session_state state, const struct session_record *r);

#endif
