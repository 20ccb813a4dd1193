#include "search/schedule.h"

#include "base/mem.h"
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define IDLE_ROUNDS  5 // without a gain, for the objective `idle`
#define GOLDEN_RATIO 1.618

enum { KIND_GRADIENT, KIND_ROUNDROBIN };
enum { OPTION_OBJECTIVE }; // the first of all kinds that have options
enum objective { OBJECTIVE_SUM, OBJECTIVE_DEADLINE, OBJECTIVE_SPEEDUP, OBJECTIVE_IDLE };

struct course {   // the history of a task
    double *best; // [rounds]: seconds after each, 0 while nothing was valid
    int rounds, capacity;
    int gained; // the last round that made it faster, from 1
    bool over;
};

struct schedule {
    const struct schedule_problem *problem;
    struct spec spec;
    struct course *course; // [tasks]
    struct rng rng;
    int chosen; // task of the next round; -1: not chosen yet
    int64_t rounds;
};

// --- the objective ---

static double seconds(const struct course *c)
{
    return c->rounds ? c->best[c->rounds - 1] : 0;
}

static double latency(const struct schedule *s, int network)
{
    const double *w = s->problem->uses;
    double sum = 0;
    for (int i = 0; i < s->problem->tasks; i++)
        sum += (w ? w[network * s->problem->tasks + i] : 1) * seconds(&s->course[i]);
    return sum;
}

// Returns df / dg_i >= 0 of a task that has a time, from the df / dl_j of the networks.
static double slope(const struct schedule *s, int task)
{
    const struct schedule_problem *p = s->problem;
    const struct course *c = &s->course[task];
    enum objective objective = (enum objective)s->spec.option[OPTION_OBJECTIVE];
    int networks = p->networks ? p->networks : 1;
    double sum = 0;
    if (objective == OBJECTIVE_IDLE && c->rounds - c->gained >= IDLE_ROUNDS)
        return 0;
    for (int j = 0; j < networks; j++) {
        double w = p->uses ? p->uses[j * p->tasks + task] : 1;
        double l = latency(s, j), by_latency = 1, logs = 0;
        if (objective == OBJECTIVE_DEADLINE)
            by_latency = !p->deadline_s || l > p->deadline_s[j];
        for (int k = 0; k < networks && objective == OBJECTIVE_SPEEDUP; k++)
            logs += log(p->today_s ? p->today_s[k] / latency(s, k) : 1);
        if (objective == OBJECTIVE_SPEEDUP)
            by_latency = exp(logs / networks) / networks / l;
        sum += w > 0 ? w * by_latency : 0;
    }
    return sum;
}

// --- the expected gain: Ansor's estimate ---

enum { GRADIENT_ALPHA = 1, GRADIENT_BETA, GRADIENT_WINDOW };

static const char *const objectives[] = {"sum", "deadline", "speedup", "idle", NULL};

#define DECLARE_OBJECTIVE                                                                          \
    {                                                                                              \
        .name = "objective", .help = "what is to fall", .value = OBJECTIVE_SUM,                    \
        .high = OBJECTIVE_IDLE, .integer = true, .words = objectives                               \
    }

static const struct spec_option gradient_options[] = {
    DECLARE_OBJECTIVE,
    {"alpha", "share of the past in the estimate, the rest is hope", 0.2, 0, 1},
    {"beta", "how many times slower than the fastest similar task one is hoped to stay", 2, 0, 100},
    {"window", "rounds of the past", 3, 1, 1000, true},
    {NULL},
};

// Returns the FLOP/s of a task; 0: not known.
static double rate(const struct schedule *s, int task)
{
    double now = seconds(&s->course[task]);
    return now > 0 ? s->problem->task[task].work / now : 0;
}

// Returns the highest rate among the similar tasks, which have the same kind and about the same
// work: within one power of the golden ratio, counted from 1. 0: there is none, or the task is
// unlike them: slower than 1 / beta of their rate after many more rounds.
static double rate_of_similar(const struct schedule *s, int task)
{
    const struct schedule_task *x = &s->problem->task[task];
    double best = 0, own = rate(s, task);
    int rounds = 0;
    for (int k = 0; k < s->problem->tasks; k++) {
        const struct schedule_task *y = &s->problem->task[k];
        if (k == task || !x->kind || !y->kind || x->work <= 0 || y->work <= 0 ||
            !str_equal(x->kind, y->kind) ||
            floor(log(x->work + 1) / log(GOLDEN_RATIO)) !=
                floor(log(y->work + 1) / log(GOLDEN_RATIO)))
            continue;
        best = fmax(best, rate(s, k));
        rounds = s->course[k].rounds > rounds ? s->course[k].rounds : rounds;
    }
    bool unlike = own < best / s->spec.option[GRADIENT_BETA] && s->course[task].rounds > 5 + rounds;
    return unlike ? 0 : fmax(best, best > 0 ? own : 0);
}

// Returns the change of f, <= 0, that another round of the task is expected to bring (Ansor,
// section 6.2 and appendix A).
static double gradient(const struct schedule *s, int task)
{
    const struct course *c = &s->course[task];
    int window = (int)s->spec.option[GRADIENT_WINDOW];
    double now = seconds(c), alpha = s->spec.option[GRADIENT_ALPHA], past = 0;
    if (c->rounds > window && c->best[c->rounds - 1 - window] > 0)
        past = (now - c->best[c->rounds - 1 - window]) / window;
    double next = now - now / c->rounds, similar = rate_of_similar(s, task);
    if (similar > 0)
        next = fmin(next, s->spec.option[GRADIENT_BETA] * s->problem->task[task].work / similar);
    return slope(s, task) * (alpha * past + (1 - alpha) * (next - now));
}

// Chooses the next task by the gradient. -1: nothing is gained.
static int choose(struct schedule *s)
{
    int chosen = -1, equals = 0;
    double best = 0;
    // A task without a time comes first when it is its turn, the one with the fewest rounds first.
    for (int i = 0; i < s->problem->tasks; i++) {
        const struct course *c = &s->course[i];
        int64_t others = (s->problem->tasks - 1) * (int64_t)c->rounds;
        if (!c->over && seconds(c) <= 0 && s->rounds - c->rounds >= others &&
            (chosen < 0 || c->rounds < s->course[chosen].rounds))
            chosen = i;
    }
    for (int i = 0, first = chosen; i < s->problem->tasks && first < 0; i++) {
        if (s->course[i].over || seconds(&s->course[i]) <= 0)
            continue;
        double d = gradient(s, i);
        bool better = d < best;
        if (!better && (d != best || d >= 0))
            continue;
        equals = better ? 1 : equals + 1;
        best = d;
        if (rng_below(&s->rng, (uint64_t)equals) == 0)
            chosen = i;
    }
    return chosen;
}

// --- the schedule ---
static const struct spec_option no_options[] = {{NULL}};

const struct schedule_kind schedule_kinds[] = {
    {"gradient", "Ansor's: to the task whose next round promises most", gradient_options},
    {"roundrobin", "to each task in turn", no_options},
    {NULL},
};

void schedule_tell(struct schedule *s, int task, double best, bool more)
{
    struct course *c = &s->course[task];
    double before = seconds(c);
    assert(best >= 0 && isfinite(best) && (before == 0 || (best > 0 && best <= before)));
    MEM_GROW(c->best, c->rounds, c->capacity);
    c->best[c->rounds++] = best;
    if (best != before)
        c->gained = c->rounds;
    c->over = !more;
    s->rounds++;
    s->chosen = -1;
}

int schedule_next(struct schedule *s)
{
    bool in_turn = s->spec.kind == KIND_ROUNDROBIN;
    if (s->chosen < 0 && !in_turn)
        s->chosen = choose(s);
    if (s->chosen >= 0)
        return s->chosen;
    for (int i = 0; i < s->problem->tasks; i++) {
        const struct course *c = &s->course[i];
        if (!c->over && (in_turn || seconds(c) <= 0 || slope(s, i) > 0) &&
            (s->chosen < 0 || c->rounds < s->course[s->chosen].rounds))
            s->chosen = i;
    }
    return s->chosen;
}

// --- specs ---

static const char *schedule_kind_name(int kind)
{
    return schedule_kinds[kind].name;
}

static const struct spec_option *schedule_kind_options(int kind)
{
    return schedule_kinds[kind].options;
}

static const struct spec_family family = {"scheduler", schedule_kind_name, schedule_kind_options};

struct schedule *schedule_create(const char *spec, const struct schedule_problem *problem,
                                 uint64_t seed, struct err *e)
{
    struct spec chosen;
    if (!spec_parse(&family, spec, &chosen, e))
        return NULL;
    struct schedule *s = mem_zero(1, sizeof *s);
    *s = (struct schedule){.problem = problem, .spec = chosen, .chosen = -1};
    s->course = mem_zero((size_t)problem->tasks, sizeof *s->course);
    rng_seed(&s->rng, seed);
    return s;
}

void schedule_destroy(struct schedule *s)
{
    for (int i = 0; s && i < s->problem->tasks; i++)
        free(s->course[i].best);
    if (s)
        free(s->course);
    free(s);
}

char *schedule_canonical(const char *spec, struct err *e)
{
    struct spec chosen;
    return spec_parse(&family, spec, &chosen, e) ? spec_canonical(&family, &chosen) : NULL;
}
