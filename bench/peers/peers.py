"""Times leastaction beside other programs, on the same problems, within the same errors, in turn; and writes bench/RESULTS.md.

`peers.py EXAMPLES [--only p1,p3] [--rounds 20] [--longest 1000] [--out FILE]`; see `make bench-peers`. EXAMPLES is the folder of our compiled examples.
References and compiled libraries are kept in `peers` in it, and used again. Some of the problems are printed, unless a file is named; all are written.
"""
import argparse
import contextlib
import datetime
import importlib
import inspect
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import traceback

# One thread, on the last processor: interrupts tend to land on the first. Before any numerical package is read.
PROCESSORS = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {PROCESSORS[-1]})
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

import by_us  # noqa: E402
import child  # noqa: E402
import contest  # noqa: E402
import problems as p  # noqa: E402
import table  # noqa: E402


def optional(name):
    """A program's module, or None with a word about it."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        print(f"{name}: {missing}", file=sys.stderr)
        return None


heyoka, rebound, scipy, casadi, pinocchio = map(
    optional, ("by_heyoka", "by_rebound", "by_scipy", "by_casadi", "by_pinocchio"))
# Programs for bodies of many elements, and for networks, run in processes of their own: these modules read no library but there.
BODIES = [peer for peer in map(optional, ("by_c", "by_warp", "by_taichi", "by_jax")) if peer]
NETWORKS = [peer for peer in map(optional, ("by_jax", "by_torch")) if peer]
PEERS = [peer for peer in (heyoka, rebound, scipy, casadi, pinocchio, *dict.fromkeys(BODIES + NETWORKS)) if peer]


class Bench:
    """What the problems share: our stopwatch, and where things are kept."""

    def __init__(self, arguments):
        self.rounds, self.longest = arguments.rounds, arguments.longest
        self.examples = pathlib.Path(arguments.examples).resolve()
        self.ours = self.stopwatch()
        self.folder = self.examples / "peers"
        self.folder.mkdir(exist_ok=True)
        self.found = []  # (problem, duels) for the summary
        self.winner = None  # the method and the tolerance that were fastest for many pendulums

    def stopwatch(self):
        return by_us.Stopwatch(self.examples / "stopwatch")

    def kept(self, name, make):
        """An array that is computed once."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            np.save(path, make())
        return np.load(path)

    def text(self, name, make):
        path = self.folder / f"{name}.motion"
        path.write_text(make(), encoding="utf-8")
        return path

    def settle(self, problem, duels):
        contest.settle(duels, rounds=self.rounds)
        self.found.append((problem, duels))

    def attempt(self, entries, judge):
        tried = []
        for entry in entries:
            tried.append(contest.attempt(entry, judge))
            told = tried[-1].failure or f"{table.duration(tried[-1].seconds)}, {table.errors(tried[-1])}"
            print(f"  {entry.program}, {entry.setting}: {told}", file=sys.stderr)
        return tried


def readiness(entry, steady, repeats=3):
    """CPU seconds from a model to its first step: to the end of a first run, less what a run takes."""
    return max(0.0, statistics.median(entry.ready() for _ in range(repeats)) - steady)


def lines(written, skip=1):
    text = inspect.getsource(written) if callable(written) else written.read_text()
    return sum(bool(line.strip()) and not line.startswith("#") for line in text.splitlines()) - skip


def pendulum(bench):
    exact, doubt = heyoka.pendulum_reference()
    judge = lambda entry, end: {"error": p.distance(end, exact)}
    settings = [("taylor", p.tolerances(6, 15)), ("vern9", p.tolerances(6, 14)), ("dop853", p.tolerances(6, 14)),
                ("tsit5", p.tolerances(7, 10)), ("ias15", p.tolerances(6, 14, (1,)))]
    ours = bench.attempt((bench.ours.entry(p.PENDULUM, method, "tolerance", tolerance, p.PENDULUM_END)
                          for method, values in settings for tolerance in values), judge)
    theirs = bench.attempt((entry for peer in (heyoka, scipy) if peer for entry in peer.pendulum_entries()), judge)
    duels = [duel for target in p.PENDULUM_TARGETS
             for duel in contest.pair(f"{target:.0e}", {"error": target}, theirs, ours)]
    bench.settle("P1", duels)
    rows = []
    written = {"leastaction": ("positions", lines(p.PENDULUM, 0))}
    if heyoka:
        written[f"{heyoka.NAME}, energies"] = ("energies", lines(heyoka.by_energies))
        written[f"{heyoka.NAME}, equations by hand"] = ("equations, derived by hand", lines(heyoka.by_hand))
    if scipy:
        written[f"{scipy.DERIVED}, positions"] = ("positions", lines(scipy.by_positions))
        written[f"{scipy.NAME}, equations by hand"] = ("equations, derived by hand", lines(scipy.by_hand))
    middle = [duel for duel in duels if duel.target == "1e-09" and duel.times]
    sides = [(duel.ours, 0, duel) for duel in middle[:1]] + [(duel.theirs, 1, duel) for duel in middle]
    for tried, side, duel in sides:
        steady, program = contest.typical(duel.times, side), tried.entry.program
        best = min(pair[side] for pair in duel.times)
        ready = readiness(tried.entry, steady)
        said, count = written[program]
        rows.append([program.split(",")[0], said, count, tried.entry.setting, table.digits(1e3 * ready),
                     f"{table.digits(1e3 * best)}, {table.digits(1e3 * steady)}", f"{tried.errors['error']:.0e}", ready])
    ready = [row.pop() for row in rows]
    share = [f"1/{table.digits(other / ready[0], 2)} of {row[0]} ({row[1]})" for row, other in zip(rows[1:], ready[1:]) if other > 1e-4]
    return f"""## P1: the double pendulum

Unit masses and rods, g = 9.81, from rest with both angles at π/2, for 10 s. The error is the largest in angles and rates at the end, against
113-bit arithmetic (80-bit arithmetic differs by {doubt:.0e}).

{table.duels(duels)}
From a model as a person writes it to an end state within 1e-9. *Ready* is reading, deriving and compiling, to the first step; lines are those of
the model, ours with its start and its run.

{table.table(["", "written", "lines", "method, tolerance", "ready, ms", "run, ms: best, median", "error"], rows)}
Ours is ready in {'; '.join(share)}.

{table.sweep(ours + theirs)}"""


def many(bench):
    starts = p.many_starts()
    exact = bench.kept(f"pendulums-{len(starts)}", lambda: heyoka.many_reference(starts))
    judge = lambda entry, ends: p.many_errors(ends, exact)
    settings = [("taylor", p.tolerances(8, 10, p.FINE)), ("vern9", p.tolerances(8, 10, p.FINE)), ("dop853", p.tolerances(9, 10, p.FINE))]
    asked = ("median 2e-9, and median and p99 as theirs", {"median": 2e-9})
    found, tried, sides = [], [], {}
    for threads in (1, 2)[:len(PROCESSORS)]:
        # Threads need processors, and inherit them when they are made.
        os.sched_setaffinity(0, PROCESSORS[-threads:])
        stopwatch = bench.ours if threads == 1 else bench.stopwatch()
        entry = lambda method, value: stopwatch.ensemble(p.PENDULUM, method, "tolerance", value, p.PENDULUM_END, starts, bench.folder, threads)
        if threads == 1:
            ours = bench.attempt((entry(method, value) for method, values in settings for value in values), judge)
            theirs = bench.attempt(heyoka.batch_entries(starts), judge)
        else:
            # What was about the fastest on one thread, and all of theirs.
            ours = bench.attempt([entry(*t.entry.key) for t in close], judge)
            theirs = bench.attempt(heyoka.batch_entries(starts, threads), judge)
        duels = contest.pair(f"{threads} thread{'s' * (threads > 1)}", asked[1], theirs, ours, matched=("median", "p99"))
        if threads == 1:
            chosen = duels[0].theirs
            close = contest.shortlist(ours, dict(asked[1], **chosen.errors) if chosen else asked[1])
            if duels[0].ours:
                bench.winner = duels[0].ours.entry.key
        bench.settle("P2", duels)
        found += duels
        tried += ours + theirs
        sides[threads] = duels[0]
    os.sched_setaffinity(0, PROCESSORS[-1:])
    rate = lambda duel, side: table.digits(len(starts) / contest.typical(duel.times, side)) if duel.times else "–"
    rows = [[threads, rate(duel, 0), rate(duel, 1), table.digits(1 / duel.ratio) if duel.ratio else "–"] for threads, duel in sides.items()]
    scaled = ""
    if len(sides) > 1 and all(duel.times for duel in sides.values()):
        gain = [contest.typical(sides[1].times, side) / contest.typical(sides[2].times, side) for side in (0, 1)]
        scaled = f"\nTwo threads run {table.digits(gain[0])} times as many as one; heyoka's {table.digits(gain[1])} times.\n"
    return f"""## P2: {len(starts)} double pendulums

Angles uniform in [-π/2, π/2], from rest, for 10 s. Errors are the median and the 99th percentile of the largest error at each end, against 80-bit
arithmetic; within: {asked[0]}. CPU time on one thread, time on the wall on two.

{table.duels(found)}
{table.table(["threads", "ours, trajectories/s", "heyoka, trajectories/s", "ours / theirs"], rows)}{scaled}
{table.sweep(tried)}"""


def solar(bench):
    exact = bench.kept("solar", heyoka.solar_reference)
    judge = p.solar_judge(exact)
    adaptive = [("taylor", (1e-11, 1e-12, 1e-13, *p.tolerances(14, 16))), ("ias15", (*p.tolerances(8, 10), 1e-11, 1e-12)),
                ("vern9", (1e-12, 1e-13, 1e-14)), ("dop853", (1e-13, 1e-14))]
    fixed = [("sofroniou-spaletta10", (80.0, 100.0, 125.0, 160.0, 200.0)), ("kahan-li8", (20.0, 40.0, 50.0)), ("yoshida8", (20.0, 40.0)),
             ("blanes-moan6-rkn", (20.0, 40.0, 50.0)), ("gauss12", (200.0,))]
    ours = [bench.ours.entry(p.SOLAR, m, "tolerance", value, p.SOLAR_END) for m, values in adaptive for value in values]
    ours += [bench.ours.swinging(p.SOLAR, m, step, p.SOLAR_END, p.SOLAR_LATER) for m, steps in fixed for step in steps]
    ours = bench.attempt(ours, judge)
    theirs = bench.attempt((entry for peer in (heyoka, rebound) if peer for entry in peer.solar_entries()), judge)
    duels = contest.pair("dE 2e-14", {"dE": 2e-14}, theirs, ours, matched=("dx",), slack=2.0)
    bench.settle("P3", duels)
    return f"""## P3: the outer solar system for 1e6 days

The Sun, Jupiter, Saturn, Uranus, Neptune and Pluto (Hairer, Lubich and Wanner). dE is the relative error of the energy at the end; of methods with
steps of one length the largest from there over {p.SOLAR_LATER:g} days more, as it swings. dx is the largest error of a coordinate at the end in au, against
80-bit arithmetic; that of ours is at most twice theirs. REBOUND's splittings know that planets nearly move on ellipses; the others do not.

{table.duels(duels)}
{table.sweep(ours + theirs)}"""


def kepler(bench):
    settings = [("taylor", (*p.tolerances(12, 16), 5e-17, 2e-17)), ("vern9", p.tolerances(12, 14)),
                ("ias15", (1e-9, 1e-10, 1e-11, 1e-12)), ("dop853", p.tolerances(13, 13))]
    texts = [bench.text(f"kepler-{turn:g}", lambda: p.kepler_text(turn)) for turn in (0.0, *p.KEPLER_TURNS)]

    def entry(method, value):
        found, *others = (bench.ours.entry(text, method, "tolerance", value, p.KEPLER_END) for text in texts)
        found.later = lambda: [p.turned(other.sample(0)[1], -turn) for other, turn in zip(others, p.KEPLER_TURNS)]
        return found
    ours = bench.attempt((entry(method, value) for method, values in settings for value in values), p.kepler_judge)
    theirs = bench.attempt((entry for peer in (heyoka, rebound) if peer for entry in peer.kepler_entries()), p.kepler_judge)
    duels = contest.pair("dx 1e-6", {"dx": 1e-6}, theirs, ours)
    duels += contest.pair("dx 1e-9, dE 2e-14", {"dx": 1e-9, "dE": 2e-14}, theirs, ours)
    bench.settle("P4", duels)
    return f"""## P4: 1000 orbits of Kepler's problem, e = 0.6

dx is the distance from the start in each coordinate, dE the relative error of the energy; where dx is less than {p.KEPLER_CLOSE:g}, both are medians over
{1 + len(p.KEPLER_TURNS)} ellipses that point elsewhere, as one run says little about rounding.

{table.duels(duels)}
{table.sweep(ours + theirs)}"""


COUNTS = (2, 5, 10, 50, 100, 500, 1000, 10_000, 100_000)
ANGLES = 100  # the full mass matrix of longer chains is not tried


def chain(bench):
    rows, notes, found = [], [], []
    for count in (count for count in COUNTS if count <= bench.longest):
        angles, rates = p.chain_state(count)
        bends = (p.chain_accelerations if count <= 1000 else p.chain_by_tensions)(angles, rates)
        ours = [bench.ours.accelerations("positions", bench.text(f"chain-places-{count}", lambda: p.chain_in_places(count)), count > 1000)]
        if count <= ANGLES:
            ours.append(bench.ours.accelerations("angles", bench.text(f"chain-angles-{count}", lambda: p.chain_in_angles(count))))
        theirs, empty = [], {}
        for peer, offered in ((casadi, casadi and casadi.entries(count, bench.folder)), (pinocchio, pinocchio and pinocchio.entries(count))):
            for entry in offered or ():
                if isinstance(entry, str):
                    notes.append(f"N = {count}, {peer.NAME}, {entry}.")
                else:
                    theirs.append(entry)
                    if not entry.bare and peer.NAME not in empty:
                        empty[peer.NAME] = casadi.overhead(count) if peer is casadi else pinocchio.overhead()

        def judge(entry, result):
            right = p.bends_in_places(angles, rates, bends) if entry.setting == "positions" else bends
            return {"error": float(np.max(np.abs(np.asarray(result) - right[:len(result)])) / np.max(np.abs(right[:len(result)])))}
        ours, theirs = bench.attempt(ours, judge), bench.attempt(theirs, judge)
        own = contest.fastest(ours, {})
        chosen = [own.entry] if own and own.seconds < float("inf") else []
        bares = [t.entry.bare for t in theirs if t.entry.bare]
        times = contest.turns([*chosen, *(t.entry for t in theirs), *bares, *empty.values()], rounds=bench.rounds)
        if not chosen:
            notes.append(f"N = {count}: ours failed: {ours[0].failure}.")
        else:
            mine = statistics.median(times[own.entry])
            rows.append([count, by_us.NAME, own.entry.setting, table.duration(own.entry.ready()), table.duration(mine), "–",
                         table.duration(mine / count), "–", "–", table.errors(own)])
        for tried in theirs:
            taken = times[tried.entry]
            if tried.entry.bare:
                bare = times[tried.entry.bare]
            else:
                bare = [max(t - c, 1e-10) for t, c in zip(taken, times[empty[tried.entry.program]])]
            duel = contest.Duel(f"N = {count}", f"{tried.entry.program}, {tried.entry.setting}", tried, own if chosen else None,
                                times=list(zip(times[own.entry], taken)) if chosen else [])
            net = contest.Duel(f"N = {count}", f"{duel.program}, without Python's call", tried, duel.ours,
                               times=list(zip(times[own.entry], bare)) if chosen else [])
            found += [duel, net]
            rows.append([count, tried.entry.program, tried.entry.setting, table.duration(tried.entry.ready()),
                         table.duration(statistics.median(taken)), table.duration(statistics.median(bare)),
                         table.duration(statistics.median(bare) / count), table.ratio(duel), table.ratio(net), table.errors(tried)])
    bench.found.append(("P5", found))
    notes = "\n".join(f"- {note}" for note in notes)
    compiler = casadi and casadi.COMPILER
    header = ["N", "program", "setting", "ready", "call", "without Python's call", "per link", "ours / theirs", "without Python's call", "error"]
    return f"""## P5: accelerations of a hanging chain of N links

Unit masses on unit rods in the plane: one evaluation of all accelerations, one state, one thread. Ours are called from Rust, the others from Python;
times are given with that call and without it. Generated C is then called from C; of the others, what an empty function of CasADi takes is subtracted,
or what a model of Pinocchio without joints does.
*Ready* is from the model to the first call. {"" if compiler else "There is no gcc here, so that CasADi's C is missing. "}The error is the largest, relative to the largest acceleration,
against the full mass matrix for N up to 1000, and by the tensions of the rods beyond that, where only the first 1000 numbers are looked at.

{table.table(header, rows)}
{notes}
"""


def tetrahedra(bench):
    rows, found, notes = [], [], []
    for threads in (1, 2)[:len(PROCESSORS)]:
        os.sched_setaffinity(0, PROCESSORS[-threads:])
        with contextlib.ExitStack() as open_:
            stopwatch = open_.enter_context(contextlib.closing(bench.stopwatch()))
            children = [open_.enter_context(contextlib.closing(child.Child(peer, threads, PROCESSORS))) for peer in BODIES]
            for cells in p.BEAMS:
                beam = p.beam(cells)
                count = len(beam.nodes)
                target = f"{count:_} tetrahedra, {threads} thread{'s' * (threads > 1)}".replace("_", " ")
                ours = stopwatch.forces(cells, beam, (p.BEAM_LAMBDA, p.BEAM_MU), bench.folder, threads)
                _, exact = ours.sample(0)
                # Two ways that share nothing must agree: by hand, and by derivation.
                judge = lambda entry, forces: {"difference": float(np.max(np.abs(forces - exact)) / np.max(np.abs(exact)))}
                entries = []
                for one in children:
                    try:
                        entries += one.entries("beam", cells, bench.folder, lambda path: np.fromfile(path, "<f8").reshape(-1, 3))
                    except RuntimeError as failure:
                        notes.append(f"{target}, {failure}.")
                own, theirs = bench.attempt([ours], judge), bench.attempt(entries, judge)
                duels = contest.pair(target, {"difference": 1e-10}, theirs, own)
                contest.settle(duels, rounds=bench.rounds, budget=0.02, limit=20.0)
                found += duels
                each = lambda seconds: table.duration(seconds / count)
                mine = next((contest.typical(duel.times, 0) for duel in duels if duel.times), own[0].seconds)
                rows.append([target, by_us.NAME, ours.setting, table.duration(ours.ready()), table.duration(mine), each(mine), "–", "–"])
                for duel in duels:
                    if duel.theirs:
                        taken = contest.typical(duel.times, 1)
                        rows.append([target, duel.program, duel.theirs.entry.setting, table.duration(duel.theirs.entry.ready()),
                                     table.duration(taken), each(taken), table.ratio(duel), table.errors(duel.theirs)])
                memory = ours.key["bytes"]
    os.sched_setaffinity(0, PROCESSORS[-1:])
    bench.found.append(("P6", found))
    notes = "\n".join(f"- {note}" for note in notes)
    header = ["size", "program", "setting", "ready", "call", "per tetrahedron", "ours / theirs", "difference"]
    return f"""## P6: forces on a beam of tetrahedra

St. Venant and Kirchhoff's material, in numbers of 8 bytes: all forces of one state, from where the nodes are. Each program runs in a process of its own; CPU time on one thread, time on the
wall on two. Ours is differentiated from the energy, and holds {memory:.0f} bytes for each tetrahedron. *Ready* is until the first forces, with what is compiled. The difference is the largest from
ours, relative to the largest force.

{table.table(header, rows)}
{notes}
"""


def training(bench):
    network = p.network((3, 256, 200))
    rows, found, notes = [], [], []
    for threads in (1, 2)[:len(PROCESSORS)]:
        os.sched_setaffinity(0, PROCESSORS[-threads:])
        with contextlib.ExitStack() as open_:
            stopwatch = open_.enter_context(contextlib.closing(bench.stopwatch()))
            children = [open_.enter_context(contextlib.closing(child.Child(peer, threads, PROCESSORS))) for peer in NETWORKS]
            target = f"{threads} thread{'s' * (threads > 1)}"
            ours = stopwatch.training(network, bench.text("chain-places-3", lambda: p.chain_in_places(3)), bench.folder, threads)
            _, exact = ours.sample(0)
            size = np.max(np.abs(exact))
            judge = lambda entry, slopes: {"difference": 0.0 if slopes is None else float(np.max(np.abs(slopes - exact)) / size)}
            entries = []
            for one in children:
                try:
                    entries += one.entries("network", (network.links, network.units, network.batch), bench.folder, lambda path: np.fromfile(path, "<f8"))
                except RuntimeError as failure:
                    notes.append(f"{target}, {failure}.")
            own, theirs = bench.attempt([ours], judge), bench.attempt([*entries, stopwatch.products(threads)], judge)
            duels = contest.pair(target, {"difference": 1e-4}, theirs, own)
            contest.settle(duels, rounds=bench.rounds, budget=0.3, limit=60.0)
            found += [duel for duel in duels if duel.theirs and duel.theirs.entry.ready]
            mine = next((contest.typical(duel.times, 0) for duel in duels if duel.times), own[0].seconds)
            rows.append([target, by_us.NAME, ours.setting, table.duration(ours.ready()), table.duration(mine), "–", "–"])
            for duel in duels:
                if duel.theirs:
                    ready, alike = "–", "–"
                    if duel.theirs.entry.ready:
                        ready, alike = table.duration(duel.theirs.entry.ready()), table.errors(duel.theirs)
                    rows.append([target, duel.program, duel.theirs.entry.setting, ready, table.duration(contest.typical(duel.times, 1)), table.ratio(duel), alike])
    os.sched_setaffinity(0, PROCESSORS[-1:])
    bench.found.append(("P8", found))
    notes = "\n".join(f"- {note}" for note in notes)
    header = ["threads", "program", "setting", "ready", "a step", "ours / theirs", "difference"]
    return f"""## P8: an optimizer step of a network

A constrained Hamiltonian network of a chain of three links, three layers of {network.units} units, in numbers of 4 bytes: {network.batch} chunks of {network.SAMPLES - 1} steps by the 3/8 rule, slopes
of the loss by all weights, and AdamW. Each program runs in a process of its own; CPU time on one thread, time on the wall on two. *Ready* is until the first slopes, with what is compiled. The
difference is the largest of the slopes from ours before the first step, relative to the largest slope. *The products alone* are the products of matrices of such a step, by the library that ours uses,
and nothing else: a bound for ours.

{table.table(header, rows)}
{notes}
"""


def scaling(bench):
    """Writes a table and a picture too."""
    method, value = bench.winner or ("taylor", 1e-10)
    starts, ask = p.many_starts(), dict(model=p.PENDULUM, method=method, pace="tolerance", value=value)
    rows = []
    os.sched_setaffinity(0, PROCESSORS)
    counts = sorted({1, 2, len(PROCESSORS) // 2, len(PROCESSORS)} - {0})

    def measure(name, end, threads, lanes, count, repeats):
        # A process of its own for each: the most memory that was held is never forgotten.
        with contextlib.closing(bench.stopwatch()) as stopwatch:
            told = [stopwatch.crowd(end=end, starts=starts, folder=bench.folder, threads=threads, lanes=lanes, count=count, **ask)
                    for _ in range(repeats)]
        rows.append([name, lanes, threads, count, min(one["wall"][0] for one in told), told[-1]["peak"] or 0])
    for lanes in (1, 8):
        for threads in (count for count in counts if count <= len(PROCESSORS)):
            measure("throughput", p.PENDULUM_END, threads, lanes, len(starts), 3)
    for count in CROWDS:
        # A tenth of the time, as only the number counts.
        measure("memory", p.PENDULUM_END / 10, len(PROCESSORS), 8, count, 1)
    os.sched_setaffinity(0, PROCESSORS[-1:])
    lines = ["measure,lanes,threads,trajectories,seconds,peak_bytes"] + [",".join(map(str, row)) for row in rows]
    table.write(RESULTS / "scaling.csv", "\n".join(lines) + "\n")
    subprocess.run([bench.examples / "scaling", RESULTS / "scaling.csv", RESULTS / "scaling.svg"], check=True)
    shown = [[row[1], row[2], f"{row[3]:,}".replace(",", " "), table.digits(row[3] / row[4]), table.digits(row[5] / 1e6)] for row in rows]
    return f"""## How ensembles scale

Double pendulums as in P2 by `{method}` with tolerance {value:g}, by the time on the wall, and the most memory that the process held. The last {len(CROWDS)} rows
run for a tenth of the time.

{table.table(["lanes", "threads", "trajectories", "trajectories/s", "memory, MB"], shown)}
![Trajectories a second against threads, and memory against trajectories](scaling.svg)
"""


RESULTS = p.HERE.parent
CROWDS = (10_000, 100_000, 1_000_000)
PROBLEMS = {"p1": pendulum, "p2": many, "p3": solar, "p4": kepler, "p5": chain, "p6": tetrahedra, "p8": training, "scaling": scaling}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        named = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return f"{named[0] if named else platform.machine()}, {len(PROCESSORS)} processors"


def compiler():
    try:
        return subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def noise(found):
    """How far the quartiles of ratios are apart, relative to their median."""
    spreads = [(duel.spread[1] - duel.spread[0]) / duel.ratio for _, duels in found for duel in duels if duel.spread]
    return f"{100 * statistics.median(spreads):.0f} % in the median, {100 * max(spreads):.0f} % at most" if spreads else "not measured"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", help="the folder of our compiled examples")
    parser.add_argument("--only", default=",".join(PROBLEMS), help="problems, with commas between: " + ",".join(PROBLEMS))
    parser.add_argument("--rounds", type=int, default=20, help="how often those chosen take turns")
    parser.add_argument("--longest", type=int, default=COUNTS[-1], help="links of the longest chain")
    parser.add_argument("--out", help="the file that is written")
    arguments = parser.parse_args()
    only = [name.strip().lower() for name in arguments.only.split(",") if name.strip()]
    unknown = [name for name in only if name not in PROBLEMS]
    if unknown or not only or arguments.rounds < 2:
        parser.error(f"unknown: {', '.join(unknown)}" if unknown else "nothing to do: name problems, and two rounds at least")
    if not heyoka:
        parser.error("heyoka is needed for the references")
    bench, before, begun = Bench(arguments), os.getloadavg(), datetime.datetime.now(datetime.timezone.utc)
    blocks, failed = [], False
    for name in only:
        print(name, file=sys.stderr)
        try:
            blocks.append(PROBLEMS[name](bench))
        except (ArithmeticError, OSError, RuntimeError, ValueError, subprocess.SubprocessError) as failure:
            # The others are worth their minutes all the same.
            traceback.print_exc()
            blocks.append(f"## {name.capitalize()}\n\nThis could not be measured: {str(failure).splitlines()[0]}\n")
            failed = True
        print(f"{name}: {(datetime.datetime.now(datetime.timezone.utc) - begun).total_seconds():.0f} s so far", file=sys.stderr)
    after, gcc = os.getloadavg(), compiler()
    took = datetime.datetime.now(datetime.timezone.utc) - begun
    versions = ", ".join(dict.fromkeys(peer.NAME for peer in PEERS))
    tried = "\n".join(f"- {peer.NAME}: {peer.TRIED}" for peer in PEERS)
    page = f"""# How it compares

`make bench-peers` writes this page. Ours and theirs run the same problems in one process each, on one processor, in turn. Of each program all settings listed are
tried. Of those whose errors are within what is asked, the {contest.MOST} fastest at most, if their times are within {contest.NEAR} times the shortest, run in up to {contest.CHOOSING} rounds of turns,
and the one with the shortest time in any of them is taken; those taken then run in {bench.rounds} rounds of turns with each other. Times are CPU times: the median over
rounds of the best run in each. A ratio is the median over rounds of ours by theirs, with its quartiles; more than 1, in bold, is where we are slower.

- {begun:%d %B %Y, %H:%M} UTC, {took.total_seconds() / 60:.0f} minutes; {machine()}
- load average {before[0]:.1f} before and {after[0]:.1f} after; quartiles of a ratio are apart by {noise(bench.found)}
- {versions}, Python {platform.python_version()}, {f"gcc {gcc}" if gcc else "no gcc"}

Settings tried besides ours:

{tried}

Where ours is slower, or does not get there:

{table.summary(bench.found)}
""" + "\n".join(blocks)
    out = arguments.out or (RESULTS / "RESULTS.md" if set(only) == set(PROBLEMS) else None)
    if out:
        table.write(out, page)
        print(f"wrote {out}", file=sys.stderr)
    else:
        print(page)
    return failed


if __name__ == "__main__":
    sys.exit(main())
