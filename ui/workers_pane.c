#include "view_main.h"

#include "base/number.h"
#include "report/text.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define LINE_COLS  24 // of a sparkline, at most
#define LEAST_LINE 6
#define NAME_COLS  7
#define VALUE_COLS 10

// --- lines over the newest trials ---

// Draws "clock   ▅▆▇▇▇  1980 MHz": the last values, between their least and their greatest.
static void draw_line(const struct pane *p, int row, const char *name, const char *value,
                      const double *of, int count)
{
    double low = HUGE_VAL, high = -HUGE_VAL, level[LINE_COLS];
    int cols = int_clamp(p->cols - NAME_COLS - VALUE_COLS, 0, LINE_COLS);
    int first = int_max(count - cols, 0), shown = count - first;
    for (int i = first; i < count; i++)
        if (isfinite(of[i])) {
            low = fmin(low, of[i]);
            high = fmax(high, of[i]);
        }
    for (int i = 0; i < shown; i++)
        level[i] = high > low ? (of[first + i] - low) / (high - low) : of[first + i] * 0 + 0.5;
    pane_text(p, row, 0, STYLE_DIM, name);
    if (cols >= LEAST_LINE)
        pane_spark(p, row, NAME_COLS, STYLE_SERIES + 1, level, shown);
    pane_text_right(p, row, NAME_COLS + cols + VALUE_COLS, STYLE_TEXT, value);
}

// Draws the trials a second, each over the time between some trials; returns the row below.
static int draw_rate(struct app *app, const struct curve_dots *d, const struct pane *p, int row)
{
    double rate[LINE_COLS];
    char value[24];
    int every = int_max(d->count / LINE_COLS / 4, 1), count = 0;
    int first = d->count - 1 - every * int_min((d->count - 1) / every, LINE_COLS);
    for (int i = first; d->count > 1 && i + every < d->count; i += every) {
        double seconds = d->dot[i + every].elapsed_s - d->dot[i].elapsed_s;
        rate[count++] = seconds > 0 ? (double)(every * d->stride) / seconds : NAN;
    }
    double now = app->model.open.rate;
    snprintf(value, sizeof value, now > 0 ? "%.3g/s" : "-", now);
    draw_line(p, row, "trials", value, rate, count);
    return row + 1;
}

static int draw_sensors(const struct curve_dots *d, const struct pane *p, int row)
{
    static const struct {
        const char *name, *unit;
    } sensors[SENSED_COUNT] = {{"clock", "MHz"}, {"temp.", "°C"}, {"power", "W"}};
    for (int k = 0; k < SENSED_COUNT; k++) {
        double of[LINE_COLS], last = NAN;
        int count = 0;
        for (int i = int_max(d->count - LINE_COLS, 0); i < d->count; i++) {
            of[count++] = d->dot[i].sensed[k];
            last = isfinite(of[count - 1]) ? of[count - 1] : last;
        }
        char value[24];
        snprintf(value, sizeof value, "%.0f %s", last, sensors[k].unit);
        if (isfinite(last))
            draw_line(p, row++, sensors[k].name, value, of, count);
    }
    return row;
}

// --- workers ---

// Returns the word for a phase: those that occupy the device for the sake of times are one.
static const char *phase_word(const char *phase)
{
    bool measures = str_equal(phase, "run") || str_equal(phase, "time");
    return measures ? "measure" : str_equal(phase, "none") ? "idle" : phase;
}

static void draw_workers(struct app *app, const struct pane *p, int row)
{
    const struct opened *o = &app->model.open;
    bool runs = o->runner && o->state == STATE_RUNNING;
    int count = runs ? o->workers.count : 0;
    if (count == 0)
        pane_line(p, row, 0, STYLE_DIM, "%s",
                  runs ? "No worker of this machine is at work." : "The session does not run.");
    for (int i = 0; i < count; i++, row++) {
        const struct worker_record *w = &o->workers.of[i];
        if (row == p->rows - 1 && i + 1 < count) {
            pane_line(p, row, 0, STYLE_DIM, "%d more workers", count - i);
            return;
        }
        const char *word = phase_word(w->phase);
        char text[32];
        double age = fmax(0, app->unix_now - w->since);
        pane_printf(p, row, 0, STYLE_DIM, "worker %" PRId64, w->worker);
        pane_text(p, row, 11, str_equal(word, "idle") ? STYLE_DIM : STYLE_STRONG, word);
        if (w->ask > 0)
            pane_printf(p, row, 21, STYLE_TEXT, "ask %" PRId64, w->ask);
        pane_text_right(p, row, p->cols, STYLE_TEXT, text_duration(age, text));
    }
}

void workers_pane_draw(struct app *app, const struct curve_dots *dots, const struct pane *p)
{
    bool known = dots->session == app->model.open.record.id;
    int row = p->rows >= 3 && known ? draw_rate(app, dots, p, 0) : 0;
    if (p->rows >= 6 && known)
        row = draw_sensors(dots, p, row);
    draw_workers(app, p, row);
}
