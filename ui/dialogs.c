// The dialogs there are: what they ask, and the command line that the answers make.
#include "app.h"
#include "dialog.h"

#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a dialog is about; freed with it.
struct topic {
    int64_t id;
    int64_t trials;     // spent
    char previewed[64]; // what the preview of an export was made for
};

static struct topic *topic_of(const struct session_row *row)
{
    struct topic *t = mem_zero(1, sizeof *t);
    *t = (struct topic){.id = row->record.id, .trials = row->record.trials};
    return t;
}

static void open_dialog(struct app *app, struct dialog *d)
{
    dialog_destroy(app->dialog);
    app->dialog = d;
    app->dirty = true;
}

static const char *number_text(struct dialog *d, int64_t n)
{
    return dialog_text(d, "%" PRId64, n);
}

static bool is_count(const char *text)
{
    int64_t n;
    return str_to_int(text, 1, INT64_MAX / 2, &n);
}

// Runs that share a device disturb each other's times.
static void warn_of_others(struct app *app, struct dialog *d, const char *device, int64_t but)
{
    for (int i = 0; i < app->model.session_count; i++) {
        const struct session_row *row = &app->model.session[i];
        bool shares = row->runner && row->record.id != but && str_equal(row->state, "running") &&
                      str_equal(row->record.source, "device") &&
                      (!device || str_equal(row->record.device, device));
        if (shares) {
            char line[256];
            snprintf(line, sizeof line,
                     "Session %" PRId64 " runs there: each would disturb the other's times.",
                     row->record.id);
            dialog_add_line(d, line);
            return;
        }
    }
}

// Of the open session there is newer news than the list's.
static void describe(struct app *app, struct dialog *d, const struct session_row *row)
{
    const struct opened *o = &app->model.open;
    const struct session_record *r = row->record.id == o->record.id ? &o->record : &row->record;
    char line[256], speed[32];
    snprintf(line, sizeof line,
             "Session %" PRId64 ": %" PRId64 " of %" PRId64 " trials%s%s, %s on %s", r->id,
             r->trials, r->budget_trials, r->best_ask ? ", best " : "",
             r->best_ask ? text_speed(r->flop, r->best_seconds, speed) : "", r->title, r->device);
    dialog_add_line(d, line);
}

// --- questions ---

static const char *stop_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "stop";
    words[1] = number_text(d, t->id);
    return NULL;
}

void ask_stop(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d = dialog_create("Stop the session?", "Stop", stop_words, topic_of(row), free);
    dialog_is_question(d);
    describe(app, d, row);
    dialog_add_line(d, "It ends now and keeps what it found; resuming takes it up again.");
    open_dialog(app, d);
}

static const char *delete_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "rm";
    words[1] = number_text(d, t->id);
    return NULL;
}

void ask_delete(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d =
        dialog_create("Delete for good?", "Delete", delete_words, topic_of(row), free);
    dialog_is_question(d);
    describe(app, d, row);
    dialog_add_line(d, "All its trials, samples and messages go. Exported files stay.");
    open_dialog(app, d);
}

// Words as they were typed, kept until they are answered.
struct typed {
    struct arena arena;
    const char *words[DIALOG_MOST_WORDS];
};

static void typed_destroy(void *context)
{
    struct typed *t = context;
    arena_finish(&t->arena);
    free(t);
}

static const char *typed_words(struct dialog *d, void *context, const char *words[])
{
    const struct typed *t = context;
    (void)d;
    memcpy(words, t->words, sizeof t->words);
    return NULL;
}

void ask_command(struct app *app, const char *const *words)
{
    struct typed *t = mem_zero(1, sizeof *t);
    arena_init(&t->arena);
    for (int i = 0; words[i] && i < DIALOG_MOST_WORDS - 1; i++)
        t->words[i] = arena_strdup(&t->arena, words[i]);
    struct dialog *d = dialog_create("Really?", "Do it", typed_words, t, typed_destroy);
    int64_t id;
    const struct session_row *row =
        words[1] && str_to_int(words[1], 1, INT64_MAX, &id) ? model_row(&app->model, id) : NULL;
    if (row)
        describe(app, d, row);
    dialog_is_question(d);
    open_dialog(app, d);
}

// --- budget, note, resume ---

static const char *budget_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "budget";
    words[1] = number_text(d, t->id);
    words[2] = dialog_text(d, "%s", dialog_value(d, "trials"));
    int64_t trials;
    if (!str_to_int(words[2], 1, INT64_MAX / 2, &trials))
        return "the budget is a number of trials, at least 1";
    return trials > t->trials ? NULL : "so many are spent: that would end it (:stop does)";
}

void open_budget(struct app *app)
{
    char trials[24], spent[80];
    const struct session_row *row = app_session(app);
    struct dialog *d = dialog_create("Budget", "Set", budget_words, topic_of(row), free);
    snprintf(trials, sizeof trials, "%" PRId64, row->record.budget_trials);
    snprintf(spent, sizeof spent, "Session %" PRId64 " has spent %" PRId64 " trials.",
             row->record.id, row->record.trials);
    dialog_add_line(d, spent);
    dialog_add_text(d, "trials", "Trials in all", trials);
    open_dialog(app, d);
}

static const char *note_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "note";
    words[1] = number_text(d, t->id);
    words[2] = dialog_text(d, "%s", dialog_value(d, "note"));
    return NULL;
}

void open_note(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d = dialog_create("Note", "Write", note_words, topic_of(row), free);
    describe(app, d, row);
    dialog_add_text(d, "note", "Note", row->record.note ? row->record.note : "");
    open_dialog(app, d);
}

static const char *resume_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    int64_t trials;
    words[0] = "resume";
    words[1] = number_text(d, t->id);
    words[2] = "--trials";
    words[3] = dialog_text(d, "%s", dialog_value(d, "trials"));
    if (!str_to_int(words[3], 1, INT64_MAX / 2, &trials))
        return "the budget is a number of trials, at least 1";
    return trials > t->trials ? NULL : "they are spent already: give it more trials";
}

void open_resume(struct app *app)
{
    char trials[24];
    const struct session_row *row = app_session(app);
    const struct session_record *r = &row->record;
    struct dialog *d = dialog_create("Resume", "Resume", resume_words, topic_of(row), free);
    int64_t budget = r->budget_trials > r->trials ? r->budget_trials : r->trials + 100;
    snprintf(trials, sizeof trials, "%" PRId64, budget);
    describe(app, d, row);
    if (str_equal(r->source, "device"))
        warn_of_others(app, d, r->device, r->id);
    dialog_add_text(d, "trials", "Trials in all", trials);
    open_dialog(app, d);
}

// --- export ---

static const char *export_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    int n = 0;
    words[n++] = "export";
    words[n++] = number_text(d, t->id);
    words[n++] = "--out";
    words[n++] = dialog_text(d, "%s", dialog_value(d, "folder"));
    if (!str_equal(dialog_value(d, "best"), "1")) {
        words[n++] = "--best";
        words[n++] = dialog_text(d, "%s", dialog_value(d, "best"));
    }
    if (*dialog_value(d, "name")) {
        words[n++] = "--name";
        words[n++] = dialog_text(d, "%s", dialog_value(d, "name"));
    }
    if (dialog_is_on(d, "verify"))
        words[n++] = "--verify";
    double percent;
    const char *slower = dialog_value(d, "slower");
    if (*slower && dialog_is_on(d, "verify")) {
        words[n++] = "--slower";
        words[n++] = dialog_text(d, "%s", slower);
    }
    if (*slower && (!str_to_real(slower, &percent) || percent < 0))
        return "how much slower is a number of percent, or nothing";
    if (!*dialog_value(d, "folder"))
        return "a folder is needed";
    return is_count(dialog_value(d, "best")) ? NULL : "how many is a number, at least 1";
}

// What a dry run printed, if the dialog that wanted it is still there.
static void show_preview(void *context, const struct job_record *job)
{
    struct app *app = context;
    if (app->dialog && dialog_has(app->dialog, "verify"))
        dialog_set_preview(app->dialog, str_text(&job->output));
    app->dirty = true;
}

static void preview_export(struct app *app, struct dialog *d, void *context)
{
    struct topic *t = context;
    const char *words[DIALOG_MOST_WORDS] = {0};
    char wanted[sizeof t->previewed];
    struct err e;
    int n = 0;
    snprintf(wanted, sizeof wanted, "%s %s", dialog_value(d, "best"), dialog_value(d, "name"));
    if (export_words(d, context, words) || str_equal(wanted, t->previewed))
        return;
    memcpy(t->previewed, wanted, sizeof wanted);
    const char *all[DIALOG_MOST_WORDS + 4];
    for (; words[n]; n++)
        all[n] = words[n];
    for (int i = 0; i < n; i++) // a preview measures nothing
        if (str_equal(all[i], "--verify"))
            n = i;
    all[n++] = "--dry-run";
    all[n++] = "--db";
    all[n++] = app->options.database;
    all[n] = NULL;
    jobs_start(&app->jobs, app->options.program, all, show_preview, app, &e);
}

void open_export(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d = dialog_create("Export", "Export", export_words, topic_of(row), free);
    describe(app, d, row);
    dialog_add_text(d, "best", "How many of the best", "1");
    dialog_add_text(d, "folder", "Folder", "export");
    dialog_add_text(d, "name", "Name of the files", "");
    dialog_add_check(d, "verify", "run, compare and time again before writing",
                     str_equal(row->record.source, "device"));
    dialog_add_text(d, "slower", "Slower by at most, % (5)", "");
    dialog_on_change(d, preview_export);
    open_dialog(app, d);
}

// --- new sessions ---

static void add_strategies(struct dialog *d, const char *current)
{
    const char *names[32];
    int count = 0, chosen = 0;
    size_t length = strcspn(current, ":");
    for (; strategy_kinds[count] && count < 31; count++) {
        names[count] = strategy_kinds[count]->name;
        if (strlen(names[count]) == length && !strncmp(names[count], current, length))
            chosen = count;
    }
    names[count] = NULL;
    dialog_add_choice(d, "strategy", "Strategy", names, chosen);
    dialog_add_text(d, "options", "Its options, as q=0.3",
                    current[length] ? current + length + 1 : "");
}

// The options there are, with what they are now if nothing is said.
static void preview_strategy(struct app *app, struct dialog *d, void *context)
{
    (void)app;
    (void)context;
    struct str text = {0}, value = {0};
    const struct strategy_kind *kind = strategy_find(dialog_value(d, "strategy"));
    for (const struct strategy_option *o = kind ? kind->options : NULL; o && o->name; o++) {
        strategy_add_value(o, o->value, &value);
        str_printf(&text, "%-8s %-8s %s", o->name, str_text(&value), o->help);
        if (!o->words)
            str_printf(&text, " (%.6g to %.6g)", o->low, o->high);
        str_add(&text, "\n");
        str_finish(&value);
    }
    dialog_set_preview(d, str_text(&text));
    str_finish(&text);
}

// Adds the strategy, seed and budget that the fields ask for.
static const char *add_search_words(struct dialog *d, const char *words[], int n)
{
    const char *options = dialog_value(d, "options"), *seed = dialog_value(d, "seed");
    char *spec = mem_printf("%s%s%s", dialog_value(d, "strategy"), *options ? ":" : "", options);
    for (char *c = spec; *c; c++)
        *c = *c == ' ' || *c == ',' ? ':' : *c;
    struct err e;
    char *canonical = strategy_canonical(spec, &e);
    words[n++] = "--strategy";
    words[n++] = dialog_text(d, "%s", spec);
    words[n++] = "--trials";
    words[n++] = dialog_text(d, "%s", dialog_value(d, "trials"));
    if (*seed) {
        words[n++] = "--seed";
        words[n++] = dialog_text(d, "%s", seed);
    }
    free(spec);
    if (!canonical)
        return dialog_text(d, "%s", e.text);
    free(canonical);
    int64_t number;
    if (*seed && !str_to_int(seed, 0, INT64_C(9007199254740992), &number))
        return "the seed is a whole number (or nothing: a new one)";
    return is_count(dialog_value(d, "trials")) ? NULL : "the budget is a number of trials";
}

static void add_search_fields(struct dialog *d, const char *strategy, int64_t trials)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, trials);
    add_strategies(d, strategy);
    dialog_add_text(d, "seed", "Seed (empty: new)", "");
    dialog_add_text(d, "trials", "Trials", text);
    dialog_on_change(d, preview_strategy);
}

static const char *duplicate_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "tune";
    words[1] = "--like";
    words[2] = number_text(d, t->id);
    return add_search_words(d, words, 3);
}

void open_duplicate(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d =
        dialog_create("Again, as a new session", "Start", duplicate_words, topic_of(row), free);
    describe(app, d, row);
    dialog_add_line(d, "The same space and problem, as they were stored, on the same device.");
    if (str_equal(row->record.source, "device"))
        warn_of_others(app, d, row->record.device, 0);
    add_search_fields(d, row->record.strategy, row->record.budget_trials);
    open_dialog(app, d);
}

// Words of a text separated by blanks, each after `--set`.
static int add_settings(struct dialog *d, const char *words[], int n)
{
    char text[LINE_SIZE], *rest;
    snprintf(text, sizeof text, "%s", dialog_value(d, "set"));
    for (char *word = strtok_r(text, " ", &rest); word && n < DIALOG_MOST_WORDS - 16;
         word = strtok_r(NULL, " ", &rest)) {
        words[n++] = "--set";
        words[n++] = dialog_text(d, "%s", word);
    }
    return n;
}

static const char *new_words(struct dialog *d, void *context, const char *words[])
{
    int n = 0;
    words[n++] = "tune";
    words[n++] = dialog_text(d, "%s", dialog_value(d, "space"));
    n = add_settings(d, words, n);
    if (*dialog_value(d, "device")) {
        words[n++] = "--device";
        words[n++] = dialog_text(d, "%s", dialog_value(d, "device"));
    }
    const char *source = context;
    if (source) {
        words[n++] = "--source";
        words[n++] = source;
    }
    const char *complaint = add_search_words(d, words, n);
    return *words[1] ? complaint : "which space? A preset's name or a file";
}

// {"N":512,"M":64} as "N=512 M=64": ours, flat, whole numbers.
static void settings_text(const char *json, char *out, size_t size)
{
    size_t n = 0;
    for (; json && *json && n + 1 < size; json++) {
        if (*json == ':' || *json == ',')
            out[n++] = *json == ':' ? '=' : ' ';
        else if (!strchr("{}\"", *json))
            out[n++] = *json;
    }
    out[n] = '\0';
}

// With a file: what the open session has, but for the space.
void open_new_session(struct app *app, const char *path)
{
    const struct session_record *r = &app->model.open.record;
    bool like = path && r->id;
    char settings[256] = "";
    int count;
    char **presets = script_presets(&count);
    struct str line = {0};
    bool synthetic = like && !str_equal(r->source, "device");
    struct dialog *d = dialog_create("New session", "Start", new_words,
                                     synthetic ? mem_strdup(r->source) : NULL, free);
    str_add(&line, "Presets:");
    for (int i = 0; i < count; i++) {
        str_printf(&line, " %s", presets[i]);
        free(presets[i]);
    }
    free(presets);
    dialog_add_line(d, str_text(&line));
    str_finish(&line);
    if (!synthetic)
        warn_of_others(app, d, NULL, 0);
    dialog_add_text(d, "space", "Space: preset or file", path ? path : "gemm");
    if (like)
        settings_text(r->settings, settings, sizeof settings);
    dialog_add_text(d, "set", "Sizes, as N=512 M=64", settings);
    dialog_add_text(d, "device", "Device (empty: best)", like && !synthetic ? r->device : "");
    add_search_fields(d, like ? r->strategy : ENGINE_DEFAULT_STRATEGY,
                      like ? r->budget_trials : ENGINE_DEFAULT_TRIALS);
    open_dialog(app, d);
}
