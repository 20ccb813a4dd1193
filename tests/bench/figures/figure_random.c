#include "figure_random.h"

#include "base/mem.h"
#include "bench.h"
#include "figure_sessions.h"
#include "report/score.h"
#include "simulate/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tally {
    struct str *markdown, *csv;
    int places, within;
};

// Without an error (all searches have the same) only what is equal is within.
static void add_place(struct tally *t, const char *name, int64_t trials, double expected,
                      double mean, double error)
{
    double off = error > 0 ? (mean - expected) / error : 0;
    t->places++;
    t->within += fabs(mean - expected) <= 2 * error + 1e-9;
    str_printf(t->markdown, "| %s | %d | %.4f | %.4f | %+.2f |\n", name, (int)trials, expected,
               mean, off);
    str_printf(t->csv, "%s,%d,%.17g,%.17g,%.17g\n", name, (int)trials, expected, mean, error);
}

static void add_landscape(struct tally *t, const char *name)
{
    static const int64_t after[] = {10, 50, 200};
    char *file = mem_printf("%s.json.xz", name), *path = figure_path(file);
    struct recording *r;
    struct simulated_curve curve;
    struct simulate_options o = {.threads = 1};
    struct err e;
    if (!recording_read(path, &r, &e))
        bench_fail(path, &e);
    struct simulation s = {.recording = r,
                           .strategy = "random",
                           .trials = 200,
                           .repeats = FIGURE_RANDOM_REPEATS,
                           .seed = 1};
    if (!simulate(&s, 1, &o, &e))
        bench_fail(path, &e);
    simulated_curve_make(&s, &curve);
    double *times = simulated_times(r);
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        add_place(
            t, name, after[i],
            score_random_fraction(times, r->outcomes[OUTCOME_OK], simulated_size(r), after[i]),
            curve.fraction[after[i] - 1], curve.deviation[after[i] - 1] / sqrt(s.repeats));
    free(times);
    simulated_curve_finish(&curve);
    simulation_finish(&s);
    recording_destroy(r);
    free(path);
    free(file);
}

void figure_random_add(struct str *markdown, struct str *csv)
{
    struct tally t = {.markdown = markdown, .csv = csv};
    str_add(markdown, "\n| landscape | trials | closed form | mean | standard errors off |\n"
                      "|---|---:|---:|---:|---:|\n");
    str_add(csv, "landscape,trials,closed_form,mean,standard_error\n");
    for (int k = 0; k < figure_family_count; k++) {
        const struct figure_family *f = &figure_families[k];
        for (int i = 0; i < f->problems; i++)
            if (f->problem[i].landscape && str_starts(f->name, "opevo"))
                add_landscape(&t, f->problem[i].landscape);
    }
    str_printf(markdown,
               "\nWithin two standard errors: %d of %d. Of so many, %.1f are expected outside.\n",
               t.within, t.places, 0.0455 * t.places);
}
