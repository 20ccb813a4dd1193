#include "curve_pane.h"

#include "app.h"
#include "base/number.h"
#include "carpet_pane.h"
#include "engine/speed.h"
#include "model.h"
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_ROWS  6 // smaller panes have no frame
#define FRAME_COLS  30
#define FRAME_WORDS 9 // columns of the upper edge that are neither title nor note
#define PLOT_ROWS   3 // smaller plots are a sparkline
#define PLOT_COLS   12
#define ZOOM        0.05  // zooming shows so much below the best of the open session, at least, and
#define ZOOM_STEPS  4     // so many of its last steps
#define ZOOM_TICKS  6     // steps of the axis when it does not begin at 0
#define PEAK_TIMES  2     // the peak is shown up to so many times the best
#define MEDIAN_OF   31    // trials of the running median
#define MEDIANS     64    // points of it, at most
#define LEAST_BARS  9     // rows of a plot with a row for failures
#define RACE_OFF    0.005 // measured and raced speeds that differ by more are told apart

// --- runs ---

// Returns the x of something that happened at trial `number`.
static double axis_x(enum curve_axis axis, double number, double elapsed_s, double wall_s)
{
    return axis == CURVE_TRIALS ? number : axis == CURVE_RUNNING ? elapsed_s : wall_s;
}

static double end_of_open(const struct model *m, double unix_now, enum curve_axis axis)
{
    const struct opened *o = &m->open;
    if (axis == CURVE_TRIALS)
        return (double)o->last_number;
    if (axis == CURVE_RUNNING)
        return model_ran_seconds(m, unix_now);
    bool runs = o->runner && o->state == STATE_RUNNING;
    return (runs ? unix_now : o->newest_finished) - o->record.created;
}

static bool mark_runs(const struct model *m, const struct mark *k)
{
    const struct session_row *row = model_row(m, k->id);
    return row && row->runner && row->state == STATE_RUNNING;
}

// Stored running times of a marked session end with its last change of state. When the last step is
// newer there was no pause since, and it has run on until now.
static double end_of_mark(const struct model *m, const struct mark *k, double unix_now,
                          enum curve_axis axis)
{
    bool runs = mark_runs(m, k);
    if (axis == CURVE_TRIALS)
        return (double)k->record.trials;
    if (axis == CURVE_WALL)
        return runs ? unix_now - k->record.created : k->record.ran_seconds;
    const struct best_step *last = k->curve.count ? &k->curve.step[k->curve.count - 1] : NULL;
    if (runs && last && last->elapsed_s > k->record.ran_seconds)
        return last->elapsed_s + fmax(0, unix_now - last->finished);
    return k->record.ran_seconds;
}

static char letter_of_open(const struct model *m)
{
    bool taken[MODEL_MOST_MARKS + 1] = {0};
    for (int i = 0; i < m->mark_count; i++) {
        if (m->mark[i].id == m->open.record.id)
            return m->mark[i].letter;
        int place = m->mark[i].letter - 'A';
        if (place >= 0 && place <= MODEL_MOST_MARKS)
            taken[place] = true;
    }
    char letter = 'A';
    while (letter - 'A' < MODEL_MOST_MARKS && taken[letter - 'A'])
        letter++;
    return letter;
}

static void add_run(struct curve_runs *r, struct curve_run run, const struct curve *c,
                    const struct session_record *record, enum curve_axis axis, double per_flops,
                    double end)
{
    double x = 0;
    char strategy[STRATEGY_TEXT];
    snprintf(run.name, sizeof run.name, "%lld %s", (long long)record->id,
             strategy_text(record->strategy, false, strategy));
    run.point = mem_alloc((size_t)c->count * sizeof *run.point);
    for (int i = 0; i < c->count; i++) {
        if (!(c->step[i].seconds > 0))
            continue;
        const struct best_step *s = &c->step[i];
        x = fmax(x, axis_x(axis, (double)s->number, s->elapsed_s, s->finished - record->created));
        double y = record->flop / c->step[i].seconds * per_flops;
        run.point[run.count++] = (struct plot_point){x, y};
    }
    run.end = fmax(x, end); // clocks may be set back
    if (record->best_seconds > 0)
        run.ranked = record->flop / record->best_seconds * per_flops;
    r->right = fmax(r->right, run.end);
    for (int i = 0; i < run.count; i++)
        r->best = fmax(r->best, run.point[i].y);
    r->alike += !run.apart;
    r->run[r->count++] = run;
}

void curve_runs_take(struct curve_runs *r, const struct model *m, double unix_now,
                     enum curve_axis axis, bool alone)
{
    const struct opened *o = &m->open;
    double per_flops;
    *r = (struct curve_runs){.unit = model_unit(m, &per_flops),
                             .is_inverse = speed_is_inverse(&o->record)};
    r->per_flops = per_flops;
    if (!o->record.id)
        return;
    const struct recording *recording = o->recording;
    double fastest = 0;
    if (recording && recording->best >= 0)
        fastest = recording->entry[recording->best].seconds;
    r->recorded = fastest > 0 ? o->record.flop / fastest * per_flops : 0;
    const struct baseline_record *b = baselines_fastest(&o->baselines);
    if (b) {
        r->baseline = o->record.flop / baseline_seconds(b) * r->per_flops;
        r->baseline_name = b->name;
    }
    double share = speed_of_peak(&o->record, o->record.best_seconds);
    if (share > 0)
        r->peak = o->record.flop / o->record.best_seconds * per_flops / share;
    if (o->state == STATE_RUNNING || o->state == STATE_PAUSED)
        r->right = axis_x(axis, (double)o->record.budget_trials, o->record.budget_seconds, 0);
    add_run(r, (struct curve_run){.letter = letter_of_open(m)}, &o->curve, &o->record, axis,
            per_flops, end_of_open(m, unix_now, axis));
    for (int i = 0; i < m->mark_count && !alone; i++) {
        const struct mark *k = &m->mark[i];
        if (k->id == o->record.id)
            continue;
        enum compare_fit fit = compare_fit(&o->record, &k->record);
        if (fit != COMPARE_SAME) {
            r->left_out[fit]++;
            continue;
        }
        bool other = compare_apart(&o->record, &k->record) != NULL;
        struct curve_run run = {.letter = k->letter,
                                .apart = !compare_repeats(&o->record, &k->record),
                                .level = other && !mark_runs(m, k)};
        add_run(r, run, &k->curve, &k->record, axis, per_flops, end_of_mark(m, k, unix_now, axis));
    }
}

void curve_runs_finish(struct curve_runs *r)
{
    for (int i = 0; i < r->count; i++)
        free(r->run[i].point);
    *r = (struct curve_runs){0};
}

// Returns 0 when there is nothing valid yet.
static double run_best(const struct curve_run *run)
{
    return run->count ? run->point[run->count - 1].y : 0;
}

// --- their mean ---

void curve_mean_take(struct curve_mean *m, const struct curve_runs *r, enum curve_band band, int n)
{
    *m = (struct curve_mean){0};
    if (r->alike < 2 || n < 1 || !(r->right > 0) || !(r->best > 0))
        return;
    struct steps run[MOST_RUNS];
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        if (r->run[i].apart)
            continue;
        run[count++] = (struct steps){r->run[i].point, r->run[i].count};
        m->end = fmax(m->end, r->run[i].end);
    }
    double step = r->right / n;
    struct spread *spread = mem_alloc((size_t)n * sizeof *spread);
    steps_spread(run, count, step * (1 + 1e-9), step, spread, n);
    m->mean = mem_alloc(3 * (size_t)n * sizeof *m->mean);
    m->low = m->mean + n;
    m->high = m->low + n;
    for (int i = 0; i < n && i * step <= m->end; i++)
        if (spread[i].most > 0) {
            double x = i * step;
            double low =
                band == CURVE_RANGE ? spread[i].least : spread[i].mean - spread[i].deviation;
            double high =
                band == CURVE_RANGE ? spread[i].most : spread[i].mean + spread[i].deviation;
            m->mean[m->count] = (struct plot_point){x, spread[i].mean};
            m->low[m->count] = (struct plot_point){x, low};
            m->high[m->count++] = (struct plot_point){x, high};
        }
    steps_spread(run, count, m->end, 0, &m->last, 1);
    free(spread);
}

void curve_mean_finish(struct curve_mean *m)
{
    free(m->mean);
    *m = (struct curve_mean){0};
}

// --- drawing ---

// Series: the lowest number is seen where lines meet.
enum { SERIES_OPEN, SERIES_MEAN, SERIES_MARKED, SERIES_MEDIAN = PLOT_MOST_SERIES - 1 };

static enum style run_style(const struct curve_run *run)
{
    return (enum style)(STYLE_SERIES + (run->letter - 'A') % MOST_SERIES);
}

// Prints a height of the plot in the unit of the axis.
static void print_speed(char out[16], const struct curve_runs *r, double speed)
{
    if (r->is_inverse)
        snprintf(out, 16, "%.3g", 1 / speed);
    else
        snprintf(out, 16, r->best < 100 ? "%.2f" : "%.1f", speed);
}

// --- the note of the frame ---

// Appends "1 marked is another problem".
static void add_left_out(const struct curve_runs *r, struct str *out)
{
    static const char *const words[COMPARE_FITS] = {"", "problem", "device", "source"};
    int count = 0, kinds = 0, kind = 0;
    for (int i = 0; i < COMPARE_FITS; i++) {
        count += r->left_out[i];
        kinds += r->left_out[i] > 0;
        kind = r->left_out[i] > 0 ? i : kind;
    }
    if (count && out->length)
        str_add(out, "  ");
    if (kinds > 1)
        str_printf(out, "%d marked are not comparable", count);
    else if (count == 1)
        str_printf(out, "1 marked is another %s", words[kind]);
    else if (count)
        str_printf(out, "%d marked are other %ss", count, words[kind]);
}

// --- levels to compare with ---

enum { LEVELS = 3 };
struct level {
    double speed;
    const char *name;
};

static int list_levels(const struct curve_runs *r, struct level out[LEVELS])
{
    int count = 0;
    if (r->recorded > 0)
        out[count++] = (struct level){r->recorded, "fastest recorded"};
    if (r->baseline > 0)
        out[count++] = (struct level){r->baseline, r->baseline_name};
    if (r->peak > 0 && r->peak <= PEAK_TIMES * r->best)
        out[count++] = (struct level){r->peak, "peak"};
    return count;
}

// --- legend ---

struct entry {
    enum style style;
    char letter;
    char name[24], value[16], more[24];
};

struct legend {
    struct entry entry[MOST_RUNS + 5];
    int count;
    int name, value, more, cols; // columns of each part, and of all
};

static void add_entry(struct legend *l, struct entry e)
{
    int name = text_columns(e.name), value = text_columns(e.value), more = text_columns(e.more);
    l->name = name > l->name ? name : l->name;
    l->value = value > l->value ? value : l->value;
    l->more = more > l->more ? more : l->more;
    l->entry[l->count++] = e;
}

// The curve holds measured speeds; the ranked best may have another time by now.
static bool differs_from_race(const struct curve_run *run)
{
    double measured = run_best(run);
    return measured > 0 && run->ranked > 0 && fabs(run->ranked / measured - 1) > RACE_OFF;
}

// Makes a legend of at most `most` runs, and of the mean unless it is NULL or empty.
static struct legend make_legend(const struct pane *p, const struct curve_runs *r,
                                 const struct curve_mean *mean, enum curve_band band, int most)
{
    struct legend l = {0};
    for (int i = 0; i < r->count && i < most; i++) {
        struct entry e = {.style = run_style(&r->run[i]), .letter = r->run[i].letter};
        snprintf(e.name, sizeof e.name, "%s", r->count > 1 ? r->run[i].name : "this session");
        if (run_best(&r->run[i]) > 0)
            print_speed(e.value, r, run_best(&r->run[i]));
        else
            snprintf(e.value, sizeof e.value, "-");
        if (differs_from_race(&r->run[i])) {
            char measured[16];
            snprintf(measured, sizeof measured, "%s", e.value);
            print_speed(e.value, r, r->run[i].ranked);
            snprintf(e.more, sizeof e.more, " raced, %s measured", measured);
        }
        add_entry(&l, e);
    }
    if (mean && mean->count) {
        struct entry e = {.style = STYLE_STRONG, .letter = 'M'};
        char off[16];
        snprintf(e.name, sizeof e.name, "mean of %d", r->alike);
        print_speed(e.value, r, mean->last.mean);
        print_speed(off, r, mean->last.deviation);
        if (!r->is_inverse) // the deviation of a speed is none of a cost
            snprintf(e.more, sizeof e.more, " %s%s",
                     p->screen->charset == CHARSET_ASCII ? "+-" : "±", off);
        add_entry(&l, e);
        if (band != CURVE_NO_BAND) {
            struct entry b = {.style = STYLE_BAND, .letter = ':'};
            snprintf(b.name, sizeof b.name, band == CURVE_RANGE ? "least to most" : "std");
            add_entry(&l, b);
        }
    }
    struct level level[LEVELS];
    int levels = list_levels(r, level);
    for (int i = 0; i < levels; i++) {
        struct entry e = {.style = STYLE_BAND, .letter = ':'};
        snprintf(e.name, sizeof e.name, "%s", level[i].name);
        print_speed(e.value, r, level[i].speed);
        add_entry(&l, e);
    }
    l.cols = 4 + l.name + l.value + l.more;
    return l;
}

// Finds empty cells of the area, with a blank on either side: low at the right, where rising curves
// leave room; else further up, else at the left.
static bool find_place(const struct plot *plot, const struct legend *l, int *row, int *col)
{
    int cols = l->cols + 2;
    for (int side = 0; side < 2; side++) {
        *col = side == 0 ? plot->col + plot->wide - cols : plot->col;
        for (*row = plot->row + plot->down - l->count; *row >= plot->row; --*row)
            if (plot_is_free(plot, *row, *col, l->count, cols)) {
                ++*col;
                return true;
            }
    }
    return false;
}

// Draws all of the legend, else without the band and with as many runs as there is room for, else
// without the mean.
static void draw_legend(const struct pane *p, const struct plot *plot, const struct curve_runs *r,
                        const struct curve_mean *mean, enum curve_band band)
{
    for (int most = r->count + 1; most >= 0; most--) {
        struct legend l = make_legend(p, r, most > 0 ? mean : NULL,
                                      most > r->count ? band : CURVE_NO_BAND, most > 0 ? most : 1);
        int row, col;
        if (find_place(plot, &l, &row, &col)) {
            struct pane under = pane_part(p, row, col - 1, l.count, l.cols + 2);
            pane_fill(&under, STYLE_TEXT, ' ');
            for (int i = 0; i < l.count; i++) {
                const struct entry *e = &l.entry[i];
                int value_end = col + 4 + l.name + l.value;
                pane_glyph(p, row + i, col, e->style, (unsigned char)e->letter);
                pane_text(p, row + i, col + 2, STYLE_TEXT, e->name);
                pane_text_right(p, row + i, value_end, STYLE_TEXT, e->value);
                pane_text(p, row + i, value_end, STYLE_TEXT, e->more);
            }
            return;
        }
    }
}

// --- plot ---

static struct plot_axis y_axis(const struct curve_runs *r, const struct curve_mean *mean,
                               const struct curve_pane *state)
{
    struct level level[LEVELS];
    double high = r->best;
    for (int i = list_levels(r, level); i-- > 0;)
        high = fmax(high, level[i].speed);
    if (state->zoomed && r->best > 0) {
        const struct curve_run *own = &r->run[0];
        double best = run_best(own), low = (1 - ZOOM) * (best > 0 ? best : r->best);
        if (own->count > 0) {
            int step = own->count > ZOOM_STEPS ? own->count - ZOOM_STEPS : 0;
            low = fmin(low, own->point[step].y - ZOOM / 5 * best); // not on the axis itself
        }
        high *= 1 + ZOOM / 10;
        double step = plot_ticks(low, high, PLOT_REAL, ZOOM_TICKS).step;
        return (struct plot_axis){
            .low = step * floor(low / step), .high = step * ceil(high / step), .even = true};
    }
    for (int i = 0; i < mean->count && state->band != CURVE_NO_BAND; i++)
        high = fmax(high, mean->high[i].y);
    return (struct plot_axis){.high = high > 0 ? plot_round_top(1.01 * high) : 1, .even = true};
}

void curve_draw_plot(const struct plot *plot, const struct pane *p, const enum style *style)
{
    for (int row = 0; row < plot->rows; row++)
        for (int col = 0; col < plot->cols; col++) {
            struct plot_glyph g = plot_at(plot, row, col);
            if (g.kind == PLOT_EMPTY)
                continue;
            enum style s = g.kind == PLOT_BAND  ? STYLE_BAND
                           : g.kind < PLOT_BAND ? STYLE_DIM
                                                : style[g.kind - PLOT_SERIES];
            pane_glyph(p, row, col, s, g.glyph);
        }
}

// --- the trials behind the lines ---

// The functions below draw into a pane and the plot in it, and share what both show.
struct canvas {
    const struct pane *room;
    struct plot plot;
    const struct curve_pane *state;
    const struct curve_runs *runs;
    const struct session_record *record;
};

static double dot_at(const struct canvas *c, int i)
{
    const struct curve_dots *d = &c->state->dots;
    return axis_x(c->state->axis, (double)((i + 1) * d->stride), d->dot[i].elapsed_s,
                  d->dot[i].finished - c->record->created);
}

static int count_dots(const struct canvas *c)
{
    return c->state->dots.session == c->record->id ? c->state->dots.count : 0;
}

static double dot_speed(const struct canvas *c, int i)
{
    double seconds = c->state->dots.dot[i].seconds;
    return seconds > 0 ? c->record->flop / seconds * c->runs->per_flops : 0;
}

// Draws the median of the last valid trials at some of them.
static void draw_median(struct canvas *c)
{
    double last[MEDIAN_OF], sorted[MEDIAN_OF];
    struct plot_point point[MEDIANS + 1];
    int dots = count_dots(c), every = dots / MEDIANS + 1, valid = 0, count = 0;
    for (int i = 0; i < dots; i++) {
        double speed = dot_speed(c, i);
        if (speed > 0)
            last[valid++ % MEDIAN_OF] = speed;
        if (i % every || valid < MEDIAN_OF / 2)
            continue;
        int of = int_min(valid, MEDIAN_OF);
        memcpy(sorted, last, (size_t)of * sizeof *sorted);
        point[count++] = (struct plot_point){dot_at(c, i), median_of(sorted, of)};
    }
    if (count)
        plot_steps(&c->plot, SERIES_MEDIAN, 0, point, count, dot_at(c, dots - 1));
}

// Draws the share of the trials of each column that failed, in the row below the area.
static void draw_failures(const struct canvas *c)
{
    const struct plot *plot = &c->plot;
    int dots = count_dots(c), row = plot->row + plot->down;
    int *all = mem_zero(2 * (size_t)plot->cols + 1, sizeof *all), *failed = all + plot->cols;
    double *level = mem_alloc((size_t)plot->cols * sizeof *level + 1);
    for (int i = 0; i < dots; i++) {
        int col = plot_col_of(plot, dot_at(c, i));
        all[col]++;
        failed[col] += !(c->state->dots.dot[i].seconds > 0);
    }
    for (int col = plot->col; col < plot->cols; col++)
        level[col] = failed[col] ? (double)failed[col] / all[col] : NAN;
    const char *name = plot->col > 6 ? "failed" : plot->col > 3 ? "bad" : "";
    pane_text_right(c->room, row, plot->col - 1, STYLE_DIM, name);
    pane_spark(c->room, row, plot->col, STYLE_BAD, level + plot->col, plot->wide);
    free(all);
    free(level);
}

static void draw_dots(struct canvas *c)
{
    for (int i = 0; i < count_dots(c); i++)
        if (dot_speed(c, i) > 0)
            plot_dot(&c->plot, dot_at(c, i), dot_speed(c, i));
}

// --- the carpet below ---

static void draw_carpet(const struct canvas *c, struct carpet_place *at)
{
    const struct carpet *carpet = &c->state->carpet;
    at->row = c->plot.row + c->plot.down + 1;
    at->first = (int)c->state->rows.top;
    at->number = c->state->number;
    at->col = mem_alloc((size_t)carpet->count * sizeof *at->col + 1);
    for (int k = 0; k < carpet->count; k++) {
        const struct moment *m = &carpet->moment[k];
        at->col[k] = plot_col_of(&c->plot, axis_x(c->state->axis, (double)m->number, m->elapsed_s,
                                                  m->finished - c->record->created));
    }
    at->end = plot_col_of(&c->plot, c->runs->run[0].end);
    carpet_draw(carpet, at, c->room);
    int head = at->row - 1, end = c->room->cols;
    pane_text_right(c->room, head, end, STYLE_HEAD, "/8");
    pane_text(c->room, head, end - at->right + 1, STYLE_HEAD, at->number ? "then" : "now");
    if (at->has_legend)
        carpet_draw_legend(c->room, c->room->rows - 3, c->plot.col);
    const struct moment *m = at->number ? carpet_at(carpet, at->number) : NULL;
    for (int row = c->plot.row; m && row < at->row; row++)
        if (plot_at(&c->plot, row, at->col[m - carpet->moment]).kind == PLOT_EMPTY)
            pane_glyph(c->room, row, at->col[m - carpet->moment], STYLE_FOCUS, 0x2502);
    free(at->col);
}

// Writes what stands at the right end of the x axis.
static void name_axis(enum curve_axis axis, const struct session_record *record, char name[40])
{
    char text[32];
    name[0] = '\0';
    if (axis == CURVE_WALL)
        snprintf(name, 40, "with pauses");
    else if (axis == CURVE_RUNNING && record->budget_seconds > 0)
        snprintf(name, 40, "of %s", text_duration(record->budget_seconds, text));
    else if (axis == CURVE_TRIALS && record->budget_trials > 0)
        snprintf(name, 40, "of %lld trials", (long long)record->budget_trials);
    else if (axis == CURVE_TRIALS)
        snprintf(name, 40, "trials");
}

static void draw_lines(struct canvas *c, const struct curve_mean *mean)
{
    const struct curve_runs *r = c->runs;
    struct plot *plot = &c->plot;
    struct level level[LEVELS];
    for (int i = list_levels(r, level); i-- > 0;) {
        struct plot_point from = {0, level[i].speed};
        plot_band(plot, &from, &from, 1, r->right);
    }
    if (mean->count && c->state->band != CURVE_NO_BAND)
        plot_band(plot, mean->low, mean->high, mean->count, mean->end);
    for (int i = r->count; i-- > 0;) {
        const struct curve_run *run = &r->run[i];
        const struct plot_point end = {run->end, run_best(run)};
        if (run->level && end.y > 0)
            plot_band(plot, &end, &end, 1, r->right); // such as the kernel in use
        int series = i == 0 ? SERIES_OPEN : SERIES_MARKED + i - 1;
        plot_steps(plot, series, run->letter, run->point, run->count, run->end);
    }
    if (mean->count)
        plot_steps(plot, SERIES_MEAN, 'M', mean->mean, mean->count, mean->end);
    plot_letters(plot);
}

// Draws into `room`, the inside of the frame, with its lower edge when the labels of the x axis may
// stand there.
static void draw_plot(const struct pane *room, struct curve_pane *state, const struct curve_runs *r,
                      const struct session_record *record)
{
    char name[40]; // at the x axis
    struct curve_mean mean;
    struct canvas c = {.room = room, .state = state, .runs = r, .record = record};
    struct carpet_place at = {0};
    if (state->has_carpet && state->carpet_session == record->id)
        at = carpet_place(&state->carpet, room->rows, room->cols);
    list_fit(&state->rows, at.rows > 0 ? state->carpet.factors : 0, at.rows);
    bool has_bars = at.rows > 0 || room->rows >= LEAST_BARS;
    plot_init(&c.plot, room->screen->charset, room->rows, room->cols - at.right);
    name_axis(state->axis, record, name);
    // The grid of the mean is about as fine as dots.
    curve_mean_take(&mean, r, state->band, 2 * room->cols);
    int lines = r->count + (mean.count > 0);
    enum plot_scale scale = state->axis == CURVE_TRIALS ? PLOT_WHOLE : PLOT_SECONDS;
    struct plot_axis x = {.high = r->right,
                          .scale = scale,
                          .name = name[0] ? name : NULL,
                          .room = lines < 3 ? lines : 3,
                          .margin = at.rows + has_bars + at.has_legend};
    struct plot_axis y = y_axis(r, &mean, state);
    y.scale = r->is_inverse ? PLOT_INVERSE : PLOT_REAL;
    y.margin = at.left;
    plot_axes(&c.plot, &x, &y);
    draw_dots(&c);
    draw_median(&c);
    draw_lines(&c, &mean);
    enum style style[PLOT_MOST_SERIES] = {
        [SERIES_MEAN] = STYLE_STRONG, [SERIES_MEDIAN] = STYLE_BAND};
    for (int i = 0; i < r->count; i++)
        style[i == 0 ? SERIES_OPEN : SERIES_MARKED + i - 1] = run_style(&r->run[i]);
    curve_draw_plot(&c.plot, room, style);
    if (r->best > 0)
        draw_legend(room, &c.plot, r, &mean, state->band);
    else
        pane_text_cut(room, c.plot.row + c.plot.down / 2, c.plot.col + 2, c.plot.wide - 2,
                      STYLE_DIM, "nothing valid measured yet");
    if (has_bars)
        draw_failures(&c);
    if (at.rows > 0)
        draw_carpet(&c, &at);
    curve_mean_finish(&mean);
    plot_finish(&c.plot);
}

// --- very small ---

static void draw_small(const struct pane *p, const struct curve_runs *r)
{
    char speed[16], text[48];
    double best = run_best(&r->run[0]);
    print_speed(speed, r, best);
    const char *what = differs_from_race(&r->run[0]) ? "measured" : "best";
    if (p->cols >= 24)
        snprintf(text, sizeof text, "%s %s %s", what, speed, r->unit);
    else
        snprintf(text, sizeof text, "%s", speed);
    if (!(best > 0)) {
        pane_line(p, 0, 0, STYLE_DIM, "nothing valid measured yet");
        return;
    }
    int width = text_columns(text);
    bool beside = p->rows < 2 && p->cols >= width + 6, above = p->rows >= 2 && p->cols >= width;
    if (above)
        pane_text(p, 0, 0, STYLE_BEST, text);
    if (beside)
        pane_text_right(p, 0, p->cols, STYLE_BEST, text);
    int cols = int_max(beside ? p->cols - width - 1 : p->cols, 0);
    double *level = mem_alloc((size_t)cols * sizeof *level);
    const struct steps s = {r->run[0].point, r->run[0].count};
    for (int i = 0; i < cols; i++) {
        double y = steps_at(&s, r->run[0].end * (i + 1) / cols);
        level[i] = y > 0 ? y / best : NAN;
    }
    pane_spark(p, above, 0, run_style(&r->run[0]), level, cols);
    free(level);
}

// --- the pane ---

void curve_pane_draw(struct app *app, struct curve_pane *state, const struct pane *p, bool focused)
{
    struct curve_runs r;
    struct pane inside = *p;
    curve_runs_take(&r, &app->model, app->unix_now, state->axis, state->alone);
    if (p->rows >= FRAME_ROWS && p->cols >= FRAME_COLS) {
        static const char *const axes[] = {"trial", "running time", "wall clock"};
        static const char *const bands[] = {"mean±std", "mean, least to most", "mean"};
        char title[64];
        struct str note = {0};
        snprintf(title, sizeof title, "Best %s by %s%s", r.unit, axes[state->axis],
                 state->zoomed ? ", not from 0" : "");
        if (r.count > 1)
            str_printf(&note, "%d runs", r.count);
        if (r.alike > 1)
            str_printf(&note, "  %s", bands[state->band]);
        add_left_out(&r, &note);
        if (state->has_carpet && state->number) {
            const struct moment *m = carpet_at(&state->carpet, state->number);
            str_printf(&note, "%safter trial %lld, generation %d", note.length ? "  " : "",
                       (long long)state->number, m ? m->generation : 0);
        }
        if (state->has_carpet && state->rows.rows > 0 && state->rows.rows < state->rows.count) {
            char rows[64];
            list_note(&state->rows, "rows", rows);
            str_printf(&note, "%s%s", note.length ? "  " : "", rows);
        }
        if (text_columns(title) + text_columns(str_text(&note)) + FRAME_WORDS > p->cols) {
            note.length = 0;
            add_left_out(&r, &note); // nothing else on the screen shows it
        }
        inside = pane_box(p, title, str_text(&note), focused);
        str_finish(&note);
    }
    bool framed = inside.rows < p->rows;
    if (r.count == 0)
        pane_line(&inside, 0, 0, STYLE_DIM, "no session is open");
    else if (inside.rows < PLOT_ROWS || inside.cols < PLOT_COLS)
        draw_small(&inside, &r);
    else if (framed && inside.rows + 1 >= PLOT_AXIS_ROWS) {
        struct pane room = pane_part(p, 1, 1, p->rows - 1, p->cols - 2);
        draw_plot(&room, state, &r, &app->model.open.record);
    } else
        draw_plot(&inside, state, &r, &app->model.open.record);
    curve_runs_finish(&r);
}

// --- keys ---

// Goes to the moment before or after; at the end, to now. The trial that changed the best then is
// selected.
static bool scrub(struct app *app, struct curve_pane *state, bool forward)
{
    state->number = carpet_step(&state->carpet, state->number, forward);
    const struct trial *t = state->number ? model_trial_numbered(&app->model, state->number) : NULL;
    if (t)
        app_select(app, t->ask);
    app->follow |= !state->number;
    return true;
}

bool curve_pane_act(struct app *app, struct curve_pane *state, enum action a)
{
    switch (a) {
    case ACT_EARLIER:
    case ACT_LATER: return scrub(app, state, a == ACT_LATER);
    case ACT_AXIS: state->axis = (enum curve_axis)((state->axis + 1) % CURVE_AXIS_COUNT); break;
    case ACT_BAND: state->band = (enum curve_band)((state->band + 1) % CURVE_BAND_COUNT); break;
    case ACT_ZERO: state->zoomed = !state->zoomed; break;
    case ACT_OVERLAY: state->alone = !state->alone; break;
    default: return state->rows.count > state->rows.rows && list_scroll(&state->rows, a);
    }
    return true;
}
