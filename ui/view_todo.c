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

TODO(main, "Main");
TODO(map, "Map");
TODO(trials, "Trials");
TODO(network, "Network");
TODO(sessions, "Sessions");
TODO(space, "Space");
TODO(log, "Log");

// clang-format off
int64_t view_sessions_at_cursor(struct app *app) { (void)app; return 0; }
void dialog_destroy(struct dialog *d) { (void)d; }
void dialog_draw(struct app *app, struct dialog *d, const struct pane *whole) { (void)app; (void)d; (void)whole; }
bool dialog_key(struct app *app, struct dialog *d, int32_t key) { (void)app; (void)d; (void)key; return false; }
void open_export(struct app *app) { (void)app; }
void open_new_session(struct app *app, const char *path) { (void)app; (void)path; }
void open_duplicate(struct app *app) { (void)app; }
void open_resume(struct app *app) { (void)app; }
void open_budget(struct app *app) { (void)app; }
void open_note(struct app *app) { (void)app; }
void ask_delete(struct app *app) { (void)app; }
void ask_stop(struct app *app) { (void)app; }
// clang-format on
