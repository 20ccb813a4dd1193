#include "export/tell.h"

#include "base/file.h"
#include "base/json.h"
#include "base/shown.h"
#include "engine/speed.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool export_is_file_of(const char *file, const char *name)
{
    size_t length = strlen(name);
    return strncmp(file, name, length) == 0 && file[length] == '.';
}

// Lines of a text; -1 for SPIR-V.
static int64_t line_count(const struct kernel_file *f)
{
    const char *suffix = strrchr(f->name, '.');
    int64_t n = 0;
    if (str_equal(suffix, ".spv"))
        return -1;
    for (size_t i = 0; i < f->length; i++)
        n += f->bytes[i] == '\n';
    return n;
}

// --- for people ---

static void add_kernel_text(const struct export_told *t, const struct reverified *k,
                            struct str *out)
{
    char speed[32];
    if (k->again_s > 0) {
        str_add(out, "verified: ");
        reverify_add_text(t->session, k, out);
    } else {
        str_add(out, speed_text(t->session, k->stored_s, speed));
    }
    str_printf(out, "  (%s, trial %" PRId64 ", %s)\n", k->name, k->trial,
               k->raced ? "raced" : "as measured");
}

static void add_file_text(const struct export_told *t, const struct kernel_file *f, struct str *out)
{
    char *path = path_join(t->folder, f->name);
    int64_t lines = line_count(f);
    shown_add(out, path);
    if (t->request->dry_run && lines >= 0)
        str_printf(out, "  %" PRId64 " lines", lines);
    else if (t->request->dry_run)
        str_printf(out, "  %zu bytes", f->length);
    if (t->request->dry_run && file_exists(path))
        str_add(out, ", replaces the one there");
    str_add(out, "\n");
    free(path);
}

static void add_text(const struct export_told *t, struct str *out)
{
    for (int i = 0; i < t->kernels && (t->request->dry_run || t->request->verify); i++)
        add_kernel_text(t, &t->kernel[i], out);
    for (int i = 0; i < t->files->count; i++)
        add_file_text(t, &t->files->file[i], out);
}

// --- for programs (docs/json.md) ---

static void add_kernel_json(const struct export_told *t, const struct reverified *k,
                            struct json_writer *w)
{
    json_begin_object(w, NULL);
    json_add_text(w, "name", k->name);
    json_add_int(w, "trial", k->trial);
    json_add_real(w, "tflops", k->stored_s > 0 ? t->session->flop / k->stored_s / 1e12 : NAN);
    json_add_real(w, "ms", k->stored_s > 0 ? k->stored_s * 1e3 : NAN);
    json_add_flag(w, "raced", k->raced);
    json_add_real(w, "verified_tflops",
                  k->again_s > 0 ? t->session->flop / k->again_s / 1e12 : NAN);
    json_add_real(w, "verified_ms", k->again_s > 0 ? k->again_s * 1e3 : NAN);
    json_end(w);
}

static void add_file_json(const struct kernel_file *f, const char *path, struct json_writer *w)
{
    int64_t lines = line_count(f);
    json_begin_object(w, NULL);
    json_add_text(w, "path", path);
    json_add_count(w, "bytes", f->length);
    if (lines >= 0)
        json_add_int(w, "lines", lines);
    else
        json_add_null(w, "lines");
    json_add_flag(w, "exists", file_exists(path));
    json_end(w);
}

static void add_files(const struct export_told *t, bool in_detail, struct json_writer *w)
{
    json_begin_list(w, in_detail ? "would_write" : "files");
    for (int i = 0; i < t->files->count; i++) {
        char *path = path_join(t->folder, t->files->file[i].name);
        if (in_detail)
            add_file_json(&t->files->file[i], path, w);
        else
            json_add_text(w, NULL, path);
        free(path);
    }
    json_end(w);
}

static void add_json(const struct export_told *t, struct str *out)
{
    struct json_writer w = json_begin(out);
    add_files(t, false, &w);
    json_begin_list(&w, "kernels");
    for (int i = 0; i < t->kernels; i++)
        add_kernel_json(t, &t->kernel[i], &w);
    json_end(&w);
    if (t->request->dry_run)
        add_files(t, true, &w);
    json_end_all(&w);
    str_add_char(out, '\n');
}

void export_tell(const struct export_told *t)
{
    struct str out = {0};
    if (t->request->json)
        add_json(t, &out);
    else
        add_text(t, &out);
    fputs(str_text(&out), stdout);
    str_finish(&out);
}
