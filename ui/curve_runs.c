#include "curve_runs.h"

#include <math.h>
#include <stdlib.h>

// --- runs ---

static double step_x(const struct best_step *s, enum curve_axis axis, double created)
{
    return axis == CURVE_TRIALS    ? (double)s->number
           : axis == CURVE_RUNNING ? s->elapsed_s
                                   : s->finished - created;
}

static void take_points(struct curve_run *run, const struct curve *c,
                        const struct session_record *record, enum curve_axis axis, double per_flops)
{
    double x = 0;
    run->point = mem_alloc((size_t)c->count * sizeof *run->point);
    for (int i = 0; i < c->count; i++) {
        if (!(c->step[i].seconds > 0))
            continue;
        x = fmax(x, step_x(&c->step[i], axis, record->created)); // clocks may be set back
        double y = record->flop / c->step[i].seconds * per_flops;
        run->point[run->count++] = (struct plot_point){x, y};
    }
    run->end = x;
}

static bool is_running(pid_t runner, enum session_state state)
{
    return runner && state == STATE_RUNNING;
}

static double end_of_open(const struct model *m, double unix_now, enum curve_axis axis)
{
    const struct opened *o = &m->open;
    if (axis == CURVE_TRIALS)
        return (double)o->last_number;
    if (axis == CURVE_RUNNING)
        return model_ran_seconds(m, unix_now);
    return (is_running(o->runner, o->state) ? unix_now : o->newest_finished) - o->record.created;
}

static bool mark_runs(const struct model *m, const struct mark *k)
{
    const struct session_row *row = model_row(m, k->id);
    return row && is_running(row->runner, row->state);
}

// Of a marked session less is known: stored running times end with its last change of state. When
// the last step is newer there was no pause since, and it has run on until now.
static double end_of_mark(const struct model *m, const struct mark *k, double unix_now,
                          enum curve_axis axis)
{
    bool runs = mark_runs(m, k);
    if (axis == CURVE_TRIALS)
        return (double)k->record.trials;
    if (axis == CURVE_WALL)
        return runs ? unix_now - k->record.created : k->record.ran_seconds;
    const struct best_step *last = k->curve.count ? &k->curve.step[k->curve.count - 1] : NULL;
    if (runs && last && last->elapsed_s > k->record.ran_seconds)
        return last->elapsed_s + fmax(0, unix_now - last->finished);
    return k->record.ran_seconds;
}

static char letter_of_open(const struct model *m)
{
    bool taken[MODEL_MOST_MARKS + 1] = {0};
    for (int i = 0; i < m->mark_count; i++) {
        if (m->mark[i].id == m->open.record.id)
            return m->mark[i].letter;
        int place = m->mark[i].letter - 'A';
        if (place >= 0 && place <= MODEL_MOST_MARKS)
            taken[place] = true;
    }
    char letter = 'A';
    while (letter - 'A' < MODEL_MOST_MARKS && taken[letter - 'A'])
        letter++;
    return letter;
}

// Where the axis ends for the open session's sake, in its units; 0: nowhere.
static double budget_of_open(const struct model *m, enum curve_axis axis)
{
    const struct opened *o = &m->open;
    bool goes_on = o->state == STATE_RUNNING || o->state == STATE_PAUSED;
    return !goes_on                ? 0
           : axis == CURVE_TRIALS  ? (double)o->record.budget_trials
           : axis == CURVE_RUNNING ? o->record.budget_seconds
                                   : 0;
}

static double roof_of(const struct opened *o, double per_flops)
{
    const struct recording *r = o->recording;
    double seconds = r && r->best >= 0 ? r->entry[r->best].seconds : 0;
    return seconds > 0 ? o->record.flop / seconds * per_flops : 0;
}

static void take_baseline(struct curve_runs *r, const struct opened *o)
{
    const struct baseline_record *b = baselines_fastest(&o->baselines);
    if (!b)
        return;
    r->baseline = o->record.flop / baseline_seconds(b) * r->per_flops;
    r->baseline_name = b->name;
}

static void add_run(struct curve_runs *r, struct curve_run run, const struct curve *c,
                    const struct session_record *record, enum curve_axis axis, double per_flops,
                    double end)
{
    take_points(&run, c, record, axis, per_flops);
    run.end = fmax(run.end, end);
    if (record->best_seconds > 0)
        run.ranked = record->flop / record->best_seconds * per_flops;
    r->right = fmax(r->right, run.end);
    for (int i = 0; i < run.count; i++)
        r->best = fmax(r->best, run.point[i].y);
    r->alike += !run.apart;
    r->run[r->count++] = run;
}

void curve_runs_take(struct curve_runs *r, const struct model *m, double unix_now,
                     enum curve_axis axis, bool alone)
{
    const struct opened *o = &m->open;
    double per_flops;
    *r = (struct curve_runs){.unit = model_unit(m, &per_flops)};
    r->per_flops = per_flops;
    if (!o->record.id)
        return;
    r->roof = roof_of(o, per_flops);
    take_baseline(r, o);
    r->right = budget_of_open(m, axis);
    add_run(r, (struct curve_run){.id = o->record.id, .letter = letter_of_open(m)}, &o->curve,
            &o->record, axis, per_flops, end_of_open(m, unix_now, axis));
    for (int i = 0; i < m->mark_count && !alone; i++) {
        const struct mark *k = &m->mark[i];
        if (k->id == o->record.id)
            continue;
        enum compare_fit fit = compare_fit(&o->record, &k->record);
        if (fit != COMPARE_SAME) {
            r->left_out[fit]++;
            continue;
        }
        bool apart = compare_apart(&o->record, &k->record) != NULL;
        struct curve_run run = {
            .id = k->id, .letter = k->letter, .apart = apart, .level = apart && !mark_runs(m, k)};
        add_run(r, run, &k->curve, &k->record, axis, per_flops, end_of_mark(m, k, unix_now, axis));
    }
}

void curve_runs_finish(struct curve_runs *r)
{
    for (int i = 0; i < r->count; i++)
        free(r->run[i].point);
    *r = (struct curve_runs){0};
}

double curve_run_best(const struct curve_run *run)
{
    return run->count ? run->point[run->count - 1].y : 0;
}

// --- their mean ---

static void take_edges(struct curve_mean *m, double x, const struct spread *s, enum curve_band band)
{
    double low = band == CURVE_RANGE ? s->least : s->mean - s->deviation;
    double high = band == CURVE_RANGE ? s->most : s->mean + s->deviation;
    m->mean[m->count] = (struct plot_point){x, s->mean};
    m->low[m->count] = (struct plot_point){x, low};
    m->high[m->count++] = (struct plot_point){x, high};
}

void curve_mean_take(struct curve_mean *m, const struct curve_runs *r, enum curve_band band, int n)
{
    *m = (struct curve_mean){0};
    if (r->alike < 2 || n < 1 || !(r->right > 0) || !(r->best > 0))
        return;
    struct steps run[MOST_RUNS];
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        if (r->run[i].apart)
            continue;
        run[count++] = (struct steps){r->run[i].point, r->run[i].count};
        m->end = fmax(m->end, r->run[i].end);
    }
    double step = r->right / n;
    struct spread *spread = mem_alloc((size_t)n * sizeof *spread);
    steps_spread(run, count, step * (1 + 1e-9), step, spread, n);
    m->mean = mem_alloc(3 * (size_t)n * sizeof *m->mean);
    m->low = m->mean + n;
    m->high = m->low + n;
    for (int i = 0; i < n && i * step <= m->end; i++)
        if (spread[i].most > 0)
            take_edges(m, i * step, &spread[i], band);
    steps_spread(run, count, m->end, 0, &m->last, 1);
    free(spread);
}

void curve_mean_finish(struct curve_mean *m)
{
    free(m->mean);
    *m = (struct curve_mean){0};
}
