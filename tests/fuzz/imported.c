#include "imported.h"

#include <string.h>

enum { MOST_TEXT = 4096 }; // of what is loaded: each task of it runs a preset

// Only a layer may be wrong with it: one that is too large for its preset.
static void check_network(const struct imported *m, bool is_list)
{
    struct network n;
    struct err e;
    bool ok = imported_read(m, "net.lua", &n, &e);
    must(ok || str_starts(e.text, "layer '"), "it is a network file");
    must(!ok || (n.is_list == is_list && n.task_count > 0), "it is a list, or none");
    network_finish(&n);
}

void fuzz_import(const uint8_t *data, size_t size, const struct import_format *f)
{
    static const struct setting one[] = {{"tokens", "2"}};
    const struct import_format *found;
    struct import_request q = {.path = fuzz_file(data, size), .set = one};
    struct imported m;
    struct err e;
    q.set_count = f == &import_gguf;
    must(import_detect(q.path, &found, &e), "what it is can be asked");
    bool ok = import_run(f, &q, &m, &e);
    must(ok || strstr(e.text, q.path) || strcmp(e.file, q.path) == 0, "errors name the file");
    if (ok && m.text.length <= MOST_TEXT)
        check_network(&m, f != &import_onnx);
    imported_finish(&m);
}
