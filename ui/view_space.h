// The space screen, for its own files and its tests.
//
//   view_space_facts.c   coverage, shares, neighbourhood
//   view_space_list.c    left pane: parameters, constraints, device limits
//   view_space_moves.c   right pane: move graph, neighbours, and speed by value of a parameter
//   view_space.c         the view: keys, work in slices, the panes, the space file on disk
//
// "Now" is the configuration whose neighbours are shown: the selected trial's, else the best one's,
// else the newest one's.
#ifndef TILEWALK_UI_VIEW_SPACE_H
#define TILEWALK_UI_VIEW_SPACE_H

#include "app.h"
#include "widget.h"

// Facts about a whole space, gathered in slices for the space screen.
//
//     while (coverage_step(&c, model)) ...
//     while (shares_step(&s, space, limits)) ...
//     neighbourhood_begin(&n, space, &config);
//     while (neighbourhood_step(&n, space, limits, 25, find, model)) ...
//
// Coverage: the values of each parameter that were tried, how often, and the best rank with each.
// At most COVERAGE_MOST values of a parameter are kept; `full` says that there are more. Rejected
// configurations were never run and do not count.
//
// Shares: the fraction of the space that each constraint and each device limit removes alone. They
// come from surveys of a few points each, with other seeds, added up; a survey judges each point by
// every rule, which takes 0.1 ms. A space that is smaller than a survey is enumerated.
//
// Neighbourhood: the neighbours of a configuration, one step away in one parameter, and the status
// of each. These are the steps that searches take, in the order of parameters and then of
// param_neighbour. Each neighbour is looked up among the trials; one that was not tried is judged
// by constraints and limits, some 50 microseconds each.

// --- coverage ---

#define COVERAGE_MOST 4096

struct value_facts {
    struct config_set seen; // the value in the first slots
    int capacity;
    int64_t *trials; // indexed as `seen`
    struct rank *best;
    bool full;
};

struct coverage {
    struct scan scan;
    int64_t races;             // scan_races when the scan began
    const struct space *space; // of the session of `scan`
    struct value_facts of[SPACE_MAX_PARAMS];
};

// Returns true while there is more. It begins anew for another session, and after a race.
bool coverage_step(struct coverage *c, struct model *m);
void coverage_finish(struct coverage *c);
// Returns the index of a value, or -1.
int value_facts_find(const struct value_facts *v, const struct param *p, const int32_t *value);

// --- shares ---

struct shares {
    struct survey sum;
    bool done;
    char legal[64]; // number of legal points, decimal, where hardly one is drawn; "": not counted
    struct err trouble; // a rule failed; text "" when none did
};

bool shares_step(struct shares *s, const struct space *space, const struct limits *l);
void shares_finish(struct shares *s);
double share_of(const struct shares *s, uint64_t points); // 0 .. 1
// Returns half the width of the 95 % confidence interval of a share.
double share_error(const struct shares *s, double share);

// --- neighbourhood: a zeroed one is empty and valid ---

#define NEIGHBOURHOOD_MOST_EACH 256 // neighbours of one parameter that are looked at
#define NEIGHBOURHOOD_ALL       (-1)

enum neighbour_status {
    NEIGHBOUR_TRIED,      // ended, and not rejected
    NEIGHBOUR_IN_FLIGHT,  // asked, not ended yet
    NEIGHBOUR_UNTRIED,    // allowed, never asked
    NEIGHBOUR_FORBIDDEN,  // by a constraint or a limit of the device; `reason` names it
    NEIGHBOUR_RULE_FAILED // a rule of the space file raised an error; `reason` is its text
};

struct neighbour {
    int param;
    int32_t value[PARAM_MAX_WIDTH]; // of that parameter; the others stay
    enum neighbour_status status;
    int64_t number;       // of a tried one; 0: it has none
    enum outcome outcome; // of a tried one
    struct rank rank;
    char reason[160];
};

struct neighbourhood {
    struct config from;
    int candidates;            // neighbours in all
    int param, next, capacity; // the next one to look at; room in `neighbour`
    int count;                 // looked at so far
    struct neighbour *neighbour;
};

struct neighbourhood_counts {
    int candidates, looked_at, valid, tried, better;
};

// Returns the trial with this configuration, or NULL.
typedef const struct trial *neighbourhood_find(struct model *m, const struct config *c);

void neighbourhood_begin(struct neighbourhood *n, const struct space *s, const struct config *from);
// Looks at `most` more; `l` may be NULL (no device). True: there are more.
bool neighbourhood_step(struct neighbourhood *n, const struct space *s, const struct limits *l,
                        int most, neighbourhood_find *find, struct model *m);
// Counts the neighbours in one parameter, or in all (NEIGHBOURHOOD_ALL); `better` are those ranked
// before `now`, which must have a rank.
struct neighbourhood_counts neighbourhood_counts(const struct neighbourhood *n,
                                                 const struct space *s, int param, struct rank now);
void neighbourhood_finish(struct neighbourhood *n);

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

// --- the right pane ---

// Adds the graph on which the search moves in this parameter; `value` NULL: there is no "now".
void space_graph_add(struct lines *l, const struct param *p, const int32_t *value);
void space_moves_title(struct app *app, const struct space_view *v, char title[96], char note[96]);
void space_moves_draw(struct app *app, struct space_view *v, const struct pane *p);

#endif
