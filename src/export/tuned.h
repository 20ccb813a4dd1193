// Results of sessions as a table in which other programs look up configurations: JSON by vendor,
// device, driver, space and class of the shape.
//
//     export_tuned(store, ids, count, &text, e);
//
// The vendor is the driver's name, up to its first comma, as in report/kernel_table.h. A shape's
// class has its choices, and each size rounded up to a power of two: "type=q4_K M<=4096 N<=512
// K<=4096". A class lists the tuned shapes, each with its sizes, the configuration, its time, the
// fastest baseline and the ratio. A session on several shapes has the same configuration in each of
// their classes.
#ifndef TILEWALK_EXPORT_TUNED_H
#define TILEWALK_EXPORT_TUNED_H

#include "base/str.h"
#include "engine/speed.h"
#include "store/store.h"

// Appends the text. False: a session was not measured on a device or has no valid trial.
bool export_tuned(struct store *store, const int64_t *id, int count, struct str *out,
                  struct err *e);

// --- evidence ---
//
// A configuration that a session found, compared with the baselines: for exports, and as Markdown
// to paste where a change is discussed.
//
//     struct evidence v;
//     if (evidence_read(store, &session, ask, &arena, &v, e))
//         evidence_add_shapes(&v, &text);

struct evidence {
    const struct session_record *session;
    struct trial_record trial;
    struct retime_record race; // the trial's last race; ask 0: it was in none
    struct baselines baselines;
    struct shape_table shapes; // times of this trial
};

// Everything lives in `a`. False: the store failed.
bool evidence_read(struct store *s, const struct session_record *r, int64_t ask, struct arena *a,
                   struct evidence *out, struct err *e);
// Adds a phrase about the checks of a trial that ran on a device.
void evidence_add_checks(const struct evidence *v, const struct session_record *r, struct str *out);
// Adds a table with a row for each shape: the fastest baseline, its time, the time of the trial,
// and the ratio. Adds nothing where there is nothing to compare.
void evidence_add_shapes(const struct evidence *v, struct str *out);
// Adds a paragraph on device, driver and checks, that table, and the configurations.
void evidence_add(const struct evidence *v, const struct session_record *r, struct str *out);

#endif
