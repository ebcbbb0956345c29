"""Ways to other programs: each against the engine itself."""

import unittest

import leastaction as la
import numpy as np
import sympy as sp
from leastaction.interop import to_module_field


class SciPy(unittest.TestCase):
    def test_the_field_leads_where_a_run_does(self):
        system = la.catalog.double_pendulum()
        field = system.to_scipy()
        y, h = system.initial_state(), 1e-3
        for k in range(500):
            t = k * h
            a = field(t, y)
            b = field(t + h / 2, y + h / 2 * a)
            c = field(t + h / 2, y + h / 2 * b)
            d = field(t + h, y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        end = system.run(until=0.5, tol=1e-12, method="dop853").end
        np.testing.assert_allclose(y, [end[name] for name in field.names], atol=1e-9)
        np.testing.assert_allclose(field.jacobian(0.0, y), system.jacobian(y))
        columns = np.stack([y, 2 * y], axis=1)
        np.testing.assert_array_equal(field(0.0, columns)[:, 1], field(0.0, 2 * y))


class Modules(unittest.TestCase):
    """What `to_jax` writes, with NumPy in the place of JAX."""

    def test_fields_agree_with_the_engine(self):
        rng = np.random.default_rng(5)
        for name in ["double-pendulum", "henon-heiles", "pendulum", "two-body"]:
            system = la.catalog[name]
            n = len(system.coordinates)
            q, v = rng.normal(size=(6, n)), rng.normal(size=(6, n))
            found = to_module_field(system, np)(0.0, q, v)
            expected = system.rates(np.concatenate([q, v], axis=1)) if system.form == "Hamiltonian" else system.accelerations(q, v)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=name)

    def test_what_has_no_closed_form_is_refused(self):
        rod = la.parse("coord x, y\nparticle bob mass 2 at [x, y]\nconstraint rod: x^2 + y^2 = 1\nstart y = -1\n")
        with self.assertRaisesRegex(la.UsageError, "closed form"):
            to_module_field(rod, np)

    def test_every_function_agrees(self):
        import math

        x, y = la.symbols("x y")
        from leastaction.interop import to_module

        erf = np.frompyfunc(math.erf, 1, 1)
        for name, arity in la.functions().items():
            expression = getattr(x, name)(*[y, 1.5][: arity - 1])
            at = (1.2 if name == "acosh" else 0.4, 0.3)
            self.assertAlmostEqual(float(to_module(expression, [x, y], np, erf)(*at)), expression.eval({x: at[0], y: at[1]}), 13, name)


class SymPy(unittest.TestCase):
    def test_there_and_back(self):
        x, y = la.symbols("x y")
        for expression in [np.sin(x) ** 2 / 2 + y, np.sqrt(x**2 + 1) / y, np.exp(-x) * np.log(y), la.select(x < y, x, 2 * y), np.arctan2(y, x), x**0.3]:
            there = la.to_sympy(expression)
            at = {sp.Symbol("x", real=True): 0.7, sp.Symbol("y", real=True): 1.9}
            value = expression.eval({x: 0.7, y: 1.9})
            self.assertAlmostEqual(float(there.subs(at)), value, 12)
            self.assertAlmostEqual(la.from_sympy(there).eval({x: 0.7, y: 1.9}), value, 12)

    def test_every_function_goes_there_and_back(self):
        x, y = la.symbols("x y")
        for name, arity in la.functions().items():
            expression = getattr(x, name)(*[y, 1.5][: arity - 1])
            at = {x: 1.2 if name == "acosh" else 0.4, y: 0.3}
            there = la.to_sympy(expression)
            numbers = {sp.Symbol(str(symbol), real=True): value for symbol, value in at.items()}
            self.assertAlmostEqual(float(there.subs(numbers)), expression.eval(at), 12, name)
            self.assertAlmostEqual(la.from_sympy(there).eval(at), expression.eval(at), 12, name)

    def test_derivatives_by_time(self):
        t = sp.Symbol("t")
        theta = sp.Function("theta")(t)
        self.assertEqual(la.from_sympy(theta.diff(t) ** 2 + theta), la.expr("theta'^2 + theta"))
        self.assertEqual(str(la.to_sympy(la.expr("x'"))), "xdot")
        for wrong in [sp.gamma(t), sp.Function("f")(sp.Symbol("x")), sp.I, sp.zoo]:
            with self.assertRaises((la.UsageError, TypeError, ValueError)):
                la.from_sympy(wrong)
        self.assertRaises(TypeError, la.from_sympy, "x +")

    def test_the_equations_of_a_pendulum(self):
        [(left, right)] = la.catalog.pendulum().to_sympy().items()
        self.assertEqual(str(left), "thdotdot")
        th, g, l = sp.symbols("th g l", real=True)
        self.assertEqual(sp.simplify(right + g / l * sp.sin(th)), 0)
