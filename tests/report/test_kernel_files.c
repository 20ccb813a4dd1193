// Exported files of a made-up kernel: what programs and people read from them, compilers included.
#include "report/kernel_files.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "group.h"
#include "run.h"
#include "wording.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#define NASTY "a \"b\" */ \\ ?\?/ \303\251\n//"

static const uint32_t first_words[] = {0x07230203, 0x00010300, 0xdeadbeef, 4, 5, 6, 7, 8, 9, 10};
static const uint32_t second_words[] = {0x07230203, 0xffffffff};

struct sample {
    struct operation operation;
    struct kernel_description about;
    struct kernel_files files;
};

static void sample_init(struct sample *s, const char *name)
{
    struct err e;
    *s = (struct sample){0};
    operation_init(&s->operation, operation_kind_find("matmul"));
    assert_true(operation_set_size(&s->operation, "N", 64, &e));
    assert_true(operation_set_size(&s->operation, "M", 2147483647, &e));
    assert_true(operation_set_size(&s->operation, "K", 16, &e));
    assert_true(operation_set_choice(&s->operation, "layout", "nt", &e));
    assert_true(operation_complete(&s->operation, &e));
    s->about = (struct kernel_description){
        .name = name,
        .session = 7,
        .trial = 31,
        .title = "matmul f32 nt 64x2147483647x16",
        .operation = &s->operation,
        .configuration = "{\"tile_k\":[16,4,16],\"unroll\":16}",
        .source = "device",
        .device = NASTY,
        .driver = "driver 1",
        .device_id = "0123",
        .build = "0.2.0 (1a2b3c4)",
        .text_hash = "4567",
        .flop = 2e9,
        .timing = {.seconds = 0.004, .samples = "[0.004,0.0045]", .retimed = true},
        .exact_inputs = "integers",
        .exact_against = "OpenBLAS",
        .pass_count = 2,
        .binding_count = 2,
        .pass = {{"void main() {}\n",
                  first_words,
                  10,
                  "main",
                  {8, 4, 1},
                  {65535, 2, 1},
                  .subgroup_size = 32},
                 {"// two\n", second_words, 2, "main", {64, 1, 1}, {3, 1, 1}}},
        .binding = {{"A", "read", 4096}, {"scratch", "read-write", 5000000000}},
    };
    kernel_files_add(&s->files, &s->about);
}

static void sample_finish(struct sample *s)
{
    kernel_files_finish(&s->files);
}

static const struct kernel_file *find(const struct sample *s, const char *name)
{
    for (int i = 0; i < s->files.count; i++)
        if (str_equal(s->files.file[i].name, name))
            return &s->files.file[i];
    fail_msg("no file %s", name);
    return NULL;
}

static void test_names_and_bytes(void **state)
{
    static const char *const names[] = {"k.comp",      "k.spv",  "k.pass2.comp",
                                        "k.pass2.spv", "k.json", "k.h"};
    struct sample s;
    (void)state;
    sample_init(&s, "k");
    assert_int_equal(s.files.count, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(s.files.file[i].name, names[i]);
    assert_string_equal(find(&s, "k.pass2.comp")->bytes, "// two\n");
    assert_int_equal(find(&s, "k.spv")->length, sizeof first_words);
    assert_memory_equal(find(&s, "k.spv")->bytes, first_words, sizeof first_words);
    assert_int_equal(find(&s, "k.pass2.spv")->length, sizeof second_words);
    sample_finish(&s);
}

static const cJSON *at(const cJSON *o, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(o, key);
    if (!value)
        fail_msg("no member '%s'", key);
    return value;
}

static void check_text(const cJSON *o, const char *key, const char *expected)
{
    const char *text = cJSON_GetStringValue(at(o, key));
    assert_non_null(text);
    assert_string_equal(text, expected);
}

static void check_number(const cJSON *o, const char *key, double expected)
{
    assert_true(cJSON_IsNumber(at(o, key)));
    assert_true(cJSON_GetNumberValue(at(o, key)) == expected);
}

static void check_numbers(const cJSON *o, const char *key, int count, const double *expected)
{
    const cJSON *list = at(o, key);
    assert_int_equal(cJSON_GetArraySize(list), count);
    for (int i = 0; i < count; i++)
        assert_true(cJSON_GetNumberValue(cJSON_GetArrayItem(list, i)) == expected[i]);
}

static void check_pass(const cJSON *pass, const char *glsl, const char *spirv,
                       const struct kernel_pass *p)
{
    double local[3], groups[3];
    char hash[33];
    for (int i = 0; i < 3; i++) {
        local[i] = p->local_size[i];
        groups[i] = p->groups[i];
    }
    hash_hex(p->word, 4 * p->word_count, hash);
    check_text(pass, "glsl", glsl);
    check_text(pass, "spirv", spirv);
    check_text(pass, "entry", "main");
    check_numbers(pass, "local_size", 3, local);
    check_numbers(pass, "groups", 3, groups);
    if (p->subgroup_size)
        check_number(pass, "subgroup_size", p->subgroup_size);
    else
        assert_null(cJSON_GetObjectItem(pass, "subgroup_size"));
    check_text(pass, "hash", hash);
}

static void check_problem(const cJSON *json)
{
    const cJSON *problem = at(json, "problem");
    check_text(json, "operator", "matmul");
    check_text(json, "type", "f32");
    check_text(json, "layout", "nt");
    check_number(problem, "N", 64);
    check_number(problem, "M", 2147483647);
    check_number(at(json, "configuration"), "unroll", 16);
    check_numbers(at(json, "configuration"), "tile_k", 3, (const double[]){16, 4, 16});
}

static void check_buffers(const cJSON *json)
{
    const cJSON *bindings = at(json, "bindings");
    assert_int_equal(cJSON_GetArraySize(bindings), 2);
    const cJSON *scratch = cJSON_GetArrayItem(bindings, 1);
    check_number(scratch, "set", 0);
    check_number(scratch, "binding", 1);
    check_text(scratch, "name", "scratch");
    check_text(scratch, "access", "read-write");
    check_number(scratch, "bytes", 5000000000);
    assert_int_equal(cJSON_GetArraySize(at(json, "push_constants")), 0);
}

static void test_json(void **state)
{
    struct sample s;
    (void)state;
    sample_init(&s, "k");
    cJSON *json = cJSON_Parse(find(&s, "k.json")->bytes);
    assert_non_null(json);
    check_number(json, "version", 1);
    check_text(json, "name", "k");
    check_number(json, "session", 7);
    check_number(json, "trial", 31);
    check_problem(json);
    assert_int_equal(cJSON_GetArraySize(at(json, "passes")), 2);
    check_pass(cJSON_GetArrayItem(at(json, "passes"), 0), "k.comp", "k.spv", &s.about.pass[0]);
    check_pass(cJSON_GetArrayItem(at(json, "passes"), 1), "k.pass2.comp", "k.pass2.spv",
               &s.about.pass[1]);
    assert_non_null(strstr(cJSON_GetStringValue(at(json, "dispatch")), "constant"));
    check_buffers(json);
    check_number(at(json, "timing"), "ms", 4);
    check_number(at(json, "timing"), "tflops", 0.5);
    check_numbers(at(json, "timing"), "samples", 2, (const double[]){0.004, 0.0045});
    assert_true(cJSON_IsTrue(at(at(json, "timing"), "retimed")));
    check_text(json, "device", NASTY);
    check_text(json, "device_identity", "0123");
    check_text(json, "text_hash", "4567");
    check_text(json, "build", "0.2.0 (1a2b3c4)");
    check_text(json, "tilewalk", TILEWALK_VERSION);
    check_text(at(at(json, "verified"), "exact"), "against", "OpenBLAS");
    assert_true(cJSON_IsFalse(at(at(json, "verified"), "random")));
    assert_non_null(strstr(cJSON_GetStringValue(at(json, "rights")), "no licence"));
    cJSON_Delete(json);
    sample_finish(&s);
}

// The files of a kernel that never ran on a device have no check.
static void test_json_of_synthetic_times(void **state)
{
    struct sample s;
    struct str text = {0};
    (void)state;
    sample_init(&s, "k");
    s.about.exact_inputs = s.about.exact_against = s.about.device = NULL;
    s.about.source = "synthetic:bowl";
    kernel_add_json(&s.about, false, &text);
    cJSON *json = cJSON_Parse(str_text(&text));
    assert_non_null(json);
    assert_true(cJSON_IsNull(at(at(json, "verified"), "exact")));
    assert_true(cJSON_IsNull(at(json, "device")));
    check_text(at(json, "timing"), "source", "synthetic:bowl");
    cJSON_Delete(json);
    str_finish(&text);
    sample_finish(&s);
}

// A table's entry is the same, but for the passes, which hold their words.
static void test_embedded(void **state)
{
    struct sample s;
    struct str text = {0};
    (void)state;
    sample_init(&s, "k");
    kernel_add_json(&s.about, true, &text);
    cJSON *json = cJSON_Parse(str_text(&text)), *file = cJSON_Parse(find(&s, "k.json")->bytes);
    assert_non_null(json);
    const cJSON *second = cJSON_GetArrayItem(at(json, "passes"), 1);
    check_text(second, "spirv_base64", "AwIjB/////8="); // 03 02 23 07 ff ff ff ff
    assert_null(cJSON_GetObjectItem(second, "spirv"));
    cJSON_DeleteItemFromObject(json, "passes");
    cJSON_DeleteItemFromObject(file, "passes");
    assert_true(cJSON_Compare(json, file, true));
    cJSON_Delete(file);
    cJSON_Delete(json);
    str_finish(&text);
    sample_finish(&s);
}

static void check_identifier(const char *name, const char *expected)
{
    char *id = kernel_identifier(name);
    assert_string_equal(id, expected);
    free(id);
}

static void test_identifiers(void **state)
{
    (void)state;
    check_identifier("gemm-f32-nn-256x256x256", "gemm_f32_nn_256x256x256");
    check_identifier("int", "int");
    check_identifier("3d", "k_3d");
    check_identifier("_Bool", "k__Bool");
    check_identifier("\303\251t\303\251.1", "k___t___1");
}

// Every value is read back by a compiled program.
static const char reader[] =
    "#include KERNEL_HEADER\n"
    "#include \"k.h\"\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "int main(void)\n"
    "{\n"
    "    const struct tilewalk_kernel *k = &KERNEL_NAME;\n"
    "    const struct tilewalk_pass *p = k->passes;\n"
    "    const struct tilewalk_binding *b = k->bindings;\n"
    "    printf(\"%s %s %u %u\\n\", k->name, k->operation, k->binding_count, k->pass_count);\n"
    "    printf(\"%s %lld %s %lld\\n\", k->sizes[0].name, (long long)k->sizes[0].value,\n"
    "           k->sizes[1].name, (long long)k->sizes[1].value);\n"
    "    printf(\"%d %s %s %d\\n\", k->sizes[6].name == NULL, k->choices[1].name,\n"
    "           k->choices[1].value, k->choices[8].name == NULL);\n"
    "    printf(\"%s %s %llu\\n\", b[1].name, b[1].access, (unsigned long long)b[1].bytes);\n"
    "    printf(\"%d %08x %08x %d %s\\n\", (int)p[0].spirv_bytes, p[0].spirv[2], p[0].spirv[9],\n"
    "           (int)p[1].spirv_bytes, p[1].entry);\n"
    "    printf(\"%u %u %u %u %u\\n\", p[0].groups[0], p[0].local_size[1], p[1].groups[0],\n"
    "           p[0].subgroup_size, p[1].subgroup_size);\n"
    "    return strcmp(k_kernel.name, \"k\");\n"
    "}\n";

// The name of a file may be anything; the program includes two exports at once.
static void check_compiles(const char *compiler, const char *standard, const char *source)
{
    struct sample s, other;
    struct err e;
    if (!has_program(compiler))
        skip();
    char *folder = make_folder();
    sample_init(&s, "k \303\251?\?(\\");
    sample_init(&other, "k");
    assert_true(kernel_files_write(&s.files, folder, &e));
    assert_true(kernel_files_write(&other.files, folder, &e));
    char *id = kernel_identifier(s.about.name);
    char *text = mem_printf("#define KERNEL_HEADER \"copy.h\"\n#define KERNEL_NAME %s_kernel\n%s",
                            id, reader);
    free(write_text(folder, "copy.h", find(&s, "k \303\251?\?(\\.h")->bytes));
    free(write_text(folder, source, text));
    run_silently("cd '%s' && %s -std=%s -Wall -Wextra -Wshadow -Werror -pedantic %s -o reader",
                 folder, compiler, standard, source);
    char *said = run(NULL, "'%s/reader'", folder);
    wording_is("report", "kernel_files: what a program reads", said);
    free(said);
    free(text);
    free(id);
    sample_finish(&s);
    sample_finish(&other);
    remove_folder(folder);
}

static void test_header_is_c(void **state)
{
    (void)state;
    check_compiles("cc", "c11", "reader.c");
}

static void test_header_is_cpp(void **state)
{
    (void)state;
    check_compiles("c++", "c++11", "reader.cc");
}

static void test_header_says_whose_it_is(void **state)
{
    struct sample s;
    (void)state;
    sample_init(&s, "k");
    const char *header = find(&s, "k.h")->bytes;
    assert_non_null(strstr(header, "It belongs to you: no licence of tilewalk applies"));
    assert_non_null(strstr(header, "4 ms, 500.0 GFLOPS"));
    sample_finish(&s);
}

// The last file cannot be written: nothing is left of the others, and nothing of what was there is
// lost.
static void test_no_partial_set(void **state)
{
    struct sample s;
    struct err e;
    (void)state;
    char *folder = make_folder();
    sample_init(&s, "k");
    char *obstacle = mem_printf("%s/k.h/full", folder);
    assert_true(file_make_folders(obstacle, &e));
    assert_false(kernel_files_write(&s.files, folder, &e));
    assert_non_null(strstr(e.text, "k.h"));
    char *left = run(NULL, "ls -A '%s'", folder);
    assert_string_equal(left, "k.h\n");
    free(left);
    free(write_text(folder, "k.comp", "the one before"));
    free(write_text(folder, "k.json", "and this"));
    assert_false(kernel_files_write(&s.files, folder, &e));
    left = run(NULL, "cd '%s' && ls -A && cat k.comp k.json", folder);
    assert_string_equal(left, "k.comp\nk.h\nk.json\nthe one beforeand this");
    free(left);
    free(obstacle);
    sample_finish(&s);
    remove_folder(folder);
}

static void test_folder_is_made(void **state)
{
    struct sample s;
    struct err e;
    char *bytes;
    size_t length;
    (void)state;
    char *folder = make_folder(), *deep = path_join(folder, "a/b"),
         *path = path_join(deep, "k.spv");
    sample_init(&s, "k");
    assert_true(kernel_files_write(&s.files, deep, &e));
    assert_true(file_read(path, &bytes, &length, &e));
    assert_int_equal(length, sizeof first_words);
    assert_memory_equal(bytes, first_words, length);
    free(bytes);
    free(path);
    free(deep);
    sample_finish(&s);
    remove_folder(folder);
}

TEST_GROUP(kernel_files)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_bytes),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_of_synthetic_times),
        cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_identifiers),
        cmocka_unit_test(test_header_is_c),
        cmocka_unit_test(test_header_is_cpp),
        cmocka_unit_test(test_header_says_whose_it_is),
        cmocka_unit_test(test_no_partial_set),
        cmocka_unit_test(test_folder_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
