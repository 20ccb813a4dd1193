#include "export/text.h"

#include "base/file.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool export_text_may_write(const struct export_text *t, struct err *e)
{
    return t->replaces || !file_exists(t->path) ||
           err_set(e, "'%s' is there already (--force replaces it)", t->path);
}

bool export_text_write(const struct export_text *t, struct err *e)
{
    char *folder = path_folder(t->path);
    bool ok =
        file_make_folders(folder, e) && file_write(t->path, str_text(&t->text), t->text.length, e);
    free(folder);
    if (ok) {
        struct str out = {0};
        if (t->json) {
            struct json_writer w = json_begin(&out);
            json_add_texts(&w, "files", (const char *[]){t->path, NULL});
            json_add_int(&w, "entries", t->entries);
            json_end(&w);
        } else {
            str_printf(&out, "wrote %s: %" PRId64 " %s%s", t->path, t->entries, t->what,
                       t->entries == 1 ? "" : "s");
            if (t->detail.length)
                str_printf(&out, " (%s)", str_text(&t->detail));
        }
        puts(str_text(&out));
        str_finish(&out);
    }
    return ok;
}
