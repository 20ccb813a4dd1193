#include "trial/device_reference.h"

#include "trial/candidate.h"

// Nobody else would notice: every candidate would be found wrong.
static bool is_written(const struct rig *r, const void *output, struct err *e)
{
    const struct operator_buffer *b = &r->layout.buffer[r->layout.count - 1];
    const uint32_t *word = output;
    for (uint64_t i = 0; i < b->bytes / sizeof *word; i++)
        if (word[i] == RIG_POISON_WORD)
            return err_set(e, "it leaves %s unwritten at byte %llu", b->name,
                           (unsigned long long)(i * sizeof *word));
    return true;
}

static bool run(struct rig *r, const struct candidate *c, enum input_set set, struct err *e)
{
    int output = r->layout.count - 1;
    void *result = shared_buffer(&r->shared, set, output);
    return rig_load(r, set, e) == GPU_OK &&
           gpu_run(r->gpu, c->pass, c->pass_count, 1, r->buffer, r->layout.count,
                   r->hello.deadline_s[PHASE_PREPARE], NULL, e) == GPU_OK &&
           gpu_read(r->gpu, r->buffer[output], 0, result, r->layout.buffer[output].bytes, e) ==
               GPU_OK &&
           is_written(r, result, e);
}

bool device_reference_compute(struct rig *r, const struct job *reference, struct err *e)
{
    struct candidate c = {0};
    struct failure why = {0};
    if (reference->pass_count == 0)
        return true;
    bool ok = candidate_compile(&c, reference, &r->hello.limits, r->layout.count, &why) ||
              err_set(e, "%s", why.reason);
    ok = ok && candidate_link(&c, r->gpu, r->layout.count, e) == GPU_OK;
    ok = ok && run(r, &c, INPUT_EXACT, e) && run(r, &c, INPUT_RANDOM, e);
    candidate_finish(&c, r->gpu);
    return ok || err_prefix(e, "the reference");
}
