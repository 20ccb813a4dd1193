"""Reads tables of tuned kernels and finds the configuration for a problem: this file alone, Python 3.

    table = tilewalk_tuned.read("kernels.json")            # of `tilewalk export ID... --as table`
    device = tilewalk_tuned.Device("Card 1", "Maker, 1.0", invocations=1024, group_size=(1024, 1024, 64),
                                   shared_bytes=49152)
    found = table.find("matmul", {"N": 300, "M": 64, "K": 64, "type": "f32", "layout": "nn"}, device, {"pad": 0})
    found.configuration, found.entry, found.likeness, found.distance

The rule is that of tilewalk_tuned.h, which says it: both find the same. Whole numbers are sizes; what is no whole number
has to be equal, numbers with a fraction as the table writes them ("0.25"). What cannot be read is a ValueError of one line.
"""
import collections
import json

LIKENESS = ("same", "driver", "vendor", "any")  # device; "none": the default was returned

Found = collections.namedtuple("Found", "configuration entry likeness distance")


class Device:
    """What asks. Without `invocations` its limits are not known; `features`: f16, i8, dot, matrix."""

    def __init__(self, name, driver, invocations=0, group_size=(0, 0, 0), shared_bytes=0, subgroups=(0, 0), features=()):
        self.name, self.driver, self.invocations, self.group_size = name, driver, invocations, group_size
        self.shared_bytes, self.subgroups, self.features = shared_bytes, subgroups, frozenset(features)


def log2(size):
    """log2 of a size > 0 in units of 2^-16, rounded down."""
    log = size.bit_length() - 1
    x = size << 31 >> log
    for _ in range(16):
        x = x * x >> 31
        log = log << 1 | x >> 32
        x >>= x >> 32
    return log


def _signature(problem):
    """The names, with the values of all that is no size; and the sizes, sorted by their names."""
    words, sizes = [], []
    for name in sorted((name for name in problem if name != "kind"), key=lambda name: name.encode()):
        value = problem[name]
        if type(value) is int and 0 <= value < 9 * 10**15:
            sizes.append(value)
            words.append((name, None))
        elif isinstance(value, str) or type(value) is int and value < 0:
            words.append((name, str(value)))
        else:
            raise ValueError("this reader cannot take such a problem")
    return tuple(words), tuple(sizes)


def _distance(a, b):
    if any((x == 0) != (y == 0) for x, y in zip(a, b)):
        return None
    squares = [((log2(x) if x else 0) - (log2(y) if y else 0)) ** 2 or int(x != y) for x, y in zip(a, b)]
    return sum(squares)


def _likeness(entry, device):
    here, there = device.driver.split(",")[0], entry["driver"].split(",")[0]
    if here != there:
        return None
    if entry["device"] == device.name and device.name:
        return 0 if entry["driver"] == device.driver else 1
    return 2 if here else None


def _may_run(entry, device, like):
    passes = entry.get("passes") or []
    known = passes and all(part in one for one in passes for part in ("local_size", "shared_bytes", "needs"))
    if not known or not device.invocations:
        return like <= 1
    for one in passes:
        invocations = 1
        for length, most in zip(one["local_size"], device.group_size):
            invocations *= length
            if length > most:
                return False
        size = one.get("subgroup_size")
        if invocations > device.invocations or one["shared_bytes"] > device.shared_bytes or \
                not device.features.issuperset(one["needs"]) or \
                size and not device.subgroups[0] <= size <= device.subgroups[1]:
            return False
    return True


class Table:
    def __init__(self, entries):
        self._groups, seen = {}, set()
        for entry in entries:
            entry = dict(entry)
            for name in ("device", "driver", "device_identity"):
                entry[name] = entry.get(name) or ""
            try:
                words, sizes = _signature(entry["problem"])
                key = entry["problem"]["kind"], words
                timing = entry["timing"]["ms"], entry["timing"]["tflops"]
                fine = isinstance(entry["configuration"], dict) and all(float(value) > 0 for value in timing)
            except (KeyError, TypeError, ValueError, AttributeError):
                fine = False
            if not fine:
                raise ValueError("an entry needs a problem with its kind, a configuration, and timing with ms and tflops above 0")
            place = entry["device"], entry["driver"], sizes, entry["device_identity"]
            if (key, place) in seen:
                raise ValueError("another entry is of the same problem and device")
            seen.add((key, place))
            self._groups.setdefault(key, []).append((place, entry))
        for group in self._groups.values():
            group.sort(key=lambda one: [part.encode() if isinstance(part, str) else part for part in one[0]])

    def find(self, operation, problem, device=None, default=None):
        """The entry for a problem, or the default; without a device all count alike."""
        words, wanted = _signature(problem)
        best, found = None, Found(default, None, "none", 0)
        for (_, _, sizes, _), entry in self._groups.get((operation, words), ()):
            like = 3 if device is None else _likeness(entry, device)
            if like is None or device is not None and not _may_run(entry, device, like):
                continue
            distance = _distance(wanted, sizes)
            rank = like, distance, -float(entry["timing"]["tflops"])
            if distance is not None and (best is None or rank < best):
                best, found = rank, Found(entry["configuration"], entry, LIKENESS[like], distance)
        return found


def _no_number(text):
    raise ValueError(text + " is no number of JSON")


def _exactly(text):
    return _Number(text)


class _Number(str):
    """A number with a fraction, as it is written: equal to that text alone."""


def _plain(value):
    """A value with its numbers as numbers."""
    if isinstance(value, _Number):
        return float(value)
    if isinstance(value, dict):
        return {name: _plain(part) if name != "problem" else part for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def loads(text):
    root = json.loads(text, parse_float=_exactly, parse_constant=_no_number)
    if not isinstance(root, dict) or root.get("format") != "tilewalk-table" or not isinstance(root.get("entries"), list):
        raise ValueError('no table: it has no "format": "tilewalk-table", version and entries')
    if root.get("version") != 1:
        raise ValueError("a version of the format that this reader does not know (only 1 is)")
    if not all(isinstance(entry, dict) for entry in root["entries"]):
        raise ValueError("an entry is an object")
    return Table(_plain(root["entries"]))


def read(path):
    with open(path, encoding="utf-8") as file:
        try:
            return loads(file.read())
        except ValueError as error:
            raise ValueError("%s: %s" % (path, error)) from None
