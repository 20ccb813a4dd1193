// NAME.h of an export: C11 and C++, no designated initialisers, no macro but the guards.
#include "report/kernel_files.h"

#include "base/mem.h"
#include "base/str.h"
#include "report/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_PER_LINE 8

// The same in every exported header, so that several may be included at once. A change of it needs
// another name than TILEWALK_KERNEL_3, and headers with an older one cannot be included beside it.
static const char types[] =
    "#if defined TILEWALK_KERNEL_1 || defined TILEWALK_KERNEL_2\n"
    "#error \"another header is of an older tilewalk: export it again\"\n"
    "#endif\n"
    "#ifndef TILEWALK_KERNEL_3\n"
    "#define TILEWALK_KERNEL_3\n"
    "struct tilewalk_pass { // dispatched in order, with a full barrier between passes\n"
    "    const uint32_t *spirv;\n"
    "    size_t spirv_bytes;\n"
    "    const char *entry;\n"
    "    uint32_t local_size[3]; // already in the SPIR-V\n"
    "    uint32_t groups[3];     // for vkCmdDispatch\n"
    "    uint32_t subgroup_size; // 0: any; else requiredSubgroupSize, with full subgroups\n"
    "    uint32_t push_bytes;    // for vkCmdPushConstants; 0: it has none\n"
    "    const uint32_t *push;\n"
    "};\n"
    "\n"
    "struct tilewalk_binding { // binding i of descriptor set 0: a storage buffer, for all passes\n"
    "    const char *name;\n"
    "    const char *access; // \"read\", \"write\", \"read-write\"\n"
    "    uint64_t bytes;\n"
    "};\n"
    "\n"
    "struct tilewalk_size {\n"
    "    const char *name;\n"
    "    int64_t value;\n"
    "};\n"
    "\n"
    "struct tilewalk_choice {\n"
    "    const char *name, *value;\n"
    "};\n"
    "\n"
    "struct tilewalk_kernel { // its specialization constants are in the SPIR-V\n"
    "    const char *name;\n"
    "    const char *operation;\n"
    "    const struct tilewalk_size *sizes;     // ends with a NULL name\n"
    "    const struct tilewalk_choice *choices; // likewise\n"
    "    uint32_t binding_count, pass_count;\n"
    "    const struct tilewalk_binding *bindings;\n"
    "    const struct tilewalk_pass *passes;\n"
    "};\n"
    "#endif\n";

// Letters, digits and underscores of ASCII; never a word that C keeps for itself.
static char *identifier(const char *name)
{
    bool letter_first = (unsigned char)name[0] < 128 && isalpha((unsigned char)name[0]);
    char *id = mem_printf("%s%s", letter_first ? "" : "k_", name);
    for (char *c = id; *c; c++)
        if ((unsigned char)*c >= 128 || !isalnum((unsigned char)*c))
            *c = '_';
    return id;
}

char *kernel_identifier(const char *name)
{
    char *id = identifier(name), *whole = mem_printf("%s_kernel", id);
    free(id);
    return whole;
}

// For a // comment: on one line, and without what could glue the next line to it.
static void add_comment(struct str *out, const char *text)
{
    for (const char *c = text ? text : "unknown"; *c; c++)
        str_add_char(out, iscntrl((unsigned char)*c) || *c == '\\' || *c == '?' ? ' ' : *c);
}

// A C string literal. Octal escapes, for they end after three digits; '?' because of trigraphs.
static void add_literal(struct str *out, const char *text)
{
    str_add_char(out, '"');
    for (const char *c = text; *c; c++) {
        if (strchr("\"\\?", *c))
            str_printf(out, "\\%c", *c);
        else if ((unsigned char)*c >= 128 || iscntrl((unsigned char)*c))
            str_printf(out, "\\%03o", (unsigned)(unsigned char)*c);
        else
            str_add_char(out, *c);
    }
    str_add_char(out, '"');
}

static void add_opening(struct str *out, const struct kernel_description *d)
{
    str_add(out, "// ");
    add_comment(out, d->name);
    str_add(out, ": ");
    add_comment(out, d->title);
    str_printf(out, "\n// Found by tilewalk %s, session %" PRId64 ", trial %" PRId64 ": ",
               TILEWALK_VERSION, d->session, d->trial);
    char rate[32];
    struct workload work = d->work.amount > 0 ? d->work : (struct workload){d->flop, WORK_FLOP};
    str_printf(out, "%.4g ms, %s\n// on ", d->timing.seconds * 1e3,
               text_rate(work.amount / d->timing.seconds, work.unit, rate));
    add_comment(out, d->device);
    str_add(out, ", ");
    add_comment(out, d->driver);
    str_add(out, ".\n// Configuration: ");
    add_comment(out, d->configuration);
    str_add(out, "\n// This file is output of tilewalk's templates. It belongs to you: no licence "
                 "of tilewalk applies to it.\n");
}

static void add_words(struct str *out, const char *id, int pass, const struct kernel_pass *p)
{
    str_printf(out, "\nstatic const uint32_t %s_spirv_%d[%zu] = {", id, pass + 1, p->word_count);
    for (size_t i = 0; i < p->word_count; i++)
        str_printf(out, "%s0x%08" PRIx32 ",", i % WORDS_PER_LINE ? " " : "\n    ", p->word[i]);
    str_add(out, "\n};\n");
}

static uint32_t push_word(const struct kernel_pass *p, uint32_t at)
{
    uint32_t word;
    memcpy(&word, p->push + at, sizeof word);
    return word;
}

static void add_push(struct str *out, const char *id, int pass, const struct kernel_pass *p)
{
    if (!p->push_bytes)
        return;
    str_printf(out, "\nstatic const uint32_t %s_push_%d[%" PRIu32 "] = {", id, pass + 1,
               p->push_bytes / 4);
    for (uint32_t at = 0; at < p->push_bytes; at += 4)
        str_printf(out, "%s%" PRIu32 ",", at % 32 ? " " : "\n    ", push_word(p, at));
    str_add(out, "\n};\n");
}

static void add_passes(struct str *out, const char *id, const struct kernel_description *d)
{
    str_printf(out, "\nstatic const struct tilewalk_pass %s_passes[%d] = {\n", id, d->pass_count);
    for (int i = 0; i < d->pass_count; i++) {
        const uint32_t *l = d->pass[i].local_size, *g = d->pass[i].groups;
        str_printf(out,
                   "    {%s_spirv_%d, sizeof %s_spirv_%d, \"main\", {%" PRIu32 ", %" PRIu32
                   ", %" PRIu32 "}, {%" PRIu32 ", %" PRIu32 ", %" PRIu32 "}, %" PRIu32 ", %" PRIu32
                   ", ",
                   id, i + 1, id, i + 1, l[0], l[1], l[2], g[0], g[1], g[2],
                   d->pass[i].subgroup_size, d->pass[i].push_bytes);
        if (d->pass[i].push_bytes)
            str_printf(out, "%s_push_%d},\n", id, i + 1);
        else
            str_add(out, "NULL},\n");
    }
    str_add(out, "};\n");
}

static void add_bindings(struct str *out, const char *id, const struct kernel_description *d)
{
    str_printf(out, "\nstatic const struct tilewalk_binding %s_bindings[%d] = {\n", id,
               d->binding_count);
    for (int i = 0; i < d->binding_count; i++) {
        str_add(out, "    {");
        add_literal(out, d->binding[i].name);
        str_printf(out, ", \"%s\", %" PRIu64 "u},\n", d->binding[i].access, d->binding[i].bytes);
    }
    str_add(out, "};\n");
}

static void add_sizes(struct str *out, const char *id, const struct operation *o)
{
    str_printf(out, "\nstatic const struct tilewalk_size %s_sizes[] = {\n", id);
    for (int i = 0; o->kind->sizes[i].name; i++)
        str_printf(out, "    {\"%s\", %" PRId64 "},\n", o->kind->sizes[i].name, o->size[i]);
    str_add(out, "    {NULL, 0},\n};\n");
}

static void add_choices(struct str *out, const char *id, const struct operation *o)
{
    str_printf(out, "\nstatic const struct tilewalk_choice %s_choices[] = {\n", id);
    for (int i = 0; o->kind->choices && o->kind->choices[i].name; i++)
        str_printf(out, "    {\"%s\", \"%s\"},\n", o->kind->choices[i].name,
                   o->kind->choices[i].values[o->choice[i]]);
    str_add(out, "    {NULL, NULL},\n};\n");
}

static void add_kernel(struct str *out, const char *id, const struct kernel_description *d)
{
    str_printf(out, "\nstatic const struct tilewalk_kernel %s_kernel = {\n    ", id);
    add_literal(out, d->name);
    str_add(out, ",\n    ");
    add_literal(out, d->operation->kind->name);
    str_printf(out, ",\n    %s_sizes,\n    %s_choices,\n    %d,\n    %d,\n", id, id,
               d->binding_count, d->pass_count);
    str_printf(out, "    %s_bindings,\n    %s_passes,\n};\n", id, id);
}

void kernel_add_header(const struct kernel_description *d, struct str *out)
{
    char *id = identifier(d->name), *guard = mem_printf("%s_H", id);
    for (char *c = guard; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    add_opening(out, d);
    str_printf(out, "#ifndef %s\n#define %s\n\n", guard, guard);
    str_add(out, "#include <stddef.h>\n#include <stdint.h>\n\n");
    str_add(out, types);
    for (int i = 0; i < d->pass_count; i++) {
        add_words(out, id, i, &d->pass[i]);
        add_push(out, id, i, &d->pass[i]);
    }
    add_passes(out, id, d);
    add_bindings(out, id, d);
    add_sizes(out, id, d->operation);
    add_choices(out, id, d->operation);
    add_kernel(out, id, d);
    str_add(out, "\n#endif\n");
    free(id);
    free(guard);
}
