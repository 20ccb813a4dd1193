// A table of exported kernels, over many shapes and devices, in one JSON file.
//
//     struct kernel_table t;
//     kernel_table_init(&t);
//     kernel_table_read(&t, "kernels.json", e);
//     kernel_table_add(&t, entry, &change, e);        an entry of kernel_add_json, SPIR-V embedded
//     kernel_table_add_text(&t, &out);                the file again
//     kernel_table_finish(&t);
//
// The table has one entry for each device (by its identity) and problem: the fastest. The text of
// an entry is kept as it is, so that members of other versions are not lost. What looks an entry up
// is export/reader/tilewalk_tuned.h.
// docs/reference/exports.md describes the file.
#ifndef TILEWALK_REPORT_KERNEL_TABLE_H
#define TILEWALK_REPORT_KERNEL_TABLE_H

#include "base/json_read.h"
#include "space/operation.h"

#define KERNEL_TABLE_FORMAT "tilewalk-table"

struct kernel_entry {
    struct json root; // an object of `length` bytes
    size_t length;
    struct json problem;  // an object
    const char *identity; // of the device
    double ms;
};

struct kernel_table {
    struct arena arena;
    char **text; // entries point into these; heap
    int texts, text_capacity;
    struct kernel_entry *entry;
    int count, capacity;
};

enum kernel_change { KERNEL_ADDED, KERNEL_REPLACED, KERNEL_KEPT }; // kept: the old entry is faster

void kernel_table_init(struct kernel_table *t);
void kernel_table_finish(struct kernel_table *t);
bool kernel_table_read(struct kernel_table *t, const char *path, struct err *e);
bool kernel_table_add(struct kernel_table *t, const char *entry, enum kernel_change *change,
                      struct err *e);
void kernel_table_add_text(const struct kernel_table *t, struct str *out);

#endif
