"""What Python adds: to a run, to compiled functions, to importing. Ratios and differences within this process, as a table."""

import json
import statistics
import subprocess
import sys
import time

import leastaction as la
import numpy as np


def best(work, rounds=15, turns=20):
    """The median over rounds of the mean time of a call, in seconds."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        for _ in range(turns):
            work()
        times.append((time.perf_counter() - begun) / turns)
    return statistics.median(times)


def row(what, value):
    print(f"| {what} | {value} |")


print("| | |\n|---|---|")

system = la.catalog.pendulum()
options = {"until": 1, "method": "rk4", "step": 0.01, "samples": 10}
inside = []
whole = best(lambda: inside.append(system.run(**options, check=False).work["wall_s"]))
row("a run of 100 steps, the same again", f"{1e6 * whole:.0f} µs, of which {1e6 * statistics.median(inside):.0f} µs are the run of Rust")
row("the same with its energies and constraints measured", f"{1e6 * best(lambda: system.run(**options)):.0f} µs")
starts = iter(np.linspace(0.1, 1, 10_000))
row("the same from another start each time", f"{1e6 * best(lambda: system.run(**options, start={'th': next(starts)}), turns=5):.0f} µs")

x, y = la.symbols("x y")
energy = np.sin(x) * np.cos(y) + x * y
f, a = la.compile(energy, [x, y]), np.random.default_rng(1).normal(size=(2, 10**6))
mine = best(lambda: f(a[0], a[1]), 7, 1)
numpy = best(lambda: np.sin(a[0]) * np.cos(a[1]) + a[0] * a[1], 7, 1)
row("sin(x) cos(y) + x y at a million points, against NumPy", f"{1e9 * mine / 1e6:.2f} ns a point, {mine / numpy:.2f} of its time")
row("at one point", f"{1e6 * best(lambda: f(0.5, 0.25), turns=200):.1f} µs")

states = np.random.default_rng(2).normal(size=(10**5, 4))
pendulum = la.catalog.double_pendulum()
row("rates of a double pendulum at 100 000 states", f"{1e9 * best(lambda: pendulum.rates(states), 7, 1) / 1e5:.0f} ns a state")

study = ["--count", "200000", "--sample", "th=uniform(-1,1)", "--until", "20", "--method", "dop853", "--tol", "1e-9", "--threads", "1", "--reduce", "stats(th)"]
alone = []
for _ in range(3):
    said = subprocess.run([sys.executable, "-m", "leastaction", "ensemble", "pendulum", *study, "--json"], capture_output=True, text=True, check=True).stdout
    alone.append(json.loads(said)["wall_s"])
options = {"count": 200_000, "sample": {"th": "uniform(-1,1)"}, "until": 20, "method": "dop853", "tol": 1e-9, "threads": 1, "reduce": "stats(th)", "progress": False}
mine = min(best(lambda: la.ensemble(system, **options), 1, 1) for _ in range(3))
row("an ensemble of 200 000, against the time that the command needs to run it", f"{mine:.2f} s, {min(alone) / mine:.3f} of its speed")

imports = []
for _ in range(7):
    script = "import numpy, time; t = time.perf_counter(); import leastaction; print(time.perf_counter() - t)"
    imports.append(float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout))
row("importing, after NumPy", f"{1e3 * statistics.median(imports):.0f} ms")
