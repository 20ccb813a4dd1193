// The user's workbench.conf, and the options of the command line for the looks.
//
//     config_init(&c);
//     config_read(&c, path, e);               a missing file is fine
//     config_set(&c, "charset", "ascii", e);  an option of the command line
//
// The file has one `name = value` a line; a line that begins with `#` is a comment:
//
//     charset = auto | braille | block | ascii
//     color = auto | always | never
//     theme = auto | dark | light             the background that the colours suit
//     editor = vim                            else $VISUAL, $EDITOR, vi
//     mouse = off | on
//     notify = end | best | off               a bell and a notification: when a session ends, at
//                                             each new best, too; never
//     key pause = p F9                        replaces the keys of an action; none: no key
#ifndef TILEWALK_UI_CONFIG_H
#define TILEWALK_UI_CONFIG_H

#include "keys.h"
#include "report/plot.h"
#include "screen.h"

enum ui_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum ui_notify { NOTIFY_END, NOTIFY_BEST, NOTIFY_OFF };
enum ui_theme { THEME_AUTO, THEME_DARK, THEME_LIGHT };

struct ui_config {
    bool charset_given;
    enum charset charset;
    int color;        // enum ui_color
    int theme;        // enum ui_theme
    char editor[256]; // "": from the environment
    int mouse;        // 1: on from the start
    int notify;       // enum ui_notify
    struct keymap keymap;
    int line;                  // being read
    int bound_line[ACT_COUNT]; // where the file names the keys of an action; 0: it does not
};

void config_init(struct ui_config *c);
bool config_set(struct ui_config *c, const char *name, const char *value, struct err *e);
bool config_read(struct ui_config *c, const char *path, struct err *e); // `file:line: what (hint)`

// The look of each style, and the look that fits the terminal. All colours are here.
//
//     struct look look = look_choose(&config, colours of the terminal);
//     struct paint p = theme_paint(&look, STYLE_WARN);
//
// The background and the colour of plain text are always the terminal's own: both are right on any
// theme of the user. Ordered values are the colours of viridis (van der Walt and Smith, 2015): on a
// dark background from 12 % on, on a light one reversed and ending before they are pale, so that
// high values stand out on both. Of the 256 colours they are the nearest ones whose lightness (CIE
// L*) is monotone, of 8 or 16 they are shades of one. Series and categories are the colours of
// Okabe and Ito (Color Universal Design, 2008); series are moved where text in them would be
// unreadable. With no colours the attributes alone distinguish styles.
//
// Pure: no terminal, no curses.

#define TRUE_COLORS 0x1000000

// The abilities of a terminal, as far as the user wants them.
struct look {
    enum charset charset;
    int colors; // TRUE_COLORS, 256, 8 or 0
    bool light; // a light background
};

// Chooses by the configuration and the environment: locale, TERM, NO_COLOR, COLORFGBG.
struct look look_choose(const struct ui_config *c, int terminal_colors);
bool look_wants_color(const struct ui_config *c); // the user does, whatever the terminal can show

struct paint {
    // The colour of the text, 0 .. look->colors - 1; -1: the terminal's own. With TRUE_COLORS,
    // below 256 it is one of the 256, else 0xRRGGBB.
    int color;
    bool bold, dim, reverse, underline;
    bool filled; // the background has a colour, too
    int ground;  // and this one
};

struct paint theme_paint(const struct look *look, enum style style);

#endif
