#include "config.h"

#include "base/file.h"

#include <ctype.h>
#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

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
    static const char *const names[] = {"charset", "color", "theme", "editor", "mouse", "notify"};
    static const char *const notices[] = {"end", "best", "off", NULL};
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
    if (str_equal(name, "notify"))
        return choose(name, value, notices, &c->notify, e);
    if (str_equal(name, "editor")) {
        snprintf(c->editor, sizeof c->editor, "%s", value);
        return true;
    }
    const char *near = str_suggest_list(name, sizeof names / sizeof *names, names);
    return near ? err_set(e, "unknown setting '%s' (did you mean '%s'?)", name, near)
                : err_set(
                      e,
                      "unknown setting '%s' (there are charset, color, theme, editor, mouse, notify"
                      " and key ACTION)",
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

enum { OWN = -1 };

// --- the look ---

bool look_wants_color(const struct ui_config *c)
{
    // no-color.org: the variable is present and not empty.
    const char *no_color = getenv("NO_COLOR");
    bool unwanted = c->color == COLOR_AUTO && no_color && *no_color;
    return c->color != COLOR_NEVER && !unwanted;
}

struct look look_choose(const struct ui_config *c, int terminal_colors)
{
    struct look look = {.charset = CHARSET_ASCII, .light = c->theme == THEME_LIGHT};
    if (look_wants_color(c) && terminal_colors >= 8)
        look.colors = terminal_colors < 256 ? 8 : terminal_colors < TRUE_COLORS ? 256 : TRUE_COLORS;
    // COLORFGBG is "foreground;background" or "foreground;something;background", of 16 colours.
    const char *variable = getenv("COLORFGBG");
    const char *last = variable ? strrchr(variable, ';') : NULL;
    int64_t color;
    if (c->theme == THEME_AUTO && last && str_to_int(last + 1, 0, 15, &color))
        look.light = color == 7 || color > 8;
    // In East Asian locales frames may be two columns wide, which would tear every line. The fonts
    // of the Linux console have neither dots nor quadrants.
    bool narrow = wcwidth(0x2502) == 1 && wcwidth(0x2588) == 1 && wcwidth(0x28ff) == 1;
    if (!str_equal(nl_langinfo(CODESET), "UTF-8"))
        return look; // nothing but ASCII can be sent
    if (c->charset_given)
        look.charset = c->charset;
    else if (narrow && !str_equal(getenv("TERM"), "linux"))
        look.charset = CHARSET_BRAILLE;
    return look;
}

// --- the styles ---

struct tone {
    int dark, light;         // of the 256
    int eight;               // of the 8
    struct paint attributes; // where it has a colour
    struct paint plain;      // where it has none
};

#define BOLD      .bold = true
#define DIM       .dim = true
#define REVERSE   .reverse = true
#define UNDERLINE .underline = true

static const struct tone tones[STYLE_SERIES] = {
    [STYLE_TEXT] = {OWN, OWN, OWN, {0}, {0}},
    [STYLE_DIM] = {245, 243, OWN, {0}, {DIM}},
    [STYLE_STRONG] = {OWN, OWN, OWN, {BOLD}, {BOLD}},
    [STYLE_FRAME] = {240, 249, OWN, {0}, {DIM}},
    [STYLE_TITLE] = {OWN, OWN, OWN, {BOLD}, {BOLD}},
    [STYLE_FOCUS] = {81, 25, 6, {BOLD}, {BOLD}},
    [STYLE_HEAD] = {110, 24, 6, {0}, {UNDERLINE}},
    [STYLE_BAR] = {OWN, OWN, OWN, {BOLD}, {BOLD}},
    [STYLE_KEY] = {81, 25, 6, {BOLD}, {REVERSE}},
    [STYLE_LABEL] = {250, 239, OWN, {0}, {0}},
    [STYLE_DISABLED] = {240, 249, OWN, {DIM}, {DIM}},
    [STYLE_GOOD] = {78, 28, 2, {0}, {0}},
    [STYLE_WARN] = {221, 130, 3, {0}, {UNDERLINE}},
    [STYLE_BAD] = {203, 160, 1, {BOLD}, {BOLD, UNDERLINE}},
    [STYLE_BEST] = {227, 90, 3, {BOLD}, {BOLD}},
    [STYLE_BAND] = {242, 248, OWN, {0}, {DIM}},
    [STYLE_MADE_UP] = {213, 127, 5, {BOLD, REVERSE}, {BOLD, REVERSE}},
    [STYLE_KEYWORD] = {111, 25, 4, {BOLD}, {BOLD}},
    [STYLE_TYPE] = {80, 30, 6, {0}, {0}},
    [STYLE_NUMBER] = {216, 130, 5, {0}, {0}},
    [STYLE_COMMENT] = {244, 244, OWN, {0}, {DIM}},
    [STYLE_DIRECTIVE] = {176, 90, 3, {0}, {UNDERLINE}},
    [STYLE_ADDED] = {78, 28, 2, {0}, {BOLD}},
    [STYLE_REMOVED] = {203, 160, 1, {0}, {DIM}},
    [STYLE_HUNK] = {177, 90, 5, {0}, {REVERSE}},
};

// Orange, sky blue, bluish green, yellow, blue, vermillion, reddish purple; the last is for black.
static const int series_dark[MOST_SERIES] = {214, 74, 36, 227, 33, 202, 175, OWN};
static const int series_light[MOST_SERIES] = {172, 38, 29, 142, 25, 166, 132, OWN};
static const struct paint series_eight[MOST_SERIES] = {{3},       {6}, {2}, {3, BOLD},
                                                       {4, BOLD}, {1}, {5}, {OWN}};

// L* 33 43 52 64 76 81 92 97: no level is too dark to be read as text on black.
static const int ramp_dark[RAMP_LEVELS] = {56, 26, 31, 36, 42, 149, 155, 227};
// L* 81 66 55 43 33 24 14 0
static const int ramp_light[RAMP_LEVELS] = {149, 72, 67, 26, 56, 54, 18, 16};
static const struct paint ramp_plain[RAMP_LEVELS] = {{OWN, DIM}, {OWN}, {OWN, DIM}, {OWN},
                                                     {OWN, DIM}, {OWN}, {OWN},      {OWN, BOLD}};

// Shades come in pairs of levels (pane_shade), so both of a pair must differ.
static struct paint ramp_paint(const struct look *look, int level)
{
    if (look->colors >= 256)
        return (struct paint){.color = look->light ? ramp_light[level] : ramp_dark[level]};
    if (look->colors == 8)
        return (struct paint){.color = look->light ? 4 : 6, .bold = level % 2};
    return ramp_plain[level];
}

// --- backgrounds of values ---

struct rgb {
    double part[3]; // 0 .. 255
};

// Returns a colour of the 256 as terminals show it. The first 16, which users choose, are not
// known.
static struct rgb rgb_of(int color)
{
    static const double cube[] = {0, 95, 135, 175, 215, 255};
    int i = color - 16, grey = 8 + 10 * (color - 232);
    if (color >= 232)
        return (struct rgb){{grey, grey, grey}};
    return (struct rgb){{cube[i / 36], cube[i / 6 % 6], cube[i % 6]}};
}

static struct rgb unpack(int color)
{
    return (struct rgb){{color >> 16, color >> 8 & 255, color & 255}};
}

static int pack(struct rgb c)
{
    int color = 0;
    for (int k = 0; k < 3; k++)
        color = color << 8 | (int)(c.part[k] + 0.5);
    return color < 256 ? 256 : color; // smaller ones are the indexed colours
}

static struct rgb mix(struct rgb a, struct rgb b, double share_of_b)
{
    for (int k = 0; k < 3; k++)
        a.part[k] += share_of_b * (b.part[k] - a.part[k]);
    return a;
}

static int nearest_color(struct rgb wanted)
{
    int nearest = 16;
    double least = HUGE_VAL;
    for (int color = 16; color < 256; color++) {
        struct rgb here = rgb_of(color);
        double distance = 0;
        for (int k = 0; k < 3; k++)
            distance += (here.part[k] - wanted.part[k]) * (here.part[k] - wanted.part[k]);
        if (distance < least) {
            nearest = color;
            least = distance;
        }
    }
    return nearest;
}

// Returns black or white, which contrasts more with the background (relative luminance of WCAG 2).
static struct rgb text_on(struct rgb ground)
{
    double light[3];
    for (int k = 0; k < 3; k++)
        light[k] = pow(ground.part[k] / 255, 2.2);
    double luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
    bool black = (luminance + 0.05) * (luminance + 0.05) > 1.05 * 0.05;
    return black ? (struct rgb){{0}} : (struct rgb){{255, 255, 255}};
}

// Viridis at 16 places of equal distance.
static const int viridis[] = {0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e,
                              0x2a788e, 0x23888e, 0x1f988b, 0x22a884, 0x35b779, 0x54c568,
                              0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725};
enum { VIRIDIS = sizeof viridis / sizeof *viridis };

// Orange, sky blue, bluish green, yellow, blue, vermillion, reddish purple; grey for black.
static const int categories[MOST_CATEGORIES] = {0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442,
                                                0x0072b2, 0xd55e00, 0xcc79a7, 0x999999};

static struct rgb ordered_rgb(const struct look *look, int level)
{
    double share = level / (ORDERED_LEVELS - 1.0);
    double at = (look->light ? 0.85 * (1 - share) : 0.12 + 0.88 * share) * (VIRIDIS - 1);
    int i = at < VIRIDIS - 2 ? (int)at : VIRIDIS - 2;
    return mix(unpack(viridis[i]), unpack(viridis[i + 1]), at - i);
}

// The nearest of the 256 in CIE L*a*b*, at least 4 of L* apart from each other.
static const int ordered_dark[] = {53, 24, 60, 30, 36, 42, 148, 220};
static const int ordered_light[] = {113, 108, 36, 30, 60, 24, 53, 17};
enum { FEW_LEVELS = sizeof ordered_dark / sizeof *ordered_dark };

// Returns the background of a value where there are 256 colours or more.
static struct rgb hue_rgb(const struct look *look, int hue)
{
    if (hue >= ORDERED_LEVELS)
        return unpack(categories[hue - ORDERED_LEVELS]);
    if (look->colors == TRUE_COLORS)
        return ordered_rgb(look, hue);
    int level = hue * FEW_LEVELS / ORDERED_LEVELS;
    return rgb_of(look->light ? ordered_light[level] : ordered_dark[level]);
}

static int color_of(const struct look *look, struct rgb c)
{
    return look->colors == TRUE_COLORS ? pack(c) : nearest_color(c);
}

static struct paint hue_paint(const struct look *look, int hue)
{
    int category = hue - ORDERED_LEVELS;
    if (look->colors < 256)
        return category < 0
                   ? ramp_paint(look, hue * RAMP_LEVELS / ORDERED_LEVELS)
                   : theme_paint(look, (enum style)(STYLE_SERIES + category % MOST_SERIES));
    struct rgb ground = hue_rgb(look, hue);
    return (struct paint){
        .color = color_of(look, text_on(ground)), .filled = true, .ground = color_of(look, ground)};
}

// Mixes the colour with that of the background of dark or light terminals.
static struct paint patch_paint(const struct look *look, int hue, int strength)
{
    static const double share[PATCH_STRENGTHS] = {0.4, 0.55, 0.75, 1};
    struct paint p = hue_paint(look, hue);
    if (p.filled) {
        double light = look->light ? 255 : 0;
        struct rgb behind = {{light, light, light}};
        p.color = p.ground = color_of(look, mix(behind, hue_rgb(look, hue), share[strength]));
        return p;
    }
    p.bold = strength == PATCH_STRENGTHS - 1;
    p.dim = strength == 0;
    return p;
}

// Returns the look of a style of text, of at most 256 colours.
static struct paint text_paint(const struct look *look, enum style style)
{
    if (style >= STYLE_RAMP)
        return ramp_paint(look, (int)style - STYLE_RAMP);
    if (style >= STYLE_SERIES) {
        int i = (int)style - STYLE_SERIES;
        if (look->colors >= 256)
            return (struct paint){.color = look->light ? series_light[i] : series_dark[i]};
        return look->colors == 8 ? series_eight[i] : (struct paint){.color = OWN};
    }
    const struct tone *tone = &tones[style];
    int color = look->colors >= 256 ? (look->light ? tone->light : tone->dark)
                : look->colors == 8 ? tone->eight
                                    : OWN;
    struct paint p = color == OWN ? tone->plain : tone->attributes;
    p.color = color;
    return p;
}

struct paint theme_paint(const struct look *look, enum style style)
{
    int patch = (int)style - STYLE_PATCH;
    if (patch >= 0)
        return patch_paint(look, patch / PATCH_STRENGTHS, patch % PATCH_STRENGTHS);
    if (style >= STYLE_CELL)
        return hue_paint(look, (int)style - STYLE_CELL);
    return text_paint(look, style);
}
