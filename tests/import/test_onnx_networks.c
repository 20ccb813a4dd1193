// Runs whole ONNX networks on the device, against the outputs that their authors recorded. The
// folder that TILEWALK_NETWORKS names has light_NAME.onnx and light_NAME_output_0.pb; what flows in
// is arange(n) / n, and ONNX allows its backends a relative 1e-3 and an absolute 1e-7.
//
// TILEWALK_NETWORK names the network; the default is shufflenet.
#include "group.h"
#include "onnx_run.h"

#include "base/file.h"
#include "import/import.h"
#include "trial/source.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char work[200];

static char *path_in(const char *folder, const char *name)
{
    return mem_printf("%s/%s", folder, name);
}

static void add_varint(struct str *s, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        str_add_char(s, (char)(0x80 | (value & 0x7f)));
    str_add_char(s, (char)value);
}

// Writes a tensor of floats, 1 x 3 x 224 x 224.
static bool write_input(const char *path, struct err *e)
{
    enum { SIDE = 224, COUNT = 3 * SIDE * SIDE };
    static const int size[] = {1, 3, SIDE, SIDE};
    struct str s = {0};
    for (int i = 0; i < 4; i++) {
        add_varint(&s, 1 << 3);
        add_varint(&s, (uint64_t)size[i]);
    }
    add_varint(&s, 2 << 3);
    add_varint(&s, 1);
    add_varint(&s, 9 << 3 | 2);
    add_varint(&s, COUNT * sizeof(float));
    for (int i = 0; i < COUNT; i++) {
        float value = (float)i / (float)COUNT;
        str_add_bytes(&s, &value, sizeof value);
    }
    bool ok = file_write(path, str_text(&s), s.length, e);
    str_finish(&s);
    return ok;
}

static bool copy(const char *from, const char *to, struct err *e)
{
    char *bytes;
    size_t length;
    bool ok = file_read(from, &bytes, &length, e) && file_write(to, bytes, length, e);
    if (ok)
        free(bytes);
    return ok;
}

static bool import(const char *folder, const char *name, const char *out, struct err *e)
{
    char *stem = mem_printf("%s/light_%s", folder, name);
    char *model = mem_printf("%s.onnx", stem), *recorded = mem_printf("%s_output_0.pb", stem);
    char *input = path_in(work, "input_0.pb"), *output = path_in(work, "output_0.pb");
    struct imported m = {0};
    const struct import_request q = {.path = model, .out = out, .data = work, .replaces = true};
    bool ok = write_input(input, e) && copy(recorded, output, e) &&
              import_run(&import_onnx, &q, &m, e) &&
              (m.note_count == 0 || err_set(e, "without %s", m.note[0])) &&
              file_write(out, str_text(&m.text), m.text.length, e);
    imported_finish(&m);
    free(stem);
    free(model);
    free(recorded);
    free(input);
    free(output);
    return ok;
}

static bool run(const char *out, const char *name, const char *type)
{
    struct err e = {0};
    struct model_run r = {0};
    double seconds = 0;
    bool ok = model_run_load(out, type, &r, &e) &&
              (r.expected == 1 || err_set(&e, "its output is not known")) &&
              model_run_on_device(&r, &seconds, &e);
    if (ok)
        printf("%s in %s: %d tasks, %d layers: right, %.0f ms\n", name, type, r.network.task_count,
               r.network.layer_count, 1e3 * seconds);
    else
        printf("%s in %s: %s\n", name, type, e.text);
    fflush(stdout);
    model_run_finish(&r);
    return ok;
}

static void clean_up(void)
{
    static const char *const left[] = {"input_0.pb", "output_0.pb", "net.lua", "net.safetensors"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char *path = path_in(work, left[i]);
        unlink(path);
        free(path);
    }
    rmdir(work);
}

TEST_GROUP(onnx_networks)
{
    const char *folder = getenv("TILEWALK_NETWORKS");
    if (!folder || !file_is_folder(folder)) {
        puts("skipped: no networks (TILEWALK_NETWORKS names a folder of them)");
        return 77;
    }
    snprintf(work, sizeof work, "%s/tilewalk-nets-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(work))
        return 1;
    // All weights of a layer are alike in these models: only shufflenet's values stay below 65504.
    static const char *const types[] = {"f32", "bf16", "f16"};
    const char *name = getenv("TILEWALK_NETWORK");
    char *out = path_in(work, "net.lua");
    struct err e = {0};
    bool ok = import(folder, name ? name : "shufflenet", out, &e);
    if (!ok)
        puts(e.text);
    for (int i = 0; ok && i < (name ? 2 : 3); i++)
        ok = run(out, name ? name : "shufflenet", types[i]);
    free(out);
    clean_up();
    return !ok;
}
