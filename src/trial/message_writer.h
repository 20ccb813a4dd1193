// Writing messages, for message_write.c, message_job.c and message_fleet.c.
#ifndef TILEWALK_TRIAL_MESSAGE_WRITER_H
#define TILEWALK_TRIAL_MESSAGE_WRITER_H

#include "base/json.h"
#include "trial/message.h"

struct json_writer message_start(struct str *text, enum message_type type);
char *message_end(struct json_writer *w); // the text, the caller's
void message_add_job(struct json_writer *w, const char *name, const struct job *job);
void message_add_devices(struct json_writer *w, const struct gpu_info *list, int count);

#endif
