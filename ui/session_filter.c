#include "session_filter.h"

#include "engine/speed.h"
#include "session_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum field {
    FIELD_STATE,
    FIELD_SPACE,
    FIELD_PROBLEM,
    FIELD_DEVICE,
    FIELD_SOURCE,
    FIELD_STRATEGY,
    FIELD_NOTE,
    FIELD_ID, // numbers from here on
    FIELD_SEED,
    FIELD_TRIALS,
    FIELD_BUDGET,
    FIELD_BEST,
    FIELD_COUNT
};

static const char *const session_fields[] = {"state",    "space", "problem", "device", "source",
                                             "strategy", "note",  "id",      "seed",   "trials",
                                             "budget",   "best",  NULL};

// --- what a session says ---

static const char *text_of(const struct session_row *row, int field, char out[256])
{
    const struct session_record *r = &row->record;
    switch (field) {
    case FIELD_STATE: return row->state;
    case FIELD_SPACE: return r->name;
    case FIELD_PROBLEM: return r->title;
    case FIELD_DEVICE: return session_place(r, out);
    case FIELD_SOURCE: return r->source;
    case FIELD_STRATEGY: return r->strategy;
    default: return r->note;
    }
}

static double number_of(const struct session_row *row, int field)
{
    const struct session_record *r = &row->record;
    switch (field) {
    case FIELD_ID: return (double)r->id;
    case FIELD_SEED: return (double)r->seed;
    case FIELD_TRIALS: return (double)r->trials;
    default: return (double)r->budget_trials;
    }
}

// Numbers as the list shows them, and all texts.
static bool stands_somewhere(const struct session_row *row, double per_flops, const char *part)
{
    const struct session_record *r = &row->record;
    char number[96], speed[24], text[256];
    for (int i = 0; i < FIELD_ID; i++)
        if (op_contains(text_of(row, i, text), part))
            return true;
    snprintf(number, sizeof number, "%" PRId64 " %" PRIu64 " %" PRId64 "/%" PRId64 " %s", r->id,
             r->seed, r->trials, r->budget_trials, session_best(r, per_flops, speed));
    return op_contains(number, part) ||
           op_contains(strategy_text(r->strategy, false, text), part) ||
           op_contains(r->device, part) || op_contains(r->driver, part) ||
           op_contains(r->path, part) || op_contains(r->message, part);
}

// --- terms ---

// Of a session that is not rated by FLOP, in the unit its row shows, but GB/s for TB/s.
static double rated_best(const struct session_record *r, bool as_shown)
{
    char text[32];
    if (!as_shown)
        return speed_rate(r, r->best_seconds);
    double number = strtod(speed_text(r, r->best_seconds, text), NULL);
    return strstr(text, "TB/s") ? round(number * 1e3) : number;
}

// NaN: nothing valid, or in no unit. As it is shown: 43.7 is any speed that is shown so.
static double best_of(const struct session_record *r, double per_flops, bool as_shown)
{
    char text[24];
    double flops = record_speed(r), value = NAN;
    if (r->unit && r->best_ask && r->best_seconds > 0 && !speed_is_relative(r))
        return rated_best(r, as_shown);
    if (!as_shown)
        return flops > 0 ? flops * per_flops : NAN;
    sessions_speed(flops, per_flops, text);
    return str_to_real(text, &value) ? value : NAN;
}

static bool number_holds(const struct session_term *t, const struct session_row *row,
                         double per_flops)
{
    bool equality = t->op <= TERM_UNEQUAL;
    if (!t->text[0])
        return true;                          // it is still being typed
    if (t->field == FIELD_SEED && equality) { // larger than a real can tell
        char seed[24];
        snprintf(seed, sizeof seed, "%" PRIu64, row->record.seed);
        return str_equal(seed, t->text) == (t->op != TERM_UNEQUAL);
    }
    double number = t->field == FIELD_BEST ? best_of(&row->record, per_flops, equality)
                                           : number_of(row, t->field);
    return op_compare(t->op, number, t->number, 0);
}

static bool holds(const struct session_filter *f, const struct session_term *t,
                  const struct session_row *row)
{
    char out[256];
    if (t->field < 0)
        return stands_somewhere(row, f->per_flops, t->text);
    if (t->field >= FIELD_ID)
        return number_holds(t, row, f->per_flops);
    const char *text = text_of(row, t->field, out);
    if (t->op == TERM_CONTAINS)
        return op_contains(text, t->text);
    bool equal = strcasecmp(text ? text : "", t->text) == 0;
    if (t->field == FIELD_STRATEGY) // without what is standard, as it is shown
        equal |= strcasecmp(strategy_text(text, false, out), t->text) == 0;
    return equal == (t->op == TERM_EQUAL);
}

bool session_filter_accepts(const struct session_filter *f, const struct session_row *row)
{
    for (int i = 0; i < f->count; i++)
        if (!holds(f, &f->term[i], row))
            return false;
    return true;
}

// --- from text ---

// The operator at the start of `text`; its length, 0 for none. Here a colon will do for ~.
static size_t parse_op(const char *text, enum term_op *op)
{
    if (*text != ':')
        return op_read(text, op);
    *op = TERM_CONTAINS;
    return 1;
}

// -1: none begins so; -2: several do.
static int find_field(const char *name, size_t length)
{
    int found = -1;
    for (int i = 0; session_fields[i]; i++) {
        if (strncasecmp(session_fields[i], name, length) != 0)
            continue;
        if (session_fields[i][length] == '\0')
            return i;
        found = found == -1 ? i : -2;
    }
    return found;
}

static bool is_seen(const struct session_filter *f, const struct model *m, const char *word)
{
    for (int i = 0; i < m->session_count; i++)
        if (stands_somewhere(&m->session[i], f->per_flops, word))
            return true;
    return false;
}

static bool fail_name(const char *word, size_t length, int found, struct err *e)
{
    if (found == -2)
        return err_set(e, "several fields begin with '%.*s'", (int)length, word);
    return err_set(e, "no field '%.*s' (Tab lists them)", (int)length, word);
}

static bool parse_value(struct session_term *t, const char *value, struct err *e)
{
    const char *name = session_fields[t->field];
    snprintf(t->text, sizeof t->text, "%s", value);
    if (t->field < FIELD_ID)
        return t->op <= TERM_UNEQUAL || t->op == TERM_CONTAINS ||
               err_set(e, "'%s' is a text: it takes : = !=, not < >", name);
    if (t->op == TERM_CONTAINS)
        t->op = TERM_EQUAL;
    return !*value || str_to_real(value, &t->number) ||
           err_set(e, "'%s' is a number, not '%s'", name, value);
}

static bool parse_word(struct session_filter *f, const char *word, const struct model *m,
                       struct err *e)
{
    struct session_term *t = &f->term[f->count];
    size_t name = 0;
    *t = (struct session_term){.field = -1};
    while (isalpha((unsigned char)word[name]))
        name++;
    size_t sign = name ? parse_op(word + name, &t->op) : 0;
    if (sign) {
        int found = find_field(word, name);
        if (found < 0 && !is_seen(f, m, word))
            return fail_name(word, name, found, e);
        t->field = found < 0 ? -1 : found;
    }
    f->count++;
    if (t->field >= 0)
        return parse_value(t, word + name + sign, e);
    snprintf(t->text, sizeof t->text, "%s", word);
    return true;
}

bool session_filter_parse(struct session_filter *f, const char *text, const struct model *m,
                          struct err *e)
{
    *f = (struct session_filter){.count = 0};
    sessions_unit(m, &f->per_flops);
    while (*(text += strspn(text, " "))) {
        char word[80];
        size_t length = strcspn(text, " ");
        if (f->count == SESSION_FILTER_TERMS || length >= sizeof word)
            return err_set(e, "this filter is too long");
        memcpy(word, text, length);
        word[length] = '\0';
        if (!parse_word(f, word, m, e))
            return false;
        text += length;
    }
    return true;
}
