#include "view_trials.h"

#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST_PARAM 24
#define LEAST_REASON 24
#define MOST_WORDS   4096
#define MOST_LOOKED  512 // values of a parameter, from either end
#define SLICE        500
#define LEAST_MERGE  256
#define MOST_FRESH   8192
// Ranks are searched at these many places around the last one, and by halves when there are fewer.
#define NEAR_RANKS   32
#define MOST_HALVING 100000

// --- columns ---

static int param_columns(const struct param *p)
{
    int widest = 1;
    struct str text = {0};
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        // Two factors have at most one digit more than their product, n factors n - 1 more.
        widest += 2 * (p->width - 1);
        for (int32_t product = p->product; product >= 10; product /= 10)
            widest++;
        break;
    case PARAM_PERMUTATION:
        widest = p->width - 1;
        for (int i = 0; i < p->width; i++)
            widest += text_columns(p->label[i]);
        break;
    default:
        for (int32_t i = 0; i < p->count; i++) {
            if (i == MOST_LOOKED && p->count > 2 * MOST_LOOKED)
                i = p->count - MOST_LOOKED;
            text.length = 0;
            value_add_text(p, &i, &text);
            widest = int_max(widest, text_columns(str_text(&text)));
        }
    }
    str_finish(&text);
    return int_min(int_max(widest, text_columns(p->name)), WIDEST_PARAM);
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

double column_key(const struct column *c, const struct trial *t, struct words *words)
{
    double seconds = trial_shown_seconds(t), key = 0;
    switch (c->kind) {
    case COLUMN_NUMBER: return t->number > 0 ? (double)t->number : NAN;
    case COLUMN_SPEED: return seconds > 0 ? 1 / seconds : NAN;
    case COLUMN_OUTCOME: return t->told ? t->outcome + (t->early_stopped ? 0.5 : 0) : NAN;
    case COLUMN_SPREAD: return t->samples > 1 && !trial_shows_race(t) ? t->spread : NAN;
    case COLUMN_TIME: return seconds > 0 ? seconds : NAN;
    case COLUMN_GENERATION: return t->generation;
    case COLUMN_ASK: return (double)t->ask;
    case COLUMN_REASON: {
        struct str reason = {0};
        add_reason(t, &reason);
        key = reason.length ? words_key(words, str_text(&reason)) : NAN;
        str_finish(&reason);
        return key;
    }
    case COLUMN_PARAM: break;
    }
    // Lists sort by their first part, then by the second, and so on.
    const struct param *p = c->param;
    double base = (p->kind == PARAM_FACTORIZATION ? p->product : p->count) + 1.0;
    for (int i = p->width - 1; i >= 0; i--)
        key = key / base + t->config.slot[p->offset + i];
    return t->has_config ? key : NAN;
}

double words_key(struct words *w, const char *text)
{
    int low = 0, at = w->count;
    while (low < at) {
        int middle = (low + at) / 2, order = strcmp(text, w->word[middle].text);
        if (order == 0)
            return w->word[middle].key;
        if (order < 0)
            at = middle;
        else
            low = middle + 1;
    }
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

// --- the list of rows ---

void rows_start(struct rows *r, const struct model *m, const struct rows_order *o)
{
    rows_finish(r);
    r->order = *o;
    bool all = !o->filter && !o->rejected;
    r->kind = all && o->by.kind == COLUMN_NUMBER                   ? ROWS_NUMBERED
              : all && o->by.kind == COLUMN_SPEED && o->descending ? ROWS_RANKED
                                                                   : ROWS_LISTED;
    scan_start(&r->scan, m);
    r->more = r->kind == ROWS_LISTED;
}

void rows_finish(struct rows *r)
{
    free(r->entry);
    free(r->fresh);
    words_finish(&r->words);
    *r = (struct rows){0};
}

// Makes the entry of a trial. Returns false when it is no row.
static bool make_entry(struct rows *r, const struct trial *t, struct rows_entry *e)
{
    const struct rows_order *o = &r->order;
    if (t->told == 0 || (t->number == 0 && !o->rejected) ||
        (o->filter && !filter_accepts(o->filter, t)))
        return false;
    double key = column_key(&o->by, t, &r->words);
    *e = (struct rows_entry){isnan(key) ? INFINITY : o->descending ? -key : key, t->ask};
    return true;
}

static void rows_add_trial(void *context, const struct trial *t)
{
    struct rows *r = context;
    struct rows_entry e;
    if (!make_entry(r, t, &e))
        return;
    MEM_GROW(r->fresh, r->fresh_count, r->fresh_capacity);
    r->fresh[r->fresh_count++] = e;
}

static int compare_entries(const void *a, const void *b)
{
    const struct rows_entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->ask > y->ask) - (x->ask < y->ask);
}

// Counts the first `count` entries that come before `e`.
static int64_t place_of(const struct rows *r, int64_t count, const struct rows_entry *e)
{
    int64_t low = 0;
    while (low < count) {
        int64_t middle = low + (count - low) / 2;
        if (compare_entries(&r->entry[middle], e) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

bool rows_step(struct rows *r, struct model *m)
{
    if (r->kind != ROWS_LISTED)
        return false;
    r->more = scan_step(&r->scan, m, SLICE, rows_add_trial, r);
    int64_t due = int64_clamp(r->count / 8, LEAST_MERGE, MOST_FRESH);
    if (r->fresh_count == 0 || (r->more && r->fresh_count < due))
        return r->more;
    int64_t end = r->count;
    r->count += r->fresh_count;
    if (r->capacity < r->count) {
        r->capacity = int64_max(r->count, 2 * r->capacity);
        r->entry = mem_resize(r->entry, (size_t)r->capacity, sizeof *r->entry);
    }
    // From the end: each new entry goes to its place, and everything behind it moves once.
    qsort(r->fresh, (size_t)r->fresh_count, sizeof *r->fresh, compare_entries);
    for (int64_t i = r->fresh_count - 1; i >= 0; i--) {
        int64_t place = place_of(r, end, &r->fresh[i]);
        memmove(r->entry + place + i + 1, r->entry + place,
                (size_t)(end - place) * sizeof *r->entry);
        r->entry[place + i] = r->fresh[i];
        end = place;
    }
    r->fresh_count = 0;
    return r->more;
}

// --- places ---

int64_t rows_count(const struct rows *r, const struct model *m)
{
    switch (r->kind) {
    case ROWS_NUMBERED: return m->open.last_number;
    case ROWS_RANKED: return m->open.tally[OUTCOME_OK];
    default: return r->count;
    }
}

const struct trial *rows_at(const struct rows *r, struct model *m, int64_t place)
{
    if (place < 0 || place >= rows_count(r, m))
        return NULL;
    switch (r->kind) {
    case ROWS_NUMBERED:
        return model_trial_numbered(m,
                                    r->order.descending ? m->open.last_number - place : place + 1);
    case ROWS_RANKED: return model_trial_ranked(m, place);
    default: return model_trial(m, r->entry[place].ask);
    }
}

static bool is_ranked_at(struct model *m, int64_t ask, int64_t place)
{
    const struct trial *t = model_trial_ranked(m, place);
    return t && t->ask == ask;
}

int64_t rows_find(struct rows *r, struct model *m, int64_t ask, int64_t near)
{
    const struct trial *t = model_trial(m, ask);
    if (!t)
        return -1;
    if (r->kind == ROWS_LISTED) {
        struct rows_entry e;
        if (!make_entry(r, t, &e))
            return -1;
        int64_t place = place_of(r, r->count, &e);
        return place < r->count && r->entry[place].ask == t->ask ? place : -1;
    }
    if (r->kind == ROWS_NUMBERED) {
        if (t->number == 0)
            return -1;
        return r->order.descending ? m->open.last_number - t->number : t->number - 1;
    }
    struct rank rank = trial_rank(t);
    if (rank.seconds <= 0)
        return -1;
    // Searches around `near`, then by halves; trials of equal rank are in the order asked.
    for (int64_t by = 0; by < NEAR_RANKS; by++) {
        if (is_ranked_at(m, ask, near + by))
            return near + by;
        if (near >= by && is_ranked_at(m, ask, near - by))
            return near - by;
    }
    int64_t low = 0, high = m->open.tally[OUTCOME_OK];
    if (high > MOST_HALVING)
        return -1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        const struct trial *there = model_trial_ranked(m, middle);
        struct rank other = there ? trial_rank(there) : (struct rank){0, false};
        if (rank_is_better(other, rank) ||
            (!rank_is_better(rank, other) && there && there->ask < ask))
            low = middle + 1;
        else
            high = middle;
    }
    return is_ranked_at(m, ask, low) ? low : -1;
}
