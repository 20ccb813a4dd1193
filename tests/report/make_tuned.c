// make_tuned [header]: a table of kernels that is made up, as JSON or as `export --as c-table`
// makes a header of it. Half of its entries say what they need.
#include "export/c_table.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES 120

static const char *const device[][2] = {{"Card 1", "Maker, 1.0"},  {"Card 1", "Maker, 2.0"},
                                        {"Card 2", "Maker, 1.0"},  {"Card 3", "Other, 1.0"},
                                        {"Card \\u00b5", "Other"}, {"Chip", ""}};

static void add_entry(struct str *out, struct rng *r, int i)
{
    const char *const *place = device[rng_below(r, 6)];
    static const char *const types[] = {"f32", "f16"}, *const needs[] = {"", "\"f16\"", "\"new\""};
    str_printf(out,
               "%s\n {\"problem\": {\"kind\": \"matmul\", \"N\": %d, \"M\": %d, \"K\": %d, "
               "\"type\": \"%s\"%s}, \"configuration\": {\"tile\": [%d, 2], \"pad\": 1},\n  "
               "\"device\": \"%s\", \"driver\": \"%s\", \"device_identity\": \"%d\", ",
               i ? "," : "", 1 << rng_below(r, 8), 1 + (int)rng_below(r, 4000),
               (int)rng_below(r, 3) * 64, types[rng_below(r, 2)], i % 5 ? "" : ", \"scale\": 0.25",
               i, place[0], place[1], i);
    if (i % 2)
        str_printf(out,
                   "\"passes\": [{\"local_size\": [%d, 2, 1], \"shared_bytes\": %d, \"needs\": "
                   "[%s], \"subgroup_size\": 32}], ",
                   32 << rng_below(r, 6), 16384 << rng_below(r, 3), needs[rng_below(r, 3)]);
    str_printf(out, "\"timing\": {\"ms\": 1.5e-1, \"tflops\": %d.5}}", (int)rng_below(r, 3));
}

int main(int argc, char **argv)
{
    struct str text = {0}, header = {0};
    struct rng r;
    struct err e;
    rng_seed(&r, 7);
    str_add(&text, "{\"format\": \"tilewalk-table\", \"version\": 1, \"entries\": [");
    for (int i = 0; i < ENTRIES; i++)
        add_entry(&text, &r, i);
    str_add(&text, "\n]}\n");
    bool wants_header = argc > 1 && strcmp(argv[1], "header") == 0;
    bool ok = !wants_header || export_add_c_table(str_text(&text), "made-up", &header, &e);
    fputs(ok ? str_text(wants_header ? &header : &text) : e.text, stdout);
    str_finish(&text);
    str_finish(&header);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
