// The log: all sources in order of time, levels, filter, wrapping, following, and all sizes.
#include "group.h"
#include "look.h"
#include "report/text.h"
#include "stage.h"

#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int setup(void **state)
{
    setlocale(LC_ALL, "C.UTF-8");
    struct stage *s = mem_alloc(sizeof *s);
    stage_open(s, FIXTURE_SMALL, VIEW_LOG, CHARSET_BRAILLE);
    app_resize(&s->app, 24, 110);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    stage_close(*state);
    free(*state);
    return 0;
}

static bool shows(struct stage *s, const char *text)
{
    char *frame = stage_frame(s);
    bool found = strstr(frame, text) != NULL;
    free(frame);
    return found;
}

#define YES(text) assert_true(shows(s, text))
#define NO(text)  assert_false(shows(s, text))

static void assert_in_order(struct stage *s, const char *const *text, int count)
{
    char *frame = stage_frame(s);
    const char *at = frame;
    for (int i = 0; i < count; i++) {
        const char *found = strstr(at, text[i]);
        if (!found)
            fail_msg("'%s' is not where it belongs in\n%s", text[i], frame);
        at = found;
    }
    free(frame);
}

static void log_own(struct stage *s, double at, const char *text)
{
    double now = s->app.unix_now;
    s->app.unix_now = at;
    app_log(&s->app, "%s", text);
    s->app.unix_now = now;
}

static void sources_are_interleaved_by_time(void **state)
{
    struct stage *s = *state;
    const struct opened *o = &s->app.model.open;
    assert_true(o->message_count >= 3);
    log_own(s, o->message[0].at - 1, "before all");
    log_own(s, o->message[1].at + 0.5, "in between");
    log_own(s, FIXTURE_NOW, "after all");
    const char *const lines[] = {"here     before all", o->message[0].text, o->message[1].text,
                                 "here     in between", o->message[2].text, "here     after all"};
    assert_in_order(s, lines, 6);
    char count[32];
    snprintf(count, sizeof count, "%d messages", o->message_count + o->curve.count + 3);
    YES(count);
}

static void new_bests_are_lines_too(void **state)
{
    struct stage *s = *state;
    const struct opened *o = &s->app.model.open;
    const struct best_step *last = &o->curve.step[o->curve.count - 1];
    char text[96], speed[32];
    assert_true(o->curve.count >= 3);
    snprintf(text, sizeof text, "info     best  trial %d: %s (+%.1f %%)", (int)last->number,
             text_speed(o->record.flop, last->seconds, speed),
             100 * (last[-1].seconds / last->seconds - 1));
    log_own(s, last->finished - 0.25, "just before");
    log_own(s, last->finished + 0.25, "just after");
    assert_in_order(s, (const char *[]){"just before", text, "just after"}, 3);
    stage_play(s, "/ \"best__trial enter");
    snprintf(text, sizeof text, "%d messages", o->curve.count);
    YES(text);
    stage_play(s, "esc v v");   // warnings and up
    NO("info     best  trial"); // the last one is said below the log, too
}

static void old_lines_of_the_ring_go(void **state)
{
    struct stage *s = *state;
    char text[32];
    for (int i = 0; i < APP_LOG_LINES + 10; i++) {
        snprintf(text, sizeof text, "line %03d.", i);
        log_own(s, FIXTURE_NOW, text);
    }
    stage_play(s, "/ \"line enter g");
    YES("line 010.");
    NO("line 009.");
    snprintf(text, sizeof text, "%d messages", APP_LOG_LINES);
    YES(text);
    stage_play(s, "G");
    YES("line 265.");
}

static void levels_hide_what_is_below(void **state)
{
    struct stage *s = *state;
    YES("worker   worker 0:"); // lines of workers are marked
    YES("level: debug and up");
    stage_play(s, "v");
    NO("worker 0:");
    YES("4 workers on");
    stage_play(s, "v");
    NO("4 workers on");
    YES("warning  ");
    YES("error    ");
    stage_play(s, "v");
    NO("warning  ");
    YES("level: error  ");
    stage_play(s, "v");
    YES("worker 0:");
}

static void filters_look_for_text(void **state)
{
    struct stage *s = *state;
    stage_play(s, "/ \"DEVICE_WAS");
    YES("the device was lost");
    NO("4 workers on");
    YES("1 message  ");
    stage_play(s, "esc"); // back to none
    YES("4 workers on");
    stage_play(s, "/ \"worker enter");
    NO("the device was lost");
    stage_play(s, "N");
    YES("not following");
    stage_play(s, "esc");
    YES("filter: none");
    assert_int_equal(s->app.view, VIEW_LOG);
    stage_play(s, "/ \"zebra enter");
    YES("No message matches.");
    stage_play(s, "j k y v");
}

static void the_end_is_followed_until_the_user_moves(void **state)
{
    struct stage *s = *state;
    log_own(s, FIXTURE_NOW, "the first");
    YES("│>01-01 00:00:00 here     the first");
    YES("  following");
    log_own(s, FIXTURE_NOW, "the next");
    YES("│>01-01 00:00:00 here     the next");
    stage_play(s, "k");
    YES("not following");
    log_own(s, FIXTURE_NOW, "the second");
    YES("the second"); // there is room for it, but the cursor stays
    YES("│>01-01 00:00:00 here     the first");
    stage_play(s, "G");
    YES("  following");
    log_own(s, FIXTURE_NOW, "the third");
    stage_play(s, "y");
    assert_string_equal(s->app.copy, "the third");
}

static void long_texts_are_wrapped_at_blanks(void **state)
{
    struct stage *s = *state;
    app_resize(&s->app, 24, 50);
    log_own(s, FIXTURE_NOW, "one two three four five six seven eight nine ten");
    const char *const lines[] = {"one two three four five six seven", "eight nine ten"};
    assert_in_order(s, lines, 2);
    log_own(
        s, FIXTURE_NOW,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaZ");
    YES("aZ");
}

static void draw(void *context, const struct pane *p)
{
    struct stage *s = context;
    view_log.draw(&s->app, s->app.state[VIEW_LOG], p);
}

static void nothing_is_drawn_outside(void **state)
{
    struct stage *s = *state;
    for (int i = 0; i < 50; i++)
        log_own(s, FIXTURE_NOW,
                "radv: a long line of a driver that says ünïcödé things \xff\xfe\n and more");
    look_all_sizes(CHARSET_BRAILLE, draw, s);
    stage_play(s, "g j j");
    look_all_sizes(CHARSET_ASCII, draw, s);
    model_close(&s->app.model);
    look_all_sizes(CHARSET_BRAILLE, draw, s);
}

static void a_click_moves_the_cursor(void **state)
{
    struct stage *s = *state;
    app_draw(&s->app);
    stage_play(s, "g");
    app_click(&s->app, 5, 10); // head, frame, third entry: after a new best and a message
    stage_play(s, "y");
    assert_string_equal(s->app.copy, s->app.model.open.message[1].text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

TEST_GROUP(log)
{
    const struct CMUnitTest tests[] = {
        TEST(sources_are_interleaved_by_time),
        TEST(new_bests_are_lines_too),
        TEST(old_lines_of_the_ring_go),
        TEST(levels_hide_what_is_below),
        TEST(filters_look_for_text),
        TEST(the_end_is_followed_until_the_user_moves),
        TEST(long_texts_are_wrapped_at_blanks),
        TEST(nothing_is_drawn_outside),
        TEST(a_click_moves_the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
