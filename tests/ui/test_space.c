// The space screen: the list, moves and the status of neighbours, shares, the file and its keys.
#include "base/file.h"
#include "group.h"
#include "look.h"
#include "space_screen.h"
#include "text.h"
#include "trial/source.h"
#include "wording.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SPACE_PATH "presets/gemm.lua" // of the fixture's sessions, in its folder

static struct app *const app = &space_stage.app;

static void draw_body(void *context, const struct pane *p)
{
    (void)context;
    view_space.draw(app, space_state(), p);
}

// --- sizes ---

static void test_every_size(void **state)
{
    static const char *const kinds[] = {"registers", "stage_a", "pad", "order", "walk"};
    (void)state;
    for (int shape = FIXTURE_SMALL; shape <= FIXTURE_NOTHING; shape++) {
        space_open((enum fixture_shape)shape, 36, 120);
        look_all_sizes(CHARSET_BRAILLE, draw_body, NULL);
        for (size_t i = 0; shape == FIXTURE_SMALL && i < sizeof kinds / sizeof *kinds; i++) {
            space_choose(space_param_named(kinds[i]));
            look_all_sizes(i % 2 ? CHARSET_ASCII : CHARSET_BLOCK, draw_body, NULL);
        }
        app_act(app, ACT_NEXT_PANE);
        app_act(app, ACT_LAST);
        look_all_sizes(CHARSET_ASCII, draw_body, NULL);
        space_close();
    }
}

static void test_parameters_stay_when_there_is_little_room(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 15, 60);
    assert_true(space_has("threads"));
    assert_true(space_has(" threads "));
    assert_true(space_has(SPACE_PATH));
    app_resize(app, 5, 30);
    assert_true(space_has("> threads"));
    assert_false(space_has("Neighbours"));
    space_choose(space_param_named("walk"));
    assert_true(space_has("> walk"));
    app_resize(app, 4, 20);
    space_play("g");
    assert_true(space_has("> threads"));
    space_close();
}

static void test_nothing_is_open(void **state)
{
    (void)state;
    space_open(FIXTURE_NOTHING, 36, 120);
    assert_true(space_has("No session"));
    space_play("j k tab R u");
    assert_true(space_has("no session is open"));
    space_close();
}

// --- the list ---

static void test_parameters(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 50, 160);
    struct trial best = *model_best(&app->model);
    for (int i = 0; i < space_opened()->param_count; i++) {
        const struct param *p = &space_opened()->param[i];
        struct str row = {0};
        str_printf(&row, " %-9s %-13s ", p->name, param_kind_name(p->kind));
        assert_true(space_has(str_text(&row)));
        row.length = 0;
        value_add_text(p, best.config.slot + p->offset, &row);
        assert_true(space_has(str_text(&row)));
        str_finish(&row);
    }
    space_close();
}

// Distinct values among the trials that ran, by looking at every pair of them.
static int distinct_values(const struct param *p)
{
    struct trial seen[256];
    int count = 0, distinct = 0;
    for (int64_t n = 1; n <= app->model.open.last_number && count < 256; n++)
        seen[count++] = *model_trial_numbered(&app->model, n);
    for (int i = 0; i < count; i++) {
        bool again = false;
        for (int j = 0; j < i; j++)
            again |= value_equal(p, &seen[i].config, &seen[j].config);
        distinct += !again;
    }
    return distinct;
}

static void test_coverage(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < space_opened()->param_count; i++) {
            const struct param *p = &space_opened()->param[i];
            const struct value_facts *facts = &space_state()->coverage.of[i];
            char wanted[48];
            int64_t trials = 0;
            assert_int_equal(facts->seen.count, distinct_values(p));
            for (int k = 0; k < facts->seen.count; k++)
                trials += facts->trials[k];
            assert_int_equal(trials, app->model.open.last_number);
            snprintf(wanted, sizeof wanted, " %d/%" PRIu64 " ", facts->seen.count, p->size);
            assert_true(space_has(wanted));
        }
        fixture_tell(&space_stage.fixture, 9);
        stage_wait(&space_stage, 2);
    }
    space_close();
}

static void test_shares_agree_with_a_large_survey(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    const struct shares *s = &space_state()->shares;
    struct survey large;
    struct err e;
    assert_true(s->done);
    assert_int_equal(s->sum.points, SURVEY_SAMPLES);
    assert_true(survey_take(space_opened(), &app->model.open.limits,
                            &(struct survey_plan){0, 8000, 77}, &large, &e));
    double valid = (double)large.valid / (double)large.points;
    double share = share_of(s, s->sum.valid), error = share_error(s, share);
    assert_true(share - valid < 2 * error && valid - share < 2 * error);
    assert_true(error > 0.01 && error < 0.02);
    for (int i = 0; i < space_opened()->constraint_count; i++) {
        double alone = (double)large.by_constraint[i] / (double)large.points;
        double found = share_of(s, s->sum.by_constraint[i]);
        assert_true(found - alone < 0.03 && alone - found < 0.03);
    }
    survey_finish(&large);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "valid %.1f ±%.1f %%", 100 * share, 100 * error);
    assert_true(space_has(wanted));
    assert_true(space_has("the other 8 ")); // shared memory has a row
    space_close();
}

// As `check` does.
static void test_shares_of_a_small_space_are_exact(void **state)
{
    (void)state;
    const struct script_text text = {
        "a.lua", "a.lua",
        "local v = {}\nfor i = 1, 160 do v[i] = i end\nparam.a = discrete(v)\n"
        "constraint(\"most\", function(c) return c.a > 57 end)\n"};
    struct err e;
    struct script *script = script_create(
        &(struct script_options){.texts = &text, .text_count = 1, .space_only = true}, &e);
    assert_non_null(script);
    struct shares s = {.done = false};
    while (shares_step(&s, script_space(script), NULL))
        ;
    assert_true(s.sum.exact);
    assert_int_equal(s.sum.points, 160);
    assert_int_equal(s.sum.by_constraint[0], 57);
    assert_int_equal(s.sum.valid, 103);
    shares_finish(&s);
    script_destroy(script);
}

// The line of a shipped file, from 1, that says something first.
static int line_of(const char *file, const char *text)
{
    struct err e;
    char *all, *path = path_shipped(file);
    assert_true(file_read(path, &all, NULL, &e));
    const char *at = strstr(all, text);
    assert_non_null(at);
    int line = 1;
    for (const char *c = all; c < at; c++)
        line += *c == '\n';
    free(all);
    free(path);
    return line;
}

static void test_a_constraint_shows_its_line(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    assert_string_equal(view_space.disabled(app, space_state(), ACT_OPEN),
                        "no constraint is chosen");
    space_play("tab j j j enter");
    char *expected = mem_printf("gemm_rules.lua:%d: constraint(\"whole subgroups\"",
                                line_of("lua/gemm_rules.lua", "constraint(\"whole subgroups\""));
    assert_true(space_has(expected));
    free(expected);
    space_play("tab");
    assert_int_equal(space_state()->section, SECTION_PARAMS);
    space_close();
}

static void test_cursors_stay_inside(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    struct space_view *v = space_state();
    space_play("k");
    assert_int_equal(v->cursor[SECTION_PARAMS], 0);
    int last = space_opened()->param_count - 1;
    space_choose(last);
    assert_int_equal(v->section, SECTION_PARAMS);
    space_play("j"); // rules follow the parameters
    assert_int_equal(v->section, SECTION_RULES);
    assert_int_equal(v->cursor[SECTION_RULES], 0);
    space_play("k");
    assert_int_equal(v->section, SECTION_PARAMS);
    assert_int_equal(v->cursor[SECTION_PARAMS], last);
    space_play("G j j");
    assert_int_equal(v->cursor[SECTION_RULES], space_opened()->constraint_count - 1);
    assert_int_equal(v->cursor[SECTION_PARAMS], last);
    space_close();
}

// The moves of the chosen parameter scroll while they have the keys, and only then.
static void test_moves_are_a_pane(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 24, 80);
    struct space_view *v = space_state();
    assert_true(space_has("shift-tab more"));
    space_play("j j pgdn");
    assert_int_equal(v->moves.top, 0);
    assert_int_equal((v->section == SECTION_RULES ? space_opened()->param_count : 0) +
                         v->cursor[v->section],
                     2 + v->list.rows - 1);
    space_play("g shift-tab");
    assert_true(space_has("pgdn more"));
    space_play("j ctrl-d");
    assert_int_equal(v->moves.top, 1 + v->moves.rows / 2);
    assert_int_equal(v->cursor[SECTION_PARAMS], 0);
    space_play("G");
    assert_false(space_has("pgdn more"));
    space_play("tab j");
    assert_int_equal(v->cursor[SECTION_PARAMS], 1);
    assert_int_equal(v->moves.top, 0);
    space_close();
}

static void test_clicks(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    struct space_view *v = space_state();
    app_draw(app);
    view_space.click(app, v, 1 + 1 + 3, 5); // frame, head
    assert_int_equal(v->cursor[SECTION_PARAMS], 3);
    int rules = 1 + 1 + space_opened()->param_count + 2;
    view_space.click(app, v, rules + 2, 5);
    assert_int_equal(v->section, SECTION_RULES);
    assert_int_equal(v->cursor[SECTION_RULES], 2);
    view_space.click(app, v, rules - 1, 5); // a head
    view_space.click(app, v, 5, 110);       // the other pane
    assert_int_equal(v->cursor[SECTION_RULES], 2);
    assert_int_equal(v->cursor[SECTION_PARAMS], 3);
    space_close();
}

// --- the file ---

static void put(const char *from, const char *to)
{
    struct err e;
    char *text, *path = path_shipped("presets/gemm.lua");
    assert_true(file_read(path, &text, NULL, &e));
    char *at = strstr(text, from);
    assert_non_null(at);
    char *edited = mem_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    mkdir("presets", 0777);
    assert_true(file_write(SPACE_PATH, edited, strlen(edited), &e));
    free(edited);
    free(text);
    free(path);
    stage_wait(&space_stage, 2);
}

// The lines below the parameters, in its box.
static void add_file_pane(struct wording *r, const char *tried)
{
    char *frame = stage_frame(&space_stage);
    struct str lines = {0};
    const char *at = strstr(frame, "─ " SPACE_PATH);
    assert_non_null(at);
    for (at = strchr(at, '\n') + 1; strncmp(at, "└", 3) != 0; at += strcspn(at, "\n") + 1) {
        const char *line = at + strlen("│"), *end = strstr(line, "│\n");
        while (end > line && end[-1] == ' ')
            end--;
        if (end > line)
            str_printf(&lines, "%s%.*s", lines.length ? "\n" : "", (int)(end - line), line);
    }
    wording_add(r, tried, str_text(&lines));
    str_finish(&lines);
    free(frame);
}

static void test_the_file(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    struct wording r;
    wording_begin(&r, "ui", "space: the file");
    add_file_pane(&r, "gone");
    space_play("e");
    assert_null(app->edit_path);
    wording_add(&r, "gone, edit", app->notice);
    put("param.pad", "param.pad");
    add_file_pane(&r, "the same");
    space_play("u");
    wording_add(&r, "the same, use-new", app->notice);
    put("param.pad", "param.more = discrete { 1, 2 }\nparam.pad");
    add_file_pane(&r, "another parameter");
    assert_true(space_has("160 944 537 600"));
    assert_true(space_has("80 472 268 800"));
    put("param.pad", "-- as before\nparam.pad");
    add_file_pane(&r, "a comment");
    put("discrete { 0, 1, 2, 4 }", "discret { 0, 1, 2, 4 }");
    add_file_pane(&r, "an error");
    assert_true(space_has(SPACE_PATH ":18: "));
    assert_true(space_has("      17 | param.stage_b"));
    assert_true(space_has(" >   18 | param.pad     = discret {"));
    assert_true(space_has("      19 |"));
    space_play("u");
    wording_add(&r, "an error, use-new", app->notice);
    assert_null(app->dialog);
    wording_end(&r);
    space_close();
}

static void test_edit_goes_to_the_line(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    put("param.pad", "param.pad");
    space_choose(space_param_named("walk"));
    app_say(app, STYLE_BAD, "the editor failed");
    space_play("e");
    assert_string_equal(app->error, ""); // that was another one
    assert_string_equal(app->edit_path, SPACE_PATH);
    int walk = line_of(SPACE_PATH, "param.walk");
    assert_int_equal(app->edit_line, walk);
    space_play("tab e");
    assert_int_equal(app->edit_line, line_of("lua/gemm_rules.lua", "constraint(")); // the first
    space_play("tab");
    put("param.pad", "\n\nparam.pad"); // lines move
    space_play("e");
    assert_int_equal(app->edit_line, walk + 2);
    put("discrete { 0, 1, 2, 4 }", "discret { 0, 1, 2, 4 }");
    space_play("e");
    assert_int_equal(app->edit_line, line_of(SPACE_PATH, "discrete { 0, 1, 2, 4 }"));
    space_close();
}

static void test_use_new(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    put("param.pad", "param.more = discrete { 1, 2 }\nparam.pad");
    space_play("R");
    assert_true(space_has("added more"));
    space_play("u");
    assert_non_null(app->dialog);
    assert_true(space_has("tilewalk tune " SPACE_PATH " "));
    assert_false(space_has("--warm-start")); // none was named
    space_close();
}

static void test_a_file_that_changed_is_told_everywhere(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    put("param.pad", "\nparam.pad");
    for (int i = 0; i < VIEW_COUNT; i++) {
        app_show(app, (enum view_id)i);
        stage_wait(&space_stage, 2);
        stage_rest(&space_stage);
        assert_true(space_has("gemm.lua changed"));
        assert_int_equal(app->file.state, SPACE_FILE_NEW);
    }
    space_close();
}

static void test_an_edit_is_answered(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    app_show(app, VIEW_MAIN);
    uint64_t before = file_stamp(SPACE_PATH, 0);
    app_edited(app, SPACE_PATH, before);
    assert_true(str_starts(app->notice, "gemm.lua: nothing"));
    put("param.pad", "param.more = discrete { 1, 2 }\nparam.pad");
    app_edited(app, SPACE_PATH, before);
    wording_is("ui", "space: an edit", app->notice);
    put("discrete { 0, 1, 2, 4 }", "discret { 0, 1, 2, 4 }");
    app_edited(app, SPACE_PATH, before);
    assert_non_null(strstr(app->error, "gemm.lua:"));
    assert_non_null(strstr(app->error, "discret"));
    put("param.pad", "constraint(\"never\", function(c) return false end)\nparam.pad");
    app_edited(app, SPACE_PATH, before);
    assert_null(strstr(app->error, "discret")); // that is mended
    assert_non_null(strstr(app->error, "legal"));
    put("param.pad", "param.pad");
    app_edited(app, SPACE_PATH, before);
    assert_string_equal(app->error, "");
    space_close();
}

// A space file that differs is compiled by a worker: this program again.
TEST_GROUP(space)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_parameters_stay_when_there_is_little_room),
        cmocka_unit_test(test_nothing_is_open),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_shares_agree_with_a_large_survey),
        cmocka_unit_test(test_shares_of_a_small_space_are_exact),
        cmocka_unit_test(test_a_constraint_shows_its_line),
        cmocka_unit_test(test_cursors_stay_inside),
        cmocka_unit_test(test_moves_are_a_pane),
        cmocka_unit_test(test_clicks),
        cmocka_unit_test(test_the_file),
        cmocka_unit_test(test_edit_goes_to_the_line),
        cmocka_unit_test(test_use_new),
        cmocka_unit_test(test_a_file_that_changed_is_told_everywhere),
        cmocka_unit_test(test_an_edit_is_answered),
    };
    return cmocka_run_group_tests_name("space screen", tests, NULL, NULL);
}
