// Writes the matrix products of a language model as a network file, by its GGUF header.
#include "import/gguf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "import/import.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- matrix products ---

// The matrix products of a language model: each weight of two dimensions is multiplied once a
// block. Expert weights are multiplied as often as experts are used.

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

// Returns "attn_q" for "blk.12.attn_q.weight"; NULL: it is no weight.
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

// Returns the reason why a weight is no factor of a product; NULL: it is one.
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
                       " are used, the file says (ARCHITECTURE.expert_used_count%s)",
                       t->name, p.experts, used,
                       r->file->missing ? "; is it in a part that is not there?" : "");
    add_product(r, &p);
    return true;
}

static bool take_tensor(struct reading *r, const struct gguf_tensor *t, struct err *e)
{
    const char *role = t->rank < 2 ? NULL : role_of(&r->out->arena, t->name);
    if (!role)
        return true;
    const char *why = unlike_a_factor(role);
    if (!why && t->rank > 3)
        why = "it has four dimensions";
    if (!why && *t->type->name == 'i' && t->type->name[1] != 'q')
        why = "whole numbers";
    if (!why)
        return add_weight(r, t, role, e);
    char text[300];
    snprintf(text, sizeof text, "%s: %s", role, why);
    for (int i = 0; i < r->out->note_count; i++)
        if (strcmp(r->out->note[i], text) == 0)
            return true;
    import_note(r->out, "%s", text);
    return true;
}

// Returns whether a part is missing that has tensors.
static bool lacks_tensors(const struct gguf *g)
{
    return g->missing && (!g->all || (uint64_t)g->count < g->all);
}

// A model without a matrix of its own for the last product uses the table of tokens for it. Models
// that embed texts have no such product.
static bool add_tied(struct reading *r, struct err *e)
{
    const struct gguf_tensor *tokens = NULL;
    bool makes_tokens = false;
    if (lacks_tensors(r->file))
        return true; // perhaps this matrix
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
    struct str *s = &r->out->text, untuned = {0};
    const char *seen[64];
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        const char *type = r->product[i].type->name;
        bool known = str_equal(words_element(type), type); // presets take it
        for (int k = 0; k < count; k++)
            known |= strcmp(seen[k], type) == 0;
        if (known || count == 64)
            continue;
        str_printf(&untuned, "%s%s", count ? ", " : "", type);
        seen[count++] = type;
    }
    str_printf(s, "network \"%s: its matrix products\"\n", r->out->about);
    str_add(s, "-- Written by `tilewalk import`: what a pass multiplies, each product with how "
               "often a pass has it.\n"
               "-- Attention's scores and values are none of weights, and left out.\n");
    if (untuned.length)
        str_printf(s,
                   "-- NOT the types of the model: no preset takes %s. Weights of these types are "
                   "tuned as f16\n"
                   "-- here; the names say the true type.\n",
                   str_text(&untuned));
    str_printf(s,
               "local tokens = size(\"tokens\", %s, 0) -- at once; 0: each of these\n"
               "local all = { %s }\n",
               standard, tokens);
    if (r->file->experts_used)
        str_printf(s, "local used = %" PRIu64 " -- experts, of each token\n",
                   r->file->experts_used);
    str_add(s,
            "\nlocal products = { -- name and true type, type here, outputs, inputs, how often\n");
    for (int i = 0; i < r->count; i++) {
        const struct product *p = &r->product[i];
        int number = 1;
        str_printf(s, "  { \"%s.%s", p->role, p->type->name);
        for (int k = 0; k < i; k++)
            number += strcmp(r->product[k].role, r->product[i].role) == 0 &&
                      r->product[k].type == r->product[i].type;
        if (number > 1)
            str_printf(s, "-%d", number);
        str_printf(s, "\", \"%s\", %" PRId64 ", %" PRId64 ", %" PRId64,
                   words_element(p->type->name), p->outputs, p->inputs, p->uses);
        if (p->matrices > 1)
            str_printf(s, ", matrices = %" PRId64, p->matrices);
        if (p->experts)
            str_printf(s, ", experts = %" PRId64, p->experts);
        str_add(s, " },\n");
    }
    str_printf(s, "}\n\n%s", code);
    str_finish(&untuned);
}

// Reads --set tokens=8 or tokens=1,32, the default of the network file.
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

// Notes what is not there of the model's files.
static void note_missing(struct reading *r)
{
    const struct gguf *g = r->file;
    struct str what = {0};
    if (g->missing == 1 && *g->missed)
        str_printf(&what, "%s, which is not there", g->missed);
    else if (*g->missed)
        str_printf(&what, "%d of its %" PRIu64 " files, which are not there (the first is %s)",
                   g->missing, g->parts, g->missed);
    else
        str_printf(&what,
                   "its other files: this is part %" PRIu64 " of %" PRIu64
                   ", whose name has no -%05" PRIu64 "-of-%05" PRIu64 ".gguf",
                   g->part + 1, g->parts, g->part + 1, g->parts);
    if (g->all && lacks_tensors(g))
        str_printf(&what, ": %d of %" PRIu64 " tensors are known", g->count, g->all);
    else if (g->all)
        str_printf(&what, ": all %d tensors are in the others", g->count);
    import_note(r->out, "%s", str_text(&what));
    str_finish(&what);
}

static bool read_products(struct reading *r, struct err *e)
{
    const struct gguf *g = r->file;
    if (g->missing)
        note_missing(r);
    if (g->cut_off)
        import_note(r->out,
                    "the data of %d of %d tensors, before which the file ends (shapes are enough)",
                    g->cut_off, g->count);
    for (int i = 0; i < g->count; i++)
        if (!take_tensor(r, &g->tensor[i], e))
            return false;
    return add_tied(r, e) &&
           (r->count > 0 ||
            err_set(e, "none of its %d tensors is a matrix that is multiplied%s%s", g->count,
                    g->missing ? "; without " : "", g->missing ? r->out->note[0] : ""));
}

static bool import(const struct import_request *q, struct imported *out, struct err *e)
{
    struct gguf file;
    struct reading r = {.file = &file, .out = out};
    const char *tokens;
    if (!read_tokens(q, out, &tokens, e))
        return false;
    bool ok =
        gguf_read(q->path, &file, e) && (read_products(&r, e) || err_prefix(e, "%s", q->path));
    if (ok) {
        char *stem = path_stem(q->path);
        struct str s = {0};
        words_add_plain(&s, *file.name ? file.name : stem);
        if (*file.architecture) {
            str_add(&s, ", ");
            words_add_plain(&s, file.architecture);
        }
        if (file.blocks)
            str_printf(&s, ", %" PRIu64 " blocks", file.blocks);
        if (file.parts > 1)
            str_printf(&s, ", in %" PRIu64 " files", file.parts);
        out->about = arena_strdup(&out->arena, str_text(&s));
        str_finish(&s);
        free(stem);
        add_text(&r, tokens, strchr(tokens, ',') ? "0" : tokens);
    }
    free(r.product);
    gguf_finish(&file);
    return ok;
}

static bool is_gguf(const char *begin, size_t length)
{
    return length >= 4 && memcmp(begin, "GGUF", 4) == 0;
}

const struct import_format import_gguf = {"GGUF", is_gguf, import, gguf_is_part};
