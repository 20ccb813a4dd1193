#include "search/strategy.h"

#include "search/schedule.h"

#include <assert.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *strategy_kind_name(int kind)
{
    return strategy_kinds[kind] ? strategy_kinds[kind]->name : NULL;
}

static const struct spec_option *strategy_kind_options(int kind)
{
    return strategy_kinds[kind]->options;
}

static const struct spec_family family = {"strategy", strategy_kind_name, strategy_kind_options};

// Strategies of earlier versions, which are best nowhere.
static const char *const gone[] = {"de", "lfbo", "portfolio"};

// Says so for a spec with such a name that is not in the table.
static bool parse(const char *spec, struct spec *out, struct err *e)
{
    size_t length = strcspn(spec, ":");
    if (spec_parse(&family, spec, out, e))
        return true;
    for (size_t i = 0; out->kind < 0 && i < sizeof gone / sizeof *gone; i++)
        if (strlen(gone[i]) == length && memcmp(gone[i], spec, length) == 0)
            return err_usage(e,
                             "strategy '%s' is not part of tilewalk any more: its sessions are "
                             "shown and exported, but not resumed",
                             gone[i]);
    return false;
}

const struct strategy_kind *strategy_find(const char *name)
{
    int kind = spec_find(&family, name);
    return kind < 0 ? NULL : strategy_kinds[kind];
}

char *strategy_text(const char *spec, bool all, char out[STRATEGY_TEXT])
{
    size_t name = strcspn(spec, ":");
    int used = snprintf(out, STRATEGY_TEXT, "%.*s", (int)(name < 200 ? name : 200), spec);
    const struct strategy_kind *kind = strategy_find(out);
    const struct spec_option *known = kind ? kind->options : NULL;
    for (const struct schedule_kind *s = schedule_kinds; s->name && !known; s++)
        known = str_equal(s->name, out) ? s->options : NULL;
    for (spec += name; *spec == ':';) {
        size_t length = strcspn(++spec, ":"), room = STRATEGY_TEXT - (size_t)used;
        bool is_default = false;
        for (int i = 0; known && known[i].name && !is_default && !all; i++) {
            struct str text = {0};
            str_printf(&text, "%s=", known[i].name);
            spec_add_value(&known[i], known[i].value, &text);
            is_default = text.length == length && memcmp(str_text(&text), spec, length) == 0;
            str_finish(&text);
        }
        if (length + 2 < room && !is_default)
            used += snprintf(out + used, room, " %.*s", (int)length, spec);
        spec += length;
    }
    return out;
}

// Sets an option that is not given.
static void choose(struct spec *s, const char *option, double value)
{
    const struct spec_option *o = strategy_kind_options(s->kind);
    for (int i = 0; o[i].name; i++)
        if (str_equal(o[i].name, option) && !s->given[i]) {
            s->option[i] = value;
            s->given[i] = true;
        }
}

char *strategy_canonical(const char *spec, struct err *e)
{
    return strategy_canonical_for(spec, (struct strategy_use){.workers = 1}, e);
}

char *strategy_canonical_for(const char *spec, struct strategy_use use, struct err *e)
{
    struct spec s;
    if (!parse(spec, &s, e))
        return NULL;
    if (use.workers >= 1)
        choose(&s, "ahead", use.workers - 1);
    if (use.counts_seconds)
        choose(&s, "cost", STRATEGY_COST);
    if (use.tells_statistics) {
        choose(&s, "look", STRATEGY_LOOK);
        choose(&s, "shortlists", STRATEGY_SHORTLISTS);
    }
    return spec_canonical(&family, &s);
}

char *strategy_without_ahead(const char *spec)
{
    static const char key[] = ":ahead=";
    const char *at = strstr(spec, key);
    if (!at)
        return mem_strdup(spec);
    const char *rest = at + strlen(key);
    return mem_printf("%.*s%s", (int)(at - spec), spec, rest + strcspn(rest, ":"));
}

bool strategy_has_model(const char *spec)
{
    struct spec s;
    return spec_parse(&family, spec, &s, NULL) && strategy_kinds[s.kind]->take_refit;
}

enum strategy_learns strategy_learns(const char *spec)
{
    struct spec s;
    return spec_parse(&family, spec, &s, NULL) ? strategy_kinds[s.kind]->learns : LEARNS_NOTHING;
}

bool strategy_takes_guesses(const char *spec)
{
    struct spec s;
    return spec_parse(&family, spec, &s, NULL) && strategy_kinds[s.kind]->guesses;
}

static bool is_possible(const struct spec *s, struct err *e)
{
    const struct strategy_kind *kind = strategy_kinds[s->kind];
    return !kind->possible || kind->possible(s->option, e);
}

bool strategy_possible(const char *spec, struct err *e)
{
    struct spec s;
    return parse(spec, &s, e) && is_possible(&s, e);
}

struct strategy *strategy_create(const char *spec, const struct search_problem *problem,
                                 uint64_t seed, struct err *e)
{
    struct spec chosen;
    if (!parse(spec, &chosen, e))
        return NULL;
    const struct strategy_kind *kind = strategy_kinds[chosen.kind];
    struct strategy *s =
        is_possible(&chosen, e) ? kind->create(problem, seed, chosen.option, e) : NULL;
    if (s)
        s->kind = kind;
    else
        err_prefix(e, "strategy '%s'", kind->name);
    return s;
}

enum ask strategy_ask(struct strategy *s, struct config *out)
{
    return s->kind->ask(s, out);
}

void strategy_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    assert(isfinite(fitness) && fitness >= 0 && (o == OUTCOME_OK || fitness == 0));
    if (s->kind->tell)
        s->kind->tell(s, c, o, fitness);
}

int strategy_population(const struct strategy *s, int most, struct individual *out)
{
    return s->kind->population ? s->kind->population(s, most, out) : 0;
}

int strategy_generation(const struct strategy *s)
{
    return s->kind->generation ? s->kind->generation(s) : 0;
}

bool strategy_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS])
{
    return s->kind->origin && s->kind->origin(s, ask);
}

bool strategy_is_async(const struct strategy *s)
{
    return s->kind->is_async && s->kind->is_async(s);
}

int strategy_wait_fd(const struct strategy *s)
{
    return s->kind->wait_fd ? s->kind->wait_fd(s) : -1;
}

bool strategy_wait(struct strategy *s)
{
    struct pollfd p = {.fd = strategy_wait_fd(s), .events = POLLIN};
    while (p.fd >= 0 && poll(&p, 1, -1) < 0) { // only a signal can interrupt it
    }
    return p.fd >= 0;
}

bool strategy_take_refit(struct strategy *s, struct refit *out)
{
    return s->kind->take_refit && s->kind->take_refit(s, out);
}

struct guess_report strategy_guesses(const struct strategy *s)
{
    return s->kind->guesses ? s->kind->guesses(s) : (struct guess_report){0};
}

bool strategy_forecast(struct strategy *s, struct forecast *out)
{
    return s->kind->forecast && s->kind->forecast(s, out);
}

double forecast_z_score(const struct forecast *f, double fitness)
{
    const double least = 1e-12; // deviation of a certain prediction
    return (fitness - f->mean) / (f->deviation + least);
}

void strategy_destroy(struct strategy *s)
{
    if (s && s->kind->destroy)
        s->kind->destroy(s);
    else
        free(s);
}
