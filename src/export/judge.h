// Judges a kernel that somebody wrote: is it right, and how fast is it beside that of a space?
//
//     struct judgement j;
//     judge(&request, &j);            blocks; kernels run in worker processes
//     j.verdict, j.reason[0], j.ratio
//     judge_finish(&j);
//
// The kernel takes the place of the space's template: it is rendered for a configuration of the
// space (its first baseline that is legal, else one that is drawn), and is dispatched as the space
// says. On the space's own shape, and on others that the seed draws and the space allows, it runs
// on poisoned memory with inputs of that seed: exact and random ones, every access checked, then
// again and again with fresh inputs. A kernel that is right is timed in pairs with the space's own
// (trial/paired.h).
//
// RIGHT: it passed everything. WRONG: it failed, and the first reason says where. NOT_JUDGED: it
// never ran, because of the space, the device's limits or its driver. A kernel may pass and be
// wrong all the same: only what ran is known.
#ifndef TILEWALK_EXPORT_JUDGE_H
#define TILEWALK_EXPORT_JUDGE_H

#include "engine/devices.h"
#include "script/script.h"
#include "trial/trial.h"

#define JUDGE_RUNS   80 // of the space's own shape
#define JUDGE_SHAPES 3  // others

struct judge_request {
    const char *file;  // GLSL, or a template
    const char *space; // path of the space file
    const struct setting *set;
    int set_count;
    const struct gpu_info *device;
    uint64_t seed; // of shapes and inputs
    int runs;
};

enum judge_verdict { JUDGE_RIGHT, JUDGE_WRONG, JUDGE_NOT_JUDGED };

struct judge_reason {
    const char *kind; // an outcome's name, "space" or "baseline"
    char *text;       // one sentence; heap
    char *file;       // heap; NULL: it has no place
    int line;
};

struct judgement {
    enum judge_verdict verdict;
    int reasons;
    struct judge_reason reason[2];
    char *configuration; // JSON; NULL: none
    char *baseline;      // what it was timed with; NULL: nothing
    struct paired ratio; // to that
    double seconds;      // of a run; 0: it was not timed
    int runs, shapes;    // that were right: runs in all, and shapes beside the space's own
    struct str shape;    // the settings of those, joined by "; "
};

void judge(const struct judge_request *r, struct judgement *out);
void judge_finish(struct judgement *j);
const char *judge_verdict_name(enum judge_verdict v); // "right", "wrong", "not judged"

#endif
