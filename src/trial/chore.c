#include "trial/chore.h"

#include "base/os.h"
#include "gpu/sensors.h"
#include "trial/fixed.h"
#include "trial/peaks.h"

#include <stdlib.h>

// As in rig.c: what runs wild must end this worker and not the machine.
static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    const uint64_t compiler_bytes = (uint64_t)8 << 30;
    os_limit_memory(compiler_bytes);
#endif
}

void chore_compile(struct wire *w, const struct job *job)
{
    struct spirv module[JOB_MAX_PASSES] = {{0}};
    struct kernel_facts facts;
    struct err e = {0};
    bool ok = true;
    limit_memory();
    kernel_setup();
    for (int i = 0; ok && i < job->pass_count; i++) {
        wire_enter(w, PHASE_COMPILE, i, 0);
        ok = kernel_compile_pass(&job->pass[i], &module[i], &e) &&
             kernel_inspect(&module[i], &facts, &e) &&
             kernel_check_use(&module[i], &facts, &job->pass[i], 0, &e);
    }
    wire_send(w, ok ? message_compiled(module, job->pass_count) : message_failed(&e));
}

void chore_preprocess(struct wire *w, const struct job *job)
{
    struct str text[JOB_MAX_PASSES] = {{0}};
    struct err e = {0};
    bool ok = true;
    limit_memory();
    kernel_setup();
    for (int i = 0; ok && i < job->pass_count; i++) {
        wire_enter(w, PHASE_COMPILE, i, 0);
        ok = kernel_preprocess_pass(&job->pass[i], &text[i], &e);
    }
    wire_send(w, ok ? message_preprocessed(text, job->pass_count) : message_failed(&e));
}

void chore_list(struct wire *w, const char *drivers)
{
    struct gpu_info *list;
    struct err e = {0};
    int count;
    if (drivers[0])
        gpu_use_drivers(drivers);
    gpu_prepare_environment();
    bool ok = gpu_list(&list, &count, &e);
    wire_send(w, ok ? message_devices(list, count) : message_failed(&e));
}

void chore_open(struct wire *w, int device, bool validate)
{
    struct err e = {0};
    struct clocks clocks = {.why = ""};
    gpu_prepare_environment();
    kernel_setup();
    struct gpu *g = gpu_open(device, validate, &e);
    struct fixed anchor = {0};
    if (g && gpu_get_info(g)->runs)
        clocks.anchor_s = anchor_time(&anchor, g);
    if (g)
        sensors_read(sensors_open(gpu_get_info(g), clocks.why, sizeof clocks.why), &clocks.now);
    wire_send(w, g ? message_opened(&clocks) : message_failed(&e));
}

void chore_peaks(struct wire *w, int device)
{
    struct err e = {0};
    struct roof roof;
    gpu_prepare_environment();
    kernel_setup();
    struct gpu *g = gpu_open(device, false, &e);
    bool ok = g && peaks_measure(g, &roof, &e) == GPU_OK;
    wire_send(w, ok ? message_roof(&roof) : message_failed(&e));
}
