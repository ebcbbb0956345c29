"""Ways to other programs: each against the engine itself."""

import gc
import importlib.util
import unittest

import leastaction as la
import numpy as np
import pyarrow
import sympy as sp
from leastaction import _arrow
from leastaction.interop import observed, to_module_field


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


def installed(name):
    return importlib.util.find_spec(name) is not None


class AtTheEnd(unittest.TestCase):
    """Something at the end of a run, as a function with a gradient."""

    def test_derivatives_are_those_of_differences(self):
        system = la.catalog.pendulum()
        names, both = observed(system, "th", ["l", "th'"], {"until": 2, "tol": 1e-12})
        at = np.array([1.3, 0.7])
        value, slopes = both(at)
        self.assertEqual(names, ["l", "th'"])
        for place in range(2):
            step = 1e-5 * np.eye(2)[place]
            difference = (both(at + step)[0] - both(at - step)[0]) / 2e-5
            self.assertAlmostEqual(slopes[place], difference, 7)
        self.assertAlmostEqual(value, system.run(until=2, tol=1e-12, parameters={"l": 1.3}, start={"th'": 0.7}).end["th"], 8)
        self.assertEqual(observed(system, "th", None, {})[0], list(system.parameters))
        for wrong in [["q"], ["l", "l"]]:
            with self.assertRaises(la.UsageError, msg=wrong):
                observed(system, "th", wrong, {})

    @unittest.skipUnless(installed("jax"), "jax is not installed")
    def test_jax(self):
        import jax

        jax.config.update("jax_enable_x64", True)
        system = la.catalog.double_pendulum()
        field = system.to_jax()
        q, v = np.array([0.3, 1.2]), np.array([0.5, -0.4])
        np.testing.assert_allclose(jax.jit(field)(0.0, q, v), system.accelerations(q, v), rtol=1e-13)
        end = la.catalog.pendulum().to_jax("th", of=["l", "th'"], until=2, tol=1e-11)
        _, both = observed(la.catalog.pendulum(), "th", ["l", "th'"], {"until": 2, "tol": 1e-11})
        at = np.array([1.3, 0.7])
        np.testing.assert_allclose(jax.jit(jax.grad(lambda x: end(x) ** 2))(at), 2 * both(at)[0] * both(at)[1], rtol=1e-12)

    @unittest.skipUnless(installed("torch"), "torch is not installed")
    def test_torch(self):
        import torch

        system = la.catalog.double_pendulum()
        q, v = np.array([[0.3, 1.2], [1.0, 0.1]]), np.array([[0.5, -0.4], [0.0, 1.0]])
        found = system.to_torch()(0.0, torch.tensor(q), torch.tensor(v))
        np.testing.assert_allclose(found.numpy(), system.accelerations(q, v), rtol=1e-12)
        end = la.catalog.pendulum().to_torch("th", of=["l", "th'"], until=2, tol=1e-11)
        _, both = observed(la.catalog.pendulum(), "th", ["l", "th'"], {"until": 2, "tol": 1e-11})
        at = torch.tensor([1.3, 0.7], dtype=torch.float64, requires_grad=True)
        (end(at) ** 2).backward()
        value, slopes = both(at.detach().numpy())
        np.testing.assert_allclose(at.grad.numpy(), 2 * value * slopes, rtol=1e-12)


class Arrow(unittest.TestCase):
    def test_tables_are_columns_without_a_copy_that_is_lost(self):
        run = la.catalog.pendulum().run(until=1, samples=50)
        expected = run["th"].copy()
        table = pyarrow.table(run)
        self.assertEqual(table.column_names, run.columns)
        column = table["th"]
        del table, run
        gc.collect()
        np.testing.assert_array_equal(column.to_numpy(), expected)
        del column
        gc.collect()
        self.assertEqual(len(_arrow._HELD), 0)
        capsule = la.catalog.pendulum().run(until=1).__arrow_c_stream__()
        del capsule
        gc.collect()
        self.assertEqual(len(_arrow._HELD), 0)

    def test_texts_and_whole_numbers(self):
        columns = {"word": np.array(["a", "längst", ""]), "count": np.array([1, -2, 3]), "x": np.array([0.5, np.nan, np.inf])}

        class Table:
            def __arrow_c_stream__(self, requested_schema=None):
                return _arrow.stream(columns)

        table = pyarrow.table(Table())
        self.assertEqual(table["word"].to_pylist(), ["a", "längst", ""])
        self.assertEqual(table["count"].to_pylist(), [1, -2, 3])
        np.testing.assert_array_equal(table["x"].to_numpy(), columns["x"])
        found = la.ensemble(la.catalog.pendulum(), sample={"th": [0.1, 0.2]}, until=1, reduce="ends")
        self.assertEqual(pyarrow.table(found[0]).num_rows, 2)
        section = la.section(la.catalog.henon_heiles(), "x", direction="rising", count=3)
        self.assertEqual(pyarrow.table(section).num_rows, 3)


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
