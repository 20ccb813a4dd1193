// The members of a message's structures, written and read by the same functions: each structure
// names its members once.
//
//     h->device = (int)codec_int(c, "device", h->device, 0, 1000);
//     struct elements l = codec_list(c, "jobs");
//     for (; codec_next(c, &l, r->count, MOST); r->count += !c->w)
//         codec_job(c, &r->job[l.index]);
//
// A codec with a writer writes the values that it is given. One without it reads: it checks each
// member of `object`, notes the first one that is missing or implausible, and gives zeros or the
// least value from then on, so that its callers go straight down. Texts and definitions come from
// strangers.
#ifndef TILEWALK_TRIAL_CODEC_H
#define TILEWALK_TRIAL_CODEC_H

#include "base/json.h"
#include "base/json_read.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "space/custom_operation.h"

struct codec {
    struct json_writer *w; // NULL: it reads
    struct json object;    // read: whose members come
    const char *bad;       // read: NULL so far
    struct arena arena;    // read: texts, until the message is read
};

void codec_refuse(struct codec *c, const char *name);
// Reads a member of this type, which others take apart; one without `at`: it is missing.
struct json codec_read(struct codec *c, const char *name, enum json_type type);

// These write `value`, or return what they read.
int64_t codec_int(struct codec *c, const char *name, int64_t value, double low, double high);
uint64_t codec_u64(struct codec *c, const char *name, uint64_t value);
double codec_real(struct codec *c, const char *name, double value); // 0 .. 1e9
bool codec_flag(struct codec *c, const char *name, bool value);
const char *codec_word(struct codec *c, const char *name, const char *value); // in c->arena

// Writes `text`, or reads into it, cut to its size.
#define CODEC_TEXT(c, name, text) codec_text((c), (name), (text), sizeof(text))
void codec_text(struct codec *c, const char *name, char *text, size_t size);

// Writes `count` numbers, or reads at most `most` within `bounds`, ends included. Returns how many
// there are.
struct bounds {
    double low, high;
};
int codec_reals(struct codec *c, const char *name, double *value, int count, int most,
                struct bounds bounds);

// Bytes are written as hexadecimal digits. What is read is the caller's, on the heap.
void codec_kept(struct codec *c, struct gpu_kept *kept);
void codec_modules(struct codec *c, struct spirv module[JOB_MAX_PASSES], int *count);

// A list of objects. The members that follow codec_next are those of its element `index`.
struct elements {
    const char *name;
    int index;
    struct json outer; // read
    struct json_walk walk;
};
struct elements codec_list(struct codec *c, const char *name);
// Goes to the next one of `count` elements that are written, or of at most `most` that are read.
bool codec_next(struct codec *c, struct elements *l, int count, int most);

// The members that follow are those of the object `name`, up to codec_end with what is returned.
struct json codec_begin(struct codec *c, const char *name);
void codec_end(struct codec *c, struct json outer);

// A job that is read is the caller's (job_finish), also where it is bad.
void codec_job(struct codec *c, struct job *job);
// An operation among other members. One of a space file that is read is in `custom` too, the
// caller's.
void codec_operation(struct codec *c, struct operation *o, struct custom_operation **custom);

#endif
