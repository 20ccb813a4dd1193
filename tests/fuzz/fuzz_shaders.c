// Shaders that others wrote: what adopt makes of a text is a space file that loads; a module, or
// what bit flips make of one, is read to its end and never past it.
#include "harness.h"

#include "base/mem.h"
#include "kernel/checked.h"
#include "kernel/fit.h"
#include "kernel/kernel.h"
#include "script/scaffold.h"
#include "script/script.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    kernel_setup();
    return 0;
}

static void try_adopt(const char *text)
{
    struct scaffold o;
    struct str lua = {0};
    struct err e;
    scaffold_read_text(&o, "/nowhere/fuzz.comp", text, NULL, 0);
    scaffold_add_space(&o, &(struct scaffold_use){.shader = "fuzz.comp"}, &lua);
    const struct script_text texts[] = {{"fuzz.lua", "fuzz.lua", str_text(&lua)},
                                        {"fuzz.comp", "fuzz.comp", ""},
                                        {"foreign.lua", "foreign.lua", "return {}"}};
    struct script *s = script_create(
        &(struct script_options){.path = "fuzz.lua", .texts = texts, .text_count = 3}, &e);
    must(s != NULL, e.text);
    script_destroy(s);
    str_finish(&lua);
    scaffold_finish(&o);
}

static void try_module(const uint8_t *data, size_t size)
{
    const struct pass given = {.constant_count = 1,
                               .constant = {{0, false, 8}},
                               .binding = {{0, 0, 1}, {0, 1, 0}, {1, 2, 2}},
                               .binding_count = 3,
                               .uniform = &(struct job_uniform){.set = 0, .binding = 2},
                               .uniform_count = 1,
                               .local_size = {8, 2, 1},
                               .push.field_count = 1,
                               .push.field = {{PUSH_FLOAT, 4, 0, 2, "x"}}};
    const struct pass plain = {.glsl = NULL};
    const uint64_t bytes[8] = {64, 64, 64, 64, 64, 64, 64, 64};
    struct kernel_facts facts;
    struct err e;
    for (int i = 0; i < 2; i++) {
        struct spirv s = {mem_alloc(size + 4), size / 4}, checked;
        memcpy(s.word, data, size / 4 * 4);
        bool is_valid = kernel_validate(&s, &e);
        bool is_read = kernel_fit(i ? &given : &plain, &s, &e) && kernel_inspect(&s, &facts, &e);
        if (is_read)
            kernel_check_push(&s, &given, &e);
        if (is_read && is_valid && facts.bindings <= 8 &&
            kernel_check_accesses(&s, bytes, (int)facts.bindings, true, &checked, &e))
            spirv_finish(&checked);
        spirv_finish(&s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_zero(size + 1, 1);
    memcpy(text, data, size);
    if (size >= 4 && memcmp(data, "\x03\x02\x23\x07", 4) == 0)
        try_module(data, size);
    else
        try_adopt(text);
    free(text);
    return 0;
}
