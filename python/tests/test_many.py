"""Ensembles, sections, equilibria and modes."""

import concurrent.futures
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import leastaction as la
import numpy as np


class Ensembles(unittest.TestCase):
    def test_it_has_the_numbers_of_the_command_line(self):
        asked = ["ensemble", "pendulum", "--sample", "th=uniform(-1,1)", "--count", "200", "--until", "5", "--seed", "3", "--reduce", "stats(th)", "--json"]
        said = json.loads(subprocess.run([sys.executable, "-m", "leastaction", *asked], capture_output=True, text=True).stdout)
        found = la.ensemble(la.catalog.pendulum(), sample={"th": "uniform(-1,1)"}, count=200, until=5, seed=3, reduce="stats(th)")
        for name, values in said["findings"][0]["found"].items():
            self.assertEqual(found["stats"][name].tolist(), values, name)
        self.assertEqual((found.done, found.total, found.failed, found.complete), (200, 200, 0, 200))

    def test_arrays_are_sampled_as_they_are(self):
        starts = np.linspace(-1, 1, 37)
        system = la.catalog.pendulum()
        found = la.ensemble(system, sample={"th": starts, "l": np.full(37, 2.0)}, until=3, method="dop853", tol=1e-9, reduce=["ends", "ends(energy)"])
        ends = found[0].columns
        self.assertEqual(found.done, 37)
        single = [system.run(until=3, method="dop853", tol=1e-9, start={"th": th}, parameters={"l": 2}).end["th"] for th in starts]
        name = next(name for name in ends if name.startswith("th") and np.allclose(ends[name], single, atol=1e-6))
        np.testing.assert_allclose(ends[name], single, rtol=1e-9, atol=1e-12)

    def test_maps_events_and_shards(self):
        system, study = la.catalog.double_pendulum(), {"sample": {"th1": "grid(-2,2,8)", "th2": "grid(-2,2,8)"}, "until": 2, "stop": {"flip": "cos(th1/2)"}, "tol": 1e-6, "method": "dop853"}
        whole = system.ensemble(reduce="map(first(flip))", **study)
        self.assertEqual(whole.total, 64)
        with tempfile.TemporaryDirectory() as folder:
            folders = [f"{folder}/{i}" for i in (1, 2)]
            for i in (1, 2):
                system.ensemble(reduce="map(first(flip))", keep=folders[i - 1], shard=(i, 2), chunk=8, **study)
            merged = la.merge(folders)
        for name, values in whole["map"].columns.items():
            np.testing.assert_array_equal(merged["map"][name], values)

    def test_shards_on_other_processes_have_the_same_bits(self):
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            study = {"sample": {"th": "uniform(-1,1)"}, "count": 300, "until": 3, "reduce": ["stats(th)", "ends"], "chunk": 16, "threads": 1}
            spread = la.ensemble(la.catalog.pendulum(), client=Client(pool), tasks=5, **study)
        here = la.ensemble(la.catalog.pendulum(), **study)
        for one, other in zip(here.findings, spread.findings):
            self.assertEqual(one.reduction, other.reduction)
            for name, values in one.columns.items():
                np.testing.assert_array_equal(other.columns[name], values)

    def test_what_failed_is_told(self):
        stone = la.parse("coord r\nparticle stone mass 1 at [r]\npotential -1/r\nstart r = 1\n")
        with self.assertRaisesRegex(la.RunError, "all 20 trajectories failed: trajectory 0") as caught:
            stone.ensemble(sample={"r": "uniform(0.5, 1)"}, count=20, until=5)
        self.assertEqual(caught.exception.results.failed, 20)
        with self.assertWarnsRegex(la.RunWarning, "1 of 2 trajectories failed"):
            found = stone.ensemble(sample={"r": [0.5, 10.0]}, until=2, reduce="stats(r)")
        self.assertEqual(found["stats"]["count"][0], 1)

    def test_what_cannot_be_is_refused(self):
        system = la.catalog.pendulum()
        for options in [{}, {"sample": {"th": "unifrm(0,1)"}, "count": 3}, {"sample": {"x": "uniform(0,1)"}, "count": 3}, {"sample": {"th": [1, np.nan]}},
                        {"sample": {"th": [1, 2], "l": [1, 2, 3]}}, {"sample": {"th": "uniform(0,1)"}}, {"sample": {"th": []}},
                        {"sample": {"th": "uniform(0,1)"}, "count": 3, "reduce": "mean(th)"}, {"sample": {"th": "uniform(0,1)"}, "count": 3, "shard": (3, 2)},
                        {"sample": {"th": "uniform(0,1)"}, "count": 0}, {"sample": {"th": "uniform(0,1)"}, "count": 3, "tasks": 3}]:  # fmt: skip
            with self.assertRaises(la.UsageError, msg=options):
                la.ensemble(system, until=1, **options)
        for options in [{"sample": "th"}, {"count": 2.5}, {"accuracy": True}, {"nonsense": 1}, {"reduce": 3}, {"client": 3, "sample": {"th": "uniform(0,1)"}, "count": 3}]:
            with self.assertRaises(TypeError, msg=options):
                la.ensemble(system, **options)
        self.assertRaises(TypeError, la.ensemble, 3)
        self.assertRaises(KeyError, lambda: la.ensemble(system, sample={"th": [1.0]}, until=1)["histogram"])

    def test_what_was_found_is_plotted(self):
        system, kept = la.catalog.pendulum(), ["samples(th, th')", "histogram(th, -2, 2, 8)"]
        found = la.ensemble(system, sample={"th": "grid(0.5, 2.5, 5)"}, until=2, samples=40, reduce=kept)
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(found.plot(f"{folder}/both.svg", what="th' over th"))
            names = sorted(os.listdir(folder))
            self.assertEqual(names, ["both-histogram.svg", "both-samples.svg"])
            asked = ["ensemble", "pendulum", "--sample", "th=grid(0.5,2.5,5)", "--until", "2", "--samples", "40", "--quiet", "--plot", f"{folder}/line.svg"]
            subprocess.run([sys.executable, "-m", "leastaction", *asked, "--reduce", kept[0], "--reduce", kept[1], "--plot", "th' over th"], check=True)
            drawn = [Path(folder, f"{name}-samples.svg").read_text() for name in ("both", "line")]
        self.assertEqual(*drawn)
        one = la.ensemble(system, sample={"th": "grid(0.5, 2.5, 5)"}, until=2, reduce="map(energy)")
        self.assertEqual(one.plot().kind, "SVG")
        for wrong, said in [(lambda: found.plot(), "2 findings have a picture"), (lambda: one.plot(what="th' over th"), "no samples were kept"), (lambda: one.plot("a.pdf"), "svg")]:
            with self.assertRaisesRegex(la.UsageError, said):
                wrong()
        self.assertRaises(la.UsageError, la.ensemble(system, count=1, until=1).plot)
        copy = pickle.loads(pickle.dumps(one))
        np.testing.assert_array_equal(copy["map"]["energy"], one["map"]["energy"])
        self.assertRaisesRegex(la.UsageError, "came from elsewhere", copy.plot)

    def test_what_is_transient_is_left_out(self):
        asked = {"sample": {"th": "grid(0.5, 1, 3)"}, "until": 4, "samples": 400, "events": {"bottom": "th"}, "reduce": "ends(crossings(bottom), max(th))"}
        whole, late = la.ensemble(la.catalog.pendulum(), **asked), la.ensemble(la.catalog.pendulum(), since=3, **asked)
        self.assertTrue((whole["ends"]["crossings(bottom)"] > late["ends"]["crossings(bottom)"]).all())
        run = la.catalog.pendulum().run(until=4, samples=400, events={"bottom": "th"}, start={"th": 0.5}, tol=1e-10)
        self.assertAlmostEqual(run.reduce("max(th)", since=3)["max(th)"], late["ends"]["max(th)"][0], 6)
        with self.assertRaisesRegex(la.UsageError, "nothing is left from t = 9 on"):
            la.ensemble(la.catalog.pendulum(), since=9, **asked)


class Client:
    """As much of a client of Dask as is asked for, over processes of this machine."""

    def __init__(self, pool):
        self.pool = pool

    def scheduler_info(self):
        return {"workers": {"a": {}, "b": {}}}

    def map(self, function, *lists, **_):
        return [Future(self.pool.submit(function, *arguments)) for arguments in zip(*lists)]

    def gather(self, futures):
        return [future.inner.result() for future in futures]


class Future:
    def __init__(self, inner):
        self.inner = inner

    def release(self):
        pass


class Sections(unittest.TestCase):
    def test_points_lie_on_the_surface_with_the_energy(self):
        found = la.section(la.catalog.henon_heiles(), "x", direction="rising", show=("y", "p_y"), energy=0.125, solve="p_x", vary={"y": (-0.2, 0.2)}, orbits=3, count=10)
        self.assertEqual((len(found), len(found.orbits())), (30, 3))
        np.testing.assert_allclose(found["x"], 0, atol=1e-9)
        np.testing.assert_allclose(found["energy"], 0.125, rtol=1e-8)
        self.assertTrue((found["x'"] > 0).all())
        np.testing.assert_array_equal(found.points[:, 0], found["y"])
        self.assertIn("30 points", repr(found))

    def test_orbits_that_do_not_come_are_told(self):
        free = la.parse("coord x, y\nkinetic x'^2/2 + y'^2/2\npotential y^2/2\nstart x' = 1, y = 1\nrun until 10\n")
        with self.assertRaisesRegex(la.RunError, "no orbit passes"):
            la.section(free, "x + 1", until=10)
        with self.assertWarnsRegex(la.RunWarning, "points"):
            found = la.section(free, "x - 5", count=3, until=10)
        self.assertEqual(len(found), 1)

    def test_what_cannot_be_is_refused(self):
        system = la.catalog.henon_heiles()
        for wrong in [lambda: la.section(system, "q"), lambda: la.section(system, "x", direction="up"), lambda: la.section(system, "x", show=["y"]),
                      lambda: la.section(system, "x", energy=1.0), lambda: la.section(system, "x", vary={}), lambda: la.section(system, "x", orbits=0),
                      lambda: la.section(system, "x", vary={"y": (1,)}), lambda: la.section(system, "x", orbits=3)]:  # fmt: skip
            self.assertRaises(la.UsageError, wrong)
        for wrong in [lambda: la.section(system, 3), lambda: la.section("x", "x"), lambda: la.section(system, "x", count="3")]:
            self.assertRaises(TypeError, wrong)


class Rest(unittest.TestCase):
    def test_two_masses_on_springs(self):
        chain = la.parse("coord a, b\nkinetic a'^2/2 + b'^2/2\npotential a^2/2 + (b-a)^2/2 + b^2/2 - a\nstart a = 1\n")
        rest = la.equilibrium(chain)
        np.testing.assert_allclose(rest.q, [2 / 3, 1 / 3], atol=1e-9)
        self.assertTrue(rest.stable)
        modes = chain.modes()
        np.testing.assert_allclose(modes.frequency, [1, np.sqrt(3)], rtol=1e-9)
        np.testing.assert_allclose(np.abs(modes.shapes), np.sqrt(0.5), rtol=1e-6)
        self.assertEqual((len(modes), modes.kind), (2, ["vibration", "vibration"]))
        self.assertEqual(len(chain.modes(1)), 1)

    def test_modes_that_mean_little_are_warned_of(self):
        with self.assertWarnsRegex(la.RunWarning, "vanishes or changes"):
            la.modes(la.parse("coord x\nkinetic x'^2/2\npotential x^4\nstart x = 1\n"))

    def test_no_rest(self):
        with self.assertRaises(la.Error):
            la.equilibrium(la.parse("coord x\nkinetic x'^2/2\npotential x\n"))
        self.assertRaises(la.UsageError, la.modes, la.catalog.pendulum(), 0)
        self.assertRaises(TypeError, la.modes, "pendulum")


class Methods(unittest.TestCase):
    def test_every_method_tells_of_itself(self):
        methods = la.methods()
        self.assertGreater(len(methods), 40)
        for name, method in methods.items():
            self.assertTrue(method.name == name and method.order >= 1 and method.about and method.described_in)
        self.assertIn("symplectic form", methods["verlet"].keeps)
