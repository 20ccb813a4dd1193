// What each kind of parameter knows; one record a kind. Internal to this folder: everyone else
// calls param_*.
//
// Slots given to `neighbour` and the rest are a valid value, `k` is below its degree. The records
// live in factorization.c, permutation.c, listed.c (discrete and categorical) and custom.c, param.c
// finds the right one.
#ifndef TILEWALK_SPACE_KIND_H
#define TILEWALK_SPACE_KIND_H

#include "space/param.h"

struct kind {
    const char *name;
    void (*value)(const struct param *p, uint64_t index, int32_t *out);
    bool (*valid)(const struct param *p, const int32_t *v);
    int (*degree)(const struct param *p, const int32_t *v);
    void (*neighbour)(const struct param *p, int k, int32_t *v); // steps there, in place
    void (*degree_range)(const struct param *p, int *lowest, int *highest);
    int (*distance)(const struct param *p, const int32_t *a, const int32_t *b);
    void (*add_json)(const struct param *p, const int32_t *v, struct str *out);
};

extern const struct kind kind_factorization, kind_permutation, kind_discrete, kind_categorical,
    kind_custom;

// For the kinds whose value is one index into a list of numbers or labels.
void listed_value(const struct param *p, uint64_t index, int32_t *out);
bool listed_valid(const struct param *p, const int32_t *v);
void listed_add_json(const struct param *p, const int32_t *v, struct str *out);

// Copies of what a constructor was given; they refuse too many items, duplicates, and numbers that
// are not finite.
const char *const *listed_copy_labels(struct arena *arena, const char *name, int count,
                                      const char *const *label, struct err *e);
double *listed_copy_numbers(struct arena *arena, const char *name, int count, const double *number,
                            struct err *e);
bool listed_check_count(const char *name, const char *what, int count, int most, struct err *e);

#endif
