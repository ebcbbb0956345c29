"""Runs: against the command line, closed forms, and what happens on the way."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import leastaction as la
import numpy as np


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "leastaction", *arguments], capture_output=True, text=True)


class Runs(unittest.TestCase):
    def test_it_has_the_numbers_of_the_command_line(self):
        done = command("run", "double-pendulum", "--until", "5", "--set", "l2=0.7", "--start", "th1=1", "--tol", "1e-9", "--method", "dop853", "--json")
        said = json.loads(done.stdout)
        run = la.catalog.double_pendulum(l2=0.7).run(until=5, start={"th1": 1}, tol=1e-9, method="dop853")
        for name, value in said["state"]["coordinates"].items():
            self.assertEqual(run.end[name], value)
        self.assertEqual((run.method, run.work["steps"], run.parameters["l2"]), ("dop853", said["steps"], 0.7))

    def test_an_oscillator_swings_as_its_formula_says(self):
        system = la.parse("param k = 4\ncoord x\nkinetic x'^2/2\npotential spring = k*x^2/2\nstart x = 1\n")
        run = system.run(until=3, tol=1e-12, samples=30)
        np.testing.assert_allclose(run.t, np.linspace(0, 3, 31))
        np.testing.assert_allclose(run.q[:, 0], np.cos(2 * run.t), atol=1e-9)
        np.testing.assert_allclose(run.v[:, 0], -2 * np.sin(2 * run.t), atol=1e-9)
        np.testing.assert_allclose(run.p, run.v)
        np.testing.assert_allclose(run.energy, 2, atol=1e-9)
        np.testing.assert_allclose(run.shares["spring"], 2 * run["x"] ** 2, atol=1e-12)
        self.assertLess(run.measured["energy_drift"], 1e-9)
        self.assertEqual(run.ended, "complete")
        self.assertEqual(len(run), 31)
        self.assertEqual(run.columns[:4], ["t", "x", "x'", "p_x"])
        gradient = system.gradient("x", until=3, tol=1e-12, method="dop853")
        self.assertAlmostEqual(gradient.start["x"], np.cos(6), 8)
        self.assertAlmostEqual(gradient.start["x'"], np.sin(6) / 2, 8)
        self.assertAlmostEqual(gradient.parameters["k"], -np.sin(6) * 3 / 4, 8)

    def test_start_parameters_samples_and_back_in_time(self):
        system = la.catalog.pendulum()
        forth = system.run(until=2, tol=1e-12, start={"th": 1, "th'": 0})
        back = system.run(until=-2, tol=1e-12, start={"th": 1, "th'": 0})
        self.assertAlmostEqual(forth.end["th"], back.end["th"], 8)
        self.assertEqual(system.run(until=1, every=0.25).t.tolist(), [0, 0.25, 0.5, 0.75, 1])
        self.assertEqual(system.run(until=0).t.tolist(), [0.0])
        one, other = system.run(until=1, parameters={"l": 2}), la.catalog.pendulum(l=2).run(until=1)
        np.testing.assert_array_equal(one.q, other.q)
        drawn = la.catalog[next(name for name, entry in la.catalog.items() if entry.has_samples)]
        one, other = drawn.run(until=0.1, seed=4), drawn.run(until=0.1, seed=4)
        np.testing.assert_array_equal(one.q, other.q)
        self.assertNotEqual(one.q[0].tolist(), drawn.run(until=0.1, seed=5).q[0].tolist())

    def test_a_system_that_was_run_before_has_the_bits_of_a_fresh_one(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in ["double-pendulum", "four-bar", "henon-heiles", "skate", "n-pendulum", "rolling-disk"]:
                if name not in list(la.catalog):
                    continue
                used = la.catalog[name]
                first = used.coordinates[0]
                moved = {first: used.start.get(first, 0.0) + 1e-3} if not used.constraints else {}
                for options in [{"until": 0.3}, {"until": 0.2, "start": moved}, {"until": 0.3}, {"until": 0.2, "show": {"e": "energy"}}, {"until": 0.2, "start": moved}]:
                    one, other = used.run(**options), la.catalog[name].run(**options)
                    np.testing.assert_array_equal(one.q, other.q, err_msg=name)
                    np.testing.assert_array_equal(one.p, other.p, err_msg=name)

    def test_events_and_what_is_shown(self):
        run = la.catalog.pendulum().run(until=10, tol=1e-11, events={"bottom": "th"}, stop={"third": "t - 7"}, show={"height": "bob.y", "w": la.expr("th^2")})
        self.assertEqual(run.stopped_by, "third")
        self.assertAlmostEqual(run.t[-1], 7, 12)
        self.assertIn("third", run.ended)
        np.testing.assert_allclose(run["height"], run.x["bob"][:, 1])
        np.testing.assert_allclose(run["w"], run["th"] ** 2, atol=1e-15)
        np.testing.assert_allclose(run.events["bottom"].q, 0, atol=1e-8)
        self.assertEqual(len(set(np.diff(run.events["bottom"].rising.astype(int)).tolist()) - {1, -1}), 0)
        self.assertEqual(la.catalog.pendulum().run(until=1, show="th").columns.count("th"), 1)

    def test_accuracy(self):
        run = la.catalog.pendulum().run(until=10, accuracy=True)
        self.assertGreater(run.accuracy.digits, 5)
        self.assertIsNone(la.catalog.pendulum().run(until=1).accuracy)

    def test_what_is_to_be_told_is_a_warning(self):
        with self.assertWarns(la.RunWarning) as caught:
            run = la.catalog.pendulum().run(until=10, method="rk4", step=1)
        self.assertEqual(caught.warning.code, run.warnings[0].code)
        self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            la.catalog.pendulum().run(until=10, method="rk4", step=1, check=False)

    def test_a_run_that_fails_keeps_what_it_has(self):
        fall = la.parse("coord r\nparticle stone mass 1 at [r]\npotential -1/r\nstart r = 1\n")
        with self.assertRaises(la.RunError) as caught:
            fall.run(until=5)
        error = caught.exception
        self.assertGreater(len(error.trajectory), 10)
        self.assertAlmostEqual(error.trajectory.t[-1], np.pi / (2 * np.sqrt(2)), 2)
        self.assertEqual(error.diagnosis["name"][-1], "r")
        self.assertIn("where: t = 1.1", str(error))

    def test_what_cannot_be_is_refused(self):
        system = la.catalog.pendulum()
        for options in [{"method": "rk5"}, {"step": 0.1, "tol": 1e-3}, {"until": float("nan")}, {"until": float("inf")}, {"tol": -1}, {"step": 0},
                        {"samples": 0}, {"every": -1}, {"samples": 3, "every": 1}, {"start": {"x": 1}}, {"parameters": {"x": 1}}, {"seed": -1},
                        {"events": {"a": "nothing"}}, {"events": {"a": ""}}, {"events": {"a": "th"}, "stop": {"a": "th"}}, {"show": "nothing"},
                        {"show": {"t": "th"}}, {"seed": 1, "start": {"th": 1}}, {"max_steps": 0}, {"start": {"th": 10**400}}]:  # fmt: skip
            with self.assertRaises(la.UsageError, msg=options):
                system.run(**options)
        for options in [{"until": "5"}, {"until": [5]}, {"method": 3}, {"samples": 2.5}, {"start": [1]}, {"start": {"th": "1"}}, {"start": {3: 1}},
                        {"events": "th"}, {"accuracy": 1}, {"progress": 3}, {"untl": 3}, {"show": 3}, {"until": True}]:  # fmt: skip
            with self.assertRaises(TypeError, msg=options):
                system.run(**options)

    def test_columns_are_found_or_named(self):
        run = la.catalog.pendulum().run(until=1)
        self.assertIn("bob.y", run)
        self.assertNotIn("bob.z", run)
        with self.assertRaisesRegex(KeyError, "did you mean `bob.y`"):
            run["bob.yy"]
        with self.assertRaises(KeyError):
            run.x["nobody"]
        self.assertRaises(TypeError, lambda: run[0])
        self.assertEqual(set(run.to_dict()), set(run.columns))
        np.testing.assert_array_equal(run[la.symbols("th")], run["th"])
        self.assertIn("energy", repr(run))

    def test_files_read_back(self):
        run = la.catalog.pendulum().run(until=10, events={"bottom": "th"})
        with tempfile.TemporaryDirectory() as folder:
            for ending in ["csv", "npz", "parquet", "json"]:
                path = Path(folder) / f"run.{ending}"
                run.save(path)
                self.assertGreater(path.stat().st_size, 1000)
            np.testing.assert_array_equal(np.load(Path(folder) / "run.npz")["th"], run["th"])
            run.save_events(str(Path(folder) / "events.csv"))
            self.assertIn("bottom", (Path(folder) / "events.csv").read_text())
            for wrong in ["run.txt", "nowhere/run.csv", "run.pvd"]:
                with self.assertRaises(la.UsageError):
                    run.save(Path(folder) / wrong)
            self.assertRaises(TypeError, run.save, 3)
            run.plot(Path(folder) / "run.svg")
            run.plot(Path(folder) / "run.png")
            run.animate(Path(folder) / "run.gif")
            self.assertEqual((Path(folder) / "run.gif").read_bytes()[:3], b"GIF")
            run.plot().save(Path(folder) / "again.svg")
            self.assertEqual((Path(folder) / "again.svg").read_text(), (Path(folder) / "run.svg").read_text())
            self.assertEqual(sorted(p.name for p in Path(folder).glob("*.part")), [])
        self.assertTrue(run._repr_svg_().startswith("<svg"))
        self.assertIn("<img", run.animate()._repr_html_())

    def test_tables_need_their_packages(self):
        run = la.catalog.pendulum().run(until=1)
        for name, ask in [("pandas", run.to_pandas), ("polars", run.to_polars), ("xarray", run.to_xarray)]:
            before = sys.modules.get(name)
            sys.modules[name] = None
            try:
                with self.assertRaisesRegex(ImportError, f"pip install {name}"):
                    ask()
            finally:
                sys.modules.pop(name)
                if before is not None:
                    sys.modules[name] = before

    def test_numbers_of_a_whole_run(self):
        run = la.catalog.pendulum().run(until=10, samples=2000, tol=1e-11, events={"bottom": "th"})
        found = run.reduce("max(th')", "range(th)", "mean(th')", "start(th')", "crossings(bottom)", "first(bottom)")
        self.assertEqual((found["max(th')"], found["start(th')"]), (run["th'"].max(), 3.0))
        self.assertEqual(found["range(th)"], run["th"].max() - run["th"].min())
        self.assertAlmostEqual(found["mean(th')"], (run["th"][-1] - run["th"][0]) / 10, 5)
        self.assertEqual((found["crossings(bottom)"], found["first(bottom)"]), (len(run.events["bottom"]), run.events["bottom"].t[0]))
        late = run.t >= 9
        self.assertEqual(run.reduce("max(th)", since=9), {"max(th)": run["th"][late].max()})
        for wrong in [lambda: run.reduce(), lambda: run.reduce("max(thh)"), lambda: run.reduce("first(flip)")]:
            self.assertRaises(la.UsageError, wrong)
        self.assertRaises(TypeError, run.reduce, 3)

    def test_films_are_as_they_are_asked_for(self):
        run = la.catalog.dzhanibekov().run(until=4)
        with tempfile.TemporaryDirectory() as folder:
            run.animate(f"{folder}/a.gif", speed=2, size=(240, 160), view=(10, 80))
            film = Path(folder, "a.gif").read_bytes()
        self.assertEqual((int.from_bytes(film[6:8], "little"), int.from_bytes(film[8:10], "little")), (240, 160))
        self.assertNotEqual(film, run.animate(speed=2, size=(240, 160), view=(80, 10)).data)
        for wrong in [{"speed": 0}, {"size": (241, 160)}, {"size": (240,)}, {"view": (0, 91)}, {"view": (1, 2, 3)}, {"size": (60, 60)}]:
            self.assertRaises(la.UsageError, run.animate, **wrong)
        self.assertRaises(TypeError, run.animate, speed="fast")

    def test_messages_name_arguments_and_no_options(self):
        part = la.parse("param l = 1\ncoord x\nkinetic x'^2/2\nrun until 2*l")
        with self.assertRaises(la.Error) as caught:
            la.ensemble(part, sample={"l": "uniform(1, 2)"}, count=3)
        self.assertIn("until=", str(caught.exception))
        self.assertNotIn("--", str(caught.exception))
        stiff = la.parse("coord x\nkinetic x'^2/2\npotential 1e9*x^2\nstart x = 1")
        with self.assertRaises(la.Error) as caught:
            stiff.run(until=1, step=0.01, method="rk4")
        self.assertNotIn("--", str(caught.exception))


class Interruptions(unittest.TestCase):
    """A run that would take minutes, and somebody who does not wait."""

    ENDLESS = {"until": 3e5, "method": "rk4", "step": 1e-3, "samples": 10}

    def setUp(self):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        self.addCleanup(timer.cancel)

    def test_a_run_keeps_what_was_computed(self):
        begun = time.monotonic()
        with self.assertRaises(la.Interrupted) as caught:
            la.catalog.pendulum().run(**self.ENDLESS)
        self.assertIsInstance(caught.exception, KeyboardInterrupt)
        self.assertGreaterEqual(len(caught.exception.trajectory), 1)
        self.assertLess(time.monotonic() - begun, 60)

    def test_an_ensemble_does(self):
        with self.assertRaises(la.Interrupted) as caught:
            la.ensemble(la.catalog.pendulum(), sample={"th": "uniform(-1,1)"}, count=10**8, until=100, chunk=64)
        self.assertGreaterEqual(caught.exception.results.done, 0)

    def test_others_run_meanwhile(self):
        counted = [0]
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        try:
            with self.assertRaises(la.Interrupted):
                la.catalog.pendulum().run(**self.ENDLESS)
        finally:
            stop.set()
            thread.join()
        self.assertGreater(counted[0], 10)


class Progress(unittest.TestCase):
    def test_it_is_told_of_and_may_break_off(self):
        told = []

        def tell(fraction, place):
            told.append(fraction)
            if len(told) > 2:
                raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            la.catalog.pendulum().run(**Interruptions.ENDLESS, progress=tell)
        self.assertEqual(sorted(told), told)
        self.assertTrue(0 <= told[0] <= 1)
