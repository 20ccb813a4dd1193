// The synthetic device, on a copy whose loop nest is small enough to compute by hand.
#include "group.h"
#include "wording.h"

#include "base/mem.h"
#include "script/script.h"
#include "trial/source.h"

#include <stddef.h>

// 65536 elements: workgroups of t invocations with v elements each, side by side, or far apart.
static const char copy[] =
    "local N = size('N', 9)\n"
    "operator.matmul { N = N, M = 8, K = 8 }\n"
    "param.t = discrete { 32, 256, 2048 }\n"
    "param.v = discrete { 1, 4 }\n"
    "param.far = discrete { 0, 1 }\n"
    "kernel { template = 't.comp', groups = function() return { 1 } end }\n"
    "nest(function(c, d)\n"
    "  local count = 65536 // (c.t * c.v)\n"
    "  local block = d.loop { 'block', kind = 'block_x', length = count }\n"
    "  local thread = d.loop { 'thread', kind = 'thread_x', length = c.t }\n"
    "  local vector = d.loop { 'vector', kind = 'vectorized', length = c.v }\n"
    "  local a, b = d.buffer { 'a', 1 << 26 }, d.buffer { 'b', 1 << 26 }\n"
    "  local place = thread * d.choose(c.far, 1024, c.v)\n"
    "  local at = block * (c.t * c.v) + place + vector\n"
    "  d.statement { 'copy', loops = { block, thread, vector }, add = N - 8, stores = b { at }, "
    "reads = { a { at } } }\n"
    "end)\n";

// `n` is 8 and the additions for each element.
static struct script *make(const char *n)
{
    static const struct script_text texts[] = {{"a.lua", "a.lua", copy}, {"t.comp", "t.comp", "x"}};
    struct err e;
    struct script *s = script_create(&(struct script_options){.path = "a.lua",
                                                              .texts = texts,
                                                              .text_count = 2,
                                                              .set = &(struct setting){"N", n},
                                                              .set_count = 1},
                                     &e);
    if (!s)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return s;
}

// Indices in the lists above.
static double quality(const struct script *s, int t, int v, int far)
{
    const struct space *space = script_space(s);
    struct config c = {.slot = {t, v, far}};
    struct err e;
    struct source *source = synthetic_create("machine", space, 1e9, 1, &e);
    assert_non_null(source);
    double q = synthetic_quality(source, &c, NULL);
    source_destroy(source);
    return q;
}

static void assert_near(double value, double expected)
{
    if (value < expected * (1 - 1e-12) || value > expected * (1 + 1e-12))
        fail_msg("%.17g is not %.17g", value, expected);
}

// 256 invocations with 4 elements each: 64 workgroups. A warp issues 4/2 cycles of additions and
// two accesses of 8 cycles, each over 32 * 16 / 64 = 8 lines: 130. Each core has two workgroups of
// 8 warps, at 4 warps a cycle; 8 workgroups fit, enough to hide latency: 2 * 8 * 130 / 4 = 520.
// 65536 * 2 * 4 bytes at 32 * 16 a cycle take 1024, the additions alone 65536 / (2 * 4096) = 8.
static void a_copy_is_reckoned(void **state)
{
    (void)state;
    struct script *s = make("9");
    assert_near(quality(s, 1, 1, 0), 8 / (1024 + 0.2 * 520));
    // One element each: 256 workgroups, 8 a core; 0.5 + 2 * 8 * 2 lines = 32.5: 8 * 8 * 32.5 / 4.
    assert_near(quality(s, 1, 0, 0), 8 / (1024 + 0.2 * 520));
    // One warp a workgroup, of which 16 fit: 2048 of them, 64 a core, 64 * 1 * 32.5 / 4.
    assert_near(quality(s, 0, 0, 0), 8 / (1024 + 0.2 * 520));
    // Far apart, every lane has its line: 0.5 + 2 * 8 * 32 = 512.5.
    assert_near(quality(s, 1, 0, 1), 8 / (8 * 8 * 512.5 / 4 + 0.2 * 1024));
    // 2048 invocations are more than a workgroup may have: 9 times what 32 workgroups of 64 warps
    // take.
    assert_near(quality(s, 2, 0, 0), 8 / (9 * 64 * 32.5 / 4 + 0.2 * 1024));
    script_destroy(s);
}

// Without operations, moving an element counts as one; two accesses issue 128 cycles, as above.
static void what_only_moves_has_a_speed(void **state)
{
    (void)state;
    struct script *s = make("8");
    assert_near(quality(s, 1, 1, 0), 8 / (1024 + 0.2 * 512));
    assert_near(quality(s, 1, 0, 1), 8 / (8 * 8 * 512.0 / 4 + 0.2 * 1024));
    script_destroy(s);
}

// Statistics are a function of the nest; a request that only compiles has no time.
static void its_compiler_tells(void **state)
{
    (void)state;
    struct script *s = make("9");
    struct source *source = synthetic_create("machine:statistics=1", script_space(s), 1e9, 2, NULL);
    assert_true(synthetic_has_statistics("machine:seed=2:statistics=1") &&
                !synthetic_has_statistics("machine"));
    for (int compiles = 0; compiles < 2; compiles++) {
        struct trial_request r = {.ticket = compiles,
                                  .count = 1,
                                  .only_compiles = compiles,
                                  .config = {{.slot = {1, 1, 0}}}};
        struct trial_result result;
        double threads = 0;
        source_submit(source, &r);
        assert_true(source_collect(source, &result));
        assert_int_equal(result.outcome[0], OUTCOME_OK);
        assert_int_equal(result.samples[0].count, !compiles);
        assert_true(compiles == (result.seconds[0] == 0));
        assert_true(statistics_total(&result.statistics[0], STATISTIC_REGISTERS, &threads));
        assert_true(threads == 16); // addresses only
        assert_true(statistics_total(&result.statistics[0], STATISTIC_OCCUPANCY, &threads));
        assert_true(threads == 64); // 8 groups of 256
    }
    source_destroy(source);
    script_destroy(s);
    struct err e;
    assert_null(synthetic_create("bowl:statistics=1", NULL, 1e9, 1, &e));
}

static void without_a_nest_there_is_no_machine(void **state)
{
    (void)state;
    struct space *s = space_create("bare");
    struct param p;
    struct err e = {0};
    assert_true(param_factorization(&p, &s->arena, "p", 8, 2, &e) && space_add(s, &p, &e) &&
                space_seal(s, &e));
    assert_null(synthetic_create("machine", s, 1, 1, &e));
    wording_is("trial", "machine: no nest", e.text);
    space_destroy(s);
}

TEST_GROUP(machine)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_reckoned),
        cmocka_unit_test(what_only_moves_has_a_speed),
        cmocka_unit_test(its_compiler_tells),
        cmocka_unit_test(without_a_nest_there_is_no_machine),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
