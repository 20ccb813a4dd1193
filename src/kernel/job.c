#include "kernel/job.h"

#include <stdlib.h>

void job_finish(struct job *j)
{
    for (int i = 0; i < j->pass_count; i++) {
        free(j->pass[i].glsl);
        free(j->pass[i].template_name);
        free(j->pass[i].line_map);
    }
    *j = (struct job){0};
}
