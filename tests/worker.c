// The worker of pools that tests open: a pool starts the program that it runs in.
#include "group.h"

#include "trial/source.h"

TEST_COMMAND(worker, WORKER_COMMAND)
{
    (void)argv;
    return argc == 2 ? worker_main() : 2;
}
