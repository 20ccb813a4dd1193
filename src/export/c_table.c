#include "export/c_table.h"

#include "base/mem.h"
#include "export/reader/tilewalk_tuned.h"
#include "report/kernel_files.h"

#include <inttypes.h>

// Adds a literal and a comma.
static void add_text(struct str *out, const char *text)
{
    kernel_add_literal(out, text);
    str_add(out, ", ");
}

static void add_entry(struct str *out, const struct tilewalk_entry *x)
{
    const struct tilewalk_limits *n = &x->needs;
    str_add(out, "    {");
    add_text(out, x->device);
    add_text(out, x->driver);
    add_text(out, x->identity);
    add_text(out, x->configuration);
    str_printf(out,
               "\n     %.9g, %.9g, {%" PRIu32 ", {%" PRIu32 ", %" PRIu32 ", %" PRIu32 "}, %" PRIu32
               ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "}, NULL, 0},\n",
               x->tflops, x->ms, n->invocations, n->group_size[0], n->group_size[1],
               n->group_size[2], n->shared_bytes, n->subgroup_least, n->subgroup_most, n->features);
}

// Adds the sizes, entries and groups; a list of C++ may not be empty.
static void add_lists(struct str *out, const struct tilewalk_tuned *t, const char *id)
{
    str_printf(out, "static const struct tilewalk_extent %s_sizes[] = {\n", id);
    for (uint32_t i = 0; i < t->groups; i++) {
        const struct tilewalk_group *g = &t->group[i];
        for (uint32_t j = 0; j < g->count * g->sizes; j++)
            str_printf(out, "    {%" PRId64 ", %" PRId32 "},\n", t->size[g->size + j].value,
                       t->size[g->size + j].log2);
    }
    str_printf(out, "    {0, 0},\n};\n\nstatic const struct tilewalk_entry %s_entries[] = {\n", id);
    for (uint32_t i = 0; i < t->entries; i++)
        add_entry(out, &t->entry[i]);
    str_printf(out,
               "    {\"\", \"\", \"\", \"\", 0, 0, {0, {0, 0, 0}, 0, 0, 0, 0}, NULL, 0},\n};\n\n"
               "static const struct tilewalk_group %s_groups[] = {\n",
               id);
    for (uint32_t i = 0; i < t->groups; i++) {
        const struct tilewalk_group *g = &t->group[i];
        str_add(out, "    {");
        add_text(out, g->signature);
        str_printf(out, "%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "},\n", g->first,
                   g->count, g->size, g->sizes);
    }
    str_add(out, "    {\"\", 0, 0, 0, 0},\n};\n");
}

bool export_add_c_table(const char *table, const char *name, struct str *out, struct err *e)
{
    struct tilewalk_tuned t;
    char why[160];
    if (!tilewalk_tuned_read(&t, table, strlen(table), why, sizeof why))
        return err_set(e, "the table: %s", why);
    char *id = kernel_identifier(name);
    str_printf(out,
               "// %s: tuned configurations, for lookups with tilewalk_tuned.h. Output of "
               "tilewalk.\n"
               "#ifndef %s_TUNED\n#define %s_TUNED\n\n#include \"tilewalk_tuned.h\"\n\n",
               id, id, id);
    add_lists(out, &t, id);
    str_printf(
        out,
        "\nstatic const struct tilewalk_tuned %s = {%s_groups, %s_entries, %s_sizes, %" PRIu32
        ", %" PRIu32 ", NULL};\n\n#endif\n",
        id, id, id, id, t.groups, t.entries);
    free(id);
    tilewalk_tuned_free(&t);
    return true;
}
