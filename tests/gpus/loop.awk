# The instructions of a kernel's main loop by kind, of the assembly that Mesa's drivers print (NAK_DEBUG=print, RADV_DEBUG=cs,asm,
# INTEL_DEBUG=cs): fields of a Markdown row: all, matrix, multiply-add, loads and stores of shared memory, loads of other memory, moves.
#
# A loop is what a branch back to a block closes: the blocks that reach the branch without passing that block. The main loop is
# the smallest of those with the most products: matrix instructions, or multiply-adds where there are none. Of several texts of
# one kernel the last is taken, which is what runs.

function begin_text() {
    blocks = edges = 0
    delete number
    delete of
    delete size
    begin_block("")
}

function begin_block(name) {
    if (blocks && !ended) branch("#" (blocks + 1), 0)
    number[name] = ++blocks
    ended = 0
}

function kind(op) {
    if (op ~ /^(hmma|imma|bmma|v_s?wmmac?_|v_mfma_|dpas)/) return "matrix"
    if (op ~ /^(ffma|hfma2|imad|idp|v_(pk_)?fma|v_fmac|v_dual_fmac|v_(pk_)?mad|v_dot|mad|fma|mac|dp4a)/) return "multiply"
    if (op ~ /^(ld\.shared|ldsm|ds_load|ds_read)/) return "load"
    if (op ~ /^(st\.shared|ds_store|ds_write)/) return "store"
    if (op ~ /^(ld\.global|(buffer|global|flat)_load)/) return "memory"
    if (op ~ /^(mov|prmt|v_mov|v_dual_mov|v_perm|v_bfi|v_align|v_cndmask|v_pack|v_and_or|v_lshl_or)/) return "move"
    return "other"
}

# The last word of an instruction, without what a comment adds.
function last_word(line, parts) {
    sub(/\/\/.*/, "", line)
    sub(/[ \t]+$/, "", line)
    return parts[split(line, parts, /[ \t]+/)]
}

function name_of(line, parts, n) {
    sub(/^@[^ ]+ +/, "", line)
    n = index(line, " = ")
    if (n) line = substr(line, n + 3)
    split(line, parts, /[ \t]+/)
    return tolower(parts[1])
}

function branch(target, always) {
    edges++
    edge_from[edges] = blocks
    edge_to[edges] = target
    ended = always
}

{
    gsub(/\\x09/, "\t")
    sub(/^[ \t]+/, "")
}

/^NAK IR after / || /^Compute Shader/ { begin_text(); reading = 1; next }
/^Stage: / || /^Encoded shader/ { reading = 0 }
!reading || /^$/ || /^[{}]/ || /^nop/ { next }
/^block/ { begin_block($3); next }
/^BB[0-9]+:/ { sub(/:.*/, ""); begin_block($0); next }
{
    op = name_of($0)
    of[blocks, kind(op)]++
    size[blocks]++
    if (op == "bra") branch(last_word($0), $0 ~ /bra pT/)
    else if (op == "s_branch") branch($2, 1)
    else if (op ~ /^s_cbranch/) branch($2, 0)
    else if (op ~ /^(exit|s_endpgm)/) ended = 1
}

function target(e) {
    return edge_to[e] ~ /^#/ ? substr(edge_to[e], 2) + 0 : number[edge_to[e]]
}

# The blocks of the loop that edge e closes, in `inside`: those from which its branch is reached without passing its target, and
# which are reached from there (a rotated loop is entered in its middle).
function find_loop(e, grown, i) {
    delete after
    delete inside
    after[target(e)] = 1
    inside[target(e)] = inside[edge_from[e]] = 1
    do {
        grown = 0
        for (i = 1; i <= edges; i++)
            if ((edge_from[i] in after) && !(target(i) in after)) { after[target(i)] = 1; grown = 1 }
    } while (grown)
    do {
        grown = 0
        for (i = 1; i <= edges; i++)
            if ((target(i) in inside) && target(i) != target(e) && !(edge_from[i] in inside) && (edge_from[i] in after)) {
                inside[edge_from[i]] = 1
                grown = 1
            }
    } while (grown)
}

function total(what, b, n) {
    n = 0
    for (b in inside) n += what == "" ? size[b] : of[b, what]
    return n
}

END {
    what = "matrix"
    for (pass = 0; pass < 2 && !best; pass++) {
        most = least = 0
        for (e = 1; e <= edges; e++) {
            if (target(e) > edge_from[e]) continue
            find_loop(e)
            n = total(what)
            if (n > most || n && n == most && total("") < least) { most = n; least = total(""); best = e }
        }
        what = "multiply"
    }
    if (!best) { print "- | - | - | - | - | - | - |"; exit }
    find_loop(best)
    printf "%d | %d | %d | %d | %d | %d | %d |\n", total(""), total("matrix"), total("multiply"), total("load"), total("store"),
        total("memory"), total("move")
}
