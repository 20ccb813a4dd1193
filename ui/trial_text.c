#include "trial_text.h"

#include "app.h"

#include <ctype.h>
#include <inttypes.h>
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
        double best = seconds_speed(m, m->open.record.best_seconds);
        snprintf(out, 24, "%.*f", decimals(best * per), flops * per);
    }
    return out;
}

const char *model_time_unit(const struct model *m, double *per_second)
{
    double best = m->open.record.best_seconds;
    *per_second = best >= 1 || best <= 0 ? 1 : best >= 1e-3 ? 1e3 : 1e6;
    return best >= 1 || best <= 0 ? "s" : best >= 1e-3 ? "ms" : "us";
}

const char *time_number(const struct model *m, double seconds, char out[24])
{
    double per;
    model_time_unit(m, &per);
    out[0] = '\0';
    if (seconds > 0)
        snprintf(out, 24, "%.*f", decimals(m->open.record.best_seconds * per), seconds * per);
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

const struct trial *shown_trial(struct app *app)
{
    if (app->follow && app->model.open.last_number > 0)
        return model_trial_numbered(&app->model, app->model.open.last_number);
    return app->selected > 0 ? model_trial(&app->model, app->selected) : NULL;
}
