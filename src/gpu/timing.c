// Warm up, find how many repeats make a batch long enough to be measured, take batches. What a run
// takes is a batch's device time over its repeats; what is spent is counted on the host's clock,
// overheads included.
#include "base/minmax.h"
#include "base/os.h"
#include "gpu/vk.h"

#include <assert.h>
#include <math.h>

#define RUN_TIMEOUT_S 30.0
#define MAX_REPEATS   10000
#define AGREEMENT     0.02
#define WARMUP_CAP    4 // times warmup_s: then it has to do, agreement or not

enum { FEWEST_SAMPLES = 2 };

struct plan {
    struct gpu *g;
    const struct gpu_sequence *sequence;
    const struct gpu_timing *t;
    int repeats;
};

// GPUs idle at a fraction of their clock: they are warmed up by time. On CPU devices a batch is
// cheap to trust (the minimum counts) and dear to take (kernels run for milliseconds).
struct gpu_timing gpu_timing_default(const struct gpu_info *i)
{
    struct gpu_timing gpu = {.warmup_s = 0.06, .batch_s = 0.015, .batches = 5, .budget_s = 0.5};
    struct gpu_timing cpu = {.warmup_s = 0, .batch_s = 0.004, .batches = 6, .budget_s = 0.1};
    struct gpu_timing t = i->is_cpu ? cpu : gpu;
    t.submit_s = 0.2;
    t.hopeless = 3;
    t.apart_s = 0.025; // some turns of a scheduler with whoever else wants the processor
    return t;
}

bool gpu_is_hopeless(const struct gpu_timing *t, const double *seconds, int count, double apart_s,
                     double incumbent_s)
{
    double best = INFINITY;
    for (int i = 0; i < count; i++)
        best = fmin(best, seconds[i]);
    return count >= FEWEST_SAMPLES && apart_s >= t->apart_s && t->hopeless > 0 && incumbent_s > 0 &&
           best > t->hopeless * incumbent_s;
}

int timing_repeats(const struct gpu_timing *t, int n, double seconds)
{
    double each = seconds / n;
    double most = fmin(floor(t->submit_s / each), MAX_REPEATS);
    double wanted = n;
    if (seconds < t->batch_s)
        wanted = fmin(ceil(1.1 * t->batch_s / each), 16.0 * n);
    return (int)fmax(1, fmin(wanted, most));
}

bool timing_is_warm(const struct gpu_timing *t, double elapsed_s, double each, double previous)
{
    bool agrees = fabs(each - previous) <= AGREEMENT * each;
    return elapsed_s >= (agrees ? 1 : WARMUP_CAP) * t->warmup_s;
}

static double seconds_since(int64_t begin_ns)
{
    return (double)(os_now_ns() - begin_ns) * 1e-9;
}

static enum gpu_status run_batch(const struct plan *p, double *seconds, struct err *e)
{
    return gpu_run(p->g, p->sequence, p->repeats, RUN_TIMEOUT_S, seconds, e);
}

// The first run decides how many repeats the second batch has, so that no submission of an unknown
// kernel is long.
static enum gpu_status warm_up(struct plan *p, struct err *e)
{
    int64_t begin = os_now_ns();
    double seconds, previous = 0;
    for (bool done = false; !done;) {
        GPU_TRY(run_batch(p, &seconds, e));
        double each = seconds / p->repeats;
        int next = timing_repeats(p->t, p->repeats, seconds);
        done = next <= p->repeats && timing_is_warm(p->t, seconds_since(begin), each, previous);
        p->repeats = next;
        previous = each;
    }
    return GPU_OK;
}

static enum gpu_status take_samples(struct plan *p, double incumbent_s, struct gpu_samples *out,
                                    struct err *e)
{
    int64_t first = os_now_ns();
    int batches = int_min(p->t->batches, 32), fewest = int_min(batches, FEWEST_SAMPLES);
    double wall_s = 0;
    bool done = false;
    while (!done) {
        double seconds, apart_s = seconds_since(first);
        int64_t begin = os_now_ns();
        GPU_TRY(run_batch(p, &seconds, e));
        int next = timing_repeats(p->t, p->repeats, seconds);
        if (out->count == 0 && next > 2 * p->repeats) { // the warm-up was slowed by a compiler
            p->repeats = next;
            first = os_now_ns();
            continue;
        }
        wall_s += seconds_since(begin) / p->repeats;
        out->seconds[out->count++] = seconds / p->repeats;
        out->early_stopped = out->count < batches &&
                             gpu_is_hopeless(p->t, out->seconds, out->count, apart_s, incumbent_s);
        done = out->early_stopped || out->count >= batches ||
               (out->count >= fewest && seconds_since(first) >= p->t->budget_s);
    }
    out->repeats = p->repeats;
    out->wall_s = wall_s / out->count;
    return GPU_OK;
}

enum gpu_status gpu_time(struct gpu *g, const struct gpu_sequence *s, const struct gpu_timing *t,
                         double incumbent_s, struct gpu_samples *out, struct err *e)
{
    assert(t->submit_s > 0);
    struct plan p = {g, s, t, 1};
    *out = (struct gpu_samples){0};
    GPU_TRY(warm_up(&p, e));
    return take_samples(&p, incumbent_s, out, e);
}
