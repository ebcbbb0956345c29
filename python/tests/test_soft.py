"""Models of meshes, networks, states, tables and resets by calls: against the same texts, and closed forms."""

import json
import os
import pickle
import shutil
import subprocess
import tempfile
import unittest
import warnings

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

    def test_a_body_that_rests_inside_out_is_a_warning(self):
        text = """mesh b box [1, 1, 1] cells [1, 1, 1]
material b density 1
field e st-venant-kirchhoff on b young 1000 poisson 0.4
fix b z0
start b at [x, y, {height}*z]
"""
        for rest in la.equilibrium, la.modes:
            with self.assertWarnsRegex(la.RunWarning, "is turned inside out at the equilibrium"):
                rest(la.System(text.format(height=-0.9)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            la.equilibrium(la.System(text.format(height=1.1)))

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

    def test_a_mesh_of_arrays_is_that_of_its_shape(self):
        def net(model, mesh):
            model.material(mesh, mass=0.5, per="area")
            model.field("threads", "edges", mesh, lambda a, b: (la.norm(b - a) - la.norm(b.rest - a.rest)) ** 2)
            model.gravity([0, 0, -9.81])
            return model.system()

        model = la.Model("net")
        plate = net(model, model.mesh("net", "plate", [1, 1], cells=[3, 2]))
        places = plate.initial_state()[: len(plate.coordinates)].reshape(-1, 3)
        # Each cell of the plate as two triangles, whichever way: edges differ, masses do not.
        row = [i + 4 * j for j in range(2) for i in range(3)]
        triangles = [each for i in row for each in ([i, i + 1, i + 5], [i, i + 5, i + 4])]
        order = np.lexsort(places.T)
        model = la.Model("net")
        system = net(model, model.mesh("net", nodes=places[order], cells=np.array(triangles)))
        self.assertEqual(len(system.coordinates), 36)
        again = system.initial_state()[:36].reshape(-1, 3)
        np.testing.assert_array_equal(again, places[order])
        self.assertAlmostEqual(np.trace(system.mass_matrix(again.ravel())) / 3, 0.5, 12)
        # It goes to other processes with its files, and other statements keep them.
        copy = pickle.loads(pickle.dumps(system))
        runs = [each.run(until=0.05, step=1e-3, method="verlet").q for each in (system, copy, system.adding("output z = net[0].z"), system.with_values())]
        for run in runs[1:]:
            np.testing.assert_array_equal(run, runs[0])

    def test_meshes_of_arrays_are_checked(self):
        nodes, model = [[0, 0], [1, 0], [1, 1]], la.Model()
        self.assertIn("vtk", model.text + model.mesh("kite", nodes=nodes, cells=[[0, 1, 2]]) + model.text)
        both = la.Model()
        mesh = both.mesh("both", nodes=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 2]], cells=[np.array([[0, 1, 2, 3]]), np.array([[3, 4]])])
        both.material(mesh, mass=1, per="node")
        both.gravity([0, 0, -1])
        self.assertEqual(len(both.system().coordinates), 15)
        for wrong, said in [
            (lambda: model.mesh("a", nodes=nodes), "need cells"),
            (lambda: model.mesh("a", nodes=nodes, cells=[[0, 1, 3]]), "there is no node 3"),
            (lambda: model.mesh("a", nodes=nodes, cells=[[0, 1]]), "node 2 is in no cell"),
            (lambda: model.mesh("a", nodes=[[0], [1]], cells=[[0, 1]]), "2 or 3 numbers"),
            (lambda: model.mesh("a", nodes=nodes, cells=[[0, 1, 2, 0, 1]]), "for each is expected"),
            (lambda: model.mesh("a", "box", [1, 1, 1], nodes=nodes, cells=[[0, 1, 2]]), "give one of them"),
            (lambda: model.mesh("a", nodes=[[0, np.nan], [1, 0]], cells=[[0, 1]]), "not finite"),
        ]:
            with self.assertRaisesRegex(la.UsageError, said):
                wrong()
        self.assertRaises(TypeError, model.mesh, "a", nodes=nodes, cells=[[0.0, 1.0, 2.0]])

    def test_tables_of_arrays_are_inputs(self):
        t = np.linspace(0, 2, 21)
        for table in [(t, 3 * t), {"t": t, "u": 3 * t}, {"u": 3 * t, "time": t}]:
            model = la.Model()
            x = model.coords("x")
            model.particle("cart", 1, [x])
            model.force(x, model.input("u", table=table))
            model.run(until=2, tol=1e-12)
            run = model.system().run()
            # x'' = 3 t, so x = t³/2.
            np.testing.assert_allclose(run["x"], run.t**3 / 2, atol=1e-12)
        model = la.Model()
        self.assertRaises(TypeError, model.input, "u", table=7)
        with self.assertRaisesRegex(la.UsageError, "different lengths"):
            model.input("u", table={"t": t, "u": t[1:]})


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

    def test_bodies_are_seen_with_their_shapes(self):
        hammer = """body hammer rod 0.3 mass 0.1 with cuboid [0.03, 0.03, 0.1] density 7850 centre [0.15, 0, 0]
start hammer at [1, 2, 3] spinning [0, 0, 1]
run until 1
"""
        run = la.parse(hammer).run(samples=10)
        seen = run.view().motion
        handle, head = (part for part in seen["parts"] if part["kind"] == "body")
        self.assertEqual((len(handle["faces"]), len(head["faces"]), len(head["places"]), seen["flat"]), (0, 12, 11, False))
        # Both turn about the centre of mass: the head is ahead of it along the first axis, and the handle behind.
        for moment in (0, 10):
            middle, along = np.array(head["places"][moment][0]), np.array(head["places"][moment][1])
            mass = 7850 * 0.03 * 0.03 * 0.1
            np.testing.assert_allclose(middle, [1, 2, 3] + along * 0.15 * 0.1 / (0.1 + mass), atol=1e-8)
            np.testing.assert_allclose(along, [np.cos(run.t[moment]), np.sin(run.t[moment]), 0], atol=1e-8)
        # A wheel of the plane stays in it, and a body without a size is a dot.
        wheel = la.parse("body wheel planar disk 0.5 mass 1\ngravity [0, -1]\nrun until 1\n").run(samples=3).view().motion
        self.assertTrue(wheel["flat"] and any(part["kind"] == "body" for part in wheel["parts"]))
        point = la.parse("body stone point mass 1\ngravity [0, 0, -1]\nrun until 1\n").run(samples=3).view().motion
        self.assertEqual([part["kind"] for part in point["parts"] if part["kind"] in ("body", "dot")], ["dot"])

    @unittest.skipUnless(shutil.which("node"), "there is no node")
    def test_the_page_draws_what_it_is_given(self):
        here = os.path.dirname(__file__)
        source = os.path.join(os.path.dirname(la.__file__), "view.js")
        bodies = la.parse("body top cylinder 0.5 height 1 mass 1\nstart top spinning [1, 2, 3]\nrun until 1\n")
        for system, parts in [(la.catalog.double_pendulum(), ("arc", "lineTo")), (bodies, ("fill", "closePath")), (la.catalog.jelly_cube(), ("fill", "closePath")), (la.catalog.dzhanibekov(), ("arc", "lineTo"))]:
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
