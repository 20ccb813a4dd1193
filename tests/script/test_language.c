// The declarations of a space file, as the space, the operation, the sizes and rules see them.
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "group.h"
#include "help.h"

#include <stddef.h>
#include <string.h>

#define ALL_KINDS                                                                                  \
    "param.tile = factors(12, 3)\n"                                                                \
    "param.order = permutation { 'n', 'm', 'k' }\n"                                                \
    "param.unroll = discrete { 16, 0, 2.5 }\n"                                                     \
    "param.stage = categorical { 'none', 'shared' }\n"                                             \
    "param.walk = custom { values = { 'rows', 'bands', 'columns' }, neighbours = function(v)\n"    \
    "  return v == 'bands' and { 'rows', 'columns' } or { 'bands' } end }\n"                       \
    "param.width = custom { values = { 4, 1 }, neighbours = function(v) return { 5 - v } end }\n"

// A text of tests/script/lua (heap).
static char *read_lua(const char *name)
{
    const char *root = getenv("TILEWALK_DATA");
    char *path = mem_printf("%s/tests/script/lua/%s", root ? root : ".", name), *text;
    struct err e;
    if (!file_read(path, &text, NULL, &e))
        fail_msg("%s", e.text);
    free(path);
    return text;
}

static struct script *load_lua(const char *name)
{
    char *lua = read_lua(name);
    struct script *s = must_load((struct source[]){{name, lua}, {"t.comp", "x"}, {NULL, NULL}});
    free(lua);
    return s;
}

static void all_rules_hold(struct script *s, uint64_t point)
{
    struct config c;
    struct verdict v;
    struct err e;
    char message[1400];
    space_point(script_space(s), point, &c);
    if (!space_judge(script_space(s), NULL, &c, &v, &e))
        fail_msg("%s", err_format(&e, message, sizeof message));
    if (!v.legal)
        fail_msg("point %d: %s", (int)point, v.reason);
}

static void derived_values_are_made_once_for_each_configuration(void **state)
{
    (void)state;
    static const uint64_t point[] = {0, 1, 1, 2, 0};
    struct script *s = load_lua("derived.lua");
    for (int i = 0; i < 5; i++)
        all_rules_hold(s, point[i]);
    script_destroy(s);
}

static void parameters_keep_kind_order_and_line(void **state)
{
    (void)state;
    struct script *s = must_load(
        (struct source[]){{"a.lua", ALL_KINDS OPERATOR KERNEL}, {"t.comp", "x"}, {NULL, NULL}});
    const struct space *space = script_space(s);
    static const struct {
        const char *name;
        enum param_kind kind;
        uint64_t size;
        int line;
    } expected[] = {
        {"tile", PARAM_FACTORIZATION, 18, 1}, {"order", PARAM_PERMUTATION, 6, 2},
        {"unroll", PARAM_DISCRETE, 3, 3},     {"stage", PARAM_CATEGORICAL, 2, 4},
        {"walk", PARAM_CUSTOM, 3, 6},         {"width", PARAM_CUSTOM, 2, 7},
    };
    assert_string_equal(space->name, "a");
    assert_int_equal(space->param_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(space->param[i].name, expected[i].name);
        assert_int_equal(space->param[i].kind, expected[i].kind);
        assert_int_equal(space->param[i].size, expected[i].size);
        assert_int_equal(space->param[i].line, expected[i].line);
    }
    assert_string_equal(space->size_text, "3888");
    const struct param *walk = &space->param[4];
    assert_true(walk->connected);
    assert_int_equal(param_degree(walk, &(int32_t){0}), 1);
    assert_int_equal(param_degree(walk, &(int32_t){1}), 2);
    script_destroy(s);
}

// For every point, `c` written out by Lua is what the space itself writes.
static void c_shows_every_point_as_it_is(void **state)
{
    (void)state;
    struct script *s = must_load((struct source[]){
        {"a.lua", ALL_KINDS OPERATOR KERNEL},
        {"t.comp", "{\"tile\":[${table.concat({ c.tile[1], c.tile[2], c.tile[3] }, \",\")}],"
                   "\"order\":[\"${c.order[1]}\",\"${c.order[2]}\",\"${c.order[3]}\"],"
                   "\"unroll\":${c.unroll},\"stage\":\"${c.stage}\",\"walk\":\"${c.walk}\","
                   "\"width\":${c.width}}"},
        {NULL, NULL}});
    struct rng r;
    rng_seed(&r, 5);
    for (uint64_t i = 0; i < 3888; i++) { // in order, and jumping about
        uint64_t index = i % 2 ? i : rng_below(&r, 3888);
        struct config c;
        struct job job;
        struct err e;
        struct str json = {0};
        space_point(script_space(s), index, &c);
        assert_true(script_render(s, &c, &job, &e));
        config_add_json(script_space(s), &c, &json);
        str_add_char(&json, '\n');
        assert_string_equal(job.pass[0].glsl, str_text(&json));
        str_finish(&json);
        job_finish(&job);
    }
    script_destroy(s);
}

static void c_behaves_like_tables(void **state)
{
    (void)state;
    struct script *s = load_lua("tables.lua");
    assert_int_equal(script_space(s)->constraint_count, 9);
    all_rules_hold(s, 0);
    script_destroy(s);
}

static void the_library_is_ordered(void **state)
{
    (void)state;
    struct script *s = load_lua("library.lua");
    assert_int_equal(script_space(s)->constraint_count, 11);
    all_rules_hold(s, 0);
    script_destroy(s);
}

static void sizes_are_overridden(void **state)
{
    (void)state;
    struct source files[] = {
        {"a.lua", "use('b.lua', { N = 16, M = 32 })"},
        {"b.lua", "use('c.lua', { N = 1, K = 64 })"},
        {"c.lua", "local N, M, K = size('N', 2), size('M', 4), size('K', 8)\n"
                  "operator.matmul { N = N, M = M, K = K, type = 'f16', layout = 'tn' }\n" PARAM
                  "kernel { template = 't.comp', groups = function() return { 1 } end }"},
        {"t.comp", "${N} ${M} ${K} ${op.N} ${op.type} ${op.layout} ${op.kind}"},
        {NULL, NULL}};
    struct setting set[] = {{"M", "5"}, {"M", "7"}};
    struct err e;
    struct script *s = script_from_with(files, set, 2, &e);
    assert_non_null(s);
    int count;
    const struct script_setting *size = script_settings(s, &count);
    assert_int_equal(count, 3);
    assert_string_equal(size[0].name, "N");
    assert_string_equal(size[0].value, "16"); // the outermost use
    assert_string_equal(size[0].standard, "16");
    assert_string_equal(size[1].value, "7"); // the last --set
    assert_string_equal(size[1].standard, "32");
    assert_string_equal(size[2].value, "64");
    const struct operation *o = script_operation(s);
    assert_int_equal(operation_size(o, "M"), 7);
    assert_string_equal(operation_choice(o, "layout"), "tn");
    struct config c;
    struct job job;
    space_point(script_space(s), 0, &c);
    assert_true(script_render(s, &c, &job, &e));
    assert_string_equal(job.pass[0].glsl, "16 7 64 16 f16 tn matmul\n");
    job_finish(&job);
    script_destroy(s);
}

static void choices_are_overridden_and_the_operator_is_given_back(void **state)
{
    (void)state;
    char *choices = read_lua("choices.lua");
    struct source files[] = {
        {"a.lua", "use('b.lua', { walk = 'columns', type = 'i8', pad = 0 })"},
        {"b.lua", choices},
        {"t.comp", "${walk} ${order} ${type(op)} ${op.type} ${op.out_width} ${op.scale} ${pad}"},
        {NULL, NULL}};
    struct setting set[] = {{"type", "f16"}};
    struct err e;
    struct script *s = script_from_with(files, set, 1, &e);
    assert_non_null(s);
    int count;
    const struct script_setting *setting = script_settings(s, &count);
    assert_int_equal(count, 4);
    assert_string_equal(setting[1].standard, "i8");
    assert_string_equal(setting[1].value, "f16");
    assert_string_equal(setting[1].values[2], "i8");
    struct config c;
    struct job job;
    space_point(script_space(s), 0, &c);
    assert_true(script_render(s, &c, &job, &e));
    assert_string_equal(job.pass[0].glsl, "columns nhwc table f16 5 1.0 0\n");
    job_finish(&job);
    script_destroy(s);
    free(choices);
}

static void numbers_are_overridden(void **state)
{
    (void)state;
    struct source files[] = {{"a.lua", "use('b.lua', { scale = 0.25, N = 8 })"},
                             {"b.lua",
                              "local N = size('N', 4)\n"
                              "operator.matmul { N = N, M = N, K = N, activation = 'leaky',\n"
                              "  scale = number('scale', 1), slope = number('slope', 0.01) }\n"
                              "number('third', 1)\n" PARAM KERNEL},
                             {"t.comp", "${scale} ${slope} ${op.scale} ${op.slope} ${third}"},
                             {NULL, NULL}};
    struct setting set[] = {{"slope", "-1.50e-2"}, {"third", "1.0"}};
    struct err e;
    struct script *s = script_from_with(files, set, 2, &e);
    assert_non_null(s);
    const struct script_setting *slope = script_find_setting(s, "slope");
    assert_string_equal(slope->value, "-0.015"); // as settings are written everywhere
    assert_string_equal(slope->standard, "0.01");
    assert_false(slope->is_whole);
    const struct script_setting *third = script_find_setting(s, "third");
    assert_string_equal(third->value, third->standard);
    struct config c;
    struct job job;
    space_point(script_space(s), 0, &c);
    assert_true(script_render(s, &c, &job, &e));
    assert_string_equal(job.pass[0].glsl, "0.25 -0.015 0.25 -0.015 1.0\n");
    job_finish(&job);
    script_destroy(s);
}

static void modules_run_once_and_see_the_language(void **state)
{
    (void)state;
    char *modules = read_lua("modules.lua");
    struct source files[] = {{"a.lua", modules},
                             {"m.lua", "local m = { count = 0, type = device.type }\n"
                                       "m.count = m.count + 1\n" PARAM "return m"},
                             {"nothing.lua", ""},
                             {"t.comp", "x"},
                             {NULL, NULL}};
    script_destroy(must_load(files));
    free(modules);
}

static void the_device_is_what_the_options_say(void **state)
{
    (void)state;
    char *lua = read_lua("device.lua"), *without = read_lua("no_device.lua");
    struct script_text texts[] = {{"a.lua", "a.lua", lua}, {"t.comp", "t.comp", "x"}};
    struct limits l = {.invocations = 256,
                       .group_size = {8, 4, 2},
                       .shared_bytes = 4096,
                       .buffer_bytes = UINT64_MAX,
                       .loop_trips = 65535,
                       .subgroup_size = 4,
                       .buffers = 5,
                       .features = FEATURE_MATRIX2 << 6 | FEATURE_MATRIX2_FLEXIBLE,
                       .matrix_size = 512,
                       .matrix_invocations = 64,
                       .matrix_shared = 7,
                       .storage_images = 8,
                       .sampled_images = 9,
                       .samplers = 10,
                       .f16 = true,
                       .i8 = true};
    struct err e;
    assert_true(matrix_units_parse("nv 8x8x8.i8.i32 16x8x4.f16.f32", &l.matrix));
    static const char flexible[] = "khr 8x8x8.i8.i32 32x8x4.f16.f32*64";
    assert_true(matrix_units_parse(flexible, &l.flexible));
    struct script_options o = {.texts = texts, .text_count = 2, .limits = &l, .device_type = "cpu"};
    struct script *s = script_create(&o, &e);
    assert_non_null(s);
    script_destroy(s);

    texts[0].text = without;
    s = script_create(&(struct script_options){.texts = texts, .text_count = 2}, &e);
    assert_non_null(s);
    script_destroy(s);
    free(lua);
    free(without);
}

// A kernel that sees a buffer in a format is rendered for a device that has it, in one use or
// another.
static void formats_belong_to_the_device(void **state)
{
    (void)state;
    const struct script_text texts[] = {
        {"a.lua", "a.lua",
         OPERATOR PARAM
         "\nkernel { template = 't.comp', groups = { 1 }, image = function(c) return { "
         "A = { format = 'r16f' } } end }"},
        {"t.comp", "t.comp", "x"}};
    struct limits l = limits_vulkan_minimum;
    struct script_options o = {.texts = texts, .text_count = 2, .limits = &l};
    struct config c = {{4, 2}};
    struct job job;
    struct err e;
    for (int has = 0; has < 2; has++) {
        l.formats = has ? descriptor_bit(DESCRIPTOR_TEXELS, TEXEL_r16f) : 0;
        struct script *s = script_create(&o, &e);
        assert_non_null(s);
        assert_int_equal(script_render(s, &c, &job, &e), has);
        if (has)
            assert_int_equal(job.pass[0].image[0].form.format, TEXEL_r16f);
        else
            assert_true(e.line == 2 && str_equal(e.file, "a.lua") && strstr(e.text, "r16f"));
        job_finish(&job);
        script_destroy(s);
    }
}

static void a_space_alone_needs_nothing_else(void **state)
{
    (void)state;
    struct script_text text = {"a.lua", "a.lua",
                               PARAM "constraint('x', function(c) return c.p[1] == 4 end)"};
    struct script_options o = {.texts = &text, .text_count = 1, .space_only = true};
    struct verdict v;
    struct config c = {{4, 2}};
    struct err e;
    struct script *s = script_create(&o, &e);
    assert_non_null(s);
    assert_null(script_operation(s)->kind);
    assert_true(space_judge(script_space(s), NULL, &c, &v, &e) && v.legal);
    c = (struct config){{2, 4}};
    assert_true(space_judge(script_space(s), NULL, &c, &v, &e) && !v.legal);
    script_destroy(s);
    text.text = OPERATOR;
    assert_null(script_create(&o, &e));
    assert_string_equal(e.file, "a.lua");
}

static void rules_become_callbacks(void **state)
{
    (void)state;
    struct script *s = must_load((struct source[]){
        {"a.lua", OPERATOR KERNEL "param.x = discrete { 1, 2, 3, 4 }\n"
                                  "constraint('odd', function(c) return c.x % 2 == 1 end)\n"
                                  "constraint('small', function(c) return c.x < 3 end)\n"
                                  "resources(function(c) return {\n"
                                  "  invocations = { c.x * 64, 2 }, groups = { 8 / c.x, 5, 6 },\n"
                                  "  shared_bytes = c.x * 1e3, accumulators = 3, loop_trips = 4,\n"
                                  "  statements = 0, buffer_bytes = 2^40 } end)"},
        {"t.comp", "x"},
        {NULL, NULL}});
    const struct space *space = script_space(s);
    assert_int_equal(space->constraint_count, 2);
    assert_string_equal(space->constraint[0].name, "odd");
    assert_string_equal(space->constraint[0].file, "a.lua");
    assert_int_equal(space->constraint[0].line, 2);
    assert_int_equal(space->constraint[1].line, 3);
    struct err e;
    for (uint64_t i = 0; i < 4; i++) {
        struct config c;
        struct verdict v;
        space_point(space, i, &c);
        assert_true(space_judge(space, NULL, &c, &v, &e));
        int x = (int)i + 1;
        assert_int_equal(v.legal, x == 1);
        assert_int_equal(v.constraint, x % 2 == 0 ? 0 : x >= 3 ? 1 : -1);
    }
    struct config c;
    struct resources r;
    space_point(space, 1, &c);
    assert_true(space->resources(space->resources_context, &c, &r, &e));
    assert_int_equal(r.group_size[0], 128);
    assert_int_equal(r.group_size[1], 2);
    assert_int_equal(r.group_size[2], 1);
    assert_int_equal(r.groups[0], 4);
    assert_int_equal(r.groups[2], 6);
    assert_int_equal(r.shared_bytes, 2000);
    assert_int_equal(r.accumulators, 3);
    assert_int_equal(r.loop_trips, 4);
    assert_int_equal(r.statements, 0);
    assert_true(r.buffer_bytes == 1ull << 40);
    space_point(space, 2, &c); // 8 / 3 groups
    assert_false(space->resources(space->resources_context, &c, &r, &e));
    script_destroy(s);
}

TEST_GROUP(language)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_keep_kind_order_and_line),
        cmocka_unit_test(c_shows_every_point_as_it_is),
        cmocka_unit_test(c_behaves_like_tables),
        cmocka_unit_test(the_library_is_ordered),
        cmocka_unit_test(sizes_are_overridden),
        cmocka_unit_test(choices_are_overridden_and_the_operator_is_given_back),
        cmocka_unit_test(numbers_are_overridden),
        cmocka_unit_test(modules_run_once_and_see_the_language),
        cmocka_unit_test(the_device_is_what_the_options_say),
        cmocka_unit_test(formats_belong_to_the_device),
        cmocka_unit_test(a_space_alone_needs_nothing_else),
        cmocka_unit_test(derived_values_are_made_once_for_each_configuration),
        cmocka_unit_test(rules_become_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
