#include "trial/device_reference.h"

#include "trial/candidate.h"

#define OTHER_WORD 0x5a5a5a5au

static bool run(struct rig *r, const struct candidate *c, enum input_set set, uint32_t before,
                void *result, struct err *e)
{
    int output = r->layout.count - 1;
    const struct gpu_sequence all = candidate_sequence(c, r->buffer);
    return rig_load(r, set, e) == GPU_OK &&
           gpu_fill(r->gpu, r->buffer[output], before, e) == GPU_OK &&
           gpu_run(r->gpu, &all, 1, r->hello.deadline_s[PHASE_PREPARE], NULL, e) == GPU_OK &&
           gpu_read(r->gpu, r->buffer[output], 0, result, r->layout.buffer[output].bytes, e) ==
               GPU_OK;
}

// Nobody else would notice what is left unwritten: every candidate would be found wrong. An integer
// may be what lay there before; only what keeps another word too was not written.
static bool compute(struct rig *r, const struct candidate *c, enum input_set set, struct err *e)
{
    const struct operator_buffer *b = &r->layout.buffer[r->layout.count - 1];
    uint64_t words = b->bytes / sizeof(uint32_t), at = 0;
    uint32_t *result = shared_buffer(&r->shared, set, r->layout.count - 1);
    uint32_t *again = (void *)r->fetched;
    if (!run(r, c, set, RIG_POISON_WORD, result, e))
        return false;
    while (at < words && result[at] != RIG_POISON_WORD)
        at++;
    if (at == words)
        return true;
    if (!run(r, c, set, OTHER_WORD, again, e))
        return false;
    for (; at < words; at++)
        if (result[at] == RIG_POISON_WORD && again[at] == OTHER_WORD)
            return err_set(e, "it leaves %s unwritten at byte %llu", b->name,
                           (unsigned long long)(at * sizeof *result));
    return true;
}

bool device_reference_compute(struct rig *r, const struct job *reference, struct err *e)
{
    struct candidate c = {0};
    struct failure why = {0};
    if (reference->pass_count == 0)
        return true;
    bool ok = candidate_compile(&c, reference, &r->hello.limits, r->layout.count, &why) ||
              err_set(e, "%s", why.reason);
    ok = ok && candidate_link(&c, r->gpu, e) == GPU_OK;
    ok = ok && compute(r, &c, INPUT_EXACT, e) && compute(r, &c, INPUT_RANDOM, e);
    candidate_finish(&c, r->gpu);
    return ok || err_prefix(e, "the reference");
}
