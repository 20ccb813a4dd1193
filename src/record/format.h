// The known formats, one record each. Internal to this folder.
//
// The first format whose members are all in the outermost object reads the file: `read` fills
// `recording` and seals its space. The records are in the files of their names; record.c lists
// them.
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
    const char *open; // the last member, which may be unclosed; NULL: none may
    // Adds all members of the outermost object; NULL: the format is only read. The formats of
    // others have only times in seconds and flat parameters (flat.h).
    void (*write)(const struct recording *r, struct json_writer *w);
};

extern const struct format format_tilewalk, format_kernel_tuner, format_clblast, format_ktt,
    format_t4, format_t1;

#endif
