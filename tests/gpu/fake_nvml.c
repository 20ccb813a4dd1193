// Stands in NVML's place: a card at its power limit; TILEWALK_FAKE_NVML=lies, refuses, asleep, or
// shared.
#include <stdlib.h>
#include <string.h>

enum { OK = 0, REFUSED = 3 };

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetTemperature(void *device, int kind, unsigned *celsius);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits);
int nvmlDeviceGetViolationStatus(void *device, int policy, unsigned long long out[2]);

struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned instance[2];
};
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *out);

static int card;

static int is(const char *mode)
{
    const char *set = getenv("TILEWALK_FAKE_NVML");
    return set && strcmp(set, mode) == 0;
}

int nvmlInit_v2(void)
{
    return is("refuses") ? REFUSED : OK;
}

static int find(const char *name, const char *wanted, void **device)
{
    *device = &card;
    return strcmp(name, wanted) == 0 ? OK : REFUSED;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    return find(bus, "0000:01:00.0", device);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    return find(uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff", device);
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz)
{
    *mhz = is("lies") ? 4294967295u : kind == 1 ? 1410 : 2619;
    return device == &card ? OK : REFUSED;
}

int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz)
{
    *mhz = is("asleep") ? 14100 : kind == 1 ? 1880 : 2619;
    return device == &card ? OK : REFUSED;
}

int nvmlDeviceGetTemperature(void *device, int kind, unsigned *celsius)
{
    *celsius = 71;
    return device == &card && kind == 0 ? OK : REFUSED;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    *milliwatts = 350500;
    return device == &card ? OK : REFUSED;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits)
{
    *bits = 0x1 | 0x4; // idle, which is none, and the power cap
    return device == &card ? OK : REFUSED;
}

// The temperature has held clocks back once, and again between any two calls.
int nvmlDeviceGetViolationStatus(void *device, int policy, unsigned long long out[2])
{
    static unsigned long long heat = 1000;
    out[0] = 0;
    out[1] = policy == 1 ? heat += 10 : 0;
    return device == &card ? OK : REFUSED;
}

// A process that is there, and one that cannot be seen from here, as from a container.
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *out)
{
    if (!is("shared") || *count < 2)
        return REFUSED;
    out[0] = (struct process){.pid = 4242};
    out[1] = (struct process){.pid = 4343};
    *count = 2;
    return device == &card ? OK : REFUSED;
}
