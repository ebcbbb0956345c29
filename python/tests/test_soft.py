"""Models of meshes, networks, states, tables and resets by calls: against the same texts, and closed forms."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import leastaction as la
import numpy as np


class Meshes(unittest.TestCase):
    def test_a_block_by_calls_is_that_of_the_book(self):
        model = la.Model("jelly")
        E, nu, rho = model.parameters(E=5e4, nu=0.45, rho=1000)
        block = model.mesh("block", "box", [1, 1, 2], cells=[4, 4, 8])
        model.material(block, density=rho)
        model.field("elastic", "neo-hookean", block, young=E, poisson=nu)
        model.fix(block, "z1")
        model.gravity([0, 0, -9.81])
        model.run(method="verlet", step=1e-3, until=1)
        written = (os.path.dirname(__file__) + "/../../book/models/jelly.motion")
        if os.path.exists(written):
            one, other = model.system(), la.load(written)
            self.assertEqual(one.coordinates, other.coordinates)
            a, b = (system.run(until=0.01, samples=2) for system in (one, other))
            np.testing.assert_array_equal(a.q, b.q)

    def test_an_energy_of_ones_own_is_its_formula(self):
        model = la.Model("net")
        k = model.parameter("k", 3.0)
        net = model.mesh("net", "plate", [1, 1], cells=[1, 1])
        model.material(net, mass=0.5, per="area")
        model.field("threads", "edges", net, lambda a, b: k * (la.norm(b - a) - la.norm(b.rest - a.rest)) ** 2 / 2)
        model.field("floor", "nodes", net, lambda a: 7 * a.z**2 / 2)
        system = model.system()
        self.assertEqual(len(system.coordinates), 12)
        start = system.initial_state()[:12]
        stretched = 1.5 * start
        # Five edges of lengths 1, 1, 1, 1 and √2, each longer by half.
        self.assertAlmostEqual(system.potential_energy(stretched), 3 * 0.25 * (4 + 2) / 2, 12)
        lifted = start.reshape(4, 3) + [0, 0, 2]
        self.assertAlmostEqual(system.potential_energy(lifted.ravel()), 4 * 7 * 4 / 2, 12)

    def test_everything_of_meshes_has_its_statement(self):
        model = la.Model()
        line = model.mesh("line", "rope", ends=([0, 0, 0], [2, 0, 0]), segments=4)
        model.material(line, mass=0.1, per="length")
        model.field("stretch", "bars", line, stiffness=500)
        model.damping(line, rate=0.2)
        model.damping("stretch", stiffness=1e-4)
        model.fix(line, "start", name="left")
        model.fix(line, "end", at="[x, y, z + 0.2*sin(3*t)]", name="right")
        model.start_of(line, at="[x, y, -0.1*sin(pi*x/2)]", moving=[0, 0, 0.1])
        self.assertEqual(len(model.system().coordinates), 9)
        chain = la.Model()
        chain.mesh("line", "rope", ends=([0, 0, 0], [2, 0, 0]), segments=4)
        chain.material("line", mass=0.1, per="length")
        chain.fix("line", "start")
        chain.keep("lengths", "line", along="x", name="tension")
        self.assertEqual(len(chain.system().constraints), 4)
        box = la.Model()
        arm = box.mesh("arm", "beam", [0.2, 0.2], length=1, cells=[1, 1, 2], at=[-0.1, -0.1, 0.1], turned=([0, 0, 1], 0.5), scaled=1.5)
        box.material(arm, density=2, consistent=True)
        box.field("elastic", "neo-hookean", arm, young=500, poisson=0.3)
        box.damping(arm, viscosity=0.5, bulk=0.1)
        box.fix(arm, where="z < 0.2")
        self.assertGreater(len(box.system().coordinates), 9)
        cluster = la.Model()
        argon = cluster.atoms("argon", at=[[0, 0, 0], [1.1, 0, 0]])
        cluster.material(argon, mass=1)
        cluster.field("bonds", "lennard-jones", argon, epsilon=1, sigma=1)
        q = cluster.system().initial_state()[:6]
        self.assertAlmostEqual(cluster.system().potential_energy(q), 4 * (1.1**-12 - 1.1**-6), 12)
        hub = la.Model()
        soft = hub.mesh("soft", "beam", [0.2, 0.2], length=1, cells=[1, 1, 2])
        hub.material(soft, density=2)
        hub.field("elastic", "neo-hookean", soft, young=500, poisson=0.3)
        hub.body("hub", "cuboid", [0.4, 0.4, 0.2], mass=0.3)
        hub.attach(soft, "z0", "hub", name="glue")
        hub.start_of("hub", at=[0, 0, 0], spinning=[0, 1, 0])
        self.assertIn("glue", " ".join(hub.system().constraints))

    def test_files_of_meshes(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/net.obj", "w") as file:
                file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
            model = la.Model()
            net = model.mesh("net", file=f"{folder}/net.obj")
            model.material(net, mass=1, per="area")
            model.field("threads", "springs", net, stiffness=2)
            self.assertEqual(len(model.system().coordinates), 9)

    def test_what_cannot_be_is_refused(self):
        model = la.Model()
        net = model.mesh("net", "plate", [1, 1], cells=[1, 1])
        for wrong in [lambda: model.mesh("a"), lambda: model.mesh("a", "box", file="b"), lambda: model.mesh("r", "rope", ends=[1]), lambda: model.damping(net), lambda: model.atoms("a"),
                      lambda: model.field("f", "edges", net, lambda a: a.x), lambda: model.field("f", "knots", net, lambda a: a.x), lambda: model.field("f", "edges", net, lambda a, b: a.x, k=1),
                      lambda: model.field("f", "a b", net), lambda: model.fix(net, "x0", where="x > 1"), lambda: model.fix(""), lambda: model.mesh("a", file='a"b'), lambda: model.mesh("a b", "box")]:  # fmt: skip
            self.assertRaises((la.UsageError, TypeError), wrong)
        self.assertRaises(TypeError, la.norm, 3)
        self.assertEqual(la.norm([3.0, 4.0]), 5.0)


class Others(unittest.TestCase):
    def test_a_ball_bounces_as_its_closed_form_says(self):
        model = la.Model("ball")
        e = model.parameter("e", 0.5)
        y = model.coords("y")
        model.particle("ball", 1, [0, y])
        model.gravity([0, -9.81])
        model.event("bounce", y, direction="falling", set={y.dot: -e * y.dot})
        model.start(y=1)
        run = model.system().run(until=1.2, tol=1e-12)
        first = np.sqrt(2 / 9.81)
        np.testing.assert_allclose(run.events["bounce"].t[:2], [first, 2 * first], rtol=1e-9)
        again = la.parse("coord y\nparticle ball mass 1 at [0, y]\ngravity [0, -9.81]\nstart y = 1").adding("event bounce: y = 0, falling, set y' = -0.5*y'")
        np.testing.assert_allclose(again.run(until=1.2, tol=1e-12).events["bounce"].t[:2], [first, 2 * first], rtol=1e-9)

    def test_a_controller_acts_at_ticks(self):
        model = la.Model("cart")
        x = model.coords("x")
        model.particle("cart", 1, [x])
        u = model.state("u")
        model.force(x, u)
        model.every(0.25, {u: -16 * x - 6 * x.dot}, name="control")
        model.start(x=1)
        run = model.system().run(until=2, tol=1e-10)
        np.testing.assert_allclose(run.events["control"].t, np.arange(9) / 4)
        np.testing.assert_allclose(run.events["control"].q[2:, 0], 0, atol=1e-13)
        for wrong in [lambda: model.every(0.1, {}), lambda: model.event("a", x, finally_set={u: 1})]:
            self.assertRaises(la.UsageError, wrong)
        self.assertRaises(TypeError, lambda: model.every(0.1, 3))

    def test_a_ball_lies_still_in_the_end(self):
        model = la.Model("ball")
        lies, y = model.parameter("lies", 0), model.coords("y")
        model.particle("ball", 2, [0, y])
        model.gravity([0, -9.81])
        model.force(y, 2 * 9.81 * lies)
        model.event("bounce", y, direction="falling", set={y.dot: -y.dot / 2}, finally_set={y: 0, y.dot: 0, lies: 1})
        model.start(y=1)
        run = model.system().run(until=5, tol=1e-12)
        np.testing.assert_allclose(run.events["bounce"].at_rest, [3 * np.sqrt(2 / 9.81)], rtol=1e-9)
        self.assertEqual((run["y"][-1], run["lies"][-1], run["lies"][0]), (0, 1, 0))

    def test_a_state_follows_its_rate(self):
        model = la.Model("filter")
        x = model.coords("x")
        model.kinetic(x.dot**2 / 2)
        model.state("z", (x - la.expr("z")) * 2)
        model.start({"x": 1, "z": 0})
        model.output("z", name="level")
        run = model.system().run(until=2, tol=1e-11)
        self.assertAlmostEqual(run["level"][-1], 1 - np.exp(-4), 9)

    def test_inputs_from_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/u.csv", "w") as file:
                file.write("t,u\n0,0\n1,1\n2,1\n")
            model = la.Model("pushed")
            x = model.coords("x")
            model.kinetic(x.dot**2 / 2)
            push = model.input("push", table=f"{folder}/u.csv", column="u", held=True)
            model.force(x, push)
            model.tolerance(x=1e-12)
            # x'' = t up to 1, then 1: x(3) = 1/6 + 2/2 + 2²/2.
            self.assertAlmostEqual(model.system().run(until=3, tol=1e-12).end["x"], 1 / 6 + 1 + 2, 8)
            self.assertRaises(la.UsageError, model.input, "v", table="u.csv", between="quadratic")

    def test_networks_from_files(self):
        data = la.learn.data(la.catalog.n_pendulum(size=1), train=10, validation=2, test=2, samples=10, every=0.1, progress=False)
        model = la.Model("own")
        self.assertRaises(la.UsageError, model.network, "push", ["x"])
        with tempfile.TemporaryDirectory() as folder:
            learned = la.learn.Chnn(hidden=[4]).fit(data, steps=2, batch=5, progress=False)
            learned.save(f"{folder}/own.safetensors")
            self.assertIn("network", la.load(f"{folder}/own.motion").text)


class Views(unittest.TestCase):
    def test_runs_and_meshes_are_seen(self):
        swing = la.catalog.double_pendulum().run(until=2).view(frames=50)
        self.assertEqual((len(swing.motion["times"]), swing.motion["flat"]), (50, True))
        self.assertIn("rod", {part["kind"] for part in swing.motion["parts"]})
        jelly = la.catalog.jelly_cube().run(until=0.02, samples=4).view()
        [mesh] = [part for part in jelly.motion["parts"] if part["kind"] == "mesh"]
        nodes = len(jelly.motion["places"][0])
        self.assertTrue(mesh["faces"] and max(max(face) for face in mesh["faces"]) + mesh["first"] < nodes)
        self.assertIn("iframe", jelly._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            jelly.save(f"{folder}/jelly.html")
            with open(f"{folder}/jelly.html") as file:
                self.assertIn("requestAnimationFrame", file.read())
            self.assertRaises(la.UsageError, jelly.save, f"{folder}/jelly.txt")

    @unittest.skipUnless(shutil.which("node"), "there is no node")
    def test_the_page_draws_what_it_is_given(self):
        here = os.path.dirname(__file__)
        source = os.path.join(os.path.dirname(la.__file__), "view.js")
        for system, parts in [(la.catalog.double_pendulum(), ("arc", "lineTo")), (la.catalog.jelly_cube(), ("fill", "closePath")), (la.catalog.dzhanibekov(), ("arc", "lineTo"))]:
            seen = system.run(until=0.02, samples=4).view()
            with tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/motion.json", "w") as file:
                    json.dump(seen.motion, file)
                script = shutil.copy(source, f"{folder}/view.mjs")
                done = subprocess.run(["node", f"{here}/view_check.mjs", script, f"{folder}/motion.json"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            looks = json.loads(done.stdout)
            for drawn, label in looks:
                self.assertTrue(all(drawn[part] > 0 for part in parts), drawn)
            self.assertEqual([label for _, label in looks][:2], [f"t = {seen.motion['times'][k]:#.4g}" for k in (0, 2)])

    def test_what_cannot_be_seen_is_refused(self):
        run = la.parse("coord x\nkinetic x'^2/2\nstart x = 1\nrun until 1\n").run()
        self.assertRaisesRegex(la.UsageError, "nothing to see", run.view)
        swing = la.catalog.pendulum().run(until=1)
        self.assertRaises(la.UsageError, swing.view, seconds=0)
        self.assertRaises(la.UsageError, swing.view, frames=0)
        try:
            import anywidget  # noqa: F401
        except ImportError:
            self.assertRaisesRegex(ImportError, "anywidget", swing.view().widget)


if __name__ == "__main__":
    unittest.main()
