#include "session_text.h"

#include "engine/speed.h"
#include "expression.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum field {
    FIELD_ANY = -1,
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

struct session_term {
    int field; // of session_fields, or FIELD_ANY
    enum term_op op;
    char *text;    // as typed
    double number; // of fields that are numbers
};

struct session_filter {
    struct expression *expression;
    struct session_term *term;
    int count, capacity;
    const struct model *model; // while it is compiled
};

// --- what a session says ---

static const char *text_of(const struct session_row *row, int field, char out[256])
{
    const struct session_record *r = &row->record;
    switch (field) {
    case FIELD_STATE: return state_name(row->state);
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
    bool equality = t->op == TERM_EQUAL || t->op == TERM_UNEQUAL || t->op == TERM_HAS;
    if (t->field == FIELD_SEED && equality) { // larger than a real can tell
        char seed[24];
        snprintf(seed, sizeof seed, "%" PRIu64, row->record.seed);
        return str_equal(seed, t->text) == (t->op != TERM_UNEQUAL);
    }
    double number = t->field == FIELD_BEST ? best_of(&row->record, per_flops, equality)
                                           : number_of(row, t->field);
    return op_compare(t->op, number, t->number, 0);
}

struct shown_row {
    const struct session_row *row;
    double per_flops;
};

static bool term_holds(const void *terms, int number, const void *item)
{
    const struct session_filter *f = terms;
    const struct session_term *t = &f->term[number];
    const struct shown_row *shown = item;
    if (t->field == FIELD_ANY)
        return stands_somewhere(shown->row, shown->per_flops, t->text);
    if (t->field >= FIELD_ID)
        return number_holds(t, shown->row, shown->per_flops);
    char out[256];
    const char *text = text_of(shown->row, t->field, out);
    if (t->op == TERM_CONTAINS)
        return op_contains(text, t->text);
    bool equal = strcasecmp(text ? text : "", t->text) == 0;
    if (t->field == FIELD_STRATEGY) // without what is standard, as it is shown
        equal |= strcasecmp(strategy_text(text, false, out), t->text) == 0;
    return equal == (t->op == TERM_EQUAL);
}

bool session_filter_accepts(const struct session_filter *f, const struct session_row *row,
                            double per_flops)
{
    const struct shown_row shown = {row, per_flops};
    return !f || expression_holds(f->expression, term_holds, f, &shown);
}

// --- from text ---

// FIELD_ANY: none begins so; -2: several do.
static int find_field(const char *name)
{
    size_t length = strlen(name);
    int found = FIELD_ANY;
    for (int i = 0; session_fields[i]; i++) {
        if (strncasecmp(session_fields[i], name, length) != 0)
            continue;
        if (session_fields[i][length] == '\0')
            return i;
        found = found == FIELD_ANY ? i : -2;
    }
    return found;
}

static bool add_term(void *context, const struct typed_term *typed, bool *wrong_value,
                     struct err *e)
{
    struct session_filter *f = context;
    MEM_GROW(f->term, f->count, f->capacity);
    struct session_term *t = &f->term[f->count++];
    *t = (struct session_term){.field = FIELD_ANY, .op = typed->op};
    if (!typed->name || !typed->value) {
        t->text = mem_strdup(typed->name ? typed->name : typed->value);
        return true;
    }
    int found = find_field(typed->name);
    if (found >= 0) {
        t->field = found;
        t->text = mem_strdup(typed->value);
        *wrong_value = true;
        const char *name = session_fields[t->field];
        if (t->field < FIELD_ID) {
            t->op = op_of_texts(t->op);
            return t->op <= TERM_UNEQUAL || t->op == TERM_CONTAINS ||
                   err_set(e, "'%s' is a text: it takes : = !=, not < >", name);
        }
        if (t->op == TERM_CONTAINS)
            return err_set(e, "~ looks for words, '%s' is a number", name);
        return str_to_real(t->text, &t->number) ||
               err_set(e, "'%s' is a number, not '%s'", name, t->text);
    }
    t->text = mem_strdup(typed->whole);
    double per_flops;
    sessions_unit(f->model, &per_flops);
    for (int i = 0; i < f->model->session_count; i++)
        if (stands_somewhere(&f->model->session[i], per_flops, typed->whole))
            return true;
    return found == -2 ? err_set(e, "several fields begin with '%s'", typed->name)
                       : err_set(e, "no field '%s' (Tab lists them)", typed->name);
}

struct session_filter *session_filter_compile(const char *text, const struct model *m,
                                              struct err *e)
{
    struct session_filter *f = mem_zero(1, sizeof *f);
    const struct term_reader reader = {f, add_term};
    f->model = m;
    f->expression = expression_read(text, &reader, e);
    f->model = NULL;
    if (f->expression)
        return f;
    session_filter_destroy(f);
    return NULL;
}

void session_filter_destroy(struct session_filter *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->count; i++)
        free(f->term[i].text);
    free(f->term);
    expression_destroy(f->expression);
    free(f);
}

const char *sessions_unit(const struct model *m, double *per_flops)
{
    double best = 0;
    for (int i = 0; i < m->session_count; i++)
        best = fmax(best, record_speed(&m->session[i].record));
    *per_flops = best >= 0.99995e12 ? 1e-12 : 1e-9;
    return best >= 0.99995e12 ? "TFLOPS" : "GFLOPS";
}

char *sessions_speed(double flops, double per_flops, char out[24])
{
    double value = flops * per_flops;
    out[0] = '\0';
    if (flops > 0 && value < 0.1) // beside much faster ones: in a unit of its own
        snprintf(out, 24, "%.3g %c", flops >= 1e9 ? flops / 1e9 : flops / 1e6,
                 flops >= 1e9 ? 'G' : 'M');
    else if (flops > 0)
        snprintf(out, 24, "%.*f", value >= 99.995 ? 1 : value >= 0.9995 ? 2 : 3, value);
    return out;
}

// "synthetic:rugged" of "synthetic:rugged:seed=3", "replay:a.json" of "replay:/home/me/a.json".
const char *session_place(const struct session_record *r, char out[256])
{
    const char *kind = r->source, *name = strchr(kind, ':');
    if (str_equal(kind, "device") || !name)
        return str_equal(kind, "device") ? r->device : kind;
    size_t length = strcspn(++name, ":");
    size_t folder = length;
    while (folder > 0 && name[folder - 1] != '/')
        folder--;
    snprintf(out, 256, "%.*s%.*s", (int)(name - kind), kind, (int)(length - folder), name + folder);
    return out;
}

double record_speed(const struct session_record *r)
{
    if (!r->best_ask || r->best_seconds <= 0 || speed_share(r) > 0 || r->unit)
        return 0;
    return r->flop / r->best_seconds;
}

char *session_best(const struct session_record *r, double per_flops, char out[24])
{
    char speed[32];
    double share = speed_share(r);
    if (share > 0)
        snprintf(out, 24, "%.3g %%", 100 * share);
    else if (r->unit && r->best_ask)
        snprintf(out, 24, "%s", speed_text(r, r->best_seconds, speed));
    else
        sessions_speed(record_speed(r), per_flops, out);
    return out;
}

char *text_ago(double seconds, char out[24])
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int i = 0;
    while (i < 3 && seconds < units[i].seconds)
        i++;
    snprintf(out, 24, "%.0f %s", fmin(floor(fmax(seconds, 0) / units[i].seconds), 99999),
             units[i].name);
    return out;
}
