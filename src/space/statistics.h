// Compiler statistics of a kernel: numbers by name, such as "VGPRs" or "Spill Count".
//
//     struct statistics s = {0};
//     statistics_take(&s, "VGPRs", 96)               false: the number cannot be used
//     statistics_total(&s, STATISTIC_SPILLS, &spills)
//     statistics_add_json(&s, &out)                  {"VGPRs":96,"Code size":1204}
//
// The names are the driver's own. A few quantities that most drivers report, under different names,
// have a common name too. Where several programs make one kernel (its passes, their variants), each
// number is the maximum over the programs; occupancy is the minimum.
#ifndef TILEWALK_SPACE_STATISTICS_H
#define TILEWALK_SPACE_STATISTICS_H

#include "base/str.h"

#include <stdbool.h>

#define STATISTICS_MOST      32
#define STATISTICS_NAME_SIZE 48 // bytes, with the NUL

struct compiler_number {
    char name[STATISTICS_NAME_SIZE];
    double value;
};

struct statistics {
    int count; // 0: the driver reports none
    struct compiler_number item[STATISTICS_MOST];
};

// The names of a run's energy and time, which are measured beside its cost where power is told.
#define STATISTIC_JOULES  "joules"
#define STATISTIC_SECONDS "seconds"

enum statistic_kind {
    STATISTIC_REGISTERS,
    STATISTIC_SPILLS, // spilled values, or their bytes where the driver counts bytes
    STATISTIC_SHARED, // bytes of a workgroup
    STATISTIC_OCCUPANCY,
    STATISTIC_CODE_SIZE, // bytes, or instructions
    STATISTIC_KIND_COUNT
};

const char *statistic_kind_name(enum statistic_kind k); // "spills": the words of filters

// Adds a number. False, and nothing is changed: the name is empty or too long, the value is
// negative, not finite or larger than a program can have, or there is no room. Hashes, which some
// drivers have among their numbers, are ignored.
bool statistics_take(struct statistics *s, const char *name, double value);

// Adds the numbers of another program of the same kernel.
void statistics_merge(struct statistics *s, const struct statistics *more);

// Gives the number of one common quantity. False: the driver does not report it.
bool statistics_total(const struct statistics *s, enum statistic_kind k, double *out);

// Gives a number by its name, or by that of a kind; case does not matter. False: there is none.
bool statistics_find(const struct statistics *s, const char *name, double *out);

void statistics_add_json(const struct statistics *s, struct str *out);

#endif
