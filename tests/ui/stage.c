#include "stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void keep_command(void *context, const char *words)
{
    struct stage *s = context;
    str_printf(&s->commands, "%s\n", words);
}

// Frames must not hold the names of folders that differ from machine to machine.
static const char *enter_folder(const struct fixture *f)
{
    assert_int_equal(chdir(f->folder), 0);
    const char *name = strrchr(f->path, '/');
    return name ? name + 1 : f->path;
}

void stage_enter(struct stage *s, const struct fixture *f, enum view_id view, enum charset charset)
{
    memset(s, 0, sizeof *s);
    setenv("TZ", "UTC0", 1);
    tzset();
    s->fixture = *f;
    config_init(&s->config);
    s->config.charset = charset;
    struct app_options o = {
        .database = enter_folder(&s->fixture),
        .config = &s->config,
        .program = "tilewalk",
        .view = view,
        .session = view == VIEW_SESSIONS ? 0 : s->fixture.session,
    };
    app_init(&s->app, &o);
    app_show(&s->app, view);
    s->app.jobs.pretend = keep_command;
    s->app.jobs.context = s;
    s->app.now = 1000;
    s->app.unix_now = FIXTURE_NOW;
    stage_rest(s);
}

void stage_leave(struct stage *s)
{
    app_finish(&s->app);
    str_finish(&s->commands);
}

void stage_open(struct stage *s, enum fixture_shape shape, enum view_id view, enum charset charset)
{
    struct fixture f;
    fixture_create(&f, shape);
    stage_enter(s, &f, view, charset);
}

void stage_close(struct stage *s)
{
    stage_leave(s);
    fixture_destroy(&s->fixture);
}

enum { MOST_SLICES = 10000 };

void stage_rest(struct stage *s)
{
    int slices = 0;
    while (app_poll(&s->app, s->app.now, s->app.unix_now))
        assert_true(++slices < MOST_SLICES);
}

void stage_wait(struct stage *s, double seconds)
{
    app_poll(&s->app, s->app.now + seconds, s->app.unix_now + seconds);
    stage_rest(s);
}

static void type(struct stage *s, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        app_key(&s->app, text[i] == '_' ? ' ' : text[i]); // a word has no blanks
}

void stage_play(struct stage *s, const char *keys)
{
    while (*keys) {
        char name[64];
        size_t length = strcspn(keys, " ");
        if (*keys == '"') {
            type(s, keys + 1, length - 1);
        } else if (length) {
            snprintf(name, sizeof name, "%.*s", (int)length, keys);
            int32_t key = key_parse(name);
            if (key == KEY_IS_NONE)
                fail_msg("'%s' is no key", name);
            app_key(&s->app, key);
        }
        keys += length + (keys[length] == ' ');
        app_draw(&s->app);
        stage_rest(s);
    }
}

char *stage_frame(struct stage *s)
{
    struct str out = {0};
    app_draw(&s->app);
    screen_add_text(&s->app.screen, &out);
    return str_take(&out);
}

// A letter a style: ordered values and ramps are digits, categories punctuation, series capitals.
static char style_letter(int style)
{
    static const char plain[] = ".dsftFhbkleGWB*:mwync%+-@", categories[] = "$&=<>!?^";
    int hue = style >= STYLE_PATCH ? (style - STYLE_PATCH) / PATCH_STRENGTHS : style - STYLE_CELL;
    if (style >= STYLE_CELL && hue >= ORDERED_LEVELS)
        return categories[hue - ORDERED_LEVELS];
    return style >= STYLE_CELL     ? (char)('0' + hue * 10 / ORDERED_LEVELS)
           : style >= STYLE_RAMP   ? (char)('0' + style - STYLE_RAMP)
           : style >= STYLE_SERIES ? (char)('J' + style - STYLE_SERIES)
                                   : plain[style];
}

void screen_add_styles(const struct screen *s, struct str *out)
{
    for (int row = 0; row < s->rows; row++) {
        for (int col = 0; col < s->cols; col++) {
            const struct cell *c = &s->cell[row * s->cols + col];
            str_add_char(out, c->marked ? '#' : style_letter(c->style));
        }
        str_add_char(out, '\n');
    }
}

char *stage_styles(struct stage *s)
{
    struct str out = {0};
    app_draw(&s->app);
    screen_add_styles(&s->app.screen, &out);
    return str_take(&out);
}

static void expect(struct stage *s, const char *text, bool there)
{
    char *frame = stage_frame(s);
    if ((strstr(frame, text) != NULL) != there)
        fail_msg("'%s' is %son the screen:\n%s", text, there ? "not " : "", frame);
    free(frame);
}

void expect_on_screen(struct stage *s, const char *text)
{
    expect(s, text, true);
}

void expect_off_screen(struct stage *s, const char *text)
{
    expect(s, text, false);
}

void expect_commands(struct stage *s, const char *wanted)
{
    assert_string_equal(str_text(&s->commands), wanted);
    str_finish(&s->commands);
}
