// An operator of the user's own, as docs/guide/operators.md shows it: both forms of a reference, on
// a real device; wrong kernels are found; the operator stays with its session.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

#define SIZES "--set", "heads=2", "--set", "N=21", "--set", "M=37", "--set", "D=8"

static char *sample(struct box *b, const char *name)
{
    return box_read(b, flow_path(b, arena_printf(&b->arena, "../../docs/sample/%s", name)));
}

// Returns `text` with its first `from` replaced, which must be there.
static const char *replaced(struct box *b, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    return arena_printf(&b->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

// The space file with the other kind of reference, as the manual writes it.
static const char *with_kernel(struct box *b, const char *lua)
{
    const char *begin = strstr(lua, "  reference = {"),
               *end = begin ? strstr(begin, "\n  },\n") : NULL;
    assert_non_null(end);
    static const char kernel[] = "  reference = { template = \"attention_reference.comp\", groups "
                                 "= { (N + 15) // 16, heads } },\n";
    assert_contains(box_read(b, flow_path(b, "../../docs/guide/operators.md")), kernel);
    return arena_printf(&b->arena, "%.*s%s%s", (int)(begin - lua), lua, kernel,
                        end + strlen("\n  },\n"));
}

// A copy of the sample in the box.
static const char *write_sample(struct box *b, bool is_kernel, const char *template_text)
{
    const char *lua = sample(b, "attention.lua");
    box_write(b, "attention.comp", template_text);
    box_write(b, "attention_reference.comp", sample(b, "attention_reference.comp"));
    return box_write(b, "attention.lua", is_kernel ? with_kernel(b, lua) : lua);
}

static void tune_well(struct box *b, bool is_kernel, const char *trials)
{
    const char *file = write_sample(b, is_kernel, sample(b, "attention.comp"));
    struct result r = RUN(b, "tune", file, SIZES, "--trials", trials, "--seed", "3");
    assert_ok(&r);
    assert_contains(r.out, "attention_scores 2x21x37x8");
    assert_int_equal(trials_of(b, 1), atoi(trials));
    assert_int_equal(count_rows(b, "trial", "outcome = 'ok'"), atoi(trials));
}

// The other kind of reference has a_session_keeps_its_operator.
static void steps(void **state)
{
    tune_well(*state, false, "2");
}

static void find_wrong(struct box *b, bool is_kernel)
{
    const char *broken = replaced(b, sample(b, "attention.comp"), "sum += e;", "sum += 1.001 * e;");
    struct result r =
        RUN(b, "tune", write_sample(b, is_kernel, broken), SIZES, "--trials", "2", "--seed", "3");
    assert_int_equal(r.code, 3);
    assert_contains(r.out, "trials  2  wrong 2 ");
}

static void steps_find_a_wrong_kernel(void **state)
{
    find_wrong(*state, false);
}

static void a_kernel_finds_a_wrong_kernel(void **state)
{
    find_wrong(*state, true);
}

static void a_session_keeps_its_operator(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out");
    tune_well(b, true, "1");
    box_write(b, "attention.lua", "nothing");
    box_write(b, "attention_reference.comp", "nothing");
    struct result r = RUN(b, "resume", "1", "--trials", "2");
    assert_ok(&r);
    assert_contains(r.out, "trials  2  ok 2 ");
    r = RUN(b, "export", "1", "--out", out, "--name", "k", "--verify", "--slower", "1000000");
    assert_ok(&r);
    const cJSON *kernel = json_of(b, box_read(b, arena_printf(&b->arena, "%s/k.json", out)));
    const cJSON *problem = member(kernel, "problem");
    assert_string_equal(text_of(problem, "kind"), "attention_scores");
    assert_true(number_of(problem, "heads") == 2 && number_of(problem, "D") == 8);
    assert_contains(box_read(b, arena_printf(&b->arena, "%s/k.h", out)), "\"attention_scores\"");
}

static void fails_with(struct box *b, const char *from, const char *to, const char *expected)
{
    const char *file = write_sample(b, true, sample(b, "attention.comp"));
    box_write(b, "attention_reference.comp",
              replaced(b, sample(b, "attention_reference.comp"), from, to));
    struct result r = RUN(b, "tune", file, SIZES, "--trials", "1");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, expected);
}

static void a_reference_that_cannot_be_trusted_is_refused(void **state)
{
    fails_with(*state, "sum = 0.0;", "sum = nothing;",
               "attention_reference.comp:14: 'nothing' : undeclared identifier");
    fails_with(*state, "if (row >= ${N})", "if (row >= ${N - 1})", "it leaves P unwritten at byte");
    fails_with(*state, "${op.bindings.P}", "7", "it uses binding 7, there are only 3");
}

// The kernel and its reference are one template, whose invocation `i` is `statement`.
static struct result tune_integers(struct box *b, const char *statement)
{
    const char *lua =
        box_write(b, "integers.lua",
                  "operator.define { name = 'integers', flop = 64, inputs = { { 'X', 64 } },\n"
                  "  output = { 'Y', 64, type = 'i32' },\n"
                  "  reference = { template = 'reference.comp', groups = { 16 } } }\n"
                  "param.t = discrete { 1, 2, 4 }\n"
                  "kernel { template = 'integers.comp', groups = function() return { 16 } end }\n");
    const char *glsl = arena_printf(&b->arena,
                                    "#version 450\n"
                                    "layout(local_size_x = 4) in;\n"
                                    "layout(binding = 0) readonly buffer InputX { float x[]; };\n"
                                    "layout(binding = 1) writeonly buffer OutputY { int y[]; };\n"
                                    "void main()\n"
                                    "{\n"
                                    "    uint i = gl_GlobalInvocationID.x;\n"
                                    "    %s\n"
                                    "}\n",
                                    statement);
    box_write(b, "reference.comp", glsl);
    box_write(b, "integers.comp", glsl);
    return RUN(b, "tune", lua, "--trials", "3");
}

static void a_reference_may_write_any_integer(void **state)
{
    struct box *b = *state;
    struct result r = tune_integers(b, "y[i] = int(i) / 8 - 4;");
    assert_ok(&r);
    assert_contains(r.out, "trials  3  ok 3 ");
    r = tune_integers(b, "if (i < 60) y[i] = -1;");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "it leaves Y unwritten at byte 240");
}

// Weights in blocks, in either form: q4_K, and a table that defines q8_0.
static void blocks(void **state)
{
    struct box *b = *state;
    char *lua = sample(b, "vector.lua"), *glsl = sample(b, "vector.comp");
    const char *inputs = "  inputs    = { { \"A\", N, K, blocks = \"q4_K\" }, ";
    assert_contains(lua, inputs);
    assert_contains(box_read(b, flow_path(b, "../../docs/guide/operators.md")), inputs);
    box_write(b, "vector.comp", glsl);
    const char *file = box_write(b, "vector.lua", lua);
    struct result r = RUN(b, "tune", file, "--set", "N=64", "--trials", "2", "--seed", "1");
    assert_ok(&r);
    assert_contains(r.out, "trials  2  ok 2 ");
    const cJSON *shown = json_of(b, RUN(b, "show", "1", "--json").out);
    assert_true(number_of(member(shown, "baselines")->child, "ratio") > 0);
    box_write(b, "vector.comp", replaced(b, glsl, " - below)", ")"));
    r = RUN(b, "tune", file, "--set", "N=64", "--trials", "1", "--seed", "1");
    assert_int_equal(r.code, 3);
    assert_contains(r.out, "Y[0] = ");
    assert_contains(r.err, "'plain'");
    r = RUN(b, "check", file, "--set", "K=1000", "--device", "none");
    assert_refused(&r, 1, "vector.lua:5: q4_vector: ", "buffer A");
    assert_contains(r.err, " 1000 ");
}

// The manual prints what lies in the samples.
static void the_manual_shows_the_samples(void **state)
{
    struct box *b = *state;
    char *manual = box_read(b, flow_path(b, "../../docs/guide/operators.md"));
    char *lua = sample(b, "attention.lua"), *glsl = sample(b, "attention_reference.comp");
    char *define = strstr(lua, "local heads"), *parameters = strstr(lua, "param.rows");
    char *rest = strstr(lua, "\nconstraint("), *body = strstr(glsl, "void main()");
    assert_true(define && parameters && rest && body);
    *rest = '\0';
    assert_contains(manual, parameters);
    parameters[-1] = '\0';
    assert_contains(manual, define);
    assert_contains(manual, body);
}

TEST_GROUP(custom)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(blocks),
        FLOW_TEST(the_manual_shows_the_samples),
        FLOW_TEST(steps),
        FLOW_TEST(steps_find_a_wrong_kernel),
        FLOW_TEST(a_kernel_finds_a_wrong_kernel),
        FLOW_TEST(a_session_keeps_its_operator),
        FLOW_TEST(a_reference_that_cannot_be_trusted_is_refused),
        FLOW_TEST(a_reference_may_write_any_integer),
    };
    if (!has_device())
        return EXIT_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
