# Checks the includes of C files: awk -f includes.awk includes.table FILE...
# The files are named relative to the root of the tree, all of them at once: libraries are followed through our headers.

function folder_of(path) {
    return path ~ /\// ? substr(path, 1, length(path) - length(name_of(path)) - 1) : ""
}

function name_of(path) {
    sub(/.*\//, "", path)
    return path
}

function report(file, line, text) {
    print file ":" line ": " text
    problems++
}

# The entry of the table for a file: its own, or that of the nearest folder above it.
function rule_of(file) {
    while (file != "" && !(file in ours))
        file = folder_of(file)
    return file
}

function listed(list, word) {
    return list == "*" || index("," list ",", "," word ",") > 0
}

function library_of(header,   name) {
    for (name in pattern)
        if (header ~ pattern[name])
            return name
    return ""
}

# The file that #include "header" means: below src, below the root, beside the file (in ui and tests), or (for tests, which
# share helpers) in ui or anywhere in tests.
function resolve(file, header,   path) {
    if (("src/" header) in known)
        return "src/" header
    if (header in known)
        return header
    if ((folder_of(file) "/" header) in known && file ~ /^(tests|ui|docs\/sample)\//)
        return folder_of(file) "/" header
    if (file ~ /^tests\// && ("ui/" header) in known)
        return "ui/" header
    if (file ~ /^tests\//)
        for (path in known)
            if (path ~ /^tests\// && name_of(path) == header)
                return path
    return ""
}

# Collects in reached[] every library that `file` includes, itself or through headers of ours.
function reach(file,   i, header, target, library) {
    if (file in visited)
        return
    visited[file] = 1
    for (i = 1; i <= includes[file]; i++) {
        header = included[file, i]
        target = is_ours[file, i] ? resolve(file, header) : ""
        library = is_ours[file, i] ? "" : library_of(header)
        if (target != "")
            reach(target)
        else if (library != "")
            reached[library] = 1
    }
}

function check_library(file, line, header,   library) {
    library = library_of(header)
    if (library == "") {
        if (!(header in is_system))
            report(file, line, "<" header "> is neither C11, POSIX nor a library of includes.table")
        return
    }
    if (!listed(libraries[rule_of(file)], library))
        report(file, line, "may not include " library " (<" header ">)")
    if (file ~ /^(src|ui)\// && !((file, library) in counted)) {
        counted[file, library] = 1
        users[library] = users[library] " " file
        user_count[library]++
    }
}

function check_ours(file, line, header,   target, folder, library) {
    target = resolve(file, header)
    if (target == "") {
        report(file, line, "no header \"" header "\" below src")
        return
    }
    folder = folder_of(target)
    sub(/^src\//, "", folder)
    if (folder_of(file) != folder_of(target) && !listed(ours[rule_of(file)], folder) && !listed(ours[rule_of(file)], header))
        report(file, line, "may not include \"" header "\"")
    split("", visited)
    split("", reached)
    reach(target)
    for (library in reached)
        if (!listed(libraries[rule_of(file)], library))
            report(file, line, "\"" header "\" brings in " library)
}

FNR == 1 {
    in_table = NR == 1
    if (!in_table)
        known[FILENAME] = 1
}

# A room, that is a folder of src or ui, may only name rooms that stand above it: so no include runs back up, and there are no
# circles.
function check_order(room, list,   i, n, names, named) {
    n = split(list, names, ",")
    for (i = 1; i <= n; i++) {
        named = names[i]
        sub(/\/.*/, "", named)
        if (named !~ /^[-*]$/ && !(named in above))
            report("includes.table", FNR, room " may not name " named ", which does not stand above it")
    }
    if (room !~ /\.[ch]$/)
        above[name_of(room)] = 1
}

in_table && $1 == "allow" { ours[$2] = $3; libraries[$2] = $4; check_order($2, $3) }
in_table && $1 == "library" { pattern[$2] = $3 }
in_table && $1 == "system" { for (i = 2; i <= NF; i++) is_system[$i] = 1 }
in_table { next }

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    n = ++includes[FILENAME]
    header = $0
    sub(/^[^<"]*/, "", header)
    is_ours[FILENAME, n] = header ~ /^"/
    header = substr(header, 2)
    sub(/[>"].*/, "", header)
    included[FILENAME, n] = header
    line_of[FILENAME, n] = FNR
}

/^[ \t]*#[ \t]*define[ \t]+_(GNU|DEFAULT|BSD|SVID)_SOURCE/ && FILENAME !~ /^src\/base\/(os|sandbox)\.c$/ {
    report(FILENAME, FNR, "Linux extensions belong to src/base/os.c")
}

END {
    for (file in includes)
        for (i = 1; i <= includes[file]; i++)
            if (is_ours[file, i])
                check_ours(file, line_of[file, i], included[file, i])
            else
                check_library(file, line_of[file, i], included[file, i])
    for (library in user_count)
        if (user_count[library] > 2 && library != "linux")
            report("includes.table", 0, library " is included by more than two files:" users[library])
    exit problems > 0
}
