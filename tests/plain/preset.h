// A preset with settings of its own, on the best device here: random legal points declare what
// their SPIR-V holds, compute the right result in both input sets, and write nothing else.
//
//     if (!preset_open_device())          false: there is none; the test is skipped
//     preset_check("softmax", set, 2, points, &rng);      fails the running test
//     preset_close_device();
#ifndef TILEWALK_TESTS_PLAIN_PRESET_H
#define TILEWALK_TESTS_PLAIN_PRESET_H

#include "base/rng.h"
#include "script/script.h"

bool preset_open_device(void);
void preset_close_device(void);
bool preset_device_has_f16(void);

void preset_check(const char *preset, const struct setting *set, int set_count, int points,
                  struct rng *r);

#endif
