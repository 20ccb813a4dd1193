#include "trial/fault.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/os.h"
#include "trial/confine.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[FAULT_COUNT] = {
    [FAULT_NONE] = "none",     [FAULT_SLEEP] = "sleep",       [FAULT_ABORT] = "abort",
    [FAULT_SEGV] = "segv",     [FAULT_EXIT] = "exit",         [FAULT_GARBAGE] = "garbage",
    [FAULT_HALF] = "half",     [FAULT_WRONG] = "wrong",       [FAULT_LOST] = "lost",
    [FAULT_MEMORY] = "memory", [FAULT_COMPLAIN] = "complain", [FAULT_SLOW] = "slow",
    [FAULT_SPILL] = "spill",   [FAULT_ESCAPE] = "escape",
};

// Parses KIND@PHASE:N, and cuts the text up.
static bool parse_one(char *text, struct fault *out, struct err *e)
{
    char *phase = strchr(text, '@'), *number = phase ? strchr(phase, ':') : NULL;
    int kind = FAULT_NONE + 1, p = 0;
    if (!number)
        return err_set(e, "fault '%s' is not KIND@PHASE:N", text);
    *phase++ = '\0';
    *number++ = '\0';
    while (kind < FAULT_COUNT && !str_equal(text, kind_names[kind]))
        kind++;
    if (kind == FAULT_COUNT)
        return err_set(e, "unknown kind of fault '%s'", text);
    while (p < PHASE_COUNT && !str_equal(phase, trial_phase_name((enum trial_phase)p)))
        p++;
    if (p == PHASE_COUNT)
        return err_set(e, "unknown phase '%s' of fault '%s'", phase, text);
    *out = (struct fault){.kind = (enum fault_kind)kind, .phase = (enum trial_phase)p};
    char *slash = strchr(number, '/');
    if (slash) {
        *slash++ = '\0';
        if (!str_to_int(slash, 1, INT32_MAX, &out->one_of))
            return err_set(e, "'%s' of fault '%s' is no number", slash, text);
    }
    if (!str_equal(number, "*") && !str_to_int(number, 1, INT64_MAX, &out->number))
        return err_set(e, "number '%s' of fault '%s' is neither >= 1 nor *", number, text);
    return true;
}

bool fault_parse(const char *spec, struct fault_plan *out, struct err *e)
{
    *out = (struct fault_plan){0};
    rng_seed(&out->rng, 1);
    char *copy = mem_strdup(spec ? spec : ""), *rest = NULL;
    bool ok = true;
    for (char *one = strtok_r(copy, ",", &rest); ok && one; one = strtok_r(NULL, ",", &rest)) {
        if (out->count == FAULT_MAX)
            ok = err_set(e, "more than %d faults", FAULT_MAX);
        else
            ok = parse_one(one, &out->fault[out->count++], e);
    }
    free(copy);
    return ok;
}

enum fault_kind fault_find(struct fault_plan *p, enum trial_phase phase, int64_t number)
{
    for (int i = 0; i < p->count; i++) {
        const struct fault *f = &p->fault[i];
        if (f->phase != phase)
            continue;
        if (f->one_of ? (int64_t)rng_below(&p->rng, (uint64_t)f->one_of) < f->number
                      : f->number == 0 || f->number == number)
            return f->kind;
    }
    return FAULT_NONE;
}

void fault_strike(enum fault_kind kind, int fd)
{
    static const char garbage[] = {0, 0, 0, 5, '}', '{', 0, '\n', '\x80'};
    static const char half[] = {0, 0, 1, 0, '{', '"', 't', 'y', 'p'};
    ssize_t written = 0;
    int number = kind == FAULT_ABORT ? SIGABRT : SIGSEGV;
    switch (kind) {
    case FAULT_SLEEP: break;
    case FAULT_ABORT:
    case FAULT_SEGV:
        signal(number, SIG_DFL); // a sanitizer may have put a handler there
        raise(number);
        break;
    case FAULT_EXIT: _exit(7);
    case FAULT_GARBAGE: written = write(fd, garbage, sizeof garbage); break;
    case FAULT_HALF: written = write(fd, half, sizeof half); _exit(0);
    case FAULT_MEMORY: {
        // As in a shader's compiler, allocations use memory up to the limit of the process, and the
        // next one fails.
        enum { SOON_EXHAUSTED = 1 << 20 };
        os_limit_memory(SOON_EXHAUSTED);
        for (;;)
            memset(mem_alloc(SOON_EXHAUSTED), 1, SOON_EXHAUSTED);
    } break;
    case FAULT_COMPLAIN: log_warning("validation: [ injected ] at %" PRId64, os_now_ns()); return;
    case FAULT_ESCAPE: escape_try(); return;
    default: return;
    }
    (void)written;
    for (;;)
        pause();
}
