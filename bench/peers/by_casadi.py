"""CasADi: accelerations of the chain from its Lagrangian, by the virtual machine and as C that gcc compiles."""
import ctypes
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


# Calls a function many times, without Python: through a pointer, so that gcc cannot look into it.
REPEAT = """
typedef int function(const double **, double **, long long *, double *, int);
void repeat(function *f, const double **arg, double **res, long long *iw, double *w, long count) {
    while (count-- > 0) f(arg, res, iw, w, 0);
}
"""


def called_from_c(function, library, count, folder):
    """The compiled function, in a loop of C."""
    source, loop = folder / "repeat.c", folder / "repeat.so"
    source.write_text(REPEAT)
    subprocess.run([COMPILER, "-O2", "-shared", "-fPIC", "-o", loop, source], check=True)
    repeat, pointer = ctypes.CDLL(str(loop)).repeat, ctypes.cast(ctypes.CDLL(str(library)).f, ctypes.c_void_p)
    double = ctypes.POINTER(ctypes.c_double)
    arrays = [np.ascontiguousarray(a) for a in (*p.chain_state(count), np.zeros(count))]
    angles, rates, result = (a.ctypes.data_as(double) for a in arrays)
    arg = (double * function.sz_arg())(angles, rates)
    res = (double * function.sz_res())(result)
    whole = (ctypes.c_longlong * max(1, function.sz_iw()))()
    work = (ctypes.c_double * max(1, function.sz_w()))()
    times = 1000 if count <= 10 else 20
    sampler = calls(lambda: repeat(pointer, arg, res, whole, work, ctypes.c_long(times)))

    def sample(budget):
        return [seconds / times for seconds in sampler(budget)[0]], arrays[2]
    return Entry(NAME, "generated C, called from C", sample)


def compile_c(function, count, folder):
    """The compiled function and the seconds that took; kept in a folder, as gcc needs minutes for long chains."""
    level = "-O3" if function.n_instructions() < 60000 else "-O1"
    folder = folder / f"casadi-{ca.__version__}"
    folder.mkdir(exist_ok=True)
    stem = f"chain_{count}"  # CasADi takes identifiers only
    library, took = folder / f"{stem}.so", folder / f"{stem}.json"
    if not (library.exists() and took.exists()):
        generator = ca.CodeGenerator(f"{stem}.c")
        generator.add(function)
        before = time.perf_counter()
        generator.generate(f"{folder}/")
        subprocess.run([COMPILER, level, "-march=native", "-shared", "-fPIC", "-o", library, folder / f"{stem}.c", "-lm"],
                       check=True, timeout=PATIENCE)
        took.write_text(json.dumps(time.perf_counter() - before))
    return ca.external("f", str(library)), library, json.loads(took.read_text())


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
        compiled, library, took = compile_c(function, count, folder)
    except subprocess.TimeoutExpired:
        yield f"generated C: gcc took more than {PATIENCE} s"
        return
    found = entry(compiled, count, "generated C", derived + took)
    found.bare = called_from_c(compiled, library, count, folder)
    yield found


def overhead(count):
    return entry(empty(count), count, "empty")
