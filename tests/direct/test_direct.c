// The direct convolution's schedule, read off the GLSL that it becomes: unrolling by TVM's rule,
// the products that are written out, and the trips of its loops.
#include "base/str.h"
#include "group.h"
#include "variant.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define POINTS     40
#define MAX_NESTED 16

static char *render(struct script *s, const struct config *c)
{
    struct job job;
    struct err e;
    char message[1400];
    if (!script_render(s, c, &job, &e))
        fail_msg("%s", err_format(&e, message, sizeof message));
    char *glsl = job.pass[0].glsl;
    job.pass[0].glsl = NULL;
    job_finish(&job);
    return glsl;
}

static int occurrences(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

// The value of a discrete or categorical parameter, part i of a factorization.
static int value_of(const struct space *s, const struct config *c, const char *name, int i)
{
    const struct param *p = space_find(s, name);
    assert_non_null(p);
    int32_t slot = c->slot[p->offset + i];
    return p->kind == PARAM_DISCRETE ? (int)p->number[slot] : slot;
}

// Statements an innermost body: one for each register, those of a vector counted one by one.
static int registers(const struct space *s, const struct config *c)
{
    int count = 1;
    static const char *const axes[] = {"tile_f", "tile_y", "tile_x"};
    for (size_t i = 0; i < COUNT(axes); i++)
        count *= value_of(s, c, axes[i], 1) * value_of(s, c, axes[i], 3);
    return count;
}

static int sum_vector(const struct space *s, const struct config *c)
{
    int filters = value_of(s, c, "tile_f", 3);
    return filters % 4 == 0 ? 4 : filters % 2 == 0 ? 2 : 1;
}

static void check_unrolling(struct script *s, const struct config *c)
{
    static const char *const inner_to_outer[] = {"tile_rx", "tile_ry", "tile_rc"};
    const struct space *space = script_space(s);
    int limit = value_of(space, c, "unroll", 0), loops = 0, copies = 1;
    bool only_unrolled = true;
    for (size_t i = 0; i < COUNT(inner_to_outer); i++) {
        int length = value_of(space, c, inner_to_outer[i], 1);
        only_unrolled &= length == 1 || copies * length * registers(space, c) <= limit;
        if (!only_unrolled || length == 1)
            continue;
        loops++;
        copies *= length;
    }
    bool hint = value_of(space, c, "explicit", 0) == 0;
    char *glsl = render(s, c);
    assert_int_equal(occurrences(glsl, "[[unroll]]"), hint ? loops : 0);
    assert_int_equal(occurrences(glsl, " += w_"),
                     registers(space, c) / sum_vector(space, c) * (hint ? 1 : copies));
    free(glsl);
}

static void unrolling_is_tvms(void **state)
{
    (void)state;
    struct script *s = variant_load("conv", "cpu", &variant_cpu, "in_channels=6 kernel_w=4");
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < POINTS; i++) {
        struct config c;
        struct resources needs;
        assert_true(variant_sample(s, &variant_cpu, &r, &c, &needs));
        check_unrolling(s, &c);
    }
    script_destroy(s);
}

// Iterations of the loop that a line opens, 0 when it opens none.
static int iterations(const char *line, int length, int threads)
{
    char text[200], start[20];
    int end, step;
    snprintf(text, sizeof text, "%.*s", length, line);
    const char *loop = strstr(text, "for (uint ");
    if (!loop ||
        sscanf(loop, "for (uint %*s = %19[^;]; %*s < %d; %*s += %d)", start, &end, &step) != 3)
        return 0;
    assert_true(strcmp(start, "0") == 0 || (strcmp(start, "thread") == 0 && step == threads));
    return (end + step - 1) / step;
}

// As lavapipe counts them: a loop of n iterations takes n + 1 trips each time it is entered.
static uint64_t trips_in(const char *glsl, int threads)
{
    uint64_t trips = 0, entered[MAX_NESTED] = {1};
    int depth_of[MAX_NESTED] = {-1}, nested = 0, depth = 0;
    for (const char *line = glsl; *line;) {
        int length = (int)strcspn(line, "\n");
        uint64_t n = (uint64_t)iterations(line, length, threads);
        if (n > 0) {
            trips += entered[nested] * (n + 1);
            assert_true(++nested < MAX_NESTED);
            entered[nested] = entered[nested - 1] * n;
            depth_of[nested] = depth;
        }
        for (int i = 0; i < length; i++)
            depth += line[i] == '{' ? 1 : line[i] == '}' ? -1 : 0;
        while (depth_of[nested] >= depth)
            nested--;
        line += length + (line[length] == '\n');
    }
    return trips;
}

static void trips_are_those_of_the_loops(void **state)
{
    (void)state;
    static const char *const preset[] = {"conv", "conv-direct", "depthwise"};
    struct rng r;
    rng_seed(&r, 2);
    for (size_t n = 0; n < COUNT(preset); n++) {
        struct script *s = variant_load(preset[n], "cpu", &variant_cpu, "");
        for (int i = 0; i < POINTS; i++) {
            struct config c;
            struct resources needs;
            assert_true(variant_sample(s, &variant_cpu, &r, &c, &needs));
            char *glsl = render(s, &c);
            int threads = (int)(needs.group_size[0] * needs.group_size[1] * needs.group_size[2]);
            assert_int_equal(trips_in(glsl, threads), needs.loop_trips);
            free(glsl);
        }
        script_destroy(s);
    }
}

TEST_GROUP(direct)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unrolling_is_tvms),
        cmocka_unit_test(trips_are_those_of_the_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
