// The best configurations of a session in the words of another program: as export(NAME, ...) of the
// space file writes them. Printed, not written: one is a line or a few, to be pasted.
#ifndef TILEWALK_EXPORT_FORM_H
#define TILEWALK_EXPORT_FORM_H

#include "store/store.h"

// The `most` best. Fails when none of them has such a form.
bool export_form(struct store *store, int64_t session, const char *form, int most, bool json,
                 struct err *e);

#endif
