// The syntax colours of kernels: each token of a line in the style of its kind.
#include "group.h"
#include "screen.h"
#include "syntax.h"

#include <stddef.h>
#include <string.h>

// A letter a byte: k keyword, t type, n number, c comment, p preprocessor, '.' all else.
static char letter_of(uint8_t style)
{
    switch (style) {
    case STYLE_KEYWORD: return 'k';
    case STYLE_TYPE: return 't';
    case STYLE_NUMBER: return 'n';
    case STYLE_COMMENT: return 'c';
    case STYLE_DIRECTIVE: return 'p';
    case STYLE_TEXT: return '.';
    default: return '?';
    }
}

struct scanned {
    enum syntax_state state;
    char letters[128];
};

static struct scanned scan(enum syntax_state state, const char *line)
{
    struct scanned out = {.letters = ""};
    uint8_t style[128];
    memset(style, 0xff, sizeof style);
    out.state = syntax_scan_glsl(state, line, style);
    for (size_t i = 0; line[i]; i++)
        out.letters[i] = letter_of(style[i]);
    assert_int_equal(style[strlen(line)], 0xff); // nothing behind the line
    return out;
}

static void expect(const char *line, const char *letters)
{
    struct scanned s = scan(SYNTAX_CODE, line);
    assert_string_equal(s.letters, letters);
    assert_int_equal(s.state, SYNTAX_CODE);
}

static void test_words(void **state)
{
    (void)state;
    expect("for (int i = 0; i < N; i++)", "kkk..ttt.....n.............");
    expect("layout(binding = 1) readonly buffer A {", "kkkkkk...........n..kkkkkkkk.kkkkkk....");
    expect("shared f16vec4 tile[64];", "kkkkkk.ttttttt......nn..");
    expect("format intx returned forint", "...........................");
    expect("uvec2 dmat4x3 vec5 mat4x5 i8vec3", "ttttt.ttttttt.............tttttt");
    expect("image2D a = imageLoad(texture(", "ttttttt.......................");
    expect("coopmat<float16_t, gl_ScopeSubgroup", "ttttttt.ttttttttt..................");
}

static void test_numbers(void **state)
{
    (void)state;
    expect("x1 = 0x1eU+1.5e-3f+.5-2.;", ".....nnnnn.nnnnnnn.nn.nn.");
    expect("v.x2 a.b", "........");
}

static void test_comments(void **state)
{
    (void)state;
    expect("a; // int 1", "...cccccccc");
    expect("a /* int */ 1", "..ccccccccc.n");
    struct scanned s = scan(SYNTAX_CODE, "int a; /* b");
    assert_string_equal(s.letters, "ttt....cccc");
    assert_int_equal(s.state, SYNTAX_COMMENT);
    s = scan(s.state, "int # still");
    assert_string_equal(s.letters, "ccccccccccc");
    assert_int_equal(s.state, SYNTAX_COMMENT);
    s = scan(s.state, "*/ int");
    assert_string_equal(s.letters, "cc.ttt");
    assert_int_equal(s.state, SYNTAX_CODE);
    assert_int_equal(scan(SYNTAX_CODE, "/*/").state, SYNTAX_COMMENT);
}

static void test_directives(void **state)
{
    (void)state;
    expect("#version 450 // x", "pppppppppppppcccc");
    expect("  # if 1", "pppppppp");
    struct scanned s = scan(SYNTAX_CODE, "#define F(x) \\");
    assert_int_equal(s.state, SYNTAX_DIRECTIVE);
    s = scan(s.state, "  int x");
    assert_string_equal(s.letters, "ppppppp");
    assert_int_equal(s.state, SYNTAX_CODE);
    expect("a # b", ".....");
}

// Any bytes: every one gets a style, and nothing behind them.
static void test_anything(void **state)
{
    (void)state;
    expect("", "");
    for (int first = 1; first < 256; first++)
        for (int second = 1; second < 256; second++) {
            const char line[] = {(char)first, (char)second, '\0'};
            assert_null(strchr(scan(SYNTAX_CODE, line).letters, '?'));
        }
}

static void test_spirv(void **state)
{
    static const char line[] = " %12 = OpTypeFloat 32 ; OpLoad";
    uint8_t style[64];
    char letters[64] = "";
    (void)state;
    syntax_scan_spirv(line, style);
    for (size_t i = 0; line[i]; i++)
        letters[i] = letter_of(style[i]);
    assert_string_equal(letters, ".......ttttttttttt.nn.cccccccc");
    static const char name[] = "OpName %f \"int 1\"";
    syntax_scan_spirv(name, style);
    for (size_t i = 0; name[i]; i++)
        letters[i] = letter_of(style[i]);
    letters[strlen(name)] = '\0';
    assert_string_equal(letters, "kkkkkk....nnnnnnn");
}

TEST_GROUP(syntax)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),    cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_comments), cmocka_unit_test(test_directives),
        cmocka_unit_test(test_anything), cmocka_unit_test(test_spirv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
