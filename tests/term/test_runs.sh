#!/bin/sh
# test_runs.sh PROGRAM: runs that belong to a workbench, and workbenches that only watch. Whatever happens, all is saved.
. "$(dirname "$0")/terminal.sh"

endless='--source synthetic:rugged --trials 10000000'

open_terminal 36 120

# --- a real device: paused by key, resumed by key, killed, resumed ---
if tilewalk devices 2>/dev/null | grep -q llvmpipe; then
    start 'tilewalk tune gemm --set M=64 --set N=64 --set K=64 --trials 100000 --seed 1 --device llvmpipe'
    see 'running'
    within 'some trials' trials_are_more_than 1 3
    press p
    within 'session 1 to be paused' session_is 1 paused
    see 'p Resume'
    press p
    within 'session 1 to run' session_is 1 running
    before=$(trials_of 1)
    within 'more trials' trials_are_more_than 1 "$before"
    kill -9 "$(workbench)"
    within 'session 1 to be paused' session_is 1 paused
    mux kill-session -t main # nothing can mend that one from inside
    open_terminal 36 120
    saved=$(trials_of 1)
    start "tilewalk resume 1 --trials $((saved + 5))"
    see ' done '
    press q
    at_prompt 0
    [ "$(trials_of 1)" = $((saved + 5)) ] || fail "$(trials_of 1) trials, not $((saved + 5))"
    pass 'paused, resumed, killed, resumed'
else
    tilewalk tune gemm --source synthetic:rugged --trials 5 --plain >/dev/null
    echo 'no llvmpipe: without a real run'
fi

# --- left by key, by signal ---
start "tilewalk tune gemm $endless"
see 'running'
press q
see 'session 2 is paused: tilewalk resume 2'
at_prompt 0
session_is 2 paused || fail 'session 2 is not paused'
start 'tilewalk resume 2'
see 'running'
kill -TERM "$(workbench)"
see 'session 2 is paused'
at_prompt 143
start 'tilewalk resume 2'
see 'running'
press C-c
see 'session 2 is paused'
at_prompt 130
start 'tilewalk resume 2'
see 'running'
press p
see 'p Resume' # its runner waits
press q
see 'session 2 is paused'
at_prompt 0
session_is 2 paused || fail 'session 2 is not paused'
pass 'leaving pauses what was started here'

# --- steered from a second terminal ---
start 'tilewalk resume 2'
see 'running'
open_terminal 24 80 second
press_in second 'tilewalk watch' Enter
see_in second 'running'
press_in second p
see 'paused' # in the first one
see_in second 'p Resume'
press_in second p
see 'running'
press_in second q
see_not_in second 'q Quit'
session_is 2 running || fail 'leaving the second terminal stopped the run'
mux kill-session -t second
session_is 2 running || fail 'the end of the second terminal stopped the run'
press q
see 'session 2 is paused'
at_prompt 0
pass 'steered from a second terminal'

# --- let go, and watched from elsewhere ---
start 'tilewalk resume 2'
see 'running'
press Q
see 'session 2 runs on in the background: tilewalk watch 2'
at_prompt 0
session_is 2 running || fail 'session 2 does not run on'
start 'tilewalk watch'
see '#2'
see 'running'
press p
within 'session 2 to be paused' session_is 2 paused
see 'p Resume'
press p
within 'session 2 to run' session_is 2 running
press q
at_prompt 0
pass 'let go; watched, paused and resumed'

# --- watching does not own ---
state_now=$(state_of 2)
[ "$state_now" = running ] && tilewalk stop 2 >/dev/null
tilewalk tune gemm $endless --detach >/dev/null 2>&1 || fail 'no detached run'
start 'tilewalk watch'
see '#3'
see 'running'
press q
at_prompt 0
session_is 3 running || fail 'leaving the watcher stopped the run'
start 'tilewalk watch 3'
see 'running'
kill -9 "$(workbench)"
mux kill-session -t main
session_is 3 running || fail 'the end of the watcher stopped the run'
tilewalk stop 3 >/dev/null
pass 'watching does not own'

# --- the terminal goes away ---
open_terminal 36 120
start "tilewalk tune gemm $endless"
see 'running'
mux kill-session -t main
within 'session 4 to be paused' session_is 4 paused
pass 'the terminal goes away'

# --- the end of a run is not the end of the workbench ---
open_terminal 36 120
start 'tilewalk tune gemm --source synthetic:bowl --trials 10'
see ' done '
press 3
see_not '─ Workers ─'
press q
see 'session 5 is done: best'
at_prompt 0
pass 'the workbench stays when its run has ended'

# --- the demonstration is named as one, and leaves nothing, also when its run is let go ---
mkdir "$box/tmp"
for key in q Q; do
    start "env TMPDIR=$box/tmp tilewalk demo"
    see 'DEMO'
    see 'A demonstration: the device is synthetic'
    see 'running'
    press $key
    see 'its database is removed'
    at_prompt 0
    [ -z "$(ls "$box/tmp")" ] || fail "left behind: $(ls "$box/tmp")"
done
pass 'a demonstration leaves nothing'
