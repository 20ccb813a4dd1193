// The known formats, one record each. Internal to this folder.
//
// The first format whose members are all in the outermost object reads the file: `read` fills
// `recording`, whose space is sealed when it comes back. The records live in the files of their
// names; read.c lists them, write.c those that are written too.
#ifndef TILEWALK_RECORD_FORMAT_H
#define TILEWALK_RECORD_FORMAT_H

#include "base/json.h"
#include "base/json_read.h"
#include "record/record.h"

struct format {
    const char *name;
    const char *what;       // for messages
    const char *members[3]; // ends with NULL
    bool (*read)(struct recording *r, struct json root, struct err *e);
    const char *open; // the last member, which may well not be closed; NULL: there is none
    // Adds all members of the outermost object; NULL: the format is only read. Those of others
    // hold times in seconds alone, as flat.h has parameters.
    void (*write)(const struct recording *r, struct json_writer *w);
};

extern const struct format format_tilewalk, format_kernel_tuner, format_clblast, format_ktt,
    format_t4, format_t1;

#endif
