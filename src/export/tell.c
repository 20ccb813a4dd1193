#include "export/tell.h"

#include "base/file.h"
#include "base/shown.h"
#include "engine/speed.h"
#include "report/text.h"

#include <inttypes.h>
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

static void add_speed(struct str *out, const char *name, double flop, double seconds)
{
    str_printf(out, ",\"%stflops\":", name);
    if (seconds > 0)
        str_add_real(out, flop / seconds / 1e12);
    str_printf(out, "%s,\"%sms\":", seconds > 0 ? "" : "null", name);
    if (seconds > 0)
        str_add_real(out, seconds * 1e3);
    str_add(out, seconds > 0 ? "" : "null");
}

static void add_kernel_json(const struct export_told *t, const struct reverified *k,
                            struct str *out)
{
    str_add(out, "{\"name\":");
    str_add_json(out, k->name);
    str_printf(out, ",\"trial\":%" PRId64, k->trial);
    add_speed(out, "", t->session->flop, k->stored_s);
    str_add(out, k->raced ? ",\"raced\":true" : ",\"raced\":false");
    add_speed(out, "verified_", t->session->flop, k->again_s);
    str_add(out, "}");
}

static void add_file_json(const struct export_told *t, const struct kernel_file *f, struct str *out)
{
    char *path = path_join(t->folder, f->name);
    int64_t lines = line_count(f);
    str_add(out, "{\"path\":");
    str_add_json(out, path);
    str_printf(out, ",\"bytes\":%zu,\"lines\":", f->length);
    if (lines >= 0)
        str_printf(out, "%" PRId64, lines);
    str_printf(out, "%s,\"exists\":%s}", lines >= 0 ? "" : "null",
               file_exists(path) ? "true" : "false");
    free(path);
}

static void add_path_json(const struct export_told *t, const struct kernel_file *f, struct str *out)
{
    char *path = path_join(t->folder, f->name);
    str_add_json(out, path);
    free(path);
}

static void add_files(const struct export_told *t, const char *name,
                      void (*add)(const struct export_told *t, const struct kernel_file *f,
                                  struct str *out),
                      struct str *out)
{
    str_printf(out, "\"%s\":[", name);
    for (int i = 0; i < t->files->count; i++) {
        str_add(out, i ? "," : "");
        add(t, &t->files->file[i], out);
    }
    str_add(out, "]");
}

static void add_json(const struct export_told *t, struct str *out)
{
    str_add(out, "{");
    add_files(t, "files", add_path_json, out);
    str_add(out, ",\"kernels\":[");
    for (int i = 0; i < t->kernels; i++) {
        str_add(out, i ? "," : "");
        add_kernel_json(t, &t->kernel[i], out);
    }
    str_add(out, "]");
    if (t->request->dry_run) {
        str_add(out, ",");
        add_files(t, "would_write", add_file_json, out);
    }
    str_add(out, "}\n");
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
