#include "cli/check_sketches.h"

#include "base/json.h"
#include "cli/common.h"
#include "define/program.h"

#include <stdio.h>

static void print_json(const struct program *p)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_begin_list(&w, "sketches");
    for (int i = 0; i < p->sketches.count; i++) {
        const struct sketch *s = &p->sketches.sketch[i];
        struct str text = {0};
        program_outline(p, i, &text);
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", p->sketch_name[i]);
        json_begin_list(&w, "rules");
        for (int r = 0; r < s->rules; r++)
            json_add_text(&w, NULL, sketch_rule_name(s->rule[r]));
        json_end(&w);
        json_add_text(&w, "text", str_text(&text));
        json_end(&w);
        str_finish(&text);
    }
    json_end(&w);
    json_print(&w);
}

static void print_text(const struct program *p)
{
    for (int i = 0; i < p->sketches.count; i++) {
        const struct sketch *s = &p->sketches.sketch[i];
        struct str text = {0};
        program_outline(p, i, &text);
        printf("%ssketch %d of %d: %s\nrules: ", i ? "\n" : "", i + 1, p->sketches.count,
               p->sketch_name[i]);
        for (int r = 0; r < s->rules; r++)
            printf("%s%s", r ? ", " : "", sketch_rule_name(s->rule[r]));
        printf("\n\n%s", str_text(&text));
        str_finish(&text);
    }
}

int check_sketches(const struct script *s, const char *file, bool json)
{
    const struct program *p = script_program(s);
    struct err e;
    if (!p) {
        err_usage(&e,
                  "%s: its kernels are templates, which have no sketches (what compute(...) "
                  "defines has)",
                  file);
        return fail_with(&e, EXIT_USAGE);
    }
    (json ? print_json : print_text)(p);
    return EXIT_OK;
}
