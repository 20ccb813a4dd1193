// Kernels of operator definitions are right in every sketch: for odd definitions (reversed and
// strided indices, the same tensor twice, lengths that no tile divides, reductions of reductions,
// selects by elements), for products of every type that matrix units multiply, and for the presets
// with several sketches.
//
//     TILEWALK_UNITS=khr     products of the types that the device's units have, not emulated ones
//     TILEWALK_ROUNDS=20     20 of each product and type
//     TILEWALK_SEED=2        other kernels than without
#include "define/program.h"
#include "gpu/vk.h"
#include "group.h"
#include "kernel/kernel.h"
#include "proof.h"

#include "base/mem.h"
#include "base/str.h"

#include <stddef.h>
#include <stdlib.h>

enum { DRAWS = 200000, MOST_STATEMENTS = 150 }; // CPU drivers translate about a thousand a second

static struct gpu *gpu;
static const char *units = "emulated";
static int rounds = 1;
static uint64_t seed = 1;

// Draws a legal configuration of the sketch.
static void draw(const struct script *s, const struct limits *l, int sketch, struct rng *r,
                 struct config *c)
{
    const struct space *space = script_space(s);
    struct verdict v = {0};
    struct err e;
    for (int i = 0; i < DRAWS; i++) {
        space_sample(space, r, c);
        bool is_it = space->chooser < 0 || c->slot[space->param[space->chooser].offset] == sketch;
        assert_true(space_judge(space, l, c, &v, &e));
        if (is_it && v.legal)
            return;
    }
    fail_msg("%s: no legal point in sketch %d (%s)", space->name, sketch, v.reason);
}

// Returns the element type that the device lacks; NULL: it has all.
static const char *lacking(const struct program *p, const struct limits *l)
{
    const struct definition *d = &p->inlined;
    for (int i = 0; i < d->tensor_count; i++)
        if (!limits_has_type(l, d->tensor[i].element))
            return element_name(d->tensor[i].element);
    for (int i = 0; i < p->kernel_count; i++) // of fragments
        if (p->kernel[i].shapes && !limits_has_type(l, p->kernel[i].product.element))
            return element_name(p->kernel[i].product.element);
    return NULL;
}

static struct script *load(const char *what, const struct script_options *o)
{
    struct err e;
    char message[1400];
    struct script *s = script_create(o, &e);
    if (!s)
        fail_msg("%s: %s", what, err_format(&e, message, sizeof message));
    return s;
}

// Holds a random kernel of the sketch against the reference.
static void check_sketch(const char *what, struct script *s, const struct limits *l, int sketch,
                         struct rng *r)
{
    struct config c;
    struct str text = {0};
    struct err e;
    char message[1400];
    bool wrong;
    draw(s, l, sketch, r, &c);
    config_add_json(script_space(s), &c, &text);
    if (!proof_run(gpu, s, &c, 1, &wrong, &e))
        fail_msg("%s %s: %s", what, str_text(&text), err_format(&e, message, sizeof message));
    str_finish(&text);
}

static void check_sketches(const char *what, const struct script_options *o)
{
    struct rng r;
    struct script *s = load(what, o);
    const struct program *p = script_program(s);
    const char *lack = lacking(p, o->limits);
    if (lack)
        print_message("%s: skipped, the device has no %s\n", what, lack);
    rng_seed(&r, seed);
    for (int i = 0; i < p->sketches.count && !lack; i++)
        check_sketch(what, s, o->limits, i, &r);
    script_destroy(s);
}

static struct limits limits(void)
{
    struct limits l = gpu_get_info(gpu)->limits;
    l.statements = MOST_STATEMENTS;
    return l;
}

static void check_all(const char *const *name, size_t count, char *(*find)(const char *name))
{
    const struct limits l = limits();
    for (size_t i = 0; i < count; i++) {
        char *path = find(name[i]);
        check_sketches(name[i],
                       &(struct script_options){.path = path, .device_type = "cpu", .limits = &l});
        free(path);
    }
}

static char *find_odd(const char *name)
{
    return mem_printf("%s/%s.lua", TILEWALK_DEFINITIONS, name);
}

static char *find_preset(const char *name)
{
    struct err e;
    char *path = script_find(name, &e);
    assert_non_null(path);
    return path;
}

static void odd_definitions(void **state)
{
    static const char *const names[] = {
        "whole",           "turned",          "greatest",     "one",
        "twice",           "products",        "long",         "outer",
        "choices",         "transposed",      "odd",          "odd_map",
        "odd_softmax",     "odd_convolution", "halves",       "bytes",
        "moved",           "known",           "small_floats", "fragments",
        "fragments_image", "fragments_bytes", "rounded",      "fragments_chosen"};
    (void)state;
    check_all(names, sizeof names / sizeof *names, find_odd);
}

// Returns how many random kernels of the definition in that type are right on matrix units: 0 where
// the device or its units do not have it.
static int check_product(const char *name, const char *type, const struct limits *l, struct rng *r)
{
    const struct setting set[] = {{"units", units}, {"type", type}};
    char *path = find_odd(name), *what = mem_printf("%s, %s", name, type);
    const struct script_options o = {
        .path = path, .set = set, .set_count = 2, .device_type = "cpu", .limits = l};
    enum element e = element_named(type);
    bool has =
        limits_has_type(l, e) && (str_equal(units, "emulated") || matrix_units_have(&l->matrix, e));
    if (has) {
        struct script *s = load(what, &o);
        const struct program *p = script_program(s);
        int last = p->sketches.count - 1;
        assert_true(str_starts(p->sketch_name[last], "matrix("));
        for (int k = 0; k < rounds; k++)
            check_sketch(what, s, l, last, r);
        script_destroy(s);
    }
    free(path);
    free(what);
    return has ? rounds : 0;
}

static void products_on_matrix_units(void **state)
{
    static const char *const types[] = {"f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8"};
    const struct limits l = limits();
    int checked = 0;
    struct rng r;
    (void)state;
    rng_seed(&r, seed);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        checked += check_product("fragments", types[i], &l, &r);
        checked += check_product("fragments_image", types[i], &l, &r);
        if (element_is_real(element_named(types[i])))
            checked += check_product("fragments_chosen", types[i], &l, &r);
    }
    print_message("%d random kernels of definitions, units=%s, 0 wrong, %s\n", checked, units,
                  proof_layer(gpu));
    assert_true(checked > 0 || !limits_has_type(&l, ELEMENT_F16)); // SwiftShader has no halves
}

static void presets_of_several_sketches(void **state)
{
    static const char *const names[] = {"nrm",       "layer-norm", "rms-norm",
                                        "attention", "gemv",       "winograd"};
    (void)state;
    check_all(names, sizeof names / sizeof *names, find_preset);
}

static void no_validation_messages(void **state)
{
    (void)state;
    assert_int_equal(gpu->messages, 0);
}

TEST_GROUP(definitions)
{
    if (getenv("TILEWALK_UNITS"))
        units = getenv("TILEWALK_UNITS");
    if (getenv("TILEWALK_ROUNDS"))
        rounds = atoi(getenv("TILEWALK_ROUNDS"));
    if (getenv("TILEWALK_SEED"))
        seed = strtoull(getenv("TILEWALK_SEED"), NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_definitions),
        cmocka_unit_test(products_on_matrix_units),
        cmocka_unit_test(presets_of_several_sketches),
        cmocka_unit_test(no_validation_messages),
    };
    int code;
    gpu = proof_open(&code);
    if (!gpu)
        return code;
    if (str_equal(units, "khr") && kernel_knows_matrix(MATRIX_KHR))
        gpu->adapter.info.limits.matrix = gpu->adapter.info.matrix_khr;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(gpu);
    return failed;
}
