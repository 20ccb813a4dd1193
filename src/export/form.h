// Configurations in the form of another program, as export(NAME, ...) of a space file writes them:
// printed to be pasted, or as a patch of that program's own source file.
#ifndef TILEWALK_EXPORT_FORM_H
#define TILEWALK_EXPORT_FORM_H

#include "store/store.h"

#define EXPORT_GIT "/usr/bin/git"

// Prints the `most` best configurations of a session in that form: a line or a few each, to be
// pasted. Fails when none has such a form.
bool export_form(struct store *store, int64_t session, const char *form, int most, bool json,
                 struct err *e);

struct patch_request {
    const int64_t *session;
    int count;
    const char *form, *folder; // a checkout of the other program
    int most;                  // trials of a session to look at
};

// Prints what the sessions measured and one unified diff of the other program's file that puts the
// best configuration of each session in its place; of the `most` best, the first that has one. The
// space's functions find the place by what the file says. `git apply --check` has to accept the
// diff, where there is git. Fails, and prints nothing, when the folder has no such file, when the
// file is not as the functions expect, or when two sessions want different things of one place. One
// thread.
bool export_patch(struct store *store, const struct patch_request *want, struct err *e);

#endif
