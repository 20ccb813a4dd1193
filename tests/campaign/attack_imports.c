// Files of others that are small and grow: models whose constants take gigabytes, logs and models
// of many thousand lines, shaders of many constants. They are refused or read, and nothing is left
// beside them, whatever ends the program.
#include "campaign.h"

#include "base/file.h"
#include "base/str.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum way { GROWS, ENDED, LOG, SHADER, WAYS };

// --- a model: x[1,K] times a constant of KxK that is made from its size ---

static void add_varint(struct str *s, uint64_t value)
{
    for (; value > 127; value >>= 7)
        str_add_char(s, (char)(value | 128));
    str_add_char(s, (char)value);
}

static void add_number(struct str *s, int field, uint64_t value)
{
    add_varint(s, (uint64_t)field << 3);
    add_varint(s, value);
}

// Adds a message and frees it.
static void add_part(struct str *s, int field, struct str *part)
{
    add_varint(s, (uint64_t)field << 3 | 2);
    add_varint(s, part->length);
    str_add_bytes(s, str_text(part), part->length);
    str_finish(part);
}

static void add_word(struct str *s, int field, const char *word)
{
    struct str part = {0};
    str_add(&part, word);
    add_part(s, field, &part);
}

static void add_node(struct str *graph, const char *kind, const char *one, const char *two,
                     const char *out)
{
    struct str node = {0};
    add_word(&node, 1, one);
    if (two)
        add_word(&node, 1, two);
    add_word(&node, 2, out);
    add_word(&node, 4, kind);
    add_part(graph, 1, &node);
}

static void add_value(struct str *graph, int field, const char *name, uint64_t k)
{
    struct str value = {0}, type = {0}, tensor = {0}, shape = {0};
    const uint64_t size[] = {1, k};
    for (int i = 0; i < 2; i++) {
        struct str dimension = {0};
        add_number(&dimension, 1, size[i]);
        add_part(&shape, 1, &dimension);
    }
    add_number(&tensor, 1, 1);
    add_part(&tensor, 2, &shape);
    add_part(&type, 1, &tensor);
    add_word(&value, 1, name);
    add_part(&value, 2, &type);
    add_part(graph, field, &value);
}

static void write_model(struct attempt *a, const char *name, uint64_t k)
{
    struct str model = {0}, graph = {0}, sizes = {0}, opset = {0};
    struct err e;
    add_node(&graph, "ConstantOfShape", "s", NULL, "c");
    add_node(&graph, "MatMul", "x", "c", "y");
    add_number(&sizes, 1, 2); // a tensor of two 64-bit integers
    add_number(&sizes, 2, 7);
    add_number(&sizes, 7, k);
    add_number(&sizes, 7, k);
    add_word(&sizes, 8, "s");
    add_part(&graph, 5, &sizes);
    add_value(&graph, 11, "x", k);
    add_value(&graph, 12, "y", k);
    add_number(&opset, 2, 17);
    add_number(&model, 1, 8);
    add_part(&model, 7, &graph);
    add_part(&model, 8, &opset);
    if (!file_write(box_path(a->box, name), str_text(&model), model.length, &e))
        fail_msg("%s", e.text);
    str_finish(&model);
}

// --- what is tried ---

// Files of the box's folder, but for the model's own and the database's.
static int count_files(struct attempt *a, const char *part)
{
    DIR *all = opendir(a->box->folder);
    int count = 0;
    for (struct dirent *one; (one = readdir(all));)
        count += strstr(one->d_name, part) != NULL;
    closedir(all);
    return count;
}

static void try_growing(struct attempt *a)
{
    write_model(a, "grows.onnx", 25000 + below(a, 20000));
    struct result r = STRIKE(a, "import", "grows.onnx", "--out", "out.lua");
    if (r.code != 1 || !strstr(r.err, "--weights-limit") || count_files(a, "out."))
        fail_msg("exit code %d, %d files: %.300s", r.code, count_files(a, "out."), r.err);
}

static void try_ending(struct attempt *a)
{
    static const int ends[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP};
    static const char *const words[] = {"import", "grows.onnx", "--out", "out.lua", NULL};
    int with = PICK(a, ends);
    write_model(a, "grows.onnx", 8000); // 256 MB
    note_command(words);
    struct running *r = start_list(a->box, words);
    rest_ms(below(a, 1500));
    kill(r->pid, with);
    finish(a->box, r);
    if (count_files(a, ".tmp"))
        fail_msg("signal %d leaves a temporary file", with);
}

static void try_log(struct attempt *a)
{
    struct str log = {0};
    int count = 1 << below(a, 18);
    for (int i = 0; i < count; i++)
        str_printf(&log, "MUL_MAT_VEC q4_K m=%d n=%d k=64: 2 x %d.5 us\n", i % 700 + 1, i / 700 + 1,
                   i % 97);
    note_context(arena_printf(&a->box->arena, "a log of %d products", count));
    box_write(a->box, "many.log", str_text(&log));
    str_finish(&log);
    struct result r = STRIKE(a, "import", "many.log", "--out", "out.lua");
    if (r.code == 0)
        r = STRIKE(a, "check", "out.lua", "--device", "none");
    if (r.code != 0)
        fail_msg("exit code %d: %.300s", r.code, r.err);
}

static void try_shader(struct attempt *a)
{
    struct str text = {0};
    int count = 1 << below(a, 16);
    str_add(&text, "#version 450\nlayout(local_size_x = 64) in;\n");
    for (int i = 0; i < count; i++)
        str_printf(&text, "layout(constant_id = %d) const uint C%d = %du;\n", i, i, i % 7 + 1);
    str_add(&text, "layout(binding = 0) buffer B { uint b[]; };\nvoid main() { b[0] = C0; }\n");
    note_context(arena_printf(&a->box->arena, "a shader of %d constants", count));
    box_write(a->box, "many.comp", str_text(&text));
    str_finish(&text);
    struct result r = STRIKE(a, "adopt", "many.comp");
    if (r.code != 0 && !*r.err)
        fail_msg("exit code %d, no message", r.code);
}

static void attempt(struct attempt *a)
{
    switch ((enum way)(a->number % WAYS)) {
    case GROWS: try_growing(a); break;
    case ENDED: try_ending(a); break;
    case LOG: try_log(a); break;
    default: try_shader(a); break;
    }
}

const struct attack attack_imports = {
    .name = "imports",
    .what = "small files that grow, ended in the middle",
    .share = 1,
    .attempt = attempt,
};
