#include "engine/session_clock.h"

#include "base/os.h"

double session_clock_seconds(const struct session_clock *c)
{
    double now = c->started_ns ? (double)(os_now_ns() - c->started_ns) / 1e9 : 0;
    return c->record->ran_seconds + now;
}

void session_clock_run(struct session_clock *c, bool running)
{
    c->record->ran_seconds = session_clock_seconds(c);
    c->started_ns = running ? os_now_ns() : 0;
}

int64_t session_clock_trials(const struct session_clock *c)
{
    double seconds = c->record->budget_seconds;
    return seconds > 0 && session_clock_seconds(c) >= seconds ? 0 : c->record->budget_trials;
}
