"""Expressions: arithmetic, functions, derivatives, compiled functions, pickling."""

import copy
import math
import pickle
import threading
import unittest

import leastaction as la
import numpy as np


class Arithmetic(unittest.TestCase):
    def test_expressions_have_the_values_of_numbers(self):
        x, y = la.symbols("x y")
        at = {x: 0.7, y: -1.3}
        a, b = 0.7, -1.3
        for found, expected in [
            (x + y, a + b), (2 - x, 2 - a), (x * y / 3, a * b / 3), (x**3, a**3), (2**x, 2**a), (-x, -a), (+x, a), (abs(y), abs(b)),
            (x < y, 0.0), (x > y, 1.0), (x <= 0.7, 1.0), (1 >= y, 1.0), (la.select(x > 0, y, x), b), (la.equal(x, y), 0.0),
            (la.different(x, y), 1.0), (la.minimum(x, 0.5), 0.5), (la.maximum(x, y), a), (la.atan2(x, y), math.atan2(a, b)),
        ]:  # fmt: skip
            self.assertAlmostEqual(found.eval(at), expected, 14)

    def test_every_function_is_there_by_name_and_through_numpy(self):
        x, y = la.symbols("x y")
        others = {"ln": "log", "ln1p": "log1p", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
                  "acosh": "arccosh", "atanh": "arctanh", "abs": "abs", "min": "minimum", "max": "maximum"}  # fmt: skip
        for name, arity in la.functions().items():
            expression = getattr(x, name)(*[y, 1.5][: arity - 1])
            value = expression.eval({x: 1.2 if name == "acosh" else 0.4, y: 0.3})
            self.assertTrue(math.isfinite(value), name)
            numpy = getattr(np, others.get(name, name), None)
            if numpy is not None and arity < 3:
                self.assertEqual(numpy(*[x, y][:arity]), expression, name)
                self.assertAlmostEqual(numpy(*[1.2 if name == "acosh" else 0.4, 0.3][:arity]), value, 13, name)

    def test_numpy_has_more_functions(self):
        x = la.symbols("x")
        for function in [np.square, np.reciprocal, np.exp2, np.log2, np.log10, np.radians, np.degrees, np.ceil, np.negative, np.fabs]:
            self.assertAlmostEqual(function(x).eval({x: 1.7}), function(1.7), 13, function.__name__)
        self.assertEqual(np.heaviside(x, 0.5).eval({x: 0.0}), 0.5)
        with self.assertRaisesRegex(TypeError, "np.gcd"):
            np.gcd(x, x)

    def test_numbers_of_numpy_and_arrays_mix_from_both_sides(self):
        x = la.symbols("x")
        self.assertEqual(np.float64(2) * x, 2 * x)
        self.assertEqual(x * np.int32(2), x * 2)
        array = np.array([1.0, 2.0]) * x
        self.assertEqual(list(array), [x, 2 * x])
        self.assertEqual(list(x * np.array([1.0, 2.0])), [x, 2 * x])
        self.assertEqual(list(np.sin(array)), [np.sin(x), np.sin(2 * x)])
        self.assertEqual(np.array([x, 2 * x]) @ np.array([x, 1.0]), x * x + 2 * x)
        self.assertEqual((x * np.array([[3.0]])).shape, (1, 1))

    def test_what_is_no_number_is_refused(self):
        x = la.symbols("x")
        for wrong in [float("nan"), float("inf"), np.inf]:
            with self.assertRaises(ValueError):
                x + wrong
        for wrong in ["1", None, [1], object()]:
            with self.assertRaises(TypeError):
                x * wrong
        with self.assertRaises(OverflowError):
            x + 10**400
        with self.assertRaisesRegex(TypeError, "neither true nor false"):
            bool(x < 1)
        with self.assertRaisesRegex(TypeError, "no number"):
            float(x)
        with self.assertRaisesRegex(ValueError, "`y`"):
            (x + la.symbols("y")).eval({x: 1.0})

    def test_equal_formulas_are_equal_keys(self):
        x, y = la.symbols("x y")
        self.assertEqual(x + y, y + x)
        self.assertNotEqual(x, y)
        self.assertNotEqual(x, "x")
        self.assertEqual({x * 2: "there"}[2 * x], "there")
        self.assertEqual(hash(la.expr(2.0)), hash(2.0))
        self.assertEqual(len({la.symbols("a"), la.symbols("a")}), 1)

    def test_they_are_pickled_and_copied(self):
        x, y = la.symbols("x y")
        deep = x
        for _ in range(200):
            deep = np.sin(deep) + y * np.cos(deep)
        for expression in [x, x.dot, np.sqrt(x**2 + y**2) / 3, la.select(x < y, 1e-300, x), deep]:
            self.assertEqual(pickle.loads(pickle.dumps(expression)), expression)
            self.assertEqual(copy.deepcopy(expression), expression)
        self.assertLess(len(repr(deep)), 3000)

    def test_threads_share_expressions(self):
        x = la.symbols("x")
        found = []

        def work(k):
            e = x
            for i in range(200):
                e = np.sin(e * (k + 2)) + i
            found.append(e.eval({x: 0.5}))

        threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(len(set(found)), 2)


class Derivatives(unittest.TestCase):
    def test_derivatives_agree_with_differences(self):
        x, y = la.symbols("x y")
        energy = np.sin(x * y) + x**3 / (1 + y**2)
        gradient, hessian = la.grad(energy, [x, y]), la.hessian(energy, [x, y])
        at, h = np.array([0.6, -0.8]), 1e-5
        value = la.compile(energy, [x, y])
        for i in range(2):
            step = np.eye(2)[i] * h
            difference = (value(*(at + step)) - value(*(at - step))) / (2 * h)
            self.assertAlmostEqual(gradient[i].eval({x: at[0], y: at[1]}), difference, 8)
            for k in range(2):
                slope = la.compile(gradient[k], [x, y])
                difference = (slope(*(at + step)) - slope(*(at - step))) / (2 * h)
                self.assertAlmostEqual(hessian[i, k].eval({x: at[0], y: at[1]}), difference, 8)

    def test_shapes(self):
        x, y = la.symbols("x y")
        self.assertEqual(la.jacobian([x, y, x * y], [x, y]).shape, (3, 2))
        self.assertEqual(la.jacobian(np.array([[x, y]]), [x, y]).shape, (1, 2, 2))
        self.assertEqual(la.grad(x * y, x), y)
        self.assertEqual((x**4).diff(x, 2), (x**4).diff(x, x))
        for wrong in [lambda: la.grad([x], [x]), lambda: x.diff(), lambda: x.diff("x")]:
            self.assertRaises(TypeError, wrong)
        for wrong in [lambda: la.grad(x, [x * y]), lambda: x.diff(x + 1), lambda: x.diff(x, 0), lambda: x.diff(x, 10**6)]:
            self.assertRaises(ValueError, wrong)


class Compiled(unittest.TestCase):
    def test_arrays_are_broadcast(self):
        x, y = la.symbols("x y")
        f = la.compile([[x + y, x * y], [x, 1.0]], [x, y])
        a, b = np.linspace(0, 1, 7)[:, None], np.linspace(2, 3, 5)
        found = f(a, b)
        self.assertEqual(found.shape, (2, 2, 7, 5))
        np.testing.assert_array_equal(found[0, 0], a + b)
        np.testing.assert_array_equal(found[0, 1], a * b)
        np.testing.assert_array_equal(found[1, 1], np.ones((7, 5)))

    def test_every_number_of_points_has_the_same_bits(self):
        x, y = la.symbols("x y")
        f = la.compile(np.sin(x) * np.exp(y) + x / y, [x, y])
        rng = np.random.default_rng(1)
        a, b = rng.normal(size=1000), rng.normal(size=1000)
        whole = f(a, b)
        np.testing.assert_allclose(whole, np.sin(a) * np.exp(b) + a / b, rtol=1e-13)
        for count in [1, 2, 7, 8, 9, 255, 256, 257, 999]:
            np.testing.assert_array_equal(f(a[:count], b[:count]), whole[:count])
        self.assertEqual([f(u, v) for u, v in zip(a[:20], b[:20])], list(whole[:20]))
        self.assertEqual(f(a[:0], b[:0]).shape, (0,))

    def test_inputs_of_all_kinds(self):
        x = la.symbols("x")
        f = la.compile(2 * x, [x])
        self.assertEqual(f(3), 6.0)
        self.assertIsInstance(f(3), float)
        np.testing.assert_array_equal(f([1, 2]), [2, 4])
        np.testing.assert_array_equal(f(np.arange(6, dtype=np.int8)[::2]), [0, 4, 8])
        np.testing.assert_array_equal(f(np.asfortranarray(np.ones((3, 4), dtype=np.float32))), 2 * np.ones((3, 4)))
        self.assertTrue(math.isnan(f(float("nan"))))
        for wrong in ["1", [None], [1j], np.array(["a"]), [x]]:
            with self.assertRaises((TypeError, ValueError)):
                f(wrong)
        with self.assertRaisesRegex(TypeError, "1 inputs"):
            f(1, 2)
        with self.assertRaisesRegex(ValueError, "fit each other"):
            la.compile(x + la.symbols("y"), la.symbols("x y"))(np.ones(3), np.ones(4))

    def test_what_cannot_be_compiled_is_refused(self):
        x, y = la.symbols("x y")
        with self.assertRaisesRegex(ValueError, "y"):
            la.compile(x + y, [x])
        with self.assertRaisesRegex(ValueError, "twice"):
            la.compile(x, [x, x])
        with self.assertRaisesRegex(ValueError, "different lengths"):
            la.compile([[x], [x, y]], [x, y])

    def test_it_is_pickled(self):
        x, y = la.symbols("x y")
        for f in [la.compile([x * y, x], [x, y]), la.compile(x + y, [x, y])]:
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(0.3, 2.0), f(0.3, 2.0))
