#include "fixture.h"
#include "group.h"
#include "model.h"

#include "base/file.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct setup {
    struct fixture f;
    struct model m;
};

static void begin(struct setup *t, enum fixture_shape shape)
{
    struct err e;
    fixture_create(&t->f, shape);
    model_init(&t->m, t->f.path);
    if (t->f.session && !model_open(&t->m, t->f.session, &e))
        fail_msg("%s", e.text);
    model_poll(&t->m, FIXTURE_NOW);
}

static void end(struct setup *t)
{
    model_finish(&t->m);
    fixture_destroy(&t->f);
}

static void assert_real(double is, double should_be)
{
    if (!(fabs(is - should_be) <= 1e-9 * fabs(should_be)))
        fail_msg("%.17g is not %.17g", is, should_be);
}

// --- against a plain reading of the database ---

struct plain {
    int64_t tally[OUTCOME_COUNT], early, last_number;
    double best[4000];
    int steps;
};

static bool count_it(void *context, const struct trial_record *r)
{
    struct plain *p = context;
    enum outcome o = r->outcome;
    assert_true(o != OUTCOME_OPEN);
    p->tally[o]++;
    p->early += o == OUTCOME_OK && r->early_stopped;
    if (r->number > p->last_number)
        p->last_number = r->number;
    if (o == OUTCOME_OK && (p->steps == 0 || r->seconds < p->best[p->steps - 1]))
        p->best[p->steps++] = r->seconds;
    return true;
}

static void assert_as_stored(struct setup *t)
{
    struct plain *p = mem_zero(1, sizeof *p);
    const struct opened *o = &t->m.open;
    struct err e;
    assert_true(store_each_trial(t->f.store, o->record.id, 1, count_it, p, &e));
    for (int i = 0; i < OUTCOME_COUNT; i++)
        assert_int_equal(o->tally[i], p->tally[i]);
    assert_int_equal(o->early, p->early);
    assert_int_equal(o->newest_number, p->last_number);
    assert_int_equal(o->curve.count, p->steps);
    for (int i = 0; i < p->steps; i++)
        assert_real(o->curve.step[i].seconds, p->best[i]);
    free(p);
}

static void test_summaries_are_those_of_all_trials(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, FIXTURE_SMALL);
    assert_as_stored(&t);
    assert_false(model_poll(&t.m, FIXTURE_NOW + 10));
    for (int i = 0; i < OUTCOME_COUNT; i++)
        assert_true(t.m.open.tally[i] > 0);
    assert_int_equal(t.m.open.state, STATE_RUNNING);
    assert_int_equal(t.m.open.runner, t.f.runner);
    assert_true(t.m.open.has_limits);
    assert_string_equal(t.m.open.trouble.text, "");
    end(&t);
}

static void test_news_are_added(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, FIXTURE_SMALL);
    for (int i = 0; i < 30; i++) {
        int64_t version = t.m.open.version;
        model_poll(&t.m, FIXTURE_NOW + i); // of the list of sessions there may be news
        assert_int_equal(t.m.open.version, version);
        fixture_tell(&t.f, 1 + i % 3);
        assert_true(model_poll(&t.m, FIXTURE_NOW + i + 0.5));
        assert_true(t.m.open.version > version);
        assert_as_stored(&t);
    }
    end(&t);
}

// Of many trials a second lists take some at a time, and the last ones too.
static void test_lists_follow_in_steps(void **state)
{
    (void)state;
    struct setup t;
    int steps = 0;
    begin(&t, FIXTURE_SMALL);
    for (int i = 0; i < 30; i++) {
        int64_t before = t.m.open.last_number;
        fixture_tell(&t.f, 1);
        model_poll(&t.m, FIXTURE_NOW + 0.1 * i);
        steps += t.m.open.last_number != before;
        assert_non_null(model_trial_numbered(&t.m, t.m.open.newest_number));
    }
    assert_in_range(steps, 3, 4);
    int64_t version = t.m.open.version;
    assert_true(model_poll(&t.m, FIXTURE_NOW + 4));
    assert_int_equal(t.m.open.last_number, t.m.open.newest_number);
    assert_true(t.m.open.version > version);
    assert_false(model_poll(&t.m, FIXTURE_NOW + 4.1));
    end(&t);
}

static void test_huge_sessions_are_summed_up_the_same_way(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    fixture_create_huge(&t.f, 20000);
    model_init(&t.m, t.f.path);
    assert_true(model_open(&t.m, t.f.session, &e));
    model_poll(&t.m, FIXTURE_NOW);
    assert_as_stored(&t);
    assert_false(t.m.open.is_population);
    assert_int_equal(t.m.open.population_count, 24);
    for (int i = 0; i < 24; i++)
        assert_int_equal(t.m.open.population[i], model_trial_ranked(&t.m, i)->ask);
    fixture_tell_one(&t.f);
    model_poll(&t.m, FIXTURE_NOW + 1);
    assert_as_stored(&t);
    end(&t);
}

// --- the session ---

static void test_time_and_rate(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, FIXTURE_SMALL);
    const struct trial *newest = model_trial_numbered(&t.m, t.m.open.newest_number);
    double ran = FIXTURE_NOW - t.m.open.record.created; // it was never paused
    assert_true(fabs(model_ran_seconds(&t.m, FIXTURE_NOW) - ran) < 1e-6);
    assert_true(fabs(model_ran_seconds(&t.m, FIXTURE_NOW + 5) - ran - 5) < 1e-6);
    assert_true(fabs(t.m.open.rate - 1 / 2.25) < 0.06);
    model_poll(&t.m, FIXTURE_NOW + 100); // hung
    assert_true(t.m.open.rate <= 0);
    fixture_kill_runner(&t.f);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 101));
    assert_int_equal(t.m.open.state, STATE_PAUSED);
    assert_int_equal(t.m.open.runner, 0);
    newest = model_trial(&t.m, newest->ask);
    assert_real(model_ran_seconds(&t.m, FIXTURE_NOW + 200), newest->elapsed_s);
    end(&t);
}

static void test_fast_sessions_have_a_rate(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    fixture_create_huge(&t.f, 2000); // ten a second
    model_init(&t.m, t.f.path);
    assert_true(model_open(&t.m, t.f.session, &e));
    const struct best_step *any = t.m.open.curve.step;
    double started = any->finished - any->elapsed_s;
    model_poll(&t.m, started + (double)t.m.open.newest_number * 0.1);
    assert_true(fabs(t.m.open.rate - 10) < 0.2);
    end(&t);
}

static void test_paused_time_does_not_count(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    begin(&t, FIXTURE_SMALL);
    assert_true(store_set_state(t.f.store, t.f.session, STATE_PAUSED, "", 150, &e));
    assert_true(model_poll(&t.m, FIXTURE_NOW + 10));
    assert_real(model_ran_seconds(&t.m, FIXTURE_NOW + 1000), 150);
    assert_true(store_set_state(t.f.store, t.f.session, STATE_RUNNING, NULL, 150, &e));
    assert_true(model_poll(&t.m, FIXTURE_NOW + 2000));
    assert_real(model_ran_seconds(&t.m, FIXTURE_NOW + 2000), 150);
    assert_real(model_ran_seconds(&t.m, FIXTURE_NOW + 2007), 157);
    end(&t);
}

static void test_messages_are_kept_up_to_a_number(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    begin(&t, FIXTURE_SMALL);
    assert_int_equal(t.m.open.message_count, 6);
    assert_string_equal(t.m.open.message[4].level, "error");
    assert_true(store_begin(t.f.store, &e));
    for (int i = 0; i < 5000; i++)
        author_say(t.f.author, "debug", i == 4999 ? "the last" : "noise");
    assert_true(store_commit(t.f.store, &e));
    model_poll(&t.m, FIXTURE_NOW + 1);
    const struct opened *o = &t.m.open;
    assert_in_range(o->message_count, MODEL_MOST_MESSAGES / 2, MODEL_MOST_MESSAGES);
    assert_string_equal(o->message[o->message_count - 1].text, "the last");
    for (int i = 1; i < o->message_count; i++)
        assert_int_equal(o->message[i].id, o->message[i - 1].id + 1);
    end(&t);
}

static void test_a_session_whose_texts_do_not_load_is_shown_all_the_same(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    begin(&t, FIXTURE_SMALL);
    struct session_record r = t.m.open.record;
    struct text_record text = {"gemm.lua", "presets/gemm.lua", "param.x = nonsense"};
    int64_t id;
    assert_true(store_create_session(t.f.store, &r, &text, 1, &id, &e));
    struct trial_record trial = {.ask = 1,
                                 .number = 1,
                                 .told = 1,
                                 .key = "1,2,3",
                                 .config = "{\"x\":1}",
                                 .outcome = OUTCOME_OK,
                                 .seconds = 1e-3};
    assert_true(store_put_trial(t.f.store, id, &trial, &e));
    assert_true(model_open(&t.m, id, &e));
    model_poll(&t.m, FIXTURE_NOW + 1);
    assert_null(t.m.open.space);
    assert_non_null(strstr(t.m.open.trouble.text, "cannot be read"));
    assert_int_equal(t.m.open.curve.count, 1);
    assert_false(model_best(&t.m)->has_config);
    assert_real(model_best(&t.m)->seconds, 1e-3);
    assert_null(model_trial_with(&t.m, &model_best(&t.m)->config));
    end(&t);
}

static void test_a_deleted_session_is_closed(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    begin(&t, FIXTURE_SMALL);
    assert_true(model_toggle_mark(&t.m, t.f.session));
    fixture_kill_runner(&t.f);
    assert_true(store_delete_session(t.f.store, t.f.session, &e));
    assert_true(model_poll(&t.m, FIXTURE_NOW + 1));
    assert_int_equal(t.m.open.record.id, 0);
    assert_string_equal(t.m.open.trouble.text, "session 1 was deleted");
    assert_string_equal(t.m.trouble.text, "");
    assert_int_equal(t.m.mark_count, 0);
    assert_int_equal(t.m.session_count, 0);
    assert_null(model_best(&t.m));
    assert_null(model_trial(&t.m, 1));
    assert_null(model_trial_ranked(&t.m, 0));
    assert_false(model_open(&t.m, 1, &e));
    end(&t);
}

// --- sessions ---

static void test_the_list(void **state)
{
    (void)state;
    static const enum session_state states[] = {STATE_RUNNING, STATE_PAUSED, STATE_FAILED,
                                                STATE_STOPPED, STATE_DONE,   STATE_DONE,
                                                STATE_DONE};
    struct setup t;
    int64_t sum = 0;
    begin(&t, FIXTURE_SEVERAL);
    assert_int_equal(t.m.session_count, 7);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(t.m.session[i].record.id, 7 - i);
        assert_int_equal(t.m.session[i].state, states[i]);
        sum += t.m.session[i].record.trials;
    }
    assert_int_equal(t.m.trials_in_all, sum);
    assert_ptr_equal(model_row(&t.m, 3), &t.m.session[4]);
    assert_null(model_row(&t.m, 8));
    fixture_tell(&t.f, 1);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 0.1));
    assert_int_equal(t.m.trials_in_all, sum); // too soon
    assert_true(model_poll(&t.m, FIXTURE_NOW + 1));
    assert_int_equal(t.m.trials_in_all, sum + 1);
    fixture_kill_runner(&t.f);
    model_poll(&t.m, FIXTURE_NOW + 2);
    assert_int_equal(t.m.session[0].state, STATE_PAUSED);
    end(&t);
}

static void test_opening_another_session(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    begin(&t, FIXTURE_SEVERAL);
    int64_t version = t.m.open.version;
    assert_true(model_open(&t.m, 1, &e));
    assert_true(t.m.open.version > version);
    assert_as_stored(&t);
    assert_int_equal(model_trial(&t.m, 1)->ask, 1);
    assert_false(model_open(&t.m, 77, &e));
    assert_non_null(strstr(e.text, "no session 77"));
    assert_int_equal(t.m.open.record.id, 1);
    model_close(&t.m);
    assert_int_equal(t.m.open.record.id, 0);
    end(&t);
}

static void test_without_an_open_session_marks_begin_with_a(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, FIXTURE_SEVERAL);
    model_close(&t.m);
    assert_true(model_toggle_mark(&t.m, 2));
    assert_true(model_toggle_mark(&t.m, 3));
    assert_int_equal(model_row(&t.m, 2)->mark, 'A');
    assert_int_equal(model_row(&t.m, 3)->mark, 'B');
    end(&t);
}

static void test_marks_have_letters_and_curves(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, FIXTURE_SEVERAL);
    assert_true(model_toggle_mark(&t.m, 2));
    assert_true(model_toggle_mark(&t.m, 7));
    assert_true(model_toggle_mark(&t.m, 3));
    assert_int_equal(model_row(&t.m, 2)->mark, 'B');
    assert_int_equal(model_row(&t.m, 7)->mark, 'A'); // the one that is open
    assert_int_equal(model_row(&t.m, 3)->mark, 'C');
    assert_int_equal(t.m.mark[1].curve.count, t.m.open.curve.count);
    fixture_tell(&t.f, 100);
    model_poll(&t.m, FIXTURE_NOW + 1);
    assert_int_equal(t.m.mark[1].curve.count, t.m.open.curve.count);
    assert_int_equal(t.m.mark[1].record.trials, 190);
    assert_true(model_toggle_mark(&t.m, 2));
    assert_int_equal(model_row(&t.m, 2)->mark, 0);
    assert_int_equal(t.m.mark_count, 2);
    assert_true(model_toggle_mark(&t.m, 5));
    assert_int_equal(model_row(&t.m, 5)->mark, 'B');
    assert_false(model_toggle_mark(&t.m, 99));
    end(&t);
}

static void test_sessions_without_trials(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    double per_flops;
    begin(&t, FIXTURE_EMPTY);
    for (int64_t id = 1; id <= 3; id++) {
        assert_true(model_open(&t.m, id, &e));
        model_poll(&t.m, FIXTURE_NOW + (double)id);
        assert_int_equal(t.m.open.curve.count, 0);
        assert_null(model_best(&t.m));
        assert_null(model_trial_ranked(&t.m, 0));
        assert_string_equal(model_unit(&t.m, &per_flops), "GFLOPS");
        assert_as_stored(&t);
    }
    end(&t);
}

static void test_a_database_that_is_not_there_yet(void **state)
{
    (void)state;
    struct setup t;
    struct fixture other;
    struct err e;
    begin(&t, FIXTURE_NOTHING);
    assert_string_equal(t.m.trouble.text, "");
    assert_int_equal(t.m.session_count, 0);
    assert_false(model_open(&t.m, 1, &e));
    assert_false(model_poll(&t.m, FIXTURE_NOW + 2));
    fixture_create(&other, FIXTURE_SMALL);
    assert_true(author_session(other.author) == 1);
    model_finish(&t.m);
    model_init(&t.m, other.path);
    assert_true(model_poll(&t.m, FIXTURE_NOW));
    assert_int_equal(t.m.session_count, 1);
    fixture_destroy(&other);
    end(&t);
}

static void test_a_file_that_is_no_database(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    begin(&t, FIXTURE_NOTHING);
    const char text[] = "this is a letter to somebody, and it is long enough to be read as one.";
    assert_true(file_write(t.f.path, text, sizeof text - 1, &e));
    assert_true(model_poll(&t.m, FIXTURE_NOW + 2));
    assert_true(t.m.trouble.text[0] != '\0');
    assert_false(model_poll(&t.m, FIXTURE_NOW + 2.5)); // not all the time
    assert_int_equal(remove(t.f.path), 0);
    struct store *s = store_open(t.f.path, STORE_WRITE, &e);
    assert_non_null(s);
    store_close(s);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 4));
    assert_string_equal(t.m.trouble.text, "");
    assert_non_null(t.m.store);
    end(&t);
}

// Commands would act on what is at the path now.
static void test_another_database_in_its_place_is_noticed(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    begin(&t, FIXTURE_SEVERAL);
    assert_true(model_toggle_mark(&t.m, 2));
    int64_t version = t.m.open.version;
    fixture_replace(&t.f);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 2));
    assert_int_equal(t.m.losses, 1);
    assert_int_equal(t.m.open.record.id, 0);
    assert_string_equal(t.m.open.trouble.text, "the database was replaced");
    assert_true(t.m.open.version > version);
    assert_string_equal(t.m.trouble.text, "");
    assert_int_equal(t.m.mark_count, 0);
    assert_int_equal(t.m.session_count, 3);
    assert_true(model_open(&t.m, 3, &e));
    assert_as_stored(&t);
    assert_false(model_poll(&t.m, FIXTURE_NOW + 4));
    fixture_remove(&t.f);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 6));
    assert_string_equal(t.m.open.trouble.text, "the database was removed");
    assert_int_equal(t.m.session_count, 0);
    assert_null(t.m.store);
    assert_false(model_poll(&t.m, FIXTURE_NOW + 7));
    fixture_replace(&t.f);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 8));
    assert_int_equal(t.m.session_count, 3);
    assert_int_equal(t.m.losses, 2);
    end(&t);
}

TEST_GROUP(model)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summaries_are_those_of_all_trials),
        cmocka_unit_test(test_news_are_added),
        cmocka_unit_test(test_lists_follow_in_steps),
        cmocka_unit_test(test_huge_sessions_are_summed_up_the_same_way),
        cmocka_unit_test(test_time_and_rate),
        cmocka_unit_test(test_fast_sessions_have_a_rate),
        cmocka_unit_test(test_paused_time_does_not_count),
        cmocka_unit_test(test_messages_are_kept_up_to_a_number),
        cmocka_unit_test(test_a_session_whose_texts_do_not_load_is_shown_all_the_same),
        cmocka_unit_test(test_a_deleted_session_is_closed),
        cmocka_unit_test(test_the_list),
        cmocka_unit_test(test_opening_another_session),
        cmocka_unit_test(test_marks_have_letters_and_curves),
        cmocka_unit_test(test_without_an_open_session_marks_begin_with_a),
        cmocka_unit_test(test_sessions_without_trials),
        cmocka_unit_test(test_a_database_that_is_not_there_yet),
        cmocka_unit_test(test_a_file_that_is_no_database),
        cmocka_unit_test(test_another_database_in_its_place_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
