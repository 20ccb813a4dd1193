// Parallel coordinates of the best tenth: which trials they show, the key, every size.
#include "group.h"
#include "look.h"
#include "stage.h"
#include "text.h"
#include "view_map.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct stage stage;

static void open_stage(enum charset charset)
{
    stage_open(&stage, FIXTURE_SMALL, VIEW_MAP, charset);
    app_resize(&stage.app, 36, 200);
    stage_rest(&stage);
    stage_play(&stage, "t");
}

static int close_stage(void **state)
{
    (void)state;
    stage_close(&stage);
    return 0;
}

static bool shows(const char *part)
{
    char *text = stage_frame(&stage);
    bool found = strstr(text, part) != NULL;
    free(text);
    return found;
}

static int count_of(const char *glyph)
{
    int count = 0;
    char *text = stage_frame(&stage);
    for (const char *at = text; (at = strstr(at, glyph)); at += strlen(glyph))
        count++;
    free(text);
    return count;
}

static void test_key(void **state)
{
    (void)state;
    open_stage(CHARSET_BRAILLE);
    assert_true(shows("Best tenth"));
    stage_play(&stage, "v");
    assert_true(shows("no cells"));
    stage_play(&stage, "h j enter"); // there is nothing to move
    assert_int_equal(stage.app.view, VIEW_MAP);
    stage_play(&stage, "t");
    assert_false(shows("Best tenth"));
    stage_play(&stage, "t esc");
    assert_int_equal(stage.app.view, VIEW_MAP);
    assert_false(shows("Best tenth"));
    stage_play(&stage, "t tab");
    assert_false(shows("Best tenth"));
}

// The values that stand on the axes are those of the tenth of the ok trials that are fastest.
static void test_values(void **state)
{
    (void)state;
    open_stage(CHARSET_BRAILLE);
    struct model *m = &stage.app.model;
    const struct map *map = stage.app.state[VIEW_MAP];
    int64_t ok = m->open.tally[OUTCOME_OK];
    int tenth = (int)(ok + 9) / 10;
    char title[64];
    snprintf(title, sizeof title, "Best tenth: %d of %d ok trials", tenth, (int)ok);
    assert_true(shows(title));
    char *frame = stage_frame(&stage);
    for (int i = 0; i < map->factors; i++) {
        struct str label = {0};
        for (int rank = 0; rank < tenth; rank++) {
            const struct trial *t = model_trial_ranked(m, rank);
            int place = axis_place(&map->along[i].x, &t->config, NULL);
            map_label(&map->along[i].x, place, &label);
            // Long ones are cut, and so only looked for by their beginnings.
            str_cut(&label, label.length < 3 ? label.length : 3);
            if (!strstr(frame, str_text(&label)))
                fail_msg("%s is not in\n%s", str_text(&label), frame);
        }
        str_finish(&label);
    }
    free(frame);
}

static void test_lines(void **state)
{
    (void)state;
    open_stage(CHARSET_ASCII); // a line of stars is the best trial's
    const struct map *map = stage.app.state[VIEW_MAP];
    assert_true(count_of("*") >= map->factors - 1);
    assert_true(count_of(".") > 10);
    app_resize(&stage.app, 36, 80); // not all axes have room
    assert_true(shows(" important of"));
}

static void draw(void *context, const struct pane *p)
{
    (void)context;
    map_draw_parallel(&stage.app, stage.app.state[VIEW_MAP], p);
}

static void test_sizes(void **state)
{
    (void)state;
    open_stage(CHARSET_BRAILLE);
    look_all_sizes(CHARSET_BRAILLE, draw, NULL);
    look_all_sizes(CHARSET_ASCII, draw, NULL);
}

TEST_GROUP(parallel)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_key, close_stage),
        cmocka_unit_test_teardown(test_values, close_stage),
        cmocka_unit_test_teardown(test_lines, close_stage),
        cmocka_unit_test_teardown(test_sizes, close_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
