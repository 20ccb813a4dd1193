#include "trial/errand.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "trial/message.h"
#include "trial/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS   ((int64_t)1000000)
#define SLOW_NS (5000 * MS_NS) // after which whoever waits for drivers wants to know it

struct errand {
    struct slot slot;
    struct deadline deadline;
    char late[64];                  // what is said when it is not over by then
    enum trial_phase phase;         // announced last
    int candidate;                  // that it is about: a pass, a task, a layer
    bool moves;                     // each phase moves the deadline
    double deadline_s[PHASE_COUNT]; // then: of each
};

// A worker's own warnings are ours; what drivers mumble is not.
static void log_line(void *context, int worker, const char *line)
{
    static const char warning[] = "tilewalk: warning: ";
    (void)context, (void)worker;
    if (str_starts(line, warning))
        log_warning("%s", line + sizeof warning - 1);
    else
        log_info("%s", line);
}

static void set_deadline(struct errand *x, double seconds)
{
    deadline_set(&x->deadline, x->slot.child.pid, seconds, os_now_ns());
    snprintf(x->late, sizeof x->late, "did not end in %.3g s", seconds);
}

static bool start(struct errand *x, char *request, double seconds, int shared, struct err *e)
{
    char *program = path_program();
    *x = (struct errand){.candidate = 0};
    slot_init(&x->slot, 0);
    set_deadline(x, seconds);
    bool ok = slot_start(&x->slot, program, shared, e);
    free(program);
    x->slot.link.cap = FRAME_MAX_BYTES;
    if (!ok)
        free(request);
    return ok && (slot_send(&x->slot, request) || err_set(e, "its text is too long to be sent"));
}

static void wait_a_moment(const struct errand *x, int64_t wake_ns)
{
    struct pollfd fds[SLOT_FDS];
    int64_t left_ns = wake_ns - os_now_ns();
    if (left_ns > 0)
        poll(fds, (nfds_t)slot_fds(&x->slot, fds), (int)(left_ns / MS_NS) + 1);
}

static enum errand_end lose(struct err *e, const char *how)
{
    err_set(e, "%s", how);
    return ERRAND_LOST;
}

// It has closed its socket, or cannot be understood: how it ended.
static enum errand_end tell_end(struct errand *x, struct err *e)
{
    char how[64], text[320];
    slot_let_end(&x->slot, os_now_ns());
    while (!slot_reap(&x->slot, os_now_ns(), how, sizeof how)) {
        int64_t now_ns = os_now_ns();
        if (slot_is_stuck(&x->slot, now_ns))
            return lose(e, "hangs in the kernel");
        wait_a_moment(x, slot_wake_ns(&x->slot, now_ns));
    }
    slot_read_log(&x->slot, log_line, NULL);
    const char *last = x->slot.last_line;
    snprintf(text, sizeof text, "%s%s%s%s", how, last[0] ? " (" : "", last, last[0] ? ")" : "");
    return lose(e, text);
}

// True: an answer, or what is none at all; false: a phase, on the way to it.
static bool take_text(struct errand *x, const char *text, struct message *answer)
{
    if (!message_parse(text, answer, NULL))
        answer->type = MESSAGE_TYPE_COUNT;
    if (answer->type != MESSAGE_PHASE)
        return true;
    x->phase = answer->phase;
    x->candidate = answer->candidate;
    if (x->moves)
        set_deadline(x, x->deadline_s[x->phase]);
    message_finish(answer);
    return false;
}

// Of what it has answered, or how it was lost.
static enum errand_end end_of(struct message *answer, enum message_type wanted, struct err *e)
{
    if (answer->type == wanted)
        return ERRAND_DONE;
    enum errand_end end = ERRAND_REFUSED;
    if (answer->type != MESSAGE_FAILED)
        end = lose(e, "sent garbage");
    else if (e)
        *e = answer->failure;
    message_finish(answer);
    return end;
}

// True: it is over, with an answer of the wanted type after ERRAND_DONE.
static bool look(struct errand *x, enum message_type wanted, enum errand_end *end,
                 struct message *answer, struct err *e)
{
    enum link_status status = LINK_NONE;
    // True: there is an answer. False and LINK_NONE: not yet.
    char *text = NULL;
    bool answered = false;
    link_flush(&x->slot.link);
    link_fill(&x->slot.link);
    while (!answered && (status = link_next(&x->slot.link, &text)) == LINK_FRAME) {
        answered = take_text(x, text, answer);
        free(text);
    }
    slot_read_log(&x->slot, log_line, NULL);
    if (answered)
        *end = end_of(answer, wanted, e);
    else if (status != LINK_NONE)
        *end = tell_end(x, e);
    else if (deadline_is_over(&x->deadline, x->slot.child.pid, os_now_ns()))
        *end = lose(e, x->late);
    else
        return false;
    return true;
}

static enum errand_end await(struct errand *x, enum message_type wanted, struct message *answer,
                             struct err *e)
{
    enum errand_end end;
    int64_t slow_ns = wanted == MESSAGE_DEVICES ? os_now_ns() + SLOW_NS : INT64_MAX;
    while (!look(x, wanted, &end, answer, e)) {
        if (os_now_ns() >= slow_ns) {
            log_warning("waiting for Vulkan drivers to list their devices");
            slow_ns = INT64_MAX;
        }
        wait_a_moment(x, int64_min(slow_ns, x->deadline.at_ns));
    }
    return end;
}

// Only after ERRAND_DONE the answer is the caller's to finish.
static enum errand_end run(struct errand *x, char *request, double seconds,
                           enum message_type wanted, struct message *answer, struct err *e)
{
    enum errand_end end = ERRAND_REFUSED;
    if (start(x, request, seconds, -1, e))
        end = await(x, wanted, answer, e);
    slot_finish(&x->slot);
    return end;
}

static bool take_modules(struct message *answer, const struct job *job, struct spirv *out)
{
    bool ok = answer->module_count == job->pass_count;
    for (int i = 0; ok && out && i < answer->module_count; i++) {
        out[i] = answer->module[i];
        answer->module[i] = (struct spirv){0};
    }
    message_finish(answer);
    return ok;
}

static bool take_texts(struct message *answer, const struct job *job, char **out)
{
    bool ok = answer->text_count == job->pass_count;
    for (int i = 0; ok && i < answer->text_count; i++) {
        out[i] = answer->text[i];
        answer->text[i] = NULL;
    }
    message_finish(answer);
    return ok;
}

static bool tell_compiler(const struct errand *x, enum errand_end end, const struct job *job,
                          const struct err *how, struct err *e)
{
    if (end == ERRAND_REFUSED && e)
        *e = *how;
    if (end == ERRAND_LOST)
        err_at(
            e, kernel_pass_file(&job->pass[x->candidate < job->pass_count ? x->candidate : 0]), 0,
            "its GLSL cannot be compiled: the compiler %s (shorter expressions, fewer cases, fewer "
            "macros within macros help, or another --glslang)",
            how->text);
    return end == ERRAND_DONE;
}

bool errand_compile(const struct job *job, double seconds, struct spirv *spirv, struct err *e)
{
    struct errand x;
    struct message answer;
    struct err how = {0};
    enum errand_end end = run(&x, message_compile(job), seconds, MESSAGE_COMPILED, &answer, &how);
    if (end == ERRAND_DONE && !take_modules(&answer, job, spirv))
        end = lose(&how, "sent garbage");
    return tell_compiler(&x, end, job, &how, e);
}

bool errand_preprocess(const struct job *job, double seconds, char **text, struct err *e)
{
    struct errand x;
    struct message answer;
    struct err how = {0};
    enum errand_end end =
        run(&x, message_preprocess(job), seconds, MESSAGE_PREPROCESSED, &answer, &how);
    if (end == ERRAND_DONE && !take_texts(&answer, job, text))
        end = lose(&how, "sent garbage");
    return tell_compiler(&x, end, job, &how, e);
}

enum errand_end errand_list(const char *drivers, double seconds, struct gpu_info **list, int *count,
                            struct err *e)
{
    struct errand x;
    struct message answer;
    *list = NULL;
    *count = 0;
    enum errand_end end = run(&x, message_list(drivers), seconds, MESSAGE_DEVICES, &answer, e);
    if (end != ERRAND_DONE)
        return end;
    *list = answer.device_list;
    *count = answer.device_count;
    answer.device_list = NULL;
    message_finish(&answer);
    return ERRAND_DONE;
}

bool errand_open(int device, bool validate, double seconds, struct clocks *clocks, struct err *e)
{
    struct errand x;
    struct message answer;
    if (run(&x, message_open(device, validate), seconds, MESSAGE_OPENED, &answer, e) != ERRAND_DONE)
        return false;
    if (clocks)
        *clocks = answer.clocks;
    message_finish(&answer);
    return true;
}

bool errand_peaks(int device, double seconds, struct roofline *out, struct err *e)
{
    struct errand x;
    struct message answer;
    if (run(&x, message_peaks(device), seconds, MESSAGE_ROOF, &answer, e) != ERRAND_DONE)
        return false;
    *out = answer.roofline;
    message_finish(&answer);
    return true;
}

// --- a network as a whole ---

struct errand *errand_begin_whole(const struct whole *w, int weights, struct err *e)
{
    struct errand *x = mem_zero(1, sizeof *x);
    bool ok = start(x, message_whole(w), w->place.deadline_s[PHASE_START], weights, e);
    x->moves = true;
    memcpy(x->deadline_s, w->place.deadline_s, sizeof x->deadline_s);
    if (ok)
        return x;
    errand_destroy(x);
    return NULL;
}

int errand_fds(const struct errand *x, struct pollfd *out, int most)
{
    return most < SLOT_FDS ? 0 : slot_fds(&x->slot, out);
}

int errand_wait_ms(const struct errand *x)
{
    int64_t left_ns = x->deadline.at_ns - os_now_ns();
    return left_ns <= 0 ? 0 : (int)int64_min(left_ns / MS_NS + 1, INT32_MAX);
}

bool errand_is_over(struct errand *x, enum errand_end *end, struct whole_result *result,
                    struct err *e)
{
    struct message answer;
    if (!look(x, MESSAGE_WHOLE_RESULT, end, &answer, e))
        return false;
    if (*end != ERRAND_DONE)
        return true;
    *result = *answer.whole_result;
    message_finish(&answer);
    return true;
}

enum trial_phase errand_phase(const struct errand *x, int *candidate)
{
    *candidate = x->candidate;
    return x->phase;
}

void errand_destroy(struct errand *x)
{
    if (!x)
        return;
    slot_finish(&x->slot);
    free(x);
}
