#include "kernel/job.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_words(const struct job_block *b, struct str *out)
{
    for (uint32_t at = 0; at < b->bytes; at += 4) {
        uint32_t word = 0;
        memcpy(&word, b->byte + at, b->bytes - at < 4 ? b->bytes - at : 4);
        str_printf(out, " %" PRIu32, word);
    }
}

void pass_add_given(const struct pass *p, struct str *out)
{
    const char *before = "";
    if (p->constant_count)
        str_add(out, "constants");
    for (int i = 0; i < p->constant_count; i++, before = "; ") {
        str_printf(out, " %" PRIu32 "=", p->constant[i].id);
        if (p->constant[i].is_bool)
            str_add(out, p->constant[i].value != 0 ? "true" : "false");
        else
            str_add_real(out, p->constant[i].value);
    }
    if (p->push.bytes) {
        str_printf(out, "%spush constants", before);
        add_words(&p->push, out);
        before = "; ";
    }
    if (p->address_count)
        str_printf(out, "%sthe first of them addresses of buffers", before);
    for (int i = 0; i < p->address_count; i++, before = "; ")
        str_printf(out, " %d", p->address[i]);
    for (int i = 0; i < p->uniform_count; i++, before = "; ") {
        str_printf(out, "%suniform block %d.%d", before, p->uniform[i].set, p->uniform[i].binding);
        add_words(&p->uniform[i].block, out);
    }
    for (int i = 0; i < p->image_count; i++, before = "; ") {
        const struct image_form *f = &p->image[i].form;
        str_printf(out, "%sbuffer %d as %s %s", before, p->image[i].buffer,
                   texel_traits[f->format].name, image_shape_name((enum image_shape)f->shape));
        if (f->width)
            str_printf(out, " %" PRIu32 "x%" PRIu32 "x%" PRIu32, f->width, f->height, f->depth);
    }
    if (p->binding_count)
        str_printf(out, "%sbuffers of bindings", before);
    for (int i = 0; i < p->binding_count; i++)
        if (p->binding[i].set)
            str_printf(out, " %d.%d=%d", p->binding[i].set, p->binding[i].binding,
                       p->binding[i].buffer);
        else
            str_printf(out, " %d", p->binding[i].buffer);
}

static bool same_text(const char *a, const char *b)
{
    return str_equal(a ? a : "", b ? b : "");
}

bool pass_is_twin(const struct pass *a, const struct pass *b)
{
    bool same = a->subgroup == b->subgroup && a->constant_count == b->constant_count &&
                a->binding_count == b->binding_count && a->uniform_count == b->uniform_count &&
                a->image_count == b->image_count &&
                memcmp(a->local_size, b->local_size, sizeof a->local_size) == 0 &&
                same_text(a->entry, b->entry);
    for (int i = 0; same && i < a->constant_count; i++) {
        const struct spec_constant *x = &a->constant[i], *y = &b->constant[i];
        same = x->id == y->id && x->is_bool == y->is_bool && x->value == y->value;
    }
    for (int i = 0; same && i < a->binding_count; i++) {
        const struct job_binding *x = &a->binding[i], *y = &b->binding[i];
        same = x->set == y->set && x->binding == y->binding && x->element == y->element &&
               x->buffer == y->buffer;
    }
    for (int i = 0; same && i < a->image_count; i++)
        same = a->image[i].buffer == b->image[i].buffer &&
               image_is_same(&a->image[i].form, &b->image[i].form);
    for (int i = 0; same && i < a->uniform_count; i++)
        same = a->uniform[i].set == b->uniform[i].set &&
               a->uniform[i].binding == b->uniform[i].binding;
    return same && str_equal(a->glsl, b->glsl);
}

struct job_uniform *pass_add_uniform(struct pass *p)
{
    p->uniform = mem_resize(p->uniform, (size_t)p->uniform_count + 1, sizeof *p->uniform);
    struct job_uniform *u = &p->uniform[p->uniform_count++];
    *u = (struct job_uniform){0};
    return u;
}

const struct job_image *pass_image_of(const struct pass *p, int buffer)
{
    for (int i = 0; i < p->image_count; i++)
        if (p->image[i].buffer == buffer)
            return &p->image[i];
    return NULL;
}

struct job_image *pass_add_image(struct pass *p)
{
    p->image = mem_resize(p->image, (size_t)p->image_count + 1, sizeof *p->image);
    p->image[p->image_count] = (struct job_image){0};
    return &p->image[p->image_count++];
}

int pass_buffer_at(const struct pass *p, uint32_t at, uint32_t element)
{
    uint32_t i = at + element;
    return !p->binding_count ? (int)i : i < (uint32_t)p->binding_count ? p->binding[i].buffer : -1;
}

struct pass *job_add_pass(struct job *j)
{
    j->pass = mem_resize(j->pass, (size_t)j->pass_count + 1, sizeof *j->pass);
    struct pass *p = &j->pass[j->pass_count++];
    *p = (struct pass){0};
    return p;
}

void job_finish(struct job *j)
{
    for (int i = 0; i < j->pass_count; i++) {
        free(j->pass[i].glsl);
        free(j->pass[i].template_name);
        free(j->pass[i].space_name);
        free(j->pass[i].line_map);
        free(j->pass[i].uniform);
        free(j->pass[i].image);
        free(j->pass[i].entry);
    }
    free(j->pass);
    *j = (struct job){0};
}
