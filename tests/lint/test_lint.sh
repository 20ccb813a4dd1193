#!/bin/sh
# Plants one fault at a time in a small clean tree: lint.sh must name it, and must be content with the tree before and after.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
cd "$tree" || exit 1
failures=0

mkdir -p src/base src/space src/search src/script src/kernel tests/space docs/sample
cp "$here/../../.clang-format" .
echo '#include <stdio.h>' >src/base/str.h
echo '#include "base/str.h"' >src/space/space.h
printf '#include "space/space.h"\n\n#include <gmp.h>\n' >src/space/space.c
printf '#include "base/str.h"\n\n#include <lua.h>\n' >src/script/state.h
printf '#include "script/state.h"\n\n#include "kernel/job.h"\n' >src/script/script.c
echo '#include "space/space.h"' >src/kernel/job.h
echo '#include "space/space.h"' >src/kernel/read.h
echo '#include "space/space.h"' >src/search/strategy.h
printf '#include "spaces.h"\n\n#include <cmocka.h>\n' >tests/space/test_space.c
echo '#include "space/space.h"' >tests/space/spaces.h
echo '#include "base/str.h"' >src/main.c
printf '#include KERNEL_HEADER\n\n#include <vulkan/vulkan.h>\n' >docs/sample/run.c

lint() {
    sh "$here/lint.sh" "$tree" 2>&1
}

content() {
    complaints=$(lint)
    case $? in 0 | 77) return ;; esac
    printf 'FAIL: complains about a clean tree (%s):\n%s\n' "$1" "$complaints"
    failures=$((failures + 1))
}

# planted NAME FILE WORDS: the fault is in FILE, which is removed afterwards; lint must fail with WORDS.
planted() {
    complaints=$(lint)
    status=$?
    if [ $status != 1 ] || ! echo "$complaints" | grep -qF "$3"; then
        printf 'FAIL: %s: exit %s, wanted "%s":\n%s\n' "$1" $status "$3" "$complaints"
        failures=$((failures + 1))
    fi
    rm "$2"
}

# function NAME LINES: a function with that many lines from brace to brace.
function_of() {
    printf 'int %s(void)\n{\n' "$1"
    yes '    f();' | head -n $(($2 - 2))
    printf '}\n'
}

content 'at first'

mkdir docs/guide
printf '# A page\n\n## A heading, `code`\n\n```\n# none\n```\n' >docs/guide/page.md
echo '[a](docs/guide/page.md#a-heading-code), [b](docs/guide/page.md), [c](docs), [d](https://example.org/none)' >page.md
content 'with pages'
echo '[a](docs/guide/none.md)' >bad.md
planted 'a link to nothing' bad.md 'bad.md:1: there is no docs/guide/none.md'
echo '[a](../../docs/guide/page.md#none)' >docs/guide/bad.md
planted 'a link to no heading' docs/guide/bad.md 'docs/guide/bad.md:1: docs/guide/page.md has no heading none'
printf '%0120dé\n' 0 >bad.md
planted 'a wide line' bad.md 'bad.md:1: more than 120 columns'
yes | head -n 111 >README.md
planted 'a long README' README.md 'README.md:111: more than 110 lines'

echo '#include "search/strategy.h"' >src/space/bad.c
planted 'a folder above' src/space/bad.c 'src/space/bad.c:1: may not include "search/strategy.h"'
echo '#include "kernel/read.h"' >src/script/bad.c
planted 'a header that is not listed' src/script/bad.c 'may not include "kernel/read.h"'
echo '#include <lua.h>' >src/search/bad.c
planted 'a library' src/search/bad.c 'src/search/bad.c:1: may not include lua'
echo '#include "script/state.h"' >src/bad.c
planted 'a library through a header' src/bad.c '"script/state.h" brings in lua'
echo '#include <bzlib.h>' >src/base/bad.c
planted 'an unknown library' src/base/bad.c '<bzlib.h> is neither'
echo '#include <sys/prctl.h>' >src/base/bad.c
planted 'a Linux header' src/base/bad.c 'may not include linux'
echo '#define _GNU_SOURCE' >src/space/bad.c
planted 'a Linux extension' src/space/bad.c 'belong to src/base/os.c'
echo '#include "str.h"' >src/base/bad.c
planted 'a path that is not relative to src' src/base/bad.c 'no header "str.h"'
echo '#include "base/str.h"' >docs/sample/bad.c
planted 'a sample that needs tilewalk' docs/sample/bad.c 'may not include "base/str.h"'
echo '#include <gmp.h>' >src/space/second.c
content 'two users of a library'
echo '#include <gmp.h>' >src/space/third.c
planted 'three users of a library' src/space/third.c 'gmp is included by more than two files'
rm src/space/second.c

echo '// Whether it is so.' >src/base/bad.c
planted 'a comment without a subject' src/base/bad.c 'src/base/bad.c:1:// Whether'
yes '// line' | head -n 800 >src/long.c
content '800 lines'
echo '// one more' >>src/long.c
planted 'a long file' src/long.c 'src/long.c: has more than 800 lines'
yes '// line' | head -n 801 >docs/sample/long.c
planted 'a long sample' docs/sample/long.c 'docs/sample/long.c: has more than 800 lines'
function_of endless 101 >src/bad.c
planted 'a very long function' src/bad.c 'src/bad.c:2: endless has 101 lines'
for n in 1 2 3 4 5 6 7 8 9; do function_of short_$n 49; done >src/nine.c
function_of long_one 50 >src/tenth.c
content 'one long function in ten'
function_of another 50 >src/bad.c
planted 'two long functions in eleven' src/bad.c '2 of 11 have 50 lines or more'
rm src/nine.c src/tenth.c

echo 'static struct cache *visits, *others;' >src/base/bad.c
planted 'a variable that outlives a call' src/base/bad.c 'src/base/bad.c:1: others is static and changes'
printf '%s\n' 'void f(void)' '{' '    static const char *word[2] = {0};' '}' >src/base/bad.c
planted 'a variable within a function' src/base/bad.c 'src/base/bad.c:3: word is static and changes'
printf '%s\n' 'static struct {' '    int x;' '} state = {1};' >src/base/bad.c
planted 'a variable without a type of its own' src/base/bad.c 'src/base/bad.c:3: state is static and changes'
echo 'static void (*hook)(int x);' >src/base/bad.c
planted 'a function that may be another' src/base/bad.c 'src/base/bad.c:1: hook is static and changes'
printf '%s\n' 'static const char *const words[] = {"a"};' 'static const struct {' '    int x;' '} table[] = {{1}};' \
    'static const char *name(int i);' 'static void each(void (*act)(int x));' >src/base/bad.c
content 'constants and functions'
rm src/base/bad.c
echo 'static int level;' >src/base/mem.c
planted 'a reason for what is gone' src/base/mem.c 'src/base/mem.c has no exhausted_hook any more'

printf '%s\n' '// A header.' '//' '//     bad_call(a, b);' 'void bad_call(int a);' >src/base/bad.h
planted 'an example that does not match' src/base/bad.h 'bad.h:3: the example calls bad_call with 2 arguments, it takes 1'
printf '%s\n' '//     bad_call("a, b", f(1, 2), ...);  more' 'void bad_call(char *a, int b);' >src/base/bad.h
content 'an example that leaves something out'
echo 'void many(int a, int b, int c, void (*each)(int x, int y), int d, int e);' >src/base/bad.h
content 'six parameters'
echo 'void many(int a, int b, int c, void (*each)(int x, int y), int d, int e, int f);' >src/base/bad.h
planted 'seven parameters' src/base/bad.h 'bad.h:1: many has 7 parameters'

if command -v clang-format >/dev/null; then
    echo 'int  x ;' >src/bad.c
    planted 'layout' src/bad.c 'src/bad.c:1:4: error: code should be clang-formatted'
fi

printf '%s\n' 'allow src/space base -' 'allow src/base - -' >order.table
if awk -f "$here/includes.awk" order.table src/space/space.h | grep -q 'src/space may not name base, which does not stand above it'; then
    rm order.table
else
    echo 'FAIL: a room that names one below it is not found'
    failures=$((failures + 1))
fi

{
    echo '#include "spaces.h"'
    echo 'void check(void)'
    echo '{'
    yes '    assert_string_equal(text, "these are words");' | head -n 401
    echo '}'
} >tests/space/words.c
planted 'many quoted sentences' tests/space/words.c '401 sentences are quoted'
mkdir -p tests/ui/golden
for i in $(seq 61); do
    touch "tests/ui/golden/$i.txt"
done
planted 'many golden screens' tests/ui/golden/1.txt '61 golden screens'
rm -r tests/ui

content 'at last'
[ $failures = 0 ] && echo 'every planted fault was found'
exit $failures
