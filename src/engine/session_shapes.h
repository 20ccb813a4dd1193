// A session that looks for one configuration for several shapes of a problem (trial/shapes.h).
//
// Each shape is the session's space file with other sizes, a script of its own. A configuration is
// legal if it is legal on all shapes; a baseline is on each shape what the file declares for that
// shape. A session stores, beside the goals of its trials, the shapes (`shapes` of its record) and
// the times of each trial, baseline and race on each (`parts`). So a session that goes on learns
// again from what is stored, in the same order, and decides as it would have.
#ifndef TILEWALK_ENGINE_SESSION_SHAPES_H
#define TILEWALK_ENGINE_SESSION_SHAPES_H

#include "engine/session.h"
#include "trial/shapes.h"

struct session_shape {
    const char *name; // its settings, "M=512 N=64"
    const struct setting *set;
    int set_count;
    struct script *script; // the first one's is the session's own
};

struct session_shapes {
    struct shapes_goal goal;
    struct session_shape of[TRIAL_MAX_SHAPES];
    bool has_references;
    int race_baseline[TRIAL_MAX_RACERS]; // of each candidate of the race under way: the baseline
                                         // that it is, where that differs between shapes; -1
    int64_t runs, candidates; // measurements of what was told; configurations that were measured
    const char **stored;      // heap: by ask - 1, `parts` of a session that goes on
    int64_t stored_count;
};

// Puts the options' shapes into the record. `record.shapes` stays NULL where there are none.
bool session_shapes_take(struct session *s, const struct session_options *o, struct err *e);
// Makes the backend's shapes of the record; nothing where the record has none.
bool session_shapes_parse(struct session *s, struct err *e);
void session_shapes_finish(struct session_shapes *all); // fine with NULL

// As space_judge, on every shape. A baseline is judged as each shape declares it: `forbidden` gets
// a bit for each shape that rejects it, `v` the first reason.
bool session_shapes_judge(const struct session_shapes *all, const struct limits *l,
                          const struct config *c, struct verdict *v, struct err *e);
bool session_shapes_judge_baseline(const struct session_shapes *all, const struct limits *l,
                                   int baseline, struct verdict *v, uint32_t *forbidden,
                                   struct err *e);
// True: the baseline is another configuration on some shape. False with NULL.
bool session_shapes_vary(const struct session_shapes *all, int baseline);
// Renders a request for one shape; shapes_options.render, with the backend as its context.
bool session_shapes_render(void *backend, const struct trial_request *r, int shape,
                           struct trial_request *out, struct err *e);

// Makes the times of the baselines the references of the goal, once all are known.
bool session_shapes_set_references(struct session *s, struct err *e);
// Rates the candidates of a race: by the worst, ratios are to the baselines in it. baseline_at: as
// in session_race.c.
void session_shapes_rate_race(const struct session *s, const int *baseline_at,
                              struct trial_result *r);
// Keeps the stored times of a trial, to be learnt again when it is told again.
void session_shapes_restore(struct session *s, int64_t ask, const char *parts);
// The source learns from a trial that is told; `r` NULL: from its stored times.
void session_shapes_learn(struct session *s, int64_t ask, const struct trial_result *r);

#endif
