// Runs a network that `tilewalk export` wrote. Plain Vulkan, and nothing of tilewalk but the folder
// that was exported, into which this program was copied with two lines in front of it:
//
//     cc -O2 run.c -lvulkan -lm -o run && ./run
//
// It loads the inputs and weights (the first argument is the data file, otherwise the one beside
// it), runs the network on the first device, compares what it gives with what is right, and prints
// the time of a run and the largest error, as a share of the largest right number. It exits with 1
// when that is too large, and with 77 when there is no Vulkan device.
#define _POSIX_C_SOURCE 200809L

#include NETWORK_HEADER

#include "numbers.h"
#include "vulkan.h"

enum { FEWEST_BATCHES = 2, MOST_BATCHES = 32, MOST_REPEATS = 10000 };
#define GPU_BATCH_S 0.015 // shorter ones cannot be measured well
#define CPU_BATCH_S 0.004 // longer ones others disturb
#define WARM_UP_S   0.06
#define BUDGET_S    1.0

static const struct tilewalk_network *const network = &NETWORK_NAME;

// --- the data file ------------------------------------------------------------------------------

static enum number type_of(const struct tilewalk_value *v)
{
    return !strcmp(v->type, "f32")   ? F32
           : !strcmp(v->type, "f16") ? F16
           : !strcmp(v->type, "i8")  ? I8
                                     : I32;
}

static bool is_shared(const struct tilewalk_value *v)
{
    return !strcmp(v->role, "made") || !strcmp(v->role, "output");
}

// The caller frees.
static void *read_value(FILE *data, const struct tilewalk_value *v)
{
    void *bytes = allocate(v->bytes);
    if (fseeko(data, (off_t)v->data, SEEK_SET) || fread(bytes, 1, v->bytes, data) != v->bytes)
        die("the data file is not that of this network");
    return bytes;
}

// --- the network --------------------------------------------------------------------------------

struct program {
    struct layouts *layouts;         // of each step
    VkPipeline (*pass)[MOST_PASSES]; // of each step; steps of one kernel share theirs
    VkDescriptorSet *set;            // of each step
    VkDescriptorPool pool;
    struct buffer *buffer; // of each value; then scratch
    VkDeviceMemory shared; // where made values and outputs lie
};

static const struct tilewalk_kernel *kernel_of(uint32_t step)
{
    return network->steps[step].kernel;
}

// The first step with the same kernel.
static uint32_t first_like(uint32_t step)
{
    uint32_t first = 0;
    while (kernel_of(first) != kernel_of(step))
        first++;
    return first;
}

static bool wants_subgroups(void)
{
    for (uint32_t i = 0; i < network->step_count; i++)
        for (uint32_t k = 0; k < kernel_of(i)->pass_count; k++)
            if (kernel_of(i)->passes[k].subgroup_size)
                return true;
    return false;
}

// A buffer at its place in the memory that many share.
static struct buffer place_buffer(struct gpu *g, VkDeviceMemory memory,
                                  const struct tilewalk_value *v)
{
    struct buffer b = {.bytes = v->bytes};
    VkMemoryRequirements needs;
    b.buffer = make_handle(g, v->bytes);
    vkGetBufferMemoryRequirements(g->device, b.buffer, &needs);
    if (v->place % needs.alignment)
        die("the device wants buffers farther apart than the plan has them");
    check(vkBindBufferMemory(g->device, b.buffer, memory, v->place), "vkBindBufferMemory");
    return b;
}

// Memory of the kind that such buffers take.
static VkDeviceMemory make_memory(struct gpu *g, uint64_t bytes)
{
    VkMemoryRequirements needs;
    VkBuffer probe = make_handle(g, 256);
    vkGetBufferMemoryRequirements(g->device, probe, &needs);
    vkDestroyBuffer(g->device, probe, NULL);
    return allocate_memory(g, bytes, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

static void make_buffers(struct gpu *g, struct program *p)
{
    p->buffer = allocate((network->value_count + 1) * sizeof *p->buffer);
    p->shared = make_memory(g, network->shared_bytes);
    for (uint32_t i = 0; i < network->value_count; i++) {
        const struct tilewalk_value *v = &network->values[i];
        p->buffer[i] = is_shared(v) ? place_buffer(g, p->shared, v)
                                    : make_buffer(g, v->bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    }
    uint64_t scratch = network->scratch_bytes ? network->scratch_bytes : 4;
    p->buffer[network->value_count] = make_buffer(g, scratch, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

static void make_step(struct gpu *g, struct program *p, uint32_t i)
{
    const struct tilewalk_kernel *kernel = kernel_of(i);
    const struct tilewalk_step *step = &network->steps[i];
    uint32_t like = first_like(i);
    if (kernel->pass_count > MOST_PASSES)
        die("more passes than this program has room for");
    if (like == i) {
        p->layouts[i] = make_layouts(g, kernel);
        for (uint32_t k = 0; k < kernel->pass_count; k++)
            p->pass[i][k] = make_pipeline(g, p->layouts[i].pipeline, &kernel->passes[k]);
    }
    p->set[i] = make_set(g, p->pool, &p->layouts[like]);
    for (uint32_t k = 0; k < kernel->binding_count; k++) {
        uint32_t value = k < step->value_count ? step->values[k] : network->value_count;
        bind_buffer(g, p->set[i], k, p->buffer[value].buffer);
    }
}

static void make_program(struct gpu *g, struct program *p)
{
    uint32_t steps = network->step_count;
    p->layouts = allocate(steps * sizeof *p->layouts);
    p->pass = allocate(steps * sizeof *p->pass);
    p->set = allocate(steps * sizeof *p->set);
    p->pool = make_descriptors(g, steps, steps * MOST_BINDINGS);
    make_buffers(g, p);
    for (uint32_t i = 0; i < steps; i++)
        make_step(g, p, i);
}

static void load(struct gpu *g, struct program *p, FILE *data)
{
    for (uint32_t i = 0; i < network->value_count; i++) {
        if (is_shared(&network->values[i]))
            continue;
        void *bytes = read_value(data, &network->values[i]);
        transfer(g, &p->buffer[i], bytes, true);
        free(bytes);
    }
}

static void record_run(struct gpu *g, const struct program *p)
{
    for (uint32_t i = 0; i < network->step_count; i++) {
        uint32_t like = first_like(i);
        vkCmdBindDescriptorSets(g->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                p->layouts[like].pipeline, 0, 1, &p->set[i], 0, NULL);
        for (uint32_t k = 0; k < kernel_of(i)->pass_count; k++)
            record_pass(g, p->layouts[like].pipeline, p->pass[like][k], &kernel_of(i)->passes[k]);
    }
}

static void close_everything(struct gpu *g, struct program *p)
{
    for (uint32_t i = 0; i <= network->value_count; i++)
        free_buffer(g, &p->buffer[i]);
    vkFreeMemory(g->device, p->shared, NULL);
    for (uint32_t i = 0; i < network->step_count; i++) {
        if (first_like(i) != i)
            continue;
        for (uint32_t k = 0; k < kernel_of(i)->pass_count; k++)
            vkDestroyPipeline(g->device, p->pass[i][k], NULL);
        free_layouts(g, &p->layouts[i]);
    }
    vkDestroyDescriptorPool(g->device, p->pool, NULL);
    free(p->layouts);
    free(p->pass);
    free(p->set);
    free(p->buffer);
    close_device(g);
}

// --- time ---------------------------------------------------------------------------------------

// Seconds of one of `repeats` runs in one submission: of the device, where it has timestamps.
static double run(struct gpu *g, const struct program *p, const struct stamps *s, int repeats)
{
    begin(g);
    stamp(g, s, 0);
    for (int i = 0; i < repeats; i++)
        record_run(g, p);
    stamp(g, s, 1);
    check(vkEndCommandBuffer(g->commands), "vkEndCommandBuffer");
    double start = now();
    submit_and_wait(g);
    double host = now() - start;
    return (s->pool ? stamped_seconds(g, s) : host) / repeats;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// As tilewalk takes times: the least of CPU devices, where others want the processor, too; of GPUs,
// whose clocks have to wake up and vary then, the one in the middle.
static double time_network(struct gpu *g, const struct program *p)
{
    VkPhysicalDeviceProperties device;
    vkGetPhysicalDeviceProperties(g->physical, &device);
    bool is_cpu = device.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    struct stamps stamps = make_stamps(g);
    double once = run(g, p, &stamps, 1), begin = now(), taken[MOST_BATCHES]; // drivers compile
    int repeats = (int)fmin(MOST_REPEATS, 1 + (is_cpu ? CPU_BATCH_S : GPU_BATCH_S) / once);
    while (!is_cpu && now() - begin < WARM_UP_S)
        run(g, p, &stamps, repeats);
    int count = 0;
    for (begin = now();
         count < FEWEST_BATCHES || (count < MOST_BATCHES && now() - begin < BUDGET_S);)
        taken[count++] = run(g, p, &stamps, repeats);
    vkDestroyQueryPool(g->device, stamps.pool, NULL);
    qsort(taken, (size_t)count, sizeof *taken, by_size);
    return taken[is_cpu ? 0 : count / 2];
}

// --- what is right ------------------------------------------------------------------------------

// The bytes that round a buffer up to four hold no number. Between the rows of an output may lie
// others.
static size_t numbers_in(const struct tilewalk_value *v)
{
    size_t all = v->bytes / number_bytes(type_of(v));
    return all - v->count < 4 ? v->count : all;
}

// Returns the error of a whole output, as a share of the largest right number.
static double largest_error(struct gpu *g, struct program *p, FILE *data, uint32_t value)
{
    const struct tilewalk_value *v = &network->values[value];
    double error = 0, largest = 0;
    void *right = read_value(data, v), *got = allocate(v->bytes);
    transfer(g, &p->buffer[value], got, false);
    for (size_t i = 0; i < numbers_in(v); i++) {
        double wanted = number_at(right, type_of(v), i), found = number_at(got, type_of(v), i);
        if (isnan(wanted)) // between the rows
            continue;
        if (isinf(wanted)) {
            error = found == wanted ? error : INFINITY;
            continue;
        }
        largest = fmax(largest, fabs(wanted));
        error = isnan(found) ? INFINITY : fmax(error, fabs(found - wanted));
    }
    free(right);
    free(got);
    return error > 0 ? error / fmax(largest, 1e-30) : 0;
}

int main(int argc, char **argv)
{
    struct gpu g = {0};
    struct program program = {0};
    const char *name = argc > 1 ? argv[1] : network->data_file;
    FILE *data = fopen(name, "rb");
    if (!data)
        die("the data file cannot be opened (it is the first argument)");
    choose_device(&g);
    choose_queue(&g);
    open_device(&g, wants_subgroups());
    make_commands(&g);
    make_program(&g, &program);
    load(&g, &program, data);

    double seconds = time_network(&g, &program), error = 0;
    for (uint32_t i = 0; i < network->value_count; i++)
        if (!strcmp(network->values[i].role, "output"))
            error = fmax(error, largest_error(&g, &program, data, i));
    printf("network        %s, %u kernels\n", network->name, (unsigned)network->step_count);
    printf("time           %.4g ms\n", seconds * 1e3);
    printf("largest error  %.2g (allowed: %.2g)\n", error, network->tolerance);
    fclose(data);
    close_everything(&g, &program);
    return error <= network->tolerance ? EXIT_SUCCESS : EXIT_FAILURE;
}
