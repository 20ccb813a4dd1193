#include "space_screen.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

struct stage space_stage;

void space_open(enum fixture_shape shape, int rows, int cols)
{
    setlocale(LC_ALL, "C.UTF-8");
    stage_open(&space_stage, shape, VIEW_SPACE, CHARSET_BRAILLE);
    app_resize(&space_stage.app, rows, cols);
    stage_rest(&space_stage);
}

void space_close(void)
{
    stage_close(&space_stage);
}

bool space_has(const char *text)
{
    char *frame = stage_frame(&space_stage);
    bool found = strstr(frame, text) != NULL;
    free(frame);
    return found;
}

struct space_view *space_state(void)
{
    return space_stage.app.state[VIEW_SPACE];
}

const struct space *space_opened(void)
{
    return space_stage.app.model.open.space;
}

int space_param_named(const char *name)
{
    return (int)(space_find(space_opened(), name) - space_opened()->param);
}

void space_choose(int param)
{
    app_act(&space_stage.app, ACT_FIRST);
    for (int i = 0; i < param; i++)
        app_act(&space_stage.app, ACT_DOWN);
    stage_rest(&space_stage);
}

void space_play(const char *keys)
{
    stage_play(&space_stage, keys);
}
