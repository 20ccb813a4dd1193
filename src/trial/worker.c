// The worker process: see message.h for the conversation, measure.h for a trial, errand.h for what
// it does alone.

#include "base/mem.h"
#include "base/os.h"
#include "gpu/sensors.h"
#include "trial/confine.h"
#include "trial/frame.h"
#include "trial/measure.h"
#include "trial/peaks.h"
#include "trial/source.h"
#include "trial/whole.h"

#include <stdlib.h>
#include <unistd.h>

// A worker's side of an errand (errand.h): one thing is done, and answered over the wire.

void chore_list(struct wire *w, const char *drivers); // as VK_DRIVER_FILES, "": as it is

// As in rig.c: what runs wild must end this worker and not the machine.
static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    const uint64_t compiler_bytes = (uint64_t)8 << 30;
    os_limit_memory(compiler_bytes);
#endif
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

static void chore_open(struct wire *w, int device, bool validate)
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

static void chore_peaks(struct wire *w, int device)
{
    struct err e = {0};
    struct roofline roofline;
    gpu_prepare_environment();
    kernel_setup();
    struct gpu *g = gpu_open(device, false, &e);
    bool ok = g && peaks_measure(g, &roofline, &e) == GPU_OK;
    wire_send(w, ok ? message_roof(&roofline) : message_failed(&e));
}

enum { SOCKET_FD = 3, SHARED_FD = 4 };

struct worker {
    struct wire wire;
    struct message first; // the rig uses what a hello holds
    struct rig rig;
};

static bool refuse(struct worker *w, const struct err *e)
{
    wire_send(&w->wire, message_failed(e));
    return false;
}

static bool start(struct worker *w)
{
    const struct hello *hello = &w->first.hello;
    struct err e = {0};
    bool ok = fault_parse(hello->fault, &w->wire.plan, &e);
    if (ok) {
        wire_enter(&w->wire, PHASE_START, 0, hello->start);
        ok = rig_open(&w->rig, hello, &e);
    }
    if (!ok)
        return refuse(w, &e);
    wire_send(&w->wire, message_plain(MESSAGE_READY));
    return true;
}

static bool prepare(struct worker *w)
{
    struct err e = {0};
    wire_enter(&w->wire, PHASE_PREPARE, 0, w->rig.hello.start);
    if (!rig_prepare(&w->rig, SHARED_FD, &e))
        return refuse(w, &e);
    wire_send(&w->wire, message_plain(MESSAGE_PREPARED));
    return true;
}

static bool measure(struct worker *w, const struct message *trial)
{
    struct err e = {0};
    const int64_t matches_only_every = -1;
    wire_enter(&w->wire, PHASE_NONE, 0, trial->attempt == 0 ? trial->number : matches_only_every);
    bool measures = !w->rig.hello.only_compiles && !w->rig.hello.warms;
    if (!measures && !trial->request.only_compiles)
        return err_set(&e, "it only compiles") || refuse(w, &e);
    if (!trial->request.only_compiles && !rig_attach(&w->rig, SHARED_FD, &e))
        return refuse(w, &e);
    return measure_trial(&w->rig, &w->wire, trial);
}

static bool warm(struct worker *w)
{
    struct err e = {0};
    if (!w->rig.hello.warms)
        return err_set(&e, "it warms nothing") || refuse(w, &e);
    while (!wire_has(&w->wire))
        if (!anchor_burn(&w->rig.anchor, w->rig.gpu, &e))
            return refuse(w, &e);
    wire_expect(&w->wire, MESSAGE_REST);
    wire_send(&w->wire, message_plain(MESSAGE_READY));
    return true;
}

static bool answer(struct worker *w)
{
    struct message m;
    bool go_on = false;
    wire_receive(&w->wire, &m);
    if (m.type == MESSAGE_PREPARE)
        go_on = prepare(w);
    else if (m.type == MESSAGE_TRIAL)
        go_on = measure(w, &m);
    else if (m.type == MESSAGE_GO)
        go_on = warm(w);
    message_finish(&m);
    return go_on;
}

static void serve(struct worker *w)
{
    if (start(w))
        while (answer(w))
            continue;
}

int worker_main(void)
{
    confine_worker(); // whatever part holds here: doctor tells
    struct worker *w = mem_zero(1, sizeof *w);
    link_init(&w->wire.link, SOCKET_FD, FRAME_MAX_BYTES);
    wire_receive(&w->wire, &w->first);
    switch (w->first.type) {
    case MESSAGE_HELLO: serve(w); break;
    case MESSAGE_COMPILE: {
        struct spirv module[JOB_MAX_PASSES] = {{0}};
        struct kernel_facts facts;
        struct err e = {0};
        bool ok = true;
        limit_memory();
        kernel_setup();
        for (int i = 0; ok && i < w->first.request.job[0].pass_count; i++) {
            wire_enter(&w->wire, PHASE_COMPILE, i, 0);
            ok = kernel_compile_pass(&w->first.request.job[0].pass[i], &module[i], &e) &&
                 kernel_inspect(&module[i], &facts, &e) &&
                 kernel_check_use(&module[i], &facts, &w->first.request.job[0].pass[i], 0, &e);
        }
        wire_send(&w->wire, ok ? message_compiled(module, w->first.request.job[0].pass_count)
                               : message_failed(&e));
    } break;
    case MESSAGE_PREPROCESS: {
        struct str text[JOB_MAX_PASSES] = {{0}};
        struct err e = {0};
        bool ok = true;
        limit_memory();
        kernel_setup();
        for (int i = 0; ok && i < w->first.request.job[0].pass_count; i++) {
            wire_enter(&w->wire, PHASE_COMPILE, i, 0);
            ok = kernel_preprocess_pass(&w->first.request.job[0].pass[i], &text[i], &e);
        }
        wire_send(&w->wire, ok ? message_preprocessed(text, w->first.request.job[0].pass_count)
                               : message_failed(&e));
    } break;
    case MESSAGE_LIST: chore_list(&w->wire, w->first.drivers); break;
    case MESSAGE_OPEN: chore_open(&w->wire, w->first.device, w->first.validate); break;
    case MESSAGE_PEAKS: chore_peaks(&w->wire, w->first.device); break;
    case MESSAGE_WHOLE: whole_run(&w->wire, w->first.whole, SHARED_FD); break;
    default: refuse(w, &(struct err){.text = "nothing begins with this message"});
    }
    _exit(EXIT_SUCCESS); // a driver that was lost or hangs is not asked to clean up
}
