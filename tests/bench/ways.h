// Ways to search the same spaces, side by side: optimum / best after 10, 20, 50, 100, 200 trials,
// and trials to 0.95 of the optimum. The k-th runs of all ways belong together: each way is
// compared with the first one, run by run. Tables are Markdown on stdout.
//
//     ways_init(&w, (const char *const[]){"alone", "with the others"}, 2, trials, repeats);
//     ways_print_head(&w, "recording");
//     ways_take(&w, way, repeat, share, trials);    of each way and repeat
//     ways_print(&w, "gemm");                       then of the next space
//     ways_print_mean(&w);
//     ways_finish(&w);
#ifndef TILEWALK_TESTS_WAYS_H
#define TILEWALK_TESTS_WAYS_H

enum { WAYS_MOST = 3, WAYS_MARKS = 5 };

struct way_figures { // [repeats]
    double *share[WAYS_MARKS];
    double *reached; // trials to 0.95; one more than there are: never
};

struct ways {
    const char *const *name;
    int count, trials, repeats, spaces; // printed so far
    struct way_figures of[WAYS_MOST];
    double total[WAYS_MOST][WAYS_MARKS + 1];
};

// `name` [count] has to outlive `w`.
void ways_init(struct ways *w, const char *const *name, int count, int trials, int repeats);
void ways_finish(struct ways *w);
void ways_print_head(const struct ways *w, const char *what);
// `share` [count]: optimum / best of the trials so far, after each; a run with fewer trials than
// the others stays where it ended.
void ways_take(struct ways *w, int way, int repeat, const double *share, int count);
void ways_print(struct ways *w, const char *space);
void ways_print_mean(const struct ways *w);

#endif
