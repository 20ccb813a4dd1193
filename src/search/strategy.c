#include "search/strategy.h"

#include <assert.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 32 };

// A spec, understood.
struct choice {
    const struct strategy_kind *kind;
    double option[MAX_OPTIONS];
    bool given[MAX_OPTIONS];
};

const struct strategy_kind *strategy_find(const char *name)
{
    for (int i = 0; strategy_kinds[i]; i++)
        if (str_equal(strategy_kinds[i]->name, name))
            return strategy_kinds[i];
    return NULL;
}

static const char *kind_name(const void *context, size_t i)
{
    (void)context;
    return strategy_kinds[i]->name;
}

static const char *option_name(const void *context, size_t i)
{
    const struct strategy_kind *kind = context;
    return kind->options[i].name;
}

// The nearest of `count` names, or else all of them (heap, the caller's).
static char *hint(const char *name, size_t count,
                  const char *(*name_at)(const void *context, size_t i), const void *context)
{
    const char *near = str_suggest(name, count, name_at, context);
    if (near)
        return mem_printf("did you mean '%s'?", near);
    struct str all = {0};
    for (size_t i = 0; i < count; i++)
        str_printf(&all, "%s%s", i == 0 ? "known: " : ", ", name_at(context, i));
    return count ? str_take(&all) : mem_strdup("it has none");
}

static bool unknown_kind(const char *name, struct err *e)
{
    size_t count = 0;
    while (strategy_kinds[count])
        count++;
    char *help = hint(name, count, kind_name, NULL);
    err_usage(e, "unknown strategy '%s' (%s)", name, help);
    free(help);
    return false;
}

static bool unknown_option(const struct strategy_kind *kind, const char *key, struct err *e)
{
    size_t count = 0;
    while (kind->options[count].name)
        count++;
    char *help = hint(key, count, option_name, kind);
    err_usage(e, "strategy '%s' has no option '%s' (%s)", kind->name, key, help);
    free(help);
    return false;
}

static bool read_word(const char *value, const struct strategy_option *o, double *out,
                      const char *strategy, struct err *e)
{
    for (int i = 0; o->words[i]; i++)
        if (str_equal(o->words[i], value)) {
            *out = i;
            return true;
        }
    struct str known = {0};
    for (int i = 0; o->words[i]; i++)
        str_printf(&known, "%s%s", i == 0 ? "" : ", ", o->words[i]);
    err_usage(e, "strategy '%s': %s=%s is not one of: %s", strategy, o->name, value,
              str_text(&known));
    str_finish(&known);
    return false;
}

static bool read_number(const char *value, const struct strategy_option *o, double *out,
                        const char *strategy, struct err *e)
{
    double number;
    if (!str_to_real(value, &number) || number < o->low || number > o->high ||
        (o->integer && number != floor(number)))
        return err_usage(e, "strategy '%s': %s=%s is not %s within %g..%g", strategy, o->name,
                         value, o->integer ? "a whole number" : "a number", o->low, o->high);
    *out = number;
    return true;
}

// `text` is key=value; it is cut up.
static bool read_option(char *text, struct choice *c, struct err *e)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return err_usage(e, "strategy '%s': '%s' is not key=value", c->kind->name, text);
    *equals = '\0';
    const char *value = equals + 1;
    int i = 0;
    while (c->kind->options[i].name && !str_equal(c->kind->options[i].name, text))
        i++;
    const struct strategy_option *o = &c->kind->options[i];
    if (!o->name)
        return unknown_option(c->kind, text, e);
    if (c->given[i])
        return err_usage(e, "strategy '%s': option '%s' is given twice", c->kind->name, o->name);
    c->given[i] = true;
    return o->words ? read_word(value, o, &c->option[i], c->kind->name, e)
                    : read_number(value, o, &c->option[i], c->kind->name, e);
}

// `text` is the spec; it is cut up.
static bool read_spec(char *text, struct choice *c, struct err *e)
{
    char *rest = strchr(text, ':');
    if (rest)
        *rest++ = '\0';
    *c = (struct choice){.kind = strategy_find(text)};
    if (!c->kind)
        return unknown_kind(text, e);
    for (int i = 0; c->kind->options[i].name; i++) {
        assert(i < MAX_OPTIONS);
        c->option[i] = c->kind->options[i].value;
    }
    while (rest) {
        char *option = rest;
        rest = strchr(option, ':');
        if (rest)
            *rest++ = '\0';
        if (!read_option(option, c, e))
            return false;
    }
    return true;
}

static bool parse(const char *spec, struct choice *c, struct err *e)
{
    char *text = mem_strdup(spec);
    bool read = read_spec(text, c, e);
    free(text);
    return read;
}

void strategy_add_value(const struct strategy_option *o, double value, struct str *out)
{
    if (o->words)
        str_add(out, o->words[(int)value]);
    else
        str_add_real(out, value);
}

// Whether `option`, key=value, says what would hold without it.
static bool is_default(const struct strategy_kind *kind, const char *option, size_t length)
{
    bool same = false;
    for (int i = 0; kind && kind->options[i].name && !same; i++) {
        struct str text = {0};
        str_printf(&text, "%s=", kind->options[i].name);
        strategy_add_value(&kind->options[i], kind->options[i].value, &text);
        same = text.length == length && memcmp(str_text(&text), option, length) == 0;
        str_finish(&text);
    }
    return same;
}

char *strategy_text(const char *spec, bool all, char out[STRATEGY_TEXT])
{
    size_t name = strcspn(spec, ":");
    int used = snprintf(out, STRATEGY_TEXT, "%.*s", (int)(name < 200 ? name : 200), spec);
    const struct strategy_kind *kind = strategy_find(out);
    for (spec += name; *spec == ':';) {
        size_t length = strcspn(++spec, ":"), room = STRATEGY_TEXT - (size_t)used;
        if (length + 2 < room && (all || !is_default(kind, spec, length)))
            used += snprintf(out + used, room, " %.*s", (int)length, spec);
        spec += length;
    }
    return out;
}

static void follow_workers(struct choice *c, int workers)
{
    if (workers < 1)
        return;
    for (int i = 0; c->kind->options[i].name; i++)
        if (str_equal(c->kind->options[i].name, "ahead") && !c->given[i])
            c->option[i] = workers - 1;
}

char *strategy_canonical(const char *spec, struct err *e)
{
    return strategy_canonical_for(spec, 1, e);
}

char *strategy_canonical_for(const char *spec, int workers, struct err *e)
{
    struct choice c;
    if (!parse(spec, &c, e))
        return NULL;
    follow_workers(&c, workers);
    struct str out = {0};
    str_add(&out, c.kind->name);
    for (int i = 0; c.kind->options[i].name; i++) {
        str_printf(&out, ":%s=", c.kind->options[i].name);
        strategy_add_value(&c.kind->options[i], c.option[i], &out);
    }
    return str_take(&out);
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
    struct choice c;
    return parse(spec, &c, NULL) && c.kind->take_refit;
}

struct strategy *strategy_create(const char *spec, const struct search_problem *problem,
                                 uint64_t seed, struct err *e)
{
    struct choice c;
    if (!parse(spec, &c, e))
        return NULL;
    struct strategy *s = c.kind->create(problem, seed, c.option, e);
    if (s)
        s->kind = c.kind;
    else
        err_prefix(e, "strategy '%s'", c.kind->name);
    return s;
}

enum ask strategy_ask(struct strategy *s, struct config *out)
{
    return s->kind->ask(s, out);
}

void strategy_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    assert(isfinite(fitness) && fitness >= 0 && (o == OUTCOME_OK || fitness == 0));
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

void strategy_destroy(struct strategy *s)
{
    if (s)
        s->kind->destroy(s);
}
