// What the harnesses of models and logs have in common: what was read is a network file.
#ifndef TILEWALK_TESTS_IMPORTED_H
#define TILEWALK_TESTS_IMPORTED_H

#include "harness.h"
#include "import/import.h"

void fuzz_import(const uint8_t *data, size_t size, const struct import_format *f);

#endif
