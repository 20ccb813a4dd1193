// Golden screens: what scripts of keys show on fixtures, at three sizes and the first of them at a
// fourth, with and without UTF-8.
//
// golden/SCENE-COLSxROWS-CHARSET.txt holds the frame and, below a line of dashes, its styles.
// Few of them have the footer, so that another key in it changes few.
// TILEWALK_UPDATE_GOLDEN=1 writes them anew: look at the difference before it is committed.
#include "group.h"
#include "stage.h"

#include "base/file.h"

#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct scene {
    const char *name;
    enum fixture_shape shape;
    enum view_id view;
    const char *keys;
};

static const struct scene scenes[] = {
    {"main", FIXTURE_SMALL, VIEW_MAIN, ""},
    {"main-moved", FIXTURE_SMALL, VIEW_MAIN, "tab tab j j j t c 0"},
    {"main-zoom", FIXTURE_SMALL, VIEW_MAIN, "tab z"},
    {"main-overlay", FIXTURE_SEVERAL, VIEW_MAIN, "5 j space j space j space 1"},
    {"main-empty", FIXTURE_NOTHING, VIEW_MAIN, ""},
    {"map", FIXTURE_SMALL, VIEW_MAP, ""},
    {"map-moved", FIXTURE_SMALL, VIEW_MAP, "] v c j l l"},
    {"trials", FIXTURE_SMALL, VIEW_TRIALS, ""},
    {"trials-filter", FIXTURE_SMALL, VIEW_TRIALS, "/ \"outcome=ok enter > > j"},
    {"trials-filter-wrong", FIXTURE_SMALL, VIEW_TRIALS, "/ \"bogus>3 enter"},
    {"network", FIXTURE_SMALL, VIEW_NETWORK, ""},
    {"sessions", FIXTURE_SEVERAL, VIEW_SESSIONS, "j space j space"},
    {"sessions-compare", FIXTURE_SEVERAL, VIEW_SESSIONS, "j j space j space j space c"},
    {"sessions-none", FIXTURE_NOTHING, VIEW_SESSIONS, ""},
    {"space", FIXTURE_SMALL, VIEW_SPACE, "j j"},
    {"log", FIXTURE_SMALL, VIEW_LOG, ""},
    {"fleet", FIXTURE_SMALL, VIEW_FLEET, "j j"},
    {"fleet-none", FIXTURE_NOTHING, VIEW_FLEET, ""},
    {"help", FIXTURE_SMALL, VIEW_MAIN, "?"},
    {"export", FIXTURE_SMALL, VIEW_MAIN, "x"},
    {"new", FIXTURE_SMALL, VIEW_MAIN, "i"},
    {"delete", FIXTURE_SEVERAL, VIEW_SESSIONS, "j j D"},
    {"prompt", FIXTURE_SMALL, VIEW_MAIN, ": \"p"},
};

// Where there is room for more than the same: every pane whole, the population with its values.
static const struct scene widest_scenes[] = {
    {"main", FIXTURE_SMALL, VIEW_MAIN, ""},
    {"population-zoom", FIXTURE_SMALL, VIEW_MAIN, "tab tab tab z"},
};

static const struct {
    int cols, rows;
} sizes[] = {{120, 36}, {80, 24}, {60, 15}, {200, 60}};
enum { WIDEST = 3 };

static const struct {
    const char *name;
    enum charset charset;
} charsets[] = {{"braille", CHARSET_BRAILLE}, {"ascii", CHARSET_ASCII}};

// At each width, and where other keys are of use.
static const char *const with_footer[] = {"main-120x36-braille", "main-80x24-braille",
                                          "main-60x15-braille", "sessions-120x36-ascii"};

static char *golden_name(const struct scene *scene, int size, int charset)
{
    return mem_printf("%s-%dx%d-%s", scene->name, sizes[size].cols, sizes[size].rows,
                      charsets[charset].name);
}

static char *golden_path(const char *name)
{
    const char *folder = getenv("TILEWALK_GOLDEN");
    assert_non_null(folder);
    return mem_printf("%s/%s.txt", folder, name);
}

static bool has_footer(const char *name)
{
    for (size_t i = 0; i < sizeof with_footer / sizeof *with_footer; i++)
        if (!strcmp(name, with_footer[i]))
            return true;
    return false;
}

static char *last_line(char *lines)
{
    char *at = lines + strlen(lines);
    assert_true(at > lines && at[-1] == '\n');
    for (at--; at > lines && at[-1] != '\n';)
        at--;
    return at;
}

// The footer begins with the key of the first screen; a prompt or a dialog may be in its place.
static void cut_footer(char *frame, char *styles)
{
    char *footer = last_line(frame);
    if (strncmp(footer, " 1", 2) != 0)
        return;
    *footer = '\0';
    *last_line(styles) = '\0';
}

static char *frame_and_styles(struct stage *s, bool footer)
{
    char *frame = stage_frame(s), *styles = stage_styles(s);
    if (!footer)
        cut_footer(frame, styles);
    char *both = mem_printf("%s----\n%s", frame, styles);
    free(frame);
    free(styles);
    return both;
}

// Shows the first line that differs; true when none does.
static bool same(const char *path, const char *wanted, const char *got)
{
    for (int line = 1; *wanted || *got; line++) {
        size_t a = strcspn(wanted, "\n"), b = strcspn(got, "\n");
        if (a != b || memcmp(wanted, got, a)) {
            print_error("%s:%d:\n  wanted %.*s\n  got    %.*s\n", path, line, (int)a, wanted,
                        (int)b, got);
            return false;
        }
        wanted += a + (wanted[a] == '\n');
        got += b + (got[b] == '\n');
    }
    return true;
}

static bool check(const char *path, const char *got)
{
    struct err e;
    char *wanted;
    if (getenv("TILEWALK_UPDATE_GOLDEN")) {
        assert_true(file_write(path, got, strlen(got), &e));
        return true;
    }
    if (!file_read(path, &wanted, NULL, &e)) {
        print_error("%s\n", e.text);
        return false;
    }
    bool ok = same(path, wanted, got);
    free(wanted);
    return ok;
}

static bool play(const struct scene *scene, int size, int charset)
{
    struct stage s;
    stage_open(&s, scene->shape, scene->view, charsets[charset].charset);
    app_resize(&s.app, sizes[size].rows, sizes[size].cols);
    app_draw(&s.app);
    stage_rest(&s); // of what is seen now
    stage_play(&s, scene->keys);
    char *name = golden_name(scene, size, charset), *path = golden_path(name);
    char *got = frame_and_styles(&s, has_footer(name));
    bool ok = check(path, got);
    free(name);
    free(path);
    free(got);
    stage_close(&s);
    return ok;
}

// Returns how many of its screens differ.
static int play_at(const struct scene *scene, int size)
{
    return !play(scene, size, 0) + !play(scene, size, 1);
}

static void test_scenes(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        for (int size = 0; size < WIDEST; size++)
            wrong += play_at(&scenes[i], size);
    for (size_t i = 0; i < sizeof widest_scenes / sizeof *widest_scenes; i++)
        wrong += play_at(&widest_scenes[i], WIDEST);
    if (wrong)
        fail_msg("%d screens differ (TILEWALK_UPDATE_GOLDEN=1 writes them anew)", wrong);
}

TEST_GROUP(golden)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenes)};
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
