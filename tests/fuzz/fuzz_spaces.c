// Space files: loaded, then some points are judged by the rules, and those that are legal rendered.
// Network files: what is taken has its layers in an order in which they can run.
// The bytes are one or more texts; a line "== NAME" begins each but the first, the space file.
#include "harness.h"

#include "base/mem.h"
#include "script/network.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXTS = 8, MOST_POINTS = 8 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

// Cuts `text` up in place. Returns how many there are.
static int split(char *text, struct script_text *out)
{
    int count = 0;
    out[count++] = (struct script_text){"fuzz.lua", "fuzz.lua", text};
    for (char *cut; count < MOST_TEXTS && (cut = strstr(text, "\n== ")); count++) {
        char *name = cut + 4;
        text = name + strcspn(name, "\n");
        cut[1] = '\0';
        if (*text)
            *text++ = '\0';
        out[count] = (struct script_text){name, name, text};
    }
    return count;
}

static void try_point(struct script *s, uint64_t index)
{
    const struct space *space = script_space(s);
    struct config c;
    struct verdict v;
    struct err e;
    space_point(space, index, &c);
    if (!space_judge(space, &limits_vulkan_minimum, &c, &v, &e) || !v.legal)
        return;
    struct job job = {0};
    if (script_render(s, &c, &job, &e))
        for (int i = 0; i < job.pass_count; i++)
            must(job.pass[i].glsl, "what is rendered has a text");
    job_finish(&job);
}

static void try_network(const struct script_options *o)
{
    struct network n;
    struct err e;
    int64_t uses = 0;
    bool taken = network_load(o, &n, &e);
    for (int i = 0; taken && i < n.layer_count; i++)
        for (int k = 0; k < n.layer[i].input_count; k++) {
            int from = n.layer[i].input[k].layer;
            must(from < i && from >= -n.input_count, "what flows in is there");
            must((from < 0 ? n.input[-1 - from].uses : n.layer[from].output.uses) > 0,
                 "and is used");
        }
    for (int i = 0; taken && i < n.task_count; i++)
        uses += n.task[i].uses;
    must(!taken || (uses == n.layer_count && n.output_count > 0), "layers are of tasks");
    network_finish(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script_text texts[MOST_TEXTS];
    struct err e;
    char *text = fuzz_text(data, size);
    int count = split(text, texts);
    struct script_options o = {.texts = texts, .text_count = count};
    try_network(&o);
    struct script *s = script_create(&o, &e);
    uint64_t points = s ? script_space(s)->size : 0;
    for (uint64_t i = 0; i < points && i < MOST_POINTS; i++)
        try_point(s, points / MOST_POINTS * i + i % points % (points / MOST_POINTS + 1));
    script_destroy(s);
    free(text);
    return 0;
}
