#include "compare.h"

#include <math.h>
#include <stdlib.h>

// --- comparable sessions ---

enum compare_fit compare_fit(const struct session_record *a, const struct session_record *b)
{
    if (!str_equal(a->title, b->title))
        return COMPARE_OTHER_PROBLEM;
    if (!str_equal(a->device, b->device))
        return COMPARE_OTHER_DEVICE;
    return str_equal(a->source, b->source) ? COMPARE_SAME : COMPARE_OTHER_SOURCE;
}

const char *compare_apart(const struct session_record *a, const struct session_record *b)
{
    if (!str_equal(a->name, b->name))
        return "space";
    if (!str_equal(a->settings, b->settings))
        return "settings";
    if (!str_equal(a->text_hash, b->text_hash))
        return "files";
    return str_equal(a->device_id, b->device_id) ? NULL : "driver";
}

static double speed(const struct mark *k, double seconds)
{
    return seconds > 0 ? k->record.flop / seconds : 0;
}

// --- strategies ---

bool compare_repeats(const struct session_record *a, const struct session_record *b)
{
    return str_equal(a->strategy, b->strategy) &&
           str_equal(stored_beginning(a), stored_beginning(b)) && !compare_apart(a, b);
}

static int compare_means(const void *a, const void *b)
{
    const struct compare_group *x = a, *y = b;
    return (x->mean < y->mean) - (x->mean > y->mean);
}

static int compare_bests(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;
    if ((x->fit == COMPARE_SAME) != (y->fit == COMPARE_SAME))
        return x->fit == COMPARE_SAME ? -1 : 1;
    if (x->best > y->best || x->best < y->best)
        return x->best > y->best ? -1 : 1;
    return (x->mark->letter > y->mark->letter) - (x->mark->letter < y->mark->letter);
}

void compare_marks(struct comparison *c, const struct mark *mark, int count)
{
    // The others are compared with the session that most of them are comparable with.
    const struct session_record *common = NULL;
    for (int i = 0, most = 0; i < count; i++) {
        int like = 0;
        for (int k = 0; k < count; k++)
            like += compare_fit(&mark[i].record, &mark[k].record) == COMPARE_SAME;
        if (like > most) {
            most = like;
            common = &mark[i].record;
        }
    }
    *c = (struct comparison){.count = 0};
    for (int i = 0; i < count; i++) {
        const struct mark *k = &mark[i];
        const struct best_step *last = k->curve.count ? &k->curve.step[k->curve.count - 1] : NULL;
        struct compare_row *row = &c->row[c->count++];
        *row = (struct compare_row){.mark = k, .fit = compare_fit(common, &k->record)};
        if (row->fit != COMPARE_SAME)
            continue;
        row->best = k->record.best_ask ? speed(k, k->record.best_seconds) : 0;
        c->comparable++;
        if (last)
            row->reached = speed(k, last->seconds);
        c->reached = fmax(c->reached, row->reached);
        c->horizon = k->record.trials > c->horizon ? k->record.trials : c->horizon;
        if (last && last->number > c->horizon)
            c->horizon = last->number; // ended since it was listed
    }
    qsort(c->row, (size_t)c->count, sizeof *c->row, compare_bests);
    for (int i = 0; i < c->comparable; i++) {
        const struct mark *k = c->row[i].mark;
        // The best speed by trial (heap).
        struct plot_point *point = mem_alloc((size_t)k->curve.count * sizeof *point);
        for (int j = 0; j < k->curve.count; j++) {
            const struct best_step *step = &k->curve.step[j];
            point[j] = (struct plot_point){(double)step->number, speed(k, step->seconds)};
        }
        const struct steps curve = {point, k->curve.count};
        double end = 1 + (double)c->horizon; // trial t holds from t to t + 1
        c->row[i].share = c->reached > 0 ? c->row[i].reached / c->reached : 0;
        c->row[i].mean = c->horizon > 0 ? comparison_mean(&curve, 1, end) : 0;
        c->row[i].ok_share =
            k->record.trials > 0 ? (double)k->record.ok / (double)k->record.trials : 0;
        for (int j = 0; j < COMPARISON_GOALS; j++) {
            double trials = comparison_reach(&curve, comparison_goals[j] * c->reached);
            c->row[i].goal[j] = c->reached > 0 && isfinite(trials) ? (int64_t)trials : 0;
        }
        free(point);
    }
    for (int i = 0; i < c->comparable; i++) {
        const struct session_record *r = &c->row[i].mark->record;
        struct compare_group *g = c->group;
        while (g < c->group + c->group_count && !compare_repeats(g->first, r))
            g++;
        if (g == c->group + c->group_count)
            c->group[c->group_count++] = (struct compare_group){.first = r};
        g->mean += c->row[i].best; // the sum, until all are in
        g->best = fmax(g->best, c->row[i].best);
        g->runs++;
    }
    for (int i = 0; i < c->group_count; i++) {
        c->group[i].mean /= c->group[i].runs;
        double squares = 0;
        for (int j = 0; j < c->comparable; j++) {
            double off = c->row[j].best - c->group[i].mean;
            if (compare_repeats(c->group[i].first, &c->row[j].mark->record))
                squares += off * off;
        }
        c->group[i].deviation = c->group[i].runs > 1 ? sqrt(squares / (c->group[i].runs - 1)) : 0;
    }
    qsort(c->group, (size_t)c->group_count, sizeof *c->group, compare_means);
}
