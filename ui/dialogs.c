// The dialogs: each asks something, and makes a command line of the answers.
#include "app.h"
#include "dialog.h"
#include "engine/speed.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The session that a dialog is about.
struct topic {
    const char *verb; // of the command line
    char id[24];
    int64_t trials;     // spent
    char previewed[64]; // answers that the preview of an export was made for
};

// Adds a line on the session; the open one is read more often than the list.
static void describe(struct app *app, struct dialog *d, const struct session_row *row)
{
    const struct opened *o = &app->model.open;
    const struct session_record *r = row->record.id == o->record.id ? &o->record : &row->record;
    char line[256], speed[32];
    snprintf(line, sizeof line,
             "Session %" PRId64 ": %" PRId64 " of %" PRId64 " trials%s%s, %s on %s", r->id,
             r->trials, r->budget_trials, r->best_ask ? ", best " : "",
             r->best_ask ? speed_text(r, r->best_seconds, speed) : "", r->title, r->device);
    dialog_add_line(d, line);
}

// Adds a line if a session other than `except` runs on the device (NULL: on any).
static void warn_of_others(struct app *app, struct dialog *d, const char *device, int64_t except)
{
    for (int i = 0; i < app->model.session_count; i++) {
        const struct session_row *row = &app->model.session[i];
        bool shares = row->runner && row->record.id != except && row->state == STATE_RUNNING &&
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

// Appends one word, or two.
static void add_words(struct dialog *d, const char *words[], const char *first, const char *second)
{
    while (*words)
        words++;
    *words++ = dialog_text(d, "%s", first);
    if (second)
        *words = dialog_text(d, "%s", second);
}

// Appends an option with the value of a field that is not empty.
static void add_option(struct dialog *d, const char *words[], const char *option, const char *field)
{
    if (*dialog_value(d, field))
        add_words(d, words, option, dialog_value(d, field));
}

static bool is_count(const char *text) // 1, 2, ...
{
    int64_t n;
    return str_to_int(text, 1, INT64_MAX / 2, &n);
}

// --- exports: what one would write is shown by a dry run ---

static const char *export_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    const char *slower = dialog_value(d, "slower");
    bool verify = dialog_is_on(d, "verify");
    double percent;
    add_words(d, words, t->verb, t->id);
    add_words(d, words, "--out", dialog_value(d, "folder"));
    if (!str_equal(dialog_value(d, "best"), "1"))
        add_words(d, words, "--best", dialog_value(d, "best"));
    add_option(d, words, "--name", "name");
    if (verify)
        add_words(d, words, "--verify", NULL);
    if (verify)
        add_option(d, words, "--slower", "slower");
    if (*slower && (!str_to_real(slower, &percent) || percent < 0))
        return "how much slower is a number of percent, or nothing";
    if (!*dialog_value(d, "folder"))
        return "a folder is needed";
    return is_count(dialog_value(d, "best")) ? NULL : "how many is a number, at least 1";
}

// Shows what a dry run printed, if its dialog is still open.
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
    while (words[n] && !str_equal(words[n], "--verify")) // a preview measures nothing
        n++;
    words[n++] = "--dry-run";
    words[n++] = "--db";
    words[n++] = app->options.database;
    words[n] = NULL;
    const struct job_record job = {.on_end = show_preview, .context = app};
    jobs_start(&app->jobs, &job, app->options.program, words, &e);
}

// --- the strategy, seed and budget of a new session ---

#define COMMON 5 // strategies that are shown before all are asked for

// Returns the strategy with its options, as a spec; heap.
static char *strategy_spec(const struct dialog *d)
{
    const char *options = dialog_value(d, "options");
    char *spec = mem_printf("%s%s%s", dialog_value(d, "strategy"), *options ? ":" : "", options);
    for (char *c = spec; *c; c++)
        *c = *c == ' ' || *c == ',' ? ':' : *c;
    return spec;
}

// Shows the options of the chosen strategy, with their standard values.
static void preview_strategy(struct app *app, struct dialog *d, void *context)
{
    (void)app;
    (void)context;
    struct str text = {0}, value = {0};
    if (dialog_is_folded(d)) {
        // Hidden options must not be those of another strategy.
        char *spec = strategy_spec(d), *canonical = strategy_canonical(spec, NULL);
        if (!canonical)
            dialog_set_text(d, "options", "");
        free(spec);
        free(canonical);
        dialog_set_preview(d, "");
        return;
    }
    const struct strategy_kind *kind = strategy_find(dialog_value(d, "strategy"));
    for (const struct spec_option *o = kind ? kind->options : NULL; o && o->name; o++) {
        if (o->hidden)
            continue;
        spec_add_value(o, o->value, &value);
        str_printf(&text, "%-10s %-8s %s", o->name, str_text(&value), o->help);
        if (!o->words)
            str_printf(&text, " (%.6g to %.6g)", o->low, o->high);
        str_add(&text, "\n");
        str_finish(&value);
    }
    dialog_set_preview(d, str_text(&text));
    str_finish(&text);
}

// Adds the choice of a strategy, common ones first, its options, and the budget. `known`: the
// session with whose best the new one begins, "": none.
static void add_search_fields(struct dialog *d, const char *strategy, int64_t trials,
                              const char *known)
{
    char text[24], search[STRATEGY_TEXT];
    snprintf(text, sizeof text, "%" PRId64, trials);
    const char *names[32] = {"walk", "opevo", "local", "autotvm", "random"};
    int count = COMMON, chosen = 0;
    for (int i = 0; strategy_kinds[i] && count < 31; i++) {
        bool listed = false;
        for (int k = 0; k < COMMON; k++)
            listed |= str_equal(names[k], strategy_kinds[i]->name);
        if (!listed)
            names[count++] = strategy_kinds[i]->name;
    }
    strategy_text(strategy, false, search);
    size_t length = strcspn(search, " ");
    for (int i = 0; i < count; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], search, length))
            chosen = i;
    dialog_add_choice(d, "strategy", "Strategy", names, chosen);
    dialog_fold_last(d, COMMON);
    dialog_add_check(d, DIALOG_FOLD, "every strategy, and its options", false);
    dialog_add_text(d, "options", "Its options, as q=0.3",
                    search[length] ? search + length + 1 : "");
    dialog_fold_last(d, 0);
    dialog_add_text(d, "warm", "Begin with best of", known);
    dialog_add_text(d, "seed", "Seed (empty: new)", "");
    dialog_add_text(d, "trials", "Trials", text);
}

static const char *add_search_words(struct dialog *d, const char *words[])
{
    const char *seed = dialog_value(d, "seed");
    char *spec = strategy_spec(d);
    struct err e;
    int64_t number;
    char *canonical = strategy_canonical(spec, &e);
    add_words(d, words, "--strategy", spec);
    add_words(d, words, "--trials", dialog_value(d, "trials"));
    add_option(d, words, "--seed", "seed");
    bool possible = canonical && strategy_possible(spec, &e);
    free(spec);
    free(canonical);
    if (!possible)
        return dialog_text(d, "%s", e.text);
    if (*seed && !str_to_int(seed, 0, INT64_C(9007199254740992), &number))
        return "the seed is a whole number (or nothing: a new one)";
    return is_count(dialog_value(d, "trials")) ? NULL : "the budget is a number of trials";
}

// --- new sessions ---

static const char *duplicate_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    add_words(d, words, t->verb, "--like");
    add_words(d, words, t->id, NULL);
    add_option(d, words, "--warm-start", "warm");
    return add_search_words(d, words);
}

// The session that was offered first.
struct offer {
    const char *source, *space; // source NULL: the device
    char known[24];             // session whose best it begins with; "": none
};

static const char *new_words(struct dialog *d, void *context, const char *words[])
{
    const struct offer *o = context;
    const char *space = dialog_value(d, "space");
    char settings[LINE_SIZE], *rest;
    add_words(d, words, "tune", space);
    snprintf(settings, sizeof settings, "%s", dialog_value(d, "set"));
    int most = (DIALOG_MOST_WORDS - 16) / 2;
    for (char *word = strtok_r(settings, " ", &rest); word && most > 0;
         word = strtok_r(NULL, " ", &rest), most--)
        add_words(d, words, "--set", word);
    add_option(d, words, "--device", "device");
    if (o->source)
        add_words(d, words, "--source", o->source);
    // The best of one space is of no use in another.
    if (str_equal(space, o->space) || !str_equal(dialog_value(d, "warm"), o->known))
        add_option(d, words, "--warm-start", "warm");
    const char *complaint = add_search_words(d, words);
    return *space ? complaint : "which space? A preset's name or a file";
}

// Offers a session like the open one, where one is open.
static const struct offer *offer_like(const struct app *app, struct dialog *d, bool changed)
{
    const struct opened *open = &app->model.open;
    const struct session_record *r = &open->record;
    struct offer *o = dialog_context(d, sizeof *o);
    if (!r->id || open->recording) {
        o->space = "gemm";
        return o;
    }
    char *path = script_find(r->name, NULL); // of a preset that ships
    o->space = dialog_keep(d, path && str_equal(path, r->path) ? r->name : r->path);
    free(path);
    if (!str_equal(r->source, "device"))
        o->source = dialog_keep(d, r->source);
    // Its best are points of the new space only if that has the same parameters.
    const struct space *was = open->space;
    const struct space *is = changed && app->file.fresh ? script_space(app->file.fresh) : was;
    bool same = was && is && was->param_count == is->param_count;
    for (int i = 0; same && i < is->param_count; i++)
        same = space_find(was, is->param[i].name) != NULL;
    if (r->best_ask && same)
        snprintf(o->known, sizeof o->known, "%" PRId64, r->id);
    return o;
}

void open_new_session(struct app *app, bool changed)
{
    const struct session_record *r = &app->model.open.record;
    static const struct dialog_kind kind = {"New session", "Start", false, new_words,
                                            preview_strategy};
    struct str settings = {0};
    bool like = r->id && !app->model.open.recording;
    struct dialog *d = dialog_open(app, &kind);
    const struct offer *o = offer_like(app, d, changed);
    if (!changed) {
        // "Spaces: bmm bmm1-3 gemm": presets that are numbered from 1 on are one word, because
        // there are few rows.
        int count;
        char **name = script_presets(&count);
        struct str line = {0};
        str_add(&line, "Spaces:");
        for (int i = 0; i < count; i++) {
            size_t length = strlen(name[i]);
            int first = i;
            if (length > 1 && name[i][length - 1] == '1')
                while (i + 1 < count && strlen(name[i + 1]) == length &&
                       name[i + 1][length - 1] >= '1' && name[i + 1][length - 1] <= '9' &&
                       !strncmp(name[i], name[i + 1], length - 1))
                    i++;
            str_printf(&line, " %s", name[first]);
            if (i > first)
                str_printf(&line, "-%s", name[i] + length - 1);
        }
        dialog_add_line(d, str_text(&line));
        str_finish(&line);
        for (int i = 0; i < count; i++)
            free(name[i]);
        free(name);
    }
    if (!o->source)
        warn_of_others(app, d, NULL, 0);
    dialog_add_text(d, "space", "Space: preset or file", o->space);
    dialog_add_text(d, "set", "Sizes, as N=512 M=64",
                    like ? text_config(r->settings, &settings) : "");
    dialog_add_text(d, "device", "Device (empty: best)", like && !o->source ? r->device : "");
    add_search_fields(d, like ? r->strategy : ENGINE_DEFAULT_STRATEGY,
                      like ? r->budget_trials : ENGINE_DEFAULT_TRIALS, o->known);
    str_finish(&settings);
}

// --- a typed command that cannot be taken back ---

static const char *typed_words(struct dialog *d, void *context, const char *words[])
{
    (void)d;
    memcpy(words, context, DIALOG_MOST_WORDS * sizeof *words);
    return NULL;
}

void ask_command(struct app *app, const char *const *words)
{
    static const struct dialog_kind kind = {"Really?", "Do it", true, typed_words, NULL};
    struct dialog *d = dialog_open(app, &kind);
    const char **kept = dialog_context(d, DIALOG_MOST_WORDS * sizeof *kept);
    for (int i = 0; words[i] && i < DIALOG_MOST_WORDS - 1; i++)
        kept[i] = dialog_keep(d, words[i]);
    int64_t id;
    const struct session_row *row =
        words[1] && str_to_int(words[1], 1, INT64_MAX, &id) ? model_row(&app->model, id) : NULL;
    if (row)
        describe(app, d, row);
}

// --- dialogs about one session ---

static const char *session_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    add_words(d, words, t->verb, t->id);
    return NULL;
}

static const char *budget_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    const char *value = dialog_value(d, "trials");
    bool resumes = str_equal(t->verb, "resume");
    int64_t trials;
    add_words(d, words, t->verb, t->id);
    add_words(d, words, resumes ? "--trials" : dialog_text(d, "trials=%s", value),
              resumes ? value : NULL);
    if (!str_to_int(value, 1, INT64_MAX / 2, &trials))
        return "the budget is a number of trials, at least 1";
    return trials > t->trials ? NULL
           : resumes          ? "they are spent already: give it more trials"
                              : "so many are spent: that would end it (:stop does)";
}

static const char *note_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    add_words(d, words, t->verb, t->id);
    add_words(d, words, dialog_text(d, "note=%s", dialog_value(d, "note")), NULL);
    return NULL;
}

static const struct session_dialog {
    enum action action;
    const char *verb;
    struct dialog_kind kind;
    const char *question; // NULL: the dialog is none
} session_dialogs[] = {
    {ACT_STOP,
     "stop",
     {"Stop the session?", "Stop", true, session_words, NULL},
     "It ends now and keeps its results; it can be resumed later."},
    {ACT_DELETE,
     "rm",
     {"Delete for good?", "Delete", true, session_words, NULL},
     "All its trials, samples and messages go. Exported files stay."},
    {ACT_BUDGET, "set", {"Budget", "Set", false, budget_words, NULL}, NULL},
    {ACT_RESUME, "resume", {"Resume", "Resume", false, budget_words, NULL}, NULL},
    {ACT_NOTE, "set", {"Note", "Write", false, note_words, NULL}, NULL},
    {ACT_EXPORT, "export", {"Export", "Export", false, export_words, preview_export}, NULL},
    {ACT_DUPLICATE,
     "tune",
     {"Again, as a new session", "Start", false, duplicate_words, preview_strategy},
     NULL},
};

void open_session_dialog(struct app *app, enum action a)
{
    const struct session_row *row = app_session(app);
    const struct session_record *r = &row->record;
    const struct session_dialog *s = session_dialogs;
    bool on_device = str_equal(r->source, "device");
    int64_t budget = r->budget_trials;
    char trials[24];
    while (s->action != a)
        s++;
    struct dialog *d = dialog_open(app, &s->kind);
    struct topic *t = dialog_context(d, sizeof *t);
    t->verb = s->verb;
    t->trials = r->trials;
    snprintf(t->id, sizeof t->id, "%" PRId64, r->id);
    describe(app, d, row);
    if (s->question)
        dialog_add_line(d, s->question);
    if (a == ACT_DUPLICATE)
        dialog_add_line(d, "The same space and problem, as they were stored, on the same device.");
    if (on_device && (a == ACT_DUPLICATE || a == ACT_RESUME))
        warn_of_others(app, d, r->device, a == ACT_RESUME ? r->id : 0);
    if (a == ACT_RESUME && budget <= r->trials)
        budget = r->trials + 100;
    snprintf(trials, sizeof trials, "%" PRId64, budget);
    if (a == ACT_BUDGET || a == ACT_RESUME) {
        dialog_add_text(d, "trials", "Trials in all", trials);
    } else if (a == ACT_NOTE) {
        dialog_add_text(d, "note", "Note", r->note ? r->note : "");
    } else if (a == ACT_EXPORT) {
        dialog_add_text(d, "best", "How many of the best", "1");
        dialog_add_text(d, "folder", "Folder", "export");
        dialog_add_text(d, "name", "Name of the files", "");
        dialog_add_check(d, "verify", "run, compare and time again before writing", on_device);
        dialog_add_text(d, "slower", "Slower by at most, % (5)", "");
    } else if (a == ACT_DUPLICATE) {
        add_search_fields(d, r->strategy, budget, r->best_ask ? t->id : "");
    }
}
