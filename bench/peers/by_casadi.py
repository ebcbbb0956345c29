"""CasADi: accelerations of the chain from its Lagrangian, by the virtual machine and as C that gcc compiles."""
import json
import shutil
import subprocess
import time

import casadi as ca
import numpy as np

import problems as p
from contest import Entry, calls

NAME = f"CasADi {ca.__version__}"
TRIED = "an LDLᵀ factorisation written out in symbols, called through a buffer so that no argument is converted"
COUNTS = (2, 5, 10, 50)
COMPILER = shutil.which("gcc")
PATIENCE = 300  # seconds that gcc may take


def derive(count):
    """M q̈ = ∂L/∂q − (∂²L/∂q̇∂q) q̇."""
    q, w = ca.SX.sym("q", count), ca.SX.sym("w", count)
    vx = vy = y = lagrangian = 0
    for i in range(count):
        vx = vx + ca.cos(q[i]) * w[i]
        vy = vy + ca.sin(q[i]) * w[i]
        y = y - ca.cos(q[i])
        lagrangian = lagrangian + 0.5 * (vx * vx + vy * vy) - p.G * y
    momenta = ca.gradient(lagrangian, w)
    right = ca.gradient(lagrangian, q) - ca.jtimes(momenta, q, w)
    diagonal, lower, order = ca.ldl(ca.jacobian(momenta, w))
    return ca.Function("f", [q, w], [ca.ldl_solve(right, diagonal, lower, order)], {"cse": True})


def empty(count):
    """Takes the same, and computes nothing: what a call from Python costs."""
    return ca.Function("f", [ca.SX.sym("q", count), ca.SX.sym("w", count)], [ca.SX(count, 1)])


def compile_c(function, count, folder):
    """The compiled function and the seconds that took; kept in a folder, as gcc needs minutes for long chains."""
    level = "-O3" if function.n_instructions() < 60000 else "-O1"
    stem = f"casadi-{ca.__version__}-{count}"
    library, took = folder / f"{stem}.so", folder / f"{stem}.json"
    if not (library.exists() and took.exists()):
        # CasADi writes to the working directory only, whatever path it is given.
        generator = ca.CodeGenerator(f"{stem}.c")
        generator.add(function)
        before = time.perf_counter()
        generator.generate(f"{folder}/")
        subprocess.run([COMPILER, level, "-march=native", "-shared", "-fPIC", "-o", library, folder / f"{stem}.c", "-lm"],
                       check=True, timeout=PATIENCE)
        took.write_text(json.dumps(time.perf_counter() - before))
    return ca.external("f", str(library)), json.loads(took.read_text())


def entry(function, count, setting, ready=None):
    angles, rates = p.chain_state(count)
    result = np.zeros(count)
    buffer, call = function.buffer()
    buffer.set_arg(0, memoryview(angles))
    buffer.set_arg(1, memoryview(rates))
    if function.nnz_out(0):
        buffer.set_res(0, memoryview(result))
    sampler = calls(call)

    def sample(budget, keep=(angles, rates, buffer)):  # the buffer does not keep what it points to
        return sampler(budget)[0], result
    return Entry(NAME, setting, sample, ready=(lambda: ready) if ready is not None else None)


def entries(count, folder):
    """Yields entries, and notes where there is none."""
    if count not in COUNTS:
        return
    before = time.perf_counter()
    function = derive(count)
    derived = time.perf_counter() - before
    yield entry(function, count, "virtual machine", derived)
    if not COMPILER:
        yield "generated C: there is no gcc here"
        return
    try:
        compiled, took = compile_c(function, count, folder)
    except subprocess.TimeoutExpired:
        yield f"generated C: gcc took more than {PATIENCE} s"
        return
    yield entry(compiled, count, "generated C", derived + took)


def overhead(count):
    return entry(empty(count), count, "empty")
