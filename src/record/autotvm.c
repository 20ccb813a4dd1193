// Logs of AutoTVM, of version 0.2 and of 0.1, whose members have one letter; those of Ansor, which
// hold the steps that made a program, and not the values of parameters.
#include "record/format.h"
#include "record/log.h"

#include <math.h>

enum { INPUT, CONFIG, RESULT, MEMBERS };
static const char *const members[MEMBERS] = {"input", "config", "result"};
static const char *const old_members[] = {"i", "r", "v"};

static bool is_autotvm(struct json line)
{
    struct json found[MEMBERS];
    json_members(line, MEMBERS, members, found);
    return found[INPUT].at && found[CONFIG].at && found[RESULT].at;
}

static bool is_old(struct json line)
{
    struct json found[3];
    json_members(line, 3, old_members, found);
    return found[0].at && found[1].at && json_type(found[2]) == JSON_NUMBER;
}

static bool is_ansor(struct json line)
{
    struct json found[3];
    json_members(line, 3, old_members, found);
    return found[0].at && found[1].at && json_type(found[2]) == JSON_TEXT;
}

// Finds what both versions have: the task (target, name, arguments), the configuration's knobs, and
// the result (times, error, duration, date).
static void find_parts(struct json line, struct json *input, struct json *knobs,
                       struct json *result)
{
    bool old = is_old(line);
    *input = json_member(line, old ? "i" : "input");
    *result = json_member(line, old ? "r" : "result");
    *knobs = old ? json_member(log_element(*input, 5), "e")
                 : json_member(json_member(line, "config"), "entity");
}

static void add_value(struct str *key, struct json v)
{
    str_add_bytes(key, v.at ? v.at : "", v.at ? json_length(v) : 0);
    str_add_char(key, '\n');
}

static bool find_task(struct recording *r, struct json line, struct log_task *out, struct err *e)
{
    struct json input, knobs, result;
    find_parts(line, &input, &knobs, &result);
    struct json name = log_element(input, 1);
    if (json_type(name) != JSON_TEXT)
        return err_at(e, r->path, line.line, "there is no name of the task");
    for (int i = 0; i < 3; i++)
        add_value(&out->key, log_element(input, i));
    out->device = cost_text(log_element(input, 0), &r->arena);
    str_add(&out->title, cost_text(name, &r->arena));
    for (struct json_walk w = json_walk(log_element(input, 2)); json_next(&w);) {
        if (!json_is(log_element(w.value, 0), "TENSOR"))
            continue;
        str_add_char(&out->title, ' ');
        log_add_sizes(&out->title, log_element(w.value, 1));
    }
    return true;
}

// Sets the parts of a list, "tile_k_1" and so on. A split's first part is -1, for what the others
// leave: it is left out.
static bool set_parts(struct table *t, struct json name, struct json list, struct err *e)
{
    struct recording *r = t->recording;
    const char *text = cost_text(name, &r->arena);
    int i = 0;
    for (struct json_walk w = json_walk(list); json_next(&w); i++) {
        double part;
        if (json_number(w.value, &part) && part == -1)
            continue;
        if (!table_set_text(t, arena_printf(&r->arena, "%s_%d", text, i), w.value, e))
            return false;
    }
    return true;
}

static bool set_knob(struct table *t, struct json knob, struct err *e)
{
    struct json name = log_element(knob, 0), value = log_element(knob, 2);
    if (json_type(name) != JSON_TEXT || !value.at)
        return err_at(e, t->recording->path, t->row_line,
                      "a knob is a list of its name, its kind and its value");
    if (json_type(value) == JSON_LIST)
        return set_parts(t, name, value, e);
    return table_set_text(t, cost_text(name, &t->recording->arena), value, e);
}

static bool read_row(struct table *t, struct json line, struct err *e)
{
    // Instantiation, host's and device's compilation, run, wrong answer, timeouts, unknown.
    static const enum outcome outcomes[] = {
        OUTCOME_OK,    OUTCOME_REJECTED, OUTCOME_COMPILE, OUTCOME_COMPILE, OUTCOME_CRASH,
        OUTCOME_WRONG, OUTCOME_TIMEOUT,  OUTCOME_TIMEOUT, OUTCOME_CRASH,
    };
    struct json input, knobs, result;
    double error;
    find_parts(line, &input, &knobs, &result);
    if (json_type(knobs) != JSON_LIST)
        return err_at(e, t->recording->path, t->row_line, "there are no knobs of a configuration");
    for (struct json_walk w = json_walk(knobs); json_next(&w);)
        if (!set_knob(t, w.value, e))
            return false;
    if (!json_number(log_element(result, 1), &error) || error != floor(error) || error < 0 ||
        error >= sizeof outcomes / sizeof *outcomes)
        return err_at(e, t->recording->path, t->row_line,
                      "the second of the result is an error of 0 to 8");
    return log_end_row(t, log_element(result, 0), outcomes[(int)error],
                       cost_duration(log_element(result, 2), 1), e);
}

const struct log_format log_autotvm = {
    .name = "autotvm", .what = "a log of AutoTVM", is_autotvm, find_task, read_row};
const struct log_format log_autotvm_old = {
    .name = "autotvm", .what = "a log of AutoTVM", is_old, find_task, read_row};
const struct log_format log_ansor = {
    .name = "ansor",
    .what = "a log of Ansor (TVM's auto_scheduler)",
    .is = is_ansor,
    .refusal = "it holds the steps that made each program, no parameters of one space"};
