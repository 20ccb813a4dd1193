// show: a session, its trials and the fits of its model.
#include "base/json.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/trial_list.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "export/kernel_text.h"
#include "report/diff.h"
#include "report/pareto.h"
#include "report/text.h"
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- fits of the model ---

struct refit_list {
    struct refit_record *refit; // in their order
    int count, capacity;
};

static bool keep_refit(void *context, const struct refit_record *r)
{
    struct refit_list *l = context;
    MEM_GROW(l->refit, l->count, l->capacity);
    l->refit[l->count++] = *r;
    return true;
}

// Writes "0.61", or "-" where there was nothing to compare with.
static const char *correlation_text(const struct refit_record *r, char out[32])
{
    snprintf(out, 32, isfinite(r->correlation) ? "%.2f" : "-", r->correlation);
    return out;
}

static const char *recall_text(const struct refit_record *r, char out[32])
{
    if (isfinite(r->recall))
        snprintf(out, 32, "%.0f of %d", r->recall * r->k, r->k);
    else
        snprintf(out, 32, "-");
    return out;
}

static void add_refits_json(const struct refit_list *l, struct json_writer *w)
{
    json_begin_list(w, "refits");
    for (int i = 0; i < l->count; i++) {
        const struct refit_record *r = &l->refit[i];
        json_begin_object(w, NULL);
        json_add_int(w, "refit", r->number);
        json_add_int(w, "told", r->told);
        json_add_int(w, "rows", r->rows);
        json_add_int(w, "batch", r->batch);
        json_add_int(w, "k", r->k);
        json_add_real(w, "correlation", r->correlation);
        json_add_real(w, "recall", r->recall);
        json_add_real(w, "seconds", r->seconds);
        json_add_real(w, "bytes", r->bytes);
        json_add_real(w, "elapsed_s", r->elapsed_s);
        json_end(w);
    }
    json_end(w);
}

// --- the session ---

struct view {
    struct store *store;
    const struct session_record *session;
    const struct arguments *a;
    enum list_format format;
    enum list_order order;
    struct trial_list trials;
    struct refit_list refits;
    struct calibration_record calibration;
    int64_t outcomes[OUTCOME_COUNT];
    struct trial_record best; // ask 0: there is none
    struct retime_record final_race;
    struct steadiness steadiness;
    struct baselines baselines;
    struct shape_table shapes;
    struct network_summary network; // of a network
    struct arena arena;
};

// Options that only apply to a list of trials ask for one.
static bool lists_trials(const struct view *v)
{
    return arguments_flag(v->a, "trials") || v->order != ORDER_ASK || v->format == LIST_CSV;
}

static bool list_trial(void *context, const struct trial_record *t)
{
    struct view *v = context;
    if (t->outcome != OUTCOME_OPEN && (t->number > 0 || arguments_flag(v->a, "show-rejected")))
        trial_list_add(&v->trials, t);
    return true;
}

static void show_print_json(struct view *v, enum session_state state, int64_t most)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    const struct session_record *r = v->session;
    json_begin_object(&w, "session");
    json_session(&w, r, state);
    json_best(&w, r, v->best.ask ? &v->best : NULL, v->final_race.ask ? &v->final_race : NULL);
    if (r->scheduler)
        network_add_json(&w, &v->network);
    if (v->steadiness.sensed || v->steadiness.drifted) {
        json_begin_object(&w, "clocks");
        json_add_int(&w, "sensed", v->steadiness.sensed);
        json_add_int(&w, "throttled", v->steadiness.throttled);
        json_add_int(&w, "drifted", v->steadiness.drifted);
        json_end(&w);
    }
    json_end(&w);
    struct paired verdict = speed_verdict(r, &v->baselines);
    speed_add_ratio_json(&verdict, &w);
    if (v->baselines.count)
        speed_add_baselines(r, &v->baselines, r->best_seconds, "baselines", &w);
    if (r->shapes)
        shape_table_add_json(&v->shapes, "shapes", &w);
    add_refits_json(&v->refits, &w);
    json_begin_object(&w, "calibration");
    json_add_int(&w, "results", v->calibration.results);
    json_add_int(&w, "within_50", v->calibration.within_50);
    json_add_int(&w, "within_90", v->calibration.within_90);
    json_end(&w);
    if (lists_trials(v))
        trial_list_add_json(&v->trials, most, &w);
    json_print(&w);
}

static void print_model(const struct view *v)
{
    struct str text = {0};
    if (arguments_flag(v->a, "refits")) {
        char at[32], correlation[32], recall[32];
        if (v->refits.count)
            str_printf(&text, "%5s  %8s  %7s  %8s  %6s  %16s  %8s  %7s  %7s\n", "refit", "after",
                       "results", "rows", "batch", "rank correlation", "recall", "seconds", "MiB");
        for (int i = 0; i < v->refits.count; i++) {
            const struct refit_record *r = &v->refits.refit[i];
            str_printf(&text,
                       "%5" PRId64 "  %8s  %7" PRId64 "  %8" PRId64
                       "  %6d  %16s  %8s  %7.2f  %7.2f\n",
                       r->number, text_duration(r->elapsed_s, at), r->told, r->rows, r->batch,
                       correlation_text(r, correlation), recall_text(r, recall), r->seconds,
                       r->bytes / (1 << 20));
        }
    } else if (v->refits.count) {
        const struct refit_list *l = &v->refits;
        const struct refit_record *last = &l->refit[l->count - 1];
        char number[32];
        str_printf(&text, "model    fitted %d time%s, last to %" PRId64 " results", l->count,
                   l->count == 1 ? "" : "s", last->told);
        if (isfinite(last->correlation))
            str_printf(&text, "  rank correlation %s", correlation_text(last, number));
        if (isfinite(last->recall))
            str_printf(&text, "  recall %s", recall_text(last, number));
        str_printf(&text, "  %.2g s  (--refits lists all)\n", last->seconds);
    }
    fputs(str_text(&text), stdout);
    text.length = 0;
    const struct calibration_record *c = &v->calibration;
    text_add_calibration(c->results, c->within_50, c->within_90, &text);
    if (text.length)
        printf("model    %s\n", str_text(&text));
    str_finish(&text);
}

static void show_print_text(const struct view *v, const struct session_record *r,
                            enum session_state state, pid_t runner)
{
    char text[SPEED_TEXT_SIZE], strategy[STRATEGY_TEXT];
    struct str config = {0};
    printf("session  %" PRId64 "  %s", r->id, state_name(state));
    if (runner)
        printf("  (process %d)", (int)runner);
    printf("%s%s\n", r->message && *r->message ? "  " : "", r->message ? r->message : "");
    if (r->scheduler)
        printf("problem  %s  (%s)\n", r->title, r->name);
    else
        printf("problem  %s  (%s, %s points)\n", r->title, r->name, r->size);
    if (r->reduced)
        printf("         %s\n", r->reduced);
    printf("device   %s  (%s)%s\n", r->device, r->driver, r->cold ? "  timed cold" : "");
    printf("search   %s  seed %" PRIu64 "%s%s\n",
           strategy_text(r->strategy, arguments_flag(v->a, "options"), strategy), r->seed,
           r->scheduler ? "  scheduler " : "", r->scheduler ? r->scheduler : "");
    if (r->network)
        printf("network  %" PRId64 ", its task %s\n", r->network, r->task ? r->task : "?");
    if (r->build)
        printf("build    tilewalk %s\n", r->build);
    if (r->note && *r->note)
        printf("note     %s\n", r->note);
    printf("trials   %" PRId64 " of %" PRId64 " in %s:", r->trials, r->budget_trials,
           text_duration(r->ran_seconds, text));
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (v->outcomes[i])
            printf("  %s %" PRId64, outcome_name((enum outcome)i), v->outcomes[i]);
    printf("\n");
    if (v->steadiness.throttled)
        printf("clocks   throttled during %" PRId64 " of %" PRId64 " trials\n",
               v->steadiness.throttled, v->steadiness.sensed);
    if (v->steadiness.drifted)
        printf("drift    %" PRId64 " trials were timed while the device drifted\n",
               v->steadiness.drifted);
    if (r->noise > 0 || r->drift != 0)
        printf("noise    %.0f %% (spread of the latest timings), drift %+.0f %%\n", 100 * r->noise,
               100 * r->drift);
    print_model(v);
    if (r->scheduler) {
        network_print_table(&v->network);
        return;
    }
    speed_add_baseline_lines(r, &v->baselines, r->best_seconds, &config);
    shape_table_add_text(r, &v->shapes, &config);
    common_print(&config);
    if (!v->best.ask) {
        printf("best     none\n");
        return;
    }
    printf("best     %s  trial %" PRId64 "  (%s)\n", speed_and_time(r, r->best_seconds, text),
           v->best.number, r->best_raced ? "raced" : "measured once");
    if (r->soaked_ask == r->best_ask && r->soaked)
        printf("         right in %" PRId64 " more runs, on inputs that it had not seen\n",
               r->soaked);
    speed_add_peak(r, r->best_seconds, &config);
    if (config.length)
        printf("         %s\n", str_text(&config));
    printf("         %s\n", text_config(v->best.config, &config));
    str_finish(&config);
}

static bool print_message(void *context, const struct message_record *m)
{
    if (!str_equal(m->level, "debug"))
        printf("%-8s %s\n", shown_text(context, m->level), shown_text(context, m->text));
    return true;
}

static void print_list(struct view *v, int64_t most)
{
    struct str list = {0};
    trial_list_add_text(&v->trials, most, &list);
    if (v->format == LIST_TEXT && list.length && !most)
        printf("\n");
    common_print(&list);
}

static bool show_session(struct view *v, struct err *e)
{
    pid_t runner;
    int64_t most = arguments_integer(v->a, "top", 0);
    enum session_state state = store_state(v->store, v->session, &runner);
    int64_t id = v->session->id, best = v->session->best_ask;
    bool ok = (!v->session->scheduler ||
               network_summary_read(v->store, v->session, &v->arena, &v->network, e)) &&
              store_get_baselines(v->store, id, &v->arena, &v->baselines, e) &&
              store_get_tally(v->store, id, v->outcomes, NULL, e) &&
              store_get_steadiness(v->store, id, &v->steadiness, e) &&
              store_get_trial(v->store, id, best, &v->arena, &v->best, e) &&
              store_get_race(v->store, id, best, &v->arena, &v->final_race, e) &&
              store_each_refit(v->store, id, keep_refit, &v->refits, e) &&
              store_get_calibration(v->store, id, &v->calibration, e) &&
              (!lists_trials(v) || (trial_list_read_races(&v->trials, v->store, e) &&
                                    store_each_trial(v->store, id, 1, list_trial, v, e)));
    if (!ok)
        return false;
    shape_table_read(v->session, &(struct shape_findings){&v->best, &v->final_race, &v->baselines},
                     &v->arena, &v->shapes);
    if (v->format == LIST_JSON) {
        show_print_json(v, state, most);
        return true;
    }
    if (v->format == LIST_CSV || most) { // --top: nothing but the rows
        print_list(v, most);
        return true;
    }
    struct session_record shown = *v->session;
    common_show_record(&v->arena, &shown);
    show_print_text(v, &shown, state, runner);
    if (!store_each_message(v->store, v->session->id, 0, print_message, &v->arena, e))
        return false;
    print_list(v, most);
    return true;
}

// --- show ID --trial N: one trial, and with --glsl or --spirv its kernel ---

enum { CONTEXT = 3 }; // lines around a difference

struct shown_trial {
    const struct arguments *a;
    struct store *store;
    const struct session_record *session;
    struct arena *arena;
    struct trial_record trial;  // at first its number or its ask
    struct retime_record race;  // its final race; ask 0: none
    const char *const *changed; // files since then
};

// Reads which trial is asked for, by its number or by its ask; both 0: none.
static bool read_trial(const struct arguments *a, int64_t *number, int64_t *ask, struct err *e)
{
    const char *text, *two[2], *last = arguments_text(a, "trial");
    bool by_ask = last && str_starts(last, "ask:"), one_trial = last != NULL;
    bool glsl = arguments_flag(a, "glsl"), spirv = arguments_flag(a, "spirv");
    bool diff = arguments_flag(a, "diff");
    *number = *ask = 0;
    if (one_trial && arguments_list(a, "trial", two, 2) > 1)
        return err_usage(e, "--trial names one trial");
    text = by_ask ? last + strlen("ask:") : last;
    if (one_trial && !str_to_int(text, 1, INT64_MAX, by_ask ? ask : number))
        return err_usage(e, "--trial wants the number of a trial, or ask:N, not '%s'", last);
    if (!one_trial && (glsl || spirv || diff))
        return err_usage(e, "--glsl, --spirv and --diff show the kernel of a trial: name it with "
                            "--trial N");
    if (glsl && spirv)
        return err_usage(e, "--glsl and --spirv exclude each other (choose one)");
    if (diff && !glsl && !spirv)
        return err_usage(e, "--diff compares --glsl or --spirv (choose one)");
    return !(diff && arguments_flag(a, "json")) ||
           err_usage(e, "--diff is for people; --json has the texts");
}

static bool find_numbered(void *context, const struct trial_record *t)
{
    *(struct trial_record *)context = (struct trial_record){.ask = t->ask, .number = t->number};
    return false;
}

static bool find_trial(struct shown_trial *s, struct err *e)
{
    int64_t number = s->trial.number, id = s->session->id;
    struct trial_record at = {.ask = s->trial.ask, .number = number};
    if (number) {
        at.number = 0;
        if (!store_each_numbered(s->store, id, number, find_numbered, &at, e))
            return false;
    }
    if (number && at.number != number)
        return err_set(e, "session %" PRId64 " has no trial %" PRId64, id, number);
    if (!store_get_trial(s->store, id, at.ask, s->arena, &s->trial, e) ||
        !store_get_race(s->store, id, at.ask, s->arena, &s->race, e))
        return false;
    return (s->trial.ask && s->trial.outcome != OUTCOME_OPEN) ||
           err_set(e, "session %" PRId64 " has no result of ask %" PRId64, id, at.ask);
}

// --- for people ---

static const char *config_text(struct shown_trial *s, const struct trial_record *t)
{
    struct str text = {0};
    text_config(t->config, &text);
    return common_keep(s->arena, &text);
}

// Adds the final speed, and where that is of a race, the one measured in the search too.
static void add_speeds(struct shown_trial *s, const char *lead, struct str *out)
{
    const struct trial_record *t = &s->trial;
    const struct retime_record *race = &s->race;
    char speed[SPEED_TEXT_SIZE];
    if (!(t->seconds > 0))
        return;
    if (race->ask && race->verified)
        str_printf(out, "  %s  (final race)\n%smeasured in the search:",
                   speed_and_time(s->session, race->seconds, speed), lead);
    str_printf(out, "  %s%s", speed_and_time(s->session, t->seconds, speed),
               t->early_stopped ? "  (stopped early)" : "");
    struct str roofline = {0};
    speed_add_peak(s->session, race->ask && race->verified ? race->seconds : t->seconds, &roofline);
    if (roofline.length)
        str_printf(out, "\n%s%s", lead, str_text(&roofline));
    str_finish(&roofline);
    if (race->ask && !race->verified)
        str_printf(out, "\n%swrong in the final race: it has no rank", lead);
}

// Adds the outcome and all other facts, each line behind `lead`.
static void add_facts(struct shown_trial *s, const char *lead, struct str *out)
{
    const struct trial_record *t = &s->trial;
    str_printf(out, "%ssession %" PRId64 "  ", lead, s->session->id);
    if (t->number)
        str_printf(out, "trial %" PRId64 "  ", t->number);
    str_printf(out, "ask %" PRId64 "  generation %d  %s", t->ask, t->generation,
               outcome_name(t->outcome));
    add_speeds(s, lead, out);
    str_printf(out, "\n%s%s\n", lead, config_text(s, t));
    if (t->reason && *t->reason)
        str_printf(out, "%s%s: %s\n", lead,
                   t->phase && *t->phase ? t->phase : outcome_name(t->outcome),
                   shown_text(s->arena, t->reason));
    struct statistics statistics; // of the driver's compiler
    struct str text = {0};
    text_parse_statistics(t->statistics, &statistics);
    text_add_statistics(&statistics, &text);
    if (text.length)
        str_printf(out, "%sdriver: %s\n", lead, shown_text(s->arena, str_text(&text)));
    const char *build = t->build ? t->build : s->session->build;
    if (build)
        str_printf(out, "%sbuild: tilewalk %s\n", lead, shown_text(s->arena, build));
    text.length = 0;
    text_add_clocks(t->clocks, t->drift, &text); // while it was timed
    if (text.length)
        str_printf(out, "%sclocks: %s\n", lead, str_text(&text));
    str_finish(&text);
    for (int i = 0; s->changed && s->changed[i]; i++)
        str_printf(out, "%s%s has changed since: this is as the session stored it\n", lead,
                   shown_text(s->arena, s->changed[i]));
}

static bool add_diff(struct shown_trial *s, struct script *script, enum kernel_language language,
                     const struct kernel_text *k, struct str *out, struct err *e)
{
    struct trial_record best;
    struct kernel_text other;
    const struct session_record *r = s->session;
    if (!store_get_trial(s->store, r->id, r->best_ask, s->arena, &best, e))
        return false;
    if (!best.ask)
        return err_set(e, "session %" PRId64 " has no best trial to compare with", r->id);
    if (!kernel_text_make(script, best.key, language, &other, e))
        return err_prefix(e, "the best trial, %" PRId64, best.number);
    struct str before = {0}, after = {0};
    kernel_text_add(&other, &before);
    kernel_text_add(k, &after);
    struct diff d = diff_lines(str_text(&before), str_text(&after));
    str_printf(out, "--- the best, trial %" PRId64 "  %s\n+++ this one\n", best.number,
               config_text(s, &best));
    diff_add_text(&d, CONTEXT, out);
    diff_finish(&d);
    str_finish(&before);
    str_finish(&after);
    kernel_text_finish(&other);
    return true;
}

// --- for programs (docs/reference/json.md) ---

static void trial_add_json(struct shown_trial *s, const struct kernel_text *k, struct str *out)
{
    struct json_writer w = json_begin(out);
    json_begin_object(&w, "trial");
    json_trial(&w, s->session, &s->trial, s->race.ask ? &s->race : NULL);
    json_end(&w);
    if (k) {
        json_add_text(&w, "language", k->assembly[0] ? "spirv" : "glsl");
        json_add_texts(&w, "changed", s->changed);
        json_begin_list(&w, "passes");
        for (int i = 0; i < k->job.pass_count; i++) {
            const struct pass *p = &k->job.pass[i];
            json_begin_object(&w, NULL);
            json_add_axes(&w, "groups", p->groups);
            if (p->subgroup)
                json_add_count(&w, "subgroup_size", p->subgroup);
            json_add_text(&w, "text", kernel_text_of(k, i));
            json_add_text(&w, "template", p->template_name ? p->template_name : "");
            json_begin_list(&w, "template_lines");
            for (int line = 0; !k->assembly[i] && line < p->line_count; line++)
                json_add_int(&w, NULL, p->line_map[line]);
            json_end(&w);
            json_end(&w);
        }
    }
    json_end_all(&w);
    str_add_char(out, '\n');
}

// --- the kernel ---

#define BETWEEN "\x1f" // parts of a line for the workbench (ui/view_kernel.h)

static bool add_kernel(struct shown_trial *s, struct script *script, struct str *out, struct err *e)
{
    enum kernel_language language = arguments_flag(s->a, "spirv") ? KERNEL_SPIRV : KERNEL_GLSL;
    struct kernel_text k;
    if (!kernel_text_make(script, s->trial.key, language, &k, e))
        return err_prefix(e, "ask %" PRId64, s->trial.ask);
    bool ok = true;
    if (arguments_flag(s->a, "json")) {
        trial_add_json(s, &k, out);
    } else if (arguments_flag(s->a, "lined")) {
        add_facts(s, "fact" BETWEEN, out);
        for (int i = 0; i < k.job.pass_count; i++) {
            const struct pass *p = &k.job.pass[i];
            str_printf(out, "file" BETWEEN "%s\n0" BETWEEN,
                       p->template_name ? p->template_name : "");
            kernel_text_add_head(&k, i, out);
            const char *at = kernel_text_of(&k, i);
            for (int line = 0; *at; line++) {
                size_t length = strcspn(at, "\n");
                bool known = !k.assembly[i] && line < p->line_count;
                str_printf(out, "%d" BETWEEN, known ? p->line_map[line] : 0);
                str_add_bytes(out, at, length);
                str_add(out, "\n");
                at += length + (at[length] == '\n');
            }
        }
    } else {
        add_facts(s, language == KERNEL_SPIRV ? "; " : "// ", out);
        if (arguments_flag(s->a, "diff"))
            ok = add_diff(s, script, language, &k, out, e);
        else
            kernel_text_add(&k, out);
    }
    kernel_text_finish(&k);
    return ok;
}

static bool add_stored_kernel(struct shown_trial *s, struct str *out, struct err *e)
{
    const struct session_record *r = s->session;
    if (recorded_is(r->source))
        return err_set(e, "session %" PRId64 " ran on a recording: there is no kernel", r->id);
    if (!kernel_text_changed(s->store, r->id, s->arena, &s->changed, e))
        return false;
    confine_stored(s->a); // from here on foreign code is run
    struct script *script = stored_script(s->store, r, s->arena, e);
    bool ok = script && add_kernel(s, script, out, e);
    script_destroy(script);
    return ok;
}

// Prints the trial. Confines the process, as the stored space file and template are run.
static bool show_trial(struct view *v, int64_t number, int64_t ask, struct err *e)
{
    const struct arguments *a = v->a;
    struct shown_trial s = {.a = a,
                            .store = v->store,
                            .session = v->session,
                            .arena = &v->arena,
                            .trial = {.number = number, .ask = ask}};
    struct str out = {0};
    bool ok = find_trial(&s, e);
    if (ok && (arguments_flag(a, "glsl") || arguments_flag(a, "spirv")))
        ok = add_stored_kernel(&s, &out, e);
    else if (ok && arguments_flag(a, "json"))
        trial_add_json(&s, NULL, &out);
    else if (ok)
        add_facts(&s, "", &out);
    if (ok)
        common_print(&out);
    return ok;
}

// --- time and energy ---

// The trials of a session that no other one beats in both time and energy, fastest first. Joules
// are those of tune --objective, or what a program prints (trial/benchmark.h).
struct front {
    const struct session_record *session;
    struct pareto_point *point;
    int count, capacity;
};

static bool take_trial(void *context, const struct trial_record *t)
{
    struct front *r = context;
    struct pareto_point p = {.ask = t->ask};
    if (speed_energy(r->session, t->clocks, t->seconds, &p.seconds, &p.joules)) {
        MEM_GROW(r->point, r->count, r->capacity);
        r->point[r->count++] = p;
    }
    return true;
}

static bool add_point(struct view *v, const struct pareto_point *p, struct json_writer *w,
                      struct err *e)
{
    struct trial_record t;
    char time[32], energy[32], product[32];
    struct str config = {0};
    if (!store_get_trial(v->store, v->session->id, p->ask, &v->arena, &t, e))
        return false;
    if (v->format == LIST_JSON) {
        json_begin_object(w, NULL);
        json_add_int(w, "trial", t.number);
        json_add_real(w, "ms", p->seconds * 1e3);
        json_add_real(w, "joules", p->joules);
        json_add_raw(w, "config", t.config);
        json_end(w);
        return true;
    }
    printf("%6" PRId64 "  %9s  %9s  %11s  %s\n", t.number, text_time(p->seconds, time),
           text_cost(p->joules, "J", energy), text_cost(p->seconds * p->joules, "J s", product),
           text_config(t.config, &config));
    str_finish(&config);
    return true;
}

static bool show_front(struct view *v, struct err *e)
{
    const struct session_record *r = v->session;
    bool json = v->format == LIST_JSON;
    struct front all = {.session = r};
    struct str out = {0};
    struct json_writer w = {.out = &out};
    bool ok = store_each_numbered(v->store, r->id, 1, take_trial, &all, e);
    if (ok && !all.count)
        ok = err_set(e,
                     "session %" PRId64 " has no joules: they are measured with tune --objective, "
                     "where the device tells its power",
                     r->id);
    int measured = all.count;
    all.count = pareto_front(all.point, all.count);
    if (json) {
        w = json_begin(&out);
        json_add_int(&w, "session", r->id);
        json_add_int(&w, "measured", measured);
        json_begin_list(&w, "pareto");
    } else if (ok) {
        printf(" trial       time     energy      product  configuration\n");
    }
    for (int i = 0; ok && i < all.count; i++)
        ok = add_point(v, &all.point[i], &w, e);
    if (ok && json)
        json_print(&w);
    else if (ok)
        printf("\n%d of %d trials: none is better in both time and energy\n", all.count, measured);
    str_finish(&out);
    free(all.point);
    return ok;
}

// --- the command ---

static int run_show(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct session_record record;
    int64_t id, number, ask;
    struct view v = {.a = a, .session = &record};
    const char *order = arguments_text(a, "sort");
    bool json = arguments_flag(a, "json"), csv = arguments_flag(a, "csv");
    bool right = read_trial(a, &number, &ask, &e), one_trial = right && (number || ask);
    (void)self;
    v.format = json ? LIST_JSON : csv ? LIST_CSV : LIST_TEXT;
    v.order = arguments_integer(a, "top", 0) ? ORDER_SPEED : ORDER_ASK; // --top: the fastest
    right = right && common_session_id(a->operand[0], &id, &e);
    if (right && json && csv)
        right = err_usage(&e, "--json and --csv print the same in two forms (choose one)");
    if (right && csv && arguments_flag(a, "pareto"))
        right = err_usage(&e, "--pareto prints a table or JSON, not CSV");
    if (right && one_trial && arguments_flag(a, "pareto"))
        right = err_usage(&e, "--pareto lists trials, --trial shows one (choose one)");
    if (order)
        v.order = *order == 'n' ? ORDER_NUMBER : *order == 's' ? ORDER_SPEED : ORDER_ELAPSED;
    if (!right)
        return fail_with(&e, EXIT_USAGE);
    v.store = common_open_session(a, id, &e);
    if (!v.store)
        return fail_with(&e, EXIT_FAILED);
    arena_init(&v.arena);
    trial_list_init(&v.trials, &record, v.format, v.order);
    bool ok = store_get_session(v.store, id, &v.arena, &record, &e);
    if (ok) {
        common_take_ran(v.store, &record);
        ok = (!one_trial && !lists_trials(&v)) || stored_has_kernels(v.store, &record, &e);
    }
    if (ok)
        ok = one_trial                     ? show_trial(&v, number, ask, &e)
             : arguments_flag(a, "pareto") ? show_front(&v, &e)
                                           : show_session(&v, &e);
    trial_list_finish(&v.trials);
    free(v.refits.refit);
    arena_finish(&v.arena);
    store_close(v.store);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"trials", OPTION_FLAG, NULL, "list the trials in the order in which they were proposed"},
    {"show-rejected", OPTION_FLAG, NULL, "list rejected configurations too"},
    {"sort", OPTION_WORD, "number|speed|elapsed",
     "list the trials in this order: by number, fastest first, by running time"},
    {"top", OPTION_INTEGER, "N",
     "print only the first N trials (the fastest, without --sort), and nothing else", 1, 9e18},
    {"options", OPTION_FLAG, NULL,
     "print all options of the strategy, also those with default values"},
    {"refits", OPTION_FLAG, NULL, "list the quality of the strategy's model at each fit"},
    {"csv", OPTION_FLAG, NULL, "print the list of trials as CSV only"},
    {"pareto", OPTION_FLAG, NULL,
     "print only the trials that no other one beats in both time and energy (tune --objective)"},
    {"trial", OPTION_REPEATED, "N|ask:N",
     "show one trial; rejected configurations have no number, but an ask"},
    {"ask", OPTION_TEXT, .hidden = true, .now = "trial=ask:*"},
    {"glsl", OPTION_FLAG, NULL, "print the trial's kernel as GLSL, rendered once more"},
    {"spirv", OPTION_FLAG, NULL,
     "print the trial's kernel as SPIR-V, compiled once more and disassembled"},
    {"diff", OPTION_FLAG, NULL, "print only the differences from the kernel of the best trial"},
    {"lined", OPTION_FLAG, NULL, "print the kernel in the form that the workbench reads", 0, 0,
     true},
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_JSON,
    OPTION_DB,
    OPTION_END,
};

const struct command cmd_show = {
    .name = "show",
    .operands = "ID",
    .help = "show a session and its trials",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_show,
};
