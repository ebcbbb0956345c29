"""The numbers of crates/simulate/tests/answers, computed again without leastaction: in 40 digits, by mpmath, from what each file says.

    tools/answers.py FILE …            compares the numbers in the files with those it computes
    tools/answers.py --update FILE …   writes them

A file says in its comments how its numbers are found:

    #: python  x, v = ode(lambda t, x, v: [v, -x**3], [1, 0], 10)
    #: answer  x = 0.123 <- x

Lines of `python` are run in their order, with all of mpmath and what is defined here. An answer without `<-` is a published number and is left as it is.
"""

import re
import sys

import mpmath
import sympy
from mpmath import mp, mpf

mp.dps = 40
DIGITS = 20
PARTS = [2 * (j + 1) for j in range(13)]


def ode(rates, start, until, since=0, tolerance=mpf(10) ** -30):
    """The end of y' = rates(t, *y), by extrapolation of the midpoint rule (Gragg, Bulirsch and Stoer) with 13 columns."""
    t, until = mpf(since), mpf(until)
    y = [mpf(value) for value in start]
    h = (until - t) / 64 if until != t else mpf(0)
    direction = mpmath.sign(h)
    size = [abs(value) for value in y]
    while (until - t) * direction > 0:
        h = direction * min(abs(h), abs(until - t))
        try:
            end, error = _extrapolate(rates, t, y, h, size, tolerance)
        except ZeroDivisionError:
            h /= 4
            continue
        if error <= 1:
            t = until if abs(until - t - h) < abs(h) * mpf(10) ** -30 else t + h
            y = end
            size = [max(a, abs(b)) for a, b in zip(size, y)]
        h *= min(3, max(mpf("0.1"), mpf("0.7") * (error + mpf(10) ** -12) ** (-mpf(1) / 25)))
    return y


def _extrapolate(rates, t, y, h, size, tolerance):
    first = rates(t, *y)
    table = []
    for j, parts in enumerate(PARTS):
        step = h / parts
        before, now = y, [a + step * b for a, b in zip(y, first)]
        for i in range(1, parts):
            slope = rates(t + i * step, *now)
            before, now = now, [a + 2 * step * b for a, b in zip(before, slope)]
        row = [now]
        for k in range(j):
            factor = 1 / ((mpf(parts) / PARTS[j - k - 1]) ** 2 - 1)
            row.append([a + (a - b) * factor for a, b in zip(row[k], table[j - 1][k])])
        table.append(row)
    last, other = table[-1][-1], table[-1][-2]
    unit = max(list(size) + [abs(value) for value in last] + [mpf(10) ** -30])
    return last, max(abs(a - b) for a, b in zip(last, other)) / (unit * tolerance)


def lagrange(names, lagrangian, start, until, force=(), hold=(), roll=(), damping="0"):
    """Coordinates and then velocities at the end of the motion of a Lagrangian, derived by SymPy. `dx` is the velocity of `x`, `ddx` does not occur.
    `force` is one for each coordinate, `damping` is Rayleigh's function, `hold` stays 0, and so does `roll`, which is linear in velocities."""
    names = names.split()
    q = [sympy.Symbol(name) for name in names]
    v = [sympy.Symbol("d" + name) for name in names]
    t = sympy.Symbol("t")
    known = {str(s): s for s in [*q, *v, t]}

    def read(text):
        return sympy.sympify(text, locals=known, rational=True)

    def total(value):
        return value.diff(t) + sum(value.diff(a) * b for a, b in zip(q, v))

    L, D = read(lagrangian), read(damping)
    forces = [read(f) for f in force] or [sympy.Integer(0)] * len(q)
    momenta = [L.diff(b) for b in v]
    mass = sympy.Matrix([[p.diff(b) for b in v] for p in momenta])
    right = [L.diff(a) + f - D.diff(b) - total(p) for a, b, p, f in zip(q, v, momenta, forces)]
    rows = [total(read(c)) for c in hold] + [read(c) for c in roll]
    G = [[row.diff(b) for b in v] for row in rows]
    curvature = [total(row) for row in rows]
    n, m = len(q), len(rows)
    evaluate = sympy.lambdify([t, *q, *v], [mass.tolist(), right, G, curvature], modules="mpmath", cse=True)

    def rates(time, *state):
        M, b, G, c = evaluate(time, *state)
        if n == 1 and m == 0:
            return [state[1], b[0] / M[0][0]]
        upper = [[*M[i], *[G[k][i] for k in range(m)], b[i]] for i in range(n)]
        lower = [[*G[k], *[mpf(0)] * m, -c[k]] for k in range(m)]
        return [*state[n:], *_solve(upper + lower)[:n]]

    return ode(rates, [mpf(value) for value in start], until)


def _solve(rows):
    """Gauss' elimination with pivots; the right side is the last column."""
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, size):
            if rows[k][i]:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    solved = [mpf(0)] * size
    for i in reversed(range(size)):
        rest = sum(rows[i][j] * solved[j] for j in range(i + 1, size))
        solved[i] = (rows[i][size] - rest) / rows[i][i]
    return solved


def hamilton(names, momenta, hamiltonian, start, until):
    """Coordinates and then momenta at the end of the motion of a Hamiltonian."""
    q, p = sympy.symbols(names.split()), sympy.symbols(momenta.split())
    t = sympy.Symbol("t")
    known = {str(s): s for s in [*q, *p, t]}
    H = sympy.sympify(hamiltonian, locals=known, rational=True)
    rates = sympy.lambdify([t, *q, *p], [H.diff(b) for b in p] + [-H.diff(a) for a in q], modules="mpmath", cse=True)
    return ode(rates, start, until)


ANSWER = re.compile(r"#: answer\s+(?P<name>\S+) = (?P<number>\S+)(?P<scale> of \S+)?( <- (?P<formula>.*))?$")
PYTHON = re.compile(r"#: python\s(?P<line>.*)$")


def rounded(value):
    return mpmath.nstr(mpf(value), DIGITS, strip_zeros=True, min_fixed=-5, max_fixed=17)


def check(path, update):
    """The number of answers that differ from what is computed here."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    known = {name: getattr(mpmath, name) for name in dir(mpmath) if not name.startswith("_")}
    known.update(ode=ode, lagrange=lagrange, hamilton=hamilton, mp=mp, mpf=mpf)
    wrong = 0
    program = "\n".join(m["line"].removeprefix(" ") for m in map(PYTHON.match, lines) if m)
    exec(program, known)
    for i, line in enumerate(lines):
        found = ANSWER.match(line)
        if not found or not found["formula"]:
            continue
        value = mpf(eval(found["formula"], known))
        scale = mpf(found["scale"].removeprefix(" of ")) if found["scale"] else abs(value)
        if update:
            number = rounded(value)
            lines[i] = f"#: answer  {found['name']} = {number}{found['scale'] or ''} <- {found['formula']}"
        elif not abs(value - mpf(found["number"])) <= mpf(10) ** -17 * scale:
            print(f"{path}: {found['name']} is {rounded(value)}")
            wrong += 1
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
    return wrong


def main():
    update, paths = "--update" in sys.argv, [word for word in sys.argv[1:] if word != "--update"]
    wrong = 0
    for path in paths:
        try:
            wrong += check(path, update)
        except Exception as error:
            raise SystemExit(f"{path}: {type(error).__name__}: {error}")
    print(f"{len(paths)} files, {wrong} wrong numbers")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
