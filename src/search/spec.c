#include "search/spec.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int spec_find(const struct spec_family *f, const char *name)
{
    for (int i = 0; f->name(i); i++)
        if (str_equal(f->name(i), name))
            return i;
    return -1;
}

static const char *kind_name(const void *context, size_t i)
{
    const struct spec_family *f = context;
    return f->name((int)i);
}

static const char *option_name(const void *context, size_t i)
{
    const struct spec_option *options = context;
    return options[i].name;
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

// Under way: what is read, and into what.
struct reader {
    const struct spec_family *family;
    const struct spec_option *options; // of the kind
    struct spec *out;
};

static bool read_word(const char *value, const struct spec_option *o, double *out, struct err *e)
{
    for (int i = 0; o->words[i]; i++)
        if (str_equal(o->words[i], value)) {
            *out = i;
            return true;
        }
    struct str known = {0};
    for (int i = 0; o->words[i]; i++)
        str_printf(&known, "%s%s", i == 0 ? "" : ", ", o->words[i]);
    err_usage(e, "%s=%s is not one of: %s", o->name, value, str_text(&known));
    str_finish(&known);
    return false;
}

static bool read_number(const char *value, const struct spec_option *o, double *out, struct err *e)
{
    double number;
    if (!str_to_real(value, &number) || number < o->low || number > o->high ||
        (o->integer && number != floor(number)))
        return err_usage(e, "%s=%s is not %s within %g..%g", o->name, value,
                         o->integer ? "a whole number" : "a number", o->low, o->high);
    *out = number;
    return true;
}

static bool read_value(const struct reader *r, int i, const char *value, struct err *e)
{
    const struct spec_option *o = &r->options[i];
    if (r->out->given[i])
        return err_usage(e, "option '%s' is given twice", o->name);
    r->out->given[i] = true;
    return o->words ? read_word(value, o, &r->out->option[i], e)
                    : read_number(value, o, &r->out->option[i], e);
}

// `text` is key=value; it is cut up.
static bool read_option(const struct reader *r, char *text, struct err *e)
{
    const char *name = r->family->name(r->out->kind);
    char *equals = strchr(text, '=');
    if (!equals)
        return err_usage(e, "%s '%s': '%s' is not key=value", r->family->noun, name, text);
    *equals = '\0';
    int i = 0;
    while (r->options[i].name && !str_equal(r->options[i].name, text))
        i++;
    if (!r->options[i].name) {
        size_t count = 0;
        while (r->options[count].name)
            count++;
        char *help = hint(text, count, option_name, r->options);
        err_usage(e, "%s '%s' has no option '%s' (%s)", r->family->noun,
                  r->family->name(r->out->kind), text, help);
        free(help);
        return false;
    }
    if (read_value(r, i, equals + 1, e))
        return true;
    err_prefix(e, "%s '%s'", r->family->noun, name);
    return false;
}

// `text` is the spec; it is cut up.
static bool read_spec(struct reader *r, char *text, struct err *e)
{
    char *rest = strchr(text, ':');
    if (rest)
        *rest++ = '\0';
    *r->out = (struct spec){.kind = spec_find(r->family, text)};
    if (r->out->kind < 0) {
        size_t count = 0;
        while (r->family->name((int)count))
            count++;
        char *help = hint(text, count, kind_name, r->family);
        err_usage(e, "unknown %s '%s' (%s)", r->family->noun, text, help);
        free(help);
        return false;
    }
    r->options = r->family->options(r->out->kind);
    for (int i = 0; r->options[i].name; i++) {
        assert(i < SPEC_OPTIONS);
        r->out->option[i] = r->options[i].value;
    }
    while (rest) {
        char *option = rest;
        rest = strchr(option, ':');
        if (rest)
            *rest++ = '\0';
        if (!read_option(r, option, e))
            return false;
    }
    return true;
}

bool spec_parse(const struct spec_family *f, const char *text, struct spec *out, struct err *e)
{
    char *copy = mem_strdup(text);
    struct reader r = {.family = f, .out = out};
    bool read = read_spec(&r, copy, e);
    free(copy);
    return read;
}

void spec_add_value(const struct spec_option *o, double value, struct str *out)
{
    if (o->words)
        str_add(out, o->words[(int)value]);
    else
        str_add_real(out, value);
}

char *spec_canonical(const struct spec_family *f, const struct spec *s)
{
    struct str out = {0};
    const struct spec_option *o = f->options(s->kind);
    str_add(&out, f->name(s->kind));
    for (int i = 0; o[i].name; i++) {
        if (o[i].if_given && !s->given[i])
            continue;
        str_printf(&out, ":%s=", o[i].name);
        spec_add_value(&o[i], s->option[i], &out);
    }
    return str_take(&out);
}

bool spec_list_parse(const char *text, char *(*canonical)(const char *spec, struct err *e),
                     char ***list, int *count, struct err *e)
{
    *list = mem_zero(strlen(text) + 1, sizeof **list);
    for (*count = 0;; text++) {
        size_t length = strcspn(text, ",");
        char *spec = mem_printf("%.*s", (int)length, text), *whole = canonical(spec, e);
        bool understood = whole;
        (*list)[(*count)++] = spec;
        free(whole);
        text += length;
        if (!understood || !*text)
            return understood;
    }
}
