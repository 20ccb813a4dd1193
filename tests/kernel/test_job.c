// A job gives back what it holds, also twice.
#include "group.h"

#include "kernel/job.h"

#include "base/mem.h"

#include <stddef.h>

static struct job two_passes(void)
{
    struct job j = {.scratch_bytes = 64};
    for (int i = 0; i < 2; i++) {
        struct pass *p = job_add_pass(&j);
        p->glsl = mem_printf("void main() {} // %d", i);
        p->template_name = mem_strdup("gemm.comp");
        p->line_map = mem_zero(1, sizeof *p->line_map);
        p->line_count = 1;
        p->groups[0] = 4;
        p->groups[1] = p->groups[2] = 1;
    }
    return j;
}

static void test_finish(void **state)
{
    (void)state;
    struct job j = two_passes(), empty = {0};
    job_finish(&j);
    assert_memory_equal(&j, &empty, sizeof j);
    job_finish(&j);
}

TEST_GROUP(job)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finish)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
