// Exports: the best configurations of a session as files that other programs can use.
//
// A kernel becomes NAME.comp (GLSL), NAME.spv (SPIR-V), NAME.json (configuration, workgroup sizes,
// dispatch, bindings, timing, device, driver, hashes, verification) and NAME.h (C header with the
// SPIR-V words and a ready description of the dispatch). Further passes are NAME.pass2.comp and so
// on. Only --verify needs a device: everything is rendered from the stored texts of the session,
// and compiled by the compiler that it was measured with. With another compiler the export fails.
//
// Either all files are written or none. Files of another session or of another program are not
// replaced unless `force` is set. Files of further passes are removed when their export is
// replaced.
#ifndef TILEWALK_EXPORT_EXPORT_H
#define TILEWALK_EXPORT_EXPORT_H

#include "export/reverify.h"
#include "store/store.h"

struct export_request {
    int64_t session;
    const char *folder; // made when missing; NULL: "export"
    int count;          // number of best kernels, at least 1
    int64_t trial;      // number of the one trial that is exported; 0: the best are
    // Name of the files; NULL: from the space and the problem, "gemm-f32-nn-256x256x256".
    const char *name;
    const char *form; // form of a recording (recording_write); NULL: "tilewalk"
    bool verify;      // first check and time the kernels again; if one fails, nothing is written
    struct reverify_options reverify;
    bool force; // replace files that are not from this session
    // With a count of 1, the faster kernel stays: files of another session on the same device are
    // replaced only when that session found a slower one.
    bool keep_faster;
    bool dry_run; // do everything but write
    bool quiet;   // print nothing on stdout
    bool json;    // print JSON
};

// Exports a session. A network becomes a folder that runs without tilewalk (export/network.h).
bool export_run(struct store *store, const struct export_request *r, struct err *e);

// Adds the files of one kernel, named `name`.
struct export_kernel {
    int64_t session, ask;
    const char *name;
    struct kernel_files *files;
    uint64_t *scratch_bytes; // out: the scratch memory that it needs
};
bool export_add_kernel(struct store *store, const struct export_kernel *k, struct err *e);

// Writes the trials of the session as a recording, FOLDER/NAME.json, in the form of the request;
// needs no kernels and no device. Only the members form, folder, name, force, quiet and json of the
// request count. The default name is that of the space with the number of the session. An existing
// file is an error unless `force` is set.
bool export_recording(struct store *store, const struct export_request *r, struct err *e);

// Appends the entry of a table (report/kernel_table.h) for the best kernel of a measured session.
bool export_add_entry(struct store *store, int64_t session, struct str *out, struct err *e);

#define EXPORT_STANDARD_FOLDER "export"
bool export_check_name(const char *name, struct err *e); // checks a name of files; NULL is fine
// Returns the default name of a session's files, "gemm-f32-nn-256x256x256": the space, and the
// title of the problem without its operator. Heap.
char *export_standard_name(const struct session_record *r);

#endif
