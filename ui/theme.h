// From what a style means to how it looks, and which look fits the terminal. The one place that
// knows colours.
//
//     struct look look = look_choose(&config, colours of the terminal);
//     struct paint p = theme_paint(&look, STYLE_WARN);
//
// The background is always the terminal's own, and so is the colour of plain text: both are right
// on any theme that the user has. Ramps grow in contrast to the background: on a dark one the high
// end is bright, on a light one it is dark; their lightness (CIE L*) is monotone. Series are the
// colours of Okabe and Ito (Color Universal Design, 2008), nearest in the 256, moved where they
// would be unreadable. With no colours the attributes alone tell styles apart.
//
// Pure: no terminal, no curses.
#ifndef TILEWALK_UI_THEME_H
#define TILEWALK_UI_THEME_H

#include "config.h"
#include "screen.h"

// What a terminal can do and the user wants.
struct look {
    enum charset charset;
    int colors; // 256, 8 or 0
    bool light; // a light background
};

// From the configuration and the environment: locale, TERM, NO_COLOR, COLORFGBG.
struct look look_choose(const struct ui_config *c, int terminal_colors);

struct paint {
    int color; // of the text, 0 .. look->colors - 1; -1: the terminal's own
    bool bold, dim, reverse, underline;
};

struct paint theme_paint(const struct look *look, enum style style);

#endif
