// The kernel of a trial, also of a failed one: `show ID --trial N --glsl|--spirv`.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void copy(struct box *b, const char *name)
{
    box_write(b, name, box_read(b, flow_path(b, name)));
}

// Session 1 on a copy of the small space, whose template does not compile for some.
static void tune(struct box *b)
{
    copy(b, "small.lua");
    struct str text = {0};
    str_add(&text, box_read(b, flow_path(b, "small.comp")));
    str_add(&text, "% if c.stage == \"shared\" then\nnonsense;\n% end\n");
    box_write(b, "small.comp", str_text(&text));
    str_finish(&text);
    struct result r =
        RUN(b, "tune", box_path(b, "small.lua"), "--source", "synthetic:rugged:invalid=0.3",
            "--trials", "40", "--seed", "5", "--strategy", "random");
    assert_int_equal(r.code, 0);
}

static const cJSON *trials(struct box *b)
{
    struct result r = RUN(b, "show", "1", "--trials", "--show-rejected", "--json");
    return member(json_of(b, r.out), "trials");
}

// Returns the ask of the first trial with that outcome and that stage or, NULL, another than
// "shared".
static const char *ask_of(struct box *b, const char *outcome, const char *stage)
{
    const cJSON *trial;
    cJSON_ArrayForEach(trial, trials(b))
    {
        const char *is = text_of(member(trial, "config"), "stage");
        bool fits = stage ? !strcmp(is, stage) : strcmp(is, "shared") != 0;
        if (fits && (!outcome || !strcmp(text_of(trial, "outcome"), outcome)))
            return arena_printf(&b->arena, "%.0f", number_of(trial, "ask"));
    }
    fail_msg("no trial is %s", outcome);
    return NULL;
}

static void test_glsl(void **state)
{
    struct box *b = *state;
    tune(b);
    const char *const outcomes[] = {"ok", "rejected", "wrong"};
    for (size_t i = 0; i < COUNT(outcomes); i++) {
        const char *ask = ask_of(b, outcomes[i], NULL);
        struct result r = RUN(b, "show", "1", "--ask", ask, "--glsl");
        assert_ok(&r);
        assert_contains(r.out, outcomes[i]);
        assert_contains(r.out, "#version 450");
        assert_contains(r.out, "// pass 1 of 1: 1 x ");
        r = RUN(b, "show", "1", "--ask", ask, "--spirv");
        assert_ok(&r);
        assert_contains(r.out, "OpEntryPoint GLCompute");
        r = RUN(b, "show", "1", "--ask", ask);
        assert_ok(&r);
        assert_contains(r.out, arena_printf(&b->arena, "ask %s", ask));
    }
    struct result r = RUN(b, "show", "1", "--trials", "--show-rejected"); // which ask it is
    assert_contains(r.out, arena_printf(&b->arena, " %s  ", ask_of(b, "rejected", NULL)));
}

static void test_json(void **state)
{
    struct box *b = *state;
    tune(b);
    struct result r = RUN(b, "show", "1", "--trial", "3", "--glsl", "--json");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out), *pass = cJSON_GetArrayItem(member(all, "passes"), 0);
    assert_int_equal(number_of(member(all, "trial"), "id"), 3);
    assert_string_equal(text_of(all, "language"), "glsl");
    assert_string_equal(text_of(pass, "template"), box_path(b, "small.comp"));
    int lines = 0;
    for (const char *at = text_of(pass, "text"); (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(cJSON_GetArraySize(member(pass, "template_lines")), lines);
    r = RUN(b, "show", "1", "--trial", "3", "--spirv", "--json");
    assert_ok(&r);
    assert_string_equal(text_of(json_of(b, r.out), "language"), "spirv");
    r = RUN(b, "show", "1", "--trial", "3", "--json");
    assert_ok(&r);
    assert_null(cJSON_GetObjectItem(json_of(b, r.out), "passes"));
}

// The output is the stored kernel.
static void test_changed(void **state)
{
    struct box *b = *state;
    tune(b);
    struct result before = RUN(b, "show", "1", "--trial", "3", "--glsl");
    assert_null(strstr(before.out, "changed"));
    box_write(b, "small.comp", "nothing of it is left");
    struct result after = RUN(b, "show", "1", "--trial", "3", "--glsl");
    assert_ok(&after);
    assert_contains(after.out, "small.comp has changed since");
    assert_string_equal(strstr(before.out, "#version"), strstr(after.out, "#version"));
}

static void test_diff(void **state)
{
    struct box *b = *state;
    tune(b);
    struct result r = RUN(b, "show", "1", "--top", "1", "--json");
    const cJSON *best = member(member(json_of(b, r.out), "session"), "best");
    const char *ask = arena_printf(&b->arena, "%.0f", number_of(best, "ask"));
    r = RUN(b, "show", "1", "--ask", ask, "--glsl", "--diff");
    assert_ok(&r);
    assert_null(strstr(r.out, "@@"));
    const char *other = strcmp(ask, ask_of(b, "wrong", NULL)) ? ask_of(b, "wrong", NULL) : "1";
    r = RUN(b, "show", "1", "--ask", other, "--glsl", "--diff");
    assert_ok(&r);
    assert_contains(r.out, "--- the");
}

// The compiler's own words, and the line of the template.
static void test_does_not_compile(void **state)
{
    struct box *b = *state;
    tune(b);
    const char *ask = ask_of(b, NULL, "shared");
    struct result r = RUN(b, "show", "1", "--ask", ask, "--glsl");
    assert_ok(&r);
    assert_contains(r.out, "nonsense;");
    r = RUN(b, "show", "1", "--ask", ask, "--spirv");
    assert_refused(&r, 1, "small.comp:", "syntax error");
}

static void test_words(void **state)
{
    struct box *b = *state;
    static const char *const wrong[][2] = {{"--glsl", "--json"}, {"--diff", "--spirv"}};
    tune(b);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct result r = RUN(b, "show", "1", wrong[i][0], wrong[i][1]);
        assert_refused(&r, 2, "--trial N", NULL);
    }
    struct result r = RUN(b, "show", "1", "--trial", "1", "--glsl", "--spirv");
    assert_refused(&r, 2, "choose one", NULL);
    r = RUN(b, "show", "1", "--trial", "1", "--trial", "ask:1");
    assert_refused(&r, 2, "one trial", NULL);
    r = RUN(b, "show", "1", "--trial", "ask:x");
    assert_refused(&r, 2, "'ask:x'", "ask:N");
    r = RUN(b, "show", "1", "--trial", "1", "--diff");
    assert_refused(&r, 2, "--diff", NULL);
    r = RUN(b, "show", "1", "--trial", "1000", "--glsl");
    assert_refused(&r, 1, "no trial 1000", NULL);
    r = RUN(b, "show", "1", "--trial", "ask:100000", "--glsl");
    assert_refused(&r, 1, "100000", NULL);
}

TEST_GROUP(show_trial)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_glsl),
        FLOW_TEST(test_json),
        FLOW_TEST(test_changed),
        FLOW_TEST(test_diff),
        FLOW_TEST(test_does_not_compile),
        FLOW_TEST(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
