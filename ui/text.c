#include "text.h"

#include "engine/speed.h"
#include "report/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names are kept as letters and digits, with a note where words begin.
struct letters {
    char text[64];
    bool begins[64];
    int count, words;
};

// Makes the k-th name to try, of at most `most` letters; there are always more than parameters.
static void candidate(const struct letters *l, int most, int k, char out[4])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    int n = 0;
    if (k == 0) {
        for (int i = 0; i < l->count && n < most; i++)
            if (l->words <= 1 || l->begins[i])
                out[n++] = l->text[i];
    } else if (k < l->count) {
        out[n++] = l->text[0];
        out[n++] = l->text[k];
    } else {
        int pair = k - l->count + 1;
        out[n++] = digits[10 + pair / 36 % 26];
        out[n++] = digits[pair % 36];
    }
    out[n] = '\0';
}

void short_names(const struct space *s, char out[SPACE_MAX_PARAMS][4])
{
    for (int i = 0; i < s->param_count; i++) {
        const char *name = s->param[i].name;
        struct letters l = {.count = 0};
        bool begins = true;
        for (; *name && l.count < (int)sizeof l.text; name++) {
            unsigned char c = (unsigned char)*name;
            if (c > 127 || !isalnum(c)) {
                begins = true;
                continue;
            }
            l.text[l.count] = (char)c;
            l.begins[l.count++] = begins;
            l.words += begins;
            begins = false;
        }
        int most = (s->param[i].kind == PARAM_FACTORIZATION) ? 2 : 3;
        bool is_free = false;
        for (int k = 0; !is_free; k++) {
            candidate(&l, most, k, out[i]);
            is_free = out[i][0] != '\0';
            for (int j = 0; j < i; j++)
                is_free &= strcmp(out[j], out[i]) != 0;
        }
    }
}

void value_add_text(const struct param *p, const int32_t *v, struct str *out)
{
    if (p->kind == PARAM_FACTORIZATION || p->kind == PARAM_PERMUTATION) {
        for (int i = 0; i < p->width; i++) {
            str_add(out, i > 0 ? "," : "");
            if (p->kind == PARAM_FACTORIZATION)
                str_add_int(out, v[i]);
            else
                str_add(out, p->label[v[i]]);
        }
    } else if (p->label) {
        str_add(out, p->label[v[0]]);
    } else {
        str_add_real(out, p->number[v[0]]);
    }
}

void factor_add_value(const struct space *s, struct factor f, const struct config *c,
                      struct str *out)
{
    const struct param *p = &s->param[f.param];
    const int32_t *v = c->slot + p->offset;
    if (!space_is_live(s, c, f.param))
        str_add_char(out, '-');
    else if (f.slot >= 0)
        str_add_int(out, v[f.slot]);
    else
        value_add_text(p, v, out);
}

void label_add_brief(const struct param *p, int i, struct str *out)
{
    const char *own = p->label[i];
    size_t at = 1;
    for (bool same = true; own[at] && same; at += same) {
        same = false;
        for (int k = 0; k < p->count && !same; k++)
            same = k != i && p->label[k][0] == own[0] && strlen(p->label[k]) > at &&
                   p->label[k][at] == own[at];
    }
    for (const char *letter = own; *letter; letter++)
        if ((unsigned char)*letter > 127) { // letters of several bytes
            str_add(out, own);
            return;
        }
    str_printf(out, "%.1s%.1s", own, own[at] ? own + at : "");
}

void factor_add_brief(const struct space *s, struct factor f, const struct config *c,
                      struct str *out)
{
    const struct param *p = &s->param[f.param];
    const int32_t *v = c->slot + p->offset;
    if (!p->label || !space_is_live(s, c, f.param))
        factor_add_value(s, f, c, out);
    else if (p->kind == PARAM_PERMUTATION)
        for (int i = 0; i < p->width; i++)
            str_printf(out, "%.1s", p->label[v[i]]);
    else
        label_add_brief(p, v[0], out);
}

enum style factor_style(const struct space *s, struct factor f, const struct config *c)
{
    const struct param *p = &s->param[f.param];
    const int32_t *v = c->slot + p->offset;
    double position = param_position(p, v, f.slot >= 0 ? f.slot : 0);
    if (p->kind == PARAM_PERMUTATION) // by the place of the order among all
        return paint_category(
            (int)fmod(nearbyint(position * ((double)p->size - 1)), MOST_CATEGORIES));
    return p->label ? paint_category(v[0]) : paint_ordered(position);
}

bool value_equal(const struct param *p, const struct config *a, const struct config *b)
{
    return memcmp(a->slot + p->offset, b->slot + p->offset, (size_t)p->width * sizeof *a->slot) ==
           0;
}

void config_add_difference(const struct space *s, const struct config *c, const struct config *from,
                           char (*brief)[4], struct str *out)
{
    const char *blank = "";
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        if (!space_is_live(s, c, i) || (from && value_equal(p, c, from)))
            continue;
        str_add(out, blank);
        str_add(out, brief ? brief[i] : p->name);
        str_add_char(out, '=');
        value_add_text(p, c->slot + p->offset, out);
        blank = " ";
    }
}

static int decimals(double best)
{
    return best >= 100 ? 1 : best >= 10 ? 2 : 3;
}

const char *speed_number(const struct model *m, double flops, char out[24])
{
    double per;
    model_unit(m, &per);
    out[0] = '\0';
    if (flops > 0) {
        double best = per * seconds_speed(m, m->open.record.best_seconds), value = per * flops;
        bool is_inverse = speed_is_inverse(&m->open.record);
        snprintf(out, 24, "%.*f", decimals(is_inverse ? 1 / best : best),
                 is_inverse ? 1 / value : value);
    }
    return out;
}

const char *no_trial_text(const struct model *m)
{
    return m->open.record.scheduler ? "A network's trials are those of its tasks (screen Network)."
                                    : "No trial has ended yet.";
}

const char *model_time_unit(const struct model *m, double *per_second)
{
    double best = m->open.record.best_seconds;
    if (speed_objective(&m->open.record).kind != OBJECTIVE_TIME) {
        *per_second = 0; // what is measured is no time
        return "-";
    }
    *per_second = best >= 1 || best <= 0 ? 1 : best >= 1e-3 ? 1e3 : 1e6;
    return best >= 1 || best <= 0 ? "s" : best >= 1e-3 ? "ms" : "us";
}

const char *time_number(const struct model *m, double seconds, char out[24])
{
    double per;
    model_time_unit(m, &per);
    out[0] = '\0';
    if (seconds > 0 && per > 0)
        snprintf(out, 24, "%.*f", decimals(m->open.record.best_seconds * per), seconds * per);
    return out;
}

char *best_step_text(const struct model *m, int step, char out[BEST_STEP_SIZE])
{
    const struct opened *o = &m->open;
    const struct best_step *s = &o->curve.step[step];
    const struct network_summary *n = &o->network;
    bool whole = o->record.scheduler != NULL;
    double before = step > 0 && s->seconds > 0 ? s[-1].seconds / s->seconds : 0;
    char task[64] = "", best[32], change[32] = "";
    for (int i = 0; whole && i < n->round_count; i++)
        if (n->round[i].told && n->round[i].all_trials == s->number)
            snprintf(task, sizeof task, "%.40s, ", n->task[n->round[i].task - 1].task->name);
    if (before > 0)
        snprintf(change, sizeof change, " (%+.1f %%)", 100 * ((whole ? 1 / before : before) - 1));
    snprintf(out, BEST_STEP_SIZE, "best  %strial %" PRId64 ": %s%s%s", task, s->number,
             whole ? "sum of parts " : "",
             whole ? text_time(s->seconds, best) : speed_text(&o->record, s->seconds, best),
             change);
    return out;
}

bool trial_shows_race(const struct trial *t)
{
    return t->raced && t->race_verified;
}

double trial_shown_seconds(const struct trial *t)
{
    return trial_shows_race(t) ? t->race_seconds : t->seconds;
}

double trial_shown_speed(const struct model *m, const struct trial *t)
{
    return seconds_speed(m, trial_shown_seconds(t));
}

const char *trial_word(const struct model *m, const struct trial *t)
{
    if (t->told == 0)
        return "in flight";
    if (t->outcome != OUTCOME_OK)
        return outcome_name(t->outcome);
    if (t->ask == m->open.record.best_ask)
        return "BEST";
    return trial_shows_race(t) ? "raced" : t->early_stopped ? "early" : "ok";
}

enum style trial_style(const struct model *m, const struct trial *t)
{
    if (t->told == 0 || t->outcome == OUTCOME_REJECTED)
        return STYLE_DIM;
    if (t->outcome != OUTCOME_OK)
        return STYLE_BAD;
    if (t->ask == m->open.record.best_ask)
        return STYLE_BEST;
    return t->early_stopped && !trial_shows_race(t) ? STYLE_WARN : STYLE_TEXT;
}

const char *sessions_unit(const struct model *m, double *per_flops)
{
    double best = 0;
    for (int i = 0; i < m->session_count; i++)
        best = fmax(best, record_speed(&m->session[i].record));
    const char *name;
    *per_flops = 1 / text_rate_unit(best, WORK_FLOP, &name);
    return name;
}

char *sessions_speed(double flops, double per_flops, char out[24])
{
    const char *name;
    double value = flops * per_flops, own = text_rate_unit(flops, WORK_FLOP, &name);
    out[0] = '\0';
    if (flops > 0 && own * per_flops < 0.1) // beside much faster ones: in its own unit
        snprintf(out, 24, "%.3g %c", flops / own, name[0]);
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

enum style state_style(enum session_state state, enum style other)
{
    return state == STATE_RUNNING   ? STYLE_GOOD
           : state == STATE_FAILED  ? STYLE_BAD
           : state == STATE_DAMAGED ? STYLE_BAD
           : state == STATE_PAUSED  ? STYLE_WARN
                                    : other;
}

const char *state_word(enum session_state state, const struct session_record *r)
{
    // A task of a network has only spent its rounds so far.
    bool spent = !r->network && r->budget_trials > 0 && r->trials >= r->budget_trials;
    return spent && state == STATE_RUNNING ? "racing" : state_name(state);
}
