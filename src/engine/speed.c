#include "engine/speed.h"

#include "base/json_read.h"
#include "base/shown.h"
#include "base/str.h"
#include "engine/stored.h"
#include "report/text.h"
#include "trial/benchmark.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SMALL 20 // a kernel that takes less than so many empty dispatches

struct objective speed_objective(const struct session_record *r)
{
    struct objective o;
    objective_parse(r->objective, &o);
    return o;
}

bool speed_is_inverse(const struct session_record *r)
{
    struct objective o = speed_objective(r);
    return o.kind != OBJECTIVE_TIME && !o.maximizes;
}

bool speed_is_relative(const struct session_record *r)
{
    struct json operation;
    return !r->objective && recorded_is(r->source) && json_parse(r->operation, &operation) &&
           !json_is(json_member(operation, "unit"), RECORDED_PER_GFLOP) &&
           !json_member(operation, "flop").at;
}

struct workload speed_work(const struct session_record *r)
{
    return r->unit && r->work > 0 ? (struct workload){r->work, r->unit}
                                  : (struct workload){r->flop, WORK_FLOP};
}

double speed_share(const struct session_record *r)
{
    return speed_is_relative(r) && r->best_ask && r->best_seconds > 0
               ? r->flop / r->best_seconds / RECORDED_ONE
               : 0;
}

char *speed_text(const struct session_record *r, double seconds, char out[32])
{
    struct workload work = speed_work(r);
    double best_s = r->best_seconds > 0 ? r->best_seconds : seconds;
    if (speed_is_relative(r))
        return text_share(r->flop / seconds / RECORDED_ONE, out);
    if (speed_is_inverse(r))
        return text_cost(seconds, speed_objective(r).unit, out);
    return text_rate_beside(work.amount / seconds, work.amount / best_s, work.unit, out);
}

char *speed_time(const struct session_record *r, double seconds, char out[32])
{
    out[0] = '\0';
    return speed_objective(r).kind == OBJECTIVE_TIME ? text_time(seconds, out) : out;
}

char *speed_and_time(const struct session_record *r, double seconds, char out[SPEED_TEXT_SIZE])
{
    char speed[32], time[32];
    speed_time(r, seconds, time);
    snprintf(out, SPEED_TEXT_SIZE, "%s%s%s", speed_text(r, seconds, speed), *time ? "  " : "",
             time);
    return out;
}

double speed_unit(const struct session_record *r, double highest, const char **name)
{
    struct workload work = speed_work(r);
    if (speed_is_relative(r)) {
        *name = "%";
        return RECORDED_ONE / 100;
    }
    if (speed_is_inverse(r))
        return r->flop /
               text_cost_unit(highest > 0 ? r->flop / highest : 0, speed_objective(r).unit, name);
    double flop = work.amount > 0 ? r->flop / work.amount : 1; // of one of its unit
    return flop * text_rate_unit(highest / flop, work.unit, name);
}

double speed_tflops(const struct session_record *r, double seconds)
{
    bool is_speed = speed_objective(r).kind == OBJECTIVE_TIME;
    return is_speed && seconds > 0 ? r->flop / seconds / 1e12 : NAN;
}

double speed_ms(const struct session_record *r, double seconds)
{
    struct objective o = speed_objective(r);
    return objective_is_time(&o) && seconds > 0 ? seconds * 1e3 : NAN;
}

double speed_rate(const struct session_record *r, double seconds)
{
    struct objective o = speed_objective(r);
    if (o.kind != OBJECTIVE_TIME)
        return seconds > 0 ? objective_value(&o, seconds) : NAN;
    struct workload work = speed_work(r);
    double unit = str_equal(work.unit, WORK_FLOP)    ? 1e12
                  : str_equal(work.unit, WORK_BYTES) ? 1e9
                                                     : 1;
    return seconds > 0 ? work.amount / seconds / unit : NAN;
}

const char *speed_unit_word(const struct session_record *r)
{
    return speed_is_relative(r)                        ? "fastest"
           : speed_objective(r).kind == OBJECTIVE_TIME ? "TFLOPS"
                                                       : NULL;
}

const char *speed_rate_word(const struct session_record *r)
{
    const char *unit = speed_work(r).unit;
    struct objective o = speed_objective(r);
    if (o.kind != OBJECTIVE_TIME)
        return o.kind == OBJECTIVE_NAMED ? o.name : o.unit;
    return str_equal(unit, WORK_FLOP)    ? speed_unit_word(r)
           : str_equal(unit, WORK_BYTES) ? "GB/s"
                                         : unit;
}

bool speed_energy(const struct session_record *r, const char *clocks, double cost, double *seconds,
                  double *joules)
{
    struct statistics sensed;
    struct objective o = speed_objective(r);
    if (!clocks)
        return false;
    text_parse_statistics(clocks, &sensed);
    if (!statistics_find(&sensed, STATISTIC_SECONDS, seconds))
        *seconds = objective_is_time(&o) ? cost : 0;
    return statistics_find(&sensed, STATISTIC_JOULES, joules) && *joules > 0 && *seconds > 0;
}

// Reads entry `index` of the list of a baseline's pairs.
static struct paired stored_pairs(const struct baseline_record *b, int index)
{
    struct paired p = paired_unknown();
    struct json root;
    double pairs = 0, *const value[] = {&pairs, &p.ratio, &p.low, &p.high};
    if (!json_parse(b->paired, &root))
        return p;
    struct json_walk w = json_walk(root);
    for (int i = 0; json_next(&w); i++) {
        int k = 0;
        for (struct json_walk one = json_walk(w.value); i == index && json_next(&one) && k < 4; k++)
            if (!json_number(one.value, value[k]))
                *value[k] = NAN;
    }
    p.pairs = pairs > 0 && pairs <= PAIRED_MOST ? (int)pairs : 0;
    return p;
}

// Returns the ratio of a run of `seconds` to one of `own_s`, the baseline's; as timed in pairs,
// entry `index` of its list, where they were.
static struct paired paired_of(const struct session_record *r, const struct baseline_record *b,
                               int index, double own_s, double seconds)
{
    if (b->outcome == OUTCOME_OK && b->paired && r->best_ask && b->paired_ask == r->best_ask)
        return stored_pairs(b, index);
    struct paired p = paired_exactly(seconds, own_s);
    if (str_equal(r->source, "device") || benchmark_is(r->source))
        p.low = p.high = NAN;
    return p;
}

struct paired speed_paired(const struct session_record *r, const struct baseline_record *b,
                           double seconds)
{
    struct session_record other = *r;
    if (!b)
        return paired_unknown();
    if (seconds < r->best_seconds || seconds > r->best_seconds)
        other.best_ask = 0; // another kernel of the session
    return paired_of(&other, b, 0, baseline_seconds(b), seconds);
}

struct paired speed_paired_on(const struct session_record *r, const struct baseline_record *b,
                              int shape, double baseline_s, double seconds)
{
    return paired_of(r, b, shape + 1, baseline_s, seconds);
}

struct paired speed_verdict(const struct session_record *r, const struct baselines *b)
{
    const struct baseline_record *fastest = baselines_fastest(b);
    return fastest && r->best_ask ? speed_paired(r, fastest, r->best_seconds) : paired_unknown();
}

void speed_add_ratio(const struct session_record *r, const struct paired *p, struct str *out)
{
    struct objective o = speed_objective(r);
    const char *word = objective_is_time(&o) ? "fast" : "good";
    switch (paired_verdict(p)) {
    case PAIRED_NONE: return;
    case PAIRED_LEVEL:
        if (p->low >= 1 && p->high <= 1)
            str_add(out, "no difference: it is this one");
        else if (p->low > 0)
            str_printf(out, "no difference shown (%.3g to %.3g times as %s)", p->low, p->high,
                       word);
        else
            str_printf(out, "no difference shown (%.3g times as %s by single times)", p->ratio,
                       word);
        return;
    default:
        str_printf(out, "%.3g times as %s", p->ratio, word);
        if (p->low < p->high)
            str_printf(out, " (%.3g to %.3g)", p->low, p->high);
    }
}

void speed_add_ratio_json(const struct paired *p, struct json_writer *w)
{
    json_add_real(w, "ratio", p->ratio);
    json_add_real(w, "ratio_low", p->low);
    json_add_real(w, "ratio_high", p->high);
    json_add_text(w, "verdict", paired_verdict_name(paired_verdict(p)));
}

void speed_add_baselines(const struct session_record *r, const struct baselines *b, double seconds,
                         const char *name, struct json_writer *w)
{
    json_begin_list(w, name);
    for (int i = 0; i < b->count; i++) {
        const struct baseline_record *one = &b->of[i];
        double own = baseline_seconds(one);
        json_begin_object(w, NULL);
        json_add_text(w, "name", one->name);
        json_add_text(w, "outcome", outcome_name(one->outcome));
        json_add_text_if_any(w, "reason", one->reason);
        json_add_real(w, "ms", speed_ms(r, own));
        json_add_real(w, "tflops", speed_tflops(r, own));
        struct paired p = speed_paired(r, one, seconds);
        speed_add_ratio_json(&p, w);
        json_end(w);
    }
    json_end(w);
}

void speed_add_baseline_lines(const struct session_record *r, const struct baselines *b,
                              double seconds, struct str *out)
{
    char speed[SPEED_TEXT_SIZE];
    int widest = 0;
    for (int i = 0; i < b->count; i++)
        widest = (int)strlen(b->of[i].name) > widest ? (int)strlen(b->of[i].name) : widest;
    for (int i = 0; i < b->count; i++) {
        const struct baseline_record *one = &b->of[i];
        double own = baseline_seconds(one);
        str_add(out, i ? "         " : "baseline ");
        shown_add(out, one->name);
        for (int k = (int)strlen(one->name); k < widest; k++)
            str_add_char(out, ' ');
        if (own > 0)
            str_printf(out, "  %s", speed_and_time(r, own, speed));
        if (own > 0 && seconds > 0) {
            struct paired p = speed_paired(r, one, seconds);
            str_add(out, "  best: ");
            speed_add_ratio(r, &p, out);
        }
        if (!(own > 0)) {
            str_printf(out, "  %s: ", outcome_name(one->outcome));
            shown_add(out, one->reason ? one->reason : "");
        }
        str_add_char(out, '\n');
    }
}

double speed_of_peak(const struct session_record *r, double seconds)
{
    bool is_time = speed_objective(r).kind == OBJECTIVE_TIME;
    return is_time && seconds > 0 && r->roof_s > 0 ? r->roof_s / seconds : 0;
}

void speed_add_peak(const struct session_record *r, double seconds, struct str *out)
{
    double share = speed_of_peak(r, seconds);
    char text[32];
    if (share > 0) {
        bool moves = str_equal(r->roof_by, roofline_name(ROOFLINE_BYTES));
        const char *why = !moves ? ": it takes fewer operations than are counted, or the peak was "
                                   "measured while the device was busy"
                          : r->cold
                              ? ": the peak was measured while the device was busy"
                              : ": its data lie in caches, or the peak was measured while the "
                                "device was busy";
        str_printf(out, "%s of the roof (%s)%s", text_share(share, text),
                   moves ? "memory" : r->roof_by, share >= 1.0005 ? why : "");
    }
    if (speed_objective(r).kind == OBJECTIVE_TIME && seconds > 0 && r->dispatch_s * SMALL > seconds)
        str_printf(out, "%san empty dispatch takes %s", share > 0 ? "; " : "",
                   text_time(r->dispatch_s, text));
}

int shape_parts(const char *parts, double out[TRIAL_MAX_SHAPES])
{
    struct json root;
    int count = 0;
    memset(out, 0, TRIAL_MAX_SHAPES * sizeof *out);
    if (!json_parse(parts, &root))
        return 0;
    for (struct json_walk w = json_walk(root); json_next(&w) && count < TRIAL_MAX_SHAPES; count++)
        if (!json_number(w.value, &out[count]) || out[count] < 0)
            out[count] = 0;
    return count;
}

static void read_rows(const struct session_record *r, struct arena *a, struct shape_table *t)
{
    struct json root;
    if (!json_parse(r->shapes, &root)) {
        t->row[t->count++] = (struct shape_row){.name = r->title, .weight = 1};
        return;
    }
    for (struct json_walk w = json_walk(json_member(root, "shapes"));
         json_next(&w) && t->count < TRIAL_MAX_SHAPES;) {
        struct shape_row *row = &t->row[t->count++];
        row->name = "";
        for (struct json_walk s = json_walk(json_member(w.value, "set")); json_next(&s);) {
            const char *value = json_text(s.value, a);
            row->name = arena_printf(a, "%s%s%s=%s", row->name, *row->name ? " " : "",
                                     json_text(s.key, a), value ? value : "?");
        }
        json_number(json_member(w.value, "weight"), &row->weight);
    }
}

void shape_table_read(const struct session_record *r, const struct shape_findings *f,
                      struct arena *a, struct shape_table *out)
{
    double part_s[TRIAL_MAX_SHAPES] = {0};
    const struct baseline_record *baseline[TRIAL_MAX_SHAPES] = {NULL};
    *out = (struct shape_table){.worst = -1};
    read_rows(r, a, out);
    for (int i = 0; i < f->baselines->count; i++) {
        const struct baseline_record *b = &f->baselines->of[i];
        bool runs_on_some = r->shapes && b->parts && b->outcome == OUTCOME_REJECTED;
        if (b->outcome != OUTCOME_OK && !runs_on_some)
            continue;
        memset(part_s, 0, sizeof part_s);
        if (r->shapes)
            shape_parts(b->parts, part_s);
        else
            part_s[0] = baseline_seconds(b);
        for (int k = 0; k < out->count; k++) {
            struct shape_row *row = &out->row[k];
            if (part_s[k] > 0 && (!row->baseline || part_s[k] < row->baseline_s)) {
                row->baseline = b->name;
                row->baseline_s = part_s[k];
                baseline[k] = b;
            }
        }
    }
    memset(part_s, 0, sizeof part_s);
    if (!r->shapes)
        part_s[0] = f->best->ask ? r->best_seconds : 0;
    else if (f->best->ask)
        shape_parts(f->race->ask ? f->race->parts : f->best->parts, part_s);
    for (int i = 0; i < out->count; i++) {
        struct shape_row *row = &out->row[i];
        row->seconds = part_s[i];
        if (r->shapes && baseline[i])
            row->ratio = speed_paired_on(r, baseline[i], i, row->baseline_s, row->seconds);
        else
            row->ratio = speed_paired(r, baseline[i], row->seconds);
        if (!isnan(row->ratio.ratio) &&
            (out->worst < 0 || row->ratio.ratio < out->row[out->worst].ratio.ratio))
            out->worst = i;
    }
}

void shape_table_add_text(const struct session_record *r, const struct shape_table *t,
                          struct str *out)
{
    int widest = 0;
    for (int i = 0; i < t->count; i++)
        widest = (int)strlen(t->row[i].name) > widest ? (int)strlen(t->row[i].name) : widest;
    for (int i = 0; t->count > 1 && i < t->count; i++) {
        bool is_first = i == 0;
        char time[32];
        size_t before = out->length;
        str_add(out, is_first ? "shapes   " : "         ");
        shown_add(out, t->row[i].name);
        while (out->length - before < (size_t)widest + 9)
            str_add_char(out, ' ');
        str_printf(out, "  %9s", t->row[i].seconds > 0 ? text_time(t->row[i].seconds, time) : "-");
        if (t->row[i].baseline) {
            str_printf(out, "  %s in '", text_time(t->row[i].baseline_s, time));
            shown_add(out, t->row[i].baseline);
            str_add(out, "'  ");
            speed_add_ratio(r, &t->row[i].ratio, out);
        }
        str_add_char(out, '\n');
    }
    if (t->count < 2 || t->worst < 0)
        return;
    const struct shape_row *worst = &t->row[t->worst];
    str_add(out, "         worst: ");
    shown_add(out, worst->name);
    str_add(out, ", ");
    speed_add_ratio(r, &worst->ratio, out);
    str_add_char(out, '\n');
}

void shape_table_add_json(const struct shape_table *t, const char *name, struct json_writer *w)
{
    json_begin_list(w, name);
    for (int i = 0; i < t->count; i++) {
        const struct shape_row *r = &t->row[i];
        json_begin_object(w, NULL);
        json_add_text(w, "name", r->name);
        json_add_real(w, "weight", r->weight);
        json_add_real(w, "ms", r->seconds > 0 ? r->seconds * 1e3 : NAN);
        json_add_text(w, "baseline", r->baseline);
        json_add_real(w, "baseline_ms", r->baseline ? r->baseline_s * 1e3 : NAN);
        speed_add_ratio_json(&r->ratio, w);
        json_add_flag(w, "worst", i == t->worst);
        json_end(w);
    }
    json_end(w);
}
