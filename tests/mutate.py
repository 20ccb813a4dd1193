#!/usr/bin/env python3
"""Puts small faults into the program, one a file, and tells which of them the tests find: ./dev mutate.

Faults are put into a copy of the checkout, build/mutate/tree, and built there. A fault is met by the tests of those rooms
(folders of tests) that are nearest to its file, each in the build where it runs by default, until one fails or four minutes
are over. A test that fails without the fault, too, has found nothing. A fault that does not compile, or changes no object
code, is drawn again. What is known is kept in build/mutate/SEED.jsonl: the same call goes on where it was interrupted, and
without that file it begins anew.

With --suite DIR, the same faults are met by the tests of another checkout, in a copy of that one: build/mutate/SUITE, with
SUITE.SEED.jsonl beside it, where SUITE is the checkout's commit. A fault whose line is not there is left out.
"""
import argparse
import contextlib
import functools
import glob
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

sys.dont_write_bytecode = True
import run

LIMIT_S = 240  # for the tests of one fault
MOST_DRAWS = 40  # in one file
MOST_ROOMS = 3  # for one file
TESTED_BY = {"export": "report", "onnx": "import", "simulate": "replay"}  # folders whose tests are another room's

FREE = r"(?:free|\w+_(?:free|finish|destroy|close))\b"
# Kinds of faults: what they look for in a line, and what replaces the group of it.
FAULTS = [
    ("a bound", r"(?<= )(<|<=|>|>=)(?= )", {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}.get),
    ("an equality", r"(?<= )(==|!=)(?= )", {"==": "!=", "!=": "=="}.get),
    ("an operator", r"(?<=[\w)\]] )(\+|-|\*|/)(?= )", {"+": "-", "-": "+", "*": "/", "/": "*"}.get),
    ("a conjunction", r"(?<= )(&&|\|\|)(?= )", {"&&": "||", "||": "&&"}.get),
    ("a constant", r"(?<![\w.])(0|[1-9]\d*)(?![\w.])", lambda s: str(int(s) + 1)),
    ("a negated condition", r"\b(?:if|while) \((.*)\)(?: \{)?$", lambda s: f"!({s})"),
    ("a result", r"\breturn (true|false);", {"true": "false", "false": "true"}.get),
    ("a missing statement", rf"^\s+(?!{FREE})((?:[\w.\[\]]|->)+(?:\(.*\)| [-+*/|&]?= .*|\+\+));$", lambda s: ""),
    ("a missing free", rf"^\s+({FREE}\(.*\));$", lambda s: ""),
    ("swapped arguments", r"(?:\(|, )(\w+, \w+)(?=[,)])", lambda s: ", ".join(reversed(s.split(", ")))),
]


def sources(root):
    return sorted(os.path.relpath(f, root) for d in ("src", "ui") for f in glob.glob(f"{root}/{d}/**/*.c", recursive=True))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def places(lines, pattern):
    """Where a kind of fault can be: numbers of lines and matches, without comments, texts, assertions and the preprocessor."""
    for number, line in enumerate(lines):
        code = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"' + "_" * (len(m[0]) - 2) + '"', line)
        code = code.split("//")[0].rstrip()
        if not re.match(r"#|\s*(\*|/\*|assert\()", code):
            yield from ((number, m) for m in re.finditer(pattern, code))


def draw(dice, lines, leaks):
    """A fault somewhere in a file: its kind, the index of its line and the line that replaces it. What is not freed is looked
    for (leaks) where the sanitizers are."""
    kinds = [(kind, found, instead) for kind, pattern, instead in FAULTS
             if (leaks or kind != "a missing free") and (found := list(places(lines, pattern)))]
    if not kinds:
        return None
    kind, found, instead = dice.choice(kinds)
    number, m = dice.choice(found)
    line = lines[number]
    return kind, number, line[:m.start(1)] + instead(line[m.start(1):m.end(1)]) + line[m.end(1):]


def rooms_of(root, path, rooms):
    """The rooms of unit tests that are nearest to a file: that of its folder, and those that include its header most. Where
    there is none, the program itself is driven."""
    folder = os.path.dirname(path).removeprefix("src/")
    include = f'#include "{os.path.splitext(path)[0].removeprefix("src/")}.h"'
    found = Counter(t.split("/")[-2] for t in glob.glob(f"{root}/tests/*/*.[ch]") if include in read(t))
    near = [TESTED_BY.get(folder, folder)] + [room for room, _ in found.most_common()]
    return [r for r in dict.fromkeys(near) if r in rooms][:MOST_ROOMS] or ["flow"]


class Mutants:
    def __init__(self, root, tree, seed):
        """Of a checkout (root), with the folder of its copy."""
        self.root, self.tree, self.seed = root, tree, seed
        self.copy()
        self.runner = run.Runner(self.tree)
        self.tests = {b: {t.name: t for t in self.runner.tests(b)} for b in ("plain", "sanitized")}
        self.sound, self.broken = set(), set()  # runs that pass without a fault, and that do not

    def copy(self):
        """What git tracks and what is new. Files that are alike keep their times, so that little is built again."""
        names = subprocess.run(["git", "-C", self.root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        for name in names:
            here, there = os.path.join(self.root, name), os.path.join(self.tree, name)
            os.makedirs(os.path.dirname(there), exist_ok=True)
            if os.path.isfile(here) and not (os.path.exists(there) and open(here, "rb").read() == open(there, "rb").read()):
                shutil.copy(here, there)

    def code(self, build, path):
        """What a file is compiled to in a build, as a digest; None where it is no part of it or does not compile."""
        folder = self.runner.configure(build)
        commands = json.loads(read(folder + "/compile_commands.json"))
        objects = sorted(c["output"] for c in commands
                         if os.path.normpath(os.path.join(c["directory"], c["file"])) == os.path.join(self.tree, path))
        done = subprocess.run(["ninja", "--quiet", "-C", folder, *objects], env=self.runner.environment(build),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode or not objects:
            return None
        digest = hashlib.sha256()
        with tempfile.NamedTemporaryFile() as bare:
            for name in objects:
                subprocess.run(["objcopy", "--strip-debug", os.path.join(folder, name), bare.name], check=True)
                digest.update(open(bare.name, "rb").read())
        return digest.digest()

    def rooms(self, path):
        unit = {run.room(t) for t in self.tests["sanitized"].values() if run.home(t) == "sanitized" and "fuzz" not in t.suites}
        return rooms_of(self.tree, path, unit)

    def near(self, path, test):
        """Whether a test has a word of the file's name in its own, or quotes it, as flow tests do with commands."""
        words = re.split(r"\W|_", os.path.basename(path))[:-1]
        room, _, group = test.name.partition(" ")
        source = f"{self.tree}/tests/{room}/test_{group.replace(' ', '_')}.c"
        quoted = os.path.exists(source) and room == "flow" and re.search(rf'"{words[0]}\b', read(source))
        return bool(quoted or set(words) & set(re.split(r"\W|_", group)))

    def batches(self, path):
        """The runs that meet a file, in lists of one build each: room by room, in each what is near first."""
        rooms, batches = self.rooms(path), {}
        for t in self.tests["plain"].values():
            home = run.home(t)
            if home and run.room(t) in rooms and t.name in self.tests[home]:
                key = (rooms.index(run.room(t)), home == "plain", not self.near(path, t))
                batches.setdefault(key, []).append(run.Run(home, self.tests[home][t.name]))
        return [batches[key] for key in sorted(batches)]

    def first_failure(self, path):
        """The first run that fails, None if there is none; the seconds that the tests took."""
        seconds = 0
        for runs in self.batches(path):
            runs = [r for r in runs if r not in self.broken]
            if not runs:
                continue
            if seconds >= LIMIT_S:
                return None, seconds
            if not self.runner.build(runs[0].build, runs):
                raise run.Refused(f"what tests {path} cannot be built")
            begun = time.monotonic()
            results = self.runner.meson_test(runs[0].build, runs, "mutate", first=True, seconds=LIMIT_S - seconds)
            seconds += time.monotonic() - begun
            for r in runs:
                if results[r.test.name][-1]["result"] in ("FAIL", "TIMEOUT", "ERROR"):
                    return r, seconds
        return None, seconds

    def passes(self, r):
        """Whether a test passes without a fault, as a busy machine lets some fail."""
        if r not in self.sound and self.runner.build(r.build, [r]):
            result = self.runner.meson_test(r.build, [r], "mutate", first=True)[r.test.name][-1]["result"]
            (self.sound if result in run.GOOD else self.broken).add(r)
        return r in self.sound

    @contextlib.contextmanager
    def changed(self, path, lines):
        """The copy has these lines meanwhile."""
        file = os.path.join(self.tree, path)
        right = read(file)
        try:
            write(file, "\n".join(lines))
            yield
        finally:
            write(file, right)

    def fault(self, path):
        """A fault that compiles to something else in the plain build (that of the sanitizers tells columns), and compiles
        in the other, too."""
        dice = random.Random(f"{self.seed} {path}")
        lines = read(os.path.join(self.tree, path)).split("\n")
        right = self.code("plain", path)
        for _ in range(MOST_DRAWS if right else 0):
            fault = draw(dice, lines, leaks=self.rooms(path) != ["flow"])
            if not fault:
                break
            kind, number, line = fault
            wrong = lines[:number] + [line] + lines[number + 1:]
            with self.changed(path, wrong):
                if self.code("plain", path) not in (None, right) and self.code("sanitized", path):
                    return {"file": path, "line": number + 1, "kind": kind, "before": lines[number].strip(),
                            "after": line.strip() or ";"}, wrong
        return None

    def meet(self, path, wrong):
        """What finds a fault (the file's lines with it), and after how many seconds."""
        while True:
            with self.changed(path, wrong):
                found, seconds = self.first_failure(path)
            if not found or self.passes(found):
                return {"found": f"{found.test.name} ({found.build})" if found else None, "seconds": round(seconds)}

    def same(self, path, fault):
        """The lines of the file here with a fault of another checkout; None where there is no such line, or several."""
        file = os.path.join(self.tree, path)
        lines = read(file).split("\n") if os.path.exists(file) else []
        here = [n for n, line in enumerate(lines) if line.strip() == fault["before"]]
        if fault["line"] - 1 in here:
            here = [fault["line"] - 1]
        if len(here) != 1:
            return None
        return lines[:here[0]] + [fault["after"]] + lines[here[0] + 1:]


def known(results):
    lines = read(results).splitlines() if os.path.exists(results) else []
    return {r["file"]: r for r in map(json.loads, lines)}


def try_file(path, own, suite, drawn):
    """A fault in this file, and what finds it; None where none can be put there. A suite meets those that are known already
    (drawn) or would be drawn for the checkout itself (own)."""
    with contextlib.redirect_stdout(sys.stderr):
        fault, wrong = (drawn[path], None) if suite and path in drawn else own().fault(path) or (None, None)
        if suite and fault:
            wrong = suite.same(path, fault)
        return wrong and fault | (suite or own()).meet(path, wrong)


def tell(r):
    print(f"{r['file']}:{r['line']}: {r['kind']}, {'found by ' + r['found'] if r['found'] else 'not found'}, {r['seconds']} s\n"
          f"    - {r['before']}\n    + {r['after']}", flush=True)


def mutate(o):
    files, below = sources(o.root), os.path.join(o.root, "build/mutate")
    if o.only and o.only not in files:
        raise run.Refused(f"no source '{o.only}' (they are .c files of src and ui)")
    random.Random(o.seed).shuffle(files)
    own = functools.cache(lambda: Mutants(o.root, below + "/tree", o.seed))
    results, suite = f"{below}/{o.seed}.jsonl", None
    drawn = known(results)
    if o.suite:
        git = subprocess.run(["git", "-C", o.suite, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
        if git.returncode:
            raise run.Refused(f"'{o.suite}' is no checkout")
        suite = Mutants(os.path.abspath(o.suite), f"{below}/{git.stdout.strip()}", o.seed)
        results = f"{suite.tree}.{o.seed}.jsonl"
    done, told = known(results), []
    for path in [o.only] if o.only else files:
        r = done.get(path) or try_file(path, own, suite, drawn)
        if not r:
            continue
        if path not in done:
            with open(results, "a") as f:
                print(json.dumps(r), file=f)
        told.append(r)
        tell(r)
        if len(told) == o.count:
            break
    found = sum(r["found"] is not None for r in told)
    print(f"{found} of {len(told)} faults are found ({100 * found / max(len(told), 1):.0f} %)")
    return 0


def main():
    p = argparse.ArgumentParser(prog="./dev mutate", usage="./dev mutate [--seed S] [--count N] [--only FILE] [--suite DIR]")
    p.add_argument("root", help=argparse.SUPPRESS)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=40)
    p.add_argument("--only", metavar="FILE")
    p.add_argument("--suite", metavar="DIR")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return mutate(p.parse_args())
    except run.Refused as e:
        print(f"dev: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
