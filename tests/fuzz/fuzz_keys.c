// The workbench: bytes are keys, clicks, sizes of the screen and time that passes. The first byte
// chooses the sessions that there are.
#include "harness.h"

#include "stage.h"

#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_KEYS_PLAYED = 100 };

// Bytes from here on are the keys that have no code point.
enum { CLICK = 0xe0, RESIZE = 0xe8, WAIT = 0xf0, FIRST_SPECIAL = 0x80 };

static struct fixture fixtures[FIXTURE_NOTHING + 1];

static void remove_fixtures(void)
{
    for (int i = 0; i <= FIXTURE_NOTHING; i++)
        fixture_destroy(&fixtures[i]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("TZ", "UTC0", 1);
    for (int i = 0; i <= FIXTURE_NOTHING; i++)
        fixture_create(&fixtures[i], (enum fixture_shape)i);
    atexit(remove_fixtures);
    return 0;
}

static void run_nothing(void *context, const char *words)
{
    (void)context, (void)words;
}

static void play(struct app *app, uint8_t byte, uint8_t next)
{
    if (byte >= WAIT)
        app_poll(app, app->now + 1, app->unix_now + 1);
    else if (byte >= RESIZE)
        app_resize(app, 1 + next % 50, 1 + next);
    else if (byte >= CLICK)
        app_click(app, next % app->screen.rows, next * 2 % app->screen.cols);
    else if (byte >= FIRST_SPECIAL)
        app_key(app, KEY_IS_UP + (byte - FIRST_SPECIAL) % (KEY_IS_F12 - KEY_IS_UP + 1));
    else
        app_key(app, byte);
    app_poll(app, app->now, app->unix_now);
    app_draw(app);
    must(app->screen.cursor_row < app->screen.rows && app->screen.cursor_col < app->screen.cols,
         "the cursor is on the screen");
    app->quit = app->suspend = false; // leaving is the terminal's business
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct fixture *f = &fixtures[data[0] % (FIXTURE_NOTHING + 1)];
    struct ui_config config;
    struct app app;
    config_init(&config);
    config.charset = data[0] & 0x80 ? CHARSET_ASCII : CHARSET_BRAILLE;
    app_init(&app, &(struct app_options){.database = f->path,
                                         .config = &config,
                                         .program = "tilewalk",
                                         .view = VIEW_MAIN,
                                         .session = f->session});
    app.jobs.pretend = run_nothing;
    app.now = 1000;
    app.unix_now = FIXTURE_NOW;
    for (size_t i = 1; i < size && i <= MOST_KEYS_PLAYED; i++)
        play(&app, data[i], i + 1 < size ? data[i + 1] : 0);
    app_finish(&app);
    return 0;
}
