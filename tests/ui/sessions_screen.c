#include "sessions_screen.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct stage *sessions_stage(enum fixture_shape shape)
{
    struct stage *s = mem_alloc(sizeof *s);
    setlocale(LC_ALL, "C.UTF-8");
    stage_open(s, shape, VIEW_SESSIONS, CHARSET_BRAILLE);
    app_resize(&s->app, 36, 120);
    app_draw(&s->app);
    stage_rest(s);
    return s;
}

void sessions_leave(struct stage *s)
{
    stage_close(s);
    free(s);
}

int sessions_setup(void **state)
{
    *state = sessions_stage(FIXTURE_SEVERAL);
    return 0;
}

int sessions_teardown(void **state)
{
    sessions_leave(*state);
    return 0;
}

struct sessions_view *view_of(struct stage *s)
{
    return s->app.state[VIEW_SESSIONS];
}

int64_t cursor_of(struct stage *s)
{
    return view_sessions_at_cursor(&s->app);
}

static bool shows(struct stage *s, const char *text)
{
    char *frame = stage_frame(s);
    bool found = strstr(frame, text) != NULL;
    free(frame);
    return found;
}

void assert_shows(struct stage *s, const char *text)
{
    if (!shows(s, text)) {
        char *frame = stage_frame(s);
        fail_msg("'%s' is not in\n%s", text, frame);
    }
}

void assert_hides(struct stage *s, const char *text)
{
    if (shows(s, text))
        fail_msg("'%s' is shown", text);
}

void must(bool ok, const struct err *e)
{
    if (!ok)
        fail_msg("%s", e->text);
}

// Like session 1, without trials.
int64_t add_session(struct stage *s)
{
    struct session_record r = model_row(&s->app.model, 1)->record;
    struct err e;
    int64_t id;
    r.state = STATE_PAUSED;
    must(store_create_session(s->fixture.store, &r, NULL, 0, &id, &e), &e);
    return id;
}
