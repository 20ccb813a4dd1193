#include "export/judge.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "engine/devices.h"
#include "export/reverify.h"
#include "space/legal.h"
#include "trial/operator.h"
#include "trial/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_ELSEWHERE 16
#define MOST_DRAWS     40  // of shapes
#define MOST_SETTINGS  256 // as many as a space may have
#define BASELINE_NAME  "the space's own kernel"

struct judging {
    const struct judge_request *want;
    struct judgement *out;
    struct arena arena;
    struct script *own;    // the space as it is
    struct script *script; // with the kernel in place of its template
    struct script_text *text;
    int texts;
    struct config config;
    struct rng rng;
};

// --- reasons ---

// Adds a reason; a text that begins with "FILE:LINE: " has its place from there.
static void add_reason(struct judging *j, const char *kind, const char *text)
{
    struct judge_reason *to = &j->out->reason[j->out->reasons];
    const char *colon = strchr(text, ':');
    int64_t line;
    *to = (struct judge_reason){.kind = kind};
    while (colon && !to->file) {
        size_t digits = strspn(colon + 1, "0123456789");
        char number[16];
        snprintf(number, sizeof number, "%.*s", (int)digits, colon + 1);
        if (digits && strncmp(colon + 1 + digits, ": ", 2) == 0 &&
            str_to_int(number, 1, INT32_MAX, &line)) {
            to->file = mem_printf("%.*s", (int)(colon - text), text);
            to->line = (int)line;
            text = colon + digits + 3;
        }
        colon = strchr(colon + 1, ':');
    }
    to->text = mem_strdup(text);
    j->out->reasons++;
}

static bool not_judged(struct judging *j, const char *kind, const struct err *e)
{
    char text[1400];
    j->out->verdict = JUDGE_NOT_JUDGED;
    add_reason(j, kind, err_format(e, text, sizeof text));
    return false;
}

// Takes the outcome of the kernel. False: it failed.
static bool passes(struct judging *j, const struct trial_result *r, const char *where)
{
    static const bool is_wrong[OUTCOME_COUNT] = {[OUTCOME_COMPILE] = true,
                                                 [OUTCOME_TIMEOUT] = true,
                                                 [OUTCOME_CRASH] = true,
                                                 [OUTCOME_WRONG] = true};
    enum outcome o = r->outcome[0];
    if (o == OUTCOME_OK)
        return true;
    char *text = mem_printf("%s%s%s%s", r->reason[0], where ? " (with " : "", where ? where : "",
                            where ? ")" : "");
    j->out->verdict = is_wrong[o] ? JUDGE_WRONG : JUDGE_NOT_JUDGED;
    add_reason(j, outcome_name(o), text);
    free(text);
    return false;
}

// --- the two scripts ---

static struct script *make_script(const struct judging *j, const struct setting *set, int count,
                                  bool candidate, struct err *e)
{
    const struct script_options o = {.path = j->want->space,
                                     .set = set,
                                     .set_count = count,
                                     .device_type = j->want->device->type,
                                     .limits = &j->want->device->limits,
                                     .texts = candidate ? j->text : NULL,
                                     .text_count = candidate ? j->texts : 0};
    return script_create(&o, e);
}

// Chooses the configuration: the first baseline that is legal, else one that is drawn.
static bool choose(struct judging *j, struct err *e)
{
    const struct space *space = script_space(j->own);
    const struct limits *limits = &j->want->device->limits;
    struct verdict v = {0};
    for (int i = 0; i < space->baseline_count; i++) {
        j->config = space->baseline[i].config;
        if (!space->baseline[i].misfit && !space_judge(space, limits, &j->config, &v, e))
            return false;
        if (!space->baseline[i].misfit && v.legal)
            return true;
    }
    struct legal *legal = legal_create(space, limits);
    bool found = legal_build_within(legal, LEGAL_STEPS, e);
    found = found && (legal_draw(legal, &j->rng, &j->config) ||
                      err_set(e, "%s: no configuration is legal here", j->want->space));
    legal_destroy(legal);
    return found;
}

// Puts the kernel in the place of the one template that the configuration is rendered from.
static bool replace(struct judging *j, struct err *e)
{
    struct job job = {0};
    char *bytes = NULL, *kernel;
    size_t length;
    if (script_program(j->own))
        return err_set(e,
                       "%s: its kernels are generated, so that there is no dispatch for another "
                       "one (declare the operation with operator.define, and a kernel)",
                       j->want->space);
    if (!script_render(j->own, &j->config, &job, e))
        return false;
    const char *name = arena_strdup(&j->arena, job.pass[0].template_name);
    bool one = job.pass_count == 1;
    job_finish(&job);
    if (!one)
        return err_set(e, "%s: its candidate is several kernels, one file cannot replace them",
                       j->want->space);
    if (!file_read(j->want->file, &bytes, &length, e) ||
        !(kernel = texts_from_bytes(j->want->file, bytes, length, e)))
        return false;
    const struct script_text *all = script_texts(j->own, &j->texts);
    j->text = arena_zero(&j->arena, (size_t)j->texts, sizeof *j->text);
    bool found = false;
    for (int i = 0; i < j->texts; i++) {
        j->text[i] = all[i];
        if (i == 0 || !(str_equal(all[i].path, name) || str_equal(all[i].name, name)))
            continue;
        found = true;
        j->text[i].path = j->want->file;
        j->text[i].text = arena_strdup(&j->arena, kernel);
    }
    free(kernel);
    return found || err_set(e, "%s: its kernel is not in a file of its own", j->want->space);
}

// --- running ---

static struct source *open_pool(const struct judging *j, struct script *script, struct err *e)
{
    struct pool_options options = devices_pool(j->want->device, script);
    options.seed = j->want->seed;
    return pool_create(&options, e);
}

// Verifies the kernel with all accesses checked, then so often again with other inputs. `where`
// describes the shape; NULL: the space's own. False: it failed, or could not be judged.
static bool verify(struct judging *j, struct source *pool, struct script *script,
                   const struct config *config, const char *where)
{
    struct err e;
    struct trial_result result;
    int runs = where ? RUNS_ELSEWHERE : j->want->runs;
    struct trial_request first = {.count = 1,
                                  .race = true,
                                  .known_good = true,
                                  .accesses = ACCESSES_OF_ALL,
                                  .config = {*config}};
    struct trial_request again = {.count = 1,
                                  .known_good = true,
                                  .soak = runs,
                                  .accesses = ACCESSES_OF_NONE,
                                  .config = {*config}};
    if (!reverify_run(pool, script, &first, &result, &e))
        return not_judged(j, "compile", &e);
    if (!passes(j, &result, where))
        return false;
    j->out->seconds = where ? j->out->seconds : result.seconds[0];
    if (!reverify_run(pool, script, &again, &result, &e))
        return not_judged(j, "compile", &e);
    j->out->runs += result.soaked;
    return passes(j, &result, where);
}

// Draws other sizes: each as it is, one less, or any smaller one. False: they are all the same.
static bool draw_shape(struct judging *j, struct setting set[MOST_SETTINGS], int *count,
                       struct str *name)
{
    int settings;
    bool differs = false;
    const struct script_setting *all = script_settings(j->own, &settings);
    *count = 0;
    for (int i = 0; i < settings && *count < MOST_SETTINGS; i++) {
        int64_t size;
        if (!all[i].is_whole || !str_to_int(all[i].value, 1, INT32_MAX, &size)) {
            if (!all[i].is_folder || *all[i].value)
                set[(*count)++] = (struct setting){all[i].name, all[i].value};
            continue;
        }
        uint64_t way = rng_below(&j->rng, 3);
        int64_t other = way == 0 || size < 3 ? size
                        : way == 1           ? size - 1
                                   : size - (int64_t)rng_below(&j->rng, (uint64_t)size / 2);
        differs |= other != size;
        set[*count] = (struct setting){all[i].name, arena_printf(&j->arena, "%" PRId64, other)};
        str_printf(name, "%s%s=%s", name->length ? " " : "", all[i].name, set[*count].value);
        (*count)++;
    }
    return differs;
}

// Verifies the kernel on a shape that is drawn, where the space allows its configuration there.
static bool verify_elsewhere(struct judging *j, bool *legal)
{
    struct setting set[MOST_SETTINGS];
    struct str name = {0};
    struct err e;
    struct config config;
    int count;
    bool ok = true;
    *legal =
        draw_shape(j, set, &count, &name) && !strstr(str_text(&j->out->shape), str_text(&name));
    struct script *there = *legal ? make_script(j, set, count, true, &e) : NULL;
    *legal =
        there && reverify_fits(j->script, there, &j->want->device->limits, &j->config, &config);
    if (*legal) {
        struct source *pool = open_pool(j, there, &e);
        ok = pool ? verify(j, pool, there, &config, str_text(&name)) : not_judged(j, "device", &e);
        source_destroy(pool);
        if (ok) {
            str_printf(&j->out->shape, "%s%s", j->out->shapes ? "; " : "", str_text(&name));
            j->out->shapes++;
        }
    }
    script_destroy(there);
    str_finish(&name);
    return ok;
}

// Times the kernel in pairs with the space's own.
static bool compare(struct judging *j, struct source *pool)
{
    struct err e;
    struct trial_result r;
    struct trial_request request = {.count = 2,
                                    .race = true,
                                    .pairs = true,
                                    .known_good = true,
                                    .accesses = ACCESSES_OF_NONE,
                                    .config = {j->config, j->config}};
    bool ok = script_render(j->script, &j->config, &request.job[0], &e);
    if (ok && !script_render(j->own, &j->config, &request.job[1], &e)) {
        job_finish(&request.job[0]);
        ok = false;
    }
    if (ok) {
        source_submit(pool, &request);
        ok = source_wait(pool, &r, &e);
    }
    if (!ok)
        return not_judged(j, "baseline", &e);
    if (!passes(j, &r, NULL))
        return false;
    if (r.outcome[1] != OUTCOME_OK) {
        char *text = mem_printf("%s does not run: %s", BASELINE_NAME, r.reason[1]);
        add_reason(j, "baseline", text);
        free(text);
        return true;
    }
    j->out->baseline = mem_strdup(BASELINE_NAME);
    j->out->ratio = paired_ratio(r.samples[0].seconds, r.samples[1].seconds, r.samples[1].count);
    return true;
}

static void run_all(struct judging *j)
{
    struct err e;
    struct source *pool = open_pool(j, j->script, &e);
    bool ok = pool ? verify(j, pool, j->script, &j->config, NULL) : not_judged(j, "device", &e);
    for (int i = 0; ok && i < MOST_DRAWS && j->out->shapes < JUDGE_SHAPES; i++) {
        bool legal;
        ok = verify_elsewhere(j, &legal);
    }
    if (ok)
        compare(j, pool);
    source_destroy(pool);
}

void judge(const struct judge_request *r, struct judgement *out)
{
    struct judging j = {.want = r, .out = out};
    struct err e;
    struct str text = {0};
    *out = (struct judgement){.ratio = paired_unknown()};
    arena_init(&j.arena);
    rng_seed(&j.rng, r->seed);
    j.own = make_script(&j, r->set, r->set_count, false, &e);
    if (!j.own || !choose(&j, &e) || !replace(&j, &e)) {
        not_judged(&j, "space", &e);
    } else {
        config_add_json(script_space(j.own), &j.config, &text);
        out->configuration = mem_strdup(str_text(&text));
        j.script = make_script(&j, r->set, r->set_count, true, &e);
        if (j.script)
            run_all(&j);
        else
            not_judged(&j, "space", &e);
    }
    str_finish(&text);
    script_destroy(j.script);
    script_destroy(j.own);
    arena_finish(&j.arena);
}

void judge_finish(struct judgement *j)
{
    for (int i = 0; i < j->reasons; i++) {
        free(j->reason[i].text);
        free(j->reason[i].file);
    }
    free(j->configuration);
    free(j->baseline);
    str_finish(&j->shape);
}

const char *judge_verdict_name(enum judge_verdict v)
{
    static const char *const name[] = {"right", "wrong", "not judged"};
    return name[v];
}
