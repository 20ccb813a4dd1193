#include "search/schedule.h"

#include "base/mem.h"
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_ROUNDS  5 // without a gain: objective `idle`
#define GOLDEN_RATIO 1.618

enum { KIND_GRADIENT, KIND_ROUNDROBIN };
enum { OPTION_OBJECTIVE }; // the first of all kinds that have options
enum objective { OBJECTIVE_SUM, OBJECTIVE_DEADLINE, OBJECTIVE_SPEEDUP, OBJECTIVE_IDLE };

// What became of a task.
struct course {
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
    int chosen; // next round's; -1: not chosen yet
    int64_t rounds;
};

// --- what it minimizes ---

static double uses(const struct schedule *s, int network, int task)
{
    const double *w = s->problem->uses;
    return w ? w[network * s->problem->tasks + task] : 1;
}

static double seconds(const struct course *c)
{
    return c->rounds ? c->best[c->rounds - 1] : 0;
}

static bool is_solved(const struct course *c)
{
    return seconds(c) > 0;
}

static double latency(const struct schedule *s, int network)
{
    double sum = 0;
    for (int i = 0; i < s->problem->tasks; i++)
        sum += uses(s, network, i) * seconds(&s->course[i]);
    return sum;
}

static int network_count(const struct schedule *s)
{
    return s->problem->networks ? s->problem->networks : 1;
}

static double speedup(const struct schedule *s)
{
    double sum = 0;
    int networks = network_count(s);
    for (int j = 0; j < networks; j++)
        sum += log(s->problem->today_s ? s->problem->today_s[j] / latency(s, j) : 1);
    return exp(sum / networks);
}

static enum objective objective_of(const struct schedule *s)
{
    return (enum objective)s->spec.option[OPTION_OBJECTIVE];
}

// df / dl_j
static double weight_of(const struct schedule *s, int network)
{
    double l = latency(s, network);
    switch (objective_of(s)) {
    case OBJECTIVE_DEADLINE: return !s->problem->deadline_s || l > s->problem->deadline_s[network];
    case OBJECTIVE_SPEEDUP: return speedup(s) / network_count(s) / l;
    default: return 1;
    }
}

// df / dg_i of a task that has a time, >= 0.
static double slope(const struct schedule *s, int task)
{
    const struct course *c = &s->course[task];
    if (objective_of(s) == OBJECTIVE_IDLE && c->rounds - c->gained >= IDLE_ROUNDS)
        return 0;
    double sum = 0;
    for (int j = 0; j < network_count(s); j++) {
        double w = uses(s, j, task);
        sum += w > 0 ? w * weight_of(s, j) : 0;
    }
    return sum;
}

// --- in turns ---

static bool may_gain(const struct schedule *s, int task)
{
    const struct course *c = &s->course[task];
    return !c->over && (s->spec.kind == KIND_ROUNDROBIN || !is_solved(c) || slope(s, task) > 0);
}

// --- by what it may gain: Ansor's estimate ---

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

// FLOP/s; 0: not known.
static double rate(const struct schedule *s, int task)
{
    const struct course *c = &s->course[task];
    return is_solved(c) ? s->problem->task[task].work / seconds(c) : 0;
}

// Of one kind, and of about the same work: within one power of the golden ratio, counted from 1.
static bool are_similar(const struct schedule *s, int a, int b)
{
    const struct schedule_task *x = &s->problem->task[a], *y = &s->problem->task[b];
    return x->kind && y->kind && x->work > 0 && y->work > 0 && str_equal(x->kind, y->kind) &&
           floor(log(x->work + 1) / log(GOLDEN_RATIO)) ==
               floor(log(y->work + 1) / log(GOLDEN_RATIO));
}

// The highest rate of those similar to a task; 0: there is none, or it has shown that it is unlike
// them, by being slower than 1 / beta of theirs after many more rounds.
static double rate_of_similar(const struct schedule *s, int task)
{
    double best = 0;
    int rounds = 0;
    for (int k = 0; k < s->problem->tasks; k++)
        if (k != task && are_similar(s, task, k)) {
            best = fmax(best, rate(s, k));
            rounds = s->course[k].rounds > rounds ? s->course[k].rounds : rounds;
        }
    bool unlike =
        rate(s, task) < best / s->spec.option[GRADIENT_BETA] && s->course[task].rounds > 5 + rounds;
    return unlike ? 0 : fmax(best, best > 0 ? rate(s, task) : 0);
}

// The change of f that another round is worth, <= 0 (Ansor, section 6.2 and appendix A).
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

// --- choosing ---

static const struct spec_option no_options[] = {{NULL}};

const struct schedule_kind schedule_kinds[] = {
    {"gradient", "Ansor's: to the task whose next round promises most", gradient_options},
    {"roundrobin", "to each task in turn", no_options},
    {NULL},
};

// One without a time whose turn it is, the longest waiting first.
static int unsolved_in_turn(const struct schedule *s)
{
    int chosen = -1;
    for (int i = 0; i < s->problem->tasks; i++) {
        const struct course *c = &s->course[i];
        int64_t others = (s->problem->tasks - 1) * (int64_t)c->rounds;
        if (!c->over && !is_solved(c) && s->rounds - c->rounds >= others &&
            (chosen < 0 || c->rounds < s->course[chosen].rounds))
            chosen = i;
    }
    return chosen;
}

int schedule_next(struct schedule *s)
{
    if (s->chosen < 0 && s->spec.kind != KIND_ROUNDROBIN) {
        s->chosen = unsolved_in_turn(s); // a first round for each, too
        if (s->chosen < 0) {
            // The most promising of those that have a time; among equals one at random, -1: nothing
            // is gained.
            double best = 0;
            int chosen = -1, equals = 0;
            for (int i = 0; i < s->problem->tasks; i++) {
                if (s->course[i].over || !is_solved(&s->course[i]))
                    continue;
                double d = gradient(s, i);
                if (d < best || (d == best && d < 0))
                    equals = d < best ? 1 : equals + 1;
                else
                    continue;
                best = d;
                if (rng_below(&s->rng, (uint64_t)equals) == 0)
                    chosen = i;
            }
            s->chosen = chosen;
        }
    }
    if (s->chosen < 0) {
        int least = -1;
        for (int i = 0; i < s->problem->tasks; i++)
            if (may_gain(s, i) && (least < 0 || s->course[i].rounds < s->course[least].rounds))
                least = i;
        s->chosen = least;
    }
    return s->chosen;
}

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

// --- from words ---

static const char *kind_name(int kind)
{
    return schedule_kinds[kind].name;
}

static const struct spec_option *kind_options(int kind)
{
    return schedule_kinds[kind].options;
}

static const struct spec_family family = {"scheduler", kind_name, kind_options};

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
