// A frame in memory: cells of one glyph and one style, and panes to draw through.
//
//     screen_resize(&s, 36, 120);
//     screen_clear(&s);                           every frame is drawn whole, from the model
//     struct pane all = screen_whole(&s);
//     struct pane inside = pane_box(&all, "Trials", "sort: time", true);
//     pane_printf(&inside, 0, 1, STYLE_GOOD, "%d trials", n);
//     term_show(&s);                              the terminal gets what changed
//
// There is no terminal in here: tests read frames back as text. A pane is a view of a rectangle;
// rows and columns are relative to it, and what lies outside is cut, so that drawing code needs no
// bounds. A pane may be empty (rows or cols 0); drawing there does nothing.
//
// Styles are meanings; their colours and attributes, on 256, 8 or no colours, are chosen in one
// place (config.c). Colour is never the only key: each meaning has a word, a letter or a glyph too.
#ifndef TILEWALK_UI_SCREEN_H
#define TILEWALK_UI_SCREEN_H

#include "base/str.h"
#include "report/plot.h"

#include <stdbool.h>
#include <stdint.h>

#define RAMP_LEVELS     8
#define MOST_SERIES     8
#define ORDERED_LEVELS  16 // of paint_ordered
#define MOST_CATEGORIES 8  // of paint_category
#define MOST_HUES       (ORDERED_LEVELS + MOST_CATEGORIES)
#define PATCH_STRENGTHS 4 // of pane_patch

enum style {
    STYLE_TEXT,
    STYLE_DIM,
    STYLE_STRONG,
    STYLE_FRAME,
    STYLE_TITLE,
    STYLE_FOCUS,    // the frame and title of the pane that gets the keys
    STYLE_HEAD,     // of tables
    STYLE_BAR,      // the first row
    STYLE_KEY,      // a key in the footer
    STYLE_LABEL,    // what it does
    STYLE_DISABLED, // a key that does nothing now
    STYLE_GOOD,
    STYLE_WARN,
    STYLE_BAD,
    STYLE_BEST,
    STYLE_BAND,    // behind and beside curves
    STYLE_MADE_UP, // speeds that no device has measured now
    STYLE_KEYWORD, // of source code, up to STYLE_DIRECTIVE
    STYLE_TYPE,
    STYLE_NUMBER,
    STYLE_COMMENT,
    STYLE_DIRECTIVE, // of the preprocessor
    STYLE_ADDED,     // of differences, up to STYLE_HUNK
    STYLE_REMOVED,
    STYLE_HUNK,                              // the header of one
    STYLE_SERIES,                            // + 0 .. MOST_SERIES - 1
    STYLE_RAMP = STYLE_SERIES + MOST_SERIES, // + 0 (low) .. RAMP_LEVELS - 1 (high)
    STYLE_CELL = STYLE_RAMP + RAMP_LEVELS,   // + 0 .. MOST_HUES - 1: paint_ordered, paint_category
    STYLE_PATCH = STYLE_CELL + MOST_HUES,    // + hue * PATCH_STRENGTHS + strength: pane_patch
    STYLE_COUNT = STYLE_PATCH + MOST_HUES * PATCH_STRENGTHS
};

// Styles of values. Their colour is the background, and the text on it contrasts with it. Ordered
// values go from low (0) to high (1) in colours with an order; categories have colours without one
// (Okabe and Ito), which come again after MOST_CATEGORIES.
enum style paint_ordered(double fraction);
enum style paint_category(int i);

struct cell {
    uint32_t glyph; // code point; 0: the right half of a wide one
    uint16_t style;
    bool marked; // under the cursor: reversed
};

struct screen {
    int rows, cols;
    enum charset charset;
    struct cell *cell;          // rows * cols
    int cursor_row, cursor_col; // where the terminal's cursor belongs; -1: hidden
};

void screen_resize(struct screen *s, int rows, int cols); // also the first time; content is lost
void screen_clear(struct screen *s);
void screen_finish(struct screen *s);
// Appends the frame as text, rows without the blanks at their ends.
void screen_add_text(const struct screen *s, struct str *out);

struct pane {
    struct screen *screen;
    int row, col, rows, cols; // on the screen
};

struct pane screen_whole(struct screen *s);
struct pane pane_part(const struct pane *p, int row, int col, int rows, int cols);
// Draws a frame with a title on its top edge and a note at its right end (NULL: none); returns the
// inside. A pane that is too small (under 3 rows or 4 columns) has no frame, all of it is inside.
struct pane pane_box(const struct pane *p, const char *title, const char *note, bool focused);

// Draws UTF-8 text and returns the column behind it, as if nothing had been cut. Control characters
// and broken UTF-8 are drawn as `?`. So is, in the ASCII charset, every character that ASCII lacks,
// except a few that have a stand-in ("±" is "+-", "×" is "x", "…" is "~", "─" is "-", and blocks).
int pane_text(const struct pane *p, int row, int col, enum style style, const char *text);
int pane_printf(const struct pane *p, int row, int col, enum style style, const char *format, ...)
    __attribute__((format(printf, 5, 6))); // 1023 bytes at most, the rest is not drawn
// Draws at most `cols` columns; a text that is cut ends in "…".
int pane_text_cut(const struct pane *p, int row, int col, int cols, enum style style,
                  const char *text);
// Draws a text from `col` on that is cut at the edge of the pane, in the same way.
int pane_line(const struct pane *p, int row, int col, enum style style, const char *format, ...)
    __attribute__((format(printf, 5, 6))); // 1023 bytes at most
// Lines go down a pane from column `col` on; the first ones may be above it.
struct lines {
    const struct pane *p;
    int row, col; // of the next line
};
void lines_add(struct lines *l, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4))); // cut as by pane_line
void pane_text_right(const struct pane *p, int row, int end, enum style style, const char *text);
// Draws one code point; returns the columns it takes.
int pane_glyph(const struct pane *p, int row, int col, enum style style, uint32_t glyph);
void pane_fill(const struct pane *p, enum style style, uint32_t glyph);
void pane_mark(const struct pane *p, int row, int col, int cols); // reverses what is there
void pane_cursor(const struct pane *p, int row, int col);         // puts the terminal's cursor
// Draws ">" before the row under a view's cursor; `focused`: the keys go there, so all of it is
// marked.
void pane_select(const struct pane *p, int row, bool focused);
void pane_bar(const struct pane *p, int row, int col, int cols, enum style style, double share);
// Draws `cols` cells of a shade: glyph and colour both grow with level, 0 .. RAMP_LEVELS - 1.
void pane_shade(const struct pane *p, int row, int col, int cols, int level);
// Draws `cols` cells of the background of a value (paint_ordered, paint_category), fainter the
// smaller `strength` (0 .. 1) is. Where backgrounds have no colours they are shades.
void pane_patch(const struct pane *p, int row, int col, int cols, enum style value,
                double strength);
// Draws a line of levels 0 .. 1, one a column ("▁▃▅█"); NaN leaves a blank.
void pane_spark(const struct pane *p, int row, int col, enum style style, const double *level,
                int count);

int text_columns(const char *text); // as pane_text draws it on a wide charset

// Text on several rows, broken at blanks and new lines. A word that is longer than a row is broken
// behind a colon (strategies have many), unless that leaves half of the row empty.

// Returns the bytes of the first row when a row has `cols` columns; `*next` is where the second one
// begins. At least a glyph, unless there is none.
int wrap_row(const char *text, int cols, const char **next);
int wrap_rows(const char *text, int cols); // how many; 0: no text
// Draws all of it from (row, col) on; rows outside the pane are not seen. Returns the row below.
int pane_wrapped(const struct pane *p, int row, int col, int cols, enum style style,
                 const char *text);

#endif
