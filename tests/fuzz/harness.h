// Fuzzing: a reader of what strangers wrote, as one function of some bytes.
//
//     fuzz_NAME.c    LLVMFuzzerTestOneInput for one reader: returns whatever the bytes are, or dies
//     corpus/NAME    small inputs, made by hand or found by fuzzing
//
// With clang (`./dev fuzz NAME`) libFuzzer is main(), and changes the corpus until something dies.
// Without, main.c is: it goes through the corpus once, as a test.
//
// A reader dies by a sanitizer, an assertion, a hang, or when `must` does not hold.
#ifndef TILEWALK_TESTS_HARNESS_H
#define TILEWALK_TESTS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
// Once, before all inputs. A harness without anything to prepare has an empty one.
int LLVMFuzzerInitialize(int *argc, char ***argv);

// A file that holds these bytes, for readers that want a path: one, which the next call overwrites
// and the end of the process removes.
const char *fuzz_file(const uint8_t *data, size_t size);

// The bytes as a string (heap), cut at the first NUL.
char *fuzz_text(const uint8_t *data, size_t size);

// What has to hold for every input: says it and aborts, with asserts off, too.
void must(bool holds, const char *what);

#endif
