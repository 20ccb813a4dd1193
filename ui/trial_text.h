// How trials and configurations are written in the narrow columns of the main screen.
//
// Short names: two or three letters for each parameter, two for factorizations: tile_k is "tk".
// Names of several words give their initials, others their first letters; what is taken already
// goes on to other letters of the name, then to any. They are unique, and depend on nothing but the
// space.
//
// Numbers of one kind have the same unit and the same decimals all over the screen, as the best
// trial's wants them: the unit stands in the head of the column.
//
// Pure functions of the model; the texts that are returned live in `out`.
#ifndef TILEWALK_UI_TRIAL_TEXT_H
#define TILEWALK_UI_TRIAL_TEXT_H

#include "model.h"
#include "screen.h"

struct app;

// One for each parameter, at most three letters, no two alike.
void short_names(const struct space *s, char out[SPACE_MAX_PARAMS][4]);

// "16,4,2", "n,m,k", "0.5", "shared".
void value_add_text(const struct param *p, const int32_t *v, struct str *out);
bool value_equal(const struct param *p, const struct config *a, const struct config *b);
// What differs from `from` (NULL: everything), "unroll=512 split_k=2"; with short names "unr=512".
// `brief`: those of the space, or NULL.
void config_add_difference(const struct space *s, const struct config *c, const struct config *from,
                           char (*brief)[4], struct str *out);

// The one time that is shown of a trial: of its latest race when that was verified, as ranks have
// it, else its own; 0: none. As a speed, FLOP/s.
double trial_shown_seconds(const struct trial *t);
double trial_shown_speed(const struct model *m, const struct trial *t);
bool trial_shows_race(const struct trial *t);

// The numbers alone: speeds in model_unit, times in model_time_unit. "" when there is none.
const char *speed_number(const struct model *m, double flops, char out[24]);
const char *time_number(const struct model *m, double seconds, char out[24]);
const char *model_time_unit(const struct model *m, double *per_second); // "s", "ms", "us"
const char *trial_word(const struct model *m, const struct trial *t);   // "BEST", "early", "wrong"
enum style trial_style(const struct model *m, const struct trial *t);

// The trial that all views mean: the newest one while following, else the selected one; NULL: none.
const struct trial *shown_trial(struct app *app);

#endif
