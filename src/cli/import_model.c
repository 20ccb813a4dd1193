#include "cli/import_model.h"

#include "base/file.h"
#include "cli/check_network.h"
#include "cli/common.h"

#include <stdio.h>

static void print_json(const struct import_format *f, const char *path, const struct imported *m,
                       const struct network *n)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_text(&w, "file", path);
    json_add_text(&w, "format", f->name);
    json_add_text(&w, "about", m->about);
    json_begin_list(&w, "left_out");
    for (int i = 0; i < m->note_count; i++)
        json_add_text(&w, NULL, m->note[i]);
    json_end(&w);
    json_begin_object(&w, "network");
    check_network_add(&w, n);
    json_end(&w);
    json_print(&w);
}

static void print_text(const struct import_format *f, const char *path, const struct imported *m,
                       const struct network *n, const char *out)
{
    printf("%s (%s): %s\n", path, f->name, m->about);
    for (int i = 0; i < m->note_count; i++)
        printf("  without %s\n", m->note[i]);
    printf("\n");
    check_network_print(n);
    if (out)
        printf("\nwrote %s: a network file (tilewalk tune %s)\n", out, out);
}

// As check would read it from the file that it is to become.
static bool read_network(const struct imported *m, const char *path, const char *out,
                         struct network *n, struct err *e)
{
    const char *file = out ? out : path;
    const struct script_text text = {path_name(file), file, str_text(&m->text)};
    const struct script_options o = {.path = text.path, .texts = &text, .text_count = 1};
    return network_load(&o, n, e);
}

bool import_model(const struct arguments *a, const char *path, const struct import_format *f,
                  struct err *e)
{
    struct arena storage;
    struct imported m;
    struct network n = {0};
    const char *out = arguments_text(a, "out");
    struct import_request q = {.path = path,
                               .out = out,
                               .data = arguments_text(a, "data"),
                               .replaces = arguments_flag(a, "force")};
    arena_init(&storage);
    q.set = common_settings(a, &storage, &q.set_count);
    bool ok = import_run(f, &q, &m, e) &&
              (read_network(&m, path, out, &n, e) || err_prefix(e, "%s", path)) &&
              (!out || file_write(out, str_text(&m.text), m.text.length, e));
    if (!ok)
        imported_undo(&m);
    if (ok && arguments_flag(a, "json"))
        print_json(f, path, &m, &n);
    else if (ok)
        print_text(f, path, &m, &n, out);
    network_finish(&n);
    imported_finish(&m);
    arena_finish(&storage);
    return ok;
}
