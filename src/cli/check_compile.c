#include "cli/check_compile.h"

#include "cli/common.h"
#include "engine/sample_compile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MS 1e3

static void add_member(struct str *out, const char *name, double value)
{
    str_printf(out, "\"%s\":", name);
    json_real(out, value);
}

static void add_refused(const struct sample *s, struct str *out)
{
    str_add(out, ",\"refused\":[");
    for (int i = 0; i < s->refusals; i++) {
        str_add(out, i ? ",{\"reason\":" : "{\"reason\":");
        str_add_json(out, s->refusal[i].reason);
        str_printf(out, ",\"count\":%" PRId64 "}", s->refusal[i].count);
    }
    str_add_char(out, ']');
}

static void add_statistics(const struct sample *s, struct str *out)
{
    str_add(out, ",\"statistics\":[");
    for (int i = 0; i < s->statistics; i++) {
        const struct sample_column *c = &s->statistic[i];
        str_add(out, i ? ",{\"name\":" : "{\"name\":");
        str_add_json(out, c->name);
        str_add_char(out, ',');
        add_member(out, "median", sample_quantile(c, 0.5));
        str_add_char(out, ',');
        add_member(out, "max", sample_quantile(c, 1));
        str_add_char(out, '}');
    }
    str_add_char(out, ']');
}

static void print_json(const struct sample *s, const struct gpu_info *d)
{
    struct str out = {0};
    str_add(&out, "{\"device\":");
    str_add_json(&out, d->name);
    str_add(&out, ",\"driver\":");
    str_add_json(&out, d->driver);
    str_printf(&out, ",\"asked\":%" PRId64 ",\"compiled\":%" PRId64, s->asked, s->compiled);
    add_refused(s, &out);
    str_add_char(&out, ',');
    add_member(&out, "spilled", s->told ? (double)s->spilled : NAN);
    str_add(&out, ",\"pipeline_ms\":{");
    add_member(&out, "median", MS * sample_quantile(&s->build, 0.5));
    str_add_char(&out, ',');
    add_member(&out, "p90", MS * sample_quantile(&s->build, 0.9));
    str_add_char(&out, ',');
    add_member(&out, "max", MS * sample_quantile(&s->build, 1));
    str_add_char(&out, '}');
    add_statistics(s, &out);
    str_printf(&out, ",\"validation_messages\":%" PRId64 "}\n", s->messages);
    fputs(str_text(&out), stdout);
    str_finish(&out);
}

static void print_text(const struct sample *s, const struct gpu_info *d)
{
    struct arena words; // of the driver's and the compiler's
    arena_init(&words);
    printf("on %s (%s)\n", shown_text(&words, d->name), shown_text(&words, d->driver));
    printf("%" PRId64 " random valid configurations, %" PRId64 " compiled, %" PRId64 " refused\n",
           s->asked, s->compiled, s->asked - s->compiled);
    for (int i = 0; i < s->refusals; i++)
        printf("  %6" PRId64 "  %s\n", s->refusal[i].count,
               shown_text(&words, s->refusal[i].reason));
    if (s->told)
        printf("%" PRId64 " of %" PRId64 " spill (%.3g %%)\n", s->spilled, s->told,
               100 * (double)s->spilled / (double)s->told);
    if (s->compiled)
        printf("the driver's compiler took %.3g ms (median), %.3g ms (90 %%), %.3g ms (most)\n",
               MS * sample_quantile(&s->build, 0.5), MS * sample_quantile(&s->build, 0.9),
               MS * sample_quantile(&s->build, 1));
    if (s->statistics)
        printf("\n  %-44s %12s %12s\n", "statistic", "median", "most");
    for (int i = 0; i < s->statistics; i++)
        printf("  %-44s %12.6g %12.6g\n", shown_text(&words, s->statistic[i].name),
               sample_quantile(&s->statistic[i], 0.5), sample_quantile(&s->statistic[i], 1));
    arena_finish(&words);
}

int check_compile(struct script *script, const struct gpu_info *device, const struct arguments *a)
{
    struct err e;
    struct sample s;
    int code = EXIT_OK;
    const struct sample_options o = {.script = script,
                                     .device = device,
                                     .count = arguments_integer(a, "compile", 0),
                                     .seed = (uint64_t)arguments_integer(a, "seed", 1),
                                     .validate = arguments_flag(a, "validate"),
                                     .fault = arguments_text(a, "fault")};
    if (!sample_compile(&o, &s, &e))
        code = fail_with(&e, EXIT_FAILED);
    else if (!s.asked)
        code = EXIT_NOTHING_VALID;
    else if (arguments_flag(a, "json"))
        print_json(&s, device);
    else
        print_text(&s, device);
    if (code == EXIT_OK && s.compiled < s.asked)
        code = EXIT_FAILED;
    sample_finish(&s);
    return code;
}
