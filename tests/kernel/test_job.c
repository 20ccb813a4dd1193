// A job's hash covers what is run and nothing else.
#include "kernel/job.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct job two_passes(void)
{
    struct job j = {.pass_count = 2, .scratch_bytes = 64};
    for (int i = 0; i < 2; i++) {
        struct pass *p = &j.pass[i];
        p->glsl = mem_printf("void main() {} // %d", i);
        p->template_name = mem_strdup("gemm.comp");
        p->line_map = mem_zero(1, sizeof *p->line_map);
        p->line_count = 1;
        p->groups[0] = 4;
        p->groups[1] = p->groups[2] = 1;
    }
    return j;
}

static void assert_changes_hash(void (*change)(struct job *), int expected)
{
    struct job j = two_passes();
    char before[33], after[33];
    job_hash(&j, before);
    change(&j);
    job_hash(&j, after);
    assert_int_equal(strlen(after), 32);
    assert_int_equal(strcmp(before, after) != 0, expected);
    job_finish(&j);
}

static void nothing(struct job *j)
{
    (void)j;
}

static void text(struct job *j)
{
    j->pass[1].glsl[0] = 'V';
}

static void groups(struct job *j)
{
    j->pass[1].groups[2] = 2;
}

static void scratch(struct job *j)
{
    j->scratch_bytes++;
}

static void order(struct job *j)
{
    struct pass first = j->pass[0];
    j->pass[0] = j->pass[1];
    j->pass[1] = first;
}

static void name_and_lines(struct job *j)
{
    j->pass[0].template_name[0] = 'x';
    j->pass[0].line_map[0] = 7;
}

static void test_hash(void **state)
{
    (void)state;
    assert_changes_hash(nothing, 0);
    assert_changes_hash(text, 1);
    assert_changes_hash(groups, 1);
    assert_changes_hash(scratch, 1);
    assert_changes_hash(order, 1);
    assert_changes_hash(name_and_lines, 0);
}

static void test_finish(void **state)
{
    (void)state;
    struct job j = two_passes(), empty = {0};
    job_finish(&j);
    assert_memory_equal(&j, &empty, sizeof j);
    job_finish(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hash), cmocka_unit_test(test_finish)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
