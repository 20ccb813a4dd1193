// Weight files: what is taken of them, what is read, and one clear line for each that is wrong.
#include "group.h"

#include "weights/weights.h"

#include "base/file.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tilewalk-weights-XXXXXX";
static char *path; // of the one file that each test writes anew

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    path = path_join(folder, "saved");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    free(path);
    return rmdir(folder);
}

static void put(const struct str *s)
{
    struct err e;
    unlink(path);
    assert_true(file_write(path, str_text(s), s->length, &e));
}

// Saves a file of version 1 with the header as it is given.
static void save_npy(const char *header, const void *data, size_t bytes)
{
    struct str s = {0};
    str_add_bytes(&s, "\x93NUMPY\x01\0", 8);
    str_add_char(&s, (char)(strlen(header) & 255));
    str_add_char(&s, (char)(strlen(header) >> 8));
    str_add(&s, header);
    str_add_bytes(&s, data, bytes);
    put(&s);
    str_finish(&s);
}

static void save_safetensors(const char *header, const void *data, size_t bytes)
{
    struct str s = {0};
    for (int i = 0; i < 8; i++)
        str_add_char(&s, (char)((uint64_t)strlen(header) >> 8 * i & 255));
    str_add(&s, header);
    str_add_bytes(&s, data, bytes);
    put(&s);
    str_finish(&s);
}

static struct tensor tensor(enum element e, int64_t rows, int64_t columns)
{
    return (struct tensor){
        .name = "B", .element = e, .rank = 2, .size = {rows, columns}, .stride = {columns, 1}};
}

static bool take(enum weights_format format, const struct weights_choice *choice,
                 const struct tensor *to, struct arena *a, struct weights *w, struct err *e)
{
    struct weights_file *f = weights_open(path, folder, format, e);
    bool ok = f && weights_take(f, choice, to, a, w, e);
    weights_close(f);
    return ok;
}

static const struct weights_choice whole = {NULL, false}, rounded = {NULL, true};

// --- what is read ---

#define F32_2X3 "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n"
static const float six[] = {0, 1, -2, 3.5F, 1e30F, -0.0F};

static void an_array_is_read(void **state)
{
    const struct tensor to = tensor(ELEMENT_F32, 2, 3), flat = tensor(ELEMENT_F32, 1, 6);
    struct arena a;
    struct weights w;
    struct err e;
    float out[6];
    (void)state;
    arena_init(&a);
    save_npy(F32_2X3, six, sizeof six);
    assert_true(take(WEIGHTS_NPY, &whole, &flat, &a, &w, &e));
    assert_true(take(WEIGHTS_NPY, &whole, &to, &a, &w, &e));
    assert_int_equal(w.count, 6);
    assert_int_equal(w.saved, ELEMENT_F32);
    assert_true(weights_read(&w, out, &e));
    assert_memory_equal(out, six, sizeof six);
    arena_finish(&a);
}

// Each type into each element: whether it is taken as it is, rounded, or not.
static void types_are_converted_where_nothing_is_lost(void **state)
{
    static const struct {
        const char *type, *exact, *rounded;
        size_t bytes;
    } types[] = {
        {"F64", "f64 ", "f32 f16 bf16 f8e4m3 f8e5m2 ", 8},
        {"F32", "f32 f64 ", "f16 bf16 f8e4m3 f8e5m2 ", 4},
        {"F16", "f32 f16 f64 ", "bf16 f8e4m3 f8e5m2 ", 2},
        {"BF16", "f32 f64 bf16 ", "f16 f8e4m3 f8e5m2 ", 2},
        {"F8_E4M3", "f32 f16 f64 bf16 f8e4m3 ", "f8e5m2 ", 1},
        {"F8_E5M2", "f32 f16 f64 bf16 f8e5m2 ", "f8e4m3 ", 1},
        {"I32", "i32 i64 ", "", 4},
        {"I8", "i8 i32 i16 i64 ", "", 1},
        {"U8", "i32 u8 i16 u16 u32 i64 u64 ", "", 1},
        {"I64", "i64 ", "", 8},
        {"C64", "", "", 8},
    };
    static const char data[8] = {0};
    struct arena a;
    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct str exact = {0}, only_rounded = {0};
        char *header =
            mem_printf("{\"w\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[0,%zu]}}",
                       types[i].type, types[i].bytes);
        save_safetensors(header, data, types[i].bytes);
        for (int k = 0; k < ELEMENT_COUNT; k++) {
            const struct tensor to = tensor((enum element)k, 1, 1);
            struct weights w;
            struct err e;
            if (take(WEIGHTS_SAFETENSORS, &(struct weights_choice){"w", false}, &to, &a, &w, &e))
                str_printf(&exact, "%s ", element_name(to.element));
            else if (take(WEIGHTS_SAFETENSORS, &(struct weights_choice){"w", true}, &to, &a, &w,
                          &e))
                str_printf(&only_rounded, "%s ", element_name(to.element));
        }
        assert_string_equal(str_text(&exact), types[i].exact);
        assert_string_equal(str_text(&only_rounded), types[i].rounded);
        str_finish(&exact);
        str_finish(&only_rounded);
        free(header);
    }
    arena_finish(&a);
}

static void values_are_converted(void **state)
{
    static const double doubles[] = {1.0 / 3, -2, 65504};
    static const uint16_t brain[] = {0x3f80, 0xc000, 0x7f80}; // 1, -2, infinity
    static const uint8_t bytes[] = {0, 200, 255};
    struct tensor to = tensor(ELEMENT_F32, 1, 3);
    struct arena a;
    struct weights w;
    struct err e;
    float out[3];
    uint16_t half[3];
    int32_t number[3];
    (void)state;
    arena_init(&a);
    save_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", doubles, sizeof doubles);
    assert_true(take(WEIGHTS_NPY, &rounded, &to, &a, &w, &e) && weights_read(&w, out, &e));
    assert_true(out[0] == 1.0F / 3 && out[1] == -2);
    to.element = ELEMENT_F16;
    assert_true(take(WEIGHTS_NPY, &rounded, &to, &a, &w, &e) && weights_read(&w, half, &e));
    assert_true(half[1] == 0xc000 && half[2] == 0x7bff);
    save_safetensors("{\"b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[0,6]}}   ", brain,
                     sizeof brain);
    const struct weights_choice b = {"b", true};
    assert_true(take(WEIGHTS_SAFETENSORS, &b, &to, &a, &w, &e) && weights_read(&w, half, &e));
    assert_true(half[0] == 0x3c00 && half[1] == 0xc000 && half[2] == 0x7c00);
    save_npy("{'shape': (3, 1), 'fortran_order': False, \"descr\": '|u1'}", bytes, sizeof bytes);
    to.element = ELEMENT_I32;
    assert_true(take(WEIGHTS_NPY, &whole, &to, &a, &w, &e) && weights_read(&w, number, &e));
    assert_true(number[0] == 0 && number[1] == 200 && number[2] == 255);
    arena_finish(&a);
}

// More than are converted at once.
static void many_values_are_converted(void **state)
{
    enum { COUNT = 200001 };
    const struct tensor to = tensor(ELEMENT_F32, 1, COUNT);
    uint16_t *saved = mem_zero(COUNT, sizeof *saved);
    float *out = mem_zero(COUNT, sizeof *out);
    struct arena a;
    struct weights w;
    struct err e;
    (void)state;
    arena_init(&a);
    for (int i = 0; i < COUNT; i++)
        saved[i] = (uint16_t)(0x3c00 + i % 1024); // from 1 to below 2
    save_npy("{'descr': '<f2', 'fortran_order': False, 'shape': (200001,), }", saved,
             COUNT * sizeof *saved);
    assert_true(take(WEIGHTS_NPY, &whole, &to, &a, &w, &e) && weights_read(&w, out, &e));
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == 1 + (float)(i % 1024) / 1024);
    arena_finish(&a);
    free(saved);
    free(out);
}

// --- what is refused ---

static void check_error(const struct err *e, const char *expected, const char *of)
{
    if (!strstr(e->text, expected))
        fail_msg("%s\n  gives %s\n  not   %s", of, e->text, expected);
    assert_null(strchr(e->text, '\n'));
}

#define NPY(type, order, shape)                                                                    \
    "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape "}"

static void wrong_arrays_are_named(void **state)
{
    static const struct {
        const char *header, *expected; // its data have 24 bytes
    } wrong[] = {
        {NPY("<f4", "True", "(2, 3)"), "Fortran's order (numpy.ascontiguousarray"},
        {NPY(">f4", "False", "(2, 3)"), "'>f4', of the other byte order (a.astype('<f4')"},
        {NPY("<c8", "False", "(3,)"), "it holds <c8 3 (3 elements), B takes f32 2x3 (6 elements)"},
        {NPY("<c8", "False", "(2, 3)"), "it holds <c8 2x3 (6 elements), B takes f32 2x3 (6 "
                                        "elements): the type cannot be converted"},
        {NPY("<i4", "False", "(2, 3)"), "the type cannot be converted"},
        {NPY("<f8", "False", "(3,)"), "it holds f64 3 (3 elements)"},
        {NPY("<f4", "False", "(3, 2)"),
         "it holds f32 3x2 (6 elements), B takes f32 2x3 (6 elements): its rows are others (is it "
         "transposed?)"},
        {NPY("<f4", "False", "(2, 4)"),
         "it has 24 bytes of data, its header says 32 (is it cut off?)"},
        {NPY("<f4", "False", "(2, 2)"), "it has 24 bytes of data, its header says 16"},
        {NPY("<f4", "False", "(4294967296, 4294967296, 6)"),
         "its header says 18446744073709551615"},
        {NPY("<f4", "False", "(99999999999999999999,)"), "a size below 2^64"},
        {NPY("<f4", "False", "(1, 1, 1, 1, 1, 1, 1, 2, 3)"), "more than 8 dimensions"},
        {NPY("<f4", "False", "(-2, 3)"), "expected a size at '-2, 3)"},
        {NPY("<f4", "False", "(2 3)"), "expected ',' or ')' at '3)"},
        {NPY("<f4", "Maybe", "(2, 3)"), "expected True or False at 'Maybe"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}",
         "expected one type, not a record of several"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (2, 3)}", "'descr' twice"},
        {"{'descr': '<f4', 'shape': (2, 3)}", "lacks one of descr, fortran_order and shape"},
        {"{'descr': '<f4', 'order': 'C'}", "an unknown field 'order'"},
        {"{'descr': '<f4'", "expected ',' or '}' at ''"},
        {"{} and more", "expected nothing more at 'and more'"},
        {"{'descr", "expected a quoted word"},
        {"", "expected '{' at ''"},
    };
    const struct tensor to = tensor(ELEMENT_F32, 2, 3);
    struct arena a;
    struct weights w;
    struct err e;
    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        save_npy(wrong[i].header, six, sizeof six);
        if (take(WEIGHTS_NPY, &whole, &to, &a, &w, &e))
            fail_msg("%s\n  is taken", wrong[i].header);
        check_error(&e, wrong[i].expected, wrong[i].header);
    }
    arena_finish(&a);
}

#define TENSOR(name, type, shape, range)                                                           \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" range "}"

static void wrong_safetensors_are_named(void **state)
{
    static const struct {
        const char *header, *expected; // its data have 24 bytes, "w" is what is wanted
    } wrong[] = {
        {"{" TENSOR("w", "F32", "[2,2]", "[0,24]") "}",
         "'w': its offsets say 24 bytes, its shape and dtype 16"},
        {"{" TENSOR("w", "F32", "[3,2]", "[0,24]") "}", "(is it transposed?)"},
        {"{" TENSOR("w", "F32", "[2,3]", "[0,24]") "," TENSOR("v", "F32", "[1]", "[20,24]") "}",
         "'v' begins at 20, what lies before it ends at 24"},
        {"{" TENSOR("w", "F32", "[2]", "[16,24]") "}",
         "'w' begins at 16, what lies before it ends at 0"},
        {"{" TENSOR("w", "F32", "[2]", "[0,8]") "}", "it has 24 bytes of data, its header says 8"},
        {"{" TENSOR("w", "F32", "[8]", "[0,32]") "}",
         "it has 24 bytes of data, its header says 32 (is it cut off?)"},
        {"{" TENSOR("w", "F32", "[6]", "[24,0]") "}",
         "'w': expected one dtype, shape and data_off"},
        {"{" TENSOR("w", "F32", "[6]", "[0,24,24]") "}", "'w': expected one dtype"},
        {"{" TENSOR("w", "F32", "[6]", "[0,1e300]") "}", "'w': expected one dtype"},
        {"{" TENSOR("w", "F32", "[6.5]", "[0,24]") "}", "'w': its shape is no list of up to 8"},
        {"{" TENSOR("w", "F32", "[-6]", "[0,24]") "}", "'w': its shape is no list"},
        {"{" TENSOR("w", "F32", "[9007199254740992]", "[0,24]") "}", "'w': its shape is no list"},
        {"{" TENSOR("w", "F32", "[4503599627370496,4503599627370496]", "[0,24]") "}",
         "its shape and dtype 18446744073709551615"},
        {"{" TENSOR("w", "F32", "[1,1,1,1,1,1,1,1,6]", "[0,24]") "}", "'w': its shape is no list"},
        {"{\"w\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24]}}",
         "'w': expected one dtype"},
        {"{" TENSOR("w", "F32", "[3]", "[0,12]") "," TENSOR("w", "F32", "[3]", "[12,24]") "}",
         "it has 'w' twice"},
        {"{" TENSOR("ww", "F32", "[6]", "[0,24]") "}", "it has no tensor 'w' (did you mean 'ww'?)"},
        {"{" TENSOR("w", "F8_E8M0", "[24]", "[0,24]") "}", "it holds F8_E8M0 24 (24 elements)"},
        {"{" TENSOR("w", "I32", "[6]", "[0,24]") "}", "the type cannot be converted"},
        {"{\"w\":3}", "'w': expected one dtype"},
        {"[]", "its header is no JSON object"},
        {"{\"w\":", "its header: broken JSON: "},
        {"", "its header: broken JSON: "},
    };
    const struct tensor to = tensor(ELEMENT_F32, 2, 3);
    const struct weights_choice choice = {"w", false};
    struct arena a;
    struct weights w;
    struct err e;
    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        save_safetensors(wrong[i].header, six, sizeof six);
        if (take(WEIGHTS_SAFETENSORS, &choice, &to, &a, &w, &e))
            fail_msg("%s\n  is taken", wrong[i].header);
        check_error(&e, wrong[i].expected, wrong[i].header);
    }
    arena_finish(&a);
}

static void write_bytes(const char *bytes, size_t length)
{
    struct str s = {0};
    str_add_bytes(&s, bytes, length);
    put(&s);
    str_finish(&s);
}

// The files do not even have a header.
static void other_files_are_refused(void **state)
{
    static const struct {
        enum weights_format format;
        const char *bytes;
        size_t length;
        const char *expected;
    } wrong[] = {
        {WEIGHTS_NPY, "", 0, "it ends early (is it cut off?)"},
        {WEIGHTS_NPY, "PK\3\4 and more", 13, "it does not begin as .npy files do"},
        {WEIGHTS_NPY, "\x93NUMPY\x04\x00\xff\xff\0\0", 12, "it is of version 4.0 of .npy"},
        {WEIGHTS_NPY, "\x93NUMPY\x01\x00\xff\xff{}", 12, "it ends early"},
        {WEIGHTS_NPY, "\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14, "its header has 4294967295 bytes"},
        {WEIGHTS_NPY, "\x93NUMPY\x01\x00\x02\x00{\0", 12, "its header has a zero byte"},
        {WEIGHTS_SAFETENSORS, "{}", 2, "it ends early"},
        {WEIGHTS_SAFETENSORS, "\xff\0\0\0\0\0\0\0{}", 10, "it ends early"},
        {WEIGHTS_SAFETENSORS, "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10,
         "its header has 18446744073709551615 bytes, the most is 16777216"},
        {WEIGHTS_SAFETENSORS, "\4\0\0\0\0\0\0\0{\0\0}", 12, "its header: broken JSON"},
    };
    struct err e;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_bytes(wrong[i].bytes, wrong[i].length);
        assert_null(weights_open(path, folder, wrong[i].format, &e));
        check_error(&e, wrong[i].expected, wrong[i].expected);
    }
    unlink(path);
    assert_null(weights_open(path, folder, WEIGHTS_NPY, &e));
    check_error(&e, "No such file", "nothing");
    assert_int_equal(mkfifo(path, 0600), 0); // to be refused, not waited for
    assert_null(weights_open(path, folder, WEIGHTS_NPY, &e));
    check_error(&e, "not a regular file", "a pipe");
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_null(weights_open(path, folder, WEIGHTS_NPY, &e));
    check_error(&e, "not a regular file", "a device");
    unlink(path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_null(weights_open(path, folder, WEIGHTS_NPY, &e));
    check_error(&e, "leads out of", "a link");
    unlink(path);
}

static void names_are_asked_for(void **state)
{
    const struct tensor to = tensor(ELEMENT_F32, 2, 3);
    struct arena a;
    struct weights w;
    struct err e;
    (void)state;
    arena_init(&a);
    save_safetensors("{" TENSOR("w", "F32", "[6]", "[0,24]") "}", six, sizeof six);
    assert_false(take(WEIGHTS_SAFETENSORS, &whole, &to, &a, &w, &e));
    check_error(&e, "it has 1 tensor: { FILE, \"w\" } names it", "no name");
    save_safetensors("{\"__metadata__\":{\"format\":\"pt\"}}", six, 0);
    assert_false(take(WEIGHTS_SAFETENSORS, &whole, &to, &a, &w, &e));
    check_error(&e, "it has no tensors", "no name, no tensor");
    save_npy(F32_2X3, six, sizeof six);
    assert_false(take(WEIGHTS_NPY, &(struct weights_choice){"w", false}, &to, &a, &w, &e));
    check_error(&e, "a .npy is one array, which has no name ('w')", "a name");
    arena_finish(&a);
}

// --- between opening and reading ---

static void a_file_that_changed_is_not_read(void **state)
{
    const struct tensor to = tensor(ELEMENT_F32, 2, 3);
    struct arena a;
    struct weights w;
    struct err e;
    float out[6];
    (void)state;
    arena_init(&a);
    save_npy(F32_2X3, six, sizeof six);
    assert_true(take(WEIGHTS_NPY, &whole, &to, &a, &w, &e));
    assert_int_equal(truncate(path, 90), 0);
    assert_false(weights_read(&w, out, &e));
    check_error(&e, "it has changed since the network was read", "a shorter file");
    w.stamp = file_stamp(path, 0); // so late that nothing tells
    assert_false(weights_read(&w, out, &e));
    check_error(&e, "it ends early", "a shorter file");
    unlink(path);
    assert_false(weights_read(&w, out, &e));
    check_error(&e, "No such file", "no file");
    arena_finish(&a);
}

static void values_that_do_not_fit_are_not_read(void **state)
{
    const struct tensor to = tensor(ELEMENT_F16, 2, 3);
    struct arena a;
    struct weights w;
    struct err e;
    uint16_t out[6];
    (void)state;
    arena_init(&a);
    save_npy(F32_2X3, six, sizeof six);
    assert_false(take(WEIGHTS_NPY, &whole, &to, &a, &w, &e));
    check_error(&e, "(round = true rounds them)", "f32 for f16");
    assert_true(take(WEIGHTS_NPY, &rounded, &to, &a, &w, &e));
    assert_false(weights_read(&w, out, &e));
    check_error(&e, "element 4 is 1e+30, too large for f16", "f32 for f16");
    arena_finish(&a);
}

TEST_GROUP(weights)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_read),
        cmocka_unit_test(types_are_converted_where_nothing_is_lost),
        cmocka_unit_test(values_are_converted),
        cmocka_unit_test(many_values_are_converted),
        cmocka_unit_test(wrong_arrays_are_named),
        cmocka_unit_test(wrong_safetensors_are_named),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(names_are_asked_for),
        cmocka_unit_test(a_file_that_changed_is_not_read),
        cmocka_unit_test(values_that_do_not_fit_are_not_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
