// NumPy's files: what is taken lies within the file, and can be read.
#include "saved.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_saved(data, size, WEIGHTS_NPY);
    return 0;
}
