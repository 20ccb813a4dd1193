// What a driver's compiler says of a kernel: numbers by name, such as "VGPRs" or "Spill Count".
//
//     struct statistics s = {0};
//     statistics_take(&s, "VGPRs", 96)               false: nothing that can be used
//     statistics_total(&s, STATISTIC_SPILLS, &spills)
//     statistics_add_json(&s, &out)                  {"VGPRs":96,"Code size":1204}
//
// The names are the driver's own. A few quantities that most drivers report, each by other names,
// are known in a common way too. Where several programs make one kernel (its passes, their
// variants), each number is that of the program that needs most; of occupancy, least.
#ifndef TILEWALK_SPACE_STATISTICS_H
#define TILEWALK_SPACE_STATISTICS_H

#include "base/str.h"

#include <stdbool.h>

#define STATISTICS_MOST      32
#define STATISTICS_NAME_SIZE 48 // bytes, with the NUL

struct told_number {
    char name[STATISTICS_NAME_SIZE];
    double value;
};

struct statistics {
    int count; // 0: the driver says nothing
    struct told_number item[STATISTICS_MOST];
};

enum statistic_kind {
    STATISTIC_REGISTERS,
    STATISTIC_SPILLS, // values that found no register, or bytes of them where the driver counts so
    STATISTIC_SHARED, // bytes of a workgroup
    STATISTIC_OCCUPANCY,
    STATISTIC_CODE_SIZE, // bytes, or instructions
    STATISTIC_KIND_COUNT
};

const char *statistic_kind_name(enum statistic_kind k); // "spills": the words of filters

// False, and nothing is changed: a name that is empty or too long, a value that is negative, not
// finite or no size that a program can have, or one more than there is room for. Hashes, which some
// drivers have among their numbers, are passed over.
bool statistics_take(struct statistics *s, const char *name, double value);

// Takes those of another program of the same kernel.
void statistics_merge(struct statistics *s, const struct statistics *more);

// What the driver says of one quantity. False: it says nothing of it.
bool statistics_total(const struct statistics *s, enum statistic_kind k, double *out);

// Under its name, or that of a kind; case does not matter. False: there is none.
bool statistics_find(const struct statistics *s, const char *name, double *out);

void statistics_add_json(const struct statistics *s, struct str *out);

#endif
