// The processes below another one, and how long they have been waited for.
//
//     struct patience p;
//     patience_begin(&p, getpid());
//     while (!is_done())
//         if (patience_spent_s(&p) > 60)
//             fail_msg("waited in vain");
//
// The time that they stand in line for a processor is not counted: where they get a tenth of one,
// because the machine does other things, it takes ten times as long until a limit is reached. What
// sleeps, or has the processors that it wants, is counted by the clock.
#ifndef TILEWALK_TESTS_PATIENCE_H
#define TILEWALK_TESTS_PATIENCE_H

#include <stdint.h>
#include <sys/types.h>

// Lists the processes below `root`, without itself, in no order; at most `most`. Returns their
// number.
int processes_below(pid_t root, pid_t *out, int most);

struct patience {
    pid_t root;
    int64_t looked_ns;       // when they were looked at last
    int64_t run_ns, line_ns; // what all of them had run and stood in line by then; -1: not known
    double spent_s;
};

void patience_begin(struct patience *p, pid_t root);
double patience_spent_s(struct patience *p); // cheap: looks at the processes a few times a second

#endif
