#include "report/kernel_files.h"

#include "base/build.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/mem.h"
#include "base/str.h"
#include "report/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- NAME.h of an export: C11 and C++, no designated initialisers, no macro but the guards ---

#define WORDS_PER_LINE 8

// The types are the same in every exported header, so that several may be included at once. A
// change of them needs another name than TILEWALK_KERNEL_3; headers with an older name cannot be
// included beside it.
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

char *kernel_identifier(const char *name)
{
    bool letter_first = (unsigned char)name[0] < 128 && isalpha((unsigned char)name[0]);
    char *id = mem_printf("%s%s", letter_first ? "" : "k_", name);
    for (char *c = id; *c; c++)
        if ((unsigned char)*c >= 128 || !isalnum((unsigned char)*c))
            *c = '_';
    return id;
}

// Adds text to a // comment: on one line, without characters that could join the next line to it.
static void add_comment(struct str *out, const char *text)
{
    for (const char *c = text ? text : "unknown"; *c; c++)
        str_add_char(out, iscntrl((unsigned char)*c) || *c == '\\' || *c == '?' ? ' ' : *c);
}

// Escapes are octal because these end after three digits; '?' is escaped because of trigraphs.
void kernel_add_literal(struct str *out, const char *text)
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

// Adds the words of all passes, then the list of passes.
static void header_add_passes(struct str *out, const char *id, const struct kernel_description *d)
{
    for (int i = 0; i < d->pass_count; i++) {
        const struct kernel_pass *p = &d->pass[i];
        str_printf(out, "\nstatic const uint32_t %s_spirv_%d[%zu] = {", id, i + 1, p->word_count);
        for (size_t j = 0; j < p->word_count; j++)
            str_printf(out, "%s0x%08" PRIx32 ",", j % WORDS_PER_LINE ? " " : "\n    ", p->word[j]);
        str_add(out, "\n};\n");
        if (!p->push_bytes)
            continue;
        str_printf(out, "\nstatic const uint32_t %s_push_%d[%" PRIu32 "] = {", id, i + 1,
                   p->push_bytes / 4);
        for (uint32_t at = 0; at < p->push_bytes; at += 4) {
            uint32_t word;
            memcpy(&word, p->push + at, sizeof word);
            str_printf(out, "%s%" PRIu32 ",", at % 32 ? " " : "\n    ", word);
        }
        str_add(out, "\n};\n");
    }
    str_printf(out, "\nstatic const struct tilewalk_pass %s_passes[%d] = {\n", id, d->pass_count);
    for (int i = 0; i < d->pass_count; i++) {
        const uint32_t *l = d->pass[i].local_size, *g = d->pass[i].groups;
        str_printf(out, "    {%s_spirv_%d, sizeof %s_spirv_%d, ", id, i + 1, id, i + 1);
        kernel_add_literal(out, d->pass[i].entry);
        str_printf(out,
                   ", {%" PRIu32 ", %" PRIu32 ", %" PRIu32 "}, {%" PRIu32 ", %" PRIu32 ", %" PRIu32
                   "}, %" PRIu32 ", %" PRIu32 ", ",
                   l[0], l[1], l[2], g[0], g[1], g[2], d->pass[i].subgroup_size,
                   d->pass[i].push_bytes);
        if (d->pass[i].push_bytes)
            str_printf(out, "%s_push_%d},\n", id, i + 1);
        else
            str_add(out, "NULL},\n");
    }
    str_add(out, "};\n");
}

// Adds bindings, sizes and choices.
static void header_add_lists(struct str *out, const char *id, const struct kernel_description *d)
{
    const struct operation *o = d->operation;
    str_printf(out, "\nstatic const struct tilewalk_binding %s_bindings[%d] = {\n", id,
               d->binding_count);
    for (int i = 0; i < d->binding_count; i++) {
        str_add(out, "    {");
        kernel_add_literal(out, d->binding[i].name);
        str_printf(out, ", \"%s\", %" PRIu64 "u},\n", d->binding[i].access, d->binding[i].bytes);
    }
    str_add(out, "};\n");
    str_printf(out, "\nstatic const struct tilewalk_size %s_sizes[] = {\n", id);
    for (int i = 0; o->kind->sizes[i].name; i++)
        str_printf(out, "    {\"%s\", %" PRId64 "},\n", o->kind->sizes[i].name, o->size[i]);
    str_add(out, "    {NULL, 0},\n};\n");
    str_printf(out, "\nstatic const struct tilewalk_choice %s_choices[] = {\n", id);
    for (int i = 0; o->kind->choices && o->kind->choices[i].name; i++)
        str_printf(out, "    {\"%s\", \"%s\"},\n", o->kind->choices[i].name,
                   o->kind->choices[i].values[o->choice[i]]);
    str_add(out, "    {NULL, NULL},\n};\n");
}

static bool needs_more(const struct kernel_description *d)
{
    bool more = false;
    for (int i = 0; i < d->pass_count; i++)
        more = more || d->pass[i].addresses || d->pass[i].uniforms || d->pass[i].descriptors;
    for (int i = 0; i < d->binding_count; i++)
        more = more || d->binding[i].begins;
    return more;
}

void kernel_add_header(const struct kernel_description *d, struct str *out)
{
    char *id = kernel_identifier(d->name), *guard = mem_printf("%s_H", id);
    for (char *c = guard; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    str_add(out, "// ");
    add_comment(out, d->name);
    str_add(out, ": ");
    add_comment(out, d->title);
    str_printf(out, "\n// Found by tilewalk%s", d->build ? " " : "");
    add_comment(out, d->build ? d->build : "");
    str_printf(out, ", session %" PRId64 ", trial %" PRId64 ": ", d->session, d->trial);
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
    if (needs_more(d))
        str_add(out,
                "// Beside what stands here it needs uniform blocks, images, arrays, addresses of "
                "buffers or what\n// buffers hold before a run: its .json has them.\n");
    str_printf(out, "#ifndef %s\n#define %s\n\n", guard, guard);
    str_add(out, "#include <stddef.h>\n#include <stdint.h>\n\n");
    str_add(out, types);
    header_add_passes(out, id, d);
    header_add_lists(out, id, d);
    str_printf(out, "\nstatic const struct tilewalk_kernel %s_kernel = {\n    ", id);
    kernel_add_literal(out, d->name);
    str_add(out, ",\n    ");
    kernel_add_literal(out, d->operation->kind->name);
    str_printf(out, ",\n    %s_sizes,\n    %s_choices,\n    %d,\n    %d,\n", id, id,
               d->binding_count, d->pass_count);
    str_printf(out, "    %s_bindings,\n    %s_passes,\n};\n\n#endif\n", id, id);
    free(id);
    free(guard);
}

// --- NAME.json of an export: one object, a line for each of its members ---

#define SESSION "session"
#define TIMING  "timing"
#define DEVICE  "device_identity"

char *kernel_pass_name(const char *name, int index, const char *suffix)
{
    if (index == 0)
        return mem_printf("%s.%s", name, suffix);
    return mem_printf("%s.pass%d.%s", name, index + 1, suffix);
}

static void kernel_json_add_passes(struct json_writer *w, const struct kernel_description *d,
                                   bool embedded)
{
    json_begin_list(w, "passes");
    for (int i = 0; i < d->pass_count; i++) {
        const struct kernel_pass *p = &d->pass[i];
        struct str base64 = {0};
        char hash[33];
        uint32_t word;
        hash_hex(p->word, p->word_count * sizeof *p->word, hash);
        json_begin_line(w, 4);
        json_begin_object(w, NULL);
        if (embedded) {
            str_add_base64(&base64, p->word, p->word_count * sizeof *p->word);
            json_add_text(w, "spirv_base64", str_text(&base64));
            str_finish(&base64);
        } else {
            char *glsl = kernel_pass_name(d->name, i, "comp");
            char *spirv = kernel_pass_name(d->name, i, "spv");
            json_add_text(w, "glsl", glsl);
            json_add_text(w, "spirv", spirv);
            free(glsl);
            free(spirv);
        }
        json_add_text(w, "entry", p->entry);
        json_add_axes(w, "local_size", p->local_size);
        json_add_axes(w, "groups", p->groups);
        if (p->subgroup_size)
            json_add_count(w, "subgroup_size", p->subgroup_size);
        json_add_count(w, "shared_bytes", p->shared_bytes);
        const char *const needs[] = {"f16", "i8", "dot", "matrix"};
        const bool uses[] = {p->uses_f16, p->uses_i8, p->uses_dot, p->uses_matrix};
        json_begin_list(w, "needs"); // as src/export/reader/tilewalk_tuned.h reads them
        for (int j = 0; j < 4; j++)
            if (uses[j])
                json_add_text(w, NULL, needs[j]);
        json_end(w);
        if (p->once)
            json_add_flag(w, "once", true);
        if (p->push_bytes) {
            json_begin_list(w, "push_constants"); // as words
            for (uint32_t at = 0; at < p->push_bytes; at += sizeof word) {
                memcpy(&word, p->push + at, sizeof word);
                json_add_count(w, NULL, word);
            }
            json_end(w);
        }
        if (p->addresses)
            json_add_raw(w, "addresses", p->addresses);
        if (p->uniforms)
            json_add_raw(w, "uniforms", p->uniforms);
        if (p->descriptors)
            json_add_raw(w, "descriptors", p->descriptors);
        json_add_text(w, "hash", hash);
        json_end(w);
    }
    json_begin_line(w, 2);
    json_end(w);
}

bool kernel_json_read(const char *json, struct kernel_there *out)
{
    struct json root;
    struct arena a;
    double session, ms;
    json_read_tree(json, &root);
    arena_init(&a);
    bool ok = json_member(root, DEVICE).at && json_number(json_member(root, SESSION), &session) &&
              json_number(json_member(json_member(root, TIMING), "ms"), &ms);
    if (ok) {
        const char *device = json_text(json_member(root, DEVICE), &a); // or null
        snprintf(out->device, sizeof out->device, "%s", device ? device : "");
        out->session = (int64_t)session;
        out->seconds = ms * 1e-3;
    }
    arena_finish(&a);
    json_free(&root);
    return ok;
}

void kernel_add_json(const struct kernel_description *d, bool embedded, struct str *out)
{
    struct json_writer w = json_begin(out);
    w.is_spaced = w.is_lined = true;
    json_add_int(&w, "version", 1);
    json_add_text_if_any(&w, "name", d->name);
    json_add_text_if_any(&w, "space", d->space);
    json_add_raw(&w, "settings", d->settings);
    json_add_int(&w, SESSION, d->session);
    json_add_int(&w, "trial", d->trial);
    json_add_text_if_any(&w, "title", d->title);
    json_add_text_if_any(&w, "operator", d->operation->kind->name);
    json_add_name(&w, "problem");
    operation_add_json(d->operation, w.out);
    for (int i = 0; d->operation->kind->choices[i].name; i++) // "type", "layout"
        json_add_text_if_any(&w, d->operation->kind->choices[i].name,
                             d->operation->kind->choices[i].values[d->operation->choice[i]]);
    json_add_raw(&w, "declared", d->declared);
    json_add_raw(&w, "configuration", d->configuration);
    kernel_json_add_passes(&w, d, embedded);
    json_add_text_if_any(
        &w, "dispatch",
        "constant: these kernels are specialised to the sizes of the problem; dispatch the "
        "groups of every pass, in order, with a full barrier between passes");
    json_begin_list(&w, "bindings");
    for (int i = 0; i < d->binding_count; i++) {
        const struct kernel_binding *b = &d->binding[i];
        json_begin_line(&w, 4);
        json_begin_object(&w, NULL);
        json_add_int(&w, "set", 0);
        json_add_int(&w, "binding", i);
        json_add_text(&w, "name", b->name);
        json_add_count(&w, "bytes", b->bytes);
        json_add_text(&w, "access", b->access);
        if (b->begins)
            json_add_text(&w, "begins", b->begins);
        json_end(&w);
    }
    json_begin_line(&w, 2);
    json_end(&w);
    json_add_raw(&w, "push_constants", "[]");
    const struct kernel_timing *t = &d->timing;
    json_begin_object(&w, TIMING);
    json_add_real(&w, "ms", t->seconds * 1e3);
    json_add_real(&w, "tflops", d->flop / t->seconds / 1e12);
    json_add_raw(&w, "samples", t->samples ? t->samples : "[]");
    json_add_flag(&w, "retimed", t->retimed);
    if (t->cold)
        json_add_flag(&w, "cold", true);
    if (t->of_roof > 0) {
        json_add_real(&w, "of_roof", t->of_roof);
        json_add_text(&w, "roof_by", t->roof_by);
    }
    json_add_text_if_any(&w, "source", d->source);
    json_end(&w);
    if (d->baselines)
        json_add_raw(&w, "baselines", d->baselines);
    if (d->timing.statistics)
        json_add_raw(&w, "statistics", d->timing.statistics);
    json_add_text_if_any(&w, "device", d->device);
    json_add_text_if_any(&w, "device_type", d->device_type);
    json_add_text_if_any(&w, "driver", d->driver);
    json_add_text_if_any(&w, DEVICE, d->device_id);
    json_begin_object(&w, "verified");
    if (d->exact_inputs) {
        json_begin_object(&w, "exact");
        json_add_text(&w, "inputs", d->exact_inputs);
        json_add_text_if_any(&w, "against", d->exact_against);
        json_end(&w);
    } else {
        json_add_null(&w, "exact");
    }
    json_add_flag(&w, "random", d->random_checked);
    json_add_int(&w, "soaked", d->soaked);
    json_end(&w);
    json_add_text_if_any(&w, "text_hash", d->text_hash);
    json_add_text_if_any(&w, "build", d->build);
    json_add_text_if_any(&w, "tilewalk", build_name());
    json_add_text_if_any(
        &w, "rights",
        "These files are output of tilewalk's templates. They belong to you: no licence of "
        "tilewalk applies to them.");
    json_begin_line(&w, 0);
    json_end_all(&w);
    str_add_char(out, '\n');
}

// --- the set of files ---

void kernel_files_add_text(struct kernel_files *f, char *name, struct str *text)
{
    MEM_GROW(f->file, f->count, f->capacity);
    struct kernel_file *file = &f->file[f->count++];
    *file = (struct kernel_file){.name = name};
    file->length = text->length;
    file->bytes = str_take(text);
}

void kernel_files_add(struct kernel_files *f, const struct kernel_description *d)
{
    struct str text = {0};
    for (int i = 0; i < d->pass_count; i++) {
        struct str bytes = {0};
        if (d->pass[i].given)
            str_printf(&bytes, "// %s\n", d->pass[i].given);
        str_add(&bytes, d->pass[i].glsl);
        kernel_files_add_text(f, kernel_pass_name(d->name, i, "comp"), &bytes);
        str_add_bytes(&bytes, d->pass[i].word, d->pass[i].word_count * sizeof *d->pass[i].word);
        kernel_files_add_text(f, kernel_pass_name(d->name, i, "spv"), &bytes);
    }
    kernel_add_json(d, false, &text);
    kernel_files_add_text(f, mem_printf("%s.json", d->name), &text);
    kernel_add_header(d, &text);
    kernel_files_add_text(f, mem_printf("%s.h", d->name), &text);
}

bool kernel_files_write(const struct kernel_files *f, const char *folder, struct err *e)
{
    // temporaries of the files that are not in place yet
    char **staged = mem_zero((size_t)f->count, sizeof *staged);
    bool ok = file_make_folders(folder, e);
    for (int i = 0; ok && i < f->count; i++) {
        char *path = path_join(folder, f->file[i].name);
        staged[i] = file_stage(path, f->file[i].bytes, f->file[i].length, e);
        ok = staged[i] != NULL;
        free(path);
    }
    for (int i = 0; ok && i < f->count; i++) {
        char *path = path_join(folder, f->file[i].name);
        ok = file_put(path, staged[i], e);
        free(path);
        if (ok) {
            free(staged[i]);
            staged[i] = NULL;
        }
    }
    for (int i = 0; i < f->count; i++) {
        if (staged[i])
            unlink(staged[i]);
        free(staged[i]);
    }
    free(staged);
    return ok;
}

void kernel_files_finish(struct kernel_files *f)
{
    for (int i = 0; i < f->count; i++) {
        free(f->file[i].name);
        free(f->file[i].bytes);
    }
    free(f->file);
    *f = (struct kernel_files){0};
}
