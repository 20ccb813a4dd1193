// kernel_fit makes one pass over the module, in the order of SPIR-V's sections: decorations, then
// types and constants, each behind its parts.

#include "kernel/fit.h"

#include "base/mem.h"
#include "base/str.h"
#include "kernel/enumerants.h"
#include "kernel/module.h"
#include "space/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <spirv-tools/libspirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- SPIRV-Tools ---

// Returns the first Vulkan, from 1.1 on, that takes the module's version of SPIR-V.
static spv_target_env environment_of(const struct spirv *s)
{
    uint32_t minor = s->count > 1 ? s->word[1] >> 8 & 0xff : 0;
    return minor >= 6   ? SPV_ENV_VULKAN_1_3
           : minor == 5 ? SPV_ENV_VULKAN_1_2
           : minor == 4 ? SPV_ENV_VULKAN_1_1_SPIRV_1_4
                        : SPV_ENV_VULKAN_1_1;
}

char *kernel_disassemble(const struct spirv *s, struct err *e)
{
    spv_context context = spvContextCreate(environment_of(s));
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
    spv_context context = spvContextCreate(environment_of(s));
    struct spv_const_binary_t module = {s->word, s->count};
    spv_diagnostic diagnostic = NULL;
    spv_validator_options options = spvValidatorOptionsCreate();
    spvValidatorOptionsSetAllowLocalSizeId(options, true);
    bool ok = spvValidateWithOptions(context, options, &module, &diagnostic) == SPV_SUCCESS;
    const char *why = diagnostic && diagnostic->error ? diagnostic->error : "it is no module";
    if (!ok)
        err_set(e, "invalid SPIR-V: %.*s (spirv-val says where)", (int)strcspn(why, "\n"), why);
    spvDiagnosticDestroy(diagnostic);
    spvValidatorOptionsDestroy(options);
    spvContextDestroy(context);
    return ok;
}

// --- modules as text ---

bool kernel_read_spirv(const char *text, struct spirv *out, struct err *e)
{
    bool ok = true;
    *out = (struct spirv){mem_alloc((strlen(text) / 8 + 1) * sizeof *out->word), 0};
    for (const char *at = text + strlen(JOB_SPIRV); *at && ok; at += strspn(at, " \n")) {
        char digits[9] = "", *end;
        snprintf(digits, sizeof digits, "%.8s", at);
        out->word[out->count++] = (uint32_t)strtoul(digits, &end, 16);
        ok = strspn(digits, "0123456789abcdef") == 8 ||
             err_set(e, "the words of its SPIR-V are damaged");
        at += strlen(digits);
    }
    if (ok && kernel_validate(out, e))
        return true;
    spirv_finish(out);
    return false;
}

// --- fitting ---

#define HEADER    5 // words
#define MAX_BOUND 4194304

struct id {
    // Three types, two constants, and what a division by zero gives.
    enum { UNKNOWN, BOOL, INT, FLOAT, KNOWN, COMPOSITE, DIVIDED } kind;
    uint32_t width; // of a type; BOOL: 1
    bool is_signed;
    uint32_t type;        // of a constant
    uint64_t bits;        // KNOWN: its value in the width of its type, the rest 0
    const uint32_t *part; // COMPOSITE
    uint32_t parts;
    uint32_t number; // of a specialization constant
    bool has_number;
};

struct fitter {
    const struct pass *pass;
    struct id *id;
    uint32_t bound;
    uint32_t *out;
    size_t count;
    size_t size_at;   // of LocalSizeId in `out`; 0: there is none
    uint32_t size_id; // of the constant gl_WorkGroupSize; 0: there is none
    bool used[JOB_MAX_CONSTANTS];
    uint64_t there[2]; // bits for the numbers below 128 that the module has, for messages
    struct err *e;
};

static const struct id *get(const struct fitter *f, uint32_t id)
{
    return &f->id[id < f->bound ? id : 0];
}

static void copy(struct fitter *f, const uint32_t *w, uint32_t n)
{
    memcpy(f->out + f->count, w, n * sizeof *w);
    f->count += n;
}

static uint64_t mask(uint32_t width)
{
    return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

static int64_t with_sign(uint64_t bits, uint32_t width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

// --- given values ---

static bool wrong_type(struct fitter *f, const struct spec_constant *c, const char *type)
{
    if (c->is_bool)
        return err_set(f->e,
                       "specialization constant %" PRIu32
                       " is %s, not true or false (spec = has to give a number)",
                       c->id, type);
    return err_set(f->e,
                   "specialization constant %" PRIu32
                   " is %s, %g does not fit (spec = has to give a whole number in its range)",
                   c->id, type, c->value);
}

// Replaces the default of a specialization constant by the value that the pass gives, if any.
static bool take_given(struct fitter *f, const struct id *result, const struct id *type,
                       uint64_t *bits)
{
    if (!result->has_number)
        return true;
    if (result->number < 128)
        f->there[result->number / 64] |= UINT64_C(1) << result->number % 64;
    int given = 0;
    while (given < f->pass->constant_count && f->pass->constant[given].id != result->number)
        given++;
    if (given == f->pass->constant_count)
        return true;
    const struct spec_constant *c = &f->pass->constant[given];
    f->used[given] = true;
    if (type->kind == FLOAT) {
        uint32_t width = type->width;
        float single = (float)c->value;
        uint32_t word;
        if (c->is_bool)
            return wrong_type(f, c, "a float");
        memcpy(&word, &single, sizeof word);
        if (width == 64)
            memcpy(bits, &c->value, sizeof *bits);
        else
            *bits = width == 16 ? half_from_float(single) : word;
        return true;
    }
    if (type->kind == INT) {
        uint32_t digits = type->width - type->is_signed;
        double high = ldexp(1, (int)digits), low = type->is_signed ? -high : 0;
        if (c->is_bool || c->value != floor(c->value) || c->value < low || c->value >= high)
            return wrong_type(f, c, type->is_signed ? "an int" : "a uint");
        *bits =
            (c->value < 0 ? (uint64_t)(int64_t)c->value : (uint64_t)c->value) & mask(type->width);
        return true;
    }
    if (!c->is_bool)
        return err_set(f->e,
                       "specialization constant %" PRIu32
                       " is a bool, %g is a number (spec = has to give true or false)",
                       c->id, c->value);
    *bits = c->value != 0;
    return true;
}

// --- constants ---

static bool define(struct fitter *f, uint32_t type, uint32_t result, uint64_t bits)
{
    const struct id *t = get(f, type);
    struct id *r = &f->id[result];
    r->kind = KNOWN;
    r->type = type;
    r->bits = bits & mask(t->width);
    if (t->kind == BOOL) {
        copy(f,
             (const uint32_t[]){3u << 16 | (bits ? SpvOpConstantTrue : SpvOpConstantFalse), type,
                                result},
             3);
        return true;
    }
    uint64_t word = r->bits;
    if (t->kind == INT && t->is_signed) // narrow numbers fill their word
        word = (uint64_t)with_sign(word, t->width);
    uint32_t n = t->width > 32 ? 5 : 4;
    copy(f,
         (const uint32_t[]){n << 16 | SpvOpConstant, type, result, (uint32_t)word,
                            (uint32_t)(word >> 32)},
         n);
    return true;
}

// --- operations on constants ---

struct operands {
    uint64_t a, b;  // bits
    int64_t sa, sb; // the same with their signs
    uint32_t width; // of their type
};

// Computes an integer. False: the operation is left to the driver.
static bool compute_number(uint32_t op, const struct operands *o, uint64_t *out)
{
    uint64_t a = o->a, b = o->b;
    bool shifts_all = b >= o->width;
    int64_t rest = o->sb == 0 || o->sb == -1 ? 0 : o->sa % o->sb; // no division overflows
    bool other_sign = rest && (rest < 0) != (o->sb < 0);
    switch (op) {
    case SpvOpUConvert: *out = a; break;
    case SpvOpSConvert: *out = (uint64_t)o->sa; break;
    case SpvOpSNegate: *out = 0 - a; break;
    case SpvOpNot: *out = ~a; break;
    case SpvOpIAdd: *out = a + b; break;
    case SpvOpISub: *out = a - b; break;
    case SpvOpIMul: *out = a * b; break;
    case SpvOpUDiv: *out = a / b; break;
    case SpvOpUMod: *out = a % b; break;
    case SpvOpSDiv: *out = o->sb == -1 ? 0 - (uint64_t)o->sa : (uint64_t)(o->sa / o->sb); break;
    case SpvOpSRem: *out = (uint64_t)rest; break;
    case SpvOpSMod: *out = (uint64_t)(other_sign ? rest + o->sb : rest); break;
    case SpvOpShiftLeftLogical: *out = shifts_all ? 0 : a << b; break;
    case SpvOpShiftRightLogical: *out = shifts_all ? 0 : a >> b; break;
    case SpvOpShiftRightArithmetic:
        *out = (uint64_t)(shifts_all ? -(o->sa < 0) : o->sa >> b);
        break;
    case SpvOpBitwiseOr: *out = a | b; break;
    case SpvOpBitwiseXor: *out = a ^ b; break;
    case SpvOpBitwiseAnd: *out = a & b; break;
    default: return false;
    }
    return true;
}

static bool compute_truth(uint32_t op, const struct operands *o, uint64_t *out)
{
    uint64_t a = o->a, b = o->b;
    switch (op) {
    case SpvOpLogicalOr: *out = a | b; break;
    case SpvOpLogicalAnd: *out = a & b; break;
    case SpvOpLogicalNot: *out = !a; break;
    case SpvOpLogicalEqual:
    case SpvOpIEqual: *out = a == b; break;
    case SpvOpLogicalNotEqual:
    case SpvOpINotEqual: *out = a != b; break;
    case SpvOpULessThan: *out = a < b; break;
    case SpvOpULessThanEqual: *out = a <= b; break;
    case SpvOpUGreaterThan: *out = a > b; break;
    case SpvOpUGreaterThanEqual: *out = a >= b; break;
    case SpvOpSLessThan: *out = o->sa < o->sb; break;
    case SpvOpSLessThanEqual: *out = o->sa <= o->sb; break;
    case SpvOpSGreaterThan: *out = o->sa > o->sb; break;
    case SpvOpSGreaterThanEqual: *out = o->sa >= o->sb; break;
    default: return false;
    }
    return true;
}

// Returns the constant that an extraction or a selection gives, or NULL.
static const struct id *chosen(const struct fitter *f, const uint32_t *w, uint32_t n)
{
    const struct id *c = w[3] == SpvOpCompositeExtract && n > 5 ? get(f, w[4]) : NULL;
    for (uint32_t i = 5; c && i < n; i++)
        c = c->kind == COMPOSITE && w[i] < c->parts ? get(f, c->part[w[i]]) : f->id;
    if (w[3] == SpvOpSelect && n == 7 && get(f, w[4])->kind == KNOWN)
        c = get(f, w[get(f, w[4])->bits ? 5 : 6]);
    return c && c->kind == KNOWN ? c : NULL;
}

static bool is_whole(const struct fitter *f, uint32_t id)
{
    const struct id *c = get(f, id), *t = get(f, c->type);
    return c->kind == KNOWN && (t->kind == INT || t->kind == BOOL);
}

// --- division by zero: an error where its result is used, none where a selection leaves it out ---

static bool takes_undefined(const struct fitter *f, const uint32_t *operand, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= get(f, operand[i])->kind == DIVIDED;
    return any;
}

static void define_undefined(struct fitter *f, const uint32_t *w)
{
    f->id[w[2]].kind = DIVIDED;
    copy(f, (const uint32_t[]){3u << 16 | SpvOpUndef, w[1], w[2]}, 3);
}

// Says whether all operands of an instruction are ids: a number among them could look like one.
static bool reads_ids_only(uint32_t op)
{
    return op == SpvOpTypeArray || op == SpvOpConstantComposite ||
           op == SpvOpSpecConstantComposite || op == SpvOpFunctionCall || op == SpvOpAccessChain ||
           op == SpvOpCompositeConstruct || (op >= SpvOpConvertFToU && op <= SpvOpBitCount);
}

static bool fit_operation(struct fitter *f, const uint32_t *w, uint32_t n)
{
    const struct id *type = get(f, w[1]), *same = n > 4 ? chosen(f, w, n) : NULL;
    bool is_scalar = type->kind == INT || type->kind == BOOL || (same && type->kind == FLOAT);
    bool is_plain = (n == 5 || n == 6) && is_whole(f, w[4]) && is_whole(f, w[n - 1]);
    uint64_t bits = 0;
    if (is_scalar && same)
        return define(f, w[1], w[2], same->bits);
    if (takes_undefined(f, w + 4, n - 4)) {
        define_undefined(f, w);
        return true;
    }
    if (!is_scalar || !is_plain) {
        copy(f, w, n);
        return true;
    }
    const struct id *a = get(f, w[4]), *b = n > 5 ? get(f, w[5]) : a;
    struct operands o = {.a = a->bits, .b = b->bits, .width = get(f, a->type)->width};
    o.sa = with_sign(o.a, o.width);
    o.sb = with_sign(o.b, get(f, b->type)->width);
    bool divides = w[3] == SpvOpUDiv || w[3] == SpvOpSDiv || w[3] == SpvOpUMod ||
                   w[3] == SpvOpSRem || w[3] == SpvOpSMod;
    if (divides && !o.b) {
        define_undefined(f, w);
        return true;
    }
    if (type->kind == INT ? compute_number(w[3], &o, &bits) : compute_truth(w[3], &o, &bits))
        return define(f, w[1], w[2], bits);
    copy(f, w, n);
    return true;
}

// --- the module ---

static void learn_type(struct fitter *f, uint32_t op, const uint32_t *w, uint32_t n)
{
    struct id *t = &f->id[w[1] < f->bound ? w[1] : 0];
    uint32_t width = op == SpvOpTypeBool ? 1 : w[2];
    copy(f, w, n);
    if (t == f->id || width > 64 || width == 0)
        return;
    t->kind = op == SpvOpTypeBool ? BOOL : op == SpvOpTypeInt ? INT : FLOAT;
    t->width = width;
    t->is_signed = op == SpvOpTypeInt && w[3];
}

static bool fit_decoration(struct fitter *f, const uint32_t *w, uint32_t n)
{
    bool has_operand = n == 4 && w[1] < f->bound;
    if (has_operand && w[2] == SpvDecorationBuiltIn && w[3] == SpvBuiltInWorkgroupSize)
        f->size_id = w[1];
    if (has_operand && w[2] == SpvDecorationSpecId) {
        f->id[w[1]].number = w[3];
        f->id[w[1]].has_number = true;
        return true;
    }
    copy(f, w, n);
    return true;
}

// --- the workgroup's size that the pass gives ---

static void replace_size(struct fitter *f, const uint32_t *w, uint32_t n)
{
    bool is_size =
        n == 6 && (w[2] == SpvExecutionModeLocalSize || w[2] == SpvExecutionModeLocalSizeId);
    copy(f, w, n);
    if (!is_size)
        return;
    uint32_t *out = f->out + f->count - n;
    out[0] = 6u << 16 | SpvOpExecutionMode;
    out[2] = SpvExecutionModeLocalSize;
    memcpy(out + 3, f->pass->local_size, sizeof f->pass->local_size);
}

// gl_WorkGroupSize gets constants of its own.
static void replace_size_constant(struct fitter *f, const uint32_t *w)
{
    uint32_t type = get(f, w[3])->type, part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = f->bound + (uint32_t)i;
        copy(f, (const uint32_t[]){4u << 16 | SpvOpConstant, type, part[i], f->pass->local_size[i]},
             4);
    }
    copy(f,
         (const uint32_t[]){6u << 16 | SpvOpConstantComposite, w[1], w[2], part[0], part[1],
                            part[2]},
         6);
    f->out[3] = f->bound + 3;
    f->size_id = 0; // `out` has room for one
}

static bool is_cut(uint32_t op, uint32_t n)
{
    switch (op) {
    case SpvOpDecorate:
    case SpvOpTypeFloat:
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse:
    case SpvOpConstantComposite:
    case SpvOpSpecConstantComposite: return n < 3;
    case SpvOpTypeBool: return n < 2;
    case SpvOpTypeInt:
    case SpvOpConstant:
    case SpvOpSpecConstant:
    case SpvOpSpecConstantOp: return n < 4;
    default: return false;
    }
}

static bool fit_instruction(struct fitter *f, const uint32_t *w, uint32_t n)
{
    uint32_t op = w[0] & 0xffff;
    bool is_constant = op >= SpvOpConstantTrue && op <= SpvOpSpecConstantOp && n > 2;
    if (is_cut(op, n) || (is_constant && (w[2] == 0 || w[2] >= f->bound)))
        return err_set(f->e, "malformed SPIR-V: instruction cut short, or bad result id");
    bool sized = f->pass->local_size[0] > 0;
    if (reads_ids_only(op) && takes_undefined(f, w + 1, n - 1))
        return err_set(f->e,
                       "it divides by zero with these specialization constants (a constraint can "
                       "leave such configurations out)");
    switch (op) {
    case SpvOpExecutionMode:
        if (sized)
            replace_size(f, w, n);
        else
            copy(f, w, n);
        return true;
    case SpvOpExecutionModeId:
        if (sized) {
            replace_size(f, w, n);
            return true;
        }
        f->size_at = n == 6 && w[2] == SpvExecutionModeLocalSizeId ? f->count : f->size_at;
        copy(f, w, n);
        return true;
    case SpvOpDecorate: return fit_decoration(f, w, n);
    case SpvOpTypeBool:
    case SpvOpTypeInt:
    case SpvOpTypeFloat: learn_type(f, op, w, n); return true;
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
    case SpvOpConstant:
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse:
    case SpvOpSpecConstant: {
        const struct id *type = get(f, w[1]);
        bool is_bool = op == SpvOpConstantTrue || op == SpvOpConstantFalse ||
                       op == SpvOpSpecConstantTrue || op == SpvOpSpecConstantFalse;
        uint64_t bits = op == SpvOpConstantTrue || op == SpvOpSpecConstantTrue;
        bool fits = is_bool ? type->kind == BOOL : type->kind == INT || type->kind == FLOAT;
        if (!fits || (!is_bool && n != (type->width > 32 ? 5u : 4u)))
            return err_set(f->e, "malformed SPIR-V: a constant");
        if (!is_bool)
            bits = w[3] | (n > 4 ? (uint64_t)w[4] << 32 : 0);
        return take_given(f, get(f, w[2]), type, &bits) && define(f, w[1], w[2], bits);
    }
    case SpvOpConstantComposite:
    case SpvOpSpecConstantComposite: {
        struct id *r = &f->id[w[2]];
        bool known = true;
        if (sized && w[2] == f->size_id && n == 6 && get(f, w[3])->kind == KNOWN) {
            replace_size_constant(f, w);
            return true;
        }
        for (uint32_t i = 3; i < n; i++)
            known = known && (get(f, w[i])->kind == KNOWN || get(f, w[i])->kind == COMPOSITE);
        copy(f, w, n);
        if (!known)
            return true;
        f->out[f->count - n] = n << 16 | SpvOpConstantComposite;
        r->kind = COMPOSITE;
        r->type = w[1];
        r->part = w + 3;
        r->parts = n - 3;
        return true;
    }
    case SpvOpSpecConstantOp: return fit_operation(f, w, n);
    default: copy(f, w, n); return true;
    }
}

// Makes LocalSizeId, which devices before Vulkan 1.3 need not take, a LocalSize.
static void fit_size(struct fitter *f)
{
    uint32_t *w = f->out + f->size_at;
    bool known = f->size_at;
    for (int i = 3; known && i < 6; i++)
        known = is_whole(f, w[i]);
    if (!known)
        return;
    w[0] = 6u << 16 | SpvOpExecutionMode;
    w[2] = SpvExecutionModeLocalSize;
    for (int i = 3; i < 6; i++)
        w[i] = (uint32_t)get(f, w[i])->bits;
}

// Fails for a constant that the pass gives and the module does not have.
static bool all_used(struct fitter *f)
{
    struct str has = {0};
    int i = 0;
    while (i < f->pass->constant_count && f->used[i])
        i++;
    if (i == f->pass->constant_count)
        return true;
    for (unsigned k = 0; k < 128; k++)
        if (f->there[k / 64] >> k % 64 & 1)
            str_printf(&has, "%s%u", has.length ? ", " : "", k);
    err_set(f->e, "there is no specialization constant %" PRIu32 " (it has %s)",
            f->pass->constant[i].id, has.length ? str_text(&has) : "none");
    str_finish(&has);
    return false;
}

// Fails unless instructions end within the module and each has room for its first operands.
static bool is_whole_module(const struct spirv *s, struct err *e)
{
    if (s->count < HEADER || s->word[0] != SpvMagicNumber || s->word[3] == 0 ||
        s->word[3] > MAX_BOUND)
        return err_set(e, "malformed SPIR-V: no header");
    for (size_t at = HEADER; at < s->count; at += s->word[at] >> 16)
        if (!(s->word[at] >> 16) || s->word[at] >> 16 > s->count - at)
            return err_set(e, "malformed SPIR-V: instruction runs past the end");
    return true;
}

bool kernel_fit(const struct pass *p, struct spirv *s, struct err *e)
{
    struct fitter f = {.pass = p, .e = e};
    const size_t new_words = 3 * 4; // of replace_size_constant
    if (!is_whole_module(s, e) || !module_choose_entry(p, s, e))
        return false;
    f.bound = s->word[3];
    f.id = mem_zero(f.bound, sizeof *f.id);
    // No instruction grows to more than twice its words.
    f.out = mem_alloc((2 * s->count + new_words) * sizeof *f.out);
    bool ok = true;
    copy(&f, s->word, HEADER);
    for (size_t at = HEADER; ok && at < s->count; at += s->word[at] >> 16)
        ok = fit_instruction(&f, s->word + at, s->word[at] >> 16);
    ok = ok && all_used(&f);
    if (ok)
        fit_size(&f);
    free(f.id);
    struct spirv fitted = {f.out, f.count};
    if (!ok || !module_bind(p, &fitted, e)) { // lengths of arrays may depend on constants
        free(f.out);
        return false;
    }
    free(s->word);
    *s = fitted;
    return true;
}
