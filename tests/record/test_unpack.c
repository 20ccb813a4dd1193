// Unpacks files of gzip and xz, with several members, with missing ends, and decompression bombs.
#include "group.h"
#include "help.h"
#include "wording.h"

#include "record/unpack.h"

#include <stdio.h>
#include <string.h>

#include <lzma.h>
#include <zlib.h>

enum { ROOM = 1 << 20 };
static unsigned char packed[ROOM];

static size_t pack_gzip(const void *bytes, size_t length, unsigned char *out)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)length;
    z.next_out = out;
    z.avail_out = ROOM / 2;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t size = z.total_out;
    deflateEnd(&z);
    return size;
}

static size_t pack_xz(const void *bytes, size_t length, unsigned char *out)
{
    size_t size = 0;
    assert_int_equal(
        lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, bytes, length, out, &size, ROOM / 2),
        LZMA_OK);
    return size;
}

static size_t (*const packers[])(const void *, size_t, unsigned char *) = {pack_gzip, pack_xz};

static bool unpack(size_t length, const struct unpack_bound *bound, char **text, size_t *got,
                   struct err *e)
{
    *e = (struct err){0};
    return unpack_file(put_file("x.packed", packed, length), bound, text, got, e);
}

static void test_plain_gzip_xz(void **state)
{
    const char *text = "{\"a\": 1}\n";
    struct err e;
    char *out;
    size_t got;
    (void)state;
    memcpy(packed, text, strlen(text));
    assert_true(unpack(strlen(text), &unpack_standard, &out, &got, &e));
    assert_string_equal(out, text);
    free(out);
    for (int i = 0; i < 2; i++) {
        assert_true(
            unpack(packers[i](text, strlen(text), packed), &unpack_standard, &out, &got, &e));
        assert_int_equal(got, strlen(text));
        assert_string_equal(out, text);
        free(out);
    }
}

// The text is longer than one step of the buffer.
static void test_long(void **state)
{
    enum { LONG = 3000000 };
    char *text = malloc(LONG), *out;
    struct err e;
    size_t got;
    (void)state;
    for (int i = 0; i < LONG; i++)
        text[i] = (char)('a' + i % 7 + i % 11);
    for (int i = 0; i < 2; i++) {
        assert_true(unpack(packers[i](text, LONG, packed), &unpack_standard, &out, &got, &e));
        assert_int_equal(got, LONG);
        assert_memory_equal(out, text, LONG);
        free(out);
    }
    free(text);
}

static void test_several_members(void **state)
{
    struct err e;
    char *out;
    size_t got;
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t first = packers[i]("{\"a\"", 4, packed);
        size_t all = first + packers[i](": 1}", 4, packed + first);
        assert_true(unpack(all, &unpack_standard, &out, &got, &e));
        assert_string_equal(out, "{\"a\": 1}");
        free(out);
    }
}

static void test_truncated(void **state)
{
    char text[2000];
    struct err e;
    char *out = NULL;
    size_t got;
    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(' ' + (i * i) % 90);
    for (int i = 0; i < 2; i++) {
        size_t all = packers[i](text, sizeof text, packed);
        for (size_t n = 6; n < all; n += n < all - 20 ? 97 : 1) {
            assert_false(unpack(n, &unpack_standard, &out, &got, &e));
            assert_null(out);
            char place[64];
            snprintf(place, sizeof place, "ends early, at byte %zu", n);
            if (!strstr(e.text, place))
                fail_msg("%zu of %zu: %s", n, all, e.text);
        }
    }
}

static void test_damaged(void **state)
{
    struct err e;
    char *out;
    size_t got;
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t all = packers[i]("some text, some text", 20, packed);
        packed[all - 6] ^= 0x55; // a checksum
        assert_false(unpack(all, &unpack_standard, &out, &got, &e));
        assert_non_null(strstr(e.text, i ? "damaged xz" : "damaged gzip"));
    }
    size_t all = pack_gzip("text", 4, packed);
    memcpy(packed + all, "rest", 4);
    assert_false(unpack(all + 4, &unpack_standard, &out, &got, &e));
    assert_non_null(strstr(e.text, "damaged gzip"));
    memset(packed + all, 0, 512); // what tapes leave
    assert_true(unpack(all + 512, &unpack_standard, &out, &got, &e));
    assert_string_equal(out, "text");
    free(out);
}

static void test_decompression_bomb(void **state)
{
    enum { LONG = 1 << 20 };
    char *zeros = calloc(1, LONG), *out;
    const struct unpack_bound small = {.most = LONG / 2, .free = LONG, .ratio = 1000000};
    const struct unpack_bound ratio = {.most = 2 * LONG, .free = LONG / 4, .ratio = 100};
    const struct unpack_bound exact = {.most = LONG, .free = LONG, .ratio = 1};
    struct err e;
    size_t got;
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t length = packers[i](zeros, LONG, packed);
        assert_false(unpack(length, &small, &out, &got, &e));
        assert_non_null(strstr(e.text, "bomb"));
        assert_false(unpack(length, &ratio, &out, &got, &e));
        assert_non_null(strstr(e.text, " 100 times"));
        assert_true(unpack(length, &exact, &out, &got, &e));
        assert_int_equal(got, LONG);
        free(out);
    }
    free(zeros);
}

// A decompression bomb in the form of a recording: 128 members of 1 MiB each.
static void test_bomb_is_no_recording(void **state)
{
    enum { LONG = 1 << 20, MEMBERS = 128 };
    char *zeros = calloc(1, LONG);
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct recording *r;
        struct err e;
        size_t one = packers[i](zeros, LONG, packed);
        assert_true(one * MEMBERS < ROOM);
        for (size_t k = 1; k < MEMBERS; k++)
            memcpy(packed + k * one, packed, one);
        assert_false(recording_read(put_file("x.json", packed, one * MEMBERS), &r, &e));
        wording_is("record", "unpack: a bomb", e.text);
        assert_non_null(strstr(e.file, "x.json"));
    }
    free(zeros);
}

TEST_GROUP(unpack)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_gzip_xz),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_several_members),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_decompression_bomb),
        cmocka_unit_test(test_bomb_is_no_recording),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
