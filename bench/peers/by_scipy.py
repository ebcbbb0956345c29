"""SciPy, with equations by hand and with those that SymPy derives."""
import math
import time

import scipy
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import problems as p
from contest import Entry

NAME = f"SciPy {scipy.__version__}"
DERIVED = f"SymPy {sp.__version__} with {NAME}"
TRIED = "`DOP853` and `LSODA`"


# Models, as a person writes them: their lines are counted.
def by_hand(t, y):
    a, b, u, v = y.tolist()
    s, c = math.sin(a - b), math.cos(a - b)
    p = -v * v * s - 2 * 9.81 * math.sin(a)
    q = u * u * s - 9.81 * math.sin(b)
    d = 1 + s * s
    return [u, v, (p - c * q) / d, (2 * q - c * p) / d]


def by_positions():
    a, b = dynamicsymbols("a b")
    t, g = dynamicsymbols._t, 9.81
    elbow = sp.Matrix([sp.sin(a), -sp.cos(a)])
    hand = elbow + sp.Matrix([sp.sin(b), -sp.cos(b)])
    kinetic = (elbow.diff(t).dot(elbow.diff(t)) + hand.diff(t).dot(hand.diff(t))) / 2
    method = LagrangesMethod(kinetic - g * (elbow[1] + hand[1]), [a, b])
    method.form_lagranges_equations()
    field = sp.lambdify([[a, b, a.diff(t), b.diff(t)]], list(method.rhs()), modules="math", cse=True)
    return lambda t, y: field(y.tolist())


def entry(program, make, method, tolerance):
    runners = []

    def run(field):
        relative = max(tolerance, 2.3e-14)
        return solve_ivp(field, (0, p.PENDULUM_END), p.PENDULUM_START, method=method, rtol=relative, atol=tolerance).y[:, -1]

    def sample(budget):
        if not runners:
            runners.append(make())
        seconds, begun = [], time.thread_time()
        while not seconds or time.thread_time() - begun < budget:
            before = time.thread_time()
            end = run(runners[0])
            seconds.append(time.thread_time() - before)
        return seconds, end

    def ready():
        before = time.thread_time()
        run(make())
        return time.thread_time() - before
    return Entry(program, f"`{method}`, tolerance {tolerance:g}", sample, ready)


def pendulum_entries():
    for program, make in ((f"{NAME}, equations by hand", lambda: by_hand), (f"{DERIVED}, positions", by_positions)):
        for method in ("DOP853", "LSODA"):
            for tolerance in p.tolerances(7, 14):
                yield entry(program, make, method, tolerance)
