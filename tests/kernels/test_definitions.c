// Kernels of operator definitions are right in every sketch: for odd definitions (reversed and
// strided indices, the same tensor twice, lengths that no tile divides, reductions of reductions,
// selects by elements), and for the presets with several sketches.
#include "define/program.h"
#include "gpu/vk.h"
#include "group.h"
#include "proof.h"

#include "base/mem.h"
#include "base/str.h"

#include <stddef.h>

enum { DRAWS = 200000, MOST_STATEMENTS = 150 }; // CPU drivers translate about a thousand a second

static struct gpu *gpu;

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
static const char *lacking(const struct definition *d, const struct limits *l)
{
    for (int i = 0; i < d->tensor_count; i++) {
        enum element e = d->tensor[i].element;
        if ((e == ELEMENT_F16 && !l->f16) || (e == ELEMENT_I8 && !l->i8))
            return element_name(e);
    }
    return NULL;
}

static void check_sketches(const char *what, const struct script_options *o)
{
    struct err e;
    char message[1400];
    struct rng r;
    struct script *s = script_create(o, &e);
    if (!s)
        fail_msg("%s: %s", what, err_format(&e, message, sizeof message));
    const struct program *p = script_program(s);
    const char *lack = lacking(&p->inlined, o->limits);
    if (lack)
        print_message("%s: skipped, the device has no %s\n", what, lack);
    rng_seed(&r, 1);
    for (int i = 0; i < p->sketches.count && !lack; i++) {
        struct config c;
        struct str text = {0};
        bool wrong;
        draw(s, o->limits, i, &r, &c);
        config_add_json(script_space(s), &c, &text);
        if (!proof_run(gpu, s, &c, 1, &wrong, &e))
            fail_msg("%s %s: %s", what, str_text(&text), err_format(&e, message, sizeof message));
        str_finish(&text);
    }
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
        "whole",       "turned",          "greatest",       "one",        "twice", "products",
        "long",        "outer",           "choices",        "transposed", "odd",   "odd_map",
        "odd_softmax", "odd_convolution", "halves",         "bytes",      "moved", "known",
        "fragments",   "fragments_image", "fragments_bytes"};
    (void)state;
    check_all(names, sizeof names / sizeof *names, find_odd);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_definitions),
        cmocka_unit_test(presets_of_several_sketches),
        cmocka_unit_test(no_validation_messages),
    };
    int code;
    gpu = proof_open(&code);
    if (!gpu)
        return code;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(gpu);
    return failed;
}
