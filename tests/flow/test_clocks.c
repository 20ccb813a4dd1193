// Sensors of the device's clocks, stored with each trial and shown; a device that drifts; and the
// share of its peak that is reached. A library of ours stands in for NVML, on any device.
#include "group.h"
#include "sessions.h"

#include "base/file.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SENSED   "TILEWALK_FAKE_NVML"
#define NO_FAULT "complain@start:99"

static void with_nvml(struct box *b)
{
    box_set(b, "TILEWALK_PCI", "0000:01:00.0");
    box_set(b, "TILEWALK_NVML", getenv("TILEWALK_TEST_NVML"));
}

static struct result tune(struct box *b, const char *trials, const char *fault)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--strategy", "random", "--seed",
                          "1", "--workers", "1", "--trials", trials, "--fault", fault, "--json");
    assert_ok(&r);
    return r;
}

static cJSON *first_ok(cJSON *trials)
{
    cJSON *t;
    cJSON_ArrayForEach(t, trials) if (strcmp(text_of(t, "outcome"), "ok") == 0) return t;
    fail_msg("no trial is ok");
    return NULL;
}

static void test_sensed(void **state)
{
    struct box *b = *state;
    with_nvml(b);
    struct result r = tune(b, "2", NO_FAULT);
    assert_contains(r.out, "clocks were held back in");
    cJSON *shown = json_of(b, RUN(b, "show", "1", "--trials", "--json").out);
    cJSON *trial = first_ok(member(shown, "trials"));
    cJSON *clocks = member(trial, "clocks");
    assert_int_equal(number_of(clocks, "core_mhz"), 1410);
    assert_int_equal(number_of(clocks, "celsius"), 71);
    assert_int_equal(number_of(clocks, "throttle_power"), 1);
    cJSON *all = member(member(shown, "session"), "clocks");
    assert_true(number_of(all, "throttled") >= 1);
    assert_true(number_of(all, "sensed") == number_of(all, "throttled"));
    char number[24];
    snprintf(number, sizeof number, "%d", (int)number_of(trial, "id"));
    const char *told = strstr(RUN(b, "show", "1", "--trial", number).out, "clocks: ");
    assert_non_null(told);
    assert_contains(told, "1410 MHz");
    assert_contains(told, "2619 MHz");
    assert_contains(told, "71 C");
    assert_contains(told, "350 W");
    const char *text = RUN(b, "show", "1").out;
    assert_contains(text, "\nclocks   ");
    assert_contains(text, "\nwarning  ");
}

// A device whose clocks never rise is waited for, and then measured.
static void test_asleep(void **state)
{
    struct box *b = *state;
    with_nvml(b);
    box_set(b, SENSED, "asleep");
    tune(b, "1", NO_FAULT);
    cJSON *shown = json_of(b, RUN(b, "show", "1", "--trials", "--json").out);
    first_ok(member(shown, "trials"));
}

static void test_liar(void **state)
{
    struct box *b = *state;
    with_nvml(b);
    box_set(b, SENSED, "lies");
    struct result r = tune(b, "1", NO_FAULT);
    assert_contains(r.out, "core_mhz 4.29497e+09");
    box_set(b, SENSED, "refuses");
    r = tune(b, "1", NO_FAULT);
    cJSON *shown = json_of(b, RUN(b, "show", "2", "--json").out);
    assert_null(cJSON_GetObjectItem(member(shown, "session"), "clocks"));
}

// The second anchor takes a hundred times as long as the first: results in between are marked.
static void test_drift(void **state)
{
    struct box *b = *state;
    char fault[640] = "";
    for (int i = 28; i < 58; i++)
        snprintf(fault + strlen(fault), sizeof fault - strlen(fault), "%sslow@time:%d",
                 i > 28 ? "," : "", i);
    struct result r = tune(b, "42", fault);
    assert_contains(r.out, "% slower than ");
    cJSON *shown = json_of(b, RUN(b, "show", "1", "--trials", "--json").out);
    cJSON *all = member(member(shown, "session"), "clocks");
    int marked = 0;
    cJSON *t;
    cJSON_ArrayForEach(t, member(shown, "trials"))
    {
        cJSON *drift = cJSON_GetObjectItem(t, "drift");
        marked += drift && drift->valuedouble > 10;
    }
    assert_true(marked > 0);
    assert_int_equal(number_of(all, "drifted"), marked);
    assert_int_equal(number_of(all, "sensed"), 0);
    assert_contains(RUN(b, "show", "1").out, "were timed while the device drifted");
}

// --- the roofline ---

static cJSON *first_device(struct box *b, const char *json)
{
    return cJSON_GetArrayItem(member(json_of(b, json), "devices"), 0);
}

static cJSON *session(struct box *b, const char *id)
{
    return member(json_of(b, RUN(b, "show", id, "--json").out), "session");
}

// Synthetic rates: 8 * 64^3 / 4e9 s of arithmetic, on any device.
static void set_roof(struct box *b, const char *figures)
{
    cJSON *d = first_device(b, RUN(b, "devices", "--json").out);
    tamper(b, arena_printf(&b->arena, "DELETE FROM roof"));
    tamper(b, arena_printf(&b->arena,
                           "INSERT INTO roof VALUES ('%s', 'made up', 'no driver', '%s', 1)",
                           text_of(d, "identity"), figures));
}

static void test_measured_roof(void **state)
{
    struct box *b = *state;
    cJSON *none = member(first_device(b, RUN(b, "devices", "--json").out), "roof");
    assert_null(none->child);
    struct result r = RUN(b, "devices", "--roof", "--json");
    assert_ok(&r);
    cJSON *roofline = member(first_device(b, r.out), "roof");
    assert_true(number_of(roofline, "f32") > 1e8);
    assert_true(number_of(roofline, "bytes") > 1e6);
    assert_true(number_of(roofline, "dispatch_s") > 0);
    cJSON *kept = member(first_device(b, RUN(b, "devices", "--json").out), "roof");
    assert_true(number_of(kept, "f32") == number_of(roofline, "f32"));
    assert_contains(RUN(b, "devices").out, "\n   roofline   f32 ");
    set_roof(b, "{\"f32\":9e12,\"f16_matrix\":8e12}");
    assert_contains(RUN(b, "devices").out, "S (emulated)");
    set_roof(b, "{\"f32\":9e12,\"f16_matrix\":8e13}");
    assert_null(strstr(RUN(b, "devices").out, "S (emulated)"));
}

static void test_share_and_until(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "1", NO_FAULT);
    assert_true(is_null(session(b, "1"), "best_of_roof"));
    assert_null(strstr(RUN(b, "show", "1").out, "roof"));
    set_roof(b, "{\"f32\":4e9,\"bytes\":1e15,\"dispatch_s\":1e-9}");
    r = tune(b, "3", NO_FAULT);
    cJSON *s = session(b, "2");
    double least_ms = 2.0 * 64 * 64 * 64 / 4e9 * 1e3, best_ms = number_of(member(s, "best"), "ms");
    if (cJSON_GetObjectItem(member(s, "best"), "final"))
        best_ms = number_of(member(member(s, "best"), "final"), "ms");
    assert_true(number_of(s, "roof_ms") > 0.999 * least_ms);
    assert_true(number_of(s, "roof_ms") < 1.001 * least_ms);
    assert_string_equal(text_of(s, "roof_by"), "f32");
    assert_true(number_of(s, "best_of_roof") > 0.99 * least_ms / best_ms);
    assert_true(number_of(s, "best_of_roof") < 1.01 * least_ms / best_ms);
    assert_contains(RUN(b, "show", "2").out, "roof (f32)");
    // what is slower than a thousandth of it ends a search at its first valid trial
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--strategy", "random", "--seed", "1",
            "--workers", "1", "--trials", "40", "--until", "0.01%", "--json");
    assert_ok(&r);
    s = session(b, "3");
    assert_string_equal(text_of(s, "state"), "done");
    assert_contains(text_of(s, "message"), "roof");
    assert_true(number_of(s, "trials") < 10);
    assert_true(number_of(s, "until") == 0.0001);
    // and memory, where that is what bounds; beside an empty dispatch that is half of it
    set_roof(b, "{\"f32\":1e15,\"bytes\":1e6,\"dispatch_s\":1}");
    r = RUN(b, "resume", "3", "--until", "100%", "--trials", "6", "--json");
    assert_ok(&r);
    assert_string_equal(text_of(session(b, "3"), "roof_by"), "bytes");
    r = RUN(b, "show", "3");
    assert_contains(r.out, "roof (memory)");
    assert_contains(r.out, "caches"); // more than all of it
}

// A session that goes on keeps the peak that it has where none is known of its device any more: CPU
// devices are not measured again without --until.
static void test_kept_peak(void **state)
{
    struct box *b = *state;
    tune(b, "1", NO_FAULT); // makes the database
    set_roof(b, "{\"f32\":4e9,\"bytes\":1e15,\"dispatch_s\":1e-9}");
    tune(b, "1", NO_FAULT);
    double before_ms = number_of(session(b, "2"), "roof_ms");
    assert_true(before_ms > 0);
    tamper(b, "DELETE FROM roof");
    struct result r = RUN(b, "resume", "2", "--trials", "2", "--json");
    assert_ok(&r);
    cJSON *s = session(b, "2");
    assert_int_equal(number_of(s, "trials"), 2);
    assert_string_equal(text_of(s, "roof_by"), "f32");
    const cJSON *device = first_device(b, RUN(b, "devices", "--json").out);
    if (strcmp(text_of(device, "type"), "cpu") == 0)
        assert_true(number_of(s, "roof_ms") == before_ms);
}

// The rates are stored with the session, and taken over by one that is like it, by an agent, and by
// all tasks of a network.
static void test_cold(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--cold", "--strategy", "random",
                          "--seed", "1", "--workers", "1", "--trials", "1", "--json");
    assert_ok(&r);
    assert_true(cJSON_IsTrue(member(session(b, "1"), "cold")));
    assert_contains(RUN(b, "show", "1").out, "timed cold");
    r = RUN(b, "resume", "1", "--trials", "2", "--json");
    assert_ok(&r);
    assert_true(cJSON_IsTrue(member(session(b, "1"), "cold")));
    assert_true(number_of(session(b, "1"), "trials") == 2);
    r = RUN(b, "tune", "--like", "1", "--trials", "1", "--on", "local:", "--json");
    assert_ok(&r);
    assert_true(cJSON_IsTrue(member(session(b, "2"), "cold")));
    r = tune(b, "1", NO_FAULT);
    assert_true(cJSON_IsFalse(member(session(b, "3"), "cold")));
    r = RUN(b, "compare", "1", "3");
    assert_refused(&r, 1, "--cold", NULL);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--cold", "--source", "synthetic:bowl");
    assert_refused(&r, 2, "--cold ", NULL);
}

static void write_counter(const char *folder, const char *name, const char *text)
{
    char path[512], next[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(next, sizeof next, "%s.new", path);
    FILE *f = fopen(next, "w");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0 && rename(next, path) == 0);
}

// A process whose counter of energy grows as long as the test lives.
static pid_t start_counter(const char *folder)
{
    pid_t test = getpid(), child = fork();
    for (int64_t microjoules = 1; child == 0 && getppid() == test; microjoules += 50000) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64 "\n", microjoules);
        write_counter(folder, "energy_uj", text);
        poll(NULL, 0, 1);
    }
    if (child == 0)
        _exit(0);
    return child;
}

// Of a processor the energy is read: that of all that runs on it.
static void test_energy_of_a_processor(void **state)
{
    struct box *b = *state;
    const char *package = box_path(b, "class/powercap/intel-rapl:0");
    box_set(b, "TILEWALK_SYSFS", box_path(b, ""));
    assert_true(file_make_folders(package, NULL));
    write_counter(package, "name", "package-0\n");
    write_counter(package, "energy_uj", "0\n");
    pid_t counter = start_counter(package);
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--objective", "edp", "--trials",
                          "2", "--strategy", "random", "--seed", "1", "--workers", "1", "--json");
    kill(counter, SIGKILL);
    assert_int_equal(waitpid(counter, NULL, 0), counter);
    assert_ok(&r);
    cJSON *shown = json_of(b, RUN(b, "show", "1", "--trials", "--json").out);
    cJSON *clocks = member(first_ok(member(shown, "trials")), "clocks");
    assert_true(number_of(clocks, "joules") > 0 && number_of(clocks, "seconds") > 0);
    assert_false(cJSON_HasObjectItem(clocks, "core_mhz"));
}

// A card that tells 350.5 W: the joules of a run are that, times its time.
static void test_energy(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_SYSFS", box_path(b, "nothing"));
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--objective", "energy");
    assert_refused(&r, 1, "--objective energy", "power"); // a CPU device without counters
    with_nvml(b);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--objective", "energy", "--trials", "3",
            "--strategy", "random", "--seed", "1", "--workers", "1", "--json");
    assert_ok(&r);
    cJSON *shown = json_of(b, RUN(b, "show", "1", "--trials", "--json").out);
    cJSON *trial = first_ok(member(shown, "trials")), *clocks = member(trial, "clocks");
    double joules = number_of(clocks, "joules");
    assert_float_equal(joules / number_of(clocks, "seconds"), 350.5, 1e-6);
    assert_float_equal(number_of(trial, "rate"), joules, 1e-9 * joules);
    assert_true(is_null(trial, "ms") && is_null(trial, "tflops"));
    assert_string_equal(text_of(member(shown, "session"), "rate_unit"), "J");
    cJSON *front = member(json_of(b, RUN(b, "show", "1", "--pareto", "--json").out), "pareto");
    assert_int_equal(cJSON_GetArraySize(front), 1); // one power: the fastest needs the least
}

static void test_bad_until(void **state)
{
    struct box *b = *state;
    static const char *const bad[] = {"95", "0%", "101%", "-1%", "nan%", "95%%", "x%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--until", bad[i]);
        assert_refused(&r, 2, "--until", arena_printf(&b->arena, "'%s'", bad[i]));
    }
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--until", "95%", "--source", "synthetic:bowl");
    assert_refused(&r, 2, "--until ", NULL);
    r = RUN(b, "tune", "alexnet", "--until", "95%");
    assert_refused(&r, 2, "--until ", "--only TASK");
}

TEST_GROUP(clocks)
{
    if (!has_device())
        return EXIT_SKIPPED;
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_sensed),
        FLOW_TEST(test_asleep),
        FLOW_TEST(test_liar),
        FLOW_TEST(test_drift),
        FLOW_TEST(test_measured_roof),
        FLOW_TEST(test_share_and_until),
        FLOW_TEST(test_cold),
        FLOW_TEST(test_bad_until),
        FLOW_TEST(test_kept_peak),
        FLOW_TEST(test_energy),
        FLOW_TEST(test_energy_of_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
