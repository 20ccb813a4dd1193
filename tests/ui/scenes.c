#include "scenes.h"
#include "stage.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct scene {
    const char *name;
    enum fixture_shape shape;
    enum view_id view;
    const char *keys;
} scenes[] = {
    {"main", FIXTURE_SMALL, VIEW_MAIN, ""},
    {"main-moved", FIXTURE_SMALL, VIEW_MAIN, "v tab tab j j j t c 0"},
    {"main-zoom", FIXTURE_SMALL, VIEW_MAIN, "enter z"},
    {"main-swapped", FIXTURE_SMALL, VIEW_MAIN, "v"},
    {"main-back", FIXTURE_SMALL, VIEW_MAIN, "v [ ["},
    {"population-zoom", FIXTURE_SMALL, VIEW_MAIN, "v shift-tab z"},
    {"main-overlay", FIXTURE_SEVERAL, VIEW_MAIN, "5 j space j space j space 1"},
    {"main-empty", FIXTURE_NOTHING, VIEW_MAIN, ""},
    {"map", FIXTURE_SMALL, VIEW_MAP, ""},
    {"map-moved", FIXTURE_SMALL, VIEW_MAP, "] v c j l l"},
    {"map-parallel", FIXTURE_SMALL, VIEW_MAP, "t"},
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
    {"new", FIXTURE_SMALL, VIEW_MAIN, "i \"gemm"},
    {"stop", FIXTURE_SMALL, VIEW_MAIN, "s"},
    {"prompt", FIXTURE_SMALL, VIEW_MAIN, ": \"p"},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static const struct {
    const char *name;
    int rows, cols;
} sizes[] = {{"200x60", 60, 200}, {"120x36", 36, 120}, {"80x24", 24, 80}, {"60x15", 15, 60}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const enum charset charsets[] = {CHARSET_BRAILLE, CHARSET_ASCII};

struct screen screen_cut(const struct screen *s, int row, int col, int rows, int cols)
{
    struct screen cut = {.charset = s->charset};
    screen_resize(&cut, rows, cols);
    for (int i = 0; i < rows; i++)
        memcpy(&cut.cell[i * cols], &s->cell[(row + i) * s->cols + col],
               (size_t)cols * sizeof *cut.cell);
    return cut;
}

static struct screen copy_of(const struct screen *s)
{
    return screen_cut(s, 0, 0, s->rows, s->cols);
}

// The smallest rectangle that holds all cells in which the two differ.
static struct screen cut_difference(const struct screen *s, const struct screen *behind)
{
    int top = s->rows, left = s->cols, bottom = 0, right = 0;
    for (int row = 0; row < s->rows; row++)
        for (int col = 0; col < s->cols; col++) {
            const struct cell *a = &s->cell[row * s->cols + col];
            const struct cell *b = &behind->cell[row * s->cols + col];
            if (a->glyph == b->glyph && a->style == b->style && a->marked == b->marked)
                continue;
            top = row < top ? row : top;
            left = col < left ? col : left;
            bottom = row + 1;
            right = col + 1 > right ? col + 1 : right;
        }
    assert_true(top < bottom && left < right);
    return screen_cut(s, top, left, bottom - top, right - left);
}

static struct screen frame_behind(struct app *app)
{
    struct app front = *app;
    app->dialog = NULL;
    app->help = app->prompt.open = false;
    app_draw(app);
    struct screen behind = copy_of(&app->screen);
    app->dialog = front.dialog;
    app->help = front.help;
    app->prompt.open = front.prompt.open;
    app_draw(app);
    return behind;
}

enum { HEAD_ROWS = 2, LAST_ROWS = 2 }; // the message and the footer

static void take(struct shot *shot, const struct fixture *f, const struct scene *scene, int size,
                 enum charset charset)
{
    struct stage s;
    stage_enter(&s, f, scene->view, charset);
    app_resize(&s.app, sizes[size].rows, sizes[size].cols);
    app_draw(&s.app);
    stage_rest(&s); // of what is seen now
    stage_play(&s, scene->keys);
    app_draw(&s.app);
    *shot = (struct shot){.scene = scene->name, .size = sizes[size].name};
    shot->screen = copy_of(&s.app.screen);
    shot->is_over = s.app.dialog || s.app.help || s.app.prompt.open;
    const struct screen *all = &shot->screen;
    if (s.app.prompt.open) { // and what is said of it
        shot->part = screen_cut(all, all->rows - LAST_ROWS, 0, LAST_ROWS, all->cols);
    } else if (shot->is_over) {
        struct screen behind = frame_behind(&s.app);
        shot->part = cut_difference(all, &behind);
        screen_finish(&behind);
    } else {
        shot->part = screen_cut(all, HEAD_ROWS, 0, all->rows - HEAD_ROWS - LAST_ROWS, all->cols);
    }
    stage_leave(&s);
}

struct shots *shots_take(void)
{
    struct fixture fixture[FIXTURE_NOTHING + 1];
    struct shots *shots = mem_zero(1, sizeof *shots);
    shots->shot = mem_zero(SCENES * SIZES * 2, sizeof *shots->shot);
    for (int shape = 0; shape <= FIXTURE_NOTHING; shape++)
        if (shape != FIXTURE_EMPTY)
            fixture_create(&fixture[shape], (enum fixture_shape)shape);
    for (int scene = 0; scene < SCENES; scene++)
        for (int size = 0; size < SIZES; size++)
            for (int c = 0; c < 2; c++)
                take(&shots->shot[shots->count++], &fixture[scenes[scene].shape], &scenes[scene],
                     size, charsets[c]);
    for (int shape = 0; shape <= FIXTURE_NOTHING; shape++)
        if (shape != FIXTURE_EMPTY)
            fixture_destroy(&fixture[shape]);
    return shots;
}

void shots_free(struct shots *shots)
{
    for (int i = 0; i < shots->count; i++) {
        screen_finish(&shots->shot[i].screen);
        screen_finish(&shots->shot[i].part);
    }
    free(shots->shot);
    free(shots);
}

const struct shot *shots_find(const struct shots *shots, const char *scene, const char *size,
                              enum charset charset)
{
    for (int i = 0; i < shots->count; i++) {
        const struct shot *s = &shots->shot[i];
        if (str_equal(s->scene, scene) && str_equal(s->size, size) && s->screen.charset == charset)
            return s;
    }
    fail_msg("there is no scene %s at %s", scene, size);
    return NULL;
}
