#include "group.h"

#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static void check(struct str *out, const char *expected)
{
    assert_string_equal(str_text(out), expected);
    str_finish(out);
}

static void commas_come_by_themselves(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_begin_list(&w, "empty");
    json_end(&w);
    json_begin_object(&w, "none");
    json_end(&w);
    json_begin_list(&w, "list");
    json_add_int(&w, NULL, 1);
    json_begin_object(&w, NULL);
    json_add_flag(&w, "a", true);
    json_add_flag(&w, "b", false);
    json_end(&w);
    json_begin_list(&w, NULL);
    json_end(&w);
    json_end(&w);
    json_add_raw(&w, "raw", "[1,2]");
    json_end_all(&w);
    check(&out,
          "{\"empty\":[],\"none\":{},\"list\":[1,{\"a\":true,\"b\":false},[]],\"raw\":[1,2]}");
}

static void values_are_exact_or_null(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_int(&w, "least", INT64_MIN);
    json_add_count(&w, "most", UINT64_MAX);
    json_add_reals(&w, "reals", 3, (double[]){0.1, NAN, -INFINITY});
    json_add_text(&w, "none", NULL);
    json_add_text(&w, "empty", "");
    json_add_text_if_any(&w, "if any", "");
    json_add_raw(&w, "raw", "");
    json_add_texts(&w, "words", (const char *[]){"a", "b", NULL});
    json_add_axes(&w, "axes", (uint32_t[]){1, 2, UINT32_MAX});
    json_end_all(&w);
    check(&out, "{\"least\":-9223372036854775808,\"most\":18446744073709551615,"
                "\"reals\":[0.1,null,null],\"none\":null,\"empty\":\"\",\"if any\":null,"
                "\"raw\":null,\"words\":[\"a\",\"b\"],\"axes\":[1,2,4294967295]}");
}

static void names_and_texts_are_escaped(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_text(&w, "a\"b", "\\\n\x01\xff");
    json_end_all(&w);
    check(&out, "{\"a\\\"b\":\"\\\\\\n\\u0001\xef\xbf\xbd\"}");
}

static void lines_and_blanks(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    w.is_spaced = true;
    json_begin_line(&w, 2);
    json_add_int(&w, "a", 1);
    json_begin_line(&w, 2);
    json_begin_list(&w, "b");
    json_add_int(&w, NULL, 1);
    json_add_int(&w, NULL, 2);
    json_begin_line(&w, 1);
    json_end(&w);
    json_begin_line(&w, 0);
    json_end_all(&w);
    check(&out, "{\n  \"a\": 1,\n  \"b\": [1, 2\n ]\n}");
}

// Members of an object that others write around.
static void what_others_add_fits_in(void **state)
{
    (void)state;
    struct str members = {0}, out = {0};
    struct json_writer inner = {.out = &members}, w = json_begin(&out);
    json_add_int(&inner, "a", 1);
    json_add_int(&inner, "b", 2);
    json_add_raw(&w, NULL, str_text(&members));
    json_add_name(&w, "c");
    str_add(&out, "3");
    json_add_null(&w, "d");
    json_end_all(&w);
    str_finish(&members);
    check(&out, "{\"a\":1,\"b\":2,\"c\":3,\"d\":null}");
}

// Elements of lists are trees; what others add to one is its member, too.
static void elements_are_whole(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_begin_list(&w, "rows");
    for (int i = 0; i < 2; i++) {
        json_begin_object(&w, NULL);
        json_add_count(&w, "n", UINT64_MAX);
        json_add_name(&w, "made");
        str_add(&out, "[1,2]");
        json_begin_object(&w, "o");
        json_begin_list(&w, "empty");
        json_end(&w);
        json_add_name(&w, "last");
        str_add(&out, "{}");
        json_end(&w);
        json_end(&w);
    }
    json_begin_list(&w, NULL);
    json_add_real(&w, NULL, 0.1);
    json_add_flag(&w, NULL, true);
    json_add_text(&w, NULL, "a: b, c\x7f");
    json_end(&w);
    json_add_null(&w, NULL);
    json_end(&w);
    json_add_int(&w, "m", -1);
    json_end_all(&w);
    const char *row =
        "{\"n\":18446744073709551615,\"made\":[1,2],\"o\":{\"empty\":[],\"last\":{}}}";
    struct str expected = {0};
    str_printf(&expected, "{\"rows\":[%s,%s,[0.1,true,\"a: b, c\\u007f\"],null],\"m\":-1}", row,
               row);
    check(&out, str_text(&expected));
    str_finish(&expected);
}

static void elements_may_be_spaced(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    w.is_spaced = true;
    json_begin_list(&w, "rows");
    json_begin_line(&w, 1);
    json_begin_object(&w, NULL);
    json_add_text(&w, "a", "b:\\\",c");
    json_begin_line(&w, 2); // an element stands on one line
    json_add_int(&w, "d", 1);
    json_end_all(&w);
    check(&out, "{\"rows\": [\n {\"a\": \"b:\\\\\\\",c\", \"d\": 1}]}");
}

TEST_GROUP(json)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_come_by_themselves),   cmocka_unit_test(values_are_exact_or_null),
        cmocka_unit_test(names_and_texts_are_escaped), cmocka_unit_test(lines_and_blanks),
        cmocka_unit_test(what_others_add_fits_in),     cmocka_unit_test(elements_are_whole),
        cmocka_unit_test(elements_may_be_spaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
