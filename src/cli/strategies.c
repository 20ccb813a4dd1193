#include "cli/common.h"

#include <math.h>
#include <stdio.h>

static bool is_default(const struct strategy_kind *k)
{
    return str_equal(k->name, ENGINE_DEFAULT_STRATEGY);
}

static void add_text(struct str *out, const char *key, const char *text)
{
    str_printf(out, "\"%s\":", key);
    str_add_json(out, text);
}

// Ranges without an end are null in JSON.
static void add_number(struct str *out, const char *key, double value)
{
    str_printf(out, ",\"%s\":", key);
    if (isfinite(value))
        str_add_real(out, value);
    else
        str_add(out, "null");
}

static void add_range(struct str *out, const struct strategy_option *o)
{
    str_printf(out, ",\"integer\":%s", o->integer ? "true" : "false");
    add_number(out, "default", o->value);
    add_number(out, "low", o->low);
    add_number(out, "high", o->high);
}

static void add_words(struct str *out, const struct strategy_option *o)
{
    str_add(out, ",");
    add_text(out, "default", o->words[(int)o->value]);
    str_add(out, ",\"words\":[");
    for (int i = 0; o->words[i]; i++) {
        str_add(out, i ? "," : "");
        str_add_json(out, o->words[i]);
    }
    str_add(out, "]");
}

static void add_option(struct str *out, const struct strategy_option *o)
{
    str_add(out, "{");
    add_text(out, "name", o->name);
    str_add(out, ",");
    add_text(out, "help", o->help);
    if (o->words)
        add_words(out, o);
    else
        add_range(out, o);
    str_add(out, "}");
}

static void add_kind(struct str *out, const struct strategy_kind *k)
{
    str_add(out, "{");
    add_text(out, "name", k->name);
    str_add(out, ",");
    add_text(out, "help", k->help);
    str_printf(out, ",\"default\":%s,\"model\":%s,\"options\":[", is_default(k) ? "true" : "false",
               k->take_refit ? "true" : "false");
    for (const struct strategy_option *o = k->options; o && o->name; o++) {
        str_add(out, o == k->options ? "" : ",");
        add_option(out, o);
    }
    str_add(out, "]}");
}

static void print_json(void)
{
    struct str out = {0};
    str_add(&out, "{\"strategies\":[");
    for (int i = 0; strategy_kinds[i]; i++) {
        str_add(&out, i ? "," : "");
        add_kind(&out, strategy_kinds[i]);
    }
    str_add(&out, "]}\n");
    fputs(str_text(&out), stdout);
    str_finish(&out);
}

static void print_words(const struct strategy_option *o)
{
    char setting[64];
    snprintf(setting, sizeof setting, "%s=%s", o->name, o->words[(int)o->value]);
    printf("  %-22s %s (", setting, o->help);
    for (int i = 0; o->words[i]; i++)
        printf("%s%s", i ? ", " : "", o->words[i]);
    printf(")\n");
}

static void print_option(const struct strategy_option *o)
{
    if (o->words) {
        print_words(o);
        return;
    }
    char setting[64], range[64];
    snprintf(setting, sizeof setting, "%s=%g", o->name, o->value);
    if (isfinite(o->high))
        snprintf(range, sizeof range, "%g to %g", o->low, o->high);
    else
        snprintf(range, sizeof range, "from %g", o->low);
    printf("  %-22s %s (%s%s)\n", setting, o->help, o->integer ? "whole number, " : "", range);
}

static void print_text(void)
{
    for (int i = 0; strategy_kinds[i]; i++) {
        const struct strategy_kind *k = strategy_kinds[i];
        printf("%s%s: %s%s%s\n", i ? "\n" : "", k->name, k->help, is_default(k) ? " (default)" : "",
               k->take_refit ? " (has a model)" : "");
        for (const struct strategy_option *o = k->options; o && o->name; o++)
            print_option(o);
    }
    printf("\noptions are given after the name: tilewalk tune gemm --strategy opevo:q=0.3\n");
}

static int run_strategies(const struct command *self, const struct arguments *a)
{
    (void)self;
    if (arguments_flag(a, "json"))
        print_json();
    else
        print_text();
    return EXIT_OK;
}

static const struct option options[] = {OPTION_JSON, OPTION_HELP, OPTION_END};

const struct command cmd_strategies = {
    .name = "strategies",
    .help = "list the search strategies, their options, defaults and ranges",
    .options = options,
    .run = run_strategies,
};
