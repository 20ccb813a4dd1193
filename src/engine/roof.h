// Roofs of devices (space/roof.h) in the database: each is measured once, with its device and
// driver, by a process of its own.
//
//     roof_find(store, &info, &roof, &found, e) && (found || roof_measure(store, &info, &roof, e))
#ifndef TILEWALK_ENGINE_ROOF_H
#define TILEWALK_ENGINE_ROOF_H

#include "gpu/gpu.h"
#include "space/roof.h"
#include "store/store.h"

bool roof_find(struct store *store, const struct gpu_info *i, struct roof *out, bool *found,
               struct err *e);
// Takes some seconds, and the device; what was stored before is replaced.
bool roof_measure(struct store *store, const struct gpu_info *i, struct roof *out, struct err *e);

#endif
