#include "nests.h"

#include "spaces.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int number(struct nest *n, double constant)
{
    return formulas_constant(&n->formulas, constant);
}

static void add_loop(struct nest *n, const char *name, enum nest_loop_kind kind, int length)
{
    n->loop[n->loop_count++] =
        (struct nest_loop){.name = name, .kind = kind, .length = length, .place = -1};
}

static int add_buffer(struct nest *n, const char *name, enum nest_memory memory, int rows,
                      int columns)
{
    n->buffer[n->buffer_count] = (struct nest_buffer){
        .name = name,
        .memory = memory,
        .bytes = 4,
        .dim_count = 2,
        .dim = {number(n, rows), number(n, columns)},
        .copies = number(n, 1),
        .used = number(n, 1),
    };
    return n->buffer_count++;
}

static struct nest_statement *add_statement(struct nest *n, const char *name, int loops,
                                            const int *path, int accesses)
{
    int none = number(n, 0);
    int *loop = arena_zero(&n->arena, (size_t)loops, sizeof *loop);
    memcpy(loop, path, (size_t)loops * sizeof *loop);
    struct nest_statement *s = &n->statement[n->statement_count++];
    *s = (struct nest_statement){
        .name = name,
        .loop = loop,
        .loop_count = loops,
        .when = number(n, 1),
        .add = none,
        .multiply = none,
        .divide = none,
        .compare = none,
        .special = none,
        .integer = none,
        .access = arena_zero(&n->arena, (size_t)accesses, sizeof *s->access),
        .access_count = accesses,
    };
    return s;
}

static struct nest_access *access_of(const struct nest_statement *s, int index)
{
    union {
        const struct nest_access *in;
        struct nest_access *out;
    } view = {.in = s->access};
    return view.out + index;
}

static void add_term(struct nest *n, struct nest_access *a, int dim, int loop, int coefficient)
{
    enum { MOST = 8 };
    struct nest_term *term = arena_zero(&n->arena, MOST, sizeof *term);
    int count = a->dim[dim].count;
    assert(count < MOST);
    for (int i = 0; i < count; i++)
        term[i] = a->dim[dim].term[i];
    term[count] = (struct nest_term){loop, number(n, coefficient)};
    a->dim[dim].term = term;
    a->dim[dim].count++;
}

struct terms {
    int dim, loop, coefficient;
};

static void set_access(struct nest *n, struct nest_statement *s, int index, int buffer, bool read,
                       bool write, int count, const struct terms *t)
{
    struct nest_access *a = access_of(s, index);
    *a = (struct nest_access){.buffer = buffer, .read = read, .write = write};
    for (int i = 0; i < count; i++)
        add_term(n, a, t[i].dim, t[i].loop, t[i].coefficient);
}

static void add_product_statements(struct nest *n)
{
    int a = add_buffer(n, "A", NEST_GLOBAL, 8, 4), b = add_buffer(n, "B", NEST_GLOBAL, 4, 16);
    int c = add_buffer(n, "C", NEST_GLOBAL, 8, 16),
        tile = add_buffer(n, "B_tile", NEST_SHARED, 2, 8);
    int sum = add_buffer(n, "sum", NEST_REGISTERS, 2, 2);

    struct nest_statement *s =
        add_statement(n, "fill", 6, (int[]){BLOCK_Y, BLOCK_X, THREAD_Y, THREAD_X, TILE, ROUND}, 2);
    set_access(n, s, 0, tile, false, true, 3,
               (struct terms[]){{0, ROUND, 1}, {1, THREAD_Y, 4}, {1, THREAD_X, 1}});
    set_access(
        n, s, 1, b, true, false, 5,
        (struct terms[]){
            {0, TILE, 2}, {0, ROUND, 1}, {1, BLOCK_X, 8}, {1, THREAD_Y, 4}, {1, THREAD_X, 1}});

    s = add_statement(n, "product", 8, (int[]){BLOCK_Y, BLOCK_X, THREAD_Y, THREAD_X, TILE, K, I, J},
                      3);
    s->add = s->multiply = number(n, 1);
    set_access(n, s, 0, sum, true, true, 2, (struct terms[]){{0, I, 1}, {1, J, 1}});
    set_access(
        n, s, 1, a, true, false, 5,
        (struct terms[]){{0, BLOCK_Y, 4}, {0, THREAD_Y, 2}, {0, I, 1}, {1, TILE, 2}, {1, K, 1}});
    set_access(n, s, 2, tile, true, false, 3,
               (struct terms[]){{0, K, 1}, {1, THREAD_X, 2}, {1, J, 1}});

    s = add_statement(n, "store", 6, (int[]){BLOCK_Y, BLOCK_X, THREAD_Y, THREAD_X, I, J}, 2);
    set_access(n, s, 0, c, false, true, 6,
               (struct terms[]){{0, BLOCK_Y, 4},
                                {0, THREAD_Y, 2},
                                {0, I, 1},
                                {1, BLOCK_X, 8},
                                {1, THREAD_X, 2},
                                {1, J, 1}});
    set_access(n, s, 1, sum, true, false, 2, (struct terms[]){{0, I, 1}, {1, J, 1}});
}

struct space *space_with_product(struct config *c)
{
    struct space *s = space_create("product");
    add_factorization(s, "rows", 8, 3); // blocks, threads, registers
    add_factorization(s, "columns", 16, 3);
    add_factorization(s, "depth", 4, 2);
    add_discrete(s, "unroll", 3);
    *c = (struct config){{2, 2, 2, 2, 4, 2, 2, 2, 2}};

    struct nest *n = nest_create();
    int slot[8];
    for (int i = 0; i < 8; i++)
        slot[i] = formulas_slot(&n->formulas, i);
    add_loop(n, "block_y", NEST_BLOCK_Y, slot[0]);
    add_loop(n, "block_x", NEST_BLOCK_X, slot[3]);
    add_loop(n, "thread_y", NEST_THREAD_Y, slot[1]);
    add_loop(n, "thread_x", NEST_THREAD_X, slot[4]);
    add_loop(n, "tile", NEST_SERIAL, slot[6]);
    add_loop(n, "round", NEST_SERIAL, number(n, 2));
    add_loop(n, "k", NEST_SERIAL, slot[7]);
    add_loop(n, "i", NEST_UNROLLED, slot[2]);
    add_loop(n, "j", NEST_UNROLLED, slot[5]);
    n->unroll = formulas_number(&n->formulas, 3);
    add_product_statements(n);
    nest_seal(n);
    s->nest = n;
    return sealed(s);
}

struct space *space_with_chain(struct config *c)
{
    struct space *s = space_create("chain");
    add_discrete(s, "step", 2);
    *c = (struct config){0};
    struct nest *n = nest_create();
    add_loop(n, "i", NEST_SERIAL, number(n, 4));
    add_loop(n, "j", NEST_VECTORIZED, number(n, 3));
    int x = add_buffer(n, "X", NEST_GLOBAL, 4, 3), y = add_buffer(n, "Y", NEST_GLOBAL, 1, 3);
    int z = add_buffer(n, "Z", NEST_GLOBAL, 1, 4);
    struct nest_statement *one = add_statement(n, "one", 2, (int[]){0, 1}, 2);
    set_access(n, one, 0, x, false, true, 2, (struct terms[]){{0, 0, 1}, {1, 1, 1}});
    set_access(n, one, 1, y, true, false, 1, (struct terms[]){{1, 1, 1}});
    struct nest_statement *two = add_statement(n, "two", 1, (int[]){0}, 2);
    set_access(n, two, 0, z, false, true, 1, (struct terms[]){{1, 0, 1}});
    set_access(n, two, 1, x, true, false, 1, (struct terms[]){{0, 0, 1}});
    nest_seal(n);
    s->nest = n;
    return sealed(s);
}

// Gives each loop to one of three dimensions or to none, in a random order, as digits of a mixed
// radix.
static void add_random_access(struct nest *n, struct rng *r, struct nest_statement *s, int index)
{
    enum { DIMS = 3 };
    int extent[DIMS] = {1, 1, 1}, order[6], loops = s->loop_count;
    struct nest_access *a = access_of(s, index);
    for (int i = 0; i < loops; i++) {
        int j = (int)rng_below(r, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = s->loop[i];
    }
    for (int i = 0; i < loops; i++) {
        int dim = (int)rng_below(r, DIMS + 1);
        if (dim == DIMS)
            continue;
        add_term(n, a, dim, order[i], extent[dim]);
        extent[dim] *= (int)n->formulas.node[n->loop[order[i]].length].constant;
    }
    a->buffer = add_buffer(n, "buffer", (enum nest_memory)rng_below(r, 3), 1, 1);
    n->buffer[a->buffer].dim_count = DIMS;
    for (int i = 0; i < DIMS; i++) // some with a gap
        n->buffer[a->buffer].dim[i] = number(n, extent[i] + (double)rng_below(r, 2));
    a->write = index == 0;
    a->read = index > 0 || rng_below(r, 2);
}

struct space *space_with_random_nest(struct rng *r, struct config *c)
{
    static const enum nest_loop_kind inner[] = {NEST_UNROLLED, NEST_VECTORIZED, NEST_PARALLEL,
                                                NEST_SERIAL, NEST_VIRTUAL};
    struct space *s = space_create("random");
    add_categorical(s, "way", 3);
    sealed(s);
    space_sample(s, r, c);

    struct nest *n = nest_create();
    int loops = 2 + (int)rng_below(r, 5), launched = 1 + (int)rng_below(r, (uint64_t)loops);
    for (int i = 0; i < loops; i++) {
        enum nest_loop_kind outer = i < launched / 2 ? NEST_BLOCK_X : NEST_THREAD_X;
        add_loop(n, "loop", i < launched ? outer : inner[rng_below(r, 5)],
                 number(n, 1 + (double)rng_below(r, 4)));
    }
    for (int i = 1 + (int)rng_below(r, 3); i > 0; i--) {
        int path[6], count = 0, accesses = 1 + (int)rng_below(r, 3);
        for (int j = 0; j < loops; j++)
            if (j < launched || rng_below(r, 3))
                path[count++] = j;
        struct nest_statement *t = add_statement(n, "statement", count, path, accesses);
        t->when = number(n, (double)(i == 1 || rng_below(r, 4)));
        t->add = number(n, (double)rng_below(r, 3));
        t->divide = number(n, (double)rng_below(r, 2));
        for (int j = 0; j < accesses; j++)
            add_random_access(n, r, t, j);
    }
    nest_seal(n);
    s->nest = n;
    return s;
}

void space_and_nest_destroy(struct space *s)
{
    union {
        const struct nest *in;
        struct nest *out;
    } view = {.in = s->nest};
    space_destroy(s);
    nest_destroy(view.out);
}

long address_of(const struct nest_point *p, int statement, int access, const int *at)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const struct nest_access *a = &s->access[access];
    const struct nest_buffer *b = &p->nest->buffer[a->buffer];
    const int *path = nest_path(p, statement);
    long address = 0;
    for (int d = 0; d < b->dim_count; d++) {
        long index = 0;
        for (int t = 0; t < a->dim[d].count; t++)
            for (int i = 0; i < s->loop_count; i++)
                if (path[i] == a->dim[d].term[t].loop)
                    index += at[i] * (long)p->value[a->dim[d].term[t].coefficient];
        address = address * (long)p->value[b->dim[d]] + index;
    }
    return address;
}

// Moves to the next iteration of the innermost `loops` loops; false behind the last.
static bool advance(const struct nest_point *p, int statement, int loops, int *at)
{
    int count = p->nest->statement[statement].loop_count;
    for (int i = count - 1; i >= count - loops; i--) {
        if (++at[i] < (int)p->length[nest_path(p, statement)[i]])
            return true;
        at[i] = 0;
    }
    return false;
}

enum { MOST_ADDRESSES = 1 << 16 };

struct run run_innermost(const struct nest_point *p, int statement, int access, int loops)
{
    int at[NEST_MAX_PATH] = {0};
    long *seen = mem_zero(MOST_ADDRESSES, sizeof *seen), run = 0; // iteration + 1 of each address
    struct run r = {0};
    do {
        long address = address_of(p, statement, access, at);
        assert(address >= 0 && address < MOST_ADDRESSES);
        r.iterations++;
        r.different += seen[address] == 0;
        long since = r.iterations - seen[address];
        if (seen[address] && (r.to_the_same == 0 || since < r.to_the_same))
            r.to_the_same = since;
        seen[address] = r.iterations;
    } while (advance(p, statement, loops, at));
    for (long i = 0; i < MOST_ADDRESSES; i++) {
        run = seen[i] ? run + 1 : 0;
        r.longest = run > r.longest ? run : r.longest;
    }
    free(seen);
    return r;
}

long different_in(const struct nest_point *p, int statement, int access, long iterations)
{
    int at[NEST_MAX_PATH] = {0}, loops = p->nest->statement[statement].loop_count;
    bool *seen = mem_zero(MOST_ADDRESSES, sizeof *seen);
    long different = 0;
    for (long i = 0; i < iterations; i++) {
        long address = address_of(p, statement, access, at);
        different += !seen[address];
        seen[address] = true;
        advance(p, statement, loops, at);
    }
    free(seen);
    return different;
}
