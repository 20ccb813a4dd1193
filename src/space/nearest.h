// The configuration nearest to one of another space: a search starts where another one ended.
//
//     struct wish w = {.count = 3, .number = {16, 4, 16}};
//     param_nearest(&space->param[0], &w, config.slot + offset)
//     space_nearest_like(space, other, &theirs, false, &config)
//     space_nearest_legal(space, legal, context, &config)
//
// A factorization of another product is nearest when the logarithms of its parts are: the sum of
// (log x[i] - log v[i])^2 is least. As the sum of the logarithms is given, that is the one with the
// most similar proportions of parts. Of several nearest ones it is the one with the larger first
// part, which in loop nests is the outermost.
#ifndef TILEWALK_SPACE_NEAREST_H
#define TILEWALK_SPACE_NEAREST_H

#include "space/space.h"

// A wanted value: the parts of a factorization, the items of a permutation, or one number or text.
struct wish {
    int count;
    double number[PARAM_MAX_WIDTH];
    const char *text[PARAM_MAX_WIDTH]; // NULL: it is number[i]
};

// Gives the value nearest to the wanted one: the nearest numbers (of two, the smaller), the same
// texts. False: the wanted value has another number of parts or another type, or a text is unknown.
bool param_nearest(const struct param *p, const struct wish *w, int32_t *out);

// Gives the nearest to configuration `theirs` of space `other`, for each parameter by its name; it
// may be illegal. A parameter that `other` lacks gets its first value, where `lacks` allows that.
// False: `other` lacks a parameter, or `s` has no such value.
bool space_nearest_like(const struct space *s, const struct space *other,
                        const struct config *theirs, bool lacks, struct config *out);

// Moves `c` to the nearest legal point, counted in moves on the graphs of the parameters; of
// several to the first. False: none was among the nearest 4096.
bool space_nearest_legal(const struct space *s,
                         bool (*legal)(void *context, const struct config *c), void *context,
                         struct config *c);

#endif
