// Speeds of a session as people read them: the same words in every list, line and screen.
//
//     char text[32];
//     speed_text(&record, seconds, text)      "5.71 GFLOPS"; "99.4 %"
//
// FLOP/s, but where the FLOP of a recording are not known: a speed is per cent of the fastest
// configuration recorded then (recorded.h).
#ifndef TILEWALK_ENGINE_SPEED_H
#define TILEWALK_ENGINE_SPEED_H

#include "store/store.h"

bool speed_is_relative(const struct session_record *r);
// Of a run that takes `seconds` (> 0). Returns `out`.
char *speed_text(const struct session_record *r, double seconds, char out[32]);
// FLOP/s (as r->flop counts them) of the unit that suits speeds up to `highest`; its name in
// `name`: "TFLOPS", "GFLOPS", "%".
double speed_unit(const struct session_record *r, double highest, const char **name);
// The same for programs (docs/json.md): "TFLOPS", "fastest".
const char *speed_unit_word(const struct session_record *r);

#endif
