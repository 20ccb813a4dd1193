// strategies: search strategies, and the schedulers that give the tasks of a network their trials.
#include "cli/common.h"
#include "engine/network_run.h"

#include <math.h>
#include <stdio.h>

static bool is_default(const struct strategy_kind *k)
{
    return str_equal(k->name, ENGINE_DEFAULT_STRATEGY);
}

static void add_options(struct json_writer *w, const struct spec_option *option)
{
    json_begin_list(w, "options");
    for (const struct spec_option *o = option; o && o->name; o++) {
        if (o->hidden)
            continue;
        json_begin_object(w, NULL);
        json_add_text(w, "name", o->name);
        json_add_text(w, "help", o->help);
        if (o->words) {
            json_add_text(w, "default", o->words[(int)o->value]);
            json_add_texts(w, "words", o->words);
        } else {
            json_add_flag(w, "integer", o->integer);
            json_add_real(w, "default", o->value);
            json_add_real(w, "low", o->low);
            json_add_real(w, "high", o->high); // null where there is no end
        }
        json_end(w);
    }
    json_end(w);
}

static void print_options(const struct spec_option *option)
{
    for (const struct spec_option *o = option; o && o->name; o++) {
        char setting[64], range[64];
        if (o->hidden)
            continue;
        if (o->words) {
            snprintf(setting, sizeof setting, "%s=%s", o->name, o->words[(int)o->value]);
            printf("  %-22s %s (", setting, o->help);
            for (int i = 0; o->words[i]; i++)
                printf("%s%s", i ? ", " : "", o->words[i]);
            printf(")\n");
            continue;
        }
        snprintf(setting, sizeof setting, "%s=%g", o->name, o->value);
        if (isfinite(o->high))
            snprintf(range, sizeof range, "%g to %g", o->low, o->high);
        else
            snprintf(range, sizeof range, "from %g", o->low);
        printf("  %-22s %s (%s%s)\n", setting, o->help, o->integer ? "whole number, " : "", range);
    }
}

static int run_strategies(const struct command *self, const struct arguments *a)
{
    (void)self;
    if (arguments_flag(a, "json")) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_begin_list(&w, "strategies");
        for (int i = 0; strategy_kinds[i]; i++) {
            const struct strategy_kind *k = strategy_kinds[i];
            json_begin_object(&w, NULL);
            json_add_text(&w, "name", k->name);
            json_add_text(&w, "help", k->help);
            json_add_flag(&w, "default", is_default(k));
            json_add_flag(&w, "model", k->take_refit);
            json_add_flag(&w, "transfer", k->learns != LEARNS_NOTHING);
            struct err missing;
            json_add_text(&w, "missing",
                          strategy_possible(k->name, &missing) ? NULL : missing.text);
            add_options(&w, k->options);
            json_end(&w);
        }
        json_end(&w);
        json_begin_list(&w, "schedulers");
        for (const struct schedule_kind *k = schedule_kinds; k->name; k++) {
            json_begin_object(&w, NULL);
            json_add_text(&w, "name", k->name);
            json_add_text(&w, "help", k->help);
            json_add_flag(&w, "default", str_equal(k->name, NETWORK_DEFAULT_SCHEDULER));
            add_options(&w, k->options);
            json_end(&w);
        }
        json_print(&w);
    } else {
        for (int i = 0; strategy_kinds[i]; i++) {
            const struct strategy_kind *k = strategy_kinds[i];
            struct err missing;
            printf("%s%s: %s%s%s\n", i ? "\n" : "", k->name, k->help,
                   is_default(k) ? " (default)" : "", k->take_refit ? " (has a model)" : "");
            if (!strategy_possible(k->name, &missing))
                printf("  not here: %s\n", missing.text);
            print_options(k->options);
        }
        printf("\nschedulers, which give the tasks of a network their trials:\n");
        for (const struct schedule_kind *k = schedule_kinds; k->name; k++) {
            printf("\n%s: %s%s\n", k->name, k->help,
                   str_equal(k->name, NETWORK_DEFAULT_SCHEDULER) ? " (default)" : "");
            print_options(k->options);
        }
        printf("\nOptions stand after the name: tilewalk tune gemm --strategy opevo:q=0.3\n");
    }
    return EXIT_OK;
}

static const struct option options[] = {OPTION_JSON, OPTION_END};

const struct command cmd_strategies = {
    .name = "strategies",
    .help =
        "list the search strategies and the schedulers of networks, their options, defaults and "
        "ranges",
    .options = options,
    .run = run_strategies,
};
