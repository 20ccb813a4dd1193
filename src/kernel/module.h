// Parts of kernel_fit that work on a whole module of others: before its constants are fitted, and
// behind that. For the files of this folder.
//
//     module_choose_entry(&pass, &spirv, e); ...constants... module_bind(&pass, &spirv, e);
//
// They leave one plain module: one entry point, storage buffers at the job's bindings in descriptor
// set 0, uniform blocks at the pass' in set JOB_UNIFORM_SET, images, texel buffers, samplers and
// arrays in JOB_DESCRIPTOR_SET (job.h). Resources of other kinds are refused by their names.
#ifndef TILEWALK_KERNEL_MODULE_H
#define TILEWALK_KERNEL_MODULE_H

#include "kernel/kernel.h"

// Leaves one entry point of several: the one that the pass names, else the only one for compute.
// Functions and variables of the others go. False and `e`: none or several are meant.
bool module_choose_entry(const struct pass *p, struct spirv *s, struct err *e);

// Replaces sets and bindings. False and `e`: the pass does not say what a resource is, it gives a
// uniform block that is not there or another form of an image, or the resource is none that can be
// bound. The lengths of arrays are constants.
bool module_bind(const struct pass *p, struct spirv *s, struct err *e);

#endif
