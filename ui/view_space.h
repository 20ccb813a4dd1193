// What the files of the space screen share.
//
//   view_space.c         the view: state, keys, work in slices, where the panes go
//   view_space_facts.c   coverage by trials, shares by surveys
//   view_space_list.c    left: parameters, constraints, device limits
//   view_space_moves.c   right: neighbours of the configuration that is shown, values
//   view_space_graph.c   right, on top: the move graph of the chosen parameter
//   view_space_below.c   the space file on disk
//
// "Now" is the configuration whose neighbours are shown: the selected trial's, else the best one's,
// else the newest one's.
#ifndef TILEWALK_UI_VIEW_SPACE_H
#define TILEWALK_UI_VIEW_SPACE_H

#include "app.h"
#include "list.h"
#include "scan.h"
#include "view_space_moves.h"

// What the space screen knows of a whole space, gathered in slices.
//
//     coverage_begin(&c, model); while (coverage_step(&c, model)) ...
//     shares_begin(&s, space);   while (shares_step(&s, space, limits)) ...
//
// Coverage: which values of each parameter were tried, how often, and the best rank with each. A
// set of values a parameter, of at most COVERAGE_MOST; values past that are counted no more, and
// `full` says so. Rejected configurations were never run and do not count.
//
// Shares: how much of the space each constraint and each device limit removes alone, by surveys of
// a few points each, with other seeds, added up; a survey judges each point by every rule, which
// takes 0.1 ms. A space that is smaller than one of them is counted out.

#define COVERAGE_MOST 4096
#define SHARES_SLICE  40 // points

struct value_facts {
    struct config_set seen; // the value in the first slots
    int capacity;
    int64_t *trials; // indexed as `seen`
    struct rank *best;
    bool full;
};

struct coverage {
    struct scan scan;
    int64_t races;             // that it knows of
    const struct space *space; // of the session of `scan`
    struct value_facts of[SPACE_MAX_PARAMS];
};

void coverage_begin(struct coverage *c, struct model *m);
bool coverage_step(struct coverage *c, struct model *m); // true: more waits
void coverage_finish(struct coverage *c);
void value_facts_get(const struct value_facts *v, int index, int32_t out[PARAM_MAX_WIDTH]);
int value_facts_find(const struct value_facts *v, const struct param *p, const int32_t *value);

struct shares {
    struct survey sum;
    bool done;
    struct err trouble; // a rule failed; text "" when none did
};

void shares_begin(struct shares *s, const struct space *space);
bool shares_step(struct shares *s, const struct space *space, const struct limits *l);
void shares_finish(struct shares *s);
double share_of(const struct shares *s, uint64_t points); // 0 .. 1
// Half the width of the 95 % confidence interval of a share.
double share_error(const struct shares *s, double share);

enum space_section { SECTION_PARAMS, SECTION_RULES, SECTION_COUNT };

struct space_moves {
    int64_t ask;     // whose neighbours; 0: nobody's
    int64_t version; // of the model when the count began
    double begun;    // app->now then
    bool complete;
    struct fates moves;
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

// NULL: there is no trial.
const struct trial *space_now(struct app *app);
// The chosen parameter; NULL: the space does not load.
const struct param *space_chosen(const struct app *app, const struct space_view *v);

// "80 472 268 800", and "1.2e+40" when that would be long; `digits` is a whole number.
const char *space_grouped(const char *digits, char out[32]);
// "#45", and "ask 12" for one without a number.
const char *space_trial_name(const struct trial *t, char out[32]);

// The list of the left pane, row by row: heads, parameters, rules.
int space_list_rows(const struct app *app, const struct space_view *v);
// What is on a row. False: nothing that can be chosen.
bool space_list_at(const struct app *app, int row, enum space_section *section, int *item);
int space_rule_count(const struct app *app);
void space_list_draw(struct app *app, struct space_view *v, const struct pane *p);

void space_moves_title(struct app *app, const struct space_view *v, char title[96], char note[96]);
void space_moves_draw(struct app *app, struct space_view *v, const struct pane *p);

int space_below_rows(const struct app *app, int most); // wanted, with the frame
void space_below_draw(struct app *app, const struct pane *p);

// --- lines of the right pane: they go down from above its first row ---

struct space_lines {
    const struct pane *p;
    int row;
};

void space_line(struct space_lines *l, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The graph on which the search moves in this parameter; `value` NULL: there is no "now".
void space_graph_add(struct space_lines *l, const struct param *p, const int32_t *value);

#endif
