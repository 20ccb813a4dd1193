#include "learned.h"

#include "base/os.h"
#include "bench.h"
#include "script/script.h"
#include "search/strategy.h"

#include <stdlib.h>

static bool legal(void *context, const struct config *c)
{
    struct verdict v;
    struct err e;
    return space_judge(script_space(context), &limits_vulkan_minimum, c, &v, &e) && v.legal;
}

static struct config legal_point(struct search_problem *p)
{
    struct config c;
    struct rng r;
    rng_seed(&r, 2);
    do
        space_sample(p->space, &r, &c);
    while (!p->legal(p->context, &c));
    return c;
}

static enum ask wait_and_ask(struct strategy *s, struct config *out)
{
    enum ask asked;
    while ((asked = strategy_ask(s, out)) == ASK_WAIT && strategy_wait(s)) {
    }
    return asked;
}

static struct refit last_refit(struct strategy *s, struct search_problem *p, int trials)
{
    struct config c, hidden = legal_point(p);
    struct refit refit = {0};
    for (int told = 0; refit.told < trials && told < 2 * trials; told++) {
        if (wait_and_ask(s, &c) != ASK_NEW)
            break;
        while (strategy_take_refit(s, &refit)) {
        }
        strategy_tell(s, &c, OUTCOME_OK, 1.0 / (1 + space_distance(p->space, &hidden, &c)));
    }
    return refit;
}

static void measure(const char *name, struct search_problem *p, int trials)
{
    struct strategy *s = strategy_create(name, p, 1, NULL);
    struct refit r = last_refit(s, p, trials);
    char *what = mem_printf("%s, fit to %d results (%d rows) and plan, CPU time", name, (int)r.told,
                            (int)r.rows);
    bench_figure(what, r.seconds, "s", UNDER, 2);
    free(what);
    strategy_destroy(s);
}

void learned_cost(double nanoseconds_a_step, int trials)
{
    struct err e;
    char *path = script_find("mm1", &e);
    struct script_options o = {.path = path, .device_type = "none"};
    struct script *script = path ? script_create(&o, &e) : NULL;
    if (!script)
        bench_fail("no space", &e);
    struct search_problem p = {.space = script_space(script), .legal = legal, .context = script};
    printf("models on mm1, %d trials; calibration loop: %.2f ns a step\n", trials,
           nanoseconds_a_step);
    for (int i = 0; strategy_kinds[i]; i++)
        if (strategy_has_model(strategy_kinds[i]->name) &&
            strategy_possible(strategy_kinds[i]->name, NULL))
            measure(strategy_kinds[i]->name, &p, trials);
    bench_figure("memory", bench_peak_mebibytes(), "MiB", UNDER, 300);
    script_destroy(script);
    free(path);
}
