#include "trial/helper_job.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "trial/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS   ((int64_t)1000000)
#define SLOW_NS (5000 * MS_NS) // of listing devices: then the user should know what is waited for

struct helper_job {
    struct slot slot;
    struct deadline deadline;
    char late[64];                  // the error after the deadline
    enum trial_phase phase;         // announced last
    int candidate;                  // a pass, a task, a layer: the subject of the phase
    bool moves;                     // each phase moves the deadline
    double deadline_s[PHASE_COUNT]; // then: of each
};

// Passes a worker's own warnings on; the lines of drivers are dropped.
static void helper_job_log_line(void *context, int worker, const char *line)
{
    static const char warning[] = "tilewalk: warning: ";
    (void)context, (void)worker;
    if (str_starts(line, warning))
        log_warning("%s", line + sizeof warning - 1);
}

static void set_deadline(struct helper_job *h, double seconds)
{
    deadline_set(&h->deadline, h->slot.child.pid, seconds, os_now_ns());
    snprintf(h->late, sizeof h->late, "did not end in %.3g s", seconds);
}

static bool start(struct helper_job *h, char *request, double seconds, int shared, struct err *e)
{
    char *program = path_program();
    *h = (struct helper_job){.candidate = 0};
    slot_init(&h->slot, 0);
    set_deadline(h, seconds);
    bool ok = slot_start(&h->slot, program, shared, e);
    free(program);
    h->slot.link.cap = FRAME_MAX_BYTES;
    if (!ok)
        free(request);
    return ok && (slot_send(&h->slot, request) || err_set(e, "its text is too long to be sent"));
}

static void wait_until(const struct helper_job *h, int64_t wake_ns)
{
    struct pollfd fds[SLOT_FDS];
    int64_t left_ns = wake_ns - os_now_ns();
    if (left_ns > 0)
        poll(fds, (nfds_t)slot_fds(&h->slot, fds), (int)(left_ns / MS_NS) + 1);
}

static enum helper_job_end lose(struct err *e, const char *how)
{
    err_set(e, "%s", how);
    return HELPER_JOB_LOST;
}

// Finds out how a worker ended that has closed its socket or sends garbage.
static enum helper_job_end reap(struct helper_job *h, struct err *e)
{
    char how[64], text[320];
    slot_let_end(&h->slot, os_now_ns());
    while (!slot_reap(&h->slot, os_now_ns(), how, sizeof how)) {
        int64_t now_ns = os_now_ns();
        if (slot_is_stuck(&h->slot, now_ns))
            return lose(e, "hangs in the kernel");
        wait_until(h, slot_wake_ns(&h->slot, now_ns));
    }
    slot_read_log(&h->slot, helper_job_log_line, NULL);
    const char *last = h->slot.last_line;
    snprintf(text, sizeof text, "%s%s%s%s", how, last[0] ? " (" : "", last, last[0] ? ")" : "");
    return lose(e, text);
}

// Reads what the worker has sent. True: the job is over; after HELPER_JOB_DONE `answer` has the
// wanted type.
static bool look(struct helper_job *h, enum message_type wanted, enum helper_job_end *end,
                 struct message *answer, struct err *e)
{
    enum link_status status = LINK_NONE;
    char *text = NULL;
    bool answered = false;
    link_flush(&h->slot.link);
    link_fill(&h->slot.link);
    while (!answered && (status = link_next(&h->slot.link, &text)) == LINK_FRAME) {
        if (!message_parse(text, answer, NULL))
            answer->type = MESSAGE_TYPE_COUNT;
        free(text);
        answered = answer->type != MESSAGE_PHASE;
        if (answered)
            continue;
        h->phase = answer->phase;
        h->candidate = answer->candidate;
        if (h->moves)
            set_deadline(h, h->deadline_s[h->phase]);
        message_finish(answer);
    }
    slot_read_log(&h->slot, helper_job_log_line, NULL);
    if (answered && answer->type == wanted) {
        *end = HELPER_JOB_DONE;
    } else if (answered) {
        *end = HELPER_JOB_REFUSED;
        if (answer->type != MESSAGE_FAILED)
            *end = lose(e, "sent garbage");
        else if (e)
            *e = answer->failure;
        message_finish(answer);
    } else if (status != LINK_NONE) {
        *end = reap(h, e);
    } else if (deadline_is_over(&h->deadline, h->slot.child.pid, os_now_ns())) {
        *end = lose(e, h->late);
    } else {
        return false;
    }
    return true;
}

// Starts a worker and waits for its answer, which is the caller's to finish after HELPER_JOB_DONE
// only.
static enum helper_job_end run(struct helper_job *h, char *request, double seconds,
                               enum message_type wanted, struct message *answer, struct err *e)
{
    enum helper_job_end end = HELPER_JOB_REFUSED;
    bool started = start(h, request, seconds, -1, e);
    int64_t slow_ns = wanted == MESSAGE_DEVICES ? os_now_ns() + SLOW_NS : INT64_MAX;
    while (started && !look(h, wanted, &end, answer, e)) {
        if (os_now_ns() >= slow_ns) {
            log_warning("waiting for Vulkan drivers to list their devices");
            slow_ns = INT64_MAX;
        }
        wait_until(h, int64_min(slow_ns, h->deadline.at_ns));
    }
    slot_finish(&h->slot);
    return end;
}

// --- compilers ---

// Lets a worker compile or preprocess a job. True: the answer has a module or text for each pass,
// and is the caller's to finish. False: where the worker was lost, the error names the template.
static bool run_compiler(const struct job *job, enum message_type type, double seconds,
                         enum message_type wanted, struct message *answer, struct err *e)
{
    struct helper_job h;
    struct err how = {0};
    struct message request = {.type = type, .request.job = {*job}};
    enum helper_job_end end = run(&h, message_text(&request), seconds, wanted, answer, &how);
    if (end == HELPER_JOB_DONE) {
        int count = wanted == MESSAGE_COMPILED ? answer->module_count : answer->text_count;
        if (count == job->pass_count)
            return true;
        message_finish(answer);
        end = lose(&how, "sent garbage");
    }
    if (end == HELPER_JOB_REFUSED && e)
        *e = how;
    if (end == HELPER_JOB_LOST)
        err_at(
            e, kernel_pass_file(&job->pass[h.candidate < job->pass_count ? h.candidate : 0]), 0,
            "its GLSL cannot be compiled: the compiler %s (shorter expressions, fewer cases, fewer "
            "macros within macros help, or another --glslang)",
            how.text);
    return false;
}

bool helper_job_compile(const struct job *job, double seconds, struct spirv *spirv, struct err *e)
{
    struct message answer;
    if (!run_compiler(job, MESSAGE_COMPILE, seconds, MESSAGE_COMPILED, &answer, e))
        return false;
    for (int i = 0; spirv && i < answer.module_count; i++) {
        spirv[i] = answer.module[i];
        answer.module[i] = (struct spirv){0};
    }
    message_finish(&answer);
    return true;
}

bool helper_job_preprocess(const struct job *job, double seconds, char **text, struct err *e)
{
    struct message answer;
    if (!run_compiler(job, MESSAGE_PREPROCESS, seconds, MESSAGE_PREPROCESSED, &answer, e))
        return false;
    for (int i = 0; i < answer.text_count; i++) {
        text[i] = answer.text[i];
        answer.text[i] = NULL;
    }
    message_finish(&answer);
    return true;
}

// --- devices ---

enum helper_job_end helper_job_list(const char *drivers, double seconds, struct gpu_info **list,
                                    int *count, struct err *e)
{
    struct helper_job h;
    struct message answer;
    struct message request = {.type = MESSAGE_LIST};
    snprintf(request.drivers, sizeof request.drivers, "%s", drivers);
    *list = NULL;
    *count = 0;
    enum helper_job_end end = run(&h, message_text(&request), seconds, MESSAGE_DEVICES, &answer, e);
    if (end != HELPER_JOB_DONE)
        return end;
    *list = answer.device_list;
    *count = answer.device_count;
    answer.device_list = NULL;
    gpu_follow_environment(*list, *count);
    message_finish(&answer);
    return HELPER_JOB_DONE;
}

bool helper_job_open(int device, bool validate, double seconds, struct clocks *clocks,
                     struct err *e)
{
    struct helper_job h;
    struct message answer;
    struct message open = {MESSAGE_OPEN, .device = device, .validate = validate};
    if (run(&h, message_text(&open), seconds, MESSAGE_OPENED, &answer, e) != HELPER_JOB_DONE)
        return false;
    if (clocks)
        *clocks = answer.clocks;
    message_finish(&answer);
    return true;
}

bool helper_job_peaks(int device, double seconds, struct roofline *out, struct err *e)
{
    struct helper_job h;
    struct message answer;
    struct message peaks = {MESSAGE_PEAKS, .device = device};
    if (run(&h, message_text(&peaks), seconds, MESSAGE_ROOF, &answer, e) != HELPER_JOB_DONE)
        return false;
    *out = answer.roofline;
    message_finish(&answer);
    return true;
}

// --- a network as a whole ---

struct helper_job *helper_job_begin_whole(struct whole *w, int weights, struct err *e)
{
    struct helper_job *h = mem_zero(1, sizeof *h);
    struct message request = {MESSAGE_WHOLE, .whole = w};
    bool ok = start(h, message_text(&request), w->place.deadline_s[PHASE_START], weights, e);
    h->moves = true;
    memcpy(h->deadline_s, w->place.deadline_s, sizeof h->deadline_s);
    if (ok)
        return h;
    helper_job_destroy(h);
    return NULL;
}

int helper_job_fds(const struct helper_job *h, struct pollfd *out, int most)
{
    return most < SLOT_FDS ? 0 : slot_fds(&h->slot, out);
}

int helper_job_wait_ms(const struct helper_job *h)
{
    int64_t left_ns = h->deadline.at_ns - os_now_ns();
    return left_ns <= 0 ? 0 : (int)int64_min(left_ns / MS_NS + 1, INT32_MAX);
}

bool helper_job_is_over(struct helper_job *h, enum helper_job_end *end, struct whole_result *result,
                        struct err *e)
{
    struct message answer;
    if (!look(h, MESSAGE_WHOLE_RESULT, end, &answer, e))
        return false;
    if (*end != HELPER_JOB_DONE)
        return true;
    *result = *answer.whole_result;
    message_finish(&answer);
    return true;
}

enum trial_phase helper_job_phase(const struct helper_job *h, int *candidate)
{
    *candidate = h->candidate;
    return h->phase;
}

void helper_job_destroy(struct helper_job *h)
{
    if (!h)
        return;
    slot_finish(&h->slot);
    free(h);
}
