// The objective of a session: what its search looks for the least or the most of.
//
//     struct objective o;
//     objective_parse("maximize tokens/s", &o)    also "minimize ms"; "time", "energy", "edp"
//     objective_cost(&o, 43.2)                    what the search sees: it looks for the least cost
//     objective_value(&o, cost)                   43.2
//
// A search knows one number of a configuration, its cost: that is `seconds` of trials, samples and
// records everywhere. For "time" the cost is the time of a run. For "energy" it is the joules of a
// run, and for "edp" the energy-delay product, joules times seconds. For "minimize NAME" and
// "maximize NAME" a program prints the value (trial/benchmark.h): a cost is that value, or its
// inverse. A NAME that is a unit of time (s, ms, us, ns) has costs in seconds.
//
// A session stores its objective as this text; one without a text looks for the least time.
#ifndef TILEWALK_SPACE_OBJECTIVE_H
#define TILEWALK_SPACE_OBJECTIVE_H

#include <stdbool.h>

#define OBJECTIVE_MINIMIZE  "minimize"
#define OBJECTIVE_MAXIMIZE  "maximize"
#define OBJECTIVE_NAME_SIZE 21 // bytes of NAME, with the NUL

enum objective_kind { OBJECTIVE_TIME, OBJECTIVE_ENERGY, OBJECTIVE_EDP, OBJECTIVE_NAMED };

struct objective {
    enum objective_kind kind;
    bool maximizes;
    const char *name; // "time", "energy", "edp", NAME
    const char *unit; // of a value as people read it: "s", "J", "J s", NAME
    double scale;     // cost of a value of 1 where it is minimised: 1e-3 of "ms"
};

// Returns false where the text is no objective; `out` is that of time then. NULL is time. Names
// point into `text`.
bool objective_parse(const char *text, struct objective *out);
// True: costs of the one are costs of the other.
bool objective_is_same(const char *a, const char *b);
// Checks a NAME: 1 to 20 letters, digits and signs, without blanks.
bool objective_is_name(const char *name);
// The value is above 0.
double objective_cost(const struct objective *o, double value);
double objective_value(const struct objective *o, double cost);
// Returns true where costs are seconds.
bool objective_is_time(const struct objective *o);

#endif
