// Why a host that has a card shows no Vulkan device of it, as containers and machines without a
// display often do: which file, library or right its driver lacks.
#ifndef TILEWALK_CLI_DOCTOR_HOST_H
#define TILEWALK_CLI_DOCTOR_HOST_H

#include "gpu/gpu.h"

enum { HOST_MOST_TROUBLES = 7 };

struct host_trouble {
    char found[200];
    const char *hint; // what to do
};

// What cards of this host that are not among the devices lack. The files of the system are looked
// for below TILEWALK_ROOT (for tests; else they are where they are). Returns how many troubles.
int host_troubles(const struct gpu_info *list, int count,
                  struct host_trouble out[HOST_MOST_TROUBLES]);

#endif
