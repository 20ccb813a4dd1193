// Shaders of ggml and ncnn, where they are: adopt makes space files of them, which are right once a
// person has added what only people know. Wrong additions are refused.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <dirent.h>
#include <string.h>

struct edit {
    const char *begins, *line; // NULL: the line goes
};

// Replaces the lines of a file that begin so. Fails when one is not there.
static const char *edited(struct box *b, const char *text, const struct edit *edits, size_t count)
{
    struct str out = {0};
    size_t done = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n") + 1;
        const struct edit *e = edits;
        while (e < edits + count && !str_starts(at, e->begins))
            e++;
        if (e < edits + count && e->line)
            str_printf(&out, "%s\n", e->line);
        else if (e == edits + count)
            str_add_bytes(&out, at, length);
        done += e < edits + count;
        at += length;
    }
    assert_true(done >= count);
    const char *kept = arena_strdup(&b->arena, str_text(&out));
    str_finish(&out);
    return kept;
}

static bool has_foreign(void)
{
    if (getenv("TILEWALK_FOREIGN"))
        return true;
    puts("skipped: TILEWALK_FOREIGN names no folder of shaders");
    return false;
}

// Copies all of it to the box, as a checkout is.
static void copy_shaders(struct box *b, const char *folder)
{
    struct err e;
    struct dirent *one;
    char *from = path_join(getenv("TILEWALK_FOREIGN"), folder);
    DIR *all = opendir(from);
    assert_non_null(all);
    assert_true(file_make_folders(box_path(b, folder), &e));
    while ((one = readdir(all)))
        if (one->d_name[0] != '.') {
            char *path = path_join(from, one->d_name);
            box_write(b, arena_printf(&b->arena, "%s/%s", folder, one->d_name), box_read(b, path));
            free(path);
        }
    closedir(all);
    free(from);
}

// The edits that mul_mm of f32 needs from a person. Its tiles are small here: these compile in no
// time.
static const struct edit of_mul_mm[] = {
    {"local N = ", "local M, N, K = size('M', 64), size('N', 64), size('K', 64)"},
    {"operator.define {", "operator.matmul { N = N, M = M, K = K, layout = 'nt' }"},
    {"  name = ", NULL},
    {"  flop = ", NULL},
    {"  inputs = ", NULL},
    {"             { \"B\", N } },", NULL},
    {"  output = ", NULL},
    {"  reference = ", NULL},
    {"} end", "} end"},
    {"}", NULL}, // of both
    {"param.BLOCK_SIZE", "param.BLOCK_SIZE = discrete { 4 * device.subgroup_size }"},
    {"param.BM", "param.BM = discrete { 32 }"},
    {"param.BN", "param.BN = discrete { 32 }"},
    {"param.WARP", "local W = device.subgroup_size"},
    {"param.BK", NULL},
    {"-- constraint(",
     "local function n(c) return c.WM * c.WN // (W * c.TM * c.TN * c.WMITER) end\n"
     "constraint('warps', function(c) return c.BM % c.WM == 0 and c.BN % c.WN == 0 and\n"
     "  c.BM // c.WM * (c.BN // c.WN) * W == c.BLOCK_SIZE end)\n"
     "constraint('threads', function(c) return n(c) >= 1 and W * c.TM * c.TN * c.WMITER * n(c) ==\n"
     "  c.WM * c.WN and c.WM // c.WMITER % c.TM == 0 and c.WN // n(c) % c.TN == 0 end)"},
    {"      -- FLOAT16 = true", "      DATA_A_F32 = true, FLOAT_TYPE = 'float',"},
    {"  { 10, ", "  { 10, 'WARP', W },"},
    {"  { 3, ", NULL},
    {"      0, 0, 0, 0, 0, 0, -- uint M", "      M, N, K, K, K, M,"},
    {"      0, 0, 0, -- uint batch_stride_a", "      M * K, N * K, M * N,"},
    {"      0, 0, 0, 0, 0, 0, -- uint base", "      0, 1, K, 1, 1, 1,"},
    {"      0, -- uint broadcast3", "      1,"},
    {"  bindings = ", "  bindings = { 'B', 'A', 'C' },"},
    {"  -- subgroup = ", "  subgroup = function(c) return W end,"},
    {"  groups = ", "  groups = function(c) return { M // c.BM, N // c.BN } end }"},
};

static const struct edit of_mul_mat_vec[] = {
    {"local N = ", "local M, K = size('M', 16), size('K', 256)"},
    {"  flop = ", "  flop = 2 * M * K, tolerance = { nmse = 5e-4 },"},
    {"  inputs = ", "  inputs = { { 'A', M, K, blocks = 'q4_K' }, { 'B', K } },"},
    {"             {", NULL}, // of three
    {"  output = ", "  output = { 'D', M },"},
    {"  reference = ", "  reference = { { 'dequantize', 'A', 'W' },\n"
                       "    { 'matmul', 'W', 'B', 'D', N = M, M = 1, K = K } },"},
    {"param.BLOCK_SIZE", "param.BLOCK_SIZE = discrete { 16 }"},
    {"param.NUM_ROWS", "param.NUM_ROWS = discrete { 1 }"},
    {"param.NUM_COLS", NULL},
    {"      -- DATA_A_Q4_K", "      DATA_A_Q4_K = true,"},
    {"      -- B_TYPEV4", "      B_TYPEV4 = 'vec4',"},
    {"      A_TYPE = ", NULL},
    {"  { 2, ", "  { 2, 'NUM_COLS', 1 },"},
    {"      0, 0, 0, 0, 0, 0, -- uint ncols", "      K, K, K, M, M * K, K,"},
    {"      0, 0, -- uint batch_stride_d", "      M, 0,"},
    {"      0, 0, 0, 0, 0, -- uint base", "      0, 1, 1, 1, 1,"},
    {"  bindings = ", "  bindings = { 'A', 'B', 'D', 'B', 'B' },"},
    {"  groups = ", "  groups = function(c) return { M // c.NUM_ROWS } end,"},
};

static const struct edit of_convolution[] = {
    {"local N = ", "local C, S = size('C', 16), size('S', 64)"},
    {"  flop = ", "  flop = 2 * C * C * S, tolerance = { nmse = 5e-4 },"},
    {"  inputs = ", "  inputs = { { 'X', C // 4, S, 4 }, { 'W', C // 4, C // 4, 4, 4 } },"},
    {"             {", NULL}, // of two
    {"  output = ", "  output = { 'Y', C // 4, S, 4 },"},
    {"  reference = ",
     "  reference = { { 'strided', 'W', 'F', count = C * C, n1 = C // 4, n2 = 4, n3 = C // 4,\n"
     "      n4 = 4, s1 = 4 * C, s2 = 4, s3 = 16 },\n"
     "    { 'strided', 'X', 'I', count = C * S, n2 = C // 4, n3 = 4, n4 = S, s2 = 4 * S, s3 = 1,\n"
     "      s4 = 4 }, { 'matmul', 'F', 'I', 'P', N = C, M = S, K = C },\n"
     "    { 'strided', 'P', 'Y', count = C * S, n2 = C // 4, n3 = S, n4 = 4, s2 = 4 * S, s3 = 1,\n"
     "      s4 = S } },"},
    {"param.elempack", "param.x = discrete { 4, 8 }"},
    {"param.out_elempack", "param.y = discrete { 2, 4 }"},
    {"      -- [\"psc(x)", "      ['psc(x)'] = '(x == 0 ? p.x : x)',"},
    {"      -- [\"buffer_ld4", "      ['buffer_ld4(b, i)'] = 'b[i]',"},
    {"      -- [\"buffer_st4", "      ['buffer_st4(b, i, v)'] = '{ b[i] = v; }',"},
    {"param.local_size_x", NULL},
    {"  { 4, ", "  { 4, 'elempack', 4 },"},
    {"  { 5, ", "  { 5, 'out_elempack', 4 },"},
    {"  { nil, ", NULL},
    {"  local_size = ", "  local_size = function(c) return { c.x, c.y, 1 } end,"},
    {"      0, 0, 0, 0, 0, 0, -- int c", "      C // 4, S, C // 4, S, S // 4, S // 4,"},
    {"      0, 0, -- int num_output", "      C, C,"},
    {"  bindings = ", "  bindings = { 'X', 'Y', 'W', 'W' },"},
    {"  groups = ", "  groups = function(c) return { S // 4 // c.x, C // 4 // c.y } end,"},
};

// `more`: lines beyond one for each edit.
static void adopt(struct box *b, const char *shader, const struct edit *edits, size_t count,
                  size_t more)
{
    if (!has_foreign())
        skip();
    char *folder = mem_printf("%.*s", (int)strcspn(shader, "/"), shader);
    copy_shaders(b, folder);
    const char *name = arena_printf(&b->arena, "%s/own.lua", folder), *file = box_path(b, name);
    free(folder);
    struct result r = RUN(b, "adopt", box_path(b, shader), "--out", file);
    assert_ok(&r);
    assert_true(count + more <= 30);
    box_write(b, name, edited(b, box_read(b, file), edits, count));
    r = RUN(b, "tune", file, "--strategy", "random", "--trials", "1", "--seed", "1");
    assert_ok(&r);
    assert_contains(r.out, "trials  1  ok 1 ");
}

#define ADOPT(b, shader, edits, more) adopt(b, shader, edits, sizeof(edits) / sizeof *(edits), more)

// The output of adopt(), with `to` where `from` stands in its push constants, is refused in one
// line.
static void refuse_push(struct box *b, const char *file, const char *from, const char *to,
                        const char *told)
{
    const char *text = box_read(b, box_path(b, file)), *at = strstr(text, from);
    assert_non_null(at);
    box_write(b, file,
              arena_printf(&b->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)));
    struct result r = RUN(b, "check", box_path(b, file), "--device", "none");
    assert_refused(&r, 1, told, "/own.lua:");
    box_write(b, file, text);
}

static void ggml_product(void **state)
{
    struct box *b = *state;
    ADOPT(b, "ggml/mul_mm.comp", of_mul_mm, 4);
    refuse_push(b, "ggml/own.lua", "0, 1, K, 1,", "0, 1, K / 1, 1,",
                "'k_split' at byte 44 is u32, field 12 of push gives f32");
    refuse_push(b, "ggml/own.lua", "M, N, K, K, K, M,", "{ 'u32', N, name = 'N' }, M, K, K, K, M,",
                "at byte 0 is 'M', field 1 of push means 'N'");
    refuse_push(b, "ggml/own.lua", "M, N, K, K, K, M,", "M, N, K, K, K,", "60 are given");
}

static void ggml_vector(void **state)
{
    struct result devices = RUN((struct box *)*state, "devices", "--json");
    if (!strstr(devices.out, "\"f16\":true"))
        skip();
    ADOPT(*state, "ggml/mul_mat_vec_q4_k.comp", of_mul_mat_vec, 3);
}

static void ncnn_convolution(void **state)
{
    struct box *b = *state;
    ADOPT(b, "ncnn/convolution_packed_1x1s1d1.comp", of_convolution, 7);
    refuse_push(b, "ncnn/own.lua", "C // 4, S, C // 4,", "C / 4, S, C // 4,",
                "'c' at byte 0 is i32, field 1 of push gives f32");
    refuse_push(b, "ncnn/own.lua", "C // 4, S, C // 4,", "C // 4, { 'u32', S }, C // 4,",
                "'cstep' at byte 4 is i32, field 2 of push gives u32");
}

// Each of them becomes a space file (the fuzzer checks that such files load).
static void all_are_adopted(void **state)
{
    struct box *b = *state;
    static const char *const folders[] = {"ggml", "ncnn"};
    int count = 0;
    if (!has_foreign())
        skip();
    for (int i = 0; i < 2; i++) {
        copy_shaders(b, folders[i]);
        DIR *all = opendir(box_path(b, folders[i]));
        for (struct dirent *one; (one = readdir(all));) {
            size_t length = strlen(one->d_name);
            if (length < 5 || strcmp(one->d_name + length - 5, ".comp") != 0)
                continue;
            const char *file =
                box_path(b, arena_printf(&b->arena, "%s/%d.lua", folders[i], count++));
            const char *shader =
                box_path(b, arena_printf(&b->arena, "%s/%s", folders[i], one->d_name));
            struct result r = RUN(b, "adopt", shader, "--out", file);
            assert_ok(&r);
            assert_true(count_parts(box_read(b, file), "TODO") <= 3);
        }
        closedir(all);
    }
    assert_true(count >= 18);
}

TEST_GROUP(adopt)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(ggml_product), FLOW_TEST(ggml_vector),
                                       FLOW_TEST(ncnn_convolution), FLOW_TEST(all_are_adopted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
