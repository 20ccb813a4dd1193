// The dialogs: each asks something, and makes a command line of the answers.
#include "app.h"
#include "base/file.h"
#include "dialog.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "report/text.h"
#include "script/network.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The session that a dialog is about.
struct topic {
    const char *verb; // of the command line
    char id[24];
    int64_t trials;   // spent
    int64_t selected; // number of the trial that is selected; 0: none that could be exported
};

// Adds a line on the session; the open one is read more often than the list.
static void describe(struct app *app, struct dialog *d, const struct session_row *row)
{
    const struct opened *o = &app->model.open;
    const struct session_record *r = row->record.id == o->record.id ? &o->record : &row->record;
    char line[512], speed[32], place[256];
    snprintf(
        line, sizeof line, "Session %" PRId64 ": %" PRId64 " of %" PRId64 " trials%s%s, %s on %s",
        r->id, r->trials, r->budget_trials, r->best_ask ? ", best " : "",
        r->best_ask ? speed_text(r, r->best_seconds, speed) : "", r->title, stored_place(r, place));
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
    if (dialog_is_on(d, "selected"))
        add_words(d, words, "--trial", dialog_text(d, "%" PRId64, t->selected));
    else if (!str_equal(dialog_value(d, "best"), "1"))
        add_words(d, words, "--best", dialog_value(d, "best"));
    add_option(d, words, "--name", "name");
    if (dialog_is_on(d, "force"))
        add_words(d, words, "--force", NULL);
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
    app->dirty = true;
    if (app->dialog)
        dialog_end_preview(app->dialog, job->words, str_text(&job->output), !job->exit_code);
}

static void preview_export(struct app *app, struct dialog *d, void *context)
{
    const char *words[DIALOG_MOST_WORDS] = {0};
    struct err e;
    int n = 0;
    if (export_words(d, context, words))
        return;
    while (words[n] && !str_equal(words[n], "--verify")) // a preview measures nothing
        n++;
    words[n++] = "--dry-run";
    words[n++] = "--db";
    words[n++] = app->options.database;
    words[n] = NULL;
    const struct job_record job = {.on_end = show_preview, .context = app};
    char *command = command_line(words);
    if (dialog_asks_preview(d, command))
        jobs_start(&app->jobs, &job, app->options.program, words, &e);
    free(command);
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

// Adds the choice of a strategy, common ones first, its options, and the budget.
static void add_search_fields(struct dialog *d, const char *strategy, int64_t trials)
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
    dialog_add_text(d, "warm", "Begin with best of", "");
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

// An offered new session, and the facts of its space as it is typed.
struct offer {
    struct app *app;
    const char *space, *source;
    char looked[2 * LINE_SIZE]; // at this space with these sizes
    const char *wrong;          // NULL: nothing is
    const char *sizes;          // "N=512 type=f32 (f32, f16)"; NULL: not known
};

enum { MOST_SETTINGS = (DIALOG_MOST_WORDS - 16) / 2, HINT_COLS = 76 };

// Takes "N=512 M=64" apart, in place.
static int parse_settings(char *text, struct setting set[MOST_SETTINGS])
{
    char *rest;
    int count = 0;
    for (char *word = strtok_r(text, " ", &rest); word && count < MOST_SETTINGS;
         word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        if (equals)
            *equals = '\0';
        set[count++] = (struct setting){word, equals ? equals + 1 : NULL};
    }
    return count;
}

// Reads a space for the open session's device, and where that lacks something, for a large GPU.
static struct script *read_space(const struct app *app, const struct setting *set, int count,
                                 const char *path, struct err *e)
{
    const struct opened *open = &app->model.open;
    struct script_options o = {
        .path = path, .set = set, .set_count = count, .device_type = open->record.device_type};
    o.limits = open->record.id && open->has_limits ? &open->limits : NULL;
    struct script *s = script_create(&o, e);
    if (s)
        return s;
    o.device_type = "discrete";
    o.limits = &limits_large_gpu;
    return script_create(&o, e);
}

static const char *list_settings(struct dialog *d, const struct script_setting *setting, int count)
{
    struct str out = {0};
    for (int i = 0; i < count; i++) {
        const struct script_setting *s = &setting[i];
        str_printf(&out, "%s%s=%s", i ? "  " : "", s->name, s->is_folder ? "FOLDER" : s->standard);
        for (int k = 0; s->values && s->values[k]; k++)
            str_printf(&out, "%s%s%s", k ? ", " : " (", s->values[k], s->values[k + 1] ? "" : ")");
    }
    const char *kept = dialog_keep(d, str_text(&out));
    str_finish(&out);
    return kept;
}

// Finds out what is wrong with the space and the sizes, and which there are. A network is read once
// they are not being typed: it has many spaces.
static void look_at_space(struct dialog *d, struct offer *o)
{
    char key[sizeof o->looked], sizes[LINE_SIZE];
    struct setting set[MOST_SETTINGS];
    struct err e = {.line = 0};
    const char *name = dialog_value(d, "space"), *focus = dialog_focus(d);
    bool network = network_is(name);
    snprintf(key, sizeof key, "%s %s", name, dialog_value(d, "set"));
    if (str_equal(key, o->looked) ||
        (network && (str_equal(focus, "space") || str_equal(focus, "set"))))
        return;
    memcpy(o->looked, key, sizeof key);
    snprintf(sizes, sizeof sizes, "%s", dialog_value(d, "set"));
    int count = parse_settings(sizes, set), known = 0;
    o->wrong = *name ? NULL : "which space? A preset's or a network's name, or a file";
    for (int i = 0; i < count && !o->wrong; i++)
        if (!set[i].value)
            o->wrong = "sizes are written NAME=VALUE";
    char *path = o->wrong ? NULL : (network ? network_find : script_find)(name, &e);
    if (path && network) {
        struct network n = {.name = NULL};
        if (network_read(path, set, count, &n, &e))
            o->sizes = list_settings(d, n.setting, n.setting_count);
        network_finish(&n);
    } else if (path) {
        struct script *s = read_space(o->app, set, count, path, &e);
        const struct script_setting *setting = s ? script_settings(s, &known) : NULL;
        if (s)
            o->sizes = list_settings(d, setting, known);
        script_destroy(s);
    }
    char text[1400];
    if (!o->wrong && e.text[0]) {
        char *list = strstr(err_format(&e, text, sizeof text), " (presets:"); // the hint has it
        if (list)
            *list = '\0';
        o->wrong = dialog_keep(d, text);
    }
    free(path);
}

// Adds words to a text of lines, each after a blank or on the next line.
static void add_hint(struct str *out, int *col, const char *word)
{
    int length = text_columns(word);
    bool breaks = *col && *col + 1 + length > HINT_COLS;
    str_printf(out, "%s%s", !*col ? "" : breaks ? "\n" : " ", word);
    *col = breaks || !*col ? length : *col + 1 + length;
}

static void add_hint_words(struct str *out, int *col, const char *text)
{
    char word[LINE_SIZE];
    while (*text) {
        size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (length)
            add_hint(out, col, word);
        text += length + (text[length] == ' ');
    }
}

// Adds a list of names, which it frees. Those that are numbered from 1 on are one word, "bmm1-3",
// because there are few rows.
static void add_hint_names(struct str *out, const char *lead, char **name, int count)
{
    int col = 0;
    if (count && out->length)
        str_add(out, "\n");
    if (count)
        add_hint(out, &col, lead);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(name[i]);
        int first = i;
        if (length > 1 && name[i][length - 1] == '1')
            while (i + 1 < count && strlen(name[i + 1]) == length &&
                   name[i + 1][length - 1] >= '1' && name[i + 1][length - 1] <= '9' &&
                   !strncmp(name[i], name[i + 1], length - 1))
                i++;
        char *word = i > first ? mem_printf("%s-%s", name[first], name[i] + length - 1)
                               : mem_strdup(name[first]);
        add_hint(out, &col, word);
        free(word);
    }
    for (int i = 0; i < count; i++)
        free(name[i]);
    free(name);
}

// Returns the paths of the space files of sessions that do not ship, each once.
static char **session_files(const struct app *app, int *count)
{
    char **path = NULL, *copy;
    int capacity = 0;
    *count = 0;
    for (int i = 0; i < app->model.session_count; i++) {
        const struct session_record *r = &app->model.session[i].record;
        bool known = r->network || !r->path || !*r->path || !file_exists(r->path) ||
                     script_is_shipped(r->path, &copy);
        for (int k = 0; k < *count && !known; k++)
            known = str_equal(path[k], r->path);
        if (known)
            continue;
        MEM_GROW(path, *count, capacity);
        path[(*count)++] = mem_strdup(r->path);
    }
    return path;
}

static void add_hint_spaces(const struct app *app, struct str *out)
{
    int count;
    char **name = script_presets(&count);
    add_hint_names(out, "presets:", name, count);
    name = network_names(&count);
    add_hint_names(out, "networks:", name, count);
    name = script_own_presets(&count);
    add_hint_names(out, "your own:", name, count);
    name = session_files(app, &count);
    add_hint_names(out, "files:", name, count);
}

// Lists sessions of that space whose best may begin another one.
static void add_hint_sessions(const struct app *app, const char *space, struct str *out)
{
    int col = 0;
    add_hint_words(out, &col, "a session's number, or a file; empty: with nothing but baselines.");
    for (int i = 0; i < app->model.session_count; i++) {
        const struct session_record *r = &app->model.session[i].record;
        char speed[32], word[80];
        if (!r->best_ask || r->network || !(str_equal(r->name, space) || str_equal(r->path, space)))
            continue;
        snprintf(word, sizeof word, "%" PRId64 " (%s)", r->id,
                 speed_text(r, r->best_seconds, speed));
        add_hint(out, &col, word);
    }
}

// Shows what the field with the focus may hold.
static void hint(struct app *app, struct dialog *d, void *context)
{
    struct offer *o = context;
    const char *focus = dialog_focus(d), *source = dialog_value(d, "source");
    struct str text = {0};
    int col = 0;
    look_at_space(d, o);
    if (str_equal(focus, "strategy") || str_equal(focus, "options") ||
        str_equal(focus, DIALOG_FOLD)) {
        preview_strategy(app, d, context);
        return;
    }
    if (str_equal(focus, "space"))
        add_hint_spaces(app, &text);
    else if (str_equal(focus, "device"))
        add_hint_words(&text, &col, "an index or a part of a name; empty: the best one");
    else if (str_equal(focus, "source"))
        add_hint_words(&text, &col, engine_source_help);
    else if (str_equal(focus, "warm"))
        add_hint_sessions(app, dialog_value(d, "space"), &text);
    else if (o->sizes && *o->sizes) {
        add_hint_words(&text, &col, "sizes:");
        add_hint_words(&text, &col, o->sizes);
    }
    if (str_starts(source, "synthetic:"))
        str_printf(&text, "%sIts times are made up: the source is no device.",
                   text.length ? "\n" : "");
    dialog_set_preview(d, str_text(&text));
    str_finish(&text);
}

// Returns what is wrong with "Begin with best of"; NULL: nothing.
static const char *check_warm(struct dialog *d, const struct app *app)
{
    char text[LINE_SIZE], *rest;
    int64_t id;
    snprintf(text, sizeof text, "%s", dialog_value(d, "warm"));
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        bool number = str_to_int(one, 1, INT64_MAX, &id);
        if (number ? !model_row(&app->model, id)
                   : !file_exists(one) && !str_equal(one, "baseline") && !str_equal(one, "none"))
            return dialog_text(d, "begin with the best of '%s': there is no such %s", one,
                               number ? "session" : "file");
    }
    return NULL;
}

static const char *new_words(struct dialog *d, void *context, const char *words[])
{
    const struct offer *o = context;
    const char *source = dialog_value(d, "source");
    char settings[LINE_SIZE], *rest;
    struct err e;
    bool recorded = recorded_is(source); // it brings its space
    add_words(d, words, "tune", recorded ? NULL : dialog_value(d, "space"));
    snprintf(settings, sizeof settings, "%s", recorded ? "" : dialog_value(d, "set"));
    int most = MOST_SETTINGS;
    for (char *word = strtok_r(settings, " ", &rest); word && most > 0;
         word = strtok_r(NULL, " ", &rest), most--)
        add_words(d, words, "--set", word);
    bool on_device = !*source || str_equal(source, "device");
    if (on_device)
        add_option(d, words, "--device", "device");
    else
        add_words(d, words, "--source", source);
    add_option(d, words, "--warm-start", "warm");
    const char *complaint = add_search_words(d, words), *warm = check_warm(d, o->app);
    if (!on_device && !engine_check_source(source, &e))
        return dialog_text(d, "%s", e.text);
    return o->wrong && !recorded ? o->wrong : warm ? warm : complaint;
}

void open_new_session(struct app *app, bool changed)
{
    static const struct dialog_kind kind = {"New session", "Start", false,
                                            new_words,     hint,    .waits = true};
    const struct session_record *r = &app->model.open.record;
    struct str settings = {0};
    bool like = r->id && !app->model.open.recording, on_device = str_equal(r->source, "device");
    struct dialog *d = dialog_open(app, &kind);
    struct offer *o = dialog_context(d, sizeof *o);
    struct err ignored;
    const char *file = changed || app->file_path ? app_file_basis(app).path : r->path;
    char *path = like ? script_find(r->name, &ignored) : NULL; // by the name where that means it
    o->app = app;
    if (!like || on_device)
        warn_of_others(app, d, NULL, 0);
    dialog_add_text(d, "space", "Preset, network or file",
                    !like                   ? "gemm"
                    : str_equal(path, file) ? r->name
                                            : file);
    dialog_add_text(d, "set", "Sizes, as N=512 M=64",
                    like ? text_config(r->settings, &settings) : "");
    dialog_add_text(d, "device", "Device (empty: best)", like && on_device ? r->device : "");
    dialog_add_text(d, "source", "Source of the times", like ? r->source : "device");
    add_search_fields(d, like ? r->strategy : ENGINE_DEFAULT_STRATEGY,
                      like ? r->budget_trials : ENGINE_DEFAULT_TRIALS);
    str_finish(&settings);
    free(path);
}

// --- a copy of what ships ---

static const char *copy_words(struct dialog *d, void *context, const char *words[])
{
    add_words(d, words, "ops", context);
    add_words(d, words, "--copy", NULL);
    return NULL;
}

void ask_copy(struct app *app, const char *path, const char *copy)
{
    static const struct dialog_kind kind = {"Edit a copy?", "Copy and edit",     false, copy_words,
                                            NULL,           .on_end = app_copied};
    static const char suffix[] = ".lua";
    struct dialog *d = dialog_open(app, &kind);
    // A template goes with the preset of the session.
    char *stem = path_stem(path);
    size_t length = strlen(path), end = sizeof suffix - 1;
    bool is_space = length > end && str_equal(path + length - end, suffix);
    const struct session_row *row = app_session(app);
    const char *name = is_space || !row ? stem : row->record.name;
    char *context = dialog_context(d, strlen(name) + 1);
    strcpy(context, name);
    free(stem);
    dialog_add_line(d,
                    dialog_text(d, "%s ships with tilewalk and stays as it is. Your copy:", path));
    dialog_add_line(d, copy);
    dialog_add_line(d, "From then on `tune` takes the copy, unless it is told --shipped.");
    dialog_add_line(d, "Rules and code that it includes from lua/ stay as they are, too.");
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
    {ACT_BUDGET, "set", {"Budget", "Set", false, budget_words, NULL}, NULL},
    {ACT_RESUME, "resume", {"Resume", "Resume", false, budget_words, .waits = true}, NULL},
    {ACT_NOTE, "set", {"Note", "Write", false, note_words, NULL}, NULL},
    {ACT_EXPORT, "export", {"Export", "Export", false, export_words, preview_export}, NULL},
    {ACT_DUPLICATE,
     "tune",
     {"Again, as a new session", "Start", false, duplicate_words, preview_strategy, .waits = true},
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
        const struct trial *chosen = r->id == app->model.open.record.id ? shown_trial(app) : NULL;
        bool whole = r->scheduler != NULL;
        t->selected = chosen && chosen->outcome == OUTCOME_OK && !whole ? chosen->number : 0;
        dialog_add_text(d, "best", "How many of the best", "1");
        if (t->selected && chosen->ask != r->best_ask)
            dialog_add_check(d, "selected",
                             dialog_text(d, "not the best, but trial %" PRId64 ", the selected one",
                                         t->selected),
                             false);
        dialog_add_text(d, "folder", "Folder", "export");
        dialog_add_text(d, "name", "Name of the files", "");
        dialog_add_check(d, "verify", "run, compare and time again before writing", on_device);
        dialog_add_text(d, "slower", "Slower by at most, % (5)", "");
        dialog_add_check(d, "force", "replace files that another session left there", false);
    } else if (a == ACT_DUPLICATE) {
        add_search_fields(d, r->strategy, budget);
    }
}
