// First runs in parts: every workgroup exactly once, whatever the grid and the size of the parts.
#include "base/rng.h"
#include "gpu/vk.h"
#include "group.h"
#include "rig.h"

#include <stddef.h>
#include <string.h>

enum { WORDS = 4096, PART = 32 };

// Counts every workgroup of a pass that is cut into parts of changing size.
static void cut(struct rng *r, const uint32_t groups[3])
{
    int seen[7][7][7] = {{{0}}};
    struct gpu_pass pass = {.groups = {groups[0], groups[1], groups[2]}};
    uint64_t done = 0, total = (uint64_t)groups[0] * groups[1] * groups[2];
    while (done < total) {
        uint64_t most = 1 + rng_below(r, rng_below(r, 2) ? 8 : 400);
        struct gpu_pass p = parts_next(&pass, done, most);
        uint64_t count = (uint64_t)p.groups[0] * p.groups[1] * p.groups[2];
        assert_in_range(count, 1, most);
        assert_true(done > 0 || most < total || count == total); // no cut without need
        for (uint32_t x = p.base[0]; x < p.base[0] + p.groups[0]; x++)
            for (uint32_t y = p.base[1]; y < p.base[1] + p.groups[1]; y++)
                for (uint32_t z = p.base[2]; z < p.base[2] + p.groups[2]; z++) {
                    assert_true(x < groups[0] && y < groups[1] && z < groups[2]);
                    seen[x][y][z]++;
                }
        done += count;
    }
    for (uint32_t i = 0; i < total; i++)
        assert_int_equal(seen[i % groups[0]][i / groups[0] % groups[1]][i / groups[0] / groups[1]],
                         1);
}

static void test_every_group_once(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 1);
    for (int n = 0; n < 2000; n++) {
        const uint32_t groups[3] = {1 + (uint32_t)rng_below(&r, 7), 1 + (uint32_t)rng_below(&r, 7),
                                    1 + (uint32_t)rng_below(&r, 7)};
        cut(&r, groups);
    }
}

static void test_sizes_of_parts(void **state)
{
    (void)state;
    assert_int_equal(parts_first(0.01, 0.25), 25);
    assert_int_equal(parts_first(10, 0.25), 1);
    assert_true(parts_first(1e-300, 0.25) >= UINT64_C(1) << 40);
    assert_int_equal(parts_grow(100, 100, 0.001, 0.2), 800); // at most eight times as many
    assert_int_equal(parts_grow(100, 100, 0.05, 0.2), 200);  // to half of what may be
    assert_int_equal(parts_grow(100, 100, 1, 0.2), 10);      // fewer when it took too long
    assert_int_equal(parts_grow(100, 3, 0.001, 0.2), 100);   // the rest of a row is too short
    assert_int_equal(parts_grow(100, 50, 0.2, 0.2), 25);     // but not when it took long
    assert_int_equal(parts_grow(1, 1, 10, 0.2), 1);
}

// Adds to every element, so that a group that runs twice or never is seen.
static void test_run(void **state)
{
    struct gpu *g = *state;
    static const double group_s[] = {1e-9, 1e3}; // thought to be short; to be endless
    struct gpu_pipeline *add = rig_pipeline(g, "c[i] += a[i] + gl_WorkGroupID.x;");
    const struct gpu_pass pass[2] = {{.pipeline = add, .groups = {WORDS / PART, 1, 1}},
                                     {.pipeline = add, .groups = {WORDS / PART, 1, 1}}};
    for (int k = 0; k < 2; k++) {
        struct gpu_buffer *buffer[3] = {rig_buffer(g, WORDS, 3), rig_buffer(g, WORDS, 0),
                                        rig_buffer(g, WORDS, 1)};
        const struct gpu_sequence all = {pass, 2, buffer, 3};
        const struct gpu_pace pace = {.group_s = group_s[k], .submit_s = 0.2, .timeout_s = 60};
        struct gpu_parts parts;
        struct err e;
        if (gpu_run_in_parts(g, &all, &pace, &parts, &e) != GPU_OK)
            fail_msg("%s", e.text);
        assert_true(parts.seconds > 0);
        assert_int_equal(parts.count > 2, k);
        assert_int_equal(parts.is_split, k);
        uint32_t out[WORDS];
        rig_read(g, buffer[2], out, WORDS);
        for (uint32_t i = 0; i < WORDS; i++)
            assert_int_equal(out[i], 1 + 2 * (3 + i / PART));
        for (int i = 0; i < 3; i++)
            gpu_buffer_destroy(g, buffer[i]);
    }
    gpu_pipeline_destroy(g, add);
}

static void test_no_time(void **state)
{
    struct gpu *g = *state;
    struct gpu_pipeline *add = rig_pipeline(g, "c[i] += 1;");
    const struct gpu_pass pass = {.pipeline = add, .groups = {WORDS / PART, 1, 1}};
    struct gpu_buffer *buffer[3] = {rig_buffer(g, WORDS, 3), rig_buffer(g, WORDS, 0),
                                    rig_buffer(g, WORDS, 1)};
    const struct gpu_sequence all = {&pass, 1, buffer, 3};
    const struct gpu_pace pace = {.group_s = 1, .submit_s = 0.2, .timeout_s = 0};
    struct gpu_parts parts;
    struct err e = {0};
    assert_int_equal(gpu_run_in_parts(g, &all, &pace, &parts, &e), GPU_TIMEOUT);
    assert_int_equal(parts.count, 0);
    assert_non_null(strstr(e.text, "not done"));
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(g, buffer[i]);
    gpu_pipeline_destroy(g, add);
}

// However little of its time is left when it begins the part that it does not end.
static void test_not_enough_time(void **state)
{
    struct gpu *g = *state;
    struct gpu_pipeline *slow =
        rig_pipeline(g, "for (uint k = 0; k < 60000; k++) c[i] = c[i] * 5 + a[k % 4096];");
    const struct gpu_pass pass = {.pipeline = slow, .groups = {WORDS / PART, 1, 1}};
    struct gpu_buffer *buffer[3] = {rig_buffer(g, WORDS, 3), rig_buffer(g, WORDS, 0),
                                    rig_buffer(g, WORDS, 1)};
    const struct gpu_sequence all = {&pass, 1, buffer, 3};
    const struct gpu_pace pace = {.group_s = 1, .submit_s = 1e-4, .timeout_s = 1e-3};
    struct gpu_parts parts;
    struct err e = {0};
    assert_int_equal(gpu_run_in_parts(g, &all, &pace, &parts, &e), GPU_TIMEOUT);
    assert_string_equal(e.text, "the kernel is not done after 0.001 s");
    assert_int_equal(vk_settle(g, 60, NULL), GPU_OK); // else nothing can be destroyed
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(g, buffer[i]);
    gpu_pipeline_destroy(g, slow);
}

TEST_GROUP(parts)
{
    struct gpu *g = rig_open(false);
    if (!g)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_group_once),
        cmocka_unit_test(test_sizes_of_parts),
        cmocka_unit_test_prestate(test_run, g),
        cmocka_unit_test_prestate(test_no_time, g),
        cmocka_unit_test_prestate(test_not_enough_time, g),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(g);
    return failed;
}
