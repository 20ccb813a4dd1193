#include "kernel/disassemble.h"

#include "base/mem.h"

#include <spirv-tools/libspirv.h>
#include <string.h>

char *kernel_disassemble(const struct spirv *s, struct err *e)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_text text = NULL;
    spv_diagnostic diagnostic = NULL;
    const uint32_t options = SPV_BINARY_TO_TEXT_OPTION_NO_HEADER |
                             SPV_BINARY_TO_TEXT_OPTION_INDENT |
                             SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES;
    spv_result_t result = spvBinaryToText(context, s->word, s->count, options, &text, &diagnostic);
    char *out = NULL;
    if (result == SPV_SUCCESS)
        out = mem_printf("%.*s", (int)text->length, text->str);
    else
        err_set(e, "the SPIR-V cannot be read: %s",
                diagnostic && diagnostic->error ? diagnostic->error : "it is no module");
    spvTextDestroy(text);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return out;
}

bool kernel_validate(const struct spirv *s, struct err *e)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    struct spv_const_binary_t module = {s->word, s->count};
    spv_diagnostic diagnostic = NULL;
    bool ok = spvValidate(context, &module, &diagnostic) == SPV_SUCCESS;
    const char *why = diagnostic && diagnostic->error ? diagnostic->error : "it is no module";
    if (!ok)
        err_set(e, "invalid SPIR-V: %.*s (spirv-val says where)", (int)strcspn(why, "\n"), why);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return ok;
}
