// check NETWORK: the tasks of a network, and the share of each.
#include "cli/check.h"

#include "base/json.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "define/program.h"
#include "engine/attempt.h"
#include "script/script.h"
#include "space/legal.h"
#include "space/survey.h"
#include "trial/helper_job.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns a task's share of the time, where another program measured all tasks; else of the FLOP.
static double task_share(const struct network *n, const struct network_task *t)
{
    double flop = network_flop(n), seconds = network_told(n);
    if (seconds > 0)
        return t->told_s / seconds;
    return flop > 0 ? (double)t->uses * t->flop / flop : 0;
}

static bool is_rated_in_bytes(const struct network_task *t)
{
    return str_equal(t->work.unit, WORK_BYTES);
}

static void add_file(struct json_writer *w, const char *name, const struct weights *from)
{
    json_begin_object(w, name);
    json_add_text(w, "file", from->path);
    json_add_text_if_any(w, "name", from->name);
    json_add_text(w, "type", element_name(from->saved));
    json_end(w);
}

static void add_layer(struct json_writer *w, const struct network *n, const struct network_layer *l)
{
    json_begin_object(w, NULL);
    json_add_text(w, "name", l->output.name);
    json_add_text(w, "task", n->task[l->task].label);
    json_add_int(w, "uses", l->uses);
    json_begin_object(w, "from");
    for (int i = 0; i < l->input_count; i++) {
        int from = l->input[i].layer;
        json_add_text(w, l->input[i].tensor,
                      from < 0 ? n->input[-1 - from].name : n->layer[from].output.name);
    }
    json_end(w);
    json_begin_object(w, "weights");
    for (int i = 0; i < l->weights_count; i++)
        add_file(w, l->weights[i].tensor, &l->weights[i].from);
    json_end(w);
    json_add_text(w, "type", element_name(l->output.element));
    json_add_int(w, "elements", l->output.count);
    json_end(w);
}

void check_network_add(struct json_writer *w, const struct network *n)
{
    json_add_text(w, "name", n->name);
    json_add_text(w, "about", n->about);
    json_begin_list(w, "settings");
    for (int i = 0; i < n->setting_count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", n->setting[i].name);
        json_add_text(w, "value", n->setting[i].value);
        json_add_text(w, "standard", n->setting[i].standard);
        if (n->setting[i].values)
            json_add_texts(w, "values", n->setting[i].values);
        json_end(w);
    }
    json_end(w);
    json_add_real(w, "flop", network_flop(n));
    json_add_real(w, "weight_bytes", network_weight_bytes(n));
    const struct plan_bytes b = plan_bytes(&n->plan);
    json_begin_object(w, "memory");
    json_add_count(w, "kept_bytes", b.kept);
    json_add_count(w, "made_bytes", b.made);
    json_add_count(w, "shared_bytes", b.shared);
    json_add_count(w, "least_bytes", b.least);
    json_end(w);
    json_begin_list(w, "tasks");
    for (int i = 0; i < n->task_count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", n->task[i].label);
        json_add_text(w, "operator", n->task[i].kind);
        json_add_text(w, "title", n->task[i].title);
        json_add_text(w, "preset", n->task[i].preset);
        json_begin_object(w, "settings");
        for (int j = 0; j < n->task[i].set_count; j++)
            json_add_text(w, n->task[i].set[j].name, n->task[i].set[j].value);
        json_end(w);
        json_add_int(w, "uses", n->task[i].uses);
        json_add_real(w, "flop", n->task[i].flop);
        json_add_real(w, "share", task_share(n, &n->task[i]));
        json_add_real(w, "told_seconds", n->task[i].told_s > 0 ? n->task[i].told_s : NAN);
        json_add_real(w, "bytes", is_rated_in_bytes(&n->task[i]) ? n->task[i].work.amount : NAN);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "layers");
    for (int i = 0; i < n->layer_count; i++)
        add_layer(w, n, &n->layer[i]);
    json_end(w);
    json_begin_list(w, "inputs");
    for (int i = 0; i < n->input_count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", n->input[i].name);
        json_add_text(w, "type", element_name(n->input[i].element));
        json_add_int(w, "elements", n->input[i].count);
        if (n->input[i].from)
            add_file(w, "from", n->input[i].from);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "outputs");
    for (int i = 0; i < n->output_count; i++)
        json_add_text(w, NULL, n->layer[n->output[i]].output.name);
    json_end(w);
}

void check_network_print(const struct network *n)
{
    size_t widest = strlen("task");
    for (int i = 0; i < n->task_count; i++)
        widest = strlen(n->task[i].label) > widest ? strlen(n->task[i].label) : widest;
    int width = widest < 24 ? (int)widest : 24;
    struct str text = {0};
    shown_add(&text, n->name);
    str_add(&text, ": ");
    shown_add(&text, n->about);
    printf("%s\n", str_text(&text));
    str_finish(&text);
    if (n->is_list) {
        int64_t uses = 0;
        for (int i = 0; i < n->task_count; i++)
            uses += n->task[i].uses;
        printf("%d task%s in a list of %d kernel%s, which occur %" PRId64 " times: %.4g GFLOP",
               n->task_count, n->task_count == 1 ? "" : "s", n->layer_count,
               n->layer_count == 1 ? "" : "s", uses, network_flop(n) / 1e9);
        if (network_told(n) > 0)
            printf(", %.4g ms elsewhere", network_told(n) * 1e3);
        printf("\n\n");
    } else {
        const struct plan_bytes b = plan_bytes(&n->plan);
        double read = 0;
        for (int i = 0; i < n->layer_count; i++)
            read += n->layer[i].read_bytes;
        printf("%d task%s in %d layer%s, %.4g GFLOP, %.4g MB of weights", n->task_count,
               n->task_count == 1 ? "" : "s", n->layer_count, n->layer_count == 1 ? "" : "s",
               network_flop(n) / 1e9, network_weight_bytes(n) / 1e6);
        if (read > 0)
            printf(", %.4g MB of them from files", read / 1e6);
        printf(
            "\nthe %.4g MB that layers make lie in %.4g MB (no plan needs less than %.4g MB)\n\n",
            (double)b.made / 1e6, (double)b.shared / 1e6, (double)b.least / 1e6);
    }
    printf("  %-*s %4s %10s %8s %8s  %s\n", width, "task", "uses", "GFLOP each", "GB each",
           network_told(n) > 0 ? "of time" : "share", "operation");
    for (int i = 0; i < n->task_count; i++) {
        struct str label = {0}, title = {0};
        char bytes[16] = "-";
        if (is_rated_in_bytes(&n->task[i]))
            snprintf(bytes, sizeof bytes, "%.3g", n->task[i].work.amount / 1e9);
        shown_add(&label, n->task[i].label);
        shown_add(&title, n->task[i].title);
        printf("  %-*s %4" PRId64 " %10.4g %8s %6.2f %%  %s\n", width, str_text(&label),
               n->task[i].uses, n->task[i].flop / 1e9, bytes, 100 * task_share(n, &n->task[i]),
               str_text(&title));
        str_finish(&label);
        str_finish(&title);
    }
}

int check_network(const struct arguments *a, const struct gpu_info *device)
{
    struct err e;
    static const char *const for_spaces[] = {"glsl", "sketches", "validate", "compile"};
    for (size_t i = 0; i < sizeof for_spaces / sizeof *for_spaces; i++)
        if (arguments_flag(a, for_spaces[i])) {
            err_usage(&e, "--%s is for a space, not a network (tilewalk check PRESET)",
                      for_spaces[i]);
            return fail_with(&e, EXIT_USAGE);
        }
    struct network n = {0};
    struct arena storage;
    struct err missing;
    arena_init(&storage);
    struct script_options o = {.path = common_space(a, true, &storage, &e),
                               .device_type = device ? device->type : NULL,
                               .limits = device ? &device->limits : NULL};
    struct network_sizes sizes = {.arena = &storage};
    o.set = common_settings(a, &storage, &o.set_count);
    bool ok = o.path && network_load(&o, &n, &e);
    bool fits = !ok || !device || network_fits(&n, &device->limits, device->memory_bytes, &missing);
    if (!fits)
        network_fit(&n, &o, &device->limits, device->memory_bytes, &sizes, &missing);
    arena_finish(&storage);
    if (ok && arguments_flag(a, "json")) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        check_network_add(&w, &n);
        json_add_text(&w, "missing", fits ? NULL : missing.text);
        json_print(&w);
    } else if (ok) {
        check_network_print(&n);
        if (!fits)
            printf("\nnot on %s: %s\n", device->name, missing.text);
    }
    network_finish(&n);
    return common_exit(ok, &e);
}
