// The main screen of a fixture on a stage, for the tests of its panes. One at a time.
#ifndef TILEWALK_TESTS_UI_MAIN_SCREEN_H
#define TILEWALK_TESTS_UI_MAIN_SCREEN_H

#include "stage.h"

extern struct stage main_stage;

void main_open(enum fixture_shape shape, int rows, int cols); // drawn, all work done
void main_close(void);
void main_settle(void);         // all work is done, a frame drawn
void main_act(enum action a);   // some seconds later
void main_show(int64_t number); // selects a trial
void main_resize(int rows, int cols);

bool main_has(const char *text);  // whether the frame does
int main_count(const char *text); // how often
int64_t main_shown(void);         // number of the trial that is shown; -1: none

#endif
