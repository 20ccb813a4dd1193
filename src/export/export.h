// Exports: the best configurations of a session as files that other programs can use.
//
// For each: NAME.comp (GLSL), NAME.spv (SPIR-V), NAME.json (configuration, workgroup sizes,
// dispatch, bindings, timing, device, driver, hashes, how it was verified) and NAME.h (C header
// with the SPIR-V words and a ready description of the dispatch). Further passes are
// NAME.pass2.comp and so on. Needs no device unless they are to be verified again: everything is
// rendered and compiled from the texts that the session stored, by the compiler that it was
// measured with: with another one there is nothing to export.
//
// Nothing is written unless everything can be: files that another session's export wrote, or that
// no export wrote, are in the way unless `force` says that they are not. Further passes of an
// export that is replaced go with it.
#ifndef TILEWALK_EXPORT_EXPORT_H
#define TILEWALK_EXPORT_EXPORT_H

#include "export/reverify.h"
#include "store/store.h"

struct export_request {
    int64_t session;
    const char *folder; // made when missing; NULL: "export"
    int count;          // the n best, at least 1
    // Of the files; NULL: it is made of the space and the problem, "gemm-f32-nn-256x256x256".
    const char *name;
    const char *form; // of a recording: recording_write_as; NULL: our own, "tilewalk"
    bool verify;      // first check and time them again; when one does not pass, nothing is written
    struct reverify_options reverify;
    bool force; // replace files that are not of this session
    // With a count of 1: files of another session on the same device are replaced when that found a
    // slower kernel, and stay when it found a faster one.
    bool keep_faster;
    bool dry_run; // do everything but write
    bool quiet;   // say nothing on stdout
    bool json;    // say it as JSON
};

// Of a network it is a folder that runs without tilewalk (export/network.h).
bool export_run(struct store *store, const struct export_request *r, struct err *e);

// Adds the files of one kernel, named `name`.
struct export_kernel {
    int64_t session, ask;
    const char *name;
    struct kernel_files *files;
    uint64_t *scratch_bytes; // what it needs
};
bool export_add_kernel(struct store *store, const struct export_kernel *k, struct err *e);

// The trials of the session as a recording in the form that the request names, FOLDER/NAME.json,
// without kernels and device (export.c). Only the members form, folder, name, force,
// quiet and json of the request count. The name is by default that of the space and the session's
// number. A file that is there already is an error, unless `force` is set.
bool export_recording(struct store *store, const struct export_request *r, struct err *e);

// What a table (report/kernel_table.h) holds of the best kernel of a session that was measured.
bool export_add_entry(struct store *store, int64_t session, struct str *out, struct err *e);

#define EXPORT_STANDARD_FOLDER "export"
bool export_check_name(const char *name, struct err *e); // of files; NULL is fine
// What files of a session are called where nobody says: "gemm-f32-nn-256x256x256", the space, and
// the title of the problem without its operator. Heap, the caller's.
char *export_standard_name(const struct session_record *r);

#endif
