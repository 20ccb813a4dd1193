// Flat parameters, as in the formats of others: each is a number or a text. A list of n values, as
// of a factorization or a permutation, becomes n parameters, NAME_0 to NAME_n-1, which declared.h
// joins to a list again. Internal to this folder.
#ifndef TILEWALK_RECORD_FLAT_H
#define TILEWALK_RECORD_FLAT_H

#include "base/json.h"
#include "record/record.h"

// Fails where two parameters would have one name.
bool flat_check(const struct recording *r, struct err *e);
void flat_add_names(const struct space *s, struct json_writer *w);  // a text each
void flat_add_values(const struct space *s, struct json_writer *w); // NAME: what it can be
void flat_add_config(const struct space *s, const struct config *c, struct json_writer *w);
void flat_add_key(const struct space *s, const struct config *c, struct str *out); // "16,2,shared"

#endif
