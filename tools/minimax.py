#!/usr/bin/env python3
"""Prints the polynomial tables of crates/compile/src/math, with their errors.

Each table is the polynomial P that makes weight(v) * |target(v) - P(v)| smallest on an interval (Remez exchange on
a fine grid, in 50 digits), with its coefficients rounded to doubles one at a time from the lowest and the others
fitted again after each. Needs mpmath. Usage: tools/minimax.py [NAME ...]
"""

import sys
from mpmath import (asin, atan, atanh, cos, cosh, lu_solve, matrix, mp, mpf, pi, sin, sinh, sqrt)

mp.dps = 50

LN2_2 = mp.ln2 / 2 * (1 + mpf(2) ** -20)
QUARTER = pi / 4 * (1 + mpf(2) ** -20)
HALF = pi / 2 * (1 + mpf(2) ** -20)
RATIO = (3 - 2 * sqrt(2)) ** 2  # of s = (m - 1)/(m + 1), squared, for m between sqrt(1/2) and sqrt(2)


def of_square(f):
    """A function of v = x**2, given as one of x."""
    return lambda v: f(sqrt(v))


# name: (what it approximates, target, weight, interval, number of coefficients)
TABLES = {
    "SINE": ("sin r = r - r^3 P(r^2), |r| <= pi/4, relative",
             of_square(lambda r: (r - sin(r)) / r**3), of_square(lambda r: r**3 / sin(r)), (0, QUARTER**2), 6),
    "COSINE": ("cos r = 1 - r^2/2 + r^4 P(r^2), |r| <= pi/4, relative",
               of_square(lambda r: (cos(r) - 1 + r**2 / 2) / r**4), of_square(lambda r: r**4 / cos(r)),
               (0, QUARTER**2), 6),
    "SINE_HALF_TURN": ("sin r = r - r^3 P(r^2), |r| <= pi/2, relative",
                       of_square(lambda r: (r - sin(r)) / r**3), of_square(lambda r: r**3 / sin(r)), (0, HALF**2), 8),
    "LOGARITHM": ("2 atanh s = 2 s + s^3 P(s^2), |s| <= 3 - sqrt(8), relative",
                  of_square(lambda s: (2 * atanh(s) - 2 * s) / s**3), of_square(lambda s: s**3 / (2 * atanh(s))),
                  (0, RATIO), 7),
    "LOGARITHM_TAIL": ("2 atanh s = 2 s + 2/3 s^3 + s^5 P(s^2), |s| <= 3 - sqrt(8), relative",
                       of_square(lambda s: (2 * atanh(s) - 2 * s - 2 * s**3 / 3) / s**5),
                       of_square(lambda s: s**5 / (2 * atanh(s))), (0, RATIO), 8),
    "HYPERBOLIC_SINE": ("sinh r = r + r^3 P(r^2), |r| <= ln(2)/2, relative",
                        of_square(lambda r: (sinh(r) - r) / r**3), of_square(lambda r: r**3 / sinh(r)),
                        (0, LN2_2**2), 5),
    "HYPERBOLIC_COSINE": ("cosh r = 1 + r^2/2 + r^4 P(r^2), |r| <= ln(2)/2, relative",
                          of_square(lambda r: (cosh(r) - 1 - r**2 / 2) / r**4),
                          of_square(lambda r: r**4 / cosh(r)), (0, LN2_2**2), 4),
    "ARCTANGENT": ("atan a = a - a^3 P(a^2), |a| <= 1, relative",
                   of_square(lambda a: (a - atan(a)) / a**3), of_square(lambda a: a**3 / atan(a)), (0, mpf(1)), 20),
    "ARCSINE": ("asin a = a + a^3 P(a^2), |a| <= 1/2, relative",
                of_square(lambda a: (asin(a) - a) / a**3), of_square(lambda a: a**3 / asin(a)), (0, mpf(1) / 4), 12),
}


class Fit:
    """Weighted minimax fits of one target on one grid."""

    def __init__(self, target, weight, interval, count):
        a, b = map(mpf, interval)
        points = 40 * count
        # Chebyshev points: dense at the ends, and never exactly at an end or at 0, where targets are 0/0.
        self.grid = [(a + b) / 2 - (b - a) / 2 * cos(pi * (i + mpf(1) / 2) / points) for i in range(points)]
        self.target = [target(v) for v in self.grid]
        self.weight = [weight(v) for v in self.grid]
        self.count = count

    def errors(self, coefficients):
        def p(v):
            y = mpf(0)
            for c in reversed(coefficients):
                y = y * v + c
            return y
        return [w * (t - p(v)) for v, t, w in zip(self.grid, self.target, self.weight)]

    def best(self, fixed):
        """The best polynomial whose first coefficients are `fixed`."""
        free = self.count - len(fixed)
        if free == 0:
            return fixed
        last = len(self.grid) - 1
        chosen = [round(last * (1 - cos(pi * i / free)) / 2) for i in range(free + 1)]
        for _ in range(60):
            rows, right = [], []
            for i, g in enumerate(chosen):
                v, w = self.grid[g], self.weight[g]
                rows.append([w * v ** (len(fixed) + j) for j in range(free)] + [(-1) ** i])
                right.append(w * (self.target[g] - sum(c * v**j for j, c in enumerate(fixed))))
            solution = lu_solve(matrix(rows), matrix(right))
            coefficients = fixed + [solution[j] for j in range(free)]
            errors = self.errors(coefficients)
            if max(map(abs, errors)) <= abs(solution[free]) * (1 + mpf(10) ** -6):
                break
            chosen = alternating_extrema(errors, free + 1)
        return coefficients

    def rounded(self):
        """The best polynomial in double coefficients, nearly: rounded from the lowest, refitted after each."""
        fixed = []
        for i in range(self.count):
            fixed.append(mpf(float(self.best(fixed)[i])))
        return fixed, max(map(abs, self.errors(fixed)))


def alternating_extrema(errors, count):
    """Indices of `count` extrema of alternating sign, the largest among them."""
    extrema = []
    for i, e in enumerate(errors):
        if extrema and (errors[extrema[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    while len(extrema) > count:
        if len(extrema) == count + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        else:
            # Drop the smallest together with a neighbour, which keeps the signs alternating.
            sizes = [max(abs(errors[i]), abs(errors[j])) for i, j in zip(extrema, extrema[1:])]
            k = sizes.index(min(sizes))
            del extrema[k:k + 2]
    return extrema


def main():
    for name in sys.argv[1:] or TABLES:
        description, target, weight, interval, count = TABLES[name]
        coefficients, error = Fit(target, weight, interval, count).rounded()
        exponent = float(mp.log(error, 2))
        print(f"// {description}: 2^{exponent:.1f}")
        print(f"const {name}: [f64; {count}] = [")
        for c in coefficients:
            print(f"    {float(c)!r},")
        print("];", flush=True)


if __name__ == "__main__":
    main()
