#include "engine/session_shapes.h"

#include "base/json.h"
#include "base/json_read.h"
#include "engine/session_setup.h"
#include "engine/session_step.h"
#include "engine/shape_table.h"
#include "engine/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT "weight"

// --- what is asked for ---

// "M=512,N=64,weight=3"
static bool add_shape(struct session *s, const char *text, struct json_writer *w, struct err *e)
{
    char *rest = NULL, *copy = arena_strdup(&s->arena, text);
    double weight = 1;
    bool any = false;
    json_begin_object(w, NULL);
    json_begin_object(w, "set");
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(one, '=');
        if (!value || value == one)
            return err_usage(e, "--shape %s: '%s' is no NAME=VALUE", text, one);
        *value++ = '\0';
        bool is_weight = str_equal(one, WEIGHT);
        if (is_weight && (!str_to_real(value, &weight) || weight <= 0))
            return err_usage(e, "--shape %s: a weight is a number above 0", text);
        if (!is_weight)
            json_add_text(w, one, value);
        any |= !is_weight;
    }
    json_end(w);
    json_add_real(w, WEIGHT, weight);
    json_end(w);
    return any || err_usage(e, "--shape %s: it says no size", text);
}

bool session_shapes_take(struct session *s, const struct session_options *o, struct err *e)
{
    struct str text = {0};
    bool ok = true;
    if (o->shape_count && (s->recorded.recording || s->device.machines))
        return err_usage(e, "--shape is for sessions on one machine, and not on a recording");
    if (!o->shape_count)
        return !o->by || s->record.shapes ||
               err_usage(e, "--by is for several shapes (--shape M=512,N=64 --shape ...)");
    if (o->shape_count < 2 || o->shape_count > TRIAL_MAX_SHAPES)
        return err_usage(e,
                         "--shape: %d of them (2 to %d are tuned at once; one is what --set says)",
                         o->shape_count, TRIAL_MAX_SHAPES);
    if (o->until > 0)
        return err_usage(e, "--until ends the search for one shape: of several there is no roof");
    struct json_writer w = json_begin(&text);
    json_add_text(&w, "by", o->by ? o->by : "time");
    json_begin_list(&w, "shapes");
    for (int i = 0; ok && i < o->shape_count; i++)
        ok = add_shape(s, o->shape[i], &w, e);
    if (ok) {
        json_end_all(&w);
        s->record.shapes = arena_strdup(&s->arena, str_text(&text));
    }
    str_finish(&text);
    return ok;
}

// --- what the record says ---

bool session_shapes_parse(struct session *s, struct err *e)
{
    struct json root;
    struct session_shapes *all = arena_zero(&s->arena, 1, sizeof *all);
    if (!s->record.shapes)
        return true;
    json_parse(s->record.shapes, &root);
    all->goal.by_worst = json_is(json_member(root, "by"), "worst");
    for (struct json_walk w = json_walk(json_member(root, "shapes")); json_next(&w);) {
        int i = all->goal.count;
        struct json set = json_member(w.value, "set");
        if (i == TRIAL_MAX_SHAPES || json_type(set) != JSON_OBJECT ||
            !json_number(json_member(w.value, WEIGHT), &all->goal.weight[i]))
            return err_set(e, "session %" PRId64 " is damaged: its shapes", s->record.id);
        struct str name = {0};
        char *text = arena_printf(&s->arena, "%.*s", (int)json_length(set), set.at);
        all->of[i].set = stored_settings(text, &s->arena, &all->of[i].set_count);
        for (int j = 0; j < all->of[i].set_count; j++)
            str_printf(&name, "%s%s=%s", j ? " " : "", all->of[i].set[j].name,
                       all->of[i].set[j].value);
        all->of[i].name = arena_strdup(&s->arena, str_text(&name));
        str_finish(&name);
        int found = 0;
        for (int l = 0; l < all->of[0].set_count; l++)
            for (int k = 0; k < all->of[i].set_count; k++)
                found += str_equal(all->of[0].set[l].name, all->of[i].set[k].name);
        if (!(found == all->of[0].set_count && all->of[0].set_count == all->of[i].set_count))
            return err_usage(
                e, "--shape %s: it says other sizes than the first, %s (all say the same)",
                all->of[i].name, all->of[0].name);
        all->goal.count++;
    }
    s->shapes = all;
    s->device.tells_statistics = false; // what is compiled ahead would be so for one shape
    return all->goal.count > 1 ||
           err_set(e, "session %" PRId64 " is damaged: its shapes", s->record.id);
}

// --- their scripts ---

struct session_options session_shapes_options(struct session *s, const struct session_options *o,
                                              int i)
{
    struct session_options one = *o;
    const struct session_shape *shape = s->shapes ? &s->shapes->of[i] : NULL;
    if (!shape)
        return one;
    struct setting *set =
        arena_zero(&s->arena, (size_t)(o->set_count + shape->set_count), sizeof *set);
    for (int k = 0; k < o->set_count; k++)
        set[k] = o->set[k];
    for (int k = 0; k < shape->set_count; k++)
        set[o->set_count + k] = shape->set[k];
    one.set = set;
    one.set_count = o->set_count + shape->set_count;
    return one;
}

static bool is_like(const struct param *a, const struct param *b)
{
    struct str of_a = {0}, of_b = {0};
    param_add_listed_json(a, &of_a);
    param_add_listed_json(b, &of_b);
    bool same = str_equal(a->name, b->name) && a->kind == b->kind && a->width == b->width &&
                a->product == b->product && a->when == b->when &&
                str_equal(str_text(&of_a), str_text(&of_b));
    str_finish(&of_a);
    str_finish(&of_b);
    return same;
}

static bool check_space(const struct session *s, const struct session_shape *shape, struct err *e)
{
    const struct space *first = s->space, *own = script_space(shape->script);
    for (int i = 0; i < first->param_count || i < own->param_count; i++)
        if (i >= first->param_count || i >= own->param_count ||
            !is_like(&first->param[i], &own->param[i]))
            return err_set(e,
                           "--shape %s: parameter '%s' has other values than with %s: no "
                           "configuration is the same on both (values that follow from sizes, as "
                           "those of factors(M, 3))",
                           shape->name,
                           i < first->param_count ? first->param[i].name : own->param[i].name,
                           s->shapes->of[0].name);
    return true;
}

// What all shapes do, each as often as it weighs.
static void take_work(struct session *s)
{
    struct session_shapes *all = s->shapes;
    s->record.flop = s->record.work = 0;
    for (int i = 0; i < all->goal.count; i++) {
        const struct operation *o = script_operation(all->of[i].script);
        s->record.flop += all->goal.weight[i] * operation_flop(o);
        s->record.work += s->record.unit ? all->goal.weight[i] * operation_work(o).amount : 0;
    }
}

bool session_shapes_read(struct session *s, const struct session_options *o, struct err *e)
{
    if (!s->shapes)
        return true;
    s->shapes->of[0].script = s->script;
    if (s->shapes->goal.by_worst && !s->space->baseline_count)
        return err_usage(e, "--by worst: '%s' declares no baseline, to which the worst is a ratio",
                         s->space->name);
    for (int i = 1; i < s->shapes->goal.count; i++) {
        struct session_shape *shape = &s->shapes->of[i];
        struct session_options own = {0};
        if (o)
            own = session_shapes_options(s, o, i);
        shape->script = o ? session_read_script(s, &own, e)
                          : stored_script_set(s->host.store, &s->record, shape->set,
                                              shape->set_count, &s->arena, e);
        if (!shape->script)
            return err_prefix(e, "--shape %s", shape->name);
        if (!check_space(s, shape, e))
            return false;
        if (s->record.reduced)
            return err_set(e, "--shape %s: %s (say the batch of each shape)", shape->name,
                           s->record.reduced);
    }
    take_work(s);
    return true;
}

bool session_shapes_read_again(struct session *s, struct err *e)
{
    return session_shapes_parse(s, e) && session_shapes_read(s, NULL, e);
}

void session_shapes_describe(struct session *s)
{
    struct session_record *r = &s->record;
    if (!s->shapes)
        return;
    size_t length = strlen(r->operation) - 1; // without the bracket
    r->operation =
        arena_printf(&s->arena, "%.*s,\"shapes\":%s}", (int)length, r->operation, r->shapes);
    r->title =
        arena_printf(&s->arena, "%s and %d other shapes", r->title, s->shapes->goal.count - 1);
}

void session_shapes_finish(struct session *s)
{
    for (int i = 1; s->shapes && i < s->shapes->goal.count; i++)
        script_destroy(s->shapes->of[i].script);
    if (s->shapes)
        free(s->shapes->past);
}

// --- what is legal, and measured ---

static bool judge_on(const struct session *s, int i, const struct config *c, struct verdict *v,
                     struct err *e)
{
    const struct session_shape *shape = &s->shapes->of[i];
    char reason[sizeof v->reason];
    if (!space_judge(script_space(shape->script), session_limits(s), c, v, e))
        return err_prefix(e, "%s", shape->name);
    if (!v->legal) {
        snprintf(reason, sizeof reason, "%s: %s", shape->name, v->reason);
        memcpy(v->reason, reason, sizeof reason);
    }
    return true;
}

bool session_shapes_judge(const struct session *s, const struct config *c, struct verdict *v,
                          struct err *e)
{
    bool ok = true;
    *v = (struct verdict){.legal = true};
    for (int i = 0; ok && v->legal && i < s->shapes->goal.count; i++)
        ok = judge_on(s, i, c, v, e);
    return ok;
}

static const struct baseline *baseline_on(const struct session *s, int i, int baseline)
{
    const struct space *space = script_space(s->shapes->of[i].script);
    for (int k = 0; k < space->baseline_count; k++)
        if (str_equal(space->baseline[k].name, s->space->baseline[baseline].name))
            return &space->baseline[k];
    return NULL;
}

bool session_shapes_judge_baseline(const struct session *s, int baseline, struct verdict *v,
                                   struct err *e)
{
    for (int i = 0; i < s->shapes->goal.count; i++) {
        const struct baseline *b = baseline_on(s, i, baseline);
        *v = (struct verdict){.legal = false};
        if (!b || b->misfit) {
            snprintf(v->reason, sizeof v->reason, "%s: %s", s->shapes->of[i].name,
                     b ? b->misfit : "there is no such baseline");
            return true;
        }
        if (!judge_on(s, i, &b->config, v, e))
            return false;
        if (!v->legal)
            return true;
    }
    return true;
}

bool session_shapes_vary(const struct session *s, int baseline)
{
    for (int i = 1; s->shapes && i < s->shapes->goal.count; i++) {
        const struct baseline *b = baseline_on(s, i, baseline);
        if (!b || !config_equal(&b->config, &s->space->baseline[baseline].config))
            return true;
    }
    return false;
}

// The baseline that a candidate of a request is; -1: none, the same configuration on every shape.
static int baseline_of(const struct session *s, const struct trial_request *r, int candidate)
{
    if (r->ticket <= TICKET_BASELINE)
        return (int)(TICKET_BASELINE - r->ticket);
    return r->ticket == TICKET_RACE ? race_baseline(s, candidate) : -1;
}

bool session_shapes_render(void *context, const struct trial_request *r, int shape,
                           struct trial_request *out, struct err *e)
{
    struct session *s = context;
    const struct session_shape *on = &s->shapes->of[shape];
    for (int i = 0; i < r->count; i++) {
        int baseline = baseline_of(s, r, i);
        out->config[i] = baseline < 0 ? r->config[i] : baseline_on(s, shape, baseline)->config;
        if (s->device.is_known && !script_render(on->script, &out->config[i], &out->job[i], e)) {
            while (i-- > 0)
                job_finish(&out->job[i]);
            return err_prefix(e, "%s", on->name);
        }
    }
    return true;
}

// --- what is learnt ---

// By the worst, the goals of baselines are known only now.
static bool rate(struct session *s, struct baseline_record *b, struct err *e)
{
    double part_s[TRIAL_MAX_SHAPES];
    if (b->outcome != OUTCOME_OK || shape_parts(b->parts, part_s) != s->shapes->goal.count)
        return true;
    b->seconds = shapes_goal_seconds(&s->shapes->goal, part_s);
    return session_stored(s, store_put_baseline(s->host.store, s->record.id, b, e), e);
}

bool session_shapes_refer(struct session *s, struct err *e)
{
    struct session_shapes *all = s->shapes;
    if (!all || all->is_referred)
        return true;
    all->is_referred = true;
    for (int i = 0; i < s->space->baseline_count; i++) {
        double part_s[TRIAL_MAX_SHAPES];
        if (s->baselines.of[i].outcome == OUTCOME_OK &&
            shape_parts(s->baselines.of[i].parts, part_s) == s->shapes->goal.count)
            shapes_goal_refer(&s->shapes->goal, part_s);
    }
    for (int i = 0; all->goal.by_worst && i < all->goal.count; i++)
        if (all->goal.reference_s[i] <= 0)
            return err_set(e,
                           "--by worst: no baseline runs on shape %s, so nothing is a ratio to it",
                           all->of[i].name);
    shapes_refer(s->source, all->goal.reference_s);
    for (int i = 0; i < s->space->baseline_count; i++) {
        // Baselines that are one configuration for all shapes are the first that others are held
        // against.
        double part_s[TRIAL_MAX_SHAPES];
        const struct baseline_record *b = &s->baselines.of[i];
        if (b->outcome == OUTCOME_OK && !session_shapes_vary(s, i) &&
            shape_parts(b->parts, part_s) == s->shapes->goal.count)
            shapes_learn(s->source, part_s);
    }
    for (int i = 0; all->goal.by_worst && i < s->space->baseline_count; i++)
        if (!rate(s, &s->baselines.of[i], e))
            return false;
    return true;
}

void session_shapes_rate_race(const struct session *s, const int *baseline_at,
                              struct trial_result *r)
{
    if (!s->shapes || !s->shapes->goal.by_worst)
        return;
    struct shapes_goal goal = s->shapes->goal;
    memset(goal.reference_s, 0, sizeof goal.reference_s);
    for (int i = 0; i < s->space->baseline_count; i++)
        if (baseline_at[i] >= 0 && r->outcome[baseline_at[i]] == OUTCOME_OK)
            shapes_goal_refer(&goal, r->part_s[baseline_at[i]]);
    for (int i = 0; i < r->count; i++)
        if (r->outcome[i] == OUTCOME_OK)
            r->seconds[i] = shapes_goal_seconds(&goal, r->part_s[i]);
}

void session_shapes_remember(struct session *s, int64_t ask, const char *parts)
{
    struct session_shapes *all = s->shapes;
    if (!all || !parts)
        return;
    if (ask > all->past_count) {
        all->past = mem_resize(all->past, (size_t)(2 * ask), sizeof *all->past);
        memset(all->past + all->past_count, 0,
               (size_t)(2 * ask - all->past_count) * sizeof *all->past);
        all->past_count = 2 * ask;
    }
    all->past[ask - 1] = arena_strdup(&s->arena, parts);
}

void session_shapes_learn(struct session *s, int64_t ask, const struct trial_result *r)
{
    struct session_shapes *all = s->shapes;
    double part_s[TRIAL_MAX_SHAPES] = {0};
    int runs = 0;
    if (!all || (!r && ask > all->past_count))
        return;
    if (r)
        memcpy(part_s, r->part_s[0], sizeof part_s);
    else
        shape_parts(all->past[ask - 1], part_s);
    for (int i = 0; i < all->goal.count; i++)
        runs += part_s[i] > 0;
    if (runs)
        shapes_learn(s->source, part_s);
    all->runs += runs;
    all->candidates += runs > 0;
}

void session_shapes_say(struct session *s)
{
    const struct session_shapes *all = s->shapes;
    if (all && all->candidates)
        session_message(s, "info",
                        "shapes: %" PRId64 " measurements of %" PRId64
                        " configurations said which is the best, all on all shapes are %" PRId64,
                        all->runs, all->candidates, all->candidates * all->goal.count);
}
