// Functions that need no device: choice, identity, statistics, timestamps, repeats, results.
#include "group.h"
#include "wording.h"

#include "base/str.h"
#include "gpu/vk.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gpu_info devices[] = {
    {.index = 0, .name = "NVIDIA GeForce RTX 4090", .runs = true},
    {.index = 1, .name = "AMD Radeon RX 7900", .runs = true},
    {.index = 2, .name = "AMD Radeon RX 7900 XTX", .runs = true},
    {.index = 3, .name = "llvmpipe (LLVM 15.0.6, 256 bits)", .runs = true},
};

static int chosen(const char *wanted)
{
    int index = -1;
    struct err e = {.text = ""};
    if (!gpu_choose(devices, 4, wanted, &index, &e))
        fail_msg("%s", e.text);
    return index;
}

static void refused(struct wording *w, int count, const char *wanted)
{
    int index;
    struct err e;
    assert_false(gpu_choose(devices, count, wanted, &index, &e));
    wording_add(w, wanted ? wanted : "(none)", e.text);
}

// Four cards of one kind, not in the order of their addresses, and a CPU device.
static void test_own_devices(void **state)
{
    (void)state;
    static const struct {
        const char *cuda, *slurm;
        unsigned own; // a bit for each device
    } cases[] = {
        {NULL, NULL, 31},
        {"0", NULL, 2 | 16},
        {"1,3", "0", 5 | 16},
        {"", NULL, 16},
        {"-1", NULL, 16},
        {NULL, "2", 8 | 16},
        {NULL, "0,1", 3 | 16},
        {NULL, "7", 31},
        {"GPU-00112233-4455-6677-8899-aabbccddee02", NULL, 4 | 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gpu_info list[5] = {{.pci = "0000:41:00.0"},
                                   {.pci = "0000:01:00.0"},
                                   {.pci = "0000:c1:00.0"},
                                   {.pci = "0000:81:00.0"},
                                   {.is_cpu = true}};
        unsigned own = 0;
        int best;
        struct err e;
        for (int k = 0; k < 5; k++) {
            list[k].runs = true;
            list[k].vendor_id = k < 4 ? 0x10de : 0x10005;
            snprintf(list[k].device_uuid, sizeof list[k].device_uuid,
                     "00112233445566778899aabbccddee%02d", k);
        }
        unsetenv("CUDA_VISIBLE_DEVICES");
        unsetenv("SLURM_JOB_GPUS");
        if (cases[i].cuda)
            setenv("CUDA_VISIBLE_DEVICES", cases[i].cuda, 1);
        if (cases[i].slurm)
            setenv("SLURM_JOB_GPUS", cases[i].slurm, 1);
        gpu_follow_environment(list, 5);
        for (int k = 0; k < 5; k++)
            own |= list[k].is_set_aside ? 0 : 1u << k;
        if (own != cases[i].own)
            fail_msg("case %zu: %u, not %u", i, own, cases[i].own);
        assert_true(gpu_choose(list, 5, NULL, &best, &e));
        assert_false(list[best].is_set_aside);
        static const char *const names[] = {"0000:81:00.0", "81:00.0",
                                            "GPU-00112233-4455-6677-8899-AABBCCDDEE03",
                                            "00112233445566778899aabbccddee03", "3"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            assert_true(gpu_choose(list, 5, names[k], &best, &e));
            assert_int_equal(best, 3);
        }
        assert_false(gpu_choose(list, 5, "0000:82:00.0", &best, &e));
        assert_false(gpu_choose(list, 5, "GPU-0011", &best, &e));
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("SLURM_JOB_GPUS");
}

static void test_choose(void **state)
{
    (void)state;
    assert_int_equal(chosen(NULL), 0);
    assert_int_equal(chosen("best"), 0);
    assert_int_equal(chosen("3"), 3);
    assert_int_equal(chosen("LLVMpipe"), 3);
    assert_int_equal(chosen("xtx"), 2);
    // A number that is no index is a part of a name.
    assert_int_equal(chosen("4090"), 0);
    // A whole name, though also a part of another.
    static const char whole[] = "amd radeon rx 7900";
    assert_int_equal(chosen(whole), 1);
}

static void test_refused(void **state)
{
    (void)state;
    // "4" is part of a name.
    static const char *const wanted[] = {"radeon", "intel", "4", "-1", ""};
    struct wording w;
    wording_begin(&w, "gpu", "choose: refused");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        refused(&w, 4, wanted[i]);
    refused(&w, 0, NULL);
    refused(&w, 0, "0");
    wording_end(&w);
}

static void assert_several(const char *wanted, int count, const char *indices)
{
    int index[4], n;
    struct str text = {0};
    struct err e = {.text = ""};
    assert_true(gpu_is_several(wanted));
    assert_int_equal(gpu_choose_several(devices, count, wanted, index, &n, &e), indices != NULL);
    for (int i = 0; indices && i < n; i++)
        str_printf(&text, "%d", index[i]);
    if (indices)
        assert_string_equal(str_text(&text), indices);
    else
        assert_true(strlen(e.text) > 0);
    str_finish(&text);
}

static void test_several(void **state)
{
    static const char llvmpipe[] = "llvmpipe (LLVM 15.0.6, 256 bits)";
    (void)state;
    assert_false(gpu_is_several(NULL));
    assert_false(gpu_is_several("0"));
    assert_false(gpu_is_several(",0"));
    assert_false(gpu_is_several(llvmpipe));
    assert_several("all", 4, "0123");
    assert_several("all", 1, "0");
    assert_several("3,1", 4, "13");
    assert_several("2,", 4, "2");
    assert_several("1,1", 4, "1");
    assert_several("0,4", 4, NULL);
    assert_several("all", 0, NULL);
}

static void test_one_that_runs_nothing(void **state)
{
    (void)state;
    struct gpu_info list[2] = {{.index = 0, .name = "Null hardware"},
                               {.index = 1, .name = "llvmpipe", .runs = true}};
    int index[2], count = 0;
    struct err e;
    assert_true(gpu_choose(list, 2, NULL, &index[0], &e));
    assert_int_equal(index[0], 1);
    assert_true(gpu_choose(list, 2, "null", &index[0], &e)); // by name it can be had
    assert_int_equal(index[0], 0);
    assert_true(gpu_can_run(&list[1], &e));
    assert_false(gpu_can_run(&list[0], &e));
    wording_is("gpu", "choose: one that runs nothing", e.text);
    assert_true(gpu_choose_several(list, 2, "all", index, &count, &e));
    assert_true(count == 1 && index[0] == 1);
    assert_false(gpu_choose(list, 1, NULL, &index[0], &e));
    assert_false(gpu_choose_several(list, 1, "all", index, &count, &e));
    assert_non_null(strstr(e.text, "--compile"));
}

static void test_identity(void **state)
{
    (void)state;
    const struct gpu_info base = {.index = 1,
                                  .name = "n",
                                  .driver = "d",
                                  .driver_hash = "h",
                                  .vendor_id = 1,
                                  .device_id = 2,
                                  .driver_version = 3,
                                  .api_version = 4,
                                  .device_uuid = "u",
                                  .driver_uuid = "v",
                                  .threads = 5};
    struct gpu_info other[11];
    for (int i = 0; i < 11; i++)
        other[i] = base;
    other[0].index = 7; // another place in the list is the same device
    other[1].name[0] = 'x';
    other[2].driver[0] = 'x';
    other[3].driver_hash[0] = 'x';
    other[4].vendor_id++;
    other[5].device_id++;
    other[6].driver_version++;
    other[7].api_version++;
    other[8].device_uuid[0] = 'x';
    other[9].driver_uuid[0] = 'x';
    other[10].threads++;
    // The identity by the older rule, when each card had its own.
    static const char before[] = "n\nd\nh\n1 2 3 4\nu v 5\n";
    char id[33], id_other[33], id_before[33];
    hash_hex(before, sizeof before - 1, id_before);
    gpu_identity(&base, id);
    assert_true(gpu_is(&base, id_before));
    for (int i = 0; i < 11; i++) {
        bool is_card = i == 8 || i == 9;
        gpu_identity(&other[i], id_other);
        assert_int_equal(strcmp(id, id_other) == 0, i == 0 || is_card);
        assert_int_equal(gpu_is(&other[i], id), i == 0 || is_card);
        assert_int_equal(gpu_is(&other[i], id_before), i == 0);
    }
}

static void test_cards(void **state)
{
    (void)state;
    struct gpu_info list[4] = {{.index = 0, .name = "Card 90", .runs = true, .device_uuid = "a"},
                               {.index = 1, .name = "Card 90", .runs = true, .device_uuid = "b"},
                               {.index = 2, .name = "Card 90 D", .runs = true},
                               {.index = 3, .name = "other", .runs = true}};
    struct gpu_cards cards;
    struct err e = {0};
    assert_true(gpu_choose_cards(list, 4, "1+0+1", &cards, &e));
    assert_true(cards.count == 2 && cards.index[0] == 1 && cards.index[1] == 0);
    assert_true(gpu_choose_cards(list, 4, "Card 90", &cards, &e)); // a whole name
    assert_true(cards.count == 2 && cards.index[0] == 0 && cards.index[1] == 1);
    assert_true(gpu_choose_cards(list, 2, "card", &cards, &e));
    assert_int_equal(cards.count, 2);
    assert_true(gpu_choose_cards(list, 4, NULL, &cards, &e)); // the best alone
    assert_true(cards.count == 1 && cards.index[0] == 0);
    assert_true(gpu_choose_cards(list, 4, "3", &cards, &e));
    assert_true(cards.count == 1 && cards.index[0] == 3);
    // They differ.
    assert_false(gpu_choose_cards(list, 4, "card", &cards, &e));
    wording_is("gpu", "choose: cards that differ", e.text);
    assert_false(gpu_choose_cards(list, 4, "0+3", &cards, &e));
    wording_is("gpu", "choose: 0+3 differ", e.text);
    assert_false(gpu_choose_cards(list, 4, "0+4", &cards, &e));
    assert_true(e.usage);
}

static void test_cards_agree(void **state)
{
    (void)state;
    int slowest;
    double share;
    assert_true(gpu_cards_agree((double[]){1.00, 0.98, 1.01}, 3, &slowest, &share));
    assert_false(gpu_cards_agree((double[]){1.00, 1.07, 1.01}, 3, &slowest, &share));
    assert_int_equal(slowest, 1);
    assert_true(share > 0.069 && share < 0.071);
}

static void test_robust_seconds(void **state)
{
    (void)state;
    const double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 9};
    const struct gpu_info cpu = {.is_cpu = true}, gpu = {.is_cpu = false};
    assert_true(gpu_robust_seconds(&cpu, odd, 3) == 1);
    assert_true(gpu_robust_seconds(&gpu, odd, 3) == 3);
    assert_true(gpu_robust_seconds(&gpu, even, 4) == 3.5);
    assert_true(gpu_robust_seconds(&gpu, odd, 1) == 5);
    assert_true(odd[0] == 5); // the samples stay in order
}

static void test_stamps(void **state)
{
    (void)state;
    assert_true(vk_stamp_seconds(10, 30, 64, 0.5) == 10);
    assert_true(vk_stamp_seconds(UINT64_MAX, 1, 64, 1) == 2);
    assert_true(vk_stamp_seconds(0xfffffffff, 4, 36, 1) == 5); // wrapped at 36 bits
    assert_true(vk_stamp_seconds(0xa00000000005, 0xb00000000007, 36, 1) ==
                2);                                                  // junk above is masked
    assert_true(vk_stamp_seconds(7, 7, 36, 52.083e-9) == 52.083e-9); // a tick at least
}

static void test_repeats(void **state)
{
    (void)state;
    const struct gpu_timing t = {.batch_s = 0.02, .submit_s = 0.2};
    assert_int_equal(timing_repeats(&t, 1, 0.03), 1); // long enough
    assert_int_equal(timing_repeats(&t, 4, 0.02), 4);
    assert_int_equal(timing_repeats(&t, 2, 0.01), 5);  // 22 ms of 5 ms
    assert_int_equal(timing_repeats(&t, 1, 1e-6), 16); // grows 16 times at most
    assert_int_equal(timing_repeats(&t, 8000, 1e-3), 10000);
    assert_int_equal(timing_repeats(&t, 10, 1.0), 2); // 0.1 s each: two fit a submission
    assert_int_equal(timing_repeats(&t, 3, 30.0), 1); // never less than one
    const struct gpu_timing single = {.batch_s = 0, .submit_s = 0.2};
    assert_int_equal(timing_repeats(&single, 1, 1e-9), 1);
}

static void test_results(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(vk_fail(VK_ERROR_DEVICE_LOST, "vkQueueSubmit(g->queue, 1)", &e), GPU_LOST);
    assert_string_equal(e.text, "vkQueueSubmit: VK_ERROR_DEVICE_LOST");
    assert_int_equal(vk_fail(VK_ERROR_OUT_OF_DEVICE_MEMORY, "f", &e), GPU_OUT_OF_MEMORY);
    assert_int_equal(vk_fail(VK_ERROR_OUT_OF_HOST_MEMORY, "f", &e), GPU_OUT_OF_MEMORY);
    assert_int_equal(vk_fail(VK_TIMEOUT, "f", &e), GPU_TIMEOUT);
    assert_int_equal(vk_fail((VkResult)-12345, "f", &e), GPU_FAILED);
    assert_string_equal(e.text, "f: VkResult -12345");
}

static void test_environment(void **state)
{
    (void)state;
    unsetenv("LP_NUM_THREADS");
    setenv("MESA_SHADER_CACHE_DISABLE", "false", 1);
    gpu_prepare_environment();
    assert_string_equal(getenv("LP_NUM_THREADS"), "1");
    assert_string_equal(getenv("MESA_SHADER_CACHE_DISABLE"), "false"); // the user's word
}

static void test_default_timing(void **state)
{
    (void)state;
    for (int is_cpu = 0; is_cpu < 2; is_cpu++) {
        const struct gpu_info i = {.is_cpu = is_cpu};
        struct gpu_timing t = gpu_timing_default(&i);
        assert_true(t.batches >= 3 && t.batches <= 32);
        assert_true(t.submit_s <= 0.25 && t.batch_s < t.submit_s);
        assert_true(t.batches * t.batch_s <= t.budget_s);
    }
}

TEST_GROUP(choose)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_devices),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_one_that_runs_nothing),
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_cards_agree),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_robust_seconds),
        cmocka_unit_test(test_stamps),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_default_timing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
