// A table of exported kernels, over many shapes and devices, in one JSON file.
//
//     struct kernel_table t;
//     kernel_table_init(&t);
//     kernel_table_read(&t, "kernels.json", e);
//     kernel_table_add(&t, entry, &change, e);        an entry of kernel_add_json, SPIR-V embedded
//     kernel_table_add_text(&t, &out);                the file again
//     kernel_table_nearest(&t, &operation, &device, &near)
//     kernel_table_finish(&t);
//
// The table has one entry for each device (by its identity) and problem: the fastest. The text of
// an entry is kept as it is, so that members of other versions are not lost.
// docs/reference/exports.md describes the file.
#ifndef TILEWALK_REPORT_KERNEL_TABLE_H
#define TILEWALK_REPORT_KERNEL_TABLE_H

#include "base/json_read.h"
#include "space/operation.h"

#define KERNEL_TABLE_FORMAT "tilewalk-table"

struct kernel_place { // a device; NULL where something is not known
    const char *device, *device_type, *driver, *identity;
};

struct kernel_entry {
    struct json root; // an object of `length` bytes
    size_t length;
    struct json problem, configuration; // objects
    const char *title, *space;
    struct kernel_place place;
    double ms, tflops;
};

struct kernel_table {
    struct arena arena;
    char **text; // entries point into these; heap
    int texts, text_capacity;
    struct kernel_entry *entry;
    int count, capacity;
};

enum kernel_change { KERNEL_ADDED, KERNEL_REPLACED, KERNEL_KEPT }; // kept: the old entry is faster

// The relation between the device of an entry and another one, closest first.
enum kernel_kinship {
    KERNEL_SAME_DEVICE, // and driver
    KERNEL_OTHER_DRIVER,
    KERNEL_SAME_VENDOR, // the driver's name, up to its first comma
    KERNEL_SAME_TYPE,
    KERNEL_OTHER_DEVICE
};

struct kernel_near {
    const struct kernel_entry *entry; // NULL: no entry has that operator, type and layout
    enum kernel_kinship kinship;
    double distance; // sqrt of the sum over the sizes of log2(size / wanted)^2
};

void kernel_table_init(struct kernel_table *t);
void kernel_table_finish(struct kernel_table *t);
bool kernel_table_read(struct kernel_table *t, const char *path, struct err *e);
bool kernel_table_add(struct kernel_table *t, const char *entry, enum kernel_change *change,
                      struct err *e);
void kernel_table_add_text(const struct kernel_table *t, struct str *out);

// Chooses among the entries for the same operator with the same choices: by the closest device,
// then by the nearest shape, then by speed. `place` NULL: devices do not count.
void kernel_table_nearest(const struct kernel_table *t, const struct operation *wanted,
                          const struct kernel_place *place, struct kernel_near *out);

const char *kernel_kinship_text(enum kernel_kinship k); // "this device and driver"

#endif
