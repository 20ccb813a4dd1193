// card: the results of a session as a picture and a page of Markdown, which can be pasted where a
// change of a kernel is discussed.
//
// Everything on it is in the database. Where no default or naive kernel was measured, the best is
// compared with the first valid trial, and the card notes it. Where the space declares a kernel
// that is in use, the best is compared with that one, on each shape.
#include "base/file.h"
#include "base/json_read.h"
#include "cli/common.h"
#include "cli/session_curves.h"
#include "export/export.h"
#include "export/tuned.h"
#include "space/objective.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_NOTES = 6 };

struct card {
    struct store *store;
    struct session_curves curves; // of the one session; its arena is that of all texts here
    struct arena *arena;
    struct session_record *session;       // escaped for people
    const char *operation;                // as stored
    struct evidence found;                // of the best
    struct best_step first;               // the first valid trial
    const struct baseline_record *in_use; // the fastest of its baselines; NULL: none ran
    int64_t baseline;                     // 0: none was named; else a session
    struct session_record rival;          // that session
    const char *result;                   // in words, as those that follow
    const char *against, *faster;         // the rival, and the comparison with it
    const char *verified, *outcomes, *command, *config;
};

// --- reading ---

static bool take_first(void *context, const struct best_step *s)
{
    struct best_step *first = context;
    *first = *s;
    return false;
}

static bool read_rival(struct card *c, const struct arguments *a, struct err *e)
{
    const char *word = arguments_text(a, "baseline");
    const struct session_record *r = c->session;
    if (!word)
        return true;
    if (!common_session_id(word, &c->baseline, e) ||
        !store_get_session(c->store, c->baseline, c->arena, &c->rival, e))
        return false;
    if (!str_equal(c->rival.operation, c->operation) ||
        !str_equal(c->rival.device_id, r->device_id) || !str_equal(c->rival.source, r->source))
        return err_set(e,
                       "session %" PRId64 " is no baseline of session %" PRId64
                       ": it has another problem, device or source",
                       c->baseline, r->id);
    if (!c->rival.best_ask)
        return err_set(e, "session %" PRId64 " has no valid trial to compare with", c->baseline);
    common_show_record(c->arena, &c->rival);
    return true;
}

static bool read_card(struct card *c, const struct arguments *a, struct err *e)
{
    struct session_record *r = c->session;
    c->operation = r->operation;
    if (!stored_has_kernels(c->store, r, e) ||
        !evidence_read(c->store, r, r->best_ask, c->arena, &c->found, e) ||
        !store_each_best(c->store, r->id, 0, take_first, &c->first, e))
        return false;
    if (!c->found.trial.ask || !c->first.ask)
        return err_set(e,
                       "session %" PRId64 " has no valid trial to show (tilewalk show %" PRId64
                       " --trials%s lists the outcomes)",
                       r->id, r->id, store_option(c->store));
    c->in_use = baselines_fastest(&c->found.baselines);
    return read_rival(c, a, e);
}

// Returns the time of the kernel that the best is compared with.
static double rival_seconds(const struct card *c)
{
    return c->baseline ? c->rival.best_seconds
           : c->in_use ? baseline_seconds(c->in_use)
                       : c->first.seconds;
}

// --- words ---

// Describes the comparison. Times of a search and of a race were not measured side by side: each is
// compared with its own kind.
static void describe_comparison(struct card *c)
{
    char speed[SPEED_TEXT_SIZE];
    const struct session_record *r = c->session, *rival = &c->rival;
    if (c->baseline) {
        c->against =
            arena_printf(c->arena, "the best of session %" PRId64 " (%s, %" PRId64 " trial%s): %s",
                         c->baseline, rival->name, rival->trials, rival->trials == 1 ? "" : "s",
                         speed_and_time(rival, rival->best_seconds, speed));
        c->faster = "no difference shown (the two were not timed in pairs)";
        return;
    }
    if (c->in_use) {
        double seconds = rival_seconds(c);
        c->against = arena_printf(c->arena, "'%s', which is in use: %s", c->in_use->name,
                                  speed_and_time(r, seconds, speed));
        struct paired p = speed_verdict(r, &c->found.baselines);
        struct str ratio = {0};
        speed_add_ratio(r, &p, &ratio);
        c->faster = common_keep(c->arena, &ratio);
        return;
    }
    c->against = arena_printf(c->arena,
                              "the first valid trial, %" PRId64
                              "%s: %s (no default or naive kernel was measured with it)",
                              c->first.number, r->warm ? ", a warm start" : "",
                              speed_and_time(r, c->first.seconds, speed));
    c->faster = "no ratio: no kernel in use was timed in pairs with it";
}

static bool describe_outcomes(struct card *c, struct err *e)
{
    int64_t count[OUTCOME_COUNT];
    char took[32], name[STRATEGY_TEXT];
    const struct session_record *r = c->session;
    struct str text = {0};
    if (!store_get_tally(c->store, r->id, count, NULL, e))
        return false;
    str_printf(&text, "%s, seed %" PRIu64 ", %" PRId64 " trial%s in %s:",
               strategy_text(r->strategy, false, name), r->seed, r->trials,
               r->trials == 1 ? "" : "s", text_duration(r->ran_seconds, took));
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (count[i])
            str_printf(&text, " %s %" PRId64, outcome_name((enum outcome)i), count[i]);
    c->outcomes = common_keep(c->arena, &text);
    return true;
}

static void add_option(struct str *out, const char *option, const char *value)
{
    str_printf(out, " --%s ", option);
    str_add_shell(out, value);
}

static void describe_command(struct card *c)
{
    const struct session_record *r = c->session;
    struct json_walk settings = text_params(r->settings);
    struct str out = {0}, name = {0}, value = {0};
    struct err ignored;
    // The preset's name, else the file's: other people have no use for a path.
    char *preset = script_find_shipped(r->name, &ignored);
    str_add(&out, "tilewalk tune ");
    str_add_shell(&out, str_equal(preset, r->path) ? r->name : path_name(r->path));
    free(preset);
    // The sizes of the first shape are settings too; those of --shape count.
    struct json root;
    if (json_parse(c->session->shapes, &root)) {
        if (json_is(json_member(root, "by"), "worst"))
            add_option(&out, "by", "worst");
        for (int i = 0; i < c->found.shapes.count; i++) {
            char *text = arena_printf(c->arena, "%s weight=%.10g", c->found.shapes.row[i].name,
                                      c->found.shapes.row[i].weight);
            for (char *at = text; *at; at++)
                *at = *at == ' ' ? ',' : *at;
            add_option(&out, "shape", text);
        }
    }
    while (text_next_param(&settings, &name, &value)) {
        const char *text = str_text(&value); // a folder of the user's is named without its place
        add_option(&out, "set",
                   arena_printf(c->arena, "%s=%s", str_text(&name),
                                *text == '/' ? path_name(text) : text));
    }
    if (str_equal(r->source, "device"))
        add_option(&out, "device", r->device);
    else
        add_option(&out, "source",
                   recorded_is(r->source)
                       ? arena_printf(c->arena, "replay:%s", path_name(r->source))
                       : r->source);
    char *spec = strategy_canonical_for(
        ENGINE_DEFAULT_STRATEGY,
        (struct strategy_use){.workers = r->workers,
                              .counts_seconds =
                                  r->budget_seconds > 0 || r->until > 0 || r->patience > 0},
        &ignored);
    bool same = str_equal(spec, r->strategy);
    free(spec);
    if (!same)
        add_option(&out, "strategy", r->strategy);
    struct objective objective; // one that is named is the space file's
    objective_parse(r->objective, &objective);
    if (r->objective && objective.kind != OBJECTIVE_NAMED)
        add_option(&out, "objective", r->objective);
    if (r->cold)
        str_add(&out, " --cold");
    if (r->until > 0)
        str_printf(&out, " --until %.10g%%", 100 * r->until);
    if (r->patience > 0)
        str_printf(&out, " --patience %" PRId64, r->patience);
    if (r->budget_seconds > 0)
        str_printf(&out, " --seconds %.10g", r->budget_seconds);
    if (r->workers <= MOST_WORKERS) // several machines had more
        str_printf(&out, " --workers %d", r->workers);
    str_printf(&out, " --seed %" PRIu64 " --trials %" PRId64, r->seed, r->budget_trials);
    str_finish(&name);
    str_finish(&value);
    c->command = common_keep(c->arena, &out);
}

// --- the picture ---

static bool card_draw(struct card *c, const char *path, struct err *e)
{
    const struct session_record *r = c->session;
    struct curve_scale scale = session_curves_scale(&c->curves);
    struct chart_line line[2] = {session_curves_line(&c->curves, 0, &scale, c->arena)};
    const struct session_record *rival = c->baseline ? &c->rival : r;
    double rival_s = rival_seconds(c);
    line[0].label = "best so far, as measured in the search";
    struct spread *level = arena_zero(c->arena, (size_t)line[0].count + 1, sizeof *level);
    for (int i = 0; i < line[0].count; i++)
        level[i].mean = rival->flop / rival_s / scale.unit;
    line[1] = line[0];
    line[1].letter = 'B';
    line[1].at = level;
    line[1].label = c->against;
    const char *const notes[MOST_NOTES] = {
        arena_printf(c->arena, "best: %s; against B: %s", c->result, c->faster),
        c->config,
        arena_printf(c->arena, "device: %s, %s", r->device, r->driver),
        arena_printf(c->arena, "search: %s", c->outcomes),
        arena_printf(c->arena, "verified: %s", c->verified),
        c->command,
    };
    struct chart chart = {
        .title = arena_printf(c->arena, "%s on %s", r->title, session_curves_place(r)),
        .x = session_curves_axis(scale.horizon, c->curves.axis),
        .y_name = scale.unit_name,
        .is_inverse = scale.is_inverse,
        .line = line,
        .line_count = 2,
        .note = notes,
        .note_count = MOST_NOTES,
    };
    return chart_write(&chart, path, e);
}

// --- the page ---

static void add_row(struct str *out, const char *name, const char *text)
{
    str_printf(out, "| %s | ", name);
    str_add_markdown(out, text);
    str_add(out, " |\n");
}

static void add_comparison(struct str *out, const struct card *c)
{
    str_add(out, "| against (B) | ");
    str_add_markdown(out, c->against);
    str_add(out, "; the best: **");
    str_add_markdown(out, c->faster);
    str_add(out, "** |\n");
}

static bool write_card(struct card *c, const struct arguments *a, struct err *e)
{
    static const char *const endings[] = {"svg", "png", "md"};
    enum { FILES = 3 };
    const char *folder = arguments_text(a, "out"), *path[FILES + 1] = {NULL};
    char *name = export_standard_name(c->session);
    struct str page = {0};
    for (int i = 0; i < FILES; i++) {
        char *joined =
            path_join(folder ? folder : ".", arena_printf(c->arena, "%s-session-%" PRId64 ".%s",
                                                          name, c->session->id, endings[i]));
        path[i] = arena_strdup(c->arena, joined);
        free(joined);
    }
    free(name);
    // Blocks are indented, so that their text cannot end them.
    const char *picture = path_name(path[1]);
    char speed[32];
    const struct session_record *r = c->session;
    str_add(&page, "### ");
    str_add_markdown(&page, r->title);
    str_printf(&page, ": %s on ", speed_text(r, r->best_seconds, speed));
    str_add_markdown(&page, session_curves_place(r));
    str_add(&page, "\n\n");
    str_printf(&page, "![best so far, by trials](%s)\n\n| | |\n|---|---|\n", picture);
    add_row(&page, "problem",
            arena_printf(c->arena, "%s (space %s, %s points)", r->title, r->name, r->size));
    if (r->reduced)
        add_row(&page, "", r->reduced);
    add_row(&page, "device", r->device);
    add_row(&page, "driver", r->driver);
    if (r->compiler)
        add_row(&page, "compiler", r->compiler);
    add_row(&page, "best", c->result);
    add_comparison(&page, c);
    add_row(&page, "search", c->outcomes);
    add_row(&page, "verified", c->verified);
    evidence_add_shapes(&c->found, &page);
    str_printf(&page, "\nThe best configuration:\n\n    %s\n\nFound by", c->config);
    const char *build = c->found.trial.build ? c->found.trial.build : r->build;
    str_printf(&page, "%s tilewalk%s",
               r->warm || r->history ? " (with results of other sessions)" : "", build ? " " : "");
    str_add_markdown(&page, build ? build : "");
    str_printf(&page, ":\n\n    %s\n", c->command);
    bool ok = (!folder || file_make_folders(folder, e)) && card_draw(c, path[0], e) &&
              card_draw(c, path[1], e) && file_write(path[2], page.text, page.length, e);
    str_finish(&page);
    struct str out = {0};
    if (ok && arguments_flag(a, "json")) {
        struct json_writer w = json_begin(&out);
        json_add_texts(&w, "files", path);
        json_print(&w);
        return ok;
    }
    for (int i = 0; ok && i < FILES; i++) {
        shown_add(&out, path[i]);
        str_add_char(&out, '\n');
    }
    common_print(&out);
    return ok;
}

// --- the command ---

static int run_card(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct card c = {0};
    (void)self;
    if (!session_curves_read(a, false, &c.curves, &e))
        return fail_with(&e, EXIT_FAILED);
    c.arena = &c.curves.arena;
    c.session = &c.curves.curve[0].record;
    c.store = common_open_session(a, c.session->id, &e);
    bool ok =
        c.store && common_check_verdict(a, c.store, c.session->id, &e) && read_card(&c, a, &e);
    if (ok) {
        common_show_record(c.arena, c.session);
        char speed[SPEED_TEXT_SIZE];
        const struct session_record *r = c.session;
        struct str text = {0};
        c.result = arena_printf(c.arena, "%s, trial %" PRId64 " (%s)",
                                speed_and_time(r, r->best_seconds, speed), c.found.trial.number,
                                r->best_raced ? "timed again in turns with the runners-up"
                                              : "measured once");
        text_config(c.found.trial.config, &text);
        c.config = common_keep(c.arena, &text);
        describe_comparison(&c);
        describe_command(&c);
        if (str_equal(r->source, "device")) {
            evidence_add_checks(&c.found, r, &text);
            c.verified = common_keep(c.arena, &text);
        } else {
            c.verified = arena_printf(c.arena, "no: the times are those of %s, no kernel ran",
                                      session_curves_place(r));
        }
        ok = describe_outcomes(&c, &e) && write_card(&c, a, &e);
    }
    store_close(c.store);
    session_curves_finish(&c.curves);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"out", OPTION_TEXT, "DIR",
     "folder of the files, made when missing (default: the current one)"},
    {"baseline", OPTION_TEXT, "ID",
     "compare with the best of another session of the same problem and device (default: the kernel "
     "in use, else the first valid trial)"},
    OPTION_ANYWAY,
    OPTION_JSON,
    OPTION_DB,
    OPTION_END,
};

const struct command cmd_card = {
    .name = "card",
    .operands = "ID",
    .help = "write the results of a session as a picture (.svg, .png) and a page of Markdown",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_card,
};
