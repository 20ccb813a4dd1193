#include "pool_fixture.h"

#include "base/file.h"
#include "base/mem.h"
#include "gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool choose_device(struct gpu_info *out)
{
    struct gpu_info *list = NULL;
    int count = 0, index = 0;
    struct err e = {0};
    gpu_prepare_environment();
    bool ok = gpu_list(&list, &count, &e) && count > 0 &&
              gpu_choose(list, count, getenv("TILEWALK_TEST_DEVICE"), &index, &e);
    if (ok)
        *out = list[index];
    free(list);
    return ok;
}

bool find_device(void)
{
    struct gpu_info info;
    return choose_device(&info);
}

static void keep_log(void *context, int worker, const char *line)
{
    struct fixture *f = context;
    size_t length = strlen(f->log);
    snprintf(f->log + length, sizeof f->log - length, "%d: %s\n", worker, line);
}

void prepare_pool(struct fixture *f, int workers)
{
    struct gpu_info info;
    assert_true(choose_device(&info));
    *f = (struct fixture){.limits = info.limits};
    gpu_identity(&info, f->device_id);
    char *program = path_program();
    snprintf(f->program, sizeof f->program, "%s", program);
    free(program);
    operation_init(&f->operation, operation_kind_find("matmul"));
    static const char *const names[] = {"N", "M", "K"};
    for (int i = 0; i < 3; i++)
        assert_true(operation_set_size(&f->operation, names[i], SIZE, NULL));
    f->options = (struct pool_options){.program = f->program,
                                       .device = info.index,
                                       .device_id = f->device_id,
                                       .workers = workers,
                                       .operation = &f->operation,
                                       .limits = &f->limits,
                                       .seed = 1,
                                       .is_cpu = info.is_cpu,
                                       .log = keep_log,
                                       .log_context = f};
}

void open_pool(struct fixture *f)
{
    struct err e = {0};
    assert_true(operation_complete(&f->operation, &e));
    f->pool = pool_create(&f->options, &e);
    if (!f->pool)
        print_error("%s\n", e.text);
    assert_non_null(f->pool);
}

void close_pool(struct fixture *f)
{
    source_destroy(f->pool);
    f->pool = NULL;
}

int pool_respawns(const struct source *s)
{
    const struct pool *p = (const struct pool *)s;
    int respawns = 0;
    for (int i = 0; i < p->slots; i++)
        respawns += p->slot[i].spawns > 1 ? p->slot[i].spawns - 1 : 0;
    return respawns;
}

static const char head[] = "#version 450\n"
                           "layout(local_size_x = %d, local_size_y = %d) in;\n"
                           "layout(std430, binding = 0) buffer A { float a[]; };\n"
                           "layout(std430, binding = 1) buffer B { float b[]; };\n"
                           "layout(std430, binding = %d) buffer C { float c[]; };\n"
                           "const uint size = 32;\n"
                           "%s\n"
                           "void main() {\n"
                           "uint i = gl_GlobalInvocationID.y, j = gl_GlobalInvocationID.x;\n"
                           "float sum = 0; %s\n"
                           "for (uint k = 0; k < size; k++)\n"
                           "    sum += a[i * size + k] * b[k * size + j];\n"
                           "if (i < size && j < size) c[i * size + j] = sum;\n"
                           "%s\n"
                           "}\n";

static struct pass make_pass(char *glsl, uint32_t x, uint32_t y, uint32_t z)
{
    int lines = 0;
    for (const char *p = glsl; *p; p++)
        lines += *p == '\n';
    int *map = mem_zero((size_t)lines, sizeof *map);
    for (int i = 0; i < lines; i++)
        map[i] = 10 * (i + 1);
    return (struct pass){.glsl = glsl,
                         .template_name = mem_strdup("test.comp"),
                         .line_map = map,
                         .line_count = lines,
                         .groups = {x, y, z}};
}

static struct job simple_job(int x, int y, int binding, const char *global, const char *before,
                             const char *after)
{
    struct job j = {0};
    *job_add_pass(&j) =
        make_pass(mem_printf(head, x, y, binding, global, before, after), SIZE / 8, SIZE / 8, 1);
    return j;
}

// Half of K each into scratch, which starts as garbage; then their sum.
static struct job split_job(void)
{
    static const char parts[] = "#version 450\n"
                                "layout(local_size_x = 8, local_size_y = 8) in;\n"
                                "layout(std430, binding = 0) buffer A { float a[]; };\n"
                                "layout(std430, binding = 1) buffer B { float b[]; };\n"
                                "layout(std430, binding = 3) buffer S { float s[]; };\n"
                                "void main() {\n"
                                "uvec3 p = gl_GlobalInvocationID;\n"
                                "float sum = 0;\n"
                                "for (uint k = 16 * p.z; k < 16 * p.z + 16; k++) sum += a[p.y * 32 "
                                "+ k] * b[k * 32 + p.x];\n"
                                "s[p.z * 1024 + p.y * 32 + p.x] = sum;\n"
                                "}\n";
    static const char sum[] = "#version 450\n"
                              "layout(local_size_x = 64) in;\n"
                              "layout(std430, binding = 2) buffer C { float c[]; };\n"
                              "layout(std430, binding = 3) buffer S { float s[]; };\n"
                              "void main() {\n"
                              "uint i = gl_GlobalInvocationID.x;\n"
                              "c[i] = s[i] + s[1024 + i];\n"
                              "}\n";
    struct job j = {.scratch_bytes = 2 * 4 * SIZE * SIZE};
    *job_add_pass(&j) = make_pass(mem_strdup(parts), SIZE / 8, SIZE / 8, 2);
    *job_add_pass(&j) = make_pass(mem_strdup(sum), SIZE * SIZE / 64, 1, 1);
    return j;
}

// A number of the loop above that no compiler knows: 0.
#define NOTHING "uint(a[0] > 1e9)"

// Right, with an array of four elements of some kind, of which element `index` is written and read,
// whatever lies there.
static struct job array_job(const char *shared, const char *local, const char *use,
                            const char *index)
{
    char *before = mem_printf("%s float use = 0; uint at = %s + " NOTHING "; %s "
                              "sum += float(floatBitsToUint(use) * " NOTHING ");",
                              local, index, use);
    struct job j = simple_job(8, 8, 2, shared, before, "");
    free(before);
    return j;
}

static struct job outside_job(enum variant v)
{
    static const char shared[] = "shared float s[4];", local[] = "float l[4];",
                      both[] = "s[at] = 1; use = s[at];", only_read[] = "use = s[at];",
                      in_local[] = "l[at] = 1; use = l[at % 4];",
                      function[] = "float put(inout float l[4], uint at) { l[at] = 1; "
                                   "return l[at % 4]; }";
    switch (v) {
    case GEMM_SHARED_OVERRUN: return array_job(shared, "", both, "4");
    case GEMM_SHARED_READ: return array_job(shared, "", only_read, "4");
    case GEMM_LOCAL_OVERRUN: return array_job("", local, in_local, "4");
    case GEMM_LOCAL_IN_FUNCTION: return array_job(function, local, "use = put(l, at);", "4");
    case GEMM_VECTOR_OVERRUN: return array_job("", "vec4 l;", in_local, "4");
    default:
        return array_job("shared float s[4]; shared vec4 t[2];", "float l[4]; mat2 m;",
                         "s[at] = 1; l[at] = s[at]; t[at - 2][at] = 1; m[at - 2][at - 2] = 1;"
                         "use = l[at] + t[at - 2].w + m[1][1];",
                         "3");
    }
}

// Work that no compiler can leave out, and that changes nothing.
#define BURN(times)                                                                                \
    "float most = 0; for (uint r = 0; r < " times "; r++) most = max(most, a[(r * j) % 1024]); "   \
    "if (most > 1e9) sum = most;"

struct job gemm_job(enum variant v)
{
    struct job j;
    switch (v) {
    case GEMM_SYNTAX_ERROR: return simple_job(8, 8, 2, "", "sum = accumulator;", "");
    case GEMM_OFF_BY_ONE:
        return simple_job(8, 8, 2, "", "", "if (i == 3 && j == 5) c[i * size + j] += 1;");
    case GEMM_OVERRUN: return simple_job(8, 8, 2, "", "", "if (i == 31 && j == 31) c[1024] = 1;");
    case GEMM_FAR_OVERRUN: return simple_job(8, 8, 2, "", "", "c[1024 + 5376 + j] = 1;");
    case GEMM_FARTHER_OVERRUN: return simple_job(8, 8, 2, "", "", "c[1024 + 25600 + j] = 1;");
    case GEMM_UNDERRUN: return simple_job(8, 8, 2, "", "", "if (i + j == 0) c[i + j - 1] = 1;");
    case GEMM_INPUT_OVERRUN: return simple_job(8, 8, 2, "", "", "a[1024 + j] = 1;");
    case GEMM_READS_OUTSIDE: return simple_job(8, 8, 2, "", "if (b[1024 + j] > 1e9) sum = 1;", "");
    case GEMM_SHARED_OVERRUN:
    case GEMM_SHARED_READ:
    case GEMM_LOCAL_OVERRUN:
    case GEMM_LOCAL_IN_FUNCTION:
    case GEMM_VECTOR_OVERRUN:
    case GEMM_INSIDE: return outside_job(v);
    case GEMM_SHARED_TOO_LARGE:
        return simple_job(8, 8, 2, "shared float big[1048576];", "big[i] = 0; sum = big[j];", "");
    case GEMM_GROUP_TOO_LARGE: return simple_job(64, 64, 2, "", "", "");
    case GEMM_UNBOUND_BINDING: return simple_job(8, 8, 5, "", "", "");
    case GEMM_NO_ADDRESS:
        j = simple_job(8, 8, 2, "", "", "");
        j.pass[0].address[j.pass[0].address_count++] = 7;
        return j;
    case GEMM_SCRIBBLES:
        return simple_job(8, 8, 2, "", "", "a[i * size + j] = 7; b[i * size + j] = -3;");
    case GEMM_SPLIT: return split_job();
    case GEMM_SPLIT_OVERRUN:
        j = split_job();
        j.scratch_bytes -= 4; // its last element is the guard's first
        return j;
    case GEMM_PUSH:
        return simple_job(8, 8, 2, "layout(push_constant) uniform P { float scale; };",
                          "sum = scale;", "");
    case GEMM_SLOW: return simple_job(8, 8, 2, "", BURN("8000"), "");
    case GEMM_ENDLESS:
        j = simple_job(8, 8, 2, "", BURN("60000"), "");
        j.pass[0].groups[0] = j.pass[0].groups[1] = 16000;
        return j;
    case GEMM_MISSING_TILES:
        j = simple_job(8, 8, 2, "", "", "");
        j.pass[0].groups[1]--;
        return j;
    case GEMM_RIGHT: break;
    }
    return simple_job(8, 8, 2, "", "", "");
}

int64_t submit(struct fixture *f, int count, const enum variant *v, double incumbent_s)
{
    struct trial_request r = {
        .ticket = ++f->tickets, .count = count, .race = count > 1, .incumbent_s = incumbent_s};
    for (int i = 0; i < count; i++)
        r.job[i] = gemm_job(v[i]);
    source_submit(f->pool, &r);
    return f->tickets;
}

bool drive(struct fixture *f, struct err *e)
{
    struct pollfd fds[64];
    int n = source_fds(f->pool, fds, 64);
    poll(fds, (nfds_t)n, source_wait_ms(f->pool));
    return source_step(f->pool, e);
}

struct trial_result next_result(struct fixture *f)
{
    struct trial_result r;
    struct err e = {0};
    while (!source_collect(f->pool, &r))
        if (!drive(f, &e)) {
            print_error("%s\n%s", e.text, f->log);
            fail();
        }
    return r;
}

struct trial_result measure_one(struct fixture *f, enum variant v)
{
    int64_t ticket = submit(f, 1, &v, 0);
    struct trial_result r = next_result(f);
    assert_int_equal(r.ticket, ticket);
    assert_int_equal(r.count, 1);
    return r;
}

void expect_trial(struct fixture *f, enum variant v, enum outcome o, enum trial_phase phase,
                  const char *reason)
{
    struct trial_result r = measure_one(f, v);
    if (r.outcome[0] != o || !strstr(r.reason[0], reason))
        print_error("%s in phase %s: %s\n%s", outcome_name(r.outcome[0]),
                    trial_phase_name(r.phase[0]), r.reason[0], f->log);
    assert_int_equal(r.outcome[0], o);
    assert_int_equal(r.phase[0], phase);
    assert_non_null(strstr(r.reason[0], reason));
    assert_true((o == OUTCOME_OK) == (r.seconds[0] > 0));
    assert_true((o == OUTCOME_OK) == (r.samples[0].count > 0));
}

void expect_no_worker(struct fixture *f, struct err *e)
{
    *e = (struct err){0};
    while (drive(f, e))
        continue;
    assert_non_null(strstr(e->text, "no worker can be started"));
}
