// A session that looks for one configuration for several shapes of a problem (trial/shapes.h).
//
// Each shape is the session's space file with other sizes: a script of its own. A configuration is
// legal that is legal on all; a baseline is on each shape what the file declares for that shape.
// What a session stores beside its trials' goals: the shapes (`shapes` of its record), and what
// each trial, baseline and race took on each (`parts`). So one that goes on learns again from what
// is stored, in the order told, and decides as it would have.
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
    bool is_referred;
    int64_t runs, candidates; // measurements of what was told; those that were measured at all
    const char **past;        // heap: by ask - 1, what its shapes took, of a session that goes on
    int64_t past_count;
};

// The options' shapes as the record keeps them. `record.shapes` is NULL where there are none.
bool session_shapes_take(struct session *s, const struct session_options *o, struct err *e);
// What the record says becomes s->shapes; nothing where it says nothing.
bool session_shapes_parse(struct session *s, struct err *e);
// The options of a shape's script.
struct session_options session_shapes_options(struct session *s, const struct session_options *o,
                                              int shape);
// The scripts of all shapes but the first, which the session has: of a new one, and of one that
// goes on. Then its FLOP are those of all, by weight.
bool session_shapes_read(struct session *s, const struct session_options *o, struct err *e);
bool session_shapes_read_again(struct session *s, struct err *e);
void session_shapes_describe(struct session *s); // title and operation of a new one
void session_shapes_finish(struct session *s);

// As space_judge, on every shape; `baseline`: of that one, as each shape declares it.
bool session_shapes_judge(const struct session *s, const struct config *c, struct verdict *v,
                          struct err *e);
bool session_shapes_judge_baseline(const struct session *s, int baseline, struct verdict *v,
                                   struct err *e);
// Whether a baseline is another configuration on some shape.
bool session_shapes_vary(const struct session *s, int baseline);
bool session_shapes_render(void *context, const struct trial_request *r, int shape,
                           struct trial_request *out, struct err *e);

// Once all baselines are known: what they took becomes what others are held against.
bool session_shapes_refer(struct session *s, struct err *e);
// By the worst, ratios within a race are to the baselines in it: baseline_at as in session_race.c.
void session_shapes_rate_race(const struct session *s, const int *baseline_at,
                              struct trial_result *r);
void session_shapes_remember(struct session *s, int64_t ask, const char *parts);
void session_shapes_learn(struct session *s, int64_t ask, const struct trial_result *r);
void session_shapes_say(struct session *s); // how many measurements were enough

#endif
