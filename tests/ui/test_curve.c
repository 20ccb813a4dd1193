#include "curve_pane.h"
#include "group.h"
#include "wording.h"

#include "app.h"
#include "look.h"
#include "spaces.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NOW 1.7e9

// An app with sessions made by hand: nothing of it comes from a database.
struct desk {
    struct app app;
    struct curve_pane pane;
    struct best_step step[MODEL_MOST_MARKS + 1][200];
    struct session_row row[MODEL_MOST_MARKS];
};

static struct session_record make_record(int64_t id, bool runs)
{
    return (struct session_record){.id = id,
                                   .created = NOW - 1000,
                                   .state = runs ? STATE_RUNNING : STATE_DONE,
                                   .title = "matmul f32 nn 4096x4096x4096",
                                   .device = "NAVI31",
                                   .strategy = "opevo",
                                   .flop = 1e12,
                                   .budget_trials = 2000,
                                   .trials = 400,
                                   .ran_seconds = 800};
}

// Steps that rise to `best` TFLOPS, one every `every` trials; a trial takes two seconds.
static struct curve make_curve(struct desk *d, int which, int count, int every, double best)
{
    for (int i = 0; i < count; i++) {
        double speed = best * (1 - exp(-3.0 * (i + 1) / count)) / (1 - exp(-3.0));
        int64_t number = 1 + (int64_t)i * every;
        d->step[which][i] = (struct best_step){.ask = number,
                                               .number = number,
                                               .seconds = 1 / speed,
                                               .elapsed_s = 2.0 * (double)number,
                                               .finished = NOW - 1000 + 2.2 * (double)number};
    }
    return (struct curve){.step = d->step[which], .count = count};
}

static struct desk *make_desk(int marks)
{
    struct desk *d = mem_zero(1, sizeof *d);
    struct model *m = &d->app.model;
    setlocale(LC_ALL, "C.UTF-8");
    d->app.unix_now = NOW;
    m->open.record = make_record(31, true);
    m->open.record.best_seconds = 1 / 41.27;
    m->open.state = STATE_RUNNING;
    m->open.runner = 1;
    m->open.seen_running = NOW - 20;
    m->open.last_number = 391;
    m->open.curve = make_curve(d, 0, 20, 18, 41.27);
    m->session = d->row;
    for (int i = 0; i < marks; i++) {
        m->mark[i] = (struct mark){.id = 30 - i,
                                   .letter = (char)('B' + i),
                                   .record = make_record(30 - i, false),
                                   .curve = make_curve(d, i + 1, 12 + i, 20 + i, 40.0 - 1.5 * i)};
        d->row[i] = (struct session_row){.record = m->mark[i].record, .state = STATE_DONE};
    }
    m->mark_count = m->session_count = marks;
    return d;
}

// The pane alone on a screen, as text (heap).
static char *look(struct desk *d, enum charset charset, int rows, int cols)
{
    struct screen s = {.charset = charset};
    screen_resize(&s, rows, cols);
    struct pane p = screen_whole(&s);
    curve_pane_draw(&d->app, &d->pane, &p, false);
    char *text = look_text(&s);
    screen_finish(&s);
    return text;
}

static void assert_shows(struct desk *d, enum charset charset, int rows, int cols, const char *text)
{
    char *frame = look(d, charset, rows, cols);
    if (!strstr(frame, text))
        fail_msg("no \"%s\" in\n%s", text, frame);
    free(frame);
}

static void assert_hides(struct desk *d, enum charset charset, int rows, int cols, const char *text)
{
    char *frame = look(d, charset, rows, cols);
    if (strstr(frame, text))
        fail_msg("\"%s\" in\n%s", text, frame);
    free(frame);
}

// The title of the pane, as it is recorded.
static void add_title(struct wording *r, const char *tried, struct desk *d, int cols)
{
    char *frame = look(d, CHARSET_BRAILLE, 20, cols);
    frame[strcspn(frame, "\n")] = '\0';
    wording_add(r, tried, frame);
    free(frame);
}

// --- what is shown ---

static void one_session(void **state)
{
    struct desk *d = make_desk(0);
    (void)state;
    assert_shows(d, CHARSET_BRAILLE, 18, 74, "┌─ Best TFLOPS");
    assert_shows(d, CHARSET_BRAILLE, 18, 74, "40┤");
    assert_shows(d, CHARSET_BRAILLE, 18, 74, "  41.27 │");
    assert_shows(d, CHARSET_BRAILLE, 18, 74, " of 2000 trials ┘\n");
    assert_shows(d, CHARSET_ASCII, 18, 74, "AAAAA");
    assert_hides(d, CHARSET_BRAILLE, 18, 74, "runs");
    assert_hides(d, CHARSET_ASCII, 18, 74, "M");
    free(d);
}

static void marked_ones_and_their_mean(void **state)
{
    struct desk *d = make_desk(4);
    (void)state;
    assert_shows(d, CHARSET_BRAILLE, 20, 100, " 5 runs  mean±std ");
    assert_shows(d, CHARSET_ASCII, 20, 100, " 5 runs  mean+-std ");
    // 41.27 40 38.5 37 35.5
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "  38.45 ±2.30");
    assert_shows(d, CHARSET_ASCII, 20, 100, "  38.45 +-2.30");
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "  35.50");
    assert_shows(d, CHARSET_BRAILLE, 20, 100, ": std");
    free(d);
}

// The kernel in use, as a space of its own with one trial, is a dotted line all along.
static void what_another_space_reached_is_a_line(void **state)
{
    struct desk *d = make_desk(1);
    (void)state;
    d->app.model.mark[0].curve.count = 1;
    d->app.model.mark[0].record.trials = 1;
    assert_hides(d, CHARSET_ASCII, 20, 100, " : : : : : : : ");
    d->app.model.mark[0].record.name = "naive";
    assert_shows(d, CHARSET_ASCII, 20, 100, " : : : : : : : ");
    free(d);
}

static void keys_change_what_is_shown(void **state)
{
    struct desk *d = make_desk(2);
    (void)state;
    assert_true(curve_pane_act(&d->app, &d->pane, ACT_AXIS));
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "running time");
    assert_shows(d, CHARSET_BRAILLE, 20, 100, " 10m ");
    curve_pane_act(&d->app, &d->pane, ACT_AXIS);
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "wall clock");
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "pauses ");
    curve_pane_act(&d->app, &d->pane, ACT_AXIS);
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "by trial");
    curve_pane_act(&d->app, &d->pane, ACT_BAND);
    assert_shows(d, CHARSET_BRAILLE, 20, 100, ": least");
    curve_pane_act(&d->app, &d->pane, ACT_BAND);
    assert_hides(d, CHARSET_ASCII, 20, 100, ":");
    curve_pane_act(&d->app, &d->pane, ACT_ZERO);
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "from 0 ─");
    assert_hides(d, CHARSET_BRAILLE, 20, 100, " 0┤");
    curve_pane_act(&d->app, &d->pane, ACT_OVERLAY);
    assert_hides(d, CHARSET_BRAILLE, 20, 100, "30 opevo");
    assert_hides(d, CHARSET_BRAILLE, 20, 100, "runs");
    assert_false(curve_pane_act(&d->app, &d->pane, ACT_UP));
    free(d);
}

static void letters_are_those_of_marks(void **state)
{
    struct desk *d = make_desk(3);
    struct curve_runs r;
    (void)state;
    d->app.model.mark[1].id = 31; // the open one is marked too: C
    curve_runs_take(&r, &d->app.model, NOW, CURVE_TRIALS, false);
    assert_int_equal(r.count, 3);
    assert_int_equal(r.run[0].letter, 'C');
    assert_int_equal(r.run[1].letter, 'B');
    assert_int_equal(r.run[2].letter, 'D');
    curve_runs_finish(&r);
    d->app.model.mark[1].id = 29;
    d->app.model.mark[0].letter = 'A'; // of another: the open one takes the next that is free
    curve_runs_take(&r, &d->app.model, NOW, CURVE_TRIALS, false);
    assert_int_equal(r.run[0].letter, 'B');
    curve_runs_finish(&r);
    free(d);
}

static void what_is_something_else_is_left_out(void **state)
{
    struct desk *d = make_desk(3);
    (void)state;
    d->app.model.mark[0].record.title = "matmul f16 nn 64x64x64";
    d->app.model.mark[2].record.device = "llvmpipe";
    struct wording r;
    wording_begin(&r, "ui", "curve: what is left out");
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "M mean");
    assert_hides(d, CHARSET_BRAILLE, 20, 100, "30 opevo");
    add_title(&r, "a problem and a device", d, 100);
    add_title(&r, "without room for the runs", d, 60);
    assert_shows(d, CHARSET_BRAILLE, 20, 60, " 2 marked ");
    d->app.model.mark[0].record.title = d->app.model.open.record.title;
    add_title(&r, "a device", d, 100);
    assert_shows(d, CHARSET_BRAILLE, 20, 100, " 1 marked ");
    d->app.model.mark[0].record.device = "llvmpipe";
    add_title(&r, "two devices", d, 100);
    assert_shows(d, CHARSET_BRAILLE, 20, 100, " 2 marked ");
    d->app.model.mark[0].record.device = d->app.model.mark[2].record.device = "NAVI31";
    d->app.model.mark[0].record.source = "synthetic:bowl";
    add_title(&r, "a source", d, 100);
    d->app.model.mark[0].record.source = NULL;
    d->app.model.mark[1].record.title = NULL;
    add_title(&r, "a problem", d, 100);
    wording_end(&r);
    d->pane.alone = true;
    assert_hides(d, CHARSET_BRAILLE, 20, 100, "marked");
    free(d);
}

static void the_mean_is_of_what_is_the_same(void **state)
{
    struct desk *d = make_desk(2);
    (void)state;
    d->app.model.mark[0].record.device_id = "another driver";
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "  40.00");
    assert_shows(d, CHARSET_BRAILLE, 20, 100, " 3 runs  mean±std ");
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "  39.89 ±1.96"); // 41.27 38.5
    d->app.model.mark[1].record.strategy = "walk:ahead=1";
    assert_shows(d, CHARSET_BRAILLE, 20, 100, " 3 runs ─");
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "31 opevo"); // all with their strategies
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "walk ahead=1");
    assert_hides(d, CHARSET_BRAILLE, 20, 100, "mean");
    d->app.model.mark[1].record.strategy = "opevo";
    d->app.model.mark[1].record.name = "another space";
    assert_shows(d, CHARSET_BRAILLE, 20, 100, " 3 runs ─");
    assert_hides(d, CHARSET_BRAILLE, 20, 100, "mean");
    free(d);
}

static void a_race_apart_from_the_curve_is_told(void **state)
{
    struct desk *d = make_desk(1);
    (void)state;
    d->app.model.open.record.best_seconds = 1 / 41.2;
    assert_hides(d, CHARSET_BRAILLE, 20, 100, "measured");
    d->app.model.open.record.best_seconds = 1 / 40.0;
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "41.27 measured");
    assert_shows(d, CHARSET_BRAILLE, 2, 60, "measured 41.27 TFLOPS");
    d->app.model.mark[0].record.best_seconds = 1 / 39.0;
    assert_shows(d, CHARSET_BRAILLE, 20, 100, "40.00 measured");
    free(d);
}

static void zooming_keeps_the_last_steps(void **state)
{
    static const double speed[] = {5, 10, 21, 30, 40, 41.27};
    struct desk *d = make_desk(0);
    (void)state;
    for (int i = 0; i < 6; i++)
        d->step[0][i].seconds = 1 / speed[i];
    d->app.model.open.curve.count = 6;
    d->pane.zoomed = true;
    assert_shows(d, CHARSET_BRAILLE, 30, 74, "20.0┤");
    assert_hides(d, CHARSET_BRAILLE, 30, 74, "15.0┤");
    d->step[0][2].seconds = d->step[0][3].seconds = d->step[0][4].seconds = 1 / 41.0;
    assert_hides(d, CHARSET_BRAILLE, 30, 74, "36┤"); // a few percent again
    free(d);
}

static double right_of(struct desk *d, enum session_state now, enum curve_axis axis)
{
    struct curve_runs r;
    d->app.model.open.state = now;
    curve_runs_take(&r, &d->app.model, NOW, axis, true);
    double right = r.right;
    curve_runs_finish(&r);
    return right;
}

static void the_axis_is_the_budget_from_the_start(void **state)
{
    struct desk *d = make_desk(0);
    (void)state;
    d->step[0][0] = (struct best_step){.number = 1, .seconds = 0.1};
    d->app.model.open.curve.count = 1;
    d->app.model.open.last_number = 3;
    d->app.model.open.record.budget_trials = 2000;
    d->app.model.open.record.budget_seconds = 1e6;
    assert_true(right_of(d, STATE_RUNNING, CURVE_TRIALS) == 2000);
    assert_true(right_of(d, STATE_PAUSED, CURVE_TRIALS) == 2000);
    assert_true(right_of(d, STATE_RUNNING, CURVE_RUNNING) == 1e6);
    assert_true(right_of(d, STATE_STOPPED, CURVE_TRIALS) == 3); // nothing is left of it
    d->app.model.open.last_number = 2500;
    assert_true(right_of(d, STATE_RUNNING, CURVE_TRIALS) == 2500); // more than was to be spent
    free(d);
}

static void mean_counts_every_run_everywhere(void **state)
{
    struct desk *d = make_desk(1);
    struct curve_runs r;
    struct curve_mean m;
    (void)state;
    // The open session: 10 TFLOPS from trial 1 on. The marked one: 20 from trial 201 on, ends at
    // 400.
    d->step[0][0] = (struct best_step){.number = 1, .seconds = 0.1};
    d->step[1][0] = (struct best_step){.number = 201, .seconds = 0.05};
    d->app.model.open.curve.count = d->app.model.mark[0].curve.count = 1;
    d->app.model.open.last_number = 100;
    d->app.model.open.record.budget_trials = 300; // less than the marked one
    curve_runs_take(&r, &d->app.model, NOW, CURVE_TRIALS, false);
    curve_mean_take(&m, &r, CURVE_RANGE, 400);
    assert_int_equal(r.right, 400);
    assert_int_equal(m.count, 400);
    for (int i = 0; i < m.count; i++) {
        double x = m.mean[i].x + 1; // what is reached within the step
        assert_true(fabs(m.mean[i].y - (x < 201 ? 5 : 15)) < 1e-9);
        assert_true(fabs(m.low[i].y - (x < 201 ? 0 : 10)) < 1e-9);
        assert_true(fabs(m.high[i].y - (x < 201 ? 10 : 20)) < 1e-9);
    }
    assert_true(fabs(m.last.deviation - sqrt(50)) < 1e-9);
    curve_mean_finish(&m);
    curve_runs_finish(&r);
    free(d);
}

static void running_ones_go_on_to_now(void **state)
{
    struct desk *d = make_desk(1);
    struct curve_runs r;
    (void)state;
    struct model *m = &d->app.model;
    curve_runs_take(&r, m, NOW, CURVE_TRIALS, false);
    assert_int_equal(r.run[0].end, 391);
    assert_int_equal(r.run[1].end, 400);
    curve_runs_finish(&r);
    curve_runs_take(&r, m, NOW, CURVE_WALL, false);
    assert_int_equal(r.run[0].end, 1000);
    assert_int_equal(r.run[1].end, 800);
    curve_runs_finish(&r);
    m->open.state = STATE_DONE;
    m->open.runner = 0;
    m->open.newest_finished = NOW - 130;
    curve_runs_take(&r, m, NOW, CURVE_WALL, false);
    assert_int_equal(r.run[0].end, 870);
    curve_runs_finish(&r);
    // A marked one that runs: its last step is newer than what is stored of its running time.
    d->row[0].state = STATE_RUNNING;
    d->row[0].runner = 7;
    m->mark[0].record.ran_seconds = 0;
    const struct best_step *last = &m->mark[0].curve.step[m->mark[0].curve.count - 1];
    curve_runs_take(&r, m, last->finished + 60, CURVE_RUNNING, false);
    assert_true(fabs(r.run[1].end - (last->elapsed_s + 60)) < 1e-6);
    curve_runs_finish(&r);
    free(d);
}

// --- what is not there, and sizes ---

static void nothing_to_show(void **state)
{
    struct desk *d = make_desk(0);
    (void)state;
    d->app.model.open.curve.count = 0;
    d->app.model.open.record.best_seconds = 0;
    assert_shows(d, CHARSET_BRAILLE, 18, 74, "nothing valid measured yet");
    assert_shows(d, CHARSET_ASCII, 1, 30, "nothing valid");
    d->app.model.open = (struct opened){0};
    assert_shows(d, CHARSET_BRAILLE, 18, 74, "no session is open");
    free(d);
}

static void small_panes_are_a_sparkline(void **state)
{
    struct desk *d = make_desk(0);
    (void)state;
    assert_shows(d, CHARSET_BRAILLE, 1, 60, "██ best 41.27 TFLOPS\n");
    assert_shows(d, CHARSET_BRAILLE, 2, 60, "best 41.27 TFLOPS\n");
    assert_shows(d, CHARSET_BRAILLE, 1, 20, "█ 41.27\n");
    assert_shows(d, CHARSET_BRAILLE, 1, 5, "█\n");
    assert_hides(d, CHARSET_BRAILLE, 5, 60, "┌");
    free(d);
}

static void draw_in(void *context, const struct pane *p)
{
    struct desk *d = context;
    curve_pane_draw(&d->app, &d->pane, p, true);
}

static void all_sizes(void **state)
{
    struct desk *d = make_desk(MODEL_MOST_MARKS);
    (void)state;
    d->pane.axis = CURVE_WALL;
    for (int charset = CHARSET_BRAILLE; charset <= CHARSET_ASCII; charset++)
        look_all_sizes((enum charset)charset, draw_in, d);
    d->pane.zoomed = true;
    look_all_sizes(CHARSET_BLOCK, draw_in, d);
    d->app.model.open.curve.count = 0;
    d->pane.alone = true;
    look_all_sizes(CHARSET_BRAILLE, draw_in, d);
    free(d);
}

// Steps nobody should store, but a database is a file.
static void odd_steps(void **state)
{
    static const double odd[] = {0, -1, 1e-308, 1e308, INFINITY, NAN};
    struct desk *d = make_desk(2);
    (void)state;
    for (int i = 0; i < 36; i++) {
        struct best_step *s = d->step[0];
        s[3].seconds = odd[i / 6];
        s[7].elapsed_s = s[7].finished = odd[i % 6];
        d->app.model.mark[0].record.ran_seconds = odd[i % 6];
        d->app.model.mark[1].record.created = odd[i / 6];
        for (int axis = 0; axis < CURVE_AXIS_COUNT; axis++) {
            d->pane.axis = (enum curve_axis)axis;
            free(look(d, CHARSET_BRAILLE, 18, 74));
            free(look(d, CHARSET_ASCII, 2, 40));
        }
    }
    free(d);
}

// Rows and columns of a frame of the pane, with the carpet of the desk.
static struct screen carpet_frame(struct desk *d, int rows, int cols)
{
    struct screen s = {.charset = CHARSET_BRAILLE};
    screen_resize(&s, rows, cols);
    struct pane p = screen_whole(&s);
    d->pane.has_carpet = true;
    curve_pane_draw(&d->app, &d->pane, &p, false);
    return s;
}

static int hue_at(const struct screen *s, int row, int col)
{
    int style = s->cell[row * s->cols + col].style;
    return style >= STYLE_PATCH ? (style - STYLE_PATCH) / PATCH_STRENGTHS : -1;
}

static int strength_at(const struct screen *s, int row, int col)
{
    return (s->cell[row * s->cols + col].style - STYLE_PATCH) % PATCH_STRENGTHS;
}

static struct trial settling_trial(int64_t number, int part, double speed)
{
    struct trial t = {.ask = number, .number = number, .seconds = 1 / speed, .has_config = true};
    t.config.slot[0] = part;
    t.config.slot[1] = 64 / part;
    t.config.slot[2] = number > 200; // of the categorical one
    return t;
}

// Eight trials with one value at the beginning, eight faster ones with another at 200: the curve
// jumps where the colours change.
static void jump_stands_above_the_change(void **state)
{
    struct desk *d = make_desk(0);
    struct space *s = space_create("test");
    (void)state;
    add_factorization(s, "tile", 64, 2);
    add_categorical(s, "stage", 3);
    sealed(s);
    carpet_init(&d->pane.carpet, s);
    d->pane.carpet_session = 31;
    for (int i = 1; i <= 8; i++) {
        struct trial t = settling_trial(i, 2, 10 + i);
        carpet_add(&d->pane.carpet, &t);
    }
    for (int i = 1; i <= 8; i++) {
        struct trial t = settling_trial(200 + i, 32, 30 + i);
        carpet_add(&d->pane.carpet, &t);
    }
    d->app.model.open.record.budget_trials = 400;
    d->step[0][0] = (struct best_step){.ask = 1, .number = 1, .seconds = 1 / 11.0};
    d->step[0][1] = (struct best_step){.ask = 205, .number = 205, .seconds = 1 / 35.0};
    d->app.model.open.curve.count = 2;
    struct screen f = carpet_frame(d, 20, 100);
    // The rows of the carpet end above the legend and the axis.
    int tile = 20 - 2 - 4, stage = 20 - 2 - 2;
    int change = 0, jump = 0;
    for (int col = 12; col < 80; col++) {
        if (!change && hue_at(&f, tile, col - 1) >= 0 && hue_at(&f, tile, col) >= 0 &&
            hue_at(&f, tile, col) != hue_at(&f, tile, col - 1))
            change = col;
        int stroke = 0; // cells of the line in this column
        for (int row = 1; row < 12; row++)
            stroke += f.cell[row * f.cols + col].style == STYLE_SERIES;
        if (!jump && stroke > 2)
            jump = col;
    }
    assert_true(change > 0);
    assert_int_equal(change, jump);
    assert_int_equal(hue_at(&f, tile, change - 1), paint_ordered(1.0 / 6) - STYLE_CELL);
    assert_int_equal(hue_at(&f, tile, change + 2), paint_ordered(5.0 / 6) - STYLE_CELL);
    // Colours of categories are none of the ordered ones.
    assert_int_equal(hue_at(&f, stage, change - 2), paint_category(0) - STYLE_CELL);
    assert_int_equal(hue_at(&f, stage, change + 2), paint_category(1) - STYLE_CELL);
    assert_int_equal(strength_at(&f, tile, change + 2), PATCH_STRENGTHS - 1); // all agree
    char *text = look_text(&f);
    assert_non_null(strstr(text, " 32  8/8│"));
    assert_non_null(strstr(text, "tile[1]"));
    free(text);
    screen_finish(&f);
    d->pane.number = 100; // before
    f = carpet_frame(d, 20, 100);
    text = look_text(&f);
    assert_non_null(strstr(text, " 2   8/8│"));
    assert_non_null(strstr(text, "trial 100"));
    free(text);
    screen_finish(&f);
    curve_pane_finish(&d->pane);
    space_destroy(s);
    free(d);
}

static void failures_have_a_row(void **state)
{
    struct desk *d = make_desk(0);
    (void)state;
    d->pane.dots = (struct curve_dots){.session = 31, .stride = 1, .count = 400};
    for (int i = 0; i < 400; i++)
        d->pane.dots.dot[i] = (struct curve_dot){.seconds = i < 200 && i % 2 ? 0 : 0.1};
    d->app.model.open.record.budget_trials = 400;
    assert_shows(d, CHARSET_BRAILLE, 18, 74, "▄▄▄▄▄▄▄▄"); // half of them
    assert_hides(d, CHARSET_BRAILLE, 7, 74, "▄");
    free(d);
}

static void near_peak_is_a_line(void **state)
{
    struct desk *d = make_desk(0);
    (void)state;
    assert_hides(d, CHARSET_ASCII, 20, 100, "peak");
    d->app.model.open.record.roof_s = 1 / 55.0;
    assert_shows(d, CHARSET_ASCII, 20, 100, ": peak          55.00");
    d->app.model.open.record.roof_s = 1 / 550.0; // it would flatten the curve
    assert_hides(d, CHARSET_ASCII, 20, 100, "peak");
    free(d);
}

TEST_GROUP(curve)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_session),
        cmocka_unit_test(marked_ones_and_their_mean),
        cmocka_unit_test(what_another_space_reached_is_a_line),
        cmocka_unit_test(keys_change_what_is_shown),
        cmocka_unit_test(letters_are_those_of_marks),
        cmocka_unit_test(what_is_something_else_is_left_out),
        cmocka_unit_test(the_mean_is_of_what_is_the_same),
        cmocka_unit_test(a_race_apart_from_the_curve_is_told),
        cmocka_unit_test(zooming_keeps_the_last_steps),
        cmocka_unit_test(the_axis_is_the_budget_from_the_start),
        cmocka_unit_test(mean_counts_every_run_everywhere),
        cmocka_unit_test(running_ones_go_on_to_now),
        cmocka_unit_test(nothing_to_show),
        cmocka_unit_test(small_panes_are_a_sparkline),
        cmocka_unit_test(all_sizes),
        cmocka_unit_test(odd_steps),
        cmocka_unit_test(jump_stands_above_the_change),
        cmocka_unit_test(failures_have_a_row),
        cmocka_unit_test(near_peak_is_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
