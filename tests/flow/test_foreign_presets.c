// Presets for shaders of ggml and ncnn, where those are: all of them compile with all choices,
// small ones are tuned, and the exports for their maintainers are right.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

static bool has_foreign(void)
{
    if (getenv("TILEWALK_FOREIGN"))
        return true;
    puts("skipped: TILEWALK_FOREIGN names no folder of shaders");
    return false;
}

static const char *folder_set(struct box *b, const char *folder)
{
    return arena_printf(&b->arena, "%s=%s/%s", folder, getenv("TILEWALK_FOREIGN"), folder);
}

static void presets_of_others(void **state)
{
    struct box *b = *state;
    static const char *const all[][3] = {
        {"ggml-mul-mm", "ggml", "type=f32"},
        {"ggml-mul-mm", "ggml", "type=f16"},
        {"ggml-mul-mm", "ggml", "type=q8_0"},
        {"ggml-mul-mm", "ggml", "type=q4_K"},
        {"ggml-mul-mat-vec", "ggml", "type=f16"},
        {"ggml-mul-mat-vec", "ggml", "type=f32"},
        {"ggml-mul-mat-vec", "ggml", "type=q4_0"},
        {"ggml-mul-mat-vec", "ggml", "type=q8_0"},
        {"ggml-mul-mat-vec", "ggml", "type=q6_K"},
        {"ncnn-conv1x1", "ncnn", "pack=1"},
        {"ggml-mul-mm", "ggml", "matrices=experts"},
        {"ggml-mul-mat-vec", "ggml", "matrices=experts"},
        {"ggml-soft-max", "ggml", "mask=f16"},
        {"ggml-soft-max", "ggml", "mask=none"},
        {"ggml-flash-attn", "ggml", "type=f16"},
        {"ggml-flash-attn", "ggml", "type=q8_0"},
        {"ggml-conv2d-mm", "ggml", "type=f16"},
        {"ncnn-gemm", "ncnn", "pack=1"},
        {"ncnn-gemm", "ncnn", "pack=4"},
        {"ncnn-gemm-sg", "ncnn", "pack=1"},
        {"ncnn-gemm-sg", "ncnn", "subgroup=64"},
        {"ncnn-innerproduct", "ncnn", "rows=3"},
        {"ncnn-conv-gemm", "ncnn", "pack=1"},
        {"ggml-rms-norm", "ggml", "multiply=no"},
    };
    struct result r = RUN(b, "check", "ggml-mul-mm", "--device", "none");
    assert_refused(&r, 1, "ggml/types.glsl is not here: --set ggml=DIR says where", "llama.cpp");
    if (!has_foreign())
        skip();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        r = RUN(b, "check", all[i][0], "--set", folder_set(b, all[i][1]), "--set", all[i][2],
                "--device", "none");
        assert_ok(&r);
        assert_contains(r.out, "template: ok");
    }
}

// One trial, small, of what compiles soon; devices may lack the small numbers that blocks need.
static void try_sizes(struct box *b, const char *preset, const char *folder, const char *set,
                      const char *size, const char *config)
{
    struct result devices = RUN(b, "devices", "--json");
    bool is_half = str_starts(set, "type=q") || str_equal(preset, "ggml-flash-attn");
    if (!has_foreign() || (is_half && !strstr(devices.out, "\"f16\":true")))
        skip();
    box_write(b, "start.json",
              arena_printf(&b->arena,
                           "{\"format\":\"tilewalk-start\",\"version\":1,"
                           "\"configurations\":[{\"configuration\":%s}]}",
                           config));
    struct result r =
        RUN(b, "tune", preset, "--set", folder_set(b, folder), "--set", set, "--set", size,
            "--trials", "1", "--seed", "1", "--warm-start", box_path(b, "start.json"));
    assert_contains(r.out, "trials  1  ok 1 ");
}

static void try_preset(struct box *b, const char *preset, const char *folder, const char *set,
                       const char *config)
{
    try_sizes(b, preset, folder, set, str_equal(folder, "ggml") ? "M=16" : "in_channels=16",
              config);
}

static void try_mul_mm(void **state)
{
    struct box *b = *state;
    try_preset(b, "ggml-mul-mm", "ggml", "type=q4_0",
               "{\"BLOCK_SIZE\":16,\"BM\":16,\"BN\":16,\"WM\":8,\"WN\":16,\"WMITER\":1,"
               "\"TM\":2,\"TN\":1,\"load\":1,\"split_k\":1}");
    struct result r = RUN(b, "export", "1", "--as", "ggml", "--anyway");
    assert_ok(&r);
    assert_contains(r.out, "\n-s_warptile_mmq = { 32, 32, 32, 32, 8, 32, 2, 2, 2, 1, 8 };\n"
                           "+s_warptile_mmq = { 16, 16, 16, 32, 8, 16, 1, 2, 1, 1, 8 };\n");
    assert_contains(r.out, " 16x64x256 | - | - | ");
    assert_contains(r.out, "BLOCK_SIZE=128 BM=128");
    assert_contains(r.out, ". Verified:");
    r = RUN(b, "export", "1", "--as", "constants", "--anyway");
    assert_ok(&r);
    assert_contains(r.out, "MUL_MM_WARP_ID 10\n");
    assert_contains(r.out, "MUL_MM_WARP 8\n");
}

static void try_mul_mat_vec(void **state)
{
    struct box *b = *state;
    try_preset(b, "ggml-mul-mat-vec", "ggml", "type=q4_K",
               "{\"BLOCK_SIZE\":16,\"NUM_ROWS\":2,\"sum\":\"shared\"}");
    struct result r = RUN(b, "export", "1", "--as", "ggml", "--anyway");
    assert_refused(&r, 1, "rm_kq is", "nothing to change");
}

static void try_convolution(void **state)
{
    try_preset(*state, "ncnn-conv1x1", "ncnn", "pack=4",
               "{\"x\":8,\"y\":4,\"memory\":\"local\",\"sizes\":\"constant\"}");
}

static void try_dot_products(void **state)
{
    struct box *b = *state;
    struct result devices = RUN(b, "devices", "--json");
    if (!strstr(devices.out, "\"dot\":true"))
        skip();
    try_preset(b, "ggml-mul-mmq", "ggml", "type=q4_K",
               "{\"BLOCK_SIZE\":16,\"BM\":16,\"BN\":16,\"WM\":8,\"WN\":16,\"WMITER\":1,"
               "\"TM\":2,\"TN\":1}");
    struct result r = RUN(b, "export", "1", "--as", "ggml", "--anyway");
    assert_ok(&r);
    assert_contains(r.out, "{ 16, 16, 16, 32, 8, 16, 1, 2, 1, 1, 8 };\n");
}

// Both find the rows of an expert, in different ways, and add up in different orders.
static void try_experts(void **state)
{
    struct box *b = *state;
    try_sizes(b, "ggml-mul-mat-vec", "ggml", "type=q6_K", "matrices=experts",
              "{\"BLOCK_SIZE\":16,\"NUM_ROWS\":2,\"sum\":\"shared\"}");
    try_sizes(b, "ggml-mul-mm", "ggml", "type=q4_0", "matrices=experts",
              "{\"BLOCK_SIZE\":16,\"BM\":16,\"BN\":16,\"WM\":8,\"WN\":16,\"WMITER\":1,"
              "\"TM\":2,\"TN\":1,\"load\":1,\"split_k\":1,\"row_ids\":\"subgroups\"}");
}

static void try_rows(void **state)
{
    struct box *b = *state;
    try_sizes(b, "ggml-soft-max", "ggml", "rows=3", "columns=100", "{\"BLOCK_SIZE\":32}");
    try_sizes(b, "ggml-flash-attn", "ggml", "HSK=32", "HSV=32",
              "{\"WorkGroupSize\":32,\"Br\":2,\"Bc\":32,\"D_split\":8,\"row_split\":1,"
              "\"subgroups\":\"no\",\"staging\":\"no\"}");
}

static void try_convolution_of_ggml(void **state)
{
    try_sizes(*state, "ggml-conv2d-mm", "ggml", "height=7", "stride=2",
              "{\"WG_SIZE\":64,\"BS_K\":32,\"BS_CRS\":16,\"BS_NPQ\":32,\"TS_K\":4,"
              "\"collectives\":\"no\",\"SHMEM_PAD\":1,\"aligned\":\"no\",\"UNROLL\":\"no\"}");
}

static void try_products_of_ncnn(void **state)
{
    struct box *b = *state;
    try_sizes(b, "ncnn-gemm", "ncnn", "pack=4", "M=32",
              "{\"x\":8,\"y\":8,\"z\":1,\"memory\":\"local\",\"sizes\":\"pushed\"}");
    try_sizes(b, "ncnn-conv-gemm", "ncnn", "pack=4", "stride=2",
              "{\"x\":8,\"y\":4,\"memory\":\"global\",\"sizes\":\"constant\"}");
    try_sizes(b, "ncnn-innerproduct", "ncnn", "rows=3", "outputs=20",
              "{\"x\":16,\"y\":4,\"sizes\":\"constant\"}");
}

static void try_subgroups_of_ncnn(void **state)
{
    struct box *b = *state;
    if (!strstr(RUN(b, "devices", "--json").out, "\"subgroup_size\":8,"))
        skip();
    try_sizes(b, "ncnn-gemm-sg", "ncnn", "pack=4", "M=36",
              "{\"UNROLL_SG_M\":4,\"UNROLL_SG_N\":2,\"UNROLL_SG_K\":2,\"sizes\":\"pushed\"}");
}

static void census(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "census", "ncnm");
    assert_refused(&r, 2, "ncnm", "(ggml)");
    if (!has_foreign())
        skip();
    r = RUN(b, "census", "ggml", "--set", folder_set(b, "ggml"), "--set", "type=f32", "--set",
            "N=1", "--set", "M=64", "--set", "K=64", "--json");
    assert_ok(&r);
    assert_contains(r.out, "\"format\":\"tilewalk-census\"");
    assert_contains(r.out, "\"preset\":\"ggml-mul-mat-vec\"");
    assert_contains(r.out, "\"outcome\":\"ok\"");
    assert_contains(r.out, "\"rate_unit\":\"GB/s\"");
    // A type that a preset has not is a row with the reason.
    assert_contains(r.out, "has q4_0");
    r = RUN(b, "ls"); // nothing is stored
    assert_string_equal(r.out, "");
}

TEST_GROUP(foreign_presets)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(presets_of_others), FLOW_TEST(try_mul_mm),
                                       FLOW_TEST(try_mul_mat_vec),   FLOW_TEST(try_convolution),
                                       FLOW_TEST(try_dot_products),  FLOW_TEST(census)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Of these a CPU driver compiles the kernels and their baselines for minutes.
TEST_GROUP(foreign_sizes)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(try_subgroups_of_ncnn), FLOW_TEST(try_experts),
                                       FLOW_TEST(try_rows), FLOW_TEST(try_convolution_of_ggml),
                                       FLOW_TEST(try_products_of_ncnn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
