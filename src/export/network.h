// A network as a folder that runs without tilewalk: its kernels, each as an export of its own
// (NAME.h, .comp, .spv, .json), and
//
//     NETWORK.network.h   C and C++: values, and steps with their kernels
//     NETWORK.plan.json   the same for other programs
//     NETWORK.data        inputs, weights, and the right outputs, computed on the CPU
//     run.c vulkan.h numbers.h   a program that runs the network, checks its outputs, and times it
//
// The kernels are those of the fastest run as a whole, or, without such a run, the best of each
// task. Other folders call export.h.
#ifndef TILEWALK_EXPORT_NETWORK_H
#define TILEWALK_EXPORT_NETWORK_H

#include "export/export.h"

bool export_network(struct store *store, const struct session_record *r,
                    const struct export_request *request, struct err *e);

#endif
