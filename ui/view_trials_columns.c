#include "view_trials_columns.h"

#include "base/minmax.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST_PARAM 24
#define LEAST_REASON 24
#define MOST_WORDS   4096
#define MOST_LOOKED  512 // values of a parameter, from either end

static int digits(int64_t number)
{
    int n = 1;
    for (; number >= 10; number /= 10)
        n++;
    return n;
}

static int widest_value(const struct param *p)
{
    struct str text = {0};
    int widest = 1;
    for (int32_t i = 0; i < p->count; i++) {
        if (i == MOST_LOOKED && p->count > 2 * MOST_LOOKED)
            i = p->count - MOST_LOOKED;
        text.length = 0;
        value_add_text(p, &i, &text);
        widest = int_max(widest, text_columns(str_text(&text)));
    }
    str_finish(&text);
    return widest;
}

static int widest_order(const struct param *p)
{
    int width = p->width - 1;
    for (int i = 0; i < p->width; i++)
        width += text_columns(p->label[i]);
    return width;
}

static int param_columns(const struct param *p)
{
    // Two factors have at most one digit more than their product, n factors n - 1 more.
    int width = p->kind == PARAM_FACTORIZATION ? digits(p->product) + 2 * (p->width - 1)
                : p->kind == PARAM_PERMUTATION ? widest_order(p)
                                               : widest_value(p);
    width = int_max(width, text_columns(p->name));
    return width < WIDEST_PARAM ? width : WIDEST_PARAM;
}

void columns_make(struct columns *c, const struct model *m)
{
    static const struct column first[] = {
        {COLUMN_NUMBER, NULL, 5, true},   {COLUMN_SPEED, NULL, 7, true},
        {COLUMN_OUTCOME, NULL, 9, false}, {COLUMN_SPREAD, NULL, 5, true},
        {COLUMN_TIME, NULL, 7, true},     {COLUMN_GENERATION, NULL, 4, true},
        {COLUMN_ASK, NULL, 5, true},
    };
    const struct space *s = m->open.space;
    c->count = sizeof first / sizeof *first;
    memcpy(c->column, first, sizeof first);
    for (int i = 0; s && i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        c->column[c->count++] =
            (struct column){COLUMN_PARAM, p, param_columns(p), p->number && p->width == 1};
    }
    c->column[c->count++] = (struct column){COLUMN_REASON, NULL, LEAST_REASON, false};
}

const char *column_head(const struct column *c, const struct model *m)
{
    double per;
    switch (c->kind) {
    case COLUMN_NUMBER: return "trial";
    case COLUMN_SPEED: return model_unit(m, &per);
    case COLUMN_OUTCOME: return "outcome";
    case COLUMN_SPREAD: return "±%";
    case COLUMN_TIME: return model_time_unit(m, &per);
    case COLUMN_GENERATION: return "gen";
    case COLUMN_ASK: return "ask";
    case COLUMN_REASON: return "reason";
    default: return c->param->name;
    }
}

static void add_reason(const struct trial *t, struct str *out)
{
    if (!t->reason[0])
        return;
    if (t->phase[0] && strcmp(t->phase, "none") != 0)
        str_printf(out, "%s: ", t->phase);
    str_add(out, t->reason);
}

void column_add_text(const struct column *c, const struct model *m, const struct trial *t,
                     struct str *out)
{
    char number[24];
    switch (c->kind) {
    case COLUMN_NUMBER:
        if (t->number > 0)
            str_printf(out, "%" PRId64, t->number);
        break;
    case COLUMN_SPEED: str_add(out, speed_number(m, trial_shown_speed(m, t), number)); break;
    case COLUMN_OUTCOME: str_add(out, trial_word(m, t)); break;
    case COLUMN_SPREAD:
        if (trial_shows_race(t))
            str_add(out, "race");
        else if (t->samples > 1)
            str_printf(out, "%.1f", 50 * t->spread); // half of the range
        break;
    case COLUMN_TIME: str_add(out, time_number(m, trial_shown_seconds(t), number)); break;
    case COLUMN_GENERATION: str_printf(out, "%d", t->generation); break;
    case COLUMN_ASK: str_printf(out, "%" PRId64, t->ask); break;
    case COLUMN_REASON: add_reason(t, out); break;
    case COLUMN_PARAM:
        if (t->has_config &&
            !space_is_live(m->open.space, &t->config, (int)(c->param - m->open.space->param)))
            str_add(out, "-"); // the configuration has no such parameter
        else if (t->has_config)
            value_add_text(c->param, t->config.slot + c->param->offset, out);
        break;
    }
}

// Lists sort by their first part, then by the second, ...
static double param_key(const struct param *p, const int32_t *v)
{
    double key = 0, base = (p->kind == PARAM_FACTORIZATION ? p->product : p->count) + 1.0;
    for (int i = p->width - 1; i >= 0; i--)
        key = key / base + v[i];
    return key;
}

double column_key(const struct column *c, const struct trial *t, struct words *words)
{
    double seconds = trial_shown_seconds(t);
    switch (c->kind) {
    case COLUMN_NUMBER: return t->number > 0 ? (double)t->number : NAN;
    case COLUMN_SPEED: return seconds > 0 ? 1 / seconds : NAN;
    case COLUMN_OUTCOME: return t->told ? t->outcome + (t->early_stopped ? 0.5 : 0) : NAN;
    case COLUMN_SPREAD: return t->samples > 1 && !trial_shows_race(t) ? t->spread : NAN;
    case COLUMN_TIME: return seconds > 0 ? seconds : NAN;
    case COLUMN_GENERATION: return t->generation;
    case COLUMN_ASK: return (double)t->ask;
    case COLUMN_REASON: break;
    case COLUMN_PARAM:
        return t->has_config ? param_key(c->param, t->config.slot + c->param->offset) : NAN;
    }
    struct str reason = {0};
    add_reason(t, &reason);
    double key = reason.length ? words_key(words, str_text(&reason)) : NAN;
    str_finish(&reason);
    return key;
}

// Where a text is or belongs; `*found` says which.
static int find_word(const struct words *w, const char *text, bool *found)
{
    int low = 0, high = w->count;
    *found = false;
    while (low < high && !*found) {
        int middle = (low + high) / 2, order = strcmp(text, w->word[middle].text);
        *found = order == 0;
        if (order <= 0)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

// A new word gets the number half-way between its neighbours. When there are too many words, or no
// number is left between two, it shares its neighbour's.
double words_key(struct words *w, const char *text)
{
    bool found;
    int at = find_word(w, text, &found);
    if (found)
        return w->word[at].key;
    double before = at > 0 ? w->word[at - 1].key : at < w->count ? w->word[at].key - 2 : -1;
    double after = at < w->count ? w->word[at].key : before + 2;
    double key = before + (after - before) / 2;
    if (w->count == MOST_WORDS)
        return at > 0 ? before : after;
    MEM_GROW(w->word, w->count, w->capacity);
    memmove(w->word + at + 1, w->word + at, (size_t)(w->count - at) * sizeof *w->word);
    w->word[at] = (struct word){mem_strdup(text), key};
    w->count++;
    return key;
}

void words_finish(struct words *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->word[i].text);
    free(w->word);
    *w = (struct words){0};
}
