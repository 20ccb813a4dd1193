// The plain presets are right: every function, layout and type, at random ragged sizes.
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { SIZES = 2, POINTS = 2, MOST_SETTINGS = 12 };

struct drawn { // a setting with a random size, or a choice of which all are tried
    const char *name;
    int low, high;             // of a size; of low 0 and high 0 it is a choice
    const char *const *values; // NULL-terminated
};

static const char *const types[] = {"f32", "f16", NULL}, *const layouts[] = {"nchw", "nhwc", NULL};

struct family {
    const struct drawn *drawn;
    const char *preset;
    struct rng rng;
    struct setting set[MOST_SETTINGS];
    char text[MOST_SETTINGS][16];
};

static void check_sizes(struct family *f, int count)
{
    for (int i = 0; i < SIZES; i++) {
        for (int k = 0; k < count; k++) {
            const struct drawn *d = &f->drawn[k];
            if (!d->values) {
                uint64_t span = (uint64_t)(d->high - d->low + 1);
                snprintf(f->text[k], sizeof f->text[k], "%d",
                         d->low + (int)rng_below(&f->rng, span));
            }
        }
        preset_check(f->preset, f->set, count, POINTS, &f->rng);
    }
}

// All values of all choices, each with random sizes.
static void check_from(struct family *f, int k)
{
    const struct drawn *d = &f->drawn[k];
    if (!d->name) {
        check_sizes(f, k);
        return;
    }
    f->set[k] = (struct setting){d->name, f->text[k]};
    for (int v = 0; d->values && d->values[v]; v++) {
        if (strcmp(d->values[v], "f16") == 0 && !preset_device_has_f16())
            continue;
        snprintf(f->text[k], sizeof f->text[k], "%s", d->values[v]);
        check_from(f, k + 1);
    }
    if (!d->values)
        check_from(f, k + 1);
}

static void check(const char *preset, const struct drawn *drawn, uint64_t seed)
{
    struct family f = {.preset = preset, .drawn = drawn};
    rng_seed(&f.rng, seed);
    check_from(&f, 0);
}

static void elementwise(void **state)
{
    (void)state;
    static const char *const functions[] = {"relu", "leaky", "clamp", "sigmoid",
                                            "tanh", "add",   "mul",   NULL};
    static const struct drawn drawn[] = {
        {"apply", .values = functions}, {"type", .values = types}, {"count", 1, 5000}, {NULL}};
    check("elementwise", drawn, 1);
}

static void copy(void **state)
{
    (void)state;
    static const char *const transpose[] = {"no", "yes", NULL};
    static const struct drawn drawn[] = {{"transpose", .values = transpose},
                                         {"type", .values = types},
                                         {"rows", 1, 90},
                                         {"columns", 1, 90},
                                         {NULL}};
    check("copy", drawn, 2);
}

#define IMAGES                                                                                     \
    {"layout", .values = layouts}, {"type", .values = types}, {"batch", 1, 3},                     \
        {"channels", 1, 12}, {"height", 7, 20},                                                    \
    {                                                                                              \
        "width", 7, 20                                                                             \
    }

static void max_pool(void **state)
{
    (void)state;
    static const struct drawn drawn[] = {
        IMAGES, {"window", 2, 5}, {"stride", 1, 4}, {"padding", 0, 1}, {NULL}};
    check("maxpool", drawn, 3);
}

static void average_pool(void **state)
{
    (void)state;
    static const char *const divisors[] = {"inside", "window", NULL};
    static const struct drawn drawn[] = {IMAGES,
                                         {"divisor", .values = divisors},
                                         {"window", 2, 5},
                                         {"stride", 1, 4},
                                         {"padding", 0, 1},
                                         {NULL}};
    check("avgpool", drawn, 4);
}

static void response_normalisation(void **state)
{
    (void)state;
    static const struct drawn drawn[] = {IMAGES, {"window", 1, 7}, {NULL}};
    check("lrn", drawn, 5);
}

static void softmax(void **state)
{
    (void)state;
    static const struct drawn drawn[] = {
        {"type", .values = types}, {"rows", 1, 60}, {"columns", 1, 300}, {NULL}};
    check("softmax", drawn, 6);
    check("softmax", drawn, 7);
}

int main(void)
{
    if (!preset_open_device()) {
        puts("skipped: no Vulkan device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise), cmocka_unit_test(copy),
        cmocka_unit_test(max_pool),    cmocka_unit_test(average_pool),
        cmocka_unit_test(softmax),     cmocka_unit_test(response_normalisation),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    preset_close_device();
    return failed;
}
