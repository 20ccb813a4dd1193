// The worker process: message.h has its messages, measure.h measures a trial, helper_job.h is the
// other side of its helper jobs.

#include "base/err.h"
#include "base/mem.h"
#include "base/os.h"
#include "gpu/gpu.h"
#include "trial/confine.h"
#include "trial/frame.h"
#include "trial/measure.h"
#include "trial/peaks.h"
#include "trial/source.h"
#include "trial/whole.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { SOCKET_FD = 3, SHARED_FD = 4 };

struct worker {
    struct wire wire;
    struct message first; // the context borrows from a hello
    struct context context;
};

static bool refuse(struct worker *w, const struct err *e)
{
    wire_send(&w->wire, message_failed(e));
    return false;
}

// --- a pool's worker. The functions return false when the worker is to end ---

static bool start(struct worker *w)
{
    const struct hello *hello = &w->first.hello;
    struct err e = {0};
    bool ok = fault_parse(hello->fault, &w->wire.plan, &e);
    if (ok) {
        wire_enter(&w->wire, PHASE_START, 0, hello->start);
        ok = context_open(&w->context, hello, &e);
    }
    if (!ok)
        return refuse(w, &e);
    wire_send(&w->wire, message_plain(MESSAGE_READY));
    return true;
}

static bool measure(struct worker *w, const struct message *trial)
{
    struct err e = {0};
    const int64_t matches_only_every = -1;
    wire_enter(&w->wire, PHASE_NONE, 0, trial->attempt == 0 ? trial->number : matches_only_every);
    bool measures = !w->context.hello.only_compiles && !w->context.hello.warms;
    if (!measures && !trial->request.only_compiles)
        return err_set(&e, "it only compiles") || refuse(w, &e);
    if (!trial->request.only_compiles && !w->context.shared.bytes &&
        !shared_map(&w->context.shared, &w->context.hello.operation, SHARED_FD, false, &e))
        return refuse(w, &e);
    return measure_trial(&w->context, &w->wire, trial);
}

static bool serve(struct worker *w)
{
    struct message m;
    struct err e = {0};
    bool goes_on = false;
    wire_receive(&w->wire, &m);
    if (m.type == MESSAGE_PREPARE) {
        wire_enter(&w->wire, PHASE_PREPARE, 0, w->context.hello.start);
        goes_on = context_prepare(&w->context, SHARED_FD, &e) || refuse(w, &e);
        if (goes_on)
            wire_send(&w->wire, message_plain(MESSAGE_PREPARED));
    } else if (m.type == MESSAGE_TRIAL)
        goes_on = measure(w, &m);
    else if (m.type == MESSAGE_GO) {
        goes_on = w->context.hello.warms || err_set(&e, "it warms nothing");
        while (goes_on && !wire_has(&w->wire))
            goes_on = anchor_run(&w->context.anchor, w->context.gpu, &e);
        if (goes_on) {
            wire_expect(&w->wire, MESSAGE_REST);
            wire_send(&w->wire, message_plain(MESSAGE_READY));
        } else {
            refuse(w, &e);
        }
    }
    message_finish(&m);
    return goes_on;
}

// --- helper jobs: one thing is done, and answered ---

static bool check_version(const struct kernel_facts *f, const struct job *j, const struct pass *p,
                          struct err *e)
{
    struct err raw = {0};
    return kernel_check_version(f, j->spirv_minor, raw.text, sizeof raw.text) ||
           kernel_fail_given(p, &raw, e);
}

// Compiles or preprocesses the passes of a job. A compiler that needs too much memory must end this
// worker and not the machine.
static void compile(struct worker *w)
{
    const struct job *job = &w->first.request.job[0];
    bool preprocesses = w->first.type == MESSAGE_PREPROCESS, ok = true;
    struct message answer = {.type = MESSAGE_FAILED};
    struct kernel_facts facts;
    struct err *e = &answer.failure;
#ifndef __SANITIZE_ADDRESS__
    os_limit_memory((uint64_t)8 << 30);
#endif
    kernel_setup();
    for (int i = 0; ok && i < job->pass_count; i++) {
        const struct pass *pass = &job->pass[i];
        wire_enter(&w->wire, PHASE_COMPILE, i, 0);
        if (preprocesses) {
            struct str text = {0};
            ok = kernel_preprocess_pass(pass, &text, e);
            answer.text[answer.text_count++] = str_take(&text);
        } else {
            struct spirv *module = &answer.module[answer.module_count++];
            ok = kernel_compile_pass(pass, job->spirv_minor, module, e) &&
                 kernel_inspect(module, &facts, e) && check_version(&facts, job, pass, e) &&
                 kernel_check_use(module, &facts, pass, &job->roles, e);
        }
    }
    if (ok)
        answer.type = preprocesses ? MESSAGE_PREPROCESSED : MESSAGE_COMPILED;
    wire_send(&w->wire, message_text(&answer));
}

// Opens a device, and measures its clocks or its peaks.
static void open_device(struct worker *w)
{
    bool opens = w->first.type == MESSAGE_OPEN;
    struct message answer = {.type = MESSAGE_FAILED};
    struct clocks *clocks = &answer.clocks;
    struct fixed anchor = {0};
    gpu_prepare_environment();
    kernel_setup();
    struct gpu *g = gpu_open(w->first.device, opens && w->first.validate, &answer.failure);
    if (g && opens) {
        answer.type = MESSAGE_OPENED;
        const struct gpu_info *info = gpu_get_info(g);
        if (info->runs)
            clocks->anchor_s = anchor_time(&anchor, g);
        double watts;
        struct sensors *sensors = sensors_open(info, clocks->why, sizeof clocks->why);
        sensors_read(sensors, &clocks->now);
        clocks->tells_power =
            statistics_find(&clocks->now, "watts", &watts) || !isnan(sensors_joules(sensors));
    } else if (g && peaks_measure(g, &answer.roofline, &answer.failure) == GPU_OK) {
        answer.type = MESSAGE_ROOF;
    }
    wire_send(&w->wire, message_text(&answer));
}

int worker_main(void)
{
    struct sandbox_state confined = confine_worker(); // doctor shows what the system supports
    if (confined.capabilities != SANDBOX_HOLDS && !sandbox_is_off())
        log_warning("a worker could not give up its capabilities (`tilewalk doctor` lists what "
                    "holds here)");
    struct worker *w = mem_zero(1, sizeof *w);
    link_init(&w->wire.link, SOCKET_FD, FRAME_MAX_BYTES);
    wire_receive(&w->wire, &w->first);
    mem_fail_as(message_type_name(w->first.type));
    switch (w->first.type) {
    case MESSAGE_HELLO:
        for (bool goes_on = start(w); goes_on;)
            goes_on = serve(w);
        break;
    case MESSAGE_COMPILE:
    case MESSAGE_PREPROCESS: compile(w); break;
    case MESSAGE_LIST: {
        struct message answer = {.type = MESSAGE_FAILED};
        if (w->first.drivers[0])
            gpu_use_drivers(w->first.drivers);
        gpu_prepare_environment();
        if (gpu_list(&answer.device_list, &answer.device_count, &answer.failure))
            answer.type = MESSAGE_DEVICES;
        wire_send(&w->wire, message_text(&answer));
    } break;
    case MESSAGE_OPEN:
    case MESSAGE_PEAKS: open_device(w); break;
    case MESSAGE_WHOLE: whole_run(&w->wire, w->first.whole, SHARED_FD); break;
    default: refuse(w, &(struct err){.text = "nothing begins with this message"});
    }
    _exit(EXIT_SUCCESS); // a driver that was lost or hangs is not asked to clean up
}
