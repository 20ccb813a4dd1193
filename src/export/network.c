#include "export/network.h"

#include "base/build.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/shown.h"
#include "engine/network_summary.h"
#include "engine/stored.h"
#include "network/plan.h"
#include "report/kernel_files.h"
#include "space/tensor.h"
#include "trial/operator.h"
#include "trial/whole.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

struct network_task_export {
    const char *name;   // file name without suffix
    const char *kernel; // identifier in its header, before "_kernel"
    int64_t session, ask;
};

struct network_export {
    const char *name; // name of the files
    const struct session_record *session;
    const struct plan *plan;
    const struct network_task_export *task;
    int task_count;
    const uint64_t *data; // for each value, the offset of its content; UINT64_MAX: none
    uint64_t data_bytes, scratch_bytes;
    double tolerance; // largest error of an output, relative to its largest right number
    double seconds;   // time of a run as a whole; 0: not known
    bool verified;
};

// --- NETWORK.network.h and NETWORK.plan.json ---

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

// Returns the text of the file; heap.
static char *network_header_text(const struct network_export *x)
{
    struct str out = {0};
    char *id = kernel_identifier(x->name);
    str_printf(&out,
               "// A network that tilewalk tuned, written by tilewalk %s, session %" PRId64
               ". run.c runs it.\n"
               "// This file is output of tilewalk. It belongs to you: no licence of tilewalk "
               "applies to it.\n",
               build_name(), x->session->id);
    str_printf(&out, "#ifndef TILEWALK_%s_NETWORK\n#define TILEWALK_%s_NETWORK\n\n", id, id);
    for (int i = 0; i < x->task_count; i++)
        str_printf(&out, "#include \"%s.h\"\n", x->task[i].name);
    str_add(&out, "\n");
    str_add(&out, types);
    str_printf(&out, "static const struct tilewalk_value %s_values[] = {\n", id);
    for (int i = 0; i < x->plan->value_count; i++) {
        const struct plan_value *v = &x->plan->value[i];
        str_add(&out, "    {");
        kernel_add_literal(&out, v->name);
        str_printf(&out,
                   ", \"%s\", \"%s\", %" PRId64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u},\n",
                   plan_role_name(v->role), element_name(v->element), v->count, v->bytes, v->offset,
                   x->data[i] == UINT64_MAX ? 0 : x->data[i]);
    }
    str_add(&out, "};\n\n");
    for (int i = 0; i < x->plan->step_count; i++) {
        const struct plan_step *s = &x->plan->step[i];
        str_printf(&out, "static const uint32_t %s_step_%d[] = {", id, i);
        for (int k = 0; k < s->value_count; k++)
            str_printf(&out, "%s%d", k ? ", " : "", s->value[k]);
        str_add(&out, "};\n");
    }
    str_printf(&out, "\nstatic const struct tilewalk_step %s_steps[] = {\n", id);
    for (int i = 0; i < x->plan->step_count; i++) {
        const struct plan_step *s = &x->plan->step[i];
        str_add(&out, "    {");
        kernel_add_literal(&out, s->name);
        str_printf(&out, ", &%s_kernel, %d, %s_step_%d},\n", x->task[s->task].kernel,
                   s->value_count, id, i);
    }
    str_add(&out, "};\n\n");
    str_printf(&out, "static const struct tilewalk_network %s_network = {", id);
    kernel_add_literal(&out, x->name);
    str_add(&out, ", ");
    kernel_add_literal(&out, x->name);
    str_printf(&out, " \".data\", %d, %d, %s_values, %s_steps, %" PRIu64 "u, %" PRIu64 "u, %g};\n",
               x->plan->value_count, x->plan->step_count, id, id, x->plan->shared, x->scratch_bytes,
               x->tolerance);
    str_add(&out, "\n#endif\n");
    free(id);
    return str_take(&out);
}

// Returns the lines before the program, which name the header and the network; heap.
static char *network_program_head(const struct network_export *x)
{
    char *id = kernel_identifier(x->name);
    char *head = mem_printf("#define NETWORK_HEADER \"%s.network.h\"\n#define NETWORK_NAME   "
                            "%s_network\n\n",
                            x->name, id);
    free(id);
    return head;
}

// --- JSON ---

// Returns the text of the file; heap.
static char *network_plan_text(const struct network_export *x)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_text(&w, "tilewalk", build_name());
    json_add_text(&w, "network", x->name);
    json_add_int(&w, "session", x->session->id);
    json_add_text(&w, "device", x->session->device);
    json_add_text(&w, "driver", x->session->driver);
    json_add_real(&w, "ms", x->seconds > 0 ? x->seconds * 1e3 : (double)NAN);
    json_add_flag(&w, "verified", x->verified);
    json_add_real(&w, "tolerance", x->tolerance);
    json_add_text(&w, "barriers", "a full one after each pass");
    json_add_count(&w, "scratch_bytes", x->scratch_bytes);
    json_begin_list(&w, "tasks");
    for (int i = 0; i < x->task_count; i++) {
        json_begin_object(&w, NULL);
        json_add_text(&w, "kernel", x->task[i].name);
        json_add_int(&w, "session", x->task[i].session);
        json_add_int(&w, "ask", x->task[i].ask);
        json_end(&w);
    }
    json_end(&w);
    plan_add_public_json(x->plan, &w);
    char *file = mem_printf("%s.data", x->name);
    json_begin_object(&w, "data");
    json_add_text(&w, "file", file);
    json_add_count(&w, "bytes", x->data_bytes);
    json_begin_list(&w, "at");
    for (int i = 0; i < x->plan->value_count; i++)
        if (x->data[i] == UINT64_MAX)
            json_add_null(&w, NULL);
        else
            json_add_count(&w, NULL, x->data[i]);
    json_end(&w);
    json_end(&w);
    free(file);
    json_end_all(&w);
    str_add_char(&out, '\n');
    return str_take(&out);
}

// --- the folder and its content ---

enum { DATA_ALIGN = 256 };

// Errors that the order of sums may cause in a network, relative to the largest right number. By it
// a value may also be rounded to the next one of 16 or 8 bits.
#define TOLERANCE_F32   1e-3
#define TOLERANCE_SMALL 3e-2

struct folder {
    struct store *store;
    const struct session_record *session;
    const struct export_request *request;
    struct arena arena;
    struct plan plan;
    struct task_record *task;
    int task_count;
    struct script **script; // for each task; operations live in them
    struct network_task_export *kernel;
    uint64_t *data;
    unsigned char **value; // content of each value that has any; heap
    struct kernel_files files;
    struct network_export about;
};

// --- the plan and its kernels ---

static bool read_plan(struct folder *f, struct err *e)
{
    if (!stored_plan(f->store, f->session->id, &f->plan, e))
        return false;
    return f->plan.step_count > 0 ||
           err_set(e,
                   "session %" PRId64
                   " has no plan of a run: it is a list of kernels, or was begun "
                   "by an older tilewalk (export its tasks, `tilewalk show %" PRId64 "%s` lists "
                   "them)",
                   f->session->id, f->session->id, store_option(f->store));
}

// Returns true when two names of tasks make the same names in headers: letters, digits and '_',
// without case in guards.
static bool are_alike(const char *a, const char *b)
{
    char *x = kernel_identifier(a), *y = kernel_identifier(b);
    bool alike = strcasecmp(x, y) == 0;
    free(x);
    free(y);
    return alike;
}

// Makes a name of files from the name of a task, "stage1.1 3x3" -> "stage1.1-3x3". It differs from
// the names of the tasks before it, and from the other files of the folder.
static const char *file_name(struct folder *f, int task)
{
    static const char *const ours[] = {"vulkan", "numbers", "run"};
    const int own = sizeof ours / sizeof *ours;
    char *plain = path_plain_name(f->task[task].name);
    const char *name = arena_strdup(&f->arena, plain), *unique = name;
    free(plain);
    for (int i = task + 1;; i++) {
        bool taken = false;
        for (int k = 0; k < own + task && !taken; k++)
            taken = are_alike(k < own ? ours[k] : f->kernel[k - own].name, unique);
        if (!taken)
            return unique;
        unique = arena_printf(&f->arena, "%s-%d", name, i);
    }
}

struct chosen {
    struct folder *folder;
    int64_t *ask;
    bool found;
};

static bool take_kept(void *context, const struct whole_record *r)
{
    struct chosen *c = context;
    struct network_export *x = &c->folder->about;
    if (whole_seconds(r) <= 0)
        return true;
    c->found = str_to_ints(r->kept, c->ask, c->folder->task_count) == c->folder->task_count;
    x->seconds = whole_seconds(r);
    x->verified = r->verified;
    return true;
}

static bool take_task(struct folder *f, int i, int64_t kept, struct err *e)
{
    struct network_task_export *k = &f->kernel[i];
    struct session_record *r = arena_zero(&f->arena, 1, sizeof *r);
    *k = (struct network_task_export){.name = file_name(f, i), .session = f->task[i].session};
    char *id = kernel_identifier(k->name);
    k->kernel = arena_strdup(&f->arena, id);
    free(id);
    if (!k->session)
        return err_set(e, "%s has no kernel yet (`tilewalk resume %" PRId64 "%s` goes on)",
                       f->task[i].name, f->session->id, store_option(f->store));
    if (!store_get_session(f->store, k->session, &f->arena, r, e))
        return false;
    k->ask = kept ? kept : r->best_ask;
    if (!k->ask)
        return err_set(e, "%s has no valid kernel", f->task[i].name);
    f->script[i] = stored_script(f->store, r, &f->arena, e);
    uint64_t scratch = 0;
    struct export_kernel kernel = {k->session, k->ask, k->name, &f->files, &scratch};
    if (!f->script[i] || !export_add_kernel(f->store, &kernel, e))
        return err_prefix(e, "%s", f->task[i].name);
    f->about.scratch_bytes = scratch > f->about.scratch_bytes ? scratch : f->about.scratch_bytes;
    return true;
}

static bool take_tasks(struct folder *f, struct err *e)
{
    struct chosen chosen = {.folder = f};
    if (!store_get_tasks(f->store, f->session->id, &f->arena, &f->task, &f->task_count, e))
        return false;
    size_t count = (size_t)f->task_count + 1;
    f->script = arena_zero(&f->arena, count, sizeof(struct script *));
    f->kernel = arena_zero(&f->arena, count, sizeof *f->kernel);
    chosen.ask = arena_zero(&f->arena, count, sizeof *chosen.ask);
    if (!store_each_whole(f->store, f->session->id, take_kept, &chosen, e))
        return false;
    for (int i = 0; i < f->task_count; i++)
        if (!take_task(f, i, chosen.found ? chosen.ask[i] : 0, e))
            return false;
    return true;
}

// --- the data ---

// Makes the inputs and weights that a step reads, and its output by the reference of its operator.
static bool run_step(struct folder *f, const struct constants *c, int step, struct err *e)
{
    const struct plan_step *s = &f->plan.step[step];
    const struct operation *o = script_operation(f->script[f->plan.step[step].task]);
    const void *input[OPERATION_MAX_TENSORS];
    int made = s->value[s->value_count - 1];
    if (script_reference(f->script[s->task])->pass_count)
        return err_set(e, "layer '%s': what it computes is defined by a kernel", s->name);
    for (int k = 0; k < s->value_count - 1; k++) {
        int v = s->value[k];
        if (!f->value[v]) {
            f->value[v] = mem_alloc(f->plan.value[v].bytes);
            constants_fill(c, v, o, k, f->value[v]);
        }
        input[k] = f->value[v];
    }
    f->value[made] = mem_alloc(f->plan.value[made].bytes);
    operator_reference(o, input, f->value[made]);
    return true;
}

static bool make_data(struct folder *f, struct err *e)
{
    struct str data = {0};
    size_t count = (size_t)f->plan.value_count;
    f->value = mem_zero(count, sizeof(unsigned char *));
    f->data = arena_zero(&f->arena, count, sizeof *f->data);
    struct constants c = {&f->plan, f->session->seed, NULL};
    int fd = -1;
    bool ok = plan_read_files(&f->plan, &fd, e);
    if (ok) {
        ok = constants_map(&c, fd, e);
        if (fd >= 0)
            close(fd);
        for (int i = 0; i < f->plan.step_count; i++)
            mem_expect(operator_reference_bytes(script_operation(f->script[f->plan.step[i].task])));
        for (int i = 0; ok && i < f->plan.step_count; i++)
            ok = run_step(f, &c, i, e);
        constants_unmap(&c);
    }
    for (int i = 0; ok && i < f->plan.value_count; i++) {
        const struct plan_value *v = &f->plan.value[i];
        f->data[i] = UINT64_MAX;
        if (v->role == PLAN_MADE || !f->value[i])
            continue;
        while (data.length % DATA_ALIGN)
            str_add_char(&data, '\0');
        f->data[i] = data.length;
        str_add_bytes(&data, f->value[i], v->bytes);
    }
    f->about.data_bytes = data.length;
    if (ok)
        kernel_files_add_text(&f->files, mem_printf("%s.data", f->about.name), &data);
    str_finish(&data);
    return ok;
}

// --- the folder ---

static void add_text(struct folder *f, const char *format, char *text)
{
    struct str s = {0};
    str_add(&s, text);
    kernel_files_add_text(&f->files, mem_printf(format, f->about.name), &s);
    free(text);
}

static bool add_shipped(struct folder *f, const char *name, const char *as, char *head,
                        struct err *e)
{
    struct str s = {0};
    char *relative = mem_printf("docs/sample/%s", name), *path = path_shipped(relative);
    char *text = NULL;
    bool ok =
        path ? file_read(path, &text, NULL, e) : err_set(e, "'%s' is not installed", relative);
    if (ok) {
        str_add(&s, head ? head : "");
        str_add(&s, text);
        kernel_files_add_text(&f->files, mem_strdup(as), &s);
    }
    free(relative);
    free(path);
    free(text);
    free(head);
    return ok;
}

static const struct operation *operation_of_task(const void *context, int task)
{
    const struct folder *f = context;
    return script_operation(f->script[task]);
}

static bool make_files(struct folder *f, struct err *e)
{
    if (!read_plan(f, e) || !take_tasks(f, e))
        return false;
    const struct plan_tasks tasks = {f->task_count, operation_of_task, f};
    if (!plan_fits(&f->plan, &tasks, e))
        return err_prefix(e, "session %" PRId64 " is damaged", f->session->id);
    if (!make_data(f, e))
        return false;
    struct network_export *x = &f->about;
    x->session = f->session;
    x->plan = &f->plan;
    x->task = f->kernel;
    x->task_count = f->task_count;
    x->data = f->data;
    x->tolerance = TOLERANCE_F32;
    for (int i = 0; i < f->plan.value_count; i++)
        if (element_is_real(f->plan.value[i].element) &&
            element_bytes(f->plan.value[i].element) < element_bytes(ELEMENT_F32))
            x->tolerance = TOLERANCE_SMALL;
    add_text(f, "%s.network.h", network_header_text(&f->about));
    add_text(f, "%s.plan.json", network_plan_text(&f->about));
    return add_shipped(f, "run_network.c", "run.c", network_program_head(&f->about), e) &&
           add_shipped(f, "vulkan.h", "vulkan.h", NULL, e) &&
           add_shipped(f, "numbers.h", "numbers.h", NULL, e);
}

// Returns true when the folder holds an export of this session.
static bool is_ours(const struct folder *f, const char *folder)
{
    char *file = mem_printf("%s.plan.json", f->about.name), *path = path_join(folder, file);
    char *text = NULL;
    struct json root = {0};
    struct err ignored; // an unreadable file counts as one of another program
    double session;
    bool ours = file_exists(path) && file_read(path, &text, NULL, &ignored) &&
                json_read_tree(text, &root) &&
                json_number(json_member(root, "session"), &session) &&
                (int64_t)session == f->session->id;
    json_free(&root);
    free(text);
    free(path);
    free(file);
    return ours;
}

static bool may_write(const struct folder *f, const char *folder, struct err *e)
{
    bool may = f->request->force || is_ours(f, folder);
    for (int i = 0; !may && i < f->files.count; i++) {
        char *path = path_join(folder, f->files.file[i].name);
        bool there = file_exists(path);
        if (there)
            err_set(e,
                    "'%s' is there already, and not from session %" PRId64
                    " (--force replaces it, --name or --out writes elsewhere)",
                    path, f->session->id);
        free(path);
        if (there)
            return false;
    }
    return true;
}

static void report_network(const struct folder *f, const char *folder)
{
    const struct export_request *r = f->request;
    if (r->json) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_begin_list(&w, "files");
        for (int i = 0; i < f->files.count; i++) {
            char *path = path_join(folder, f->files.file[i].name);
            json_add_text(&w, NULL, path);
            free(path);
        }
        json_end(&w);
        json_add_text(&w, "network", f->about.name);
        json_print(&w);
        return;
    }
    printf("%s %d files to %s: %d kernels, %s.network.h, .plan.json, .data, and run.c\n",
           r->dry_run ? "would write" : "wrote", f->files.count, folder, f->task_count,
           f->about.name);
    if (!r->dry_run)
        printf("cd %s && cc -O2 run.c -lvulkan -lm -o run && ./run\n", folder);
}

bool export_network(struct store *store, const struct session_record *r,
                    const struct export_request *request, struct err *e)
{
    struct folder f = {.store = store, .session = r, .request = request};
    if (request->verify || request->count > 1)
        return err_usage(e, "--verify and --best are for kernels (a network's run checks what it "
                            "gives)");
    if (!export_check_name(request->name, e))
        return false;
    arena_init(&f.arena);
    f.about.name = request->name ? request->name : r->name;
    const char *folder =
        request->folder ? request->folder
                        : arena_printf(&f.arena, "%s/%s", EXPORT_STANDARD_FOLDER, f.about.name);
    bool ok = make_files(&f, e) && may_write(&f, folder, e) &&
              (request->dry_run || kernel_files_write(&f.files, folder, e));
    if (ok && !request->quiet)
        report_network(&f, folder);
    for (int i = 0; i < f.task_count && f.script; i++)
        script_destroy(f.script[i]);
    for (int i = 0; i < f.plan.value_count && f.value; i++)
        free(f.value[i]);
    free(f.value);
    kernel_files_finish(&f.files);
    plan_finish(&f.plan);
    arena_finish(&f.arena);
    return ok;
}
