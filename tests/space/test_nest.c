// A small matrix product as a nest, by hand: C[32,24] = A[32,16] B[16,24], an invocation computing
// rows x columns elements in an order that a permutation gives, A through shared memory.
#include "group.h"
#include "space/nest.h"
#include "spaces.h"

#include <math.h>
#include <stddef.h>

enum { BLOCK_Y, BLOCK_X, THREAD_Y, THREAD_X, TILE, ROUND, I, J, K, LOOPS };
enum { A, B, C, TILE_A, SUM, BUFFERS };
enum { FILL, PRODUCT, STORE, STATEMENTS };

static struct space *product_space(void)
{
    struct space *s = space_create("product");
    add_factorization(s, "rows", 32, 3);    // slots 0-2: blocks, threads, registers
    add_factorization(s, "columns", 24, 3); // slots 3-5
    add_factorization(s, "depth", 16, 2);   // slots 6-7: tiles, elements of a tile
    add_permutation(s, "order", 3);         // slots 8-10
    add_categorical(s, "stage", 2);         // slot 11
    return sealed(s);
}

static void add_loop(struct nest *n, int loop, enum nest_loop_kind kind, int length, int place)
{
    assert_int_equal(n->loop_count, loop);
    n->loop[n->loop_count++] =
        (struct nest_loop){.name = "", .kind = kind, .length = length, .place = place};
}

static void add_buffer(struct nest *n, int buffer, enum nest_memory memory, int rows, int columns)
{
    int one = formulas_constant(&n->formulas, 1);
    assert_int_equal(n->buffer_count, buffer);
    n->buffer[n->buffer_count++] = (struct nest_buffer){.name = "",
                                                        .memory = memory,
                                                        .bytes = 4,
                                                        .dim_count = 2,
                                                        .dim = {rows, columns},
                                                        .copies = one,
                                                        .used = one};
}

static void set_dim(struct nest *n, struct nest_access *a, int dim, int count, const int *loops,
                    const int *coefficients)
{
    struct nest_term *term = arena_zero(&n->arena, (size_t)count, sizeof *term);
    for (int i = 0; i < count; i++)
        term[i] = (struct nest_term){loops[i], coefficients[i]};
    a->dim[dim].term = term;
    a->dim[dim].count = count;
}

static struct nest_statement *add_statement(struct nest *n, const int *loop, int loops,
                                            struct nest_access *access, int accesses)
{
    int zero = formulas_constant(&n->formulas, 0);
    struct nest_statement *s = &n->statement[n->statement_count++];
    *s = (struct nest_statement){.name = "",
                                 .loop = loop,
                                 .loop_count = loops,
                                 .when = formulas_constant(&n->formulas, 1),
                                 .add = zero,
                                 .multiply = zero,
                                 .divide = zero,
                                 .compare = zero,
                                 .special = zero,
                                 .integer = zero,
                                 .access = access,
                                 .access_count = accesses};
    return s;
}

static struct nest *product_nest(void)
{
    struct nest *n = nest_create();
    struct formulas *f = &n->formulas;
    int slot[12], place[3], one = formulas_constant(f, 1), pad = formulas_constant(f, 1);
    for (int i = 0; i < 12; i++)
        slot[i] = formulas_slot(f, i);
    for (int i = 0; i < 3; i++)
        place[i] = formulas_place(f, 3, i);
    int staged = slot[11];
    int rows = formulas_add(f, FORMULA_MULTIPLY, slot[1], slot[2], 0);
    int columns = formulas_add(f, FORMULA_MULTIPLY, slot[4], slot[5], 0);
    int threads = formulas_add(f, FORMULA_MULTIPLY, slot[1], slot[4], 0);
    int elements = formulas_add(f, FORMULA_MULTIPLY, rows, slot[7], 0);
    add_loop(n, BLOCK_Y, NEST_BLOCK_Y, slot[0], -1);
    add_loop(n, BLOCK_X, NEST_BLOCK_X, slot[3], -1);
    add_loop(n, THREAD_Y, NEST_THREAD_Y, slot[1], -1);
    add_loop(n, THREAD_X, NEST_THREAD_X, slot[4], -1);
    add_loop(n, TILE, NEST_SERIAL, slot[6], -1);
    add_loop(n, ROUND, NEST_SERIAL, formulas_add(f, FORMULA_CEIL_DIVIDE, elements, threads, 0), -1);
    add_loop(n, I, NEST_UNROLLED, slot[2], place[0]);
    add_loop(n, J, NEST_UNROLLED, slot[5], place[1]);
    add_loop(n, K, NEST_SERIAL, slot[7], place[2]);
    add_buffer(n, A, NEST_GLOBAL, formulas_constant(f, 32), formulas_constant(f, 16));
    add_buffer(n, B, NEST_GLOBAL, formulas_constant(f, 16), formulas_constant(f, 24));
    add_buffer(n, C, NEST_GLOBAL, formulas_constant(f, 32), formulas_constant(f, 24));
    add_buffer(n, TILE_A, NEST_SHARED, rows, formulas_add(f, FORMULA_ADD, slot[7], pad, 0));
    n->buffer[TILE_A].used = staged;
    n->buffer[TILE_A].copies = formulas_constant(f, 2);
    add_buffer(n, SUM, NEST_REGISTERS, slot[2], slot[5]);

    static const int fill_path[] = {BLOCK_Y, BLOCK_X, THREAD_Y, THREAD_X, TILE, ROUND};
    static const int path[] = {BLOCK_Y, BLOCK_X, THREAD_Y, THREAD_X, TILE, I, J, K};
    static const int store_path[] = {BLOCK_Y, BLOCK_X, THREAD_Y, THREAD_X, I, J};
    static struct nest_access fill[2], product[3], store[2];
    fill[0] = (struct nest_access){.buffer = TILE_A, .write = true};
    set_dim(n, &fill[0], 0, 1, (int[]){ROUND}, (int[]){one});
    fill[1] = (struct nest_access){.buffer = A, .read = true};
    product[0] = (struct nest_access){.buffer = SUM, .read = true, .write = true};
    set_dim(n, &product[0], 0, 1, (int[]){I}, (int[]){one});
    set_dim(n, &product[0], 1, 1, (int[]){J}, (int[]){one});
    product[1] = (struct nest_access){.buffer = TILE_A, .read = true};
    set_dim(n, &product[1], 0, 2, (int[]){THREAD_Y, I}, (int[]){slot[2], one});
    set_dim(n, &product[1], 1, 1, (int[]){K}, (int[]){one});
    product[2] = (struct nest_access){.buffer = B, .read = true};
    set_dim(n, &product[2], 0, 2, (int[]){TILE, K}, (int[]){slot[7], one});
    set_dim(n, &product[2], 1, 3, (int[]){BLOCK_X, THREAD_X, J}, (int[]){columns, slot[5], one});
    store[0] = (struct nest_access){.buffer = C, .write = true};
    set_dim(n, &store[0], 0, 3, (int[]){BLOCK_Y, THREAD_Y, I}, (int[]){rows, slot[2], one});
    set_dim(n, &store[0], 1, 3, (int[]){BLOCK_X, THREAD_X, J}, (int[]){columns, slot[5], one});
    store[1] = (struct nest_access){.buffer = SUM, .read = true};
    add_statement(n, fill_path, 6, fill, 2)->when = staged;
    struct nest_statement *s = add_statement(n, path, 8, product, 3);
    s->add = s->multiply = one;
    add_statement(n, store_path, 6, store, 2);
    nest_seal(n);
    return n;
}

// One point, by arithmetic on its slots.
static void check_point(const struct nest_point *p, const struct config *c)
{
    const int32_t *v = c->slot;
    bool staged = v[11];
    assert_true(p->present[PRODUCT] && p->present[STORE] && p->present[FILL] == staged);
    // The order of the inner loops is the permutation's; the others stay where they are.
    const int *path = nest_path(p, PRODUCT);
    for (int i = 0; i < 5; i++)
        assert_int_equal(path[i], i);
    for (int i = 0; i < 3; i++)
        assert_int_equal(path[5 + i], I + v[8 + i]);
    const double *stride = nest_strides(p, PRODUCT, 2); // of B, 24 columns
    for (int i = 0; i < 8; i++) {
        double expected = path[i] == TILE       ? 24 * v[7]
                          : path[i] == K        ? 24
                          : path[i] == BLOCK_X  ? v[4] * v[5]
                          : path[i] == THREAD_X ? v[5]
                          : path[i] == J        ? 1
                                                : 0;
        assert_true(stride[i] == expected);
    }
    assert_true(nest_executions(p, PRODUCT) == 16.0 * v[2] * v[5]);
    assert_true(nest_all_executions(p, STORE) == 32 * 24);
    assert_true(nest_flops(p) == 2 * 32 * 24 * 16);
    assert_true(nest_memory_bytes(p, NEST_SHARED) ==
                (staged ? 2 * 4.0 * v[1] * v[2] * (v[7] + 1) : 0));
    assert_true(nest_touched(p, PRODUCT, 2, 0) == 1);
    assert_true(nest_touched(p, PRODUCT, 2, 3) == v[5] * v[7]);
    assert_true(nest_touched(p, PRODUCT, 2, 8) == 24 * 16);
    assert_true(nest_touched(p, PRODUCT, 1, 8) == v[1] * v[2] * v[7]);
    // Iterations: of the tiles, in them of the rounds, and of k, once for what stands outside it.
    double rounds = ceil((double)v[1] * v[2] * v[7] / (v[1] * v[4]));
    double trips = v[6] > 1 ? v[6] : 0, around_k = v[6];
    if (staged && rounds > 1)
        trips += v[6] * rounds;
    for (int i = 0; v[8 + i] != 2; i++)
        around_k *= v[8 + i] == 0 ? v[2] : v[5];
    if (v[7] > 1)
        trips += around_k * v[7];
    assert_true(nest_trips(p) == trips);
}

static void test_product(void **state)
{
    (void)state;
    struct space *s = product_space();
    struct nest *n = product_nest();
    struct nest_point p;
    nest_point_init(&p, n);
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        space_point(s, i, &c);
        nest_evaluate(n, s, &c, &p);
        check_point(&p, &c);
    }
    nest_point_finish(&p);
    nest_destroy(n);
    space_destroy(s);
}

// The elements that a few loops touch, compared with marking each: strides with gaps, a window that
// overlaps, an index that no loop moves.
static void test_touched(void **state)
{
    (void)state;
    static const struct {
        int length[2], coefficient[2], dim;
        double touched;
    } cases[] = {
        {{4, 3}, {3, 1}, 12, 12}, // side by side
        {{4, 3}, {1, 1}, 6, 6},   // a window
        {{4, 3}, {8, 1}, 64, 12}, // gaps count for nothing
        {{4, 3}, {0, 5}, 64, 3},  // one that does not count
        {{4, 3}, {1, 1}, 5, 5},   // never more than there is
    };
    struct space *s = space_of_one();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nest *n = nest_create();
        struct formulas *f = &n->formulas;
        int one = formulas_constant(f, 1);
        for (int l = 0; l < 2; l++)
            add_loop(n, l, NEST_SERIAL, formulas_constant(f, cases[i].length[l]), -1);
        add_buffer(n, 0, NEST_GLOBAL, one, formulas_constant(f, cases[i].dim));
        struct nest_access access = {.buffer = 0, .write = true};
        set_dim(n, &access, 1, 2, (int[]){0, 1},
                (int[]){formulas_constant(f, cases[i].coefficient[0]),
                        formulas_constant(f, cases[i].coefficient[1])});
        add_statement(n, (const int[]){0, 1}, 2, &access, 1);
        nest_seal(n);
        struct nest_point p;
        nest_point_init(&p, n);
        nest_evaluate(n, s, &(struct config){0}, &p);
        assert_true(nest_touched(&p, 0, 0, 2) == cases[i].touched);
        nest_point_finish(&p);
        nest_destroy(n);
    }
    space_destroy(s);
}

TEST_GROUP(nest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
