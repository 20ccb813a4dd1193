#!/usr/bin/env python3
"""Chooses, builds and runs tests for ./dev: which test runs in which build, which part of the rest a commit takes.

A run is a test in a build. The builds are

    plain        build
    sanitized    build-asan, under the address and undefined-behaviour sanitizers, on lavapipe
    swiftshader  build again, where a device is opened: on a driver with other limits

Each test has one build in which it runs by default (`home`). All other runs, the sweeps, the smoke runs of benchmarks, the
attacks and the compilers of GPUs are the rest, which is dealt into eight parts: a commit takes the part of its number.
"""
import argparse
import difflib
import fnmatch
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter, namedtuple

PARTS = 8
GOOD = ("OK", "EXPECTEDFAIL", "SKIP")
SANITIZED = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=1", "-Dc_args=-g1"]
FOLDERS = {"plain": "build", "sanitized": "build-asan", "swiftshader": "build"}
BUILDS = list(FOLDERS)

Test = namedtuple("Test", "name suites seconds targets")
Run = namedtuple("Run", "build test")
Command = namedtuple("Command", "name words seconds")  # a run that is not Meson's
Step = namedtuple("Step", "name seconds passed failed skipped")


class Refused(Exception):
    """Nothing was run: its text says why."""


# Tests, and where they run


def room(test):
    return test.name.split()[0]


def home(test):
    """The build in which a test runs by default; None for what belongs to the rest alone."""
    if test.suites & {"sweep", "bench"}:
        return None
    return "sanitized" if test.suites & {"unit", "ui", "fuzz"} and not test.suites & {"device", "long", "recordings"} else "plain"


def possible(test):
    """All builds that can find something: drivers other than lavapipe do not bear being sanitized, benchmarks and sweeps go
    through code that other tests take, and lint reads sources."""
    yield "plain"
    if not test.suites & {"sweep", "bench", "lint", "plain", "recordings"}:
        yield "sanitized"
    if "device" in test.suites:
        yield "swiftshader"


def default_runs(tests):
    return [Run(home(t), t) for t in tests if home(t)]


def rest(tests):
    return [Run(b, t) for t in tests for b in possible(t) if b != home(t)]


def commands():
    attacks = ["kills", "workers", "database", "files", "sandbox", "compilers", "drivers", "limits", "keys", "fleet", "imports", "people",
               "memory", "words", "pool", "rights", "long"]
    for attack in attacks:
        yield Command("campaign " + attack, ["campaign", "--minutes", "0.25", "--seed", "917465", "--only", attack], 15)
    for gpu in ["navi31", "gfx1201", "turing", "ampere", "ada", "blackwell", "adreno", "apple", "dg2", "bmg"]:
        yield Command("gpus " + gpu, ["gpus", "--kernels", "1", gpu], 10)
    yield Command("distro debian-13", ["distro", "debian-13"], 400)


SLOWER = {"plain": 1, "sanitized": 2.5, "swiftshader": 1.5}


def lots(tests):
    """What is dealt together: unit tests of a room, which are one program to compile, and every other run alone."""
    together = {}
    for r in rest(tests):
        alone = r.test.suites & {"flow", "device", "term", "sweep", "bench", "lint"}
        key = (r.build, r.test.name if alone else room(r.test))
        together.setdefault(key, []).append(r)
    for key, runs in together.items():
        yield sum(r.test.seconds * SLOWER[r.build] for r in runs), key, runs
    for c in commands():
        yield c.seconds, ("command", c.name), [c]


def part(tests, number):
    """One of the parts, each about as long as the others. The same tests are always dealt in the same way."""
    parts, weights = [[] for _ in range(PARTS)], [0.0] * PARTS
    for weight, _, runs in sorted(lots(tests), key=lambda lot: (-lot[0], lot[1])):
        lightest = weights.index(min(weights))
        parts[lightest] += runs
        weights[lightest] += weight
    return parts[number]


def matching(tests, names):
    """The tests that names mean: a test's own name, a room's, a pattern, or a suite's, which means those of it that run by
    default (the suites `sweep` and `bench` have none: all)."""
    chosen = []
    for name in names:
        by_suite = [t for t in tests if name in t.suites]
        by_suite = [t for t in by_suite if home(t)] or by_suite
        found = [t for t in tests if name in (t.name, room(t)) or t in by_suite or fnmatch.fnmatchcase(t.name, name)]
        if not found:
            near = difflib.get_close_matches(name, sorted({t.name for t in tests} | {room(t) for t in tests}), 4, 0.3)
            raise Refused(f"no test '{name}' (the nearest: {', '.join(near) or 'none; ./dev test --list names all'})")
        chosen += [t for t in found if t not in chosen]
    return chosen


def number_of_commit(root):
    """Which part this commit takes, and by what."""
    git = lambda *words: subprocess.run(["git", "-C", root, *words], capture_output=True, text=True).stdout.strip()
    if git("rev-parse", "--is-shallow-repository") == "false":
        count = int(git("rev-list", "--count", "HEAD"))
        return count % PARTS, f"commit number {count}"
    commit = git("rev-parse", "HEAD") or "0"
    return int(commit[:8], 16) % PARTS, f"commit {commit[:8]}, as the clone is shallow"


# Running


class Runner:
    def __init__(self, root):
        self.root = root
        self.steps = []
        self.left_out = []
        found = subprocess.run([root + "/src/kernel/glslang.sh", "find"], capture_output=True, text=True)
        self.glslang = found.stdout.strip()
        if found.returncode:
            self.left_out.append("glslang 15 or newer: the system's is older and is used (./dev build makes one)")

    def folder(self, build):
        return os.path.join(self.root, FOLDERS[build])

    def environment(self, build):
        e = dict(os.environ)
        for linker in "lld", "gold":
            if any(os.access(os.path.join(p, "ld." + linker), os.X_OK) for p in e["PATH"].split(":")):
                e.setdefault("CC_LD", linker)
                e.setdefault("CXX_LD", linker)
                break
        if build == "sanitized":
            drivers = "/usr/share/vulkan/icd.d"
            lavapipe = [f for f in os.listdir(drivers) if f.startswith("lvp_icd")] if os.path.isdir(drivers) else []
            for driver in lavapipe:
                e["VK_ICD_FILENAMES"] = e["VK_DRIVER_FILES"] = os.path.join(drivers, driver)
            e["ASAN_OPTIONS"] = ("verify_asan_link_order=0:allocator_may_return_null=1:quarantine_size_mb=32:"
                                 "malloc_context_size=10:detect_stack_use_after_return=1:strict_string_checks=1")
            e["LSAN_OPTIONS"] = f"suppressions={self.root}/tests/lint/lsan.supp:print_suppressions=0"
            e["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
            # A hundred megabytes of published recordings take many minutes here; those of our own tests are read.
            e.pop("TILEWALK_RECORDINGS", None)
        return e

    def configure(self, build):
        """With the glslang that ./dev build made (src/kernel/glslang.sh), where there is one."""
        folder = self.folder(build)
        glslang = "-Dglslang=" + (self.glslang or "")
        if not os.path.exists(os.path.join(folder, "build.ninja")):
            options = SANITIZED if build == "sanitized" else []
            words = ["setup", folder, self.root, glslang, *options]
        elif self.option(folder, "glslang") != (self.glslang or ""):
            words = ["configure", folder, glslang]
        else:
            return folder
        subprocess.run(["meson", *words], env=self.environment(build), check=True, stdout=subprocess.DEVNULL)
        return folder

    def option(self, folder, name):
        with open(os.path.join(folder, "meson-info/intro-buildoptions.json")) as f:
            return next((o["value"] for o in json.load(f) if o["name"] == name), None)

    def tests(self, build="plain"):
        """All tests there are; those that Meson does not make for a build are missing in it."""
        folder = self.configure(build)
        if subprocess.run(["ninja", "-C", folder, "build.ninja"], env=self.environment(build),
                          stdout=subprocess.DEVNULL).returncode:
            raise Refused(f"{folder} cannot be configured")
        with open(os.path.join(folder, "meson-info/intro-targets.json")) as f:
            files = {t["id"]: [os.path.relpath(n, folder) for n in t["filename"]] for t in json.load(f)}
        with open(os.path.join(folder, "meson-info/intro-tests.json")) as f:
            return [Test(t["name"], frozenset(s.split(":")[-1] for s in t["suite"]), max(t["priority"], 0.5),
                         tuple(n for d in t["depends"] for n in files[d])) for t in json.load(f)]

    def build(self, build, runs):
        """The programs that the runs need, and no others; without runs, all there are."""
        begun = time.monotonic()
        targets = sorted({n for r in runs for n in r.test.targets})
        print(f"== build {FOLDERS[build]}: {f'{len(targets)} programs and libraries' if runs else 'all'}", flush=True)
        done = subprocess.run(["ninja", "--quiet", "-C", self.configure(build), *targets], env=self.environment(build))
        self.steps.append(Step(f"build {FOLDERS[build]}", time.monotonic() - begun, 0, int(done.returncode != 0), 0))
        if build == "sanitized":
            subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{self.folder(build)}/keep_loaded.so",
                            f"{self.root}/tests/lint/keep_loaded.c"], check=True)
        return done.returncode == 0

    def meson_test(self, build, runs, what, times=1, first=False, seconds=None):
        """Runs them, as many at a time as there are cores and two more, since some wait. Timeouts are for what hangs, not for
        a machine that others use too. With `first`, nothing is printed and the first failure ends it; so does the limit of
        seconds. Returns a list of results for each name."""
        folder, log = self.folder(build), "testlog-" + re.sub(r"\W+", "-", what)
        e = self.environment(build)
        if build == "sanitized":
            e["LD_PRELOAD"] = folder + "/keep_loaded.so"
        words = ["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs", "--logbase", log,
                 "--timeout-multiplier", "1" if first else "20" if build == "sanitized" else "4",
                 "--num-processes", str((os.cpu_count() or 1) + 2)]
        if times > 1:
            words += ["--repeat", str(times)]
        if first:
            words += ["--maxfail", "1"]
        if build == "swiftshader":
            words += ["--setup", "swiftshader"]
            log += "-swiftshader"
        path = f"{folder}/meson-logs/{log}.json"
        if os.path.exists(path):
            os.remove(path)
        quiet = subprocess.DEVNULL if times > 1 or first else None
        meson = subprocess.Popen(words + [r.test.name for r in runs], env=e, stdout=quiet)
        try:
            meson.wait(seconds)
        except subprocess.TimeoutExpired:
            pass  # what has ended is in the log
        finally:
            meson.terminate()  # it ends its tests
            meson.wait()
        results = {}
        if os.path.exists(path):
            with open(path) as f:
                for t in map(json.loads, f):
                    results.setdefault(t["name"].split(" / ")[-1], []).append(t)
        return {r.test.name: results.get(r.test.name, [{"result": "LOST", "stdout": "Meson did not run it"}]) for r in runs}

    def run(self, build, runs, what):
        """Builds and runs them. What cannot be built has failed."""
        runs = sorted(runs, key=lambda r: r.test.name)
        if not runs:
            return
        if build == "swiftshader" and not self.fetch_swiftshader(runs):
            return
        if build == "sanitized":
            there = {t.name: t for t in self.tests(build)}
            runs = [Run(build, there[r.test.name]) for r in runs if r.test.name in there]
        if not self.build(build, runs):
            return
        begun = time.monotonic()
        print(f"== {what}: {len(runs)} tests", flush=True)
        results = self.meson_test(build, runs, what)
        self.count(what, time.monotonic() - begun, runs, results)

    def count(self, what, seconds, runs, results):
        count = Counter()
        for r in runs:
            said = results[r.test.name][-1]
            if said["result"] in ("OK", "EXPECTEDFAIL"):
                count["passed"] += 1
            elif said["result"] == "SKIP":
                count["skipped"] += 1
                self.left_out.append(f"{r.test.name} ({r.build}): {reason(said)}")
            else:
                count["failed"] += 1
                print(f"failed: {r.test.name} ({r.build}, {said['result']}); again: ./dev test --build {r.build} '{r.test.name}'")
        self.steps.append(Step(what, seconds, count["passed"], count["failed"], count["skipped"]))

    def fetch_swiftshader(self, runs):
        done = subprocess.run([self.root + "/tests/gpus/swiftshader.sh", self.folder("plain") + "/swiftshader"],
                              capture_output=True, text=True)
        if done.returncode == 0:
            return True
        why = (done.stderr.strip().splitlines() or ["?"])[-1]
        self.left_out.append(f"{len(runs)} tests on SwiftShader, which cannot be fetched: {why}")
        self.steps.append(Step("SwiftShader", 0, 0, 0, len(runs)))
        return False

    def command(self, c):
        print(f"== ./dev {' '.join(c.words)}", flush=True)
        begun = time.monotonic()
        status = subprocess.run([self.root + "/dev", *c.words]).returncode
        count = {0: (1, 0, 0), 77: (0, 0, 1)}.get(status, (0, 1, 0))
        if status == 77:
            self.left_out.append(f"{c.name}: it says why above")
        self.steps.append(Step(c.name, time.monotonic() - begun, *count))

    def run_all(self, runs, what):
        for build in BUILDS:
            self.run(build, [r for r in runs if isinstance(r, Run) and r.build == build], f"{what}, {build}")
        for c in runs:
            if isinstance(c, Command):
                self.command(c)

    def tell(self):
        """The table, what was left out, and the closing line. Returns the exit status."""
        width = max(len(s.name) for s in self.steps)
        print(f"\n{'step':{width}}  seconds  passed  failed  skipped")
        for s in self.steps:
            print(f"{s.name:{width}}  {s.seconds:7.0f}  {s.passed:6}  {s.failed:6}  {s.skipped:7}")
        seconds, passed, failed, skipped = (sum(s[i] for s in self.steps) for i in range(1, 5))
        print(f"{'all':{width}}  {seconds:7.0f}  {passed:6}  {failed:6}  {skipped:7}")
        for line in self.left_out:
            print("left out: " + line)
        print(f"{passed} passed, {failed} failed, {skipped} skipped")
        return 1 if failed or passed + skipped == 0 else 0


def reason(result):
    lines = [l for l in (result.get("stdout", "") + "\n" + result.get("stderr", "")).splitlines() if l.strip()]
    said = [l for l in lines if l.startswith("skipped")]
    return (said or lines or ["it does not say why"])[-1].removeprefix("skipped: ").strip()


# Again and again


class Load:
    """Busy loops beside the tests."""

    def __init__(self, count):
        self.loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


AT_ONCE = 4  # rounds of one test that run side by side, where it may


def repeat(runner, runs, rounds, load):
    """Each run so many times, beside busy loops. What was done is kept in build/repeat.jsonl: the same call goes on where one
    was interrupted, until all rounds are done."""
    path = runner.folder("plain") + "/repeat.jsonl"
    key = json.dumps([rounds, load, [(r.build, r.test.name) for r in runs]])
    done = read_rounds(path, key, runs)
    if not done:
        with open(path, "w") as f:
            print(key, file=f)
    for build in BUILDS:
        mine = [r for r in runs if r.build == build]
        if mine and not (build == "swiftshader" and not runner.fetch_swiftshader(mine)) and not runner.build(build, mine):
            return runner.tell()
    begun = time.monotonic()
    with Load(load):
        for r in sorted(runs, key=lambda r: -r.test.seconds):
            while left := rounds - len(done.get(r, [])):
                results = runner.meson_test(r.build, [r], "repeat", max(2, min(left, AT_ONCE)))[r.test.name][:left]
                done.setdefault(r, []).extend(said["result"] for said in results)
                with open(path, "a") as f:
                    for said in results:
                        print(json.dumps([r.build, r.test.name, said["result"]]), file=f)
                        if said["result"] not in GOOD:
                            print(f"{r.test.name} ({r.build}): {said['result']}\n" + said.get("stdout", "")[-3000:] +
                                  said.get("stderr", "")[-3000:], flush=True)
            print(f"{r.test.name} ({r.build}): {sum(x in GOOD for x in done[r])} of {rounds}", flush=True)
    os.remove(path)
    for r in runs:
        count = Counter(done[r])
        runner.steps.append(Step(f"{r.test.name} ({r.build})", 0, count["OK"], rounds - count["OK"] - count["SKIP"], count["SKIP"]))
    runner.steps.append(Step(f"{rounds} rounds beside {load} busy loops", time.monotonic() - begun, 0, 0, 0))
    return runner.tell()


def read_rounds(path, key, runs):
    by_name = {(r.build, r.test.name): r for r in runs}
    done = {}
    if os.path.exists(path):
        with open(path) as f:
            if f.readline().strip() == key:
                for build, name, result in map(json.loads, f):
                    done.setdefault(by_name[(build, name)], []).append(result)
                print(f"dev: going on with what {path} has", flush=True)
    return done


# Commands


def list_tests(tests):
    for t in sorted(tests):
        print(f"{t.name:32} {home(t) or 'only in the parts':18} {' '.join(sorted(t.suites))}")
    return 0


def test(runner, words):
    p = argparse.ArgumentParser(prog="./dev test", usage="./dev test [NAME...] [--build BUILD] [--sample N | --repeat N [--load K] | --list]")
    p.add_argument("names", nargs="*")
    p.add_argument("--build", choices=BUILDS)
    p.add_argument("--sample", type=int, choices=range(PARTS), metavar="N")
    p.add_argument("--repeat", type=int, metavar="N")
    p.add_argument("--load", type=int, default=0, metavar="K")
    p.add_argument("--list", action="store_true")
    o = p.parse_args(words)
    tests = runner.tests()
    chosen = matching(tests, o.names) if o.names else tests
    if o.list:
        return list_tests(chosen)
    if o.sample is not None:
        runner.run_all(part(chosen, o.sample), f"part {o.sample}")
        return runner.tell()
    if o.build:
        runs = [Run(o.build, t) for t in chosen if o.build in possible(t)]
    else: # a test that is named runs, wherever it belongs
        runs = [Run(home(t) or "plain", t) for t in chosen if home(t) or o.names]
    if not runs:
        raise Refused(f"none of these tests runs in the build '{o.build}'")
    if o.repeat:
        return repeat(runner, runs, o.repeat, o.load)
    runner.run_all(runs, "tests")
    return runner.tell()


def check(runner, words):
    p = argparse.ArgumentParser(prog="./dev check", usage="./dev check [--full]")
    p.add_argument("--full", action="store_true")
    o = p.parse_args(words)
    tests = runner.tests()
    number, by = number_of_commit(runner.root)
    if o.full:
        runs = default_runs(tests) + rest(tests) + [c for c in commands() if not c.name.startswith("campaign")]
        runs.append(Command("campaign", ["campaign", "--minutes", "10"], 600))
        runner.run_all(runs, "all")
    else:
        print(f"== the default runs, and part {number} of the rest ({by}); again: ./dev test --sample {number}", flush=True)
        mine = part(tests, number)
        runner.build("plain", [])  # what no test of this commit needs compiles, too
        for build in BUILDS:  # one build of both, so that nothing is linked twice
            runner.run(build, [r for r in default_runs(tests) + mine if isinstance(r, Run) and r.build == build], build)
        for c in mine:
            if isinstance(c, Command):
                runner.command(c)
    if not any(os.access(os.path.join(p, "ccache"), os.X_OK) for p in os.environ["PATH"].split(":")):
        runner.left_out.append("ccache, which would keep what is compiled, is not installed")
    return runner.tell()


def main():
    root, command, *words = sys.argv[1:]
    os.environ["TILEWALK_FETCH"] = "0"  # tests take the glslang that there is: none is fetched and built for them
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return {"test": test, "check": check}[command](Runner(root), words)
    except Refused as e:
        print(f"dev: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
