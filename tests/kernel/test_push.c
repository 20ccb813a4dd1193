// Push constants of blocks of all shapes against what is given: each number at its byte and of its
// type.
#include "group.h"
#include "wording.h"

#include "kernel/kernel.h"

#include "base/str.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct spirv compile(struct arena *a, const char *members)
{
    struct spirv s;
    struct err e;
    struct kernel_facts f;
    const char *glsl =
        arena_printf(a,
                     "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
                     "layout(local_size_x = 4) in;\nstruct pair { uint key; float value; };\n"
                     "layout(push_constant) uniform P { %s } p;\nvoid main() {}\n",
                     members);
    if (!kernel_compile(glsl, &s, &e) || !kernel_inspect(&s, &f, &e))
        fail_msg("line %d: %s\n%s", e.line, e.text, glsl);
    return s;
}

// Fields as "u32@0 f32@16*3=name w32@8": type, byte, how many, member.
static struct pass given(const char *text)
{
    struct pass p = {0};
    for (int length; *text; text += length + strspn(text + length, " ")) {
        struct push_field *f = &p.push.field[p.push.field_count++];
        int bits = 0, at = 0, count = 1;
        length = (int)strcspn(text, " ");
        assert_true(sscanf(text, "%*c%d@%d*%d", &bits, &at, &count) >= 2);
        *f = (struct push_field){.kind = (uint8_t)(strchr("uifw", *text) - "uifw"),
                                 .bytes = (uint8_t)(bits / 8),
                                 .at = (uint16_t)at,
                                 .count = (uint16_t)count};
        const char *name = memchr(text, '=', (size_t)length);
        if (name)
            snprintf(f->name, sizeof f->name, "%.*s", (int)(text + length - name - 1), name + 1);
    }
    return p;
}

struct example {
    const char *members, *fields;
    const char *told; // NULL: they agree
};

static const struct example examples[] = {
    {"uint n; int i; float x;", "u32@0 i32@4 f32@8", NULL},
    {"uint n; int i; float x;", "w32@0 w32@4 f32@8=x", NULL},
    {"uint n; vec3 v; float x;", "w32@0 f32@16*3=v f32@28=x", NULL},
    {"float x[3]; layout(offset = 32) uint n;", "f32@0*3 u32@32", NULL},
    {"pair a[2]; uvec2 b[2];", "u32@0 f32@4=a u32@8 f32@12 w32@16*4=b", NULL},
    {"mat2 m; uint n;", "f32@0*4 w32@16", NULL},
    {"layout(row_major) mat2x3 m;", "f32@0*2 f32@8*2 f32@16*2", NULL},
    {"mat2x3 m[2];", "f32@0*3 f32@16*3 f32@32*3 f32@48*3=m", NULL},
    {"uint64_t big; float16_t h; uint8_t one;", "u64@0 f16@8 u8@10", NULL},
    {"uint n; float x;", "w32@0 w32@4",
     "its push constant 'x' at byte 4 is f32, field 2 of push gives a whole number (write { "
     "\"f32\", value })"},
    {"uint n; float x;", "f32@0 f32@4",
     "its push constant 'n' at byte 0 is u32, field 1 of push gives f32 (write { \"u32\", value "
     "})"},
    {"int n;", "u32@0", "its push constant 'n' at byte 0 is i32, field 1 of push gives u32"},
    {"uint64_t n;", "w32@0 w32@4",
     "its push constant 'n' at byte 0 is u64, field 1 of push gives a whole number"},
    {"uint a; uint b;", "u64@0",
     "its push constant 'a' at byte 0 is u32, field 1 of push gives u64"},
    {"uint n; vec2 v;", "w32@0 w32@4 f32@8*2", "it has no push constant at byte 4, where field 2"},
    {"uint a; uint b; uint c;", "w32@0 w32@8",
     "its push constant 'b' at byte 4, u32, is not given (push = function(c) ... end)"},
    {"pair a[2];", "u32@0 f32@4 f32@8 f32@12",
     "its push constant 'a' at byte 8 is u32, field 3 of push gives f32"},
    {"uint rows; uint columns;", "w32@0=columns w32@4=rows",
     "its push constant at byte 0 is 'rows', field 1 of push means 'columns'"},
};

static void agree_or_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *x = &examples[i];
        struct arena a = {0};
        struct err e = {0};
        struct spirv s = compile(&a, x->members);
        struct pass p = given(x->fields);
        bool ok = kernel_check_push(&s, &p, &e);
        if (ok != !x->told || (x->told && !str_starts(e.text, x->told)))
            fail_msg("{ %s } given %s: %s", x->members, x->fields, ok ? "agrees" : e.text);
        spirv_finish(&s);
        arena_finish(&a);
    }
}

static void without_a_block(void **state)
{
    (void)state;
    struct err e;
    struct spirv s;
    struct pass none = {0}, one = given("w32@0");
    static const char empty[] = "#version 450\nlayout(local_size_x = 4) in;\nvoid main() {}\n";
    assert_true(kernel_compile(empty, &s, &e));
    assert_true(kernel_check_push(&s, &none, &e));
    assert_false(kernel_check_push(&s, &one, &e));
    spirv_finish(&s);
}

// Modules without names are judged by types alone.
static void without_names(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err e;
    struct spirv s = compile(&a, "uint rows; float scale;");
    for (size_t at = 5; at < s.count; at += s.word[at] >> 16)
        if ((s.word[at] & 0xffff) == 6) // OpMemberName becomes OpNop and more of them
            for (size_t end = at + (s.word[at] >> 16), w = at; w < end; w++)
                s.word[w] = 1u << 16;
    struct pass p = given("w32@0=whatever f32@4"), bad = given("w32@0 w32@4");
    assert_true(kernel_check_push(&s, &p, &e));
    assert_false(kernel_check_push(&s, &bad, &e));
    wording_is("kernel", "push: another type", e.text);
    spirv_finish(&s);
    arena_finish(&a);
}

static int setup(void **state)
{
    (void)state;
    kernel_setup();
    return 0;
}

TEST_GROUP(push)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_or_fail),
        cmocka_unit_test(without_a_block),
        cmocka_unit_test(without_names),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
