#include "cli/check_compile.h"

#include "cli/common.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MS 1e3

void json_sample(struct json_writer *w, const struct sample *s)
{
    json_add_int(w, "asked", s->asked);
    json_add_int(w, "compiled", s->compiled);
    json_begin_list(w, "refused");
    for (int i = 0; i < s->refusals; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "reason", s->refusal[i].reason);
        json_add_int(w, "count", s->refusal[i].count);
        json_end(w);
    }
    json_end(w);
    json_add_real(w, "spilled", s->told ? (double)s->spilled : NAN);
    json_add_real(w, "left_out", s->told ? (double)s->left_out : NAN);
    json_begin_object(w, "pipeline_ms");
    json_add_real(w, "median", MS * sample_quantile(&s->build, 0.5));
    json_add_real(w, "p90", MS * sample_quantile(&s->build, 0.9));
    json_add_real(w, "max", MS * sample_quantile(&s->build, 1));
    json_end(w);
    json_begin_list(w, "statistics");
    for (int i = 0; i < s->statistics; i++) {
        const struct sample_column *c = &s->statistic[i];
        json_begin_object(w, NULL);
        json_add_text(w, "name", c->name);
        json_add_real(w, "median", sample_quantile(c, 0.5));
        json_add_real(w, "max", sample_quantile(c, 1));
        json_end(w);
    }
    json_end(w);
}

void sample_add_text(const struct sample *s, const struct gpu_info *d, struct str *out)
{
    struct arena words; // escaped texts of the driver and the compiler
    arena_init(&words);
    str_printf(
        out, "%" PRId64 " random valid configurations, %" PRId64 " compiled, %" PRId64 " refused\n",
        s->asked, s->compiled, s->asked - s->compiled);
    for (int i = 0; i < s->refusals; i++)
        str_printf(out, "  %6" PRId64 "  %s\n", s->refusal[i].count,
                   shown_text(&words, s->refusal[i].reason));
    if (s->told)
        str_printf(out,
                   "%" PRId64 " of %" PRId64 " spill (%.3g %%), %" PRId64 " have more than %" PRIu32
                   " spills: tune leaves these out\n",
                   s->spilled, s->told, 100 * (double)s->spilled / (double)s->told, s->left_out,
                   d->limits.spills);
    if (s->compiled)
        str_printf(out,
                   "the driver's compiler took %.3g ms (median), %.3g ms (90 %%), %.3g ms (most)\n",
                   MS * sample_quantile(&s->build, 0.5), MS * sample_quantile(&s->build, 0.9),
                   MS * sample_quantile(&s->build, 1));
    if (s->statistics)
        str_printf(out, "\n  %-44s %12s %12s\n", "statistic", "median", "most");
    for (int i = 0; i < s->statistics; i++)
        str_printf(out, "  %-44s %12.6g %12.6g\n", shown_text(&words, s->statistic[i].name),
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
    if (!sample_take(&o, &s, &e))
        code = fail_with(&e, EXIT_FAILED);
    else if (!s.asked)
        code = EXIT_NOTHING_VALID;
    else if (arguments_flag(a, "json")) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_add_text(&w, "device", device->name);
        json_add_text(&w, "driver", device->driver);
        json_sample(&w, &s);
        json_add_int(&w, "validation_messages", s.messages);
        json_print(&w);
    } else {
        struct str out = {0};
        struct arena words; // escaped texts of the driver
        arena_init(&words);
        sample_add_text(&s, device, &out);
        printf("on %s (%s)\n%s", shown_text(&words, device->name),
               shown_text(&words, device->driver), str_text(&out));
        arena_finish(&words);
        str_finish(&out);
    }
    if (code == EXIT_OK && s.compiled < s.asked)
        code = EXIT_FAILED;
    sample_finish(&s);
    return code;
}
