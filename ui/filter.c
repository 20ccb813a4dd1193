#include "filter.h"

#include "engine/speed.h"
#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_DEPTH = 64, MOST_NODES = 512 };

enum op { OP_EQUAL, OP_UNEQUAL, OP_LESS, OP_AT_MOST, OP_GREATER, OP_AT_LEAST, OP_CONTAINS, OP_HAS };

// The fields of each kind: numbers (measured ones first, the compiler statistics in the order of
// enum statistic_kind), then sets of few words, of which each is judged once, when the filter is
// compiled, then texts. `spread` is half of it, in percent: the ± of lists.
// clang-format off
#define TRIAL_FIELDS(F) \
    F(TFLOPS, "tflops") F(GFLOPS, "gflops") F(RATE, "rate") F(MS, "ms") F(SPREAD, "spread") \
    F(NUMBER, "number") F(ASK, "ask") F(GENERATION, "generation") F(WORKER, "worker") \
    F(REGISTERS, "registers") F(SPILLS, "spills") F(SHARED, "shared") \
    F(OCCUPANCY, "occupancy") F(CODE_SIZE, "code_size") F(PARENT, "parent") \
    F(OUTCOME, "outcome") F(EARLY, "early") F(FAILED, "failed") \
    F(REASON, "reason") F(PHASE, "phase")
#define SESSION_FIELDS(F) \
    F(ID, "id") F(SEED, "seed") F(TRIALS, "trials") F(BUDGET, "budget") F(BEST, "best") \
    F(STATE, "state") F(SPACE, "space") F(PROBLEM, "problem") F(DEVICE, "device") \
    F(SOURCE, "source") F(STRATEGY, "strategy") F(NOTE, "note")
#define AS_TRIAL_FIELD(id, name) FIELD_##id,
#define AS_SESSION_FIELD(id, name) SESSION_##id,
#define AS_NAME(id, name) name,
// clang-format on

enum trial_field { TRIAL_FIELDS(AS_TRIAL_FIELD) FIELD_PARAM }; // FIELD_PARAM: one of the space
enum session_field { SESSION_FIELDS(AS_SESSION_FIELD) SESSION_ANYWHERE }; // a word alone

const char *const filter_fields[] = {TRIAL_FIELDS(AS_NAME) NULL};
static const char *const session_fields[] = {SESSION_FIELDS(AS_NAME) NULL};

static const struct kind {
    const char *const *field;
    int numbers, sets, count; // where numbers, sets and texts end
    int measured;             // how many fields are equal to what they round to
} trial_kind = {filter_fields, FIELD_OUTCOME, FIELD_REASON, FIELD_PARAM, FIELD_NUMBER},
  session_kind = {session_fields, SESSION_STATE, SESSION_STATE, SESSION_ANYWHERE, 0};

enum sort { SORT_NUMBER, SORT_SET, SORT_TEXT, SORT_LIST };

struct node {
    enum { NODE_TERM, NODE_NOT, NODE_AND, NODE_OR } kind;
    int left, right; // NODE_NOT has a left one only
    // A term:
    enum sort sort;
    int field;                 // enum trial_field or enum session_field
    const struct param *param; // FIELD_PARAM only
    int part;                  // of the parameter, from 1; 0: all of it
    enum op op;
    const char *value;             // as typed
    double number;                 // SORT_NUMBER
    double tolerance;              // measured numbers: half a unit of the last digit typed
    uint8_t *holds;                // SORT_SET: one for each value
    int32_t slot[PARAM_MAX_WIDTH]; // SORT_LIST
};

struct filter {
    const struct kind *kind;
    const struct space *space;     // trials
    int params;                    // of the space
    struct filter_amounts amounts; // trials
    const struct model *model;     // sessions, while it is compiled
    struct arena arena;            // values of terms
    struct node *node;
    int count, capacity;
    int root; // -1: no term, everything is accepted
};

bool text_contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    int first = tolower((unsigned char)*part);
    for (; text && *text; text++)
        if (tolower((unsigned char)*text) == first && strncasecmp(text, part, length) == 0)
            return true;
    return length == 0;
}

// Compares two numbers; they are equal when they are no further apart than `tolerance`. NaN is
// neither equal nor unequal, less nor more.
static bool compare(enum op op, double a, double b, double tolerance)
{
    bool equal = fabs(a - b) <= tolerance;
    switch (op) {
    case OP_HAS:
    case OP_EQUAL: return equal;
    case OP_UNEQUAL: return !equal && !isnan(a);
    case OP_LESS: return a < b;
    case OP_AT_MOST: return a <= b;
    case OP_GREATER: return a > b;
    default: return a >= b;
    }
}

// --- names ---

// Names are numbered: parameters first, then fields.
static const char *name_at(const void *context, size_t i)
{
    const struct filter *f = context;
    size_t params = (size_t)f->params;
    return i < params ? f->space->param[i].name : f->kind->field[i - params];
}

// The fit of a typed name to one that exists, the best last.
enum { FIT_NONE, FIT_BEGINNING, FIT_CASE, FIT_EXACT };

// Returns the number of the one name that fits best; -1: none does; -2 and `e`: several do equally
// well. Whole names of parameters come first, then those of fields, then beginnings of both.
static int find_name(const struct filter *f, const char *typed, size_t length, bool fields_only,
                     struct err *e)
{
    int params = f->params, found = -1, rival = -1;
    for (int pass = fields_only ? 3 : 0; found < 0 && pass < 4; pass++) {
        int best = pass < 2 ? FIT_CASE - 1 : FIT_BEGINNING - 1;
        int first = pass % 2 ? params : 0, end = pass % 2 ? params + f->kind->count : params;
        for (int i = first; i < end; i++) {
            const char *name = name_at(f, (size_t)i);
            int fit = strncasecmp(typed, name, length) != 0 ? FIT_NONE
                      : name[length]                        ? FIT_BEGINNING
                      : strncmp(typed, name, length) != 0   ? FIT_CASE
                                                            : FIT_EXACT;
            if (fit == best && found >= 0)
                rival = i;
            if (fit > best) {
                best = fit;
                found = i;
                rival = -1;
            }
        }
    }
    if (rival < 0)
        return found;
    if (f->kind == &session_kind)
        err_set(e, "several fields begin with '%.*s'", (int)length, typed);
    else
        err_set(e, "'%.*s' may be '%s' or '%s'", (int)length, typed, name_at(f, (size_t)found),
                name_at(f, (size_t)rival));
    return -2;
}

static bool set_name(const struct filter *f, struct node *n, const char *name, struct err *e)
{
    bool has_dot = *name == '.';
    name += has_dot;
    size_t length = strcspn(name, "[.");
    int params = f->params, part = 0;
    const char *rest = name + length; // "[2]" or ".2"
    if (*rest) {
        size_t digits = strspn(rest + 1, "0123456789");
        bool closed = *rest == '[' ? str_equal(rest + 1 + digits, "]") : !rest[1 + digits];
        part = digits >= 1 && digits <= 3 && closed ? atoi(rest + 1) : -1;
    }
    bool is_no_session_field = f->kind == &session_kind && part;
    int found = length > 0 && !is_no_session_field ? find_name(f, name, length, has_dot, e) : -1;
    if (found == -1 && f->kind == &session_kind)
        return err_set(e, "no field '%s' (Tab lists them)", name);
    if (found == -1) {
        const char *meant = str_suggest(name, (size_t)(params + f->kind->count), name_at, f);
        return meant ? err_set(e, "unknown name '%s' (did you mean '%s'?)", name, meant)
                     : err_set(e, "unknown name '%s'", name);
    }
    if (found < 0)
        return false;
    if (found >= params) {
        n->field = found - params;
        n->sort = n->field < f->kind->numbers ? SORT_NUMBER
                  : n->field < f->kind->sets  ? SORT_SET
                                              : SORT_TEXT;
        return part == 0 || err_set(e, "'%s' has no parts", name_at(f, (size_t)found));
    }
    const struct param *p = n->param = &f->space->param[found];
    n->field = FIELD_PARAM;
    n->part = part;
    n->sort = p->width > 1 && !part            ? SORT_LIST
              : p->kind == PARAM_FACTORIZATION ? SORT_NUMBER
                                               : SORT_SET;
    if (*rest && p->width == 1)
        return err_set(e, "'%s' has no parts", p->name);
    if (*rest && (part < 1 || part > p->width))
        return err_set(e, "'%s' has parts %s[1] to %s[%d]", p->name, p->name, p->name, p->width);
    return true;
}

// --- values ---

static bool set_number(const struct filter *f, struct node *n, const char *name, struct err *e)
{
    if (n->op == OP_CONTAINS)
        return err_set(e, "~ looks for words, '%s' is a number", name);
    if (!str_to_real(n->value, &n->number))
        return err_set(e, "'%s' is a number, not '%s'", name, n->value);
    if (n->field < f->kind->measured) { // 41.3 stands for 41.25 to 41.35
        const char *point = strchr(n->value, '.'), *exponent = strpbrk(n->value, "eE");
        double digits = point ? (double)strspn(point + 1, "0123456789") : 0;
        n->tolerance = 0.5 * pow(10, (exponent ? atoi(exponent + 1) : 0) - digits);
    }
    return true;
}

static const char *set_word(const void *context, size_t i)
{
    static const char *const yes_words[] = {"no", "yes"};
    const struct node *n = context;
    return n->param                    ? n->param->label[i]
           : n->field == FIELD_OUTCOME ? outcome_name((enum outcome)i)
                                       : yes_words[i];
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
        for (int k = 0; p->label && k < p->count && number < 0; k++)
            number = str_equal(p->label[k], word) ? k : -1;
        if (!p->label && !str_to_int(word, 1, INT32_MAX, &number))
            return false;
        slot[i] = (int32_t)number;
        text += length + (i < p->width - 1);
    }
    return (!*text || str_equal(text, "]")) && param_valid(p, slot);
}

static bool set_value(struct filter *f, struct node *n, enum op op, const char *value,
                      struct err *e)
{
    const char *name = n->param ? n->param->name : f->kind->field[n->field];
    n->value = arena_strdup(&f->arena, value);
    n->op = op;
    if (n->sort == SORT_NUMBER)
        return set_number(f, n, name, e);
    if (n->sort == SORT_SET) {
        // Each value of a set is judged: numbers of a listed parameter, or words.
        const double *number = n->param ? n->param->number : NULL;
        int count = n->param ? n->param->count : n->field == FIELD_OUTCOME ? OUTCOME_COUNT : 2;
        n->holds = arena_zero(&f->arena, (size_t)count, 1);
        bool contains = n->op == OP_CONTAINS || (n->op == OP_HAS && !number);
        if (number && !contains && !set_number(f, n, name, e))
            return false;
        if (!number && !contains && n->op > OP_UNEQUAL)
            return err_set(e, "'%s' is a word: it takes : = !=, not < >", name);
        bool known = number || contains;
        struct str text = {0};
        for (int i = 0; i < count; i++) {
            text.length = 0;
            if (number)
                str_add_real(&text, number[i]);
            else
                str_add(&text, set_word(n, (size_t)i));
            bool equal = str_equal(str_text(&text), n->value);
            known |= equal;
            n->holds[i] = contains ? text_contains(str_text(&text), n->value)
                          : number ? compare(n->op, number[i], n->number, 0)
                                   : equal == (n->op == OP_EQUAL);
        }
        str_finish(&text);
        if (known)
            return true;
        const char *meant = str_suggest(n->value, (size_t)count, set_word, n);
        return meant
                   ? err_set(e, "it is never '%s' (did you mean '%s'?)", n->value, meant)
                   : err_set(e, "it is never '%s', but '%s' for example", n->value, set_word(n, 0));
    }
    n->op = op == OP_HAS ? OP_CONTAINS : op;
    if (n->op > OP_UNEQUAL && n->op != OP_CONTAINS)
        return n->sort == SORT_TEXT
                   ? err_set(e, "'%s' is a text: it takes : = !=, not < >", name)
                   : err_set(e, "lists are compared with =, !=, : or ~; %s[1] is the first part",
                             name);
    if (n->sort == SORT_TEXT || n->op == OP_CONTAINS || read_list(n->param, value, n->slot))
        return true;
    struct str example = {0};
    int32_t first[PARAM_MAX_WIDTH];
    param_value(n->param, 0, first);
    value_add_text(n->param, first, &example);
    err_set(e, "it is never '%s', but '%s' for example", value, str_text(&example));
    str_finish(&example);
    return false;
}

// --- terms of trials ---

static bool text_holds(const struct node *n, const char *text)
{
    if (n->op == OP_CONTAINS)
        return text_contains(text, n->value);
    return (strcasecmp(text ? text : "", n->value) == 0) == (n->op == OP_EQUAL);
}

static bool trial_holds(const struct filter *f, const struct node *n, const struct trial *t)
{
    if (n->sort == SORT_TEXT) {
        const char *text = n->field == FIELD_REASON ? t->reason : t->phase;
        return *text && text_holds(n, text);
    }
    if (n->sort == SORT_SET && n->param)
        return t->has_config &&
               n->holds[t->config.slot[n->param->offset + (n->part > 0 ? n->part - 1 : 0)]];
    bool failed = t->outcome != OUTCOME_OK && t->outcome != OUTCOME_REJECTED;
    if (n->sort == SORT_SET)
        return t->told && n->holds[n->field == FIELD_OUTCOME  ? (int)t->outcome
                                   : n->field == FIELD_FAILED ? (int)failed
                                                              : (int)t->early_stopped];
    if (n->sort == SORT_LIST) {
        const int32_t *slot = t->config.slot + n->param->offset;
        if (!t->has_config)
            return false;
        if (n->op != OP_CONTAINS)
            return (memcmp(slot, n->slot, (size_t)n->param->width * sizeof *slot) == 0) ==
                   (n->op == OP_EQUAL);
        struct str text = {0};
        value_add_text(n->param, slot, &text);
        bool holds = text_contains(str_text(&text), n->value);
        str_finish(&text);
        return holds;
    }
    double shown = trial_shown_seconds(t), seconds = shown > 0 ? shown : NAN;
    double number; // NaN where the trial has none
    bool any = false, all = true;
    switch (n->field) {
    case FIELD_TFLOPS: number = f->amounts.flop / seconds * 1e-12; break;
    case FIELD_GFLOPS: number = f->amounts.flop / seconds * 1e-9; break;
    case FIELD_RATE:
        number = f->amounts.is_inverse ? f->amounts.rate * seconds : f->amounts.rate / seconds;
        break;
    case FIELD_MS: number = seconds * f->amounts.ms; break;
    case FIELD_SPREAD: number = t->samples > 1 ? 50 * t->spread : NAN; break;
    case FIELD_NUMBER: number = t->number > 0 ? (double)t->number : NAN; break;
    case FIELD_ASK: number = (double)t->ask; break;
    case FIELD_GENERATION: number = t->generation; break;
    case FIELD_WORKER: number = t->worker; break;
    case FIELD_PARAM:
        number = t->has_config ? t->config.slot[n->param->offset + n->part - 1] : NAN;
        break;
    case FIELD_PARENT: // any of them; none of them where they are to be unequal
        for (int i = 0; t->has_origin && i < SPACE_MAX_PARAMS; i++) {
            bool holds = t->origin[i] && compare(n->op, (double)t->origin[i], n->number, 0);
            any |= holds;
            all &= holds || !t->origin[i];
        }
        return any && (all || n->op != OP_UNEQUAL);
    default: number = t->statistic[n->field - FIELD_REGISTERS]; break;
    }
    return compare(n->op, number, n->number, n->tolerance);
}

// --- terms of sessions ---

struct shown_row {
    const struct session_row *row;
    double per_flops;
};

static const char *session_text(const struct session_row *row, int field, char out[256])
{
    const struct session_record *r = &row->record;
    switch (field) {
    case SESSION_STATE: return state_name(row->state);
    case SESSION_SPACE: return r->name;
    case SESSION_PROBLEM: return r->title;
    case SESSION_DEVICE: return session_place(r, out);
    case SESSION_SOURCE: return r->source;
    case SESSION_STRATEGY: return r->strategy;
    default: return r->note;
    }
}

// Returns true when `part` stands in a number as the list shows it, or in any text.
static bool stands_somewhere(const struct shown_row *s, const char *part)
{
    const struct session_record *r = &s->row->record;
    char number[96], speed[24], text[256];
    for (int i = session_kind.sets; i < session_kind.count; i++)
        if (text_contains(session_text(s->row, i, text), part))
            return true;
    snprintf(number, sizeof number, "%" PRId64 " %" PRIu64 " %" PRId64 "/%" PRId64 " %s", r->id,
             r->seed, r->trials, r->budget_trials, session_best(r, s->per_flops, speed));
    return text_contains(number, part) ||
           text_contains(strategy_text(r->strategy, false, text), part) ||
           text_contains(r->device, part) || text_contains(r->driver, part) ||
           text_contains(r->path, part) || text_contains(r->message, part);
}

// Returns the best of a session in the unit that the list shows, or NaN. `as_shown` rounds it: 43.7
// is any speed that is shown so.
static double session_best_number(const struct session_record *r, double per_flops, bool as_shown)
{
    char text[32];
    double flops = record_speed(r), value = NAN;
    if (r->unit && r->best_ask && r->best_seconds > 0 && !speed_is_relative(r)) {
        if (!as_shown)
            return speed_rate(r, r->best_seconds);
        value = strtod(speed_text(r, r->best_seconds, text), NULL);
        return strstr(text, "TB/s") ? round(value * 1e3) : value; // GB/s for TB/s
    }
    if (!as_shown)
        return flops > 0 ? flops * per_flops : NAN;
    return str_to_real(sessions_speed(flops, per_flops, text), &value) ? value : NAN;
}

static bool session_holds(const struct node *n, const struct shown_row *s)
{
    const struct session_record *r = &s->row->record;
    char out[256];
    bool equality = n->op == OP_EQUAL || n->op == OP_UNEQUAL || n->op == OP_HAS;
    switch (n->field) {
    case SESSION_ANYWHERE: return stands_somewhere(s, n->value);
    case SESSION_ID: return compare(n->op, (double)r->id, n->number, 0);
    case SESSION_TRIALS: return compare(n->op, (double)r->trials, n->number, 0);
    case SESSION_BUDGET: return compare(n->op, (double)r->budget_trials, n->number, 0);
    case SESSION_BEST:
        return compare(n->op, session_best_number(r, s->per_flops, equality), n->number, 0);
    case SESSION_SEED:
        if (!equality)
            return compare(n->op, (double)r->seed, n->number, 0);
        snprintf(out, sizeof out, "%" PRIu64, r->seed); // a real cannot hold all of its digits
        return str_equal(out, n->value) == (n->op != OP_UNEQUAL);
    default: break;
    }
    bool holds = text_holds(n, session_text(s->row, n->field, out));
    if (n->field != SESSION_STRATEGY || n->op == OP_CONTAINS)
        return holds;
    // Equal to what is shown, too, which leaves out options that are standard.
    bool shown_holds = text_holds(n, strategy_text(r->strategy, false, out));
    return n->op == OP_EQUAL ? holds || shown_holds : holds && shown_holds;
}

// --- the grammar ---

enum token { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_OP, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_BAD };

struct parser {
    struct filter *filter;
    const char *text;
    const char *at;   // where the token begins
    const char *next; // where the one after it begins
    enum token token;
    enum op op;
    struct str word;
    int depth;
    struct err *e;
};

// Signs that a word cannot hold unless it is quoted; a colon ends names only.
#define VALUE_SIGNS " \t\r\n()\"=<>~!"
#define NAME_SIGNS  VALUE_SIGNS ":"

// Sets the error `what` (NULL: it is set), with the column (in characters) before it. Returns -1,
// which is no node.
static int fail(const struct parser *p, const char *at, const char *what)
{
    int column = 1;
    for (const char *c = p->text; c < at; c++)
        column += ((unsigned char)*c & 0xc0) != 0x80;
    if (what)
        err_set(p->e, "%s", what);
    err_prefix(p->e, "column %d", column);
    return -1;
}

static void advance(struct parser *p, const char *signs)
{
    // Longer ones first, so that <= is not < and =.
    static const struct {
        const char *text;
        enum op op;
    } ops[] = {{"!=", OP_UNEQUAL}, {"<=", OP_AT_MOST}, {">=", OP_AT_LEAST},
               {"==", OP_EQUAL},   {"=", OP_EQUAL},    {"<", OP_LESS},
               {">", OP_GREATER},  {"~", OP_CONTAINS}, {":", OP_HAS}};
    p->at = p->next + strspn(p->next, " \t\r\n");
    p->next = p->at + 1;
    p->word.length = 0;
    str_add(&p->word, "");
    size_t length = strcspn(p->at, signs);
    if (!*p->at) {
        p->token = TOKEN_END;
        p->next = p->at;
    } else if (*p->at == '(' || *p->at == ')') {
        p->token = *p->at == '(' ? TOKEN_OPEN : TOKEN_CLOSE;
    } else if (*p->at == '"') {
        const char *c = p->at + 1;
        for (; *c && *c != '"'; c++) {
            c += *c == '\\' && (c[1] == '"' || c[1] == '\\');
            str_add_char(&p->word, *c);
        }
        p->next = c + (*c == '"');
        p->token = *c ? TOKEN_QUOTED : TOKEN_BAD;
    } else if (length > 0) {
        str_add_bytes(&p->word, p->at, length);
        p->next = p->at + length;
        p->token = TOKEN_WORD;
    } else {
        p->token = TOKEN_BAD;
        for (size_t i = 0; i < sizeof ops / sizeof *ops && p->token == TOKEN_BAD; i++)
            if (str_starts(p->at, ops[i].text)) {
                p->op = ops[i].op;
                p->next = p->at + strlen(ops[i].text);
                p->token = TOKEN_OP;
            }
    }
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token == TOKEN_WORD && str_equal(str_text(&p->word), word);
}

// Returns the index of the new node; -1 and the error: there are too many.
static int add_node(struct parser *p, const struct node *node)
{
    struct filter *f = p->filter;
    if (f->count == MOST_NODES)
        return fail(p, p->at, "that is too long");
    MEM_GROW(f->node, f->count, f->capacity);
    f->node[f->count] = *node;
    return f->count++;
}

// Fills the term of a word that stands alone.
static bool set_word_alone(struct filter *f, struct node *n, const char *word, bool quoted,
                           struct err *e)
{
    enum outcome outcome;
    if (f->kind == &session_kind) {
        n->field = SESSION_ANYWHERE;
        n->value = word;
        return true;
    }
    if (quoted)
        return err_set(e, "a name belongs here, without quotes");
    if (outcome_parse(word, &outcome))
        return err_set(e, "'%s' is an outcome: outcome=%s", word, word);
    if (!set_name(f, n, word, e))
        return false;
    return n->field == FIELD_EARLY || n->field == FIELD_FAILED
               ? set_value(f, n, OP_EQUAL, "yes", e)
               : err_set(e, "'%s' needs = != < <= > >= : or ~ and a value after it", word);
}

// Fills the term of a name and the value that is the present token.
static bool set_term(struct parser *p, struct node *n, const char *name, enum op op,
                     const char *begin)
{
    struct filter *f = p->filter;
    if (set_name(f, n, name, p->e)) {
        if (set_value(f, n, op, str_text(&p->word), p->e))
            return true;
        fail(p, p->at, NULL);
        return false;
    }
    if (f->kind == &session_kind) {
        struct shown_row s;
        sessions_unit(f->model, &s.per_flops);
        n->field = SESSION_ANYWHERE;
        n->value = arena_printf(&f->arena, "%.*s", (int)(p->next - begin), begin);
        for (int i = 0; i < f->model->session_count; i++) {
            s.row = &f->model->session[i];
            if (stands_somewhere(&s, n->value))
                return true;
        }
    }
    fail(p, begin, NULL);
    return false;
}

// NAME OP VALUE, or a word alone. The present token is the name.
static int parse_term(struct parser *p)
{
    const char *begin = p->at;
    bool quoted = p->token == TOKEN_QUOTED;
    if (p->token == TOKEN_END)
        return fail(p, p->at, "something is missing here");
    if (p->token == TOKEN_CLOSE)
        return fail(p, p->at, "a term is missing before ')'");
    if (p->token == TOKEN_BAD && *begin == '"')
        return fail(p, p->at, "the closing '\"' is missing");
    if (p->token != TOKEN_WORD && !quoted)
        return fail(p, p->at, "a name belongs here");
    int node = add_node(p, &(struct node){.kind = NODE_TERM});
    if (node < 0)
        return -1;
    struct node *n = &p->filter->node[node];
    const char *name = arena_strdup(&p->filter->arena, str_text(&p->word));
    advance(p, NAME_SIGNS);
    if (p->token != TOKEN_OP)
        return set_word_alone(p->filter, n, name, quoted, p->e) ? node : fail(p, begin, NULL);
    if (quoted)
        return fail(p, begin, "a name belongs here, without quotes");
    enum op op = p->op;
    advance(p, VALUE_SIGNS);
    if (p->token == TOKEN_BAD && *p->at == '"')
        return fail(p, p->at, "the closing '\"' is missing");
    if (p->token != TOKEN_WORD && p->token != TOKEN_QUOTED)
        return fail(p, p->at, "a value belongs here");
    if (!set_term(p, n, name, op, begin))
        return -1;
    advance(p, NAME_SIGNS);
    return node;
}

static int parse_joined(struct parser *p, bool by_or);

// `not` and a factor, an expression in parentheses, or a term.
static int parse_factor(struct parser *p)
{
    const char *begin = p->at;
    bool is_not = is_word(p, "not");
    int node;
    if (p->depth == MOST_DEPTH)
        return fail(p, p->at, "too many parentheses and nots");
    p->depth++;
    if (!is_not && p->token != TOKEN_OPEN) {
        node = parse_term(p);
    } else {
        advance(p, NAME_SIGNS);
        node = is_not ? parse_factor(p) : parse_joined(p, true);
        if (node >= 0 && is_not) {
            node = add_node(p, &(struct node){.kind = NODE_NOT, .left = node});
        } else if (node >= 0 && p->token != TOKEN_CLOSE) {
            node = fail(p, begin, "this '(' is never closed");
        } else if (node >= 0) {
            advance(p, NAME_SIGNS);
        }
    }
    p->depth--;
    return node;
}

// Factors joined by `and` or a blank; `by_or`: such expressions joined by `or`.
static int parse_joined(struct parser *p, bool by_or)
{
    int left = by_or ? parse_joined(p, false) : parse_factor(p);
    while (left >= 0 && p->token != TOKEN_END && p->token != TOKEN_CLOSE &&
           is_word(p, "or") == by_or) {
        if (by_or || is_word(p, "and"))
            advance(p, NAME_SIGNS);
        int right = by_or ? parse_joined(p, false) : parse_factor(p);
        left =
            right < 0 ? -1 : add_node(p, &(struct node){by_or ? NODE_OR : NODE_AND, left, right});
    }
    return left;
}

// --- filters ---

static struct filter *compile(const char *text, const struct filter *as, struct err *e)
{
    struct filter *f = mem_zero(1, sizeof *f);
    struct err unread;
    struct parser p = {.filter = f, .text = text, .next = text, .e = e ? e : &unread};
    *f = *as;
    f->root = -1;
    f->params = f->space ? f->space->param_count : 0;
    arena_init(&f->arena);
    advance(&p, NAME_SIGNS);
    bool empty = p.token == TOKEN_END;
    if (!empty)
        f->root = parse_joined(&p, true);
    if (f->root >= 0 && p.token != TOKEN_END)
        f->root = fail(&p, p.at, "')' without a '('");
    str_finish(&p.word);
    if (empty || f->root >= 0)
        return f;
    filter_destroy(f);
    return NULL;
}

struct filter *filter_compile(const char *text, const struct space *space,
                              const struct filter_amounts *a, struct err *e)
{
    return compile(text, &(struct filter){.kind = &trial_kind, .space = space, .amounts = *a}, e);
}

struct filter *session_filter_compile(const char *text, const struct model *m, struct err *e)
{
    return compile(text, &(struct filter){.kind = &session_kind, .model = m}, e);
}

void filter_destroy(struct filter *f)
{
    if (!f)
        return;
    arena_finish(&f->arena);
    free(f->node);
    free(f);
}

static bool holds(const struct filter *f, int index, const void *item)
{
    const struct node *n = &f->node[index];
    switch (n->kind) {
    case NODE_NOT: return !holds(f, n->left, item);
    case NODE_AND: return holds(f, n->left, item) && holds(f, n->right, item);
    case NODE_OR: return holds(f, n->left, item) || holds(f, n->right, item);
    default: return f->kind == &trial_kind ? trial_holds(f, n, item) : session_holds(n, item);
    }
}

bool filter_accepts(const struct filter *f, const struct trial *t)
{
    return f->root < 0 || holds(f, f->root, t);
}

bool session_filter_accepts(const struct filter *f, const struct session_row *row, double per_flops)
{
    return !f || f->root < 0 || holds(f, f->root, &(struct shown_row){row, per_flops});
}

bool filter_is_empty(const struct filter *f)
{
    return f->root < 0;
}

// Returns true when some term that is not negated asks for rejected trials.
static bool asks_rejected(const struct filter *f, int index, bool negated)
{
    const struct node *n = &f->node[index];
    if (n->kind == NODE_TERM)
        return !negated && n->op != OP_UNEQUAL &&
               (n->field == FIELD_REASON ||
                (n->field == FIELD_OUTCOME && n->holds[OUTCOME_REJECTED]));
    negated ^= n->kind == NODE_NOT;
    return asks_rejected(f, n->left, negated) ||
           (n->kind != NODE_NOT && asks_rejected(f, n->right, negated));
}

bool filter_asks_rejected(const struct filter *f)
{
    return f->root >= 0 && asks_rejected(f, f->root, false);
}
