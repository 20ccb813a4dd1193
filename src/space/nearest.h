// What is nearest to a configuration of another space: where one search ended, another one starts.
//
//     struct wish w = {.count = 3, .number = {16, 4, 16}};
//     param_nearest(&space->param[0], &w, config.slot + offset)
//     space_nearest_like(space, other, &theirs, &config)
//     space_nearest_legal(space, legal, context, &config)
//
// A factorization of another product is nearest when the logarithms of its parts are: the sum of
// (log x[i] - log v[i])^2 is least. As the sum of the logarithms is given, that is the one whose
// parts stand most nearly in the same proportions. Of several nearest ones it is the one with the
// larger first part, which in loop nests is the outermost.
#ifndef TILEWALK_SPACE_NEAREST_H
#define TILEWALK_SPACE_NEAREST_H

#include "space/space.h"

// A value as it is written: the parts of a factorization, the items of a permutation, or one number
// or text.
struct wish {
    int count;
    double number[PARAM_MAX_WIDTH];
    const char *text[PARAM_MAX_WIDTH]; // NULL: number[i] is meant
};

// Numbers become the nearest ones (of two, the smaller); texts must be there as they are. False:
// the wish has another form (so many parts, texts for numbers), or one of its texts is not known.
bool param_nearest(const struct param *p, const struct wish *w, int32_t *out);

// What is nearest to configuration `theirs` of space `other`, parameter by parameter of the same
// name; it may be illegal. False: a parameter has no like there, or its value none here.
bool space_nearest_like(const struct space *s, const struct space *other,
                        const struct config *theirs, struct config *out);

// Moves `c` to the legal point that is the fewest moves on the graphs of the parameters away, of
// several to the first. False: none was among the nearest 4096.
bool space_nearest_legal(const struct space *s,
                         bool (*legal)(void *context, const struct config *c), void *context,
                         struct config *c);

#endif
