#include "filter.h"

#include "expression.h"
#include "model.h"
#include "trial_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// One term of a filter: a name, an operator, a value (filter.c joins them).
//
//     struct term t = {0};
//     term_set_name(&t, space, "tile_k[2]", e) && term_set_value(&t, TERM_GREATER, "4", e)
//     term_holds(&t, trial, &amounts)
//     term_finish(&t);
//
// What can be named falls into four sorts. A set has few values, each judged once when the term is
// compiled (words, listed numbers, orders' places); numbers are compared; texts are searched; whole
// lists are compared slot by slot.

// The first are numbers, in the order of filter_fields.
enum term_field {
    FIELD_TFLOPS,
    FIELD_GFLOPS,
    FIELD_RATE,
    FIELD_MS,
    FIELD_SPREAD, // half of it, in percent: the ± of lists
    FIELD_NUMBER,
    FIELD_ASK,
    FIELD_GENERATION,
    FIELD_WORKER,
    FIELD_REGISTERS, // what drivers say, as enum statistic_kind has it
    FIELD_SPILLS,
    FIELD_SHARED,
    FIELD_OCCUPANCY,
    FIELD_CODE_SIZE,
    FIELD_PARENT,
    FIELD_OUTCOME,
    FIELD_EARLY,
    FIELD_REASON,
    FIELD_PHASE,
    FIELD_PARAM
};

struct term {
    enum term_field field;
    const struct param *param; // of FIELD_PARAM
    int part;                  // of it, from 1; 0: all of it
    enum term_op op;
    char *value;                   // as typed
    double number;                 // of numbers
    double tolerance;              // of measured ones: half a unit of the last digit typed
    uint8_t *holds;                // of sets: one for each value
    int32_t slot[PARAM_MAX_WIDTH]; // of whole lists
};

extern const char *const term_ops[]; // "=", "!=", ..., indexed by enum term_op

const char *const term_ops[] = {"=", "!=", "<", "<=", ">", ">=", "~", ":"};
const char *const filter_fields[] = {"tflops",  "gflops", "rate",       "ms",        "spread",
                                     "number",  "ask",    "generation", "worker",    "registers",
                                     "spills",  "shared", "occupancy",  "code_size", "parent",
                                     "outcome", "early",  "reason",     "phase",     NULL};
static const char *const early_words[] = {"no", "yes"};

// How well a name that was typed fits one there is; 0: not at all.
enum { FIT_NONE, FIT_BEGINNING, FIT_CASE, FIT_EXACT };

static int fit(const char *typed, size_t length, const char *name)
{
    if (strncasecmp(typed, name, length) != 0)
        return FIT_NONE;
    if (name[length])
        return FIT_BEGINNING;
    return strncmp(typed, name, length) == 0 ? FIT_EXACT : FIT_CASE;
}

static const char *name_at(const void *context, size_t i)
{
    const struct space *space = context;
    size_t params = space ? (size_t)space->param_count : 0;
    return i < params ? space->param[i].name : filter_fields[i - params];
}

// The one name that fits best among `count`, from `first` on: its index; -1: none does; -2 and `e`:
// several do equally well.
static int find_name(const struct space *space, int first, int count, const char *typed,
                     size_t length, int least_fit, struct err *e)
{
    int best = least_fit - 1, found = -1, rival = -1;
    for (int i = first; i < first + count; i++) {
        int f = fit(typed, length, name_at(space, (size_t)i));
        if (f == best && found >= 0)
            rival = i;
        if (f > best) {
            best = f;
            found = i;
            rival = -1;
        }
    }
    if (rival < 0)
        return found;
    err_set(e, "'%.*s' may be '%s' or '%s'", (int)length, typed, name_at(space, (size_t)found),
            name_at(space, (size_t)rival));
    return -2;
}

// A parameter by its name or a part of one, before a field that begins alike; `field`: that only.
static int find_best_name(const struct space *space, bool field, const char *typed, size_t length,
                          struct err *e)
{
    int params = space ? space->param_count : 0;
    if (field)
        return find_name(space, params, FIELD_PARAM, typed, length, FIT_BEGINNING, e);
    int found = find_name(space, 0, params, typed, length, FIT_CASE, e);
    if (found == -1)
        found = find_name(space, params, FIELD_PARAM, typed, length, FIT_CASE, e);
    if (found == -1)
        found = find_name(space, 0, params, typed, length, FIT_BEGINNING, e);
    if (found == -1)
        found = find_name(space, params, FIELD_PARAM, typed, length, FIT_BEGINNING, e);
    return found;
}

// Reads the "[2]" or ".2" that follows a name; 0: nothing follows; -1: something else does.
static int read_part(const char *rest)
{
    size_t digits = *rest ? strspn(rest + 1, "0123456789") : 0;
    if (!*rest)
        return 0;
    bool closed = *rest == '[' ? str_equal(rest + 1 + digits, "]") : !rest[1 + digits];
    return digits >= 1 && digits <= 3 && closed ? atoi(rest + 1) : -1;
}

static bool term_set_name(struct term *t, const struct space *space, const char *name,
                          struct err *e)
{
    bool has_dot = *name == '.';
    name += has_dot;
    size_t length = strcspn(name, "[.");
    int part = read_part(name + length);
    int found = length > 0 ? find_best_name(space, has_dot, name, length, e) : -1;
    if (found == -2)
        return false;
    if (found == -1) {
        size_t names = FIELD_PARAM + (space ? (size_t)space->param_count : 0);
        const char *meant = str_suggest(name, names, name_at, space);
        return meant ? err_set(e, "unknown name '%s' (did you mean '%s'?)", name, meant)
                     : err_set(e, "unknown name '%s'", name);
    }
    int params = space ? space->param_count : 0;
    if (found >= params) {
        t->field = (enum term_field)(found - params);
        return part == 0 || err_set(e, "'%s' has no parts", filter_fields[t->field]);
    }
    t->field = FIELD_PARAM;
    t->param = &space->param[found];
    t->part = part;
    if (name[length] && t->param->width == 1)
        return err_set(e, "'%s' has no parts", t->param->name);
    if (name[length] && (part < 1 || part > t->param->width))
        return err_set(e, "'%s' has parts %s[1] to %s[%d]", t->param->name, t->param->name,
                       t->param->name, t->param->width);
    return true;
}

enum sort { SORT_SET, SORT_NUMBER, SORT_TEXT, SORT_LIST };

static enum sort term_sort(const struct term *t)
{
    if (t->field < FIELD_OUTCOME)
        return SORT_NUMBER;
    if (t->field != FIELD_PARAM)
        return t->field < FIELD_REASON ? SORT_SET : SORT_TEXT;
    bool one = t->param->width == 1 || t->part > 0;
    if (!one)
        return SORT_LIST;
    return t->param->kind == PARAM_FACTORIZATION ? SORT_NUMBER : SORT_SET;
}

// Half a unit of the last digit: 41.3 stands for 41.25 to 41.35.
static double half_digit(const char *typed)
{
    const char *point = strchr(typed, '.');
    const char *exponent = strpbrk(typed, "eE");
    double digits = point ? (double)strspn(point + 1, "0123456789") : 0;
    return 0.5 * pow(10, (exponent ? atoi(exponent + 1) : 0) - digits);
}

static bool set_number(struct term *t, struct err *e)
{
    if (t->op == TERM_CONTAINS)
        return err_set(e, "~ looks for words, this is a number");
    if (!str_to_real(t->value, &t->number))
        return err_set(e, "'%s' is not a number", t->value);
    t->tolerance = t->field < FIELD_NUMBER ? half_digit(t->value) : 0;
    return true;
}

// The values of a set: words, or numbers of a listed parameter.
struct values {
    int count;
    const char *const *word;
    const double *number;
};

static const char *outcome_word(const void *context, size_t i)
{
    (void)context;
    return outcome_name((enum outcome)i);
}

static const char *value_word(const void *context, size_t i)
{
    const struct values *values = context;
    return values->word ? values->word[i] : outcome_word(NULL, i);
}

static struct values term_values(const struct term *t)
{
    if (t->field == FIELD_OUTCOME)
        return (struct values){.count = OUTCOME_COUNT};
    if (t->field == FIELD_EARLY)
        return (struct values){.count = 2, .word = early_words};
    return (struct values){t->param->count, t->param->label, t->param->number};
}

static bool set_listed_numbers(struct term *t, const struct values *v, struct err *e)
{
    if (t->op != TERM_CONTAINS && !set_number(t, e))
        return false;
    struct str text = {0};
    for (int i = 0; i < v->count; i++) {
        text.length = 0;
        str_add_real(&text, v->number[i]);
        t->holds[i] = t->op == TERM_CONTAINS ? op_contains(str_text(&text), t->value)
                                             : op_compare(t->op, v->number[i], t->number, 0);
    }
    str_finish(&text);
    return true;
}

static bool set_words(struct term *t, const struct values *v, struct err *e)
{
    t->op = op_of_texts(t->op);
    if (t->op != TERM_CONTAINS && t->op > TERM_UNEQUAL)
        return err_set(e, "words are compared with =, !=, : or ~, not with %s", term_ops[t->op]);
    bool known = false;
    for (int i = 0; i < v->count; i++) {
        const char *word = value_word(v, (size_t)i);
        bool equal = strcmp(word, t->value) == 0;
        known |= equal;
        t->holds[i] =
            t->op == TERM_CONTAINS ? op_contains(word, t->value) : equal == (t->op == TERM_EQUAL);
    }
    if (known || t->op == TERM_CONTAINS)
        return true;
    const char *meant = str_suggest(t->value, (size_t)v->count, value_word, v);
    if (meant)
        return err_set(e, "it is never '%s' (did you mean '%s'?)", t->value, meant);
    return err_set(e, "it is never '%s', but '%s' for example", t->value, value_word(v, 0));
}

static int32_t find_label(const struct param *p, const char *word)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->label[i], word) == 0)
            return i;
    return -1;
}

// Reads "16,4,16" or "n,m,k", in brackets or not, into the slots.
static bool read_list(const struct param *p, const char *text, int32_t *slot)
{
    char word[256];
    text += *text == '[';
    for (int i = 0; i < p->width; i++) {
        size_t length = strcspn(text, i < p->width - 1 ? "," : ",]");
        int64_t number = -1;
        if (length >= sizeof word || (i < p->width - 1 && text[length] != ','))
            return false;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (p->label)
            number = find_label(p, word);
        else if (!str_to_int(word, 1, INT32_MAX, &number))
            return false;
        slot[i] = (int32_t)number;
        text += length + (i < p->width - 1);
    }
    return (!*text || str_equal(text, "]")) && param_valid(p, slot);
}

static bool term_set_value(struct term *t, enum term_op op, const char *value, struct err *e)
{
    t->op = op;
    t->value = mem_strdup(value);
    switch (term_sort(t)) {
    case SORT_NUMBER: return set_number(t, e);
    case SORT_LIST: {
        t->op = op_of_texts(t->op);
        if (t->op == TERM_CONTAINS)
            return true;
        if (t->op > TERM_UNEQUAL)
            return err_set(e, "lists are compared with =, !=, : or ~; %s[1] is the first part",
                           t->param->name);
        if (read_list(t->param, t->value, t->slot))
            return true;
        struct str example = {0};
        int32_t first[PARAM_MAX_WIDTH];
        param_value(t->param, 0, first);
        value_add_text(t->param, first, &example);
        err_set(e, "it is never '%s', but '%s' for example", t->value, str_text(&example));
        str_finish(&example);
        return false;
    }
    case SORT_TEXT:
        t->op = op_of_texts(op);
        return t->op <= TERM_UNEQUAL || t->op == TERM_CONTAINS ||
               err_set(e, "texts are compared with =, !=, : or ~, not with %s", term_ops[op]);
    default: break;
    }
    struct values values = term_values(t);
    t->holds = mem_zero((size_t)values.count, 1);
    return values.number ? set_listed_numbers(t, &values, e) : set_words(t, &values, e);
}

// NaN: the trial has none.
static double field_number(const struct term *t, const struct trial *trial,
                           const struct filter_amounts *a)
{
    double shown = trial_shown_seconds(trial), seconds = shown > 0 ? shown : NAN;
    switch (t->field) {
    case FIELD_TFLOPS: return a->flop / seconds * 1e-12;
    case FIELD_GFLOPS: return a->flop / seconds * 1e-9;
    case FIELD_RATE: return a->rate / seconds;
    case FIELD_MS: return seconds * 1e3;
    case FIELD_SPREAD: return trial->samples > 1 ? 50 * trial->spread : NAN;
    case FIELD_NUMBER: return trial->number > 0 ? (double)trial->number : NAN;
    case FIELD_ASK: return (double)trial->ask;
    case FIELD_GENERATION: return trial->generation;
    case FIELD_WORKER: return trial->worker;
    case FIELD_REGISTERS:
    case FIELD_SPILLS:
    case FIELD_SHARED:
    case FIELD_OCCUPANCY:
    case FIELD_CODE_SIZE: return trial->statistic[t->field - FIELD_REGISTERS];
    default: return trial->has_config ? trial->config.slot[t->param->offset + t->part - 1] : NAN;
    }
}

static bool list_holds(const struct term *t, const int32_t *v)
{
    size_t size = (size_t)t->param->width * sizeof *v;
    if (t->op != TERM_CONTAINS)
        return (memcmp(v, t->slot, size) == 0) == (t->op == TERM_EQUAL);
    struct str text = {0};
    value_add_text(t->param, v, &text);
    bool holds = op_contains(str_text(&text), t->value);
    str_finish(&text);
    return holds;
}

struct filter {
    const struct space *space;
    struct expression *expression;
    struct term *term;
    int count, capacity;
    struct filter_amounts amounts;
};

static bool add_term(void *context, const struct typed_term *typed, bool *wrong_value,
                     struct err *e)
{
    struct filter *f = context;
    MEM_GROW(f->term, f->count, f->capacity);
    struct term *t = &f->term[f->count++];
    *t = (struct term){0};
    if (!typed->name || !typed->value) {
        // A name that no operator follows: only `early` may stand alone.
        enum outcome outcome;
        if (!typed->name)
            return err_set(e, "a name belongs here, without quotes");
        if (outcome_parse(typed->name, &outcome))
            return err_set(e, "'%s' is an outcome: outcome=%s", typed->name, typed->name);
        if (!term_set_name(t, f->space, typed->name, e))
            return false;
        if (t->field == FIELD_EARLY)
            return term_set_value(t, TERM_EQUAL, "yes", e);
        return err_set(e, "'%s' needs = != < <= > >= : or ~ and a value after it", typed->name);
    }
    if (!term_set_name(t, f->space, typed->name, e))
        return false;
    *wrong_value = true;
    return term_set_value(t, typed->op, typed->value, e);
}

struct filter *filter_compile(const char *text, const struct space *space,
                              const struct filter_amounts *a, struct err *e)
{
    struct filter *f = mem_zero(1, sizeof *f);
    struct err unheard;
    f->space = space;
    f->amounts = *a;
    const struct term_reader reader = {f, add_term};
    f->expression = expression_read(text, &reader, e ? e : &unheard);
    if (f->expression)
        return f;
    filter_destroy(f);
    return NULL;
}

void filter_destroy(struct filter *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->count; i++) {
        free(f->term[i].value);
        free(f->term[i].holds);
    }
    free(f->term);
    expression_destroy(f->expression);
    free(f);
}

static bool holds(const void *context, int number, const void *item)
{
    const struct filter *f = context;
    const struct trial *t = item;
    switch (term_sort(&f->term[number])) {
    case SORT_SET: {
        if (f->term[number].field == FIELD_PARAM) {
            if (!t->has_config)
                return false;
            int slot = f->term[number].param->offset +
                       (f->term[number].part > 0 ? f->term[number].part - 1 : 0);
            return f->term[number].holds[t->config.slot[slot]];
        }
        if (t->told == 0)
            return false;
        return f->term[number]
            .holds[f->term[number].field == FIELD_OUTCOME ? (int)t->outcome : t->early_stopped];
    }
    case SORT_LIST:
        return t->has_config &&
               list_holds(&f->term[number], t->config.slot + f->term[number].param->offset);
    case SORT_TEXT: {
        const char *text = f->term[number].field == FIELD_REASON ? t->reason : t->phase;
        if (!*text)
            return false;
        if (f->term[number].op == TERM_CONTAINS)
            return op_contains(text, f->term[number].value);
        return (strcasecmp(text, f->term[number].value) == 0) == (f->term[number].op == TERM_EQUAL);
    }
    default: break;
    }
    if (f->term[number].field == FIELD_PARENT) {
        bool any = false, all = true;
        for (int i = 0; t->has_origin && i < SPACE_MAX_PARAMS; i++) {
            if (t->origin[i] == 0)
                continue;
            bool holds =
                op_compare(f->term[number].op, (double)t->origin[i], f->term[number].number, 0);
            any |= holds;
            all &= holds;
        }
        return any && (all || f->term[number].op != TERM_UNEQUAL);
    }
    return op_compare(f->term[number].op, field_number(&f->term[number], t, &f->amounts),
                      f->term[number].number, f->term[number].tolerance);
}

bool filter_accepts(const struct filter *f, const struct trial *t)
{
    return expression_holds(f->expression, holds, f, t);
}

bool filter_is_empty(const struct filter *f)
{
    return expression_is_empty(f->expression);
}

static bool asks_rejected(const void *context, int number, const void *item)
{
    const struct filter *f = context;
    (void)item;
    if (f->term[number].op == TERM_UNEQUAL)
        return false;
    return f->term[number].field == FIELD_REASON ||
           (f->term[number].field == FIELD_OUTCOME && f->term[number].holds[OUTCOME_REJECTED]);
}

bool filter_asks_rejected(const struct filter *f)
{
    return expression_mentions(f->expression, asks_rejected, f);
}
