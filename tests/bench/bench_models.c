// bench models: what comes out of a network, against the session that made it.
//
// A network is tuned, shortly; then, in turns, `--rounds` times: a session in which all of its
// tasks are known, so that it does nothing but run as a whole, verified and timed; and the program
// that was exported of the first of these, built with cc. Both run the same kernels. Times are the
// least of all rounds, on CPU devices on one thread, as sessions measure there.
#include "bench.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// About a millisecond a run: the least of many is one that nothing has disturbed.
static const char usual[] =
    "network 'convolutions, a shortcut and products'\n"
    "local layers = include 'layers.lua'\n"
    "local function convolution(name, from, residual)\n"
    "  return layers.convolution { name, from, channels = 16, kernel = 3, padding = 1, bias = "
    "true,\n"
    "    activation = 'relu', residual = residual }\n"
    "end\n"
    "local x = convolution('conv1', input { name = 'image', sizes = { 1, 8, 16, 16 } })\n"
    "x = layers.maxpool { 'pool', convolution('conv2', x, x), window = 2, stride = 2 }\n"
    "x = layers.dense { 'dense1', x, outputs = 64, bias = true, activation = 'relu' }\n"
    "output(layers.softmax { 'softmax', layers.dense { 'dense2', x, outputs = 16 } })\n";

static const char small[] = "network 'small parts'\n"
                            "local layers = include 'layers.lua'\n"
                            "local x = input { name = 'image', sizes = { 1, 8, 64, 64 } }\n"
                            "x = layers.maxpool { 'pool', x, window = 2, stride = 2 }\n"
                            "output(layers.softmax { 'softmax', x })\n";

struct folder {
    char path[32];
    char *network, *database, *out;
    int trials; // of each task
};

static void make_folder(struct folder *f, const char *network)
{
    struct err e;
    strcpy(f->path, "/tmp/tilewalk-models-XXXXXX");
    if (!mkdtemp(f->path))
        bench_fail(f->path, NULL);
    f->database = path_join(f->path, "t.db");
    f->out = path_join(f->path, "out");
    f->network = path_join(f->path, "net.lua");
    if (!file_write(f->network, network, strlen(network), &e))
        bench_fail(f->network, &e);
    setenv("TILEWALK_DB", f->database, 1);
    setenv("LP_NUM_THREADS", "1", 0);
}

static void remove_folder(struct folder *f)
{
    char *command = mem_printf("rm -r '%s'", f->path);
    if (system(command) != 0)
        bench_fail(command, NULL);
    free(command);
    free(f->network);
    free(f->database);
    free(f->out);
}

// --- the session ---

struct session {
    int64_t id;
    double ms, rounds; // as a whole; rounds of trials that it gave
};

static void hear(struct session *s, const cJSON *event)
{
    const char *kind = bench_text(event, "event");
    s->rounds += str_equal(kind, "round");
    if (str_equal(kind, "whole")) {
        s->id = (int64_t)bench_number(event, "session");
        s->ms = bench_number(event, "ms");
    }
}

// `trials` of all tasks together.
static struct session tune(const struct folder *f, int trials)
{
    char count[16];
    struct session s = {.ms = NAN};
    struct bench_child c;
    char *line = NULL;
    size_t capacity = 0;
    snprintf(count, sizeof count, "%d", trials);
    const char *const words[] = {"tune",       f->network, "--json",      "--trials",   count,
                                 "--strategy", "random",   "--scheduler", "roundrobin", NULL};
    bench_start(&c, words);
    while (getline(&line, &capacity, c.out) >= 0) {
        cJSON *event = cJSON_Parse(line);
        hear(&s, event);
        cJSON_Delete(event);
    }
    free(line);
    bench_end(&c);
    return s;
}

// --- the program ---

static void build(const struct folder *f, int64_t session)
{
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, session);
    cJSON_Delete(bench_json((const char *const[]){"export", id, "--out", f->out, "--json", NULL}));
    char *command = mem_printf("cd '%s' && cc -O2 run.c -lvulkan -lm -o run", f->out);
    if (system(command) != 0)
        bench_skip("the exported program cannot be built (cc, libvulkan-dev)");
    free(command);
}

static double run(const struct folder *f)
{
    char *command = mem_printf("cd '%s' && ./run", f->out), line[200];
    double ms = NAN;
    FILE *out = popen(command, "r");
    while (out && fgets(line, sizeof line, out))
        sscanf(line, "time %lf ms", &ms);
    if (!out || pclose(out) != 0)
        bench_fail("the exported program failed", NULL);
    free(command);
    return ms;
}

// Of what is kept, and of what is made and shares its memory, in the plan that was exported.
static void read_plan(const struct folder *f, double *kept, double *shared)
{
    struct err e;
    char *text;
    char *name = path_join(f->out, "net.plan.json");
    if (!file_read(name, &text, NULL, &e))
        bench_fail(name, &e);
    cJSON *plan = cJSON_Parse(text);
    const cJSON *value;
    *kept = 0;
    cJSON_ArrayForEach(value, cJSON_GetObjectItemCaseSensitive(plan, "values"))
    {
        const char *role = bench_text(value, "role");
        if (str_equal(role, "input") || str_equal(role, "weight"))
            *kept += bench_number(value, "bytes");
    }
    *shared = bench_number(plan, "shared_bytes");
    cJSON_Delete(plan);
    free(text);
    free(name);
}

// --- into a network ---

// Fields of Protocol Buffers, as onnx.proto numbers them.
static void put_number(struct str *s, int field, uint64_t value)
{
    str_add_char(s, (char)(field << 3));
    for (; value >= 0x80; value >>= 7)
        str_add_char(s, (char)(0x80 | (value & 0x7f)));
    str_add_char(s, (char)value);
}

static void put_length(struct str *s, int field, uint64_t length)
{
    put_number(s, field, length);
    size_t digits = 1;
    for (uint64_t rest = length; rest >= 0x80; rest >>= 7)
        digits++;
    s->text[s->length - digits - 1] = (char)(field << 3 | 2);
}

static void put_text(struct str *s, int field, const char *text)
{
    put_length(s, field, strlen(text));
    str_add(s, text);
}

enum { MODEL_LAYERS = 12, MODEL_SIZE = 2048 }; // 201 MB of weights

static void put_value(struct str *graph, int field, const char *name)
{
    static const char type[] =
        "\x12\x0f\x0a\x0d\x08\x01\x12\x09\x0a\x02\x08\x01\x0a\x03\x08\x80\x10";
    put_length(graph, field, strlen(name) + 2 + sizeof type - 1); // float, 1 x 2048
    put_text(graph, 1, name);
    str_add_bytes(graph, type, sizeof type - 1);
}

static void put_product(struct str *graph, int number)
{
    struct str node = {0};
    char name[20];
    snprintf(name, sizeof name, "v%d", number);
    put_text(&node, 1, name);
    snprintf(name, sizeof name, "w%d", number);
    put_text(&node, 1, name);
    snprintf(name, sizeof name, "v%d", number + 1);
    put_text(&node, 2, name);
    put_text(&node, 4, "MatMul");
    put_text(graph, 1, str_text(&node));
    str_finish(&node);
}

static void write_weights(FILE *out, int number, const void *data, size_t bytes)
{
    struct str head = {0}, whole = {0};
    char name[20];
    snprintf(name, sizeof name, "w%d", number);
    put_number(&head, 1, MODEL_SIZE);
    put_number(&head, 1, MODEL_SIZE);
    put_number(&head, 2, 1);
    put_text(&head, 8, name);
    put_length(&head, 9, bytes);
    struct str graph = {0};
    put_length(&graph, 5, head.length + bytes);
    put_length(&whole, 7, graph.length + head.length + bytes);
    fwrite(whole.text, 1, whole.length, out);
    fwrite(graph.text, 1, graph.length, out);
    fwrite(head.text, 1, head.length, out);
    fwrite(data, 1, bytes, out);
    str_finish(&head);
    str_finish(&whole);
    str_finish(&graph);
}

// A graph in pieces, which are one.
static void write_model(const char *path)
{
    static float data[MODEL_SIZE * MODEL_SIZE];
    struct str graph = {0}, rest = {0};
    FILE *out = fopen(path, "wbe");
    if (!out)
        bench_fail(path, NULL);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = (float)i * 1e-7F;
    fputs("\x08\x07", out);
    put_value(&graph, 11, "v0");
    put_value(&graph, 12, "v12");
    for (int i = 0; i < MODEL_LAYERS; i++)
        put_product(&graph, i);
    put_length(&rest, 7, graph.length);
    str_add_bytes(&rest, str_text(&graph), graph.length);
    put_text(&rest, 8, "\x10\x0d"); // operators of version 13
    fwrite(rest.text, 1, rest.length, out);
    for (int i = 0; i < MODEL_LAYERS; i++)
        write_weights(out, i, data, sizeof data);
    if (fclose(out) != 0)
        bench_fail(path, NULL);
    str_finish(&graph);
    str_finish(&rest);
}

// The first of all children: what any of them took at most is what it took.
static void import_model(void)
{
    char path[] = "/tmp/tilewalk-models-XXXXXX";
    struct rusage used;
    struct bench_child c;
    if (!mkdtemp(path))
        bench_fail(path, NULL);
    char *model = path_join(path, "m.onnx"), *out = path_join(path, "m.lua");
    char *command = mem_printf("rm -r '%s'", path);
    write_model(model);
    bench_start(&c, (const char *const[]){"import", model, "--out", out, "--json", NULL});
    char line[1 << 12];
    while (fgets(line, sizeof line, c.out))
        ;
    double seconds = bench_end(&c);
    getrusage(RUSAGE_CHILDREN, &used);
    bench_figure("import of an ONNX file of 201 MB, CPU time", seconds, "s", UNDER, 2);
    bench_figure("its memory at most", (double)used.ru_maxrss / 1e3, "MB", UNDER, 300);
    if (system(command) != 0)
        bench_fail(command, NULL);
    free(model);
    free(out);
    free(command);
}

// --- all of it ---

static void compare_memory(const struct folder *f, const cJSON *checked)
{
    double kept, shared;
    const cJSON *memory = cJSON_GetObjectItemCaseSensitive(checked, "memory");
    read_plan(f, &kept, &shared);
    double said = bench_number(memory, "kept_bytes") + bench_number(memory, "shared_bytes");
    printf("memory: the session's plan %.4g MB, the program's %.4g MB\n", said / 1e6,
           (kept + shared) / 1e6);
    bench_figure("planned memory, difference", fabs(said - kept - shared), "bytes", UNDER, 1);
}

static void compare_times(const struct folder *f, int trials, int rounds)
{
    double session = INFINITY, program = INFINITY;
    printf("%6s  %12s  %12s\n", "round", "session", "program");
    for (int i = 0; i < rounds; i++) {
        struct session s = tune(f, trials);
        double ms = run(f);
        if (s.rounds > 0 || !(s.ms > 0) || !(ms > 0))
            bench_fail("a session of known tasks did not just run as a whole", NULL);
        session = fmin(session, s.ms);
        program = fmin(program, ms);
        printf("%6d  %9.4g ms  %9.4g ms\n", i + 1, s.ms, ms);
        fflush(stdout);
    }
    printf("least   %9.4g ms  %9.4g ms\n", session, program);
    bench_figure("the program's latency, off the session's", 100 * fabs(program / session - 1), "%",
                 UNDER, 3);
}

int main(int argc, char **argv)
{
    struct folder f = {.trials = 4};
    int rounds = 25, is_small = 0;
    const struct bench_option options[] = {
        {"trials", &f.trials, 1000}, {"rounds", &rounds, 1000}, {"small", &is_small, 0}};
    bench_options(argc, argv, options, 3);
    if (!is_small)
        import_model();
    make_folder(&f, is_small ? small : usual);
    cJSON *checked = bench_json((const char *const[]){"check", f.network, "--json", NULL});
    int tasks = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(checked, "tasks"));
    printf("%s: %d tasks, %d trials each\n", bench_text(checked, "name"), tasks, f.trials);
    tune(&f, tasks * f.trials);
    build(&f, tune(&f, tasks * f.trials).id);
    compare_memory(&f, checked);
    compare_times(&f, tasks * f.trials, rounds);
    cJSON_Delete(checked);
    remove_folder(&f);
    return 0;
}
