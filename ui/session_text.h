// How sessions are written where they are listed: where they ran, and the best that they found.
//
// Pure functions of what the database says of them; the texts that are returned live in `out` or in
// the record.
#ifndef TILEWALK_UI_SESSION_TEXT_H
#define TILEWALK_UI_SESSION_TEXT_H

#include "model.h"

// One unit for all speeds of a list, by the fastest session.
const char *sessions_unit(const struct model *m, double *per_flops);
char *sessions_speed(double flops, double per_flops, char out[24]); // "" for none
// Where it runs: the name of the device; of other sources the source, "synthetic:rugged". In `out`
// or the record's.
const char *session_place(const struct session_record *r, char out[256]);
// FLOP/s; 0: nothing valid, or speeds that are relative (speed_share), which are in no unit.
double record_speed(const struct session_record *r);
char *session_best(const struct session_record *r, double per_flops, char out[24]); // "" for none
char *text_ago(double seconds, char out[24]);                                       // "2 h"

// Which sessions are listed, as a text that people type.
//
//     struct session_filter *f = session_filter_compile("gemm state:done best>150", model, e);
//     if (session_filter_accepts(f, row, per_flops)) ...
//     session_filter_destroy(f);
//
// How terms are written and joined is in expression.h. A word alone stands anywhere in what a row
// shows, or in the note, the driver, the path or the last message. FIELD:TEXT (or ~) is a text that
// contains it, FIELD:NUMBER one that equals it; FIELD=VALUE is all of a text. The beginning of a
// field's name is enough when only one begins so. `best` is in the unit that the list shows (GB/s
// of those rated by bytes), and equal when it is shown so; a relative speed is in none. Upper and
// lower case are the same.
//
// A name that is no field is an error, unless the term as it stands is to be seen in some session:
// synthetic:rugged, q=0.3. Pure but for the model that is read. One thread.

struct session_filter;

// NULL and `e`, which names the column (from 1). The model is needed during the call only.
struct session_filter *session_filter_compile(const char *text, const struct model *m,
                                              struct err *e);
void session_filter_destroy(struct session_filter *f); // NULL is fine
// NULL accepts every row. Speeds are shown in units of 1 / `per_flops` FLOP/s (sessions_unit).
bool session_filter_accepts(const struct session_filter *f, const struct session_row *row,
                            double per_flops);

#endif
