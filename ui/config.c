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

// Index of `value` in a NULL-terminated list; -1 and a complaint when it is not there.
static int choose(const char *name, const char *value, const char *const *list, struct err *e)
{
    struct str all = {0};
    for (int i = 0; list[i]; i++) {
        if (str_equal(list[i], value))
            return str_finish(&all), i;
        str_printf(&all, "%s%s", i ? ", " : "", list[i]);
    }
    err_set(e, "%s '%s' is none of %s", name, value, str_text(&all));
    str_finish(&all);
    return -1;
}

static bool set_choice(const char *name, const char *value, const char *const *list, int *out,
                       struct err *e)
{
    int i = choose(name, value, list, e);
    if (i >= 0)
        *out = i;
    return i >= 0;
}

static bool unknown(const char *name, struct err *e)
{
    static const char *const names[] = {"charset", "color", "theme", "editor", "mouse"};
    const char *near = str_suggest_list(name, sizeof names / sizeof *names, names);
    if (near)
        return err_set(e, "unknown setting '%s' (did you mean '%s'?)", name, near);
    return err_set(e,
                   "unknown setting '%s' (there are charset, color, theme, editor, mouse and key"
                   " ACTION)",
                   name);
}

bool config_set(struct ui_config *c, const char *name, const char *value, struct err *e)
{
    static const char *const switches[] = {"off", "on", NULL};
    static const char *const themes[] = {"auto", "dark", "light", NULL};
    static const char *const colors[] = {"auto", "always", "never", NULL};
    enum action bound;
    if (str_starts(name, "key ")) {
        bool ok = keymap_bind(&c->keymap, name + 4, value, &bound, e);
        if (ok)
            c->bound_line[bound] = c->line;
        return ok;
    }
    if (str_equal(name, "charset")) {
        static const char *const list[] = {"braille", "block", "ascii", "auto", NULL};
        int i = choose("charset", value, list, e);
        c->charset_given = i >= 0 && i < 3;
        if (c->charset_given)
            c->charset = (enum charset)i;
        return i >= 0;
    }
    if (str_equal(name, "color"))
        return set_choice(name, value, colors, &c->color, e);
    if (str_equal(name, "theme"))
        return set_choice(name, value, themes, &c->theme, e);
    if (str_equal(name, "mouse"))
        return set_choice(name, value, switches, &c->mouse, e);
    if (!str_equal(name, "editor"))
        return unknown(name, e);
    snprintf(c->editor, sizeof c->editor, "%s", value);
    return true;
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

// One line, without its newline. A `#` begins a comment only at the start, so that it can be bound:
// `key slice = #`.
static bool read_line(struct ui_config *c, char *line, struct err *e)
{
    line = trim(line);
    if (!*line || *line == '#')
        return true;
    char *equals = strchr(line, '=');
    if (!equals)
        return err_set(e, "'%s' has no '=' (name = value)", line);
    *equals = '\0';
    char *value = trim(equals + 1);
    if (!*value)
        return err_set(e, "'%s' has no value", trim(line));
    return config_set(c, trim(line), value, e);
}

// Once all are known, so that two actions may swap their keys.
static bool check_keys(const struct ui_config *c, const char *path, struct err *e)
{
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
        struct err why;
        if (c->bound_line[a] && !keymap_check(&c->keymap, (enum action)a, &why))
            return err_at(e, path, c->bound_line[a], "%s", why.text);
    }
    return true;
}

bool config_read(struct ui_config *c, const char *path, struct err *e)
{
    char *text;
    if (!file_exists(path))
        return true;
    if (!file_read(path, &text, NULL, e))
        return false;
    bool ok = true;
    c->line = 0;
    for (char *line = text, *next; ok && line; line = next) {
        struct err why = {0};
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        c->line++;
        ok = read_line(c, line, &why) || err_at(e, path, c->line, "%s", why.text);
    }
    free(text);
    return ok && check_keys(c, path, e);
}
