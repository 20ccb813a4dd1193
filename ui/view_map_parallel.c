// Parallel coordinates of the best tenth of the ok trials: an upright axis for each parameter, from
// its lowest value (below) to its highest, and a line across all axes for each configuration. Of
// many trials they are the best tenth of a sample, that of the importance.
#include "base/number.h"
#include "report/plot.h"
#include "screen.h"
#include "text.h"
#include "view_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXIS_COLS   6 // from one axis to the next, at least
#define LABEL_COLS  8 // of the last axis, at most
#define HEAD_ROWS   2 // names of the axes, a blank
#define LEGEND_ROWS 1
#define LEVELS      RAMP_LEVELS // of lines, by speed; the best has one more

struct coordinates {
    const struct map *map;
    int factor[SPACE_MAX_SLOTS]; // of the axes, left to right
    int axes;
    int step;      // columns from axis to axis
    int count;     // configurations, fastest first
    int8_t *place; // [count][axes], on each axis; -1: it has none yet
};

struct sampled {
    double speed;
    int trial;
};

static int faster_first(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    return x->trial - y->trial;
}

// Chooses the axes: all factors, or the most important ones that there is room for, in the order
// declared.
static void choose_axes(struct coordinates *c, int cols)
{
    const struct map *m = c->map;
    int most = int_clamp(1 + (cols - LABEL_COLS) / AXIS_COLS, 2, m->factors);
    for (int i = 0; i < m->factors; i++) {
        double share = importance_of(&m->importance, m->factor[i]);
        int above = 0; // factors that are more important
        for (int k = 0; k < m->factors; k++) {
            double other = importance_of(&m->importance, m->factor[k]);
            above += other > share || (other == share && k < i);
        }
        if (above < most && c->axes < most)
            c->factor[c->axes++] = i;
    }
    c->step = c->axes > 1 ? int_max((cols - LABEL_COLS) / (c->axes - 1), 1) : 1;
}

static void take_tenth(struct coordinates *c)
{
    const struct map *m = c->map;
    const struct importance *im = &m->importance;
    struct sampled *all = mem_alloc((size_t)im->kept * sizeof *all);
    size_t slots = (size_t)m->space->slots;
    for (int i = 0; i < im->kept; i++)
        all[i] = (struct sampled){im->speed[i], i};
    qsort(all, (size_t)im->kept, sizeof *all, faster_first);
    c->count = (im->kept + 9) / 10;
    c->place = mem_alloc((size_t)c->count * (size_t)c->axes);
    for (int i = 0; i < c->count; i++) {
        struct config config = {{0}};
        memcpy(config.slot, im->slot + (size_t)all[i].trial * slots, slots * sizeof *config.slot);
        for (int axis = 0; axis < c->axes; axis++)
            c->place[i * c->axes + axis] =
                (int8_t)axis_place(&m->along[c->factor[axis]].x, &config, NULL);
    }
    free(all);
}

static double height_of(const struct coordinates *c, int axis, int place)
{
    return (place + 0.5) / c->map->along[c->factor[axis]].x.count;
}

// Draws the lines from an axis to the next one, each once, as bright as its fastest configuration.
static void draw_between(const struct coordinates *c, const struct pane *p, int axis,
                         struct plot *plot)
{
    bool drawn[AXIS_MOST][AXIS_MOST] = {{false}};
    double x = (axis * c->step + 0.5) / p->cols;
    for (int i = 0; i < c->count; i++) {
        int from = c->place[i * c->axes + axis], to = c->place[i * c->axes + axis + 1];
        if (from < 0 || to < 0 || drawn[from][to])
            continue;
        drawn[from][to] = true;
        plot_line(plot, i ? 1 + i * LEVELS / c->count : 0,
                  (struct plot_point){x, height_of(c, axis, from)},
                  (struct plot_point){x + (double)c->step / p->cols, height_of(c, axis + 1, to)});
    }
}

static void draw_lines(const struct coordinates *c, const struct pane *p)
{
    struct plot plot;
    plot_init(&plot, p->screen->charset, p->rows, p->cols);
    memset(plot.letter, '.', sizeof plot.letter);
    plot.letter[0] = '*';
    for (int axis = 0; axis < c->axes; axis++) {
        for (int row = 0; row < p->rows; row++)
            pane_glyph(p, row, axis * c->step, STYLE_FRAME, 0x2502);
        if (axis + 1 < c->axes)
            draw_between(c, p, axis, &plot);
    }
    for (int row = 0; row < p->rows; row++)
        for (int col = 0; col < p->cols; col++) {
            struct plot_glyph g = plot_at(&plot, row, col);
            int series = g.kind - PLOT_SERIES;
            enum style style = series ? (enum style)(STYLE_RAMP + LEVELS - series) : STYLE_BEST;
            if (series >= 0)
                pane_glyph(p, row, col, style, g.glyph);
        }
    plot_finish(&plot);
}

// Draws the values of an axis that the best tenth has, each in the colour of its share.
static void draw_axis(const struct coordinates *c, const struct pane *p, int axis)
{
    const struct axis *a = &c->map->along[c->factor[axis]].x;
    int had[AXIS_MOST] = {0}, col = axis * c->step;
    struct str label = {0};
    for (int i = 0; i < c->count; i++) {
        int place = c->place[i * c->axes + axis];
        if (place >= 0)
            had[place]++;
    }
    for (int row = 0; row < p->rows; row++) {
        // Where several values share a row, the most frequent one stands there.
        int here = -1;
        for (int k = 0; k < a->count; k++)
            if ((int)((1 - height_of(c, axis, k)) * p->rows) == row && had[k] &&
                (here < 0 || had[k] > had[here]))
                here = k;
        if (here < 0)
            continue;
        map_label(a, here, &label);
        pane_text_cut(p, row, col, axis + 1 == c->axes ? LABEL_COLS : c->step - 1,
                      paint_ordered((double)had[here] / c->count), str_text(&label));
    }
    str_finish(&label);
}

static void draw_name(const struct coordinates *c, const struct pane *p, int axis)
{
    const struct map *m = c->map;
    struct factor f = m->factor[c->factor[axis]];
    char brief[SPACE_MAX_PARAMS][4];
    struct str name = {0};
    int room = axis + 1 == c->axes ? LABEL_COLS : c->step - 1;
    factor_add_name(m->space, f, &name);
    if (text_columns(str_text(&name)) > room) {
        short_names(m->space, brief);
        name.length = 0;
        str_add(&name, brief[f.param]);
        if (f.slot >= 0)
            str_printf(&name, "%d", f.slot + 1);
    }
    pane_text_cut(p, 0, axis * c->step, room, STYLE_HEAD, str_text(&name));
    str_finish(&name);
}

void map_draw_parallel(struct app *app, struct map *m, const struct pane *box)
{
    char title[80], note[40];
    struct coordinates c = {.map = m};
    struct pane all = pane_part(box, 1, 2, box->rows - 2, box->cols - 4);
    choose_axes(&c, all.cols);
    take_tenth(&c);
    snprintf(title, sizeof title, "Best tenth: %d of %" PRId64 " ok trials%s", c.count,
             m->importance.added, m->importance.added > IMPORTANCE_SAMPLE ? ", sampled" : "");
    if (c.axes < m->factors)
        snprintf(note, sizeof note, "%d most important of %d", c.axes, m->factors);
    else
        snprintf(note, sizeof note, "%s: map", app_key_of(app, ACT_PARALLEL));
    pane_box(box, title, note, true);
    int below = all.rows >= HEAD_ROWS + LEGEND_ROWS + 6 ? LEGEND_ROWS : 0;
    struct pane p = pane_part(&all, HEAD_ROWS, 0, all.rows - HEAD_ROWS - below, all.cols);
    if (c.count) {
        draw_lines(&c, &p);
        for (int axis = 0; axis < c.axes; axis++) {
            draw_name(&c, &all, axis);
            draw_axis(&c, &p, axis);
        }
    } else {
        pane_line(&all, 0, 0, STYLE_DIM, "There is no ok trial yet.");
    }
    if (below && c.count)
        pane_line(&all, all.rows - 1, 0, STYLE_DIM,
                  "A line is a configuration; the colour of a value says how many have it.");
    free(c.place);
}
