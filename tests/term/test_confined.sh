#!/bin/sh
# test_confined.sh PROGRAM: what the workbench has given up before it evaluates a space file, tried there (TILEWALK_ESCAPE); and
# what it can do all the same.
. "$(dirname "$0")/terminal.sh"

attempts='network users home writing program memory signal'
elsewhere=$(mktemp -d "${TMPDIR:-/tmp}/tilewalk-elsewhere-XXXXXX")
trap 'clean_up; rm -rf "$elsewhere"' EXIT

has() { tilewalk doctor --json | grep -q "\"$1\":true"; }
all_are_told() { for one in $attempts; do grep -q "escape: $one: " "$box/said" || return 1; done; }
was_done() { grep -q "escape: $1: done" "$box/said"; }

mkdir "$box/spaces"
cp "$TILEWALK_DATA/presets/gemm.lua" "$box/spaces/mine.lua"
cp "$TILEWALK_DATA/presets/gemm.lua" "$elsewhere/other.lua"
cd "$box" || exit 1
tilewalk tune spaces/mine.lua --source synthetic:bowl --seed 1 --trials 20 --plain >/dev/null || fail 'no session to look at'

cat >"$box/bin/patient" <<TEXT
#!/bin/sh
echo 'in the editor'
read -r line
TEXT
chmod +x "$box/bin/patient"

# A home that is elsewhere: the box may be written to.
home=/root
[ -r "$home" ] || home=/home
open_terminal 36 120

# --- without a sandbox the attempts do something ---
start "env HOME=$home TILEWALK_ESCAPE=1 tilewalk watch 1 --no-sandbox 2>$box/said"
see '─ Workers ─'
within 'all attempts' all_are_told
was_done network && was_done users && was_done writing && was_done program || fail "nothing was tried: $(cat "$box/said")"
rm -f /tmp/tilewalk-escaped
press q
at_prompt 0
pass 'what is tried can be done'

# --- in it they do not, and files are evaluated and compiled ---
start "env HOME=$home TILEWALK_ESCAPE=1 EDITOR=patient tilewalk watch 1 2>$box/said"
see '─ Workers ─'
within 'all attempts' all_are_told
for one in $attempts; do
    if [ "$one" = network ] && ! has seccomp || [ "$one" != network ] && ! has landlock; then
        echo "skipped: nothing here holds $one"
    elif was_done "$one"; then
        fail "$one was not refused: $(cat "$box/said")"
    fi
done
press 6
see ' unchanged '
echo 'param.more = discrete { 1, 2 }' >>"$box/spaces/mine.lua"
see 'added more'
see ', loads '
echo 'param.more = nonsense(' >>"$box/spaces/mine.lua"
see 'does NOT load'
pass 'confined before a space file is evaluated'

# --- what it starts is not ---
type ":export 1 --out $elsewhere/new"
see 'wrote ' # each waits for the last one's message, which would replace its own
press e
see 'in the editor'
press Enter
see 'nothing was changed'
type ":tune gemm --source synthetic:bowl --trials 5 --no-sandbox"
see 'for a workbench that was started with it'
type ":tune $elsewhere/other.lua --source synthetic:bowl --trials 5"
within 'session 2 to be done' session_is 2 done
see '#2 '
if has landlock; then # its folder is none of those that were known
    press 6
    see 'cannot be read'
    see 'start it again'
    press 5
    see 'other.lua cannot be read here'
fi
press q
at_prompt 0
start "env HOME=$home tilewalk watch 2"
see '#2 '
press 6
see ' unchanged '
press q
at_prompt 0
pass 'exports, editors, runs'

# --- a group stops as one: whoever waits for the workbench too ---
rm -f "$box/pid"
type "sh -c 'tilewalk watch 1; echo was left'"
see '─ Workers ─'
press C-z
see 'Stopped'
type 'clear; fg; echo "ended with" $?'
see '─ Workers ─'
press q
see 'was left'
at_prompt 0
pass 'suspended with its parent'
