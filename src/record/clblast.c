// The output of CLBlast's tuners: times in milliseconds, failures left out.
#include "record/format.h"

#include <math.h>

enum { FAMILY, DEVICE, RESULTS, ROOT_MEMBERS };
static const char *const root_members[ROOT_MEMBERS] = {"kernel_family", "device", "results"};

enum { TIME, PARAMETERS, MEMBERS };
static const char *const members[MEMBERS] = {"time", "parameters"};

static bool clblast_read_result(struct table *t, struct cost *cost, struct json result,
                                struct err *e)
{
    struct json found[MEMBERS];
    struct record_entry entry = {.compile_s = NAN, .benchmark_s = NAN};
    struct sample sample = {.time = NAN, .rate = NAN};
    json_members(result, MEMBERS, members, found);
    table_begin_row(t, result.line);
    if (json_type(found[PARAMETERS]) != JSON_OBJECT)
        return err_at(e, t->recording->path, result.line, "a result has an object 'parameters'");
    if (!table_set_members(t, found[PARAMETERS], e))
        return false;
    sample.position = found[TIME].at ? found[TIME] : result;
    json_number(found[TIME], &sample.time);
    return cost_settle(t, cost, &sample, &entry, e) && table_end_row(t, &entry, e);
}

static bool clblast_read(struct recording *r, struct json root, struct err *e)
{
    struct cost cost = {.objective = "time", .unit = "s", .scale = 1e-3};
    struct json found[ROOT_MEMBERS];
    struct table t = {.recording = r};
    json_members(root, ROOT_MEMBERS, root_members, found);
    r->kernel = cost_text(found[FAMILY], &r->arena);
    r->device = cost_text(found[DEVICE], &r->arena);
    bool ok = cost_read_rows(&t, &cost, found[RESULTS], "the results", clblast_read_result, e);
    table_release(&t);
    return ok;
}

const struct format format_clblast = {.name = "clblast",
                                      .what = "CLBlast tuner output",
                                      .members = {"results", "kernel_family"},
                                      .read = clblast_read};
