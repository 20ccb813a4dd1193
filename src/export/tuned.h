// What sessions found as a table for other programs to look up when they choose a configuration:
// JSON by vendor, device, driver, space and class of the shape.
//
//     export_tuned(store, ids, count, &text, e);
//
// The vendor is the driver's name, up to its first comma, as in report/kernel_table.h. A shape's
// class is its choices, and of each size the least power of two that is no smaller: "type=q4_K
// M<=4096 N<=512 K<=4096". Below a class stand the shapes that were tuned, each with its sizes, the
// configuration, its time, the fastest that is in use there and the ratio. A session on several
// shapes has the same configuration below each of theirs.
#ifndef TILEWALK_EXPORT_TUNED_H
#define TILEWALK_EXPORT_TUNED_H

#include "base/str.h"
#include "engine/shape_table.h"
#include "store/store.h"

// Appends the text. False: one of them is no session that was measured on a device, with a valid
// trial.
bool export_tuned(struct store *store, const int64_t *id, int count, struct str *out,
                  struct err *e);

// What is known of a configuration that a session found, beside what is in use: for exports, and in
// Markdown to be pasted where a change is discussed.
//
//     struct evidence v;
//     if (evidence_read(store, &session, ask, &arena, &v, e))
//         evidence_add(&v, &session, &text);

struct evidence {
    struct trial_record trial;
    struct retime_record race; // the trial's last; ask 0: it was in none
    struct baselines baselines;
    struct shape_table shapes; // of this trial
};

// Everything lives in `a`. False: the store failed.
bool evidence_read(struct store *s, const struct session_record *r, int64_t ask, struct arena *a,
                   struct evidence *out, struct err *e);
// What was checked of a trial that ran on a device.
const char *evidence_checks(const struct evidence *v);
// A table with a row for each shape: the fastest that is in use there, what it takes, what the
// trial takes, and the ratio. Nothing where there is nothing to compare.
void evidence_add_shapes(const struct evidence *v, struct str *out);
// A paragraph of device, driver and checks, that table, and what each configuration is.
void evidence_add(const struct evidence *v, const struct session_record *r, struct str *out);

// The best configurations of a session in the words of another program: as export(NAME, ...) of the
// space file writes them. Printed, not written: one is a line or a few, to be pasted.

// The `most` best. Fails when none of them has such a form.
bool export_form(struct store *store, int64_t session, const char *form, int most, bool json,
                 struct err *e);

#endif
