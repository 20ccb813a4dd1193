// The texts of sessions in lists: the place where they ran, and the best that they found.
//
// Pure functions of the session's record; the texts that are returned live in `out` or in the
// record.
#ifndef TILEWALK_UI_SESSION_TEXT_H
#define TILEWALK_UI_SESSION_TEXT_H

#include "filter.h"

// One unit for all speeds of a list, by the fastest session.
const char *sessions_unit(const struct model *m, double *per_flops);
char *sessions_speed(double flops, double per_flops, char out[24]); // "" for none
// The place where it runs: the name of the device, or another source, "synthetic:rugged". In `out`
// or the record's.
const char *session_place(const struct session_record *r, char out[256]);
// FLOP/s; 0: nothing valid, or speeds that are relative (speed_share), which are in no unit.
double record_speed(const struct session_record *r);
char *session_best(const struct session_record *r, double per_flops, char out[24]); // "" for none
char *text_ago(double seconds, char out[24]);                                       // "2 h"

#endif
