// The whole way on a real Vulkan device, lavapipe where there is no other: tuned, verified, broken
// in the middle, killed, exported.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <signal.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define OLD_LIMITS                                                                                 \
    "{\"invocations\":1024,\"group_size_x\":1024,\"group_size_y\":1024,\"group_size_z\":1024,"     \
    "\"group_count_x\":65535,\"group_count_y\":65535,\"group_count_z\":65535,"                     \
    "\"shared_bytes\":32768,\"buffer_bytes\":134217728,\"loop_trips\":65535,"                      \
    "\"accumulators\":256,\"statements\":20000,\"subgroup_size\":8,\"f16\":1"
#define SIZES "--set", "N=16", "--set", "M=24", "--set", "K=20"

static void check_files(struct box *b, const char *out)
{
    static const char *const suffixes[] = {".comp", ".spv", ".json", ".h"};
    int found[COUNT(suffixes)] = {0};
    const cJSON *file, *files = member(json_of(b, out), "files");
    cJSON_ArrayForEach(file, files)
    {
        struct err e;
        char *bytes;
        size_t length;
        const char *suffix = strrchr(file->valuestring, '.');
        for (size_t i = 0; i < COUNT(suffixes); i++)
            found[i] += strcmp(suffix, suffixes[i]) == 0;
        assert_true(file_read(file->valuestring, &bytes, &length, &e));
        if (strcmp(suffix, ".spv") == 0)
            assert_memory_equal(bytes, "\x03\x02\x23\x07", 4);
        else if (strcmp(suffix, ".comp") == 0)
            assert_contains(bytes, "#version 450");
        else if (strcmp(suffix, ".h") == 0)
            assert_contains(bytes, "tilewalk_kernel");
        else
            assert_true(number_of(member(json_of(b, bytes), "timing"), "ms") > 0);
        free(bytes);
    }
    assert_int_equal(found[2], 2); // .json and .h of each; passes have .comp and .spv
    assert_int_equal(found[3], 2);
    assert_true(found[0] >= 2 && found[0] == found[1]);
}

static void test_gemm(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", "gemm", SIZES, "--trials", "3", "--seed", "1", "--json");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    const cJSON *session = first_event(&e, "session"), *end = end_event(&e);
    assert_true(strlen(text_of(session, "device")) > 0);
    assert_string_not_equal(text_of(session, "device"), "none");
    assert_string_equal(text_of(session, "source"), "device");
    assert_true(strlen(text_of(session, "driver")) > 0);
    assert_float_equal(number_of(session, "flop"), 2.0 * 16 * 24 * 20, 0);
    for (int i = 0; i < e.count; i++)
        if (strcmp(text_of(e.line[i], "event"), "trial") == 0)
            assert_string_equal(text_of(e.line[i], "outcome"), "ok");
    assert_int_equal(count_events(&e, "trial"), 3);
    assert_true(count_events(&e, "retime") >= 2); // the best race at the end
    const cJSON *final = member(member(end, "best"), "final");
    assert_true(cJSON_IsTrue(member(final, "verified")));
    assert_true(number_of(final, "tflops") > 0);
    assert_true(number_of(end, "busy_seconds") > 0);
    r = RUN(b, "export", "1", "--best", "2", "--out", box_path(b, "out"), "--json");
    assert_ok(&r);
    check_files(b, r.out);
}

static struct result tune_small(struct box *b, const char *trials, const char *fault)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--trials", trials, "--seed", "1", "--json",
               "--show-rejected", fault ? fault : "--workers=2");
}

// A failure of the driver costs the trial in which it happens, and nothing else. The example is
// printed in the manual.
static void test_sample(void **state)
{
    struct box *b = *state;
    char *manual = box_read(b, flow_path(b, "../../docs/guide/spaces.md"));
    char *space = box_read(b, flow_path(b, "../../docs/sample/mine.lua"));
    char *nest = strstr(space, "\nnest("); // it is shown where nests are explained
    assert_non_null(nest);
    assert_contains(manual, nest);
    *nest = '\0';
    assert_contains(manual, space);
    assert_contains(manual, box_read(b, flow_path(b, "../../docs/sample/mine.comp")));
    struct result r = RUN(b, "tune", flow_path(b, "../../docs/sample/mine.lua"), SIZES, "--trials",
                          "4", "--seed", "1", "--json");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(member(end_event(&e), "best"), "outcome"), "ok");
}

// Killed while the results of the final race are stored: resumed, it races again and ends.
static void test_killed_in_race(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_KILL", "retime:2");
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--trials", "4", "--seed", "1");
    assert_int_equal(r.code, 128 + SIGKILL);
    box_set(b, "TILEWALK_KILL", NULL);
    const char *before = sequence(b, 1);
    r = RUN(b, "resume", "1", "--json");
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), before);
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(end_event(&e), "state"), "done");
    assert_true(cJSON_IsObject(member(member(end_event(&e), "best"), "final")));
}

static void make_database(struct box *b)
{
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "1");
    assert_ok(&r);
}

// All of a final race is stored or nothing of it; without it the session is paused.
static void test_race_is_not_stored(void **state)
{
    struct box *b = *state;
    make_database(b);
    tamper(b, "CREATE UNIQUE INDEX no ON retime(kind)");
    struct result r = tune_small(b, "4", NULL);
    assert_int_equal(r.code, 1);
    assert_one_line(r.err);
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(end_event(&e), "state"), "paused");
    assert_int_equal(count_events(&e, "retime"), 0);
    assert_int_equal(count_rows(b, "retime", NULL), 0);
    tamper(b, "DROP INDEX no");
    r = RUN(b, "resume", "2", "--json");
    assert_ok(&r);
    e = events_of(b, r.out);
    assert_true(count_events(&e, "retime") >= 2);
}

// Nothing depends on it.
static void test_canary_is_not_stored(void **state)
{
    struct box *b = *state;
    make_database(b);
    tamper(b, "CREATE UNIQUE INDEX no ON retime(kind) WHERE kind = 'canary'");
    tamper(b, "INSERT INTO retime(session, ask, kind, verified) VALUES (1, 1, 'canary', 1)");
    struct result r = tune_small(b, "22", NULL);
    assert_ok(&r);
    assert_contains(r.err, "canary not stored");
    assert_string_equal(state_of(b, 2), "done");
}

static void test_faults(void **state)
{
    struct box *b = *state;
    struct result r =
        tune_small(b, "7", "--fault=segv@time:2,wrong@verify:3,lost@run:4,exit@pipeline:6");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    static const char *const wanted[][2] = {
        {"ok", NULL}, {"crash", "time"},     {"wrong", "verify"}, {"lost", "run"},
        {"ok", NULL}, {"crash", "pipeline"}, {"ok", NULL}};
    size_t at = 0;
    for (int i = 0; i < e.count; i++) {
        const cJSON *line = e.line[i];
        if (strcmp(text_of(line, "event"), "trial") != 0 || number_of(line, "id") == 0)
            continue;
        assert_true(at < COUNT(wanted));
        assert_int_equal(number_of(line, "id"), at + 1);
        assert_string_equal(text_of(line, "outcome"), wanted[at][0]);
        if (wanted[at][1]) {
            assert_string_equal(text_of(line, "phase"), wanted[at][1]);
            assert_true(strlen(text_of(line, "reason")) > 0);
            assert_true(is_null(line, "tflops"));
        }
        at++;
    }
    assert_int_equal(at, COUNT(wanted));
    assert_string_equal(text_of(end_event(&e), "state"), "done");
}

// Messages of the validation layer are printed once each, and counted.
static void test_complaints(void **state)
{
    struct box *b = *state;
    struct result r = tune_small(b, "5", "--fault=complain@compile:1,complain@compile:2");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    int told = 0, counted = 0;
    for (int i = 0; i < e.count; i++) {
        const cJSON *line = e.line[i];
        if (strcmp(text_of(line, "event"), "message") != 0 ||
            strcmp(text_of(line, "level"), "warning") != 0)
            continue;
        told += strstr(text_of(line, "text"), "validation: [ injected ] at ") != NULL;
        counted += strstr(text_of(line, "text"),
                          "the validation layer had 2 messages, 1 of them different") != NULL;
    }
    assert_int_equal(told, 1);
    assert_int_equal(counted, 1);
    r = RUN(b, "show", "1");
    assert_contains(r.out, "validation: [ injected ] at ");
    assert_contains(r.out, "2 messages, 1 ");
}

// A configuration that breaks a limit never reaches the driver: here it would not even be GLSL.
// Half of the points have that in their resources; the others are found out by their SPIR-V.
static void test_rejected(void **state)
{
    struct box *b = *state;
    box_write(b, "big.comp",
              "#version 450\n"
              "layout(local_size_x = ${c.actual}) in;\n"
              "% if c.declared > 1 then\n"
              "#error launched\n"
              "% end\n"
              "layout(binding = 2) buffer C { float c[]; };\n"
              "void main() { c[gl_GlobalInvocationID.x] = 1.0; }\n");
    const char *path =
        box_write(b, "big.lua",
                  "operator.matmul { N = 8, M = 8, K = 8 }\n"
                  "param.declared = discrete { 1, 100000 }\n"
                  "param.actual = discrete { 50000, 90000 }\n"
                  "resources(function(c) return { invocations = { c.declared } } end)\n"
                  "kernel { template = \"big.comp\", groups = function(c) return { 1 } end }\n");
    struct result r = RUN(b, "tune", path, "--strategy", "random", "--json", "--show-rejected");
    assert_int_equal(r.code, 3);
    struct events e = events_of(b, r.out);
    assert_int_equal(count_events(&e, "trial"), 4);
    for (int i = 1; i < e.count - 1; i++) {
        assert_string_equal(text_of(e.line[i], "outcome"), "rejected");
        assert_int_equal(number_of(e.line[i], "id"), 0);
        assert_contains(text_of(e.line[i], "reason"), "invocations");
    }
    assert_int_equal(number_of(end_event(&e), "rejected"), 4);
    assert_int_equal(number_of(end_event(&e), "trials"), 0);
}

static const char *space_of_copies(struct box *b, const char *template)
{
    box_write(b, "typo.comp", template);
    return box_write(
        b, "typo.lua",
        "operator.matmul { N = 8, M = 8, K = 8 }\n"
        "param.copies = discrete { 1, 2, 3, 4, 5, 6, 7 }\n"
        "kernel { template = \"typo.comp\", groups = function(c) return { 1 } end }\n");
}

// An error of glslang names the line of the template, not that of the generated text.
static void test_broken_template(void **state)
{
    struct box *b = *state;
    const char *path = space_of_copies(b, "#version 450\n"
                                          "layout(local_size_x = 1) in;\n"
                                          "% for i = 1, c.copies do\n"
                                          "const float x_${i} = 1.0;\n"
                                          "% end\n"
                                          "layout(binding = 2) buffer C { float c[]; };\n"
                                          "void main() { c[0] = acc; }\n");
    struct result r = RUN(b, "tune", path, "--json");
    assert_refused(&r, 1, "typo.comp:7:", "'acc'");
    assert_string_equal(RUN(b, "ls", "--json").out, "{\"sessions\":[]}\n"); // nothing was begun
}

// A template that fails for some configurations only costs those their trials.
static void test_template_that_sometimes_fails(void **state)
{
    struct box *b = *state;
    const char *path = space_of_copies(b, "#version 450\n"
                                          "layout(local_size_x = 1) in;\n"
                                          "layout(binding = 2) buffer C { float c[]; };\n"
                                          "const float x[3] = float[3](1.0, 2.0, 3.0);\n"
                                          "void main() { c[0] = x[${c.copies - 1}]; }\n");
    struct result r = RUN(b, "tune", path, "--seed", "1", "--json");
    assert_int_equal(r.code, 3); // the others compute nonsense
    struct events e = events_of(b, r.out);
    int compile = 0, wrong = 0;
    for (int i = 1; i < e.count - 1; i++) {
        bool is_compile = strcmp(text_of(e.line[i], "outcome"), "compile") == 0;
        bool is_wrong = strcmp(text_of(e.line[i], "outcome"), "wrong") == 0;
        assert_int_equal(is_compile, number_of(member(e.line[i], "config"), "copies") > 3);
        if (is_compile)
            assert_contains(text_of(e.line[i], "reason"), "typo.comp:5:");
        compile += is_compile;
        wrong += is_wrong;
    }
    assert_int_equal(compile, 4);
    assert_int_equal(wrong, 3);
}

static void test_kill_and_resume(void **state)
{
    struct box *b = *state;
    struct running *r =
        START(b, "tune", flow_path(b, "small.lua"), "--trials", "200", "--seed", "1", "--json");
    wait_for_trials(b, 1, 2);
    send_signal(r, SIGKILL);
    assert_int_equal(finish(b, r).code, 128 + SIGKILL);
    assert_string_equal(state_of(b, 1), "paused");
    const char *before = sequence(b, 1);
    char *trials = arena_printf(&b->arena, "%d", (int)trials_of(b, 1) + 4);
    struct result resumed = RUN(b, "resume", "1", "--trials", trials, "--json");
    assert_ok(&resumed);
    assert_true(str_starts(sequence(b, 1), before));
    assert_int_equal(trials_of(b, 1), atoi(trials));
    struct events e = events_of(b, resumed.out);
    assert_string_equal(text_of(end_event(&e), "state"), "done");
    assert_true(cJSON_IsTrue(member(member(member(end_event(&e), "best"), "final"), "verified")));
}

// The oldest programs stored these facts of a device, lavapipe here (tests/space/test_limits.c has
// more).
static void test_old_limits(void **state)
{
    struct box *b = *state;
    struct result r = tune_small(b, "2", NULL);
    assert_ok(&r);
    const char *before = sequence(b, 1);
    tamper(b, "UPDATE session SET limits = '" OLD_LIMITS "}'");
    r = RUN(b, "resume", "1", "--trials", "3", "--json");
    assert_ok(&r);
    assert_true(str_starts(sequence(b, 1), before));
    assert_int_equal(trials_of(b, 1), 3);
}

static void test_interrupted(void **state)
{
    struct box *b = *state;
    struct running *r = START(b, "tune", flow_path(b, "small.lua"), "--trials", "200", "--json");
    wait_for_trials(b, 1, 1);
    send_signal(r, SIGINT);
    struct result result = finish(b, r);
    assert_int_equal(result.code, 130);
    struct events e = events_of(b, result.out);
    assert_string_equal(text_of(end_event(&e), "state"), "paused");
    assert_int_equal(count_events(&e, "trial"), trials_of(b, 1));
}

static void test_check(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "check", "gemm", "--glsl");
    assert_ok(&r);
    assert_true(str_starts(r.out, "// pass 1: groups "));
    assert_contains(r.out, "#version 450\n");
    r = RUN(b, "check", "mm1", "--json");
    assert_ok(&r);
    const cJSON *limit, *c = json_of(b, r.out);
    assert_true(strlen(text_of(c, "device")) > 0);
    assert_true(cJSON_GetArraySize(member(c, "limits")) > 0);
    cJSON_ArrayForEach(limit, member(c, "limits"))
        assert_in_range((int)(100 * number_of(limit, "removes")), 0, 100);
    assert_true(number_of(c, "valid_fraction") > 0 && number_of(c, "valid_fraction") < 1);
    r = RUN(b, "check", "mm1", "--device", "nowhere");
    assert_refused(&r, 2, "'nowhere'", NULL);
}

// A compiler of the user's compiles the kernels, and their session continues with that compiler.
static void test_compiler(void **state)
{
    struct box *b = *state;
    const char *real = "/usr/bin/glslangValidator", *space = flow_path(b, "small.lua");
    struct result r = RUN(b, "tune", space, "--glslang", "/no/such/compiler");
    assert_refused(&r, 2, "--glslang", "'/no/such/compiler'");
    r = RUN(b, "tune", space, "--glslang", "/bin/true", "--plain");
    assert_refused(&r, 1, "--glslang", "without a module");
    if (!file_exists(real)) {
        print_message("not checked: no %s (package glslang-tools)\n", real);
        return;
    }
    r = RUN(b, "tune", space, "--trials", "2", "--seed", "1", "--json", "--glslang", real);
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_contains(text_of(first_event(&e, "session"), "driver"), "Glslang Version");
    assert_string_equal(text_of(member(end_event(&e), "best"), "outcome"), "ok");
    r = RUN(b, "resume", "1", "--trials", "3", "--plain");
    assert_refused(&r, 1, "Glslang Version", "not here as it was");
    r = RUN(b, "resume", "1", "--trials", "3", "--json", "--glslang", real);
    assert_ok(&r);
}

static struct result tune_shape(struct box *b, const char *n, const char *option, const char *word)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--set", n, "--trials", "3", "--seed", "1",
               option, word);
}

static int histories_of(struct box *b, int64_t id)
{
    return cJSON_GetArraySize(member(listed_session(b, id), "transfer"));
}

// walk learns from earlier results on this device, unless an option forbids it. Other strategies do
// not, nor does a session that is like another one, except for the results that the other one
// learned from.
static void test_learns_from_what_is_here(void **state)
{
    static const struct {
        const char *n, *option, *word;
        int histories;
    } then[] = {{"N=16", "--strategy", "walk", 0},           {"N=32", "--strategy", "walk", 1},
                {"N=32", "--transfer", "none", 0},           {"N=48", "--strategy", "opevo", 0},
                {"N=48", "--source", "synthetic:rugged", 0}, {"N=48", "--workers", "1", 4}};
    struct box *b = *state;
    struct result r;
    for (size_t i = 0; i < COUNT(then); i++) {
        r = tune_shape(b, then[i].n, then[i].option, then[i].word);
        assert_ok(&r);
        assert_null(strstr(r.err, "learns nothing"));
        assert_int_equal(histories_of(b, (int64_t)i + 1), then[i].histories);
    }
    assert_contains(r.err, "(--transfer none");
    r = RUN(b, "compare", "2", "3");
    assert_ok(&r);
    assert_contains(r.out, ", transfer");
    r = RUN(b, "tune", "--like", "3", "--trials", "4");
    assert_ok(&r);
    assert_int_equal(histories_of(b, 7), 0);
    r = RUN(b, "tune", "--like", "2", "--trials", "4");
    assert_ok(&r);
    assert_int_equal(histories_of(b, 8), 1);
}

TEST_GROUP(device)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_gemm),
        FLOW_TEST(test_learns_from_what_is_here),
        FLOW_TEST(test_sample),
        FLOW_TEST(test_killed_in_race),
        FLOW_TEST(test_race_is_not_stored),
        FLOW_TEST(test_canary_is_not_stored),
        FLOW_TEST(test_faults),
        FLOW_TEST(test_complaints),
        FLOW_TEST(test_rejected),
        FLOW_TEST(test_broken_template),
        FLOW_TEST(test_template_that_sometimes_fails),
        FLOW_TEST(test_kill_and_resume),
        FLOW_TEST(test_old_limits),
        FLOW_TEST(test_interrupted),
        FLOW_TEST(test_check),
        FLOW_TEST(test_compiler),
    };
    return has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_SKIPPED;
}
