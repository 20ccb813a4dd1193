// Kernels that see buffers as images, as texel buffers and in arrays: each kind is right on a
// device, a wrong kernel of each is found wrong, and what cannot be bound is refused by its name.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"
#include "space/image.h"

#include <string.h>

struct kind {
    const char *name, *lua, *glsl;
    const char *right, *wrong; // a part of the GLSL that makes it wrong when it is replaced
};

#define OPERATOR(rest) "operator.define { name = 'copies', flop = 256, " rest " }\n"
#define IN_OUT(count, type)                                                                        \
    "inputs = { { 'In', " count ", type = '" type "' } }, output = { 'Out', " count                \
    ", type = '" type "' }, reference = { { 'copy', 'In', 'Out', rows = " count                    \
    ", columns = 1 } }"
#define BLOCKS          "param.block = discrete { 8, 16 }\n"
#define KERNEL          "kernel { shader = 'x.comp', spec = function(c) return { [0] = c.block } end, "
#define GROUPS(x, y, z) "groups = function(c) return { " x " // c.block, " y ", " z " } end }\n"
#define HEAD            "#version 450\nlayout(local_size_x_id = 0) in;\n"
#define MAIN            "void main() { ivec3 at = ivec3(gl_GlobalInvocationID); "

static const struct kind kinds[] = {
    {"storage image",
     OPERATOR(IN_OUT("2048", "f16")) BLOCKS KERNEL
     "image = { In = { format = 'rgba16f', width = 32, height = 16 }, Out = { format = 'rgba16f', "
     "width = 32, height = 16 } }, " GROUPS("32", "16", "1"),
     HEAD "layout(binding = 0, rgba16f) readonly uniform image2D t_in;\n"
          "layout(binding = 1, rgba16f) writeonly uniform image2D t_out;\n" MAIN
          "imageStore(t_out, at.xy, imageLoad(t_in, at.xy)); }\n",
     "imageLoad(t_in, at.xy)", "imageLoad(t_in, ivec2(at.x, 0))"},
    {"3D image", // of a size that the configuration chooses
     OPERATOR(IN_OUT("512", "f32")) BLOCKS KERNEL
     "image = function(c) local w = c.block; return { In = { format = 'r32f', width = w, height = "
     "4, depth = 128 // w }, Out = { format = 'r32f', width = w, height = 4, depth = 128 // w } } "
     "end, groups = function(c) return { 1, 4, 128 // c.block } end }\n",
     HEAD
     "#define PRECISION highp\n"
     "layout(set = 0, binding = 0, r32f) uniform PRECISION restrict readonly image3D t_in;\n"
     "layout(set = 0, binding = 1, r32f) uniform PRECISION restrict writeonly image3D t_out;\n" MAIN
     "imageStore(t_out, at, imageLoad(t_in, at)); }\n",
     "imageStore(t_out, at,", "if (at.z > 0) imageStore(t_out, at,"},
    {"2D array",
     OPERATOR(IN_OUT("512", "f32")) BLOCKS KERNEL
     "image = { In = { format = 'rgba32f', width = 16, height = 2, layers = 4 } }, "
     "bindings = { 'Out', 'In' }, " GROUPS("16", "2", "4"),
     HEAD "layout(binding = 0) writeonly buffer Y { vec4 y[]; };\n"
          "layout(binding = 1) uniform sampler2DArray t_in;\n" MAIN
          "y[(at.z * 2 + at.y) * 16 + at.x] = texelFetch(t_in, at, 0); }\n",
     "texelFetch(t_in, at, 0)", "texelFetch(t_in, at.xyy, 0)"},
    {"texelFetch",
     OPERATOR(IN_OUT("1024", "f32")) BLOCKS KERNEL
     "image = { In = { format = 'rgba32f', width = 16, height = 16 } }, " GROUPS("16", "16", "1"),
     HEAD "layout(binding = 0) uniform sampler2D t_in;\n"
          "layout(binding = 1) writeonly buffer Y { vec4 y[]; };\n" MAIN
          "y[at.y * 16 + at.x] = texelFetch(t_in, at.xy, 0); }\n",
     "texelFetch(t_in, at.xy, 0)", "texelFetch(t_in, at.yx, 0)"},
    {"texture", // nearest, clamped to the edge; the sampler stands between the buffers
     OPERATOR(IN_OUT("256", "f32")) BLOCKS KERNEL
     "image = { In = { format = 'r32f', width = 16, height = 16 } }, " GROUPS("16", "16", "1"),
     HEAD "layout(binding = 0) uniform texture2D t_in;\nlayout(binding = 1) uniform sampler s;\n"
          "layout(binding = 2) writeonly buffer Y { float y[]; };\n" MAIN
          "vec2 uv = (vec2(at.xy) + 0.6) / 16.0; if (at.x == 15) uv.x = 7.0; if (at.y == 0) uv.y = "
          "-1.0;\ny[at.y * 16 + at.x] = texture(sampler2D(t_in, s), uv).x; }\n",
     "uv.x = 7.0", "uv.x = 0.5"},
    {"sampled and stored", // an output begins as an input, and atomics count in an image
     OPERATOR("inputs = { { 'In', 256, type = 'i32', fill = { 0, 7 } } }, output = { 'Out', 8, "
              "type = 'i32' }, reference = { template = 'ref.comp', groups = { 1 } }") BLOCKS KERNEL
     "zeroed = { 'Out' }, image = { In = { format = 'r32i', width = 16, height = 16 }, Out = { "
     "format = 'r32i', width = 8, height = 1 } }, " GROUPS("16", "16", "1"),
     HEAD "layout(binding = 0) uniform isampler2D t_in;\n"
          "layout(binding = 1, r32i) uniform iimage2D t_out;\n" MAIN
          "imageAtomicAdd(t_out, ivec2(texelFetch(t_in, at.xy, 0).x, 0), 1); }\n",
     "0), 1)", "0), at.x == 3 ? 2 : 1)"},
    {"inout",
     OPERATOR("inputs = { { 'X', 256 }, { 'Y0', 256 } }, output = { 'Y', 256 }, reference = { { "
              "'elementwise', 'X', 'Y0', 'Y', count = 256, apply = 'add' } }") BLOCKS KERNEL
     "bindings = { 'X', 'Y' }, inout = { Y = 'Y0' }, image = { Y = { format = 'r32f', width = 16, "
     "height = 16 } }, " GROUPS("16", "16", "1"),
     HEAD "layout(binding = 0) readonly buffer X { float x[]; };\n"
          "layout(binding = 1, r32f) uniform image2D t_y;\n" MAIN
          "imageStore(t_y, at.xy, imageLoad(t_y, at.xy) + x[at.y * 16 + at.x]); }\n",
     "x[at.y * 16 + at.x]", "x[at.y * 16]"},
    {"packed", // one kernel packs a buffer into an image in scratch, once
     OPERATOR(IN_OUT("1024", "f32")) BLOCKS
     "scratch(function(c) return 4096 end)\n"
     "kernel { shader = 'pack.comp', once = true, bindings = { 'In', 'scratch' }, image = { "
     "scratch = { format = 'rgba32f', width = 16, height = 16 } }, groups = { 1, 16 } }\n" KERNEL
     "bindings = { 'scratch', 'Out' }, image = { scratch = { format = 'rgba32f', width = 16, "
     "height = 16 } }, " GROUPS("16", "16", "1"),
     HEAD "layout(binding = 0) uniform sampler2D t_in;\n"
          "layout(binding = 1) writeonly buffer Y { vec4 y[]; };\n" MAIN
          "y[at.y * 16 + at.x] = texelFetch(t_in, at.yx, 0); }\n",
     "at.yx", "at.xy"},
    {"texel buffer",
     OPERATOR(IN_OUT("1024", "f32")) BLOCKS KERNEL
     "image = { In = { format = 'rgba32f' } }, " GROUPS("256", "1", "1"),
     HEAD "layout(binding = 0) uniform samplerBuffer t_in;\n"
          "layout(binding = 1) writeonly buffer Y { vec4 y[]; };\n" MAIN
          "y[at.x] = texelFetch(t_in, at.x); }\n",
     "(t_in, at.x)", "(t_in, at.x ^ 1)"},
    {"storage texel buffer",
     OPERATOR(IN_OUT("1024", "u8")) BLOCKS KERNEL
     "image = { In = { format = 'rgba8ui' }, Out = { format = 'rgba8ui' } }, " GROUPS("256", "1",
                                                                                      "1"),
     HEAD "layout(binding = 0, rgba8ui) readonly uniform uimageBuffer t_in;\n"
          "layout(binding = 1, rgba8ui) writeonly uniform uimageBuffer t_out;\n" MAIN
          "imageStore(t_out, at.x, imageLoad(t_in, at.x)); }\n",
     "imageLoad(t_in, at.x)", "imageLoad(t_in, at.x).yxzw"},
    {"array of buffers", // by constants, and by an index that is the same in a workgroup
     OPERATOR("inputs = { { 'A', 256 }, { 'B', 256 }, { 'C', 256 } }, output = { 'Out', 256 }, "
              "reference = { template = 'sum.comp', groups = { 1 } }") BLOCKS KERNEL
     "push = function(c) return { 2 } end, " GROUPS("256", "1", "1"),
     HEAD
     "layout(constant_id = 7) const int MANY = 3;\nlayout(push_constant) uniform P { int last; "
     "};\nlayout(binding = 0) readonly buffer X { float x[]; } many[MANY];\n"
     "layout(binding = 0) readonly buffer X4 { vec4 x[]; } wide[3];\n"
     "layout(binding = 1) writeonly buffer Y { float y[]; };\n" MAIN
     "y[at.x] = wide[0].x[at.x / 4][at.x % 4] - many[1].x[at.x] + 4.0 * many[last].x[at.x]; }\n",
     "many[1]", "many[0]"},
    {"array of buffers, named", // inputs and outputs in one array
     OPERATOR(IN_OUT("256", "f32")) BLOCKS KERNEL
     "sets = { [1] = { { 'In', 'Out' } } }, " GROUPS("256", "1", "1"),
     HEAD "layout(set = 1, binding = 0) buffer X { float x[]; } both[2];\n" MAIN
          "both[1].x[at.x] = both[0].x[at.x]; }\n",
     "both[0].x[at.x]", "both[0].x[0]"},
    {"array of images",
     OPERATOR("inputs = { { 'A', 256 }, { 'B', 256 }, { 'C', 256 } }, output = { 'Out', 256 }, "
              "reference = { template = 'sum.comp', groups = { 1 } }") BLOCKS KERNEL
     "bindings = { 'Out', { 'A', 'B', 'C' } }, image = "
     "(function() local all = {}; for _, n in ipairs { 'A', 'B', 'C', 'Out' } do all[n] = { format "
     "= 'r32f', width = 16, height = 16 } end; return all end)(), " GROUPS("16", "16", "1"),
     HEAD "layout(binding = 0, r32f) writeonly uniform image2D t_out;\n"
          "layout(binding = 1) uniform sampler2D many[3];\n" MAIN
          "imageStore(t_out, at.xy, texelFetch(many[0], at.xy, 0) - texelFetch(many[1], at.xy, 0) "
          "+ 4.0 * texelFetch(many[2], at.xy, 0)); }\n",
     "many[2]", "many[1]"},
};

static const char counts[] =
    "#version 450\nlayout(local_size_x = 1) in;\n"
    "layout(binding = 0) readonly buffer A { int x[]; };\n"
    "layout(binding = 1) writeonly buffer B { int h[]; };\n"
    "void main() { int n[8] = int[8](0, 0, 0, 0, 0, 0, 0, 0);\n"
    "for (int i = 0; i < 256; i++) n[x[i]]++; for (int i = 0; i < 8; i++) h[i] = n[i]; }\n";
static const char sums[] =
    "#version 450\nlayout(local_size_x = 1) in;\n"
    "layout(binding = 0) readonly buffer A { float a[]; };\n"
    "layout(binding = 1) readonly buffer B { float b[]; };\n"
    "layout(binding = 2) readonly buffer C { float c[]; };\n"
    "layout(binding = 3) writeonly buffer D { float d[]; };\n"
    "void main() { for (int i = 0; i < 256; i++) d[i] = a[i] - b[i] + 4.0 * c[i]; }\n";
static const char packs[] = "#version 450\nlayout(local_size_x = 16) in;\n"
                            "layout(binding = 0) readonly buffer A { vec4 x[]; };\n"
                            "layout(binding = 1, rgba32f) writeonly uniform image2D t;\n"
                            "void put(writeonly image2D to, ivec2 at, vec4 v) {\n"
                            "imageStore(to, at, v); }\n"
                            "void main() { ivec2 at = ivec2(gl_GlobalInvocationID);\n"
                            "put(t, at.yx, x[at.y * 16 + at.x]); }\n";

// Writes the files of a kind, with a replacement in its GLSL or its space file; returns the latter.
static const char *write_kind(struct box *b, const struct kind *k, const char *from, const char *to)
{
    const char *text[] = {k->lua, k->glsl};
    for (int i = 0; from && i < 2; i++) {
        const char *at = strstr(text[i], from);
        if (at)
            text[i] = arena_printf(&b->arena, "%.*s%s%s", (int)(at - text[i]), text[i], to,
                                   at + strlen(from));
        else if (i && text[0] == k->lua)
            fail_msg("%s has no '%s'", k->name, from);
    }
    box_write(b, "ref.comp", counts);
    box_write(b, "sum.comp", sums);
    box_write(b, "pack.comp", packs);
    box_write(b, "x.comp", text[1]);
    return box_write(b, "x.lua", text[0]);
}

static const struct kind *kind_named(const char *name)
{
    const struct kind *k = kinds;
    while (!str_equal(k->name, name))
        k++;
    return k;
}

static void all_kinds_are_right(void **state)
{
    struct box *b = *state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *file = write_kind(b, &kinds[i], NULL, NULL);
        struct result r = RUN(b, "tune", file, "--trials", "2", "--seed", "1");
        if (r.code || !strstr(r.out, "trials  2  ok 2 "))
            fail_msg("%s: %s%s", kinds[i].name, r.out, r.err);
    }
}

static void wrong_ones_are_found(void **state)
{
    struct box *b = *state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *file = write_kind(b, &kinds[i], kinds[i].right, kinds[i].wrong);
        struct result r = RUN(b, "tune", file, "--trials", "1", "--seed", "1");
        if (r.code != 3 || !strstr(r.out, "wrong 1"))
            fail_msg("%s: exit %d, %s%s", kinds[i].name, r.code, r.out, r.err);
    }
}

// Texels of every format go through both kinds of images and of texel buffers as they are.
static void every_format_is_moved(void **state)
{
    struct box *b = *state;
    static const char *const elements[TEXEL_COUNT] = {
        [TEXEL_r32f] = "f32",    [TEXEL_rgba32f] = "f32",  [TEXEL_r16f] = "f16",
        [TEXEL_rgba16f] = "f16", [TEXEL_r32i] = "i32",     [TEXEL_r32ui] = "u32",
        [TEXEL_rgba32i] = "i32", [TEXEL_rgba32ui] = "u32", [TEXEL_rgba8] = "u8",
        [TEXEL_rgba8i] = "i8",   [TEXEL_rgba8ui] = "u8"};
    for (int f = 0; f < TEXEL_COUNT; f++) {
        const struct texel_traits *t = &texel_traits[f];
        const char *of = t->reads == 'f' ? "" : arena_printf(&b->arena, "%c", t->reads);
        int count = str_starts(t->name, "rgba") ? 1024 : 256;
        struct kind k = {
            .name = t->name,
            .lua = arena_printf(
                &b->arena,
                "local n, f = %d, '%s'\nscratch(function(c) return 256 * %d end)\n"
                "operator.define { name = 'copies', flop = n, inputs = { { 'In', n, type = '%s' } "
                "}, output = { 'Out', n, type = '%s' }, reference = { { 'copy', 'In', 'Out', rows "
                "= n, columns = 1 } } }\n" BLOCKS
                "local image = { format = f, width = 16, height = 16 }\n" KERNEL
                "bindings = { 'In', 'scratch' }, image = { In = { format = f }, scratch = image "
                "}, " GROUPS("16", "16",
                             "1") "kernel { shader = 'y.comp', bindings = { 'scratch', 'Out' }, "
                                  "image = { scratch = "
                                  "image, Out = { format = f } }, groups = { 1, 16 } }\n",
                count, t->name, t->bytes, elements[f], elements[f]),
            .glsl =
                arena_printf(&b->arena,
                             HEAD "layout(binding = 0) uniform %ssamplerBuffer x;\n"
                                  "layout(binding = 1, %s) writeonly uniform %simage2D y;\n" MAIN
                                  "imageStore(y, at.xy, texelFetch(x, at.y * 16 + at.x)); }\n",
                             of, t->name, of)};
        box_write(b, "y.comp",
                  arena_printf(&b->arena,
                               "#version 450\nlayout(local_size_x = 16) in;\n"
                               "layout(binding = 0) uniform %ssampler2D x;\n"
                               "layout(binding = 1, %s) writeonly uniform %simageBuffer y;\n" MAIN
                               "imageStore(y, at.y * 16 + at.x, texelFetch(x, at.xy, 0)); }\n",
                               of, t->name, of));
        struct result r =
            RUN(b, "tune", write_kind(b, &k, NULL, NULL), "--trials", "2", "--seed", "1");
        bool lacks = r.code == 1 && strstr(r.err, "device has");
        if (!lacks && (r.code || !strstr(r.out, "ok 2 ")))
            fail_msg("%s: %s%s", t->name, r.out, r.err);
    }
}

// --- what is refused ---

struct mistake {
    const char *kind, *from, *to, *told;
    const char *use, *then; // of the code: replaced too
};

static const struct mistake mistakes[] = {
    {"storage image", "'rgba16f', width", "'rgba12f', width", "'rgba12f'", NULL, NULL},
    {"storage image", "'rgba16f', width", "'rgba32f', width", "8192", NULL, NULL},
    {"storage image", "format = 'rgba16f', width = 32", "format = 'r32f', width = 64",
     "another format", NULL, NULL},
    {"storage image", "height = 16 }, Out", "height = 15 }, Out", "3840", NULL, NULL},
    {"storage image", "height = 16 }, Out", "heigth = 16 }, Out", "'heigth'", NULL, NULL},
    {"storage image", "height = 16 }, Out", "}, Out", "a height", NULL, NULL},
    {"storage image", "height = 16 }, Out", "height = 0 }, Out", "height", NULL, NULL},
    {"storage image", "height = 16 }, Out", "height = 8, depth = 2 }, Out", "3D", NULL, NULL},
    {"storage image", ", width = 32, height = 16 }, Out", "}, Out", "texel buffer", NULL, NULL},
    {"storage image", "image = { In", "image = { Inn", "'Inn'", NULL, NULL},
    {"3D image", "image = function(c)", "image = 7 or function(c)", "image", NULL, NULL},
    {"3D image", "return { In = {", "return 7 or { In = {", "a table", NULL, NULL},
    {"storage image", "In = { format = 'rgba16f', width = 32, height = 16 }, ", "", "'t_in'", NULL,
     NULL},
    {"storage image", "rgba16f) readonly uniform image2D", "rgba16i) readonly uniform iimage2D",
     "another format", "imageLoad(t_in, at.xy)", "vec4(imageLoad(t_in, at.xy))"},
    {"3D image", "readonly image3D t_in", "readonly image2DArray t_in", "2D array", NULL, NULL},
    {"2D array", "bindings = { 'Out', 'In' }", "bindings = { 'Out' }", "'t_in'", NULL, NULL},
    {"3D image", "restrict readonly image3D t_in", "image3D t_in", "an input",
     "void main() { ivec3 at = ivec3(gl_GlobalInvocationID); ",
     "void put(writeonly image3D to, ivec3 at) { imageStore(to, at, vec4(1)); }\n" MAIN
     "put(t_in, at); "},
    {"inout", "image = { Y = {", "image = { X = {", "'t_y'", NULL, NULL},
    {"packed", "return 4096", "return 2048", "4096", NULL, NULL},
    {"array of buffers, named", "{ { 'In', 'Out' } }", "{ 'In', 'Out' }", "'both'", NULL, NULL},
    {"array of buffers, named", "{ { 'In', 'Out' } }", "{ {} }", "no buffers", NULL, NULL},
    {"array of buffers, named", "layout(set = 1, binding = 0) buffer X { float x[]; } both[2]",
     "#extension GL_EXT_nonuniform_qualifier : require\n"
     "layout(set = 1, binding = 0) buffer X { float x[]; } both[]",
     "runtime-sized array", "both[0].x", "both[at.y].x"},
    {"texelFetch", "sampler2D t_in", "samplerCube t_in", "cube image", "texelFetch(t_in, at.xy, 0)",
     "texture(t_in, vec3(at))"},
    {"texelFetch", "sampler2D t_in", "sampler2DMS t_in", "multisampled image", NULL, NULL},
    {"texelFetch", "sampler2D t_in", "sampler1D t_in", "1D image", "texelFetch(t_in, at.xy, 0)",
     "texelFetch(t_in, at.x, 0)"},
    {"texelFetch", "sampler2D t_in", "sampler2DShadow t_in", "depth image",
     "texelFetch(t_in, at.xy, 0)", "vec4(texture(t_in, vec3(at)))"},
    {"texelFetch", "texelFetch(t_in, at.xy, 0)", "vec4(sparseTexelFetchARB(t_in, at.xy, 0, texel))",
     "sparse images", "void main() {",
     "\n#extension GL_ARB_sparse_texture2 : require\nvoid main() { vec4 texel;"},
    {"texelFetch", "void main() {",
     "\n#extension GL_EXT_ray_query : require\nlayout(binding = 2) uniform "
     "accelerationStructureEXT rays;\nvoid main() { rayQueryEXT q; rayQueryInitializeEXT(q, rays, "
     "0, "
     "0, vec3(0), 0.0, vec3(1), 1.0);",
     "ray tracing", "#version 450", "#version 460"},
};

static void mistakes_are_told(void **state)
{
    struct box *b = *state;
    struct str wrong = {0};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        struct kind k = *kind_named(m->kind);
        const char *at = m->use ? strstr(k.glsl, m->use) : NULL;
        assert_true(at || !m->use);
        if (at)
            k.glsl = arena_printf(&b->arena, "%.*s%s%s", (int)(at - k.glsl), k.glsl, m->then,
                                  at + strlen(m->use));
        struct result r = RUN(b, "check", write_kind(b, &k, m->from, m->to), "--device", "none");
        bool is_one_line = strchr(r.err, '\n') == strrchr(r.err, '\n');
        bool has_place = strstr(r.err, "x.lua:") || strstr(r.err, "x.comp");
        if (r.code != 1 || !is_one_line || !has_place || !strstr(r.err, m->told))
            str_printf(&wrong, "%s, '%s' for '%s': exit %d, %s%s", m->kind, m->to, m->from, r.code,
                       r.err, r.out);
    }
    if (wrong.length)
        fail_msg("%s", str_text(&wrong));
}

// What is not timed writes no output, not even in a function that gets the image.
static void outputs_are_timed(void **state)
{
    struct box *b = *state;
    const char *file = write_kind(b, kind_named("packed"), "'In', 'scratch' }, image = { scratch",
                                  "'In', 'Out' }, image = { Out");
    struct result r = RUN(b, "check", file, "--device", "none");
    assert_refused(&r, 1, "x.lua:", "not timed");
}

// adopt proposes the forms: what it writes renders and compiles as it is. What cannot be bound is
// refused at its line.
static void adopt_proposes_them(void **state)
{
    struct box *b = *state;
    static const char *const words[][2] = {
        {"storage image", "t_in = { format = \"rgba16f\", width = N, height = 1 }"},
        {"3D image", "t_out = { format = \"r32f\", width = N, height = 1, depth = 1 }"},
        {"2D array", "layers = 1 }"},
        {"texelFetch", "{ \"Y\", 4 * N }"},
        {"texture", "bindings = { \"t_in\", \"t_in\", \"Y\" }"},
        {"sampled and stored", "reads t_out"},
        {"inout", "inout = { t_y"},
        {"texel buffer", "t_in = { format = \"rgba32f\" }"},
        {"storage texel buffer", "{ \"t_in\", 4 * N, type = \"u8\" }"},
        {"array of buffers", "bindings = { { \"X\", \"X_1\", \"X_2\" }, \"Y\" }"},
        {"array of images", "{ \"many\", \"many_2\", \"many_3\" }"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool is_array = str_equal(words[i][0], "array of buffers"); // of a length that it reads
        write_kind(b, kind_named(words[i][0]), is_array ? "[MANY]" : NULL, "[3]");
        const char *file = box_path(b, arena_printf(&b->arena, "new-%d.lua", (int)i));
        struct result r = RUN(b, "adopt", box_path(b, "x.comp"), "--out", file);
        assert_ok(&r);
        char *lua = box_read(b, file);
        assert_contains(lua, words[i][1]);
        assert_in_range(count_parts(lua, "TODO"), 2, 3);
        r = RUN(b, "check", file, "--device", "none");
        if (r.code)
            fail_msg("%s: %s%s", words[i][0], r.err, lua);
    }
    box_write(b, "x.comp",
              "#version 450\nlayout(local_size_x = 64) in;\n"
              "layout(binding = 0, format4) writeonly uniform image2D t;\n"
              "void main() { imageStore(t, ivec2(gl_GlobalInvocationID), vec4(0)); }\n");
    struct result r = RUN(b, "adopt", box_path(b, "x.comp"), "--out", box_path(b, "macro.lua"));
    assert_ok(&r);
    r = RUN(b, "check", box_path(b, "macro.lua"), "--device", "none");
    assert_ok(&r);
    static const char *const others[] = {
        "samplerCube", "image1D", "sampler2DMS", "sampler2DShadow", "accelerationStructureEXT",
        "subpassInput"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        box_write(b, "x.comp",
                  arena_printf(&b->arena,
                               "#version 450\nlayout(local_size_x = 64) in;\n"
                               "layout(binding = 0) uniform %s thing;\nvoid main() {}\n",
                               others[i]));
        r = RUN(b, "adopt", box_path(b, "x.comp"), "--out", box_path(b, "no.lua"));
        assert_refused(&r, 1, "x.comp:3", others[i]);
        assert_false(file_exists(box_path(b, "no.lua")));
    }
}

// The files of a kernel say of each descriptor what it is.
static void exports_have_them(void **state)
{
    struct box *b = *state;
    const char *file = write_kind(b, kind_named("array of images"), NULL, NULL);
    struct result r = RUN(b, "tune", file, "--trials", "1", "--seed", "1");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--out", box_path(b, "out"), "--name", "k", "--verify", "--slower",
            "100000");
    assert_ok(&r);
    char *json = box_read(b, box_path(b, "out/k.json"));
    static const char *const parts[] = {
        "\"descriptors\": [", "\"kind\": \"combined image\", \"count\": 3",
        "{\"buffer\": \"C\", \"format\": \"r32f\", \"width\": 16, \"height\": 16}"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_contains(json, parts[i]);
    assert_contains(box_read(b, box_path(b, "out/k.h")), "images");
}

TEST_GROUP(images)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(all_kinds_are_right),   FLOW_TEST(wrong_ones_are_found),
        FLOW_TEST(every_format_is_moved), FLOW_TEST(mistakes_are_told),
        FLOW_TEST(outputs_are_timed),     FLOW_TEST(adopt_proposes_them),
        FLOW_TEST(exports_have_them),
    };
    if (!has_device())
        return EXIT_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
