// judge: is a kernel right, and how fast is it beside the kernel of a space?
#include "export/judge.h"
#include "base/file.h"
#include "base/os.h"
#include "cli/common.h"
#include "cli/confine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void judge_print_json(const struct judge_request *r, const struct judgement *j)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_text(&w, "file", r->file);
    json_add_text(&w, "space", r->space);
    json_add_text(&w, "device", r->device->name);
    json_add_text(&w, "driver", r->device->driver);
    json_add_int(&w, "seed", (int64_t)r->seed);
    json_add_raw(&w, "configuration", j->configuration);
    json_add_text(&w, "verdict", judge_verdict_name(j->verdict));
    json_begin_list(&w, "reasons");
    for (int i = 0; i < j->reasons; i++) {
        const struct judge_reason *reason = &j->reason[i];
        json_begin_object(&w, NULL);
        json_add_text(&w, "kind", reason->kind);
        json_add_text(&w, "text", reason->text);
        json_add_text(&w, "file", reason->file);
        if (reason->file)
            json_add_int(&w, "line", reason->line);
        else
            json_add_null(&w, "line");
        json_end(&w);
    }
    json_end(&w);
    json_add_int(&w, "runs", j->runs);
    json_add_int(&w, "shapes", j->shapes);
    json_add_text(&w, "other_shapes", str_text(&j->shape));
    json_add_real(&w, "ms", j->seconds > 0 ? j->seconds * 1e3 : NAN);
    json_add_text(&w, "baseline", j->baseline);
    json_add_real(&w, "ratio", j->ratio.ratio);
    json_add_real(&w, "ratio_low", j->ratio.low);
    json_add_real(&w, "ratio_high", j->ratio.high);
    json_add_text(&w, "compared", paired_verdict_name(paired_verdict(&j->ratio)));
    json_print(&w);
}

static void judge_print(const struct judge_request *r, const struct judgement *j)
{
    struct str out = {0};
    shown_add(&out, r->file);
    str_printf(&out, ": %s", judge_verdict_name(j->verdict));
    if (j->verdict == JUDGE_RIGHT)
        str_printf(&out, " in %d more runs and on %d other shape%s (seed %" PRIu64 ")", j->runs,
                   j->shapes, j->shapes == 1 ? "" : "s", r->seed);
    str_add_char(&out, '\n');
    for (int i = 0; i < j->reasons; i++) {
        if (j->reason[i].file) {
            shown_add(&out, j->reason[i].file);
            str_printf(&out, ":%d: ", j->reason[i].line);
        }
        str_printf(&out, "%s: ", j->reason[i].kind);
        shown_add(&out, j->reason[i].text);
        str_add_char(&out, '\n');
    }
    if (j->baseline) {
        str_printf(&out, "beside %s: ", j->baseline);
        const struct session_record timed = {.objective = NULL}; // kernels are judged by time
        speed_add_ratio(&timed, &j->ratio, &out);
        str_add_char(&out, '\n');
    }
    common_print(&out);
}

static int run_judge(const struct command *self, const struct arguments *a)
{
    static const int codes[] = {EXIT_OK, EXIT_NOTHING_VALID, EXIT_FAILED};
    struct err e;
    struct sandbox s;
    struct arena arena;
    struct device_choice chosen = {0};
    const char *space = arguments_text(a, "space");
    (void)self;
    if (!space) {
        err_usage(&e, "judge needs --space SPACE: the operator, the shapes and the dispatch");
        return fail_with(&e, EXIT_USAGE);
    }
    confine_begin(&s);
    confine_read_space(&s, space);
    confine_read_settings(&s, a);
    sandbox_allow(&s, SANDBOX_READ, a->operand[0]);
    confine_enter(&s);
    arena_init(&arena);
    struct judge_request r = {.file = a->operand[0],
                              .seed = (uint64_t)arguments_integer(a, "seed", -1),
                              .runs = (int)arguments_integer(a, "runs", JUDGE_RUNS)};
    if (!arguments_flag(a, "seed"))
        r.seed = os_seed() >> 11; // a whole number of JSON
    char *path = script_find(space, &e);
    bool ok = path && common_choose_device(a, &chosen, &e);
    if (ok && !chosen.device)
        ok = err_set(&e, "there is no device that runs kernels (tilewalk devices lists them)");
    int code = ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
    if (ok) {
        struct judgement j;
        r.set = common_settings(a, &arena, &r.set_count);
        r.space = path;
        r.device = chosen.device;
        judge(&r, &j);
        (arguments_flag(a, "json") ? judge_print_json : judge_print)(&r, &j);
        code = codes[j.verdict];
        judge_finish(&j);
    }
    free(path);
    free(chosen.list);
    arena_finish(&arena);
    return code;
}

static const struct option options[] = {
    {"space", OPTION_TEXT, "SPACE",
     "preset or space file: the operator, the shapes, and the dispatch of its kernel, whose place "
     "FILE takes"},
    OPTION_SET,
    {"seed", OPTION_INTEGER, "S", "seed of hidden shapes and inputs (default: another each time)",
     0, 1L << 53},
    {"runs", OPTION_INTEGER, "N", "repeated runs with fresh inputs (default: 80)", 1, 100000},
    OPTION_DEVICE,
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_JSON,
    OPTION_END,
};

const struct command cmd_judge = {
    .name = "judge",
    .operands = "FILE.comp",
    .help = "judge a kernel: is it right on hidden shapes and inputs, and how fast beside the "
            "kernel of a space?",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_judge,
};
