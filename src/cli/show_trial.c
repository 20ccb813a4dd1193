#include "cli/show_trial.h"

#include "cli/confine.h"
#include "engine/stored.h"
#include "export/kernel_text.h"
#include "report/diff.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CONTEXT = 3 }; // lines around a difference

struct shown_trial {
    const struct arguments *a;
    struct store *store;
    const struct session_record *session;
    struct arena *arena;
    struct trial_record trial;
    struct retime_record race;  // its final race; ask 0: none
    const char *const *changed; // files since then
};

bool show_trial_wanted(const struct arguments *a, bool *ok, struct err *e)
{
    bool number = arguments_integer(a, "trial", 0) > 0, ask = arguments_integer(a, "ask", 0) > 0;
    bool glsl = arguments_flag(a, "glsl"), spirv = arguments_flag(a, "spirv");
    bool diff = arguments_flag(a, "diff");
    *ok = true;
    if (!number && !ask && (glsl || spirv || diff))
        *ok = err_usage(e, "--glsl, --spirv and --diff show the kernel of a trial: name it with "
                           "--trial N or --ask N");
    else if ((number && ask) || (glsl && spirv))
        *ok = err_usage(e, "%s exclude each other (choose one)",
                        number && ask ? "--trial and --ask" : "--glsl and --spirv");
    else if (diff && !glsl && !spirv)
        *ok = err_usage(e, "--diff compares --glsl or --spirv (choose one)");
    else if (diff && arguments_flag(a, "json"))
        *ok = err_usage(e, "--diff is for people; --json has the texts");
    return number || ask;
}

// --- reading ---

static bool find_numbered(void *context, const struct trial_record *t)
{
    *(struct trial_record *)context = (struct trial_record){.ask = t->ask, .number = t->number};
    return false;
}

static bool find_trial(struct shown_trial *s, struct err *e)
{
    int64_t number = arguments_integer(s->a, "trial", 0), id = s->session->id;
    struct trial_record at = {.ask = arguments_integer(s->a, "ask", 0), .number = number};
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
    char speed[32], time[32];
    if (!(t->seconds > 0))
        return;
    if (race->ask && race->verified)
        str_printf(out, "  %s  %s  (final race)\n%smeasured in the search:",
                   speed_text(s->session, race->seconds, speed), text_time(race->seconds, time),
                   lead);
    str_printf(out, "  %s  %s%s", speed_text(s->session, t->seconds, speed),
               text_time(t->seconds, time), t->early_stopped ? "  (stopped early)" : "");
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

// --- for programs (docs/json.md) ---

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

bool show_trial(const struct arguments *a, struct store *store, const struct session_record *r,
                struct arena *arena, struct err *e)
{
    struct shown_trial s = {.a = a, .store = store, .session = r, .arena = arena};
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
