// The frame around the views (head, message, footer, help: for app.c alone) and the parts that
// views share.
#ifndef TILEWALK_UI_APP_DRAW_H
#define TILEWALK_UI_APP_DRAW_H

#include "app.h"

// The rows of a screen for each part; `body` is the rest, for the view.
struct frame_rows {
    int head, body, message, footer;
};

struct frame_rows frame_rows_of(int rows);

// One row of pieces of text; the least important ones are left out until the rest fits. The order
// on the row is that of adding. One piece may shrink: it is cut once the less important ones are
// gone.
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

// The style of a session's state; `other` for states that need no colour.
enum style state_style(enum session_state state, enum style other);
// The word that people see: a running session without trials left is "racing" (the final race).
const char *state_word(enum session_state state, const struct session_record *r);

void draw_head(struct app *app, const struct pane *head);
void draw_message(struct app *app, const struct pane *p);
void draw_footer(struct app *app, const struct pane *p);
void draw_help(struct app *app, const struct pane *whole); // over all

// Returns why an action does nothing now; NULL: it does something.
const char *app_disabled(struct app *app, enum action a);

#endif
