// A worker's side of an errand (errand.h): one thing is done, and answered over the wire.
#ifndef TILEWALK_TRIAL_CHORE_H
#define TILEWALK_TRIAL_CHORE_H

#include "trial/wire.h"

void chore_compile(struct wire *w, const struct job *job);
void chore_preprocess(struct wire *w, const struct job *job);
void chore_list(struct wire *w, const char *drivers); // as VK_DRIVER_FILES, "": as it is
void chore_peaks(struct wire *w, int device);
void chore_open(struct wire *w, int device, bool validate);

#endif
