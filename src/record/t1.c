// T1 inputs: parameters and conditions of a kernel, no measurements.
#include "record/format.h"
#include "record/rule.h"

#include <stdlib.h>

// A condition with the data to evaluate it. It lives in the recording's arena.
struct condition {
    const struct rule *rule;
    const struct space *space;
    // The values by slot, for parameters that are not discrete.
    const struct value *value[SPACE_MAX_PARAMS];
};

struct evaluation {
    const struct condition *condition;
    const struct config *config;
};

static struct value t1_value(const void *context, int number)
{
    const struct evaluation *s = context;
    const struct param *p = &s->condition->space->param[number];
    int32_t slot = s->config->slot[p->offset];
    if (p->kind == PARAM_DISCRETE)
        return (struct value){.type = VALUE_NUMBER, .number = p->number[slot]};
    return s->condition->value[number][slot];
}

static int t1_condition_holds(void *context, const struct config *c, struct err *e)
{
    const struct condition *condition = context;
    const struct evaluation evaluation = {condition, c};
    const struct rule_world world = {t1_value, &evaluation};
    struct value v;
    if (!rule_evaluate(condition->rule, &world, &v, e))
        return -1;
    return rule_truth(&v);
}

static int t1_find_param(void *context, const char *name)
{
    const struct space *s = context;
    const struct param *p = space_find(s, name);
    return p ? (int)(p - s->param) : -1;
}

static bool declare(struct table *t, struct json parameter, struct err *e)
{
    static const char *const names[] = {"Name", "Values"};
    struct recording *r = t->recording;
    struct json found[2];
    json_members(parameter, 2, names, found);
    const char *name = json_text(found[0], &r->arena);
    if (!name || !*name)
        return err_at(e, r->path, parameter.line, "a parameter has a Name");
    if (table_find(t, found[0]) >= 0)
        return err_at(e, r->path, parameter.line, "parameter '%s' is declared twice", name);
    if (json_type(found[1]) == JSON_LIST)
        return table_declare(t, name, found[1], e);
    const char *text = json_text(found[1], &r->arena);
    if (!text)
        return err_at(e, r->path, parameter.line,
                      "parameter '%s': Values is a text that holds a list", name);
    struct value_list list;
    struct err why;
    bool ok = value_list_parse(&r->arena, text, &list, &why);
    if (!ok)
        err_at(e, r->path, found[1].line, "parameter '%s': %s", name, why.text);
    else
        ok = table_declare_values(t, name, list.count, list.value, found[1].line, e);
    free(list.value);
    return ok;
}

static bool add_condition(struct table *t, struct json condition, struct err *e)
{
    struct recording *r = t->recording;
    struct json expression = json_member(condition, "Expression");
    const char *text = json_text(expression, &r->arena);
    if (!text)
        return err_at(e, r->path, condition.line, "a condition has an Expression, a text");
    struct rule_names names = {t1_find_param, r->space};
    struct rule *rule;
    struct err why;
    if (!rule_parse(&r->arena, text, &names, &rule, &why))
        return err_at(e, r->path, expression.line, "%s", why.text);
    struct condition *made = arena_zero(&r->arena, 1, sizeof *made);
    made->rule = rule;
    made->space = r->space;
    for (int i = 0; i < t->columns; i++)
        if (r->space->param[i].kind != PARAM_DISCRETE) {
            struct value *kept = arena_zero(&r->arena, (size_t)t->column[i].count, sizeof *kept);
            for (int j = 0; j < t->column[i].count; j++)
                kept[j] = t->column[i].value[j];
            made->value[i] = kept;
        }
    struct constraint constraint = {.name = text,
                                    .file = r->path,
                                    .line = expression.line,
                                    .context = made,
                                    .holds = t1_condition_holds};
    space_add_constraint(r->space, &constraint);
    return true;
}

static bool t1_read(struct recording *r, struct json root, struct err *e)
{
    static const char *const names[] = {"TuningParameters", "Conditions"};
    struct json kernel = json_member(json_member(root, "KernelSpecification"), "KernelName");
    struct json space = json_member(root, "ConfigurationSpace"), found[2];
    struct table t = {.recording = r};
    if (json_type(kernel) == JSON_TEXT)
        r->kernel = json_text(kernel, &r->arena);
    json_members(space, 2, names, found);
    if (json_type(found[0]) != JSON_LIST)
        return err_at(e, r->path, space.line, "ConfigurationSpace has a list TuningParameters");
    bool ok = true;
    for (struct json_walk w = json_walk(found[0]); ok && json_next(&w);)
        ok = declare(&t, w.value, e);
    ok = ok && table_make_params(&t, e);
    for (struct json_walk w = json_walk(found[1]); ok && json_next(&w);)
        ok = add_condition(&t, w.value, e);
    table_release(&t);
    r->configs.slots = r->space->slots;
    return ok && space_seal(r->space, e);
}

const struct format format_t1 = {
    .name = "t1", .what = "T1 input", .members = {"ConfigurationSpace"}, .read = t1_read};
