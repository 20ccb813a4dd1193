// Each distinct packing runs once, whatever else a candidate has, within the bounds of memory, and
// again after it was forgotten.
#include "group.h"

#include "trial/context.h"

#include "base/mem.h"
#include "space/limits.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 64, SKIPPED = 77 };

static struct gpu *gpu;

// The first kernel packs `value` plus what the input holds; the second is another for each `other`.
static void build(struct candidate *c, struct job *j, int value, int other, uint64_t scratch_bytes)
{
    struct failure why = {0};
    struct err e;
    struct limits l = limits_vulkan_minimum;
    *j = (struct job){.scratch_bytes = scratch_bytes};
    job_add_pass(j)->glsl =
        mem_printf("#version 450\nlayout(local_size_x = %d) in;\n"
                   "layout(std430, binding = 0) readonly buffer A { int a[]; };\n"
                   "layout(std430, binding = 2) writeonly buffer S { int s[]; };\n"
                   "void main() { uint i = gl_LocalInvocationID.x; s[i] = a[i] + %d; }\n",
                   WORDS / 2, value);
    job_add_pass(j)->glsl =
        mem_printf("#version 450\nlayout(local_size_x = %d) in;\n"
                   "layout(std430, binding = 1) writeonly buffer C { int c[]; };\n"
                   "layout(std430, binding = 2) readonly buffer S { int s[]; };\n"
                   "void main() { uint i = gl_LocalInvocationID.x; c[i] = s[i] * %d; }\n",
                   WORDS / 2, other);
    j->pass[0].once = true;
    for (int i = 0; i < 2; i++)
        j->pass[i].groups[0] = j->pass[i].groups[1] = j->pass[i].groups[2] = 1;
    *c = (struct candidate){0};
    l.buffer_bytes = UINT64_MAX;
    if (!candidate_compile(c, j, &l, &(struct job_roles){1, 1}, &why))
        fail_msg("%s", why.reason);
    assert_int_equal(candidate_link(c, gpu, &e), GPU_OK);
}

struct memory {
    struct gpu_buffer *buffer[3];
};

static struct memory memory_of(uint64_t scratch_bytes)
{
    struct memory m;
    struct err e;
    int32_t input[WORDS];
    for (int i = 0; i < WORDS; i++)
        input[i] = 100 * i;
    for (int i = 0; i < 3; i++)
        assert_int_equal(gpu_buffer_create_guarded(gpu, i < 2 ? sizeof input : scratch_bytes, 4096,
                                                   &m.buffer[i], &e),
                         GPU_OK);
    assert_int_equal(gpu_write(gpu, m.buffer[0], 0, input, sizeof input, &e), GPU_OK);
    return m;
}

static void free_memory(struct memory *m)
{
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(gpu, m->buffer[i]);
}

// Packs on poisoned scratch; it then holds what was packed, and poison behind that.
static void pack(struct packed *p, int value, int other, uint64_t scratch_bytes, int inputs)
{
    struct candidate c;
    struct job j;
    struct err e;
    int32_t word[WORDS];
    struct memory m = memory_of(scratch_bytes);
    build(&c, &j, value, other, scratch_bytes);
    assert_int_equal(gpu_fill(gpu, m.buffer[2], 0xffffffffu, &e), GPU_OK);
    const struct packing what = {gpu, &c, m.buffer, inputs};
    assert_int_equal(packed_run(p, &what, 10, &e), GPU_OK);
    assert_int_equal(gpu_read(gpu, m.buffer[2], 0, word, sizeof word, &e), GPU_OK);
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(word[i], i < WORDS / 2 ? 100 * i + value : -1);
    candidate_finish(&c, gpu);
    job_finish(&j);
    free_memory(&m);
}

static void once_for_each_distinct_one(void **state)
{
    (void)state;
    struct packed p = {0};
    for (int other = 1; other <= 4; other++)
        for (int value = 1; value <= 3; value++)
            pack(&p, value, other, 4 * WORDS, 0);
    assert_int_equal(p.runs, 3); // of twelve candidates
    pack(&p, 1, 1, 4 * WORDS, 1);
    assert_int_equal(p.runs, 4); // other inputs
    pack(&p, 1, 1, 8 * WORDS, 0);
    assert_int_equal(p.runs, 5); // other scratch
    pack(&p, 1, 1, 4 * WORDS, 0);
    assert_int_equal(p.runs, 5);
    packed_forget(&p, gpu);
    assert_true(p.count == 0 && p.bytes == 0);
    pack(&p, 1, 1, 4 * WORDS, 0);
    assert_int_equal(p.runs, 6);
    packed_forget(&p, gpu);
}

// The least recently used image makes room.
static void within_bounds(void **state)
{
    (void)state;
    struct packed p = {0};
    for (int value = 0; value < PACKED_MOST; value++)
        pack(&p, value, 1, 4 * WORDS, 0);
    pack(&p, 0, 1, 4 * WORDS, 0); // used again
    assert_int_equal(p.runs, PACKED_MOST);
    pack(&p, PACKED_MOST, 1, 4 * WORDS, 0);
    assert_true(p.count == PACKED_MOST && p.bytes == (uint64_t)PACKED_MOST * 4 * WORDS);
    pack(&p, 0, 1, 4 * WORDS, 0); // still there
    assert_int_equal(p.runs, PACKED_MOST + 1);
    pack(&p, 1, 1, 4 * WORDS, 0); // not any more
    assert_int_equal(p.runs, PACKED_MOST + 2);
    const uint64_t large = (uint64_t)96 << 20; // at most two of these at once
    for (int value = 0; value < 3; value++) {
        pack(&p, value, 1, large, 0);
        assert_true(p.bytes <= PACKED_BYTES);
    }
    packed_forget(&p, gpu);
}

TEST_GROUP(packed)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_for_each_distinct_one),
        cmocka_unit_test(within_bounds),
    };
    struct err e;
    gpu_prepare_environment();
    kernel_setup();
    gpu = gpu_open(0, false, &e);
    if (!gpu) {
        printf("skipped: %s\n", e.text);
        return SKIPPED;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(gpu);
    return failed;
}
