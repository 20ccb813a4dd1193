// GGUF files: what is taken is a list that can be tuned.
#include "imported.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, &import_gguf);
    return 0;
}
