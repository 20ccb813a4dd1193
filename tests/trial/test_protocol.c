// Frames, messages and injected faults' syntax: all without a process or a device.
#include "group.h"
#include "wording.h"

#include "base/mem.h"
#include "base/rng.h"
#include "trial/fault.h"
#include "trial/frame.h"
#include "trial/message.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct wires {
    int far;
    struct link near;
};

static struct wires open_wires(size_t cap)
{
    int ends[2];
    struct wires w;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    w.far = ends[1];
    link_init(&w.near, ends[0], cap);
    return w;
}

static void close_wires(struct wires *w)
{
    close(w->near.fd);
    if (w->far >= 0)
        close(w->far);
    link_finish(&w->near);
}

static void feed(struct wires *w, const void *bytes, size_t length)
{
    assert_int_equal(write(w->far, bytes, length), (int)length);
    link_fill(&w->near);
}

static void end(struct wires *w)
{
    close(w->far);
    w->far = -1;
    link_fill(&w->near);
}

static void frames_survive_any_cut(void **state)
{
    (void)state;
    static const char bytes[] = {0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 1, 'd'};
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        struct wires w = open_wires(100);
        char *got[3] = {NULL};
        int n = 0;
        feed(&w, bytes, cut);
        while (link_next(&w.near, &got[n]) == LINK_FRAME)
            n++;
        feed(&w, bytes + cut, sizeof bytes - cut);
        while (link_next(&w.near, &got[n]) == LINK_FRAME)
            n++;
        assert_int_equal(n, 2);
        assert_string_equal(got[0], "abc");
        assert_string_equal(got[1], "d");
        end(&w);
        assert_int_equal(link_next(&w.near, &got[2]), LINK_CLOSED);
        free(got[0]);
        free(got[1]);
        close_wires(&w);
    }
}

static void what_is_no_frame_is_garbage(void **state)
{
    (void)state;
    static const struct {
        unsigned char bytes[6];
        size_t length;
        bool ends;
        enum link_status expected;
    } cases[] = {
        {{0, 0, 0, 0}, 4, false, LINK_GARBAGE},             // empty
        {{0, 0, 0, 101}, 4, false, LINK_GARBAGE},           // above the cap
        {{0xff, 0xff, 0xff, 0xff}, 4, false, LINK_GARBAGE}, // far above
        {{0, 0, 0, 100}, 4, false, LINK_NONE},
        {{0, 0}, 2, false, LINK_NONE},
        {{0, 0}, 2, true, LINK_GARBAGE}, // half a header
        {{0, 0, 0, 4, 'x', 'y'}, 6, true, LINK_GARBAGE},
        {{0}, 0, true, LINK_CLOSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wires w = open_wires(100);
        char *text = NULL;
        feed(&w, cases[i].bytes, cases[i].length);
        if (cases[i].ends)
            end(&w);
        assert_int_equal(link_next(&w.near, &text), cases[i].expected);
        close_wires(&w);
    }
}

// The near end never blocks, however slowly the far one reads.
static void a_large_frame_leaves_in_pieces(void **state)
{
    (void)state;
    enum { SIZE = 3 << 20 };
    struct wires w = open_wires(FRAME_MAX_BYTES);
    struct link far;
    char *text = mem_alloc(SIZE + 1), *got = NULL;
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    link_init(&far, w.far, FRAME_MAX_BYTES);
    fcntl(w.far, F_SETFL, O_NONBLOCK);
    assert_true(link_queue(&w.near, text));
    int rounds = 0;
    enum link_status status;
    while ((status = link_next(&far, &got)) == LINK_NONE) {
        assert_true(link_flush(&w.near));
        link_fill(&far);
        rounds++;
    }
    assert_int_equal(status, LINK_FRAME);
    assert_true(rounds > 1);
    assert_string_equal(got, text);
    assert_false(link_has_output(&w.near));
    free(got);
    free(text);
    link_finish(&far);
    end(&w);
    assert_true(link_queue(&w.near, "late"));
    assert_false(link_flush(&w.near)); // and no SIGPIPE
    close_wires(&w);
}

static void too_long_a_frame_is_refused(void **state)
{
    (void)state;
    char *text = mem_alloc(FRAME_MAX_BYTES + 2);
    struct link l;
    memset(text, 'x', FRAME_MAX_BYTES + 1);
    text[FRAME_MAX_BYTES + 1] = '\0';
    link_init(&l, -1, 100);
    assert_false(link_queue(&l, text));
    assert_false(link_has_output(&l));
    link_finish(&l);
    free(text);
}

static struct hello sample_hello(void)
{
    struct hello h = {.device = 2,
                      .device_id = "0123456789abcdef0123456789abcdef",
                      .validate = true,
                      .limits = {.invocations = 1024,
                                 .group_size = {1, 2, 3},
                                 .group_count = {65535, 65534, 4294967295u},
                                 .shared_bytes = 32768,
                                 .buffer_bytes = UINT64_MAX,
                                 .buffers = 1 << 20,
                                 .features = FEATURE_SUBGROUP | FEATURE_F64,
                                 .loop_trips = 65535,
                                 .accumulators = 9,
                                 .statements = 10,
                                 .subgroup_size = 8,
                                 .f16 = true,
                                 .i8 = true},
                      .trips_undeclared = true,
                      .seed = UINT64_MAX - 1,
                      .start = 3,
                      .fault = "segv@run:3"};
    static const char words[] = "khr 16x8x16.f16.f32 8x8x32.i8.i32";
    assert_true(matrix_units_parse(words, &h.limits.matrix));
    operation_init(&h.operation, operation_kind_find("batch_matmul"));
    operation_set_size(&h.operation, "N", 2147483647, NULL);
    operation_set_size(&h.operation, "M", 65536, NULL);
    operation_set_size(&h.operation, "batch", 3, NULL);
    operation_set_size(&h.operation, "K", 77, NULL);
    operation_set_real(&h.operation, "scale", -1.0 / 3, NULL);
    operation_set_choice(&h.operation, "layout", "tn", NULL);
    operation_complete(&h.operation, NULL); // its matrices lie more than 2^32 elements apart
    for (int i = 0; i < PHASE_COUNT; i++)
        h.deadline_s[i] = 0.1 * i;
    return h;
}

static void hello_arrives(void **state)
{
    (void)state;
    struct hello h = sample_hello();
    struct message m;
    struct err e = {0};
    char *text = message_hello(&h);
    assert_true(message_parse(text, &m, &e));
    assert_int_equal(m.type, MESSAGE_HELLO);
    assert_ptr_equal(m.hello.operation.kind, h.operation.kind);
    assert_memory_equal(m.hello.operation.size, h.operation.size, sizeof h.operation.size);
    assert_memory_equal(m.hello.operation.choice, h.operation.choice, sizeof h.operation.choice);
    assert_memory_equal(&m.hello.limits, &h.limits, offsetof(struct limits, f16));
    assert_memory_equal(&m.hello.limits.matrix, &h.limits.matrix, sizeof h.limits.matrix);
    assert_memory_equal(m.hello.operation.real, h.operation.real, sizeof h.operation.real);
    assert_true(m.hello.limits.i8 && m.hello.limits.f16 && m.hello.validate && m.hello.device == 2);
    assert_true(m.hello.trips_undeclared && m.hello.seed == h.seed && m.hello.start == 3);
    assert_memory_equal(m.hello.deadline_s, h.deadline_s, sizeof h.deadline_s);
    assert_string_equal(m.hello.fault, h.fault);
    assert_string_equal(m.hello.device_id, h.device_id);
    free(text);
}

static char made[] = {0, 1, '\x7f', '\xff', 'x'};

static bool is_made(const struct gpu_kept *k)
{
    return k->size == sizeof made && memcmp(k->bytes, made, sizeof made) == 0;
}

static char *sample_trial(void)
{
    static char glsl[] = "#version 450\n\"quotes\" \\ \t\x01 caf\xc3\xa9", name[] = "a.comp";
    static int lines[] = {1, 5, 9};
    static struct job_image image = {5, {TEXEL_rgba16f, IMAGE_3D, 64, 32, 7}};
    struct trial_request r = {.count = 3,
                              .race = true,
                              .known_good = true,
                              .accesses = ACCESSES_OF_NONE,
                              .incumbent_s = 1e-5 / 3,
                              .slowdown = 7.0 / 3};
    for (int i = 0; i < 3; i++) {
        r.job[i].scratch_bytes = (uint64_t)i << 33;
        r.job[i].spirv_minor = i ? 6 : 0;
        for (int p = 0; p <= i; p++)
            *job_add_pass(&r.job[i]) = (struct pass){.glsl = glsl,
                                                     .template_name = name,
                                                     .line_map = lines,
                                                     .line_count = 3,
                                                     .groups = {1, 2, (uint32_t)(10 * i + p)},
                                                     .once = p == 0,
                                                     .subgroup = 16u * (uint32_t)p,
                                                     .binding = {{1, 2, 5, 3}},
                                                     .binding_count = 1,
                                                     .image = &image,
                                                     .image_count = 1};
    }
    const struct kept kept = {.made = {made, sizeof made}, .seconds = 0.5};
    char *text = message_trial(&r, (const int[]){2, 0}, 2, 41, 1, &kept);
    for (int i = 0; i < 3; i++)
        free(r.job[i].pass);
    return text;
}

static void trials_arrive(void **state)
{
    (void)state;
    char *text = sample_trial();
    struct message m;
    assert_true(message_parse(text, &m, NULL));
    assert_int_equal(m.type, MESSAGE_TRIAL);
    assert_int_equal(m.request.count, 2);
    assert_true(m.request.race && m.request.known_good && !m.request.only_compiles);
    assert_true(m.kept_s == 0.5 && !m.request.keeps && is_made(&m.kept));
    assert_true(m.request.incumbent_s == 1e-5 / 3);
    assert_true(m.request.slowdown == 7.0 / 3);
    assert_int_equal(m.request.accesses, ACCESSES_OF_NONE);
    assert_true(m.number == 41 && m.attempt == 1);
    const struct job *first = &m.request.job[0];
    assert_true(first->scratch_bytes == (uint64_t)2 << 33 && first->pass_count == 3);
    assert_int_equal(m.request.job[1].pass_count, 1);
    assert_true(first->spirv_minor == 6 && !m.request.job[1].spirv_minor);
    assert_string_equal(first->pass[1].glsl, "#version 450\n\"quotes\" \\ \t\x01 caf\xc3\xa9");
    assert_string_equal(first->pass[1].template_name, "a.comp");
    assert_int_equal(first->pass[2].groups[2], 22);
    assert_true(first->pass[0].once && first->pass[2].subgroup == 32 && !first->pass[2].once);
    assert_true(first->pass[2].line_count == 3 && first->pass[2].line_map[2] == 9);
    const struct job_binding *bound = first->pass[1].binding;
    assert_true(bound->set == 1 && bound->binding == 2 && bound->buffer == 5);
    assert_true(first->pass[1].binding_count == 1 && bound->element == 3);
    const struct image_form form = {TEXEL_rgba16f, IMAGE_3D, 64, 32, 7};
    const struct job_image *seen = pass_image_of(&first->pass[1], 5);
    assert_true(seen && image_is_same(&seen->form, &form) && !pass_image_of(&first->pass[1], 4));
    message_finish(&m);
    free(text);
}

static char *sample_result(void)
{
    struct trial_result r = {
        .count = 2,
        .outcome = {OUTCOME_OK, OUTCOME_WRONG},
        .seconds = {0.1, 0},
        .samples = {{.seconds = {0.1, 0.30000000000000004}, .count = 2, .early_stopped = true}},
        .phase = {PHASE_NONE, PHASE_VERIFY},
        .reason = {"", "C[1,2] = nan \xff bad"},
        .compile_s = 1,
        .pipeline_s = 2,
        .device_s = 3};
    return message_result(&r, false, (const bool[]){true, false},
                          &(struct gpu_kept){made, sizeof made}, 123456789012345);
}

static void results_arrive(void **state)
{
    (void)state;
    char *text = sample_result();
    struct message m;
    assert_true(message_parse(text, &m, NULL));
    assert_int_equal(m.result.count, 2);
    assert_true(m.settled[0] && !m.settled[1] && m.at_ns == 123456789012345);
    assert_int_equal(m.result.outcome[1], OUTCOME_WRONG);
    assert_int_equal(m.result.samples[0].count, 2);
    assert_true(m.result.samples[0].seconds[1] == 0.30000000000000004);
    assert_true(m.result.samples[0].early_stopped && m.result.phase[1] == PHASE_VERIFY);
    assert_true(m.result.phase[0] == PHASE_NONE && m.result.reason[0][0] == '\0');
    assert_string_equal(m.result.reason[1], "C[1,2] = nan \xef\xbf\xbd bad");
    assert_true(is_made(&m.kept));
    message_finish(&m);
    free(text);
}

// No prefix of a message is one, and no single changed byte makes the parser read beyond what is
// there.
static void damaged_messages_are_refused_or_harmless(void **state)
{
    (void)state;
    struct hello h = sample_hello();
    char *texts[] = {message_hello(&h),
                     sample_trial(),
                     sample_result(),
                     message_text(&(struct message){MESSAGE_PHASE, .phase = PHASE_RUN,
                                                    .candidate = 3, .at_ns = 77}),
                     message_failed(&(struct err){.text = "x"}),
                     message_plain(MESSAGE_REST)};
    struct rng r;
    rng_seed(&r, 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t length = strlen(texts[i]);
        struct message m;
        for (size_t cut = 0; cut < length; cut++) {
            char *copy = mem_strdup(texts[i]);
            copy[cut] = '\0';
            assert_false(message_parse(copy, &m, NULL));
            free(copy);
        }
        for (int k = 0; k < 300; k++) {
            char *copy = mem_strdup(texts[i]);
            copy[rng_below(&r, length)] = (char)(1 + rng_below(&r, 255));
            if (message_parse(copy, &m, NULL))
                message_finish(&m);
            free(copy);
        }
        free(texts[i]);
    }
}

static void implausible_messages_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "null",
        "{\"type\":3}",
        "{\"type\":\"nonsense\"}",
        "{\"type\":\"phase\",\"phase\":\"lunch\",\"candidate\":0,\"at_ns\":1}",
        "{\"type\":\"phase\",\"phase\":\"run\",\"candidate\":65537,\"at_ns\":1}",
        "{\"type\":\"phase\",\"phase\":\"run\",\"candidate\":-1,\"at_ns\":1}",
        "{\"type\":\"phase\",\"phase\":\"run\",\"candidate\":0,\"at_ns\":1e300}",
        "{\"type\":\"result\",\"at_ns\":1,\"compile_s\":0,"
        "\"pipeline_s\":0,\"device_s\":0,\"candidates\":[{\"outcome\":\"ok\",\"settled\":true,"
        "\"phase\":\"none\",\"reason\":\"\","
        "\"seconds\":0,\"samples\":[],\"early_stopped\":false}]}",
        "{\"type\":\"result\",\"at_ns\":1,\"compile_s\":0,"
        "\"pipeline_s\":0,\"device_s\":0,\"candidates\":[{\"outcome\":\"great\",\"settled\":true,"
        "\"phase\":\"none\",\"reason\":\"\","
        "\"seconds\":1,\"samples\":[1],\"early_stopped\":false}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct message m;
        struct err e = {0};
        assert_false(message_parse(bad[i], &m, &e));
        assert_true(e.text[0] != '\0');
    }
}

static void faults_are_parsed(void **state)
{
    (void)state;
    struct fault_plan p;
    struct err e;
    assert_true(fault_parse(NULL, &p, &e) && p.count == 0);
    assert_true(fault_parse("segv@run:3,lost@time:*,sleep@none:1", &p, &e));
    assert_int_equal(fault_find(&p, PHASE_RUN, 3), FAULT_SEGV);
    assert_int_equal(fault_find(&p, PHASE_RUN, 4), FAULT_NONE);
    assert_int_equal(fault_find(&p, PHASE_TIME, 99), FAULT_LOST);
    assert_int_equal(fault_find(&p, PHASE_NONE, 1), FAULT_SLEEP);
    assert_int_equal(fault_find(&p, PHASE_VERIFY, 3), FAULT_NONE);
    static const char *const bad[] = {"segv",       "segv@run",   "none@run:1", "segv@tea:1",
                                      "segv@run:0", "segv@run:x", "segv@run:",  "bang@run:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(fault_parse(bad[i], &p, &e));
}

// Adds the names of a message's members in their order, as "type machine member{leaves why}".
static void add_names(const char *text, struct str *out)
{
    const char *begin = NULL, *end = NULL; // of the last string
    for (const char *at = text; *at; at++) {
        if (*at == '"') {
            for (begin = ++at; *at != '"'; at++)
                at += *at == '\\';
            end = at;
        } else if (*at == ':') {
            str_printf(out, " %.*s", (int)(end - begin), begin);
        } else if (*at == '{' || *at == '}') {
            str_add_char(out, *at);
        }
    }
}

// Where this test fails, the members of messages that cross machines have changed: raise PROTOCOL
// (trial/message.h says when), and let TILEWALK_UPDATE_GOLDEN=1 record the members anew.
static void members_belong_to_the_number(void **state)
{
    (void)state;
    struct hello h = sample_hello();
    struct greeting g = greeting_of_this();
    struct gpu_info device = {.name = "x"};
    struct message plain[] = {
        {MESSAGE_GREET, .greeting = g},
        {MESSAGE_MEMBER, .greeting = g, .member = {.players = 1}, .device_list = &device,
         .device_count = 1},
        {MESSAGE_LEAVE, .greeting = {.machine = "a-1"}, .member = {.why = "why"}},
        {MESSAGE_PLAY, .workers = 2},
        {MESSAGE_SAID, .worker = 1, .said = "line"},
        {MESSAGE_LIST},
        {MESSAGE_DEVICES, .device_list = &device, .device_count = 1},
    };
    char *texts[] = {message_text(&plain[0]),
                     message_text(&plain[1]),
                     message_text(&plain[2]),
                     message_text(&plain[3]),
                     message_text(&plain[4]),
                     message_text(&plain[5]),
                     message_text(&plain[6]),
                     message_hello(&h),
                     sample_trial(),
                     sample_result(),
                     message_failed(&(struct err){.text = "x"})};
    struct wording r;
    struct str number = {0};
    str_printf(&number, "%d", PROTOCOL);
    wording_begin(&r, "trial", "protocol");
    wording_add(&r, "its number", str_text(&number));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct str names = {0};
        struct message m;
        add_names(texts[i], &names);
        assert_true(message_parse(texts[i], &m, NULL));
        wording_add(&r, message_type_name(m.type), str_text(&names));
        message_finish(&m);
        str_finish(&names);
        free(texts[i]);
    }
    wording_end(&r);
    str_finish(&number);
}

// A process of another protocol gets only its number and its build read, one from before there were
// numbers has 0. The build alone makes no difference.
static void greetings_compare_the_protocol(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"type\":\"greet\",\"version\":\"0.1.0\",\"cores\":8}", "protocol 0 (tilewalk 0.1.0)"},
        {"{\"type\":\"greet\",\"protocol\":77,\"version\":\"9.1 (abc)\",\"machine\":3}",
         "protocol 77 (tilewalk 9.1 (abc))"},
    };
    struct message m;
    char why[200], number[40];
    snprintf(number, sizeof number, "this program %d (tilewalk ", PROTOCOL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(message_parse(cases[i].text, &m, NULL));
        assert_false(greeting_fits(&m.greeting, "it", why, sizeof why));
        assert_non_null(strstr(why, cases[i].why));
        assert_non_null(strstr(why, number));
        assert_non_null(strstr(why, build_name()));
        message_finish(&m);
    }
    struct greeting other = greeting_of_this();
    snprintf(other.build, sizeof other.build, "another");
    char *text = message_text(&(struct message){MESSAGE_GREET, .greeting = other});
    assert_true(message_parse(text, &m, NULL));
    assert_true(greeting_fits(&m.greeting, "it", why, sizeof why));
    assert_string_equal(m.greeting.build, "another");
    assert_string_equal(m.greeting.machine, other.machine);
    message_finish(&m);
    free(text);
}

TEST_GROUP(protocol)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_survive_any_cut),
        cmocka_unit_test(members_belong_to_the_number),
        cmocka_unit_test(greetings_compare_the_protocol),
        cmocka_unit_test(what_is_no_frame_is_garbage),
        cmocka_unit_test(a_large_frame_leaves_in_pieces),
        cmocka_unit_test(too_long_a_frame_is_refused),
        cmocka_unit_test(hello_arrives),
        cmocka_unit_test(trials_arrive),
        cmocka_unit_test(results_arrive),
        cmocka_unit_test(damaged_messages_are_refused_or_harmless),
        cmocka_unit_test(implausible_messages_are_refused),
        cmocka_unit_test(faults_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
