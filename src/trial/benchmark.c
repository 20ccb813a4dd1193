#include "trial/benchmark.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "base/rng.h"
#include "base/spawner.h"
#include "space/objective.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT     "timeout="
#define MOST_TAIL   256 // bytes of stderr that are kept
#define LOOK_MS     5   // between two looks if a command whose output has ended is reaped
#define RACE_ROUNDS 3
#define PAIRS_S     60.0 // after which pairs end, once they are as many as a race has rounds

// --- the command ---

struct benchmark {
    bool stays; // serve:
    double timeout_s;
    char *text; // of the shell, with its arguments in place of {NAME}
    char *name[SPACE_MAX_PARAMS];
    int names;
    struct spawner *spawner;
};

bool benchmark_is(const char *source)
{
    return source && (str_starts(source, BENCHMARK_RUN) || str_starts(source, BENCHMARK_SERVE));
}

static bool add_name(struct benchmark *p, const char *name, size_t length, int *index,
                     struct err *e)
{
    for (*index = 0; *index < p->names; ++*index)
        if (strlen(p->name[*index]) == length && strncmp(p->name[*index], name, length) == 0)
            return true;
    if (p->names == SPACE_MAX_PARAMS)
        return err_usage(e, "source run: more than %d names in {}", SPACE_MAX_PARAMS);
    p->name[p->names++] = mem_printf("%.*s", (int)length, name);
    return true;
}

// Puts the shell's arguments in place of {NAME}, quoted so that each is one word, or a part of one,
// inside of quotes and outside.
static bool take_text(struct benchmark *p, const char *command, struct err *e)
{
    static const char identifier[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    struct str text = {0};
    bool ok = true;
    char quote = '\0';
    for (const char *c = command; ok && *c; c++) {
        size_t length = *c == '{' ? strspn(c + 1, identifier) : 0;
        bool is_name = length && !isdigit((unsigned char)c[1]) && c[1 + length] == '}' &&
                       (c == command || c[-1] != '$');
        int index;
        if (is_name) {
            ok = add_name(p, c + 1, length, &index, e);
            str_printf(&text,
                       quote == '\'' ? "'\"${%d}\"'"
                       : quote       ? "${%d}"
                                     : "\"${%d}\"",
                       index + 1);
            c += length + 1;
            continue;
        }
        if (*c == '\\' && quote != '\'' && c[1])
            str_add_char(&text, *c++);
        else if (quote ? *c == quote : *c == '\'' || *c == '"')
            quote = quote ? '\0' : *c;
        str_add_char(&text, *c);
    }
    p->text = str_take(&text);
    return ok;
}

static void finish_command(struct benchmark *p)
{
    free(p->text);
    for (int i = 0; i < p->names; i++)
        free(p->name[i]);
}

static bool parse(const char *source, struct benchmark *p, struct err *e)
{
    *p = (struct benchmark){.stays = str_starts(source, BENCHMARK_SERVE),
                            .timeout_s = BENCHMARK_TIMEOUT_S};
    const char *command = strchr(source, ':') + 1, *colon = strchr(command, ':');
    if (str_starts(command, TIMEOUT) && colon) {
        char *seconds = mem_printf("%.*s", (int)(colon - command - (ptrdiff_t)strlen(TIMEOUT)),
                                   command + strlen(TIMEOUT));
        bool ok =
            str_to_real(seconds, &p->timeout_s) && p->timeout_s >= 0.01 && p->timeout_s <= 1e6;
        if (!ok)
            err_usage(e, "source run: timeout '%s' is no number of seconds from 0.01 to 1e6",
                      seconds);
        free(seconds);
        if (!ok)
            return false;
        command = colon + 1;
    }
    if (!command[strspn(command, " \t\r\n")])
        return err_usage(e, "source run: which command? (run:COMMAND)");
    return take_text(p, command, e) &&
           (!p->stays || !p->names ||
            err_usage(e,
                      "source serve: its command reads each configuration from standard input: "
                      "{%s} has no value when it starts",
                      p->name[0]));
}

bool benchmark_check(const char *source, struct err *e)
{
    struct benchmark p;
    bool ok = parse(source, &p, e);
    finish_command(&p);
    return ok;
}

// The words are values of parameters, which the fixed text of the shell gets as its arguments.
static bool allows_values(const char *const *words, struct err *e)
{
    (void)words, (void)e;
    return true;
}

struct benchmark *benchmark_begin(const char *source, struct err *e)
{
    struct benchmark *p = mem_zero(1, sizeof *p);
    if (parse(source, p, e)) {
        const char *const argv[] = {"/bin/sh", "-c", "--", p->text, "sh", NULL};
        const struct spawner_command command = {SPAWNER_KEPT, argv, allows_values};
        p->spawner = spawner_create(&(struct spawner_options){.command = &command, .count = 1}, e);
    }
    if (p->spawner)
        return p;
    benchmark_end(p);
    return NULL;
}

void benchmark_end(struct benchmark *p)
{
    if (!p)
        return;
    spawner_destroy(p->spawner);
    finish_command(p);
    free(p);
}

// --- the source ---

// A process of the command, and the request that it works at.
struct slot {
    struct child child; // pid 0: none
    bool has_ended;     // its output has, and so it and all that it started
    int status;         // then, of waitpid
    struct str answer;  // to the measurement under way
    bool is_mute;       // it has closed its stderr
    bool is_flooded, is_late, was_asked_to_end;
    bool is_out_of_step;      // a command that stays has printed what nobody asked for
    char tail[MOST_TAIL + 1]; // the last of its stderr
    size_t tail_length;
    bool busy, done;
    int64_t from_ns, run_from_ns; // of the request, of the measurement
    struct trial_request request;
    struct trial_result result;
    int round, at; // the candidate measured now is order[at]
    int order[TRIAL_MAX_RACERS];
    struct rng rng;
};

struct benchmark_source {
    struct source base;
    struct benchmark *benchmark;
    const struct space *space;
    struct objective objective;
    int param[SPACE_MAX_PARAMS]; // of each name of the command
    int workers;
    struct slot *slot;
    struct err broken; // why it cannot go on
    bool is_broken;
};

static void release(struct benchmark_source *s, struct slot *w)
{
    if (w->child.pid > 0)
        spawner_signal(s->benchmark->spawner, w->child.pid, SIGTERM); // its keeper ends the rest
    w->child.pid = 0;
    w->has_ended = false;
    os_kill(&w->child, NULL);
}

// --- a measurement begins ---

static void add_value(const struct param *p, const int32_t *slot, struct str *out)
{
    if (p->kind == PARAM_FACTORIZATION || p->kind == PARAM_PERMUTATION || p->number)
        param_add_json(p, slot, out);
    else
        str_add(out, p->label[slot[0]]);
}

static bool start_command(struct benchmark_source *s, struct slot *w, const struct config *c)
{
    const struct benchmark *p = s->benchmark;
    const char *words[SPACE_MAX_PARAMS + 1] = {NULL};
    struct str value[SPACE_MAX_PARAMS] = {{0}};
    for (int i = 0; i < p->names; i++) {
        const struct param *param = &s->space->param[s->param[i]];
        if (space_is_live(s->space, c, s->param[i]))
            add_value(param, c->slot + param->offset, &value[i]);
        words[i] = str_text(&value[i]);
    }
    w->has_ended = w->was_asked_to_end = w->is_mute = w->is_out_of_step = false;
    w->tail_length = 0;
    bool ok = spawner_spawn(p->spawner, 0, words, &w->child, &s->broken);
    for (int i = 0; i < p->names; i++)
        str_finish(&value[i]);
    if (ok)
        fcntl(w->child.socket, F_SETFL, O_NONBLOCK);
    return ok;
}

static const struct config *config_now(const struct slot *w)
{
    return &w->request.config[w->order[w->at]];
}

static bool is_blank(const char *bytes, size_t length)
{
    while (length && isspace((unsigned char)bytes[length - 1]))
        length--;
    return !length;
}

// Starts the measurement of the candidate that is next.
static void measure(struct benchmark_source *s, struct slot *w)
{
    const struct benchmark *p = s->benchmark;
    struct str line = {0};
    str_finish(&w->answer);
    w->is_flooded = w->is_late = false;
    w->run_from_ns = os_now_ns();
    if (w->has_ended) // while nothing was asked of it
        release(s, w);
    if (w->child.pid <= 0 && !start_command(s, w, config_now(w))) {
        s->is_broken = true;
        return;
    }
    if (!p->names) {
        config_add_json(s->space, config_now(w), &line);
        str_add_char(&line, '\n');
        // It may have ended, and need not read: its answer is what counts. A line is smaller than
        // what a socket holds.
        ssize_t sent = send(w->child.socket, line.text, line.length, MSG_NOSIGNAL);
        (void)sent;
        str_finish(&line);
    }
    if (!p->stays)
        shutdown(w->child.socket, SHUT_WR);
}

static void shuffle(struct slot *w)
{
    for (int i = 0; i < w->request.count; i++) {
        int at = (int)rng_below(&w->rng, (uint64_t)i + 1);
        w->order[i] = w->order[at];
        w->order[at] = i;
    }
}

static int benchmark_room(const struct source *source)
{
    const struct benchmark_source *s = (const struct benchmark_source *)source;
    int room = 0;
    for (int i = 0; i < s->workers; i++)
        room += !s->slot[i].busy;
    return room;
}

static void benchmark_submit(struct source *source, struct trial_request *r)
{
    struct benchmark_source *s = (struct benchmark_source *)source;
    int i = 0;
    while (s->slot[i].busy)
        i++;
    struct slot *w = &s->slot[i];
    w->busy = true;
    w->done = false;
    w->from_ns = os_now_ns();
    w->request = *r;
    w->result = (struct trial_result){.ticket = r->ticket, .count = r->count, .worker = i};
    w->round = w->at = 0;
    rng_seed(&w->rng, (uint64_t)w->from_ns);
    shuffle(w);
    measure(s, w);
}

// --- and ends ---

struct reading {
    const struct objective *objective;
    struct samples samples;
    enum outcome outcome;
    char reason[TRIAL_REASON_SIZE];
    char last[MOST_TAIL]; // the last line that is not understood
    struct statistics *others;
};

static void fail(struct reading *r, enum outcome o, const char *format, const char *text)
{
    if (r->outcome != OUTCOME_OK)
        return;
    r->outcome = o;
    snprintf(r->reason, sizeof r->reason, format, text);
    for (char *c = r->reason; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
}

static void add_sample(struct reading *r, const char *line, double cost)
{
    if (!(cost >= 1e-150 && cost <= 1e150)) // squares and inverses of it are finite
        fail(r, OUTCOME_CRASH, "'%s': a value is a number above 0 (1e-150 to 1e150)", line);
    else if (r->samples.count < TRIAL_MAX_SAMPLES)
        r->samples.seconds[r->samples.count++] = cost;
}

// Reads "NAME NUMBER", or a number alone. Returns false where it is neither.
static bool read_number(struct reading *r, const char *line)
{
    const struct objective *o = r->objective;
    struct objective other;
    char text[sizeof OBJECTIVE_MINIMIZE + OBJECTIVE_NAME_SIZE];
    double value;
    size_t name = strcspn(line, " \t");
    const char *number = line + name + strspn(line + name, " \t");
    if (str_to_real(line, &value)) {
        if (objective_is_time(o))
            add_sample(r, line, value * 1e-3);
        return true;
    }
    if (name >= OBJECTIVE_NAME_SIZE || !str_to_real(number, &value))
        return false;
    snprintf(text, sizeof text, OBJECTIVE_MINIMIZE " %.*s", (int)name, line);
    if (!objective_parse(text, &other))
        return false;
    if (str_equal(other.name, o->name))
        add_sample(r, line, value > 0 ? objective_cost(o, value) : value);
    else if (objective_is_time(&other) && objective_is_time(o))
        add_sample(r, line, objective_cost(&other, value));
    else
        statistics_take(r->others, other.name, value);
    return true;
}

static void read_line(struct reading *r, char *line)
{
    static const enum outcome outcomes[] = {OUTCOME_COMPILE, OUTCOME_CRASH, OUTCOME_TIMEOUT,
                                            OUTCOME_WRONG};
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]);)
        line[--n] = '\0';
    if (!*line)
        return;
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        const char *word = outcome_name(outcomes[i]);
        const char *text = line + strlen(word) + 1;
        if (!str_starts(line, word) || text[-1] != ':')
            continue;
        text += strspn(text, " \t");
        fail(r, outcomes[i], "%s", *text ? text : "the program gives no reason");
        return;
    }
    if (!read_number(r, line))
        snprintf(r->last, sizeof r->last, "%s", line);
}

// Writes the last line of what it wrote to stderr, "" where it is blank.
static void last_of_stderr(struct slot *w, char out[MOST_TAIL])
{
    w->tail[w->tail_length] = '\0';
    while (w->tail_length && isspace((unsigned char)w->tail[w->tail_length - 1]))
        w->tail[--w->tail_length] = '\0';
    const char *newline = strrchr(w->tail, '\n');
    snprintf(out, MOST_TAIL, "%s", newline ? newline + 1 : w->tail);
}

// Says how the command ended, where that is a failure.
static void read_end(struct benchmark_source *s, struct slot *w, struct reading *r)
{
    char tail[MOST_TAIL], text[TRIAL_REASON_SIZE];
    int code = WIFEXITED(w->status) ? WEXITSTATUS(w->status) : 128 + WTERMSIG(w->status);
    last_of_stderr(w, tail);
    if (!*tail)
        snprintf(tail, sizeof tail, "%s", r->last);
    const char *colon = *tail ? ": " : "";
    if (w->is_late) {
        snprintf(text, sizeof text, "not done after %g s", s->benchmark->timeout_s);
        fail(r, OUTCOME_TIMEOUT, "%s", text);
    } else if (w->is_flooded) {
        snprintf(text, sizeof text, "it printed more than %d bytes", BENCHMARK_MOST_BYTES);
        fail(r, OUTCOME_CRASH, "%s", text);
    } else if (code > 128) {
        snprintf(text, sizeof text, "it ended by signal %d%s%.200s", code - 128, colon, tail);
        fail(r, OUTCOME_CRASH, "%s", text);
    } else if (code || s->benchmark->stays) {
        snprintf(text, sizeof text, "it ended with exit status %d%s%.200s", code, colon, tail);
        fail(r, OUTCOME_CRASH, "%s", text);
    }
}

// Returns what follows the empty line that ends the answer of a command that stays; NULL: the line
// has not come yet.
static const char *behind_answer(const char *line)
{
    for (const char *end; (end = strchr(line, '\n')); line = end + 1)
        if (end == line || (end == line + 1 && *line == '\r'))
            return end + 1;
    return NULL;
}

static void read_answer(struct benchmark_source *s, struct slot *w, struct reading *r)
{
    char *answer = str_take(&w->answer), *rest = NULL, text[TRIAL_REASON_SIZE];
    const char *behind = s->benchmark->stays ? behind_answer(answer) : NULL;
    if (w->is_out_of_step || (behind && !is_blank(behind, strlen(behind))))
        fail(r, OUTCOME_CRASH, "%s", "it printed more after the empty line that ends an answer");
    w->is_out_of_step = false;
    for (char *line = strtok_r(answer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        read_line(r, line);
    free(answer);
    if (w->child.pid <= 0)
        read_end(s, w, r);
    if (!r->samples.count) {
        snprintf(text, sizeof text, "it printed no line '%s NUMBER'%s%.200s", s->objective.name,
                 *r->last ? ", but: " : "", r->last);
        fail(r, OUTCOME_CRASH, "%s", text);
    }
}

// Takes what candidate `i` was measured at. In a race each round gives one sample, the median of
// those of the round, so that the samples of two candidates are pairs.
static void take_samples(struct slot *w, int i, const struct reading *r)
{
    struct samples *all = &w->result.samples[i];
    double sorted[TRIAL_MAX_SAMPLES];
    memcpy(sorted, r->samples.seconds, sizeof sorted);
    if (w->request.race && all->count < TRIAL_MAX_SAMPLES)
        all->seconds[all->count++] = median_of(sorted, r->samples.count);
    else
        *all = r->samples;
    memcpy(sorted, all->seconds, sizeof sorted);
    w->result.seconds[i] = median_of(sorted, all->count);
}

static int rounds(const struct slot *w)
{
    double seconds = (double)(os_now_ns() - w->from_ns) * 1e-9;
    if (!w->request.race)
        return 1;
    return w->request.pairs && seconds < PAIRS_S ? paired_first_look() : RACE_ROUNDS;
}

// Goes on to the next candidate of the request that has not failed, in the next round after the
// last one. Returns false where the request is done.
static bool advance(struct slot *w)
{
    do
        if (++w->at == w->request.count) {
            w->at = 0;
            shuffle(w);
            if (++w->round >= rounds(w))
                return false;
        }
    while (w->result.outcome[w->order[w->at]] != OUTCOME_OK);
    return true;
}

// The measurement under way has ended.
static void conclude(struct benchmark_source *s, struct slot *w)
{
    struct reading r = {.objective = &s->objective, .others = &w->result.clocks};
    int i = w->order[w->at];
    bool any = false;
    read_answer(s, w, &r);
    w->result.outcome[i] = r.outcome;
    w->result.phase[i] = outcome_phase(r.outcome);
    w->result.device_s = (double)(os_now_ns() - w->from_ns) * 1e-9;
    if (r.outcome == OUTCOME_OK) {
        take_samples(w, i, &r);
    } else {
        w->result.seconds[i] = 0;
        w->result.samples[i] = (struct samples){.count = 0};
        snprintf(w->result.reason[i], sizeof w->result.reason[i], "%s", r.reason);
    }
    for (int k = 0; k < w->request.count; k++)
        any |= w->result.outcome[k] == OUTCOME_OK;
    w->done = !any || !advance(w);
    if (!w->done)
        measure(s, w);
}

// --- its steps ---

static void keep_tail(struct slot *w, const char *bytes, size_t length)
{
    if (length >= MOST_TAIL) {
        bytes += length - MOST_TAIL;
        length = MOST_TAIL;
    }
    size_t more = w->tail_length + length > MOST_TAIL ? w->tail_length + length - MOST_TAIL : 0;
    memmove(w->tail, w->tail + more, w->tail_length - more);
    memcpy(w->tail + w->tail_length - more, bytes, length);
    w->tail_length += length - more;
}

// Reads what there is, within bounds: a command that prints for ever does not hold this up.
static void read_output(struct slot *w)
{
    char bytes[BENCHMARK_MOST_BYTES / 4];
    ssize_t got = read(w->child.stderr_fd, bytes, sizeof bytes);
    w->is_mute |= got == 0;
    if (got > 0)
        keep_tail(w, bytes, (size_t)got);
    for (int i = 0; i < 8 && !w->has_ended; i++) {
        got = read(w->child.socket, bytes, sizeof bytes);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        w->has_ended = got <= 0;
        bool is_asked = w->busy && !w->done;
        w->is_out_of_step |= got > 0 && !is_asked && !is_blank(bytes, (size_t)got);
        if (got <= 0 || !is_asked || w->is_late || w->is_flooded)
            continue;
        w->is_flooded = w->answer.length + (size_t)got > BENCHMARK_MOST_BYTES;
        if (!w->is_flooded)
            str_add_bytes(&w->answer, bytes, (size_t)got);
    }
}

static void step_slot(struct benchmark_source *s, struct slot *w)
{
    struct spawner *spawner = s->benchmark->spawner;
    if (w->child.pid <= 0)
        return;
    int64_t limit_ns = (int64_t)(s->benchmark->timeout_s * 1e9);
    read_output(w);
    w->is_late |= w->busy && !w->done && !w->has_ended && os_now_ns() - w->run_from_ns > limit_ns;
    if ((w->is_late || w->is_flooded) && !w->was_asked_to_end) {
        w->was_asked_to_end = true;
        spawner_signal(spawner, w->child.pid, SIGTERM);
    }
    if (w->has_ended && spawner_reap(spawner, &w->child, &w->status)) {
        read_output(w); // the rest of stderr
        w->has_ended = false;
        os_kill(&w->child, NULL);
        if (w->busy && !w->done)
            conclude(s, w);
    } else if (s->benchmark->stays && w->busy && !w->done && !w->was_asked_to_end &&
               behind_answer(str_text(&w->answer))) {
        conclude(s, w);
    }
}

static bool benchmark_step(struct source *source, struct err *e)
{
    struct benchmark_source *s = (struct benchmark_source *)source;
    for (int i = 0; i < s->workers; i++)
        step_slot(s, &s->slot[i]);
    if (s->is_broken && e)
        *e = s->broken;
    return !s->is_broken;
}

static int benchmark_fds(const struct source *source, struct pollfd *out, int most)
{
    const struct benchmark_source *s = (const struct benchmark_source *)source;
    int count = 0;
    for (int i = 0; i < s->workers; i++) {
        const struct slot *w = &s->slot[i];
        if (w->child.pid <= 0 || w->has_ended)
            continue;
        if (count < most)
            out[count++] = (struct pollfd){.fd = w->child.socket, .events = POLLIN};
        if (count < most && !w->is_mute)
            out[count++] = (struct pollfd){.fd = w->child.stderr_fd, .events = POLLIN};
    }
    return count;
}

static int benchmark_wait_ms(const struct source *source)
{
    const struct benchmark_source *s = (const struct benchmark_source *)source;
    int64_t now_ns = os_now_ns(), limit_ns = (int64_t)(s->benchmark->timeout_s * 1e9);
    int wait = -1;
    for (int i = 0; i < s->workers; i++) {
        const struct slot *w = &s->slot[i];
        int64_t left_ms = int64_max(0, (w->run_from_ns + limit_ns - now_ns) / 1000000 + 1);
        bool counts = w->busy && !w->was_asked_to_end; // else its end is awaited
        int own = w->done || s->is_broken ? 0
                  : w->has_ended          ? LOOK_MS
                  : counts                ? (int)int64_min(left_ms, INT_MAX)
                                          : -1;
        wait = own >= 0 && (wait < 0 || own < wait) ? own : wait;
    }
    return wait;
}

static bool benchmark_collect(struct source *source, struct trial_result *out)
{
    struct benchmark_source *s = (struct benchmark_source *)source;
    for (int i = 0; i < s->workers; i++) {
        struct slot *w = &s->slot[i];
        if (!w->busy || !w->done)
            continue;
        *out = w->result;
        w->busy = w->done = false;
        return true;
    }
    return false;
}

static int benchmark_workers(const struct source *source, struct worker_now *out, int most)
{
    const struct benchmark_source *s = (const struct benchmark_source *)source;
    int count = int_min(s->workers, most);
    for (int i = 0; i < count; i++) {
        const struct slot *w = &s->slot[i];
        out[i] = (struct worker_now){.worker = i};
        if (w->busy)
            out[i] = (struct worker_now){i, PHASE_RUN, w->request.ticket, w->run_from_ns};
    }
    return count;
}

static void benchmark_destroy(struct source *source)
{
    struct benchmark_source *s = (struct benchmark_source *)source;
    for (int i = 0; i < s->workers; i++) {
        release(s, &s->slot[i]);
        str_finish(&s->slot[i].answer);
    }
    free(s->slot);
    free(s);
}

struct source *benchmark_create(struct benchmark *p, const struct space *space,
                                const char *objective, int workers, struct err *e)
{
    static const struct source_kind kind = {.name = "benchmark",
                                            .room = benchmark_room,
                                            .submit = benchmark_submit,
                                            .fds = benchmark_fds,
                                            .wait_ms = benchmark_wait_ms,
                                            .step = benchmark_step,
                                            .collect = benchmark_collect,
                                            .workers = benchmark_workers,
                                            .destroy = benchmark_destroy};
    int param[SPACE_MAX_PARAMS] = {0};
    if (!p) {
        err_set(e, "a session of run: or serve: is run by tune and resume alone");
        return NULL;
    }
    if (!objective) {
        err_usage(e,
                  "'%s' declares neither minimize \"NAME\" nor maximize \"NAME\": what does the "
                  "program print?",
                  space->name);
        return NULL;
    }
    for (int i = 0; i < p->names; i++) {
        const struct param *found = space_find(space, p->name[i]);
        if (!found) {
            err_usage(e, "source run: '%s' has no parameter {%s}", space->name, p->name[i]);
            return NULL;
        }
        param[i] = (int)(found - space->param);
    }
    struct benchmark_source *s = mem_zero(1, sizeof *s);
    s->base.kind = &kind;
    s->benchmark = p;
    s->space = space;
    objective_parse(objective, &s->objective);
    memcpy(s->param, param, sizeof param);
    s->workers = workers;
    s->slot = mem_zero((size_t)workers, sizeof *s->slot);
    for (int i = 0; i < workers; i++)
        s->slot[i].child = (struct child){.socket = -1, .stderr_fd = -1};
    return &s->base;
}
