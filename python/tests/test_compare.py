"""Methods beside each other, sweeps, texts, and the command."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import leastaction as la
import numpy as np

PENDULUM = la.catalog.pendulum()


class Methods(unittest.TestCase):
    def test_it_has_the_numbers_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = ["compare", "pendulum", "--methods", "rk4,verlet,gauss6", "--step", "0.1", "--until", "5", "--out", f"{folder}/a.json", "--quiet"]
            self.assertEqual(la.command(*asked), 0)
            with open(f"{folder}/a.json") as file:
                said = json.load(file)
        found = la.compare(PENDULUM, methods=["rk4", "verlet", "gauss6"], step=0.1, until=5, progress=False)
        rows = said if isinstance(said, list) else next(value for value in said.values() if isinstance(value, list))
        self.assertEqual([row["method"] for row in rows], [trial.method for trial in found])
        for row, trial in zip(rows, found):
            self.assertEqual(row["evaluations"], trial.evaluations)
            self.assertIn(trial.drift, row.values())
        self.assertEqual(found[0].method, "gauss6")

    def test_errors_fall_with_the_step_as_the_order_says(self):
        found = la.compare(PENDULUM, methods="verlet", step=[0.1, 0.05, 0.025], until=5, progress=False)
        errors = [trial.error for trial in found]
        np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2, atol=0.2)
        self.assertIn("verlet", repr(found))
        self.assertGreater(len(PENDULUM.compare(step=0.1, until=1, progress=False)), 20)

    def test_what_cannot_be_is_refused(self):
        for options in [{"methods": "rk5"}, {"methods": []}, {"step": 0.1, "tol": 1e-6}, {"step": np.nan}]:
            with self.assertRaises(la.UsageError, msg=options):
                la.compare(PENDULUM, **options)
        for wrong in [lambda: la.compare("pendulum"), lambda: la.compare(PENDULUM, nonsense=1), lambda: la.compare(PENDULUM, methods=3)]:
            self.assertRaises(TypeError, wrong)
        stone = la.parse("coord r\nparticle stone mass 1 at [r]\npotential -1/r\nstart r = 1\nrun until 5\n")
        with self.assertWarns(la.RunWarning):
            found = la.compare(stone, methods=["dop853"], tol=1e-6, progress=False)
        self.assertIsNotNone(found[0].failure)


class Sweeps(unittest.TestCase):
    def test_each_run_is_that_of_its_values(self):
        found = la.sweep(PENDULUM, {"l": [0.5, 1.0, 2.0], "g": [1.0, 2.0, 3.0]}, until=2, method="dop853", tol=1e-9)
        for place, run in enumerate(found):
            alone = PENDULUM.run(until=2, method="dop853", tol=1e-9, parameters={"l": found.values["l"][place], "g": found.values["g"][place]})
            np.testing.assert_array_equal(run.q, alone.q)
            self.assertEqual(found.ends["th"][place], alone.end["th"])
        self.assertEqual(len(PENDULUM.sweep({"l": range(1, 4)}, until=1)), 3)

    def test_a_run_that_fails_is_told_and_the_others_stay(self):
        stone = la.parse("param v = 1\ncoord r\nparticle stone mass 1 at [r]\npotential -v/r\nstart r = 1\nrun until 5\n")
        with self.assertWarnsRegex(la.RunWarning, "v = 1 failed"):
            found = la.sweep(stone, {"v": [1.0, -1.0]})
        self.assertTrue(np.isnan(found.ends["r"][0]) and found.ends["r"][1] > 1)
        self.assertEqual(list(found.failures), [0])
        with self.assertRaises(la.RunError):
            la.sweep(stone, {"v": [1.0]})
        for wrong in [{}, {"v": []}, {"v": 1.0}, {"v": [1.0], "w": [1.0, 2.0]}, {"v": [np.nan]}, {"q": [1.0]}]:
            with self.assertRaises(la.UsageError, msg=wrong):
                la.sweep(stone, wrong)
        self.assertRaises(la.UsageError, la.sweep, stone, {"v": [-1.0]}, parameters={"v": 2})


class Plots(unittest.TestCase):
    def test_what_is_chosen_is_plotted_as_on_the_command_line(self):
        run = PENDULUM.run(until=2, method="rk4", step=0.01, samples=50)
        found = run.plot(what="th, th', th' over th").data
        with tempfile.TemporaryDirectory() as folder:
            asked = ["run", "pendulum", "--until", "2", "--method", "rk4", "--step", "0.01", "--samples", "50", "--quiet", "--plot", f"{folder}/a.svg", "--plot", "th, th', th' over th"]
            self.assertEqual(la.command(*asked), 0)
            with open(f"{folder}/a.svg") as file:
                said = file.read()
            # The same curves: titles may say other things.
            self.assertEqual(re.findall(r'd="[^"]*"', found), re.findall(r'd="[^"]*"', said))
            lengths = la.sweep(PENDULUM, {"l": [0.5, 1.0]}, until=2)
            self.assertIn("l = 0.5", lengths.plot(f"{folder}/b.png", what="th").data)
            la.section(la.catalog.henon_heiles(), "x", direction="rising", count=5).plot(f"{folder}/c.svg")
            self.assertEqual(sorted(os.listdir(folder)), ["a.svg", "b.png", "c.svg"])
            self.assertRaises(la.UsageError, run.plot, f"{folder}/d.txt", what="th")
        for wrong in ["", "th,,th", "nonsense", []]:
            with self.assertRaises(la.UsageError, msg=wrong):
                run.plot(what=wrong)
        self.assertRaises(TypeError, run.plot, what=3)


class Texts(unittest.TestCase):
    def test_they_are_formatted_as_by_the_command_line(self):
        text = "coord   x # the place\nkinetic x'^2 / 2\npotential 3*(x)^2"
        said = subprocess.run([sys.executable, "-m", "leastaction", "fmt", "-"], input=text, capture_output=True, text=True, check=True).stdout
        self.assertEqual(la.format(text), said)
        with self.assertRaises(la.ModelError) as caught:
            la.format("coord x\nkinetic ¤\n")
        self.assertEqual(caught.exception.diagnostics[0]["line"], 2)

    def test_mistakes_are_found_before_a_run(self):
        self.assertIsNone(la.check(PENDULUM.text))
        self.assertIsNone(la.check(PENDULUM))
        for wrong in ["coord x", "coord x\nkinetic x'^2/2\nrun method rk5", "coord x\nkinetic x'^2/2\nstart y = 1"]:
            with self.assertRaises(la.ModelError, msg=wrong):
                la.check(wrong)
        self.assertRaises(TypeError, la.check, 3)

    def test_the_command_gives_its_code(self):
        with open(os.devnull, "w") as null:
            self.assertEqual(subprocess.run([sys.executable, "-c", "import leastaction as la; raise SystemExit(la.command('run', 'pendulm'))"], stderr=null).returncode, 2)
        self.assertRaises(TypeError, la.command, 3)


if __name__ == "__main__":
    unittest.main()
