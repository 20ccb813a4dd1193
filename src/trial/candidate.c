#include "trial/candidate.h"

#include "kernel/checked.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool __attribute__((format(printf, 3, 4)))
fail(struct failure *f, enum outcome o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    f->outcome = o;
    vsnprintf(f->reason, sizeof f->reason, format, args);
    va_end(args);
    return false;
}

// Checks the buffers that a job names by their numbers, apart from bindings.
static bool has_buffers(const struct candidate *c, const struct job_roles *roles,
                        struct failure *why)
{
    const struct job *j = c->job;
    for (int i = 0; i < j->pass_count; i++) {
        const struct pass *p = &j->pass[i];
        for (int k = 0; k < p->address_count; k++)
            if (p->address[k] >= c->bindings)
                return fail(why, OUTCOME_COMPILE, "it has the address of buffer %d of %d",
                            p->address[k], c->bindings);
        if (8 * (uint32_t)p->address_count > p->push.bytes)
            return fail(why, OUTCOME_COMPILE, "its addresses need more push constants");
    }
    for (int i = 0; i < c->begins; i++)
        if (c->begin[i].from >= roles->inputs)
            return fail(why, OUTCOME_COMPILE, "buffer %d begins as buffer %d, which is no input",
                        c->begin[i].to, c->begin[i].from);
    return true;
}

// Takes what the job says of buffers before a run.
static void take_begins(struct candidate *c)
{
    for (int i = 0; i < c->bindings && i < JOB_MAX_BUFFERS; i++) {
        int how = c->job->begin[i].how;
        if (how == BEGIN_KEPT)
            c->kept |= UINT32_C(1) << i;
        if (how == BEGIN_COPY || how == BEGIN_ZERO)
            c->begin[c->begins++] =
                (struct gpu_begin){i, how == BEGIN_COPY ? c->job->begin[i].from : -1};
    }
}

// Compiles pass `i`, or takes the module of an earlier one that has the same.
static bool compile_pass(struct candidate *c, int i, const struct limits *l, struct err *e)
{
    const struct pass *all = c->job->pass;
    int twin = 0;
    while (twin < i && (c->twin[twin] != twin || !pass_is_twin(&all[twin], &all[i])))
        twin++;
    if (twin < i)
        c->spirv[i] = c->spirv[twin];
    else if (!kernel_compile_pass(&all[i], l->spirv_minor, &c->spirv[i], e))
        return false;
    c->twin[i] = twin;
    c->pass_count = i + 1;
    return true;
}

// --- images, texel buffers and arrays ---

// Notes how a pass sees a buffer through a descriptor. False: another one sees it otherwise.
static bool take_form(struct candidate *c, const struct pass *p, enum descriptor kind, int buffer,
                      struct failure *why)
{
    const struct job_image *image = pass_image_of(p, buffer);
    uint32_t bit = UINT32_C(1) << buffer;
    if (!image || image->form.shape == IMAGE_TEXELS)
        return true;
    if (c->form[buffer] && !image_is_same(c->form[buffer], &image->form))
        return fail(why, OUTCOME_COMPILE, "two kernels see buffer %d as images of different forms",
                    buffer);
    c->form[buffer] = &image->form;
    c->images |= bit;
    *(kind == DESCRIPTOR_STORAGE_IMAGE ? &c->stored : &c->sampled) |= bit;
    return true;
}

// Notes the descriptors of pass `i`.
static bool take_descriptors(struct candidate *c, int i, const struct kernel_facts *f,
                             struct failure *why)
{
    const struct pass *p = &c->job->pass[i];
    if (!f->descriptor_count)
        return true;
    c->descriptor[i] = mem_zero((size_t)f->descriptor_count, sizeof *c->descriptor[i]);
    c->pass[i].descriptor = c->descriptor[i];
    c->pass[i].descriptors = f->descriptor_count;
    for (int n = 0; n < f->descriptor_count; n++) {
        struct gpu_descriptor *d = &c->descriptor[i][n];
        *d = (struct gpu_descriptor){.at = f->descriptor[n].at,
                                     .kind = f->descriptor[n].kind,
                                     .count = f->descriptor[n].count};
        for (uint32_t k = 0; d->kind != DESCRIPTOR_SAMPLER && k < d->count; k++) {
            int buffer = pass_buffer_at(p, d->at, k);
            const struct job_image *image = pass_image_of(p, buffer);
            if (buffer < 0 || buffer >= c->bindings)
                return fail(why, OUTCOME_COMPILE, "it uses buffer %d, there are only %d", buffer,
                            c->bindings);
            if (d->kind <= DESCRIPTOR_COMBINED && !image)
                return fail(why, OUTCOME_COMPILE, "it is not said how it sees buffer %d", buffer);
            if (!take_form(c, p, d->kind, buffer, why))
                return false;
            d->buffer[k] = (uint8_t)buffer;
            d->format[k] = image ? image->form.format : 0;
        }
    }
    return true;
}

// An image stands for its buffer in all passes: none may see the buffer itself meanwhile.
static bool has_one_home(const struct candidate *c, const struct kernel_facts *f,
                         const struct pass *p, uint32_t *plain, struct failure *why)
{
    *plain |= f->read | f->written;
    for (int i = 0; i < f->descriptor_count; i++)
        for (uint32_t k = 0; k < f->descriptor[i].count; k++) {
            enum descriptor kind = f->descriptor[i].kind;
            bool is_buffer = kind == DESCRIPTOR_BUFFER || kind == DESCRIPTOR_TEXELS ||
                             kind == DESCRIPTOR_STORAGE_TEXELS;
            int buffer = is_buffer ? pass_buffer_at(p, f->descriptor[i].at, k) : -1;
            *plain |= buffer >= 0 && buffer < 32 ? UINT32_C(1) << buffer : 0;
        }
    for (int i = 0; i < p->address_count; i++)
        *plain |= UINT32_C(1) << p->address[i] % 32;
    for (int i = 0; i < c->bindings; i++)
        if (*plain & c->images & UINT32_C(1) << i)
            return fail(why, OUTCOME_COMPILE,
                        "buffer %d is an image to one kernel and a buffer to another, which is not "
                        "possible",
                        i);
    return true;
}

// Notes the facts of a pass' module.
static void note_facts(struct candidate *c, int i, const struct kernel_facts *f,
                       const struct limits *l)
{
    const struct pass *p = &c->job->pass[i];
    c->subgroup[i] = kernel_subgroup(f, l);
    c->local_x[i] = f->local_size[0];
    c->has_loops |= f->has_loops;
    c->uses_group_count |= f->uses_group_count;
    c->reads |= f->read | kernel_descriptor_uses(f, p).read;
    for (int k = 0; k < p->address_count; k++)
        if (f->address_read >> k & 1)
            c->reads |= UINT32_C(1) << p->address[k];
    c->pass[i].push = p->push.byte;
    c->push_bytes[i] = p->push.bytes;
    c->pass[i].address = p->address;
    c->pass[i].addresses = p->address_count;
    c->pass[i].uniform = c->uniform[i];
    memcpy(c->pass[i].groups, p->groups, sizeof p->groups);
    c->packing += p->once;
}

bool candidate_compile(struct candidate *c, const struct job *j, const struct limits *l,
                       const struct job_roles *roles, struct failure *why)
{
    int bindings = roles->inputs + roles->outputs + (j->scratch_bytes > 0);
    uint32_t plain = 0; // buffers that are no images to a pass
    c->job = j;
    c->bindings = bindings;
    c->scratch_bytes = j->scratch_bytes;
    take_begins(c);
    if (j->pass_count < 1)
        return fail(why, OUTCOME_COMPILE, "the job has no pass");
    if (j->scratch_bytes > l->buffer_bytes)
        return fail(why, OUTCOME_REJECTED, "scratch buffer %" PRIu64 " bytes > %" PRIu64,
                    j->scratch_bytes, l->buffer_bytes);
    if (j->pass[j->pass_count - 1].once)
        return fail(why, OUTCOME_COMPILE, "all kernels run once: none is left to be timed");
    if (!has_buffers(c, roles, why))
        return false;
    for (int i = 0; i < j->pass_count; i++) {
        const struct pass *p = &j->pass[i];
        struct err e = {0}, raw = {0};
        char text[sizeof why->reason];
        struct kernel_facts facts;
        if (!compile_pass(c, i, l, &e))
            return fail(why, OUTCOME_COMPILE, "%s", err_format(&e, text, sizeof text));
        if (!kernel_inspect(&c->spirv[i], &facts, &raw)) {
            kernel_fail_given(p, &raw, &e);
            return fail(why, OUTCOME_COMPILE, "%s", err_format(&e, text, sizeof text));
        }
        facts.subgroup = p->subgroup;
        if (facts.bindings > (uint32_t)bindings)
            return fail(why, OUTCOME_COMPILE, "it uses binding %" PRIu32 ", there are only %d",
                        facts.bindings - 1, bindings);
        if (!kernel_check_use(&c->spirv[i], &facts, p, roles, &e))
            return fail(why, OUTCOME_COMPILE, "%s", err_format(&e, text, sizeof text));
        if (kernel_check(&facts, p->groups, l, text, sizeof text) ||
            !kernel_check_counts(&facts, bindings, l, text, sizeof text) ||
            !kernel_check_formats(&facts, p, l, text, sizeof text))
            return fail(why, OUTCOME_REJECTED, "%s", text);
        if (!take_descriptors(c, i, &facts, why) || !has_one_home(c, &facts, p, &plain, why))
            return false;
        if (p->once && c->packing < i)
            return fail(why, OUTCOME_COMPILE,
                        "a kernel that runs once stands behind one that does not");
        note_facts(c, i, &facts, l);
    }
    return true;
}

// Makes the uniform blocks of a pass.
static enum gpu_status make_uniforms(struct candidate *c, int i, struct gpu *g, struct err *e)
{
    const struct pass *p = &c->job->pass[i];
    enum gpu_status status = GPU_OK;
    for (int k = 0; k < p->uniform_count && status == GPU_OK; k++) {
        const struct job_block *b = &p->uniform[k].block;
        status = gpu_buffer_create(g, b->bytes ? b->bytes : sizeof(uint32_t), &c->uniform[i][k], e);
        if (status == GPU_OK)
            status = gpu_write(g, c->uniform[i][k], 0, b->byte, b->bytes, e);
    }
    return status;
}

static enum gpu_status make_images(struct candidate *c, struct gpu *g, struct err *e)
{
    enum gpu_status status = GPU_OK;
    for (int i = 0; i < c->bindings && i < JOB_MAX_BUFFERS && status == GPU_OK; i++)
        if (c->form[i])
            status = gpu_image_create(g, c->form[i], c->stored >> i & 1, c->sampled >> i & 1,
                                      &c->image[i], e);
    return status;
}

enum gpu_status candidate_link(struct candidate *c, struct gpu *g, struct err *e)
{
    enum gpu_status status = gpu_is_open_to_run(g) ? make_images(c, g, e) : GPU_OK;
    for (int i = 0; status == GPU_OK && i < c->pass_count; i++) {
        const struct gpu_shader shader = {.word = c->spirv[i].word,
                                          .word_count = c->spirv[i].count,
                                          .bindings = c->bindings,
                                          .uniforms = c->job->pass[i].uniform_count,
                                          .descriptor = c->pass[i].descriptor,
                                          .descriptors = c->pass[i].descriptors,
                                          .subgroup = c->subgroup[i],
                                          .local_x = c->local_x[i],
                                          .entry = kernel_entry(&c->spirv[i]),
                                          .push_bytes = c->push_bytes[i]};
        if (c->twin[i] < i)
            c->pass[i].pipeline = c->pass[c->twin[i]].pipeline;
        else
            status = gpu_pipeline_create(g, &shader, &c->pass[i].pipeline, e);
        if (status == GPU_OK && gpu_is_open_to_run(g))
            status = make_uniforms(c, i, g, e);
    }
    return status;
}

struct gpu_sequence candidate_sequence(const struct candidate *c, int first,
                                       struct gpu_buffer *const *buffer)
{
    return (struct gpu_sequence){.pass = c->pass + first,
                                 .pass_count = c->pass_count - first,
                                 .buffer = buffer,
                                 .buffer_count = c->bindings,
                                 .begin = c->begin,
                                 .begins = c->begins,
                                 .image = c->images ? c->image : NULL};
}

enum gpu_status candidate_zero_kept(const struct candidate *c, struct gpu *g,
                                    struct gpu_buffer *const *buffer, struct err *e)
{
    enum gpu_status status = GPU_OK;
    for (int i = 0; i < c->bindings && status == GPU_OK; i++)
        if (c->kept >> i & 1)
            status = gpu_fill_content(g, buffer[i], 0, e);
    return status;
}

enum gpu_status candidate_pack(const struct candidate *c, struct gpu *g,
                               struct gpu_buffer *const *buffer, double timeout_s, struct err *e)
{
    const struct gpu_sequence packing = {.pass = c->pass,
                                         .pass_count = c->packing,
                                         .buffer = buffer,
                                         .buffer_count = c->bindings,
                                         .image = c->images ? c->image : NULL};
    double seconds;
    return c->packing ? gpu_run(g, &packing, 1, timeout_s, &seconds, e) : GPU_OK;
}

enum gpu_status candidate_run(const struct candidate *c, struct gpu *g,
                              struct gpu_buffer *const *buffer, const struct gpu_pace *pace,
                              struct gpu_parts *out, struct err *e)
{
    enum gpu_status status = candidate_pack(c, g, buffer, pace->timeout_s, e);
    return status == GPU_OK ? candidate_run_packed(c, g, buffer, pace, out, e) : status;
}

enum gpu_status candidate_run_packed(const struct candidate *c, struct gpu *g,
                                     struct gpu_buffer *const *buffer, const struct gpu_pace *pace,
                                     struct gpu_parts *out, struct err *e)
{
    const struct gpu_sequence timed = candidate_sequence(c, c->packing, buffer);
    *out = (struct gpu_parts){0};
    if (c->uses_group_count)
        return gpu_run(g, &timed, 1, pace->timeout_s, &out->seconds, e);
    return gpu_run_in_parts(g, &timed, pace, out, e);
}

bool candidate_check_accesses(const struct candidate *c, const uint64_t *bytes, bool roll,
                              struct candidate *out, struct err *e)
{
    *out = *c;
    out->bindings = c->bindings + 1;
    memset(out->spirv, 0, sizeof out->spirv);
    memset(out->uniform, 0, sizeof out->uniform);
    memset(out->image, 0, sizeof out->image);
    memset(out->descriptor, 0, sizeof out->descriptor); // those of `c` outlive it
    for (int i = 0; i < c->pass_count; i++) {
        out->pass[i].pipeline = NULL;
        out->pass[i].uniform = out->uniform[i];
        out->pass_count = i + 1;
        if (c->twin[i] < i)
            out->spirv[i] = out->spirv[c->twin[i]];
        else if (!kernel_check_accesses(&c->spirv[i], bytes, c->bindings, roll, &out->spirv[i], e))
            return false;
    }
    return true;
}

void candidate_finish(struct candidate *c, struct gpu *g)
{
    for (int i = 0; i < c->pass_count; i++) {
        for (int k = 0; k < JOB_MAX_UNIFORMS; k++)
            gpu_buffer_destroy(g, c->uniform[i][k]);
        free(c->descriptor[i]);
        if (c->twin[i] < i)
            continue;
        if (c->pass[i].pipeline)
            gpu_pipeline_destroy(g, c->pass[i].pipeline);
        spirv_finish(&c->spirv[i]);
    }
    for (int i = 0; i < JOB_MAX_BUFFERS; i++)
        gpu_image_destroy(g, c->image[i]);
    *c = (struct candidate){0};
}
