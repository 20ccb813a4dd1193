#include "session_text.h"

#include "engine/speed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *sessions_unit(const struct model *m, double *per_flops)
{
    double best = 0;
    for (int i = 0; i < m->session_count; i++)
        best = fmax(best, record_speed(&m->session[i].record));
    *per_flops = best >= 0.99995e12 ? 1e-12 : 1e-9;
    return best >= 0.99995e12 ? "TFLOPS" : "GFLOPS";
}

char *sessions_speed(double flops, double per_flops, char out[24])
{
    double value = flops * per_flops;
    out[0] = '\0';
    if (flops > 0 && value < 0.1) // beside much faster ones: in a unit of its own
        snprintf(out, 24, "%.3g %c", flops >= 1e9 ? flops / 1e9 : flops / 1e6,
                 flops >= 1e9 ? 'G' : 'M');
    else if (flops > 0)
        snprintf(out, 24, "%.*f", value >= 99.995 ? 1 : value >= 0.9995 ? 2 : 3, value);
    return out;
}

// "synthetic:rugged" of "synthetic:rugged:seed=3", "replay:a.json" of "replay:/home/me/a.json".
const char *session_place(const struct session_record *r, char out[256])
{
    const char *kind = r->source, *name = strchr(kind, ':');
    if (str_equal(kind, "device") || !name)
        return str_equal(kind, "device") ? r->device : kind;
    size_t length = strcspn(++name, ":");
    size_t folder = length;
    while (folder > 0 && name[folder - 1] != '/')
        folder--;
    snprintf(out, 256, "%.*s%.*s", (int)(name - kind), kind, (int)(length - folder), name + folder);
    return out;
}

double record_speed(const struct session_record *r)
{
    if (!r->best_ask || r->best_seconds <= 0 || speed_share(r) > 0 || r->unit)
        return 0;
    return r->flop / r->best_seconds;
}

char *session_best(const struct session_record *r, double per_flops, char out[24])
{
    char speed[32];
    double share = speed_share(r);
    if (share > 0)
        snprintf(out, 24, "%.3g %%", 100 * share);
    else if (r->unit && r->best_ask)
        snprintf(out, 24, "%s", speed_text(r, r->best_seconds, speed));
    else
        sessions_speed(record_speed(r), per_flops, out);
    return out;
}

char *text_ago(double seconds, char out[24])
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int i = 0;
    while (i < 3 && seconds < units[i].seconds)
        i++;
    snprintf(out, 24, "%.0f %s", fmin(floor(fmax(seconds, 0) / units[i].seconds), 99999),
             units[i].name);
    return out;
}
