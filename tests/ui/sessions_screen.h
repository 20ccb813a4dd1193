// The session browser on a stage, for its tests.
#ifndef TILEWALK_TESTS_UI_SESSIONS_SCREEN_H
#define TILEWALK_TESTS_UI_SESSIONS_SCREEN_H

#include "stage.h"
#include "view_sessions.h"

enum { SESSIONS = 7 }; // of FIXTURE_SEVERAL, the last one running

struct stage *sessions_stage(enum fixture_shape shape); // 120 x 36, all work done; of the caller:
void sessions_leave(struct stage *s);
int sessions_setup(void **state); // cmocka's: the state is a stage of FIXTURE_SEVERAL
int sessions_teardown(void **state);

struct sessions_view *view_of(struct stage *s);
int64_t cursor_of(struct stage *s);
void assert_shows(struct stage *s, const char *text); // the frame does
void assert_hides(struct stage *s, const char *text);
void must(bool ok, const struct err *e);
int64_t add_session(struct stage *s); // one more, like session 1 but without trials

#define ON_SESSIONS(test) cmocka_unit_test_setup_teardown(test, sessions_setup, sessions_teardown)

#endif
