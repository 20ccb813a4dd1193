#include "engine/session_shapes.h"

#include "base/json.h"
#include "base/json_read.h"
#include "engine/session.h"
#include "engine/speed.h"
#include "engine/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT "weight"

// --- the record ---

// Adds a shape, "M=512,N=64,weight=3".
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
    if (o->shape_count && (s->backend.recorded.recording || s->backend.device.machines))
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
        if (found != all->of[0].set_count || found != all->of[i].set_count)
            return err_usage(
                e, "--shape %s: it says other sizes than the first, %s (all say the same)",
                all->of[i].name, all->of[0].name);
        all->goal.count++;
    }
    s->backend.shapes = all;
    s->backend.device.tells_statistics = false; // a probe would be compiled for one shape alone
    return all->goal.count > 1 ||
           err_set(e, "session %" PRId64 " is damaged: its shapes", s->record.id);
}

// --- legality and rendering ---

static bool judge_on(const struct session_shape *shape, const struct limits *l,
                     const struct config *c, struct verdict *v, struct err *e)
{
    char reason[sizeof v->reason];
    if (!space_judge(script_space(shape->script), l, c, v, e))
        return err_prefix(e, "%s", shape->name);
    if (!v->legal) {
        snprintf(reason, sizeof reason, "%s: %s", shape->name, v->reason);
        memcpy(v->reason, reason, sizeof reason);
    }
    return true;
}

bool session_shapes_judge(const struct session_shapes *all, const struct limits *l,
                          const struct config *c, struct verdict *v, struct err *e)
{
    bool ok = true;
    *v = (struct verdict){.legal = true};
    for (int i = 0; ok && v->legal && i < all->goal.count; i++)
        ok = judge_on(&all->of[i], l, c, v, e);
    return ok;
}

// Returns the baseline of the first shape's space as shape `i` declares it; NULL: it does not.
static const struct baseline *baseline_on(const struct session_shapes *all, int i, int baseline)
{
    const struct space *first = script_space(all->of[0].script);
    const struct space *space = script_space(all->of[i].script);
    for (int k = 0; k < space->baseline_count; k++)
        if (str_equal(space->baseline[k].name, first->baseline[baseline].name))
            return &space->baseline[k];
    return NULL;
}

bool session_shapes_judge_baseline(const struct session_shapes *all, const struct limits *l,
                                   int baseline, struct verdict *v, uint32_t *forbidden,
                                   struct err *e)
{
    *v = (struct verdict){.legal = true};
    *forbidden = 0;
    for (int i = 0; i < all->goal.count; i++) {
        const struct baseline *b = baseline_on(all, i, baseline);
        struct verdict here = {.legal = !(!b || b->misfit)};
        if (!here.legal)
            snprintf(here.reason, sizeof here.reason, "%s: %s", all->of[i].name,
                     b ? b->misfit : "there is no such baseline");
        else if (!judge_on(&all->of[i], l, &b->config, &here, e))
            return false;
        *forbidden |= here.legal ? 0 : UINT32_C(1) << i;
        if (v->legal)
            *v = here;
    }
    return true;
}

bool session_shapes_vary(const struct session_shapes *all, int baseline)
{
    for (int i = 1; all && i < all->goal.count; i++) {
        const struct baseline *b = baseline_on(all, i, baseline);
        const struct space *first = script_space(all->of[0].script);
        if (!b || !config_equal(&b->config, &first->baseline[baseline].config))
            return true;
    }
    return false;
}

bool session_shapes_render(void *context, const struct trial_request *r, int shape,
                           struct trial_request *out, struct err *e)
{
    const struct session_backend *b = context;
    const struct session_shapes *all = b->shapes;
    for (int i = 0; i < r->count; i++) {
        int baseline = r->ticket == TICKET_RACE || r->ticket == TICKET_PAIRS ? all->race_baseline[i]
                       : r->ticket <= TICKET_BASELINE ? (int)(TICKET_BASELINE - r->ticket)
                                                      : -1;
        out->config[i] = baseline < 0 ? r->config[i] : baseline_on(all, shape, baseline)->config;
        if (b->device.is_known &&
            !script_render(all->of[shape].script, &out->config[i], &out->job[i], e)) {
            while (i-- > 0)
                job_finish(&out->job[i]);
            return err_prefix(e, "%s", all->of[shape].name);
        }
    }
    return true;
}

void session_shapes_finish(struct session_shapes *all)
{
    for (int i = 1; all && i < all->goal.count; i++)
        script_destroy(all->of[i].script);
    if (all)
        free(all->stored);
}

// --- results ---

// Reads the times of a baseline on each shape, 0 where it may not run; false: it runs on none.
static bool baseline_parts(const struct session *s, int i, double part_s[TRIAL_MAX_SHAPES])
{
    const struct baseline_record *b = &s->baselines.of[i];
    return (b->outcome == OUTCOME_OK || b->outcome == OUTCOME_REJECTED) &&
           shape_parts(b->parts, part_s) == s->backend.shapes->goal.count;
}

static bool runs_on_all(const struct session *s, int i, double part_s[TRIAL_MAX_SHAPES])
{
    return s->baselines.of[i].outcome == OUTCOME_OK && baseline_parts(s, i, part_s);
}

bool session_shapes_set_references(struct session *s, struct err *e)
{
    struct session_shapes *all = s->backend.shapes;
    double part_s[TRIAL_MAX_SHAPES];
    if (!all || all->has_references)
        return true;
    all->has_references = true;
    for (int i = 0; i < s->space->baseline_count; i++)
        if (baseline_parts(s, i, part_s))
            shapes_goal_add_reference(&all->goal, part_s);
    for (int i = 0; all->goal.by_worst && i < all->goal.count; i++)
        if (all->goal.reference_s[i] <= 0)
            return err_set(e,
                           "--by worst: no baseline runs on shape %s, so nothing is a ratio to it",
                           all->of[i].name);
    shapes_set_references(s->backend.source, all->goal.reference_s);
    // Baselines that are one configuration for all shapes are the first incumbents.
    for (int i = 0; i < s->space->baseline_count; i++)
        if (!session_shapes_vary(all, i) && runs_on_all(s, i, part_s))
            shapes_observe(s->backend.source, part_s);
    // The goals of baselines by the worst are known only now.
    for (int i = 0; all->goal.by_worst && i < s->space->baseline_count; i++) {
        struct baseline_record *b = &s->baselines.of[i];
        if (!runs_on_all(s, i, part_s))
            continue;
        b->seconds = shapes_goal_seconds(&all->goal, part_s);
        if (!session_stored(&s->store, store_put_baseline(s->store.db, s->record.id, b, e), e))
            return false;
    }
    return true;
}

void session_shapes_rate_race(const struct session *s, const int *baseline_at,
                              struct trial_result *r)
{
    const struct session_shapes *all = s->backend.shapes;
    if (!all || !all->goal.by_worst)
        return;
    struct shapes_goal goal = all->goal;
    memset(goal.reference_s, 0, sizeof goal.reference_s);
    for (int i = 0; i < s->space->baseline_count; i++)
        if (baseline_at[i] >= 0 && r->outcome[baseline_at[i]] == OUTCOME_OK)
            shapes_goal_add_reference(&goal, r->part_s[baseline_at[i]]);
    // Baselines that may not run on every shape take no part in races.
    for (int i = 0; i < goal.count; i++)
        if (goal.reference_s[i] <= 0)
            goal.reference_s[i] = all->goal.reference_s[i];
    for (int i = 0; i < r->count; i++)
        if (r->outcome[i] == OUTCOME_OK)
            r->seconds[i] = shapes_goal_seconds(&goal, r->part_s[i]);
}

void session_shapes_restore(struct session *s, int64_t ask, const char *parts)
{
    struct session_shapes *all = s->backend.shapes;
    if (!all || !parts)
        return;
    if (ask > all->stored_count) {
        all->stored = mem_resize(all->stored, (size_t)(2 * ask), sizeof *all->stored);
        memset(all->stored + all->stored_count, 0,
               (size_t)(2 * ask - all->stored_count) * sizeof *all->stored);
        all->stored_count = 2 * ask;
    }
    all->stored[ask - 1] = arena_strdup(&s->arena, parts);
}

void session_shapes_learn(struct session *s, int64_t ask, const struct trial_result *r)
{
    struct session_shapes *all = s->backend.shapes;
    double part_s[TRIAL_MAX_SHAPES] = {0};
    int runs = 0;
    if (!all || (!r && ask > all->stored_count))
        return;
    if (r)
        memcpy(part_s, r->part_s[0], sizeof part_s);
    else
        shape_parts(all->stored[ask - 1], part_s);
    for (int i = 0; i < all->goal.count; i++)
        runs += part_s[i] > 0;
    if (runs)
        shapes_observe(s->backend.source, part_s);
    all->runs += runs;
    all->candidates += runs > 0;
}
