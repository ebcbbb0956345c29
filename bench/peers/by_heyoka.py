"""heyoka: Taylor's method, compiled by LLVM. Also the references, in wider arithmetic.

Of the tolerance nothing but the order follows, the least p ≥ 1 - ln(tolerance)/2: one tolerance for each order is all there is to try.
A step taken from the last two orders alone is far too long where a motion's high symmetry makes both vanish: P1 starts at such a point
if the order is a multiple of 4. Such settings simply miss their errors.
"""
import time

import heyoka as hy
import numpy as np

import problems as p
from contest import Entry

NAME = f"heyoka {hy.__version__}"
TRIED = "one tolerance for each order, as nothing but the order follows from it; scalar and batches of 4 and 8, plain, with `slp_vectorize`, with `force_avx512`, with `high_accuracy`"
if hasattr(hy.llvm_state, "set_diskcache_enabled"):
    hy.llvm_state.set_diskcache_enabled(False)

# Options of the compiler, each tried: sums of products can be packed, vectors made wider.
OPTIONS = ({}, {"slp_vectorize": True}, {"force_avx512": True})


# The tolerances of orders 9 to 20.
TOLERANCES = (3e-7, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 3e-14, 1e-14, 1e-15, 2.3e-16)


def named(tolerance, options):
    return ", ".join([f"tolerance {tolerance:g}", *(f"`{name}`" for name in options)])


# Models, as a person writes them: their lines are counted.
def by_energies(g=9.81):
    a, b, u, v = hy.make_vars("a", "b", "u", "v")
    kinetic = u * u + v * v * 0.5 + u * v * hy.cos(a - b)
    potential = -g * (hy.cos(a) + hy.cos(a) + hy.cos(b))
    return hy.lagrangian(kinetic - potential, [a, b], [u, v])


def by_hand(g=9.81, one=1.0):
    a, b, u, v = hy.make_vars("a", "b", "u", "v")
    s, c = hy.sin(a - b), hy.cos(a - b)
    p = -v * v * s - 2 * one * g * hy.sin(a)
    q = u * u * s - g * hy.sin(b)
    d = one + s * s
    return [(a, u), (b, v), (u, (p - c * q) / d), (v, (2 * one * q - c * p) / d)]


def kepler():
    x, y, u, v = hy.make_vars("x", "y", "u", "v")
    cube = (x * x + y * y) ** -1.5
    return [(x, u), (y, v), (u, -x * cube), (v, -y * cube)]


def bodies(cast=float):
    """heyoka's own, whose states go body by body: places, speeds."""
    return hy.model.nbody(6, masses=[cast(m) for m in p.SOLAR_MASSES], Gconst=cast(p.SOLAR_G))


def body_by_body(state):
    return np.hstack([state[:18].reshape(6, 3), state[18:].reshape(6, 3)]).ravel()


def places_first(state):
    state = np.asarray(state).reshape(6, 6)
    return np.concatenate([state[:, :3].ravel(), state[:, 3:].ravel()])


def fresh(model, start, tolerance, options):
    hy.llvm_state.clear_memcache()
    return hy.taylor_adaptive(model(), start, tol=tolerance, **options)


def entry(program, model, start, end, tolerance, options={}, read_out=np.array, steps=1_000_000):
    """A run of so many steps at most. What is timed sets the start, and goes to the end."""
    compiled = []  # filled by the first run

    def run(taylor, start=start):
        taylor.time, taylor.state[:] = 0.0, start
        taylor.propagate_until(end, max_steps=steps)

    def sample(budget):
        if not compiled:
            compiled.append(fresh(model, start, tolerance, options))
        seconds, begun = [], time.thread_time()
        while not seconds or time.thread_time() - begun < budget:
            before = time.thread_time()
            run(compiled[0])
            seconds.append(time.thread_time() - before)
        return seconds, read_out(compiled[0].state)

    def ready():
        before = time.process_time()
        run(fresh(model, start, tolerance, options))
        return time.process_time() - before
    found = Entry(program, named(tolerance, options), sample, ready)
    found.again = lambda start: (run(compiled[0], start), read_out(compiled[0].state))[1]
    return found


def pendulum_entries():
    for name, model in (("equations by hand", by_hand), ("energies", by_energies)):
        for options in OPTIONS[:2] if model is by_hand else OPTIONS[:1]:
            for tolerance in TOLERANCES:
                yield entry(f"{NAME}, {name}", model, p.PENDULUM_START, p.PENDULUM_END, tolerance, options, steps=5000)


def solar_entries():
    # It takes seconds to compile each.
    for options in (*OPTIONS, {"high_accuracy": True}):
        for tolerance in (1e-15, 2.3e-16) if options else (1e-14, 1e-15, 2.3e-16):
            yield entry(NAME, bodies, body_by_body(p.SOLAR_START), p.SOLAR_END, tolerance, options, places_first)


def kepler_entries():
    for options in (*OPTIONS[:2], {"high_accuracy": True}):
        for tolerance in TOLERANCES[5:]:
            found = entry(NAME, kepler, p.KEPLER_START, p.KEPLER_END, tolerance, options)
            found.later = lambda found=found: [p.turned(found.again(p.turned(p.KEPLER_START, turn)), -turn) for turn in p.KEPLER_TURNS]
            yield found


def batch(width, tolerance, options, starts, threads=1):
    """Many pendulums, a batch at a time: the loop is Python's, the GIL is free while heyoka runs. Wall time if there are threads."""
    import copy
    from concurrent.futures import ThreadPoolExecutor
    compiled, clock = [], time.thread_time if threads == 1 else time.perf_counter
    pool = ThreadPoolExecutor(threads) if threads > 1 else None
    ends = np.empty_like(starts)

    def part(k):
        taylor = compiled[k]
        for i in range(k * width, len(starts), threads * width):
            taylor.set_time(0.0)
            taylor.state[:] = starts[i:i + width].T
            taylor.propagate_until(p.PENDULUM_END)
            ends[i:i + width] = taylor.state.T

    def sample(budget):
        if not compiled:
            first = hy.taylor_adaptive_batch(by_hand(), np.zeros((4, width)), tol=tolerance, **options)
            compiled.extend([first] + [copy.deepcopy(first) for _ in range(threads - 1)])
        seconds, begun = [], clock()
        while not seconds or clock() - begun < budget:
            before = clock()
            if pool:
                list(pool.map(part, range(threads)))
            else:
                part(0)
            seconds.append(clock() - before)
        return seconds, ends.copy()
    return Entry(NAME, f"batch of {width}, {named(tolerance, options)}", sample)


def batch_entries(starts, threads=1):
    for width, options in ((4, {}), (8, {}), (8, {"force_avx512": True})):
        for tolerance in TOLERANCES[1:4]:
            yield batch(width, tolerance, options, starts, threads)


# References. Data are the doubles that all programs have, so that their rounding is no error.
def wide_pendulum(cast, kind, tolerance):
    model = by_hand(cast(p.G), cast(1.0))
    return hy.taylor_adaptive(model, [cast(x) for x in p.PENDULUM_START], tol=cast(tolerance), fp_type=kind)


def pendulum_reference():
    """In 113-bit arithmetic, and by how much 80-bit arithmetic differs."""
    ends = []
    for cast, kind, tolerance in ((hy.real128, hy.real128, 1e-30), (np.longdouble, np.longdouble, 1e-19)):
        taylor = wide_pendulum(cast, kind, tolerance)
        taylor.propagate_until(cast(p.PENDULUM_END))
        ends.append(np.array([float(x) for x in taylor.state]))
    return ends[0], p.distance(ends[0], ends[1])


def many_reference(starts):
    """In 80-bit arithmetic."""
    wide = np.longdouble
    taylor, ends = wide_pendulum(wide, wide, 1e-19), np.empty_like(starts)
    for i, start in enumerate(starts):
        taylor.time, taylor.state[:] = wide(0), start
        taylor.propagate_until(wide(p.PENDULUM_END))
        ends[i] = taylor.state.astype(float)
    return ends


def solar_reference():
    """In 80-bit arithmetic."""
    wide = np.longdouble
    start = [wide(x) for x in body_by_body(p.SOLAR_START)]
    taylor = hy.taylor_adaptive(bodies(wide), start, tol=wide(1e-19), fp_type=wide)
    taylor.propagate_until(wide(p.SOLAR_END))
    return places_first(taylor.state.astype(float))
