"""Times the double pendulum from its model to its end state, beside other programs, and prints a Markdown table.

m = l = 1, g = 9.81, from rest with both angles at pi/2, for 10 s. Of each program's settings the fastest is taken whose end
state is within 1e-9 of a reference in 80-bit arithmetic. Rounds alternate between programs, on one thread.
`compare.py STOPWATCH` (see `make compare`), where STOPWATCH is the path of the compiled example of that name.
"""
import inspect, json, math, pathlib, platform, statistics, subprocess, sys, time
import heyoka as hy
import numpy as np
import scipy
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

STOPWATCH, MODEL = sys.argv[1], pathlib.Path(__file__).with_name("double-pendulum.motion")
ROUNDS, REPEATS, ERROR = 7, 15, 1e-9
END, START = 10.0, [math.pi / 2, math.pi / 2, 0.0, 0.0]
TOLERANCES = [float(f"{d}e-{k}") for k in range(8, 16) for d in (1, 3)]
hy.llvm_state.set_diskcache_enabled(False)


# Models, as a person writes them: their lines are counted.
def by_hand(t, y):
    a, b, u, v = y.tolist()
    s, c = math.sin(a - b), math.cos(a - b)
    p = -v * v * s - 2 * 9.81 * math.sin(a)
    q = u * u * s - 9.81 * math.sin(b)
    d = 1 + s * s
    return [u, v, (p - c * q) / d, (2 * q - c * p) / d]


def sympy_model():
    a, b = dynamicsymbols("a b")
    t, g = dynamicsymbols._t, 9.81
    elbow = sp.Matrix([sp.sin(a), -sp.cos(a)])
    hand = elbow + sp.Matrix([sp.sin(b), -sp.cos(b)])
    kinetic = (elbow.diff(t).dot(elbow.diff(t)) + hand.diff(t).dot(hand.diff(t))) / 2
    method = LagrangesMethod(kinetic - g * (elbow[1] + hand[1]), [a, b])
    method.form_lagranges_equations()
    field = sp.lambdify([[a, b, a.diff(t), b.diff(t)]], list(method.rhs()), modules="math", cse=True)
    return lambda t, y: field(y.tolist())


def heyoka_model(g=9.81):
    a, b, u, v = hy.make_vars("a", "b", "u", "v")
    kinetic = u * u + v * v * 0.5 + u * v * hy.cos(a - b)
    potential = -g * (hy.cos(a) + hy.cos(a) + hy.cos(b))
    return hy.lagrangian(kinetic - potential, [a, b], [u, v])


def heyoka_by_hand():
    a, b, u, v = hy.make_vars("a", "b", "u", "v")
    s, c = hy.sin(a - b), hy.cos(a - b)
    p = -v * v * s - 2 * 9.81 * hy.sin(a)
    q = u * u * s - 9.81 * hy.sin(b)
    d = 1.0 + s * s
    return [(a, u), (b, v), (u, (p - c * q) / d), (v, (2.0 * q - c * p) / d)]


# Programs: a setting to a function that runs once and gives the end state.
def scipy_run(field, method, tol):
    return lambda: solve_ivp(field, (0, END), START, method=method, rtol=max(tol, 2.3e-14), atol=tol).y[:, -1]


def heyoka_run(model, tol):
    hy.llvm_state.clear_memcache()
    taylor = hy.taylor_adaptive(model(), START, tol=tol)

    def run():
        taylor.time, taylor.state[:] = 0.0, START
        taylor.propagate_until(END, max_steps=5000)
        return taylor.state.copy()
    return run


def timed(call):
    before = time.perf_counter()
    value = call()
    return time.perf_counter() - before, value


def here(make):
    """A program of this process: seconds until it is ready, seconds of runs, the end state."""
    def trial(method, tol, repeats):
        ready, run = timed(lambda: make(method, tol))
        runs = [timed(run) for _ in range(repeats)]
        return ready, [t for t, _ in runs], runs[-1][1]
    return trial


def ours(method, tol, repeats):
    told = subprocess.run([STOPWATCH, MODEL, method, str(tol), str(repeats)], capture_output=True, text=True, check=True)
    told = json.loads(told.stdout)
    return told["ready"], told["runs"], np.array(told["state"])


def lines(function, skip=1):
    text = inspect.getsource(function) if callable(function) else function.read_text()
    return sum(bool(line.strip()) and not line.startswith("#") for line in text.splitlines()) - skip


PROGRAMS = [  # name, what is written, its lines, methods, trial
    ("leastaction", "positions", lines(MODEL, 0), ["taylor", "vern9", "dop853"], ours),
    (f"heyoka {hy.__version__}", "energies", lines(heyoka_model), ["taylor"], here(lambda m, tol: heyoka_run(heyoka_model, tol))),
    (f"heyoka {hy.__version__}", "equations, derived by hand", lines(heyoka_by_hand), ["taylor"],
     here(lambda m, tol: heyoka_run(heyoka_by_hand, tol))),
    (f"SymPy {sp.__version__} with SciPy {scipy.__version__}", "positions", lines(sympy_model), ["DOP853", "LSODA"],
     here(lambda m, tol: scipy_run(sympy_model(), m, tol))),
    (f"SciPy {scipy.__version__}", "equations, derived by hand", lines(by_hand), ["DOP853", "LSODA"],
     here(lambda m, tol: scipy_run(by_hand, m, tol))),
]


def reference():
    wide = np.longdouble
    taylor = hy.taylor_adaptive(heyoka_model(wide(9.81)), [wide(x) for x in START], tol=wide(1e-19), fp_type=wide)
    taylor.propagate_until(wide(END))
    return taylor.state.astype(float)


def main():
    exact = reference()
    error = lambda state: float(np.max(np.abs(state - exact)))
    chosen = []
    for name, _, _, methods, trial in PROGRAMS:
        fits = []
        for method, tol in ((method, tol) for method in methods for tol in TOLERANCES):
            _, runs, state = trial(method, tol, 5)
            if error(state) <= ERROR:
                fits.append((min(runs), method, tol))
        chosen.append(min(fits)[1:])
    ready, runs, ends = ([[] for _ in PROGRAMS] for _ in range(3))
    for _ in range(ROUNDS):
        for i, (_, _, _, _, trial) in enumerate(PROGRAMS):
            first, times, ends[i] = trial(*chosen[i], REPEATS)
            ready[i].append(first)
            runs[i] += times
    ms = lambda seconds: f"{1e3 * seconds:.2g}" if seconds < 0.1 else f"{1e3 * seconds:.0f}"
    print("| | written | lines | method, tolerance | ready, ms | run, ms: best, median | error |\n|---|---|---|---|---|---|---|")
    for i, (name, written, count, _, _) in enumerate(PROGRAMS):
        wait = ms(statistics.median(ready[i])) if ready[i][0] > 1e-5 else "–"
        row = [name, written, count, f"`{chosen[i][0]}`, {chosen[i][1]:.0e}", wait,
               f"{ms(min(runs[i]))}, {ms(statistics.median(runs[i]))}", f"{error(ends[i]):.0e}"]
        print("| " + " | ".join(map(str, row)) + " |")
    print(f"\n{ROUNDS} rounds of {REPEATS} runs, Python {platform.python_version()}, {platform.machine()}.")


main()
