#!/usr/bin/env python3
"""Puts small faults into the program, one a file, and tells which of them the tests find: ./dev mutate.

A fault is put into a copy of the checkout (build/mutate/tree), built there, and met by the tests of the folder that it lies in
and of those folders whose tests include a header of its name, in the builds where they belong (run.py), until one fails. A
fault that does not compile, or changes no object code, is drawn again. What is known is kept in build/mutate/SEED.jsonl: the
same call goes on where it was interrupted.
"""
import argparse
import glob
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import run

LIMIT_S = 240  # for the tests of one fault
MOST_DRAWS = 12  # in one file

# Names of faults, what they look for and what they put there. A match is one place; \1 and \2 are what surrounds it.
FAULTS = [
    ("a comparison", r"( )<( [a-z0-9(])", r"\1<=\2"),
    ("a comparison", r"( )<=( )", r"\1<\2"),
    ("a comparison", r"( )>( )", r"\1>=\2"),
    ("a comparison", r"( )>=( )", r"\1>\2"),
    ("equality", r"( )==( )", r"\1!=\2"),
    ("equality", r"( )!=( )", r"\1==\2"),
    ("and, or", r"( )&&( )", r"\1||\2"),
    ("and, or", r"( )\|\|( )", r"\1&&\2"),
    ("arithmetic", r"([a-z0-9)\]] )\+( [a-z0-9(])", r"\1-\2"),
    ("arithmetic", r"([a-z0-9)\]] )-( [a-z0-9(])", r"\1+\2"),
    ("arithmetic", r"([a-z0-9)\]] )\*( [a-z0-9(])", r"\1/\2"),
    ("a number", r"([^\w.\"])1([^\w.\"])", r"\g<1>2\2"),
    ("a number", r"([^\w.\"{])0([;,)])", r"\g<1>1\2"),
    ("a negation", r"(if \()()([a-z])", r"\1!\3"),
    ("a value that is returned", r"(return )true()(;)", r"\1false\3"),
    ("a value that is returned", r"(return )false()(;)", r"\1true\3"),
    ("a statement that is missing", r"^( +)[a-z]\w*\([^;{}]*\)()(;)$", r"\1\3"),
    ("a missing free", r"^( +)(?:free|\w+_(?:finish|destroy|close))\([^;]*\)()(;)$", r"\1\3"),
    ("arguments in another order", r"(\w\()(\w+), (\w+)(\))", r"\1\3, \2\4"),
]


def sources(root):
    return sorted(os.path.relpath(f, root) for folder in ("src", "ui") for f in glob.glob(f"{root}/{folder}/**/*.c", recursive=True))


def draw(random_, text):
    """A fault somewhere in a file: its name, the number of the line, the line as it was and as it is; None where there is no
    place for it. Preprocessor lines, comments and texts stay as they are."""
    name, pattern, instead = random_.choice(FAULTS)
    places = []
    for number, line in enumerate(text.split("\n"), 1):
        code = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', line.split("//")[0])
        if not code.startswith("#"):
            places += [(number, line, m) for m in re.finditer(pattern, code)]
    if not places:
        return None
    number, line, place = random_.choice(places)
    changed = line[: place.start()] + restored(place, instead, line) + line[place.end():]
    return name, number, line, changed


def restored(place, instead, line):
    """What stands in the place of a match, with the texts that were hidden from it."""
    parts = [None] + [line[place.start(i) : place.end(i)] for i in range(1, (place.re.groups or 0) + 1)]
    return re.sub(r"\\(?:g<(\d)>|(\d))", lambda m: parts[int(m[1] or m[2])], instead)


def rooms_of(root, path):
    """Folders of tests that meet a file: its own folder's, and those that include its header, the smallest first."""
    folder, header = os.path.dirname(path), os.path.splitext(path)[0] + ".h"
    header = header.removeprefix("src/")
    own = {"ui": "ui", "src": "flow", "src/cli": "flow"}.get(folder, folder.removeprefix("src/"))
    found = {own} if os.path.isdir(f"{root}/tests/{own}") else set()
    for test in glob.glob(f"{root}/tests/*/*.[ch]"):
        with open(test) as f:
            if f'#include "{header}"' in f.read():
                found.add(test.split("/")[-2])
    found -= {"bench", "campaign", "fuzz", "lint"}
    return [own] * (own in found) + sorted(found - {own, "flow"}) + ["flow", "term"]


class Mutants:
    def __init__(self, root, seed):
        self.kept = os.path.join(root, "build/mutate")
        self.tree = os.path.join(self.kept, "tree")
        self.results = os.path.join(self.kept, f"{seed}.jsonl")
        self.seed = seed
        os.makedirs(self.kept, exist_ok=True)
        self.copy(root)
        self.runner = run.Runner(self.tree)
        self.tests = self.runner.tests()

    def copy(self, root):
        """What git tracks and what is new: files that are alike keep their times, so that little is built again."""
        files = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                               check=True).stdout.split("\n")
        for name in filter(None, files):
            there, here = os.path.join(self.tree, name), os.path.join(root, name)
            if not os.path.isfile(here):
                continue
            os.makedirs(os.path.dirname(there), exist_ok=True)
            if not os.path.exists(there) or open(there, "rb").read() != open(here, "rb").read():
                shutil.copy(here, there)

    def known(self):
        if not os.path.exists(self.results):
            return {}
        with open(self.results) as f:
            return {r["file"]: r for r in map(json.loads, f)}

    def objects(self, build, path):
        """A digest of what the file is compiled to; None where it does not compile."""
        folder, base = self.runner.configure(build), os.path.basename(path)
        mine = re.compile(rf"^({os.path.dirname(path)}/[^/]+\.p/{base}|[^/]+\.p/{path.replace('/', '_')})\.o$")
        targets = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True).stdout
        names = sorted(filter(mine.match, (line.split(":")[0] for line in targets.split("\n"))))
        if subprocess.run(["ninja", "--quiet", "-C", folder, *names], env=self.runner.environment(build),
                          stdout=subprocess.DEVNULL).returncode:
            return None
        code = hashlib.sha256()
        for name in names:
            text = subprocess.run(["objcopy", "-O", "binary", "--only-section=.text*", "--only-section=.rodata*",
                                   "--only-section=.data*", os.path.join(folder, name), "/dev/stdout"], capture_output=True)
            code.update(text.stdout)
        return code.digest()

    def met_by(self, path):
        """The runs that meet a file, in the order in which they are tried: cheap ones first."""
        rooms = rooms_of(self.tree, path)
        runs = [run.Run(run.home(t) or "plain", t) for t in self.tests if run.room(t) in rooms and "bench" not in t.suites]
        return sorted(runs, key=lambda r: (rooms.index(run.room(r.test)) > 0, r.test.suites >= {"flow"}, r.test.seconds))

    def found_by(self, path):
        """The name of the first test that fails, or None; and the seconds that it took."""
        begun = time.monotonic()
        left = self.met_by(path)
        while left and time.monotonic() - begun < LIMIT_S:
            build, room = left[0].build, run.room(left[0].test)
            batch = [r for r in left if (r.build, run.room(r.test)) == (build, room)]
            left = [r for r in left if r not in batch]
            if not self.runner.build(build, batch):
                return "the build", time.monotonic() - begun
            seconds = LIMIT_S - (time.monotonic() - begun)
            for name, results in self.runner.meson_test(build, batch, "mutant", first=True, seconds=seconds).items():
                if results[-1]["result"] in ("FAIL", "TIMEOUT", "ERROR"):
                    return f"{name} ({build})", time.monotonic() - begun
        return None, time.monotonic() - begun

    def try_file(self, path):
        """A fault in this file, and whether it is found. None: no fault could be put there."""
        random_ = random.Random(f"{self.seed} {path}")
        file = os.path.join(self.tree, path)
        with open(file) as f:
            text = f.read()
        build = next((r.build for r in self.met_by(path)), "plain")
        right = self.objects(build, path)
        try:
            for _ in range(MOST_DRAWS):
                fault = draw(random_, text)
                if not fault:
                    continue
                name, number, before, after = fault
                lines = text.split("\n")
                lines[number - 1] = after
                with open(file, "w") as f:
                    f.write("\n".join(lines))
                if self.objects(build, path) in (None, right):
                    continue
                found, seconds = self.found_by(path)
                return {"file": path, "line": number, "fault": name, "before": before.strip(), "after": after.strip(),
                        "found": found, "seconds": round(seconds)}
        finally:
            with open(file, "w") as f:
                f.write(text)
        return None


def tell(r):
    print(f"{r['file']}:{r['line']}: {r['fault']}\n    - {r['before']}\n    + {r['after']}\n"
          f"    {'found by ' + r['found'] if r['found'] else 'not found'}, {r['seconds']} s", flush=True)


def main():
    p = argparse.ArgumentParser(prog="./dev mutate")
    p.add_argument("root")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=40)
    p.add_argument("--only", metavar="FILE")
    o = p.parse_args()
    files = sources(o.root)
    if o.only and o.only not in files:
        print(f"dev: no source '{o.only}'", file=sys.stderr)
        return 2
    mutants = Mutants(o.root, o.seed)
    known = mutants.known()
    random.Random(o.seed).shuffle(files)
    told = []
    for path in [o.only] if o.only else files:
        r = known.get(path) or mutants.try_file(path)
        if r:
            tell(r)
            told.append(r)
            if path not in known:
                with open(mutants.results, "a") as f:
                    print(json.dumps(r), file=f)
        if len(told) == (1 if o.only else o.count):
            break
    print(f"{sum(r['found'] is not None for r in told)} of {len(told)} faults are found")
    return 0


sys.exit(main())
