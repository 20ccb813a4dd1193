// Memory use of a statement of a loop nest: the elements that each of its accesses touches, how
// often, and when it touches them again.
//
//     struct access_use use[NEST_MAX_ACCESSES];
//     access_uses(&point, statement, use);
//
// The definitions are Ansor's (OSDI 2020, appendix B; TVM's per-store features). With e the size of
// an element, over the loops of the statement's path:
//
//     bytes          e * executions
//     unique_bytes   e * different elements
//     lines          executions / lengths of the innermost loops that do not move the access
//                    * min(1, stride of the next loop * e / 64), at least 1: 64-byte lines fetched
//     unique_lines   unique_bytes / min(64, length of a contiguous run), at least 1
//     reuse          REUSE_LOOP by the innermost loop that does not move the access, as often as
//                    its length; else, if another access to the buffer shares a loop with it,
//                    REUSE_SERIAL, as often as the number of such accesses
//     distance       executions, and bytes that the statement touches, until the element is touched
//                    again: those of all loops inside that one
//     stride         of the innermost loop, in elements
//
// Loops of one iteration are ignored.
#ifndef TILEWALK_MODEL_FEATURES_STATEMENTS_H
#define TILEWALK_MODEL_FEATURES_STATEMENTS_H

#include "space/nest.h"

enum access_reuse { REUSE_LOOP, REUSE_SERIAL, REUSE_NONE };

struct access_use {
    double bytes, unique_bytes, lines, unique_lines;
    enum access_reuse reuse;
    double reuse_count, distance, distance_bytes; // 0 when there is none
    double stride;
    double touched[NEST_MAX_PATH + 1]; // bytes touched by the innermost 0, 1, ... loops
};

void access_uses(const struct nest_point *p, int statement, struct access_use *use);

#endif
