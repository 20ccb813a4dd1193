#!/usr/bin/env python3
"""guide.py PROGRAM ROOT [PAGE...]: runs the commands that README.md, the pages of docs/guide and docs/reference/commands.md show, each page in a home of its own.

A command stands in a block of `sh`, behind `$ ` in another block, or in an indented block. The commands of a page run in their order
in one shell, in a folder with the files of docs/sample; the first one that fails fails the test. What is not run is told with its
reason (NOT_RUN). Sessions of other pages than the tutorial are on a synthetic device, with few trials.

Behind a command in a block of `console` stands what it prints: the first word of each line there has to be one that it printed,
and every heading of a table; numbers differ from run to run.
"""
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Patterns of `PAGE: COMMAND`, and why none of them runs here. Each has to fit a command.
NOT_RUN = [
    ("*: tilewalk", "the workbench needs a terminal (term terminal)"),
    ("*: tilewalk watch", "the workbench needs a terminal (term terminal)"),
    ("*: ./dev *", "it installs packages, builds what is tested here, or is a test of its own"),
    ("* --on ssh:*", "there is no other machine (flow agent: ssh's part is taken by a relay)"),
    ("*: tilewalk * --on tls:*", "there is no queue (flow pool: with a server of its own)"),
    ("*nats:*", "there is no queue (flow pool: with a server of its own)"),
    ("* --on exec:*", "there is no docker, kubectl or srun (flow agent, flow slurm: with others)"),
    ("*: sbatch *", "there is no Slurm (flow slurm: with daemons of its own)"),
    ("*: kubectl *", "there is no cluster (flow kubernetes: the manifest is checked)"),
    ("* --set ggml=DIR*", "it needs ggml's shaders (flow foreign)"),
    ("* --data *", "it needs inputs and outputs that another program recorded (import onnx_networks)"),
    ("* --device all*", "its sessions are those of all devices of a machine"),
    ("*: tilewalk portfolio *", "it needs six sessions of a device (flow table: on sessions of its own)"),
    ("docs/reference/commands.md: tilewalk export 1 --out kernels --verify", "a synthetic session has no times to be verified (the tutorial's has)"),
    ("* --as c-table *", "a table takes what was measured on a device (report tuned and run)"),
    ("* --as table *", "a table takes what was measured on a device (flow table)"),
    ("*: tilewalk prove", "it takes 8 minutes (flow prove: a short one)"),
    ("* --portability", "it measures anew what a device was tuned for, and these sessions are synthetic (flow compare)"),
    ("*: tilewalk show 2 --pareto", "session 2 has no joules here (flow flop: one that has)"),
    ("*: tilewalk adopt FILE*", "it is the command's synopsis"),
]

FILES = {"model.gguf": "gguf/dense", "pasted.log": "perflog/new", "mine.onnx": "onnx/shuffle", "resnet50.onnx": "onnx/residual"}
COMMAND = re.compile(r"(tilewalk|\./dev|cd|kubectl|sbatch) ")
MARK = "@@guide@@"


class Command:
    def __init__(self, page, line, text):
        self.page, self.line, self.text = page, line, text
        self.shown = []

    def __str__(self):
        return f"{self.page}:{self.line}: {bare(self.text.splitlines()[0])}"


def bare(text):
    """A line of an indented block or of a list of commands without what explains it."""
    return re.split(r"\s{3,}|\s+# ", text.strip())[0]


def joined(lines, at, strip):
    """The command that begins at a line: with the lines that `\\` and here-documents join to it. Returns it and the next line."""
    text, last = strip(lines[at]), at + 1
    while text.endswith("\\"):
        text += "\n" + lines[last].strip()
        last += 1
    document = re.search(r"<<'?(\w+)'?", text)
    while document and not text.endswith("\n" + document.group(1)):
        text += "\n" + lines[last]
        last += 1
    return text, last


def commands_of(page, path):
    lines = open(path, encoding="utf-8").read().splitlines()
    found, fence, at = [], None, 0
    while at < len(lines):
        line = lines[at]
        begun = re.match(r"```(\w*)$", line)
        if begun:
            fence = None if fence is not None else begun.group(1)
        elif fence is None and re.match(r"    \S", line) and COMMAND.match(line.strip()):
            found.append(Command(page, at + 1, bare(line)))
        elif fence == "sh" and line and not line.startswith("#"):
            text, last = joined(lines, at, str.rstrip)
            found.append(Command(page, at + 1, text))
            at = last
            continue
        elif fence is not None and line.startswith("$ "):
            text, last = joined(lines, at, lambda l: l[2:])
            found.append(Command(page, at + 1, text))
            at = last
            continue
        elif fence == "console" and found and line.strip():
            found[-1].shown.append(line)
        at += 1
    return found


def reason_not_to_run(command, used):
    for pattern, reason in NOT_RUN:
        if fnmatch.fnmatchcase(f"{command.page}: {bare(command.text)}", pattern):
            used.add(pattern)
            return reason
    return None


def first_word(line):
    return re.sub(r"\d+", "0", line.split()[0]) if line.split() else ""


def check_output(command, output):
    """Names what is shown and not printed: tables, messages and results that have changed."""
    printed = {first_word(l) for l in output.splitlines()}
    for line in command.shown:
        if first_word(line) not in printed | {"..."}:
            return f"{command}: shows a line that begins with {line.split()[0]!r}, which it does not print"
    return None


def environment(home, program, page):
    tools = os.path.join(home, "bin")
    os.makedirs(tools)
    tune, resume = ("", "") if page.endswith("tutorial.md") else ("--source synthetic:bowl --trials 8", "--trials 16")
    own = 'case "$*" in *--source*run:*|*power=1*) set -- "$@" --trials 8;; *) ' # what is measured is the page's
    with open(os.path.join(tools, "tilewalk"), "w") as f:
        f.write(f'#!/bin/sh\ncase $1 in tune) {own}set -- "$@" {tune};; esac;; resume) set -- "$@" {resume};; esac\n'
                'case "$1 $*" in "export "*--verify*) set -- "$@" --slower 1000;; esac\n'  # the machine may be busier by then
                f'exec "{program}" "$@"\n')
    os.chmod(f.name, 0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "TILEWALK_DB"))}
    author = {"GIT_AUTHOR_NAME": "reader", "GIT_AUTHOR_EMAIL": "reader@localhost"}
    return {**kept, **author, "GIT_COMMITTER_NAME": "reader", "GIT_COMMITTER_EMAIL": "reader@localhost", "HOME": home,
            "PATH": tools + ":" + kept["PATH"]}


def make_files(folder, root):
    """What pages take for granted: docs/sample, and models and logs of the names that they give them."""
    shutil.copytree(os.path.join(root, "docs/sample"), os.path.join(folder, "docs/sample"))
    shutil.copytree(os.path.join(root, "docs/sample"), folder, dirs_exist_ok=True)
    for name, file in FILES.items():
        shutil.copy(os.path.join(root, "tests/fuzz/corpus", file), os.path.join(folder, name))


def run_page(page, commands, program, root):
    """Returns what is wrong, None when nothing is."""
    with tempfile.TemporaryDirectory(prefix="guide-") as home:
        folder = os.path.join(home, "work")
        make_files(folder, root)
        env = environment(home, program, page)
        script = "".join(f"echo '{MARK} {i}'\n{c.text}\n" for i, c in enumerate(commands))
        script = f"set -e\nROOT='{root}'\n{script}echo '{MARK} {len(commands)}'\n"
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        outputs = re.split(f"{MARK} \\d+\n", done.stdout)[1:]
        if done.returncode:
            return f"{commands[len(outputs) - 1]}: exit {done.returncode}:\n{outputs[-1]}"
        wrong = [check_output(c, o) for c, o in zip(commands, outputs)]
        return next((w for w in wrong if w), None)


def main():
    program, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if '"index"' not in subprocess.run([program, "devices", "--json"], capture_output=True, text=True).stdout:
        print("skipped: no Vulkan device")
        return 77
    paths = sys.argv[3:] or [root + "/README.md", root + "/docs/reference/commands.md"] + sorted(glob.glob(root + "/docs/guide/*.md"))
    used, failed, count = set(), 0, 0
    for path in paths:
        page = os.path.relpath(path, root)
        chosen = []
        for command in commands_of(page, path):
            reason = reason_not_to_run(command, used)
            if reason:
                print(f"not run: {command} ({reason})")
            else:
                chosen.append(command)
        wrong = run_page(page, chosen, program, root) if chosen else None
        count += len(chosen)
        if wrong:
            print(f"failed: {wrong}")
            failed += 1
    if not sys.argv[3:]:
        for pattern, reason in NOT_RUN:
            if pattern not in used:
                print(f"failed: NOT_RUN: no command is like '{pattern}' ({reason})")
                failed += 1
    print(f"{count} commands of {len(paths)} pages were run")
    return 1 if failed else 0


sys.exit(main())
