// Imports GGUF files as network files: the products and their counts, and one clear line for each
// false statement of a header.
#include "group.h"
#include "wording.h"

#include "base/file.h"
#include "import/gguf.h"
#include "import/import.h"
#include "script/network.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/tilewalk-gguf-XXXXXX";

// --- files ---

struct tensor_row {
    const char *name;
    int rank;
    uint64_t size[5];
    uint32_t type;
};

struct made { // of what the file says; zeros are the standard
    const struct tensor_row *tensor;
    int count;
    uint32_t version;
    uint64_t tensors, entries; // that the header claims
    uint64_t experts_used;
    const char *architecture;
    uint32_t entry_type;   // of one more entry
    uint64_t entry_length; // that its text or list claims
    uint64_t first_offset;
    size_t data;               // bytes behind the header; 0: none
    size_t cut;                // bytes to leave out at the end
    uint64_t part, parts, all; // of a model in several files
    bool is_bare;              // it has no other entries than these
};

static void add(struct str *s, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        str_add_char(s, (char)(value >> 8 * i));
}

static void add_text(struct str *s, const char *text)
{
    add(s, strlen(text), 8);
    str_add(s, text);
}

static void add_number(struct str *s, const char *key, uint32_t type, uint64_t value, int bytes)
{
    add_text(s, key);
    add(s, type, 4);
    add(s, value, bytes);
}

static void add_entries(struct str *s, const struct made *m)
{
    if (m->parts) {
        add_number(s, "split.no", 2, m->part, 2);
        add_number(s, "split.count", 2, m->parts, 2);
        add_number(s, "split.tensors.count", 5, m->all, 4);
    }
    if (m->is_bare)
        return;
    add_text(s, "general.architecture");
    add(s, 8, 4);
    add_text(s, m->architecture ? m->architecture : "llama");
    add_text(s, "tokens"); // a list of two texts
    add(s, 9, 4);
    add(s, 8, 4);
    add(s, 2, 8);
    add_text(s, "a");
    add_text(s, "b");
    add_text(s, "llama.expert_used_count");
    add(s, 4, 4);
    add(s, m->experts_used, 4);
    add_text(s, "llama.block_count");
    add(s, 10, 4);
    add(s, 2, 8);
    if (!m->entry_type)
        return;
    add_text(s, "more");
    add(s, m->entry_type, 4);
    if (m->entry_type == 9)
        add(s, 6, 4);
    add(s, m->entry_length, 8);
}

static void make(const struct made *m)
{
    struct str s = {0};
    struct err e;
    str_add(&s, "GGUF");
    add(&s, m->version ? m->version : 3, 4);
    add(&s, m->tensors ? m->tensors : (uint64_t)m->count, 8);
    uint64_t entries = (m->is_bare ? 0 : m->entry_type ? 5 : 4) + (m->parts ? 3 : 0);
    add(&s, m->entries ? m->entries : entries, 8);
    add_entries(&s, m);
    for (int i = 0; i < m->count; i++) {
        const struct tensor_row *t = &m->tensor[i];
        add_text(&s, t->name);
        add(&s, (uint64_t)t->rank, 4);
        for (int k = 0; k < t->rank; k++)
            add(&s, t->size[k], 8);
        add(&s, t->type, 4);
        add(&s, i ? 0 : m->first_offset, 8);
    }
    if (m->data) {
        while (s.length % 32)
            str_add_char(&s, 0);
        for (size_t i = 0; i < m->data; i++)
            str_add_char(&s, 0);
    }
    assert_true(file_write(path, str_text(&s), s.length - m->cut, &e));
    str_finish(&s);
}

enum { F32 = 0, F16 = 1, Q4_K = 12, Q6_K = 14, I32 = 26 };

#define BLOCK(n, experts)                                                                          \
    {"blk." #n ".attn_norm.weight", 1, {256}, F32},                                                \
        {"blk." #n ".attn_q.weight", 2, {256, 256}, Q4_K},                                         \
        {"blk." #n ".attn_k.weight", 2, {256, 64}, Q4_K},                                          \
        {"blk." #n ".attn_v.weight", 2, {256, 64}, n ? Q6_K : Q4_K},                               \
        {"blk." #n ".ffn_gate_inp.weight", 2, {256, experts}, F32},                                \
        {"blk." #n ".ffn_up_exps.weight", 3, {256, 512, experts}, Q4_K},                           \
    {                                                                                              \
        "blk." #n ".ffn_up_exps.bias", 2, {512, experts}, F32                                      \
    }

static const struct tensor_row model[] = {
    {"token_embd.weight", 2, {256, 1000}, Q4_K},
    BLOCK(0, 8),
    BLOCK(1, 8),
    {"output_norm.weight", 1, {256}, F32},
    {"output.weight", 2, {256, 1000}, F16},
};
enum { MODEL = sizeof model / sizeof *model };

static bool import_with(const struct setting *set, int count, struct imported *m, struct err *e)
{
    const struct import_format *f;
    const struct import_request q = {.path = path, .set = set, .set_count = count};
    assert_true(import_detect(path, &f, e));
    assert_ptr_equal(f, &import_gguf);
    return import_run(f, &q, m, e);
}

static void load(const struct imported *m, struct network *n)
{
    const struct script_text text = {"model.lua", "model.lua", str_text(&m->text)};
    const struct script_options o = {.path = "model.lua", .texts = &text, .text_count = 1};
    struct err e;
    if (!network_load(&o, n, &e))
        fail_msg("%s:%d: %s\n%s", e.file, e.line, e.text, text.text);
}

static void has(const struct network *n, const char *name, const char *title, int64_t uses)
{
    for (int i = 0; i < n->layer_count; i++) {
        const struct network_task *t = &n->task[n->layer[i].task];
        if (strcmp(n->layer[i].output.name, name) != 0)
            continue;
        assert_string_equal(t->title, title);
        assert_int_equal(n->layer[i].uses, uses);
        return;
    }
    fail_msg("no '%s'", name);
}

// --- files that are right ---

static void products_are_counted(void **state)
{
    const struct made m = {.tensor = model, .count = MODEL, .experts_used = 2};
    const struct setting one[] = {{"tokens", "3"}};
    struct imported read_model;
    struct network n;
    struct err e;
    (void)state;
    make(&m);
    assert_true(import_with(one, 1, &read_model, &e));
    assert_string_equal(read_model.about + strlen(read_model.about) - 15, "llama, 2 blocks");
    assert_int_equal(read_model.note_count, 1);
    wording_is("import", "gguf: rows looked up", read_model.note[0]);
    assert_non_null(strstr(str_text(&read_model.text), "q4_K, q6_K."));
    load(&read_model, &n);
    assert_true(n.is_list);
    assert_int_equal(n.layer_count, 7);
    has(&n, "attn_q.q4_K.n3", "matmul f16 nt 3x256x256", 2);
    has(&n, "attn_k.q4_K.n3", "matmul f16 nt 3x64x256", 2);
    has(&n, "attn_v.q4_K.n3", "matmul f16 nt 3x64x256", 1);
    has(&n, "attn_v.q6_K.n3", "matmul f16 nt 3x64x256", 1);
    has(&n, "ffn_gate_inp.f32.n3", "matmul f32 nt 3x8x256", 2);
    has(&n, "ffn_up_exps.q4_K.n3", "matmul f16 nt 1x512x256", 12); // 6 of 8, in 2 blocks
    has(&n, "output.f16.n3", "matmul f16 nt 3x1000x256", 1);
    assert_int_equal(n.task_count, 5);
    assert_int_equal(n.task[1].uses, 4); // k and v
    assert_int_equal(n.plan.step_count, 0);
    network_finish(&n);
    imported_finish(&read_model);
}

static void tokens_are_three_by_default(void **state)
{
    const struct made m = {.tensor = model, .count = MODEL, .experts_used = 2, .version = 2};
    struct imported read_model;
    struct network n;
    struct err e;
    (void)state;
    make(&m);
    assert_true(import_with(NULL, 0, &read_model, &e));
    load(&read_model, &n);
    assert_int_equal(n.layer_count, 21);
    has(&n, "ffn_up_exps.q4_K.n1", "matmul f16 nt 1x512x256", 4);
    has(&n, "ffn_up_exps.q4_K.n8", "matmul f16 nt 2x512x256", 16);
    has(&n, "ffn_up_exps.q4_K.n512", "matmul f16 nt 128x512x256", 16);
    network_finish(&n);
    imported_finish(&read_model);
    static const char *const bad[] = {"0", "1,x", "", "1,,2", "16777217"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct setting set[] = {{"tokens", bad[i]}};
        assert_false(import_with(set, 1, &read_model, &e));
        assert_true(e.usage);
        imported_finish(&read_model);
    }
    const struct setting other[] = {{"batch", "2"}};
    assert_false(import_with(other, 1, &read_model, &e));
    wording_is("import", "gguf: set batch", e.text);
    imported_finish(&read_model);
}

// A model without an output matrix uses that of the tokens; one that embeds texts has no such
// product.
static void output_may_be_tied(void **state)
{
    struct made m = {.tensor = model, .count = MODEL - 1, .experts_used = 1};
    const struct setting one[] = {{"tokens", "1"}};
    struct imported read_model;
    struct network n;
    struct err e;
    (void)state;
    make(&m);
    assert_true(import_with(one, 1, &read_model, &e));
    load(&read_model, &n);
    has(&n, "output.q4_K.n1", "matmul f16 nt 1x1000x256", 1);
    network_finish(&n);
    imported_finish(&read_model);
    m.architecture = "bert";
    make(&m);
    assert_true(import_with(one, 1, &read_model, &e));
    assert_null(strstr(str_text(&read_model.text), "\"output."));
    imported_finish(&read_model);
}

static const struct tensor_row odd[] = {
    {"mm.0.weight", 2, {32, 16}, F16},
    {"mm.1.weight", 2, {32, 16}, F16},
    {"blk.0.attn_k_b.weight", 3, {32, 16, 4}, F16}, // one of each head
    {"blk.0.ssm_conv1d.weight", 2, {4, 16}, F32},
    {"blk.0.ids.weight", 2, {4, 16}, I32},
    {"a\"b\\c\nd.weight", 2, {8, 8}, F16},
};

static void other_architectures_are_lists_too(void **state)
{
    const struct made m = {.tensor = odd, .count = 6};
    const struct setting one[] = {{"tokens", "2"}};
    struct imported read_model;
    struct network n;
    struct err e;
    (void)state;
    make(&m);
    assert_true(import_with(one, 1, &read_model, &e));
    assert_int_equal(read_model.note_count, 2);
    wording_is("import", "gguf: convolution", read_model.note[0]);
    wording_is("import", "gguf: whole numbers", read_model.note[1]);
    load(&read_model, &n);
    has(&n, "mm.1.f16.n2", "matmul f16 nt 2x16x32", 1);
    has(&n, "attn_k_b.f16.n2", "batch_matmul f16 nt 4x2x16x32", 1);
    has(&n, "a_b_c_d.f16.n2", "matmul f16 nt 2x8x8", 1);
    network_finish(&n);
    imported_finish(&read_model);
}

// --- files that are wrong ---

#define ROW(...)                                                                                   \
    (const struct tensor_row[])                                                                    \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct {
    struct made made;
    const char *expected; // after "PATH: "
} lies[] = {
    {{.version = 1}, "it is of version 1 of GGUF (convert it anew: 2 and 3 are read)"},
    {{.version = 0x03000000}, "it is of the other byte order"},
    {{.version = 9}, "it is of version 9 of GGUF (2 and 3 are read)"},
    {{.tensors = UINT64_MAX}, "its header says 18446744073709551615 tensors and 4 entries, more"},
    {{.tensors = 60000}, "its header says 60000 tensors"},
    {{.entries = 1 << 20}, "its header says 1 tensors and 1048576 entries"},
    {{.entry_type = 13}, "entry 4 'more': its value has type 13, which is none (0 to 12)"},
    {{.entry_type = 8, .entry_length = UINT64_MAX},
     "entry 4 'more': a text of 18446744073709551615"},
    {{.entry_type = 9, .entry_length = UINT64_MAX / 2}, "entry 4 'more': a list of "},
    {{.cut = 9}, "tensor 0 'output.weight': a type of 4 bytes at byte "},
    {{.cut = 50}, "tensor 0: "},
    {{.cut = 100}, "entry "},
    {{.tensor = ROW({"w.weight", 2, {32, UINT64_MAX}, F16})},
     "tensor 0 'w.weight': its dimension 1 is 18446744073709551615 (1 to 2147483647)"},
    {{.tensor = ROW({"w.weight", 2, {0, 1}, F16})}, "tensor 0 'w.weight': its dimension 0 is 0"},
    {{.tensor = ROW({"w.weight", 5, {1, 1, 1, 1, 1}, F16})},
     "tensor 0 'w.weight': it has 5 dimensions (the most is 4)"},
    {{.tensor = ROW({"w.weight", 2, {32, 32}, 4})},
     "tensor 0 'w.weight': its data type 4 is not known (is the file newer than this?)"},
    {{.tensor = ROW({"w.weight", 2, {32, 32}, 99})}, "tensor 0 'w.weight': its data type 99"},
    {{.tensor = ROW({"w.weight", 2, {32, 32}, Q4_K})},
     "tensor 0 'w.weight': rows of 32 elements are no blocks of 256 (q4_K)"},
    {{.tensor = ROW({"w.weight", 2, {8, 8}, F16}, {"w.weight", 2, {8, 8}, F16}), .count = 2},
     "it has the tensor 'w.weight' twice"},
    {{.tensor = ROW({"w.weight", 2, {32, 32}, F16}), .data = 4096, .first_offset = UINT64_MAX - 31},
     "tensor 'w.weight': its 2048 bytes at 18446744073709551584 lie in no file"},
    {{.tensor = ROW({"w.weight", 2, {32, 32}, F16}), .data = 4096, .first_offset = 8},
     "tensor 'w.weight': its data begin at 8, no multiple of 32"},
    {{.tensor = ROW({"a.weight", 2, {8, 8}, F16}, {"b.weight", 2, {8, 8}, F16}),
      .count = 2,
      .data = 4096},
     "its data lie in those of"},
    {{.tensor = ROW({"norm.weight", 1, {32}, F32})},
     "none of its 1 tensors is a matrix that is multiplied"},
    {{.tensor = ROW({"ffn_up_exps.weight", 3, {32, 32, 4}, F16})},
     "tensor 'ffn_up_exps.weight': of its 4 experts 0 are used, the file says"},
    {{.tensor = ROW({"ffn_up_exps.weight", 3, {32, 32, 4}, F16}), .experts_used = 5},
     "tensor 'ffn_up_exps.weight': of its 4 experts 5 are used"},
};

static void false_headers_are_refused(void **state)
{
    static const struct tensor_row fine = {"output.weight", 2, {32, 32}, F16};
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct made m = lies[i].made;
        struct imported read_model;
        struct err e;
        m.tensor = m.tensor ? m.tensor : &fine;
        m.count = m.count ? m.count : 1;
        make(&m);
        if (import_with(NULL, 0, &read_model, &e))
            fail_msg("'%s' is taken", lies[i].expected);
        if (strncmp(e.text, path, strlen(path)) != 0 || !strstr(e.text, lies[i].expected))
            fail_msg("got '%s', not '%s'", e.text, lies[i].expected);
        imported_finish(&read_model);
    }
}

// --- models in several files, and cut ones ---

// Writes part `number` of `m` as FOLDER/NAME, and imports it.
static void make_part(const char *folder, const char *name, const struct made *m)
{
    char *to = path_join(folder, name);
    make(m);
    assert_int_equal(rename(path, to), 0);
    free(to);
}

static bool import_part(const char *folder, const char *name, struct imported *m, struct err *e)
{
    char *from = path_join(folder, name);
    const struct import_request q = {.path = from};
    bool ok = import_run(&import_gguf, &q, m, e);
    free(from);
    return ok;
}

// The products follow `local products`; what is before them names the model.
static char *products_of(const struct imported *m)
{
    const char *from = strstr(str_text(&m->text), "local products");
    assert_non_null(from);
    return mem_printf("%s", from);
}

static void parts_are_joined(void **state)
{
    static const char *const name[] = {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"};
    char folder[] = "/tmp/tilewalk-gguf-parts-XXXXXX";
    const struct made whole = {.tensor = model, .count = MODEL, .experts_used = 2};
    struct imported m;
    struct err e;
    (void)state;
    assert_non_null(mkdtemp(folder));
    make(&whole);
    assert_true(import_with(NULL, 0, &m, &e));
    char *expected = products_of(&m);
    imported_finish(&m);
    // Of the two parts the first has the entries about the model, and some tensors or none.
    for (int first = 0; first <= 8; first += 8) {
        struct made part = {.tensor = model, .count = first, .experts_used = 2};
        part.parts = 2;
        part.all = MODEL;
        make_part(folder, name[0], &part);
        part.tensor = model + first;
        part.count = MODEL - first;
        part.part = 1;
        part.is_bare = true;
        make_part(folder, name[1], &part);
        for (int i = 0; i < 2; i++) {
            if (!import_part(folder, name[i], &m, &e))
                fail_msg("%s", e.text);
            char *got = products_of(&m);
            assert_string_equal(got, expected);
            assert_int_equal(m.note_count, 1);
            free(got);
            imported_finish(&m);
        }
    }
    assert_true(gguf_is_part(name[0], name[1]));
    assert_false(gguf_is_part(name[0], "m-00002-of-00003.gguf"));
    assert_false(gguf_is_part(name[0], "n-00002-of-00002.gguf"));
    assert_false(gguf_is_part(name[0], "m.gguf"));
    // A part that is not there is named, with what is known without it.
    char *gone = path_join(folder, name[1]);
    assert_int_equal(unlink(gone), 0);
    assert_true(import_part(folder, name[0], &m, &e));
    wording_is("import", "gguf: missing part", m.note[0]);
    assert_null(strstr(str_text(&m.text), "\"output."));
    imported_finish(&m);
    free(expected);
    free(gone);
    gone = path_join(folder, name[0]);
    assert_int_equal(unlink(gone), 0);
    free(gone);
    assert_int_equal(rmdir(folder), 0);
}

static void parts_that_differ_are_refused(void **state)
{
    static const char *const name[] = {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"};
    static const struct {
        struct made second;
        const char *expected;
    } rows[] = {
        {{.part = 0, .parts = 2, .all = 3}, "part 1 of 2"},
        {{.part = 1, .parts = 3, .all = 3}, "part 2 of 3"},
        {{.part = 1, .parts = 2, .all = 9}, "they say 9"},
        {{.part = 1, .parts = 2, .all = 2}, "they say 2"},
        {{.part = 7, .parts = 2, .all = 3}, "part 8 of 2"},
    };
    char folder[] = "/tmp/tilewalk-gguf-parts-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct made first = {.tensor = model, .count = 1, .parts = 2, .all = 3};
        struct made second = rows[i].second;
        struct imported m;
        struct err e;
        second.tensor = model + 2;
        second.count = 2;
        make_part(folder, name[0], &first);
        make_part(folder, name[1], &second);
        assert_false(import_part(folder, name[0], &m, &e));
        assert_non_null(strstr(e.text, rows[i].expected));
        imported_finish(&m);
    }
    for (int i = 0; i < 2; i++) {
        char *gone = path_join(folder, name[i]);
        assert_int_equal(unlink(gone), 0);
        free(gone);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void data_may_be_cut_off(void **state)
{
    const struct made m = {.tensor = ROW({"a.weight", 2, {32, 32}, F16}), .count = 1, .data = 2047};
    struct imported read_model;
    struct err e;
    (void)state;
    make(&m);
    assert_true(import_with(NULL, 0, &read_model, &e));
    assert_int_equal(read_model.note_count, 1);
    wording_is("import", "gguf: cut data", read_model.note[0]);
    imported_finish(&read_model);
}

static int set_up(void **state)
{
    (void)state;
    return close(mkstemp(path));
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

TEST_GROUP(gguf)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_counted),
        cmocka_unit_test(tokens_are_three_by_default),
        cmocka_unit_test(output_may_be_tied),
        cmocka_unit_test(other_architectures_are_lists_too),
        cmocka_unit_test(false_headers_are_refused),
        cmocka_unit_test(parts_are_joined),
        cmocka_unit_test(parts_that_differ_are_refused),
        cmocka_unit_test(data_may_be_cut_off),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
