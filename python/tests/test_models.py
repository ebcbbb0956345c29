"""Models that are built by calls, and texts."""

import math
import pickle
import tempfile
import unittest
from pathlib import Path

import leastaction as la
import numpy as np


def double_pendulum():
    model = la.Model("double")
    m1, m2, l1, l2, g = model.parameters(m1=1, m2=2, l1=1, l2=0.5, g=9.81)
    a, b = model.coords("a b")
    elbow = np.array([l1 * np.sin(a), -l1 * np.cos(a)])
    hand = elbow + np.array([l2 * np.sin(b), -l2 * np.cos(b)])
    model.particle("elbow", m1, elbow)
    model.particle("hand", m2, hand)
    model.gravity([0, -g])
    model.start({"a": 1.0, b: 2.0, a.dot: 0.5})
    return model


class Models(unittest.TestCase):
    def test_particles_have_the_energy_that_is_written_by_hand(self):
        system = double_pendulum().system()
        rng = np.random.default_rng(2)
        q, v = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
        (a, b), (da, db) = q.T, v.T
        vx, vy = np.cos(a) * da, np.sin(a) * da
        wx, wy = vx + 0.5 * np.cos(b) * db, vy + 0.5 * np.sin(b) * db
        kinetic = 0.5 * (vx**2 + vy**2) + wx**2 + wy**2
        potential = 9.81 * (-np.cos(a) + 2 * (-np.cos(a) - 0.5 * np.cos(b)))
        np.testing.assert_allclose(system.kinetic_energy(q, v), kinetic, rtol=1e-12)
        np.testing.assert_allclose(system.potential_energy(q, v), potential, rtol=1e-12)
        np.testing.assert_allclose(system.energy(q, v), kinetic + potential, rtol=1e-12)
        self.assertEqual(system.start, {"a": 1.0, "b": 2.0, "a'": 0.5})

    def test_the_ways_to_say_a_pendulum_agree(self):
        def begun(name):
            model = la.Model(name)
            l, g = model.parameters(l=2, g=9.81)
            return model, l, g, model.coords("th")

        model, l, g, th = begun("particles")
        model.particle("bob", 1, [l * np.sin(th), -l * np.cos(th)])
        model.gravity([0, -g])
        all_models = [model]
        model, l, g, th = begun("energies")
        model.kinetic(l**2 * th.dot**2 / 2, name="swing")
        model.potential(-g * l * np.cos(th), name="weight of it")
        all_models.append(model)
        model, l, g, th = begun("lagrangian")
        model.lagrangian(l**2 * th.dot**2 / 2 + g * l * np.cos(th))
        all_models.append(model)
        model, l, g, th = begun("hamiltonian")
        p = model.momenta("p")
        model.hamiltonian(p**2 / (2 * l**2) - g * l * np.cos(th))
        all_models.append(model)
        model, l, g, th = begun("forces")
        model.kinetic(l**2 * th.dot**2 / 2)
        model.force(th, -g * l * np.sin(th))
        all_models.append(model)
        ends = [m.system().run(until=3, start={"th": 1.0}, tol=1e-12, method="dop853").end["th"] for m in all_models]
        np.testing.assert_allclose(ends, ends[0], atol=1e-9)

    def test_constraints_dissipation_inputs_events_and_outputs(self):
        model = la.Model()
        x, y = model.coords("x y")
        u = model.input("u", 0.1 * np.sin(la.time))
        speed = model.define("speed", model.velocity(x))
        model.particle("bob", 1, [x, y])
        model.gravity([0, -9.81])
        model.force(x, u)
        model.dissipation(0.05 * (x.dot**2 + y.dot**2), name="air")
        model.constraint(x**2 + y**2, 1, name="rod")
        model.output(speed**2, name="square")
        model.invariant("length", x**2 + y**2)
        model.event("bottom", x, direction="rising")
        model.start(x=0.6, y=-0.8)
        model.draw("rod [0, 0] to bob, dot bob")
        run = model.system().run(until=4)
        self.assertLess(np.max(run.constraint_error), 1e-10)
        np.testing.assert_allclose(run["square"], run.v[:, 0] ** 2, atol=1e-12)
        self.assertGreater(len(run.events["bottom"]), 0)
        self.assertTrue(run.events["bottom"].rising.all())
        np.testing.assert_allclose(run.events["bottom"].q[:, 0], 0, atol=1e-9)

    def test_bodies_joints_and_springs(self):
        model = la.Model("crank")
        model.body("crank", "rod", 1, mass=1, planar=True)
        model.joint("pin", "pin", ("crank", [-0.5, 0]), "ground")
        model.point("tip", [0.5, 0], on="crank")
        model.spring("tip", ("ground", [1, 1]), stiffness=2, length=0.5, name="band")
        model.damper("tip", [1, 1], rate=0.1)
        model.gravity([0, -9.81])
        system = model.system()
        run = system.run(until=1, check=False)
        np.testing.assert_allclose(np.linalg.norm(run.x["tip"], axis=1), 1, atol=1e-9)
        self.assertIn("band", run.shares)
        model = la.Model("top")
        model.body("top", "cylinder", 0.5, height=0.1, mass=2)
        model.torque("top", [0, 0, 0.1])
        self.assertEqual(len(model.system().coordinates), 12)

    def test_what_appears_often_is_named_once(self):
        model = la.Model()
        x = model.coords("x")
        model.kinetic(x.dot**2 / 2)
        deep = x
        for _ in range(40):
            deep = np.sin(deep) + np.cos(deep)
        model.potential(deep)
        self.assertLess(len(model.text), 5000)
        self.assertAlmostEqual(model.system().potential_energy([0.3]), deep.eval({x: 0.3}), 12)

    def test_mistakes_are_told_where_they_are(self):
        x = la.symbols("x")
        model = la.Model()
        for wrong in [
            lambda: model.particle("a b", 1, [x]), lambda: model.coords("x'"), lambda: model.parameters(m=float("nan")), lambda: model.coords(""),
            lambda: model.gravity([]), lambda: model.event("e", x, direction="up"), lambda: model.parameters(), lambda: model.start(),
            lambda: la.Model("a b"), lambda: model.potential(""), lambda: model.potential(x, name="a`b"),
        ]:  # fmt: skip
            self.assertRaises(ValueError, wrong)
        for wrong in [
            lambda: model.particle("a", 1, x), lambda: model.potential(None), lambda: model.parameters(m="1"), lambda: model.add(3),
            lambda: model.gravity(9.81), lambda: model.start(3), lambda: model.coords(3), lambda: model.coords([1, 2]), lambda: la.Model(3),
        ]:  # fmt: skip
            self.assertRaises(TypeError, wrong)
        model = la.Model()
        x = model.coords("x")
        model.kinetic(x.dot**2 / 2)
        model.potential(la.symbols("k") * x**2)
        with self.assertRaises(la.ModelError) as caught:
            model.system()
        self.assertEqual((caught.exception.diagnostics[0]["line"], caught.exception.diagnostics[0]["column"]), (3, 11))


class Texts(unittest.TestCase):
    def test_files_are_found_and_their_folder_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ball.motion"
            path.write_text("# a ball\ncoord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 2\n")
            system = la.load(path)
            self.assertEqual((system.name, system.about, system.start), ("ball", "a ball", {"x": 2.0}))
            self.assertEqual(la.load(str(path)).energy([2.0]), 2.0)
        with self.assertRaisesRegex(la.UsageError, "cannot read"):
            la.load("/nowhere/ball.motion")
        self.assertRaises(TypeError, la.load, 3)

    def test_all_mistakes_are_told(self):
        with self.assertRaises(la.ModelError) as caught:
            la.parse("coord x, y\nkinetic x'^2/2 + z\npotential 2x\n", name="ball")
        error = caught.exception
        self.assertIn("ball:2", str(error))
        self.assertEqual([d["line"] for d in error.diagnostics], [2, 3])
        start, end = error.diagnostics[0]["span"]
        self.assertEqual("coord x, y\nkinetic x'^2/2 + z\npotential 2x\n"[start:end], "z")

    def test_systems_are_pickled(self):
        for system in [la.catalog.n_pendulum(size=3), la.catalog.pendulum(l=2).with_values(start={"th": 0.3}), double_pendulum().system()]:
            again = pickle.loads(pickle.dumps(system))
            self.assertEqual((again.name, again.parameters, again.start, again.text), (system.name, system.parameters, system.start, system.text))

    def test_the_catalog_is_whole(self):
        self.assertGreater(len(la.catalog), 20)
        for name in la.catalog:
            self.assertEqual(la.catalog[name].name, name)
        with self.assertRaisesRegex(AttributeError, "double_pendulum"):
            la.catalog.double_pendulm
        with self.assertRaisesRegex(la.UsageError, "did you mean"):
            la.catalog["pendulm"]
        with self.assertRaisesRegex(la.UsageError, "`k`"):
            la.catalog.pendulum(k=1)
        self.assertIn("pendulum", dir(la.catalog))
        self.assertTrue(math.isclose(la.catalog.pendulum(l=3).parameters["l"], 3))
