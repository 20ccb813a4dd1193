// How wide intervals around what a model expects must be to hold half, and nine tenths, of what
// comes: learned from how far off it was.
//
//     struct intervals i;
//     intervals_init(&i);
//     intervals_told(&i, surprise);   each result: by how many deviations it was off, of any sign
//     ...i.half, i.nine_in_ten
//
// They begin as a normal distribution has them. Each result makes an interval that missed it wider
// and one that held it narrower, by factors whose logarithms weigh each other up where it holds the
// share that it should: so over many results it does, whatever the model and however wrong its
// deviations (adaptive conformal inference: Gibbs, Candes 2021).
#ifndef TILEWALK_MODEL_INTERVALS_H
#define TILEWALK_MODEL_INTERVALS_H

struct intervals {
    double half, nine_in_ten; // deviations, to each side
};

void intervals_init(struct intervals *i);
void intervals_told(struct intervals *i, double surprise);

#endif
