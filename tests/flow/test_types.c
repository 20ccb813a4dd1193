// Buffers of every type: a kernel of a space file that moves them is measured and right, whether
// steps or a kernel compute the right result; a wrong one is found; what does not fit is refused.
#include "group.h"
#include "sessions.h"

#include "space/tensor.h"

#include <string.h>

#define SPACE                                                                                      \
    "local n = size('n', 1001)\n"                                                                  \
    "operator.define { name = 'moved', bytes = n, inputs = { { 'In', n, type = '%s'%s } },\n"      \
    "  output = { 'Out', n, type = '%s' }, reference = { %s } }\n"                                 \
    "param.block = discrete { 32, 64 }\n"                                                          \
    "resources(function(c) return { invocations = { c.block }, groups = { n // c.block + 1 } } "   \
    "end)\n"                                                                                       \
    "kernel { template = 'move.comp', values = function() return { word = '%s' } end }\n"
#define STEP   "{ 'copy', 'In', 'Out', rows = n, columns = 1 }"
#define KERNEL "template = 'right.comp', groups = { n }"

// The reference moves one number an invocation, the candidates `block`, perhaps from the wrong
// place.
#define SHADER(local, from)                                                                        \
    "#version 450\n"                                                                               \
    "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"                               \
    "#extension GL_EXT_shader_8bit_storage : require\n"                                            \
    "#extension GL_EXT_shader_16bit_storage : require\n"                                           \
    "layout(local_size_x = " local ") in;\n"                                                       \
    "layout(std430, binding = 0) readonly buffer In { %s x[]; };\n"                                \
    "layout(std430, binding = 1) writeonly buffer Out { %s y[]; };\n"                              \
    "void main() { uint i = gl_GlobalInvocationID.x; if (i < ${n}) y[i] = x[" from "]; }\n"

// How GLSL names what holds an element: whole numbers hold the floats that it has no name for.
static const char *word_of(enum element e)
{
    static const char *const words[ELEMENT_COUNT] = {
        [ELEMENT_F32] = "float",     [ELEMENT_F16] = "float16_t",  [ELEMENT_F64] = "double",
        [ELEMENT_BF16] = "uint16_t", [ELEMENT_F8E4M3] = "uint8_t", [ELEMENT_F8E5M2] = "uint8_t",
        [ELEMENT_I8] = "int8_t",     [ELEMENT_I16] = "int16_t",    [ELEMENT_I32] = "int",
        [ELEMENT_I64] = "int64_t",   [ELEMENT_U8] = "uint8_t",     [ELEMENT_U16] = "uint16_t",
        [ELEMENT_U32] = "uint",      [ELEMENT_U64] = "uint64_t"};
    assert_non_null(words[e]);
    return words[e];
}

static const char *write_space(struct box *b, enum element e, const char *reference,
                               const char *fill, bool is_wrong)
{
    const char *name = element_name(e), *word = word_of(e);
    box_write(b, "move.comp",
              arena_printf(&b->arena,
                           is_wrong ? SHADER("${c.block}", "i > 7 ? i - 1 : i")
                                    : SHADER("${c.block}", "i"),
                           word, word));
    box_write(b, "right.comp", arena_printf(&b->arena, SHADER("1", "i"), word, word));
    return box_write(b, "types.lua",
                     arena_printf(&b->arena, SPACE, name, fill, name, reference, word));
}

static void each_type_is_moved(void **state)
{
    struct box *b = *state;
    for (enum element e = 0; e < ELEMENT_COUNT; e++) {
        const char *file = write_space(b, e, e % 2 ? STEP : KERNEL, "", false);
        struct result r = RUN(b, "tune", file, "--trials", "2", "--seed", "1");
        if (r.code != 0)
            fail_msg("%s: %s%s", element_name(e), r.out, r.err);
        assert_contains(r.out, "ok 2");
    }
}

static void a_wrong_move_is_found(void **state)
{
    struct box *b = *state;
    static const enum element types[] = {ELEMENT_U8, ELEMENT_F8E4M3, ELEMENT_BF16, ELEMENT_I64,
                                         ELEMENT_F64};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *file = write_space(b, types[i], STEP, "", true);
        struct result r = RUN(b, "tune", file, "--trials", "1", "--seed", "1");
        assert_int_equal(r.code, 3);
        assert_contains(r.out, "wrong 1");
    }
}

// Every number of the small floats, those of its exponent 0 too.
static void bits_become_floats(void **state)
{
    struct box *b = *state;
    static const char *const types[][2] = {{"bf16", "{ -1e30, 1e30 }"},
                                           {"f8e4m3", "{ -448, 448 }"},
                                           {"f8e4m3", "{ -0.02, 0.02 }"},
                                           {"f8e5m2", "{ -5e4, 5e4 }"},
                                           {"f8e5m2", "{ -1e-4, 1e-4 }"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *type = types[i][0];
        box_write(
            b, "decode.comp",
            arena_printf(&b->arena,
                         "#version 450\n"
                         "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
                         "#extension GL_EXT_shader_8bit_storage : require\n"
                         "#extension GL_EXT_shader_16bit_storage : require\n"
                         "layout(local_size_x = ${c.block}) in;\n"
                         "layout(std430, binding = 0) readonly buffer In { ${t.vector}4 x[]; };\n"
                         "layout(std430, binding = 1) writeonly buffer Out { float y[]; };\n"
                         "${t.decoder}\n"
                         "void main()\n{\n    uint i = gl_GlobalInvocationID.x;\n"
                         "    y[4 * i] = float_of_%s(uint(x[i].x));\n"
                         "    y[4 * i + 1] = float_of_%s(uvec4(x[i])).y;\n"
                         "    y[4 * i + 2] = float_of_%s(uvec2(x[i].zw)).x;\n"
                         "    y[4 * i + 3] = float_of_%s(uvec2(x[i].zw)).y;\n}\n",
                         type, type, type, type));
        const char *file = box_write(
            b, "decode.lua",
            arena_printf(
                &b->arena,
                "operator.define { name = 'decode', bytes = 1, inputs = { { 'In', 8192, "
                "type = '%s', fill = %s } },\n"
                "  output = { 'Out', 8192 }, reference = { { 'dequantize', 'In', 'Out' } },\n"
                "  tolerance = { absolute = 0, relative = 0 } }\n"
                "param.block = discrete { 32, 64 }\n"
                "resources(function(c) return { invocations = { c.block }, groups = { 2048 "
                "// c.block } } end)\n"
                "kernel { template = 'decode.comp', values = function() return { t = "
                "elements.%s } end }\n",
                type, types[i][1], type));
        struct result r = RUN(b, "tune", file, "--trials", "2", "--seed", "1");
        if (r.code != 0)
            fail_msg("%s %s: %s%s", type, types[i][1], r.out, r.err);
        assert_contains(r.out, "ok 2");
    }
}

// Numbers between those of the small floats, below and above them all.
static void floats_become_bits(void **state)
{
    struct box *b = *state;
    static const char *const types[][2] = {
        {"bf16", "{ -1e30, 1e30 }"}, {"bf16", "{ -1e-30, 1e-30 }"},
        {"f8e4m3", "{ -460, 460 }"}, {"f8e4m3", "{ -0.02, 0.02 }"},
        {"f8e5m2", "{ -9e4, 9e4 }"}, {"f8e5m2", "{ -1e-4, 1e-4 }"}};
    box_write(b, "encode.comp",
              "#version 450\n"
              "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
              "#extension GL_EXT_shader_8bit_storage : require\n"
              "#extension GL_EXT_shader_16bit_storage : require\n"
              "layout(local_size_x = ${c.block}) in;\n"
              "layout(std430, binding = 0) readonly buffer In { vec2 x[]; };\n"
              "layout(std430, binding = 1) writeonly buffer Out { ${glsl.vector(to, 2)} y[]; };\n"
              "${glsl.encoder(to)}\n"
              "void main()\n{\n    uint i = gl_GlobalInvocationID.x;\n"
              "    y[i] = ${glsl.converted('x[i]', 'f32', to, 2)};\n}\n");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *file = box_write(
            b, "encode.lua",
            arena_printf(
                &b->arena,
                "operator.define { name = 'encode', bytes = 1, inputs = { { 'In', 8192, "
                "fill = %s } },\n"
                "  output = { 'Out', 8192, type = '%s' },\n"
                "  reference = { { 'copy', 'In', 'Out', rows = 1, columns = 8192, to = '%s' } },\n"
                "  tolerance = { absolute = 0, relative = 0 } }\n"
                "param.block = discrete { 32, 64 }\n"
                "resources(function(c) return { invocations = { c.block }, groups = { 4096 "
                "// c.block } } end)\n"
                "local glsl = include 'glsl.lua'\n"
                "kernel { template = 'encode.comp', values = function() return { glsl = glsl, "
                "to = '%s' } end }\n",
                types[i][1], types[i][0], types[i][0], types[i][0]));
        struct result r = RUN(b, "tune", file, "--trials", "2", "--seed", "1");
        if (r.code != 0)
            fail_msg("%s %s: %s%s", types[i][0], types[i][1], r.out, r.err);
        assert_contains(r.out, "ok 2");
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "check", write_space(b, ELEMENT_U8, STEP, ", fill = { -1, 1 }", false));
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "types.lua:2: ");
    assert_contains(r.err, "buffer In");
    r = RUN(b, "check", write_space(b, ELEMENT_I16, STEP, ", fill = { 0, 32768 }", false));
    assert_int_equal(r.code, 1);
    r = RUN(b, "check", write_space(b, ELEMENT_U16, STEP, ", fill = { 0, 65535 }", false));
    assert_ok(&r);
    box_write(b, "move.comp",
              "#version 450\nlayout(local_size_x = 1) in;\n"
              "layout(std430, binding = 0) buffer B { bfloat16_t b[]; };\nvoid main() {}\n");
    r = RUN(b, "check", box_path(b, "types.lua"));
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "move.comp:3: bfloat16_t");
}

static void devices_list_their_types(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    assert_contains(r.out, "\"types\":[\"f32\",");
    box_write(b, "right.comp", "");
    r = RUN(b, "check",
            box_write(b, "device.lua", "if device.types.u32 then error('has u32') end\n"));
    assert_contains(r.err, "has u32");
    r = RUN(b, "check", box_write(b, "device.lua", "if device.types.u33 then end\n"));
    assert_contains(r.err, "u32");
}

TEST_GROUP(types)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(each_type_is_moved),           FLOW_TEST(a_wrong_move_is_found),
        FLOW_TEST(bits_become_floats),           FLOW_TEST(floats_become_bits),
        FLOW_TEST(what_does_not_fit_is_refused), FLOW_TEST(devices_list_their_types),
    };
    if (!has_device())
        return EXIT_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
