// Runs imported models, on the CPU by the operators' references, or on the device as a whole.
//
//     struct model_run r;
//     if (model_run_load("net.lua", "f16", &r, e)) ...    NULL: the model's own type
//     model_run_on_cpu(&r, e)          each output has to be the one that the file records
//     model_run_on_device(&r, &seconds, e)    the same, and each layer against its reference
//     model_run_finish(&r);            in any case
#ifndef TILEWALK_TESTS_IMPORT_ONNX_RUN_H
#define TILEWALK_TESTS_IMPORT_ONNX_RUN_H

#include "script/network.h"

struct model_run {
    struct network network;
    struct script **task; // each task's preset, read
    int expected;         // outputs of which the file says what they have to be
};

bool model_run_load(const char *path, const char *type, struct model_run *r, struct err *e);
bool model_run_on_cpu(const struct model_run *r, struct err *e);
// Uses configurations that are quick to compile. `seconds` gets the time of a run; 0: it is too
// slow to be timed.
bool model_run_on_device(const struct model_run *r, double *seconds, struct err *e);
void model_run_finish(struct model_run *r);

#endif
