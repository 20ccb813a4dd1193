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

// Returns the nearest of `count` names, or else all of them (heap, the caller's).
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

static bool read_value(const char *value, const struct spec_option *o, double *out, struct err *e)
{
    struct str known = {0};
    if (!o->words) {
        if (!str_to_real(value, out) || *out < o->low || *out > o->high ||
            (o->integer && *out != floor(*out)))
            return err_usage(e, "%s=%s is not %s within %g..%g", o->name, value,
                             o->integer ? "a whole number" : "a number", o->low, o->high);
        return true;
    }
    for (int i = 0; o->words[i]; i++) {
        *out = i;
        if (str_equal(o->words[i], value)) {
            str_finish(&known);
            return true;
        }
        str_printf(&known, "%s%s", i == 0 ? "" : ", ", o->words[i]);
    }
    err_usage(e, "%s=%s is not one of: %s", o->name, value, str_text(&known));
    str_finish(&known);
    return false;
}

// Reads key=value into `out`; cuts `text` up.
static bool read_option(const struct spec_family *f, char *text, struct spec *out, struct err *e)
{
    const struct spec_option *options = f->options(out->kind);
    const char *name = f->name(out->kind);
    char *equals = strchr(text, '=');
    if (!equals)
        return err_usage(e, "%s '%s': '%s' is not key=value", f->noun, name, text);
    *equals = '\0';
    size_t i = 0;
    while (options[i].name && !str_equal(options[i].name, text))
        i++;
    if (!options[i].name) {
        char *help = hint(text, i, option_name, options);
        err_usage(e, "%s '%s' has no option '%s' (%s)", f->noun, name, text, help);
        free(help);
        return false;
    }
    bool read = out->given[i] ? err_usage(e, "option '%s' is given twice", options[i].name)
                              : read_value(equals + 1, &options[i], &out->option[i], e);
    out->given[i] = true;
    if (!read)
        err_prefix(e, "%s '%s'", f->noun, name);
    return read;
}

bool spec_parse(const struct spec_family *f, const char *text, struct spec *out, struct err *e)
{
    char *copy = mem_strdup(text), *rest = strchr(copy, ':');
    bool read = true;
    if (rest)
        *rest++ = '\0';
    *out = (struct spec){.kind = spec_find(f, copy)};
    if (out->kind < 0) {
        size_t count = 0;
        while (f->name((int)count))
            count++;
        char *help = hint(copy, count, kind_name, f);
        read = err_usage(e, "unknown %s '%s' (%s)", f->noun, copy, help);
        free(help);
    } else {
        const struct spec_option *options = f->options(out->kind);
        for (int i = 0; options[i].name; i++) {
            assert(i < SPEC_OPTIONS);
            out->option[i] = options[i].value;
        }
    }
    while (read && rest) {
        char *option = rest;
        rest = strchr(option, ':');
        if (rest)
            *rest++ = '\0';
        read = read_option(f, option, out, e);
    }
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
