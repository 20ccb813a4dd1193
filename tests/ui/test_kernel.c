// The screen of a trial's kernel: what it asks a child for, and what it makes of the answers.
#include "app.h"
#include "group.h"
#include "look.h"
#include "stage.h"

#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define US "\x1f"

static const char one[] = "fact" US "session 1  trial 7  ask 9  wrong\n"
                          "fact" US "tile=4,4\n"
                          "tilewalk: warning: something else\n"
                          "file" US "/x/a.comp\n"
                          "0" US "// pass 1 of 1: 4 x 4 x 1 workgroups\n"
                          "1" US "#version 450\n"
                          "3" US "\tfloat sum = a|b;\n"
                          "9" US "    barrier();\n";
static const char best[] = "fact" US "session 1  trial 3  ask 3  ok\n"
                           "file" US "/x/a.comp\n"
                           "0" US "// pass 1 of 1: 4 x 4 x 1 workgroups\n"
                           "1" US "#version 450\n"
                           "2" US "    float sum = 0.0;\n"
                           "9" US "    barrier();\n";

static int setup(void **state)
{
    setlocale(LC_ALL, "C.UTF-8");
    struct stage *s = mem_alloc(sizeof *s);
    stage_open(s, FIXTURE_SMALL, VIEW_KERNEL, CHARSET_BRAILLE);
    app_resize(&s->app, 24, 100);
    stage_rest(s);
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

// The style of the first glyph of a text on the screen.
static enum style style_at(struct stage *s, const char *text)
{
    char *frame = stage_frame(s);
    const char *row = frame;
    for (int i = 0; i < s->app.screen.rows; i++) {
        size_t length = strcspn(row, "\n");
        char *line = mem_printf("%.*s", (int)length, row), *at = strstr(line, text);
        int col = -1;
        if (at) {
            *at = '\0';
            col = text_columns(line);
        }
        free(line);
        if (col >= 0) {
            free(frame);
            return (enum style)s->app.screen.cell[i * s->app.screen.cols + col].style;
        }
        row += length + 1;
    }
    fail_msg("'%s' is not in\n%s", text, frame);
    return STYLE_TEXT;
}

static void assert_asked(struct stage *s, const char *words)
{
    assert_string_equal(str_text(&s->commands), words);
    str_finish(&s->commands);
}

// The one that was the newest when the screen was opened; it stays so while others come.
static void test_asks(void **state)
{
    struct stage *s = *state;
    char words[100];
    int64_t ask = s->app.selected;
    assert_true(ask > 0);
    assert_false(s->app.follow);
    snprintf(words, sizeof words,
             "tilewalk show 1 --trial ask:%d --glsl --lined --db tilewalk.db\n", (int)ask);
    assert_asked(s, words);
    YES("Rendering...");
    fixture_tell(&s->fixture, 3);
    stage_wait(s, 2);
    stage_rest(s);
    assert_asked(s, ""); // one at a time, and the same trial
    view_kernel_answer(&s->app, one, 0);
    stage_rest(s);
    assert_asked(s, "");
    stage_play(s, "v");
    stage_rest(s);
    snprintf(words, sizeof words,
             "tilewalk show 1 --trial ask:%d --spirv --lined --db tilewalk.db\n", (int)ask);
    assert_asked(s, words);
}

static void test_text(void **state)
{
    struct stage *s = *state;
    view_kernel_answer(&s->app, one, 0);
    YES("session 1  trial 7  ask 9  wrong");
    YES("   3       float sum = a|b;"); // a tab is four blanks
    NO("something else");
    stage_play(s, "/ \"barrier enter");
    stage_play(s, "e");
    assert_string_equal(s->app.edit_path, "/x/a.comp");
    assert_int_equal(s->app.edit_line, 9);
    stage_play(s, "/ \"nowhere enter");
    YES("'nowhere' is not found here");
    stage_play(s, "g e"); // a line that no template has: the space file
    assert_string_equal(strrchr(s->app.edit_path, '.'), ".lua");
}

static void test_difference(void **state)
{
    struct stage *s = *state;
    view_kernel_answer(&s->app, one, 0);
    str_finish(&s->commands);
    stage_play(s, "c");
    stage_rest(s);
    assert_non_null(strstr(str_text(&s->commands), "--glsl --lined"));
    YES("   3       float sum = a|b;"); // until it is there
    view_kernel_answer(&s->app, best, 0);
    YES("against the best");
    YES("   3 -     float sum = 0.0;");
    YES("   3 +     float sum = a|b;");
    YES("   4       barrier();");
    YES("@@ -1,4 +1,4 @@");
    assert_int_equal(style_at(s, "@@ -1"), STYLE_HUNK);
    assert_int_equal(style_at(s, "-     float"), STYLE_REMOVED);
    assert_int_equal(style_at(s, "0.0;"), STYLE_REMOVED);
    assert_int_equal(style_at(s, "= a|b;"), STYLE_ADDED);
    assert_int_equal(style_at(s, "#version"), STYLE_DIRECTIVE);
    stage_play(s, "g j j j j e"); // the lines that differ, below the header
    assert_int_equal(s->app.edit_line, 3);
    stage_play(s, "g e"); // a header is no line of a template
    assert_string_equal(strrchr(s->app.edit_path, '.'), ".lua");
    stage_play(s, "c");
    NO("float sum = 0.0;");
}

// Only what is near a difference is shown.
static void test_hunks(void **state)
{
    struct stage *s = *state;
    struct str first = {0}, second = {0};
    for (int i = 1; i <= 20; i++) {
        str_printf(&first, "%d" US "line_%d = %d;\n", i, i, i == 10 ? 1 : 0);
        str_printf(&second, "%d" US "line_%d = 0;\n", i, i);
    }
    view_kernel_answer(&s->app, str_text(&first), 0);
    stage_play(s, "c");
    stage_rest(s);
    view_kernel_answer(&s->app, str_text(&second), 0);
    YES("@@ -7,7 +7,7 @@");
    YES("line_7 = 0;");
    YES("line_13 = 0;");
    NO("line_6 = 0;");
    NO("line_14 = 0;");
    stage_play(s, "/ \"line_13 enter n N y");
    str_finish(&first);
    str_finish(&second);
}

static void test_no_difference(void **state)
{
    struct stage *s = *state;
    view_kernel_answer(&s->app, best, 0);
    stage_play(s, "c");
    stage_rest(s);
    view_kernel_answer(&s->app, best, 0);
    YES("The two kernels do not differ.");
    stage_play(s, "j G e");
}

static void test_colours(void **state)
{
    struct stage *s = *state;
    view_kernel_answer(&s->app, one, 0);
    assert_int_equal(style_at(s, "// pass 1"), STYLE_COMMENT);
    assert_int_equal(style_at(s, "#version"), STYLE_DIRECTIVE);
    assert_int_equal(style_at(s, "float sum"), STYLE_TYPE);
    assert_int_equal(style_at(s, "sum ="), STYLE_TEXT);
    stage_play(s, "l"); // moved by eight columns
    assert_int_equal(style_at(s, "t sum"), STYLE_TYPE);
    assert_int_equal(style_at(s, "sum ="), STYLE_TEXT);
}

static void test_failed(void **state)
{
    struct stage *s = *state;
    view_kernel_answer(&s->app, "warning\ntilewalk: a.comp:3: 'x' : undeclared identifier\n", 1);
    YES("a.comp:3: 'x' : undeclared identifier");
    stage_play(s, "/"); // nothing to search
    YES("there is no kernel here");
    stage_play(s, "j G c e");
}

static void draw(void *context, const struct pane *p)
{
    struct stage *s = context;
    view_kernel.draw(&s->app, s->app.state[VIEW_KERNEL], p);
}

static void test_all_sizes(void **state)
{
    struct stage *s = *state;
    look_all_sizes(CHARSET_BRAILLE, draw, s);
    view_kernel_answer(&s->app, one, 0);
    look_all_sizes(CHARSET_BRAILLE, draw, s);
}

TEST_GROUP(kernel)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_asks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_difference, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hunks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_difference, setup, teardown),
        cmocka_unit_test_setup_teardown(test_colours, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_sizes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
