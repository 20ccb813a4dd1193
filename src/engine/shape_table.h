// The best of a session on each of its shapes, beside what is in use there: the same rows in show,
// at the end of tune and on cards.
//
//     shape_table_read(&record, &found, arena, &t);
//     shape_table_add_text(&t, &text);      shape_table_add_json(&t, "shapes", &w);
//
// A session of one shape has one row. Times are of the last race where there was one.
#ifndef TILEWALK_ENGINE_SHAPE_TABLE_H
#define TILEWALK_ENGINE_SHAPE_TABLE_H

#include "base/json.h"
#include "store/store.h"
#include "trial/trial.h"

struct shape_row {
    const char *name;
    double weight;
    double seconds;       // of the best; 0: not known
    const char *baseline; // the fastest that is in use on this shape; NULL: none ran
    double baseline_s;
    struct paired ratio; // of the best to it
};

struct shape_table {
    int count;
    struct shape_row row[TRIAL_MAX_SHAPES];
    int worst; // the row with the least ratio; -1: none has a baseline
};

struct shape_findings {               // of a session
    const struct trial_record *best;  // ask 0: there is none
    const struct retime_record *race; // of the best; ask 0: it was in none
    const struct baselines *baselines;
};

// Reads the times of a list. Returns how many there are: 0, too, where it is no list.
int shape_parts(const char *parts, double out[TRIAL_MAX_SHAPES]);
void shape_table_read(const struct session_record *r, const struct shape_findings *f,
                      struct arena *a, struct shape_table *out);
// Adds a line for each shape of a session that has several, and one for the worst.
void shape_table_add_text(const struct shape_table *t, struct str *out);
void shape_table_add_json(const struct shape_table *t, const char *name, struct json_writer *w);

#endif
