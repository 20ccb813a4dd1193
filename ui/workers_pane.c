#include "view_main.h"

void workers_pane_draw(struct app *app, const struct curve_dots *dots, const struct pane *p)
{
    (void)app, (void)dots;
    pane_line(p, 0, 0, STYLE_DIM, "no worker");
}
