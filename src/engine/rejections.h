// Why configurations were rejected, counted, to say what leaves so few of a space.
//
//     struct rejections r = {0};
//     rejections_add(&r, space, &verdict);
//     rejections_add_text(&r, space, &text);      ": shared memory removes 71 %, ..."
//     rejections_finish(&r);
#ifndef TILEWALK_ENGINE_REJECTIONS_H
#define TILEWALK_ENGINE_REJECTIONS_H

#include "space/space.h"

struct rejections { // valid when zeroed
    int64_t *by;    // by reason: constraints, limits, and what only the compiled shader shows
    int64_t all;
};

// `v` NULL: it was rejected for what its compiled shader needs. All calls are about one space.
void rejections_add(struct rejections *r, const struct space *space, const struct verdict *v);
// The reasons that removed most, largest first; nothing where there were none. Once, at the end:
// what was said counts no more.
void rejections_add_text(struct rejections *r, const struct space *space, struct str *out);
void rejections_finish(struct rejections *r);

#endif
