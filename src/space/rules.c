#include "space/rules.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEPS_CALL = 100, // of an evaluation, beside what the rule itself takes
    STEPS_LOOK_UP = 40,
    SEED = 1
};

static void set_reads(struct space_rule *rule, uint64_t reads)
{
    rule->reads = reads;
    rule->slots = 0;
    for (int i = 0; i < SPACE_MAX_SLOTS; i++)
        if (reads >> i & 1)
            rule->slot[rule->slots++] = i;
    config_set_finish(&rule->known);
    rule->known.slots = rule->slots ? rule->slots : 1;
}

void rules_init(struct rules *r, const struct space *s)
{
    *r = (struct rules){.space = s};
}

static void add_rule(struct rules *r, const struct space_rule *rule, uint64_t reads)
{
    MEM_GROW(r->rule, r->count, r->capacity);
    r->rule[r->count] = *rule;
    set_reads(&r->rule[r->count++], reads);
}

void rules_add(struct rules *r, const struct space *s, const struct limits *l)
{
    struct space_rule rule = {.space = s, .limits = l, .constraint = -1};
    uint64_t all = s->slots == 64 ? UINT64_MAX : (UINT64_C(1) << s->slots) - 1;
    for (rule.param = 0; rule.param < s->param_count; rule.param++)
        if (s->param[rule.param].when)
            add_rule(r, &rule,
                     param_slots(&s->param[rule.param]) | param_slots(&s->param[s->chooser]));
    rule.param = -1;
    for (rule.constraint = 0; rule.constraint < s->constraint_count; rule.constraint++)
        add_rule(r, &rule, s->constraint[rule.constraint].holds_reading ? 0 : all);
    rule.constraint = -1;
    if (l && s->resources)
        add_rule(r, &rule, s->resources_reading ? 0 : all);
}

void rules_finish(struct rules *r)
{
    for (int i = 0; i < r->count; i++) {
        config_set_finish(&r->rule[i].known);
        free(r->rule[i].value);
    }
    free(r->rule);
    *r = (struct rules){0};
}

const char *rules_name(const struct rules *r, int rule)
{
    const struct space_rule *of = &r->rule[rule];
    if (of->constraint >= 0)
        return of->space->constraint[of->constraint].name;
    return of->param >= 0 ? of->space->param[of->param].name : "resources";
}

// --- values ---

static int evaluate(const struct space_rule *rule, const struct config *c,
                    struct rule_reads *reading, struct err *e)
{
    const struct space *s = rule->space;
    struct resources needs = {0};
    bool tells = rule->constraint >= 0 ? s->constraint[rule->constraint].holds_reading != NULL
                                       : rule->param < 0 && s->resources_reading;
    if (!tells)
        reading->slots = rule->reads;
    if (rule->param >= 0) {
        const struct param *p = &s->param[rule->param];
        return space_is_live(s, c, rule->param) ||
               memcmp(c->slot + p->offset, p->rest, (size_t)p->width * sizeof *p->rest) == 0;
    }
    if (rule->constraint >= 0) {
        const struct constraint *of = &s->constraint[rule->constraint];
        return of->holds_reading ? of->holds_reading(of->context, c, reading, e)
                                 : of->holds(of->context, c, e);
    }
    bool known = s->resources_reading
                     ? s->resources_reading(s->resources_context, c, &needs, reading, e)
                     : s->resources(s->resources_context, c, &needs, e);
    return known ? !limits_exceeded(rule->limits, &needs) : RULE_BROKEN;
}

static struct config key_of(const struct space_rule *rule, const struct config *c)
{
    struct config key = {{0}};
    for (int i = 0; i < rule->slots; i++)
        key.slot[i] = c->slot[rule->slot[i]];
    return key;
}

// Returns the bytes of one remembered value: its key, its place in the hash table, itself.
static size_t bytes_of(const struct space_rule *rule)
{
    return (size_t)(rule->known.slots + 4) * sizeof(int32_t);
}

// Evaluates a rule and learns what it reads, which is given in `reads`.
static int evaluate_and_learn(struct rules *r, struct space_rule *rule, const struct config *c,
                              uint64_t *reads)
{
    struct err ignored;
    struct rule_reads reading = {0};
    int value = evaluate(rule, c, &reading, &ignored);
    r->steps += STEPS_CALL + reading.steps;
    if (reading.slots & ~rule->reads) {
        r->bytes -= (size_t)rule->known.count * bytes_of(rule);
        rule->shortens = rule->shortens || rule->known.count;
        set_reads(rule, rule->reads | reading.slots);
        r->grown++;
    }
    rule->shortens = rule->shortens || (rule->reads & ~reading.slots);
    *reads = reading.slots;
    return value;
}

static int evaluate_and_keep(struct rules *r, struct space_rule *rule, const struct config *c)
{
    uint64_t ignored;
    int value = evaluate_and_learn(r, rule, c, &ignored);
    struct config key = key_of(rule, c);
    int index = config_set_add(&rule->known, &key, NULL);
    MEM_GROW(rule->value, index, rule->capacity);
    r->bytes += bytes_of(rule);
    rule->value[index] = (signed char)value;
    return value;
}

int rules_judge(struct rules *r, int rule, const struct config *c)
{
    struct space_rule *of = &r->rule[rule];
    if (of->left_out)
        return RULE_HOLDS;
    struct config key = key_of(of, c);
    int index = config_set_find(&of->known, &key);
    r->steps += STEPS_LOOK_UP;
    return index >= 0 ? of->value[index] : evaluate_and_keep(r, of, c);
}

bool rules_forbid_early(struct rules *r, const struct config *c, uint64_t assigned, uint64_t newest)
{
    for (int i = 0; i < r->count; i++) {
        struct space_rule *rule = &r->rule[i];
        uint64_t reads;
        if (!rule->shortens || rule->left_out || !(rule->reads & newest) ||
            !(rule->reads & ~assigned))
            continue;
        int value = evaluate_and_learn(r, rule, c, &reads);
        if (value == RULE_FORBIDS && !(reads & ~assigned))
            return true;
    }
    return false;
}

double rules_share(const struct rules *r, int rule)
{
    const struct space_rule *of = &r->rule[rule];
    int holds = 0;
    for (int i = 0; i < of->known.count; i++)
        holds += of->value[i] == RULE_HOLDS;
    return (holds + 0.5) / (of->known.count + 1);
}

bool rules_permit(struct rules *r, const struct config *c)
{
    for (int i = 0; i < r->count; i++)
        if (rules_judge(r, i, c) != RULE_HOLDS)
            return false;
    return true;
}

bool rules_nearest(struct rules *r, const struct config *from, int param, struct config *c)
{
    enum { MOST_POINTS = 1024 };
    const struct space *s = r->space;
    const struct param *p = param < 0 ? NULL : &s->param[param];
    struct config_set seen = {.slots = s->slots};
    struct config at = *c, next;
    bool found = false;
    config_set_add(&seen, c, NULL);
    for (int i = 0; i < seen.count && !found; i++) {
        config_set_get(&seen, i, &at);
        found = rules_permit(r, &at) && (!p || memcmp(at.slot + p->offset, from->slot + p->offset,
                                                      (size_t)p->width * sizeof *at.slot) != 0);
        for (int k = 0; !found && k < space_degree(s, &at) && seen.count < MOST_POINTS; k++) {
            space_neighbour(s, &at, k, &next);
            config_set_add(&seen, &next, NULL);
        }
    }
    config_set_finish(&seen);
    *c = at;
    return found;
}

int rules_values(struct rules *r, const struct config *c, int param, int most, uint64_t *out)
{
    const struct param *p = &r->space->param[param];
    struct config at = *c;
    int count = 0;
    for (uint64_t v = 0; v < p->size && v < PARAM_MAX_VALUES; v++) {
        param_value(p, v, at.slot + p->offset);
        if (!rules_permit(r, &at))
            continue;
        if (count < most)
            out[count] = v;
        count++;
    }
    return count;
}

void rules_explain(const struct rules *r, int rule, const struct config *c, struct err *e)
{
    const struct space_rule *of = &r->rule[rule];
    struct rule_reads reading = {0};
    if (evaluate(of, c, &reading, e) != RULE_BROKEN)
        err_set(e, "it fails, and then does not, for the same configuration (it must depend on "
                   "the configuration alone)");
    if (of->constraint >= 0)
        err_prefix(e, "constraint '%s'", rules_name(r, rule));
    else
        err_prefix(e, "resources");
}

// --- learning ---

// Judges all rules on a configuration, those after a rule that forbids it too, for what they read.
static bool learn_from(struct rules *r, const struct config *c, bool *legal, struct err *e)
{
    *legal = true;
    for (int i = 0; i < r->count; i++) {
        int value = rules_judge(r, i, c);
        if (value == RULE_BROKEN && *legal) {
            rules_explain(r, i, c, e);
            return false;
        }
        *legal = *legal && value == RULE_HOLDS;
    }
    return true;
}

// Evaluates all rules on a configuration once more.
static bool is_steady(struct rules *r, const struct config *c, struct err *e)
{
    for (int i = 0; i < r->count; i++) {
        struct err ignored;
        struct rule_reads reading = {0};
        int before = rules_judge(r, i, c), now = evaluate(&r->rule[i], c, &reading, &ignored);
        r->steps += STEPS_CALL + reading.steps;
        if (before == now)
            continue;
        const struct constraint *of =
            r->rule[i].constraint < 0 ? NULL : &r->rule[i].space->constraint[r->rule[i].constraint];
        const char *what = "gives two values for one configuration (it must depend on the "
                           "configuration alone)";
        return of && of->file ? err_at(e, of->file, of->line, "constraint '%s' %s", of->name, what)
                              : err_set(e, "'%s' %s", rules_name(r, i), what);
    }
    return true;
}

bool rules_learn(struct rules *r, struct rules_sample *sample, struct err *e)
{
    enum { STEADY = 16 }; // configurations for which each rule is evaluated again
    struct config c, first[STEADY];
    uint64_t most_steps = r->steps + sample->steps;
    struct rng rng;
    bool legal;
    rng_seed(&rng, SEED);
    while (sample->drawn < sample->most && sample->legal < sample->enough &&
           (r->steps < most_steps || !sample->drawn)) {
        space_sample(r->space, &rng, &c);
        if (!learn_from(r, &c, &legal, e))
            return false;
        if (legal && sample->legal++ == 0)
            sample->example = c;
        if (sample->drawn < STEADY)
            first[sample->drawn] = c;
        sample->drawn++;
    }
    for (uint64_t i = 0; i < sample->drawn && i < STEADY && r->steps < most_steps; i++)
        if (!is_steady(r, &first[i], e))
            return false;
    return true;
}
