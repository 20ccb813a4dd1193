// The size of subgroups as a parameter of every preset: there where a device offers several, and
// then workgroups are whole subgroups; nothing of it where it has one. Matrix units have the
// smallest.
#include "group.h"
#include "variant.h"

#include "space/custom_operation.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { DRAWN = 12, LEAST = 16, MOST = 64, MOST_SUBGROUPS = 8 };

static struct limits with_range(uint32_t least, uint32_t most)
{
    struct limits l = variant_gpu;
    l.buffer_bytes = INT64_MAX; // the paper's batches are large, and nothing is run
    l.subgroup_size = MOST;
    l.subgroup_least = least;
    l.subgroup_most = most;
    l.group_subgroups = MOST_SUBGROUPS;
    return l;
}

// Those of halves have matrix units here, which ask for the smallest as gemm-coop does.
static const char *settings_of(const char *preset)
{
    return str_equal(preset, "gemm16") ? "units=none" : "";
}

// The size that the parameter has in `c`; 0: there is none.
static uint32_t size_in(const struct script *s, const struct config *c)
{
    static const char name[] = "\"subgroup_size\":";
    struct str json = {0};
    config_add_json(script_space(s), c, &json);
    const char *at = strstr(str_text(&json), name);
    uint32_t size = at ? (uint32_t)strtoul(at + strlen(name), NULL, 10) : 0;
    str_finish(&json);
    return size;
}

static void check_point(struct script *s, const struct config *c, const struct resources *needs,
                        const char *preset)
{
    uint64_t invocations = needs->group_size[0];
    uint32_t size = str_equal(preset, "gemm-coop") ? LEAST : size_in(s, c);
    struct job job;
    struct err e;
    for (int i = 1; i < 3; i++)
        invocations *= needs->group_size[i] ? needs->group_size[i] : 1;
    if (size < LEAST || size > MOST || invocations % size || invocations / size > MOST_SUBGROUPS)
        fail_msg("%s: subgroups of %u, %d invocations", preset, size, (int)invocations);
    if (!script_render(s, c, &job, &e))
        fail_msg("%s: %s", preset, e.text);
    int asking = 0;
    for (int i = 0; i < job.pass_count; i++) {
        asking += job.pass[i].subgroup != 0;
        assert_true(job.pass[i].subgroup == 0 || job.pass[i].subgroup == size);
    }
    assert_int_equal(asking, 1);
    job_finish(&job);
}

static void check_range(const char *preset, struct rng *r)
{
    struct limits l = with_range(LEAST, MOST);
    struct script *s = variant_load(preset, "discrete", &l, settings_of(preset));
    uint32_t seen = 0;
    for (int i = 0; i < DRAWN; i++) {
        struct config c;
        struct resources needs;
        if (!variant_sample(s, &l, r, &c, &needs))
            fail_msg("%s: no legal point", preset);
        check_point(s, &c, &needs, preset);
        seen |= size_in(s, &c);
    }
    if (!(seen & (seen - 1)) && !str_equal(preset, "gemm-coop"))
        fail_msg("%s: one size only", preset);
    script_destroy(s);
}

static bool lays_out_lanes(const struct script *s)
{
    const struct space *space = script_space(s);
    int i = 0;
    while (i < space->param_count && !str_equal(space->param[i].name, "lanes"))
        i++;
    return i < space->param_count;
}

// One size, or none that may be asked for: the space of before, and kernels that ask for nothing.
// Lanes are laid out by a size that is known, on a GPU.
static void check_one(const char *preset, struct rng *r)
{
    struct limits none = with_range(0, 0), one = with_range(MOST, MOST);
    struct script *same = variant_load(preset, "discrete", &one, settings_of(preset));
    bool lays_out = lays_out_lanes(same);
    if (lays_out) {
        script_destroy(same);
        same = variant_load(preset, "cpu", &one, settings_of(preset));
        assert_non_null(strstr("gemm gemm16 conv-implicit conv1x1 conv-winograd", preset));
    }
    struct script *s =
        variant_load(preset, lays_out ? "cpu" : "discrete", &none, settings_of(preset));
    struct config c;
    struct resources needs;
    struct job job, other;
    struct err e;
    assert_false(lays_out_lanes(s));
    assert_string_equal(script_space(s)->size_text, script_space(same)->size_text);
    assert_int_equal(script_space(s)->slots, script_space(same)->slots);
    assert_true(variant_sample(s, &none, r, &c, &needs));
    assert_int_equal(size_in(s, &c), 0);
    assert_true(script_render(s, &c, &job, &e) && script_render(same, &c, &other, &e));
    assert_int_equal(job.pass_count, other.pass_count);
    for (int i = 0; i < job.pass_count; i++) {
        assert_int_equal(job.pass[i].subgroup, 0);
        assert_string_equal(job.pass[i].glsl, other.pass[i].glsl);
    }
    job_finish(&job);
    job_finish(&other);
    script_destroy(same);
    script_destroy(s);
}

// Kernels that follow from a definition do not choose yet (docs/guide/definitions.md).
static bool is_computed(const char *preset)
{
    struct limits l = with_range(LEAST, MOST);
    struct script *s = variant_load(preset, "discrete", &l, settings_of(preset));
    const struct custom_operation *c = custom_of(script_operation(s));
    bool computed = c && c->definition;
    script_destroy(s);
    return computed;
}

static void check_both(const char *preset, struct rng *r)
{
    if (!is_computed(preset))
        check_range(preset, r);
    check_one(preset, r);
}

static void test_presets(void **state)
{
    (void)state;
    variant_each_preset(check_both);
}

TEST_GROUP(subgroups)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
    };
    return cmocka_run_group_tests_name("subgroups", tests, NULL, NULL);
}
