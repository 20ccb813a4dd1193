// The dialogs for new sessions: one again with another seed or strategy, or one of any space.
#include "dialogs.h"

#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMON 5 // strategies that are seen before all are asked for

// The common ones first.
static int list_strategies(const char *names[32])
{
    static const char *const common[COMMON] = {"walk", "opevo", "local", "autotvm", "random"};
    int count = 0;
    for (; count < COMMON; count++)
        names[count] = common[count];
    for (int i = 0; strategy_kinds[i] && count < 31; i++) {
        bool listed = false;
        for (int k = 0; k < COMMON; k++)
            listed |= str_equal(common[k], strategy_kinds[i]->name);
        if (!listed)
            names[count++] = strategy_kinds[i]->name;
    }
    names[count] = NULL;
    return count;
}

static void add_strategies(struct dialog *d, const char *current)
{
    const char *names[32];
    char text[STRATEGY_TEXT];
    int chosen = 0;
    strategy_text(current, false, text);
    size_t length = strcspn(text, " ");
    for (int i = list_strategies(names); i-- > 0;)
        if (strlen(names[i]) == length && !strncmp(names[i], text, length))
            chosen = i;
    dialog_add_choice(d, "strategy", "Strategy", names, chosen);
    dialog_fold_last(d, COMMON);
    dialog_add_fold(d, "every strategy, and its options");
    dialog_add_text(d, "options", "Its options, as q=0.3", text[length] ? text + length + 1 : "");
    dialog_fold_last(d, 0);
}

// The strategy with its options, as a spec; heap.
static char *spec_of(const struct dialog *d)
{
    const char *options = dialog_value(d, "options");
    char *spec = mem_printf("%s%s%s", dialog_value(d, "strategy"), *options ? ":" : "", options);
    for (char *c = spec; *c; c++)
        *c = *c == ' ' || *c == ',' ? ':' : *c;
    return spec;
}

// Options that nobody sees are not those of another strategy.
static void forget_other_options(struct dialog *d)
{
    char *spec = spec_of(d), *canonical = strategy_canonical(spec, NULL);
    if (!canonical)
        dialog_set_text(d, "options", "");
    free(spec);
    free(canonical);
}

// The options there are, with what they are now if nothing is said.
static void preview_strategy(struct app *app, struct dialog *d, void *context)
{
    (void)app;
    (void)context;
    struct str text = {0}, value = {0};
    if (dialog_is_folded(d)) {
        forget_other_options(d);
        dialog_set_preview(d, "");
        return;
    }
    const struct strategy_kind *kind = strategy_find(dialog_value(d, "strategy"));
    for (const struct spec_option *o = kind ? kind->options : NULL; o && o->name; o++) {
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

static int add_warm_words(struct dialog *d, const char *words[], int n)
{
    if (*dialog_value(d, "warm")) {
        words[n++] = "--warm-start";
        words[n++] = dialog_text(d, "%s", dialog_value(d, "warm"));
    }
    return n;
}

// Adds the strategy, seed and budget that the fields ask for.
static const char *add_search_words(struct dialog *d, const char *words[], int n)
{
    const char *seed = dialog_value(d, "seed");
    char *spec = spec_of(d);
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
    return dialog_is_count(dialog_value(d, "trials")) ? NULL : "the budget is a number of trials";
}

// `known`: the session with whose best it begins; 0: there is none.
static void add_search_fields(struct dialog *d, const char *strategy, int64_t trials, int64_t known)
{
    char text[24], from[24] = "";
    snprintf(text, sizeof text, "%" PRId64, trials);
    if (known)
        snprintf(from, sizeof from, "%" PRId64, known);
    add_strategies(d, strategy);
    dialog_add_text(d, "warm", "Begin with best of", from);
    dialog_add_text(d, "seed", "Seed (empty: new)", "");
    dialog_add_text(d, "trials", "Trials", text);
    dialog_on_change(d, preview_strategy);
}

static const char *duplicate_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "tune";
    words[1] = "--like";
    words[2] = dialog_number(d, t->id);
    return add_search_words(d, words, add_warm_words(d, words, 3));
}

void open_duplicate(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d =
        dialog_create("Again, as a new session", "Start", duplicate_words, dialog_topic(row), free);
    dialog_describe(app, d, row);
    dialog_add_line(d, "The same space and problem, as they were stored, on the same device.");
    if (str_equal(row->record.source, "device"))
        dialog_warn_of_others(app, d, row->record.device, 0);
    add_search_fields(d, row->record.strategy, row->record.budget_trials,
                      row->record.best_ask ? row->record.id : 0);
    dialog_open(app, d);
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

// What a new session was offered to be.
struct offer {
    char *source, *space; // source NULL: the device
    char known[24];       // session whose best it begins with; "": none
};

static void offer_destroy(void *context)
{
    struct offer *o = context;
    free(o->source);
    free(o->space);
    free(o);
}

static const char *new_words(struct dialog *d, void *context, const char *words[])
{
    const struct offer *o = context;
    const char *space = dialog_value(d, "space");
    int n = 0;
    words[n++] = "tune";
    words[n++] = dialog_text(d, "%s", space);
    n = add_settings(d, words, n);
    if (*dialog_value(d, "device")) {
        words[n++] = "--device";
        words[n++] = dialog_text(d, "%s", dialog_value(d, "device"));
    }
    if (o->source) {
        words[n++] = "--source";
        words[n++] = o->source;
    }
    // What was found in one space says nothing of another.
    if (str_equal(space, o->space) || !str_equal(dialog_value(d, "warm"), o->known))
        n = add_warm_words(d, words, n);
    const char *complaint = add_search_words(d, words, n);
    return *words[1] ? complaint : "which space? A preset's name or a file";
}

// The stem of a numbered preset, mm1 say; 0: it is none.
static size_t numbered_stem(const char *name)
{
    size_t length = strlen(name);
    return length > 1 && name[length - 1] >= '1' && name[length - 1] <= '9' ? length - 1 : 0;
}

// "Spaces: bmm bmm1-3 gemm": rows are few, so presets numbered from 1 on are told by their ends.
static void add_presets(struct dialog *d)
{
    int count;
    char **name = script_presets(&count);
    struct str line = {0};
    str_add(&line, "Spaces:");
    for (int i = 0; i < count; i++) {
        size_t stem = numbered_stem(name[i]);
        int last = i;
        while (stem && name[i][stem] == '1' && last + 1 < count &&
               numbered_stem(name[last + 1]) == stem && !strncmp(name[i], name[last + 1], stem))
            last++;
        str_printf(&line, " %s", name[i]);
        if (last > i)
            str_printf(&line, "-%s", name[last] + stem);
        i = last;
    }
    dialog_add_line(d, str_text(&line));
    str_finish(&line);
    for (int i = 0; i < count; i++)
        free(name[i]);
    free(name);
}

// The name of a preset that ships, else the file.
static char *space_of(const struct session_record *r)
{
    char *path = script_find(r->name, NULL);
    char *space = mem_strdup(path && str_equal(path, r->path) ? r->name : r->path);
    free(path);
    return space;
}

// Its best are points of the new space only if that has the same parameters.
static bool has_same_params(const struct app *app, bool changed)
{
    const struct space *was = app->model.open.space;
    const struct space *is = changed && app->file.fresh ? script_space(app->file.fresh) : was;
    bool same = was && is && was->param_count == is->param_count;
    for (int i = 0; same && i < is->param_count; i++)
        same = space_find(was, is->param[i].name) != NULL;
    return same;
}

static struct offer *offer_like(const struct app *app, bool changed)
{
    const struct opened *open = &app->model.open;
    const struct session_record *r = &open->record;
    struct offer *o = mem_zero(1, sizeof *o);
    bool like = r->id && !open->recording;
    o->space = like ? space_of(r) : mem_strdup("gemm");
    if (like && !str_equal(r->source, "device"))
        o->source = mem_strdup(r->source);
    if (like && r->best_ask && has_same_params(app, changed))
        snprintf(o->known, sizeof o->known, "%" PRId64, r->id);
    return o;
}

void open_new_session(struct app *app, bool changed)
{
    const struct session_record *r = &app->model.open.record;
    struct str settings = {0};
    struct offer *o = offer_like(app, changed);
    bool like = r->id && !app->model.open.recording;
    struct dialog *d = dialog_create("New session", "Start", new_words, o, offer_destroy);
    if (!changed)
        add_presets(d);
    if (!o->source)
        dialog_warn_of_others(app, d, NULL, 0);
    dialog_add_text(d, "space", "Space: preset or file", o->space);
    dialog_add_text(d, "set", "Sizes, as N=512 M=64",
                    like ? text_config(r->settings, &settings) : "");
    dialog_add_text(d, "device", "Device (empty: best)", like && !o->source ? r->device : "");
    add_search_fields(d, like ? r->strategy : ENGINE_DEFAULT_STRATEGY,
                      like ? r->budget_trials : ENGINE_DEFAULT_TRIALS, strtoll(o->known, NULL, 10));
    str_finish(&settings);
    dialog_open(app, d);
}
