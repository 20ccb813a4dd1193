// The parts of prove that look at the device and its driver.
#include "cli/check_compile.h"
#include "cli/common.h"
#include "cli/prove.h"
#include "engine/cell.h"
#include "engine/devices.h"
#include "engine/roof.h"
#include "report/text.h"
#include "trial/errand.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// --- limits and features ---

static void add_clocks(struct prove *p)
{
    struct err e;
    struct clocks clocks;
    struct str told = {0}, text = {0};
    bool opened = errand_open(p->device.index, false, devices_patience_s(), &clocks, &e);
    if (opened)
        statistics_add_json(&clocks.now, &told);
    told_add_clocks(str_text(&told), 0, &text);
    const char *why = opened ? clocks.why : e.text;
    json_add_raw(&p->json, "clocks", str_text(&told));
    json_add_text(&p->json, "clocks_unknown", text.length ? NULL : why);
    str_add(&p->page, "| clocks | ");
    str_add_markdown(&p->page, text.length ? str_text(&text) : why);
    str_add(&p->page, " |\n");
    str_finish(&told);
    str_finish(&text);
}

bool prove_limits(struct prove *p, struct err *e)
{
    const struct gpu_info *d = &p->device;
    const struct limits *l = &d->limits;
    (void)e;
    json_begin_object(&p->json, "device");
    json_device_facts(&p->json, d);
    json_end(&p->json);
    str_add(&p->page, "| | |\n|---|---|\n");
    str_printf(&p->page, "| type | %s, %.1f GiB of its own |\n", d->type,
               (double)d->memory_bytes / (1 << 30));
    str_printf(&p->page, "| workgroups | %" PRIu32 " invocations, %" PRIu32 " KiB shared |\n",
               l->invocations, l->shared_bytes / 1024);
    str_printf(&p->page, "| subgroups | %" PRIu32 ", from %" PRIu32 " to %" PRIu32 " |\n",
               l->subgroup_size, l->subgroup_least, l->subgroup_most);
    str_printf(&p->page, "| types | f32%s%s |\n", l->f16 ? ", f16" : "", l->i8 ? ", i8" : "");
    str_printf(&p->page, "| matrix units | %s%s |\n| timestamps | %s |\n",
               l->matrix.count ? matrix_api_name(l->matrix.api) : "none",
               l->matrix.count > 0 ? "" : " that can be used", d->timestamps ? "yes" : "no");
    add_clocks(p);
    return true;
}

// --- correctness ---

enum { KERNELS_OF_A_CELL = 2 }; // in a round

struct tally {
    int64_t right, wrong, failed;
};

struct correctness {
    struct prove *prove;
    struct cells cells;
    struct tally *tally; // of each cell
    struct rng rng;
    struct str said; // of those that are not right
    struct json_writer complaints;
};

static void complain(struct correctness *c, const char *word, const char *what, const char *config,
                     const char *reason)
{
    str_printf(&c->said, "* %s: `%s", word, what);
    str_printf(&c->said, "%s%s`: %s\n", *config ? " " : "", config, reason);
    json_begin_object(&c->complaints, NULL);
    json_add_text(&c->complaints, "outcome", word);
    json_add_text(&c->complaints, "problem", what);
    json_add_raw(&c->complaints, "config", config);
    json_add_text(&c->complaints, "reason", reason);
    json_end(&c->complaints);
}

static void take_sample(struct correctness *c, struct tally *t, const struct sample *s,
                        const char *what)
{
    t->right += s->compiled;
    t->wrong += s->outcome[OUTCOME_WRONG];
    for (int i = 0; i < OUTCOME_COUNT; i++)
        t->failed += i != OUTCOME_OK && i != OUTCOME_WRONG ? s->outcome[i] : 0;
    for (int i = 0; i < s->refusals; i++)
        complain(c, outcome_name(s->refusal[i].outcome), what, s->refusal[i].example,
                 s->refusal[i].reason);
}

// A problem of the cell, and random kernels for it. CPU devices also get the spaces that presets
// have for GPUs. False: nothing more can be tried.
static bool try_cell(struct correctness *c, int i, bool as_gpu, struct err *e)
{
    struct prove *p = c->prove;
    struct str what = {0};
    struct sample found = {0};
    const char *type = p->device.is_cpu && as_gpu ? "discrete" : p->device.type;
    str_add(&what, c->cells.cell[i].preset);
    struct script *s = cell_draw(&c->cells.cell[i], type, &p->device.limits, &c->rng, &what, e);
    const struct sample_options o = {.script = s,
                                     .device = &p->device,
                                     .count = KERNELS_OF_A_CELL,
                                     .seed = p->seed,
                                     .runs = true,
                                     .fault = p->fault};
    bool ok = !s || sample_take(&o, &found, e);
    if (s)
        take_sample(c, &c->tally[i], &found, str_text(&what));
    else
        complain(c, "unloaded", str_text(&what), "", e->text);
    c->tally[i].failed += !s;
    sample_finish(&found);
    script_destroy(s);
    str_finish(&what);
    return ok;
}

// In an order in which those that come first say something of all.
static bool try_all(struct correctness *c, struct err *e)
{
    int count = c->cells.count;
    int *order = mem_zero((size_t)count + 1, sizeof *order);
    bool ok = true, began = false;
    for (int i = 0; i < count; i++) {
        int k = (int)rng_below(&c->rng, (uint64_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (int round = 0; ok && (!began || !prove_is_over(c->prove)); round++)
        for (int i = 0; ok && i < count && (!began || !prove_is_over(c->prove)); i++) {
            ok = try_cell(c, order[i], round % 2, e);
            began = true;
        }
    free(order);
    return ok;
}

static bool is_untried(const struct tally *t)
{
    return t->right + t->wrong + t->failed == 0;
}

// "12 of 110 cells (bmm 3, gemm 9)": presets follow each other.
static void name_untried(struct correctness *c)
{
    struct str names = {0};
    int all = 0;
    for (int i = 0, of = 0; i < c->cells.count; i++) {
        const char *preset = c->cells.cell[i].preset;
        bool is_last = i + 1 == c->cells.count || !str_equal(c->cells.cell[i + 1].preset, preset);
        of += is_untried(&c->tally[i]);
        if (is_last && of)
            str_printf(&names, "%s%s %d", all ? ", " : "", preset, of);
        all += is_last ? of : 0;
        of = is_last ? 0 : of;
    }
    if (all)
        str_printf(&c->prove->left_out, "%d of %d cells (%s)", all, c->cells.count,
                   str_text(&names));
    str_finish(&names);
}

static void add_cells(struct correctness *c)
{
    struct prove *p = c->prove;
    json_begin_list(&p->json, "cells");
    str_add(&p->page, "| preset | right | wrong | failed |\n|---|---:|---:|---:|\n");
    for (int i = 0; i < c->cells.count; i++) {
        const struct tally *t = &c->tally[i];
        struct str name = {0};
        cell_add_text(&c->cells.cell[i], &name);
        json_begin_object(&p->json, NULL);
        json_add_text(&p->json, "name", str_text(&name));
        json_add_int(&p->json, "right", t->right);
        json_add_int(&p->json, "wrong", t->wrong);
        json_add_int(&p->json, "failed", t->failed);
        json_end(&p->json);
        if (!is_untried(t))
            str_printf(&p->page, "| %s | %" PRId64 " | %" PRId64 " | %" PRId64 " |\n",
                       str_text(&name), t->right, t->wrong, t->failed);
        p->right += t->right;
        p->wrong += t->wrong;
        p->failed += t->failed;
        str_finish(&name);
    }
    json_end(&p->json);
    name_untried(c);
}

bool prove_correctness(struct prove *p, struct err *e)
{
    struct correctness c = {.prove = p};
    struct str complaints = {0};
    c.complaints = (struct json_writer){.out = &complaints};
    json_begin_list(&c.complaints, NULL);
    rng_seed(&c.rng, p->seed);
    bool ok = cells_list(&p->device.limits, &c.cells, e);
    c.tally = mem_zero((size_t)c.cells.count + 1, sizeof *c.tally);
    ok = ok && try_all(&c, e);
    json_end_all(&c.complaints);
    add_cells(&c);
    json_add_raw(&p->json, "complaints", str_text(&complaints));
    str_printf(&p->page, "\nRandom problems and kernels of each preset, type and layout, compared "
                         "in full, on exact and on random inputs, with every access checked.\n");
    str_printf(&p->page, "%s%s", c.said.length ? "\n" : "", str_text(&c.said));
    cells_finish(&c.cells);
    free(c.tally);
    str_finish(&c.said);
    str_finish(&complaints);
    return ok;
}

// --- the roof ---

bool prove_roof(struct prove *p, struct err *e)
{
    struct roof roof = {0};
    char text[32];
    bool ok = roof_measure(p->store, &p->device, &roof, e);
    json_add_name(&p->json, "roof");
    roof_add_json(&roof, p->json.out);
    str_add(&p->page, "| | at most |\n|---|---:|\n");
    for (int k = 0; k < ROOF_COUNT; k++) {
        if (roof.rate[k] <= 0)
            continue;
        if (k == ROOF_DISPATCH)
            text_time(roof.rate[k], text);
        else
            text_rate(roof.rate[k], k == ROOF_BYTES ? WORK_BYTES : WORK_FLOP, text);
        str_printf(&p->page, "| %s | %s |\n",
                   k == ROOF_DISPATCH ? "empty dispatch" : roof_name((enum roof_kind)k), text);
    }
    return ok;
}

// --- what the driver's compiler makes of kernels ---

enum { KERNELS_COMPILED = 50 };

static bool compile_some(struct prove *p, const struct prove_problem *q, double seconds,
                         struct err *e)
{
    struct sample found = {0};
    struct script *s = prove_load(p, q, e);
    const struct sample_options o = {.script = s,
                                     .device = &p->device,
                                     .count = KERNELS_COMPILED,
                                     .seed = p->seed,
                                     .seconds = seconds,
                                     .fault = p->fault};
    bool ok = s && sample_take(&o, &found, e);
    json_begin_object(&p->json, NULL);
    json_add_text(&p->json, "name", q->name);
    json_sample(&p->json, &found);
    json_end(&p->json);
    str_printf(&p->page, "%s:\n\n```\n", q->name);
    sample_add_text(&found, &p->device, &p->page);
    str_add(&p->page, "```\n\n");
    sample_finish(&found);
    script_destroy(s);
    return ok;
}

bool prove_statistics(struct prove *p, struct err *e)
{
    bool ok = true;
    int left = PROVE_PROBLEMS;
    json_begin_list(&p->json, "kernels");
    for (int i = 0; i < PROVE_PROBLEMS; i++, left--) {
        const struct prove_problem *q = &prove_problems[i];
        if (!ok || !prove_has(p, q))
            continue;
        if (i > 0 && prove_is_over(p))
            str_printf(&p->left_out, "%s%s", p->left_out.length ? ", " : "", q->name);
        else
            ok = compile_some(p, q, fmax(prove_left(p) / left, 0.1), e);
    }
    json_end(&p->json);
    return ok;
}
