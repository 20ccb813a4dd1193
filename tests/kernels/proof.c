#include "proof.h"

#include "base/mem.h"
#include "base/number.h"
#include "gpu/vk.h"
#include "kernel/checked.h"
#include "trial/operator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD     256 // bytes
#define TIMEOUT_S 120

struct proof {
    struct gpu *gpu;
    const struct operation *operation;
    struct operator_layout layout;
    int output; // the last buffer
    // The output with its guard, scratch, the report of the checks; their bytes without guards.
    struct gpu_buffer *buffer[OPERATOR_MAX_BUFFERS + 2];
    uint64_t bytes[OPERATOR_MAX_BUFFERS + 1];
    int buffers; // without the report
    struct gpu_pass pass[JOB_MAX_PASSES], checked[JOB_MAX_PASSES];
    int passes;
    void *input[OPERATOR_MAX_BUFFERS], *reference, *result;
};

static bool make_buffers(struct proof *p, uint64_t scratch_bytes, struct err *e)
{
    p->buffers = p->layout.count + (scratch_bytes ? 1 : 0);
    for (int i = 0; i < p->buffers; i++) {
        bool is_scratch = i == p->layout.count;
        uint64_t bytes = is_scratch ? scratch_bytes : p->layout.buffer[i].bytes;
        uint64_t guard = i == p->output ? GUARD : 0;
        p->bytes[i] = bytes;
        if (gpu_buffer_create(p->gpu, bytes + guard, &p->buffer[i], e) != GPU_OK)
            return false;
        if (i < p->output)
            p->input[i] = mem_alloc(bytes);
    }
    if (gpu_buffer_create(p->gpu, sizeof(uint32_t), &p->buffer[p->buffers], e) != GPU_OK)
        return false;
    p->reference = mem_alloc(p->layout.buffer[p->output].bytes);
    p->result = mem_alloc(p->layout.buffer[p->output].bytes + GUARD);
    return true;
}

static bool is_as_declared(const struct resources *r, const struct resources *pass, struct err *e)
{
    if (r->shared_bytes != pass->shared_bytes)
        return err_set(e, "declares %" PRIu64 " shared bytes, has %" PRIu64, r->shared_bytes,
                       pass->shared_bytes);
    for (int d = 0; d < 3; d++)
        if (r->group_size[d] != pass->group_size[d] || r->groups[d] != pass->groups[d])
            return err_set(e,
                           "declares %" PRIu64 " invocations in %" PRIu64 " groups, has %" PRIu64
                           " in %" PRIu64,
                           r->group_size[d], r->groups[d], pass->group_size[d], pass->groups[d]);
    return true;
}

// False and `e`: the declared resources, by which limits are judged before anything is compiled,
// are those of no pass, nor the most of all passes (which definitions declare).
static bool holds_what_it_declares(const struct resources *r, const struct resources *pass,
                                   int passes, struct err *e)
{
    struct err ignored;
    for (int i = passes - 1; i >= 0; i--)
        if (is_as_declared(r, &pass[i], &ignored))
            return true;
    struct resources most = pass[0];
    for (int i = 1; i < passes; i++) {
        most.shared_bytes = uint64_max(most.shared_bytes, pass[i].shared_bytes);
        for (int d = 0; d < 3; d++) {
            most.group_size[d] = uint64_max(most.group_size[d], pass[i].group_size[d]);
            most.groups[d] = uint64_max(most.groups[d], pass[i].groups[d]);
        }
    }
    return is_as_declared(r, &most, e);
}

static struct resources resources_of(const struct kernel_facts *f, const uint32_t groups[3])
{
    struct resources of = {.shared_bytes = f->shared_bytes};
    for (int d = 0; d < 3; d++) {
        of.group_size[d] = f->local_size[d];
        of.groups[d] = groups[d];
    }
    return of;
}

static bool make_pipeline(struct proof *p, const struct spirv *spirv, int bindings,
                          const struct kernel_facts *f, struct gpu_pass *to, struct err *e)
{
    uint32_t subgroup = kernel_subgroup(f, &gpu_get_info(p->gpu)->limits);
    const struct gpu_shader shader = {.word = spirv->word,
                                      .word_count = spirv->count,
                                      .bindings = bindings,
                                      .subgroup = subgroup,
                                      .local_x = f->local_size[0]};
    return gpu_pipeline_create(p->gpu, &shader, &to->pipeline, e) == GPU_OK;
}

static bool make_checked(struct proof *p, const struct spirv *spirv, const struct kernel_facts *f,
                         struct err *e)
{
    struct spirv checked;
    struct gpu_pass *pass = &p->checked[p->passes];
    memcpy(pass->groups, p->pass[p->passes].groups, sizeof pass->groups);
    bool ok = kernel_check_accesses(spirv, p->bytes, p->buffers, true, &checked, e) &&
              make_pipeline(p, &checked, p->buffers + 1, f, pass, e);
    spirv_finish(&checked);
    return ok;
}

static bool make_passes(struct proof *p, const struct job *job, const struct resources *declared,
                        struct err *e)
{
    const struct gpu_info *info = gpu_get_info(p->gpu);
    struct resources has[JOB_MAX_PASSES];
    for (int i = 0; i < job->pass_count; i++) {
        struct spirv spirv = {0};
        struct kernel_facts facts;
        char reason[200];
        if (!kernel_compile_pass(&job->pass[i], 0, &spirv, e) || !kernel_inspect(&spirv, &facts, e))
            return false;
        facts.subgroup = job->pass[i].subgroup;
        struct gpu_pass *pass = &p->pass[p->passes];
        memcpy(pass->groups, job->pass[i].groups, sizeof pass->groups);
        bool ok = !kernel_check(&facts, pass->groups, &info->limits, reason, sizeof reason) ||
                  err_set(e, "declared too little: %s", reason);
        has[i] = resources_of(&facts, pass->groups);
        ok = ok && make_pipeline(p, &spirv, p->buffers, &facts, pass, e) &&
             make_checked(p, &spirv, &facts, e);
        spirv_finish(&spirv);
        if (!ok)
            return false;
        p->passes++;
    }
    return holds_what_it_declares(declared, has, p->passes, e);
}

static bool check(struct proof *p, enum input_set set, struct err *e)
{
    char reason[200];
    uint64_t bytes = p->layout.buffer[p->output].bytes;
    if (!operator_compare(p->operation, set, p->result, p->reference, reason, sizeof reason).right)
        return err_set(e, "%s inputs: %s", set == INPUT_EXACT ? "exact" : "random", reason);
    for (int i = 0; i < GUARD; i++)
        if (((unsigned char *)p->result)[bytes + (uint64_t)i] != 0xff)
            return err_set(e, "writes past the end of the output");
    return true;
}

static bool try_inputs(struct proof *p, enum input_set set, uint64_t seed, bool *wrong,
                       struct err *e)
{
    for (int i = 0; i < p->output; i++) {
        operator_fill(p->operation, set, seed, i, p->input[i]);
        if (gpu_write(p->gpu, p->buffer[i], 0, p->input[i], p->layout.buffer[i].bytes, e) != GPU_OK)
            return false;
    }
    for (int i = p->output; i < p->buffers; i++)
        if (gpu_fill(p->gpu, p->buffer[i], UINT32_MAX, e) != GPU_OK)
            return false;
    uint64_t bytes = p->layout.buffer[p->output].bytes + GUARD;
    const struct gpu_sequence all = {p->pass, p->passes, p->buffer, p->buffers};
    if (gpu_run(p->gpu, &all, 1, TIMEOUT_S, NULL, e) != GPU_OK ||
        gpu_read(p->gpu, p->buffer[p->output], 0, p->result, bytes, e) != GPU_OK)
        return false;
    operator_reference(p->operation, (const void *const *)p->input, p->reference);
    *wrong = !check(p, set, e);
    return !*wrong;
}

// On what the run before left: the inputs are there still.
static bool stays_inside(struct proof *p, bool *wrong, struct err *e)
{
    uint32_t report;
    struct gpu_buffer *last = p->buffer[p->buffers];
    const struct gpu_sequence all = {p->checked, p->passes, p->buffer, p->buffers + 1};
    if (gpu_fill(p->gpu, last, 0, e) != GPU_OK ||
        gpu_run(p->gpu, &all, 1, TIMEOUT_S, NULL, e) != GPU_OK ||
        gpu_read(p->gpu, last, 0, &report, sizeof report, e) != GPU_OK)
        return false;
    *wrong = report != 0;
    return !*wrong || err_set(e, "leaves an array (%d)", kernel_outside_access(report));
}

static void finish(struct proof *p)
{
    for (int i = 0; i < p->passes; i++) {
        gpu_pipeline_destroy(p->gpu, p->pass[i].pipeline);
        gpu_pipeline_destroy(p->gpu, p->checked[i].pipeline);
    }
    for (int i = 0; i <= p->buffers; i++)
        gpu_buffer_destroy(p->gpu, p->buffer[i]);
    for (int i = 0; i < p->output; i++)
        free(p->input[i]);
    free(p->reference);
    free(p->result);
}

const char *proof_layer(const struct gpu *g)
{
    return g->messages    ? "messages of the validation layer"
           : g->messenger ? "the validation layer is silent"
                          : "no validation layer";
}

bool proof_run(struct gpu *g, struct script *s, const struct config *c, uint64_t seed, bool *wrong,
               struct err *e)
{
    struct job job;
    struct resources declared;
    const struct space *space = script_space(s);
    struct proof p = {.gpu = g, .operation = script_operation(s)};
    *wrong = false;
    p.layout = operator_layout(p.operation);
    p.output = p.layout.count - 1;
    if (!space->resources(space->resources_context, c, &declared, e) ||
        !script_render(s, c, &job, e))
        return false;
    bool ok = make_buffers(&p, job.scratch_bytes, e) && make_passes(&p, &job, &declared, e) &&
              try_inputs(&p, INPUT_EXACT, seed, wrong, e) &&
              try_inputs(&p, INPUT_RANDOM, seed, wrong, e) && stays_inside(&p, wrong, e);
    finish(&p);
    job_finish(&job);
    return ok;
}

struct gpu *proof_open(int *code)
{
    struct gpu_info *list = NULL;
    int count = 0;
    struct err e;
    gpu_prepare_environment();
    bool any = gpu_list(&list, &count, &e) && count > 0;
    free(list);
    *code = any ? 1 : 77;
    if (!any) {
        puts("skipped: no Vulkan device");
        return NULL;
    }
    kernel_setup();
    struct gpu *g = gpu_open(0, true, &e);
    return g ? g : gpu_open(0, false, &e); // the layer is not installed
}
