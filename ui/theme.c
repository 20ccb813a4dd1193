#include "theme.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { OWN = -1 };

// --- the look ---

struct look look_choose(const struct ui_config *c, int terminal_colors)
{
    struct look look = {.charset = CHARSET_ASCII, .light = c->theme == THEME_LIGHT};
    // no-color.org: the variable is present and not empty.
    const char *no_color = getenv("NO_COLOR");
    bool unwanted = c->color == COLOR_AUTO && no_color && *no_color;
    if (c->color != COLOR_NEVER && !unwanted && terminal_colors >= 8)
        look.colors = terminal_colors < 256 ? 8 : 256;
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
// Shades come in pairs of levels (pane_shade), so both of a pair must differ.
static const struct paint ramp_eight_dark[RAMP_LEVELS] = {{4}, {5}, {5, BOLD}, {6},
                                                          {2}, {3}, {3, BOLD}, {7, BOLD}};
static const struct paint ramp_eight_light[RAMP_LEVELS] = {{3}, {2}, {2}, {6}, {6}, {5}, {5}, {4}};
static const struct paint ramp_plain[RAMP_LEVELS] = {{OWN, DIM}, {OWN}, {OWN, DIM}, {OWN},
                                                     {OWN, DIM}, {OWN}, {OWN},      {OWN, BOLD}};

struct paint theme_paint(const struct look *look, enum style style)
{
    if (style >= STYLE_RAMP && style < STYLE_COUNT) {
        int level = (int)style - STYLE_RAMP;
        if (look->colors == 256)
            return (struct paint){.color = look->light ? ramp_light[level] : ramp_dark[level]};
        if (look->colors == 8)
            return look->light ? ramp_eight_light[level] : ramp_eight_dark[level];
        return ramp_plain[level];
    }
    if (style >= STYLE_SERIES && style < STYLE_RAMP) {
        int i = (int)style - STYLE_SERIES;
        if (look->colors == 256)
            return (struct paint){.color = look->light ? series_light[i] : series_dark[i]};
        return look->colors == 8 ? series_eight[i] : (struct paint){.color = OWN};
    }
    const struct tone *tone = &tones[style < STYLE_SERIES ? style : STYLE_TEXT];
    int color = look->colors == 256 ? (look->light ? tone->light : tone->dark)
                : look->colors == 8 ? tone->eight
                                    : OWN;
    struct paint p = color == OWN ? tone->plain : tone->attributes;
    p.color = color;
    return p;
}
