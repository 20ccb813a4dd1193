#include "record/log.h"

#include "record/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct log_format *const formats[] = {
    &log_autotvm, &log_autotvm_old, &log_ansor, &log_meta_schedule, &log_meta_workloads,
};

struct json log_element(struct json list, int index)
{
    struct json_walk w = json_walk(list);
    for (int i = 0; json_type(list) == JSON_LIST && json_next(&w); i++)
        if (i == index)
            return w.value;
    return (struct json){.line = list.line};
}

void log_add_sizes(struct str *s, struct json sizes)
{
    const char *between = "";
    double size;
    if (json_type(sizes) != JSON_LIST)
        str_add(s, "(...)");
    for (struct json_walk w = json_walk(sizes); json_next(&w); between = "x") {
        str_add(s, between);
        if (json_number(w.value, &size))
            str_add_real(s, size);
        else
            str_add(s, "?");
    }
}

bool log_end_row(struct table *t, struct json costs, enum outcome outcome, double benchmark_s,
                 struct err *e)
{
    static const double mark = 1e9; // and above: not measured
    struct record_entry entry = {.outcome = outcome, .compile_s = NAN, .benchmark_s = benchmark_s};
    struct sample sample = {.time = NAN, .rate = NAN, .times = costs, .position = costs};
    const struct cost cost = {.objective = "time", .unit = "s", .scale = 1};
    for (struct json_walk w = json_walk(costs); json_next(&w);) {
        double value;
        if (entry.outcome == OUTCOME_OK && json_number(w.value, &value) && value >= mark)
            entry.outcome = OUTCOME_CRASH;
    }
    return (entry.outcome != OUTCOME_OK || cost_settle(t, &cost, &sample, &entry, e)) &&
           table_end_row(t, &entry, e);
}

// --- lines ---

struct log_line {
    struct json root;
    int task;
};

struct log {
    const struct log_format *format;
    struct log_line *line;
    int count, capacity;
    struct log_task *task;
    int *lines; // of each task
    int tasks, task_capacity, lines_capacity;
    struct config_set keys; // hashes of the tasks' keys, two slots each
};

const struct log_format *log_recognise(const struct json_source *s)
{
    const char *first = s->text + strspn(s->text, " \t\r\n");
    size_t length = strcspn(first, "\n");
    struct json root;
    if (*first != '[' && !str_starts(first, "{\"i")) // such lines begin so
        return NULL;
    char *line = mem_printf("%.*s", length < INT32_MAX ? (int)length : 0, first);
    const struct log_format *found = NULL;
    bool is_json = json_parse(line, &root);
    for (size_t i = 0; is_json && i < sizeof formats / sizeof *formats && !found; i++)
        found = formats[i]->is(root) ? formats[i] : NULL;
    free(line);
    return found;
}

// Finds the line's task, which is added where it is the first of it.
static bool find_task(struct log *l, struct recording *r, struct json root, int *out, struct err *e)
{
    struct log_task new = {.device = ""};
    bool ok = l->format->task(r, root, &new, e), is_new = false;
    if (ok) {
        struct config key = {0};
        uint64_t hash = hash_bytes(str_text(&new.key), new.key.length);
        memcpy(key.slot, &hash, sizeof hash);
        *out = config_set_add(&l->keys, &key, &is_new);
    }
    if (is_new) {
        MEM_GROW(l->lines, l->tasks, l->lines_capacity);
        MEM_GROW(l->task, l->tasks, l->task_capacity);
        l->lines[l->tasks] = 0;
        l->task[l->tasks++] = new;
        return true;
    }
    str_finish(&new.key);
    str_finish(&new.title);
    return ok;
}

static bool read_lines(struct log *l, struct json_source *s, struct recording *r, struct err *e)
{
    char *at = s->room - s->length; // of the text, which may be written to
    for (int number = 1; at < s->room; number++) {
        size_t length = strcspn(at, "\n");
        struct json_source one = {
            .path = s->path, .text = at, .length = length, .first_line = number};
        struct log_line line;
        at[length] = '\0';
        at += length + 1;
        if (one.text[strspn(one.text, " \t\r")] == '\0')
            continue;
        if (!json_check(&one, &line.root, e))
            return false;
        if (!l->format->is(line.root))
            return err_at(e, s->path, number, "the line is none of %s, as the first one is",
                          l->format->what);
        if (!find_task(l, r, line.root, &line.task, e))
            return false;
        l->lines[line.task]++;
        MEM_GROW(l->line, l->count, l->capacity);
        l->line[l->count++] = line;
    }
    return true;
}

static bool choose_task(const struct log *l, const char *path, int *task, struct err *e)
{
    enum { MOST_NAMED = 4 };
    if (*task > 0 || l->tasks == 1) {
        *task = *task ? *task : 1;
        return *task <= l->tasks || err_at(e, path, 0, "it holds %d task%s, none is number %d",
                                           l->tasks, l->tasks == 1 ? "" : "s", *task);
    }
    struct str names = {0};
    for (int i = 0; i < l->tasks && i < MOST_NAMED; i++)
        str_printf(&names, "%s%d: %s, lines %d", i ? "; " : "", i + 1, str_text(&l->task[i].title),
                   l->lines[i]);
    err_at(e, path, 0,
           "it holds %d tasks, a recording is of one (import --task N --out FILE): %s%s", l->tasks,
           str_text(&names), l->tasks > MOST_NAMED ? "; ..." : "");
    str_finish(&names);
    return false;
}

bool log_read(const struct log_format *f, struct json_source *s, int task, struct recording *r,
              struct err *e)
{
    struct log l = {.format = f, .keys.slots = 2};
    struct table t = {.recording = r, .keeps_first = true};
    if (f->refusal)
        return err_at(e, s->path, 1, "%s: %s", f->what, f->refusal);
    bool ok = read_lines(&l, s, r, e) && choose_task(&l, s->path, &task, e);
    if (ok) {
        r->kernel = arena_strdup(&r->arena, str_text(&l.task[task - 1].title));
        r->device = l.task[task - 1].device;
    }
    for (int i = 0; ok && i < l.count; i++)
        if (l.line[i].task == task - 1) {
            table_begin_row(&t, l.line[i].root.line);
            ok = f->row(&t, l.line[i].root, e);
        }
    ok = ok && table_finish(&t, e);
    for (int i = 0; i < l.tasks; i++) {
        str_finish(&l.task[i].key);
        str_finish(&l.task[i].title);
    }
    config_set_finish(&l.keys);
    free(l.line);
    free(l.lines);
    free(l.task);
    table_release(&t);
    return ok;
}
