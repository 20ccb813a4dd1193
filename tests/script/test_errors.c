// Every error that a user can meet in a space file or template, word for word, and that
// docs/spaces.md shows it.
#include "errors.h"
#include "group.h"

#include "base/str.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SHADER(more)                                                                               \
    OPERATOR PARAM "kernel { shader = 't.comp', groups = function() return { 1 } end" more " }"
#define ALL OPERATOR PARAM KERNEL

static const struct error_case cases[] = {
    // Names
    {"local x = sise('N', 8)", NULL, "a.lua:1: unknown name 'sise' (did you mean 'size'?)"},
    {"x = 1", NULL, "a.lua:1: 'x' is not a local variable (write 'local')"},
    {"io.open('x')", NULL,
     "a.lua:1: unknown name 'io' (not available in space files and templates)"},
    {"\nlocal x = math.flor(1)", NULL, "a.lua:2: math has no field 'flor' (did you mean 'floor'?)"},
    {"math.floor = nil", NULL, "a.lua:1: math is read-only"},
    {"local x = ('x'):find('x')", NULL,
     "a.lua:1: string has no field 'find' (not available in space files and templates)"},
    {"local x = device.shared_byte", NULL,
     "a.lua:1: device has no field 'shared_byte' (did you mean 'shared_bytes'?)"},
    {"local x = device.group_size[4]", NULL,
     "a.lua:1: device.group_size has 3 elements: there is none at 4"},
    {"device.type = 'cpu'", NULL, "a.lua:1: device is read-only"},
    {"local x = = 1", NULL, "a.lua:1: unexpected symbol near '='"},
    {"error('tiles do not fit')", NULL, "a.lua:1: tiles do not fit"},
    {"error({})", NULL, "a.lua:1: error was given a table, not a message"},
    {"for k in pairs({[{}] = 1}) do end", NULL, "a.lua:1: a table as a key has no order"},

    // Sizes
    {"size('2N', 8)", NULL, "a.lua:1: size: '2N' is not a name (letters, digits and _)"},
    {"size(8)", NULL, "a.lua:1: size: expected a string, got number"},
    {"size('N')", NULL, "a.lua:1: size 'N': expected a number, got nothing"},
    {"size('N', 0)", NULL, "a.lua:1: size 'N' is 0, not within 1..2147483647"},
    {"size('N', 2^31)", NULL, "a.lua:1: size 'N' is 2147483648, not within 1..2147483647"},
    {"size('N', 1.5)", NULL,
     "a.lua:1: size 'N' is 1.5, not a whole number ('//' divides without a rest)"},
    {"size('N', 8) size('N', 8)", NULL, "a.lua:1: size 'N' is declared twice"},
    {"size('op', 8)", NULL, "a.lua:1: size 'op' would hide what templates know by this name"},

    // Operator
    {"operator.matmull { }", NULL, "a.lua:1: unknown operator 'matmull' (did you mean 'matmul'?)"},
    {"choice('a', { 'x' }) choice('a', { 'x' })", NULL, "a.lua:1: choice 'a' is declared twice"},
    {"number('a', 1) number('a', 2)", NULL, "a.lua:1: number 'a' is declared twice"},
    {"number('a', 'x')", NULL, "a.lua:1: number 'a': expected a number, got string"},
    {"choice('a', {})", NULL, "a.lua:1: choice 'a': the list is empty"},
    {"choice('a', { 'x y' })", NULL, "a.lua:1: choice 'a': 'x y' is not a word"},
    {"choice('a', { 'x', 'x' })", NULL, "a.lua:1: choice 'a': 'x' is listed twice"},
    {"choice('a', { 'x' }, 'z')", NULL,
     "a.lua:1: choice 'a': the standard 'z' is not among its values"},
    {"operator.matmul { N = 8, M = 8, K = 8, row_a = 7 }", NULL,
     "a.lua:1: matmul: row_a is smaller than a row of A"},
    {"operator.matmul { N = 8, M = 8, K = 8, accumulate = 'f16' }", NULL,
     "a.lua:1: matmul: accumulate = \"f16\" needs type = \"f16\""},
    {"operator.matmul { N = 8, M = 8, K = 8, activation = 'clamp', low = 7 }", NULL,
     "a.lua:1: matmul: low is greater than high"},
    {"operator.matmul { N = 8, M = 8, K = 8, type = 'i8', scale = 2 }", NULL,
     "a.lua:1: matmul: i8 has no scale (its sums are stored as i32)"},
    {"operator.matmul { N = 8, M = 8, K = 8, scale = 'x' }", NULL,
     "a.lua:1: matmul: scale: expected a number, got string"},
    {"operator.batch_matmul { batch = 2, N = 8, M = 8, K = 8, batch_c = 63 }", NULL,
     "a.lua:1: batch_matmul: batch_c lets the matrices of C overlap"},
    {"operator.conv2d { batch = 1, in_channels = 2, height = 4, width = 4, out_channels = 2, "
     "kernel_h = 5, kernel_w = 1 }",
     NULL, "a.lua:1: conv2d: the kernel is larger than the padded image"},
    {"operator.conv2d { batch = 1, in_channels = 2, height = 4, width = 4, out_channels = 3, "
     "kernel_h = 1, kernel_w = 1, groups = 2 }",
     NULL, "a.lua:1: conv2d: groups does not divide in_channels and out_channels"},
    {"operator.max_pool { batch = 1, channels = 1, height = 4, width = 4, window = 2, "
     "padding = 2 }",
     NULL, "a.lua:1: max_pool: the padding is not smaller than the window"},
    {"local op = operator.matmul { N = 8, M = 8, K = 8 } local t = op.tipe", NULL,
     "a.lua:1: op has no field 'tipe' (did you mean 'type'?)"},
    {"local op = operator.matmul { N = 8, M = 8, K = 8 } local b = op.bindings.bias", NULL,
     "a.lua:1: op.bindings has no field 'bias'"},
    {"operator.matmul { N = 8, M = 8 }", NULL, "a.lua:1: matmul: size K is missing"},
    {"operator.matmul { N = 8, M = 8, K = 8, tipe = 'f32' }", NULL,
     "a.lua:1: matmul has no field 'tipe' (did you mean 'type'?)"},
    {"operator.matmul { N = 8, M = 8, K = 8, type = 'f23' }", NULL,
     "a.lua:1: matmul has no type 'f23' (did you mean 'f32'?)"},
    {"operator.matmul { N = 8, M = 8, K = 8, layout = 'rows' }", NULL,
     "a.lua:1: matmul has no layout 'rows' (it has nn, nt, tn, tt)"},
    {"operator.matmul { N = 'x' }", NULL, "a.lua:1: matmul: N: expected a number, got string"},
    {"operator.matmul { 8, 8, 8 }", NULL, "a.lua:1: matmul: expected fields by name, got a list"},
    {OPERATOR OPERATOR, NULL, "a.lua:1: the operator is declared twice"},

    // Parameters
    {"param.p = factors(1024, 0)", NULL,
     "a.lua:1: factors(1024, 0): a factorization needs at least one part"},
    {"param.p = factors(0, 2)", NULL, "a.lua:1: factors(0, 2): the product must be at least 1"},
    {"param.p = factors(2^31, 2)", NULL,
     "a.lua:1: parameter 'p': the product 2147483648 is not within 1..2147483647"},
    {"param.p = factors(8, 17)", NULL, "a.lua:1: parameter 'p': 17 parts are not within 1..16"},
    {"for i = 1, 33 do param['p' .. i] = discrete { 1 } end", NULL,
     "a.lua:1: parameter 'p33': a space has at most 32 parameters"},
    {"for i = 1, 4 do param['p' .. i] = factors(8, 15) end", NULL,
     "a.lua:1: parameter 'p4': all parts, items and values of a space are at most 48"},
    {"local t = {} for i = 1, 65537 do t[i] = i end param.p = discrete(t)", NULL,
     "a.lua:1: discrete: 65537 values, at most 65536 are possible"},
    {"local t = {} for i = 1, 4097 do t[i] = i end\n"
     "param.p = custom { values = t, neighbours = function() return { } end }",
     NULL, "a.lua:2: parameter 'p': 4097 values, at most 4096 are possible"},
    {"local t = {} for i = 1, 17 do t[i] = 'x' .. i end param.p = permutation(t)", NULL,
     "a.lua:1: parameter 'p': 17 items are not within 1..16"},
    {"param.p = factors('8', 2)", NULL,
     "a.lua:1: factors: the product: expected a number, got string"},
    {"param.p = 8", NULL,
     "a.lua:1: parameter 'p': expected factors(...), permutation { ... }, discrete { ... }, "
     "categorical { ... } or custom { ... }, got number"},
    {PARAM "\n" PARAM, NULL, "a.lua:2: parameter 'p' is declared twice"},
    {PARAM "local x = param.p", NULL,
     "a.lua:1: param.p has no value here (a rule reads it as c.p)"},
    {"param['a b'] = factors(8, 2)", NULL,
     "a.lua:1: param: 'a b' is not a name (letters, digits and _)"},
    {"param.p = discrete { }", NULL, "a.lua:1: discrete: the list is empty"},
    {"param.p = discrete { 1, 'x' }", NULL,
     "a.lua:1: discrete: value 2: expected a number, got string"},
    {"param.p = discrete { 1, 2, 1 }", NULL, "a.lua:1: parameter 'p': 1 is listed twice"},
    {"param.p = discrete { 1, 1/0 }", NULL, "a.lua:1: parameter 'p': inf is not a finite number"},
    {"param.p = discrete { 1, nil, 3 }", NULL, "a.lua:1: discrete: the list has holes"},
    {"param.p = discrete { n = 1 }", NULL, "a.lua:1: discrete: expected a list { a, b, ... }"},
    {"param.p = discrete(8)", NULL, "a.lua:1: discrete: expected a table, got number"},
    {"param.p = categorical { 'a', 'b', 'a' }", NULL,
     "a.lua:1: parameter 'p': 'a' is listed twice"},
    {"param.p = categorical { true }", NULL,
     "a.lua:1: categorical: value 1: expected a string, got boolean"},
    {"param.p = categorical { '' }", NULL,
     "a.lua:1: categorical: value 1: an empty string or one with a zero byte"},
    {"param.p = custom { value = { 1 } }", NULL,
     "a.lua:1: custom has no field 'value' (did you mean 'values'?)"},
    {"param.p = custom { values = { 1 } }", NULL,
     "a.lua:1: custom: neighbours: expected a function, got nothing"},
    {"param.p = custom { values = { 'rows', 'columns' },\n"
     "  neighbours = function(v) return { 'colums' } end }",
     NULL,
     "a.lua:2: parameter 'p': the neighbours of 'rows' include 'colums', which is not a value "
     "(did you mean 'columns'?)"},
    {"param.p = custom { values = { 'a' }, neighbours = function(v) return { true } end }", NULL,
     "a.lua:1: parameter 'p': the neighbours of 'a' include a boolean"},
    {"param.p = custom { values = { 'a' }, neighbours = function(v) end }", NULL,
     "a.lua:1: parameter 'p': what the neighbours function returns: expected a table, got "
     "nothing"},
    {"param.p = custom { values = { 'a', 'b' }, neighbours = function(v) return { 'a' } end }",
     NULL, "a.lua:1: parameter 'p': \"a\" is its own neighbour"},
    {"param.p = custom { values = { 1, 2 },\n"
     "  neighbours = function(v) return v == 1 and { 2 } or { } end }",
     NULL, "a.lua:2: parameter 'p': 1 has the neighbour 2, but 2 does not have 1"},

    // Exports
    {"export('x')", NULL, "a.lua:1: export 'x': expected a function, got nothing"},
    {"export('a b', function() end)", NULL,
     "a.lua:1: export: 'a b' is not a name (letters, digits and _)"},
    {"local function f() end export('x', f) export('x', f)", NULL,
     "a.lua:1: export 'x' is declared twice"},
    {"for i = 1, 17 do export('x' .. i, function() end) end", NULL,
     "a.lua:1: more than 16 exports"},

    // Baselines
    {"baseline(1)", NULL, "a.lua:1: baseline: expected a table, got number"},
    {ALL "baseline { ['a b'] = { } }", NULL,
     "a.lua:1: baseline: its name: 'a b' is not a name (letters, digits and _)"},
    {ALL "baseline { x = 1 }", NULL, "a.lua:1: baseline 'x': expected a table, got number"},
    {ALL "baseline { x = { q = 1 } }", NULL,
     "a.lua:1: baseline 'x' has no field 'q' (did you mean 'p'?)"},
    {ALL "baseline { x = { } }", NULL,
     "a.lua:1: baseline 'x': p is missing: it says every parameter's value"},
    {ALL "baseline { x = { p = 8 } }", NULL,
     "a.lua:1: baseline 'x': p: expected a table, got number"},
    {ALL "baseline { x = { p = { 8 } } }", NULL,
     "a.lua:1: baseline 'x': p: expected a list of 2, got one of 1"},
    {ALL "baseline { x = { p = { 8, 'a' } } }", NULL,
     "a.lua:1: baseline 'x': p: expected a number, got string"},
    {ALL "local x = { p = { 4, 2 } } baseline { x = x } baseline { x = x }", NULL,
     "a.lua:1: baseline 'x' is declared twice"},
    {ALL "for i = 1, 9 do baseline { ['x' .. i] = { p = { 4, 2 } } } end", NULL,
     "a.lua:1: more than 8 baselines"},
    {ALL "baseline { x = { p = { 4, 2 } } } param.q = discrete { 1 }", NULL,
     "a.lua: parameter 'q' is declared behind a baseline, which says no value for it"},

    // Rules
    {"derived(1)", NULL, "a.lua:1: derived: expected a function, got number"},
    {ALL "\nlocal f = derived(function(c)\n return c.q end)"
         "constraint('x', function(c) return f(c) end)",
     NULL, "a.lua:3: constraint 'x': unknown parameter 'q' (did you mean 'p'?)"},
    {"constraint('x')", NULL, "a.lua:1: constraint 'x': expected a function, got nothing"},
    {"constraint(function() end)", NULL,
     "a.lua:1: constraint: name: expected a string, got function"},
    {"local function f() end constraint('x', f) constraint('x', f)", NULL,
     "a.lua:1: constraint 'x' is declared twice"},
    {"local function f() end resources(f) resources(f)", NULL,
     "a.lua:1: resources is declared twice"},
    {ALL "\nconstraint('x', function(c) return 1 end)", NULL,
     "a.lua:2: constraint 'x': returned number, expected true or false"},
    {ALL "\nconstraint('x', function(c) end)", NULL,
     "a.lua:2: constraint 'x': returned nothing, expected true or false"},
    {ALL "\nconstraint('x',\n function(c) return c.q end)", NULL,
     "a.lua:3: constraint 'x': unknown parameter 'q' (did you mean 'p'?)"},
    {ALL "constraint('x', function(c) return c.p[3] == 1 end)", NULL,
     "a.lua:1: constraint 'x': c.p has 2 elements: there is none at 3"},
    {ALL "constraint('x', function(c) return p[1] == 1 end)", NULL,
     "a.lua:1: constraint 'x': unknown name 'p' (the parameter is c.p)"},
    {ALL "constraint('x', function(c) c.p = 1 end)", NULL,
     "a.lua:1: constraint 'x': c is read-only"},
    {ALL "constraint('x', function(c) c.p[1] = 1 end)", NULL,
     "a.lua:1: constraint 'x': c.p is read-only"},
    {ALL "constraint('x', function(c) size('N', 1) end)", NULL,
     "a.lua:1: constraint 'x': 'size' declares: rules and templates cannot call it"},
    {ALL "resources(function(c) return 1 end)", NULL,
     "a.lua:1: resources: returned number, expected a table"},
    {ALL "resources(function(c) return { shared_byte = 1 } end)", NULL,
     "a.lua:1: resources: it has no field 'shared_byte' (did you mean 'shared_bytes'?)"},
    {ALL "resources(function(c) return { shared_bytes = 12.5 } end)", NULL,
     "a.lua:1: resources: shared_bytes is 12.5, not a whole number ('//' divides without a rest)"},
    {ALL "resources(function(c) return { shared_bytes = -1 } end)", NULL,
     "a.lua:1: resources: shared_bytes is -1, not within 0..9223372036854775807"},
    {ALL "resources(function(c) return { groups = { 1, 2, 3, 4 } } end)", NULL,
     "a.lua:1: resources: groups: expected 1 to 3 numbers, got 4"},
    {ALL "resources(function(c) return { invocations = 8 } end)", NULL,
     "a.lua:1: resources: invocations: expected a table, got number"},

    // Kernels
    {OPERATOR PARAM "kernel { }", NULL,
     "a.lua:1: kernel: the template is missing (template = \"NAME.comp\")"},
    {OPERATOR PARAM "kernel { templat = 't.comp' }", NULL,
     "a.lua:1: kernel has no field 'templat' (did you mean 'template'?)"},
    {OPERATOR PARAM "kernel { template = 'u.comp' }", NULL,
     "a.lua:1: kernel: template \"u.comp\": no such file among the stored texts"},
    {OPERATOR PARAM "kernel { template = '../t.comp' }", NULL,
     "a.lua:1: kernel: template \"../t.comp\": a file is named relative to the space file's "
     "folder, without '..'"},
    {ALL KERNEL KERNEL KERNEL KERNEL KERNEL KERNEL KERNEL KERNEL, NULL,
     "a.lua:1: more than 8 kernels"},
    {OPERATOR PARAM "kernel { template = 't.comp' }", NULL,
     "a.lua:1: kernel: no groups (give them here or in resources)"},
    {OPERATOR PARAM "kernel { template = 't.comp', groups = function() return { 0 } end }", NULL,
     "a.lua:1: kernel: groups is 0, not within 1..4294967295"},
    {OPERATOR PARAM "kernel { template = 't.comp', values = function() return 1 end }", NULL,
     "a.lua:1: kernel: what values returns: expected a table, got number"},
    {OPERATOR PARAM "kernel { template = 't.comp', values = function() return { c = 1 } end }",
     NULL, "a.lua:1: kernel: values: templates already know the name 'c'"},
    {OPERATOR PARAM "kernel { template = 't.comp', when = function() return 1 end }", NULL,
     "a.lua:1: kernel: what when returns: expected a boolean, got number"},
    {OPERATOR PARAM "kernel { template = 't.comp', groups = function() return { 1 } end, subgroup "
                    "= function() return 12 end }",
     NULL, "a.lua:1: kernel: subgroup is 12, not a power of two"},
    {OPERATOR PARAM "kernel { template = 't.comp', groups = function() return { 1 } end, subgroup "
                    "= function() return 0 end }",
     NULL, "a.lua:1: kernel: subgroup is 0, not within 1..65536"},
    {OPERATOR PARAM
     "kernel { template = 't.comp', groups = function() return { 1 } end, subgroup = 32 }",
     NULL, "a.lua:1: kernel: subgroup: expected a function, got number"},
    {OPERATOR PARAM "kernel { template = 't.comp', when = function() return false end }", NULL,
     "a.lua:1: no kernel is left: every 'when' is false"},
    {ALL "scratch(function() return 0.5 end)", NULL,
     "a.lua:1: scratch: the number of bytes is 0.5, not a whole number ('//' divides without a "
     "rest)"},
    {PARAM KERNEL, NULL, "a.lua: no operator is declared (operator.matmul { ... })"},
    {OPERATOR KERNEL, NULL, "a.lua: no parameter is declared (param.NAME = factors(...))"},
    {OPERATOR PARAM, NULL, "a.lua: no kernel is declared (kernel { template = ... })"},

    // Shaders that others wrote
    {OPERATOR PARAM "kernel { template = 't.comp', spirv = 't.comp' }", NULL,
     "a.lua:1: kernel: template, shader and spirv are three ways (choose one)"},
    {SHADER(", values = error"), NULL,
     "a.lua:1: kernel: values are for templates (a shader has define)"},
    {OPERATOR PARAM "kernel { template = 't.comp', include = {} }", NULL,
     "a.lua:1: kernel: include, define and preamble are for shaders (shader = \"NAME.comp\")"},
    {OPERATOR PARAM "kernel { shader = 'x.comp' }", NULL,
     "a.lua:1: kernel: shader \"x.comp\": no such file below the space file's folder"},
    {SHADER(""), "; SPIR-V in words\n07230203",
     "a.lua:1: kernel: shader: the file is SPIR-V (spirv = takes it)"},
    {OPERATOR PARAM "kernel { spirv = 't.comp' }", NULL,
     "a.lua:1: kernel: spirv: the file is no SPIR-V (it does not begin with 0x07230203)"},
    {SHADER(", include = { '../x' }"), NULL,
     "a.lua:1: kernel: include \"../x\": a folder is named relative to the space file's, without "
     "'..'"},
    {SHADER(""), "x\n#  include \"a.glsl\"\n",
     "t.comp:2: #include \"a.glsl\": it is in no folder that the kernel names (include = { ... })"},
    {SHADER(", define = function() return { ['1a'] = 1 } end"), NULL,
     "a.lua:1: kernel: define: '1a' is no name of a macro"},
    {SHADER(", define = function() return { A = {} } end"), NULL,
     "a.lua:1: kernel: define: A is a table"},
    {SHADER(", spec = function() return { 'x' } end"), NULL,
     "a.lua:1: kernel: spec: constant 1: expected a number, got string"},
    {SHADER(", push = function() return { { 'f99', 1 } } end"), NULL,
     "a.lua:1: kernel: push: field 1 has no type 'f99' (u32, i32, f32, u64, i64, f64, u16, i16, "
     "f16, u8, i8)"},
    {SHADER(", push = function() return { 1, { 'u8', 1, offset = 0 } } end"), NULL,
     "a.lua:1: kernel: push: field 2 overlaps another one at byte 0"},
    {SHADER(", push = function() return { { 'f64', 1, offset = 250 } } end"), NULL,
     "a.lua:1: kernel: push: field 1 ends behind byte 256"},
    {SHADER(", bindings = { 'Q' }"), NULL,
     "a.lua:1: kernel: bindings: the operator has no buffer 'Q'"},

    // Templates
    {ALL, "x\n  ${c.p", "t.comp:2: '${' is not closed on its line"},
    {ALL, "x\n${ }", "t.comp:2: '${}' holds no expression"},
    {ALL, "x\n${c.p[1]\n}", "t.comp:2: '${' is not closed on its line"},
    {ALL, "x\n${nil} ${1}", "t.comp:2: ${nil} is nil, not a number, string or boolean"},
    {ALL, "x\n${c.p}", "t.comp:2: ${c.p} is table, not a number, string or boolean"},
    {ALL, "x\n\n${1 +}", "t.comp:3: ${1 +}: unexpected symbol near ')'"},
    {ALL, "${1, 2}", "t.comp:1: ${1, 2}: ')' expected near ','"},
    {ALL, "${1), (2}", "t.comp:1: an expression is not one value"},
    {ALL, "${0/0}", "t.comp:1: GLSL has no literal for | nan, -nan"},
    {ALL, "${1/0}", "t.comp:1: GLSL has no literal for inf"},
    {ALL, "${'a\\0b'}", "t.comp:1: a value holds a zero byte"},
    {ALL, "% for i = 1, 5 do\n${('x'):rep(1e6)}\n% end",
     "t.comp:2: the template gives more than 4 MiB of GLSL"},
    {ALL, "x\n${tile}", "t.comp:2: unknown name 'tile'"},
    {ALL, "x\n${p[1]}", "t.comp:2: unknown name 'p' (the parameter is c.p)"},
    {ALL, "x\n${op.n}", "t.comp:2: op has no field 'n' (did you mean 'N'?)"},
    {ALL, "x\n% y = 1", "t.comp:2: 'y' is not a local variable (write 'local')"},
    {ALL, "% for i = 1, 2 do\nx\n",
     "t.comp:3: 'end' expected (to close 'for' at line 1) near <eof>"},
    {ALL, "x\n% end\n", "t.comp:2: <eof> expected near 'end'"},
    {ALL, "% if false then\nx\n% end\n", "t.comp: the template gives no text"},
    {ALL, "x\n% error('no such tile')\n", "t.comp:2: no such tile"},
    {ALL, "x\n% local y = ${1}\n", "t.comp:2: unexpected symbol near '$' | "},

    // Guards
    {"while true do end", NULL,
     "a.lua:1: too many steps: the limit is 50 million in loading a space file (an endless "
     "loop?)"},
    {ALL "constraint('x', function(c) while true do end end)", NULL,
     "a.lua:1: constraint 'x': too many steps: the limit is 1 million in a rule (an endless "
     "loop?)"},
    {ALL, "x\n% while true do\n% end",
     "t.comp:2: too many steps: the limit is 50 million in rendering a candidate (an endless "
     "loop?) | or line 3"},
    {"local t = {} for i = 1, 1e9 do t[i] = i end", NULL,
     "a.lua:1: not enough memory: the limit is 64 MiB (endless recursion, a table without end?)"},
    {"local function f() return f() + 1 end\nf()", NULL,
     "a.lua:1: not enough memory: the limit is 64 MiB (endless recursion, a table without end?)"},
    {"local s = ('x'):rep(1e9)", NULL, "a.lua:1: string.rep: the result would exceed 16 MiB"},
    {"local s = string.format('%p', {})", NULL, "a.lua:1: string.format: %p is not available"},
    {"local function f(a, b, c, d)\nlocal x = f(1, 2, 3, 4, f(1, 2, 3, 4, f(5, 6, 7, 8)))\nreturn "
     "x end\n"
     "f()",
     NULL, "a.lua:2: stack overflow | "},
    {"\033Lua", NULL, "a.lua: attempt to load a binary chunk (mode is 't')"},
};

static void each_error_reads_as_promised(void **state)
{
    (void)state;
    errors_check(cases, sizeof cases / sizeof *cases);
}

static void fails_with_settings(const char *name, const char *value, const char *expected)
{
    struct source files[] = {
        {"a.lua", "size('N', 8) size('K', 4) choice('type', { 'f32', 'f16' }) number('s', 1) " ALL},
        {"t.comp", "x"},
        {NULL, NULL}};
    struct setting set = {name, value};
    struct err e;
    assert_null(script_from_with(files, &set, 1, &e));
    assert_string_equal(e.text, expected);
}

static void settings_are_checked(void **state)
{
    (void)state;
    fails_with_settings("NN", "8", "--set NN=8: unknown size (did you mean 'N'?)");
    fails_with_settings("batch", "8", "--set batch=8: unknown size (a.lua has N, K, type, s)");
    fails_with_settings("type", "f64", "--set type=f64: type has f32, f16");
    fails_with_settings("s", "1,5", "--set s=1,5: a number is written like 0.5, -1 or 1e-3");
    fails_with_settings("s", "inf", "--set s=inf: a number is written like 0.5, -1 or 1e-3");
    const char *bad[] = {
        "", "0", "-1", "x", "8x", " 8", "1.5", "2147483648", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char expected[200];
        snprintf(expected, sizeof expected,
                 "--set N=%s: a size is a whole number from 1 to 2147483647", bad[i]);
        fails_with_settings("N", bad[i], expected);
    }
}

static void fails_with_files(const struct source *files, const char *expected)
{
    char message[1400];
    assert_string_equal(try_script(files, message, sizeof message), expected);
    bool is_plain_lua = strstr(expected, "attempt to index") || strstr(expected, "<eof>");
    assert_true(is_plain_lua || errors_is_documented(expected));
}

static void files_are_checked(void **state)
{
    (void)state;
    fails_with_files(
        (struct source[]){{"a.lua", "include 'b.lua'"},
                          {"b.lua", "\ninclude 'c.lua'"},
                          {"c.lua", "include 'b.lua'"},
                          {NULL, NULL}},
        "c.lua:1: include \"b.lua\": files include each other: b.lua -> c.lua -> b.lua");
    fails_with_files((struct source[]){{"a.lua", "include 'a.lua'"}, {NULL, NULL}},
                     "a.lua:1: include \"a.lua\": files include each other: a.lua -> a.lua");
    fails_with_files((struct source[]){{"a.lua", "include 'b.lua'"}, {NULL, NULL}},
                     "a.lua:1: include \"b.lua\": no such file among the stored texts");
    fails_with_files((struct source[]){{"a.lua", "include 'b.lua'"},
                                       {"b.lua", "local x = 1\nlocal y = x.y.z"},
                                       {NULL, NULL}},
                     "b.lua:2: attempt to index a number value (local 'x')");
    fails_with_files((struct source[]){{"a.lua", "\nuse('b.lua', { Q = 4 })"},
                                       {"b.lua", "size('N', 8)"},
                                       {NULL, NULL}},
                     "a.lua:2: use: b.lua has no size 'Q' (did you mean 'N'?)");
    fails_with_files((struct source[]){{"a.lua", "\nuse('b.lua', { N = 'x' })"},
                                       {"b.lua", "size('N', 8)"},
                                       {NULL, NULL}},
                     "a.lua:2: use: N=x: a size is a whole number from 1 to 2147483647");
    fails_with_files((struct source[]){{"a.lua", "\nuse('b.lua', { a = 'z' })"},
                                       {"b.lua", "choice('a', { 'x', 'y' })"},
                                       {NULL, NULL}},
                     "a.lua:2: use: a=z: a has x, y");
    fails_with_files((struct source[]){{"a.lua", "include 'b.lua'"},
                                       {"b.lua", "\ninclude 'c.lua'"},
                                       {"c.lua", "(("},
                                       {NULL, NULL}},
                     "c.lua:1: unexpected symbol near <eof>");
}

static void counts_are_limited(void **state)
{
    (void)state;
    struct source chain[MAX_SOURCES + 1] = {{NULL, NULL}};
    char name[18][8], text[18][32];
    for (int i = 0; i < 18; i++) {
        snprintf(name[i], sizeof name[i], "%d.lua", i);
        snprintf(text[i], sizeof text[i], "include '%d.lua'", i + 1);
        chain[i] = (struct source){name[i], text[i]};
    }
    fails_with_files(chain, "15.lua:1: include \"16.lua\": files include files more than 16 deep");
    struct str line = {0};
    for (int i = 0; i < 101; i++)
        str_add(&line, "${1}");
    fails_with_files((struct source[]){{"a.lua", ALL}, {"t.comp", str_text(&line)}, {NULL, NULL}},
                     "t.comp:1: more than 100 expressions in one line");
    str_finish(&line);
}

static void control_characters_are_in_no_word(void **state)
{
    (void)state;
    char lua[60], message[1400];
    for (int c = 1; c < 128; c++) {
        if (c > ' ' && c < 127)
            continue;
        snprintf(lua, sizeof lua, "choice('a', { 'x\\%03d' })", c);
        try_script((struct source[]){{"a.lua", lua}, {NULL, NULL}}, message, sizeof message);
        assert_non_null(strstr(message, " is not a word"));
    }
}

TEST_GROUP(errors)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_reads_as_promised),
        cmocka_unit_test(settings_are_checked),
        cmocka_unit_test(files_are_checked),
        cmocka_unit_test(counts_are_limited),
        cmocka_unit_test(control_characters_are_in_no_word),
    };
    return cmocka_run_group_tests(tests, errors_setup, errors_teardown);
}
