// The look of each style, and the look that fits the terminal. All colours are here.
//
//     struct look look = look_choose(&config, colours of the terminal);
//     struct paint p = theme_paint(&look, STYLE_WARN);
//
// The background and the colour of plain text are always the terminal's own: both are right on any
// theme of the user. Ramps grow in contrast to the background: on a dark one the high
// end is bright, on a light one it is dark; their lightness (CIE L*) is monotone. Series are the
// colours of Okabe and Ito (Color Universal Design, 2008), nearest in the 256, moved where they
// would be unreadable. With no colours the attributes alone distinguish styles.
//
// Pure: no terminal, no curses.
#ifndef TILEWALK_UI_THEME_H
#define TILEWALK_UI_THEME_H

#include "config.h"
#include "screen.h"

// The abilities of a terminal, as far as the user wants them.
struct look {
    enum charset charset;
    int colors; // 256, 8 or 0
    bool light; // a light background
};

// Chooses by the configuration and the environment: locale, TERM, NO_COLOR, COLORFGBG.
struct look look_choose(const struct ui_config *c, int terminal_colors);

struct paint {
    int color; // of the text, 0 .. look->colors - 1; -1: the terminal's own
    bool bold, dim, reverse, underline;
};

struct paint theme_paint(const struct look *look, enum style style);

#endif
