// nest(function(c, d)): formulas compute what Lua computes, loops, buffers and statements become
// what was declared; and their errors.
#include "base/mem.h"
#include "errors.h"
#include "group.h"

#include <stddef.h>
#include <string.h>

#define PARAMS                                                                                     \
    "param.tile = factors(360, 3)\n"                                                               \
    "param.order = permutation { 'n', 'm', 'k' }\n"                                                \
    "param.width = discrete { 4, 1, 16 }\n"                                                        \
    "param.stage = categorical { 'none', 'shared', 'double' }\n"

static struct script *load(const char *lua)
{
    struct err e = {0};
    char message[1400];
    struct script *s =
        script_from((struct source[]){{"a.lua", lua}, {"t.comp", "x"}, {NULL, NULL}}, &e);
    if (!s)
        fail_msg("%s", err_format(&e, message, sizeof message));
    return s;
}

// `d` for numbers, and the values of a rule's `c` as a nest has them.
#define NUMBERS                                                                                    \
    "local function number(x) return x == true and 1 or x or 0 end\n"                              \
    "local function is(x, ...)\n"                                                                  \
    "  for _, y in ipairs { ... } do if x == y then return 1 end end return 0 end\n"               \
    "local numbers = {\n"                                                                          \
    "  min = math.min, max = math.max, is = is,\n"                                                 \
    "  ceil_div = function(a, b) return b == 0 and 0 or -(-a // b) end,\n"                         \
    "  divisor = function(a, b) for i = math.min(a, b), 2, -1 do\n"                                \
    "    if a // i * i == a then return i end end return 1 end,\n"                                 \
    "  equal = function(a, b) return a == b and 1 or 0 end,\n"                                     \
    "  less = function(a, b) return a < b and 1 or 0 end,\n"                                       \
    "  all = function(a, b) return a ~= 0 and b ~= 0 and 1 or 0 end,\n"                            \
    "  any = function(a, b) return (a ~= 0 or b ~= 0) and 1 or 0 end,\n"                           \
    "  none = function(a, b) return a == 0 and b == 0 and 1 or 0 end,\n"                           \
    "  choose = function(a, b, c) if a ~= 0 then return b end return c end,\n"                     \
    "  place = function(o, x) for i, y in ipairs(o) do if x == y then return i - 1 end end end,\n" \
    "}\n"

static const char *const expressions[] = {
    "c.tile[1] * c.tile[2] - 7",
    "2 - c.tile[3]",
    "9 - -c.tile[3] * c.width",
    "(-c.tile[1]) // c.width + 500",
    "(c.tile[1] + 5) // c.width",
    "100 % c.tile[2]",
    "(3 - c.tile[2]) % 7",
    "d.min(c.tile[1], c.tile[2], 3) + d.max(c.width, c.tile[3])",
    "d.ceil_div(c.tile[1], c.width)",
    "d.divisor(360, c.tile[1] + 3)",
    "d.divisor(c.tile[1] * c.tile[2], c.width)",
    "d.equal(c.tile[1], c.tile[2])",
    "d.choose(d.less(c.tile[1], c.width), c.tile[2], 17 * c.width)",
    "d.choose(d.all(d.less(c.tile[1], 4), d.less(c.tile[2], 20)), 1, 2)",
    "d.any(d.is(c.stage, 'none'), d.less(c.tile[1], 2))",
    "d.none(d.is(c.stage, 'shared', 'double'), d.equal(c.width, 4))",
    "d.place(c.order, 'm') * 10 + d.place(c.order, 'k')",
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

// Each expression twice: in the nest, and with numbers in an export.
static void test_formulas(void **state)
{
    (void)state;
    for (int i = 0; i < EXPRESSIONS; i++) {
        char *lua = mem_printf(
            OPERATOR KERNEL PARAMS NUMBERS
            "export('value', function(c) local d = numbers return '' .. %s end)\n"
            "nest(function(c, d) local l, x = d.loop { 'l', length = %s }, d.buffer { 'x', 9 }\n"
            "  d.statement { 's', loops = { l }, stores = x { l } } end)",
            expressions[i], expressions[i]);
        struct script *s = load(lua);
        const struct space *space = script_space(s);
        const struct nest *n = script_space(s)->nest;
        assert_ptr_equal(space->nest, n);
        struct nest_point p;
        struct rng r;
        nest_point_init(&p, n);
        rng_seed(&r, 3);
        for (int k = 0; k < 200; k++) {
            struct config c;
            struct str out = {0};
            struct err e;
            space_sample(space, &r, &c);
            nest_evaluate(n, space, &c, &p);
            assert_int_equal(script_export(s, &(struct form_use){"value", &c, NULL}, &out, &e),
                             FORM_MADE);
            if (p.value[n->loop[0].length] != strtod(str_text(&out), NULL))
                fail_msg("%s is %s, not %g", expressions[i], str_text(&out),
                         p.value[n->loop[0].length]);
            str_finish(&out);
        }
        nest_point_finish(&p);
        script_destroy(s);
        free(lua);
    }
}

static void test_structure(void **state)
{
    (void)state;
    struct script *s = load(
        OPERATOR KERNEL PARAMS
        "nest(function(c, d)\n"
        "  local y = d.loop { 'y', kind = 'block_y', length = c.tile[1] }\n"
        "  local k = d.loop { 'k', length = 5, place = d.place(c.order, 'k') }\n"
        "  local m = d.loop { 'm', kind = 'virtual', length = c.tile[2], place = "
        "d.place(c.order, 'm') }\n"
        "  local x = d.buffer { 'x', 8, c.width, memory = 'shared', type = 'f16', copies = 2, "
        "used = d.is(c.stage, 'double') }\n"
        "  local out = d.buffer { 'out', 400 }\n"
        "  d.unroll(c.width)\n"
        "  d.statement { 'load', loops = { y }, when = d.is(c.stage, 'double'), stores = x { 0, 0 "
        "} "
        "}\n"
        "  d.statement { 'sum', loops = { y, k, m }, add = 2, special = c.width, integer = 3,\n"
        "    updates = out { (2 * (y - m) + k) * c.tile[2] + m + 7 - k }, reads = { x { k, m } } "
        "}\n"
        "end)");
    const struct nest *n = script_space(s)->nest;
    assert_int_equal(n->loop_count, 3);
    assert_int_equal(n->loop[0].kind, NEST_BLOCK_Y);
    assert_int_equal(n->loop[1].kind, NEST_SERIAL);
    assert_int_equal(n->loop[2].kind, NEST_VIRTUAL);
    assert_true(n->loop[0].place == -1 && n->loop[1].place >= 0);
    assert_string_equal(n->loop[2].name, "m");
    assert_int_equal(n->buffer[0].memory, NEST_SHARED);
    assert_int_equal(n->buffer[0].bytes, 2);
    assert_int_equal(n->buffer[1].memory, NEST_GLOBAL);
    assert_int_equal(n->buffer[1].bytes, 4);
    assert_int_equal(n->statement[1].access_count, 2);
    const struct nest_access *a = n->statement[1].access;
    assert_true(a[0].read && a[0].write && a[1].read && !a[1].write);
    assert_true(n->statement[0].access[0].write && !n->statement[0].access[0].read);
    struct nest_point p;
    struct rng r;
    nest_point_init(&p, n);
    rng_seed(&r, 5);
    for (int i = 0; i < 100; i++) {
        struct config c;
        space_sample(script_space(s), &r, &c);
        nest_evaluate(n, script_space(s), &c, &p);
        bool k_first = p.value[n->loop[1].place] < p.value[n->loop[2].place];
        bool is_double = c.slot[7] == 2;
        double width = p.value[n->unroll], tile = c.slot[1];
        assert_int_equal(nest_path(&p, 1)[1], k_first ? 1 : 2);
        const double *stride = nest_strides(&p, 1, 0);
        assert_true(stride[0] == 2 * tile);
        assert_true(stride[k_first ? 1 : 2] == tile - 1);
        assert_true(stride[k_first ? 2 : 1] == 1 - 2 * tile);
        assert_true(width == (c.slot[6] == 0 ? 1 : c.slot[6] == 1 ? 4 : 16));
        assert_true(p.present[0] == is_double);
        assert_true(nest_memory_bytes(&p, NEST_SHARED) == (is_double ? 2 * 2 * 8 * width : 0));
        assert_true(nest_flops(&p) == c.slot[0] * 5.0 * tile * (2 + width));
    }
    nest_point_finish(&p);
    script_destroy(s);
    s = load(OPERATOR KERNEL PARAM);
    assert_null(script_space(s)->nest);
    assert_null(script_space(s)->nest);
    script_destroy(s);
}

#define BEGIN OPERATOR KERNEL PARAMS "nest(function(c, d)\n"
#define END   "\nend)"
#define I     "local i = d.loop { 'i', length = 2 } "
#define X     "local x = d.buffer { 'x', 4, 4 } "
#define CASE(body)                                                                                 \
    {                                                                                              \
        BEGIN body END, NULL, "a.lua:6", body                                                      \
    }

static const struct error_case cases[] = {
    {"local function f() end nest(f) nest(f)", NULL, "a.lua:1"},
    {OPERATOR KERNEL PARAM "\nnest(function(c, d) end)", NULL, "a.lua:2"},
    {OPERATOR KERNEL PARAM "local a nest(function(c, d) a = c.p[1]\n" I X
                           "d.statement { 's', loops = { i }, stores = x { i, 0 } } end)\n"
                           "constraint('x', function(c) return 1 + a == 2 end)",
     NULL, "a.lua:3"},
    CASE("local a = c.width for i = 1, 10000 do a = a * 2 + i end"),
    CASE("for i = 1, 513 do d.loop { 'i' .. i, length = 1 } end"),
    CASE("for i = 1, 129 do d.buffer { 'i' .. i, 1 } end"),
    CASE(I X "for n = 1, 129 do d.statement { 's' .. n, loops = { i }, stores = x { 0, 0 } } end"),
    CASE("local a = c.width / 2"),
    CASE("local a = c.width < 2"),
    CASE("local a = c.width == c.tile[1]"),
    CASE("local a = c.stage == c.order"),
    CASE("local a = c.width + 'x'"),
    CASE("local a = c.width + c.stage"),
    CASE(I "local a = i // 2"),
    CASE("local a = c.width * 1.5"),
    CASE(I "local a = i * i"),
    CASE("local a = d.mim(1, 2)"),
    CASE("local a = c.tle"),
    CASE("local a = d.is(c.width, 'x')"),
    CASE("local a = d.is(c.stage, 'share')"),
    CASE("local a = d.place(c.order, 'other')"),
    CASE("d.loop { 'i', lenght = 1 }"),
    CASE("d.loop { length = 1 }"),
    CASE("d.loop { 'i' }"),
    CASE("d.loop { 'i', length = 'x' }"),
    CASE("d.loop { 'i', 3 }"),
    CASE("d.loop { 'i', kind = 'serail', length = 1 }"),
    CASE(I I),
    CASE("d.buffer { 'x' }"),
    CASE("d.buffer { 'x', 1, memory = 'local' }"),
    CASE(X X),
    CASE(X "local y = x { 1 }"),
    CASE(X "d.statement { 's' }"),
    CASE("d.statement { 's', loops = { 1 } }"),
    CASE(I "d.statement { 's', loops = { 2 * i } }"),
    CASE(I "d.statement { 's', loops = { i, i } }"),
    CASE(I "local t = {} for n = 1, 65 do t[n] = i end d.statement { 's', loops = t }"),
    CASE(I "d.statement { 's', loops = { i } }"),
    CASE(I X "local e = x { i, i } d.statement { 's', loops = { i }, stores = e, updates = e }"),
    CASE(I X "d.statement { 's', loops = { i }, stores = x }"),
    CASE(I X "d.statement { 's', loops = { }, stores = x { i, 0 } }"),
    CASE(I X "local e, t = x { i, i }, {} for n = 1, 8 do t[n] = e end "
             "d.statement { 's', loops = { i }, stores = e, reads = t }"),
    CASE(I X "for n = 1, 2 do d.statement { 's', loops = { i }, stores = x { i, 0 } } end"),
};

static void test_errors(void **state)
{
    (void)state;
    errors_check("nest", cases, sizeof cases / sizeof *cases);
}

TEST_GROUP(nest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, errors_setup, errors_teardown);
}
