#include "main_screen.h"

#include "look.h"
#include "text.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

struct stage main_stage;

void main_settle(void)
{
    stage_rest(&main_stage);
    app_draw(&main_stage.app);
}

void main_open(enum fixture_shape shape, int rows, int cols)
{
    setlocale(LC_ALL, "C.UTF-8");
    stage_open(&main_stage, shape, VIEW_MAIN, CHARSET_BRAILLE);
    main_resize(rows, cols);
}

void main_close(void)
{
    stage_close(&main_stage);
}

void main_resize(int rows, int cols)
{
    app_resize(&main_stage.app, rows, cols);
    app_draw(&main_stage.app); // what work there is depends on what is shown
    main_settle();
}

void main_act(enum action a)
{
    stage_wait(&main_stage, 2);
    app_act(&main_stage.app, a);
    app_draw(&main_stage.app);
    main_settle();
}

void main_show(int64_t number)
{
    app_select(&main_stage.app, model_trial_numbered(&main_stage.app.model, number)->ask);
    main_settle();
}

bool main_has(const char *text)
{
    return main_count(text) > 0;
}

int main_count(const char *text)
{
    char *frame = look_text(&main_stage.app.screen);
    int count = 0;
    for (const char *at = frame; (at = strstr(at, text)); at += strlen(text))
        count++;
    free(frame);
    return count;
}

int64_t main_shown(void)
{
    const struct trial *t = shown_trial(&main_stage.app);
    return t ? t->number : -1;
}
