# Holds the examples of headers against what the headers declare, and these against what a reader can tell apart: awk -f
# examples.awk HEADER...
# A function has at most six parameters; what needs more takes a structure with named members.
# An example is a line of a comment that is indented by four spaces and more. A call there of a function that one of the
# headers declares must have as many arguments as its declaration; `...` among the arguments stands for any number.

# The text between the parenthesis at `from` and the one that closes it; "" when it is not closed. Sets closed.
function inside(text, from,   i, c, depth) {
    depth = 0
    for (i = from; i <= length(text); i++) {
        c = substr(text, i, 1)
        depth += (c == "(" || c == "{" || c == "[") - (c == ")" || c == "}" || c == "]")
        if (depth == 0) {
            closed = 1
            return substr(text, from + 1, i - from - 1)
        }
    }
    closed = 0
    return ""
}

function count_arguments(list,   i, c, depth, count) {
    if (list ~ /^[ \t]*(void)?[ \t]*$/)
        return 0
    count = 1
    depth = 0
    for (i = 1; i <= length(list); i++) {
        c = substr(list, i, 1)
        depth += (c == "(" || c == "{" || c == "[") - (c == ")" || c == "}" || c == "]")
        count += c == "," && depth == 0
    }
    return count
}

# Every NAME(...) in an example, kept until all declarations are known.
function note_calls(text,   rest, name, list) {
    rest = text
    gsub(/"[^"]*"/, "text", rest) # which may hold commas
    while (match(rest, /[a-z][a-z0-9_]*\(/)) {
        name = substr(rest, RSTART, RLENGTH - 1)
        list = inside(rest, RSTART + RLENGTH - 1)
        if (closed && list != "" && list !~ /\.\.\./) { # "name()" only names it
            calls++
            call_name[calls] = name
            call_arguments[calls] = count_arguments(list)
            call_file[calls] = FILENAME
            call_line[calls] = FNR
        }
        rest = substr(rest, RSTART + RLENGTH)
    }
}

# Of one name in two headers (tests have their own helpers) that of the example's header counts, or none.
function note_prototype(text,   name, list, count) {
    if (!match(text, /[a-z][a-z0-9_]*\(/))
        return
    name = substr(text, RSTART, RLENGTH - 1)
    list = inside(text, RSTART + RLENGTH - 1)
    if (!closed)
        return
    count = count_arguments(list)
    if (count > 6) {
        print FILENAME ":" FNR ": " name " has " count " parameters, more than 6 (take a structure)"
        problems++
    }
    if (list ~ /\.\.\./)
        count = -1
    declared[FILENAME, name] = count
    if ((name in declared) && declared[name] != count)
        count = -1
    declared[name] = count
}

FNR == 1 { pending = "" }

/^\/\/     / {
    note_calls(substr($0, 3))
    next
}

/^\/\// { next }

# A prototype may go over several lines.
{ sub(/\/\/.*/, "") }
/^[A-Za-z].*\(/ || pending != "" {
    pending = pending " " $0
    if ($0 ~ /;[ \t]*$/) {
        note_prototype(pending)
        pending = ""
    } else if ($0 ~ /[{}]/) {
        pending = ""
    }
}

END {
    for (i = 1; i <= calls; i++) {
        name = call_name[i]
        wanted = (call_file[i], name) in declared ? declared[call_file[i], name] : name in declared ? declared[name] : -1
        if (wanted >= 0 && wanted != call_arguments[i]) {
            print call_file[i] ":" call_line[i] ": the example calls " name " with " call_arguments[i] " arguments, it takes " wanted
            problems++
        }
    }
    exit problems > 0
}
