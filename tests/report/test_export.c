// export_run on a session that a test wrote into a database: nothing of it was ever on a device.
#include "export/export.h"

#include "base/file.h"
#include "base/str.h"
#include "group.h"
#include "kernel/kernel.h"
#include "run.h"
#include "script/script.h"
#include "trial/source.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

static const char space_text[] =
    "local N = size('N', 16)\n"
    "operator.matmul { N = N, M = 16, K = 8, type = 'f32', layout = 'nn' }\n"
    "param.rows = discrete { 1, 2, 4 }\n"
    "kernel { template = 'tiny.comp', groups = function(c) return { 2, N // c.rows, 1 } end }\n"
    "kernel { template = 'tiny.comp', groups = function(c) return { 1, 1, 1 } end,\n"
    "         when = function(c) return c.rows == 4 end }\n"
    "scratch(function(c) return c.rows == 4 and 1024 or 0 end)\n";

static const char template_text[] = "#version 450\n"
                                    "layout(local_size_x = 8, local_size_y = ${c.rows}) in;\n"
                                    "layout(binding = 2) buffer bufferC { float c[]; };\n"
                                    "void main() { c[gl_GlobalInvocationID.x] = ${N}.0; }\n";

static const struct text_record texts[] = {{"tiny.lua", "tiny.lua", space_text},
                                           {"tiny.comp", "tiny.comp", template_text}};

struct fixture {
    char *folder, *out;
    struct store *store;
    int64_t session;
};

static void must(bool ok, const struct err *e)
{
    char text[1400];
    if (!ok)
        fail_msg("%s", err_format(e, text, sizeof text));
}

static int setup_with(void **state, const char *driver)
{
    struct err e;
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->folder = make_folder();
    f->out = path_join(f->folder, "out");
    char *path = path_join(f->folder, "t.db");
    f->store = store_open(path, STORE_WRITE, &e);
    must(f->store != NULL, &e);
    free(path);
    struct session_record r = {
        .state = STATE_DONE,
        .name = "tiny",
        .path = "tiny.lua",
        .title = "matmul f32 nn 32x16x8",
        .operation = "{\"kind\":\"matmul\",\"N\":32,\"M\":16,\"K\":8,\"type\":\"f32\"}",
        .settings = "{\"N\":32}",
        .device = "a device",
        .driver = driver,
        .device_type = "cpu",
        .device_id = "1234",
        .source = "device",
        .strategy = "random",
        .flop = 8192,
        .size = "3",
        .text_hash = "abcd",
        .budget_trials = 3,
        .workers = 1,
    };
    must(store_create_session(f->store, &r, texts, 2, &f->session, &e), &e);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, "a driver");
}

static int setup_compiled_outside(void **state)
{
    return setup_with(state, "a driver, Glslang Version: 11:12.0.0");
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    store_close(f->store);
    remove_folder(f->folder);
    free(f->out);
    free(f);
    return 0;
}

// Trial `ask` is the value at `slot` of the only parameter: 1, 2 or 4 rows.
static void put_trial(struct fixture *f, int64_t ask, int slot, double seconds)
{
    struct err e;
    char key[16], config[32];
    snprintf(key, sizeof key, "%d", slot);
    snprintf(config, sizeof config, "{\"rows\":%d}", 1 << slot);
    struct trial_record t = {
        .ask = ask,
        .number = ask,
        .key = key,
        .config = config,
        .outcome = seconds > 0 ? OUTCOME_OK : OUTCOME_CRASH,
        .seconds = seconds,
        .samples = "[1,2]",
    };
    must(store_put_trial(f->store, f->session, &t, &e), &e);
}

static bool export(struct fixture *f, int count, const char *name, struct err *e)
{
    struct export_request r = {
        .session = f->session, .folder = f->out, .count = count, .name = name, .quiet = true};
    return export_run(f->store, &r, e);
}

static char *listing(const struct fixture *f)
{
    return run(NULL, "ls '%s' | LC_ALL=C sort | tr '\\n' ' '", f->out);
}

static char *read_out(const struct fixture *f, const char *name, size_t *length)
{
    struct err e;
    char *text, *path = path_join(f->out, name);
    must(file_read(path, &text, length, &e), &e);
    free(path);
    return text;
}

static cJSON *read_json(const struct fixture *f, const char *name)
{
    char *text = read_out(f, name, NULL);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static const cJSON *at(const cJSON *json, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!value)
        fail_msg("no member '%s'", key);
    return value;
}

static double number(const cJSON *json, const char *key)
{
    assert_true(cJSON_IsNumber(at(json, key)));
    return cJSON_GetNumberValue(at(json, key));
}

// The stored size, N = 32, and the best of three, two rows, are in everything that is written.
static void test_best(void **state)
{
    struct fixture *f = *state;
    struct err e;
    size_t length;
    put_trial(f, 1, 0, 0.003);
    put_trial(f, 2, 1, 0.001);
    put_trial(f, 3, 2, 0);
    must(export(f, 1, NULL, &e), &e);
    char *names = listing(f);
    assert_string_equal(names, "tiny-f32-nn-32x16x8.comp tiny-f32-nn-32x16x8.h "
                               "tiny-f32-nn-32x16x8.json tiny-f32-nn-32x16x8.spv ");
    free(names);
    char *glsl = read_out(f, "tiny-f32-nn-32x16x8.comp", NULL);
    assert_non_null(strstr(glsl, "local_size_y = 2)"));
    assert_non_null(strstr(glsl, "= 32.0;"));
    free(glsl);
    char *bytes = read_out(f, "tiny-f32-nn-32x16x8.spv", &length);
    struct spirv spirv = {mem_alloc(length), length / 4};
    struct kernel_facts facts;
    memcpy(spirv.word, bytes, length);
    must(kernel_inspect(&spirv, &facts, &e), &e);
    assert_int_equal(facts.local_size[1], 2);
    spirv_finish(&spirv);
    free(bytes);
}

static void test_json(void **state)
{
    struct fixture *f = *state;
    struct err e;
    put_trial(f, 1, 0, 0.003);
    put_trial(f, 2, 1, 0.001);
    must(export(f, 1, "k", &e), &e);
    cJSON *json = read_json(f, "k.json");
    const cJSON *pass = cJSON_GetArrayItem(at(json, "passes"), 0);
    assert_true(number(json, "trial") == 2);
    assert_true(number(at(json, "configuration"), "rows") == 2);
    assert_int_equal(cJSON_GetArraySize(at(json, "passes")), 1);
    assert_int_equal(cJSON_GetArrayItem(at(pass, "groups"), 1)->valueint, 16);
    assert_int_equal(cJSON_GetArrayItem(at(pass, "local_size"), 0)->valueint, 8);
    assert_int_equal(cJSON_GetArraySize(at(json, "bindings")), 3);
    assert_true(number(cJSON_GetArrayItem(at(json, "bindings"), 2), "bytes") == 4 * 32 * 16);
    assert_string_equal(
        cJSON_GetStringValue(at(cJSON_GetArrayItem(at(json, "bindings"), 2), "access")), "write");
    assert_true(number(at(json, "timing"), "ms") == 1);
    assert_true(cJSON_IsFalse(at(at(json, "timing"), "retimed")));
    assert_true(cJSON_IsFalse(at(at(json, "verified"), "random")));
    assert_true(cJSON_IsObject(at(at(json, "verified"), "exact")));
    cJSON_Delete(json);
}

// More passes, more buffers: and the second best after the best, under names of their own.
static void test_two_passes_and_ranks(void **state)
{
    struct fixture *f = *state;
    struct err e;
    put_trial(f, 1, 0, 0.003);
    put_trial(f, 2, 2, 0.001);
    must(export(f, 5, "k", &e), &e);
    char *names = listing(f);
    assert_string_equal(names, "k-2.comp k-2.h k-2.json k-2.spv k.comp k.h k.json k.pass2.comp "
                               "k.pass2.spv k.spv ");
    free(names);
    cJSON *best = read_json(f, "k.json"), *second = read_json(f, "k-2.json");
    assert_int_equal(cJSON_GetArraySize(at(best, "passes")), 2);
    assert_int_equal(cJSON_GetArraySize(at(best, "bindings")), 4);
    assert_true(number(cJSON_GetArrayItem(at(best, "bindings"), 3), "bytes") == 1024);
    assert_true(number(second, "trial") == 1);
    cJSON_Delete(best);
    cJSON_Delete(second);
}

// The second passes of the export before are of that one, and go with it; somebody else's stay.
static void test_fewer_passes(void **state)
{
    struct fixture *f = *state;
    struct err e;
    put_trial(f, 1, 2, 0.003);
    must(export(f, 1, "k", &e), &e);
    put_trial(f, 2, 0, 0.001);
    free(write_text(f->out, "other.pass2.spv", "mine"));
    must(export(f, 1, "k", &e), &e);
    must(export(f, 1, "other", &e), &e);
    char *names = listing(f);
    assert_string_equal(names, "k.comp k.h k.json k.spv other.comp other.h other.json "
                               "other.pass2.spv other.spv ");
    free(names);
}

// A race decides who is best, and its time and its check are what is exported.
static void test_race(void **state)
{
    struct fixture *f = *state;
    struct err e;
    put_trial(f, 1, 0, 0.003);
    put_trial(f, 2, 1, 0.001);
    struct retime_record slow = {
        .ask = 2, .kind = "race", .seconds = 0.004, .samples = "[7]", .verified = true};
    struct retime_record fast = {
        .ask = 1, .kind = "race", .seconds = 0.002, .samples = "[0.002]", .verified = true};
    struct retime_record canary = {
        .ask = 1, .kind = "canary", .seconds = 9, .samples = "[9]", .verified = true};
    must(store_put_retime(f->store, f->session, &slow, &e), &e);
    must(store_put_retime(f->store, f->session, &fast, &e), &e);
    must(store_put_retime(f->store, f->session, &canary, &e), &e);
    must(export(f, 1, "k", &e), &e);
    cJSON *json = read_json(f, "k.json");
    const cJSON *timing = at(json, "timing");
    assert_true(number(json, "trial") == 1);
    assert_true(number(timing, "ms") == 2);
    assert_true(cJSON_GetNumberValue(cJSON_GetArrayItem(at(timing, "samples"), 0)) == 0.002);
    assert_true(cJSON_IsTrue(at(timing, "retimed")));
    assert_true(cJSON_IsTrue(at(at(json, "verified"), "random")));
    cJSON_Delete(json);
}

static void check_refused(struct fixture *f, const char *name, const char *expected)
{
    struct err e = {0};
    assert_false(export(f, 1, name, &e));
    if (!strstr(e.text, expected))
        fail_msg("'%s' does not say '%s'", e.text, expected);
    assert_false(file_exists(f->out));
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    put_trial(f, 1, 0, 0);
    check_refused(f, NULL, "no valid trial");
    put_trial(f, 2, 1, 0.001);
    check_refused(f, "", "cannot be the name");
    check_refused(f, "a/b", "cannot be the name");
    check_refused(f, "..", "cannot be the name");
    f->session = 99;
    check_refused(f, NULL, "99");
}

// SPIR-V of the glslang that is built in is not what was measured.
static void test_other_compiler(void **state)
{
    struct fixture *f = *state;
    struct str entry = {0};
    struct err e;
    put_trial(f, 1, 0, 0.003);
    check_refused(f, NULL, "session 1: it was compiled by 'Glslang Version: 11:12.0.0'");
    assert_false(export_add_entry(f->store, f->session, &entry, &e));
    str_finish(&entry);
}

// A key that is no point of the space: a damaged database, not a crash.
static void test_damaged_key(void **state)
{
    struct fixture *f = *state;
    put_trial(f, 1, 7, 0.001);
    check_refused(f, NULL, "trial 1");
}

// Exported kernels are compiled by a worker, which is this program again.
TEST_GROUP(export)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_best, setup, teardown),
        cmocka_unit_test_setup_teardown(test_json, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_passes_and_ranks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fewer_passes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_compiler, setup_compiled_outside, teardown),
        cmocka_unit_test_setup_teardown(test_race, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged_key, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
