// Operators that a space file defines: what their steps compute, and how they reach a worker.
#include "group.h"
#include "wording.h"

#include "base/mem.h"
#include "base/str.h"
#include "space/custom_operation.h"
#include "trial/message.h"
#include "trial/operator.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { N = 3, M = 4, K = 5 };

static struct operation product(int64_t n, int64_t m, int64_t k)
{
    struct operation o;
    operation_init(&o, operation_kind_find("matmul"));
    operation_set_size(&o, "N", n, NULL);
    operation_set_size(&o, "M", m, NULL);
    operation_set_size(&o, "K", k, NULL);
    assert_true(operation_complete(&o, NULL));
    return o;
}

// Y[N,N] = (A[N,K] B[K,M]) C[M,N]
static struct custom_operation *chain(void)
{
    static const struct tensor tensors[] = {{.name = "A", .rank = 2, .size = {N, K}},
                                            {.name = "B", .rank = 2, .size = {K, M}},
                                            {.name = "C", .rank = 2, .size = {M, N}},
                                            {.name = "Y", .rank = 2, .size = {N, N}}};
    struct custom_operation *c = custom_create("chain", 1, NULL);
    struct operation first = product(N, M, K), second = product(N, N, M);
    for (int i = 0; i < 4; i++)
        assert_true(custom_add_tensor(c, &tensors[i], &(struct custom_filling){-2, i + 1}, NULL));
    assert_true(custom_add_step(c, &first, (const char *const[]){"A", "B", "S"}, 3, NULL));
    assert_false(custom_is_computed(c, NULL));
    assert_true(custom_add_step(c, &second, (const char *const[]){"S", "C", "Y"}, 3, NULL));
    assert_true(custom_is_computed(c, NULL));
    c->absolute = 1e-5;
    return c;
}

struct data {
    float a[N][K], b[K][M], c[M][N], y[N][N];
};

static void compute(const struct operation *o, struct data *d)
{
    const void *inputs[] = {d->a, d->b, d->c};
    operator_fill(o, INPUT_RANDOM, 7, 0, d->a);
    operator_fill(o, INPUT_RANDOM, 7, 1, d->b);
    operator_fill(o, INPUT_RANDOM, 7, 2, d->c);
    operator_reference(o, inputs, d->y);
}

static void steps_are_computed_in_order(void **state)
{
    (void)state;
    struct custom_operation *c = chain();
    struct operation o;
    struct data d;
    char reason[200];
    operation_init(&o, &c->kind);
    assert_ptr_equal(custom_of(&o), c);
    assert_int_equal(operator_layout(&o).count, 4); // what lies between the steps is no buffer
    compute(&o, &d);
    float right[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int m = 0; m < M; m++)
                for (int k = 0; k < K; k++)
                    sum += (double)d.a[i][k] * (double)d.b[k][m] * (double)d.c[m][j];
            right[i][j] = (float)sum;
        }
    if (!operator_compare(&o, INPUT_RANDOM, d.y, right, reason, sizeof reason).right)
        fail_msg("%s", reason);
    right[1][2] += 1e-3f;
    assert_false(operator_compare(&o, INPUT_RANDOM, right, d.y, reason, sizeof reason).right);
    assert_true(str_starts(reason, "Y[1,2] = "));
    custom_destroy(c);
}

static void fills_are_what_was_asked_for(void **state)
{
    (void)state;
    struct custom_operation *c = chain();
    struct operation o;
    struct data d;
    bool is_low = false, is_high = false;
    operation_init(&o, &c->kind);
    for (uint64_t seed = 0; seed < 20; seed++) {
        operator_fill(&o, INPUT_EXACT, seed, 1, d.b); // -2 .. 2
        for (int i = 0; i < K * M; i++) {
            float x = d.b[i / M][i % M];
            assert_true(x >= -2 && x <= 2);
            is_low |= x < -1.5f;
            is_high |= x > 1.5f;
        }
    }
    assert_true(is_low && is_high);
    custom_destroy(c);
}

static char *hello_text(const struct operation *o, const struct job *reference)
{
    struct hello h = {.operation = *o, .limits = limits_vulkan_minimum, .reference = *reference};
    return message_hello(&h);
}

static void a_worker_computes_the_same(void **state)
{
    (void)state;
    struct custom_operation *c = chain();
    struct operation o;
    struct message m;
    struct data ours, theirs;
    operation_init(&o, &c->kind);
    char *text = hello_text(&o, &(struct job){0});
    compute(&o, &ours);
    custom_destroy(c);
    assert_true(message_parse(text, &m, NULL));
    const struct custom_operation *read = custom_of(&m.hello.operation);
    assert_non_null(read);
    assert_ptr_equal(read, m.hello.custom);
    assert_string_equal(read->kind.name, "chain");
    assert_int_equal(read->step_count, 2);
    assert_true(read->absolute == 1e-5 && read->relative == 0);
    compute(&m.hello.operation, &theirs);
    assert_memory_equal(&ours, &theirs, sizeof ours);
    message_finish(&m);
    free(text);
}

// One that reads other buffers than there are is refused.
static void a_definition_travels(void **state)
{
    static const char *const definitions[] = {
        "tensor X f32 4\nstage Y f32 map 4:i = a0 read0 a0 read0 *\n",
        "tensor X f32 5\nstage Y f32 map 4:i = a0 read0\n",
        "tensor X i8 4\nstage Y f32 map 4:i = a0 read0\n",
        "tensor X f32 4\nstage Y f32 map 5:i = a0 n4 % read0\n",
        "tensor X f32 4\ntensor Z f32 4\nstage Y f32 map 4:i = a0 read0 a0 read1 +\n",
        "tensor X f32 4\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        struct custom_operation *c = custom_create("d", 1, NULL);
        const struct tensor t[] = {{.name = "X", .rank = 1, .size = {4}},
                                   {.name = "Y", .rank = 1, .size = {4}}};
        struct operation o;
        struct message m;
        for (int k = 0; k < 2; k++)
            assert_true(custom_add_tensor(c, &t[k], &(struct custom_filling){-1, 1}, NULL));
        c->definition = definitions[i];
        operation_init(&o, &c->kind);
        char *text = hello_text(&o, &(struct job){0});
        bool is_read = message_parse(text, &m, NULL);
        assert_int_equal(is_read, i == 0);
        if (is_read) {
            float x[4] = {1, -2, 3, 0.5F}, y[4];
            operator_reference(&m.hello.operation, (const void *[]){x}, y);
            assert_true(y[0] == 1 && y[1] == 4 && y[2] == 9 && y[3] == 0.25F);
            message_finish(&m);
        }
        free(text);
        custom_destroy(c);
    }
}

static void a_kernel_travels_with_the_operation(void **state)
{
    (void)state;
    int lines[] = {1, 3};
    char glsl[] = "a\nb\n", name[] = "t.comp";
    struct job job = {.pass_count = 1,
                      .pass = &(struct pass){.glsl = glsl,
                                             .template_name = name,
                                             .line_map = lines,
                                             .line_count = 2,
                                             .groups = {4, 5, 6}}};
    struct custom_operation *c = custom_create("one", 1, NULL);
    struct tensor y = {.name = "Y", .element = ELEMENT_F16, .rank = 1, .size = {9}};
    struct operation o;
    struct message m;
    assert_true(custom_add_tensor(c, &y, &(struct custom_filling){.low = 0}, NULL));
    operation_init(&o, &c->kind);
    char *text = hello_text(&o, &job);
    assert_true(message_parse(text, &m, NULL));
    const struct pass *pass = &m.hello.reference.pass[0];
    assert_int_equal(m.hello.reference.pass_count, 1);
    assert_string_equal(pass->glsl, "a\nb\n");
    assert_string_equal(pass->template_name, "t.comp");
    assert_int_equal(pass->line_map[1], 3);
    assert_int_equal(pass->groups[2], 6);
    assert_int_equal(m.hello.custom->buffer[0].element, ELEMENT_F16);
    message_finish(&m);
    free(text);
    custom_destroy(c);
}

// --- blocks ---

enum { ROWS = 3, COLUMNS = 512 };

// Y[ROWS] = A[ROWS,COLUMNS] X[COLUMNS], A in blocks.
static struct custom_operation *matrix_vector(const char *format)
{
    const struct tensor a = {.name = "A", .rank = 2, .size = {ROWS, COLUMNS}};
    const struct tensor x = {.name = "X", .rank = 1, .size = {COLUMNS}};
    const struct tensor y = {.name = "Y", .rank = 1, .size = {ROWS}};
    struct custom_operation *c = custom_create("vector", 1, NULL);
    struct operation o = product(ROWS, 1, COLUMNS);
    struct custom_filling blocks = {-1, 1, .block = *block_format_named(format)};
    assert_true(custom_add_tensor(c, &a, &blocks, NULL));
    assert_true(custom_add_tensor(c, &x, &(struct custom_filling){-4, 4, .whole = true}, NULL));
    assert_true(custom_add_tensor(c, &y, &(struct custom_filling){.low = 0}, NULL));
    assert_true(custom_add_dequantize(c, "A", "W", NULL));
    assert_true(custom_add_step(c, &o, (const char *const[]){"W", "X", "Y"}, 3, NULL));
    c->absolute = 1e30;
    c->nmse = 1e-4;
    c->exact = true;
    return c;
}

struct vector_data {
    unsigned char a[ROWS * COLUMNS]; // or less
    float x[COLUMNS], y[ROWS];
};

static void compute_vector(const struct operation *o, enum input_set set, struct vector_data *d)
{
    const void *inputs[] = {d->a, d->x};
    memset(d, 0, sizeof *d);
    operator_fill(o, set, 7, 0, d->a);
    operator_fill(o, set, 7, 1, d->x);
    operator_reference(o, inputs, d->y);
}

static void sum_by_hand(const struct custom_operation *c, const struct vector_data *d, float *y)
{
    const struct block_format *f = &c->filling[0].block;
    double w[BLOCK_MAX_WEIGHTS];
    for (int row = 0, block = 0; row < ROWS; row++) {
        y[row] = 0;
        for (int i = 0; i < COLUMNS; i++) {
            if (i % f->weights == 0)
                block_get(f, d->a + block++ * block_bytes(f), w);
            y[row] += (float)w[i % f->weights] * d->x[i]; // in any order, where it is exact
        }
    }
}

static void blocks_are_weights(void **state)
{
    static const char *const formats[] = {"q4_0", "q8_0", "q4_K", "q6_K"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct custom_operation *c = matrix_vector(formats[k]);
        struct operation o;
        struct message m;
        struct vector_data d, theirs;
        char reason[200];
        float y[ROWS];
        operation_init(&o, &c->kind);
        compute_vector(&o, INPUT_EXACT, &d);
        for (int i = 0; i < COLUMNS; i++)
            assert_true(d.x[i] == (int)d.x[i] && d.x[i] >= -4 && d.x[i] <= 4);
        sum_by_hand(c, &d, y);
        assert_true(operator_compare(&o, INPUT_EXACT, y, d.y, reason, sizeof reason).right);
        y[1] = y[1] * 1.0001f + 0.01f;
        assert_false(operator_compare(&o, INPUT_EXACT, y, d.y, reason, sizeof reason).right);
        compute_vector(&o, INPUT_RANDOM, &d);
        char *text = hello_text(&o, &(struct job){0});
        assert_true(message_parse(text, &m, NULL));
        compute_vector(&m.hello.operation, INPUT_RANDOM, &theirs);
        assert_memory_equal(&d, &theirs, sizeof d);
        message_finish(&m);
        free(text);
        custom_destroy(c);
    }
}

static void errors_are_judged_together(void **state)
{
    (void)state;
    struct custom_operation *c = matrix_vector("q8_0");
    struct operation o;
    char reason[200];
    const float right[ROWS] = {100, 1, 0}, near[ROWS] = {100.9f, 1, 0.1f}, far[ROWS] = {99, 2, 0},
                nothing[ROWS] = {100, NAN, 0};
    operation_init(&o, &c->kind);
    struct operator_verdict v =
        operator_compare(&o, INPUT_RANDOM, near, right, reason, sizeof reason);
    assert_true(v.right && v.worst > 0.5 && v.worst < 1 && !*reason);
    assert_false(operator_compare(&o, INPUT_RANDOM, far, right, reason, sizeof reason).right);
    wording_is("trial", "custom: another value", reason);
    assert_false(operator_compare(&o, INPUT_RANDOM, nothing, right, reason, sizeof reason).right);
    assert_true(str_starts(reason, "Y[1] = nan,"));
    custom_destroy(c);
}

static void blocks_fill_rows(void **state)
{
    (void)state;
    const struct tensor a = {.name = "A", .rank = 2, .size = {2, 100}};
    struct custom_filling blocks = {-1, 1, .block = *block_format_named("q4_0")};
    struct custom_operation *c = custom_create("vector", 1, NULL);
    struct err e;
    assert_false(custom_add_tensor(c, &a, &blocks, &e));
    wording_is("trial", "custom: blocks", e.text);
    custom_destroy(c);
}

// Replaces the first `from` in a hello; whether it is still taken.
static bool is_taken(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    struct message m;
    assert_non_null(at);
    char *changed = mem_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    bool taken = message_parse(changed, &m, NULL);
    if (taken)
        message_finish(&m);
    free(changed);
    return taken;
}

static void implausible_operations_are_refused(void **state)
{
    (void)state;
    static const char *const changes[][2] = {
        {"\"element\":\"f32\"", "\"element\":\"f23\""},
        {"\"name\":\"B\"", "\"name\":\"A\""},
        {"\"size\":[3,5]", "\"size\":[3,6]"},
        {"\"size\":[3,5]", "\"size\":[]"},
        {"\"size\":[3,5]", "\"size\":[1,1,1,1,1]"},
        {"[\"A\",\"B\",\"S\"]", "[\"A\",\"B\"]"},
        {"[\"S\",\"C\",\"Y\"]", "[\"Q\",\"C\",\"Y\"]"},
        {"[\"S\",\"C\",\"Y\"]", "[1]"},
        {"\"tolerance\":[1e-05,0,0,0]", "\"tolerance\":[-1,0,0,0]"},
        {"\"matmul\"", "\"mull\""},
        {"\"custom\":{", "\"custom\":[],\"x\":{"},
        {"\"reference\":{", "\"x\":{"},
    };
    struct custom_operation *c = chain();
    struct operation o;
    operation_init(&o, &c->kind);
    char *text = hello_text(&o, &(struct job){0});
    assert_true(is_taken(text, "chain", "chains"));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (is_taken(text, changes[i][0], changes[i][1]))
            fail_msg("%s instead of %s is taken", changes[i][1], changes[i][0]);
    free(text);
    custom_destroy(c);
}

TEST_GROUP(custom)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_computed_in_order),
        cmocka_unit_test(fills_are_what_was_asked_for),
        cmocka_unit_test(a_worker_computes_the_same),
        cmocka_unit_test(a_definition_travels),
        cmocka_unit_test(a_kernel_travels_with_the_operation),
        cmocka_unit_test(blocks_are_weights),
        cmocka_unit_test(errors_are_judged_together),
        cmocka_unit_test(blocks_fill_rows),
        cmocka_unit_test(implausible_operations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
