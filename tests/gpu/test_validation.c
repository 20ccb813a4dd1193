// The Khronos validation layer has no messages about anything that src/gpu does, and they would be
// counted.
#include "base/file.h"
#include "gpu/vk.h"
#include "group.h"
#include "rig.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define N 4096

enum { LONG = 3000 }; // runs that are not done before anyone looks

static void use_everything(struct gpu *g)
{
    struct gpu_buffer *buffer[3];
    for (int i = 0; i < 3; i++)
        buffer[i] = rig_buffer(g, N, 1);
    struct gpu_pipeline *p = rig_pipeline(g, "b[i] = a[i] + 1;"),
                        *q = rig_pipeline(g, "c[i] = b[4095 - i];");
    const struct gpu_pass pass[] = {{p, {N / 32, 1, 1}}, {q, {N / 32, 1, 1}}};
    uint32_t word[N];
    struct gpu_timing t = gpu_timing_default(gpu_get_info(g));
    const struct gpu_sequence all = {pass, 2, buffer, 3};
    struct gpu_samples s;
    assert_int_equal(gpu_run(g, &all, 3, 60, NULL, NULL), GPU_OK);
    assert_int_equal(gpu_run(g, &all, LONG, 0, NULL, NULL), GPU_TIMEOUT);
    assert_int_equal(gpu_time(g, &all, &t, 0, &s, NULL), GPU_OK);
    rig_read(g, buffer[2], word, N);
    for (int i = 0; i < N; i++)
        assert_int_equal(word[i], 2);

    for (uint32_t i = 0; i < g->memory.memoryTypeCount; i++)
        g->memory.memoryTypes[i].propertyFlags &=
            ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    struct gpu_buffer *staged = rig_buffer(g, N, 5);
    rig_read(g, staged, word, N);
    assert_int_equal(word[N - 1], 5);
    gpu_buffer_destroy(g, staged);

    uint64_t features = gpu_get_info(g)->limits.features;
    if (features & FEATURE_F64)
        gpu_pipeline_destroy(g, rig_pipeline(g, "a[i] = uint(double(b[i]) * 0.5LF);"));
    if (features & FEATURE_I64)
        gpu_pipeline_destroy(
            g, rig_pipeline(g, "a[i] = uint(packUint2x32(uvec2(b[i], c[i])) % b[0]);"));
    gpu_pipeline_destroy(g, p);
    gpu_pipeline_destroy(g, q);
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(g, buffer[i]);
}

static void test_no_messages(void **state)
{
    struct gpu *g = *state;
    use_everything(g);
    assert_int_equal(g->messages, 0);
}

// Objects that were not destroyed are reported when the device is closed, after the count, so the
// log is read.
static void test_nothing_is_left(void **state)
{
    (void)state;
    char path[] = "/tmp/tilewalk-test-XXXXXX", *text;
    int fd = mkstemp(path);
    int saved = dup(STDERR_FILENO);
    assert_true(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    struct gpu *g = rig_open(true);
    use_everything(g);
    gpu_close(g);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_true(file_read(path, &text, NULL, NULL));
    close(fd);
    unlink(path);
    assert_string_equal(text, "");
    free(text);
}

static void test_messages_are_counted(void **state)
{
    struct gpu *g = *state;
    const VkFenceCreateInfo wrong = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    VkFence fence;
    int before = g->messages;
    if (vkCreateFence(g->device, &wrong, NULL, &fence) == VK_SUCCESS)
        vkDestroyFence(g->device, fence, NULL);
    assert_true(g->messages > before);
}

// With the layer in between, the driver's library is still found.
static void test_same_identity(void **state)
{
    struct gpu *g = *state, *plain = gpu_open(0, false, NULL);
    assert_string_equal(gpu_get_info(g)->driver_hash, gpu_get_info(plain)->driver_hash);
    gpu_close(plain);
}

TEST_GROUP(validation)
{
    struct gpu *g = rig_open(true);
    if (!g)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_no_messages, g),
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test_prestate(test_messages_are_counted, g),
        cmocka_unit_test_prestate(test_same_identity, g),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(g);
    return failed;
}
