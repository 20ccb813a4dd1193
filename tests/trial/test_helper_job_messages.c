// The messages of helper jobs: requests of the engine to a worker that it starts for one of them.
#include "group.h"

#include "base/mem.h"
#include "base/rng.h"
#include "trial/message.h"
#include "trial/peaks.h"

#include <stddef.h>
#include <string.h>

static char *sample_devices(void)
{
    struct limits limits = {.invocations = 1024,
                            .group_size = {1, 2, 3},
                            .shared_bytes = 32768,
                            .buffer_bytes = UINT64_MAX,
                            .subgroup_size = 8,
                            .i8 = true};
    struct matrix_units units;
    static const char words[] = "khr 16x8x16.f16.f32 8x8x32.i8.i32";
    assert_true(matrix_units_parse(words, &units));
    struct gpu_info list[2] = {{.index = 0,
                                .name = "a \"GPU\"",
                                .type = "discrete",
                                .driver = "driver 1",
                                .driver_hash = "0123456789abcdef0123456789abcdef",
                                .vendor_id = UINT32_MAX,
                                .device_id = 2,
                                .driver_version = 3,
                                .api_version = 4,
                                .device_uuid = "d",
                                .driver_uuid = "e",
                                .timestamps = true,
                                .runs = true,
                                .limits = limits,
                                .matrix_khr = units},
                               {.index = 1,
                                .name = "a CPU",
                                .threads = 3,
                                .is_cpu = true,
                                .is_lavapipe = true,
                                .limits = limits}};
    return message_text(&(struct message){MESSAGE_DEVICES, .device_list = list, .device_count = 2});
}

static void devices_arrive(void **state)
{
    (void)state;
    char *text = sample_devices(), *again;
    struct message m;
    assert_true(message_parse(text, &m, NULL));
    assert_int_equal(m.type, MESSAGE_DEVICES);
    assert_int_equal(m.device_count, 2);
    const struct gpu_info *d = m.device_list;
    assert_string_equal(d[0].name, "a \"GPU\"");
    assert_true(d[0].vendor_id == UINT32_MAX && d[0].timestamps && !d[0].is_cpu);
    assert_true(d[1].threads == 3 && d[1].is_cpu && d[1].is_lavapipe && !d[1].timestamps);
    assert_true(d[0].matrix_khr.count == 2 && d[0].matrix_nv.count == 0);
    again = message_text(&m); // all of it came
    assert_string_equal(again, text);
    message_finish(&m);
    free(again);
    free(text);
}

static char *sample_modules(void)
{
    uint32_t words[] = {0x07230203, 0, UINT32_MAX};
    return message_text(&(struct message){
        MESSAGE_COMPILED, .module = {{words, 3}, {words, 0}, {words + 1, 1}}, .module_count = 3});
}

static void modules_arrive(void **state)
{
    (void)state;
    char *text = sample_modules();
    struct message m;
    assert_true(message_parse(text, &m, NULL));
    assert_int_equal(m.module_count, 3);
    assert_int_equal(m.module[0].count, 3);
    assert_int_equal(m.module[0].word[0], 0x07230203);
    assert_true(m.module[0].word[2] == UINT32_MAX);
    assert_int_equal(m.module[1].count, 0);
    assert_int_equal(m.module[2].word[0], 0);
    message_finish(&m);
    free(text);
    static const char *const bad[] = {"0723020", "0723020G", "0723020300"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        text = mem_printf("{\"type\":\"compiled\",\"modules\":[\"07230203\",\"%s\"]}", bad[i]);
        assert_false(message_parse(text, &m, NULL));
        free(text);
    }
}

static void texts_arrive(void **state)
{
    (void)state;
    static char given[] = "void main() {\n}\n", empty[] = "";
    struct message m = {MESSAGE_PREPROCESSED, .text = {given, empty}, .text_count = 2};
    char *text = message_text(&m);
    assert_true(message_parse(text, &m, NULL));
    assert_int_equal(m.text_count, 2);
    assert_string_equal(m.text[0], "void main() {\n}\n");
    assert_string_equal(m.text[1], "");
    message_finish(&m);
    free(text);
    struct str many = {0};
    str_add(&many, "{\"type\":\"preprocessed\",\"texts\":[");
    for (int i = 0; i <= JOB_MAX_PASSES; i++)
        str_add(&many, i ? ",\"\"" : "\"\"");
    str_add(&many, "]}");
    assert_false(message_parse(str_text(&many), &m, NULL));
    assert_false(message_parse("{\"type\":\"preprocessed\",\"texts\":[7]}", &m, NULL));
    str_finish(&many);
}

static void push_constants_arrive(void **state)
{
    (void)state;
    struct message m;
    static char glsl[] = "void main() {}", name[] = "a.lua", entry[] = "first";
    const struct job job = {
        .pass_count = 1,
        .pass = &(struct pass){.glsl = glsl,
                               .space_name = name,
                               .space_line = 7,
                               .push.byte = {1, 2, 255},
                               .push.bytes = 4,
                               .push.field = {{PUSH_SIGNED, 1, 0, 3, "rows"}},
                               .push.field_count = 1,
                               .address = {2},
                               .address_count = 1,
                               .binding = {{3, 5, 1}},
                               .binding_count = 1,
                               .uniform = &(struct job_uniform){1, 4, {.byte = {9}, .bytes = 4}},
                               .uniform_count = 1,
                               .entry = entry,
                               .local_size = {64, 2, 1}},
        .begin = {{BEGIN_POISON, 0}, {BEGIN_COPY, 0}, {BEGIN_KEPT, 0}}};
    char *text = message_text(&(struct message){MESSAGE_COMPILE, .request.job = {job}});
    assert_true(message_parse(text, &m, NULL));
    free(text);
    const struct pass *p = &m.request.job[0].pass[0];
    const struct push_field *f = &p->push.field[0];
    assert_true(p->push.bytes == 4 && p->push.byte[2] == 255 && p->push.field_count == 1);
    assert_true(p->address_count == 1 && p->address[0] == 2 && p->binding_count == 1);
    assert_true(p->binding[0].set == 3 && p->binding[0].binding == 5 && p->binding[0].buffer == 1);
    assert_true(p->uniform_count == 1 && p->uniform[0].set == 1 && p->uniform[0].binding == 4);
    assert_true(p->uniform[0].block.bytes == 4 && p->uniform[0].block.byte[0] == 9);
    assert_string_equal(p->entry, "first");
    assert_true(p->local_size[0] == 64 && p->local_size[1] == 2 && p->local_size[2] == 1);
    const struct job *got = &m.request.job[0];
    assert_true(got->begin[1].how == BEGIN_COPY && got->begin[2].how == BEGIN_KEPT);
    assert_true(f->kind == PUSH_SIGNED && f->bytes == 1 && f->at == 0 && f->count == 3);
    assert_string_equal(f->name, "rows");
    assert_string_equal(p->space_name, "a.lua");
    assert_int_equal(p->space_line, 7);
    message_finish(&m);
    job.pass->address[0] = JOB_MAX_BUFFERS; // no buffer has that number
    text = message_text(&(struct message){MESSAGE_COMPILE, .request.job = {job}});
    assert_false(message_parse(text, &m, NULL));
    free(text);
}

static void helper_jobs_arrive(void **state)
{
    (void)state;
    struct message m;
    struct err why = {.file = "a.comp", .line = 12, .text = "no"};
    static char glsl[] = "void main() {}", name[] = "a.comp";
    const struct job job = {.pass_count = 1,
                            .pass = &(struct pass){.glsl = glsl, .template_name = name}};
    struct message sent[] = {{MESSAGE_COMPILE, .request.job = {job}},
                             {MESSAGE_PREPROCESS, .request.job = {job}},
                             {MESSAGE_LIST, .drivers = "/a.json:/b.json"},
                             {MESSAGE_OPEN, .device = 7, .validate = true},
                             {MESSAGE_FAILED, .failure = why},
                             {MESSAGE_ROOF, .roofline = {.rate = {1e9}}},
                             {MESSAGE_PEAKS, .device = 3},
                             {MESSAGE_OPENED, .clocks = {{1, {{"celsius", 71}}}, "why"}}};
    char *texts[sizeof sent / sizeof *sent];
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
        texts[i] = message_text(&sent[i]);
    assert_true(message_parse(texts[0], &m, NULL));
    assert_int_equal(m.request.job[0].pass_count, 1);
    assert_string_equal(m.request.job[0].pass[0].glsl, glsl);
    message_finish(&m);
    assert_true(message_parse(texts[1], &m, NULL) && m.type == MESSAGE_PREPROCESS);
    assert_string_equal(m.request.job[0].pass[0].glsl, glsl);
    message_finish(&m);
    assert_true(message_parse(texts[2], &m, NULL));
    assert_string_equal(m.drivers, "/a.json:/b.json");
    assert_true(message_parse(texts[3], &m, NULL));
    assert_true(m.device == 7 && m.validate);
    assert_true(message_parse(texts[4], &m, NULL));
    assert_string_equal(m.failure.file, "a.comp");
    assert_int_equal(m.failure.line, 12);
    assert_string_equal(m.failure.text, "no");
    assert_true(message_parse(texts[5], &m, NULL));
    assert_true(m.roofline.rate[ROOFLINE_F32] == 1e9 && m.roofline.rate[ROOFLINE_BYTES] == 0);
    assert_true(message_parse(texts[6], &m, NULL));
    assert_int_equal(m.device, 3);
    assert_true(message_parse(texts[7], &m, NULL));
    assert_true(m.clocks.now.count == 1 && m.clocks.now.item[0].value == 71);
    assert_string_equal(m.clocks.why, "why");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

static char *sample_whole(void)
{
    static char glsl[] = "void main() {}", name[] = "a.comp";
    const struct job job = {.pass_count = 1,
                            .pass = &(struct pass){.glsl = glsl, .template_name = name}};
    const struct tensor t = {.name = "Y", .rank = 1, .size = {6}, .stride = {1}};
    struct whole_task task[2] = {{.job = {job}}, {.job = {job, job}}};
    struct whole w = {.task = task, .task_count = 2, .races = true};
    for (int i = 0; i < 2; i++) {
        operation_init(&task[i].operation, operation_kind_find("elementwise"));
        assert_true(operation_set_size(&task[i].operation, "count", 6, NULL));
        assert_true(operation_complete(&task[i].operation, NULL));
    }
    plan_init(&w.plan);
    for (int i = 0; i < 3; i++)
        plan_add_value(&w.plan, i ? "y" : "x", i ? PLAN_OUTPUT : PLAN_INPUT, &t);
    plan_add_step(&w.plan, "one", 0, (int[]){0, 1}, 2);
    plan_add_step(&w.plan, "two", 1, (int[]){1, 2}, 2);
    plan_place(&w.plan);
    char *text = message_text(&(struct message){MESSAGE_WHOLE, .whole = &w});
    plan_finish(&w.plan);
    return text;
}

static char *sample_whole_result(void)
{
    struct whole_result r = {.verified = true,
                             .reason = "too \"long\"",
                             .samples = {{.seconds = {0.25, 0.5}, .count = 2}},
                             .seconds = {0.25, 0}};
    return message_text(&(struct message){MESSAGE_WHOLE_RESULT, .whole_result = &r});
}

static void networks_arrive(void **state)
{
    (void)state;
    struct message m;
    char *text = sample_whole(), *result = sample_whole_result();
    assert_true(message_parse(text, &m, NULL));
    assert_true(m.whole->races && m.whole->task_count == 2 && m.whole->plan.step_count == 2);
    assert_int_equal(m.whole->task[0].job[1].pass_count, 0);
    assert_int_equal(m.whole->task[1].job[1].pass_count, 1);
    assert_int_equal(m.whole->plan.value[2].offset, PLAN_PLACE_BYTES);
    assert_string_equal(m.whole->task[1].operation.kind->name, "elementwise");
    message_finish(&m);
    assert_true(message_parse(result, &m, NULL));
    assert_true(m.whole_result->verified && m.whole_result->samples[0].count == 2);
    assert_true(m.whole_result->seconds[0] == 0.25 && m.whole_result->seconds[1] == 0);
    assert_string_equal(m.whole_result->reason, "too \"long\"");
    message_finish(&m);
    free(text);
    free(result);
}

// No single changed byte makes the parser read beyond what is there.
static void damaged_ones_are_harmless(void **state)
{
    (void)state;
    char *texts[] = {sample_devices(), sample_modules(), sample_whole(), sample_whole_result()};
    struct message m;
    struct rng r;
    rng_seed(&r, 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int k = 0; k < 2000; k++) {
            char *copy = mem_strdup(texts[i]);
            copy[rng_below(&r, strlen(texts[i]))] = (char)(1 + rng_below(&r, 255));
            if (message_parse(copy, &m, NULL))
                message_finish(&m);
            free(copy);
        }
        free(texts[i]);
    }
}

// A kernel with matrix units that no device here has, compiled by the built-in compiler.
static void kernels_for_matrix_units_compile(void **state)
{
    (void)state;
    static const struct matrix_shape shapes[] = {
        {16, 8, 16, "f16", "f32"},   {16, 16, 16, "f16", "f16"},    {16, 16, 32, "i8", "i32"},
        {16, 16, 16, "bf16", "f32"}, {16, 16, 32, "f8e4m3", "f32"}, {16, 16, 32, "f8e5m2", "f32"}};
    kernel_setup();
    for (int api = MATRIX_NV; api < MATRIX_API_COUNT; api++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            struct str glsl = {0};
            struct spirv spirv;
            struct err e;
            if (i > 2 && (api == MATRIX_NV || !kernel_knows_float(element_named(shapes[i].input))))
                continue;
            peaks_add_matrix((enum matrix_api)api, &shapes[i], &glsl);
            if (kernel_knows_matrix((enum matrix_api)api)) {
                if (!kernel_compile(str_text(&glsl), &spirv, &e))
                    fail_msg("%s:%d\n%s", e.text, e.line, str_text(&glsl));
                spirv_finish(&spirv);
            }
            str_finish(&glsl);
        }
}

TEST_GROUP(helper_job_messages)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_arrive),
        cmocka_unit_test(modules_arrive),
        cmocka_unit_test(texts_arrive),
        cmocka_unit_test(push_constants_arrive),
        cmocka_unit_test(helper_jobs_arrive),
        cmocka_unit_test(networks_arrive),
        cmocka_unit_test(damaged_ones_are_harmless),
        cmocka_unit_test(kernels_for_matrix_units_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
