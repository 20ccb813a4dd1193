// All presets in all types, layouts and the like are right on the device here: a random operation
// and configuration of each, with the validation layer listening where it is installed.
// `tilewalk prove` is the same with many.
//
//     TILEWALK_PRESET=gemm TILEWALK_ROUNDS=20    20 of each type, layout and the like of one preset
//     TILEWALK_UNITS=khr                         only those on matrix units, or emulated ones
//     TILEWALK_SEED=2                            other kernels than without
//     TILEWALK_NAMED=1                           a line for each, before it runs
//     TILEWALK_SET='blocks=q4_K K=256'           only those with these settings
#include "engine/cell.h"
#include "engine/sample.h"
#include "gpu/vk.h"
#include "group.h"
#include "kernel/kernel.h"
#include "proof.h"

#include "base/mem.h"
#include "base/str.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STATEMENTS 150 // CPU drivers translate about a thousand a second

static struct gpu *gpu;
static const char *only; // preset: NULL, all
static int rounds = 1;
static uint64_t seed = 1;
static const char *units; // NULL: as it comes
static struct setting given[CELL_MAX_AXES];
static int given_count;

// False: it was left out, as it does not run on the matrix units that are asked for.
static bool check_cell(const struct cell *cell, const char *device_type, const struct limits *l,
                       struct rng *r)
{
    struct str set = {0};
    struct config c;
    struct err e;
    char message[1400];
    bool wrong;
    cell_add_text(cell, &set);
    struct script *s = cell_draw(cell, device_type, l, r, &set, &e);
    const char *why = s ? "" : err_format(&e, message, sizeof message);
    bool is_left_out = units && (s ? !strstr(str_text(&set), " units=")
                                   : strstr(why, "no matrix units") || strstr(why, "units has "));
    str_printf(&set, " on %s ", device_type);
    bool ok = !is_left_out && s && sample_draw(s, l, r, &c, &e);
    if (ok)
        config_add_json(script_space(s), &c, &set);
    if (ok && getenv("TILEWALK_NAMED"))
        print_message("%s\n", str_text(&set));
    if (!is_left_out && (!ok || !proof_run(gpu, s, &c, 1, &wrong, &e)))
        fail_msg("%s: %s", str_text(&set), err_format(&e, message, sizeof message));
    script_destroy(s);
    str_finish(&set);
    return !is_left_out;
}

// Adds a setting to a cell. False: the cell has another value for it.
static bool add_setting(struct cell *cell, const struct setting *s)
{
    for (int i = 0; i < cell->axes; i++)
        if (str_equal(cell->axis[i].name, s->name))
            return str_equal(cell->axis[i].value, s->value);
    assert_true(cell->axes < CELL_MAX_AXES);
    cell->axis[cell->axes++] = *s;
    return true;
}

// Products of `gemm` with A in blocks, which its cells do not have: K has to fit.
static int check_quantised(const struct limits *l, struct rng *r)
{
    static const char *const blocks[] = {"q4_0", "q8_0", "q4_K", "q6_K"};
    struct cell cell = {
        "gemm",
        5,
        {{"type", "f16"}, {"layout", "nn"}, {"batch", "1"}, {"K", "256"}, {"b", "q8_1"}}};
    int checked = 0;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && !only && !units && !given_count; i++) {
        struct cell of = cell;
        of.axis[of.axes++] = (struct setting){"blocks", blocks[i]};
        of.axis[1].value = i % 2 ? "nt" : "nn";
        checked += check_cell(&of, "cpu", l, r);
    }
    return checked;
}

// Reads TILEWALK_SET: settings with spaces between them.
static void read_settings(char *text)
{
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        assert_true(value && given_count < CELL_MAX_AXES);
        *value = '\0';
        given[given_count++] = (struct setting){word, value + 1};
    }
}

static void all_presets_are_right(void **state)
{
    struct limits l = gpu_get_info(gpu)->limits;
    struct cells all;
    struct rng r;
    struct err e;
    char message[1400];
    (void)state;
    l.statements = MOST_STATEMENTS;
    if (getenv("TILEWALK_ACCUMULATORS"))
        l.accumulators = strtoull(getenv("TILEWALK_ACCUMULATORS"), NULL, 10);
    rng_seed(&r, seed);
    if (!cells_list(&l, &all, &e))
        fail_msg("%s", err_format(&e, message, sizeof message));
    assert_true(all.count > 0);
    int checked = check_quantised(&l, &r);
    for (int i = 0; i < rounds * all.count; i++) {
        const struct cell *cell = &all.cell[i % all.count];
        const char *device_type = (i + i / all.count) % 2 ? "discrete" : "cpu";
        if (only && !str_equal(cell->preset, only))
            continue;
        struct cell on_units = *cell;
        bool is_left_out = false;
        if (units && on_units.axes < CELL_MAX_AXES)
            on_units.axis[on_units.axes++] = (struct setting){"units", units};
        for (int k = 0; k < given_count; k++)
            is_left_out |= !add_setting(&on_units, &given[k]);
        checked += is_left_out ? 0 : check_cell(&on_units, device_type, &l, &r);
    }
    if (only || units)
        print_message("%d random kernels%s%s%s%s, 0 wrong, %s\n", checked, only ? " of " : "",
                      only ? only : "", units ? ", units=" : "", units ? units : "",
                      proof_layer(gpu));
    assert_true(checked > 0);
    cells_finish(&all);
}

// That of a fault: "" when none is found.
static void prove_faulty(const char *fault, bool *wrong, char message[1400])
{
    const struct setting set = {"fault", fault};
    struct script_options o = {.path = TILEWALK_FAULTY, .set = &set, .set_count = 1};
    struct config c;
    struct rng r;
    struct err e;
    struct script *s = script_create(&o, &e);
    assert_non_null(s);
    rng_seed(&r, 1);
    space_sample(script_space(s), &r, &c);
    message[0] = '\0';
    if (!proof_run(gpu, s, &c, 1, wrong, &e))
        err_format(&e, message, 1400);
    script_destroy(s);
}

static void faults_are_found(void **state)
{
    static const struct {
        const char *fault, *said;
        bool wrong;
    } told[] = {
        {"none", "", false},
        {"value", "exact inputs: C[4,5] = ", true},
        {"unwritten", "exact inputs: C[7,7] = ", true},
        {"past", "writes past the end of the output", true},
        {"outside", "leaves an array (-2)", true},
        {"shared", "declares 0 shared bytes, has 256", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        char message[1400];
        bool wrong;
        prove_faulty(told[i].fault, &wrong, message);
        assert_int_equal(wrong, told[i].wrong);
        if (!str_starts(message, told[i].said) || !*told[i].said != !*message)
            fail_msg("%s: %s", told[i].fault, message);
    }
}

static void no_validation_messages(void **state)
{
    (void)state;
    assert_int_equal(gpu->messages, 0);
}

TEST_GROUP(kernels)
{
    only = getenv("TILEWALK_PRESET");
    units = getenv("TILEWALK_UNITS");
    if (getenv("TILEWALK_ROUNDS"))
        rounds = atoi(getenv("TILEWALK_ROUNDS"));
    if (getenv("TILEWALK_SEED"))
        seed = strtoull(getenv("TILEWALK_SEED"), NULL, 10);
    char *settings = getenv("TILEWALK_SET") ? mem_strdup(getenv("TILEWALK_SET")) : NULL;
    if (settings)
        read_settings(settings);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_found),
        cmocka_unit_test(all_presets_are_right),
        cmocka_unit_test(no_validation_messages),
    };
    int code;
    gpu = proof_open(&code);
    if (!gpu)
        return code;
    if (units && kernel_knows_matrix(MATRIX_KHR))
        gpu->adapter.info.limits.matrix = gpu->adapter.info.matrix_khr;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(gpu);
    free(settings);
    return failed;
}
