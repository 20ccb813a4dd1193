// Logs of GGML_VK_PERF_LOGGER: what is taken is a list that can be tuned.
#include "imported.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, &import_perf_log);
    return 0;
}
