// Matrices that a device lists are its units unless its measured peaks say that they are emulated.
#include "group.h"
#include "run.h"

#include "engine/devices.h"

#include <stddef.h>

static void measured_peaks_judge_the_list(void **state)
{
    (void)state;
    static const struct {
        double matrix;
        bool kept;
    } told[] = {{0, true}, {15e12, false}, {60e12, true}};
    struct run r;
    struct err e;
    char id[33];
    run_init(&r);
    struct gpu_info made = {.index = 0, .is_cpu = true, .runs = true, .name = "made up"};
    const struct matrix_units units = {
        .api = MATRIX_KHR, .count = 1, .shape = {{.m = 16, .n = 16, .k = 16}}};
    gpu_identity(&made, id);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct roofline peak = {.rate = {[ROOFLINE_F32] = 20e12}};
        struct str figures = {0};
        peak.rate[ROOFLINE_F16_MATRIX] = told[i].matrix;
        roofline_add_json(&peak, &figures);
        const struct roof_record record = {id, made.name, "a driver", str_text(&figures), 1};
        run_must(store_put_roof(r.store, &record, &e), &e);
        made.limits.matrix = units;
        run_must(peak_judge_matrices(r.store, &made, true, &e), &e);
        assert_int_equal(made.limits.matrix.api, told[i].kept ? MATRIX_KHR : MATRIX_NONE);
        str_finish(&figures);
    }
    run_finish(&r);
}

TEST_GROUP(matrices)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(measured_peaks_judge_the_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
