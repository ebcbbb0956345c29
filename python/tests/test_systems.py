"""Quantities of systems over arrays: against formulas by hand and against differences."""

import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import leastaction as la
import numpy as np

KEPLER = "param mu = 1\ncoord x, y\nparticle planet mass 2 at [x, y]\npotential pull = -2*mu/sqrt(x^2 + y^2)\nstart x = 1, y' = 0.9\nrun until 5\n"


class Quantities(unittest.TestCase):
    def setUp(self):
        self.kepler = la.parse(KEPLER, name="kepler")
        rng = np.random.default_rng(3)
        self.q, self.v = rng.normal(size=(3, 11, 2)) + 2, rng.normal(size=(3, 11, 2))

    def test_formulas(self):
        q, v, system = self.q, self.v, self.kepler
        r = np.linalg.norm(q, axis=-1)
        np.testing.assert_allclose(system.energy(q, v), (v**2).sum(-1) - 2 / r, rtol=1e-13)
        np.testing.assert_allclose(system.energy(q, p=2 * v), (v**2).sum(-1) - 2 / r, rtol=1e-13)
        np.testing.assert_allclose(system.shares(q)["pull"], -2 / r, rtol=1e-13)
        np.testing.assert_allclose(system.momenta(q, v), 2 * v)
        np.testing.assert_allclose(system.velocities(q, 2 * v), v)
        np.testing.assert_allclose(system.accelerations(q, v), -q / r[..., None] ** 3, rtol=1e-12)
        np.testing.assert_allclose(system.mass_matrix(q[0, 0]), 2 * np.eye(2))
        np.testing.assert_allclose(system.positions(q)["planet"], q)
        np.testing.assert_allclose(system.evaluate("x*y' - y*x'", q, v), q[..., 0] * v[..., 1] - q[..., 1] * v[..., 0], rtol=1e-12, atol=1e-13)
        self.assertEqual(system.energy(q[0, 0], v[0, 0]), system.energy(q, v)[0, 0])
        self.assertEqual(system.multipliers(q).shape, (3, 11, 0))

    def test_equations_are_those_of_the_command_line(self):
        equations = self.kepler.equations
        forms = {(): equations, ("--form", "solved"): equations.solved, ("--form", "hamilton", "--energies"): equations.hamilton.with_energies}
        for asked, form in forms.items():
            said = subprocess.run([sys.executable, "-m", "leastaction", "equations", "-", *asked], input=KEPLER, capture_output=True, text=True, check=True).stdout
            self.assertEqual(str(form), said.rstrip())
        self.assertEqual(str(la.System(KEPLER).equations), str(equations))
        for language in ("latex", "markdown", "c", "rust", "python", "julia"):
            said = subprocess.run([sys.executable, "-m", "leastaction", "equations", "-", f"--{language}"], input=KEPLER, capture_output=True, text=True, check=True).stdout
            self.assertEqual(getattr(equations, language).rstrip(), said.rstrip(), language)

    def test_the_jacobian_agrees_with_differences(self):
        system = la.catalog.double_pendulum()
        rng = np.random.default_rng(4)
        y, h = rng.normal(size=(10, 4)), 1e-6
        found = system.jacobian(y)
        self.assertEqual(found.shape, (10, 4, 4))
        for k in range(4):
            step = h * np.eye(4)[k]
            np.testing.assert_allclose(found[..., k], (system.rates(y + step) - system.rates(y - step)) / (2 * h), atol=1e-6, rtol=1e-6)

    def test_broadcasting(self):
        system, q, v = self.kepler, self.q, self.v
        self.assertEqual(system.energy(q[0, 0], v).shape, (3, 11))
        self.assertEqual(system.energy(q, v[:, :1], t=np.zeros((3, 1))).shape, (3, 11))
        self.assertEqual(system.energy(np.zeros((0, 2)) + 1).shape, (0,))
        self.assertEqual(la.catalog.pendulum().energy(0.5), la.catalog.pendulum().energy([0.5]))
        driven = la.parse("coord x\nkinetic x'^2/2\npotential sin(t)*x\n")
        np.testing.assert_allclose(driven.accelerations([0.0], t=np.arange(20.0))[:, 0], -np.sin(np.arange(20.0)), atol=1e-15)

    def test_constraints_have_multipliers(self):
        rod = la.parse("coord x, y\nparticle bob mass 2 at [x, y]\ngravity [0, -9.81]\nconstraint rod: x^2 + y^2 = 1\nstart y = -1\n")
        self.assertAlmostEqual(2 * rod.multipliers([0, -1], [3, 0])[0], 2 * (9.81 + 9), 10)
        self.assertEqual(rod.constraints, ["rod"])

    def test_what_does_not_fit_is_refused(self):
        system = self.kepler
        for wrong in [lambda: system.energy([1.0]), lambda: system.energy([1, 2, 3]), lambda: system.energy(1.0), lambda: system.energy([np.nan, 1]),
                      lambda: system.energy([1, 2], [np.inf, 0]), lambda: system.energy([1, 2], t=np.nan), lambda: system.rates([1, 2]),
                      lambda: system.energy([1, 2], [1, 2], p=[1, 2]), lambda: system.energy(np.ones((3, 2)), np.ones((4, 2))),
                      lambda: system.evaluate("nothing", [1, 2]), lambda: system.evaluate("x +", [1, 2])]:  # fmt: skip
            self.assertRaises(la.UsageError, wrong)
        for wrong in [lambda: system.energy(["a", "b"]), lambda: system.energy([1j, 0]), lambda: system.energy(None), lambda: system.evaluate(3, [1, 2])]:
            self.assertRaises(TypeError, wrong)

    def test_what_is_not_finite_is_warned_of(self):
        with self.assertWarnsRegex(RuntimeWarning, r"energy is not finite at the state \[1\]"):
            found = self.kepler.energy([[1, 0], [0, 0]])
        self.assertEqual(found[0], -2)

    def test_equations_in_every_language(self):
        equations = la.catalog.pendulum().equations
        self.assertIn("th''", str(equations))
        self.assertIn("\\ddot", equations.latex)
        self.assertTrue(equations._repr_latex_().startswith("$"))
        self.assertIn("double", equations.c)
        self.assertIn("fn ", equations.rust)
        self.assertIn("function", equations.julia)
        self.assertIn("$", equations.markdown)
        self.assertIn("p_th'", str(equations.hamilton))
        self.assertGreater(len(str(equations.with_energies)), len(str(equations)))
        scope = {}
        exec(equations.python, {"np": np}, scope)
        found = scope["accelerations"](np.array([0.0, 0.7, 0.2, 1.0, 2.0, 9.81]))
        np.testing.assert_allclose(found, la.catalog.pendulum(l=2, g=9.81).accelerations([0.7], [0.2]))

    def test_values(self):
        system = self.kepler.with_values({"mu": 2}, start={"x": 3})
        self.assertEqual((system.parameters, system.start), ({"mu": 2.0}, {"y'": 0.9, "x": 3.0}))
        self.assertEqual(self.kepler.parameters, {"mu": 1.0})
        np.testing.assert_allclose(system.initial_state(), [3, 0, 0, 1.8])
        with self.assertRaisesRegex(la.UsageError, "nu"):
            self.kepler.with_values({"nu": 2})
        with self.assertRaises(la.UsageError):
            self.kepler.with_values(start={"z": 2})

    def test_threads_share_a_system(self):
        import threading

        system, found = la.catalog.double_pendulum(), []

        def work(k):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append((k % 2, system.run(until=2, start={"th1": 1 + k % 2}).end["th1"], system.energy([1.0, k % 2])))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(len(set(found)), 2)

    def test_files_are_taken_from_the_folder_of_a_text(self):
        said = "coord x\nparticle cart mass 1 at [x]\ninput u = table \"u.csv\" column u\nforce x = u\nrun until 1"
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "u.csv").write_text("t,u\n0,0\n1,6\n")
            cart = la.parse(said, folder=folder)
            self.assertAlmostEqual(cart.run(tol=1e-12).end["x"], 1.0, 11)
            self.assertEqual(pickle.loads(pickle.dumps(cart)).run(tol=1e-12).end["x"], cart.run(tol=1e-12).end["x"])
            self.assertRaises(la.ModelError, la.parse, said)
        for wrong, error in [(folder, la.UsageError), (3, TypeError)]:
            self.assertRaises(error, la.parse, said, folder=wrong)
