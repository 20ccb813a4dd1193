// What strategies with a model cost, on a space that has a loop nest.
//
//     learned_cost(bench_step_ns(), 1000);
//
// Each searches mm1 for some more than `trials` results of a bowl around a hidden point, under the
// rules of the space and the least limits that Vulkan allows. What counts is the CPU time of the
// last fit and of the search for its batch, on one thread, and the memory of them all, one after
// the other.
#ifndef TILEWALK_TESTS_LEARNED_H
#define TILEWALK_TESTS_LEARNED_H

void learned_cost(double nanoseconds_a_step, int trials);

#endif
