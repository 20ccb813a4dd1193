// The reader of JSON: what it takes, where it complains, what texts become.
#include "group.h"

#include "base/json_read.h"
#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct checked {
    char text[4096];
    struct json_source source;
    struct json root;
    struct err e;
};

static bool check(struct checked *c, const char *text)
{
    size_t length = strlen(text);
    assert_true(length + 4 < sizeof c->text);
    memcpy(c->text, text, length + 1);
    c->source = (struct json_source){
        .path = "x.json", .text = c->text, .length = length, .room = c->text + length};
    c->e = (struct err){0};
    return json_check(&c->source, &c->root, &c->e);
}

static void test_accepts(void **state)
{
    static const char *const good[] = {
        "{}",
        "[]",
        " \n[1, -0, 0.5, 1e-05, 1E+20, -12.25e3]\t",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
        "{\"a\": {\"b\": [true, false, null, {}]}, \"\": \"\"}",
    };
    struct checked c;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!check(&c, good[i]))
            fail_msg("%s: %s", good[i], c.e.text);
}

static void test_refuses_with_line(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *word;
    } bad[] = {
        {"", 1, "the end of the file"},     {"{\n\"a\": 1,\n}", 3, "a name in quotes"},
        {"[1,\n2\n3]", 3, "',' or ']'"},    {"{\"a\" 1}", 1, "a colon"},
        {"{\"a\": 1]", 1, "',' or '}'"},    {"[01]", 1, "malformed"},
        {"[1.]", 1, "malformed"},           {"[-]", 1, "malformed"},
        {"[1e]", 1, "malformed"},           {"[.5]", 1, "a value"},
        {"[NaN]", 1, "NaN and Infinity"},   {"[\n\nInfinity]", 3, "NaN and Infinity"},
        {"[truely]", 1, "a value"},         {"[\"a\nb\"]", 1, "not closed"},
        {"[\"\\x\"]", 1, "unknown escape"}, {"[\"\\u12g4\"]", 1, "hexadecimal"},
        {"[1] 2", 1, "should end here"},    {"{\"a\": [1, 2", 1, "cut off"},
        {"{\"a\": \"b", 1, "not closed"},   {"{'a': 1}", 1, "a name in quotes"},
    };
    struct checked c;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (check(&c, bad[i].text))
            fail_msg("accepted: %s", bad[i].text);
        if (c.e.line != bad[i].line || !strstr(c.e.text, bad[i].word))
            fail_msg("%s: line %d: %s", bad[i].text, c.e.line, c.e.text);
    }
}

static void test_refuses_every_prefix(void **state)
{
    const char *text = "{\"a\":[{\"b\":\"c\\u00e9\"},-1.5e3,true],\"d\":null}";
    struct checked c;
    char prefix[128];
    (void)state;
    for (size_t n = 0; n < strlen(text); n++) {
        memcpy(prefix, text, n);
        prefix[n] = '\0';
        if (check(&c, prefix))
            fail_msg("accepted: %s", prefix);
    }
    assert_true(check(&c, text));
}

static void test_refuses_bytes(void **state)
{
    struct checked c;
    (void)state;
    char deep[256];
    memset(deep, '[', 200);
    deep[200] = '\0';
    assert_false(check(&c, deep));
    assert_non_null(strstr(c.e.text, "each other"));

    memcpy(c.text, "[1,\0 2]", 8);
    c.source = (struct json_source){.path = "x.json", .text = c.text, .length = 7};
    assert_false(json_check(&c.source, &c.root, &c.e));
    assert_non_null(strstr(c.e.text, "0x00"));
}

static void test_closes_only_between_members(void **state)
{
    static const struct {
        const char *text;
        int unclosed;
    } texts[] = {
        {"{\"cache\": {\n\"a\": {},", 2},
        {"{\"cache\": {\n\"a\": {}\n,\n", 4},
        {"{\"cache\": {\"a\": {}", 1},
        {"{\"cache\": {\"a\": {}}", 0},
        {"{\"cache\": {\"a\": {\"b\":1", 0},
        {"{\"cache\": {\"a\":", 0},
        {"{\"cache\": [{},", 0},
        {"{\"cache\": {\"a", 0},
    };
    struct checked c, again;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bool closed = check(&c, texts[i].text);
        assert_int_equal(closed, texts[i].unclosed > 0);
        assert_int_equal(c.source.unclosed, texts[i].unclosed);
        if (closed) { // it is JSON now
            assert_int_equal(c.source.length, strlen(c.text));
            assert_true(check(&again, c.text));
        }
    }
}

static void test_walks(void **state)
{
    struct checked c;
    double number;
    bool flag;
    int seen = 0;
    (void)state;
    static const char nested[] =
        "{ \"a\" : [1, [2, {\"]\": 3}], \"}\"],\n\"b\":\n2.5 , \"c\":true}";
    assert_true(check(&c, nested));
    for (struct json_walk w = json_walk(c.root); json_next(&w); seen++) {
        static const char *const keys[] = {"a", "b", "c"};
        assert_true(json_is(w.key, keys[seen]));
    }
    assert_int_equal(seen, 3);
    seen = 0;
    for (struct json_walk w = json_walk(json_member(c.root, "a")); json_next(&w);)
        seen++;
    assert_int_equal(seen, 3);
    struct json b = json_member(c.root, "b");
    assert_int_equal(b.line, 3);
    assert_true(json_number(b, &number));
    assert_true(number == 2.5);
    assert_true(json_flag(json_member(c.root, "c"), &flag) && flag);
    assert_false(json_number(json_member(c.root, "c"), &number));
    assert_int_equal(json_type(json_member(c.root, "d")), JSON_NONE);
    assert_int_equal(json_type(json_member(b, "d")), JSON_NONE);
}

static void test_texts(void **state)
{
    static const struct {
        const char *json, *text;
    } texts[] = {
        {"\"\"", ""},
        {"\"a\\u00e9\\u20ac\\ud83d\\ude00\"", "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\"\\ud83d!\"", "\xEF\xBF\xBD!"},
        {"\"\\\\\\\"\\/\"", "\\\"/"},
        {"\"\\u001b[2J\\u0000\\n\x7F\"", "?[2J???"}, // nothing that a terminal obeys
    };
    struct checked c;
    struct arena arena;
    double number;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(check(&c, texts[i].json));
        assert_string_equal(json_text(c.root, &arena), texts[i].text);
        assert_true(json_is(c.root, texts[i].text));
        assert_false(json_is(c.root, "a"));
    }
    assert_true(check(&c, "1e999"));
    assert_false(json_number(c.root, &number));
    assert_null(json_text(c.root, &arena));
    arena_finish(&arena);
}

// Walks the same text as it lies and as a tree: both must show the same.
static void assert_same(struct json a, struct json b)
{
    assert_int_equal(json_type(a), json_type(b));
    double x = 0, y = 0;
    bool f = false, g = false;
    assert_int_equal(json_number(a, &x), json_number(b, &y));
    assert_memory_equal(&x, &y, sizeof x);
    assert_int_equal(json_flag(a, &f), json_flag(b, &g));
    assert_int_equal(f, g);
    struct arena arena;
    arena_init(&arena);
    if (json_type(a) == JSON_TEXT) {
        assert_string_equal(json_text(a, &arena), json_text(b, &arena));
        assert_string_equal(json_text_exact(a, &arena), json_text_exact(b, &arena));
        assert_true(json_is(b, json_text(a, &arena)));
        assert_false(json_is(b, "another"));
    }
    struct json_walk v = json_walk(a), w = json_walk(b);
    assert_int_equal(v.object, w.object);
    while (json_next(&v)) {
        assert_true(json_next(&w));
        if (v.object)
            assert_same(v.key, w.key);
        assert_same(v.value, w.value);
    }
    assert_false(json_next(&w));
    arena_finish(&arena);
}

static void test_tree_shows_the_same(void **state)
{
    static const char *const good[] = {
        "{}",
        "[]",
        "null",
        " \n[1, -0, 0.5, 1e-05, 1E+20, -12.25e3, 9007199254740993, 1e999]\t",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u0001\\ud83d\\ude00\x7f\"",
        "{\"a\": {\"b\": [true, false, null, {}]}, \"\": \"\", \"a\\nb\": [[], {}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct json text, tree;
        assert_true(json_parse(good[i], &text));
        assert_true(json_read_tree(good[i], &tree));
        assert_same(text, tree);
        json_free(&tree);
        assert_null(tree.at);
    }
    struct json tree; // the last of two members of a name
    assert_true(json_read_tree("{\"a\":1,\"b\":2,\"a\":3}", &tree));
    double x;
    assert_true(json_number(json_member(tree, "a"), &x) && x == 3);
    json_free(&tree);
}

static void test_tree_has_limits(void **state)
{
    static const char *const bad[] = {"", "[01]", "[1] 2", "{'a': 1}", "[1,", "[NaN]"};
    struct json tree;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(json_read_tree(bad[i], &tree));
        assert_null(tree.at);
        json_free(&tree);
    }
    assert_false(json_read_tree(NULL, &tree));
    size_t values = JSON_MOST_VALUES + 1;
    char *text = mem_alloc(2 * values + 2), *end = text;
    *end++ = '[';
    for (size_t i = 0; i < values; i++) {
        *end++ = '1';
        *end++ = ',';
    }
    memcpy(end - 1, "]", 2);
    assert_false(json_read_tree(text, &tree));
    memset(text, ' ', 5); // two values fewer, and the bracket
    text[4] = '[';
    assert_true(json_read_tree(text, &tree));
    json_free(&tree);
    free(text);
}

TEST_GROUP(json_read)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),
        cmocka_unit_test(test_refuses_with_line),
        cmocka_unit_test(test_tree_shows_the_same),
        cmocka_unit_test(test_tree_has_limits),
        cmocka_unit_test(test_refuses_every_prefix),
        cmocka_unit_test(test_refuses_bytes),
        cmocka_unit_test(test_closes_only_between_members),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
