// Tables of kernels: what can be read is written as it was.
#include "harness.h"

#include "base/str.h"
#include "report/kernel_table.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static void check_written(const struct kernel_table *t)
{
    struct kernel_table again;
    struct str text = {0}, second = {0};
    struct err e;
    kernel_table_add_text(t, &text);
    kernel_table_init(&again);
    must(kernel_table_read(&again, fuzz_file((const uint8_t *)str_text(&text), text.length), &e),
         "what was written can be read");
    kernel_table_add_text(&again, &second);
    must(str_equal(str_text(&text), str_text(&second)), "it comes back as it was");
    kernel_table_finish(&again);
    str_finish(&text);
    str_finish(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kernel_table t;
    struct err e;
    kernel_table_init(&t);
    if (kernel_table_read(&t, fuzz_file(data, size), &e))
        check_written(&t);
    kernel_table_finish(&t);
    return 0;
}
