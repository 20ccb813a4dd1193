// Exports: the best configurations of a session as files that other programs can use.
//
// For each: NAME.comp (GLSL), NAME.spv (SPIR-V), NAME.json (configuration, workgroup sizes,
// dispatch, bindings, timing, device, driver, hashes, how it was verified) and NAME.h (C header
// with the SPIR-V words and a ready description of the dispatch). Further passes are
// NAME.pass2.comp and so on. Needs no device: everything is rendered and compiled again from the
// texts that the session stored.
#ifndef TILEWALK_EXPORT_H
#define TILEWALK_EXPORT_H

#include "store/store.h"

struct export_request {
    int64_t session;
    const char *folder; // made when missing; NULL: "export"
    int count;          // the n best, at least 1
    const char
        *name; // of the files; NULL: made from the space and the problem, "gemm-f32-nn-256x256x256"
    bool quiet; // do not list the files on stdout
    bool json;  // list them as {"files":[...]}
};

bool export_run(struct store *store, const struct export_request *r, struct err *e);

#endif
