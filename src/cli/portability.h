// Portability: the best configuration of each session, measured on each device that one of them was
// tuned on.
//
//     portability_measure(a, &p, e);        the operands are sessions with one space and problem
//     portability_add_text(&p, &out);       or _markdown, _csv, _json
//     portability_finish(&p);
//
// A column is a device, a row a session. Each cell is measured now: verified, and in turns with the
// other configurations of its column; nothing that was stored for another device is used. A
// configuration is rendered as the space is on the device that it runs on, and judged by that
// device's limits. Shares are of the fastest among the rows that were tuned on the column's device.
#ifndef TILEWALK_CLI_PORTABILITY_H
#define TILEWALK_CLI_PORTABILITY_H

#include "cli/common.h"
#include "export/reverify.h"

struct portability_cell {
    enum outcome outcome;
    double seconds;                 // 0 unless ok
    double share;                   // of the column's own best; NAN: unknown
    char reason[TRIAL_REASON_SIZE]; // unless ok
};

struct portability_row {
    struct session_record session;
    struct trial_record best;
    int column;                    // of its own device
    struct portability_cell *cell; // [columns]
};

struct portability {
    struct portability_row *row;
    int rows;
    const struct session_record **column; // the first session on each device
    int columns;
    struct arena arena;
};

// False: sessions that are not comparable, that found nothing, or whose device is not here.
bool portability_measure(const struct arguments *a, struct portability *p, struct err *e);
void portability_finish(struct portability *p);

void portability_add_text(const struct portability *p, struct str *out);
void portability_add_markdown(const struct portability *p, struct str *out);
// RFC 4180, a line for each cell: session, tuned_on, runs_on, outcome, tflops, share, reason.
void portability_add_csv(const struct portability *p, struct str *out);
void portability_add_json(const struct portability *p, struct str *out); // docs/json.md

#endif
