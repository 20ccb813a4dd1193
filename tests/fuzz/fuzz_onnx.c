// ONNX models: what is taken is a network that can be tuned, or says which layer cannot.
#include "imported.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, &import_onnx);
    return 0;
}
