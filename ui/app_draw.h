// The frame around the views (head, message, footer, help: for app*.c alone), and what views draw
// alike.
#ifndef TILEWALK_UI_APP_DRAW_H
#define TILEWALK_UI_APP_DRAW_H

#include "app.h"

// How many rows of a screen each part gets; `body` is what is left for the view.
struct frame_rows {
    int head, body, message, footer;
};

struct frame_rows frame_rows_of(int rows);

// One row of pieces of text, of which the least important are left out until the rest fits. The
// order on the row is that of adding. One may be said to shrink: it is cut once those that are less
// important than it are gone.
struct piece {
    enum style style;
    int importance; // 0 stays longest
    int most;       // columns
    char text[160];
};

struct pieces {
    struct piece piece[24];
    int count;
    int shrinks; // index + 1; 0: none
};

void pieces_add(struct pieces *p, int importance, enum style style, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void pieces_draw(struct pieces *p, const struct pane *pane, int row, int gap);

// Of a session's state; `other` for those that need no colour.
enum style state_style(enum session_state state, enum style other);
// The word that people see: one that runs and has no trial left is "racing" (the final race).
const char *state_word(enum session_state state, const struct session_record *r);

void draw_head(struct app *app, const struct pane *head);
void draw_message(struct app *app, const struct pane *p);
void draw_footer(struct app *app, const struct pane *p);
void draw_help(struct app *app, const struct pane *whole); // over all

// Why an action does nothing now; NULL: it does something (app_act.c).
const char *app_disabled(struct app *app, enum action a);

// The action under a column of the footer that was drawn last; ACT_NONE.
enum action footer_action_at(const struct app *app, int col);

#endif
