// The matrix products of a language model: each weight of two dimensions that is multiplied, once a
// block, with what flows; expert weights as often as experts are used.
#include "base/file.h"
#include "import/gguf.h"
#include "import/import.h"
#include "import/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STANDARD_TOKENS "1, 8, 512"

struct product {
    const char *role; // "attn_q"; of all blocks
    const struct gguf_type *type;
    int64_t outputs, inputs;
    int64_t matrices; // of one product: 1, or as many heads as have one of their own
    int64_t experts;  // 0: it is none of experts
    int64_t uses;
};

struct reading {
    const struct gguf *file;
    struct imported *out;
    struct product *product;
    int count, capacity;
};

// "blk.12.attn_q.weight" -> "attn_q"; NULL for what is no weight.
static const char *role_of(struct arena *a, const char *name)
{
    static const char ending[] = ".weight", block[] = "blk.";
    size_t length = strlen(name), end = strlen(ending);
    if (length <= end || strcmp(name + length - end, ending) != 0)
        return NULL;
    char *role = arena_strdup(a, name);
    role[length - end] = '\0';
    char *at = strstr(role, block);
    size_t digits = at ? strspn(at + strlen(block), "0123456789") : 0;
    if (digits && at[strlen(block) + digits] == '.') {
        char *after = at + strlen(block) + digits + 1;
        memmove(at, after, strlen(after) + 1);
    }
    for (char *c = role; *c; c++)
        *c = words_plain(*c);
    return role;
}

// Why a weight is no factor of a product; NULL: it is one.
static const char *unlike_a_factor(const char *role)
{
    static const struct {
        const char *part, *why;
    } rules[] = {
        {"embd", "its rows are looked up"},
        {"token_types", "its rows are looked up"},
        {"rel_b", "its rows are looked up"},
        {"norm", "a factor of each element"},
        {"conv", "a convolution"},
        {"rope", "factors of angles"},
        {"lerp", "a factor of each element"},
        {"time_mix_first", "a factor of each element"},
        {"altup_pred", "a factor of each row"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(role, rules[i].part))
            return rules[i].why;
    return NULL;
}

static bool is_number(const struct gguf_type *t) // of those that models multiply
{
    return *t->name != 'i' || t->name[1] == 'q';
}

static void add_product(struct reading *r, const struct product *p)
{
    for (int i = 0; i < r->count; i++) {
        struct product *have = &r->product[i];
        if (strcmp(have->role, p->role) == 0 && have->type == p->type &&
            have->outputs == p->outputs && have->inputs == p->inputs &&
            have->matrices == p->matrices && have->experts == p->experts) {
            have->uses++;
            return;
        }
    }
    MEM_GROW(r->product, r->count, r->capacity);
    r->product[r->count++] = *p;
}

static bool add_weight(struct reading *r, const struct gguf_tensor *t, const char *role,
                       struct err *e)
{
    bool of_experts = t->rank == 3 && strstr(role, "_exps");
    struct product p = {.role = role,
                        .type = t->type,
                        .inputs = t->size[0],
                        .outputs = t->size[1],
                        .matrices = of_experts ? 1 : t->size[2],
                        .experts = of_experts ? t->size[2] : 0,
                        .uses = 1};
    uint64_t used = r->file->experts_used;
    if (of_experts && (used < 1 || used > (uint64_t)p.experts))
        return err_set(e,
                       "tensor '%s': of its %" PRId64 " experts %" PRIu64
                       " are used, the file says (ARCHITECTURE.expert_used_count)",
                       t->name, p.experts, used);
    add_product(r, &p);
    return true;
}

static void leave_out(struct reading *r, const char *role, const char *why)
{
    char text[300];
    snprintf(text, sizeof text, "%s: %s", role, why);
    for (int i = 0; i < r->out->note_count; i++)
        if (strcmp(r->out->note[i], text) == 0)
            return;
    import_note(r->out, "%s", text);
}

static bool take_tensor(struct reading *r, const struct gguf_tensor *t, struct err *e)
{
    const char *role = t->rank < 2 ? NULL : role_of(&r->out->arena, t->name);
    if (!role)
        return true;
    const char *why = unlike_a_factor(role);
    if (!why && t->rank > 3)
        why = "it has four dimensions";
    if (!why && !is_number(t->type))
        why = "whole numbers";
    if (!why)
        return add_weight(r, t, role, e);
    leave_out(r, role, why);
    return true;
}

// A model without a matrix of its own for the last product takes the one that tokens are looked up
// in. Models of texts' meanings have no such product.
static bool add_tied(struct reading *r, struct err *e)
{
    const struct gguf_tensor *tokens = NULL;
    bool makes_tokens = false;
    for (int i = 0; i < r->file->count; i++) {
        const struct gguf_tensor *t = &r->file->tensor[i];
        if (strcmp(t->name, "output.weight") == 0)
            return true;
        if (strcmp(t->name, "token_embd.weight") == 0)
            tokens = t;
        makes_tokens |= strcmp(t->name, "output_norm.weight") == 0;
    }
    if (!tokens || tokens->rank != 2 || !makes_tokens || strstr(r->file->architecture, "bert"))
        return true;
    import_note(r->out,
                "output: token_embd is multiplied, the file has no matrix of its own for it");
    return add_weight(r, tokens, "output", e);
}

// --- the network file ---

static bool has_names_before(const struct reading *r, int i, int *number)
{
    *number = 1;
    for (int k = 0; k < i; k++)
        *number += strcmp(r->product[k].role, r->product[i].role) == 0 &&
                   r->product[k].type == r->product[i].type;
    return *number > 1;
}

static void add_row(struct str *s, const struct reading *r, int i)
{
    const struct product *p = &r->product[i];
    int number;
    str_printf(s, "  { \"%s.%s", p->role, p->type->name);
    if (has_names_before(r, i, &number))
        str_printf(s, "-%d", number);
    str_printf(s, "\", \"%s\", %" PRId64 ", %" PRId64 ", %" PRId64, words_element(p->type->name),
               p->outputs, p->inputs, p->uses);
    if (p->matrices > 1)
        str_printf(s, ", matrices = %" PRId64, p->matrices);
    if (p->experts)
        str_printf(s, ", experts = %" PRId64, p->experts);
    str_add(s, " },\n");
}

static void add_types(struct str *s, const struct reading *r)
{
    const char *seen[64];
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        bool known = words_is_tuned(r->product[i].type->name);
        for (int k = 0; k < count; k++)
            known |= strcmp(seen[k], r->product[i].type->name) == 0;
        if (known || count == 64)
            continue;
        str_printf(s, "%s%s", count ? ", " : "", r->product[i].type->name);
        seen[count++] = r->product[i].type->name;
    }
}

static const char code[] = "for _, n in ipairs(tokens > 0 and { tokens } or all) do\n"
                           "  for _, p in ipairs(products) do\n"
                           "    local rows, uses = n, p[5]\n"
                           "    if p.experts then -- each of them gets its share of the tokens\n"
                           "      local busy = math.min(p.experts, n * used)\n"
                           "      rows, uses = (n * used + busy - 1) // busy, uses * busy\n"
                           "    end\n"
                           "    layer {\n"
                           "      name = p[1] .. \".n\" .. n, preset = \"gemm\", uses = uses,\n"
                           "      set = { N = rows, M = p[3], K = p[4], type = p[2], layout = "
                           "\"nt\", batch = p.matrices },\n"
                           "    }\n"
                           "  end\n"
                           "end\n";

static void add_text(struct reading *r, const char *tokens, const char *standard)
{
    struct str *s = &r->out->text, types = {0};
    add_types(&types, r);
    str_printf(s, "network \"%s: its matrix products\"\n", r->out->about);
    str_add(s, "-- Written by `tilewalk import`: what a pass multiplies, each product with how "
               "often a pass has it.\n"
               "-- Attention's scores and values are none of weights, and left out.\n");
    if (types.length)
        str_printf(s,
                   "-- NOT the types of the model: no preset takes %s. Weights of these types are "
                   "tuned as f16\n"
                   "-- here; the names say the true type.\n",
                   str_text(&types));
    str_printf(s,
               "local tokens = size(\"tokens\", %s, 0) -- at once; 0: each of these\n"
               "local all = { %s }\n",
               standard, tokens);
    if (r->file->experts_used)
        str_printf(s, "local used = %" PRIu64 " -- experts, of each token\n",
                   r->file->experts_used);
    str_add(s,
            "\nlocal products = { -- name and true type, type here, outputs, inputs, how often\n");
    for (int i = 0; i < r->count; i++)
        add_row(s, r, i);
    str_printf(s, "}\n\n%s", code);
    str_finish(&types);
}

// --set tokens=8 or tokens=1,32: what the file has as its standard.
static bool read_tokens(const struct import_request *q, struct imported *out, const char **tokens,
                        struct err *e)
{
    *tokens = STANDARD_TOKENS;
    for (int i = 0; i < q->set_count; i++) {
        int64_t number[17];
        struct str list = {0};
        if (strcmp(q->set[i].name, "tokens") != 0)
            return err_usage(e, "--set %s=%s: of a GGUF file tokens can be set, nothing else",
                             q->set[i].name, q->set[i].value);
        int count = str_to_ints(q->set[i].value, number, 17);
        bool good = count >= 1 && count <= 16;
        for (int k = 0; k < count; k++) {
            good = good && number[k] >= 1 && number[k] <= 1 << 24;
            str_printf(&list, "%s%" PRId64, k ? "," : "", number[k]);
        }
        good = good && strcmp(str_text(&list), q->set[i].value) == 0;
        *tokens = arena_strdup(&out->arena, str_text(&list));
        str_finish(&list);
        if (!good)
            return err_usage(e, "--set tokens=%s: expected up to 16 numbers of 1 to %d",
                             q->set[i].value, 1 << 24);
    }
    return true;
}

static void describe(struct reading *r, const char *path)
{
    const struct gguf *g = r->file;
    char *stem = path_stem(path);
    struct str s = {0};
    words_add_plain(&s, *g->name ? g->name : stem);
    if (*g->architecture) {
        str_add(&s, ", ");
        words_add_plain(&s, g->architecture);
    }
    if (g->blocks)
        str_printf(&s, ", %" PRIu64 " blocks", g->blocks);
    r->out->about = arena_strdup(&r->out->arena, str_text(&s));
    str_finish(&s);
    free(stem);
}

static bool read_products(struct reading *r, struct err *e)
{
    for (int i = 0; i < r->file->count; i++)
        if (!take_tensor(r, &r->file->tensor[i], e))
            return false;
    if (!add_tied(r, e))
        return false;
    if (r->file->parts > 1)
        import_note(r->out, "the other parts: the model is split into %" PRIu64 " files",
                    r->file->parts);
    return r->count > 0 ||
           err_set(e, "none of its %d tensors is a matrix that is multiplied", r->file->count);
}

static bool import(const struct import_request *q, struct imported *out, struct err *e)
{
    struct gguf file;
    struct reading r = {.file = &file, .out = out};
    const char *tokens;
    bool ok = read_tokens(q, out, &tokens, e);
    if (!ok)
        return false;
    ok = gguf_read(q->path, &file, e) && read_products(&r, e);
    if (ok) {
        describe(&r, q->path);
        add_text(&r, tokens, strchr(tokens, ',') ? "0" : tokens);
    } else {
        err_prefix(e, "%s", q->path);
    }
    free(r.product);
    gguf_finish(&file);
    return ok;
}

static bool is_gguf(const char *begin, size_t length)
{
    return length >= 4 && memcmp(begin, "GGUF", 4) == 0;
}

const struct import_format import_gguf = {"GGUF", is_gguf, import};
