// The space screen, for its own files and its tests.
//
//   view_space_facts.c   coverage, shares, neighbourhood (view_space_facts.h)
//   view_space_list.c    left pane: parameters, constraints, device limits
//   view_space_moves.c   right pane: move graph, neighbours, and speed by value of a parameter
//   view_space.c         the view: keys, work in slices, the panes, the space file on disk
//
// "Now" is the configuration whose neighbours are shown: the selected trial's, else the best one's,
// else the newest one's.
#ifndef TILEWALK_UI_VIEW_SPACE_H
#define TILEWALK_UI_VIEW_SPACE_H

#include "app.h"
#include "list.h"
#include "view_space_facts.h"

enum space_section { SECTION_PARAMS, SECTION_RULES, SECTION_COUNT };

struct space_moves {
    int64_t ask;     // of the trial whose neighbours these are; 0: none
    int64_t version; // of the model when the count began
    double begun;    // app->now then
    bool complete;
    struct neighbourhood moves;
};

struct space_view {
    int64_t session; // that all of this is about; 0: none
    enum space_section section;
    int cursor[SECTION_COUNT]; // a parameter; a constraint
    struct list list;          // all rows of the left pane, heads too, as drawn last
    int list_col, list_cols;   // where that is on the body, for clicks
    struct list moves;         // lines of the right pane
    bool on_moves, has_moves;  // that pane has the keys; is drawn
    struct coverage coverage;
    struct shares shares;
    struct space_moves counting, counted; // the second is shown when it is complete
};

// --- the left pane ---

const struct trial *space_now(struct app *app); // NULL: there is no trial
// Returns the chosen parameter, or NULL when the space does not load.
const struct param *space_chosen(const struct app *app, const struct space_view *v);
// Finds what can be chosen on a row. False: nothing.
bool space_list_at(const struct app *app, int row, enum space_section *section, int *item);
void space_list_draw(struct app *app, struct space_view *v, const struct pane *p);

// --- the right pane: its lines go down from above its first row ---

struct space_lines {
    const struct pane *p;
    int row;
};

void space_line(struct space_lines *l, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Adds the graph on which the search moves in this parameter; `value` NULL: there is no "now".
void space_graph_add(struct space_lines *l, const struct param *p, const int32_t *value);
void space_moves_title(struct app *app, const struct space_view *v, char title[96], char note[96]);
void space_moves_draw(struct app *app, struct space_view *v, const struct pane *p);

#endif
