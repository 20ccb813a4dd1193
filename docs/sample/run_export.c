// Runs a kernel that `tilewalk export` wrote. Plain Vulkan, and nothing of tilewalk but the header
// that was exported:
//
//     cc -O2 -DKERNEL_HEADER='"export/gemm-f32-nn-256x256x256.h"'
//         -DKERNEL_NAME=gemm_f32_nn_256x256x256_kernel run_export.c -lvulkan -lm -o run_export
//
// Products, alone or in batches, and convolutions, of f32, f16 and i8: it fills the inputs with
// small random integers, runs the kernel on the first device, compares the whole result with one in
// plain C (reference.h), and prints the time of a run and the largest error. It exits with 1 when
// the result is wrong and with 77 when there is no Vulkan device.
#define _POSIX_C_SOURCE 200809L

#include KERNEL_HEADER

#include "reference.h"
#include "vulkan.h"

enum { REPEATS = 20 };

static const struct tilewalk_kernel *const kernel = &KERNEL_NAME;

// --- the kernel ---------------------------------------------------------------------------------

struct program {
    struct layouts layouts;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipeline pass[MOST_PASSES];
    struct buffer buffer[MOST_BINDINGS];
};

// The size that a pass must have its subgroups in; 0: none minds.
static uint32_t wanted_subgroup(void)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < kernel->pass_count && !size; i++)
        size = kernel->passes[i].subgroup_size;
    return size;
}

// One buffer for each binding; all passes see all of them.
static void make_program(struct gpu *g, struct program *p)
{
    if (kernel->pass_count > MOST_PASSES)
        die("more passes than this sample has room for");
    p->layouts = make_layouts(g, kernel);
    for (uint32_t i = 0; i < kernel->pass_count; i++)
        p->pass[i] = make_pipeline(g, p->layouts.pipeline, &kernel->passes[i]);
    p->pool = make_descriptors(g, 1, kernel->binding_count);
    p->set = make_set(g, p->pool, &p->layouts);
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        p->buffer[i] =
            make_buffer(g, kernel->bindings[i].bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        bind_buffer(g, p->set, i, p->buffer[i].buffer);
    }
}

// All passes in order, each seeing what the one before it wrote.
static void record_run(struct gpu *g, const struct program *p)
{
    vkCmdBindDescriptorSets(g->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layouts.pipeline, 0, 1,
                            &p->set, 0, NULL);
    for (uint32_t i = 0; i < kernel->pass_count; i++)
        record_pass(g, p->layouts.pipeline, p->pass[i], &kernel->passes[i]);
}

// Seconds of the host's clock for one of `repeats` runs.
static double run(struct gpu *g, const struct program *p, int repeats)
{
    begin(g);
    for (int i = 0; i < repeats; i++)
        record_run(g, p);
    check(vkEndCommandBuffer(g->commands), "vkEndCommandBuffer");
    double start = now();
    submit_and_wait(g);
    return (now() - start) / repeats;
}

static void close_everything(struct gpu *g, struct program *p)
{
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        free_buffer(g, &p->buffer[i]);
    for (uint32_t i = 0; i < kernel->pass_count; i++)
        vkDestroyPipeline(g->device, p->pass[i], NULL);
    vkDestroyDescriptorPool(g->device, p->pool, NULL);
    free_layouts(g, &p->layouts);
    close_device(g);
}

// --- the whole ----------------------------------------------------------------------------------

// The caller frees.
static void *upload_random(struct gpu *g, struct buffer *b, enum number type)
{
    void *values = allocate(b->bytes);
    for (size_t i = 0; i < b->bytes / number_bytes(type); i++)
        number_draw(values, type, i);
    transfer(g, b, values, true);
    return values;
}

int main(void)
{
    struct gpu g = {0};
    struct program program = {0};
    struct problem p = read_problem(kernel);
    choose_device(&g);
    choose_queue(&g);
    open_device(&g, wanted_subgroup() > 0);
    make_commands(&g);
    make_program(&g, &program);
    struct buffer *result = &program.buffer[2];
    void *a = upload_random(&g, &program.buffer[0], p.in);
    void *b = upload_random(&g, &program.buffer[1], p.in);

    run(&g, &program, 1); // drivers compile and clocks wake up
    double seconds = run(&g, &program, REPEATS);

    void *c = allocate(result->bytes);
    transfer(&g, result, c, false);
    double error = largest_error(&p, a, b, c);
    printf("kernel         %s\n", kernel->name);
    printf("time           %.4g ms\n", seconds * 1e3);
    printf("largest error  %g\n", error);
    free(a);
    free(b);
    free(c);
    close_everything(&g, &program);
    return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
