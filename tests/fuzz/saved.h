// What npy and safetensors have in common: a file of these bytes is opened, and whatever tensor it
// is said to have, read.
#ifndef TILEWALK_TESTS_SAVED_H
#define TILEWALK_TESTS_SAVED_H

#include "harness.h"

#include "weights/weights.h"

void fuzz_saved(const uint8_t *data, size_t size, enum weights_format format);

#endif
