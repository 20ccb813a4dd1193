#!/bin/sh
# test_editor.sh PROGRAM: the user's editor gets the terminal as it was found, the file and the line; the workbench gets it back.
. "$(dirname "$0")/terminal.sh"

cp "$TILEWALK_DATA/presets/gemm.lua" "$box/mine.lua"
cd "$box" || exit 1
tilewalk tune mine.lua --source synthetic:bowl --seed 1 --trials 20 --plain >/dev/null || fail 'no session to look at'

# An editor of two words that shows itself until Enter is pressed.
cat >"$box/bin/patient" <<TEXT
#!/bin/sh
echo "\$*" >>'$box/edits'
stty -g >'$box/stty-now'
echo 'in the editor'
read -r line
TEXT
# One that knows no +LINE.
cat >"$box/bin/simple" <<TEXT
#!/bin/sh
echo "\$*" >>'$box/edits'
case \$1 in +*) exit 1 ;; esac
TEXT
chmod +x "$box/bin/patient" "$box/bin/simple"

open_terminal 36 120
start 'env VISUAL="patient --wait" EDITOR=false tilewalk watch 1'
see '─ Workers ─'
press e
see 'in the editor'
other_screen_is 0 || fail 'the editor runs on our screen'
settings_are_the_same || fail 'stty differs in the editor'
grep -q '^--wait +1 .*mine\.lua$' "$box/edits" || fail "other words: $(cat "$box/edits")"
echo 'a word for standard error' >"/proc/$(workbench)/fd/2"
see 'a word for standard error' # which is not captured now
press Enter
see '─ Workers ─'
other_screen_is 1 || fail 'not back on the alternate screen'
see_not 'in the editor'
press 3
see_not '─ Workers ─'
press 1
see '─ Workers ─'
press q
at_prompt 0
pass 'an editor and back'

: >"$box/edits"
start 'env EDITOR=simple tilewalk watch 1'
see '─ Workers ─'
press e
edited_twice() { [ "$(wc -l <"$box/edits")" = 2 ]; }
within 'two tries' edited_twice
sed -n 2p "$box/edits" | grep -q '^[^+]*mine\.lua$' || fail "other words: $(cat "$box/edits")"
see '─ Workers ─'
shown | grep -q "the editor 'simple' failed" && fail 'the editor did not fail'
press q
at_prompt 0
pass 'an editor that knows no +LINE'

start 'env EDITOR=false tilewalk watch 1'
see '─ Workers ─'
press e
see "the editor 'false' failed"
press q
at_prompt 0
echo "editor = patient" >"$box/config/tilewalk/workbench.conf"
start 'env EDITOR=false tilewalk watch 1'
see '─ Workers ─'
press e
see 'in the editor'
press Enter
see '─ Workers ─'
press S
see 'saved as tilewalk-screen-1.txt'
grep -q '─ Workers ─' "$box/tilewalk-screen-1.txt" || fail 'the saved screen does not hold it'
press q
at_prompt 0
pass 'the editor of workbench.conf; a saved screen'

# What ships is not edited, but a copy of it, which the next session of that name takes.
tilewalk tune gemm --source synthetic:bowl --seed 1 --trials 20 --plain >/dev/null || fail 'no session of a preset'
before=$(cksum <"$TILEWALK_DATA/presets/gemm.lua")
: >"$box/edits"
start 'tilewalk watch 2'
see '─ Workers ─'
press e
see 'Edit a copy?'
see 'tilewalk ops gemm --copy'
press Enter
see 'in the editor'
grep -q "^+1 $box/data/tilewalk/presets/gemm\.lua\$" "$box/edits" || fail "other words: $(cat "$box/edits")"
echo '-- mine' >>"$box/data/tilewalk/presets/gemm.lua"
press Enter
see 'changed text of gemm.lua'
press e # there is one now: no question
see 'in the editor'
press Enter
see '─ Workers ─'
press q
at_prompt 0
[ "$before" = "$(cksum <"$TILEWALK_DATA/presets/gemm.lua")" ] || fail 'the shipped preset was changed'
tilewalk tune gemm --source synthetic:bowl --trials 2 --plain 2>&1 | grep -q "your copy $box/data/tilewalk/presets/gemm.lua" || fail 'the copy is not taken'
pass 'a preset that ships is edited as a copy'
