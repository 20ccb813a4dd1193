// Pools without the client library of NATS: all that uses one fails.
#include "fleet/pool.h"
#include "trial/frame.h"
#include "trial/message.h"

#include <stdlib.h>

static bool refuse(struct err *e)
{
    return err_set(e, "this tilewalk was built without pools (libnats-dev was not there)");
}

bool broker_run(int in, int out, const struct queue_options *o, struct err *e)
{
    struct link link;
    (void)o;
    refuse(e);
    link_init(&link, in, FRAME_MAX_BYTES);
    link.out_fd = out;
    char *text = message_failed(e);
    if (link_queue(&link, text))
        link_flush(&link);
    free(text);
    link_finish(&link);
    return false;
}

bool worker_run(const struct worker_options *o, struct err *e)
{
    (void)o;
    return refuse(e);
}

bool worker_drain(const struct queue_options *o, const char *machine, struct err *e)
{
    (void)o, (void)machine;
    return refuse(e);
}
