#include "record/rule.h"

#include <math.h>
#include <string.h>

bool rule_truth(const struct value *v)
{
    return v->type == VALUE_TEXT ? *v->text != '\0' : v->number != 0;
}

static struct value flag(bool yes)
{
    return (struct value){.type = VALUE_FLAG, .number = yes};
}

static bool compare(enum rule_op op, const struct value *a, const struct value *b,
                    struct value *out, struct err *e)
{
    bool texts = a->type == VALUE_TEXT && b->type == VALUE_TEXT, comparable = true;
    double order = 1;
    if (texts)
        order = strcmp(a->text, b->text);
    else if (a->type == VALUE_TEXT || b->type == VALUE_TEXT)
        comparable = op == RULE_EQUAL || op == RULE_DIFFERENT; // and never equal
    else
        order = (a->number > b->number) - (a->number < b->number);
    switch (op) {
    case RULE_LESS: *out = flag(order < 0); break;
    case RULE_LESS_EQUAL: *out = flag(order <= 0); break;
    case RULE_MORE: *out = flag(order > 0); break;
    case RULE_MORE_EQUAL: *out = flag(order >= 0); break;
    case RULE_EQUAL: *out = flag(order == 0); break;
    default: *out = flag(order != 0); break;
    }
    return comparable || err_set(e, "a text and a number have no order");
}

// The sign of the divisor, as in Python.
static double modulo(double a, double b)
{
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static bool calculate(enum rule_op op, const struct value *a, const struct value *b,
                      struct value *out, struct err *e)
{
    double x = a->number, y = b->number, z = 0;
    if (a->type == VALUE_TEXT || b->type == VALUE_TEXT)
        return err_set(e, "texts cannot be calculated with");
    bool divides = op == RULE_DIVIDE || op == RULE_FLOOR_DIVIDE || op == RULE_MODULO;
    if (divides && y == 0)
        return err_set(e, "division by zero");
    switch (op) {
    case RULE_ADD: z = x + y; break;
    case RULE_SUBTRACT: z = x - y; break;
    case RULE_MULTIPLY: z = x * y; break;
    case RULE_DIVIDE: z = x / y; break;
    case RULE_FLOOR_DIVIDE: z = (x - modulo(x, y)) / y; break;
    case RULE_MODULO: z = modulo(x, y); break;
    default: z = pow(x, y); break;
    }
    *out = (struct value){.type = VALUE_NUMBER, .number = z};
    return isfinite(z) || err_set(e, "the result is not a finite number");
}

// Like Python's: the operand that decides, and no look at the other.
static bool evaluate_logic(const struct rule *r, const struct rule_world *w, struct value *out,
                           struct err *e)
{
    if (!rule_evaluate(r->left, w, out, e))
        return false;
    return rule_truth(out) == (r->op == RULE_OR) || rule_evaluate(r->right, w, out, e);
}

static bool evaluate_unary(const struct rule *r, const struct rule_world *w, struct value *out,
                           struct err *e)
{
    struct value v;
    if (!rule_evaluate(r->left, w, &v, e))
        return false;
    if (r->op == RULE_NOT) {
        *out = flag(!rule_truth(&v));
        return true;
    }
    *out = (struct value){.type = VALUE_NUMBER, .number = -v.number};
    return v.type != VALUE_TEXT || err_set(e, "a text has no sign");
}

// Up to the first that does not hold.
static bool evaluate_comparison(const struct rule *r, const struct rule_world *w, struct value *out,
                                struct err *e)
{
    struct value left, right;
    if (!rule_evaluate(r->left, w, &left, e))
        return false;
    for (; r; r = r->next) {
        if (!rule_evaluate(r->right, w, &right, e) || !compare(r->op, &left, &right, out, e))
            return false;
        if (!rule_truth(out))
            return true;
        left = right;
    }
    return true;
}

bool rule_evaluate(const struct rule *r, const struct rule_world *w, struct value *out,
                   struct err *e)
{
    struct value a, b;
    switch (r->op) {
    case RULE_VALUE: *out = r->value; return true;
    case RULE_NAME: *out = w->value(w->context, r->name); return true;
    case RULE_OR:
    case RULE_AND: return evaluate_logic(r, w, out, e);
    case RULE_NOT:
    case RULE_NEGATE: return evaluate_unary(r, w, out, e);
    default: break;
    }
    if (r->op < RULE_ADD)
        return evaluate_comparison(r, w, out, e);
    return rule_evaluate(r->left, w, &a, e) && rule_evaluate(r->right, w, &b, e) &&
           calculate(r->op, &a, &b, out, e);
}
