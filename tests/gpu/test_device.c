// Lists, buffers, pipelines and runs on the best device there is.
#include "base/mem.h"
#include "base/str.h"
#include "gpu/vk.h"
#include "group.h"
#include "rig.h"

#include <stddef.h>
#include <string.h>

#define N 4096
#define GROUPS                                                                                     \
    {                                                                                              \
        N / 32, 1, 1                                                                               \
    }
#define POISON 0xffffffffu

struct fixture {
    struct gpu *g;
    struct gpu_buffer *buffer[3];
    uint32_t *word; // N
};

static void run(struct fixture *f, const struct gpu_pass *pass, int count, int repeats)
{
    struct err e;
    double seconds = -1;
    const struct gpu_sequence all = {pass, count, f->buffer, 3};
    if (gpu_run(f->g, &all, repeats, 60, &seconds, &e) != GPU_OK)
        fail_msg("%s", e.text);
    assert_true(seconds > 0);
}

static void refill(struct fixture *f)
{
    for (uint32_t i = 0; i < N; i++)
        f->word[i] = 3 * i + 1;
    assert_int_equal(gpu_write(f->g, f->buffer[0], 0, f->word, N * 4, NULL), GPU_OK);
    assert_int_equal(gpu_fill(f->g, f->buffer[1], POISON, NULL), GPU_OK);
    assert_int_equal(gpu_fill(f->g, f->buffer[2], POISON, NULL), GPU_OK);
}

static void test_list(void **state)
{
    struct fixture *f = *state;
    struct gpu_info *list;
    int count;
    assert_true(gpu_list(&list, &count, NULL));
    bool cpu_seen = false;
    for (int i = 0; i < count; i++) {
        assert_int_equal(list[i].index, i);
        assert_true(list[i].limits.invocations >= 128 && list[i].limits.shared_bytes >= 16384);
        assert_int_equal(strlen(list[i].device_uuid), 32);
        assert_int_equal(list[i].is_cpu, str_equal(list[i].type, "cpu"));
        assert_int_equal(list[i].threads > 0, list[i].is_cpu);
        assert_int_equal(list[i].limits.loop_trips, list[i].is_lavapipe ? 65535 : 0);
        assert_true(list[i].is_cpu || !cpu_seen); // real ones first
        cpu_seen |= list[i].is_cpu;
    }
    char listed[33], opened[33];
    gpu_identity(&list[0], listed);
    gpu_identity(gpu_get_info(f->g), opened);
    assert_string_equal(listed, opened);
    assert_int_equal(strlen(list[0].driver_hash), 32);
    free(list);
}

static void test_no_such_device(void **state)
{
    (void)state;
    struct err e;
    assert_null(gpu_open(99, false, &e));
    assert_non_null(strstr(e.text, "no device 99"));
    assert_null(gpu_open(-1, false, &e));
}

static void test_run_writes_what_it_should(void **state)
{
    struct fixture *f = *state;
    struct gpu_pipeline *p = rig_pipeline(f->g, "if (i % 2 == 0) c[i] = 2 * a[i] + i;");
    refill(f);
    run(f, &(struct gpu_pass){p, GROUPS}, 1, 1);
    rig_read(f->g, f->buffer[2], f->word, N);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(f->word[i], i % 2 == 0 ? 2 * (3 * i + 1) + i : POISON);
    gpu_pipeline_destroy(f->g, p);
}

// Each invocation reads what another one wrote in the previous pass, and in the previous repeat.
static void test_passes_are_ordered(void **state)
{
    struct fixture *f = *state;
    struct gpu_pipeline *first = rig_pipeline(f->g, "b[i] = a[4095 - i] + 1;");
    struct gpu_pipeline *second = rig_pipeline(f->g, "a[i] = b[(i + 64) % 4096]; c[i] = a[i];");
    const struct gpu_pass pass[] = {{first, GROUPS}, {second, GROUPS}};
    const int repeats = 25;
    refill(f);
    run(f, pass, 2, repeats);
    uint32_t *now = mem_alloc(N * 4), *next = mem_alloc(N * 4);
    for (uint32_t i = 0; i < N; i++)
        now[i] = 3 * i + 1;
    for (int n = 0; n < repeats; n++) {
        for (uint32_t i = 0; i < N; i++)
            next[i] = now[N - 1 - (i + 64) % N] + 1;
        memcpy(now, next, N * 4);
    }
    rig_read(f->g, f->buffer[2], f->word, N);
    assert_memory_equal(f->word, now, N * 4);
    free(now);
    free(next);
    gpu_pipeline_destroy(f->g, first);
    gpu_pipeline_destroy(f->g, second);
}

// Three buffers in the room of two: the third lies where the first one was. What follows a sequence
// has buffers of its own; twenty of them are more than a sequence has passes.
static void test_places_and_what_follows(void **state)
{
    enum { LINKS = 20, BYTES = N * 4 };
    struct fixture *f = *state;
    struct gpu_pipeline *p = rig_pipeline(f->g, "c[i] = 2 * a[4095 - i] + 1;");
    const struct gpu_pass pass = {p, GROUPS};
    struct gpu_memory *m;
    struct gpu_buffer *first, *second, *third, *none;
    struct err e;
    assert_int_equal(gpu_memory_create(f->g, 2 * BYTES, &m, &e), GPU_OK);
    assert_int_equal(gpu_buffer_place(f->g, m, 0, BYTES, &first, &e), GPU_OK);
    assert_int_equal(gpu_buffer_place(f->g, m, BYTES, BYTES, &second, &e), GPU_OK);
    assert_int_equal(gpu_buffer_place(f->g, m, 0, BYTES, &third, &e), GPU_OK);
    assert_int_equal(gpu_buffer_place(f->g, m, BYTES + GPU_PLACE_BYTES, BYTES, &none, &e),
                     GPU_FAILED);
    assert_null(none);
    struct gpu_buffer *there[3] = {first, f->buffer[1], second};
    struct gpu_buffer *back[3] = {second, f->buffer[1], third};
    struct gpu_sequence link[LINKS];
    for (int i = 0; i < LINKS; i++)
        link[i] = (struct gpu_sequence){&pass, 1, i % 2 ? back : there, 3,
                                        i + 1 < LINKS ? &link[i + 1] : NULL};
    for (uint32_t i = 0; i < N; i++)
        f->word[i] = i;
    assert_int_equal(gpu_write(f->g, first, 0, f->word, BYTES, NULL), GPU_OK);
    if (gpu_run(f->g, link, 2, 60, NULL, &e) != GPU_OK)
        fail_msg("%s", e.text);
    rig_read(f->g, third, f->word, N);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t expected = i; // an even number of turns
        for (int n = 0; n < 2 * LINKS; n++)
            expected = 2 * expected + 1;
        assert_int_equal(f->word[i], expected);
    }
    struct gpu_buffer *const all[] = {first, second, third};
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(f->g, all[i]);
    gpu_memory_destroy(f->g, m);
    gpu_memory_destroy(f->g, NULL);
    gpu_pipeline_destroy(f->g, p);
}

static void test_ranges(void **state)
{
    struct fixture *f = *state;
    const uint32_t two[2] = {7, 8};
    uint32_t back[4];
    refill(f);
    assert_int_equal(gpu_write(f->g, f->buffer[1], 4, two, 8, NULL), GPU_OK);
    assert_int_equal(gpu_read(f->g, f->buffer[1], 0, back, 16, NULL), GPU_OK);
    const uint32_t expected[4] = {POISON, 7, 8, POISON};
    assert_memory_equal(back, expected, 16);

    struct err e;
    assert_int_equal(gpu_write(f->g, f->buffer[1], N * 4 - 4, two, 8, &e), GPU_FAILED);
    assert_int_equal(gpu_read(f->g, f->buffer[1], UINT64_MAX - 3, back, 8, &e), GPU_FAILED);
    const uint64_t bad[] = {0, 6, gpu_get_info(f->g)->limits.buffer_bytes + 4};
    for (int i = 0; i < 3; i++) {
        struct gpu_buffer *none = f->buffer[0];
        assert_int_equal(gpu_buffer_create(f->g, bad[i], &none, &e), GPU_FAILED);
        assert_null(none);
    }
    assert_non_null(strstr(e.text, "bytes"));
    gpu_buffer_destroy(f->g, NULL);
    gpu_pipeline_destroy(f->g, NULL);
}

// A device whose memory the host cannot read well: no buffer is mapped, all goes through staging,
// in pieces.
static void test_staging(void **state)
{
    struct fixture *f = *state;
    const VkPhysicalDeviceMemoryProperties memory = f->g->memory;
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        f->g->memory.memoryTypes[i].propertyFlags &=
            ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    const uint64_t words = (UINT64_C(5) << 20) + 1; // 20 MiB and a word
    struct gpu_buffer *b = rig_buffer(f->g, words, POISON);
    assert_null(b->mapped);
    uint32_t *out = mem_alloc(words * 4), *back = mem_alloc(words * 4);
    for (uint64_t i = 0; i < words; i++)
        out[i] = (uint32_t)(i * 2654435761u);
    assert_int_equal(gpu_write(f->g, b, 8, out, (words - 4) * 4, NULL), GPU_OK);
    rig_read(f->g, b, back, words);
    assert_int_equal(back[1], POISON);
    assert_int_equal(back[words - 2], POISON);
    assert_memory_equal(back + 2, out, (words - 4) * 4);
    free(out);
    free(back);
    gpu_buffer_destroy(f->g, b);
    f->g->memory = memory;
}

// Each run counts in its copy of the buffers. The copies alternate from one call to the next as
// well, in both of two sequences, of which one has a single copy.
static void test_copies_take_turns(void **state)
{
    struct fixture *f = *state;
    struct gpu_pipeline *p = rig_pipeline(f->g, "b[i] += a[i];");
    const struct gpu_pass pass = {p, GROUPS};
    struct gpu_buffer *turn[3 * 4] = {NULL}, *alone[3];
    for (int i = 0; i < 3; i++)
        alone[i] = rig_buffer(f->g, N, i == 0);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            turn[4 * k + i] = rig_buffer(f->g, N, i == 0);
    const struct gpu_sequence last = {&pass, 1, alone, 3},
                              all = {&pass, 1, turn, 3, &last, .copies = 3, .stride = 4};
    static const int repeats[] = {1, 1, 5, 2, 40};
    int runs = 0;
    for (size_t n = 0; n < sizeof repeats / sizeof *repeats; n++) {
        runs += repeats[n];
        assert_int_equal(gpu_run(f->g, &all, repeats[n], 60, NULL, NULL), GPU_OK);
        int sum = 0;
        for (int k = 0; k < 3; k++) {
            rig_read(f->g, turn[4 * k + 1], f->word, N);
            int had = (int)f->word[N - 1];
            assert_in_range(had, runs / 3, (runs + 2) / 3);
            sum += had;
        }
        assert_int_equal(sum, runs);
        rig_read(f->g, alone[1], f->word, N);
        assert_int_equal(f->word[0], runs);
    }
    struct gpu_buffer *to[] = {turn[1], turn[5], turn[9]};
    refill(f);
    assert_int_equal(gpu_copy(f->g, f->buffer[0], to, 3, NULL), GPU_OK);
    for (int k = 0; k < 3; k++) {
        rig_read(f->g, to[k], f->word, N);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(f->word[i], 3 * i + 1);
    }
    for (int i = 0; i < 12; i++)
        gpu_buffer_destroy(f->g, turn[i]);
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(f->g, alone[i]);
    gpu_pipeline_destroy(f->g, p);
}

static void test_bad_runs(void **state)
{
    struct fixture *f = *state;
    struct gpu_pipeline *p = rig_pipeline(f->g, "c[i] = a[i];"), *many;
    const struct gpu_pass good = {p, GROUPS}, large = {p, {1, UINT32_MAX, 1}};
    const struct gpu_sequence fine = {&good, 1, f->buffer, 3}, too_few = {&good, 1, f->buffer, 2},
                              nothing = {&good, 0, f->buffer, 3}, huge = {&large, 1, f->buffer, 3};
    struct err e;
    assert_int_equal(gpu_run(f->g, &too_few, 1, 60, NULL, &e), GPU_FAILED);
    assert_int_equal(gpu_run(f->g, &fine, 0, 60, NULL, &e), GPU_FAILED);
    assert_int_equal(gpu_run(f->g, &nothing, 1, 60, NULL, &e), GPU_FAILED);
    if (f->g->adapter.info.limits.group_count[1] < UINT32_MAX)
        assert_int_equal(gpu_run(f->g, &huge, 1, 60, NULL, &e), GPU_FAILED);
    const struct gpu_shader greedy = {.bindings = 1000};
    assert_int_equal(gpu_pipeline_create(f->g, &greedy, &many, &e), GPU_FAILED);
    assert_null(many);
    run(f, &good, 1, 1);
    gpu_pipeline_destroy(f->g, p);
}

// lavapipe refuses a damaged module; other drivers may not, which is why workers are
// processes.
static void test_bad_module(void **state)
{
    struct fixture *f = *state;
    if (!gpu_get_info(f->g)->is_lavapipe)
        skip();
    const uint32_t word[] = {0x07230203, 0x00010300, 0, 10, 0, 2 << 16 | 17, 1};
    const struct gpu_shader damaged = {word, sizeof word / sizeof *word, .bindings = 3};
    struct gpu_pipeline *p;
    struct err e;
    assert_int_equal(gpu_pipeline_create(f->g, &damaged, &p, &e), GPU_FAILED);
    assert_non_null(strstr(e.text, "vkCreate"));
    assert_null(p);
}

// A submission that is not over when the wait begins.
static const char long_body[] = "for (uint n = 0; n < 1000; n++) b[i] = b[i] * 3 + n;"
                                "c[i] = i;";

// A submission that does not end in time is recognised, blocks nothing for good, and keeps what it
// uses.
static void test_timeout(void **state)
{
    struct fixture *f = *state;
    struct gpu_pipeline *p = rig_pipeline(f->g, long_body);
    const struct gpu_pass pass = {p, GROUPS};
    const struct gpu_sequence all = {&pass, 1, f->buffer, 3};
    struct err e = {.text = ""};
    refill(f);
    assert_int_equal(gpu_run(f->g, &all, 20, 0, NULL, &e), GPU_TIMEOUT);
    assert_non_null(strstr(e.text, "still running"));
    assert_int_equal(gpu_run(f->g, &all, 1, 0, NULL, &e), GPU_TIMEOUT);
    run(f, &pass, 1, 1); // waits for the first
    rig_read(f->g, f->buffer[2], f->word, N);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(f->word[i], i);
    gpu_pipeline_destroy(f->g, p);
}

static void test_close_after_timeout(void **state)
{
    (void)state;
    struct gpu *g = rig_open(false);
    struct gpu_buffer *b[3];
    for (int i = 0; i < 3; i++)
        b[i] = rig_buffer(g, N, 0);
    struct gpu_pipeline *p = rig_pipeline(g, long_body);
    const struct gpu_pass pass = {p, GROUPS};
    const struct gpu_sequence all = {&pass, 1, b, 3};
    assert_int_equal(gpu_run(g, &all, 20, 0, NULL, NULL), GPU_TIMEOUT);
    assert_int_equal(vk_settle(g, 60, NULL), GPU_OK);
    gpu_pipeline_destroy(g, p);
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(g, b[i]);
    gpu_close(g);
    gpu_close(NULL);
}

TEST_GROUP(device)
{
    struct fixture f = {.g = rig_open(false)};
    if (!f.g)
        return 77;
    for (int i = 0; i < 3; i++)
        f.buffer[i] = rig_buffer(f.g, N, 0);
    f.word = mem_alloc(N * 4);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_list, &f),
        cmocka_unit_test_prestate(test_no_such_device, &f),
        cmocka_unit_test_prestate(test_run_writes_what_it_should, &f),
        cmocka_unit_test_prestate(test_passes_are_ordered, &f),
        cmocka_unit_test_prestate(test_places_and_what_follows, &f),
        cmocka_unit_test_prestate(test_ranges, &f),
        cmocka_unit_test_prestate(test_staging, &f),
        cmocka_unit_test_prestate(test_copies_take_turns, &f),
        cmocka_unit_test_prestate(test_bad_runs, &f),
        cmocka_unit_test_prestate(test_bad_module, &f),
        cmocka_unit_test_prestate(test_timeout, &f),
        cmocka_unit_test_prestate(test_close_after_timeout, &f),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(f.g, f.buffer[i]);
    gpu_close(f.g);
    free(f.word);
    return failed;
}
