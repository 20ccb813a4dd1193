// Imports ONNX's own conformance models, of one node each, as the distribution has them. Their
// outputs, computed by the operators' references, have to be those that the authors recorded. Every
// trial verifies that kernels give the same.
#include "group.h"
#include "onnx_run.h"

#include "base/file.h"
#include "import/import.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef NODES
#define NODES "/usr/share/libonnx-testdata/data"
#endif

static char work[200];

enum { LEAST_PASSED = 248 };
enum end { PASSED, FAILED, UNSUPPORTED };

// --- models with some inputs made constants ---

static void add_varint(struct str *s, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        str_add_char(s, (char)(0x80 | (value & 0x7f)));
    str_add_char(s, (char)value);
}

static void add_field(struct str *s, int field, const void *bytes, size_t length)
{
    add_varint(s, (uint64_t)field << 3 | 2);
    add_varint(s, length);
    str_add_bytes(s, bytes, length);
}

// Adds a constant by a second message: readers merge it with the first.
static void add_constant(struct str *model, const char *path)
{
    char *bytes;
    size_t length;
    struct str graph = {0};
    if (!file_read(path, &bytes, &length, NULL))
        return;
    add_field(&graph, 5, bytes, length);
    add_field(model, 7, str_text(&graph), graph.length);
    str_finish(&graph);
    free(bytes);
}

// Writes a file without waiting for the disk, as file_write does.
static bool put(const char *path, const struct str *text, struct err *e)
{
    FILE *f = fopen(path, "wbe");
    bool ok = f && fwrite(str_text(text), 1, text->length, f) == text->length;
    if (f)
        ok = fclose(f) == 0 && ok;
    return ok || err_set(e, "cannot write '%s'", path);
}

static bool write_model(const char *folder, int flowing, struct err *e)
{
    char *bytes, *path = mem_printf("%s/model.onnx", folder), *to = mem_printf("%s/m.onnx", work);
    size_t length;
    struct str model = {0};
    bool ok = file_read(path, &bytes, &length, e);
    if (ok) {
        str_add_bytes(&model, bytes, length);
        free(bytes);
    }
    for (int i = flowing; ok && i < 10; i++) {
        char *input = mem_printf("%s/test_data_set_0/input_%d.pb", folder, i);
        add_constant(&model, input);
        free(input);
    }
    ok = ok && put(to, &model, e);
    str_finish(&model);
    free(path);
    free(to);
    return ok;
}

// --- one model ---

// Returns true if the whole model is supported; writes nothing.
static bool is_supported(struct err *e)
{
    char *path = mem_printf("%s/m.onnx", work);
    const struct import_request q = {.path = path};
    const struct import_format *format = NULL;
    struct imported m = {0};
    bool ok = import_detect(path, &format, e) && format && import_run(format, &q, &m, e) &&
              (m.note_count == 0 || err_set(e, "%s", m.note[0]));
    imported_finish(&m);
    free(path);
    return ok;
}

static const char *const types[] = {NULL, "f16", "bf16"}; // NULL: the model's own

// 10000 to 10003, whose differences softmax sees, are one number in f16.
static bool is_of_type(const char *folder, const char *type)
{
    return !type || strcmp(type, "f16") != 0 || !strstr(folder, "/test_softmax_large_number");
}

static enum end run(const char *folder, int flowing, struct err *e)
{
    char *path = mem_printf("%s/m.onnx", work), *out = mem_printf("%s/net.lua", work);
    char *data = mem_printf("%s/test_data_set_0", folder);
    const struct import_request q = {.path = path, .out = out, .data = data, .replaces = true};
    struct imported m = {0};
    enum end end = UNSUPPORTED;
    if (write_model(folder, flowing, e) && is_supported(e) && import_run(&import_onnx, &q, &m, e)) {
        bool ok = put(out, &m.text, e);
        for (size_t i = 0; ok && i < sizeof types / sizeof *types; i++) {
            struct model_run r = {0};
            if (!is_of_type(folder, types[i]))
                continue;
            ok = model_run_load(out, types[i], &r, e) &&
                 (r.expected > 0 || err_set(e, "no output is known")) && model_run_on_cpu(&r, e);
            ok = ok || err_prefix(e, "%s", types[i] ? types[i] : "its own type");
            model_run_finish(&r);
        }
        end = ok ? PASSED : FAILED;
    }
    imported_finish(&m);
    free(path);
    free(out);
    free(data);
    return end;
}

// Imports a model twice: with all inputs but the first constant, and with none constant.
static enum end run_both(const char *folder, const char *name)
{
    enum end best = UNSUPPORTED;
    for (int flowing = 1; flowing <= 10; flowing += 9) {
        struct err e = {0};
        enum end end = run(folder, flowing, &e);
        if (end == FAILED)
            print_error("%s: %s\n", name, e.text);
        if (getenv("TILEWALK_TELL") && end == UNSUPPORTED && flowing == 1)
            print_error("  unsupported %s: %s\n", name, e.text);
        if (best == UNSUPPORTED || end == FAILED)
            best = end;
    }
    return best;
}

static void run_group(const char *group, int count[3])
{
    char *folder = mem_printf("%s/%s", NODES, group);
    struct dirent **entry;
    int entries = scandir(folder, &entry, NULL, alphasort);
    for (int i = 0; i < entries; i++) {
        char *path = mem_printf("%s/%s", folder, entry[i]->d_name);
        if (str_starts(entry[i]->d_name, "test_"))
            count[run_both(path, entry[i]->d_name)]++;
        free(path);
        free(entry[i]);
    }
    if (entries >= 0)
        free(entry);
    free(folder);
}

static void models_of_one_node_agree(void **state)
{
    (void)state;
    static const char *const groups[] = {"node", "pytorch-operator", "pytorch-converted", "simple"};
    int count[3] = {0};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        run_group(groups[i], count);
    print_message("%d passed, %d failed, %d unsupported\n", count[PASSED], count[FAILED],
                  count[UNSUPPORTED]);
    assert_int_equal(count[FAILED], 0);
    assert_true(count[PASSED] >= LEAST_PASSED);
}

TEST_GROUP(onnx_nodes)
{
    if (!file_is_folder(NODES)) {
        puts("skipped: no conformance models (libonnx-testdata)");
        return 77;
    }
    snprintf(work, sizeof work, "%s/tilewalk-onnx-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(work))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_of_one_node_agree)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const left[] = {"m.onnx", "net.lua", "net.safetensors"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char *path = mem_printf("%s/%s", work, left[i]);
        unlink(path);
        free(path);
    }
    rmdir(work);
    return failed;
}
