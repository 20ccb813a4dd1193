// Elements of buffers, of any type, as numbers: a double holds each of them exactly.
#ifndef TILEWALK_SPACE_ELEMENT_H
#define TILEWALK_SPACE_ELEMENT_H

#include "space/operation.h"

double element_get(const void *buffer, enum element e, int64_t index);
// Rounds to nearest, through float to half. An integer must fit.
void element_put(void *buffer, enum element e, int64_t index, double value);

#endif
