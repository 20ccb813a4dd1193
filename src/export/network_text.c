// What an exported network says of itself: NETWORK.network.h and NETWORK.plan.json.
#include "export/network.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char types[] =
    "#ifndef TILEWALK_NETWORK_1\n"
    "#define TILEWALK_NETWORK_1\n"
    "struct tilewalk_value { // a storage buffer\n"
    "    const char *name;\n"
    "    const char *role; // \"input\", \"weight\", \"made\" by a step, \"output\" (made, too)\n"
    "    const char *type; // \"f32\", \"f16\", \"i8\", \"i32\"\n"
    "    uint64_t count;   // of elements\n"
    "    uint64_t bytes;   // of the buffer\n"
    "    uint64_t place;   // of what is made: where it lies in the memory that these share\n"
    "    uint64_t data;    // in the data file: an input's or weight's content, an output's right "
    "one\n"
    "};\n"
    "\n"
    "struct tilewalk_step { // in order, a full barrier after each pass\n"
    "    const char *name;\n"
    "    const struct tilewalk_kernel *kernel;\n"
    "    uint32_t value_count;   // a kernel with one binding more has the scratch buffer there\n"
    "    const uint32_t *values; // bound from 0 on; the last one is written\n"
    "};\n"
    "\n"
    "struct tilewalk_network {\n"
    "    const char *name, *data_file;\n"
    "    uint32_t value_count, step_count;\n"
    "    const struct tilewalk_value *values;\n"
    "    const struct tilewalk_step *steps;\n"
    "    uint64_t shared_bytes;  // memory of all that is made\n"
    "    uint64_t scratch_bytes; // a buffer that all steps share; 0: none needs it\n"
    "    double tolerance; // an output's largest error, as a share of its largest right number\n"
    "};\n"
    "#endif\n\n";

// A C string literal.
static void add_literal(struct str *out, const char *text)
{
    str_add_char(out, '"');
    for (const char *c = text; *c; c++)
        if (*c < ' ' || *c > '~' || strchr("\"\\?", *c))
            str_printf(out, "\\%03o", (unsigned)(unsigned char)*c);
        else
            str_add_char(out, *c);
    str_add_char(out, '"');
}

static char *identifier(const char *name)
{
    char *kernel = kernel_identifier(name);
    kernel[strlen(kernel) - strlen("_kernel")] = '\0';
    return kernel;
}

static uint64_t data_of(const struct network_export *x, int value)
{
    return x->data[value] == UINT64_MAX ? 0 : x->data[value];
}

static void add_values(const struct network_export *x, const char *id, struct str *out)
{
    str_printf(out, "static const struct tilewalk_value %s_values[] = {\n", id);
    for (int i = 0; i < x->plan->value_count; i++) {
        const struct plan_value *v = &x->plan->value[i];
        str_add(out, "    {");
        add_literal(out, v->name);
        str_printf(out,
                   ", \"%s\", \"%s\", %" PRId64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u},\n",
                   plan_role_name(v->role), element_name(v->element), v->count, v->bytes, v->offset,
                   data_of(x, i));
    }
    str_add(out, "};\n\n");
}

static void add_steps(const struct network_export *x, const char *id, struct str *out)
{
    for (int i = 0; i < x->plan->step_count; i++) {
        const struct plan_step *s = &x->plan->step[i];
        str_printf(out, "static const uint32_t %s_step_%d[] = {", id, i);
        for (int k = 0; k < s->value_count; k++)
            str_printf(out, "%s%d", k ? ", " : "", s->value[k]);
        str_add(out, "};\n");
    }
    str_printf(out, "\nstatic const struct tilewalk_step %s_steps[] = {\n", id);
    for (int i = 0; i < x->plan->step_count; i++) {
        const struct plan_step *s = &x->plan->step[i];
        str_add(out, "    {");
        add_literal(out, s->name);
        str_printf(out, ", &%s, %d, %s_step_%d},\n", x->task[s->task].kernel, s->value_count, id,
                   i);
    }
    str_add(out, "};\n\n");
}

char *network_header_text(const struct network_export *x)
{
    struct str out = {0};
    char *id = identifier(x->name);
    str_printf(&out,
               "// A network that tilewalk %s tuned, session %" PRId64 ". run.c runs it.\n"
               "// This file is output of tilewalk. It belongs to you: no licence of tilewalk "
               "applies to it.\n",
               TILEWALK_VERSION, x->session->id);
    str_printf(&out, "#ifndef TILEWALK_%s_NETWORK\n#define TILEWALK_%s_NETWORK\n\n", id, id);
    for (int i = 0; i < x->task_count; i++)
        str_printf(&out, "#include \"%s.h\"\n", x->task[i].name);
    str_add(&out, "\n");
    str_add(&out, types);
    add_values(x, id, &out);
    add_steps(x, id, &out);
    str_printf(&out, "static const struct tilewalk_network %s_network = {", id);
    add_literal(&out, x->name);
    str_add(&out, ", ");
    add_literal(&out, x->name);
    str_printf(&out, " \".data\", %d, %d, %s_values, %s_steps, %" PRIu64 "u, %" PRIu64 "u, %g};\n",
               x->plan->value_count, x->plan->step_count, id, id, x->plan->shared, x->scratch_bytes,
               x->tolerance);
    str_add(&out, "\n#endif\n");
    free(id);
    return str_take(&out);
}

char *network_program_head(const struct network_export *x)
{
    char *id = identifier(x->name);
    char *head = mem_printf("#define NETWORK_HEADER \"%s.network.h\"\n#define NETWORK_NAME   "
                            "%s_network\n\n",
                            x->name, id);
    free(id);
    return head;
}

// --- JSON ---

static void add_tasks(const struct network_export *x, struct json_writer *w)
{
    json_begin_list(w, "tasks");
    for (int i = 0; i < x->task_count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "kernel", x->task[i].name);
        json_add_int(w, "session", x->task[i].session);
        json_add_int(w, "ask", x->task[i].ask);
        json_end(w);
    }
    json_end(w);
}

static void add_data(const struct network_export *x, struct json_writer *w)
{
    char *file = mem_printf("%s.data", x->name);
    json_begin_object(w, "data");
    json_add_text(w, "file", file);
    json_add_count(w, "bytes", x->data_bytes);
    json_begin_list(w, "at");
    for (int i = 0; i < x->plan->value_count; i++)
        if (x->data[i] == UINT64_MAX)
            json_add_null(w, NULL);
        else
            json_add_count(w, NULL, x->data[i]);
    json_end(w);
    json_end(w);
    free(file);
}

char *network_plan_text(const struct network_export *x)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_text(&w, "tilewalk", TILEWALK_VERSION);
    json_add_text(&w, "network", x->name);
    json_add_int(&w, "session", x->session->id);
    json_add_text(&w, "device", x->session->device);
    json_add_text(&w, "driver", x->session->driver);
    json_add_real(&w, "ms", x->seconds > 0 ? x->seconds * 1e3 : (double)NAN);
    json_add_flag(&w, "verified", x->verified);
    json_add_real(&w, "tolerance", x->tolerance);
    json_add_text(&w, "barriers", "a full one after each pass");
    json_add_count(&w, "scratch_bytes", x->scratch_bytes);
    add_tasks(x, &w);
    plan_add_json(x->plan, &w);
    add_data(x, &w);
    json_end_all(&w);
    str_add_char(&out, '\n');
    return str_take(&out);
}
