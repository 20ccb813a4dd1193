// compare: strategies side by side, in sessions or on recordings, as tables and as a picture.
#include "base/file.h"
#include "cli/confine.h"
#include "cli/contest.h"
#include "cli/portability.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// --- what is wanted ---

static bool is_number(const char *operand)
{
    int64_t id;
    return str_to_int(operand, 1, INT64_MAX, &id);
}

// A recording that counts twice would make differences look surer than they are.
static bool check_once(const struct arguments *a, struct err *e)
{
    for (int i = 0; i < a->operand_count; i++)
        for (int k = 0; k < i; k++)
            if (str_equal(a->operand[i], a->operand[k]))
                return err_usage(e, "recording '%s' is named twice", a->operand[i]);
    return true;
}

// All operands are numbers of sessions, or all are files.
static bool tell_recordings(const struct arguments *a, bool *recordings, struct err *e)
{
    const char *number = NULL, *file = NULL;
    for (int i = 0; i < a->operand_count; i++)
        *(is_number(a->operand[i]) ? &number : &file) = a->operand[i];
    for (int i = 0; i < a->operand_count; i++)
        if (!is_number(a->operand[i]) && !file_exists(a->operand[i]))
            return err_usage(e,
                             "'%s' is neither a session number (tilewalk ls lists them) nor a "
                             "file",
                             a->operand[i]);
    if (number && file)
        return err_usage(e,
                         "%s is a session and '%s' a recording: they cannot be compared (a file "
                         "with the name %s is ./%s)",
                         number, file, number, number);
    *recordings = file != NULL;
    return number || check_once(a, e);
}

// What only one of both kinds takes.
static bool check_options(const struct arguments *a, bool recordings, struct err *e)
{
    static const char *const numbers[] = {"trials", "repeats", "seed"};
    const char *wrong = arguments_text(a, "strategy") ? "strategy" : NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        wrong = arguments_integer(a, numbers[i], -1) >= 0 ? numbers[i] : wrong;
    if (!recordings && wrong)
        return err_usage(e, "--%s is for recordings; sessions are compared as they are", wrong);
    if (recordings && arguments_text(a, "db"))
        return err_usage(e, "--db says where sessions are; recordings are files");
    return true;
}

// "50,100,200"
static bool parse_at(const char *list, struct comparison_setup *s, struct err *e)
{
    char text[256], *rest;
    if (!list)
        return true;
    if (strlen(list) >= sizeof text)
        return err_usage(e, "--at takes at most %d numbers", COMPARISON_MOST_AT);
    strcpy(text, list);
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        double at, before = s->at_count ? s->at[s->at_count - 1] : 0;
        if (s->at_count == COMPARISON_MOST_AT)
            return err_usage(e, "--at takes at most %d numbers", COMPARISON_MOST_AT);
        if (!str_to_real(word, &at) || !(at > before))
            return err_usage(e, "--at wants ascending numbers above 0, not '%s'", list);
        s->at[s->at_count++] = at;
    }
    return s->at_count || err_usage(e, "--at wants numbers above 0, not '%s'", list);
}

// --- output ---

static void add_sessions(const struct contest *c, int group, const char *between, struct str *out)
{
    const struct comparison_group *g = &c->result.group[group];
    for (int i = 0; i < g->runs; i++) {
        const struct comparison_run *run = c->result.run[g->first + i];
        str_printf(out, "%s%" PRId64, i ? between : "", c->session[run - c->setup.run]);
    }
}

static void add_json(const struct contest *c, struct str *out)
{
    struct json_writer w = json_begin(out);
    const struct comparison_result *r = &c->result;
    json_add_raw(&w, NULL, c->members);
    json_add_text(&w, "against", session_curves_axis_word(c->setup.axis));
    json_add_real(&w, "horizon", r->horizon);
    json_add_real(&w, "shortest", r->shortest);
    if (c->session) {
        json_add_real(&w, "best_tflops", r->best[0] > 0 ? r->best[0] / 1e12 : NAN);
        json_add_text(&w, "speed_unit", speed_unit_word(&c->curves.curve[0].record));
    }
    json_add_int(&w, "pairs", r->pairs);
    json_add_reals(&w, "at", r->at_count, r->at);
    json_begin_list(&w, "strategies");
    for (int g = 0; g < c->result.group_count; g++) {
        json_begin_object(&w, NULL);
        comparison_add_group_json(&c->result, g, c->unit, &w);
        if (c->session) {
            json_begin_list(&w, "sessions");
            const struct comparison_group *of = &c->result.group[g];
            for (int i = 0; i < of->runs; i++)
                json_add_int(&w, NULL, c->session[c->result.run[of->first + i] - c->setup.run]);
            json_end(&w);
        }
        json_end(&w);
    }
    json_end_all(&w);
    str_add_char(out, '\n');
}

static void print(const struct arguments *a, const struct contest *c)
{
    struct str out = {0};
    struct comparison_looks looks = {
        .unit = c->unit,
        .ascii = common_ascii(),
    };
    if (c->session) {
        const struct session_record *r = &c->curves.curve[0].record;
        looks.rate_unit = speed_work(r).unit;
        looks.rate_flop = r->flop / speed_work(r).amount;
    }
    if (arguments_flag(a, "json"))
        add_json(c, &out);
    else if (arguments_flag(a, "csv"))
        comparison_add_csv(&c->result, &out);
    else if (arguments_flag(a, "markdown"))
        comparison_add_markdown(&c->result, &looks, &out);
    else {
        char speed[32] = "nothing valid yet";
        const struct session_record *r = c->session ? &c->curves.curve[0].record : NULL;
        str_add(&out, c->heading);
        if (r)
            str_printf(&out, ", best known as measured: %s",
                       c->result.best[0] > 0 ? speed_text(r, r->flop / c->result.best[0], speed)
                                             : speed);
        str_add(&out, "\n\n");
        comparison_add_text(&c->result, &looks, &out);
        for (int g = 0; c->session && g < c->result.group_count; g++) {
            str_printf(&out, "%s%c ", g ? "; " : "sessions: ", c->result.group[g].letter);
            add_sessions(c, g, " ", &out);
        }
        str_add(&out, c->session ? "\n" : "");
    }
    fputs(str_text(&out), stdout);
    str_finish(&out);
}

// --- portability ---

static bool check_portability(const struct arguments *a, bool recordings, struct err *e)
{
    if (!arguments_flag(a, "portability"))
        return true;
    if (recordings)
        return err_usage(e, "--portability measures sessions; recordings have no kernels");
    for (int i = 0; i < 3; i++) {
        static const char *const of_curves[] = {"plot", "at", "against"};
        if (arguments_text(a, of_curves[i]))
            return err_usage(e, "--%s is for curves; --portability has none", of_curves[i]);
    }
    return true;
}

static bool compare_devices(const struct arguments *a, struct err *e)
{
    struct portability p;
    struct str out = {0};
    confine_stored(a);
    bool ok = portability_measure(a, &p, e);
    if (ok && arguments_flag(a, "json"))
        portability_add_json(&p, &out);
    else if (ok && arguments_flag(a, "csv"))
        portability_add_csv(&p, &out);
    else if (ok && arguments_flag(a, "markdown"))
        portability_add_markdown(&p, &out);
    else if (ok)
        portability_add_text(&p, &out);
    fputs(str_text(&out), stdout);
    str_finish(&out);
    portability_finish(&p);
    return ok;
}

// --- the command ---

static bool check_words(const struct arguments *a, bool *recordings, struct comparison_setup *at,
                        struct err *e)
{
    const char *plot = arguments_text(a, "plot");
    int formats =
        arguments_flag(a, "json") + arguments_flag(a, "csv") + arguments_flag(a, "markdown");
    if (formats > 1)
        return err_usage(e, "--json, --csv and --markdown are ways to print the same (choose one)");
    if ((arguments_flag(a, "cost") || arguments_flag(a, "boxes")) && !plot)
        return err_usage(e, "--cost and --boxes are of a picture: --plot says where");
    return tell_recordings(a, recordings, e) && check_options(a, *recordings, e) &&
           check_portability(a, *recordings, e) && parse_at(arguments_text(a, "at"), at, e) &&
           (!plot || chart_check_name(plot, e));
}

static bool compare(const struct arguments *a, struct contest *c, struct err *e)
{
    const char *plot = arguments_text(a, "plot");
    comparison_make(&c->setup, &c->result);
    struct contest_picture how = {arguments_flag(a, "cost"), arguments_flag(a, "boxes")};
    bool ok = !plot || contest_draw(c, &how, plot, e);
    if (ok)
        print(a, c);
    comparison_finish(&c->result);
    return ok;
}

static int run_compare(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct contest c = {.session = NULL};
    struct comparison_setup given = {.at_count = 0};
    bool recordings = false;
    (void)self;
    if (!check_words(a, &recordings, &given, &e))
        return fail_with(&e, EXIT_USAGE);
    if (arguments_flag(a, "portability"))
        return compare_devices(a, &e) ? EXIT_OK : fail_with(&e, EXIT_FAILED);
    bool ok = recordings ? contest_of_recordings(a, &c, &e) : contest_of_sessions(a, &c, &e);
    c.setup.at_count = given.at_count;
    memcpy(c.setup.at, given.at, sizeof given.at);
    ok = ok && compare(a, &c, &e);
    contest_finish(&c);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"strategy", OPTION_TEXT, "STRATEGY[:KEY=VALUE]...[,...]",
     "on recordings: search strategies (default: walk; see tilewalk strategies)"},
    {"trials", OPTION_INTEGER, "N",
     "on recordings: budget of each search, in different configurations (500)", 1,
     SIMULATE_MOST_TRIALS},
    {"repeats", OPTION_INTEGER, "R", "on recordings: searches of each strategy (50)", 1,
     SIMULATE_MOST_REPEATS},
    {"seed", OPTION_INTEGER, "S", "on recordings: of all searches (1)", 0, 9007199254740992.0},
    OPTION_AGAINST,
    {"at", OPTION_TEXT, "N,N,...",
     "trials or seconds after which the best so far is compared (default: four of 1, 2, 5, 10, "
     "...)"},
    {"portability", OPTION_FLAG, NULL,
     "sessions of several devices: measure the best configuration of each on each of the devices"},
    {"markdown", OPTION_FLAG, NULL, "print a Markdown table only"},
    {"csv", OPTION_FLAG, NULL, "print CSV only"},
    OPTION_JSON,
    {"plot", OPTION_TEXT, "FILE.svg|FILE.png",
     "draw the curves too: mean and standard deviation of each strategy"},
    {"cost", OPTION_FLAG, NULL, "draw how long a run takes, in place of its speed"},
    {"boxes", OPTION_FLAG, NULL,
     "draw what runs came to, at the last of --at, as boxes in place of curves"},
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_compare = {
    .name = "compare",
    .operands = "ID...|RECORDING...",
    .help = "compare strategies: sessions with the same problem, or searches of recorded spaces",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_compare,
};
