// check: parameters and size of a space file, and the fractions that its constraints and a device's
// limits remove; or the tasks of a network.
#include "cli/check.h"

#include "base/json.h"
#include "base/number.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "define/program.h"
#include "engine/attempt.h"
#include "script/script.h"
#include "space/legal.h"
#include "space/survey.h"
#include "trial/helper_job.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- check --sketches: the loop structures of the programs of a definition ---

static void print_sketches_json(const struct program *p)
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

static void print_sketches(const struct program *p)
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

// --- check --compile: random valid configurations, compiled by a driver ---

#define MS 1e3

void json_sample(struct json_writer *w, const struct sample *s)
{
    json_add_int(w, "asked", s->asked);
    json_add_int(w, "compiled", s->compiled);
    json_begin_list(w, "refused");
    for (int i = 0; i < s->refusals; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "reason", s->refusal[i].reason);
        json_add_int(w, "count", s->refusal[i].count);
        json_end(w);
    }
    json_end(w);
    json_add_real(w, "spilled", s->told ? (double)s->spilled : NAN);
    json_add_real(w, "left_out", s->told ? (double)s->left_out : NAN);
    json_begin_object(w, "pipeline_ms");
    json_add_real(w, "median", MS * sample_quantile(&s->build, 0.5));
    json_add_real(w, "p90", MS * sample_quantile(&s->build, 0.9));
    json_add_real(w, "max", MS * sample_quantile(&s->build, 1));
    json_end(w);
    json_begin_list(w, "statistics");
    for (int i = 0; i < s->statistics; i++) {
        const struct sample_column *c = &s->statistic[i];
        json_begin_object(w, NULL);
        json_add_text(w, "name", c->name);
        json_add_real(w, "median", sample_quantile(c, 0.5));
        json_add_real(w, "max", sample_quantile(c, 1));
        json_end(w);
    }
    json_end(w);
}

void sample_add_text(const struct sample *s, const struct gpu_info *d, struct str *out)
{
    struct arena words; // escaped texts of the driver and the compiler
    arena_init(&words);
    str_printf(
        out, "%" PRId64 " random valid configurations, %" PRId64 " compiled, %" PRId64 " refused\n",
        s->asked, s->compiled, s->asked - s->compiled);
    for (int i = 0; i < s->refusals; i++)
        str_printf(out, "  %6" PRId64 "  %s\n", s->refusal[i].count,
                   shown_text(&words, s->refusal[i].reason));
    if (s->told)
        str_printf(out,
                   "%" PRId64 " of %" PRId64 " spill (%.3g %%), %" PRId64 " have more than %" PRIu32
                   " spills: tune leaves these out\n",
                   s->spilled, s->told, 100 * (double)s->spilled / (double)s->told, s->left_out,
                   d->limits.spills);
    if (s->compiled)
        str_printf(out,
                   "the driver's compiler took %.3g ms (median), %.3g ms (90 %%), %.3g ms (most)\n",
                   MS * sample_quantile(&s->build, 0.5), MS * sample_quantile(&s->build, 0.9),
                   MS * sample_quantile(&s->build, 1));
    if (s->statistics)
        str_printf(out, "\n  %-44s %12s %12s\n", "statistic", "median", "most");
    for (int i = 0; i < s->statistics; i++)
        str_printf(out, "  %-44s %12.6g %12.6g\n", shown_text(&words, s->statistic[i].name),
                   sample_quantile(&s->statistic[i], 0.5), sample_quantile(&s->statistic[i], 1));
    arena_finish(&words);
}

static int check_compile(struct script *script, const struct gpu_info *device,
                         const struct arguments *a)
{
    struct err e;
    struct sample s;
    int code = EXIT_OK;
    const struct sample_options o = {.script = script,
                                     .device = device,
                                     .count = arguments_integer(a, "compile", 0),
                                     .seed = (uint64_t)arguments_integer(a, "seed", 1),
                                     .validate = arguments_flag(a, "validate"),
                                     .verbose = arguments_flag(a, "verbose"),
                                     .fault = arguments_text(a, "fault")};
    if (!sample_take(&o, &s, &e))
        code = fail_with(&e, EXIT_FAILED);
    else if (!s.asked)
        code = EXIT_NOTHING_VALID;
    else if (arguments_flag(a, "json")) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_add_text(&w, "device", device->name);
        json_add_text(&w, "driver", device->driver);
        json_sample(&w, &s);
        json_add_int(&w, "validation_messages", s.messages);
        json_print(&w);
    } else {
        struct str out = {0};
        struct arena words; // escaped texts of the driver
        arena_init(&words);
        sample_add_text(&s, device, &out);
        printf("on %s (%s)\n%s", shown_text(&words, device->name),
               shown_text(&words, device->driver), str_text(&out));
        arena_finish(&words);
        str_finish(&out);
    }
    if (code == EXIT_OK && s.compiled < s.asked)
        code = EXIT_FAILED;
    sample_finish(&s);
    return code;
}

// --- a space ---

#define PREPROCESS_SECONDS 30.0
// A space of which draws find legal points soon is counted exactly only where that takes less than
// a tenth of a second.
#define EASY_STEPS   (LEGAL_STEPS / 16)
#define SPARSE_PARTS 100

struct check {
    struct script *script;
    const struct space *space;
    struct device_choice chosen;
    const struct gpu_info *device; // NULL: no device
    struct survey survey;
    struct legal *legal;
    bool has_example;
    struct config example;
    double *removes;      // [constraints] share that each removes alone; then that of all limits
    enum attempt attempt; // of one candidate
    struct arena storage;
};

// Without --device the only device is chosen even where it cannot run kernels.
static bool choose_device(struct check *c, const struct arguments *a, struct err *e)
{
    bool ok = common_choose_device(a, &c->chosen, e);
    c->device = c->chosen.device;
    if (ok && !c->device && c->chosen.count == 1)
        c->device = &c->chosen.list[0];
    return ok;
}

static double share_of(const struct check *c, uint64_t n)
{
    return c->survey.points ? (double)n / (double)c->survey.points : 0;
}

// Counts what each constraint removes where draws do not tell, because it removes all of them.
static void measure_rules(struct check *c)
{
    c->removes = arena_zero(&c->storage, (size_t)c->space->constraint_count + 1, sizeof(double));
    for (int i = 0; i < c->space->constraint_count; i++)
        c->removes[i] = share_of(c, c->survey.by_constraint[i]);
    for (int i = 0; i < legal_rules(c->legal) && !c->survey.exact; i++) {
        int constraint = legal_rule_constraint(c->legal, i);
        bool all = constraint >= 0 && c->survey.by_constraint[constraint] == c->survey.points;
        double removes = all ? legal_removes(c->legal, i) : NAN;
        if (!isnan(removes))
            c->removes[constraint] = removes;
    }
}

// Surveys the space, counts its legal points and compiles a candidate.
static bool check_survey(struct check *c, const struct arguments *a, struct err *e)
{
    const struct limits *limits = c->device ? &c->device->limits : NULL;
    struct survey_plan plan = survey_usual;
    struct rng rng;
    plan.samples = (uint64_t)arguments_integer(a, "samples", SURVEY_SAMPLES);
    c->legal = legal_create(c->space, limits);
    if (!survey_take(c->space, limits, &plan, &c->survey, e))
        return false;
    bool is_easy = c->survey.valid * SPARSE_PARTS > c->survey.points;
    if (!legal_build_within(c->legal, is_easy ? EASY_STEPS : LEGAL_STEPS, e))
        return false;
    if (c->survey.valid && !legal_permits(c->legal, &c->survey.example))
        return err_set(e,
                       "%s: a rule gives two values for one configuration (it must depend on the "
                       "configuration alone)",
                       a->operand[0]);
    rng_seed(&rng, plan.seed);
    c->example = c->survey.example;
    c->has_example = c->survey.valid || legal_draw(c->legal, &rng, &c->example);
    measure_rules(c);
    c->attempt = c->has_example && !script_objective(c->script)
                     ? attempt_candidate(c->script, limits, 1, &c->example, ATTEMPT_SECONDS, e)
                     : ATTEMPT_NO_LEGAL;
    return c->attempt != ATTEMPT_FAILED;
}

// The number of legal points, decimal: exact, or an estimate within bounds.
struct legal_number {
    bool exact;
    char *least, *likely, *most; // heap
    double share;
};

// The bounds are those of 95 % confidence (Wilson 1927), and what was found for certain.
static struct legal_number count_legal(const struct check *c)
{
    struct legal_number n = {.exact = legal_is_built(c->legal)};
    struct str found = {0};
    double size = strtod(c->space->size_text, NULL), points = (double)c->survey.points;
    legal_add_count(c->legal, &found);
    if (n.exact || c->survey.exact) {
        n.likely = n.exact ? mem_strdup(str_text(&found)) : mem_printf("%" PRIu64, c->survey.valid);
        n.exact = true;
        n.least = mem_strdup(n.likely);
        n.most = mem_strdup(n.likely);
        n.share = strtod(n.likely, NULL) / size;
    } else {
        const double z = 1.96;
        double share = share_of(c, c->survey.valid), middle = share + z * z / (2 * points);
        double half = z * sqrt(share * (1 - share) / points + z * z / (4 * points * points));
        double scale = size / (1 + z * z / points), least = fmax(0, middle - half) * scale;
        double certain = strtod(str_text(&found), NULL);
        n.share = fmax(share, certain / size);
        n.likely = mem_printf("%.0f", n.share * size);
        n.least = certain > least ? mem_strdup(str_text(&found)) : mem_printf("%.0f", least);
        n.most = mem_printf("%.0f", fmin(fmax((middle + half) * scale, certain), size));
    }
    str_finish(&found);
    return n;
}

static void legal_number_finish(struct legal_number *n)
{
    free(n->least);
    free(n->likely);
    free(n->most);
}

// Appends the names of rules that exclude each other, as a list of JSON or a sentence. Returns how
// many there are: 0 where a point is legal, or it is not known that none is.
static int list_conflict(const struct check *c, struct json_writer *w, struct str *out)
{
    int count = legal_rules(c->legal), named = 0;
    bool *needed = mem_zero((size_t)count + 1, sizeof *needed);
    if (legal_is_empty(c->legal))
        legal_conflict(c->legal, needed);
    for (int i = 0; i < count; i++) {
        if (!needed[i])
            continue;
        bool limits = legal_rule_constraint(c->legal, i) < 0;
        if (w)
            json_add_text(w, NULL, legal_rule(c->legal, i));
        else
            str_printf(out, limits ? "%s%s" : "%s'%s'", named ? ", " : "",
                       limits ? "the limits of the device" : legal_rule(c->legal, i));
        named++;
    }
    free(needed);
    return named;
}

// --- JSON ---

static void add_share(struct json_writer *w, const char *name, double removes)
{
    json_begin_object(w, NULL);
    json_add_text(w, "name", name);
    json_add_real(w, "removes", removes);
    json_end(w);
}

// Returns the reason why a baseline does not run here, in `v` where a rule rejects it; NULL: it may
// run.
static const char *why_not(const struct check *c, const struct baseline *b, struct verdict *v,
                           struct err *e)
{
    if (b->misfit)
        return b->misfit;
    if (!space_judge(c->space, c->device ? &c->device->limits : NULL, &b->config, v, e))
        return e->text;
    return v->legal ? NULL : v->reason;
}

// `job` is that of the example; NULL: its GLSL was not asked for.
static void check_print_json(const struct check *c, const struct job *job)
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
        add_share(&w, c->space->constraint[i].name, c->removes[i]);
    json_end(&w);
    json_begin_list(&w, "limits");
    for (int l = LIMIT_NONE + 1; l < LIMIT_COUNT && c->device; l++)
        add_share(&w, limit_name((enum limit)l), share_of(c, c->survey.by_limit[l]));
    json_end(&w);
    struct legal_number legal = count_legal(c);
    json_add_real(&w, "valid_fraction", legal.share);
    json_add_count(&w, "samples", c->survey.points);
    json_add_flag(&w, "exact", c->survey.exact);
    json_add_text(&w, "legal", legal.likely);
    json_add_flag(&w, "legal_exact", legal.exact);
    json_add_text(&w, "legal_least", legal.least);
    json_add_text(&w, "legal_most", legal.most);
    legal_number_finish(&legal);
    json_add_name(&w, "example");
    if (c->has_example)
        config_add_json(c->space, &c->example, &out);
    else
        str_add(&out, "null");
    json_begin_list(&w, "conflict");
    list_conflict(c, &w, NULL);
    json_end(&w);
    if (c->space->baseline_count)
        json_begin_list(&w, "baselines");
    for (int i = 0; i < c->space->baseline_count; i++) {
        struct verdict v;
        struct err e;
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", c->space->baseline[i].name);
        json_add_text(&w, "reason", why_not(c, &c->space->baseline[i], &v, &e));
        json_end(&w);
    }
    if (c->space->baseline_count)
        json_end(&w);
    json_add_text(&w, "template", c->attempt == ATTEMPT_COMPILED ? "ok" : "none");
    if (job && !job->pass_count) { // there is no example
        json_add_null(&w, "glsl");
    } else if (job) {
        json_begin_list(&w, "glsl");
        for (int i = 0; i < job->pass_count; i++)
            json_add_text(&w, NULL, job->pass[i].glsl);
        json_end(&w);
    }
    json_print(&w);
}

// --- text ---

// Returns the decimals of a percentage: more where hardly anything, or all but a little, remains.
static int decimals(double share)
{
    double rest = fmin(share, 1 - share);
    return rest <= 0 || rest >= 1e-4 ? 2 : (int)fmin(ceil(-log10(rest)), 12);
}

static void print_share(const char *name, double removes)
{
    printf("  %-44s %6.*f %%\n", name, decimals(removes), 100 * removes);
}

static void check_print_text(const struct check *c)
{
    struct str text = {0};
    shown_add(&text, c->space->name);
    str_add(&text, ": ");
    operation_add_text(script_operation(c->script), &text);
    printf("%s on %s\n", str_text(&text),
           c->device ? c->device->name : "no device (its limits are not checked)");
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
        print_share(c->space->constraint[i].name, c->removes[i]);
    for (int l = LIMIT_NONE + 1; l < LIMIT_COUNT && c->device; l++)
        if (c->survey.by_limit[l])
            print_share(limit_name((enum limit)l), share_of(c, c->survey.by_limit[l]));
    struct legal_number legal = count_legal(c);
    printf("  %-44s %6.*f %%  (%s %" PRIu64 " %s)\n",
           c->device ? "valid" : "valid by the rules alone (no device)", decimals(legal.share),
           100 * legal.share, c->survey.exact ? "exact, all" : "rules estimated from",
           c->survey.points, c->survey.exact ? "points" : "random points");
    if (legal.exact)
        printf("  %s legal points, exactly\n", legal.likely);
    else
        printf("  about %s legal points, %s to %s with 95 %% confidence\n", legal.likely,
               legal.least, legal.most);
    legal_number_finish(&legal);
    text.length = 0;
    for (int i = 0; i < c->space->baseline_count; i++) {
        struct verdict v;
        struct err e;
        const char *why = why_not(c, &c->space->baseline[i], &v, &e);
        str_printf(&text, "%sbaseline '%s': ", i ? "" : "\n", c->space->baseline[i].name);
        shown_add(&text, why ? why : "may run here");
        str_add_char(&text, '\n');
    }
    if (text.length)
        common_print(&text);
    str_finish(&text);
    if (!c->has_example)
        return;
    config_add_json(c->space, &c->example, &text);
    printf("\nexample: %s\n", str_text(&text));
    if (c->attempt == ATTEMPT_COMPILED)
        puts("template: ok (renders and compiles)");
    str_finish(&text);
}

// Fails with one line for a space in which nothing is possible: the fractions that each rule and
// limit removes.
static int fail_without_valid(const struct check *c, const char *file)
{
    struct err e;
    struct str why = {0};
    for (int i = 0; i < c->space->constraint_count; i++)
        if (c->survey.by_constraint[i])
            str_printf(&why, "%s'%s' %.3g %%", why.length ? ", " : "", c->space->constraint[i].name,
                       100 * c->removes[i]);
    for (int l = LIMIT_NONE + 1; l < LIMIT_COUNT; l++)
        if (c->survey.by_limit[l])
            str_printf(&why, "%s%s %.3g %%", why.length ? ", " : "", limit_name((enum limit)l),
                       100 * share_of(c, c->survey.by_limit[l]));
    const struct script_setting *batch = script_find_setting(c->script, "batch");
    if (c->survey.by_limit[LIMIT_BUFFER] && batch && batch->is_whole &&
        !str_equal(batch->value, "1"))
        str_add(&why, "; tune reduces the batch to what fits, --set batch=1 shows such a space");
    bool proven = c->survey.exact || legal_is_empty(c->legal);
    struct str conflict = {0};
    if (!proven)
        str_printf(&conflict, "; %" PRIu64 " were drawn", c->survey.points);
    else if (list_conflict(c, NULL, &conflict) > 1)
        str_add(&conflict, " exclude each other");
    else
        str_add(&conflict, " forbids every point");
    err_set(&e, "%s: no configuration %s on %s (removed: %s%s%s)", file,
            proven ? "is possible" : "was found possible",
            c->device ? c->device->name : "any device", str_text(&why), proven ? "; " : "",
            str_text(&conflict));
    str_finish(&why);
    str_finish(&conflict);
    return fail_with(&e, EXIT_NOTHING_VALID);
}

// Renders the example. Foreign shaders consist of macros for the most part: they are shown as the
// preprocessor leaves them. Texts without macros are shown as they are written, with their
// comments.
static bool render_example(const struct check *c, struct job *job, struct err *e)
{
    static const char *const macros[] = {"#define", "#if", "#line"};
    char *text[JOB_MAX_PASSES];
    bool plain = true;
    if (!script_render(c->script, &c->example, job, e))
        return false;
    for (int i = 0; i < job->pass_count; i++)
        for (size_t k = 0; k < sizeof macros / sizeof *macros; k++)
            plain = plain && !strstr(job->pass[i].glsl, macros[k]);
    if (plain || !helper_job_preprocess(job, PREPROCESS_SECONDS, text, e))
        return plain;
    for (int i = 0; i < job->pass_count; i++) {
        free(job->pass[i].glsl);
        job->pass[i].glsl = text[i];
    }
    return true;
}

static int check_report(const struct check *c, const struct arguments *a)
{
    struct err e;
    struct job job = {0};
    bool glsl = arguments_flag(a, "glsl");
    if (glsl && c->has_example && !render_example(c, &job, &e))
        return fail_with(&e, EXIT_FAILED);
    if (arguments_flag(a, "json"))
        check_print_json(c, glsl ? &job : NULL);
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
        check_print_text(c);
    job_finish(&job);
    return c->has_example ? EXIT_OK : fail_without_valid(c, a->operand[0]);
}

// --- shapes of a problem ---

enum { MOST_SETTINGS = 256 };

// Reads "M=512,N=64" behind the settings of --set. A weight is the search's alone.
static bool read_shape(struct check *c, const char *text, struct setting *set, int *count,
                       struct err *e)
{
    char *rest = NULL, *copy = arena_strdup(&c->storage, text);
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(one, '=');
        if (!value || value == one || *count == MOST_SETTINGS)
            return err_usage(e, "--shape %s: '%s' is no NAME=VALUE", text, one);
        *value++ = '\0';
        if (!str_equal(one, "weight"))
            set[(*count)++] = (struct setting){one, value};
    }
    return true;
}

// Tells which baselines may run on each shape, as a search for all of them would find.
static bool check_shapes(struct check *c, const struct arguments *a, const struct script_options *o,
                         struct err *e)
{
    const char *shape[TRIAL_MAX_SHAPES];
    struct setting set[MOST_SETTINGS];
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    int shapes = arguments_list(a, "shape", shape, TRIAL_MAX_SHAPES);
    bool ok = true, is_json = arguments_flag(a, "json");
    json_begin_list(&w, "shapes");
    for (int i = 0; ok && i < shapes; i++) {
        struct script_options here = *o;
        here.set_count = int_min(o->set_count, MOST_SETTINGS);
        memcpy(set, o->set, (size_t)here.set_count * sizeof *set);
        here.set = set;
        ok = read_shape(c, shape[i], set, &here.set_count, e);
        struct script *s = ok ? script_create(&here, e) : NULL;
        ok = ok && (s || err_prefix(e, "--shape %s", shape[i]));
        struct check of = {.space = s ? script_space(s) : NULL, .device = c->device};
        json_begin_object(&w, NULL);
        json_add_text(&w, "shape", shape[i]);
        json_begin_list(&w, "baselines");
        for (int k = 0; ok && k < of.space->baseline_count; k++) {
            struct verdict v;
            struct err ignored;
            const char *name = of.space->baseline[k].name,
                       *why = why_not(&of, &of.space->baseline[k], &v, &ignored);
            json_begin_object(&w, NULL);
            json_add_text(&w, "name", name);
            json_add_text(&w, "reason", why);
            json_end(&w);
            if (!is_json)
                printf("shape %s: baseline '%s': %s\n", shape[i], name, why ? why : "may run here");
        }
        json_end(&w);
        json_end(&w);
        script_destroy(s);
    }
    json_end_all(&w);
    if (ok && is_json)
        puts(str_text(&out));
    str_finish(&out);
    return ok;
}

static int check_space(struct check *c, const struct arguments *a)
{
    struct err e;
    struct script_options o = {0};
    o.set = common_settings(a, &c->storage, &o.set_count);
    if (!choose_device(c, a, &e))
        return fail_with(&e, EXIT_FAILED);
    o.path = common_space(a, false, &c->storage, &e);
    o.device_type = c->device ? c->device->type : "none";
    o.limits = c->device ? &c->device->limits : NULL;
    const char *ignored;
    if (o.path && arguments_list(a, "shape", &ignored, 1))
        return common_exit(check_shapes(c, a, &o, &e), &e);
    c->script = o.path ? script_create(&o, &e) : NULL;
    c->space = c->script ? script_space(c->script) : NULL;
    if (c->script == NULL)
        return fail_with(&e, EXIT_FAILED);
    if (arguments_flag(a, "sketches")) {
        const struct program *p = script_program(c->script);
        bool ok = p || err_usage(&e,
                                 "%s: its kernels are templates, which have no sketches (what "
                                 "compute(...) defines has)",
                                 a->operand[0]);
        if (ok)
            (arguments_flag(a, "json") ? print_sketches_json : print_sketches)(p);
        return common_exit(ok, &e);
    }
    if (arguments_integer(a, "compile", 0) > 0) {
        if (!c->device)
            return common_exit(err_usage(&e, "--compile needs a device: name one with --device "
                                             "(tilewalk devices lists them)"),
                               &e);
        int code = check_compile(c->script, c->device, a);
        if (code != EXIT_NOTHING_VALID)
            return code;
        return check_survey(c, a, &e) ? fail_without_valid(c, a->operand[0])
                                      : fail_with(&e, EXIT_FAILED);
    }
    return check_survey(c, a, &e) ? check_report(c, a) : fail_with(&e, EXIT_FAILED);
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
    int code;
    if (!network_is(a->operand[0]))
        code = check_space(&c, a);
    else
        code = choose_device(&c, a, &e) ? check_network(a, c.device) : fail_with(&e, EXIT_FAILED);
    survey_finish(&c.survey);
    legal_destroy(c.legal);
    script_destroy(c.script);
    free(c.chosen.list);
    arena_finish(&c.storage);
    return code;
}

static const struct option options[] = {
    OPTION_SET,
    OPTION_SHIPPED,
    {"device", OPTION_TEXT, "DEVICE|none",
     "device whose limits are checked (default: the best one; see tilewalk devices)"},
    {"shape", OPTION_LIST, "SIZE=N,SIZE=N",
     "tell which baselines may run on this shape, and why others may not; may be repeated"},
    {"samples", OPTION_INTEGER, "N", "random points to check in a large space (default: 4000)", 1,
     1e9},
    {"glsl", OPTION_FLAG, NULL, "print the GLSL of one valid configuration"},
    {"sketches", OPTION_FLAG, NULL,
     "list the sketches that are generated for an operator definition"},
    {"compile", OPTION_INTEGER, "N",
     "compile N random valid configurations with the device's driver: refusals, times, registers, "
     "spills",
     1, 1e6},
    {"seed", OPTION_INTEGER, "S", "seed of the configurations of --compile (default: 1)", 0,
     1L << 53},
    {"validate", OPTION_FLAG, NULL, "with --compile: use the Khronos validation layer"},
    {"verbose", OPTION_FLAG, NULL, "with --compile: print the logs of workers and drivers"},
    OPTION_FAULT,
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_JSON,
    OPTION_END,
};

const struct command cmd_check = {
    .name = "check",
    .operands = "PRESET|NETWORK|FILE",
    .help = "check a space file: parameters, exact size, fraction removed by constraints and by "
            "device limits, and that a candidate compiles; or a network: its tasks, uses and FLOP",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_check,
};
