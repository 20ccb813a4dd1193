// Cards: a picture and a page about one session.
#include "group.h"
#include "sessions.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tune(struct box *b, const char *source, const char *seed)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", source, "--trials",
                          "30", "--seed", seed);
    assert_int_equal(r.code, 0);
}

static const char *card_file(struct box *b, const char *ending)
{
    return box_path(
        b, arena_printf(&b->arena, "cards/%s.%s", "small-f32-nn-64x64x64-session-1", ending));
}

static void test_files(void **state)
{
    struct box *b = *state;
    const char *folder = box_path(b, "cards");
    tune(b, "synthetic:bowl", "5");
    struct result r = RUN(b, "card", "1", "--out", folder, "--json");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(member(json_of(b, r.out), "files")), 3);
    const char *page = box_read(b, card_file(b, "md"));
    assert_contains(page, text_of(listed_session(b, 1), "title"));
    assert_contains(page, "](small-f32-nn-64x64x64-session-1.png)");
    assert_contains(page, "no default or naive kernel was measured");
    assert_contains(page, "no kernel ran");
    assert_contains(page, "\n    tilewalk tune small.lua --source synthetic:bowl");
    assert_contains(page, " --seed 5 --trials 30\n");
    assert_contains(page, " --workers ");
    assert_null(strstr(page, flow_path(b, "small.lua"))); // where it lies is nobody's business
    assert_contains(box_read(b, card_file(b, "svg")), "<svg ");
    assert_memory_equal(box_read(b, card_file(b, "png")), "\x89PNG", 4);
    r = RUN(b, "card", "1", "--out", folder); // once more: in their place
    assert_ok(&r);
    assert_contains(r.out, "session-1.md\n");
}

// The page's command, where the space file lies, makes the session again.
static void test_repeats(void **state)
{
    static const char *const how[][4] = {
        {"--workers", "3", "--strategy", "opevo"},
        {"--workers", "1", "--patience", "12"},
        {"--seconds", "600", "--strategy", "ga:pop=6"},
    };
    struct box *b = *state;
    const char *program = getenv("TILEWALK_PROGRAM");
    for (int i = 0; i < 3; i++) {
        struct result r =
            RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged:invalid=0.2",
                "--trials", "40", "--seed", "9", how[i][0], how[i][1], how[i][2], how[i][3]);
        assert_ok(&r);
        const char *id = arena_printf(&b->arena, "%d", 2 * i + 1);
        r = RUN(b, "card", id, "--out", box_path(b, "cards"));
        assert_ok(&r);
        const char *page = box_read(
            b,
            box_path(b, arena_printf(&b->arena, "cards/small-f32-nn-64x64x64-session-%s.md", id)));
        const char *at = strstr(page, "\n    tilewalk tune ");
        assert_non_null(at);
        const char *words = at + strlen("\n    tilewalk ");
        const char *line = arena_printf(&b->arena, "cd '%s' && exec '%s' %.*s", flow_path(b, ""),
                                        program, (int)strcspn(words, "\n"), words);
        b->program = "/bin/sh";
        r = RUN(b, "-c", line);
        b->program = NULL;
        assert_ok(&r);
        assert_string_equal(sequence(b, 2 * i + 1), sequence(b, 2 * i + 2));
    }
}

// A session is compared with another one only where both have the same problem, device and source.
static void test_baseline(void **state)
{
    struct box *b = *state;
    tune(b, "synthetic:bowl", "5");
    tune(b, "synthetic:bowl", "6");
    tune(b, "synthetic:rugged", "5");
    struct result r = RUN(b, "card", "1", "--out", box_path(b, "cards"), "--baseline", "2");
    assert_ok(&r);
    const char *page = box_read(b, card_file(b, "md"));
    assert_contains(page, "the best of session 2 (small, 30 trials)");
    assert_null(strstr(page, "naive"));
    r = RUN(b, "card", "1", "--baseline", "3");
    assert_refused(&r, 1, "session 3", "source");
    r = RUN(b, "card", "1", "--baseline", "4");
    assert_refused(&r, 1, "4", NULL);
    r = RUN(b, "card", "1", "--baseline", "two");
    assert_refused(&r, 2, "'two'", NULL);
}

static void test_refused(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "card", "1");
    assert_refused(&r, 1, "no database", NULL);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl:invalid=0.999",
            "--trials", "3", "--seed", "1");
    r = RUN(b, "card", "1");
    assert_refused(&r, 1, "no valid trial", NULL);
    tune(b, "synthetic:bowl", "5");
    r = RUN(b, "card", "2", "--out", box_write(b, "file", "in the way"));
    assert_refused(&r, 1, "file", NULL);
}

TEST_GROUP(card)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_files),
        FLOW_TEST(test_repeats),
        FLOW_TEST(test_baseline),
        FLOW_TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
