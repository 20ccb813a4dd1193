// A recording on a declared topology: the same entries, on the parameters of another space (that of
// a space file, so that its kinds, edges and orders count in a replay).
//
//     struct record_fit fit;
//     recording_declare(recorded, declared, &out, &fit, e);
//
// Parameters are matched by name. Where the recording has no parameter TILE, a declared list of n
// values takes n recorded parameters of one value each: TILE_0 .., TILE_1 .., TILE[0] .. or TILE[1]
// .., the first of these that are complete. A parameter that only one side has must have one value.
//
// Numbers are matched by value, texts by their letters, lists item by item. A value that is
// recorded and not declared is an error; one that is declared and not recorded is absent, like any
// configuration without an entry.
#ifndef TILEWALK_RECORD_DECLARED_H
#define TILEWALK_RECORD_DECLARED_H

#include "record/record.h"

// Valid entries that the constraints of the declared space forbid. They stay: the recording wins.
struct record_fit {
    int forbidden;
    int first;        // entry, from 0; meaningless without any
    char reason[160]; // why it is forbidden
};

// `declared` is sealed; `*out`, the caller's, does not refer to it or to `from`. Errors name the
// parameter, and the entry (from 1) and value where they concern one.
bool recording_declare(const struct recording *from, const struct space *declared,
                       struct recording **out, struct record_fit *fit, struct err *e);

#endif
