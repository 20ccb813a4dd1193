// export("ggml"): every tuple is one that ggml's kernel takes, and means the tiles that we have.
#include "variant.h"

#include "base/file.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct tuple {
    int block, bm, bn, bk, wm, wn, wmiter, tm, tn, tk, warp;
};

static struct tuple parse(const char *text)
{
    struct tuple t;
    assert_int_equal(sscanf(text, "{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d} // BLOCK_SIZE, BM,",
                            &t.block, &t.bm, &t.bn, &t.bk, &t.wm, &t.wn, &t.wmiter, &t.tm, &t.tn,
                            &t.tk, &t.warp),
                     11);
    return t;
}

enum { BK = 32 }; // of the shader, for f32 and f16: it ignores the tuple's

// What ggml's mul_mm.comp asks for.
static void check_constraints(const struct tuple *t)
{
    assert_int_equal(t->bm % t->wm, 0);
    assert_int_equal(t->bn % t->wn, 0);
    assert_int_equal(t->block, t->bm / t->wm * (t->bn / t->wn) * t->warp);
    assert_int_equal(t->wm * t->wn % (t->warp * t->tm * t->tn * t->wmiter), 0);
    assert_int_equal(t->bk, BK);
    assert_int_equal(t->tk, 1);
}

// Loads as ggml's workgroup does, `width` elements an invocation: each element of the tile is
// written, none behind it.
static void check_loads(const struct tuple *t, int lines, int width)
{
    int stride = t->block * width / BK;
    char *seen = calloc((size_t)(lines * BK), 1);
    assert_true(stride > 0); // else it loads for ever
    for (int l = 0; l < lines; l += stride)
        for (int thread = 0; thread < t->block; thread++) {
            int line = thread / (BK / width) + l, first = thread % (BK / width) * width;
            assert_true(line < lines);
            memset(seen + line * BK + first, 1, (size_t)width);
        }
    assert_null(memchr(seen, 0, (size_t)(lines * BK)));
    free(seen);
}

// The sums of an invocation: as many as it has elements, each element its own.
static void check_sums(const struct tuple *t)
{
    int wniter = t->wm * t->wn / (t->warp * t->tm * t->tn * t->wmiter);
    int pairs = t->wmiter * t->tm * wniter * t->tn / 2, used = 0;
    char *seen = calloc((size_t)pairs + 1, 1);
    for (int wsic = 0; wsic < wniter; wsic++)
        for (int cc = 0; cc < t->tn; cc++)
            for (int wsir = 0; wsir < t->wmiter; wsir++)
                for (int cr = 0; cr < t->tm / 2; cr++) {
                    int i = (wsic * t->tn + cc) * t->wmiter * (t->tm / 2) + wsir * (t->tm / 2) + cr;
                    assert_true(i < pairs && !seen[i]);
                    seen[i] = 1;
                    used += 2;
                }
    assert_int_equal(used, t->wmiter * t->tm * wniter * t->tn);
    free(seen);
}

// Walks as ggml's invocations do: each element of the tile must be somebody's, once.
static void check_cover(const struct tuple *t)
{
    int wniter = t->wm * t->wn / (t->warp * t->tm * t->tn * t->wmiter);
    int sub_m = t->wm / t->wmiter, sub_n = t->wn / wniter, warps_m = t->bm / t->wm;
    char *seen = calloc((size_t)(t->bm * t->bn), 1);
    for (int thread = 0; thread < t->block; thread++) {
        int warp = thread / t->warp, lane = thread % t->warp, lanes_m = sub_m / t->tm;
        for (int i = 0; i < t->wmiter * wniter * t->tm * t->tn; i++) {
            int cm = i % t->tm, cn = i / t->tm % t->tn, part = i / (t->tm * t->tn);
            int m = warp % warps_m * t->wm + part % t->wmiter * sub_m + lane % lanes_m * t->tm + cm;
            int n = warp / warps_m * t->wn + part / t->wmiter * sub_n + lane / lanes_m * t->tn + cn;
            assert_true(m < t->bm && n < t->bn && !seen[m * t->bn + n]);
            seen[m * t->bn + n] = 1;
        }
    }
    assert_null(memchr(seen, 0, (size_t)(t->bm * t->bn)));
    free(seen);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void check_tiles(const struct tuple *t, const struct resources *r, const int size[3])
{
    int wniter = t->wm * t->wn / (t->warp * t->tm * t->tn * t->wmiter);
    assert_int_equal(t->block, r->group_size[0] * r->group_size[1]);
    assert_int_equal(t->tm * t->wmiter * t->tn * wniter, r->accumulators);
    int64_t along_m = ceil_div(size[1], t->bm), along_n = ceil_div(size[0], t->bn);
    int64_t x = (int64_t)r->groups[0], y = (int64_t)r->groups[1];
    assert_true((x == along_m && y == along_n) || (x == along_n && y == along_m));
}

struct shape {
    const char *device_type;
    const struct limits *limits;
    bool half;
    int size[3]; // N, M, K
    const char *others;
};

static int check_some(const struct shape *v)
{
    enum { SAMPLES = 4000 };
    struct str set = {0};
    str_printf(&set, "N=%d M=%d K=%d %s", v->size[0], v->size[1], v->size[2], v->others);
    struct script *s = variant_load("gemm", v->device_type, v->limits, str_text(&set));
    str_finish(&set);
    struct rng r;
    struct err e;
    int made = 0;
    rng_seed(&r, 11);
    for (int n = 0; n < SAMPLES; n++) {
        struct config c;
        struct resources needs;
        struct str text = {0};
        assert_true(variant_sample(s, v->limits, &r, &c, &needs));
        enum script_form found = script_export(s, "ggml", &c, &text, &e);
        assert_int_not_equal(found, FORM_FAILED);
        assert_true(text.length > 0);
        if (found == FORM_MADE) {
            struct tuple t = parse(str_text(&text));
            check_constraints(&t);
            for (int width = 2; width <= (v->half ? 8 : 4); width *= 2) {
                check_loads(&t, t.bm, width);
                check_loads(&t, t.bn, width);
            }
            check_sums(&t);
            check_cover(&t);
            assert_true((uint64_t)(t.bm + t.bn) * (BK / 2 + 1) * (v->half ? 4 : 8) <=
                        v->limits->shared_bytes);
            check_tiles(&t, &needs, v->size);
            made++;
        }
        str_finish(&text);
    }
    script_destroy(s);
    return made;
}

static void test_random_schedules(void **state)
{
    (void)state;
    static const struct shape variants[] = {
        {"discrete", &variant_gpu, false, {512, 2048, 1024}, "layout=nt"},
        {"cpu", &variant_cpu, false, {300, 200, 77}, "layout=nn"},
        {"discrete", &variant_gpu, true, {1000, 4096, 64}, "layout=nt type=f16"},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        assert_in_range(check_some(&variants[i]), 20, 4000);
}

// A schedule written by hand, as a space file with nothing else.
static void expect(const char *a, const char *b, const char *rest, const char *expected)
{
    struct err e;
    char *shipped = path_shipped("lua/ggml.lua"), *ggml;
    assert_non_null(shipped);
    assert_true(file_read(shipped, &ggml, NULL, &e));
    char *lua = mem_printf("local ggml = include \"ggml.lua\"\n"
                           "operator.matmul { N = 8, M = 8, K = 8 } param.p = factors(8, 2)\n"
                           "kernel { template = 't.comp', groups = function() return { 1 } end }\n"
                           "export('ggml', function() return ggml.tuple({ a = { name = 'a', %s },\n"
                           "b = { name = 'b', %s }, parts = 1, %s }, 'f32', 'nt', 32) end)",
                           a, b, rest);
    struct script_text text[] = {
        {"a.lua", "a.lua", lua}, {"ggml.lua", "ggml.lua", ggml}, {"t.comp", "t.comp", "x"}};
    struct script *s = script_create(
        &(struct script_options){.texts = text, .text_count = 3, .limits = &variant_gpu}, &e);
    if (!s)
        fail_msg("%s", e.text);
    struct str found = {0};
    struct config c;
    space_point(script_space(s), 0, &c);
    assert_int_not_equal(script_export(s, "ggml", &c, &found, &e), FORM_FAILED);
    if (strncmp(str_text(&found), expected, strlen(expected)) != 0)
        fail_msg("%s is not %s", str_text(&found), expected);
    assert_true(strstr(expected, "measured") || !strstr(str_text(&found), "measured with"));
    str_finish(&found);
    script_destroy(s);
    free(lua);
    free(ggml);
    free(shipped);
}

#define SHARED "staged = true, stage = 'shared', "

static void test_known_schedules(void **state)
{
    (void)state;
    const char *a = SHARED "lanes = 8, registers = 4, virtual = 4, tile = 128";
    const char *b = SHARED "lanes = 16, registers = 4, virtual = 2, tile = 128";
    expect(a, b, "threads = 128, depth = 32", "{128, 128, 128, 32, 128, 32, 2, 4, 4, 1, 32} //");
    expect(b, a, "threads = 128, depth = 32", "{128, 128, 128, 32, 128, 32, 4, 4, 4, 1, 32} //");
    expect(
        a, b, "threads = 128, depth = 4",
        "{128, 128, 128, 32, 128, 32, 2, 4, 4, 1, 32} // BLOCK_SIZE, BM, BN, BK, WM, WN, WMITER, "
        "TM, TN, TK, WARP\n// measured with BK = 4, which");
    expect(a, b, "threads = 120, depth = 32", "BLOCK_SIZE = 120 loads no whole lines of BK = 32");
    // TM x TN is even, TM is not; the other way round is right.
    expect(SHARED "lanes = 16, registers = 2, virtual = 2, tile = 64",
           SHARED "lanes = 8, registers = 1, virtual = 4, tile = 32", "threads = 128, depth = 32",
           "TM = 1 is odd");
    expect(SHARED "lanes = 8, registers = 1, virtual = 4, tile = 32",
           SHARED "lanes = 16, registers = 2, virtual = 2, tile = 64", "threads = 128, depth = 32",
           "{128, 64, 32, 32, 64, 8, 2, 2, 1, 1, 32} //");
    expect(SHARED "lanes = 8, registers = 16, virtual = 4, tile = 512",
           SHARED "lanes = 16, registers = 4, virtual = 2, tile = 128", "threads = 128, depth = 4",
           "ggml's tiles take 87040 bytes of shared memory, of 49152");
    expect(a, b, "threads = 128, depth = 4, together = 2", "a workgroup has several matrices");
    expect(a, SHARED "lanes = 12, registers = 4, virtual = 2, tile = 96", "threads = 96, depth = 4",
           "a subgroup of 32 covers no rectangle of the 12 x 8 invocations");
    expect("staged = false", b, "threads = 128, depth = 32", "operand a is not staged");
    expect(a, SHARED "lanes = 16, registers = 2, virtual = 1, tile = 32",
           "threads = 512, depth = 4", "BM = 32 is no multiple of the 64 lines");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_schedules),
        cmocka_unit_test(test_known_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
