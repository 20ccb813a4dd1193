#!/bin/sh
# glslang.sh SCRIPT: which glslang src/kernel/glslang.sh finds, by made-up compilers and caches, and what it says where none can be made.
set -u
script=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" CC="$folder/cc" PATH="$folder/bin:$PATH"
cache=$XDG_CACHE_HOME/tilewalk

fail() {
    echo "failed: $1"
    cat "$folder/out" "$folder/err"
    exit 1
}

# VERSION: the compiler of a system with that glslang; 0: without one.
system_has() {
    cat >"$CC" <<TEXT
#!/bin/sh
case \$1 in
-dump*) echo 1 ;;
*) [ "$1" != 0 ] && echo "$1" ;;
esac
TEXT
    chmod +x "$CC"
}

# CODE WORD: runs the script, wants that exit code.
expect() {
    "$script" "$2" >"$folder/out" 2>"$folder/err"
    [ $? = "$1" ] || fail "$2 does not exit with $1"
}

says() { grep -q -e "$1" "$folder/err" || fail "no '$1'"; }

system_has 15
expect 0 find
[ ! -s "$folder/out" ] || fail 'a folder, where the system has a new one'
system_has 12
expect 1 find
system_has 0
expect 1 find

# No network: it says why, and is not tried again at once.
mkdir "$folder/bin"
printf '#!/bin/sh\necho "E: no network" >&2\nexit 100\n' >"$folder/bin/apt-get"
chmod +x "$folder/bin/apt-get"
system_has 12
expect 1 make
says "the system's glslang is used, .*E: no network"
printf '#!/bin/sh\nexit 100\n' >"$folder/bin/apt-get"
expect 1 make
says 'within the last hour'

# Of several the newest, by its version; but none of another compiler.
key=$(basename "$cache"/glslang-failed-* | sed 's/.*-//')
mkdir "$cache/glslang-9.9-$key" "$cache/glslang-15.1.0+1.4-$key" "$cache/glslang-16.6-another"
for word in find make; do
    expect 0 $word
    [ "$(cat "$folder/out")" = "$cache/glslang-15.1.0+1.4-$key" ] || fail "$word: not the newest"
done
system_has 16
expect 0 find
[ ! -s "$folder/out" ] || fail 'a folder, where the system has a new one'
