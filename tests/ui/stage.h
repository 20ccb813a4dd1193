// The workbench on a fixture, played by scripts of keys, with a clock that only we move.
//
//     struct stage s;
//     stage_open(&s, FIXTURE_SMALL, VIEW_MAIN, CHARSET_BRAILLE);
//     stage_play(&s, "2 ] ctrl-d \"tm=4 enter");    names of keys; a word after " is typed
//     char *text = stage_frame(&s);
//     stage_close(&s);
#ifndef TILEWALK_TESTS_UI_STAGE_H
#define TILEWALK_TESTS_UI_STAGE_H

#include "app.h"
#include "fixture.h"

struct stage {
    struct fixture fixture;
    struct ui_config config;
    struct app app;
    struct str commands; // that would have been run, a line each
};

void stage_open(struct stage *s, enum fixture_shape shape, enum view_id view, enum charset charset);
void stage_close(struct stage *s);
// The same on a fixture that another one made, and keeps: for many stages on one.
void stage_enter(struct stage *s, const struct fixture *f, enum view_id view, enum charset charset);
void stage_leave(struct stage *s);
void stage_play(struct stage *s, const char *keys);
void screen_add_styles(const struct screen *s,
                       struct str *out); // a character a cell; '.': plain text
void stage_rest(struct stage *s);        // until there is no more work; the clock stands still
void stage_wait(struct stage *s, double seconds); // the clock moves
// The frame as text, and its styles (heap).
char *stage_frame(struct stage *s);
char *stage_styles(struct stage *s);

// Fail the test unless the text is on the screen, or is not there.
void expect_on_screen(struct stage *s, const char *text);
void expect_off_screen(struct stage *s, const char *text);
// Fails the test unless just these commands would have been run since the last call.
void expect_commands(struct stage *s, const char *wanted);

#endif
