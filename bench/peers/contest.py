"""Who is fastest within given errors: settings are tried, those that will do and are about as fast as the fastest take turns, the fastest
of them is chosen, and those chosen are timed in turn.

Needs nothing but Python.
"""
import itertools
import math
import statistics
import time
from dataclasses import dataclass, field
from typing import Any, Callable


@dataclass(eq=False)
class Entry:
    """A program in one setting. `sample` runs until so many CPU seconds are spent, once at least: the seconds of each run, and how the last ended."""
    program: str
    setting: str
    sample: Callable[[float], tuple[list[float], Any]]
    ready: Callable[[], float] | None = None  # CPU seconds from the model to the end of a first run, all made anew
    later: Callable[[], list] | None = None  # states beyond the end, for methods whose errors swing with the phase
    again: Callable[[Any], Any] | None = None  # the end of a run from another start
    key: Any = None  # by which its maker knows it
    bare: "Entry | None" = None  # the same without what it costs to call it from Python


@dataclass(eq=False)
class Tried:
    """What a setting did."""
    entry: Entry
    seconds: float
    errors: dict[str, float]
    failure: str = ""


def attempt(entry, judge, budget=0.01):
    """Runs an entry, twice at least, as a first run may be slow; `judge` tells the errors of its end by their names."""
    try:
        seconds, end = entry.sample(budget)
        errors = judge(entry, end)
        if len(seconds) == 1:
            seconds += entry.sample(0)[0]
    except (ArithmeticError, RuntimeError, ValueError) as failure:
        return Tried(entry, math.inf, {}, str(failure).splitlines()[0])
    return Tried(entry, min(seconds), errors)


def excess(tried, bounds):
    """By how much an entry misses the bounds on its errors: at most 1 if it keeps them all."""
    missing = [name for name in bounds if not math.isfinite(tried.errors.get(name, math.inf))]
    if missing:
        return math.inf
    return max((tried.errors[name] / bound if bound > 0 else (0 if tried.errors[name] <= 0 else math.inf)
                for name, bound in bounds.items()), default=0.0)


def fastest(tried, bounds):
    """The fastest that keeps the bounds, or none."""
    return min((t for t in tried if excess(t, bounds) <= 1), key=lambda t: t.seconds, default=None)


def nearest(tried, bounds):
    """The one that misses the bounds by least, or none if all failed."""
    found = min(tried, key=lambda t: excess(t, bounds), default=None)
    return found if found and math.isfinite(excess(found, bounds)) else None


@dataclass(eq=False)
class Duel:
    """A program and ours within the same errors. What is None was not reached, and `missed` has what came nearest."""
    target: str
    program: str
    theirs: Tried | None
    ours: Tried | None
    missed: Tried | None = None
    times: list[tuple[float, float]] = field(default_factory=list)  # ours, theirs: the best of each turn

    @property
    def ratios(self):
        return [ours / theirs for ours, theirs in self.times]

    @property
    def ratio(self):
        return statistics.median(self.ratios) if self.times else None

    @property
    def spread(self):
        """The quartiles of the ratios."""
        if len(self.times) < 2:
            return None
        low, _, high = statistics.quantiles(self.ratios, n=4, method="inclusive")
        return low, high


# Who was timed in a bad moment must not lose: those whose first times are so near the shortest, and so many at most, take turns in so many rounds.
NEAR, MOST, CHOOSING = 1.6, 12, 9


def shortlist(tried, bounds):
    """Those within the bounds whose first times are about the shortest, by these times."""
    within = sorted((t for t in tried if excess(t, bounds) <= 1 and math.isfinite(t.seconds)), key=lambda t: t.seconds)
    return [t for t in within if t.seconds <= NEAR * within[0].seconds][:MOST]


def choose(tried, bounds, known):
    """The one with the shortest time in rounds of turns, or none: others on the machine lengthen times, by half for some programs and less for
    others, and nothing shortens them. What `known` has is not timed again, so that one question has one answer."""
    close = shortlist(tried, bounds)
    if len(close) < 2:
        return close[0] if close else None
    asked = frozenset(t.entry for t in close)
    if asked not in known:
        known[asked] = turns([t.entry for t in close], rounds=CHOOSING, budget=0.002, limit=10.0)
    times = known[asked]
    return min(close, key=lambda t: min(times[t.entry]))


def pair(target, bounds, tried, ours, matched=(), slack=1.0):
    """Pairs each program's fastest within the bounds with our fastest within them; `matched` errors of ours may not exceed theirs, times a slack."""
    duels, known = [], {}
    for program in dict.fromkeys(t.entry.program for t in tried):
        settings = [t for t in tried if t.entry.program == program]
        theirs = choose(settings, bounds, known)
        limits = dict(bounds, **({name: slack * theirs.errors[name] for name in matched} if theirs else {}))
        own = choose(ours, limits, known)
        missed = None if theirs and own else nearest(ours, limits) if theirs else nearest(settings, bounds)
        duels.append(Duel(target, program, theirs, own, missed))
    return duels


def turns(entries, rounds=20, budget=0.005, limit=40.0):
    """Times entries in turn: the best run of each in each round. After five rounds, time may run out."""
    times, begun = {entry: [] for entry in entries}, time.monotonic()
    for turn in range(rounds):
        if turn >= 5 and time.monotonic() - begun > limit:
            break
        for entry in entries:
            times[entry].append(min(entry.sample(budget)[0]))
    return times


def settle(duels, **timing):
    """Times those that were chosen in turn."""
    complete = [duel for duel in duels if duel.theirs and duel.ours]
    chosen = dict.fromkeys(tried.entry for duel in complete for tried in (duel.ours, duel.theirs))
    times = turns(chosen, **timing)
    for duel in complete:
        duel.times = list(zip(times[duel.ours.entry], times[duel.theirs.entry]))


def typical(times, side):
    """The median over turns: side 0 is ours, 1 theirs."""
    return statistics.median(pair[side] for pair in times)


def calls(call):
    """A sampler of calls that are too short for a clock."""
    state = {}

    def sample(budget):
        if "count" not in state:
            call()
            before = time.thread_time()
            for _ in range(10):
                call()
            each = max((time.thread_time() - before) / 10, 1e-8)
            state["count"] = max(1, int(5e-4 / each))
        seconds, begun, count = [], time.thread_time(), state["count"]
        while not seconds or time.thread_time() - begun < budget:
            before = time.thread_time()
            for _ in itertools.repeat(None, count):
                call()
            seconds.append((time.thread_time() - before) / count)
        return seconds, None
    return sample
