// A network as a folder that runs without tilewalk: its kernels, each as an export of its own
// (NAME.h, .comp, .spv, .json), and
//
//     NETWORK.network.h   C and C++: values, steps, which kernel runs on what (network_text.c)
//     NETWORK.plan.json   the same for other programs
//     NETWORK.data        inputs, weights, and what the network gives, computed on the CPU
//     run.c vulkan.h numbers.h   a program that runs it, checks what it gives, and times it
//
// The kernels are those that were the fastest as a whole; where it never ran as one, the best of
// each task. For this folder's own use; export.h has what others call.
#ifndef TILEWALK_EXPORT_NETWORK_H
#define TILEWALK_EXPORT_NETWORK_H

#include "export/export.h"
#include "network/plan.h"
#include "report/kernel_files.h"
#include "space/operation.h"

struct network_task_export {
    const char *name;   // of its files
    const char *kernel; // identifier in its header
    int64_t session, ask;
};

struct network_export {
    const char *name; // of the files
    const struct session_record *session;
    const struct plan *plan;
    const struct network_task_export *task;
    int task_count;
    const uint64_t *data; // of each value: where its content lies; UINT64_MAX: nowhere
    uint64_t data_bytes, scratch_bytes;
    double tolerance; // of outputs: the largest error, of the largest right number
    double seconds;   // as a whole; 0: not known
    bool verified;
};

bool export_network(struct store *store, const struct session_record *r,
                    const struct export_request *request, struct err *e);

char *network_header_text(const struct network_export *x); // heap
char *network_plan_text(const struct network_export *x);   // heap
// The lines before the program: which header, which network.
char *network_program_head(const struct network_export *x); // heap

#endif
