// How long a candidate may compile: apart from the limits on running, and by what has been seen.
// Some kernels, unrolled a thousandfold say, keep a driver's compiler busy for a minute, and are
// not worth that.
//
//     struct compile_limit l = {.least_s = COMPILE_LIMIT_LEAST_S};
//     compile_limit_saw(&l, seconds);               of each that compiled, or took too long
//     compile_limit_s(&l, 60)                       what the next one may take
//
// Ten times the median of the last that were seen, once there are enough of them, but never less
// than `least_s` (machines are busy now and then) and never more than the fixed limit. Those that
// took too long count with what they had, so that the limit rises where most take long.
#ifndef TILEWALK_TRIAL_COMPILE_LIMIT_H
#define TILEWALK_TRIAL_COMPILE_LIMIT_H

#define COMPILE_LIMIT_LEAST_S 10.0
#define COMPILE_LIMIT_KEPT    64

struct compile_limit {
    double least_s;
    double seen[COMPILE_LIMIT_KEPT]; // a ring
    int count;                       // in all
};

void compile_limit_saw(struct compile_limit *l, double seconds);
double compile_limit_s(const struct compile_limit *l, double most_s);
double compile_limit_median(const struct compile_limit *l); // 0: too few were seen

#endif
