// check: what a space file declares, how large it is, and what a device leaves of it; or the tasks
// of a network.

#include "base/json.h"
#include "cli/check_compile.h"
#include "cli/check_network.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "define/program.h"
#include "engine/attempt.h"
#include "engine/devices.h"
#include "script/script.h"
#include "space/survey.h"
#include "trial/errand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// check --sketches: the shapes that programs of a definition can have.

static void check_sketches_print_json(const struct program *p)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_begin_list(&w, "sketches");
    for (int i = 0; i < p->sketches.count; i++) {
        const struct sketch *s = &p->sketches.sketch[i];
        struct str text = {0};
        program_outline(p, i, &text);
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", p->sketch_name[i]);
        json_begin_list(&w, "rules");
        for (int r = 0; r < s->rules; r++)
            json_add_text(&w, NULL, sketch_rule_name(s->rule[r]));
        json_end(&w);
        json_add_text(&w, "text", str_text(&text));
        json_end(&w);
        str_finish(&text);
    }
    json_end(&w);
    json_print(&w);
}

static void check_sketches_print_text(const struct program *p)
{
    for (int i = 0; i < p->sketches.count; i++) {
        const struct sketch *s = &p->sketches.sketch[i];
        struct str text = {0};
        program_outline(p, i, &text);
        printf("%ssketch %d of %d: %s\nrules: ", i ? "\n" : "", i + 1, p->sketches.count,
               p->sketch_name[i]);
        for (int r = 0; r < s->rules; r++)
            printf("%s%s", r ? ", " : "", sketch_rule_name(s->rule[r]));
        printf("\n\n%s", str_text(&text));
        str_finish(&text);
    }
}

// Prints them and gives the exit status; a space file whose kernels are templates has none, which
// is an error.
static int check_sketches(const struct script *s, const char *file, bool json)
{
    const struct program *p = script_program(s);
    struct err e;
    if (!p) {
        err_usage(&e,
                  "%s: its kernels are templates, which have no sketches (what compute(...) "
                  "defines has)",
                  file);
        return fail_with(&e, EXIT_USAGE);
    }
    (json ? check_sketches_print_json : check_sketches_print_text)(p);
    return EXIT_OK;
}

#define PREPROCESS_SECONDS 30.0

struct check {
    struct script *script;
    const struct space *space;
    struct gpu_info *list;
    const struct gpu_info *device; // NULL: no device
    struct survey survey;
    enum attempt attempt; // what became of one candidate
    struct arena storage;
};

// Without --device the best one is used when there is one, or the only one, that perhaps runs
// nothing; naming one that is not there is an error.
static bool find_device(struct check *c, const char *wanted, struct err *e)
{
    int count, index;
    struct err ignored;
    if (str_equal(wanted, "none"))
        return true;
    if (!devices_find(&c->list, &count, wanted ? e : &ignored))
        return wanted == NULL;
    if (!wanted && !count)
        return true;
    if (!gpu_choose(c->list, count, wanted, &index, wanted ? e : &ignored)) {
        if (wanted)
            return false;
        if (count > 1)
            return true;
        index = 0;
    }
    c->device = &c->list[index];
    return true;
}

static bool load(struct check *c, const struct arguments *a, struct err *e)
{
    struct script_options o = {0};
    o.set = common_settings(a, &c->storage, &o.set_count);
    if (!find_device(c, arguments_text(a, "device"), e))
        return false;
    char *path = script_find(a->operand[0], e);
    if (!path)
        return false;
    o.path = path;
    o.device_type = c->device ? c->device->type : "none";
    o.limits = c->device ? &c->device->limits : NULL;
    c->script = script_create(&o, e);
    free(path);
    if (!c->script)
        return false;
    c->space = script_space(c->script);
    return true;
}

// What is left of the space, and that a candidate compiles.
static bool look(struct check *c, const struct arguments *a, struct err *e)
{
    const struct limits *limits = c->device ? &c->device->limits : NULL;
    struct survey_plan plan = survey_usual;
    plan.samples = (uint64_t)arguments_integer(a, "samples", SURVEY_SAMPLES);
    if (!survey_take(c->space, limits, &plan, &c->survey, e))
        return false;
    c->attempt = c->survey.valid ? attempt_candidate(c->script, limits, 1, &c->survey.example,
                                                     ATTEMPT_SECONDS, e)
                                 : ATTEMPT_NO_LEGAL;
    return c->attempt != ATTEMPT_FAILED;
}

static double share(const struct check *c, uint64_t n)
{
    return c->survey.points ? (double)n / (double)c->survey.points : 0;
}

// --- JSON ---

static void add_share(struct json_writer *w, const char *name, double removes)
{
    json_begin_object(w, NULL);
    json_add_text(w, "name", name);
    json_add_real(w, "removes", removes);
    json_end(w);
}

// The GLSL of every pass of the example; null when there is no example.
static void add_glsl(const struct job *job, struct json_writer *w)
{
    if (job->pass_count == 0) {
        json_add_null(w, "glsl");
        return;
    }
    json_begin_list(w, "glsl");
    for (int i = 0; i < job->pass_count; i++)
        json_add_text(w, NULL, job->pass[i].glsl);
    json_end(w);
}

static void add_example(const struct check *c, struct json_writer *w)
{
    json_add_name(w, "example");
    if (c->survey.valid)
        config_add_json(c->space, &c->survey.example, w->out);
    else
        str_add(w->out, "null");
}

// Why it does not run here, in `v` where a rule says so; NULL: it may.
static const char *why_not(const struct check *c, const struct baseline *b, struct verdict *v,
                           struct err *e)
{
    if (b->misfit)
        return b->misfit;
    if (!space_judge(c->space, c->device ? &c->device->limits : NULL, &b->config, v, e))
        return e->text;
    return v->legal ? NULL : v->reason;
}

static void add_baselines(const struct check *c, struct json_writer *w)
{
    struct verdict v;
    struct err e;
    if (!c->space->baseline_count)
        return;
    json_begin_list(w, "baselines");
    for (int i = 0; i < c->space->baseline_count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", c->space->baseline[i].name);
        json_add_text(w, "reason", why_not(c, &c->space->baseline[i], &v, &e));
        json_end(w);
    }
    json_end(w);
}

// `job` is the example's, NULL when its GLSL was not asked for.
static void print_json(const struct check *c, const struct job *job)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    const struct operation *o = script_operation(c->script);
    json_add_text(&w, "operator", o->kind->name);
    json_add_name(&w, "problem");
    operation_add_json(o, &out);
    json_add_text(&w, "space", c->space->name);
    json_add_text(&w, "size", c->space->size_text);
    json_add_text(&w, "device", c->device ? c->device->name : NULL);
    json_begin_list(&w, "parameters");
    for (int i = 0; i < c->space->param_count; i++) {
        const struct param *p = &c->space->param[i];
        int low, high;
        char *size = param_size_text(p);
        param_degree_range(p, &low, &high);
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", p->name);
        json_add_text(&w, "kind", param_kind_name(p->kind));
        json_add_text(&w, "size", size);
        json_add_reals(&w, "degree", 2, (double[]){low, high});
        json_end(&w);
        free(size);
    }
    json_end(&w);
    json_begin_list(&w, "constraints");
    for (int i = 0; i < c->space->constraint_count; i++)
        add_share(&w, c->space->constraint[i].name, share(c, c->survey.by_constraint[i]));
    json_end(&w);
    json_begin_list(&w, "limits");
    for (int l = LIMIT_NONE + 1; l < LIMIT_COUNT && c->device; l++)
        add_share(&w, limit_name((enum limit)l), share(c, c->survey.by_limit[l]));
    json_end(&w);
    json_add_real(&w, "valid_fraction", share(c, c->survey.valid));
    json_add_count(&w, "samples", c->survey.points);
    json_add_flag(&w, "exact", c->survey.exact);
    add_example(c, &w);
    add_baselines(c, &w);
    json_add_text(&w, "template", c->attempt == ATTEMPT_COMPILED ? "ok" : "none");
    if (job)
        add_glsl(job, &w);
    json_print(&w);
}

// --- text ---

static void print_share(const char *name, double removes)
{
    printf("  %-44s %6.2f %%\n", name, 100 * removes);
}

static void print_baselines(const struct check *c)
{
    struct verdict v;
    struct err e;
    struct str text = {0};
    for (int i = 0; i < c->space->baseline_count; i++) {
        const char *why = why_not(c, &c->space->baseline[i], &v, &e);
        str_printf(&text, "%sbaseline '%s': ", i ? "" : "\n", c->space->baseline[i].name);
        shown_add(&text, why ? why : "may run here");
        str_add_char(&text, '\n');
    }
    fputs(str_text(&text), stdout);
    str_finish(&text);
}

static void print_text(const struct check *c)
{
    struct str text = {0};
    shown_add(&text, c->space->name);
    str_add(&text, ": ");
    operation_add_text(script_operation(c->script), &text);
    printf("%s on %s\n", str_text(&text),
           c->device ? c->device->name : "no device (limits are not judged)");
    printf("%s points\n", c->space->size_text);
    printf("\n  %-14s %-14s %20s  %s\n", "parameter", "kind", "size", "neighbours");
    for (int i = 0; i < c->space->param_count; i++) {
        const struct param *p = &c->space->param[i];
        int low, high;
        char *size = param_size_text(p);
        param_degree_range(p, &low, &high);
        printf("  %-14s %-14s %20s  %d to %d\n", p->name, param_kind_name(p->kind), size, low,
               high);
        free(size);
    }
    printf("\n  %-44s %8s\n", "rule", "removes alone");
    for (int i = 0; i < c->space->constraint_count; i++)
        print_share(c->space->constraint[i].name, share(c, c->survey.by_constraint[i]));
    for (int l = LIMIT_NONE + 1; l < LIMIT_COUNT && c->device; l++)
        if (c->survey.by_limit[l])
            print_share(limit_name((enum limit)l), share(c, c->survey.by_limit[l]));
    printf("  %-44s %6.2f %%  (%s %" PRIu64 " %s)\n",
           c->device ? "valid" : "valid by the rules alone (no device)",
           100 * share(c, c->survey.valid), c->survey.exact ? "exact, all" : "estimated from",
           c->survey.points, c->survey.exact ? "points" : "random points");
    print_baselines(c);
    str_finish(&text);
    if (!c->survey.valid)
        return;
    config_add_json(c->space, &c->survey.example, &text);
    printf("\nexample: %s\ntemplate: ok (renders and compiles)\n", str_text(&text));
    str_finish(&text);
}

static bool has_batch(const struct script *script)
{
    const struct script_setting *batch = script_find_setting(script, "batch");
    return batch && batch->is_whole && !str_equal(batch->value, "1");
}

// One line for a space in which nothing is possible, with what removes how much.
static int nothing_possible(const struct check *c, const char *file)
{
    struct err e;
    struct str why = {0};
    for (int i = 0; i < c->space->constraint_count; i++)
        if (c->survey.by_constraint[i])
            str_printf(&why, "%s'%s' %.3g %%", why.length ? ", " : "", c->space->constraint[i].name,
                       100 * share(c, c->survey.by_constraint[i]));
    for (int l = LIMIT_NONE + 1; l < LIMIT_COUNT; l++)
        if (c->survey.by_limit[l])
            str_printf(&why, "%s%s %.3g %%", why.length ? ", " : "", limit_name((enum limit)l),
                       100 * share(c, c->survey.by_limit[l]));
    if (c->survey.by_limit[LIMIT_BUFFER] && has_batch(c->script))
        str_add(&why, "; tune reduces the batch to what fits, --set batch=1 shows such a space");
    char drawn[64] = "";
    if (!c->survey.exact)
        snprintf(drawn, sizeof drawn, "; %" PRIu64 " were drawn", c->survey.points);
    err_set(&e, "%s: no configuration %s on %s (removed: %s%s)", file,
            c->survey.exact ? "is possible" : "was found possible",
            c->device ? c->device->name : "any device", str_text(&why), drawn);
    str_finish(&why);
    return fail_with(&e, EXIT_NOTHING_VALID);
}

// Shaders of others are macros for the most part: they are shown as the preprocessor leaves them.
// Texts without any are shown as they are written, with their comments.
static bool has_macros(const struct job *job)
{
    static const char *const words[] = {"#define", "#if", "#line"};
    for (int i = 0; i < job->pass_count; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (strstr(job->pass[i].glsl, words[k]))
                return true;
    return false;
}

static bool render_example(const struct check *c, struct job *job, struct err *e)
{
    char *text[JOB_MAX_PASSES];
    if (!script_render(c->script, &c->survey.example, job, e))
        return false;
    if (!has_macros(job))
        return true;
    if (!errand_preprocess(job, PREPROCESS_SECONDS, text, e))
        return false;
    for (int i = 0; i < job->pass_count; i++) {
        free(job->pass[i].glsl);
        job->pass[i].glsl = text[i];
    }
    return true;
}

static int report(const struct check *c, const struct arguments *a)
{
    struct err e;
    struct job job = {0};
    bool glsl = arguments_flag(a, "glsl");
    if (glsl && c->survey.valid && !render_example(c, &job, &e))
        return fail_with(&e, EXIT_FAILED);
    if (arguments_flag(a, "json"))
        print_json(c, glsl ? &job : NULL);
    else if (glsl) {
        for (int i = 0; i < job.pass_count; i++) {
            struct str given = {0};
            printf("%s// pass %d: groups %u %u %u", i ? "\n" : "", i + 1, job.pass[i].groups[0],
                   job.pass[i].groups[1], job.pass[i].groups[2]);
            if (job.pass[i].subgroup)
                printf(", subgroups of %u", job.pass[i].subgroup);
            if (job.pass[i].once)
                printf(", runs once, before the others are timed");
            pass_add_given(&job.pass[i], &given);
            printf("%s%s\n%s", given.length ? "\n// " : "", str_text(&given), job.pass[i].glsl);
            str_finish(&given);
        }
    } else
        print_text(c);
    job_finish(&job);
    return c->survey.valid ? EXIT_OK : nothing_possible(c, a->operand[0]);
}

static int look_and_report(struct check *c, const struct arguments *a)
{
    struct err e;
    return look(c, a, &e) ? report(c, a) : fail_with(&e, EXIT_FAILED);
}

// A space in which nothing is possible is told of as without --compile.
static int compile(struct check *c, const struct arguments *a)
{
    struct err e;
    if (!c->device) {
        err_usage(&e, "--compile needs a device: name one with --device (tilewalk devices lists "
                      "them)");
        return fail_with(&e, EXIT_USAGE);
    }
    int code = check_compile(c->script, c->device, a);
    if (code != EXIT_NOTHING_VALID)
        return code;
    return look(c, a, &e) ? nothing_possible(c, a->operand[0]) : fail_with(&e, EXIT_FAILED);
}

static int check_tasks(struct check *c, const struct arguments *a)
{
    struct err e;
    return find_device(c, arguments_text(a, "device"), &e) ? check_network(a, c->device)
                                                           : fail_with(&e, EXIT_FAILED);
}

static int run_check(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct check c = {0};
    struct sandbox s;
    (void)self;
    confine_begin(&s);
    confine_read_space(&s, a->operand[0]);
    confine_read_settings(&s, a);
    confine_enter(&s);
    arena_init(&c.storage);
    int code = network_is(a->operand[0]) ? check_tasks(&c, a)
               : !load(&c, a, &e)        ? fail_with(&e, EXIT_FAILED)
               : arguments_flag(a, "sketches")
                   ? check_sketches(c.script, a->operand[0], arguments_flag(a, "json"))
               : arguments_integer(a, "compile", 0) > 0 ? compile(&c, a)
                                                        : look_and_report(&c, a);
    survey_finish(&c.survey);
    script_destroy(c.script);
    free(c.list);
    arena_finish(&c.storage);
    return code;
}

static const struct option options[] = {
    OPTION_SET,
    {"device", OPTION_TEXT, "DEVICE|none",
     "whose limits are judged (default: the best device there is)"},
    {"samples", OPTION_INTEGER, "N",
     "random points to judge in a space too large to count (default: 4000)", 1, 1e9},
    {"glsl", OPTION_FLAG, NULL, "print the GLSL of one valid configuration"},
    {"sketches", OPTION_FLAG, NULL, "print the shapes that programs of what it computes can have"},
    {"compile", OPTION_INTEGER, "N",
     "compile N random valid configurations with the device's driver, run nothing, and print what "
     "it "
     "refuses, how long it takes, and what it says of them (registers, spills, ...)",
     1, 1e6},
    {"seed", OPTION_INTEGER, "S", "seed of those configurations (default: 1)", 0, 1L << 53},
    {"validate", OPTION_FLAG, NULL, "compile them with the Khronos validation layer"},
    {"fault", OPTION_TEXT, "KIND@PHASE:N", "inject a fault", 0, 0, true},
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_check = {
    .name = "check",
    .operands = "PRESET|NETWORK|FILE",
    .help = "check a space file: parameters, exact size, what rules and a device remove, and that "
            "a candidate compiles; or a network: its tasks, uses and FLOP",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_check,
};
