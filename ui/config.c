#include "config.h"

#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void config_init(struct ui_config *c)
{
    *c = (struct ui_config){.charset = CHARSET_BRAILLE, .mouse = true};
    keymap_init(&c->keymap);
}

// Sets `*out` to the index of `value` in a NULL-terminated list. False: it is not there.
static bool choose(const char *name, const char *value, const char *const *list, int *out,
                   struct err *e)
{
    struct str all = {0};
    for (int i = 0; list[i]; i++) {
        if (str_equal(list[i], value)) {
            str_finish(&all);
            *out = i;
            return true;
        }
        str_printf(&all, "%s%s", i ? ", " : "", list[i]);
    }
    err_set(e, "%s '%s' is none of %s", name, value, str_text(&all));
    str_finish(&all);
    return false;
}

bool config_set(struct ui_config *c, const char *name, const char *value, struct err *e)
{
    static const char *const names[] = {"charset", "color", "theme", "editor", "mouse"};
    static const char *const switches[] = {"off", "on", NULL};
    static const char *const themes[] = {"auto", "dark", "light", NULL};
    static const char *const colors[] = {"auto", "always", "never", NULL};
    static const char *const charsets[] = {"braille", "block", "ascii", "auto", NULL};
    enum action bound;
    if (str_starts(name, "key ")) {
        bool ok = keymap_bind(&c->keymap, name + 4, value, &bound, e);
        if (ok)
            c->bound_line[bound] = c->line;
        return ok;
    }
    if (str_equal(name, "charset")) {
        int i = 3;
        bool ok = choose(name, value, charsets, &i, e);
        c->charset_given = i < 3;
        if (c->charset_given)
            c->charset = (enum charset)i;
        return ok;
    }
    if (str_equal(name, "color"))
        return choose(name, value, colors, &c->color, e);
    if (str_equal(name, "theme"))
        return choose(name, value, themes, &c->theme, e);
    if (str_equal(name, "mouse"))
        return choose(name, value, switches, &c->mouse, e);
    if (str_equal(name, "editor")) {
        snprintf(c->editor, sizeof c->editor, "%s", value);
        return true;
    }
    const char *near = str_suggest_list(name, sizeof names / sizeof *names, names);
    return near ? err_set(e, "unknown setting '%s' (did you mean '%s'?)", name, near)
                : err_set(e,
                          "unknown setting '%s' (there are charset, color, theme, editor, mouse and"
                          " key ACTION)",
                          name);
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

bool config_read(struct ui_config *c, const char *path, struct err *e)
{
    char *text;
    if (!file_exists(path))
        return true;
    if (!file_read(path, &text, NULL, e))
        return false;
    bool ok = true;
    struct err why = {0};
    c->line = 0;
    for (char *line = text, *next; ok && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        c->line++;
        line = trim(line);
        if (!*line || *line == '#') // elsewhere a # is none: `key slice = #`
            continue;
        char *equals = strchr(line, '='), *value = equals ? trim(equals + 1) : NULL;
        if (equals)
            *equals = '\0';
        ok = !equals   ? err_set(&why, "'%s' has no '=' (name = value)", line)
             : !*value ? err_set(&why, "'%s' has no value", trim(line))
                       : config_set(c, trim(line), value, &why);
        if (!ok)
            err_at(e, path, c->line, "%s", why.text);
    }
    free(text);
    // Keys are checked at the end, so that two actions may swap theirs.
    for (int a = ACT_NONE + 1; ok && a < ACT_COUNT; a++)
        if (c->bound_line[a] && !keymap_check(&c->keymap, (enum action)a, &why))
            ok = err_at(e, path, c->bound_line[a], "%s", why.text);
    return ok;
}
