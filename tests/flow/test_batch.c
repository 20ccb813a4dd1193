// Batches that are too large for a device: `tune` reduces them with a message, and they are
// resumed, repeated and exported as they really ran.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

static bool has_cpu_device(void)
{
    void *state = NULL;
    box_setup(&state);
    struct box *b = state;
    struct result r = RUN(b, "devices", "--json");
    bool has = r.code == 0 && strstr(r.out, "\"type\":\"cpu\"");
    box_teardown(&state);
    return has;
}

// Returns the session event of a short run and the session that it made.
static const cJSON *tuned(struct box *b, const char *const *more)
{
    const char *arguments[24] = {"tune", "--json", "--trials", "1", "--seed", "1"};
    int count = 6;
    while (*more)
        arguments[count++] = *more++;
    arguments[count] = NULL;
    struct result r = run_list(b, arguments);
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    return first_event(&e, "session");
}
#define TUNED(b, ...) tuned((b), (const char *const[]){__VA_ARGS__, NULL})

static void assert_batch(const cJSON *session, int64_t real, int64_t declared)
{
    assert_int_equal(number_of(member(session, "problem"), "batch"), real);
    if (!declared) {
        assert_true(is_null(session, "declared"));
        assert_true(is_null(session, "reduced"));
        return;
    }
    char text[64];
    snprintf(text, sizeof text, "batch %d reduced to %d: ", (int)declared, (int)real);
    assert_int_equal(number_of(member(session, "declared"), "batch"), declared);
    assert_true(str_starts(text_of(session, "reduced"), text));
    assert_int_equal(number_of(member(session, "settings"), "batch"), real);
}

// 4106 = 2 * 2053: of its divisors, 2053 is still more than a second's worth.
static void test_flop(void **state)
{
    struct box *b = *state;
    const char *path = flow_path(b, "batch.lua");
    const cJSON *session = TUNED(b, path);
    assert_batch(session, 2, 4106);
    assert_contains(text_of(session, "reduced"), "2.153 GFLOP");
    assert_batch(listed_session(b, 1), 2, 4106);
    struct result r = RUN(b, "show", "1");
    assert_ok(&r);
    assert_contains(r.out, text_of(session, "reduced"));
    r = RUN(b, "check", path, "--json"); // speaks of what is declared
    assert_ok(&r);
    assert_int_equal(number_of(member(json_of(b, r.out), "problem"), "batch"), 4106);
}

static void test_first_line(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "batch.lua"), "--trials", "1");
    assert_ok(&r);
    const char *said = strstr(r.out, "batch 4106 reduced to 2: ");
    assert_true(said && said < strchr(r.out, '\n'));
}

static void test_buffers(void **state)
{
    struct box *b = *state;
    const char *path = flow_path(b, "batch.lua");
    const cJSON *session = TUNED(b, path, "--set", "N=1", "--set", "K=8");
    assert_batch(session, 4106, 0); // 4 MFLOP in 8 MB
    const char *wide = box_write(b, "wide.lua",
                                 "use(\"batch.lua\", { batch = 6, N = 1, M = 32768, "
                                 "K = 32768 })");
    box_write(b, "batch.lua", box_read(b, path));
    box_write(b, "batch.comp", box_read(b, flow_path(b, "batch.comp")));
    struct result r = RUN(b, "tune", wide, "--trials", "1", "--json");
    assert_refused(&r, 1, "buffer B", "4294967296"); // no device takes them
}

static void test_check_says_what_tune_does(void **state)
{
    struct box *b = *state;
    const char *path = box_write(b, "huge.lua",
                                 "local batch = size(\"batch\", 9)\n"
                                 "operator.batch_matmul { batch = batch, N = 1, M = 1, K = 1 }\n"
                                 "param.groups = factors(batch, 2)\n"
                                 "param.unroll = discrete { 1 }\n"
                                 "resources(function() return { buffer_bytes = batch << 29 } end)\n"
                                 "kernel { template = \"batch.comp\","
                                 " groups = function() return { 1 } end }\n");
    box_write(b, "batch.comp", box_read(b, flow_path(b, "batch.comp")));
    struct result r = RUN(b, "check", path);
    assert_int_equal(r.code, 3);
    assert_contains(r.err, "tune reduces the batch");
    r = RUN(b, "check", path, "--set", "batch=1");
    assert_null(strstr(r.err, "reduces"));
}

static void test_given(void **state)
{
    struct box *b = *state;
    const char *path = flow_path(b, "batch.lua");
    assert_batch(TUNED(b, path, "--set", "batch=3"), 3, 0);
    assert_batch(TUNED(b, path, "--set", "batch=4106", "--set", "N=1", "--set", "K=8"), 4106, 0);
    assert_batch(TUNED(b, "--like", "1"), 3, 0);
    assert_batch(TUNED(b, path, "--source", "synthetic:bowl"), 4106, 0); // nothing is run
}

static void test_again(void **state)
{
    struct box *b = *state;
    assert_batch(TUNED(b, flow_path(b, "batch.lua")), 2, 4106);
    struct result r = RUN(b, "resume", "1", "--trials", "2", "--json");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_batch(first_event(&e, "session"), 2, 4106);
    assert_batch(TUNED(b, "--like", "1"), 2, 4106);
    assert_batch(TUNED(b, "--like", "2", "--set", "N=1", "--set", "K=8"), 4106, 0); // a little work
    assert_batch(TUNED(b, "--like", "2", "--set", "batch=4"), 4, 0);
}

// Only a size is a batch: this number has 6720 divisors.
static void test_number(void **state)
{
    struct box *b = *state;
    const char *path = box_write(b, "number.lua",
                                 "local batch = number(\"batch\", 963761198400)\n"
                                 "operator.define { name = \"mine\", flop = batch,\n"
                                 " inputs = { { \"X\", 64 } }, output = { \"Y\", 64 },\n"
                                 " reference = { { \"copy\", \"X\", \"Y\", rows = 8,"
                                 " columns = 8 } } }\n"
                                 "param.unroll = discrete { 1, 2, 4 }\n"
                                 "kernel { template = \"number.comp\","
                                 " groups = function() return { 1 } end }\n");
    box_write(b, "number.comp",
              "#version 450\n"
              "layout(local_size_x = 64) in; // ${c.unroll}\n"
              "layout(binding = 0) readonly buffer InputX { float x[]; };\n"
              "layout(binding = 1) writeonly buffer OutputY { float y[]; };\n"
              "void main()\n"
              "{\n"
              "    uint i = gl_LocalInvocationID.x;\n"
              "    y[i] = x[i];\n"
              "}\n");
    const cJSON *session = TUNED(b, path);
    assert_true(is_null(session, "declared"));
    assert_true(is_null(session, "reduced"));
}

static void test_export(void **state)
{
    struct box *b = *state;
    assert_batch(TUNED(b, flow_path(b, "batch.lua")), 2, 4106);
    struct result r = RUN(b, "export", "1", "--out", box_path(b, "out"), "--json");
    assert_ok(&r);
    const cJSON *file;
    const char *record = NULL;
    cJSON_ArrayForEach(file,
                       member(json_of(b, r.out), "files")) if (strstr(file->valuestring, ".json"))
        record = file->valuestring;
    const cJSON *kernel = json_of(b, box_read(b, record));
    assert_int_equal(number_of(member(kernel, "problem"), "batch"), 2);
    assert_int_equal(number_of(member(kernel, "declared"), "batch"), 4106);
}

TEST_GROUP(batch)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_flop),    FLOW_TEST(test_first_line),
        FLOW_TEST(test_buffers), FLOW_TEST(test_check_says_what_tune_does),
        FLOW_TEST(test_given),   FLOW_TEST(test_again),
        FLOW_TEST(test_export),  FLOW_TEST(test_number),
    };
    if (!has_cpu_device()) {
        puts("skipped: no CPU device, whose second is short");
        return EXIT_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
