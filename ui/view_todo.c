// What is not there yet. DELETE YOUR LINE in the commit that brings the real one (and add your file
// to meson.build). This file goes when it is empty.
#include "app.h"
#include "dialog.h"

#include <stdlib.h>

static void *create(struct app *app)
{
    (void)app;
    return NULL;
}

static void draw(struct app *app, void *state, const struct pane *body)
{
    (void)app;
    (void)state;
    pane_text(body, 0, 1, STYLE_DIM, "not here yet");
}

static bool act(struct app *app, void *state, enum action a)
{
    (void)app;
    (void)state;
    (void)a;
    return false;
}

#define TODO(id, word)                                                                             \
    const struct view view_##id = {#id, word, word, create, free, draw, act, NULL, NULL, NULL, NULL}

TODO(sessions, "Sessions");

// clang-format off
int64_t view_sessions_at_cursor(struct app *app) { (void)app; return 0; }
// clang-format on
