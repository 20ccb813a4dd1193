#include "cli/network_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static double ms(double seconds)
{
    return seconds > 0 ? seconds * 1e3 : NAN; // written as null
}

void network_add_whole(struct json_writer *w, const struct whole_record *r)
{
    json_add_int(w, "trials", r->all_trials);
    json_add_real(w, "ms", ms(whole_seconds(r)));
    json_add_flag(w, "verified", r->verified);
    json_add_real(w, "newest_ms", ms(r->seconds));
    json_add_real(w, "sum_ms", ms(r->sum_s));
    json_add_real(w, "elapsed_s", r->elapsed_s);
    json_add_text(w, "reason", r->reason);
}

void network_add_json(struct json_writer *w, const struct network_summary *n)
{
    json_begin_list(w, "tasks");
    for (int i = 0; i < n->task_count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", n->task[i].task->name);
        json_add_text(w, "operator", n->task[i].task->kind);
        json_add_text(w, "title", n->task[i].task->title);
        json_add_int(w, "uses", n->task[i].task->uses);
        json_add_real(w, "flop", n->task[i].task->flop);
        json_add_int(w, "session", n->task[i].task->session);
        json_add_flag(w, "known", n->task[i].task->known_s > 0);
        json_add_int(w, "trials", n->task[i].session.trials);
        json_add_int(w, "granted", n->task[i].allotted);
        json_begin_object(w, "best");
        json_add_real(w, "ms", ms(n->task[i].best_s));
        json_add_real(w, "tflops",
                      n->task[i].best_s > 0 ? n->task[i].task->flop / n->task[i].best_s / 1e12
                                            : NAN);
        json_add_int(w, "ask", n->task[i].session.best_ask);
        json_add_flag(w, "raced", n->task[i].session.best_raced);
        json_end(w);
        json_add_real(w, "share", n->task[i].share);
        json_add_real(w, "weight", n->task[i].weight);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "latency");
    for (int i = 0; i < n->whole_count; i++) {
        json_begin_object(w, NULL);
        network_add_whole(w, &n->whole[i]);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "sum_of_parts");
    for (int i = 0; i < n->round_count; i++) {
        if (n->round[i].latency <= 0)
            continue;
        json_begin_object(w, NULL);
        json_add_int(w, "trials", n->round[i].all_trials);
        json_add_real(w, "ms", ms(n->round[i].latency));
        json_add_real(w, "elapsed_s", n->round[i].elapsed_s);
        json_end(w);
    }
    json_end(w);
    json_add_real(w, "sum_ms", ms(n->latency_s));
}

static const char *time_or_dash(double seconds, char out[32])
{
    return seconds > 0 ? text_time(seconds, out) : "-";
}

void network_print_table(const struct network_summary *n)
{
    char start[32], best[32], weight[32];
    int64_t trials = 0;
    printf("  %-20s %4s  %12s  %12s  %6s  %6s  %7s\n", "task", "uses", "first", "best", "share",
           "trials", "session");
    for (int i = 0; i < n->task_count; i++) {
        const struct task_summary *t = &n->task[i];
        trials += t->session.trials;
        if (t->weight != 1)
            snprintf(weight, sizeof weight, "  weight %g", t->weight);
        else
            weight[0] = '\0';
        printf("  %-20s %4" PRId64 "  %12s  %12s  %4.0f %%  %6" PRId64 "  %7" PRId64 "%s%s\n",
               t->task->name, t->task->uses, time_or_dash(t->start_s, start),
               time_or_dash(t->best_s, best), 100 * t->share, t->session.trials, t->task->session,
               t->task->known_s > 0 ? "  known" : "", weight);
    }
    printf("  %-20s %4s  %12s  %12s  %6s  %6" PRId64 "  sum of uses x time\n", "all", "",
           time_or_dash(n->start_s, start), time_or_dash(n->latency_s, best), "", trials);
    if (!n->whole_count)
        return;
    const struct whole_record *last = &n->whole[n->whole_count - 1];
    double first_s = 0, last_s = 0;
    int runs = 0;
    for (int i = 0; i < n->whole_count; i++) {
        double seconds = whole_seconds(&n->whole[i]);
        first_s = first_s > 0 ? first_s : seconds;
        last_s = seconds > 0 ? seconds : last_s;
        runs += seconds > 0;
    }
    printf("  %-20s %4s  %12s  %12s  %6s  %6d  runs as a whole%s%s\n", "run", "",
           time_or_dash(first_s, start), time_or_dash(last_s, best), "", runs,
           last->reason[0]  ? "; the last one: "
           : last->verified ? ", every layer right"
                            : "",
           last->reason);
}

void network_print_round(const struct event *event)
{
    const struct round_record *r = event->round;
    char at[32], time[32], whole[32];
    printf("%5" PRId64 "  %-6s  %-20s %3" PRId64 " trials  %12s  all %12s\n", r->all_trials,
           text_duration(r->elapsed_s, at), event->task->name, r->trials,
           time_or_dash(r->seconds, time), time_or_dash(r->latency, whole));
}

void network_add_round(struct json_writer *w, const struct event *event)
{
    const struct round_record *r = event->round;
    json_add_int(w, "round", r->number);
    json_add_text(w, "task", event->task->name);
    json_add_int(w, "task_session", event->task->session);
    json_add_int(w, "granted", r->trials);
    json_add_int(w, "trials", r->all_trials);
    json_add_real(w, "ms", ms(r->seconds));
    json_add_real(w, "sum_ms", ms(r->latency));
    json_add_real(w, "elapsed_s", r->elapsed_s);
}
