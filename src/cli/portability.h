// Portability: the best configuration of each session, measured on each device that one of them was
// tuned on.
//
// A column of the table is a device, a row a session. Each cell is measured now: verified, and in
// turns with the other configurations of its column; nothing that was stored for another device is
// used. A configuration is rendered as the space is on the device that it runs on, and judged by
// that device's limits. Shares are of the fastest among the rows that were tuned on the column's
// device.
#ifndef TILEWALK_CLI_PORTABILITY_H
#define TILEWALK_CLI_PORTABILITY_H

#include "cli/command.h"

// Measures the operands' sessions and prints the table as text or in the form of --json, --csv or
// --markdown. Returns false for sessions that are not comparable or found nothing, or whose device
// is not here. CSV (RFC 4180) has a line for each cell: session, tuned_on, runs_on, outcome,
// tflops, share, reason.
bool portability_print(const struct arguments *a, struct err *e);

#endif
