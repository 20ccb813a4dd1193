# What the tests of a real terminal share: a terminal (tmux, with a server of its own), keys for it, and waiting for what it
# shows. Sourced with the program's path as $1.
#
#     open_terminal 36 120          a shell in it; its folder is $box
#     type 'tilewalk watch 1'       as at a keyboard, with Enter
#     see 'best'                    waits until the screen shows it, or fails
#     press q; at_prompt 0          waits for the end of the program: its exit code, the terminal as it was
#
# Nothing is slept for: everything waits for a text, with a deadline.
# shellcheck shell=sh

set -u
program=$(realpath "$1") || exit 1
patience=1200 # tenths of a second: of a machine that others use too

command -v tmux >/dev/null || {
    echo 'tmux is missing: nothing to test with'
    exit 77
}

box=$(mktemp -d "${TMPDIR:-/tmp}/tilewalk-term-XXXXXX")
socket=tilewalk-test-$$
mkdir "$box/bin" "$box/config" "$box/config/tilewalk"
ln -s "$program" "$box/bin/tilewalk"

mux() { tmux -u -L "$socket" -f /dev/null "$@"; }

clean_up() {
    mux kill-server 2>/dev/null
    if [ -f "$box/tilewalk.db" ]; then # what runs on without us
        for runner in $(tilewalk ls --json 2>/dev/null | grep -o '"runner":[1-9][0-9]*' | cut -d: -f2); do
            kill -9 "$runner"
        done
    fi
    rm -rf "$box"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "FAILED: $*"
    echo "--- the screen:"
    mux capture-pane -p -t main
    exit 1
}

pass() { echo "ok: $*"; }

# The environment of everything in the terminal.
environment() {
    cat <<TEXT
export TILEWALK_DB='$box/tilewalk.db' TILEWALK_DATA='${TILEWALK_DATA:-}' HOME='$box' PATH='$box/bin:$PATH'
export XDG_CONFIG_HOME='$box/config' XDG_STATE_HOME='$box/state' XDG_DATA_HOME='$box/data' XDG_CACHE_HOME='$box/cache' LANG=C.UTF-8
unset LC_ALL NO_COLOR VISUAL EDITOR COLORFGBG COLORTERM LINES COLUMNS
[ "\$TILEWALK_DATA" ] || unset TILEWALK_DATA
PS1='\$ '
cd '$box'
TEXT
}

# open_terminal ROWS COLUMNS [NAME]
open_terminal() {
    name=${3:-main}
    environment >"$box/environment"
    # A server that ends with its last session may do so under the next one.
    mux new-session -d -s "$name" -x "$2" -y "$1" "ENV='$box/environment' exec sh -i" ';' set-option -s exit-empty off
    press_in "$name" "stty -g >'$box/stty-$name'; echo is-\$((1 + 1))-ready" Enter
    see_in "$name" 'is-2-ready'
    press_in "$name" clear Enter
    see_not_in "$name" 'is-2-ready'
}

press_in() {
    pane=$1
    shift
    mux send-keys -t "$pane" "$@"
}

press() { press_in main "$@"; }
type() { press "$1" Enter; }
shown_in() { mux capture-pane -p -t "$1"; }
shown() { shown_in main; }

# within WHAT COMMAND...: until COMMAND holds.
within() {
    what=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt $patience ] || fail "waited in vain for $what"
        sleep 0.1
    done
}

shows() { shown_in "$1" | grep -qF -- "$2"; }
hides() { ! shows "$1" "$2"; }
see_in() { within "'$2' on the screen" shows "$1" "$2"; }
see_not_in() { within "'$2' to go" hides "$1" "$2"; }
see() { see_in main "$1"; }
see_not() { see_not_in main "$1"; }

# The pid of the workbench in the terminal (`run_here` wrote it).
workbench() { cat "$box/pid"; }
has_pid() { [ -s "$box/pid" ]; }

# start 'COMMAND': types it so that its pid is known and its end is seen.
start() {
    rm -f "$box/pid"
    type "sh -c 'echo \$\$ >$box/pid; exec $1'; echo \"ended with\" \$?"
    within 'the program to start' has_pid
}

other_screen_is() { [ "$(mux display-message -p -t main '#{alternate_on}')" = "$1" ]; }
settings_are_the_same() { cmp -s "$box/stty-main" "$box/stty-now"; }

# at_prompt CODE: the program has ended with it, and the terminal is as it was before.
at_prompt() {
    see "ended with $1"
    other_screen_is 0 || fail 'the alternate screen was not left'
    rm -f "$box/stty-now"
    type "stty -g >'$box/stty-now'; echo compared-\$((1 + 1))"
    see 'compared-2'
    settings_are_the_same || fail "stty differs: $(cat "$box/stty-main") before, $(cat "$box/stty-now") after"
    [ "$(mux display-message -p -t main '#{cursor_flag}')" = 1 ] || fail 'the cursor is hidden'
    type clear
    see_not 'compared-2'
}

# What the database says of a session: `session_is 1 paused`.
tilewalk() { (eval "$(environment)" && exec "$program" "$@"); }
state_of() { tilewalk show "$1" --json 2>/dev/null | grep -o '"state":"[a-z]*"' | head -n 1 | cut -d'"' -f4; }
session_is() { [ "$(state_of "$1")" = "$2" ]; }
trials_of() { tilewalk show "$1" --json | grep -o '"trials":[0-9]*' | head -n 1 | cut -d: -f2; }
trials_are_more_than() { [ "$(trials_of "$1")" -gt "$2" ]; }
