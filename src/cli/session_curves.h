// Best-so-far curves of stored sessions, for the commands that compare and draw them.
//
//     struct session_curves c;
//     if (session_curves_read(a, wholes, &c, e)) ...     sessions: the operands of the command
//     session_curves_finish(&c);
//
// Levels are FLOP/s as they were measured in the search; a final re-timing does not change a curve.
// The x axis is the number of the trial, or what --against (OPTION_AGAINST) names: the running
// time, for sessions on a recording with the times that their trials took when they were recorded,
// or the share of the space's points that were tried.
#ifndef TILEWALK_CLI_SESSION_CURVES_H
#define TILEWALK_CLI_SESSION_CURVES_H

#include "cli/common.h"
#include "report/chart.h"
#include "report/compare.h"

#define OPTION_AGAINST                                                                             \
    {                                                                                              \
        "against", OPTION_WORD, "trials|time|space",                                               \
            "the x axis: trials (default), running time, or the share of the space that was tried" \
    }

struct session_curve {
    struct session_record record;
    struct steps steps;
    double end; // where it ends on the axis
    bool whole; // a network as a whole, beside the sum of its parts
};

struct session_curves {
    struct session_curve *curve; // in the order of the operands
    int count;
    enum comparison_axis axis;
    bool wholes; // networks have a second curve where they were run as a whole
    struct arena arena;
};

// Returns false where a word is wrong or a session cannot be read; then `out` is empty.
bool session_curves_read(const struct arguments *a, bool wholes, struct session_curves *out,
                         struct err *e);
void session_curves_finish(struct session_curves *c);

enum comparison_axis session_curves_axis_of(const struct arguments *a); // --against
const char *session_curves_axis_word(enum comparison_axis axis);

// Returns the place of measurement for titles: the device, else the source (for a recording the
// name of its file).
const char *session_curves_place(const struct session_record *r);

// An even grid over the axis up to `horizon` on which no result is lost: value i is the level at
// the end of cell i, at x = step * (i + 1).
struct curve_grid {
    double from, step; // value i is drawn over from + i * step
    int count;
};
struct curve_grid session_curves_grid(double horizon, enum comparison_axis axis);
// Returns the x axis of a chart on that grid.
struct plot_axis session_curves_axis(double horizon, enum comparison_axis axis);

// The scale of curves that are drawn together: their extent, and a unit that suits the highest.
struct curve_scale {
    double horizon; // on the axis
    double highest; // FLOP/s
    double unit;    // in FLOP/s
    const char *unit_name;
    bool is_inverse; // the inverses of heights are values in that unit
};
struct curve_scale session_curves_scale(const struct session_curves *c);
// Returns curve i as a line of a chart, without a label; its values live in `arena`.
struct chart_line session_curves_line(const struct session_curves *c, int i,
                                      const struct curve_scale *s, struct arena *arena);

#endif
