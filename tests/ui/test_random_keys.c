// Ten thousand random keys, with resizes, clicks, news and time passing in between. It must not
// crash, hang, or put the cursor outside.
#include "group.h"
#include "stage.h"

#include "base/rng.h"

#include <locale.h>
#include <stddef.h>
#include <string.h>

#define STEPS 10000

static int32_t random_key(struct rng *r)
{
    static const int32_t special[] = {
        KEY_IS_TAB,    KEY_IS_ENTER,    KEY_IS_ESC,     KEY_IS_BACKSPACE,
        KEY_IS_UP,     KEY_IS_DOWN,     KEY_IS_LEFT,    KEY_IS_RIGHT,
        KEY_IS_HOME,   KEY_IS_END,      KEY_IS_PAGE_UP, KEY_IS_PAGE_DOWN,
        KEY_IS_DELETE, KEY_IS_BACK_TAB, 0x6f22,         0xe9};
    switch (rng_below(r, 8)) {
    case 0: return (int32_t)(1 + rng_below(r, 31));
    case 1: return KEY_IS_F1 + (int32_t)rng_below(r, 12);
    case 2: return '1' + (int32_t)rng_below(r, 7);
    case 3:
    case 4: return special[rng_below(r, sizeof special / sizeof *special)];
    default: return ' ' + (int32_t)rng_below(r, 95);
    }
}

// Too small, tiny, usual and huge ones.
static void random_size(struct stage *s, struct rng *r)
{
    int rows = 1 + (int)rng_below(r, rng_below(r, 2) ? 100 : 30);
    int cols = 1 + (int)rng_below(r, rng_below(r, 2) ? 250 : 60);
    app_resize(&s->app, rows, cols);
}

static void step(struct stage *s, struct rng *r)
{
    struct app *app = &s->app;
    switch (rng_below(r, 16)) {
    case 0: random_size(s, r); break;
    case 1:
        app_click(app, (int)rng_below(r, (uint64_t)app->screen.rows),
                  (int)rng_below(r, (uint64_t)app->screen.cols));
        break;
    case 2: app_poll(app, app->now + 0.5, app->unix_now + 0.5); break;
    default: app_key(app, random_key(r));
    }
    app_poll(app, app->now, app->unix_now);
    app_draw(app);
    assert_true(app->screen.cursor_row < app->screen.rows &&
                app->screen.cursor_col < app->screen.cols);
    app->quit = app->suspend = false; // leaving is the terminal's business
}

static void play(enum fixture_shape shape, uint64_t seed, int steps)
{
    struct stage s;
    struct rng r;
    rng_seed(&r, seed);
    stage_open(&s, shape, VIEW_MAIN, seed % 2 ? CHARSET_BRAILLE : CHARSET_ASCII);
    for (int i = 0; i < steps; i++) {
        step(&s, &r);
        if (s.fixture.author && i % 500 == 499)
            fixture_tell(&s.fixture, 1);
    }
    stage_close(&s);
}

static void test_a_running_session(void **state)
{
    (void)state;
    play(FIXTURE_SMALL, 1, STEPS / 2);
}

static void test_several_sessions(void **state)
{
    (void)state;
    play(FIXTURE_SEVERAL, 2, STEPS / 2);
    play(FIXTURE_EMPTY, 3, STEPS / 10);
}

static void test_no_session(void **state)
{
    (void)state;
    play(FIXTURE_NOTHING, 4, STEPS / 10);
}

TEST_GROUP(random_keys)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_running_session),
        cmocka_unit_test(test_several_sessions),
        cmocka_unit_test(test_no_session),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
