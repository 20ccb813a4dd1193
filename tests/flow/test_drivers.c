// Vulkan drivers that abort or hang while their devices are listed: they are named and left out,
// and the others are there.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZES "--set", "N=64", "--set", "M=48", "--set", "K=80"

// `library`: the variable of the test's environment that has its path.
static const char *manifest(struct box *b, const char *library)
{
    return box_write(b, "bad_driver.json",
                     arena_printf(&b->arena,
                                  "{\"file_format_version\":\"1.0.0\",\"ICD\":{\"library_path\":"
                                  "\"%s\",\"api_version\":\"1.3.0\"}}",
                                  getenv(library)));
}

static void use_only(struct box *b, const char *files)
{
    box_set(b, "VK_DRIVER_FILES", files);
    box_set(b, "VK_ICD_FILENAMES", files);
}

// The driver is added to those that there are.
static void add_manifest(struct box *b, const char *file)
{
    const char *only = getenv("VK_DRIVER_FILES");
    if (!only)
        only = getenv("VK_ICD_FILENAMES");
    if (only)
        use_only(b, arena_printf(&b->arena, "%s:%s", file, only));
    else
        box_set(b, "VK_ADD_DRIVER_FILES", file);
}

static void add_driver(struct box *b, const char *library)
{
    add_manifest(b, manifest(b, library));
}

static void assert_told(struct box *b, const char *text, const char *how)
{
    assert_one_line(text);
    assert_contains(
        text, arena_printf(&b->arena, "driver %s is left out: ", box_path(b, "bad_driver.json")));
    assert_contains(text, how);
}

static int count_told(struct box *b, const char *text)
{
    const char *path = box_path(b, "bad_driver.json");
    int count = 0;
    for (; (text = strstr(text, path)); text += strlen(path))
        count++;
    return count;
}

static void test_aborting(void **state)
{
    struct box *b = *state;
    const char *sound = RUN(b, "devices", "--json").out;
    add_driver(b, "TILEWALK_ABORTING_DRIVER");
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    assert_string_equal(r.out, sound);
    assert_told(b, r.err, "SIGABRT");
    r = RUN(b, "doctor", "--json");
    assert_ok(&r);
    assert_told(b, r.err, "SIGABRT");
    r = RUN(b, "check", "mm1", "--json");
    assert_ok(&r);
    assert_true(strlen(text_of(json_of(b, r.out), "device")) > 0);
}

// Workers see the same devices, and so do sessions on several.
static void test_tune(void **state)
{
    struct box *b = *state;
    add_driver(b, "TILEWALK_ABORTING_DRIVER");
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--trials", "2", "--seed", "1", "--json");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(member(end_event(&e), "best"), "outcome"), "ok");
    assert_int_equal(count_told(b, r.err), 1);
    r = RUN(b, "resume", "1", "--trials", "3", "--json");
    assert_ok(&r);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--trials", "2", "--seed", "1", "--plain",
            "--device", "0,0");
    assert_ok(&r);
    // There is one warning: the children know it already.
    assert_int_equal(count_told(b, r.err), 1);
}

static void test_lookup(void **state)
{
    struct box *b = *state;
    const char *table = box_path(b, "table.json");
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--trials", "2", "--seed", "1");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--as", "table", "--out", table);
    assert_ok(&r);
    add_driver(b, "TILEWALK_ABORTING_DRIVER");
    r = RUN(b, "lookup", table, "matmul", SIZES, "--json");
    assert_ok(&r);
    assert_string_equal(text_of(json_of(b, r.out), "like"), "same");
    assert_told(b, r.err, "SIGABRT");
}

static void test_hanging(void **state)
{
    struct box *b = *state;
    const char *sound = RUN(b, "devices", "--json").out;
    add_driver(b, "TILEWALK_HANGING_DRIVER");
    // Sound drivers are left out too where a busy machine gives them less than these seconds.
    static const char *const patience[] = {"6", "10"}; // which are told of after five
    struct result r = {0};
    int i = -1;
    do {
        box_set(b, "TILEWALK_DRIVER_SECONDS", patience[++i]);
        r = RUN(b, "devices", "--json");
    } while (i < 1 && strcmp(r.out, sound) != 0);
    assert_ok(&r);
    assert_string_equal(r.out, sound);
    // The drivers that the program waits for are named meanwhile: together with the others, and
    // alone.
    static const char waiting[] = "warning: waiting for Vulkan drivers to list their devices\n";
    const char *told = r.err;
    for (int k = 0; k < 2; k++) {
        assert_non_null(strstr(told, waiting));
        told = strstr(told, waiting) + strlen(waiting);
    }
    assert_told(b, told, arena_printf(&b->arena, " %s s", patience[i]));
}

// The loader would wait for this driver.
static void test_pipe(void **state)
{
    struct box *b = *state;
    const char *sound = RUN(b, "devices", "--json").out, *file = box_path(b, "bad_driver.json");
    assert_int_equal(mkfifo(file, 0600), 0);
    add_manifest(b, file);
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    assert_string_equal(r.out, sound);
    assert_told(b, r.err, "it is not a regular file");
    use_only(b, file);
    r = RUN(b, "devices");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "no devices:");
}

static void test_no_other(void **state)
{
    struct box *b = *state;
    use_only(b, manifest(b, "TILEWALK_ABORTING_DRIVER"));
    struct result r = RUN(b, "devices", "--json");
    assert_int_equal(r.code, 1);
    assert_string_equal(r.out, "");
    assert_contains(r.err, "no devices: the process that lists them was killed by SIGABRT");
    r = RUN(b, "doctor", "--json");
    assert_int_equal(r.code, 1);
    assert_contains(r.out, "SIGABRT");
    r = RUN(b, "check", "mm1", "--json");
    assert_ok(&r);
    assert_true(is_null(json_of(b, r.out), "device"));
    r = RUN(b, "tune", flow_path(b, "small.lua"));
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "SIGABRT");
}

// No part of a driver is loaded either: the first library that Mesa's CPU driver needs is LLVM.
static void test_engine_loads_none(void **state)
{
    struct box *b = *state;
    struct running *r =
        START(b, "tune", flow_path(b, "small.lua"), "--trials", "200", "--seed", "1", "--json");
    wait_for_trials(b, 1, 1);
    const char *maps = box_read(b, arena_printf(&b->arena, "/proc/%d/maps", (int)r->pid));
    assert_contains(maps, "libsqlite3");
    assert_null(strstr(maps, "libvulkan_"));
    assert_null(strstr(maps, "libLLVM"));
    send_signal(r, SIGINT);
    assert_int_equal(finish(b, r).code, 130);
}

// Drivers that lack a part of Vulkan, as MoltenVK does, are there too: loaders list them only for
// those that ask.
static void test_portability(void **state)
{
    struct box *b = *state;
    static const char lavapipe[] = "/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so";
    if (access(lavapipe, R_OK) != 0)
        skip();
    const char *file = box_write(b, "portability.json",
                                 arena_printf(&b->arena,
                                              "{\"file_format_version\":\"1.0.1\",\"ICD\":{"
                                              "\"library_path\":\"%s\",\"api_version\":"
                                              "\"1.1.230\",\"is_portability_driver\":true}}",
                                              lavapipe));
    use_only(b, file);
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(member(json_of(b, r.out), "devices")), 1);
}

// A layer that nobody asked for, which would take every process down that loads it.
static void test_implicit_layer(void **state)
{
    struct box *b = *state;
    const char *sound = RUN(b, "devices", "--json").out;
    static const char *const folders[] = {"layers", "layers/vulkan",
                                          "layers/vulkan/implicit_layer.d"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(box_path(b, folders[i]), 0700), 0);
    box_write(b, "layers/vulkan/implicit_layer.d/bad.json",
              arena_printf(&b->arena,
                           "{\"file_format_version\":\"1.0.0\",\"layer\":{\"name\":"
                           "\"VK_LAYER_TEST_bad\",\"type\":\"GLOBAL\",\"library_path\":\"%s\","
                           "\"api_version\":\"1.3.0\",\"implementation_version\":\"1\","
                           "\"description\":\"none\",\"disable_environment\":"
                           "{\"TILEWALK_NO_BAD_LAYER\":\"1\"}}}",
                           getenv("TILEWALK_BAD_LAYER")));
    box_set(b, "XDG_DATA_HOME", box_path(b, "layers"));
    box_set(b, "LD_LIBRARY_PATH", // which workers may read
            arena_printf(
                &b->arena, "%.*s",
                (int)(strrchr(getenv("TILEWALK_BAD_LAYER"), '/') - getenv("TILEWALK_BAD_LAYER")),
                getenv("TILEWALK_BAD_LAYER")));
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    assert_string_equal(r.out, sound);
    assert_string_equal(r.err, "");
    box_set(b, "VK_LOADER_LAYERS_DISABLE", "nothing"); // as the user wants it
    assert_int_not_equal(strcmp(RUN(b, "devices", "--json").out, sound), 0);
}

TEST_GROUP(drivers)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_aborting),
        FLOW_TEST(test_tune),
        FLOW_TEST(test_lookup),
        FLOW_TEST(test_hanging),
        FLOW_TEST(test_pipe),
        FLOW_TEST(test_no_other),
        FLOW_TEST(test_engine_loads_none),
        FLOW_TEST(test_portability),
        FLOW_TEST(test_implicit_layer),
    };
    return has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_SKIPPED;
}
