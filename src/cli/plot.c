// plot: draws the best-so-far curves of sessions.
#include "base/os.h"
#include "cli/common.h"
#include "cli/session_curves.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct picture {
    const struct session_curves *curves;
    struct curve_scale scale;
};

// Adds "1  opevo lambda=16  seed 2  10.86 GFLOPS".
static void add_label(const struct session_curves *c, int i, struct str *out)
{
    char speed[32], strategy[STRATEGY_TEXT];
    struct session_record shown = c->curve[i].record, *r = &shown;
    const struct steps *s = &c->curve[i].steps;
    struct arena arena;
    bool same_title = true;
    for (int k = 1; k < c->count; k++)
        same_title &= str_equal(c->curve[k].record.title, c->curve[0].record.title);
    arena_init(&arena);
    common_show_record(&arena, &shown);
    str_printf(out, "%" PRId64 "  %s  seed %" PRIu64 "  ", r->id,
               strategy_text(r->strategy, false, strategy), r->seed);
    if (s->count && r->best_raced)
        str_printf(out, "%s raced, ", speed_text(r, r->best_seconds, speed));
    str_add(out,
            s->count ? speed_text(r, r->flop / s->point[s->count - 1].y, speed) : "nothing valid");
    if (r->scheduler)
        str_add(out, c->curve[i].whole ? "  as a whole" : "  sum of its parts");
    if (s->count && r->best_raced) // where the curve ends
        str_add(out, " measured once");
    if (!same_title)
        str_printf(out, "  %s", r->title);
    arena_finish(&arena);
}

// --- text ---

static void print_plot(const struct picture *p, enum charset charset)
{
    enum { ROWS = 20, COLS = 80, LEAST_COLS = 40 };
    int rows, cols = COLS;
    struct plot plot;
    struct str out = {0};
    struct plot_axis x = session_curves_axis(p->scale.horizon, p->curves->axis);
    struct plot_axis y = {0, p->scale.highest / p->scale.unit * 1.02,
                          p->scale.is_inverse ? PLOT_INVERSE : PLOT_REAL, NULL, 0};
    if (!os_terminal_size(STDOUT_FILENO, &rows, &cols) || cols < LEAST_COLS)
        cols = COLS;
    x.low = 0;
    x.high = p->scale.horizon;
    x.room = 2 + p->curves->count / 4;
    str_printf(&out, "%s\n", p->scale.unit_name);
    plot_init(&plot, charset, ROWS, cols - 1);
    plot_axes(&plot, &x, &y);
    for (int i = 0; i < p->curves->count; i++) {
        const struct session_curve *c = &p->curves->curve[i];
        struct plot_point *point = mem_zero((size_t)c->steps.count + 1, sizeof *point);
        for (int k = 0; k < c->steps.count; k++)
            point[k] =
                (struct plot_point){c->steps.point[k].x, c->steps.point[k].y / p->scale.unit};
        plot_steps(&plot, i, (char)('A' + i), point, c->steps.count, c->end);
        free(point);
    }
    plot_letters(&plot);
    plot_add_text(&plot, &out);
    plot_finish(&plot);
    for (int i = 0; i < p->curves->count; i++) {
        str_printf(&out, "%c  ", (char)('A' + i));
        add_label(p->curves, i, &out);
        str_add_char(&out, '\n');
    }
    common_print(&out);
}

// --- the file ---

// Returns the problem and its place of measurement, or the problems.
static const char *title_of(const struct session_curves *c, struct arena *arena)
{
    const struct session_record *first = &c->curve[0].record;
    const char *problem[PLOT_MOST_SERIES];
    int problems = 0;
    for (int i = 0; i < c->count; i++) {
        int k = 0;
        while (k < problems && !str_equal(problem[k], c->curve[i].record.title))
            k++;
        if (k == problems)
            problem[problems++] = c->curve[i].record.title;
    }
    if (problems == 1)
        return arena_printf(arena, "%s on %s", first->title, session_curves_place(first));
    struct str out = {0};
    chart_add_names(problem, problems, &out);
    return common_keep(arena, &out);
}

static bool write_chart(const struct picture *p, const char *path, struct err *e)
{
    struct chart_line line[PLOT_MOST_SERIES];
    struct arena arena;
    arena_init(&arena);
    struct chart chart = {
        .title = title_of(p->curves, &arena),
        .x = session_curves_axis(p->scale.horizon, p->curves->axis),
        .y_name = p->scale.unit_name,
        .is_inverse = p->scale.is_inverse,
        .line = line,
        .line_count = p->curves->count,
    };
    for (int i = 0; i < chart.line_count; i++) {
        struct str label = {0};
        add_label(p->curves, i, &label);
        line[i] = session_curves_line(p->curves, i, &p->scale, &arena);
        line[i].label = common_keep(&arena, &label);
    }
    bool ok = chart_write(&chart, path, e);
    arena_finish(&arena);
    return ok;
}

// --- the command ---

static int run_plot(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct session_curves curves;
    static const char *const names[] = {"braille", "block", "ascii"}; // as enum charset
    enum charset charset = common_ascii() ? CHARSET_ASCII : CHARSET_BRAILLE;
    const char *path = arguments_text(a, "out");
    (void)self;
    for (int i = 0; i < 3; i++)
        if (str_equal(arguments_text(a, "charset"), names[i]))
            charset = (enum charset)i;
    if (path && !chart_check_name(path, &e))
        return fail_with(&e, EXIT_USAGE);
    if (!session_curves_read(a, true, &curves, &e))
        return fail_with(&e, EXIT_FAILED);
    struct picture p = {&curves, session_curves_scale(&curves)};
    const struct session_record *first = &curves.curve[0].record;
    bool ok = true;
    for (int i = 1; ok && i < curves.count; i++) {
        const struct session_record *r = &curves.curve[i].record;
        ok = str_equal(speed_rate_word(r), speed_rate_word(first)) ||
             err_set(&e,
                     "sessions %" PRId64 " and %" PRId64
                     " have no common unit (%s, %s): their speeds are rated differently, or the "
                     "FLOP of a recording are not known",
                     first->id, r->id, speed_rate_word(first), speed_rate_word(r));
    }
    ok = ok && (!path || write_chart(&p, path, &e));
    if (ok && (!path || arguments_flag(a, "plain")))
        print_plot(&p, charset);
    session_curves_finish(&curves);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    OPTION_AGAINST,
    {"out", OPTION_TEXT, "FILE.svg|FILE.png", "draw the curves into a file, not as text"},
    {"charset", OPTION_WORD, "auto|braille|block|ascii", "characters of the text"},
    {"plain", OPTION_FLAG, .hidden = true}, // as text, beside --out
    OPTION_DB,
    OPTION_END,
};

const struct command cmd_plot = {
    .name = "plot",
    .operands = "ID...",
    .help = "draw the best-so-far curves of sessions",
    .least = 1,
    .most = PLOT_MOST_SERIES,
    .options = options,
    .run = run_plot,
};
