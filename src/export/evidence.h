// What is known of a configuration that a session found, beside what is in use: for exports, and in
// Markdown to be pasted where a change is discussed.
//
//     struct evidence v;
//     if (evidence_read(store, &session, ask, &arena, &v, e))
//         evidence_add(&v, &session, &text);
#ifndef TILEWALK_EXPORT_EVIDENCE_H
#define TILEWALK_EXPORT_EVIDENCE_H

#include "base/str.h"
#include "engine/shape_table.h"
#include "store/store.h"

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

#endif
