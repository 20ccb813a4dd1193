// The help over everything: made from the table of actions and the keys as they are bound.
#include "app_draw.h"

#include <stdio.h>

#define HELP_LINES 128

struct help {
    struct {
        char keys[64];
        const char *text; // of a heading when there are no keys
    } line[HELP_LINES];
    int count;
};

static void add(struct help *h, const char *keys, const char *text)
{
    if (h->count == HELP_LINES)
        return;
    snprintf(h->line[h->count].keys, sizeof h->line[h->count].keys, "%s", keys);
    h->line[h->count++].text = text;
}

void draw_help(struct app *app, const struct pane *whole)
{
    struct help h = {0};
    for (int group = 0; group < GROUP_COUNT; group++) {
        add(&h, "", action_groups[group]);
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
            char keys[64];
            if ((int)actions[a].group != group || !(actions[a].views & 1u << app->view))
                continue;
            keymap_names(&app->keymap, (enum action)a, keys);
            add(&h, keys[0] ? keys : "no key", actions[a].help);
        }
    }
    add(&h, "", "Outcomes of trials");
    add(&h, "ok", "measured and verified");
    add(&h, "early", "ok, stopped early (cannot beat the best)");
    add(&h, "rejected", "forbidden by a constraint or a limit");
    add(&h, "compile", "the GLSL compiler refused it");
    add(&h, "driver", "the driver's compiler refused it");
    add(&h, "timeout", "it hung and was killed");
    add(&h, "crash", "its process died");
    add(&h, "lost", "the device was lost");
    add(&h, "wrong", "its result differs from the reference");
    int margin_rows = whole->rows >= 20, margin_cols = whole->cols >= 60 ? 2 : 0;
    struct pane p = pane_part(whole, margin_rows, margin_cols, whole->rows - 2 * margin_rows,
                              whole->cols - 2 * margin_cols);
    pane_fill(&p, STYLE_TEXT, ' ');
    struct pane inside = pane_box(&p, "Help", "j k scroll, any other key closes", true);
    struct pane text = pane_part(&inside, 0, 1, inside.rows, inside.cols - 1);
    int columns = text.cols >= 110 ? 2 : 1;
    int room = text.rows * columns;
    list_fit(&app->help_text, h.count, room);
    int top = (int)app->help_text.top;
    for (int i = 0; list_shows(&app->help_text, top + i); i++) {
        int width = text.cols / columns;
        struct pane column = pane_part(&text, 0, i / text.rows * width, text.rows, width - 1);
        const char *keys = h.line[top + i].keys, *line = h.line[top + i].text;
        pane_text(&column, i % text.rows, 2, STYLE_KEY, keys);
        pane_text_cut(&column, i % text.rows, keys[0] ? 15 : 0,
                      keys[0] ? column.cols - 15 : column.cols, keys[0] ? STYLE_TEXT : STYLE_STRONG,
                      line);
    }
}
