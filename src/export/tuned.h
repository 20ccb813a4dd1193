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
#include "store/store.h"

// Appends the text. False: one of them is no session that was measured on a device, with a valid
// trial.
bool export_tuned(struct store *store, const int64_t *id, int count, struct str *out,
                  struct err *e);

#endif
