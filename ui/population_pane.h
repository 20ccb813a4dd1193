// The population as a heat map: rows are individuals, best first by the speeds that are shown (of
// races, once there was one), columns are parameters.
//
// A factorization has a column for each part. A cell's shade says where the value lies inside its
// range, so that a column that has converged looks uniform; or (ACT_COLOUR) how the individuals
// with the same value there rank on average, so that values that winners share stand out. Zoomed,
// and where there is room, the values stand beside the shades (population_columns.h). What the
// cursor is on is spelled out below. Strategies without a population show the best trials instead.
//
// The pane is drawn inside a frame that is the view's, with the title and the note that it asks for
// here. A zeroed state is a new one.
#ifndef TILEWALK_UI_POPULATION_PANE_H
#define TILEWALK_UI_POPULATION_PANE_H

#include "list.h"
#include "screen.h"
#include "trial_text.h"

struct app;

struct population_pane {
    bool by_speed; // what shades mean
    struct list rows, columns;
};

void population_pane_title(struct app *app, const struct population_pane *state, char title[64],
                           char note[64]);
void population_pane_draw(struct app *app, struct population_pane *state, const struct pane *p,
                          bool focused, bool zoomed);
bool population_pane_act(struct app *app, struct population_pane *state, enum action a);
void population_pane_click(struct app *app, struct population_pane *state, int row);

// Where the columns of the population stand: one for each parameter, for each part of a
// factorization, those of one factorization together under its name.
//
//     struct heat_columns c;
//     heat_columns_init(&c, space);
//     heat_columns_fit(&c, &list, room, values);      list: which are seen, from list.top on
//     for (i = list.top; i < list.top + c.shown; i++) ... c.column[i].at, .width
//     heat_names_fit(&c, list.top, room, most_rows);
//     for (i = ...; i < ...) if (c.column[i].name_cols) ... .name_row, .name_cols
//
// A cell is a shade, and before it the value where there is room for all values (or where it is
// asked for: then what does not fit scrolls). Names are written whole, taking turns on as many rows
// as it takes; where even that is too narrow, they are the short ones of lists (trial_text.h).

struct heat_column {
    int param, slot;
    int value_cols;          // of its widest value
    int at, width;           // in columns of the screen
    int name_row, name_cols; // of its parameter's name; name_cols 0: another column has it
};

struct heat_columns {
    const struct space *space;
    char brief[SPACE_MAX_PARAMS][4]; // names
    struct heat_column column[SPACE_MAX_SLOTS];
    int count;
    bool values; // beside the shades
    int shown, end;
    int name_rows;
};

void heat_columns_init(struct heat_columns *c, const struct space *s);
// A value that the column must have room for.
void heat_columns_take(struct heat_columns *c, const struct config *config);
// `always`: values are shown even where the columns do not fit then.
void heat_columns_fit(struct heat_columns *c, struct list *l, int room, bool always);
void heat_names_fit(struct heat_columns *c, int first, int room, int most_rows);
const char *heat_name(const struct heat_columns *c, int i); // as it is written in name_cols
// "16", "n,m,k": what a cell says.
void heat_value_add(const struct heat_columns *c, int i, const struct config *config,
                    struct str *out);

#endif
