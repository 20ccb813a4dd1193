#!/usr/bin/env python3
"""loop.py <LOG: a Markdown row of what a compiler made of a kernel's main loop, by kind of instruction.

The log is that of `tilewalk check --compile 1 --verbose` with NAK_DEBUG=print, RADV_DEBUG=asm or INTEL_DEBUG=cs. The main loop
is the smallest piece between a label and a branch back to it that has all matrix instructions. What comes before its first
barrier writes shared tiles (staging); the rest reads them and multiplies, and brings the next tile from memory.
"""
import re
import sys

KINDS = ('matrix', 'shared loads', 'moves', 'shared stores', 'memory', 'other')

NAK = (('matrix', r'[hi]mma'), ('shared loads', r'ldsm|ld\.shared|lds'), ('shared stores', r'st\.shared|sts'),
       ('memory', r'ld\.global|st\.global|ldg|stg|ld\.|st\.'), ('moves', r'r?mov|movm|prmt|sel|swap|bmov'))
ACO = (('matrix', r'v_wmma|v_swmmac'), ('shared loads', r'ds_load|ds_read'), ('shared stores', r'ds_store|ds_write'),
       ('memory', r'buffer_|global_|scratch_'), ('moves', r'v_mov|v_perm|v_swap|v_cndmask|v_bfi|v_pack|v_dual_mov|v_alignb'))
BRW = (('matrix', r'dpas'), ('shared loads', r'send.*slm MsgDesc: \( load'), ('shared stores', r'send.*slm MsgDesc: \( store'),
       ('memory', r'send'), ('moves', r'mov|sel'))


def nak(text):
    """The loop in the last listing, after registers are given: the blocks that lead back to its head, by their predecessors."""
    final = text[text.rfind('block.u 0 '):]
    blocks, before = [], []
    for line in final.splitlines():
        head = re.match(r'\s*block\S* \d+ L\d+ \[([0-9, ]*)\]', line)
        if head:
            before.append([int(n) for n in head.group(1).replace(',', ' ').split()])
            blocks.append([])
        elif line.startswith('Instruction count'):
            break
        elif blocks:
            op = re.sub(r'//.*', '', line).split(' = ', 1)[-1].strip()
            op = re.sub(r'^@!?\S+\s+', '', op)
            if re.match(r'[a-z]', op) and not op.startswith('nop'):
                blocks[-1].append(('barrier', '') if op.startswith('bar') else ('op', op))
    for last in range(len(blocks)):
        for head in range(last + 1):
            if last not in before[head]:
                continue
            inside, more = {head}, [last]
            while more:
                block = more.pop()
                if block not in inside:
                    inside.add(block)
                    more += before[block]
            yield 'label', str(head)
            yield from (item for block in sorted(inside) for item in blocks[block])
            yield 'branch', str(head)


def aco(text):
    for line in text.splitlines():
        label, op = re.match(r'(BB\d+):', line), re.match(r'\t([a-z]\w+)(.*?)(;|$)', line)
        if label:
            yield 'label', label.group(1)
        elif op and op.group(1).startswith('s_cbranch') or op and op.group(1) == 's_branch':
            yield 'branch', op.group(2).split()[0]
        elif op and op.group(1).startswith('s_barrier'):
            if op.group(1) != 's_barrier_signal':
                yield 'barrier', ''
        elif op and not re.match(r's_(waitcnt|nop|delay|wait|clause|code_end)', op.group(1)):
            yield 'op', op.group(1)


def brw(text):
    text = re.sub(r'\n\s+(\w+ MsgDesc)', r' \1', text) # where a message goes is said in a line of its own
    for line in text.splitlines():
        line = line.strip()
        label = re.match(r'(LABEL\d+):', line)
        if label:
            yield 'label', label.group(1)
        elif re.match(r'(\(\S+\) )?(while|jmpi|brd)', line):
            to = re.search(r'LABEL\d+', line)
            yield 'branch', to.group(0) if to else ''
        elif 'barrier' in line and 'gateway' in line:
            yield 'barrier', ''
        elif re.match(r'(\(\S+\) )?(?!sync)[a-z]+[.a-z0-9]*\(\d+\)', line):
            yield 'op', re.sub(r'^\(\S+\) ', '', line)


def main_loop(items):
    best, at = None, {}
    matrix = [i for i, (what, word) in enumerate(items) if what == 'op' and re.match('[hi]mma|v_s?wmma|dpas', word)]
    for i, (what, word) in enumerate(items):
        if what == 'label':
            at[word] = i
        elif what == 'branch' and word in at and matrix and at[word] < matrix[0] and matrix[-1] < i:
            if best is None or i - at[word] < len(best):
                best = items[at[word]:i + 1]
    return best


def count(items, kinds):
    counted = dict.fromkeys(KINDS, 0)
    for what, word in items:
        if what in ('op', 'branch'):
            kind = next((k for k, pattern in kinds if what == 'op' and re.match(pattern, word)), 'other')
            counted[kind] += 1
    return counted


def main():
    text = sys.stdin.read()
    if 'hmma' in text or 'imma' in text:
        items, kinds = list(nak(text)), NAK
    elif 'wmma' in text:
        items, kinds = list(aco(text)), ACO
    else:
        items, kinds = list(brw(text)), BRW
    loop = main_loop(items)
    if not loop:
        print('| no loop with matrix instructions | - | - | - | - | - | - | - |')
        return
    barrier = [i for i, (what, _) in enumerate(loop) if what == 'barrier']
    split = barrier[0] if barrier else 0
    before, after = count(loop[:split], kinds), count(loop[split:], kinds)
    fed = after['matrix'] + after['shared loads'] + after['moves']
    print(f"| {after['matrix']} | {after['shared loads']} | {after['moves']} | {fed} | {before['moves'] + before['other']} | "
          f"{before['shared stores']} | {after['memory'] + before['memory']} | {sum(before.values()) + sum(after.values())} |")


main()
