// The rules of a space are evaluated on one thread while another one renders, as when a strategy
// plans beside the engine: both get the same results as alone.
#include "base/mem.h"
#include "base/task.h"
#include "group.h"
#include "help.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { ROUNDS = 200 };

static const struct source files[] = {
    {"a.lua",
     OPERATOR "param.t = factors(4096, 3) "
              "constraint('sum', function(c) local s = 0 "
              "  for i = 1, 3 do s = s + c.t[i] * i end return s % 3 == 0 end) "
              "resources(function(c) return { invocations = { c.t[1] }, groups = { 1 } } end) "
              "kernel { template = 't.comp', groups = function() return { 1 } end,"
              "  values = function(c) return { text = table.concat(c.t, ',') } end }"},
    {"t.comp", "% for i = 1, 20 do\n${text} ${c.t[1] * i}\n% end\n"},
    {NULL, NULL},
};

// Judges all points: the number of legal ones, and an order-dependent sum of their resources.
struct survey {
    const struct space *space;
    uint64_t legal, sum;
};

static void judge_all(struct survey *s)
{
    for (uint64_t i = 0; i < s->space->size; i++) {
        struct config c;
        struct verdict v;
        struct resources r;
        struct err e;
        space_point(s->space, i, &c);
        assert(space_judge(s->space, NULL, &c, &v, &e));
        assert(s->space->resources(s->space->resources_context, &c, &r, &e));
        s->legal += v.legal;
        s->sum = s->sum * 31 + r.group_size[0];
    }
}

static void judge_often(void *context, const atomic_bool *stop)
{
    struct survey *rounds = context;
    (void)stop;
    for (int i = 0; i < ROUNDS; i++)
        judge_all(&rounds[i]);
}

// The hash of all renderings.
static uint64_t render_all(struct script *script)
{
    const struct space *space = script_space(script);
    uint64_t hash = 0;
    for (uint64_t i = 0; i < space->size; i++) {
        struct config c;
        struct job job;
        struct err e;
        space_point(space, i, &c);
        assert_true(script_render(script, &c, &job, &e));
        hash = hash * 31 + hash_bytes(job.pass[0].glsl, strlen(job.pass[0].glsl));
        job_finish(&job);
    }
    return hash;
}

static void rules_and_templates_take_turns(void **state)
{
    (void)state;
    struct err e;
    struct script *script = script_from(files, &e);
    assert_non_null(script);
    struct survey alone = {.space = script_space(script)}, rounds[ROUNDS];
    judge_all(&alone);
    assert_true(alone.legal > 0 && alone.legal < alone.space->size);
    for (int i = 0; i < ROUNDS; i++)
        rounds[i] = (struct survey){.space = alone.space};
    uint64_t rendered = render_all(script);
    struct task *t = task_start(judge_often, rounds);
    assert_non_null(t);
    int renderings = 0;
    do {
        assert_int_equal(render_all(script), rendered);
        renderings++;
    } while (!task_is_done(t));
    task_finish(t, false);
    assert_true(renderings > 1); // they ran beside each other
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(rounds[i].legal, alone.legal);
        assert_int_equal(rounds[i].sum, alone.sum);
    }
    script_destroy(script);
}

TEST_GROUP(threads)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules_and_templates_take_turns)};
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
