// Our own format, which keeps the exact topology, so that a session is replayed on the graph it was
// tuned on. Internal to this folder.
//
//     {"format":"tilewalk-recording","version":1,"name":"mm","kernel":"mm","device":"...",
//      "unit":"s","params":[
//       {"name":"tile_k","kind":"factorization","product":1024,"parts":3},
//       {"name":"order","kind":"permutation","items":["n","m","k"]},
//       {"name":"stage","kind":"categorical","values":["shared","none"]},
//       {"name":"unroll","kind":"custom","values":[1,2,8],"edges":[[0,1],[1,2]]}],
//      "entries":[
//       {"config":[[16,32,2],["k","n","m"],"shared",8],"outcome":"ok","seconds":0.012,
//        "runs":[0.011,0.013],"compile_s":0.3,"benchmark_s":0.5}]}
//
// "discrete" has values, too. Outcomes are the words of space/outcome.h; what is not known is left
// out. An entry takes one line. Edges are pairs of indices into the values.
#ifndef TILEWALK_RECORD_TILEWALK_H
#define TILEWALK_RECORD_TILEWALK_H

#include "base/json.h"
#include "base/json_read.h"
#include "record/record.h"

#define TILEWALK_FORMAT            "tilewalk-recording"
#define TILEWALK_VERSION_OF_FORMAT 1

void tilewalk_write(const struct recording *r, struct json_writer *w); // format.h

// Adds a parameter to r->space.
bool tilewalk_read_param(struct recording *r, struct json declared, struct err *e);
// Its value into its slots.
bool tilewalk_read_value(const struct recording *r, const struct param *p, struct json v,
                         int32_t *slot, struct err *e);

#endif
